// SPDX-License-Identifier: Apache-2.0
//! Known answers: rows of published test vectors, run on any engine.
//!
//! [`KnownAnswers::read`] takes a CSV file with one of four headers:
//! * `source,mode,key_hex,iv_hex,plaintext_hex,ciphertext_hex`: block ciphers, see [`Check::Cipher`];
//! * `source,key_hex,message_hex,digest_hex`: hashes (no key) and MACs, the digest possibly truncated;
//! * `source,key_hex,unit_hex,count,digest_hex`: the same for a message that repeats a unit;
//! * `source,key_hex,iv_hex,aad_hex,plaintext_hex,ciphertext_hex,tag_hex,result`: AEAD, see [`Check::Aead`].
//!
//! The rows of a file whose name ends in `_invalid.csv` are forgeries: they pass when they do not verify.

mod parse;
mod run;
mod task;
#[cfg(test)]
mod tests;

use std::fmt;
use std::path::PathBuf;

use serde::Serialize;
use thiserror::Error;

pub use parse::MalformedRow;

use crate::algorithm::{ALGORITHMS, Algorithm, Kind};
use crate::key::Secret;
use crate::need::{Aead, Direction, Mac, Mode};

pub use run::{run, run_with_progress};

/// What the rows of a file test.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Subject {
    /// A block cipher, in the modes that its rows name.
    Cipher(&'static Algorithm),
    /// A hash without a key.
    Hash(&'static Algorithm),
    /// A MAC; with `Some`, of exactly so many bytes, else as long as each row's digest.
    Mac(Mac, Option<usize>),
    /// An AEAD, with tags and nonces as long as each row's.
    Aead(Aead),
}

impl Subject {
    /// By the name on the command line: an algorithm, `hmac-` and a hash, `aes-xcbc`, `aes-cmac`, one of these and
    /// the bits that are left of it (`hmac-sha1-96`), or an AEAD. Case and the choice of `-` or `_` make no
    /// difference.
    pub fn by_name(name: &str) -> Option<Subject> {
        let name = name.to_ascii_lowercase().replace('_', "-");
        if let Some(algorithm) = Algorithm::by_name(&name) {
            return Some(match algorithm.kind {
                Kind::Cipher { .. } => Subject::Cipher(algorithm),
                Kind::Hash { .. } => Subject::Hash(algorithm),
            });
        }
        match name.as_str() {
            "aes-gcm" | "gcm" | "aes-gmac" | "gmac" => return Some(Subject::Aead(Aead::Gcm)),
            "aes-ccm" | "ccm" => return Some(Subject::Aead(Aead::Ccm)),
            "chacha20-poly1305" | "chacha20poly1305" => return Some(Subject::Aead(Aead::ChaCha20Poly1305)),
            _ => {}
        }
        if let Some(mac) = mac_by_name(&name) {
            return Some(Subject::Mac(mac, None));
        }
        let (mac, bits) = name.rsplit_once('-')?;
        let (mac, bits) = (mac_by_name(mac)?, bits.parse::<usize>().ok()?);
        let fits = bits % 8 == 0 && (1..=longest(mac)).contains(&(bits / 8));
        fits.then_some(Subject::Mac(mac, Some(bits / 8)))
    }

    /// The names that [`Subject::by_name`] knows, for an error message.
    pub fn names() -> Vec<String> {
        let hashes = || ALGORITHMS.iter().filter(|a| matches!(a.kind, Kind::Hash { .. }));
        let plain = ALGORITHMS.iter().map(|a| a.name.to_owned());
        let macs = hashes().map(|a| format!("hmac-{a}")).chain(["aes-xcbc".into(), "aes-cmac".into()]);
        let macs = macs.flat_map(|name| [format!("{name}-96"), name]);
        plain.chain(macs).chain(Aead::ALL.map(|aead| aead.name().to_owned())).collect()
    }
}

fn mac_by_name(name: &str) -> Option<Mac> {
    match name {
        "aes-xcbc" => Some(Mac::Xcbc),
        "aes-cmac" => Some(Mac::Cmac),
        _ => {
            let hash = Algorithm::by_name(name.strip_prefix("hmac-")?)?;
            matches!(hash.kind, Kind::Hash { .. }).then_some(Mac::Hmac(hash))
        }
    }
}

/// Bytes of the whole tag.
fn longest(mac: Mac) -> usize {
    match mac {
        Mac::Hmac(Algorithm { kind: Kind::Hash { digest, .. }, .. }) => *digest,
        Mac::Hmac(_) => 0,
        Mac::Xcbc | Mac::Cmac => 16,
    }
}

impl fmt::Display for Subject {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Subject::Cipher(algorithm) | Subject::Hash(algorithm) => return write!(f, "{algorithm}"),
            Subject::Aead(aead) => return f.write_str(aead.name()),
            Subject::Mac(Mac::Hmac(algorithm), _) => write!(f, "hmac-{algorithm}"),
            Subject::Mac(Mac::Xcbc, _) => f.write_str("aes-xcbc"),
            Subject::Mac(Mac::Cmac, _) => f.write_str("aes-cmac"),
        }?;
        match self {
            Subject::Mac(_, Some(len)) => write!(f, "-{}", len * 8),
            _ => Ok(()),
        }
    }
}

/// A file of known answers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KnownAnswers {
    /// What the rows test.
    pub subject: Subject,
    /// The rows are forgeries: they must not verify.
    pub forgeries: bool,
    /// At least one, in the order of the file.
    pub rows: Vec<Row>,
}

/// One row of a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Row {
    /// Counted from 1; the header is line 1.
    pub line: u64,
    /// Where the answer was published.
    pub source: String,
    /// What the row states.
    pub check: Check,
}

/// What a row states.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Check {
    /// Encrypting the plaintext gives the ciphertext and decrypting gives it back; for a Monte-Carlo mode
    /// only the direction that it names.
    Cipher {
        /// The `mode` column.
        mode: RowMode,
        /// The cipher's key.
        key: Secret,
        /// A block; empty for ECB.
        iv: Vec<u8>,
        /// The text in clear.
        plaintext: Vec<u8>,
        /// The encrypted text, as long as `plaintext`.
        ciphertext: Vec<u8>,
    },
    /// The digest of `unit` repeated `count` times; keyed if the subject is a MAC.
    Digest {
        /// Empty for a hash without a key.
        key: Secret,
        /// The bytes that the message repeats; the whole message if `count` is 1.
        unit: Vec<u8>,
        /// How often the message repeats `unit`.
        count: usize,
        /// The stated digest or MAC; its length says how much of the computed one is compared.
        digest: Vec<u8>,
    },
    /// If it is `valid`, encrypting the plaintext gives ciphertext and tag, and decrypting these gives it back. If
    /// not, decrypting is refused.
    Aead {
        /// The AEAD's key.
        key: Secret,
        /// The `iv_hex` column; its length may be one that the AEAD refuses.
        nonce: Vec<u8>,
        /// Bytes that are authenticated and not encrypted.
        aad: Vec<u8>,
        /// The text in clear.
        plaintext: Vec<u8>,
        /// The encrypted text, as long as `plaintext`, without the tag.
        ciphertext: Vec<u8>,
        /// The stated tag, possibly truncated.
        tag: Vec<u8>,
        /// Whether the `result` column says that the row verifies.
        valid: bool,
    },
}

/// The `mode` column.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RowMode {
    /// `ECB`, `CBC`, `CTR`, `CFB`, `CFB8`, `OFB`.
    Plain(Mode),
    /// `ECB-MCT-ENC-n`, `ECB-MCT-DEC-n`: the output is the next input, `n` times, under one key.
    EcbChain(Direction, usize),
    /// `CBC-MCT-ENC-n`: P\[1\] = IV, P\[j+1\] = C\[j-1\]; the last C is the answer. `CBC-MCT-DEC-n`:
    /// C\[j+1\] = P\[j\], but for AES rows from CAVP C\[1\] = IV, C\[j+1\] = P\[j-1\]; the last P is the answer.
    CbcChain(Direction, usize),
    /// A mode that no engine has.
    Unknown(String),
}

/// What became of a file's rows. Every row is counted once.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Report {
    /// Rows of which every direction gave the stated answer.
    pub passed: usize,
    /// In the order of the file.
    pub failed: Vec<Failure>,
    /// In the order of the file.
    pub skipped: Vec<Skip>,
}

impl Report {
    /// At least one row ran, and none failed.
    pub fn is_success(&self) -> bool {
        self.passed > 0 && self.failed.is_empty()
    }

    /// Adds the rows of another file.
    pub fn merge(&mut self, other: Report) {
        self.passed += other.passed;
        self.failed.extend(other.failed);
        self.skipped.extend(other.skipped);
    }
}

/// A row with another answer.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Failure {
    /// Line of the row in its file; the header is line 1.
    pub line: u64,
    /// Where the answer was published, as the row says.
    pub source: String,
    /// What was computed: `encrypt`, `decrypt`, `digest` or `verify`.
    pub step: String,
    /// In hexadecimal, or a statement.
    pub expected: String,
    /// In hexadecimal, or the engine's error.
    pub got: String,
}

/// A row that was not run, and why.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Skip {
    /// Line of the row in its file; the header is line 1.
    pub line: u64,
    /// Where the answer was published, as the row says.
    pub source: String,
    /// What the engine or the reader lacks to run it, as a sentence for people.
    pub reason: String,
}

/// Why a file has no rows to run. Every variant names the file.
#[derive(Debug, Error)]
pub enum KatError {
    /// The file cannot be opened or read.
    #[error("{}: {error}", file.display())]
    Io {
        /// The file, as it was named.
        file: PathBuf,
        /// What the system says.
        error: std::io::Error,
    },
    /// The path was `-`, and known answers do not come from standard input.
    #[error("{0}: known answers are read from a file")]
    NotAFile(String),
    /// The file has no byte.
    #[error("{}: the file is empty", file.display())]
    Empty {
        /// The file, as it was named.
        file: PathBuf,
    },
    /// The file has a header and nothing else.
    #[error("{}: no rows below the header", file.display())]
    NoRows {
        /// The file, as it was named.
        file: PathBuf,
    },
    /// A row or the header is malformed.
    #[error("{} line {line}: {reason}", file.display())]
    Line {
        /// The file, as it was named.
        file: PathBuf,
        /// Counted from 1; the header is line 1.
        line: u64,
        /// What is wrong, and what is allowed.
        reason: MalformedRow,
    },
}
