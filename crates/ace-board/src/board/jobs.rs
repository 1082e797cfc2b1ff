// SPDX-License-Identifier: Apache-2.0
//! Jobs of a board: their passes, who may serve them, and their answers.

use std::sync::Arc;

use ace_engine::{Completion, ConfigurationId, EngineError, Job, Need};
use ace_schedule::QueuedOp;

use super::Board;
use crate::pass::{self, Carried};
use crate::pending::Pending;
use crate::trace::Picos;

impl Board {
    /// Configurations that may serve, without those that were refused.
    fn candidates(&mut self, need: &Need) -> (Vec<ConfigurationId>, Arc<str>) {
        if !self.known_needs.contains_key(need) {
            let found = self.catalogue.candidates(need, &self.config.device);
            // What may not be loaded is not tried.
            for c in &found {
                let configuration = &self.catalogue.configurations[*c];
                match self.catalogue.source(configuration) {
                    Ok(_) => self.costs.load[*c] = self.catalogue.load_time(&self.config, configuration),
                    Err(why) => drop(self.port.refused.entry(*c).or_insert_with(|| why.to_string())),
                }
            }
            self.known_needs.insert(*need, (found, need.to_string().into()));
        }
        let Some((all, words)) = self.known_needs.get(need) else { return (Vec::new(), "".into()) };
        (all.iter().copied().filter(|c| !self.port.refused.contains_key(c)).collect(), Arc::clone(words))
    }

    /// Why a job that nothing can serve fails.
    fn unserved(&self, need: &Need) -> EngineError {
        let all = self.known_needs.get(need).map_or(&[][..], |(all, _)| all);
        match all.iter().find(|c| self.port.refused.contains_key(*c)) {
            Some(c) => EngineError::LoadFailed { configuration: *c },
            None => EngineError::NoConfiguration { need: *need },
        }
    }

    /// Takes the result of a pass: goes on with the next one of the job, or answers it.
    pub(crate) fn answer(&mut self, op: u64, result: Result<Vec<u8>, EngineError>) {
        self.queue.finish(op);
        let Some(Pending { mut job, second, carried, arrived, joint, .. }) = self.jobs.remove(&op) else {
            return;
        };
        // A tag that is another one the sender has to answer for.
        self.failed += u64::from(result.as_ref().is_err_and(|error| *error != EngineError::Mismatch));
        let operation = &mut job.operation;
        let result = result.and_then(|result| match joint {
            Some(_) => pass::apply_both(&operation.action, &result, &mut operation.buffer).map(|()| None),
            None => pass::apply(&operation.action, second, &result, &mut operation.buffer, &carried),
        });
        match (result, pass::needs(&operation.action).1) {
            (Ok(carried), Some(need)) if !second && joint.is_none() => {
                self.enqueue(job, Some(carried), arrived, need, None)
            }
            (result, _) => {
                let result = result.map(drop);
                self.done.push(Completion { id: job.id, buffer: job.operation.buffer, result });
            }
        }
    }

    /// Makes a pass of a job wait for a slot. `first`: it is the second one, with what the first has left. `after`: what the
    /// job needs behind it.
    pub(super) fn enqueue(
        &mut self,
        job: Job,
        first: Option<Carried>,
        arrived: Picos,
        need: Need,
        after: Option<Need>,
    ) {
        let (second, carried) = (first.is_some(), first.flatten());
        let id = self.next_op;
        self.next_op += 1;
        let (candidates, words) = self.candidates(&need);
        let then: Vec<Vec<ConfigurationId>> = after.iter().map(|need| self.candidates(need).0).collect();
        let (flow, packet) = (job.flow, job.packet);
        let bytes = u32::try_from(job.operation.buffer.len()).unwrap_or(u32::MAX);
        let estimate = |candidates: &[ConfigurationId], need: &Need, second: bool| {
            let bytes = pass::data_len(&job.operation.action, second);
            candidates.first().map_or(0, |c| self.catalogue.configurations[*c].estimate(need, bytes))
        };
        let cost = estimate(&candidates, &need, second);
        let next = after.zip(then.first()).map_or(0, |(need, them)| estimate(them, &need, true));
        let cpu = self.on_processor(&job.operation.action, second, &need);
        let (aside, host) = self.aside(pass::data_len(&job.operation.action, second));
        self.jobs.insert(
            id,
            Pending { job, second, carried, arrived, queued: self.agenda.now, words, joint: None },
        );
        if candidates.is_empty() && cpu.is_none() {
            let error = self.unserved(&need);
            self.answer(id, Err(error));
            return;
        }
        self.agenda.ask = true;
        let class = self.queue.class(&candidates, &then);
        self.queue.set_paces(class, self.paces(&candidates, &need));
        self.queue.push(QueuedOp { id, flow, packet, arrived, class, cost, next, cpu, aside, host, bytes });
    }

    /// How fast candidates are, beside the first of them, and on how many frames each works at once.
    fn paces(&self, candidates: &[ConfigurationId], need: &Need) -> Vec<(f64, f64)> {
        const BYTES: usize = 1 << 12;
        let all = &self.catalogue.configurations;
        let of = |c: ConfigurationId| all[c].estimate(need, BYTES).max(1) as f64;
        let blocks = |c: ConfigurationId| all[c].blocks.map(|blocks| blocks.pace(all[c].in_flight));
        let Some(&first) = candidates.first() else { return Vec::new() };
        let pace = |c: &ConfigurationId| match (blocks(first), blocks(*c)) {
            (Some(first), Some(own)) => (own.0 / first.0, own.1),
            _ => (of(*c) / of(first), all[*c].in_flight.max(1) as f64),
        };
        candidates.iter().map(pace).collect()
    }

    /// Gives up a configuration: nothing waits for it any more.
    pub(crate) fn refuse(&mut self, configuration: ConfigurationId, reason: String) {
        self.port.refused.insert(configuration, reason);
        for op in self.queue.refuse(configuration) {
            if let Some(need) = self.jobs.get(&op).and_then(Pending::need) {
                let error = self.unserved(&need);
                self.answer(op, Err(error));
            }
        }
    }

    /// No slot works any more, or a policy does not go on: whatever waits has failed.
    pub(super) fn give_up(&mut self) {
        let waiting: Vec<u64> = self.queue.waiting().iter().map(|op| op.id).collect();
        for op in waiting {
            self.queue.remove(op);
            self.answer(op, Err(EngineError::NoSlot));
        }
    }
}
