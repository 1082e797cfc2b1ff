// SPDX-License-Identifier: Apache-2.0
//! Source to context set, all steps one after the other.

use crate::codegen::emit;
use crate::codegen::set::Set;
use crate::error::Error;
use crate::frontend::{Built, Program};
use crate::ir::graph::Graph;
use crate::ir::shape::{Kind, Shape};
use crate::passes;
use crate::schedule::{Effort, Goal, Schedule, bound, check, counts, schedule};

/// A variant that fits the array, with everything that is known of it.
pub struct Compiled {
    /// The variant, as its source says it.
    pub built: Built,
    /// What the elements compute.
    pub graph: Graph,
    /// What was preferred: throughput, or a packet alone.
    pub goal: Goal,
    /// Where and when each operation of `graph` is done.
    pub schedule: Schedule,
    /// What a tile loads.
    pub set: Set,
}

impl Compiled {
    /// Operations of each kind of element, in the order of [`Kind::ALL`].
    pub fn counts(&self) -> [usize; 7] {
        counts(&self.graph)
    }

    /// The least interval that the elements allow, and which kind says so.
    pub fn bound(&self, shape: &Shape) -> (usize, Kind) {
        bound(&self.graph, shape)
    }

    /// The latency that there would be with elements without end.
    pub fn latency_bound(&self) -> usize {
        passes::arrivals(&self.graph).into_iter().max().unwrap_or(0)
    }

    /// Operands that come from key memories.
    pub fn key_operands(&self) -> usize {
        self.graph.nodes.iter().flat_map(|node| &node.args).filter(|arg| self.graph.is_key(**arg)).count()
    }
}

/// Compiles one variant. The same source has the same bytes.
pub fn compile(program: &Program, variant: &str, shape: &Shape, effort: Effort) -> Result<Compiled, Error> {
    let fit = |error: Error| match error {
        Error::Schedule(what) => Error::Fit { variant: variant.to_owned(), what },
        other => other,
    };
    let built = program.build(variant)?;
    let graph = passes::all(&built.graph, shape, effort.goal);
    passes::check_legal(&graph, shape).map_err(fit)?;
    let schedule = schedule(&graph, shape, effort).map_err(fit)?;
    check(&graph, shape, &schedule)?;
    let set = emit(&built, &graph, shape, &schedule)?;
    Ok(Compiled { built, graph, goal: effort.goal, schedule, set })
}
