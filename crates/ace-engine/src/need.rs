// SPDX-License-Identifier: Apache-2.0
//! What has to be computed, as data: modes, directions, and the key under which a scheduler looks for what
//! computes it.

use std::fmt;

use crate::algorithm::{AES, ALGORITHMS, Algorithm, Kind};

/// The modes of SP 800-38A.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Mode {
    /// Each block for itself, without an IV (6.1). Equal blocks stay equal.
    Ecb,
    /// Each block is added to the one that was encrypted before (6.2).
    Cbc,
    /// The counter is the whole block as one big-endian number.
    Ctr,
    /// Segments are blocks; the last one may be short.
    Cfb,
    /// Segments are bytes: a pass of the cipher for each.
    Cfb8,
    /// The key stream is the cipher's output fed back (6.4).
    Ofb,
}

impl Mode {
    /// In the order of listings.
    pub const ALL: [Mode; 6] = [Mode::Ecb, Mode::Cbc, Mode::Ctr, Mode::Cfb, Mode::Cfb8, Mode::Ofb];

    /// As manifests and people write it; known answers have capitals.
    pub const fn name(self) -> &'static str {
        match self {
            Mode::Ecb => "ecb",
            Mode::Cbc => "cbc",
            Mode::Ctr => "ctr",
            Mode::Cfb => "cfb",
            Mode::Cfb8 => "cfb8",
            Mode::Ofb => "ofb",
        }
    }

    /// Whether data have to be whole blocks.
    pub const fn whole_blocks(self) -> bool {
        matches!(self, Mode::Ecb | Mode::Cbc)
    }

    /// Whether decryption is anything else than encryption.
    pub const fn has_direction(self) -> bool {
        !matches!(self, Mode::Ctr | Mode::Ofb)
    }
}

/// Which way a cipher works on a text.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Direction {
    /// From text in clear to encrypted text.
    Encrypt,
    /// From encrypted text to text in clear.
    Decrypt,
}

impl Direction {
    /// Both, in the order of listings.
    pub const BOTH: [Direction; 2] = [Direction::Encrypt, Direction::Decrypt];

    /// `encrypt`, `decrypt`: as manifests and people write it.
    pub const fn name(self) -> &'static str {
        match self {
            Direction::Encrypt => "encrypt",
            Direction::Decrypt => "decrypt",
        }
    }
}

/// Bytes of the key with which the papers state their ciphers.
const STATED_KEY: usize = 16;

/// Encryption and authentication in one. GMAC (RFC 4543) is GCM of no text.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Aead {
    /// AES-GCM (SP 800-38D): tags of 4, 8, or 12 to 16 bytes, nonces of any length but 0.
    Gcm,
    /// AES-CCM (SP 800-38C): tags of 4 to 16 bytes, even; nonces of 7 to 13.
    Ccm,
    /// RFC 8439: tags of 16 bytes, nonces of 12.
    ChaCha20Poly1305,
}

impl Aead {
    /// Every one, in the order of listings.
    pub const ALL: [Aead; 3] = [Aead::Gcm, Aead::Ccm, Aead::ChaCha20Poly1305];

    /// As known answers and reports write it.
    pub const fn name(self) -> &'static str {
        match self {
            Aead::Gcm => "aes-gcm",
            Aead::Ccm => "aes-ccm",
            Aead::ChaCha20Poly1305 => "chacha20-poly1305",
        }
    }

    /// By the name that known answers and manifests write.
    pub fn by_name(name: &str) -> Option<Aead> {
        Self::ALL.into_iter().find(|aead| aead.name() == name)
    }

    /// The cipher of the table that it is made of, if it is one.
    pub const fn cipher(self) -> Option<&'static Algorithm> {
        match self {
            Aead::Gcm | Aead::Ccm => Some(&AES),
            Aead::ChaCha20Poly1305 => None,
        }
    }

    /// Key lengths in bytes.
    pub const fn keys(self) -> &'static [usize] {
        match self {
            Aead::Gcm | Aead::Ccm => &[16, 24, 32],
            Aead::ChaCha20Poly1305 => &[32],
        }
    }

    /// Whether a tag may have so many bytes.
    #[inline]
    pub const fn has_tag(self, len: usize) -> bool {
        match self {
            Aead::Gcm => matches!(len, 4 | 8 | 12..=16),
            Aead::Ccm => matches!(len, 4..=16) && len.is_multiple_of(2),
            Aead::ChaCha20Poly1305 => len == 16,
        }
    }

    /// Whether a nonce may have so many bytes.
    #[inline]
    pub const fn has_nonce(self, len: usize) -> bool {
        match self {
            Aead::Gcm => len > 0,
            Aead::Ccm => matches!(len, 7..=13),
            Aead::ChaCha20Poly1305 => len == 12,
        }
    }

    /// The longest text with a nonce of so many bytes.
    #[inline]
    pub const fn longest_text(self, nonce: usize) -> u64 {
        match self {
            // SP 800-38D, 5.2.1.1: 2^39 - 256 bits.
            Aead::Gcm => (1 << 36) - 32,
            // What is left of 15 bytes holds the length.
            Aead::Ccm if nonce >= 8 && nonce <= 14 => (1 << (8 * (15 - nonce))) - 1,
            Aead::Ccm => u64::MAX,
            // RFC 8439, 2.8: 2^32 - 1 blocks of 64 bytes.
            Aead::ChaCha20Poly1305 => ((1 << 32) - 1) * 64,
        }
    }
}

/// How a message is authenticated.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mac {
    /// RFC 2104, with this hash: keys of any length.
    Hmac(&'static Algorithm),
    /// AES-XCBC-MAC (RFC 3566): keys of 16 bytes.
    Xcbc,
    /// AES-CMAC (SP 800-38B, RFC 4493).
    Cmac,
}

/// What something has to be able to do to execute one pass of an operation: the key under which a scheduler looks
/// for a configuration.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Need {
    /// One pass of a block cipher.
    Cipher {
        /// A cipher of the table.
        algorithm: &'static Algorithm,
        /// The mode of operation.
        mode: Mode,
        /// Equal for both ways if the mode has no direction ([`Mode::has_direction`]).
        direction: Direction,
        /// Length of the key in bytes.
        key_len: usize,
    },
    /// A digest without a key.
    Hash {
        /// A hash of the table.
        algorithm: &'static Algorithm,
    },
    /// HMAC (RFC 2104), with keys of any length.
    Hmac {
        /// The hash that it uses.
        algorithm: &'static Algorithm,
    },
    /// One pass of an AEAD.
    Aead {
        /// Which AEAD.
        aead: Aead,
        /// Encryption writes a tag, decryption checks one.
        direction: Direction,
        /// Length of the key in bytes.
        key_len: usize,
    },
    /// AES-GMAC (RFC 4543): GCM of no text, whose associated data are whole packets.
    Gmac {
        /// Encryption writes a tag, decryption checks one.
        direction: Direction,
        /// Length of the key in bytes.
        key_len: usize,
    },
    /// AES-XCBC-MAC (RFC 3566), with keys of 16 bytes.
    Xcbc,
    /// AES-CMAC (RFC 4493).
    Cmac {
        /// Length of the key in bytes.
        key_len: usize,
    },
}

impl Need {
    /// What a figure of an algorithm is stated for where nobody says more: CBC encryption with a key of 128 bits, or
    /// with the longest key where there is none of 128 bits and for triple DES; HMAC of a hash.
    pub fn stated(algorithm: &'static Algorithm) -> Need {
        match algorithm.kind {
            Kind::Cipher { keys, .. } => {
                let usual = keys.contains(&STATED_KEY) && algorithm.name != "3des";
                let longest = keys.iter().copied().max().unwrap_or(0);
                let key_len = if usual { STATED_KEY } else { longest };
                Need::Cipher { algorithm, mode: Mode::Cbc, direction: Direction::Encrypt, key_len }
            }
            Kind::Hash { .. } => Need::Hmac { algorithm },
        }
    }

    /// Bits of the key, where the need names a length.
    pub fn key_bits(&self) -> Option<usize> {
        match self {
            Need::Cipher { key_len, .. }
            | Need::Aead { key_len, .. }
            | Need::Gmac { key_len, .. }
            | Need::Cmac { key_len } => Some(8 * key_len),
            Need::Hash { .. } | Need::Hmac { .. } | Need::Xcbc => None,
        }
    }

    /// Every one that the tables allow; both directions of modes that have none.
    pub fn all() -> Vec<Need> {
        let mut all = Vec::new();
        for algorithm in ALGORITHMS.iter().copied() {
            match algorithm.kind {
                Kind::Cipher { keys, .. } => {
                    for &key_len in keys {
                        all.extend(Mode::ALL.into_iter().flat_map(|mode| {
                            Direction::BOTH.map(|direction| Need::Cipher {
                                algorithm,
                                mode,
                                direction,
                                key_len,
                            })
                        }));
                    }
                }
                Kind::Hash { .. } => all.extend([Need::Hash { algorithm }, Need::Hmac { algorithm }]),
            }
        }
        for aead in Aead::ALL {
            for &key_len in aead.keys() {
                all.extend(Direction::BOTH.map(|direction| Need::Aead { aead, direction, key_len }));
            }
        }
        for &key_len in Aead::Gcm.keys() {
            all.extend(Direction::BOTH.map(|direction| Need::Gmac { direction, key_len }));
        }
        all.push(Need::Xcbc);
        all.extend([16, 24, 32].map(|key_len| Need::Cmac { key_len }));
        all
    }

    /// The algorithm of the table whose configurations serve this; AEADs and MACs that
    /// are built on a cipher have none here ([`Aead::cipher`]).
    pub fn algorithm(&self) -> Option<&'static Algorithm> {
        match self {
            Need::Cipher { algorithm, .. } | Need::Hash { algorithm } | Need::Hmac { algorithm } => {
                Some(algorithm)
            }
            Need::Aead { .. } | Need::Gmac { .. } | Need::Xcbc | Need::Cmac { .. } => None,
        }
    }
}

/// For people: `aes-128-cbc encrypt`, `md5`, `hmac-sha1`.
impl fmt::Display for Need {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Need::Cipher { algorithm, mode, direction, key_len } => {
                write!(f, "{algorithm}-{}-{} {}", key_len * 8, mode.name(), direction.name())
            }
            Need::Hash { algorithm } => write!(f, "{algorithm}"),
            Need::Hmac { algorithm } => write!(f, "hmac-{algorithm}"),
            Need::Aead { aead: Aead::ChaCha20Poly1305, direction, .. } => {
                write!(f, "{} {}", Aead::ChaCha20Poly1305.name(), direction.name())
            }
            Need::Aead { aead, direction, key_len } => {
                write!(f, "aes-{}-{} {}", key_len * 8, &aead.name()[4..], direction.name())
            }
            Need::Gmac { direction, key_len } => write!(f, "aes-{}-gmac {}", key_len * 8, direction.name()),
            Need::Xcbc => f.write_str("aes-xcbc"),
            Need::Cmac { key_len } => write!(f, "aes-{}-cmac", key_len * 8),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_figures_are_stated_for_is_one_of_the_algorithms_keys() {
        let all: Vec<Need> = Need::all();
        for algorithm in ALGORITHMS.iter().copied() {
            let stated = Need::stated(algorithm);
            assert!(all.contains(&stated), "{stated}");
            let bits = match algorithm.name {
                "des" => Some(64),
                "3des" => Some(192),
                "cast128" | "cast256" | "aes" | "rc6" => Some(128),
                "magma" | "gost-a" => Some(256),
                "md5" | "sha1" => None,
                _ => continue,
            };
            assert_eq!(stated.key_bits(), bits, "{stated}");
        }
    }
}
