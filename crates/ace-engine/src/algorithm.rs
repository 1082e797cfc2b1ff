// SPDX-License-Identifier: Apache-2.0
//! The table of algorithms: one row each, data only. What the CPU runs for a row is beside it in
//! [`crate::software::table`].

use std::fmt;

/// One algorithm: what the slot boundary calls it and what it looks like from outside.
#[derive(Debug)]
pub struct Algorithm {
    /// Lower case, as in SA files and on the command line.
    pub name: &'static str,
    /// Byte 0 of a request frame.
    pub code: u8,
    /// Cipher or hash, with its lengths.
    pub kind: Kind,
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
pub static AES: Algorithm =
    Algorithm { name: "aes", code: 0x01, kind: Kind::Cipher { block: 16, keys: &[16, 24, 32] } };

/// FIPS 46-3: blocks of 8 bytes; the parity bits of the key are ignored.
pub static DES: Algorithm =
    Algorithm { name: "des", code: 0x02, kind: Kind::Cipher { block: 8, keys: &[8] } };

/// SP 800-67, encrypt-decrypt-encrypt. A key of 16 bytes is K1, K2 with K3 := K1.
pub static TDES: Algorithm =
    Algorithm { name: "3des", code: 0x02, kind: Kind::Cipher { block: 8, keys: &[16, 24] } };

/// The AES candidate, tweaked in 1999: keys of 16 to 56 bytes in steps of 4. Words are little-endian.
pub static MARS: Algorithm = Algorithm {
    name: "mars",
    code: 0x03,
    kind: Kind::Cipher { block: 16, keys: &[16, 20, 24, 28, 32, 36, 40, 44, 48, 52, 56] },
};

/// RC6-32/20/b, the AES candidate. Words are little-endian.
pub static RC6: Algorithm =
    Algorithm { name: "rc6", code: 0x04, kind: Kind::Cipher { block: 16, keys: &[16, 24, 32] } };

/// The AES candidate, in the byte order of NESSIE and of every library; the submission's own answers are the
/// same with every value written backwards.
pub static SERPENT: Algorithm =
    Algorithm { name: "serpent", code: 0x05, kind: Kind::Cipher { block: 16, keys: &[16, 24, 32] } };

/// The AES candidate. Words are little-endian.
pub static TWOFISH: Algorithm =
    Algorithm { name: "twofish", code: 0x06, kind: Kind::Cipher { block: 16, keys: &[16, 24, 32] } };

/// RFC 2144 (CAST5): blocks of 8 bytes; keys of 5 to 16, up to 10 with 12 rounds, above with 16.
pub static CAST128: Algorithm = Algorithm {
    name: "cast128",
    code: 0x07,
    kind: Kind::Cipher { block: 8, keys: &[5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16] },
};

/// RFC 2612 (CAST6): shorter keys are padded with zeros to 32 bytes.
pub static CAST256: Algorithm =
    Algorithm { name: "cast256", code: 0x08, kind: Kind::Cipher { block: 16, keys: &[16, 20, 24, 28, 32] } };

/// Lai and Massey, 1991: blocks of 8 bytes, a key of 16, words big-endian.
pub static IDEA: Algorithm =
    Algorithm { name: "idea", code: 0x09, kind: Kind::Cipher { block: 8, keys: &[16] } };

/// RFC 3713.
pub static CAMELLIA: Algorithm =
    Algorithm { name: "camellia", code: 0x0a, kind: Kind::Cipher { block: 16, keys: &[16, 24, 32] } };

/// GB/T 32907-2016.
pub static SM4: Algorithm =
    Algorithm { name: "sm4", code: 0x0b, kind: Kind::Cipher { block: 16, keys: &[16] } };

/// RFC 8891: GOST 28147-89 with the S-boxes of TC 26, big-endian.
pub static MAGMA: Algorithm =
    Algorithm { name: "magma", code: 0x10, kind: Kind::Cipher { block: 8, keys: &[32] } };

/// GOST 28147-89 with CryptoPro's S-boxes A (RFC 4357, 11.2), in the byte order of Magma: to what RFC 5830 writes,
/// blocks and the words of keys are the other way round.
pub static GOST_A: Algorithm =
    Algorithm { name: "gost-a", code: 0x11, kind: Kind::Cipher { block: 8, keys: &[32] } };

/// RFC 1321.
pub static MD5: Algorithm = Algorithm { name: "md5", code: 0x41, kind: Kind::Hash { block: 64, digest: 16 } };

/// FIPS 180-4, RFC 3174.
pub static SHA1: Algorithm =
    Algorithm { name: "sha1", code: 0x42, kind: Kind::Hash { block: 64, digest: 20 } };

/// FIPS 180-4.
pub static SHA224: Algorithm =
    Algorithm { name: "sha224", code: 0x43, kind: Kind::Hash { block: 64, digest: 28 } };

/// FIPS 180-4.
pub static SHA256: Algorithm =
    Algorithm { name: "sha256", code: 0x44, kind: Kind::Hash { block: 64, digest: 32 } };

/// FIPS 180-4.
pub static SHA384: Algorithm =
    Algorithm { name: "sha384", code: 0x45, kind: Kind::Hash { block: 128, digest: 48 } };

/// FIPS 180-4.
pub static SHA512: Algorithm =
    Algorithm { name: "sha512", code: 0x46, kind: Kind::Hash { block: 128, digest: 64 } };

/// Every algorithm, in the order of listings.
pub static ALGORITHMS: &[&Algorithm] = &[
    &AES, &DES, &TDES, &MARS, &RC6, &SERPENT, &TWOFISH, &CAST128, &CAST256, &IDEA, &CAMELLIA, &SM4, &MAGMA,
    &GOST_A, &MD5, &SHA1, &SHA224, &SHA256, &SHA384, &SHA512,
];

impl Algorithm {
    /// By name; `tdes` and `des-ede3` are accepted for `3des`, `cast5` for `cast128` and the like.
    pub fn by_name(name: &str) -> Option<&'static Algorithm> {
        let name = match name {
            "tdes" | "des3" | "des-ede3" => "3des",
            "cast5" | "cast-128" => "cast128",
            "cast6" | "cast-256" => "cast256",
            "sha-1" => "sha1",
            "sha-224" => "sha224",
            "sha-256" => "sha256",
            "sha-384" => "sha384",
            "sha-512" => "sha512",
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
