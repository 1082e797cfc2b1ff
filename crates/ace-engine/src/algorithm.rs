// SPDX-License-Identifier: Apache-2.0
//! The table of algorithms: one row each. A new algorithm is one more row.

use std::fmt;

use crate::cpu::{self, Software};

/// One algorithm: what the slot boundary calls it and what it looks like from outside.
#[derive(Debug)]
pub struct Algorithm {
    /// Lower case, as in SA files and on the command line.
    pub name: &'static str,
    /// Byte 0 of a request frame.
    pub code: u8,
    /// Cipher or hash, with its lengths.
    pub kind: Kind,
    /// What the CPU engine runs for it.
    pub software: Software,
}

/// A cipher or a hash, and its lengths.
#[derive(Debug)]
pub enum Kind {
    /// Block and key lengths in bytes.
    Cipher { block: usize, keys: &'static [usize] },
    /// Block and digest lengths in bytes.
    Hash { block: usize, digest: usize },
}

/// FIPS 197: blocks of 16 bytes; keys of 16, 24 or 32.
pub static AES: Algorithm = Algorithm {
    name: "aes",
    code: 0x01,
    kind: Kind::Cipher { block: 16, keys: &[16, 24, 32] },
    software: Software::Cipher(&[
        (16, cpu::block128::<aes::Aes128>),
        (24, cpu::block128::<aes::Aes192>),
        (32, cpu::block128::<aes::Aes256>),
    ]),
};

/// FIPS 46-3: blocks of 8 bytes; the parity bits of the key are ignored.
pub static DES: Algorithm = Algorithm {
    name: "des",
    code: 0x02,
    kind: Kind::Cipher { block: 8, keys: &[8] },
    software: Software::Cipher(&[(8, cpu::block64::<des::Des>)]),
};

/// SP 800-67, encrypt-decrypt-encrypt. A key of 16 bytes is K1, K2 with K3 := K1.
pub static TDES: Algorithm = Algorithm {
    name: "3des",
    code: 0x02,
    kind: Kind::Cipher { block: 8, keys: &[16, 24] },
    software: Software::Cipher(&[(16, cpu::block64::<des::TdesEde2>), (24, cpu::block64::<des::TdesEde3>)]),
};

/// RFC 1321.
pub static MD5: Algorithm = Algorithm {
    name: "md5",
    code: 0x41,
    kind: Kind::Hash { block: 64, digest: 16 },
    software: Software::Hash { digest: cpu::digest::<md5::Md5>, hmac: cpu::hmac::<md5::Md5> },
};

/// FIPS 180-4, RFC 3174.
pub static SHA1: Algorithm = Algorithm {
    name: "sha1",
    code: 0x42,
    kind: Kind::Hash { block: 64, digest: 20 },
    software: Software::Hash { digest: cpu::digest::<sha1::Sha1>, hmac: cpu::hmac::<sha1::Sha1> },
};

/// Every algorithm, in the order of listings.
pub static ALGORITHMS: &[&Algorithm] = &[&AES, &DES, &TDES, &MD5, &SHA1];

impl Algorithm {
    /// By name; `tdes`, `des-ede3` and the like are accepted for `3des`.
    pub fn by_name(name: &str) -> Option<&'static Algorithm> {
        let name = match name {
            "tdes" | "des3" | "des-ede3" => "3des",
            "sha-1" => "sha1",
            other => other,
        };
        ALGORITHMS.iter().copied().find(|a| a.name == name)
    }
}

impl PartialEq for Algorithm {
    fn eq(&self, other: &Self) -> bool {
        self.name == other.name
    }
}

impl Eq for Algorithm {}

impl std::hash::Hash for Algorithm {
    fn hash<H: std::hash::Hasher>(&self, state: &mut H) {
        self.name.hash(state);
    }
}

impl fmt::Display for Algorithm {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name)
    }
}
