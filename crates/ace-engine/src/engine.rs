// SPDX-License-Identifier: Apache-2.0
//! What executes operations.

use std::collections::{BTreeSet, HashSet, VecDeque};

use crate::buffer::Buffer;
use crate::error::EngineError;
use crate::need::Need;
use crate::operation::{Action, Operation};

/// Chosen by the caller, returned with the completion; unique among the jobs in flight.
pub type JobId = u64;

/// An operation on its way through an engine.
#[derive(Clone, Debug)]
pub struct Job {
    /// The number that comes back in [`Completion::id`].
    pub id: JobId,
    /// Of two jobs of one flow (one SA) the one submitted first completes first, unless it belongs to a later
    /// packet. Flows are independent.
    pub flow: u32,
    /// The packet this job belongs to; jobs of one packet share it. Smaller is earlier. A strictly
    /// in-order engine finishes packet n before it starts packet n + 1.
    pub packet: u64,
    /// What to compute, with the packet's bytes.
    pub operation: Operation,
}

/// The answer to one job. After an error the buffer holds nothing that may leave: it was wiped or is what came in.
#[derive(Debug)]
pub struct Completion {
    /// The [`Job::id`] that was submitted.
    pub id: JobId,
    /// The packet that the operation brought, worked on in place.
    pub buffer: Buffer,
    /// Nothing if all of the operation was done, else the reason why it has no result.
    pub result: Result<(), EngineError>,
}

/// What an engine can do.
#[derive(Clone, Debug, Default)]
pub struct Capabilities(HashSet<Need>);

impl Capabilities {
    /// Of all there is, what `can` says.
    pub fn of(mut can: impl FnMut(&Need) -> bool) -> Self {
        Self(Need::all().into_iter().filter(|need| can(need)).collect())
    }

    /// Whether the engine executes operations that need this.
    pub fn can(&self, need: &Need) -> bool {
        self.0.contains(need)
    }

    /// The names of the algorithms of which it can do something, by alphabet.
    pub fn algorithms(&self) -> BTreeSet<&'static str> {
        self.0.iter().filter_map(Need::algorithm).map(|algorithm| algorithm.name).collect()
    }
}

/// Executes operations. Not a thread pool: an engine works when it is drained or waited for.
pub trait Engine {
    /// A short name for reports: `cpu`, `board`.
    fn name(&self) -> &'static str;

    /// What it can do; a job that needs anything else fails with [`EngineError::NoConfiguration`].
    fn capabilities(&self) -> &Capabilities;

    /// Whether an operation whose needs it can do is of lengths that it can do, too. One that is not fails with
    /// [`EngineError::NoConfiguration`] as well.
    fn takes(&self, _action: &Action) -> bool {
        true
    }

    /// Does an operation here and now, as [`Engine::drain`] would do it: whoever has nothing to gain from many at once and
    /// does it itself. `None`: nothing was done, and the operation is to be handed over as a job.
    fn at_once(&mut self, _action: &Action, _packet: &mut Buffer) -> Option<Result<(), EngineError>> {
        None
    }

    /// Takes jobs from the front of `jobs` until its queue is full; the rest stays. The engine may look at every job
    /// that it has taken to plan ahead.
    fn try_submit(&mut self, jobs: &mut VecDeque<Job>);

    /// Appends what is complete to `done`. Returns how many jobs are in flight afterwards. It may compute, but waits
    /// for nothing.
    fn drain(&mut self, done: &mut Vec<Completion>) -> usize;

    /// As [`Engine::drain`], but works or waits until at least one completion is there or nothing is in flight.
    fn wait(&mut self, done: &mut Vec<Completion>) -> usize;

    /// What there is to say about an error of this engine, for people.
    fn explain(&self, error: &EngineError) -> String {
        error.to_string()
    }
}

/// What [`Engine::try_submit`] does with a queue of at most `most` jobs: where it can, it takes all at once and moves
/// none.
#[inline]
pub fn take_jobs(queue: &mut VecDeque<Job>, jobs: &mut VecDeque<Job>, most: usize) {
    if queue.is_empty() && jobs.len() <= most {
        std::mem::swap(queue, jobs);
    } else {
        let room = most.saturating_sub(queue.len()).min(jobs.len());
        queue.extend(jobs.drain(..room));
    }
}

/// Runs one operation to its end; for tests, known answers and single uses.
///
/// # Errors
/// As the engine says.
pub fn run_one(engine: &mut dyn Engine, operation: Operation) -> Result<Buffer, EngineError> {
    let mut results = run_all(engine, vec![Job { id: 0, flow: 0, packet: 0, operation }]);
    results.pop().map_or(Err(EngineError::Lost), |done| done.result.map(|()| done.buffer))
}

/// Runs jobs to their end, in an engine that has nothing else in flight; for tests and single uses. Answers in the
/// order in which they came. A job that the engine loses has none.
pub fn run_all(engine: &mut dyn Engine, jobs: Vec<Job>) -> Vec<Completion> {
    let (mut jobs, mut all) = (VecDeque::from(jobs), Vec::new());
    loop {
        let (waiting, answered) = (jobs.len(), all.len());
        engine.try_submit(&mut jobs);
        let in_flight = engine.wait(&mut all);
        // An engine that takes nothing and answers nothing will not do so later.
        let stuck = waiting == jobs.len() && answered == all.len();
        if stuck || (jobs.is_empty() && in_flight == 0) {
            return all;
        }
    }
}
