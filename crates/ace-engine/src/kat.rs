// SPDX-License-Identifier: Apache-2.0
//! Known answers: rows of published test vectors, run on any engine.
//!
//! [`KnownAnswers::read`] takes a CSV file with one of three headers:
//! * `source,mode,key_hex,iv_hex,plaintext_hex,ciphertext_hex`: block ciphers, see [`Check::Cipher`];
//! * `source,key_hex,message_hex,digest_hex`: hashes (no key) and HMAC, the digest possibly truncated;
//! * `source,key_hex,unit_hex,count,digest_hex`: the same for a message that repeats a unit.
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

use crate::algorithm::{ALGORITHMS, Algorithm, Kind};
use crate::operation::{Direction, Mode, Secret};

pub use run::{run, run_with_progress};

/// What the rows of a file test.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Subject {
    /// A block cipher, in the modes that its rows name.
    Cipher(&'static Algorithm),
    /// A hash without a key.
    Hash(&'static Algorithm),
    /// HMAC; with `Some`, of exactly so many bytes, else as long as each row's digest.
    Hmac(&'static Algorithm, Option<usize>),
}

impl Subject {
    /// By the name on the command line: an algorithm, `hmac-` and a hash, or `hmac-`, a hash and the bits
    /// that are left of it (`hmac-sha1-96`). Case and the choice of `-` or `_` make no difference.
    pub fn by_name(name: &str) -> Option<Subject> {
        let name = name.to_ascii_lowercase().replace('_', "-");
        if let Some(algorithm) = Algorithm::by_name(&name) {
            return Some(match algorithm.kind {
                Kind::Cipher { .. } => Subject::Cipher(algorithm),
                Kind::Hash { .. } => Subject::Hash(algorithm),
            });
        }
        let hash = name.strip_prefix("hmac-")?;
        let (hash, bits) = match Algorithm::by_name(hash) {
            Some(algorithm) => (algorithm, None),
            None => {
                let (hash, bits) = hash.rsplit_once('-')?;
                (Algorithm::by_name(hash)?, Some(bits.parse::<usize>().ok()?))
            }
        };
        let Kind::Hash { digest, .. } = hash.kind else {
            return None;
        };
        match bits {
            None => Some(Subject::Hmac(hash, None)),
            Some(bits) if bits % 8 == 0 && (1..=digest).contains(&(bits / 8)) => {
                Some(Subject::Hmac(hash, Some(bits / 8)))
            }
            Some(_) => None,
        }
    }

    /// The names that [`Subject::by_name`] knows, for an error message.
    pub fn names() -> Vec<String> {
        let hashes = || ALGORITHMS.iter().filter(|a| matches!(a.kind, Kind::Hash { .. }));
        let plain = ALGORITHMS.iter().map(|a| a.name.to_owned());
        plain.chain(hashes().flat_map(|a| [format!("hmac-{a}"), format!("hmac-{a}-96")])).collect()
    }
}

impl fmt::Display for Subject {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Subject::Cipher(algorithm) | Subject::Hash(algorithm) => write!(f, "{algorithm}"),
            Subject::Hmac(algorithm, None) => write!(f, "hmac-{algorithm}"),
            Subject::Hmac(algorithm, Some(len)) => write!(f, "hmac-{algorithm}-{}", len * 8),
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
    Cipher { mode: RowMode, key: Secret, iv: Vec<u8>, plaintext: Vec<u8>, ciphertext: Vec<u8> },
    /// The digest of `unit` repeated `count` times; keyed if the subject is an HMAC.
    Digest { key: Secret, unit: Vec<u8>, count: usize, digest: Vec<u8> },
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
    pub line: u64,
    pub source: String,
    /// What was computed: `encrypt`, `decrypt` or `digest`.
    pub step: String,
    /// In hexadecimal, or a statement.
    pub expected: String,
    /// In hexadecimal, or the engine's error.
    pub got: String,
}

/// A row that was not run, and why.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Skip {
    pub line: u64,
    pub source: String,
    pub reason: String,
}

/// Why a file has no rows to run. Every variant names the file.
#[derive(Debug, Error)]
pub enum KatError {
    #[error("{}: {source}", file.display())]
    Io { file: PathBuf, source: std::io::Error },
    #[error("{0}: known answers are read from a file")]
    NotAFile(String),
    #[error("{}: the file is empty", file.display())]
    Empty { file: PathBuf },
    #[error("{}: no rows below the header", file.display())]
    NoRows { file: PathBuf },
    #[error("{} line {line}: {reason}", file.display())]
    Line { file: PathBuf, line: u64, reason: String },
}
