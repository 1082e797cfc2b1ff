// SPDX-License-Identifier: Apache-2.0
//! What a row has to compute, one operation after the other.

use super::{Check, KnownAnswers, Row, RowMode, Subject};
use crate::algorithm::{AES, Algorithm, Kind};
use crate::operation::{Direction, Mode, Operation, Pass};

/// One way through a row: operations, the later ones made from the results of the earlier.
pub(super) struct Task {
    /// The place of the row in its file.
    pub row: usize,
    pub step: Step,
    /// The first pass; its data are made when it starts.
    pub pass: Pass,
    chain: Chain,
}

/// What is computed from what.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Step {
    Cipher(Direction),
    Digest,
}

impl Step {
    pub(super) fn name(self) -> &'static str {
        match self {
            Step::Cipher(Direction::Encrypt) => "encrypt",
            Step::Cipher(Direction::Decrypt) => "decrypt",
            Step::Digest => "digest",
        }
    }
}

/// What follows a result.
enum Chain {
    /// Nothing: it is the answer.
    Last,
    /// So many ECB encryptions, all but the last as one CBC pass: encrypting `P 0 0 …` with a zero IV feeds
    /// every output back as the next input. The last is a true ECB pass.
    EcbFromCbc { blocks: usize, last: Pass },
    /// So many more passes over the last result.
    Again { pass: Pass, more: usize },
    /// So many more CBC passes over single blocks. What enters next is the last result, or the one before
    /// it (at first the IV).
    Cbc { pass: Pass, more: usize, feed: Feed, before: Vec<u8>, input: Vec<u8> },
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
    /// The first operation.
    pub(super) fn start(&self, row: &Row) -> Operation {
        let mut data = match (&row.check, self.step) {
            (Check::Cipher { plaintext, .. }, Step::Cipher(Direction::Encrypt)) => plaintext.clone(),
            (Check::Cipher { ciphertext, .. }, _) => ciphertext.clone(),
            (Check::Digest { unit, count, .. }, _) => unit.repeat(*count),
        };
        if let Chain::EcbFromCbc { blocks, .. } = &self.chain {
            data.resize(data.len() * blocks, 0);
        }
        Operation { pass: self.pass.clone(), data }
    }

    /// Takes the result of the last operation.
    pub(super) fn next(&mut self, mut result: Vec<u8>) -> Next {
        match std::mem::replace(&mut self.chain, Chain::Last) {
            Chain::Last | Chain::Again { more: 0, .. } | Chain::Cbc { more: 0, .. } => Next::Answer(result),
            Chain::EcbFromCbc { blocks, last } => {
                let done = result.len() / blocks * (blocks - 1);
                Next::Operation(Operation { pass: last, data: result.split_off(done) })
            }
            Chain::Again { pass, more } => {
                self.chain = Chain::Again { pass: pass.clone(), more: more - 1 };
                Next::Operation(Operation { pass, data: result })
            }
            Chain::Cbc { mut pass, more, feed, before, input } => {
                // CBC carries the ciphertext to the next block: the output when encrypting, else the input.
                if let Pass::Cipher { direction, iv, .. } = &mut pass {
                    *iv = if *direction == Direction::Encrypt { result.clone() } else { input };
                }
                let data = if feed == Feed::LastOutput { result.clone() } else { before };
                self.chain = Chain::Cbc {
                    pass: pass.clone(),
                    more: more - 1,
                    feed,
                    before: result,
                    input: data.clone(),
                };
                Next::Operation(Operation { pass, data })
            }
        }
    }
}

impl Row {
    /// What the last result of a step has to be.
    pub(super) fn expected(&self, step: Step) -> &[u8] {
        match (&self.check, step) {
            (Check::Cipher { ciphertext, .. }, Step::Cipher(Direction::Encrypt)) => ciphertext,
            (Check::Cipher { plaintext, .. }, _) => plaintext,
            (Check::Digest { digest, .. }, _) => digest,
        }
    }
}

impl KnownAnswers {
    /// The tasks of the row at `index`; all must succeed. Or why it cannot be run.
    pub(super) fn plan(&self, index: usize, row: &Row) -> Result<Vec<Task>, String> {
        match (&row.check, self.subject) {
            (Check::Cipher { .. }, Subject::Cipher(algorithm)) => cipher_tasks(algorithm, index, row),
            (Check::Digest { key, digest, .. }, Subject::Hash(_) | Subject::Hmac(..)) => {
                let pass = match self.subject {
                    Subject::Hash(algorithm) if key.is_empty() => Pass::Hash { algorithm },
                    Subject::Hmac(_, Some(len)) if len != digest.len() => {
                        return Err(format!("the digest has {} bits, not {}", digest.len() * 8, len * 8));
                    }
                    Subject::Hmac(algorithm, _) => {
                        Pass::Hmac { algorithm, key: key.clone(), output_len: digest.len() }
                    }
                    other => return Err(format!("{other} takes no key")),
                };
                Ok(vec![Task { row: index, step: Step::Digest, pass, chain: Chain::Last }])
            }
            (_, subject) => Err(format!("not a row of {subject}")),
        }
    }
}

fn cipher_tasks(algorithm: &'static Algorithm, index: usize, row: &Row) -> Result<Vec<Task>, String> {
    let (Kind::Cipher { keys, block }, Check::Cipher { mode, key, iv, plaintext, ciphertext }) =
        (&algorithm.kind, &row.check)
    else {
        return Err(format!("{algorithm} is not a cipher"));
    };
    if !keys.contains(&key.len()) {
        return Err(format!("{algorithm} has no key of {} bytes", key.len()));
    }
    let pass = |mode, direction, iv: &[u8]| Pass::Cipher {
        algorithm,
        mode,
        direction,
        key: key.clone(),
        iv: iv.to_vec(),
    };
    let task = |direction, pass, chain| Task { row: index, step: Step::Cipher(direction), pass, chain };
    Ok(match mode {
        RowMode::Unknown(mode) => return Err(format!("mode {mode} is not supported")),
        RowMode::Plain(mode) => [Direction::Encrypt, Direction::Decrypt]
            .map(|direction| task(direction, pass(*mode, direction, iv), Chain::Last))
            .into(),
        RowMode::EcbChain(direction @ Direction::Encrypt, n) if *n > 1 => {
            let last = pass(Mode::Ecb, *direction, &[]);
            let chain = Chain::EcbFromCbc { blocks: n - 1, last };
            vec![task(*direction, pass(Mode::Cbc, *direction, &vec![0; *block]), chain)]
        }
        RowMode::EcbChain(direction, n) => {
            let pass = pass(Mode::Ecb, *direction, &[]);
            vec![task(*direction, pass.clone(), Chain::Again { pass, more: n - 1 })]
        }
        RowMode::CbcChain(direction, n) => {
            let cavp =
                algorithm == &AES && ["cavp", "nist_cavp"].iter().any(|name| row.source.starts_with(name));
            let (input, feed) = match direction {
                Direction::Encrypt => (plaintext, Feed::OutputBefore),
                Direction::Decrypt if cavp => (ciphertext, Feed::OutputBefore),
                Direction::Decrypt => (ciphertext, Feed::LastOutput),
            };
            let pass = pass(Mode::Cbc, *direction, iv);
            let (before, input) = (iv.clone(), input.clone());
            vec![task(*direction, pass.clone(), Chain::Cbc { pass, more: n - 1, feed, before, input })]
        }
    })
}
