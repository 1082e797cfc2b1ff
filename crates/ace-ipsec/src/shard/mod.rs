// SPDX-License-Identifier: Apache-2.0
//! The data plane of one core: packets and completions go in, jobs, packets and events come out. It opens no
//! socket, asks no clock and computes no cipher.

mod enter;
mod leave;
mod manage;
mod path;
mod pending;
mod receive;
mod tap;

use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};

use ace_engine::{Action, Buffer, Completion, EngineError, Job};
use serde::Serialize;

use crate::counters::Counters;
use crate::exit::{Exit, Fate, How};
use crate::id::{RuleId, SaId};
use crate::iv::IvSource;
use crate::model::{Flow, Time};
use crate::sad::{Notice, Sad};
use crate::side::{Inside, Outside, Side};
use crate::spd::{Policy, Spd};
use pending::Pending;

pub use tap::Seen;

/// A packet on its way in.
#[derive(Debug)]
pub struct Packet {
    /// The caller's, given back with the packet.
    pub token: u64,
    /// One whole IPv4 or IPv6 packet without link header; bytes behind it are cut off. With [`HEADROOM`] and
    /// [`TAILROOM`] it is never copied.
    pub buffer: Buffer,
}

/// What a packet grows by in front: an outer IPv6 header, ESP header and IV, or AH with the longest ICV.
pub const HEADROOM: usize = 40 + 48;
/// What it grows by behind: padding, trailer and ICV.
pub const TAILROOM: usize = 15 + 2 + 32;

/// Whoever may do an operation at once.
trait Compute: FnMut(&Action, &mut Buffer) -> Option<Result<(), EngineError>> {}

impl<F: FnMut(&Action, &mut Buffer) -> Option<Result<(), EngineError>>> Compute for F {}

/// Something the owner of the data plane may want to act on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Event {
    /// Once per SA: time to negotiate a successor.
    SoftLifetime {
        /// The SA that nears its end.
        sa: SaId,
    },
    /// Once per SA: it carries nothing any more.
    HardLifetime {
        /// The SA that ended.
        sa: SaId,
    },
    /// Once per SA: its sequence numbers are used up.
    SequenceExhausted {
        /// The SA whose next number would be the first one again.
        sa: SaId,
    },
    /// A packet came for a rule without an SA; once until the rule has one.
    Acquire {
        /// The rule that needs an SA.
        rule: RuleId<Inside>,
        /// The packet's addresses, protocol and ports.
        flow: Flow,
    },
}

impl Event {
    fn of(notice: Notice, sa: SaId) -> Self {
        match notice {
            Notice::SoftLifetime => Event::SoftLifetime { sa },
            Notice::HardLifetime => Event::HardLifetime { sa },
            Notice::SequenceExhausted => Event::SequenceExhausted { sa },
        }
    }
}

/// SAs, their state, the policy, and the packets that wait for an engine.
///
/// ```
/// use ace_config::SaFile;
/// use ace_engine::{Buffer, Engine, software::CpuEngine};
/// use ace_ipsec::{Fate, HEADROOM, How, Inside, OsIvs, Packet, TAILROOM, Time};
///
/// let sas = SaFile::parse(
///     "sas.toml",
///     r#"
///     [[sa]]
///     name = "a-to-b"
///     spi = 0x1001
///     direction = "out"
///     mode = "tunnel"
///     local = "192.0.2.1"
///     remote = "192.0.2.2"
///     cipher = "aes-128-gcm-16"
///     key = "8d2f1c4be07a93560d11f2a8c45e7b905b0e9c17"
///     "#,
/// )?;
/// let mut shard = sas.shard(Time::ZERO, Box::new(OsIvs::default()))?;
///
/// // An IPv4 header without payload, from 10.0.0.1 to 10.0.0.2.
/// let clear = [0x45, 0, 0, 20, 0, 0, 0, 0, 64, 17, 0, 0, 10, 0, 0, 1, 10, 0, 0, 2];
/// let buffer = Buffer::from_packet(&clear, HEADROOM, TAILROOM);
/// shard.ingest(Time::ZERO, Inside, [Packet { token: 0, buffer }]);
///
/// let (mut engine, mut done) = (CpuEngine::new(), Vec::new());
/// engine.try_submit(shard.jobs());
/// engine.wait(&mut done);
/// shard.complete(Time::ZERO, &mut done);
///
/// let exit = shard.poll_exit().expect("one packet in, one packet out");
/// assert_eq!(exit.fate, Fate::ToOutside(How::Protected));
/// assert_eq!(exit.buffer[9], 50); // The outer header carries ESP.
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct Shard {
    sad: Sad,
    inside: Spd<Inside>,
    outside: Spd<Outside>,
    ivs: Box<dyn IvSource>,
    /// The latest time the caller told.
    now: Time,
    /// When the clock ends something, earliest first.
    deadlines: BinaryHeap<Reverse<(Time, SaId)>>,
    /// Of outer IPv4 headers; one sequence for all SAs, because SAs may share addresses (RFC 6864).
    identification: u16,
    pending: Pending,
    exits: VecDeque<Exit>,
    events: VecDeque<Event>,
    counters: Counters,
    /// Memory for what is put back after an operation.
    kept: Vec<u8>,
}

impl Shard {
    /// Without any rule or SA: the default is all there is.
    pub fn new(default: Policy, ivs: Box<dyn IvSource>) -> Self {
        Self {
            sad: Sad::default(),
            inside: Spd::new(default),
            outside: Spd::new(default),
            ivs,
            now: Time::ZERO,
            deadlines: BinaryHeap::new(),
            identification: 1,
            pending: Pending::default(),
            exits: VecDeque::new(),
            events: VecDeque::new(),
            counters: Counters::default(),
            kept: Vec::new(),
        }
    }

    /// Takes packets that arrived on one side. What can be said at once is said ([`Shard::poll_exit`]); for the rest
    /// there are [`Shard::jobs`].
    pub fn ingest<S: Side>(&mut self, now: Time, side: S, packets: impl IntoIterator<Item = Packet>) {
        self.ingest_by(now, side, packets, |_, _| None);
    }

    /// As [`Shard::ingest_by`], of packets that come from inside by an interface: rules of that one alone are for them.
    pub fn ingest_from(
        &mut self,
        now: Time,
        if_id: u32,
        packets: impl IntoIterator<Item = Packet>,
        mut compute: impl FnMut(&Action, &mut Buffer) -> Option<Result<(), EngineError>>,
    ) {
        self.tick(now);
        for packet in packets {
            self.enter_inside(self.now, if_id, packet, &mut compute);
        }
    }

    /// As [`Shard::ingest`], with somebody who may compute at once ([`Engine::at_once`](ace_engine::Engine::at_once)):
    /// what he does is neither queued nor remembered. What he leaves (`None`) becomes a job.
    pub fn ingest_by<S: Side>(
        &mut self,
        now: Time,
        _side: S,
        packets: impl IntoIterator<Item = Packet>,
        mut compute: impl FnMut(&Action, &mut Buffer) -> Option<Result<(), EngineError>>,
    ) {
        self.tick(now);
        for packet in packets {
            if S::INSIDE {
                self.enter_inside(self.now, 0, packet, &mut compute);
            } else {
                self.enter_outside(self.now, packet, &mut compute);
            }
        }
    }

    /// What an engine has to execute; it takes from the front. The answers go to [`Shard::complete`].
    pub fn jobs(&mut self) -> &mut VecDeque<Job> {
        &mut self.pending.jobs
    }

    /// Goes on with packets whose operations were executed, in whatever order. Those whose operation failed are
    /// dropped. A completion that belongs to no job is ignored.
    pub fn complete(&mut self, now: Time, done: &mut Vec<Completion>) {
        self.tick(now);
        for completion in done.drain(..) {
            self.completed(completion);
        }
    }

    /// The next packet that leaves, or is given back because it must not.
    pub fn poll_exit(&mut self) -> Option<Exit> {
        self.exits.pop_front()
    }

    /// The next event, oldest first.
    pub fn poll_event(&mut self) -> Option<Event> {
        self.events.pop_front()
    }

    /// When [`Shard::tick`] has to be called at the latest, should nothing come before.
    pub fn poll_timeout(&self) -> Option<Time> {
        self.deadlines.peek().map(|Reverse((at, _))| *at)
    }

    /// The clock. Ends lifetimes that are over.
    pub fn tick(&mut self, now: Time) {
        self.now = self.now.max(now);
        while let Some(&Reverse((at, id))) = self.deadlines.peek()
            && at <= self.now
        {
            self.deadlines.pop();
            let Some(association) = self.sad.get(id) else { continue };
            association.expire(self.now, |notice| self.events.push_back(Event::of(notice, id)));
            self.watch(id);
        }
    }

    /// Whether there is or was an inbound SA that copies DSCP from the outer header to the inner one.
    pub fn copies_class(&self) -> bool {
        self.sad.copies_class
    }

    /// Packets that wait for a completion.
    pub fn in_flight(&self) -> usize {
        self.pending.table.len()
    }

    /// Totals.
    pub fn counters(&self) -> &Counters {
        &self.counters
    }

    /// Puts the next deadline of an SA on the list.
    fn watch(&mut self, id: SaId) {
        let deadline = self.sad.get(id).and_then(|association| association.usage().deadline());
        if let Some(at) = deadline {
            self.deadlines.push(Reverse((at, id)));
        }
    }
}
