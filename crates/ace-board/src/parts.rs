// SPDX-License-Identifier: Apache-2.0
//! The four parts of a board: what is going to happen, the host and its link, the configuration port, and the slots.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, HashMap};
use std::ops::{Deref, DerefMut};

use ace_ecp5::Device;
use ace_engine::{ConfigurationId, EngineError};
use thiserror::Error;

use crate::execution::Execution;
use crate::model::{ModelError, SlotModel};
use crate::port::Refused;
use crate::record::RecordError;
use crate::slot::Slot;
use crate::source::{ModelSource, Models};
use crate::trace::Picos;

/// What happens at an instant.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Event {
    Loaded {
        slot: usize,
    },
    Arrived {
        slot: usize,
        op: u64,
        handover: u64,
    },
    Executed {
        slot: usize,
        op: u64,
    },
    Returned {
        slot: usize,
        op: u64,
    },
    /// The host has taken the response.
    Noticed {
        op: u64,
    },
    /// The processor beside the slots is done with it.
    Computed {
        op: u64,
    },
    /// The core that is both this processor and the host's thread may be free.
    CoreFree,
}

/// What is going to happen, and what time it is.
#[derive(Default)]
pub(crate) struct Agenda {
    pub now: Picos,
    events: BinaryHeap<Reverse<(Picos, u64, Event)>>,
    count: u64,
    /// When the policy wants to be asked again at the latest.
    pub look: Option<Picos>,
    /// Something has happened that a policy sees. What frames do on their way through a slot, it does not.
    pub ask: bool,
}

impl Agenda {
    /// Says what happens at a time; of one instant what was said first happens first.
    pub fn at(&mut self, time: Picos, event: Event) {
        self.count += 1;
        self.events.push(Reverse((time, self.count, event)));
    }

    /// When something happens next.
    pub fn next(&self) -> Option<Picos> {
        self.events.peek().map(|Reverse((time, _, _))| *time)
    }

    /// What happens now and was not taken yet.
    pub fn take(&mut self) -> Option<Event> {
        self.next().filter(|time| *time == self.now)?;
        self.events.pop().map(|Reverse((_, _, event))| event)
    }
}

/// The host's thread, and the link between it and the slots.
#[derive(Default)]
pub(crate) struct HostLink {
    /// When the link has carried what it was given: to slots, and from them. A bus has one for both.
    pub free: [Picos; 2],
    /// When the host's thread has done what it was given.
    pub host_free: Picos,
    /// The host's thread and the processor beside the slots are one.
    pub one_core: bool,
    /// Packets that wait for the host's thread, and what it takes for each.
    pub packets: (usize, Picos),
    /// Results on their way over the link.
    pub results: HashMap<u64, (u64, Result<Vec<u8>, EngineError>)>,
}

/// What loads slots.
pub(crate) struct Port {
    pub device: &'static Device,
    pub models: Models,
    pub source: Box<dyn ModelSource>,
    /// By slot.
    pub loads: HashMap<usize, LoadOutcome>,
    /// Configurations that the board no longer tries, and why.
    pub refused: HashMap<ConfigurationId, String>,
}

/// Why a load comes to nothing.
#[derive(Debug, Error)]
pub(crate) enum LoadError {
    /// Nothing may be sent, or the port takes it not.
    #[error(transparent)]
    Port(#[from] Refused),
    #[error("the bits are those of `{0}`")]
    BitsOf(String),
    #[error("the bits in the slot are not those of any known configuration")]
    UnknownBits,
    #[error(transparent)]
    Record(#[from] RecordError),
    #[error(transparent)]
    Model(#[from] ModelError),
    #[error("the load takes {:.1} ms, more than the {:.1} ms allowed", ms(*.time), ms(*.limit))]
    Slow { time: Picos, limit: Picos },
}

fn ms(time: Picos) -> f64 {
    time as f64 / 1e9
}

/// How a load will end.
pub(crate) struct LoadOutcome {
    pub start: Picos,
    pub bytes: u64,
    pub configuration: ConfigurationId,
    pub result: Result<Box<dyn SlotModel>, LoadError>,
}

/// The slots, and what is under way in them.
pub(crate) struct Slots {
    pub all: Vec<Slot>,
    /// By slot and operation.
    pub executions: HashMap<(usize, u64), Execution>,
    /// Counts hand-overs, so that news of an operation that was taken back is told from that of its second try.
    pub handovers: u64,
    /// Times in a row that a configuration left its slot silent.
    pub hangs: HashMap<ConfigurationId, u32>,
    /// What was wrong with the last answer of a configuration's slot that broke the rules of the boundary.
    pub complaints: HashMap<ConfigurationId, String>,
}

impl Slots {
    pub fn new(all: Vec<Slot>) -> Self {
        let (executions, hangs, complaints) = Default::default();
        Self { all, executions, handovers: 0, hangs, complaints }
    }
}

impl Deref for Slots {
    type Target = [Slot];

    fn deref(&self) -> &[Slot] {
        &self.all
    }
}

impl DerefMut for Slots {
    fn deref_mut(&mut self) -> &mut [Slot] {
        &mut self.all
    }
}
