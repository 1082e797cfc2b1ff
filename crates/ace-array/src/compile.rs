// SPDX-License-Identifier: Apache-2.0
//! Source to context set, all steps one after the other.

use crate::bounds;
use crate::codegen::emit;
use crate::codegen::set::Set;
use crate::error::{Error, Misfit, Wrong};
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

/// What part of the effort of a schedule goes into each question of which pin it is that leaves none.
const ASKED: u64 = 8;

/// Of a graph for which no schedule is found, the first pin that those before it leave no schedule for, and why; none if there
/// is none without any, either.
fn refused_pin(graph: &Graph, shape: &Shape, effort: Effort) -> Option<(usize, String)> {
    let effort = Effort { looks: effort.looks / ASKED, tries: effort.tries / ASKED, ..effort };
    let with = |pins: usize| {
        let pinned = graph.pinned.iter().copied().filter(|(_, pin)| *pin < pins).collect();
        schedule(&Graph { pinned, ..graph.clone() }, shape, effort).is_ok()
    };
    if graph.pinned.is_empty() || !with(0) {
        return None;
    }
    let (mut accepted, mut refused) = (0, graph.pins.len());
    while accepted + 1 < refused {
        let middle = (accepted + refused) / 2;
        if with(middle) { accepted = middle } else { refused = middle }
    }
    let contexts = shape.contexts;
    Some((
        refused - 1,
        format!("beside the pins before it no schedule is found in {contexts} contexts or fewer"),
    ))
}

/// Compiles one variant. The same source has the same bytes.
pub fn compile(program: &Program, variant: &str, shape: &Shape, effort: Effort) -> Result<Compiled, Error> {
    let built = program.build(variant)?;
    let graph = passes::all(&built.graph, shape, effort.goal);
    let fit = |Misfit { what, node }: Misfit| {
        let at = node.map_or(built.run, |node| graph.span(node));
        Error::Fit(program.diagnostic(Wrong::new(at, format!("{variant} does not fit the array: {what}"))))
    };
    passes::check_legal(&graph, shape).map_err(fit)?;
    let pinned = |(pin, why): (usize, String)| {
        let (context, span) = (graph.pins[pin].context, graph.pins[pin].span);
        program.error(Wrong::new(span, format!("{variant} cannot have this in context {context}: {why}")))
    };
    passes::check_pins(&graph, shape).map_err(pinned)?;
    let schedule = match schedule(&graph, shape, effort) {
        Err(misfit) => match refused_pin(&graph, shape, effort) {
            Some(pin) => return Err(pinned(pin)),
            None => return Err(fit(misfit)),
        },
        Ok(found) => found,
    };
    check(&graph, shape, &schedule)?;
    let set = emit(&built, &graph, shape, &schedule).map_err(|error| match error {
        Error::Misfit(misfit) => fit(misfit),
        other => other,
    })?;
    bounds::check(&set, shape)?;
    Ok(Compiled { built, graph, goal: effort.goal, schedule, set })
}
