// SPDX-License-Identifier: Apache-2.0
//! A stated processor: what it can do, and what it is doing.

use ace_engine::profile::Processor;
use ace_engine::{Need, software};
use ace_schedule::Time;

use crate::trace::Picos;

/// The processor, and what it is doing.
pub(crate) struct Coprocessor {
    pub processor: Processor,
    pub running: Option<Running>,
}

/// An operation that the processor does.
#[derive(Clone, Copy)]
pub(crate) struct Running {
    pub op: u64,
    pub start: Picos,
    pub end: Picos,
}

impl Coprocessor {
    /// Until when it has something to do.
    pub fn busy(&self) -> Option<Time> {
        self.running.map(|running| running.end)
    }

    /// What a pass over `bytes` of data takes, if the profile has a figure and the software here can do it.
    pub fn time(&self, need: &Need, bytes: usize) -> Option<Picos> {
        let ns = self.processor.time_ns(need, bytes).filter(|_| can(need))?;
        Some((ns * 1e3) as Picos)
    }
}

/// Whether a pass is one that a slot could be asked for as well.
fn can(need: &Need) -> bool {
    !matches!(need, Need::Aead { .. } | Need::Gmac { .. } | Need::Xcbc | Need::Cmac { .. })
        && software::can(need)
}
