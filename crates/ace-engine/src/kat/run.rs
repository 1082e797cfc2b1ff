// SPDX-License-Identifier: Apache-2.0
//! Rows on an engine, many at a time: an engine that simulates works best on batches, and the steps of
//! different Monte-Carlo chains do not wait for each other.

use std::collections::HashMap;

use super::task::{Next, Task};
use super::{Failure, KnownAnswers, Report, Skip};
use crate::engine::{Engine, EngineError, Job, JobId};
use crate::operation::{Need, Operation};

/// Tasks in flight at the same time, and their bytes (one task may have more).
const TASKS: usize = 512;
const BYTES: usize = 64 << 20;

/// What is known about a row so far.
enum State {
    /// So many of its tasks are not finished.
    Running(usize),
    Skipped(String),
    Failed(Box<Failure>),
}

/// Runs every row.
pub fn run(answers: &KnownAnswers, engine: &mut dyn Engine) -> Report {
    run_with_progress(answers, engine, &mut |_, _| {})
}

/// Runs every row and tells after every poll how many of how many tasks (one per row and direction) are
/// finished.
pub fn run_with_progress(
    answers: &KnownAnswers,
    engine: &mut dyn Engine,
    progress: &mut dyn FnMut(usize, usize),
) -> Report {
    let mut states = Vec::with_capacity(answers.rows.len());
    let mut tasks = Vec::new();
    for (index, row) in answers.rows.iter().enumerate() {
        states.push(match answers.plan(index, row) {
            Err(reason) => State::Skipped(reason),
            Ok(of_row) => {
                let state = State::Running(of_row.len());
                tasks.extend(of_row);
                state
            }
        });
    }
    group(&mut tasks);

    let total = tasks.len();
    let mut waiting = tasks.into_iter();
    let mut flight = Flight { engine, tasks: HashMap::new(), bytes: 0, next_id: 0 };
    let mut finished = 0;
    loop {
        while flight.has_room()
            && let Some(task) = waiting.next()
        {
            let start = task.start(&answers.rows[task.row]);
            flight.submit(task, start);
        }
        if flight.tasks.is_empty() {
            break;
        }
        let completions = flight.engine.poll();
        if completions.is_empty() {
            flight.bytes = 0;
            for (_, (task, _)) in flight.tasks.drain() {
                let lost = Err(EngineError::Illegal("the engine lost the job".into()));
                answers.judge(&task, lost, &mut states);
                finished += 1;
            }
            continue;
        }
        for done in completions {
            let Some(mut task) = flight.take(done.id) else { continue };
            let result = match done.result.map(|result| task.next(result)) {
                Ok(Next::Operation(operation)) => {
                    flight.submit(task, operation);
                    continue;
                }
                Ok(Next::Answer(answer)) => Ok(answer),
                Err(error) => Err(error),
            };
            finished += 1;
            answers.judge(&task, result, &mut states);
        }
        progress(finished, total);
    }
    answers.report(states)
}

/// Brings together what the same configuration computes, in the order of first need.
fn group(tasks: &mut [Task]) {
    let mut order: HashMap<Need, usize> = HashMap::new();
    for task in tasks.iter() {
        let next = order.len();
        order.entry(task.pass.need()).or_insert(next);
    }
    tasks.sort_by_key(|task| order.get(&task.pass.need()).copied());
}

struct Flight<'a> {
    engine: &'a mut dyn Engine,
    /// With the bytes of the running operation.
    tasks: HashMap<JobId, (Task, usize)>,
    bytes: usize,
    next_id: JobId,
}

impl Flight<'_> {
    fn has_room(&self) -> bool {
        self.tasks.len() < TASKS && self.bytes < BYTES
    }

    fn submit(&mut self, task: Task, operation: Operation) {
        let id = self.next_id;
        self.next_id += 1;
        // Rows are independent of each other; the operations of one task are never in flight together.
        let lane = u32::try_from(task.row).unwrap_or(u32::MAX);
        self.bytes += operation.data.len();
        self.tasks.insert(id, (task, operation.data.len()));
        self.engine.submit(Job { id, lane, packet: id, operation, then: Vec::new() });
    }

    fn take(&mut self, id: JobId) -> Option<Task> {
        let (task, bytes) = self.tasks.remove(&id)?;
        self.bytes -= bytes;
        Some(task)
    }
}

impl KnownAnswers {
    fn judge(&self, task: &Task, result: Result<Vec<u8>, EngineError>, states: &mut [State]) {
        let row = &self.rows[task.row];
        let state = &mut states[task.row];
        let wanted = hex::encode(row.expected(task.step));
        let (expected, got) = match result {
            Ok(answer) if (answer == row.expected(task.step)) != self.forgeries => {
                if let State::Running(tasks) = state {
                    *tasks = tasks.saturating_sub(1);
                }
                return;
            }
            Ok(answer) if self.forgeries => (format!("anything but {wanted}"), hex::encode(answer)),
            Ok(answer) => (wanted, hex::encode(answer)),
            Err(error @ EngineError::NoConfiguration { .. }) => {
                // A failure that is known outweighs a direction that could not be tried.
                if matches!(state, State::Running(_)) {
                    *state = State::Skipped(error.to_string());
                }
                return;
            }
            Err(error) => (wanted, error.to_string()),
        };
        if !matches!(state, State::Failed(_)) {
            *state = State::Failed(Box::new(Failure {
                line: row.line,
                source: row.source.clone(),
                step: task.step.name().into(),
                expected,
                got,
            }));
        }
    }

    fn report(&self, states: Vec<State>) -> Report {
        let mut report = Report::default();
        for (row, state) in self.rows.iter().zip(states) {
            let (line, source) = (row.line, row.source.clone());
            match state {
                State::Running(0) => report.passed += 1,
                State::Running(_) => report.failed.push(Failure {
                    line,
                    source,
                    step: "run".into(),
                    expected: "an answer".into(),
                    got: "nothing".into(),
                }),
                State::Failed(failure) => report.failed.push(*failure),
                State::Skipped(reason) => report.skipped.push(Skip { line, source, reason }),
            }
        }
        report
    }
}
