// SPDX-License-Identifier: Apache-2.0
//! Jobs that wait or run.

use std::sync::Arc;

use ace_engine::{Job, Need};

use crate::pass::{self, Carried};
use crate::trace::Picos;

/// A job on the board: the pass of it that waits or runs.
pub(crate) struct Pending {
    pub job: Job,
    /// It is the second one.
    pub second: bool,
    /// What the first one has left for it.
    pub carried: Carried,
    /// When the job came.
    pub arrived: Picos,
    /// When this pass of it did.
    pub queued: Picos,
    pub words: Arc<str>,
    /// The place that takes the result of its first pass, if its second one is part of the same task.
    pub joint: Option<usize>,
}

impl Pending {
    /// What computes the pass.
    pub fn need(&self) -> Option<Need> {
        let (first, second) = pass::needs(&self.job.operation.action);
        if self.second { second } else { Some(first) }
    }
}
