// SPDX-License-Identifier: Apache-2.0
//! Decisions that a board has carried out.

use ace_engine::ConfigurationId;

use crate::trace::Picos;

/// A decision that was carried out, and when: what a simulation of the same traffic is compared with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DecisionRecord {
    /// When, on the virtual clock.
    pub at: Picos,
    /// The processor beside the slots is one more than the last slot.
    pub slot: usize,
    /// What the slot was told to do.
    pub what: Step,
}

/// What was decided.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Step {
    /// A configuration of the catalogue.
    Load(ConfigurationId),
    /// A pass of a packet.
    Pass {
        /// The packet, by the caller's number.
        packet: u64,
        /// Whether it is the second of the packet's two passes.
        second: bool,
    },
}
