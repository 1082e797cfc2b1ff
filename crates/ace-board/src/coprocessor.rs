// SPDX-License-Identifier: Apache-2.0
//! A stated processor beside the slots: what it does is computed here in software and takes, on the virtual clock, what
//! its profile says.

use ace_engine::profile::Processor;
use ace_engine::{Action, Need, compute};

use crate::board::Board;
use crate::parts::Event;
use crate::pass;
use crate::processor::{Coprocessor, Running};
use crate::trace::{Picos, What};

impl Board {
    /// Puts a processor beside the slots. An operation goes where it is done earlier; what the profile has no figure for,
    /// the processor is not asked to do. To be called before the first job comes.
    pub fn set_processor(&mut self, processor: Processor) {
        self.queue.learn(self.slots.len());
        self.coprocessor = Some(Coprocessor { processor, running: None });
        self.capabilities = std::sync::OnceLock::new();
    }

    /// Time of a pass of a job on the processor.
    pub(crate) fn on_processor(&self, action: &Action, second: bool, need: &Need) -> Option<Picos> {
        self.coprocessor.as_ref()?.time(need, pass::data_len(action, second))
    }

    /// What host and link add to a pass that goes through a slot, and what of that the processor has to do.
    pub(crate) fn aside(&self, bytes: usize) -> (Picos, Picos) {
        let bytes = bytes as u64;
        let host = self.config.send_time(bytes).saturating_add(self.config.notice_time(bytes));
        let all = host.saturating_add(self.config.link_time(bytes).saturating_mul(2));
        let own = match (self.link.one_core, self.config.host.polled) {
            (false, _) => 0,
            (true, false) => host,
            (true, true) => all,
        };
        (all, own)
    }

    /// The processor begins an operation.
    pub(crate) fn compute(&mut self, op: u64) {
        let ours = self.slots.len();
        let Some(time) = self.queue.compute(op, ours).and_then(|op| op.cpu) else { return };
        let result = self.jobs.get(&op).map(|pending| {
            let operation = &pending.job.operation;
            let Some(task) = pass::task(pending) else {
                let need = pass::needs(&operation.action).0;
                return Err(ace_engine::EngineError::NoConfiguration { need });
            };
            compute::run(task.operation()?).map(|buffer| task.result(&buffer))
        });
        if let Some(result) = result {
            self.link.results.insert(op, (0, result));
        }
        let (start, end) = (self.agenda.now, self.agenda.now.saturating_add(time));
        if let Some(coprocessor) = &mut self.coprocessor {
            coprocessor.running = Some(Running { op, start, end });
        }
        if self.link.one_core {
            self.link.host_free = end;
        }
        self.agenda.at(end, Event::Computed { op });
    }

    /// The processor is done with an operation.
    pub(crate) fn computed(&mut self, op: u64) {
        let Some(Running { start, .. }) =
            self.coprocessor.as_mut().and_then(|it| it.running.take_if(|running| running.op == op))
        else {
            return;
        };
        self.queue.took(op, self.agenda.now - start);
        if let Some(pending) = self.jobs.get(&op) {
            let what = What::Compute {
                job: pending.job.id,
                flow: pending.job.flow,
                packet: pending.job.packet,
                operation: pending.words.to_string(),
                data_bytes: pass::data_len(&pending.job.operation.action, pending.second) as u64,
            };
            self.log(start, self.agenda.now, self.slots.len(), what);
        }
        if let Some((_, result)) = self.link.results.remove(&op) {
            self.answer(op, result);
        }
    }
}
