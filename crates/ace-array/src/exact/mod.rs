// SPDX-License-Identifier: Apache-2.0
//! Whether there is a schedule with an interval at all, by SAT: an exact check of the iterative scheduler on graphs that
//! are small enough.
//!
//! The clauses say everything modulo the interval. They leave out how long memories and stages are, so that what they
//! refute is refuted for every tile of the shape's elements; what they allow is a schedule that the checker takes, or
//! nothing is said.

mod clauses;
mod encode;
mod stages;

use std::time::{Duration, Instant};

use clauses::Clauses;
use encode::Encoding;

use crate::Error;
use crate::ir::graph::Graph;
use crate::ir::shape::Shape;
use crate::passes::check_legal;
use crate::schedule::check;
use crate::schedule::{Schedule, bound};

/// Choices of slots, elements and ports beyond which a graph is too large to begin with it.
const CHOICES: usize = 1_000_000;

/// What is known of an interval.
#[derive(Debug)]
pub enum Verdict {
    /// No schedule has it.
    Impossible,
    /// This one has.
    Possible(Box<Schedule>),
    /// Why it is not known.
    Undecided(String),
}

/// Whether a graph that elements can do has a schedule with an interval; for so long at most.
///
/// # Errors
/// The graph has an operation that no element can do.
pub fn at(graph: &Graph, shape: &Shape, ii: usize, time: Duration) -> Result<Verdict, Error> {
    check_legal(graph, shape)?;
    if ii < bound(graph, shape).0.max(graph.least_contexts()) {
        return Ok(Verdict::Impossible);
    }
    let ports: usize = shape.units().map(|unit| shape.ports(unit.kind)).sum();
    let operands: usize = graph.nodes.iter().map(|node| node.args.len()).sum();
    let choices = ii * ports * operands;
    if choices > CHOICES {
        return Ok(Verdict::Undecided("the graph is too large for clauses".to_owned()));
    }
    let until = Instant::now() + time;
    let mut encoding = Encoding::new(graph, shape, ii, Clauses::new(until));
    loop {
        match encoding.clauses.solve() {
            Some(false) => return Ok(Verdict::Impossible),
            Some(true) => {}
            None => return Ok(Verdict::Undecided("there was too little time".to_owned())),
        }
        match encoding.schedule() {
            Ok(found) => {
                return Ok(match check(graph, shape, &found) {
                    Ok(()) => Verdict::Possible(Box::new(found)),
                    Err(error) => Verdict::Undecided(error.to_string()),
                });
            }
            Err(never) => encoding.clauses.implies(&never, &[]),
        }
    }
}

/// What is known of every interval from the least one that the elements allow up to one that was found, without it, or up
/// to the first one that is possible; for so long at most.
///
/// # Errors
/// The graph has an operation that no element can do.
pub fn below(
    graph: &Graph,
    shape: &Shape,
    found: usize,
    time: Duration,
) -> Result<Vec<(usize, Verdict)>, Error> {
    let until = Instant::now() + time;
    let mut out = Vec::new();
    for ii in bound(graph, shape).0.max(graph.least_contexts())..found {
        // What one does not take is left for the others.
        let left = until.saturating_duration_since(Instant::now()) / (found - ii) as u32;
        let verdict = at(graph, shape, ii, left)?;
        let last = matches!(verdict, Verdict::Possible(_));
        out.push((ii, verdict));
        if last {
            break;
        }
    }
    Ok(out)
}
