// SPDX-License-Identifier: Apache-2.0
//! `ace bench dataplane`, the engine's part: operations as ESP makes them, in batches over sixteen security
//! associations, CPU time of this thread alone; beside it the same by the portable software and, where it is linked,
//! by bare calls of ipsec-mb, in turns.

use std::collections::VecDeque;
use std::time::Duration;

use ace_engine::algorithm::{AES, CAMELLIA, CAST128, DES, IDEA, SERPENT, SHA1, SHA256, TDES, TWOFISH};
use ace_engine::software::CpuEngine;
use ace_engine::{
    Action, Aead, Algorithm, Buffer, Completion, Direction, Engine, EngineError, Inline, Iv, Job, Key, Mac,
    Mode, Operation, Source, Suffix, Tag,
};

use crate::bare::Bare;
use crate::measure::{ASSOCIATIONS, BATCH, Batch, allocations as allocated, cpu_time, in_turns};
use crate::{BenchError, SuiteTiming};

/// SPI and sequence number.
const HEADER: usize = 8;

/// What protects a packet.
#[derive(Clone, Copy)]
pub(crate) enum Protection {
    Aead(Aead, usize),
    Chained { cipher: &'static Algorithm, mode: Mode, key_len: usize, hash: &'static Algorithm, icv: usize },
}

/// In the order of the table.
pub(crate) const SUITES: &[(&str, Protection)] = &[
    ("aes-128-gcm", Protection::Aead(Aead::Gcm, 16)),
    ("aes-256-gcm", Protection::Aead(Aead::Gcm, 32)),
    ("chacha20-poly1305", Protection::Aead(Aead::ChaCha20Poly1305, 32)),
    ("aes-128-ccm", Protection::Aead(Aead::Ccm, 16)),
    ("aes-128-cbc + sha1", cbc(&AES, 16, &SHA1, 12)),
    ("aes-128-cbc + sha256", cbc(&AES, 16, &SHA256, 16)),
    ("camellia-128-cbc + sha256", cbc(&CAMELLIA, 16, &SHA256, 16)),
    ("3des-cbc + sha1", cbc(&TDES, 24, &SHA1, 12)),
    ("des-cbc + sha1", cbc(&DES, 8, &SHA1, 12)),
    ("cast128-cbc + sha1", cbc(&CAST128, 16, &SHA1, 12)),
    ("idea-cbc + sha1", cbc(&IDEA, 16, &SHA1, 12)),
    ("serpent-128-cbc + sha1", cbc(&SERPENT, 16, &SHA1, 12)),
    ("twofish-128-cbc + sha1", cbc(&TWOFISH, 16, &SHA1, 12)),
];

const fn cbc(cipher: &'static Algorithm, key_len: usize, hash: &'static Algorithm, icv: usize) -> Protection {
    Protection::Chained { cipher, mode: Mode::Cbc, key_len, hash, icv }
}

/// The action on a packet of header, IV (of a chained suite), text and ICV, and the packet's length.
fn action(protection: Protection, association: usize, text: usize) -> Result<(Action, usize), EngineError> {
    let key = |len: usize| (0..len).map(|i| (i * 7 + association) as u8).collect::<Vec<_>>();
    let direction = Direction::Encrypt;
    match protection {
        Protection::Aead(aead, key_len) => {
            let nonce = if aead == Aead::Ccm { &[1; 11][..] } else { &[1; 12] };
            let at = HEADER + 8;
            let action = Action::Aead {
                key: Key::aead(aead, &key(key_len))?,
                direction,
                nonce: Source::Inline(Inline::new(nonce).unwrap_or_default()),
                aad: Source::Inline(Inline::new(&[2; HEADER]).unwrap_or_default()),
                text: (at..at + text).into(),
                tag: (at + text..at + text + 16).into(),
            };
            Ok((action, at + text + 16))
        }
        Protection::Chained { cipher, mode, key_len, hash, icv } => {
            let cipher = Key::cipher(cipher, mode, &key(key_len))?;
            let at = HEADER + cipher.iv_len();
            let action = Action::CipherMac {
                iv: Iv::new(&[3; 16][..cipher.iv_len()]).unwrap_or_default(),
                cipher,
                direction,
                text: (at..at + text).into(),
                mac: Key::mac(Mac::Hmac(hash), &key(20))?,
                over: (0..at + text).into(),
                suffix: Suffix::EMPTY,
                tag: Tag::Write((at + text..at + text + icv).into()),
            };
            Ok((action, at + text + icv))
        }
    }
}

/// The way back.
fn opening(mut action: Action) -> Action {
    match &mut action {
        Action::Cipher { direction, .. } | Action::Aead { direction, .. } => *direction = Direction::Decrypt,
        Action::Mac { tag, .. } => *tag = Tag::Check(tag.span()),
        Action::CipherMac { direction, tag, .. } => {
            (*direction, *tag) = (Direction::Decrypt, Tag::Check(tag.span()));
        }
    }
    action
}

/// The suite of this name.
pub(crate) fn protection(name: &str) -> Option<Protection> {
    SUITES.iter().find(|(suite, _)| *suite == name).map(|(_, protection)| *protection)
}

/// Packets that go round through one engine.
struct Round<'a> {
    actions: &'a [Action],
    packets: &'a [Buffer],
    spare: Vec<Buffer>,
    jobs: VecDeque<Job>,
    done: Vec<Completion>,
}

impl<'a> Round<'a> {
    /// `packets`: what goes in, each for its action.
    fn new(actions: &'a [Action], packets: &'a [Buffer]) -> Self {
        let (jobs, done) = (VecDeque::with_capacity(BATCH), Vec::with_capacity(BATCH));
        Self { actions, packets, spare: packets.to_vec(), jobs, done }
    }

    /// How long the engine has a batch, and what it allocates.
    fn batch(&mut self, engine: &mut dyn Engine) -> Result<(Duration, usize), BenchError> {
        for (id, (action, packet)) in self.actions.iter().zip(self.packets).enumerate() {
            let mut buffer = self.spare.pop().unwrap_or_default();
            buffer.copy_from_slice(packet);
            let operation = Operation { action: action.clone(), buffer };
            let flow = (id % ASSOCIATIONS) as u32;
            self.jobs.push_back(Job { id: id as u64, flow, packet: id as u64, operation });
        }
        let (before, start) = (allocated(), cpu_time());
        while !self.jobs.is_empty() {
            engine.try_submit(&mut self.jobs);
            engine.wait(&mut self.done);
        }
        let took = (cpu_time() - start, allocated() - before);
        for done in self.done.drain(..) {
            done.result?;
            self.spare.push(done.buffer);
        }
        Ok(took)
    }
}

/// Every suite that starts with one of `names`, or every one.
pub fn rows(names: &[String], seconds: f64) -> Result<Vec<SuiteTiming>, BenchError> {
    let mut rows = Vec::new();
    let (mut engine, mut portable) = (ace_ipsec_mb::cpu_engine(), CpuEngine::new());
    let chosen = |name: &str| names.is_empty() || names.iter().any(|n| name.starts_with(n.as_str()));
    for (suite, protection) in SUITES.iter().filter(|(name, _)| chosen(name)) {
        for bytes in [64, 1424] {
            let pairs = (0..ASSOCIATIONS).map(|association| action(*protection, association, bytes));
            let pairs = pairs.collect::<Result<Vec<_>, _>>()?;
            let sealing: Vec<Action> =
                pairs.iter().cycle().take(BATCH).map(|(action, _)| action.clone()).collect();
            let clear: Vec<Buffer> =
                pairs.iter().cycle().take(BATCH).map(|(_, len)| Buffer::with_room(0, *len, 64)).collect();
            let mut sealed = clear.clone();
            for (action, packet) in sealing.iter().zip(&mut sealed) {
                ace_engine::software::execute(action, packet)?;
            }
            let back: Vec<Action> = sealing.iter().cloned().map(opening).collect();
            for (direction, actions, packets) in [("seal", &sealing, &clear), ("open", &back, &sealed)] {
                let (mut ours, mut theirs) = (Round::new(actions, packets), Round::new(actions, packets));
                let mut bare = Bare::new(*protection, bytes);
                let mut allocations = 0;
                let mut our_batch = |counts| {
                    let (took, count) = ours.batch(engine.as_mut())?;
                    allocations += if counts { count } else { 0 };
                    Ok([took])
                };
                let mut their_batch = |_| Ok([theirs.batch(&mut portable)?.0]);
                let mut bare_batch = bare.as_mut().map(|bare| |_| Ok([bare.batch(direction == "seal")]));
                let mut things: Vec<Batch<'_, 1>> = vec![&mut our_batch, &mut their_batch];
                if let Some(bare) = &mut bare_batch {
                    things.push(bare);
                }
                let times = in_turns(seconds, &mut things)?.concat();
                let &[nanoseconds, portable_nanoseconds, ref bare @ ..] = &times[..] else {
                    return Err(BenchError::Nothing((*suite).to_owned()));
                };
                let row = SuiteTiming {
                    suite: (*suite).to_owned(),
                    direction,
                    bytes,
                    nanoseconds,
                    mpps: 1e3 / nanoseconds,
                    gbit_per_second: bytes as f64 * 8.0 / nanoseconds,
                    allocations,
                    portable_nanoseconds,
                    bare_nanoseconds: bare.first().copied(),
                };
                rows.push(row);
            }
        }
    }
    if rows.is_empty() {
        let names: Vec<_> = SUITES.iter().map(|(name, _)| *name).collect();
        return Err(BenchError::Suite(names.join(", ")));
    }
    Ok(rows)
}
