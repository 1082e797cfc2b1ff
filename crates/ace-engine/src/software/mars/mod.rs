// SPDX-License-Identifier: Apache-2.0
//! MARS, from "MARS: a candidate cipher for AES" (IBM, revised September 1999): the tweaked key schedule, keys of
//! 4 to 14 words. No crate has it.
//!
//! It allocates nothing, and its round keys are wiped when it is dropped. Like every table cipher in software it
//! is not constant in time.

mod sbox;

use cipher::consts::{U1, U16, U56};
use cipher::{
    Block, BlockCipherDecBackend, BlockCipherDecClosure, BlockCipherDecrypt, BlockCipherEncBackend,
    BlockCipherEncClosure, BlockCipherEncrypt, BlockSizeUser, InOut, InvalidLength, Key, KeyInit,
    KeySizeUser, ParBlocksSizeUser,
};
use zeroize::{Zeroize, ZeroizeOnDrop};

use sbox::S;

/// MARS with the round keys of one key.
pub struct Mars {
    k: [u32; 40],
}

/// S0 and S1 of the mixing phases: the halves of the S-box, by one byte of the word.
fn s0(word: u32, byte: u32) -> u32 {
    S[usize::from((word >> (8 * byte)) as u8)]
}

fn s1(word: u32, byte: u32) -> u32 {
    S[256 + usize::from((word >> (8 * byte)) as u8)]
}

/// The whole S-box, by the low nine bits.
fn s(word: u32) -> u32 {
    S[(word & 0x1ff) as usize]
}

/// The E-function: the words L, M, R.
fn expand(word: u32, add: u32, multiply: u32) -> (u32, u32, u32) {
    let m = word.wrapping_add(add);
    let r = word.rotate_left(13).wrapping_mul(multiply).rotate_left(5);
    let turned = r.rotate_left(5);
    let l = (s(m) ^ r ^ turned).rotate_left(turned & 31);
    (l, m.rotate_left(r & 31), turned)
}

/// The bits of a multiplication key that may be changed: inside a run of ten or more equal bits, neither
/// its ends nor one of the bits 0, 1 and 31.
fn runs(word: u32) -> u32 {
    // Bit i: bits i and i+1 are equal; then: bits i to i+9 are equal.
    let mut run = !(word ^ (word >> 1)) & 0x7fff_ffff;
    run &= run >> 1;
    run &= run >> 2;
    run &= run >> 4;
    run &= run >> 1;
    // From its first bits back to the whole run, and from it what has equal neighbours on both sides.
    let mut member = run | (run << 1);
    member |= member << 2;
    member |= (member << 4) | (member << 6);
    let equal_above = !(word ^ (word >> 1)) & 0x7fff_ffff;
    let equal_below = !(word ^ (word << 1)) & 0xffff_fffe;
    member & equal_above & equal_below & 0x7fff_fffc
}

impl Mars {
    /// Key expansion.
    fn expanded(key: &[u8]) -> [u32; 40] {
        let mut t = [0u32; 15];
        let words = key.len() / 4;
        for (word, bytes) in t.iter_mut().zip(key.chunks_exact(4)) {
            *word = u32::from_le_bytes(std::array::from_fn(|i| bytes[i]));
        }
        t[words] = words as u32;

        let mut k = [0u32; 40];
        for (batch, ten) in k.chunks_exact_mut(10).enumerate() {
            for i in 0..15 {
                t[i] ^= (t[(i + 8) % 15] ^ t[(i + 13) % 15]).rotate_left(3) ^ (4 * i + batch) as u32;
            }
            for _ in 0..4 {
                for i in 0..15 {
                    t[i] = t[i].wrapping_add(s(t[(i + 14) % 15])).rotate_left(9);
                }
            }
            for (i, word) in ten.iter_mut().enumerate() {
                *word = t[4 * i % 15];
            }
        }
        for i in (5..=35).step_by(2) {
            // The table B is four entries of the S-box.
            let pattern = S[265 + (k[i] & 3) as usize].rotate_left(k[i - 1] & 31);
            let word = k[i] | 3;
            k[i] = word ^ (pattern & runs(word));
        }
        t.zeroize();
        k
    }

    fn encrypt_words(&self, [mut a, mut b, mut c, mut d]: [u32; 4]) -> [u32; 4] {
        let k = &self.k;
        a = a.wrapping_add(k[0]);
        b = b.wrapping_add(k[1]);
        c = c.wrapping_add(k[2]);
        d = d.wrapping_add(k[3]);
        for round in 0..8 {
            b = (b ^ s0(a, 0)).wrapping_add(s1(a, 1));
            c = c.wrapping_add(s0(a, 2));
            d ^= s1(a, 3);
            a = a.rotate_right(24);
            match round {
                0 | 4 => a = a.wrapping_add(d),
                1 | 5 => a = a.wrapping_add(b),
                _ => {}
            }
            (a, b, c, d) = (b, c, d, a);
        }
        for round in 0..16 {
            let (l, m, r) = expand(a, k[2 * round + 4], k[2 * round + 5]);
            c = c.wrapping_add(m);
            if round < 8 {
                (b, d) = (b.wrapping_add(l), d ^ r);
            } else {
                (d, b) = (d.wrapping_add(l), b ^ r);
            }
            (a, b, c, d) = (b, c, d, a.rotate_left(13));
        }
        for round in 0..8 {
            match round {
                2 | 6 => a = a.wrapping_sub(d),
                3 | 7 => a = a.wrapping_sub(b),
                _ => {}
            }
            b ^= s1(a, 0);
            c = c.wrapping_sub(s0(a, 3));
            d = d.wrapping_sub(s1(a, 2)) ^ s0(a, 1);
            (a, b, c, d) = (b, c, d, a.rotate_left(24));
        }
        a = a.wrapping_sub(k[36]);
        b = b.wrapping_sub(k[37]);
        c = c.wrapping_sub(k[38]);
        d = d.wrapping_sub(k[39]);
        [a, b, c, d]
    }

    fn decrypt_words(&self, [mut a, mut b, mut c, mut d]: [u32; 4]) -> [u32; 4] {
        let k = &self.k;
        a = a.wrapping_add(k[36]);
        b = b.wrapping_add(k[37]);
        c = c.wrapping_add(k[38]);
        d = d.wrapping_add(k[39]);
        for round in (0..8).rev() {
            (a, b, c, d) = (d.rotate_right(24), a, b, c);
            d = (d ^ s0(a, 1)).wrapping_add(s1(a, 2));
            c = c.wrapping_add(s0(a, 3));
            b ^= s1(a, 0);
            match round {
                2 | 6 => a = a.wrapping_add(d),
                3 | 7 => a = a.wrapping_add(b),
                _ => {}
            }
        }
        for round in (0..16).rev() {
            (a, b, c, d) = (d.rotate_right(13), a, b, c);
            let (l, m, r) = expand(a, k[2 * round + 4], k[2 * round + 5]);
            c = c.wrapping_sub(m);
            if round < 8 {
                (b, d) = (b.wrapping_sub(l), d ^ r);
            } else {
                (d, b) = (d.wrapping_sub(l), b ^ r);
            }
        }
        for round in (0..8).rev() {
            (a, b, c, d) = (d, a, b, c);
            match round {
                0 | 4 => a = a.wrapping_sub(d),
                1 | 5 => a = a.wrapping_sub(b),
                _ => {}
            }
            a = a.rotate_left(24);
            d ^= s1(a, 3);
            c = c.wrapping_sub(s0(a, 2));
            b = b.wrapping_sub(s1(a, 1)) ^ s0(a, 0);
        }
        a = a.wrapping_sub(k[0]);
        b = b.wrapping_sub(k[1]);
        c = c.wrapping_sub(k[2]);
        d = d.wrapping_sub(k[3]);
        [a, b, c, d]
    }
}

impl KeySizeUser for Mars {
    /// The longest.
    type KeySize = U56;
}

impl KeyInit for Mars {
    fn new(key: &Key<Self>) -> Self {
        Self { k: Self::expanded(key) }
    }

    fn new_from_slice(key: &[u8]) -> Result<Self, InvalidLength> {
        if !matches!(key.len(), 16..=56) || !key.len().is_multiple_of(4) {
            return Err(InvalidLength);
        }
        Ok(Self { k: Self::expanded(key) })
    }
}

impl BlockSizeUser for Mars {
    type BlockSize = U16;
}

impl ParBlocksSizeUser for Mars {
    type ParBlocksSize = U1;
}

impl BlockCipherEncrypt for Mars {
    fn encrypt_with_backend(&self, f: impl BlockCipherEncClosure<BlockSize = U16>) {
        f.call(self);
    }
}

impl BlockCipherEncBackend for Mars {
    fn encrypt_block(&self, block: InOut<'_, '_, Block<Self>>) {
        super::words::little_endian(block, |words| self.encrypt_words(words));
    }
}

impl BlockCipherDecrypt for Mars {
    fn decrypt_with_backend(&self, f: impl BlockCipherDecClosure<BlockSize = U16>) {
        f.call(self);
    }
}

impl BlockCipherDecBackend for Mars {
    fn decrypt_block(&self, block: InOut<'_, '_, Block<Self>>) {
        super::words::little_endian(block, |words| self.decrypt_words(words));
    }
}

impl Drop for Mars {
    fn drop(&mut self) {
        self.k.zeroize();
    }
}

impl ZeroizeOnDrop for Mars {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table_b_is_in_the_s_box() {
        assert_eq!(S[265..269], [0xa4a8_d57b, 0x5b5d_193b, 0xc8a8_309b, 0x73f9_a978]);
    }

    #[test]
    fn runs_are_their_definition() {
        let bit = |word: u32, at: u32| (word >> at) & 1;
        let definition = |word: u32| {
            let mut mask = 0;
            for first in 0..=22 {
                if (first..first + 10).all(|at| bit(word, at) == bit(word, first)) {
                    for at in (first + 1..first + 9).filter(|at| *at >= 2) {
                        mask |= 1 << at;
                    }
                }
            }
            mask
        };
        // Every run of every length at every place, in alternating bits.
        for len in 1..=32 {
            for at in 0..=32 - len {
                let run = (u32::MAX >> (32 - len)) << at;
                for around in [0x5555_5555, 0xaaaa_aaaa, 0] {
                    for word in [around | run, around & !run] {
                        assert_eq!(runs(word), definition(word), "{word:08x}");
                    }
                }
            }
        }
    }

    #[test]
    fn key_lengths() {
        for len in 0..70 {
            let legal = [16, 20, 24, 28, 32, 36, 40, 44, 48, 52, 56].contains(&len);
            assert_eq!(Mars::new_from_slice(&vec![7; len]).is_ok(), legal, "{len}");
        }
    }
}
