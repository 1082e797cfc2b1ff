// SPDX-License-Identifier: Apache-2.0
//! The engine: a batch at a time, so that packets of different security associations fill the library's lanes.
//! Answers come in the order of submission, and with it in that of every flow. What the library has no code for, and
//! what would be an odd case for it, the portable software computes.

use std::collections::VecDeque;

use ace_engine::engine::take_jobs;
use ace_engine::software::{self, CpuEngine};
use ace_engine::{
    Action, Buffer, Capabilities, Completion, Direction, Engine, EngineError, Job, Key, Mode, Operation,
    Purpose, Source, Span, Tag,
};
use subtle::ConstantTimeEq;

use crate::ffi::{Chained, Cipher, Manager};
use crate::key::Prepared;

/// Jobs of a batch.
const BATCH: usize = 256;

/// What is known about a job of the batch.
#[derive(Clone, Copy)]
enum State {
    Good,
    Failed(EngineError),
    /// For the job manager.
    Chained,
}

/// Beside each job of a batch.
struct Slot {
    state: State,
    /// The tag that the packet brought, where the library writes over it; an AEAD's associated data.
    stated: [u8; 64],
    computed: [u8; 64],
}

/// The CPU with intel-ipsec-mb.
pub struct MbEngine {
    manager: Manager,
    queue: VecDeque<Job>,
    slots: Vec<Slot>,
    portable: CpuEngine,
    /// Of what is done at once.
    scratch: [u8; 64],
}

impl MbEngine {
    /// `None` if the library has no code for this machine.
    pub fn new() -> Option<Self> {
        let slot = || Slot { state: State::Chained, stated: [0; 64], computed: [0; 64] };
        Some(Self {
            manager: Manager::open()?,
            queue: VecDeque::with_capacity(BATCH),
            slots: std::iter::repeat_with(slot).take(BATCH).collect(),
            portable: CpuEngine::new(),
            scratch: [0; 64],
        })
    }
}

impl From<Result<(), EngineError>> for State {
    #[inline]
    fn from(result: Result<(), EngineError>) -> Self {
        match result {
            Ok(()) => State::Good,
            Err(error) => State::Failed(error),
        }
    }
}

impl Engine for MbEngine {
    fn name(&self) -> &'static str {
        "cpu"
    }

    /// Those of the portable software, which does what the library does not.
    fn capabilities(&self) -> &Capabilities {
        self.portable.capabilities()
    }

    fn explain(&self, error: &EngineError) -> String {
        ace_engine::software::explain(error)
    }

    /// GCM, which the library does packet by packet anyhow.
    fn at_once(&mut self, action: &Action, packet: &mut Buffer) -> Option<Result<(), EngineError>> {
        let Action::Aead { key, .. } = action else { return None };
        if !matches!(Prepared::of(key, &self.manager), Prepared::Gcm(_)) {
            return None;
        }
        match begin(&mut self.manager, action, packet, &mut self.scratch) {
            State::Good => Some(Ok(())),
            State::Failed(error) => Some(Err(error)),
            State::Chained => None,
        }
    }

    fn try_submit(&mut self, jobs: &mut VecDeque<Job>) {
        take_jobs(&mut self.queue, jobs, BATCH);
    }

    fn drain(&mut self, done: &mut Vec<Completion>) -> usize {
        let Self { manager, queue, slots, .. } = self;
        let mut chained = false;
        for (job, slot) in queue.iter_mut().zip(slots.iter_mut()) {
            let Operation { action, buffer } = &mut job.operation;
            slot.state = begin(manager, action, buffer, &mut slot.stated);
            chained |= matches!(slot.state, State::Chained);
        }
        if chained {
            run(manager, queue, slots);
        }
        for (job, slot) in queue.iter_mut().zip(slots.iter()) {
            let Operation { action, buffer } = &mut job.operation;
            let mut answer = |buffer: &mut Buffer, result| {
                done.push(Completion { id: job.id, buffer: std::mem::take(buffer), result });
            };
            match slot.state {
                State::Good => answer(buffer, Ok(())),
                State::Failed(error) => answer(buffer, Err(error)),
                State::Chained => match finish(action, buffer, slot) {
                    Ok(()) => answer(buffer, Ok(())),
                    Err(error) => answer(buffer, Err(error)),
                },
            }
        }
        queue.clear();
        0
    }

    fn wait(&mut self, done: &mut Vec<Completion>) -> usize {
        self.drain(done)
    }
}

/// Does a job at once, or prepares its packet for the job manager.
#[inline]
fn begin(manager: &mut Manager, action: &Action, packet: &mut Buffer, stated: &mut [u8; 64]) -> State {
    if let Err(error) = action.check(packet.len()) {
        return State::Failed(error);
    }
    match action {
        // Longer associated data are those of GMAC in AH.
        Action::Aead { key, direction, nonce: Source::Inline(nonce), aad, text, tag }
            if aad.len() <= stated.len() =>
        {
            // What is in the packet is copied: the text beside it is borrowed to be changed.
            let aad = match aad {
                Source::Inline(aad) => aad,
                Source::Range(span) => {
                    stated[..span.len()].copy_from_slice(&packet[span.range()]);
                    &stated[..span.len()]
                }
            };
            match (Prepared::of(key, manager), <&[u8; 12]>::try_from(&**nonce)) {
                (Prepared::Gcm(key), Ok(nonce)) => {
                    let encrypt = *direction == Direction::Encrypt;
                    let inside = &mut packet[text.range()];
                    let computed = manager.gcm(key, encrypt, nonce, aad, inside);
                    return settle(*direction, &computed, packet, *text, *tag).into();
                }
                (Prepared::ChaCha(_), Ok(_)) if !text.is_empty() => return State::Chained,
                _ => {}
            }
        }
        Action::CipherMac { cipher, iv, text, mac, over, suffix, tag, .. } => {
            if ready(manager, Some((cipher, iv, *text)), Some(mac))
                && lay_suffix(packet, *over, suffix, *tag, stated)
            {
                return State::Chained;
            }
        }
        Action::Mac { key, over, suffix, tag } => {
            if ready(manager, None, Some(key)) && lay_suffix(packet, *over, suffix, *tag, stated) {
                return State::Chained;
            }
        }
        Action::Cipher { key, iv, text, .. } if ready(manager, Some((key, iv, *text)), None) => {
            return State::Chained;
        }
        Action::Cipher { .. } | Action::Aead { .. } => {}
    }
    software::execute(action, packet).into()
}

/// Whether the library is used for these keys and this text.
fn ready(manager: &Manager, cipher: Option<(&Key, &[u8], Span)>, mac: Option<&Key>) -> bool {
    let cipher = cipher.is_none_or(|(key, iv, text)| {
        !text.is_empty() && Prepared::of(key, manager).cipher().is_some() && !counter_wraps(key, iv, text)
    });
    cipher && mac.is_none_or(|key| matches!(Prepared::of(key, manager), Prepared::Hmac(_)))
}

/// The library counts in the last 32 bits of the block only.
fn counter_wraps(key: &Key, iv: &[u8], text: Span) -> bool {
    matches!(key.purpose(), Purpose::Cipher { mode: Mode::Ctr, .. })
        && iv.last_chunk::<4>().is_none_or(|count| {
            u64::from(u32::from_be_bytes(*count)) + text.len().div_ceil(16) as u64 > u64::from(u32::MAX)
        })
}

/// The library authenticates what is in one piece: the suffix goes where the tag is, behind the text, until the tag
/// is there again. False if it would not fit.
fn lay_suffix(packet: &mut Buffer, over: Span, suffix: &[u8], tag: Tag, stated: &mut [u8; 64]) -> bool {
    let place = tag.span();
    let fits = suffix.is_empty() || (over.end == place.start && suffix.len() <= place.len());
    if !fits || over.is_empty() {
        return false;
    }
    stated[..place.len()].copy_from_slice(&packet[place.range()]);
    packet[over.range().end..over.range().end + suffix.len()].copy_from_slice(suffix);
    true
}

/// Runs what is for the job manager.
fn run(manager: &mut Manager, queue: &mut VecDeque<Job>, slots: &mut [Slot]) {
    let mut failed = [false; BATCH];
    // The keys were prepared when the jobs began.
    let prepared = |key| Prepared::of_prepared(key);
    let jobs = queue.iter_mut().zip(slots.iter_mut()).enumerate().filter_map(|(index, (job, slot))| {
        let State::Chained = slot.state else { return None };
        let index = index as u32;
        let packet: &mut [u8] = &mut job.operation.buffer;
        let tag = &mut slot.computed;
        Some(match &job.operation.action {
            Action::CipherMac { cipher, iv, direction, text, mac, over, suffix, .. } => Chained {
                index,
                encrypt: *direction == Direction::Encrypt,
                packet,
                cipher: prepared(cipher).cipher()?,
                text: text.range(),
                iv,
                mac: prepared(mac).hmac(),
                over: over.range().start..over.range().end + suffix.len(),
                tag,
            },
            Action::Mac { key, over, suffix, .. } => Chained {
                index,
                encrypt: false,
                packet,
                cipher: Cipher::None,
                text: 0..0,
                iv: &[],
                mac: prepared(key).hmac(),
                over: over.range().start..over.range().end + suffix.len(),
                tag,
            },
            Action::Cipher { key, direction, iv, text } => Chained {
                index,
                encrypt: *direction == Direction::Encrypt,
                packet,
                cipher: prepared(key).cipher()?,
                text: text.range(),
                iv,
                mac: None,
                over: 0..0,
                tag,
            },
            Action::Aead { key, direction, nonce: Source::Inline(nonce), aad, text, .. } => {
                let Prepared::ChaCha(key) = prepared(key) else { return None };
                let aad: &[u8] = match aad {
                    Source::Inline(aad) => aad,
                    Source::Range(span) => &slot.stated[..span.len()],
                };
                Chained {
                    index,
                    encrypt: *direction == Direction::Encrypt,
                    packet,
                    cipher: Cipher::ChaCha { key, aad },
                    text: text.range(),
                    iv: nonce,
                    mac: None,
                    over: text.range(),
                    tag,
                }
            }
            Action::Aead { .. } => return None,
        })
    });
    manager.run(jobs, |done| {
        if let Some(failed) = failed.get_mut(done.index as usize) {
            *failed = !done.is_good();
        }
    });
    for (slot, failed) in slots.iter_mut().zip(failed) {
        if failed {
            slot.state = State::Failed(EngineError::Lost);
        }
    }
}

/// What is left when the library is through.
fn finish(action: &Action, packet: &mut Buffer, slot: &Slot) -> Result<(), EngineError> {
    match action {
        Action::Cipher { .. } => Ok(()),
        Action::Aead { direction, text, tag, .. } => settle(*direction, &slot.computed, packet, *text, *tag),
        Action::Mac { tag, .. } | Action::CipherMac { tag, .. } => {
            let text = match action {
                Action::CipherMac { text, .. } => *text,
                _ => Span::default(),
            };
            let direction = match tag {
                Tag::Write(_) => Direction::Encrypt,
                Tag::Check(place) => {
                    let len = place.len();
                    packet[place.range()].copy_from_slice(&slot.stated[..len]);
                    Direction::Decrypt
                }
            };
            settle(direction, &slot.computed, packet, text, tag.span())
        }
    }
}

/// In a time that does not depend on the bytes: all differences first, one comparison of them.
fn same(computed: &[u8], stated: &[u8]) -> bool {
    let differences = computed.iter().zip(stated).fold(0, |all, (a, b)| all | (a ^ b));
    computed.len() == stated.len() && bool::from(differences.ct_eq(&0u8))
}

/// Writes the tag or compares it; a text that is not authentic is wiped.
fn settle(
    direction: Direction,
    computed: &[u8],
    packet: &mut [u8],
    text: Span,
    tag: Span,
) -> Result<(), EngineError> {
    let computed = &computed[..tag.len()];
    match direction {
        Direction::Encrypt => packet[tag.range()].copy_from_slice(computed),
        Direction::Decrypt if same(computed, &packet[tag.range()]) => {}
        Direction::Decrypt => {
            packet[text.range()].fill(0);
            return Err(EngineError::Mismatch);
        }
    }
    Ok(())
}
