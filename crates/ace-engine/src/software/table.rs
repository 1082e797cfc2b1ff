// SPDX-License-Identifier: Apache-2.0
//! What the CPU runs for each row of the table of algorithms: a type of a kept crate, of this one, or of `cpu.rs` in the
//! algorithm's own folder. `cpu` in algorithm.toml names it, and what is named there has to be in scope here.

use cipher::consts::{U16, U20, U24, U32};

use super::block::{Cipher, block64, block128};
use super::mac::{Hash, hash};
use super::mars::Mars;
use super::twofish::Twofish;
use super::wiping::Wiping;
use crate::algorithm::{self, Algorithm};

type Rc6<KeyBytes> = rc6::RC6<u32, U20, KeyBytes>;

include!(concat!(env!("OUT_DIR"), "/cpu.rs"));

/// What computes a cipher with keys of so many bytes.
pub fn cipher(algorithm: &Algorithm, key_len: usize) -> Option<Cipher> {
    let (_, by_key) = CIPHERS.iter().find(|(row, _)| *row == algorithm)?;
    by_key.iter().find(|(len, _)| *len == key_len).map(|(_, cipher)| *cipher)
}

/// What computes a hash.
pub fn hash_of(algorithm: &Algorithm) -> Option<Hash> {
    HASHES.iter().find(|(row, _)| *row == algorithm).map(|(_, hash)| *hash)
}
