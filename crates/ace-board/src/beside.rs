// SPDX-License-Identifier: Apache-2.0
//! A stated processor beside the slots: what it does is computed here in software and takes, on the virtual clock, what
//! its profile says.

use ace_engine::profile::Processor;
use ace_engine::{Action, Need, compute, software};
use ace_schedule::Time;

use crate::board::{Board, Happens};
use crate::pass::{self, Task};
use crate::trace::{Picos, What};

/// The processor, and what it is doing.
pub(crate) struct Beside {
    pub processor: Processor,
    pub running: Option<Running>,
}

/// An operation that the processor does.
#[derive(Clone, Copy)]
pub(crate) struct Running {
    op: u64,
    start: Picos,
    end: Picos,
}

impl Beside {
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
    !matches!(need, Need::Aead { .. } | Need::Xcbc | Need::Cmac { .. }) && software::can(need)
}

impl Board {
    /// Puts a processor beside the slots. An operation goes where it is done earlier; what the profile has no figure for,
    /// the processor is not asked to do. To be called before the first job comes.
    pub fn set_processor(&mut self, processor: Processor) {
        self.queue.learn(self.slots.len());
        self.beside = Some(Beside { processor, running: None });
        self.capabilities = std::sync::OnceLock::new();
    }

    /// Time of a pass of a job on the processor.
    pub(crate) fn on_processor(&self, action: &Action, second: bool, need: &Need) -> Option<Picos> {
        self.beside.as_ref()?.time(need, pass::data_len(action, second))
    }

    /// What host and link add to a pass that goes through a slot.
    pub(crate) fn aside(&self, bytes: usize) -> Picos {
        let bytes = bytes as u64;
        let host = self.config.send_time(bytes).saturating_add(self.config.notice_time(bytes));
        host.saturating_add(self.config.link_time(bytes).saturating_mul(2))
    }

    /// The processor begins an operation.
    pub(crate) fn compute(&mut self, op: u64) {
        let ours = self.slots.len();
        let Some(time) = self.queue.compute(op, ours).and_then(|op| op.cpu) else { return };
        let result = self.jobs.get(&op).map(|pending| {
            let operation = &pending.job.operation;
            let Some(task) = Task::of(&operation.action, pending.second, &operation.buffer) else {
                let need = operation.action.needs().0;
                return Err(ace_engine::EngineError::NoConfiguration { need });
            };
            compute::run(task.operation()?).map(|buffer| task.result(&buffer))
        });
        if let Some(result) = result {
            self.results.insert(op, (0, result));
        }
        let (start, end) = (self.now, self.now.saturating_add(time));
        if let Some(beside) = &mut self.beside {
            beside.running = Some(Running { op, start, end });
        }
        if self.one_core {
            self.host_free = end;
        }
        self.at(end, Happens::Computed { op });
    }

    /// The processor is done with an operation.
    pub(crate) fn computed(&mut self, op: u64) {
        let Some(Running { start, .. }) =
            self.beside.as_mut().and_then(|b| b.running.take_if(|running| running.op == op))
        else {
            return;
        };
        self.queue.took(op, self.now - start);
        if let Some(pending) = self.jobs.get(&op) {
            let what = What::Compute {
                job: pending.job.id,
                lane: pending.job.lane,
                packet: pending.job.packet,
                operation: pending.words.to_string(),
                data_bytes: pass::data_len(&pending.job.operation.action, pending.second) as u64,
            };
            self.log(start, self.now, self.slots.len(), what);
        }
        if let Some((_, result)) = self.results.remove(&op) {
            self.answer(op, result);
        }
    }
}
