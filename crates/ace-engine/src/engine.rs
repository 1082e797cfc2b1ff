// SPDX-License-Identifier: Apache-2.0
//! What executes operations.

use thiserror::Error;

use crate::operation::{Need, Operation};

/// Chosen by the caller, returned with the completion; unique among the jobs in flight.
pub type JobId = u64;

/// An operation on its way through an engine.
#[derive(Clone, Debug)]
pub struct Job {
    pub id: JobId,
    /// Of two jobs of one lane (one SA) the one submitted first completes first, unless it belongs to a later
    /// packet: the HMAC of packet 1 may go before the cipher pass of packet 2. Lanes are independent.
    pub lane: u32,
    /// The packet this job belongs to; jobs of one packet share it. Smaller is earlier. A strictly
    /// in-order engine finishes packet n before it starts packet n + 1.
    pub packet: u64,
    pub operation: Operation,
    /// What the same packet will need next, in order: what a look-ahead scheduler may prepare for.
    pub then: Vec<Need>,
}

/// The answer to one job.
#[derive(Debug)]
pub struct Completion {
    pub id: JobId,
    pub result: Result<Vec<u8>, EngineError>,
}

/// Why an operation has no result. A packet whose operation fails is dropped and counted; never sent in clear.
#[derive(Debug, Clone, Error, PartialEq, Eq)]
pub enum EngineError {
    /// Nothing that could be loaded computes this.
    #[error("no configuration for {need}: {reason}")]
    NoConfiguration { need: String, reason: String },
    /// A configuration exists and could not be loaded.
    #[error("configuration `{configuration}` was refused: {reason}")]
    LoadFailed { configuration: String, reason: String },
    /// The slot answered with an error status.
    #[error("slot {slot} ({configuration}) answered `{status}`")]
    SlotStatus { slot: usize, configuration: String, status: String },
    /// The slot did not answer, or not as the boundary demands.
    #[error("slot {slot} ({configuration}) failed: {reason}")]
    SlotFailed { slot: usize, configuration: String, reason: String },
    /// The operation makes no sense (key or IV length, data not whole blocks).
    #[error("illegal operation: {0}")]
    Illegal(String),
}

/// Executes operations. Not a thread pool: an engine works when it is polled.
pub trait Engine {
    /// A short name for reports: `cpu`, `board`.
    fn name(&self) -> &'static str;

    /// Takes a job. The engine may look at every job it has taken, and at their `then`, to plan ahead.
    fn submit(&mut self, job: Job);

    /// Works until at least one job is complete, or returns nothing if none is in flight.
    fn poll(&mut self) -> Vec<Completion>;
}

/// Runs one operation to its end; for tests, known answers and single uses.
pub fn run_one(engine: &mut dyn Engine, operation: Operation) -> Result<Vec<u8>, EngineError> {
    engine.submit(Job { id: 0, lane: 0, packet: 0, operation, then: Vec::new() });
    match engine.poll().pop() {
        Some(done) => done.result,
        None => Err(EngineError::Illegal("the engine lost the job".into())),
    }
}
