// SPDX-License-Identifier: Apache-2.0
//! From a file to rows.

use std::io::{self, Read};
use std::num::ParseIntError;
use std::path::Path;

use csv::{ByteRecord, ReaderBuilder};
use thiserror::Error;

use super::{Check, KatError, KnownAnswers, Row, RowMode, Subject};
use crate::key::Secret;
use crate::need::{Direction, Mode};

/// The longest message that a repeat row may make and the longest chain that a Monte-Carlo row may ask for:
/// far beyond every published row, and no memory problem.
const MAX_REPEATED: usize = 256 << 20;
const MAX_CHAIN: usize = 1_000_000;
/// Files with known answers are read whole; the longest that is known has a thousandth of this.
const MOST_BYTES: u64 = 1 << 30;

/// What is wrong with a row or with the header, and what is allowed.
#[derive(Debug, Error)]
pub enum MalformedRow {
    /// The line is no row of a CSV file.
    #[error(transparent)]
    Csv(csv::Error),
    /// A column is missing.
    #[error("no column `{name}`, which known answers of {subject} need; columns: {found}")]
    NoColumn {
        /// Its name.
        name: &'static str,
        /// Whose answers they are.
        subject: Subject,
        /// The columns that there are.
        found: String,
    },
    /// A column says something that is not looked at.
    #[error("column `{name}` says nothing to known answers of {subject}; they have {known}")]
    UnknownColumn {
        /// Its name.
        name: String,
        /// Whose answers they are.
        subject: Subject,
        /// The columns that are looked at.
        known: String,
    },
    /// A field is not hexadecimal.
    #[error("column `{column}`: {error}")]
    Hex {
        /// The column.
        column: &'static str,
        /// What is wrong.
        error: hex::FromHexError,
    },
    /// The number of repetitions is none.
    #[error("column `count`: `{text}`: {error}")]
    Count {
        /// What is there.
        text: String,
        /// What is wrong.
        error: ParseIntError,
    },
    /// The repeated message is longer than any published one.
    #[error("the message would be longer than {MAX_REPEATED} bytes")]
    TooLong,
    /// There is no answer.
    #[error("column `digest_hex` is empty")]
    NoDigest,
    /// The result of an AEAD is none of the two.
    #[error("column `result`: `{0}` is neither `valid` nor `invalid`")]
    Result(String),
    /// Only MACs have files of forgeries.
    #[error("{0} has no files of rows that must not verify")]
    NoForgeries(Subject),
}

impl KnownAnswers {
    /// Reads a file.
    ///
    /// # Errors
    /// When it cannot be read, or for its first line that is not a row of the subject.
    pub fn read(subject: Subject, file: &Path) -> Result<KnownAnswers, KatError> {
        if file.as_os_str() == "-" {
            return Err(KatError::NotAFile("-".into()));
        }
        let io = |error| KatError::Io { file: file.into(), error };
        let mut bytes = Vec::new();
        // A device has no end.
        ace_fs::open(file).and_then(|file| file.take(MOST_BYTES + 1).read_to_end(&mut bytes)).map_err(io)?;
        if bytes.len() as u64 > MOST_BYTES {
            let why = format!("more than {} MiB", MOST_BYTES >> 20);
            return Err(io(io::Error::new(io::ErrorKind::FileTooLarge, why)));
        }
        Self::parse(subject, file, &bytes)
    }

    /// The rows of a file with these contents. The name decides whether they are forgeries.
    ///
    /// # Errors
    /// For the first line that is not a row of the subject, and when there is no row.
    pub fn parse(subject: Subject, file: &Path, bytes: &[u8]) -> Result<KnownAnswers, KatError> {
        if bytes.iter().all(u8::is_ascii_whitespace) {
            return Err(KatError::Empty { file: file.into() });
        }
        let at = |line: u64, reason: MalformedRow| KatError::Line { file: file.into(), line, reason };
        let csv_error = |error: csv::Error| {
            let line = error.position().map_or(1, csv::Position::line);
            at(line, MalformedRow::Csv(error))
        };
        let mut reader = ReaderBuilder::new().from_reader(bytes);
        let header = reader.byte_headers().map_err(csv_error)?;
        let columns = Columns::find(subject, header).map_err(|reason| at(1, reason))?;

        let mut rows = Vec::new();
        for record in reader.byte_records() {
            let record = record.map_err(csv_error)?;
            let line = record.position().map_or(0, csv::Position::line);
            let check = columns.check(&record).map_err(|reason| at(line, reason))?;
            let source = String::from_utf8_lossy(&record[columns.source]).into_owned();
            rows.push(Row { line, source, check });
        }
        if rows.is_empty() {
            return Err(KatError::NoRows { file: file.into() });
        }
        let forgeries = file.file_stem().is_some_and(|stem| stem.to_string_lossy().ends_with("_invalid"));
        if forgeries && !matches!(subject, Subject::Mac(..)) {
            return Err(at(1, MalformedRow::NoForgeries(subject)));
        }
        Ok(KnownAnswers { subject, forgeries, rows })
    }
}

/// Where the columns are, by their names.
struct Columns {
    source: usize,
    kind: ColumnKind,
}

enum ColumnKind {
    Cipher {
        mode: usize,
        key: usize,
        iv: usize,
        plaintext: usize,
        ciphertext: usize,
    },
    Digest {
        key: Option<usize>,
        unit: usize,
        count: Option<usize>,
        digest: usize,
    },
    Aead {
        key: usize,
        nonce: usize,
        aad: usize,
        plaintext: usize,
        ciphertext: usize,
        tag: usize,
        result: usize,
    },
}

impl Columns {
    fn find(subject: Subject, header: &ByteRecord) -> Result<Columns, MalformedRow> {
        let mut known = Vec::new();
        let mut optional = |name: &'static str| {
            known.push(name);
            header.iter().position(|column| column == name.as_bytes())
        };
        let found = || header.iter().map(String::from_utf8_lossy).collect::<Vec<_>>().join(",");
        let mut column =
            |name| optional(name).ok_or_else(|| MalformedRow::NoColumn { name, subject, found: found() });
        let source = column("source")?;
        let kind = match subject {
            Subject::Cipher(_) => ColumnKind::Cipher {
                mode: column("mode")?,
                key: column("key_hex")?,
                iv: column("iv_hex")?,
                plaintext: column("plaintext_hex")?,
                ciphertext: column("ciphertext_hex")?,
            },
            Subject::Hash(_) | Subject::Mac(..) => {
                let key = match subject {
                    Subject::Mac(..) => Some(column("key_hex")?),
                    _ => column("key_hex").ok(),
                };
                let count = column("count").ok();
                let unit = column(if count.is_some() { "unit_hex" } else { "message_hex" })?;
                let digest = column("digest_hex")?;
                ColumnKind::Digest { key, unit, count, digest }
            }
            Subject::Aead(_) => ColumnKind::Aead {
                key: column("key_hex")?,
                nonce: column("iv_hex")?,
                aad: column("aad_hex")?,
                plaintext: column("plaintext_hex")?,
                ciphertext: column("ciphertext_hex")?,
                tag: column("tag_hex")?,
                result: column("result")?,
            },
        };
        // A column that says something about the rows which is not looked at would make rows fail, or pass.
        let unknown = header.iter().find(|column| !known.iter().any(|name| *column == name.as_bytes()));
        match unknown {
            Some(column) => {
                let name = String::from_utf8_lossy(column).into_owned();
                Err(MalformedRow::UnknownColumn { name, subject, known: known.join(",") })
            }
            None => Ok(Columns { source, kind }),
        }
    }

    /// The reader has checked that every row has as many columns as the header.
    fn check(&self, record: &ByteRecord) -> Result<Check, MalformedRow> {
        let hex = |at: usize, column: &'static str| {
            hex::decode(&record[at]).map_err(|error| MalformedRow::Hex { column, error })
        };
        match self.kind {
            ColumnKind::Cipher { mode, key, iv, plaintext, ciphertext } => Ok(Check::Cipher {
                mode: row_mode(&String::from_utf8_lossy(&record[mode])),
                key: Secret::new(hex(key, "key_hex")?),
                iv: hex(iv, "iv_hex")?,
                plaintext: hex(plaintext, "plaintext_hex")?,
                ciphertext: hex(ciphertext, "ciphertext_hex")?,
            }),
            ColumnKind::Digest { key, unit, count, digest } => {
                let unit = hex(unit, if count.is_some() { "unit_hex" } else { "message_hex" })?;
                let count = match count {
                    None => 1,
                    Some(count) => {
                        let text = String::from_utf8_lossy(&record[count]);
                        let wrong = |error| MalformedRow::Count { text: text.to_string(), error };
                        text.parse::<usize>().map_err(wrong)?
                    }
                };
                if unit.len().checked_mul(count).is_none_or(|len| len > MAX_REPEATED) {
                    return Err(MalformedRow::TooLong);
                }
                let key = key.map_or(Ok(Vec::new()), |key| hex(key, "key_hex"))?;
                let digest = hex(digest, "digest_hex")?;
                if digest.is_empty() {
                    return Err(MalformedRow::NoDigest);
                }
                Ok(Check::Digest { key: Secret::new(key), unit, count, digest })
            }
            ColumnKind::Aead { key, nonce, aad, plaintext, ciphertext, tag, result } => Ok(Check::Aead {
                key: Secret::new(hex(key, "key_hex")?),
                nonce: hex(nonce, "iv_hex")?,
                aad: hex(aad, "aad_hex")?,
                plaintext: hex(plaintext, "plaintext_hex")?,
                ciphertext: hex(ciphertext, "ciphertext_hex")?,
                tag: hex(tag, "tag_hex")?,
                valid: match &record[result] {
                    b"valid" => true,
                    b"invalid" => false,
                    other => {
                        return Err(MalformedRow::Result(String::from_utf8_lossy(other).into_owned()));
                    }
                },
            }),
        }
    }
}

fn row_mode(text: &str) -> RowMode {
    let chain = |rest: &str| {
        let (direction, n) = rest.split_once('-')?;
        let direction = match direction {
            "ENC" => Direction::Encrypt,
            "DEC" => Direction::Decrypt,
            _ => return None,
        };
        n.parse().ok().filter(|n| (1..=MAX_CHAIN).contains(n)).map(|n| (direction, n))
    };
    let unknown = || RowMode::Unknown(text.to_owned());
    if let Some(mode) = Mode::ALL.into_iter().find(|mode| text == mode.name().to_ascii_uppercase()) {
        return RowMode::Plain(mode);
    }
    if let Some(rest) = text.strip_prefix("ECB-MCT-") {
        return chain(rest).map_or_else(unknown, |(direction, n)| RowMode::EcbChain(direction, n));
    }
    let rest = text.strip_prefix("CBC-MCT-").and_then(chain);
    rest.map_or_else(unknown, |(direction, n)| RowMode::CbcChain(direction, n))
}
