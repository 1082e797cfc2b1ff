// SPDX-License-Identifier: Apache-2.0
//! The table of algorithms: one row each. A new algorithm is one more row.

use std::fmt;

use cipher::consts::{U16, U20, U24, U32};

use crate::cpu::{self, Cipher, Software};
use crate::wiping::Wiping;

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
        (16, cpu::block128::<aes::Aes128>()),
        (24, cpu::block128::<aes::Aes192>()),
        (32, cpu::block128::<aes::Aes256>()),
    ]),
};

/// FIPS 46-3: blocks of 8 bytes; the parity bits of the key are ignored.
pub static DES: Algorithm = Algorithm {
    name: "des",
    code: 0x02,
    kind: Kind::Cipher { block: 8, keys: &[8] },
    software: Software::Cipher(&[(8, cpu::block64::<des::Des>())]),
};

/// SP 800-67, encrypt-decrypt-encrypt. A key of 16 bytes is K1, K2 with K3 := K1.
pub static TDES: Algorithm = Algorithm {
    name: "3des",
    code: 0x02,
    kind: Kind::Cipher { block: 8, keys: &[16, 24] },
    software: Software::Cipher(&[
        (16, cpu::block64::<des::TdesEde2>()),
        (24, cpu::block64::<des::TdesEde3>()),
    ]),
};

/// The AES candidate, tweaked in 1999: keys of 16 to 56 bytes in steps of 4. Words are little-endian.
pub static MARS: Algorithm = Algorithm {
    name: "mars",
    code: 0x03,
    kind: Kind::Cipher { block: 16, keys: &[16, 20, 24, 28, 32, 36, 40, 44, 48, 52, 56] },
    software: Software::Cipher(&same(
        [16, 20, 24, 28, 32, 36, 40, 44, 48, 52, 56],
        cpu::block128::<crate::mars::Mars>(),
    )),
};

/// RC6-32/20/b, the AES candidate. Words are little-endian.
pub static RC6: Algorithm = Algorithm {
    name: "rc6",
    code: 0x04,
    kind: Kind::Cipher { block: 16, keys: &[16, 24, 32] },
    software: Software::Cipher(&[
        (16, cpu::block128::<Wiping<Rc6<U16>>>()),
        (24, cpu::block128::<Wiping<Rc6<U24>>>()),
        (32, cpu::block128::<Wiping<Rc6<U32>>>()),
    ]),
};

type Rc6<KeyBytes> = rc6::RC6<u32, U20, KeyBytes>;

/// The AES candidate, in the byte order of NESSIE and of every library; the submission's own answers are the
/// same with every value written backwards.
pub static SERPENT: Algorithm = Algorithm {
    name: "serpent",
    code: 0x05,
    kind: Kind::Cipher { block: 16, keys: &[16, 24, 32] },
    software: Software::Cipher(&same([16, 24, 32], cpu::block128::<serpent::Serpent>())),
};

/// The AES candidate. Words are little-endian.
pub static TWOFISH: Algorithm = Algorithm {
    name: "twofish",
    code: 0x06,
    kind: Kind::Cipher { block: 16, keys: &[16, 24, 32] },
    software: Software::Cipher(&same([16, 24, 32], cpu::block128::<crate::twofish::Twofish>())),
};

/// RFC 2144 (CAST5): blocks of 8 bytes; keys of 5 to 16, up to 10 with 12 rounds, above with 16.
pub static CAST128: Algorithm = Algorithm {
    name: "cast128",
    code: 0x07,
    kind: Kind::Cipher { block: 8, keys: &[5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16] },
    software: Software::Cipher(&same(
        [5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16],
        cpu::block64::<cast5::Cast5>(),
    )),
};

/// RFC 2612 (CAST6): shorter keys are padded with zeros to 32 bytes.
pub static CAST256: Algorithm = Algorithm {
    name: "cast256",
    code: 0x08,
    kind: Kind::Cipher { block: 16, keys: &[16, 20, 24, 28, 32] },
    software: Software::Cipher(&same([16, 20, 24, 28, 32], cpu::block128::<cast6::Cast6>())),
};

/// Lai and Massey, 1991: blocks of 8 bytes, a key of 16, words big-endian.
pub static IDEA: Algorithm = Algorithm {
    name: "idea",
    code: 0x09,
    kind: Kind::Cipher { block: 8, keys: &[16] },
    software: Software::Cipher(&[(16, cpu::block64::<idea::Idea>())]),
};

/// RFC 3713.
pub static CAMELLIA: Algorithm = Algorithm {
    name: "camellia",
    code: 0x0a,
    kind: Kind::Cipher { block: 16, keys: &[16, 24, 32] },
    software: Software::Cipher(&[
        (16, cpu::block128::<camellia::Camellia128>()),
        (24, cpu::block128::<camellia::Camellia192>()),
        (32, cpu::block128::<camellia::Camellia256>()),
    ]),
};

/// GB/T 32907-2016.
pub static SM4: Algorithm = Algorithm {
    name: "sm4",
    code: 0x0b,
    kind: Kind::Cipher { block: 16, keys: &[16] },
    software: Software::Cipher(&[(16, cpu::block128::<sm4::Sm4>())]),
};

/// RFC 8891: GOST 28147-89 with the S-boxes of TC 26, big-endian.
pub static MAGMA: Algorithm = Algorithm {
    name: "magma",
    code: 0x10,
    kind: Kind::Cipher { block: 8, keys: &[32] },
    software: Software::Cipher(&[(32, cpu::block64::<magma::Magma>())]),
};

/// GOST 28147-89 with CryptoPro's S-boxes A (RFC 4357, 11.2), in the byte order of Magma: to what RFC 5830 writes,
/// blocks and the words of keys are the other way round.
pub static GOST_A: Algorithm = Algorithm {
    name: "gost-a",
    code: 0x11,
    kind: Kind::Cipher { block: 8, keys: &[32] },
    software: Software::Cipher(&[(32, cpu::block64::<magma::Gost89CryptoProA>())]),
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
pub static ALGORITHMS: &[&Algorithm] = &[
    &AES, &DES, &TDES, &MARS, &RC6, &SERPENT, &TWOFISH, &CAST128, &CAST256, &IDEA, &CAMELLIA, &SM4, &MAGMA,
    &GOST_A, &MD5, &SHA1,
];

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

impl Algorithm {
    /// By name; `tdes` and `des-ede3` are accepted for `3des`, `cast5` for `cast128` and the like.
    pub fn by_name(name: &str) -> Option<&'static Algorithm> {
        let name = match name {
            "tdes" | "des3" | "des-ede3" => "3des",
            "cast5" | "cast-128" => "cast128",
            "cast6" | "cast-256" => "cast256",
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
