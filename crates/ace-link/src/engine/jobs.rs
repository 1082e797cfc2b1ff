// SPDX-License-Identifier: Apache-2.0
//! Jobs in an engine: each is answered once, and those of a flow in their order.

use std::collections::{HashMap, VecDeque};

use ace_board::pass::Carried;
use ace_engine::{Action, Buffer, Completion, EngineError, Job, JobId};

/// Things that have a number for as long as they are there.
#[derive(Debug)]
pub struct Slab<T> {
    places: Vec<Option<T>>,
    free: Vec<usize>,
}

impl<T> Default for Slab<T> {
    fn default() -> Self {
        Self { places: Vec::new(), free: Vec::new() }
    }
}

impl<T> Slab<T> {
    pub fn add(&mut self, thing: T) -> usize {
        match self.free.pop() {
            Some(at) => {
                if let Some(place) = self.places.get_mut(at) {
                    *place = Some(thing);
                }
                at
            }
            None => {
                self.places.push(Some(thing));
                self.places.len() - 1
            }
        }
    }

    pub fn take(&mut self, at: usize) -> Option<T> {
        let thing = self.places.get_mut(at)?.take()?;
        self.free.push(at);
        Some(thing)
    }

    pub fn get(&self, at: usize) -> Option<&T> {
        self.places.get(at)?.as_ref()
    }

    pub fn get_mut(&mut self, at: usize) -> Option<&mut T> {
        self.places.get_mut(at)?.as_mut()
    }

    pub fn len(&self) -> usize {
        self.places.len() - self.free.len()
    }

    pub fn numbers(&self) -> Vec<usize> {
        (0..self.places.len()).filter(|at| self.get(*at).is_some()).collect()
    }

    pub fn clear(&mut self) {
        self.places.clear();
        self.free.clear();
    }
}

/// A job that is not answered.
#[derive(Debug)]
pub struct Running {
    pub id: JobId,
    flow: u32,
    pub action: Action,
    pub buffer: Buffer,
    /// The first pass is done.
    pub second: bool,
    /// What it has left for the second one.
    pub carried: Carried,
    /// How often a pass of it came back without its fault.
    pub tries: u32,
    result: Option<Result<(), EngineError>>,
}

/// All jobs.
#[derive(Debug, Default)]
pub struct Jobs {
    all: Slab<Running>,
    flows: HashMap<u32, VecDeque<usize>>,
    done: Vec<Completion>,
    /// Jobs that were answered with and without a result.
    pub counts: (u64, u64),
}

impl Jobs {
    pub fn add(&mut self, job: Job) -> usize {
        let Job { id, flow, operation, .. } = job;
        let (action, buffer) = (operation.action, operation.buffer);
        let at = self.all.add(Running {
            id,
            flow,
            action,
            buffer,
            second: false,
            carried: None,
            tries: 0,
            result: None,
        });
        self.flows.entry(flow).or_default().push_back(at);
        at
    }

    pub fn get_mut(&mut self, at: usize) -> Option<&mut Running> {
        self.all.get_mut(at)
    }

    pub fn len(&self) -> usize {
        self.all.len()
    }

    /// A job has its result: it is answered when those of its flow in front of it are.
    pub fn finish(&mut self, at: usize, result: Result<(), EngineError>) {
        let Some(job) = self.all.get_mut(at) else { return };
        let flow = job.flow;
        job.result.get_or_insert(result);
        let Some(order) = self.flows.get_mut(&flow) else { return };
        while let Some(front) = order.front().copied() {
            if self.all.get(front).is_some_and(|job| job.result.is_none()) {
                return;
            }
            order.pop_front();
            if let Some(Running { id, buffer, result: Some(result), .. }) = self.all.take(front) {
                let count = if result.is_ok() { &mut self.counts.0 } else { &mut self.counts.1 };
                *count += 1;
                self.done.push(Completion { id, buffer, result });
            }
        }
        self.flows.remove(&flow);
    }

    /// All that are not answered have failed.
    pub fn fail(&mut self, error: EngineError) {
        for at in self.all.numbers() {
            self.finish(at, Err(error));
        }
    }

    /// A job that was never taken.
    pub fn refuse(&mut self, job: Job, error: EngineError) {
        let at = self.add(job);
        self.finish(at, Err(error));
    }

    /// What is answered.
    pub fn answered(&mut self, done: &mut Vec<Completion>) {
        done.append(&mut self.done);
    }
}
