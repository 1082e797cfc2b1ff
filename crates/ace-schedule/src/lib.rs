// SPDX-License-Identifier: Apache-2.0
//! The controller's policies: which configuration is loaded where and when, and which operation runs next.
//!
//! A decision is a pure function of the [`Queue`], which knows the time, the [`SlotState`]s and the [`Costs`]: no I/O,
//! no randomness. The live board and the trace simulator ([`simulate`]) call the same [`Policy::decide`], again and again
//! at one instant until it answers [`Decision::Wait`] or [`Decision::WaitUntil`], and then let time pass until something
//! happens.
//!
//! Times are plain `u64`; the caller chooses the unit and keeps to it.

mod adaptive;
mod alike;
mod beside;
pub mod bound;
pub mod captured;
mod class;
mod demand;
mod double_buffer;
mod estimate;
pub mod in_order;
mod landlord;
mod lane;
mod line;
mod on_demand;
mod queue;
mod rotation;
pub mod simulate;
pub mod study;
pub mod traffic;
mod view;

use std::collections::BTreeMap;
use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

pub use queue::{ClassId, Queue, QueuedOp, Terms};
pub use simulate::simulate;

/// A duration or an instant in the caller's unit.
pub type Time = u64;

/// A configuration, by its place in the caller's catalogue.
pub type ConfigurationId = usize;

/// What a slot is doing.
///
/// A *bank* of a slot that holds several configurations, one of which works at a time, counts as a slot here; while
/// another bank works, it is idle and `blocked`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SlotState {
    /// Holds no configuration.
    Empty,
    Loading {
        configuration: ConfigurationId,
        ready_at: Time,
    },
    /// Configured, and nothing to do. `last_used`: when its last operation ended, or the load. `since`: when the load
    /// ended. `blocked`: it can be loaded, but nothing can start in it now.
    Idle {
        configuration: ConfigurationId,
        last_used: Time,
        since: Time,
        blocked: bool,
    },
    /// At work until about `until`. `room`: operations that its input buffer could take now.
    Busy {
        configuration: ConfigurationId,
        since: Time,
        until: Time,
        room: usize,
    },
    /// Out of order; never used again.
    Failed,
}

impl SlotState {
    /// The configuration that can serve operations now.
    pub fn resident(&self) -> Option<ConfigurationId> {
        match *self {
            SlotState::Idle { configuration, .. } | SlotState::Busy { configuration, .. } => {
                Some(configuration)
            }
            _ => None,
        }
    }

    /// The configuration that is here or on its way.
    pub fn expected(&self) -> Option<ConfigurationId> {
        match *self {
            SlotState::Loading { configuration, .. } => Some(configuration),
            _ => self.resident(),
        }
    }

    /// The same, but that it takes nothing now.
    pub(crate) fn hidden(self) -> Self {
        match self {
            SlotState::Idle { configuration, last_used, since, .. } => {
                SlotState::Idle { configuration, last_used, since, blocked: true }
            }
            SlotState::Busy { configuration, since, until, .. } => {
                SlotState::Busy { configuration, since, until, room: 0 }
            }
            state => state,
        }
    }

    /// Whether an operation can be handed over now.
    pub fn takes(&self) -> bool {
        matches!(self, SlotState::Idle { blocked: false, .. } | SlotState::Busy { room: 1.., .. })
    }
}

/// What loads cost.
#[derive(Clone, Debug, Default)]
pub struct Costs {
    /// Time of loading the whole image, by [`ConfigurationId`].
    pub load: Vec<Time>,
    /// Time of making the second configuration of the first one where that takes only a part of the image.
    pub switch: BTreeMap<(ConfigurationId, ConfigurationId), Time>,
}

impl Costs {
    /// Every configuration is loaded whole.
    pub fn whole(load: Vec<Time>) -> Self {
        Self { load, switch: BTreeMap::new() }
    }

    /// Time of one load into a slot that holds `resident`; 0 for a configuration that is not in the table.
    pub fn of(&self, resident: Option<ConfigurationId>, configuration: ConfigurationId) -> Time {
        let whole = self.load.get(configuration).copied().unwrap_or(0);
        if self.switch.is_empty() {
            return whole;
        }
        let part = resident.and_then(|resident| self.switch.get(&(resident, configuration)));
        part.map_or(whole, |part| whole.min(*part))
    }
}

/// What to do now.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Decision {
    /// Start loading a configuration. Whatever the slot held is gone. [`Queue::load`] is to be told.
    Load { slot: usize, configuration: ConfigurationId },
    /// Hand the queued operation `op` to a slot that holds a configuration for it.
    Execute { slot: usize, op: u64 },
    /// Hand the queued operation `op` to the processor beside the slots ([`Policy::decide_beside`] alone).
    Compute { op: u64 },
    /// Nothing to do until something ends or a new operation arrives.
    Wait,
    /// The same, but ask again at this time at the latest.
    WaitUntil(Time),
}

/// How decisions are taken. `docs/scheduling.md` describes each one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Policy {
    /// Strictly in the order of packets, one operation at a time. When its configuration is not resident it is
    /// loaded over the one that was used longest ago, and everything waits.
    OnDemand,
    /// Looks ahead: queued operations of the resident configurations run in batches, lanes may overtake each
    /// other, and a slot without work is loaded with what is needed next while the other one works.
    DoubleBuffer,
    /// What is needed first is loaded over the idle configuration whose rent is lowest.
    Landlord,
    /// The configuration whose packets are oldest is next; a slot that has work is taken when a bound is due.
    Rotation,
    /// Loads what brings most slot time into time, less what it costs others.
    Adaptive,
}

impl Policy {
    pub const ALL: [Policy; 5] =
        [Policy::OnDemand, Policy::DoubleBuffer, Policy::Landlord, Policy::Rotation, Policy::Adaptive];

    /// Its name on the command line.
    pub fn name(&self) -> &'static str {
        match self {
            Policy::OnDemand => "on-demand",
            Policy::DoubleBuffer => "double-buffer",
            Policy::Landlord => "landlord",
            Policy::Rotation => "rotation",
            Policy::Adaptive => "adaptive",
        }
    }

    /// The next step. One configuration port is assumed: no load starts while another is under way.
    pub fn decide(&self, queue: &Queue, slots: &[SlotState], costs: &Costs) -> Decision {
        // As the policy sees them: what is to be loaded with its like takes nothing more.
        let mut seen: Option<Vec<SlotState>> = None;
        loop {
            let states = seen.as_deref().unwrap_or(slots);
            match self.rule(queue, states, costs) {
                Decision::Load { slot, configuration } => {
                    // On the whole board one operation runs at a time.
                    let most = if *self == Policy::OnDemand { 1 } else { usize::MAX };
                    let over = slots.get(slot).and_then(SlotState::resident);
                    let configuration = queue.sooner(configuration, over, most, costs);
                    return Decision::Load { slot, configuration };
                }
                Decision::Execute { slot, op } => match (queue.instead(slots, slot, costs), slots[slot]) {
                    (None, _) => return Decision::Execute { slot, op },
                    (Some(configuration), SlotState::Idle { .. }) => {
                        return Decision::Load { slot, configuration };
                    }
                    _ => seen.get_or_insert_with(|| slots.to_vec())[slot] = slots[slot].hidden(),
                },
                decision => return decision,
            }
        }
    }

    /// What the policy itself says.
    fn rule(&self, queue: &Queue, slots: &[SlotState], costs: &Costs) -> Decision {
        match *self {
            Policy::OnDemand => on_demand::decide(queue, slots),
            Policy::DoubleBuffer => double_buffer::decide(queue, slots, costs),
            Policy::Landlord => landlord::decide(queue, slots, costs),
            Policy::Rotation => rotation::decide(queue, slots, costs),
            Policy::Adaptive => adaptive::decide(queue, slots, costs),
        }
    }
}

impl fmt::Display for Policy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl FromStr for Policy {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        Policy::ALL.into_iter().find(|p| p.name() == text).ok_or_else(|| {
            format!("unknown policy `{text}` (allowed: {})", Policy::ALL.map(|p| p.name()).join(", "))
        })
    }
}
