// SPDX-License-Identifier: Apache-2.0
//! What a decision is taken from, and what it is.

use std::collections::BTreeMap;

/// A duration or an instant in the caller's unit.
pub type Time = u64;

/// A configuration, by its place in the caller's catalogue: the policies index their tables by it. Errors name it by
/// `ace_engine::ConfigurationId`, which `at` makes of it.
pub type ConfigurationIndex = usize;

/// What a slot is doing.
///
/// A *bank* of a slot that holds several configurations, one of which works at a time, counts as a slot here; while
/// another bank works, it is idle and `blocked`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SlotState {
    /// Holds no configuration.
    Empty,
    Loading {
        configuration: ConfigurationIndex,
        ready_at: Time,
    },
    /// Configured, and nothing to do. `last_used`: when its last operation ended, or the load. `since`: when the load
    /// ended. `blocked`: it can be loaded, but nothing can start in it now.
    Idle {
        configuration: ConfigurationIndex,
        last_used: Time,
        since: Time,
        blocked: bool,
    },
    /// At work until about `until`. `room`: operations that its input buffer could take now.
    Busy {
        configuration: ConfigurationIndex,
        since: Time,
        until: Time,
        room: usize,
    },
    /// Out of order; never used again.
    Failed,
}

impl SlotState {
    /// The configuration that can serve operations now.
    pub fn resident(&self) -> Option<ConfigurationIndex> {
        match *self {
            SlotState::Idle { configuration, .. } | SlotState::Busy { configuration, .. } => {
                Some(configuration)
            }
            _ => None,
        }
    }

    /// The configuration that is here or on its way.
    pub fn expected(&self) -> Option<ConfigurationIndex> {
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
    /// Time of loading the whole image, by [`ConfigurationIndex`].
    pub load: Vec<Time>,
    /// Time of making the second configuration of the first one where that takes only a part of the image.
    pub switch: BTreeMap<(ConfigurationIndex, ConfigurationIndex), Time>,
}

impl Costs {
    /// Every configuration is loaded whole.
    pub fn whole(load: Vec<Time>) -> Self {
        Self { load, switch: BTreeMap::new() }
    }

    /// Time of one load into a slot that holds `resident`; 0 for a configuration that is not in the table.
    pub fn of(&self, resident: Option<ConfigurationIndex>, configuration: ConfigurationIndex) -> Time {
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
    /// Start loading a configuration. Whatever the slot held is gone. [`crate::Queue::load`] is to be told.
    Load { slot: usize, configuration: ConfigurationIndex },
    /// Hand the queued operation `op` to a slot that holds a configuration for it.
    Execute { slot: usize, op: u64 },
    /// Hand the queued operation `op` to the processor beside the slots ([`crate::Policy::decide_with_coprocessor`] alone).
    Compute { op: u64 },
    /// Nothing to do until something ends or a new operation arrives.
    Wait,
    /// The same, but ask again at this time at the latest.
    WaitUntil(Time),
}
