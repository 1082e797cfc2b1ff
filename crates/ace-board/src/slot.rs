// SPDX-License-Identifier: Apache-2.0
//! One slot as the board keeps track of it.

use std::collections::VecDeque;
use std::mem::{Discriminant, discriminant};

use ace_engine::{ConfigurationId, Secret};
use ace_schedule::SlotState;

use crate::batch::Batch;
use crate::pass::Pass;
use crate::trace::Picos;
use crate::worker::{Request, Worker};

/// A key as a slot keeps it: two operations share it if all of this is equal.
#[derive(Clone, PartialEq, Eq)]
pub struct HeldKey {
    kind: Discriminant<Pass>,
    code: u8,
    key: Secret,
}

impl HeldKey {
    /// The key that a pass needs; a hash needs none.
    pub fn of(pass: &Pass) -> Option<Self> {
        let key = pass.key()?.clone();
        Some(Self { kind: discriminant(pass), code: pass.algorithm().code, key })
    }
}

/// How far an operation in a slot is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stage {
    /// On the host link.
    Coming,
    /// In the slot's input buffer.
    Waiting,
    /// Being worked on.
    Running,
    /// Its response is in the output buffer or on the host link.
    Leaving,
}

/// An operation in a slot.
pub struct Flight {
    pub op: u64,
    /// What the worker has not been given yet.
    pub request: Option<Request>,
    /// Tells a second try from the first one.
    pub handover: u64,
    pub stage: Stage,
    /// When it was handed over.
    pub handed: Picos,
    /// How long it has waited for the host's thread, which did something else.
    pub waited: Picos,
    /// When it will be done, as far as was known then.
    pub expected: Picos,
    pub fresh_key: bool,
}

/// What a slot holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Holds {
    Nothing,
    Loading { configuration: ConfigurationId, ready_at: Picos },
    Configured { configuration: ConfigurationId },
    Failed,
}

pub struct Slot {
    pub worker: Worker,
    pub holds: Holds,
    pub last_used: Picos,
    /// When the last response had gone.
    pub last_returned: Picos,
    /// When the last load ended.
    pub since: Picos,
    /// The key that the slot will hold when everything in it has been worked on.
    pub key: Option<HeldKey>,
    /// In the order in which they were handed over.
    pub flights: VecDeque<Flight>,
    /// Of frames that join each other, while one of them is being worked on.
    pub batch: Option<Batch>,
    /// Times in a row that the slot did not answer.
    pub hangs: u32,
}

impl Slot {
    pub fn new(worker: Worker) -> Self {
        Self {
            worker,
            holds: Holds::Nothing,
            last_used: 0,
            last_returned: 0,
            since: 0,
            key: None,
            flights: VecDeque::new(),
            batch: None,
            hangs: 0,
        }
    }

    /// The slot as a policy sees it. `depth`: operations that fit in.
    pub fn state(&self, now: Picos, depth: usize) -> SlotState {
        match self.holds {
            Holds::Nothing => SlotState::Empty,
            Holds::Failed => SlotState::Failed,
            Holds::Loading { configuration, ready_at } => SlotState::Loading { configuration, ready_at },
            Holds::Configured { configuration } if self.flights.is_empty() => SlotState::Idle {
                configuration,
                last_used: self.last_used,
                since: self.since,
                blocked: false,
            },
            Holds::Configured { configuration } => SlotState::Busy {
                configuration,
                since: self.since,
                until: self.flights.back().map_or(now, |f| f.expected),
                room: depth.saturating_sub(self.flights.len()),
            },
        }
    }

    pub fn configuration(&self) -> Option<ConfigurationId> {
        match self.holds {
            Holds::Configured { configuration } => Some(configuration),
            _ => None,
        }
    }

    pub fn flight(&mut self, op: u64) -> Option<&mut Flight> {
        self.flights.iter_mut().find(|f| f.op == op)
    }

    /// Takes an operation out.
    pub fn take(&mut self, op: u64) -> Option<Flight> {
        let at = self.flights.iter().position(|f| f.op == op)?;
        self.flights.remove(at)
    }

    /// Whether anything is being worked on.
    pub fn runs(&self) -> bool {
        self.flights.iter().any(|f| f.stage == Stage::Running)
    }

    /// What has arrived and has nothing in front of it that has not, in order.
    pub fn waiting(&self) -> impl Iterator<Item = &Flight> {
        let begun = |f: &&Flight| matches!(f.stage, Stage::Leaving | Stage::Running);
        self.flights.iter().skip_while(begun).take_while(|f| f.stage == Stage::Waiting)
    }
}
