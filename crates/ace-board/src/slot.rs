// SPDX-License-Identifier: Apache-2.0
//! One slot as the board keeps track of it.

use std::collections::VecDeque;
use std::mem::{Discriminant, discriminant};

use ace_engine::{ConfigurationId, Secret};
use ace_schedule::SlotState;

use crate::batch::Batch;
use crate::model::KeyFrames;
use crate::pass::{Pass, Task};
use crate::trace::Picos;
use crate::worker::{Request, Worker, key_bytes, request_bytes};

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
    /// Who has expanded that key.
    pub expanded: Option<Expander>,
    /// It is in another tile of the slot, whose result this one takes.
    pub takes_result: bool,
    /// Its own result is taken so.
    pub joint: bool,
}

/// Who makes the words of a key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Expander {
    Host,
    Slot,
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
    /// What goes over the link for a key, and which of those sets the slot will hold then.
    pub keys: KeyFrames,
    pub sets_up: Option<usize>,
    /// The sets that take its results in the other tile of its slot, and the key that its frames have brought there.
    pub passes_to: Vec<String>,
    pub other_key: Option<HeldKey>,
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
            keys: KeyFrames::default(),
            sets_up: None,
            passes_to: Vec::new(),
            other_key: None,
            flights: VecDeque::new(),
            batch: None,
            hangs: 0,
        }
    }

    /// Bytes that the link carries for a task, and who expands the key, if it brings one that is to be expanded.
    pub fn travels(&mut self, task: &Task, fresh_key: bool) -> (u64, Option<Expander>) {
        let whole = request_bytes(task, fresh_key);
        let Some(expanded) = self.keys.expanded.filter(|_| fresh_key) else { return (whole, None) };
        let bytes = whole.saturating_sub(key_bytes(&task.pass));
        let cipher = matches!(task.pass, Pass::Cipher { .. } | Pass::Aead { .. });
        let set = task.pass.key().filter(|_| cipher).and_then(|key| self.keys.set(key.len()));
        let Some(at) = set else { return (bytes + expanded, cipher.then_some(Expander::Host)) };
        let load = if self.sets_up.replace(at) == Some(at) { 0 } else { self.keys.slot[at].load };
        (bytes + load + self.keys.slot[at].frame, Some(Expander::Slot))
    }

    /// What keys and sets for keys the slot holds nobody knows any more.
    pub fn forget_keys(&mut self) {
        (self.key, self.sets_up, self.other_key) = (None, None, None);
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
                // Those whose result another tile works on leave a lane.
                room: self.room(depth).saturating_sub(self.flights.len()),
            },
        }
    }

    /// Of `depth`, and of as many more as may be in another tile.
    pub fn room(&self, depth: usize) -> usize {
        let joint = self.flights.iter().any(|flight| flight.joint);
        if joint { 2 * depth } else { depth }
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
