// SPDX-License-Identifier: Apache-2.0
//! The board as an engine.

use std::collections::VecDeque;

use ace_engine::{
    Action, Capabilities, Completion, ConfigurationId, Engine, EngineError, Illegal, Job, Need, SlotFailure,
};

use super::Board;
use crate::frame::Status;
use crate::pass;

impl Engine for Board {
    fn name(&self) -> &'static str {
        "board"
    }

    fn capabilities(&self) -> &Capabilities {
        let device = &self.config.device;
        let can = |need: &Need| {
            !self.catalogue.candidates(need, device).is_empty()
                || self.coprocessor.as_ref().is_some_and(|it| it.time(need, 0).is_some())
        };
        self.capabilities.get_or_init(|| Capabilities::of(can))
    }

    fn takes(&self, action: &Action) -> bool {
        pass::fits(action)
    }

    fn try_submit(&mut self, jobs: &mut VecDeque<Job>) {
        while self.jobs.len() < self.config.packet_buffer
            && let Some(job) = jobs.pop_front()
        {
            let operation = &job.operation;
            let legal = operation.check().and_then(|()| match u32::try_from(operation.buffer.len()) {
                Ok(_) => Ok(()),
                Err(_) => Err(Illegal::TooLong(operation.buffer.len()).into()),
            });
            let (first, second) = pass::needs(&operation.action);
            let legal = legal.and_then(|()| match pass::fits(&operation.action) {
                true => Ok(()),
                false => Err(EngineError::NoConfiguration { need: first }),
            });
            match legal {
                Ok(()) => self.enqueue(job, None, self.agenda.now, first, second),
                Err(error) => {
                    self.failed += 1;
                    let (id, buffer) = (job.id, job.operation.buffer);
                    self.done.push(Completion { id, buffer, result: Err(error) });
                }
            }
        }
    }

    fn drain(&mut self, done: &mut Vec<Completion>) -> usize {
        self.step();
        done.append(&mut self.done);
        self.jobs.len()
    }

    fn wait(&mut self, done: &mut Vec<Completion>) -> usize {
        while self.step() {}
        done.append(&mut self.done);
        self.jobs.len()
    }

    fn explain(&self, error: &EngineError) -> String {
        let name = |c: ConfigurationId| match self.catalogue.configurations.get(c) {
            Some(configuration) => configuration.name.as_str(),
            None => "unknown",
        };
        match *error {
            EngineError::NoConfiguration { need } => {
                format!("{error}: {}", self.catalogue.why_none(&need, &self.config.device))
            }
            EngineError::LoadFailed { configuration } => {
                let reason = self.port.refused.get(&configuration);
                let reason = reason.map_or("it is no longer tried", String::as_str);
                format!("configuration `{}` was refused: {reason}", name(configuration))
            }
            EngineError::SlotStatus { slot, configuration, status } => {
                let words = Status::from_code(status).map_or("an unknown status".into(), |s| s.to_string());
                format!("slot {slot} ({}) answered `{words}`", name(configuration))
            }
            EngineError::SlotFailed { slot, configuration, failure } => {
                let complaint = self.slots.complaints.get(&configuration);
                let words = match (failure, complaint) {
                    (SlotFailure::Protocol, Some(complaint)) => complaint.clone(),
                    _ => failure.to_string(),
                };
                format!("slot {slot} ({}) failed: {words}", name(configuration))
            }
            EngineError::NoSlot
            | EngineError::Overloaded
            | EngineError::Illegal(_)
            | EngineError::Mismatch
            | EngineError::Lost => error.to_string(),
        }
    }
}

impl Board {
    /// Takes decisions and lets one instant pass, if nothing is done yet. False if there is nothing to be done, or
    /// something has been.
    fn step(&mut self) -> bool {
        if !self.done.is_empty() {
            return false;
        }
        if self.agenda.ask {
            self.decide();
        }
        if self.done.is_empty() && !self.advance() {
            if self.queue.is_empty() {
                return false;
            }
            self.give_up();
        }
        self.done.is_empty()
    }
}
