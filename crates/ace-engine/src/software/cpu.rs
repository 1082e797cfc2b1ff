// SPDX-License-Identifier: Apache-2.0
//! Software as an engine.

use std::collections::VecDeque;
use std::sync::LazyLock;

use crate::engine::{Capabilities, Completion, Engine, Job};

/// Jobs that it holds at most.
const QUEUE: usize = 256;

static CAPABILITIES: LazyLock<Capabilities> = LazyLock::new(|| Capabilities::of(super::can));

/// Executes operations on the CPU, one after the other, when it is drained.
#[derive(Debug)]
pub struct CpuEngine {
    queue: VecDeque<Job>,
}

impl Default for CpuEngine {
    fn default() -> Self {
        Self::new()
    }
}

impl CpuEngine {
    /// An engine with nothing to do.
    pub fn new() -> Self {
        Self { queue: VecDeque::with_capacity(QUEUE) }
    }
}

impl Engine for CpuEngine {
    fn name(&self) -> &'static str {
        "cpu"
    }

    fn capabilities(&self) -> &Capabilities {
        &CAPABILITIES
    }

    fn try_submit(&mut self, jobs: &mut VecDeque<Job>) {
        let room = QUEUE.saturating_sub(self.queue.len()).min(jobs.len());
        self.queue.extend(jobs.drain(..room));
    }

    fn drain(&mut self, done: &mut Vec<Completion>) -> usize {
        done.extend(self.queue.drain(..).map(|Job { id, mut operation, .. }| {
            let result = super::execute(&operation.action, &mut operation.buffer);
            Completion { id, buffer: operation.buffer, result }
        }));
        0
    }

    fn wait(&mut self, done: &mut Vec<Completion>) -> usize {
        self.drain(done)
    }
}
