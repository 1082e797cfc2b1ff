// SPDX-License-Identifier: Apache-2.0
//! Slots that compute what they compute, without context sets. What that is a session begins with asking: a slot is taken for
//! what it has computed right, and for nothing else.

use std::collections::{BTreeMap, VecDeque};
use std::time::Duration;

use ace_board::capability::{Capability, HashOperation};
use ace_board::expected::Expected;
use ace_board::frame::{self, HMAC_KEY_MAX, KeySection, Status};
use ace_board::pass::{Pass, Task};
use ace_engine::algorithm::ALGORITHMS;
use ace_engine::{Algorithm, Direction, Kind, Mode, Need, Secret, compute};
use zeroize::Zeroizing;

use super::{LinkEngine, Pending, State};
use crate::Wire;
use crate::session::ANY;

/// Bytes that are asked for: several blocks of any cipher, and of no hash a whole one.
const BYTES: usize = 96;

/// A question: a task whose answer is known.
#[derive(Debug)]
pub struct Question {
    task: Task,
    right: Vec<u8>,
    /// Whether the slot knows the algorithm at all.
    first: bool,
}

/// What a slot without context sets has turned out to compute.
#[derive(Debug, Default)]
pub struct Fixed {
    /// The algorithms, for people.
    pub name: String,
    pub can: Vec<Capability>,
}

/// The questions of a session.
#[derive(Debug, Default)]
pub struct Questions {
    waiting: VecDeque<(usize, Question)>,
    under_way: usize,
    right: BTreeMap<usize, Vec<Need>>,
}

impl Questions {
    pub fn are_left(&self) -> bool {
        self.under_way > 0 || !self.waiting.is_empty()
    }
}

impl Question {
    /// `None` if software does not compute it either, so that nobody knows the answer.
    fn of(pass: Pass, data: Vec<u8>, first: bool) -> Option<Self> {
        let task = Task { pass, data };
        let buffer = compute::run(task.operation().ok()?).ok()?;
        let right = task.result(&buffer);
        Some(Self { task, right, first })
    }

    fn frame(&self) -> Vec<u8> {
        request(&self.task).unwrap_or_default()
    }
}

/// The frame of a task, which brings its key: it may be repeated, whatever was in the slot before. `None` where HMAC's long
/// key has no digest.
pub fn request(task: &Task) -> Option<Vec<u8>> {
    let digest = match (&task.pass, task.pass.key()) {
        (Pass::Hmac { algorithm, .. }, Some(key)) if key.len() > HMAC_KEY_MAX => {
            Some(Zeroizing::new(compute::digest(algorithm, key.as_bytes()).ok()?))
        }
        _ => None,
    };
    let key = match (&digest, task.pass.key()) {
        (Some(digest), _) => KeySection::Fresh(digest),
        (None, Some(key)) => KeySection::Fresh(key.as_bytes()),
        (None, None) => KeySection::Kept,
    };
    Some(frame::request(task, key, 0).to_vec())
}

/// All passes that a frame may ask for, one question each; of an algorithm the one that comes first is asked first.
fn passes(algorithm: &'static Algorithm) -> Vec<Question> {
    let bytes =
        |from: u8, len: usize| (0..len).map(|at| from.wrapping_add(at as u8 * 29)).collect::<Vec<u8>>();
    let key = |len: usize| Secret::new(bytes(0x51, len));
    let mut passes = Vec::new();
    match algorithm.kind {
        Kind::Cipher { block, keys, .. } => {
            for len in keys.iter().copied() {
                for mode in Mode::ALL {
                    for direction in Direction::BOTH {
                        let iv = if mode == Mode::Ecb { Vec::new() } else { bytes(0x17, block) };
                        passes.push((Pass::Cipher { algorithm, mode, direction, key: key(len), iv }, BYTES));
                    }
                }
            }
        }
        Kind::Hash { digest, .. } => {
            passes.push((Pass::Hash { algorithm }, BYTES));
            passes.push((Pass::Hmac { algorithm, key: key(digest), output_len: digest }, BYTES));
        }
    }
    let passes = passes.into_iter().enumerate();
    passes.filter_map(|(at, (pass, len))| Question::of(pass, bytes(0xa3, len), at == 0)).collect()
}

impl<W: Wire> LinkEngine<W> {
    /// Asks the slots that take no sets what they compute; those of an image that was asked before are known.
    pub(super) fn begin_to_ask(&mut self) {
        if self.asked == Some(self.identity.image) {
            return self.answers();
        }
        self.fixed.clear();
        let fixed = (0..self.slots.len()).filter(|slot| self.identity.arrays >> slot & 1 == 0);
        self.questions = Questions::default();
        for slot in fixed {
            let firsts = ALGORITHMS.iter().filter_map(|algorithm| passes(algorithm).into_iter().next());
            self.questions.waiting.extend(firsts.map(|question| (slot, question)));
        }
        self.state = State::Asks;
    }

    /// Sends questions as long as there is room for them.
    pub(super) fn ask(&mut self, now: Duration) {
        while let Some((slot, _)) = self.questions.waiting.front()
            && self.session.has_room(*slot as u8)
            && let Some((slot, question)) = self.questions.waiting.pop_front()
        {
            self.questions.under_way += 1;
            // A slot that computes something else may say more or less, and is to be heard.
            let frame = question.frame();
            let ticket = self.tickets.add(Pending::Question(question));
            self.session.data(slot as u8, ticket, frame, ANY, now);
        }
        if !self.questions.are_left() {
            self.asked();
        }
    }

    /// A slot has said something to a question.
    pub(super) fn told(
        &mut self,
        slot: usize,
        question: Question,
        response: Option<(Vec<u8>, u16, Option<Status>)>,
    ) {
        self.questions.under_way -= 1;
        let Some((response, tag, status)) = response else {
            // Nobody knows what became of it: it is asked again.
            return self.questions.waiting.push_back((slot, question));
        };
        let answer = Expected::of(&question.task, tag).check(response);
        if matches!(answer, Ok(Some(result)) if result == question.right) {
            self.questions.right.entry(slot).or_default().push(question.task.pass.need());
        }
        if question.first && status != Some(Status::UnknownAlgorithm) {
            let rest = passes(question.task.pass.algorithm()).into_iter().skip(1);
            self.questions.waiting.extend(rest.map(|question| (slot, question)));
        }
    }

    /// All slots have said what they compute.
    fn asked(&mut self) {
        let right = std::mem::take(&mut self.questions.right);
        let own = |slot| fixed(right.get(&slot).map_or(&[], Vec::as_slice));
        self.fixed = (0..self.slots.len()).map(own).collect();
        self.asked = Some(self.identity.image);
        self.serve();
        self.answers();
    }

    /// What slots compute is known. Those that compute the same have the first one's number.
    fn answers(&mut self) {
        for (slot, own) in self.slots.iter_mut().enumerate() {
            let Some(can) = self.fixed.get(slot).map(|fixed| &fixed.can) else { continue };
            let first = self.fixed.iter().position(|other| other.can == *can).unwrap_or(slot);
            own.fixed = (self.identity.arrays >> slot & 1 == 0).then_some(self.sets.len() + first);
        }
        self.state = State::Open;
    }
}

/// What a slot computes that has computed this right.
fn fixed(needs: &[Need]) -> Fixed {
    let mut own = Fixed::default();
    let mut names: Vec<&str> = Vec::new();
    for algorithm in ALGORITHMS.iter().copied() {
        let mut of = BTreeMap::<(usize, bool), Vec<Mode>>::new();
        let mut operations = Vec::new();
        for need in needs.iter().filter(|need| need.algorithm() == Some(algorithm)) {
            match need {
                Need::Cipher { mode, direction, key_len, .. } => {
                    of.entry((*key_len, *direction == Direction::Decrypt)).or_default().push(*mode);
                }
                Need::Hash { .. } => operations.push(HashOperation::Hash),
                Need::Hmac { .. } => operations.push(HashOperation::HmacKey),
                _ => {}
            }
        }
        if of.is_empty() && operations.is_empty() {
            continue;
        }
        names.push(algorithm.name);
        let new = || Capability::of(algorithm.name, algorithm.code);
        if !operations.is_empty() {
            let mut can = new();
            operations.sort_by_key(|operation| operation.name());
            can.operations = operations;
            own.can.push(can);
        }
        own.can.extend(of.into_iter().map(|((key, decrypts), mut modes)| {
            // In whatever order they were answered.
            modes.sort_by_key(|mode| Mode::ALL.iter().position(|other| other == mode));
            let way = if decrypts { Direction::Decrypt } else { Direction::Encrypt };
            let mut can = new();
            (can.key_bytes, can.directions, can.modes) = (vec![key], vec![way], modes);
            can
        }));
    }
    own.name = names.join(", ");
    own
}

#[cfg(test)]
mod tests {
    use super::*;
    use ace_engine::Aead;
    use ace_engine::algorithm::AES;

    #[test]
    fn a_slot_is_taken_for_what_it_has_computed_right() {
        let all = passes(&AES);
        assert!(all.len() > 20 && all.iter().filter(|question| question.first).count() == 1);
        let encrypts = |need: &Need| {
            matches!(
                need,
                Need::Cipher { direction: Direction::Encrypt, key_len: 16, mode: Mode::Cbc | Mode::Ctr, .. }
            )
        };
        let needs: Vec<Need> =
            all.iter().map(|question| question.task.pass.need()).filter(encrypts).collect();
        let own = fixed(&needs);
        assert_eq!(own.name, "aes");
        let can = |need: &Need| own.can.iter().any(|can| can.serves(need));
        assert!(needs.iter().all(can));
        assert!(can(&Need::Aead { aead: Aead::Ccm, direction: Direction::Encrypt, key_len: 16 }));
        assert!(!can(&Need::Aead { aead: Aead::Gcm, direction: Direction::Encrypt, key_len: 16 }));
        let other = |mode, direction, key_len| Need::Cipher { algorithm: &AES, mode, direction, key_len };
        assert!(!can(&other(Mode::Cbc, Direction::Decrypt, 16)));
        assert!(!can(&other(Mode::Cbc, Direction::Encrypt, 32)));
        assert!(!can(&other(Mode::Ecb, Direction::Encrypt, 16)));
        assert_eq!(fixed(&[]).can, []);
    }
}
