// SPDX-License-Identifier: Apache-2.0
//! What programs that use OpenSSL find of the CPU engine: the rows of `ace-provider`, which `ace sas suites` lists, too.

use crate::algorithm::{AES, CAMELLIA, CAST128, IDEA, MD5, SHA1, SHA224, SHA256, SHA384, SHA512, SM4, TDES};
use crate::{Aead, Algorithm, Kind, Mode, Need};

/// One block cipher of OpenSSL's names.
#[derive(Debug)]
pub struct Row {
    /// The block cipher.
    pub algorithm: &'static Algorithm,
    /// CBC or CTR.
    pub mode: Mode,
    /// Bytes of key; of CAST-128 what it has if nobody says otherwise.
    pub key_len: usize,
}

impl Row {
    /// Bytes of block.
    pub const fn block(&self) -> usize {
        match self.algorithm.kind {
            Kind::Cipher { block, .. } => block,
            Kind::Hash { .. } => 1,
        }
    }

    /// Whether a key may have so many bytes.
    pub fn has_key_len(&self, len: usize) -> bool {
        // Only CAST-128 leaves the choice to whoever uses it; the others are rows of their own.
        match self.algorithm.kind {
            Kind::Cipher { keys, .. } if *self.algorithm == CAST128 => keys.contains(&len),
            _ => len == self.key_len,
        }
    }
}

const fn row(algorithm: &'static Algorithm, mode: Mode, key_len: usize) -> Row {
    Row { algorithm, mode, key_len }
}

/// Block ciphers.
pub static BLOCKS: [Row; 13] = [
    row(&AES, Mode::Cbc, 16),
    row(&AES, Mode::Cbc, 24),
    row(&AES, Mode::Cbc, 32),
    row(&AES, Mode::Ctr, 16),
    row(&AES, Mode::Ctr, 24),
    row(&AES, Mode::Ctr, 32),
    row(&TDES, Mode::Cbc, 24),
    row(&CAST128, Mode::Cbc, 16),
    row(&IDEA, Mode::Cbc, 16),
    row(&CAMELLIA, Mode::Cbc, 16),
    row(&CAMELLIA, Mode::Cbc, 24),
    row(&CAMELLIA, Mode::Cbc, 32),
    row(&SM4, Mode::Cbc, 16),
];

/// AEADs with their bytes of key. They need intel-ipsec-mb.
pub static AEADS: [(Aead, usize); 4] =
    [(Aead::Gcm, 16), (Aead::Gcm, 24), (Aead::Gcm, 32), (Aead::ChaCha20Poly1305, 32)];

/// Digests, and HMAC of each.
pub static DIGESTS: [&Algorithm; 6] = [&MD5, &SHA1, &SHA224, &SHA256, &SHA384, &SHA512];

/// Whether the provider computes it, built with intel-ipsec-mb.
pub fn computes(need: &Need) -> bool {
    match *need {
        Need::Cipher { algorithm, mode, key_len, .. } => BLOCKS
            .iter()
            .any(|row| row.algorithm == algorithm && row.mode == mode && row.has_key_len(key_len)),
        Need::Hash { algorithm } | Need::Hmac { algorithm } => DIGESTS.contains(&algorithm),
        Need::Aead { aead, key_len, .. } => AEADS.contains(&(aead, key_len)),
        Need::Gmac { .. } | Need::Xcbc | Need::Cmac { .. } => false,
    }
}
