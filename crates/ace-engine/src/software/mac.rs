// SPDX-License-Identifier: Apache-2.0
//! Digests and MACs with a prepared key: HMAC from the crate `hmac`, its two chaining states kept; the two MACs of
//! AES-CBC here, because they differ in three subkeys only and no crate has XCBC.

use cipher::array::Array;
use cipher::consts::U16;
use cipher::{BlockCipherEncrypt, BlockSizeUser, KeyInit};
use hmac::digest::Digest;
use hmac::digest::block_api::EagerHash;
use hmac::{Hmac, Mac};
use zeroize::Zeroize;

/// The longest tag.
pub const LONGEST: usize = 64;

/// A hash or a MAC under one key.
pub trait Authenticator: Send + Sync {
    /// The whole tag of the parts, one behind the other, at the start of `tag`.
    fn authenticate(&self, parts: [&[u8]; 2], tag: &mut [u8; LONGEST]);
}

/// A hash or an HMAC whose message comes piece by piece.
pub trait Running: Send + Sync {
    /// Adds bytes to the end of the message.
    fn update(&mut self, piece: &[u8]);

    /// The whole tag at the start of `tag`; the next piece begins another message.
    fn finish(&mut self, tag: &mut [u8; LONGEST]);

    /// Forgets the pieces so far.
    fn restart(&mut self);

    /// A second message that begins with the pieces so far and goes on by itself.
    fn copy(&self) -> Box<dyn Running>;
}

/// What the table says of a hash; [`hash`] makes them.
#[derive(Clone, Copy)]
pub struct Hash {
    /// Starts a digest without a key.
    pub digest: fn() -> Box<dyn Authenticator>,
    /// HMAC (RFC 2104) with a key of any length.
    pub hmac: fn(key: &[u8]) -> Option<Box<dyn Authenticator>>,
    /// As `digest`, for a message that comes piece by piece.
    pub running_digest: fn() -> Box<dyn Running>,
    /// As `hmac`, for a message that comes piece by piece.
    pub running_hmac: fn(key: &[u8]) -> Option<Box<dyn Running>>,
}

/// A hash and its HMAC.
pub const fn hash<D>() -> Hash
where
    D: EagerHash + Digest + Clone + Send + Sync + 'static,
    Hmac<D>: Clone + Send + Sync,
{
    Hash {
        running_digest: || Box::new(Pieces(D::new())),
        running_hmac: |key| {
            let fresh = <Hmac<D> as KeyInit>::new_from_slice(key).ok()?;
            Some(Box::new(KeyedPieces { now: fresh.clone(), fresh }))
        },
        digest: || Box::new(Plain(D::new as fn() -> D)),
        hmac: |key| {
            let mac = <Hmac<D> as KeyInit>::new_from_slice(key).ok()?;
            Some(Box::new(Keyed(mac)))
        },
    }
}

struct Plain<D>(fn() -> D);

impl<D: Digest> Authenticator for Plain<D> {
    fn authenticate(&self, parts: [&[u8]; 2], tag: &mut [u8; LONGEST]) {
        let digest = (self.0)().chain_update(parts[0]).chain_update(parts[1]).finalize();
        write(&digest, tag);
    }
}

/// The states behind the inner and the outer padded key.
struct Keyed<M>(M);

impl<M: Mac + Clone + Send + Sync> Authenticator for Keyed<M> {
    fn authenticate(&self, parts: [&[u8]; 2], tag: &mut [u8; LONGEST]) {
        let mut mac = self.0.clone();
        mac.update(parts[0]);
        if !parts[1].is_empty() {
            mac.update(parts[1]);
        }
        write(&mac.finalize().into_bytes(), tag);
    }
}

struct Pieces<D>(D);

impl<D: Digest + Clone + Send + Sync + 'static> Running for Pieces<D> {
    fn update(&mut self, piece: &[u8]) {
        self.0.update(piece);
    }

    fn finish(&mut self, tag: &mut [u8; LONGEST]) {
        write(&std::mem::replace(&mut self.0, D::new()).finalize(), tag);
    }

    fn restart(&mut self) {
        self.0 = D::new();
    }

    fn copy(&self) -> Box<dyn Running> {
        Box::new(Self(self.0.clone()))
    }
}

struct KeyedPieces<M> {
    /// Behind the padded key.
    fresh: M,
    now: M,
}

impl<M: Mac + Clone + Send + Sync + 'static> Running for KeyedPieces<M> {
    fn update(&mut self, piece: &[u8]) {
        self.now.update(piece);
    }

    fn finish(&mut self, tag: &mut [u8; LONGEST]) {
        write(&std::mem::replace(&mut self.now, self.fresh.clone()).finalize().into_bytes(), tag);
    }

    fn restart(&mut self) {
        self.now = self.fresh.clone();
    }

    fn copy(&self) -> Box<dyn Running> {
        Box::new(Self { fresh: self.fresh.clone(), now: self.now.clone() })
    }
}

fn write(from: &[u8], tag: &mut [u8; LONGEST]) {
    for (to, from) in tag.iter_mut().zip(from) {
        *to = *from;
    }
}

/// A CBC-MAC whose last block is changed by a subkey: one for a whole block, another for one that is filled up with
/// a 1 bit and zeros.
struct CbcMac<C> {
    cipher: C,
    whole: [u8; 16],
    filled: [u8; 16],
}

/// AES-CMAC (RFC 4493, 2.3): the subkeys are the encrypted zero block, doubled once and twice.
pub fn cmac<C>(key: &[u8]) -> Option<Box<dyn Authenticator>>
where
    C: KeyInit + BlockCipherEncrypt + BlockSizeUser<BlockSize = U16> + Send + Sync + 'static,
{
    /// In GF(2^128), the first bit the highest.
    fn double(block: [u8; 16]) -> [u8; 16] {
        let number = u128::from_be_bytes(block);
        // No branch: it would tell a bit of the key.
        let carry = (number >> 127).wrapping_neg() & 0x87;
        (number << 1 ^ carry).to_be_bytes()
    }
    let cipher = C::new_from_slice(key).ok()?;
    let mut zero = Array([0; 16]);
    cipher.encrypt_block(&mut zero);
    let whole = double(zero.0);
    zero.0.zeroize();
    Some(Box::new(CbcMac { cipher, whole, filled: double(whole) }))
}

/// AES-XCBC-MAC (RFC 3566, 4): the MAC's own key and the subkeys are three constants, encrypted.
pub fn xcbc<C>(key: &[u8]) -> Option<Box<dyn Authenticator>>
where
    C: KeyInit + BlockCipherEncrypt + BlockSizeUser<BlockSize = U16> + Send + Sync + 'static,
{
    let under = C::new_from_slice(key).ok()?;
    let mut keys = [1, 2, 3].map(|constant| Array([constant; 16]));
    keys.iter_mut().for_each(|key| under.encrypt_block(key));
    let cipher = C::new_from_slice(&keys[0]).ok()?;
    let (whole, filled) = (keys[1].0, keys[2].0);
    keys.iter_mut().for_each(|key| key.0.zeroize());
    Some(Box::new(CbcMac { cipher, whole, filled }))
}

impl<C> Authenticator for CbcMac<C>
where
    C: BlockCipherEncrypt + BlockSizeUser<BlockSize = U16> + Send + Sync,
{
    fn authenticate(&self, parts: [&[u8]; 2], tag: &mut [u8; LONGEST]) {
        let mut state = Array([0u8; 16]);
        // Bytes of the block that is being filled. A full one waits: it may be the last.
        let mut at = 0;
        for mut part in parts {
            while let Some((first, rest)) = part.split_first_chunk::<16>()
                && (at == 0 || at == 16)
            {
                if at == 16 {
                    self.cipher.encrypt_block(&mut state);
                }
                xor(&mut state.0, first);
                (at, part) = (16, rest);
            }
            for byte in part {
                if at == 16 {
                    self.cipher.encrypt_block(&mut state);
                    at = 0;
                }
                state[at] ^= byte;
                at += 1;
            }
        }
        if at == 16 {
            xor(&mut state.0, &self.whole);
        } else {
            state[at] ^= 0x80;
            xor(&mut state.0, &self.filled);
        }
        self.cipher.encrypt_block(&mut state);
        write(&state, tag);
    }
}

fn xor(to: &mut [u8; 16], from: &[u8; 16]) {
    *to = (u128::from_ne_bytes(*to) ^ u128::from_ne_bytes(*from)).to_ne_bytes();
}

impl<C> Drop for CbcMac<C> {
    fn drop(&mut self) {
        self.whole.zeroize();
        self.filled.zeroize();
    }
}
