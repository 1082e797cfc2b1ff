// SPDX-License-Identifier: Apache-2.0
//! Groups of configurations that do the same, and what was missed of them.

use std::collections::HashMap;

use ace_engine::ConfigurationId;

/// The groups, and the board's slots as far as they bear on them.
#[derive(Clone, Debug, Default)]
pub(crate) struct Equivalents {
    pub groups: Vec<Vec<ConfigurationId>>,
    /// Places of a slot that one thing works in.
    pub banks: usize,
    /// By what a slot holds.
    pub regrets: HashMap<ConfigurationId, Regret>,
}

/// What another one of a group would have saved.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Regret {
    pub other: ConfigurationId,
    /// Slot time since the load, with as many operations at a time as there were.
    pub saved: f64,
    /// Slot time of the last operation alone, for which a slot that is to be loaded waits.
    pub drain: f64,
}
