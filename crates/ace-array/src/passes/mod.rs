// SPDX-License-Identifier: Apache-2.0
//! Passes over graphs. Each one leaves what the graph computes as it is.

mod balance;
mod cover;
mod fold;
mod legal;
mod pins;
mod sums;
mod tables;
mod turns;

pub use balance::balance;
pub use cover::cover;
pub use fold::fold;
pub use legal::{check_legal, legalise};
pub use pins::{check_pins, unpinned};
pub use sums::sums;
pub use tables::tables;
pub use turns::turns;

use crate::ir::goal::Goal;
use crate::ir::graph::{Graph, Op};
use crate::ir::shape::{Shape, latency};
use crate::schedule::bound;

/// The graph as the array's elements compute it for a goal.
pub fn all(graph: &Graph, shape: &Shape, goal: Goal) -> Graph {
    let folded = fold(graph);
    let done = merged(&folded, shape, goal);
    // Products instead of rotations, if that is fewer contexts or, for latency, a shorter way.
    let turned = if shape.multipliers > 0 { turns(&folded) } else { None };
    let turned = turned.map(|turned| merged(&turned, shape, goal));
    let cost = |graph: &Graph| {
        let (contexts, way) = (bound(graph, shape).0, arrivals(graph).into_iter().max());
        let ways = way.unwrap_or(0);
        if goal == Goal::Latency { (ways, contexts) } else { (contexts, ways) }
    };
    match turned.filter(|turned| check_legal(turned, shape).is_ok()) {
        Some(turned) if cost(&turned) < cost(&done) => turned,
        _ => done,
    }
}

/// The passes that merge what an element does at once.
fn merged(folded: &Graph, shape: &Shape, goal: Goal) -> Graph {
    let mut graph = tables(folded);
    graph = sums(&graph, shape.alu_operands);
    graph = cover(&graph, shape.alu_operands, goal);
    let graph = legalise(&fold(&graph), shape);
    // Who waits for a packet alone does not wait for longer products.
    let balanced = if goal == Goal::Latency { None } else { Some(balance(&graph, shape)) };
    let balanced = balanced.filter(|balanced| check_legal(balanced, shape).is_ok());
    unpinned(&balanced.unwrap_or(graph))
}

/// Slots from an operation's issue to its value's first one.
pub fn latency_of(op: &Op) -> usize {
    match op {
        Op::Input(_) => latency::READ,
        Op::Key(_) | Op::Const(_) | Op::Pin(_) => 0,
        Op::Logic(_) | Op::Sum(_) => latency::ALU,
        Op::Again | Op::Rotate(_) | Op::RotateBy { .. } | Op::Shift { .. } => latency::ROTATOR,
        Op::Multiply | Op::Carryless(_) | Op::Quadratic { .. } => latency::MULTIPLIER,
        Op::Lookup { .. } => latency::QUAD,
        Op::Quad { links, .. } if links.iter().all(|link| *link == crate::ir::graph::Link::Xor) => {
            latency::QUAD
        }
        Op::Quad { .. } => latency::QUAD_CHAIN,
        Op::Output(_) => latency::OUTPUT,
    }
}

/// The earliest slot in which each node's value can be taken, were there elements without end.
pub fn arrivals(graph: &Graph) -> Vec<usize> {
    let mut out: Vec<usize> = Vec::with_capacity(graph.nodes.len());
    for node in &graph.nodes {
        let hop = |arg: &usize| if graph.is_key(*arg) { 0 } else { out[*arg] + latency::HOP };
        let start = node.args.iter().map(hop).max().unwrap_or(0);
        out.push(start + latency_of(&node.op));
    }
    out
}
