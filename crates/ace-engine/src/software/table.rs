// SPDX-License-Identifier: Apache-2.0
//! What the CPU runs for each row of the table of algorithms: a type of a kept crate, or of this one where there is
//! none.

use cipher::consts::{U16, U20, U24, U32};

use super::block::{Cipher, block64, block128};
use super::mac::{Hash, hash};
use super::mars::Mars;
use super::twofish::Twofish;
use super::wiping::Wiping;
use crate::algorithm::{
    AES, Algorithm, CAMELLIA, CAST128, CAST256, DES, GOST_A, IDEA, MAGMA, MARS, MD5, RC6, SERPENT, SHA1,
    SHA224, SHA256, SHA384, SHA512, SM4, TDES, TWOFISH,
};

/// The implementation of each cipher, by key length in bytes, in the order of `Kind::Cipher::keys`.
static CIPHERS: &[(&Algorithm, &[(usize, Cipher)])] = &[
    (
        &AES,
        &[(16, block128::<aes::Aes128>()), (24, block128::<aes::Aes192>()), (32, block128::<aes::Aes256>())],
    ),
    (&DES, &[(8, block64::<des::Des>())]),
    (&TDES, &[(16, block64::<des::TdesEde2>()), (24, block64::<des::TdesEde3>())]),
    (&MARS, &same([16, 20, 24, 28, 32, 36, 40, 44, 48, 52, 56], block128::<Mars>())),
    (
        &RC6,
        &[
            (16, block128::<Wiping<Rc6<U16>>>()),
            (24, block128::<Wiping<Rc6<U24>>>()),
            (32, block128::<Wiping<Rc6<U32>>>()),
        ],
    ),
    (&SERPENT, &same([16, 24, 32], block128::<serpent::Serpent>())),
    (&TWOFISH, &same([16, 24, 32], block128::<Twofish>())),
    (&CAST128, &same([5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16], block64::<cast5::Cast5>())),
    (&CAST256, &same([16, 20, 24, 28, 32], block128::<cast6::Cast6>())),
    (&IDEA, &[(16, block64::<idea::Idea>())]),
    (
        &CAMELLIA,
        &[
            (16, block128::<camellia::Camellia128>()),
            (24, block128::<camellia::Camellia192>()),
            (32, block128::<camellia::Camellia256>()),
        ],
    ),
    (&SM4, &[(16, block128::<sm4::Sm4>())]),
    (&MAGMA, &[(32, block64::<magma::Magma>())]),
    (&GOST_A, &[(32, block64::<magma::Gost89CryptoProA>())]),
];

type Rc6<KeyBytes> = rc6::RC6<u32, U20, KeyBytes>;

static HASHES: &[(&Algorithm, Hash)] = &[
    (&MD5, hash::<md5::Md5>()),
    (&SHA1, hash::<sha1::Sha1>()),
    (&SHA224, hash::<sha2::Sha224>()),
    (&SHA256, hash::<sha2::Sha256>()),
    (&SHA384, hash::<sha2::Sha384>()),
    (&SHA512, hash::<sha2::Sha512>()),
];

/// What computes a cipher with keys of so many bytes.
pub fn cipher(algorithm: &Algorithm, key_len: usize) -> Option<Cipher> {
    let (_, by_key) = CIPHERS.iter().find(|(row, _)| *row == algorithm)?;
    by_key.iter().find(|(len, _)| *len == key_len).map(|(_, cipher)| *cipher)
}

/// What computes a hash.
pub fn hash_of(algorithm: &Algorithm) -> Option<Hash> {
    HASHES.iter().find(|(row, _)| *row == algorithm).map(|(_, hash)| *hash)
}

/// One implementation for several key lengths.
const fn same<const N: usize>(keys: [usize; N], cipher: Cipher) -> [(usize, Cipher); N] {
    let mut rows = [(0, cipher); N];
    let mut at = 0;
    while at < N {
        rows[at].0 = keys[at];
        at += 1;
    }
    rows
}
