// SPDX-License-Identifier: Apache-2.0
//! Rows on an engine, many at a time: an engine that simulates works best on batches, and the steps of
//! different Monte-Carlo chains do not wait for each other.

use std::collections::{HashMap, VecDeque};

use super::task::{Next, Step, Task};
use super::{Failure, KnownAnswers, Report, Skip};
use crate::engine::{Engine, Job, JobId};
use crate::error::EngineError;
use crate::need::Need;
use crate::operation::Operation;

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
            Err(why) => State::Skipped(why.to_string()),
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
    let mut flight = Flight { engine, tasks: HashMap::new(), jobs: VecDeque::new(), bytes: 0, next_id: 0 };
    let (mut finished, mut done) = (0, Vec::new());
    loop {
        while flight.has_room()
            && let Some(task) = waiting.next()
        {
            match task.start(&answers.rows[task.row]) {
                Ok(start) => flight.push(task, start),
                Err(error) => {
                    finished += 1;
                    answers.judge(&task, Err(error), flight.engine, &mut states);
                }
            }
        }
        if flight.tasks.is_empty() {
            break;
        }
        let before = flight.jobs.len();
        flight.engine.try_submit(&mut flight.jobs);
        flight.engine.wait(&mut done);
        if done.is_empty() && flight.jobs.len() == before {
            finished += flight.tasks.len();
            flight.bytes = 0;
            flight.jobs.clear();
            for (_, (task, _)) in flight.tasks.drain() {
                answers.judge(&task, Err(EngineError::Lost), flight.engine, &mut states);
            }
            continue;
        }
        for done in done.drain(..) {
            let Some(mut task) = flight.take(done.id) else { continue };
            let buffer = done.buffer;
            let result = match done.result.and_then(|()| task.next(buffer, &answers.rows[task.row])) {
                Ok(Next::Operation(operation)) => {
                    flight.push(task, operation);
                    continue;
                }
                Ok(Next::Answer(answer)) => Ok(answer),
                Err(error) => Err(error),
            };
            finished += 1;
            answers.judge(&task, result, flight.engine, &mut states);
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
        order.entry(task.need()).or_insert(next);
    }
    tasks.sort_by_key(|task| order.get(&task.need()).copied());
}

struct Flight<'a> {
    engine: &'a mut dyn Engine,
    /// With the bytes of the running operation.
    tasks: HashMap<JobId, (Task, usize)>,
    /// What the engine has not taken yet.
    jobs: VecDeque<Job>,
    bytes: usize,
    next_id: JobId,
}

impl Flight<'_> {
    fn has_room(&self) -> bool {
        self.tasks.len() < TASKS && self.bytes < BYTES
    }

    fn push(&mut self, task: Task, operation: Operation) {
        let id = self.next_id;
        self.next_id += 1;
        // Rows are independent of each other; the operations of one task are never in flight together.
        let flow = u32::try_from(task.row).unwrap_or(u32::MAX);
        self.bytes += operation.buffer.len();
        self.tasks.insert(id, (task, operation.buffer.len()));
        self.jobs.push_back(Job { id, flow, packet: id, operation });
    }

    fn take(&mut self, id: JobId) -> Option<Task> {
        let (task, bytes) = self.tasks.remove(&id)?;
        self.bytes -= bytes;
        Some(task)
    }
}

impl KnownAnswers {
    fn judge(
        &self,
        task: &Task,
        result: Result<Vec<u8>, EngineError>,
        engine: &dyn Engine,
        states: &mut [State],
    ) {
        let row = &self.rows[task.row];
        let state = &mut states[task.row];
        let wanted = row.expected(task.step);
        let forged = row.is_forged(task.step, self.forgeries);
        let passed = match &result {
            Ok(answer) => !forged && *answer == wanted,
            // A forgery may also be of lengths that do not exist.
            Err(EngineError::Mismatch | EngineError::Illegal(_)) => forged,
            Err(error @ EngineError::NoConfiguration { .. }) => {
                // A failure that is known outweighs a direction that could not be tried.
                if matches!(state, State::Running(_)) {
                    *state = State::Skipped(engine.explain(error));
                }
                return;
            }
            Err(_) => false,
        };
        if passed {
            if let State::Running(tasks) = state {
                *tasks = tasks.saturating_sub(1);
            }
            return;
        }
        if !matches!(state, State::Failed(_)) {
            let got = match result {
                Ok(_) if task.step == Step::Verify => "it verifies".into(),
                Ok(answer) => hex::encode(answer),
                Err(error) => engine.explain(&error),
            };
            *state = State::Failed(Box::new(Failure {
                line: row.line,
                source: row.source.clone(),
                step: task.step.name().into(),
                expected: if forged { "a refusal".into() } else { hex::encode(wanted) },
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
