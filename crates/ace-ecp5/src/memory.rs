// SPDX-License-Identifier: Apache-2.0
//! Configuration memory: what a device is told to be.

use std::collections::BTreeMap;

use sha2::{Digest, Sha256};

use crate::device::{Device, EBR_IDS};

/// Bytes of one block RAM's contents: 256 rows of 72 bits.
pub const EBR_BYTES: usize = EBR_ROWS * EBR_ROW_BYTES;
pub(crate) const EBR_ROWS: usize = 256;
/// Bytes of one of these rows.
pub const EBR_ROW_BYTES: usize = 9;

/// The frames, block RAM contents and registers of one device.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ConfigMemory {
    device: &'static Device,
    /// Whole frames in the order of transmission: the highest frame first.
    frames: Vec<u8>,
    ebr: BTreeMap<u16, Vec<u8>>,
    usercode: u32,
    control0: u32,
}

impl ConfigMemory {
    /// All zero, as after power-up.
    pub fn new(device: &'static Device) -> Self {
        Self {
            device,
            frames: vec![0; device.frames * device.frame_bytes()],
            ebr: BTreeMap::new(),
            usercode: 0,
            control0: 0,
        }
    }

    /// All zero again; the allocation of the frames stays.
    pub fn reset(&mut self) {
        self.frames.fill(0);
        self.ebr.clear();
        self.usercode = 0;
        self.control0 = 0;
    }

    /// The device whose memory this is.
    pub fn device(&self) -> &'static Device {
        self.device
    }

    /// Every frame in the order of transmission (the highest first), each [`Device::frame_bytes`] long, as a
    /// bitstream carries it; bits that fill the first byte are zero.
    pub fn frames(&self) -> std::slice::ChunksExact<'_, u8> {
        self.frames.chunks_exact(self.device.frame_bytes())
    }

    /// One frame by its number in the device.
    pub fn frame(&self, number: usize) -> Option<&[u8]> {
        let position = self.device.frames.checked_sub(number + 1)?;
        let len = self.device.frame_bytes();
        self.frames.get(position * len..(position + 1) * len)
    }

    /// One bit, counted as Project Trellis counts.
    pub fn bit(&self, frame: usize, bit: usize) -> Option<bool> {
        let bytes = self.frame(frame)?;
        let byte = bytes.get(bytes.len().checked_sub(bit / 8 + 1)?)?;
        (bit < self.device.frame_bits).then_some(byte >> (bit % 8) & 1 == 1)
    }

    /// Sets or clears one bit, counted as Project Trellis counts; false if there is no such bit.
    pub fn set_bit(&mut self, frame: usize, bit: usize, value: bool) -> bool {
        let len = self.device.frame_bytes();
        let Some(position) = self.device.frames.checked_sub(frame + 1) else { return false };
        if bit >= self.device.frame_bits {
            return false;
        }
        let byte = &mut self.frames[(position + 1) * len - bit / 8 - 1];
        *byte = *byte & !(1 << (bit % 8)) | u8::from(value) << (bit % 8);
        true
    }

    /// The block RAM contents that were written, by identity, each [`EBR_BYTES`] long.
    pub fn ebr(&self) -> impl ExactSizeIterator<Item = (u16, &[u8])> {
        self.ebr.iter().map(|(id, bytes)| (*id, bytes.as_slice()))
    }

    /// One 9-bit word of a block RAM (0 to 2047), if the block was written.
    pub fn ebr_word(&self, id: u16, word: usize) -> Option<u16> {
        let bytes = self.ebr.get(&id)?;
        let (row, place) = (word / 8, word % 8);
        let bytes = bytes.get(row * EBR_ROW_BYTES..(row + 1) * EBR_ROW_BYTES)?;
        // Eight words of nine bits, most significant bit first, straddle neighbouring bytes.
        let pair = u16::from_be_bytes([bytes[place], bytes[place + 1]]);
        Some(pair >> (7 - place) & 0x1ff)
    }

    /// The USERCODE register.
    pub fn usercode(&self) -> u32 {
        self.usercode
    }

    /// Control register 0 (clock of a master port, background flags).
    pub fn control0(&self) -> u32 {
        self.control0
    }

    /// Sets the USERCODE register.
    pub fn set_usercode(&mut self, value: u32) {
        self.usercode = value;
    }

    /// Sets control register 0.
    pub fn set_control0(&mut self, value: u32) {
        self.control0 = value;
    }

    /// Writes a frame by its place in the order of transmission; bits that fill the first byte are dropped.
    ///
    /// # Panics
    /// When the place or the length is wrong.
    pub(crate) fn write_frame(&mut self, position: usize, bytes: &[u8]) {
        let len = self.device.frame_bytes();
        let frame = &mut self.frames[position * len..(position + 1) * len];
        frame.copy_from_slice(bytes);
        frame[0] &= self.device.first_byte_mask();
    }

    /// Writes one row of a block RAM; the first row written makes the block.
    pub(crate) fn write_ebr_row(&mut self, id: u16, row: usize, bytes: &[u8]) {
        let block = self.ebr.entry(id).or_insert_with(|| vec![0; EBR_BYTES]);
        block[row * EBR_ROW_BYTES..(row + 1) * EBR_ROW_BYTES].copy_from_slice(bytes);
    }

    /// Writes one frame by its number; false if there is no such frame or the length is wrong.
    pub fn set_frame(&mut self, number: usize, bytes: &[u8]) -> bool {
        match self.device.frames.checked_sub(number + 1) {
            Some(position) if bytes.len() == self.device.frame_bytes() => {
                self.write_frame(position, bytes);
                true
            }
            _ => false,
        }
    }

    /// Writes a whole block RAM; false if there is no such identity or the length is wrong.
    pub fn set_ebr(&mut self, id: u16, bytes: &[u8]) -> bool {
        let fits = id < EBR_IDS && bytes.len() == EBR_BYTES;
        if fits {
            self.ebr.insert(id, bytes.to_vec());
        }
        fits
    }

    /// SHA-256 over everything that the port was given and keeps: the IDCODE, control register 0, USERCODE, every
    /// frame, and identity and contents of every block RAM that was written. However the bits came (compressed or not,
    /// whole or in parts), the same configuration has the same digest.
    pub fn digest(&self) -> [u8; 32] {
        let mut sha = Sha256::new();
        sha.update(b"ACE ECP5 configuration memory 2\0");
        for word in [self.device.idcode, self.control0, self.usercode] {
            sha.update(word.to_be_bytes());
        }
        self.rest_of_digest(sha)
    }

    /// The same but for control register 0 and USERCODE, for comparing images that were written with other options.
    pub fn digest_without_registers(&self) -> [u8; 32] {
        let mut sha = Sha256::new();
        sha.update(b"ACE ECP5 configuration memory 1\0");
        sha.update(self.device.idcode.to_be_bytes());
        self.rest_of_digest(sha)
    }

    fn rest_of_digest(&self, mut sha: Sha256) -> [u8; 32] {
        sha.update(&self.frames);
        for (id, bytes) in &self.ebr {
            sha.update(id.to_be_bytes());
            sha.update(bytes);
        }
        sha.finalize().into()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::device::{LFE5U_25F, LFE5U_45F};

    #[test]
    fn bits_and_words_are_where_trellis_counts_them() {
        let mut memory = ConfigMemory::new(&LFE5U_45F);
        let mut frame = vec![0; 106];
        frame[0] = 0xff;
        frame[105] = 0x02;
        assert!(memory.set_frame(9469, &frame));
        assert_eq!(memory.bit(9469, 1), Some(true));
        assert_eq!(memory.bit(9469, 0), Some(false));
        assert_eq!(memory.bit(9469, 845), Some(true));
        assert_eq!(memory.bit(9469, 846), None);
        assert_eq!(memory.bit(9470, 0), None);
        assert_eq!(memory.frames().next().map(|f| f[0]), Some(0x3f));
        assert!(!memory.set_frame(9470, &frame) && !memory.set_frame(0, &frame[1..]));

        let mut block = vec![0; EBR_BYTES];
        block[9 + 1] = 0x40;
        assert!(memory.set_ebr(3, &block) && !memory.set_ebr(512, &block));
        // Word 9 is bits 9..18 of its row: 0x40 in the second byte is its most significant bit.
        assert_eq!(memory.ebr_word(3, 9), Some(0x100));
        assert_eq!(memory.ebr_word(3, 8), Some(0));
        assert_eq!(memory.ebr_word(3, 2048), None);
    }

    #[test]
    fn the_digest_sees_every_part() {
        let blank = ConfigMemory::new(&LFE5U_25F);
        let mut seen = vec![blank.digest(), ConfigMemory::new(&LFE5U_45F).digest()];
        let mut memory = blank.clone();
        memory.set_frame(7561, &[1; 74]);
        seen.push(memory.digest());
        memory.set_ebr(1, &[0; EBR_BYTES]);
        seen.push(memory.digest());
        let mut other = blank.clone();
        other.set_ebr(2, &[0; EBR_BYTES]);
        seen.push(other.digest());
        let without = blank.digest_without_registers();
        for bit in 0..32 {
            let (mut control, mut code) = (blank.clone(), blank.clone());
            control.set_control0(1 << bit);
            code.set_usercode(1 << bit);
            seen.extend([control.digest(), code.digest()]);
            assert_eq!([&control, &code].map(ConfigMemory::digest_without_registers), [without; 2]);
        }
        seen.extend([without, memory.digest_without_registers()]);
        for (i, digest) in seen.iter().enumerate() {
            assert!(!seen[..i].contains(digest));
        }
        memory.set_usercode(5);
        memory.set_control0(6);
        memory.reset();
        assert_eq!(memory, blank);
    }
}
