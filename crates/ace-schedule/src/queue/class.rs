// SPDX-License-Identifier: Apache-2.0
//! A class of operations, and what the policies ask of it.

use super::demand::{Demand, Yield};
use super::estimate::Known;
use super::flow::At;
use super::line::{Key, Line};
use super::op::{ClassId, QueuedOp};
use ace_engine::ConfigurationId;

use crate::Time;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Place {
    /// Behind another one of its flow.
    Blocked,
    Ready,
    Late,
    /// May only go behind the one of its flow that is in this slot.
    Follows(usize),
    Runs(usize),
}

#[derive(Clone, Debug)]
pub(crate) struct Op {
    pub op: QueuedOp,
    pub key: Key,
    pub place: Place,
    /// What was said of its time on a slot and on the processor before that was corrected.
    pub expected: (Time, Time),
    pub known: Known,
}

/// Operations that the same configurations serve, and that need the same behind them.
#[derive(Clone, Debug, Default)]
pub(crate) struct Class {
    /// The preferred one first.
    pub candidates: Vec<ConfigurationId>,
    /// By candidate: its slot time over that of the preferred one, and on how many operations it works at once.
    pub paces: Vec<(f64, f64)>,
    pub then: Option<ClassId>,
    /// Passes behind this one.
    pub behind: usize,
    pub ready: Line,
    pub late: Line,
    pub follows: Vec<At>,
    pub waiting: usize,
    pub running: usize,
    pub demand: Demand,
    pub yields: Yield,
    /// Slot time of the next passes of what waits and runs.
    pub coming: Time,
    /// Operations that wait and that a processor cannot do.
    pub uncomputable: usize,
    /// What slots would save of a processor's time for what waits.
    pub saved: f64,
    /// The same of what the processor has done since a slot last held something for it, fading, and as of when.
    pub rent: (f64, Time),
    /// By kind of slot, what loads for it in the other kind have cost since the last one in this kind.
    pub rented: [Time; 2],
    /// No load yet: a processor does what comes.
    pub held_back: bool,
    /// Since when a slot waits for what is on its way.
    pub gathers: Option<Time>,
}

impl Op {
    pub fn runs(&self) -> bool {
        matches!(self.place, Place::Runs(_))
    }
}

impl Class {
    /// Counts an operation as waiting, or no longer.
    pub fn weigh(&mut self, op: &QueuedOp, waits: bool) {
        let saves = op.saves();
        match (op.cpu, waits) {
            (None, true) => self.uncomputable += 1,
            (None, false) => self.uncomputable = self.uncomputable.saturating_sub(1),
            (Some(_), true) => self.saved += saves,
            (Some(_), false) => self.saved = (self.saved - saves).max(0.0),
        }
    }

    pub fn rent_now(&self, now: Time, memory: Time) -> f64 {
        let (rent, of) = self.rent;
        if rent == 0.0 {
            return 0.0;
        }
        rent * 0.5_f64.powf(now.saturating_sub(of) as f64 / memory.max(1) as f64)
    }

    pub fn attach(&mut self, place: Place, key: Key, at: At) {
        match place {
            Place::Ready => self.ready.insert(key, at),
            Place::Late => self.late.insert(key, at),
            Place::Follows(_) => self.follows.push(at),
            Place::Blocked | Place::Runs(_) => {}
        }
    }

    pub fn detach(&mut self, place: Place, key: Key, at: At) {
        match place {
            Place::Ready => self.ready.remove(key),
            Place::Late => self.late.remove(key),
            Place::Follows(_) => self.follows.retain(|f| *f != at),
            Place::Blocked | Place::Runs(_) => {}
        }
    }

    /// Time that a candidate takes for `work`, with the flows that wait: operations of one flow go one after another.
    pub fn time_on(&self, candidate: usize, work: Time) -> f64 {
        self.time_of(candidate, work, self.heads())
    }

    /// The same with so many operations at once at the most.
    pub fn time_of(&self, candidate: usize, work: Time, operations: usize) -> f64 {
        let (factor, at_once) = self.paces.get(candidate).copied().unwrap_or((1.0, 1.0));
        work as f64 * factor * at_once / (operations.max(1) as f64).min(at_once)
    }

    /// Whether anything in the queue is of this class.
    pub fn needed(&self) -> bool {
        self.waiting + self.running > 0
    }

    /// Operations whose turn it is or comes when what runs ends: one of each flow.
    pub fn heads(&self) -> usize {
        self.ready.len() + self.late.len() + self.follows.len()
    }
}
