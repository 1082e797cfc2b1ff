// SPDX-License-Identifier: Apache-2.0
//! Twofish, from "Twofish: A 128-Bit Block Cipher" (Schneier and others, 1998), with what the paper calls full
//! keying: four tables of 256 words for each key. The crate `twofish` computes every S-box anew for every byte
//! and takes a hundred times as long per block, so that no comparison of speed with it would be fair; here it
//! checks this one.
//!
//! The round keys and tables are wiped when it is dropped. Like every table cipher in software it is not constant
//! in time.

use cipher::consts::{U1, U16, U32};
use cipher::{
    Block, BlockCipherDecBackend, BlockCipherDecClosure, BlockCipherDecrypt, BlockCipherEncBackend,
    BlockCipherEncClosure, BlockCipherEncrypt, BlockSizeUser, InOut, InvalidLength, Key, KeyInit,
    KeySizeUser, ParBlocksSizeUser,
};
use zeroize::{Zeroize, ZeroizeOnDrop};

/// Twofish with the round keys and S-boxes of one key.
pub struct Twofish {
    k: [u32; 40],
    /// The S-boxes, each followed by its column of the MDS matrix.
    s: [[u32; 256]; 4],
}

/// The permutations q0 and q1, from their tables of nibbles t0 to t3 (4.3.5).
static Q: [[u8; 256]; 2] = [
    permutation([0x817d_6f32_0b59_eca4, 0xecb8_1235_f4a6_709d, 0xba5e_6d90_c8f3_2471, 0xd7f4_126e_9b30_85ca]),
    permutation([0x28bd_f76e_3194_0ac5, 0x1e2b_4c37_6da5_f908, 0x4c75_169a_0ed8_2b3f, 0xb951_c3de_647f_208a]),
];

/// Which permutation the byte of each column passes first, second, … before the last key word: h for four, three
/// and two key words begins at the first, second and third place (figure 2).
const ORDER: [[usize; 5]; 4] = [[1, 1, 0, 0, 1], [0, 1, 1, 0, 0], [0, 0, 0, 1, 1], [1, 0, 1, 1, 0]];

/// Column j of the MDS matrix times each byte.
static MDS: [[u32; 256]; 4] = {
    let columns = [
        [0x01, 0x5b, 0xef, 0xef],
        [0xef, 0xef, 0x5b, 0x01],
        [0x5b, 0xef, 0x01, 0xef],
        [0x5b, 0x01, 0xef, 0x5b],
    ];
    let mut table = [[0; 256]; 4];
    let mut at = 0;
    while at < 1024 {
        let (column, byte) = (columns[at / 256], (at % 256) as u8);
        table[at / 256][at % 256] = u32::from_le_bytes([
            times(column[0], byte, 0x169),
            times(column[1], byte, 0x169),
            times(column[2], byte, 0x169),
            times(column[3], byte, 0x169),
        ]);
        at += 1;
    }
    table
};

/// The matrix of the Reed-Solomon code, by rows (4.3).
const RS: [[u8; 8]; 4] = [
    [0x01, 0xa4, 0x55, 0x87, 0x5a, 0x58, 0xdb, 0x9e],
    [0xa4, 0x56, 0x82, 0xf3, 0x1e, 0xc6, 0x68, 0xe5],
    [0x02, 0xa1, 0xfc, 0xc1, 0x47, 0xae, 0x3d, 0x19],
    [0xa4, 0x55, 0x87, 0x5a, 0x58, 0xdb, 0x9e, 0x03],
];

/// The product in GF(2^8) with this reduction polynomial.
const fn times(a: u8, b: u8, polynomial: u16) -> u8 {
    let (mut a, mut b, mut sum) = (a as u16, b, 0);
    while b != 0 {
        if b & 1 != 0 {
            sum ^= a;
        }
        a <<= 1;
        if a & 0x100 != 0 {
            a ^= polynomial;
        }
        b >>= 1;
    }
    sum as u8
}

/// Tables of nibbles, the first entry in the highest place, to a permutation of bytes.
const fn permutation(t: [u64; 4]) -> [u8; 256] {
    const fn entry(table: u64, at: u8) -> u8 {
        (table >> (60 - 4 * at)) as u8 & 15
    }
    /// Two nibbles to two nibbles.
    const fn mix(a: u8, b: u8) -> (u8, u8) {
        (a ^ b, (a ^ (b >> 1 | b << 3) ^ a << 3) & 15)
    }
    let mut q = [0; 256];
    let mut x = 0;
    while x < 256 {
        let (a, b) = mix(x as u8 >> 4, x as u8 & 15);
        let (a, b) = mix(entry(t[0], a), entry(t[1], b));
        q[x] = entry(t[3], b) << 4 | entry(t[2], a);
        x += 1;
    }
    q
}

/// One column of h: a byte through the permutations and the key words' bytes, and its share of the MDS product.
/// `words` are L0, L1, … of the paper.
fn column(j: usize, byte: u8, words: &[[u8; 4]]) -> u32 {
    let order = &ORDER[j][4 - words.len()..];
    let through = |byte: u8, (&q, word): (&usize, &[u8; 4])| Q[q][usize::from(byte)] ^ word[j];
    let byte = order.iter().zip(words.iter().rev()).fold(byte, through);
    MDS[j][usize::from(Q[ORDER[j][4]][usize::from(byte)])]
}

/// The function h of a word whose four bytes are equal.
fn h(byte: u8, words: &[[u8; 4]]) -> u32 {
    (0..4).fold(0, |sum, j| sum ^ column(j, byte, words))
}

impl Twofish {
    fn expanded(key: &[u8]) -> Self {
        // At most four words of each kind, in the order in which h takes them.
        let count = key.len() / 8;
        let (mut even, mut odd, mut code) = ([[0; 4]; 4], [[0; 4]; 4], [[0; 4]; 4]);
        for (i, bytes) in key.chunks_exact(8).enumerate() {
            even[i].copy_from_slice(&bytes[..4]);
            odd[i].copy_from_slice(&bytes[4..]);
            for (row, out) in RS.iter().zip(&mut code[count - 1 - i]) {
                *out = row.iter().zip(bytes).fold(0, |sum, (&a, &b)| sum ^ times(a, b, 0x14d));
            }
        }
        let mut it = Self { k: [0; 40], s: [[0; 256]; 4] };
        for (i, pair) in (0u8..).zip(it.k.chunks_exact_mut(2)) {
            let a = h(2 * i, &even[..count]);
            let b = h(2 * i + 1, &odd[..count]).rotate_left(8);
            pair[0] = a.wrapping_add(b);
            pair[1] = pair[0].wrapping_add(b).rotate_left(9);
        }
        for (j, table) in it.s.iter_mut().enumerate() {
            // As `column`, for all bytes at a time.
            let mut bytes: [u8; 256] = std::array::from_fn(|byte| byte as u8);
            for (&q, word) in ORDER[j][4 - count..].iter().zip(code[..count].iter().rev()) {
                bytes.iter_mut().for_each(|byte| *byte = Q[q][usize::from(*byte)] ^ word[j]);
            }
            for (byte, entry) in bytes.iter().zip(table) {
                *entry = MDS[j][usize::from(Q[ORDER[j][4]][usize::from(*byte)])];
            }
            bytes.zeroize();
        }
        [even, odd, code].zeroize();
        it
    }

    fn g(&self, [a, b, c, d]: [u8; 4]) -> u32 {
        let s = &self.s;
        s[0][usize::from(a)] ^ s[1][usize::from(b)] ^ s[2][usize::from(c)] ^ s[3][usize::from(d)]
    }

    /// The function F of one round.
    fn f(&self, a: u32, b: u32, round: usize) -> (u32, u32) {
        let t0 = self.g(a.to_le_bytes());
        let t1 = self.g(b.rotate_left(8).to_le_bytes());
        let sum = t0.wrapping_add(t1);
        (sum.wrapping_add(self.k[2 * round + 8]), sum.wrapping_add(t1).wrapping_add(self.k[2 * round + 9]))
    }

    fn encrypt_words(&self, words: [u32; 4]) -> [u32; 4] {
        let [mut a, mut b, mut c, mut d] = std::array::from_fn(|i| words[i] ^ self.k[i]);
        for round in (0..16).step_by(2) {
            let (f0, f1) = self.f(a, b, round);
            (c, d) = ((c ^ f0).rotate_right(1), d.rotate_left(1) ^ f1);
            let (f0, f1) = self.f(c, d, round + 1);
            (a, b) = ((a ^ f0).rotate_right(1), b.rotate_left(1) ^ f1);
        }
        let out = [c, d, a, b];
        std::array::from_fn(|i| out[i] ^ self.k[4 + i])
    }

    fn decrypt_words(&self, words: [u32; 4]) -> [u32; 4] {
        let [mut c, mut d, mut a, mut b] = std::array::from_fn(|i| words[i] ^ self.k[4 + i]);
        for round in (0..16).step_by(2).rev() {
            let (f0, f1) = self.f(c, d, round + 1);
            (a, b) = (a.rotate_left(1) ^ f0, (b ^ f1).rotate_right(1));
            let (f0, f1) = self.f(a, b, round);
            (c, d) = (c.rotate_left(1) ^ f0, (d ^ f1).rotate_right(1));
        }
        let out = [a, b, c, d];
        std::array::from_fn(|i| out[i] ^ self.k[i])
    }
}

impl KeySizeUser for Twofish {
    /// The longest.
    type KeySize = U32;
}

impl KeyInit for Twofish {
    fn new(key: &Key<Self>) -> Self {
        Self::expanded(key)
    }

    fn new_from_slice(key: &[u8]) -> Result<Self, InvalidLength> {
        match key.len() {
            16 | 24 | 32 => Ok(Self::expanded(key)),
            _ => Err(InvalidLength),
        }
    }
}

impl BlockSizeUser for Twofish {
    type BlockSize = U16;
}

impl ParBlocksSizeUser for Twofish {
    type ParBlocksSize = U1;
}

impl BlockCipherEncrypt for Twofish {
    fn encrypt_with_backend(&self, f: impl BlockCipherEncClosure<BlockSize = U16>) {
        f.call(self);
    }
}

impl BlockCipherEncBackend for Twofish {
    fn encrypt_block(&self, block: InOut<'_, '_, Block<Self>>) {
        super::words::little_endian(block, |words| self.encrypt_words(words));
    }
}

impl BlockCipherDecrypt for Twofish {
    fn decrypt_with_backend(&self, f: impl BlockCipherDecClosure<BlockSize = U16>) {
        f.call(self);
    }
}

impl BlockCipherDecBackend for Twofish {
    fn decrypt_block(&self, block: InOut<'_, '_, Block<Self>>) {
        super::words::little_endian(block, |words| self.decrypt_words(words));
    }
}

impl Drop for Twofish {
    fn drop(&mut self) {
        self.k.zeroize();
        self.s.zeroize();
    }
}

impl ZeroizeOnDrop for Twofish {}

#[cfg(test)]
mod tests {
    use cipher::{Block, BlockCipherDecrypt, BlockCipherEncrypt, KeyInit};
    use rand::{Rng, SeedableRng};

    use super::Twofish;

    #[test]
    fn it_agrees_with_the_crate() {
        let mut random = rand_chacha::ChaCha20Rng::seed_from_u64(6);
        for len in 0..40 {
            let (mut key, mut block) = (vec![0; len], Block::<Twofish>::default());
            for _ in 0..50 {
                random.fill_bytes(&mut key);
                random.fill_bytes(&mut block);
                let Ok(theirs) = ::twofish::Twofish::new_from_slice(&key) else {
                    assert!(Twofish::new_from_slice(&key).is_err(), "{len}");
                    continue;
                };
                let ours = Twofish::new_from_slice(&key).expect("a key of the crate's");
                let (mut made, mut expected) = (block, block);
                ours.encrypt_block(&mut made);
                theirs.encrypt_block(&mut expected);
                assert_eq!(made, expected);
                ours.decrypt_block(&mut made);
                assert_eq!(made, block);
            }
        }
    }
}
