// SPDX-License-Identifier: Apache-2.0
//! The simulation of a slot on its own, as an engine: no bits, no board, no time. For whoever writes a core and wants
//! to know whether it computes.

use std::collections::VecDeque;

use ace_engine::{
    Action, Buffer, Capabilities, Completion, ConfigurationId, Engine, EngineError, Job, SlotFailure,
};

use crate::capability::Capability;
use crate::frame::Status;
use crate::model::SlotModel;
use crate::pass::{self, Task};
use crate::worker::{Failure, Request, execute};

/// Clocks without a beat after which the slot counts as hanging: more than any core takes for a block, and the array's
/// slot for as many as fit its buffers.
const MAX_CLOCKS: u64 = 1 << 20;

/// One slot, which computes what it is given, one job after the other.
pub struct Bare {
    model: Box<dyn SlotModel>,
    capabilities: Capabilities,
    done: Vec<Completion>,
    /// What was wrong with the last answer that broke the rules of the boundary.
    complaint: String,
}

impl Bare {
    /// A slot that is this model and can do this.
    pub fn new(model: Box<dyn SlotModel>, can: &[Capability]) -> Self {
        let capabilities = Capabilities::of(|need| can.iter().any(|c| c.serves(need)));
        Self { model, capabilities, done: Vec::new(), complaint: String::new() }
    }

    fn run(&mut self, action: &Action, buffer: &mut Buffer) -> Result<(), EngineError> {
        let (first, second) = pass::needs(action);
        let mut carried = None;
        for (need, second) in [(Some(first), false), (second, true)] {
            let Some(need) = need else { continue };
            let task = Task::of(action, second, buffer, &carried).filter(|_| self.capabilities.can(&need));
            let Some(task) = task else { return Err(EngineError::NoConfiguration { need }) };
            let request = Request { task, fresh_key: true, tag: 0, max_clocks: MAX_CLOCKS, then: None };
            let answer = execute(self.model.as_mut(), &[request]).pop();
            let result = answer.map_or(Err(Failure::Silent), |answer| answer.result);
            let result = result.map_err(|failure| {
                self.model.reset();
                self.error(failure)
            })?;
            carried = pass::apply(action, second, &result.ok_or(EngineError::Mismatch)?, buffer, &carried)?;
        }
        Ok(())
    }

    fn error(&mut self, failure: Failure) -> EngineError {
        let failed = |failure| EngineError::SlotFailed {
            slot: 0,
            configuration: ConfigurationId::from_index(0),
            failure,
        };
        match failure {
            Failure::Status(status) => EngineError::SlotStatus {
                slot: 0,
                configuration: ConfigurationId::from_index(0),
                status: status as u8,
            },
            Failure::Protocol(complaint) => {
                self.complaint = complaint;
                failed(SlotFailure::Protocol)
            }
            Failure::Silent => failed(SlotFailure::Silent),
            Failure::Flushed => failed(SlotFailure::Lost),
        }
    }
}

impl Engine for Bare {
    fn name(&self) -> &'static str {
        "rtl"
    }

    fn capabilities(&self) -> &Capabilities {
        &self.capabilities
    }

    fn takes(&self, action: &Action) -> bool {
        pass::fits(action)
    }

    fn try_submit(&mut self, jobs: &mut VecDeque<Job>) {
        for Job { id, operation, .. } in jobs.drain(..) {
            let legal = operation.check();
            let ace_engine::Operation { action, mut buffer } = operation;
            let result = legal.and_then(|()| self.run(&action, &mut buffer));
            self.done.push(Completion { id, buffer, result });
        }
    }

    fn drain(&mut self, done: &mut Vec<Completion>) -> usize {
        done.append(&mut self.done);
        0
    }

    fn wait(&mut self, done: &mut Vec<Completion>) -> usize {
        self.drain(done)
    }

    fn explain(&self, error: &EngineError) -> String {
        match *error {
            EngineError::SlotStatus { status, .. } => match Status::from_code(status) {
                Some(status) => format!("the slot answered `{status}`"),
                None => error.to_string(),
            },
            EngineError::SlotFailed { failure: SlotFailure::Protocol, .. } => self.complaint.clone(),
            EngineError::SlotFailed { failure, .. } => format!("the slot failed: {failure}"),
            _ => error.to_string(),
        }
    }
}
