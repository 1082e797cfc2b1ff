// SPDX-License-Identifier: Apache-2.0
//! The blocks of AES-CCM (SP 800-38C, appendix A): what its CBC-MAC covers beside the text, and its counter blocks. Whoever
//! has the cipher makes CCM of them, in software or in a slot.

/// Bytes of a block.
pub const BLOCK: usize = 16;

/// What the CBC-MAC covers in front of the text (A.2.1, A.2.2): the first block, and associated data with their length, in
/// whole blocks. Lengths are those that `ace_engine::Aead` has for CCM.
pub struct Front {
    first: [u8; BLOCK],
    length: ([u8; 6], usize),
}

impl Front {
    /// For a message with this nonce, so many bytes of associated data and of text, and a tag of so many bytes.
    pub fn new(nonce: &[u8], aad: usize, text: usize, tag: usize) -> Self {
        let with_aad = if aad == 0 { 0 } else { 0x40 };
        let flags = with_aad | (((tag as u8).saturating_sub(2) / 2) << 3);
        let mut length = [0; 6];
        let bytes = match (aad, u16::try_from(aad)) {
            (0, _) => 0,
            (_, Ok(short)) if short < 0xff00 => {
                length[..2].copy_from_slice(&short.to_be_bytes());
                2
            }
            // A packet has no 2^32 bytes.
            _ => {
                length[..2].copy_from_slice(&[0xff, 0xfe]);
                length[2..].copy_from_slice(&(aad as u32).to_be_bytes());
                6
            }
        };
        Self { first: block(flags, nonce, text as u64), length: (length, bytes) }
    }

    /// The first block: flags, nonce and the text's length.
    pub fn first(&self) -> &[u8; BLOCK] {
        &self.first
    }

    /// What stands in front of the associated data, if there are any.
    pub fn length(&self) -> &[u8] {
        &self.length.0[..self.length.1]
    }
}

/// A counter block (A.3). That of number 0 masks the tag, and from 1 on they mask the text.
pub fn counter(nonce: &[u8], number: u64) -> [u8; BLOCK] {
    block(0, nonce, number)
}

/// Flags, nonce and a number in what is left of the block.
fn block(flags: u8, nonce: &[u8], number: u64) -> [u8; BLOCK] {
    // Of seven bytes of nonce and more, eight of number and fewer are left.
    let mut block = u128::from(number).to_be_bytes();
    block[0] = flags | (14 - nonce.len()) as u8;
    block[1..=nonce.len()].copy_from_slice(nonce);
    block
}
