// SPDX-License-Identifier: Apache-2.0
//! What a row has to compute, one operation after the other.

use thiserror::Error;

use super::{Check, KnownAnswers, Row, RowMode, Subject};
use crate::algorithm::{AES, Algorithm, Kind};
use crate::buffer::Buffer;
use crate::error::{EngineError, Illegal};
use crate::key::Key;
use crate::need::{Direction, Mode, Need};
use crate::operation::{Iv, Operation};

/// Why a row cannot be run: what the engines lack, or what the row is of.
#[derive(Debug, Error)]
pub(super) enum PlanError {
    #[error("{of} has no key of {len} bytes")]
    KeyLength { of: String, len: usize },
    #[error("{0} takes no key")]
    Keyless(&'static Algorithm),
    #[error("the digest has {} bits, not {}", found * 8, wanted * 8)]
    DigestLength { found: usize, wanted: usize },
    #[error("not a row of {0}")]
    OtherSubject(Subject),
    #[error("{0} is not a cipher")]
    NoCipher(&'static Algorithm),
    #[error("mode {0} is not supported")]
    Mode(String),
    #[error(transparent)]
    Key(#[from] EngineError),
}

/// One way through a row: operations, the later ones made from the results of the earlier.
pub(super) struct Task {
    /// The place of the row in its file.
    pub row: usize,
    pub step: Step,
    key: Key,
    chain: Chain,
}

/// What is computed from what.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Step {
    Cipher(Direction),
    Digest,
    /// The stated digest is handed in to be checked: that of a forgery is refused.
    Verify,
    Aead(Direction),
}

impl Step {
    pub(super) fn name(self) -> &'static str {
        match self {
            Step::Cipher(direction) | Step::Aead(direction) => direction.name(),
            Step::Digest => "digest",
            Step::Verify => "verify",
        }
    }
}

/// What follows a result of a cipher.
enum Chain {
    /// Nothing: it is the answer.
    Last,
    /// So many ECB encryptions, all but the last as one CBC pass: encrypting `P 0 0 …` with a zero IV feeds
    /// every output back as the next input. The last is a true ECB pass, under this key.
    EcbFromCbc { blocks: usize, last: Key },
    /// So many more ECB passes over the last result.
    Again { more: usize },
    /// So many more CBC passes over single blocks. What enters next is the last result, or the one before
    /// it (at first the IV).
    Cbc { more: usize, feed: Feed, before: Vec<u8>, input: Vec<u8> },
}

/// Which block enters the next step of a CBC chain.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Feed {
    LastOutput,
    OutputBefore,
}

/// What to do after a result.
pub(super) enum Next {
    Operation(Operation),
    Answer(Vec<u8>),
}

impl Task {
    pub(super) fn need(&self) -> Need {
        let (Step::Cipher(direction) | Step::Aead(direction)) = self.step else {
            return self.key.need(Direction::Encrypt);
        };
        self.key.need(direction)
    }

    /// The first operation. One that cannot be said is answered as if an engine had refused it.
    pub(super) fn start(&self, row: &Row) -> Result<Operation, EngineError> {
        let key = self.key.clone();
        Ok(match (&row.check, self.step) {
            (Check::Cipher { iv, plaintext, ciphertext, .. }, Step::Cipher(direction)) => {
                let mut data = match direction {
                    Direction::Encrypt => plaintext.clone(),
                    Direction::Decrypt => ciphertext.clone(),
                };
                if let Chain::EcbFromCbc { blocks, .. } = &self.chain {
                    data.resize(data.len() * blocks, 0);
                    return Operation::cipher(key.clone(), direction, &vec![0; key.iv_len()], &data);
                }
                let is_chain = !matches!(self.chain, Chain::Last);
                let iv = if is_chain && key.iv_len() == 0 { &[] } else { &iv[..] };
                return Operation::cipher(key, direction, iv, &data);
            }
            (Check::Digest { unit, count, digest, .. }, Step::Digest) => {
                Operation::mac(key, &unit.repeat(*count), digest.len())
            }
            (Check::Digest { unit, count, digest, .. }, Step::Verify) => {
                Operation::check_mac(key, &unit.repeat(*count), digest)
            }
            (Check::Aead { nonce, aad, plaintext, tag, .. }, Step::Aead(Direction::Encrypt)) => {
                Operation::aead(key, nonce, aad, plaintext, tag.len())
            }
            (Check::Aead { nonce, aad, ciphertext, tag, .. }, Step::Aead(Direction::Decrypt)) => {
                Operation::check_aead(key, nonce, aad, ciphertext, tag)
            }
            _ => return Err(Illegal::KeyPurpose.into()),
        })
    }

    /// Takes the buffer of the last operation.
    pub(super) fn next(&mut self, mut buffer: Buffer, row: &Row) -> Result<Next, EngineError> {
        let Step::Cipher(direction) = self.step else {
            return Ok(Next::Answer(answer(&buffer, row, self.step)));
        };
        let cipher = |key: &Key, iv: &[u8], buffer: Buffer| {
            let iv = Iv::new(iv).ok_or(Illegal::IvLength { wanted: key.iv_len(), found: iv.len() })?;
            let text = (0..buffer.len()).into();
            let action = crate::operation::Action::Cipher { key: key.clone(), direction, iv, text };
            Ok(Next::Operation(Operation { action, buffer }))
        };
        match std::mem::replace(&mut self.chain, Chain::Last) {
            Chain::Last | Chain::Again { more: 0 } | Chain::Cbc { more: 0, .. } => {
                Ok(Next::Answer(buffer.to_vec()))
            }
            Chain::EcbFromCbc { blocks, last } => {
                buffer.pop_front(buffer.len() / blocks * (blocks - 1));
                cipher(&last, &[], buffer)
            }
            Chain::Again { more } => {
                self.chain = Chain::Again { more: more - 1 };
                cipher(&self.key, &[], buffer)
            }
            Chain::Cbc { more, feed, before, input } => {
                let result = buffer.to_vec();
                // CBC carries the ciphertext to the next block: the output when encrypting, else the input.
                let iv = if direction == Direction::Encrypt { result.clone() } else { input };
                if feed == Feed::OutputBefore {
                    buffer = Buffer::from_packet(&before, 0, 0);
                }
                self.chain = Chain::Cbc { more: more - 1, feed, before: result, input: buffer.to_vec() };
                cipher(&self.key, &iv, buffer)
            }
        }
    }
}

/// What an operation of one step has made, in its buffer.
fn answer(buffer: &[u8], row: &Row, step: Step) -> Vec<u8> {
    let range = match (&row.check, step) {
        (Check::Digest { digest, .. }, _) => buffer.len().saturating_sub(digest.len())..buffer.len(),
        (Check::Aead { plaintext, tag, .. }, Step::Aead(Direction::Encrypt)) => {
            0..plaintext.len() + tag.len()
        }
        (Check::Aead { ciphertext, .. }, _) => 0..ciphertext.len(),
        _ => 0..buffer.len(),
    };
    buffer.get(range).unwrap_or_default().to_vec()
}

impl Row {
    /// What the last result of a step has to be.
    pub(super) fn expected(&self, step: Step) -> Vec<u8> {
        match (&self.check, step) {
            (Check::Cipher { ciphertext, .. }, Step::Cipher(Direction::Encrypt)) => ciphertext.clone(),
            (Check::Cipher { plaintext, .. }, _) => plaintext.clone(),
            (Check::Digest { digest, .. }, _) => digest.clone(),
            (Check::Aead { ciphertext, tag, .. }, Step::Aead(Direction::Encrypt)) => {
                [&ciphertext[..], tag].concat()
            }
            (Check::Aead { plaintext, .. }, _) => plaintext.clone(),
        }
    }

    /// Whether a step has to be refused.
    pub(super) fn is_forged(&self, step: Step, file_of_forgeries: bool) -> bool {
        match (&self.check, step) {
            (Check::Aead { valid, .. }, _) => !valid,
            (_, Step::Verify) => file_of_forgeries,
            _ => false,
        }
    }
}

impl KnownAnswers {
    /// The tasks of the row at `index`; all must succeed. Or why it cannot be run.
    pub(super) fn plan(&self, index: usize, row: &Row) -> Result<Vec<Task>, PlanError> {
        let words = |error: EngineError| match error {
            EngineError::Illegal(Illegal::KeyLength(len)) => {
                PlanError::KeyLength { of: self.subject.to_string(), len }
            }
            other => PlanError::Key(other),
        };
        let task = |step, key| Task { row: index, step, key, chain: Chain::Last };
        match (&row.check, self.subject) {
            (Check::Cipher { .. }, Subject::Cipher(algorithm)) => cipher_tasks(algorithm, index, row),
            (Check::Digest { key, .. }, Subject::Hash(algorithm)) => match key.is_empty() {
                true => Ok(vec![task(Step::Digest, Key::hash(algorithm).map_err(words)?)]),
                false => Err(PlanError::Keyless(algorithm)),
            },
            (Check::Digest { digest, .. }, Subject::Mac(_, Some(wanted))) if wanted != digest.len() => {
                Err(PlanError::DigestLength { found: digest.len(), wanted })
            }
            (Check::Digest { key, .. }, Subject::Mac(mac, _)) => {
                let key = Key::mac(mac, key.as_bytes()).map_err(words)?;
                let step = if self.forgeries { Step::Verify } else { Step::Digest };
                Ok(vec![task(step, key)])
            }
            (Check::Aead { key, valid, .. }, Subject::Aead(aead)) => {
                let key = Key::aead(aead, key.as_bytes()).map_err(words)?;
                let open = task(Step::Aead(Direction::Decrypt), key.clone());
                Ok(match valid {
                    true => vec![task(Step::Aead(Direction::Encrypt), key), open],
                    false => vec![open],
                })
            }
            (_, subject) => Err(PlanError::OtherSubject(subject)),
        }
    }
}

fn cipher_tasks(algorithm: &'static Algorithm, index: usize, row: &Row) -> Result<Vec<Task>, PlanError> {
    let (Kind::Cipher { keys, .. }, Check::Cipher { mode, key, iv, plaintext, ciphertext }) =
        (&algorithm.kind, &row.check)
    else {
        return Err(PlanError::NoCipher(algorithm));
    };
    if !keys.contains(&key.len()) {
        return Err(PlanError::KeyLength { of: algorithm.to_string(), len: key.len() });
    }
    let of = |mode| Key::cipher(algorithm, mode, key.as_bytes());
    let task = |direction, key, chain| Task { row: index, step: Step::Cipher(direction), key, chain };
    Ok(match mode {
        RowMode::Unknown(mode) => return Err(PlanError::Mode(mode.clone())),
        RowMode::Plain(mode) => {
            let key = of(*mode)?;
            Direction::BOTH.map(|direction| task(direction, key.clone(), Chain::Last)).into()
        }
        RowMode::EcbChain(direction @ Direction::Encrypt, n) if *n > 1 => {
            let chain = Chain::EcbFromCbc { blocks: n - 1, last: of(Mode::Ecb)? };
            vec![task(*direction, of(Mode::Cbc)?, chain)]
        }
        RowMode::EcbChain(direction, n) => {
            vec![task(*direction, of(Mode::Ecb)?, Chain::Again { more: n - 1 })]
        }
        RowMode::CbcChain(direction, n) => {
            let cavp =
                algorithm == &AES && ["cavp", "nist_cavp"].iter().any(|name| row.source.starts_with(name));
            let (input, feed) = match direction {
                Direction::Encrypt => (plaintext, Feed::OutputBefore),
                Direction::Decrypt if cavp => (ciphertext, Feed::OutputBefore),
                Direction::Decrypt => (ciphertext, Feed::LastOutput),
            };
            let chain = Chain::Cbc { more: n - 1, feed, before: iv.clone(), input: input.clone() };
            vec![task(*direction, of(Mode::Cbc)?, chain)]
        }
    })
}
