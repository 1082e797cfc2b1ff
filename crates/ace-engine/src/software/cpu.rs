// SPDX-License-Identifier: Apache-2.0
//! Software as an engine.

use std::collections::VecDeque;
use std::sync::LazyLock;

use crate::buffer::Buffer;
use crate::engine::{Capabilities, Completion, Engine, Job, take_jobs};
use crate::error::EngineError;
use crate::operation::{Action, Operation};

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

    #[inline]
    fn at_once(&mut self, action: &Action, packet: &mut Buffer) -> Option<Result<(), EngineError>> {
        Some(super::execute(action, packet))
    }

    fn try_submit(&mut self, jobs: &mut VecDeque<Job>) {
        take_jobs(&mut self.queue, jobs, QUEUE);
    }

    fn drain(&mut self, done: &mut Vec<Completion>) -> usize {
        for Job { id, operation: Operation { action, buffer }, .. } in &mut self.queue {
            let result = super::execute(action, buffer);
            done.push(Completion { id: *id, buffer: std::mem::take(buffer), result });
        }
        self.queue.clear();
        0
    }

    fn wait(&mut self, done: &mut Vec<Completion>) -> usize {
        self.drain(done)
    }

    fn explain(&self, error: &EngineError) -> String {
        super::explain(error)
    }
}
