// SPDX-License-Identifier: Apache-2.0
//! What a decision is taken from, and what it is.

use std::collections::BTreeMap;

use ace_engine::{ConfigurationId, Table};

/// A duration or an instant in the caller's unit.
pub type Time = u64;

/// What a slot is doing.
///
/// A *bank* of a slot that holds several configurations, one of which works at a time, counts as a slot here; while
/// another bank works, it is idle and `blocked`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SlotState {
    /// Holds no configuration.
    Empty,
    /// A configuration is on its way into the slot; what it held is gone.
    Loading {
        /// The configuration that is being loaded.
        configuration: ConfigurationId,
        /// When the load is expected to end.
        ready_at: Time,
    },
    /// Configured, and nothing to do.
    Idle {
        /// The configuration that the slot holds.
        configuration: ConfigurationId,
        /// When its last operation ended, or the load if there was none.
        last_used: Time,
        /// When the load ended.
        since: Time,
        /// Whether nothing can start in the slot now, although it can be loaded.
        blocked: bool,
    },
    /// Configured and at work.
    Busy {
        /// The configuration that the slot holds.
        configuration: ConfigurationId,
        /// When the load ended.
        since: Time,
        /// When the operation at work is expected to end.
        until: Time,
        /// Operations that the slot's input buffer could take now.
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
    /// Time of loading the whole image.
    pub load: Table<Time>,
    /// Time of making the second configuration of the first one where that takes only a part of the image.
    pub switch: BTreeMap<(ConfigurationId, ConfigurationId), Time>,
}

impl Costs {
    /// Every configuration is loaded whole.
    pub fn whole(load: impl Into<Table<Time>>) -> Self {
        Self { load: load.into(), switch: BTreeMap::new() }
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

/// A processor beside the slots, as it stands. It does one operation at a time.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Processor {
    /// Until about when it has something to do.
    pub busy: Option<Time>,
    /// Packets that wait for it, where it has to take each of them before their operations come.
    pub packets: usize,
    /// What one of them takes of it.
    pub packet: Time,
}

/// What to do now.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Decision {
    /// Start loading a configuration. Whatever the slot held is gone. [`crate::Queue::load`] is to be told.
    Load {
        /// The slot to load, by its index.
        slot: usize,
        /// The configuration to load into it.
        configuration: ConfigurationId,
    },
    /// Hand the queued operation `op` to a slot that holds a configuration for it.
    Execute {
        /// The slot that starts the operation, by its index.
        slot: usize,
        /// The operation's [`crate::QueuedOp::id`].
        op: u64,
    },
    /// Hand the queued operation `op` to the processor beside the slots ([`crate::Policy::decide_with_coprocessor`] alone).
    Compute {
        /// The operation's [`crate::QueuedOp::id`].
        op: u64,
    },
    /// Nothing to do until something ends or a new operation arrives.
    Wait,
    /// The same, but ask again at this time at the latest.
    WaitUntil(Time),
}
