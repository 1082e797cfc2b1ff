// SPDX-License-Identifier: Apache-2.0
//! AEADs with a prepared key. GCM and CCM are put together here, from the crates `aes`, `ctr` and `ghash`: those that
//! have them whole fix the lengths of nonce and tag when they are compiled, and have no GCM tag below 12 bytes.

use chacha20poly1305::ChaCha20Poly1305;
use chacha20poly1305::aead::AeadInOut;
use cipher::array::Array;
use cipher::consts::U16;
use cipher::{BlockCipherEncrypt, BlockSizeUser, InnerIvInit, KeyInit, StreamCipherCore};
use ctr::flavors::{Ctr32BE, Ctr128BE};
use ctr::{CtrCore, CtrFlavor};
use ghash::GHash;
use ghash::universal_hash::UniversalHash;
use subtle::ConstantTimeEq;
use zeroize::Zeroize;

use crate::ccm::{Front, counter};

/// The longest tag.
pub const LONGEST: usize = 16;

/// An AEAD under one key. Lengths have been checked.
pub trait AeadCipher: Send + Sync {
    /// Encrypts in place; the tag, of which the caller takes the first `tag_len` bytes.
    fn seal(&self, nonce: &[u8], aad: &[u8], text: &mut [u8], tag_len: usize) -> [u8; LONGEST];

    /// Decrypts in place if the tag is right. If not, the text is what it was or zeros.
    #[must_use]
    fn open(&self, nonce: &[u8], aad: &[u8], text: &mut [u8], tag: &[u8]) -> bool;
}

fn equal(computed: &[u8; LONGEST], tag: &[u8]) -> bool {
    // The lengths that do not exist have been refused.
    computed.get(..tag.len()).is_some_and(|computed| computed.ct_eq(tag).into())
}

/// The key stream that starts with this counter block. What would make it come round is longer than any text.
fn key_stream<C, F>(cipher: &C, start: &[u8; 16], text: &mut [u8])
where
    C: BlockCipherEncrypt + BlockSizeUser<BlockSize = U16>,
    F: CtrFlavor<U16>,
{
    CtrCore::<_, F>::inner_iv_init(cipher, &Array(*start)).apply_keystream_partial(text.into());
}

/// AES-GCM (SP 800-38D).
struct Gcm<C> {
    cipher: C,
    /// GHASH under the encrypted zero block, of nothing so far.
    hash: GHash,
}

/// Expands a key of GCM over `C` (SP 800-38D); `None` if the cipher takes no key of this length.
pub fn gcm<C>(key: &[u8]) -> Option<Box<dyn AeadCipher>>
where
    C: KeyInit + BlockCipherEncrypt + BlockSizeUser<BlockSize = U16> + Send + Sync + 'static,
{
    let cipher = C::new_from_slice(key).ok()?;
    let mut zero = Array([0; 16]);
    cipher.encrypt_block(&mut zero);
    let hash = GHash::new(&zero);
    zero.0.zeroize();
    Some(Box::new(Gcm { cipher, hash }))
}

impl<C: BlockCipherEncrypt + BlockSizeUser<BlockSize = U16>> Gcm<C> {
    /// The block J0 (7.1).
    fn first_block(&self, nonce: &[u8]) -> [u8; 16] {
        if let Ok(nonce) = <[u8; 12]>::try_from(nonce) {
            let mut block = [0; 16];
            block[..12].copy_from_slice(&nonce);
            block[15] = 1;
            return block;
        }
        self.hash(nonce, &[], [0, nonce.len()])
    }

    /// GHASH of two strings, each filled up with zeros, and of two lengths in bytes.
    fn hash(&self, first: &[u8], second: &[u8], lengths: [usize; 2]) -> [u8; 16] {
        let mut hash = self.hash.clone();
        hash.update_padded(first);
        hash.update_padded(second);
        let mut block = [0; 16];
        for (part, length) in block.chunks_exact_mut(8).zip(lengths) {
            part.copy_from_slice(&(length as u64 * 8).to_be_bytes());
        }
        hash.update(&[Array(block)]);
        hash.finalize().0
    }

    fn tag(&self, first_block: &[u8; 16], aad: &[u8], text: &[u8]) -> [u8; LONGEST] {
        let mut mask = Array(*first_block);
        self.cipher.encrypt_block(&mut mask);
        let hash = self.hash(aad, text, [aad.len(), text.len()]);
        (u128::from_ne_bytes(hash) ^ u128::from_ne_bytes(mask.0)).to_ne_bytes()
    }

    /// The text's key stream starts one block later; only the last 32 bits count.
    fn apply(&self, first_block: &[u8; 16], text: &mut [u8]) {
        let mut start = *first_block;
        if let Some(count) = start.last_chunk_mut::<4>() {
            *count = u32::from_be_bytes(*count).wrapping_add(1).to_be_bytes();
        }
        key_stream::<_, Ctr32BE>(&self.cipher, &start, text);
    }
}

impl<C: BlockCipherEncrypt + BlockSizeUser<BlockSize = U16> + Send + Sync> AeadCipher for Gcm<C> {
    fn seal(&self, nonce: &[u8], aad: &[u8], text: &mut [u8], _: usize) -> [u8; LONGEST] {
        let first_block = self.first_block(nonce);
        self.apply(&first_block, text);
        self.tag(&first_block, aad, text)
    }

    fn open(&self, nonce: &[u8], aad: &[u8], text: &mut [u8], tag: &[u8]) -> bool {
        let first_block = self.first_block(nonce);
        let authentic = equal(&self.tag(&first_block, aad, text), tag);
        if authentic {
            self.apply(&first_block, text);
        }
        authentic
    }
}

/// AES-CCM (SP 800-38C).
struct Ccm<C>(C);

/// Expands a key of CCM over `C` (SP 800-38C); `None` if the cipher takes no key of this length.
pub fn ccm<C>(key: &[u8]) -> Option<Box<dyn AeadCipher>>
where
    C: KeyInit + BlockCipherEncrypt + BlockSizeUser<BlockSize = U16> + Send + Sync + 'static,
{
    Some(Box::new(Ccm(C::new_from_slice(key).ok()?)))
}

impl<C: BlockCipherEncrypt + BlockSizeUser<BlockSize = U16>> Ccm<C> {
    /// The masked tag of the plaintext (6.1).
    fn tag(&self, nonce: &[u8], aad: &[u8], text: &[u8], len: usize) -> [u8; LONGEST] {
        let front = Front::new(nonce, aad.len(), text.len(), len);
        let mut state = Array(*front.first());
        self.0.encrypt_block(&mut state);
        let mut at = 0;
        let mut absorb = |bytes: &[u8], last: bool| {
            for byte in bytes {
                state[at] ^= byte;
                at += 1;
                if at == 16 {
                    self.0.encrypt_block(&mut state);
                    at = 0;
                }
            }
            if last && at > 0 {
                self.0.encrypt_block(&mut state);
                at = 0;
            }
        };
        absorb(front.length(), false);
        absorb(aad, true);
        absorb(text, true);
        let mut tag = state.0;
        key_stream::<_, Ctr128BE>(&self.0, &counter(nonce, 0), &mut tag);
        tag
    }

    fn apply(&self, nonce: &[u8], text: &mut [u8]) {
        key_stream::<_, Ctr128BE>(&self.0, &counter(nonce, 1), text);
    }
}

impl<C: BlockCipherEncrypt + BlockSizeUser<BlockSize = U16> + Send + Sync> AeadCipher for Ccm<C> {
    fn seal(&self, nonce: &[u8], aad: &[u8], text: &mut [u8], tag_len: usize) -> [u8; LONGEST] {
        let tag = self.tag(nonce, aad, text, tag_len);
        self.apply(nonce, text);
        tag
    }

    fn open(&self, nonce: &[u8], aad: &[u8], text: &mut [u8], tag: &[u8]) -> bool {
        self.apply(nonce, text);
        let authentic = equal(&self.tag(nonce, aad, text, tag.len()), tag);
        if !authentic {
            text.fill(0);
        }
        authentic
    }
}

/// RFC 8439.
pub fn chacha20_poly1305(key: &[u8]) -> Option<Box<dyn AeadCipher>> {
    Some(Box::new(ChaCha20Poly1305::new_from_slice(key).ok()?))
}

impl AeadCipher for ChaCha20Poly1305 {
    fn seal(&self, nonce: &[u8], aad: &[u8], text: &mut [u8], _: usize) -> [u8; LONGEST] {
        let Ok(nonce) = nonce.try_into() else { return refused(text) };
        match self.encrypt_inout_detached(nonce, aad, text.into()) {
            Ok(tag) => tag.0,
            Err(_) => refused(text),
        }
    }

    fn open(&self, nonce: &[u8], aad: &[u8], text: &mut [u8], tag: &[u8]) -> bool {
        match (nonce.try_into(), tag.try_into()) {
            (Ok(nonce), Ok(tag)) => self.decrypt_inout_detached(nonce, aad, text.into(), tag).is_ok(),
            _ => false,
        }
    }
}

/// A length that was let through by mistake must not leave as plaintext.
fn refused(text: &mut [u8]) -> [u8; LONGEST] {
    text.fill(0);
    [0; LONGEST]
}
