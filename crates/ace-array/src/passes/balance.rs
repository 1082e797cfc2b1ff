// SPDX-License-Identifier: Apache-2.0
//! Rotations and shifts that the rotators have no room for: a multiplier without carries does them as well, by a power of x.

use crate::ir::domain::Half;
use crate::ir::graph::{Graph, Id, Op};
use crate::ir::shape::{Kind, Shape, latency};
use crate::passes::latency_of;
use crate::schedule::counts;

/// Gives multipliers as many constant rotations and shifts as make the graph's bound less, those first for which there is most
/// time: a product takes a slot longer.
pub fn balance(graph: &Graph, shape: &Shape) -> Graph {
    if shape.multipliers == 0 {
        return graph.clone();
    }
    let of = counts(graph);
    let alone = |kind: Kind, count: usize| count.div_ceil(shape.count(kind));
    let [rotators, multipliers] = [Kind::Rotator, Kind::Multiplier].map(|kind| of[kind as usize]);
    let both = (rotators + multipliers).div_ceil(shape.rotators + shape.multipliers);
    let others = [Kind::Alu, Kind::Quad].map(|kind| alone(kind, of[kind as usize]));
    // With fewer contexts than that nothing is won.
    let goal = others.into_iter().fold(both, usize::max);
    let more = rotators.saturating_sub(goal * shape.rotators);
    let chosen = most_time(graph, more);
    let mut out = graph.empty_like();
    let mut new: Vec<Id> = Vec::with_capacity(graph.nodes.len());
    for (id, node) in graph.nodes.iter().enumerate() {
        out.stand(graph.span(id));
        let args: Vec<Id> = node.args.iter().map(|arg| new[*arg]).collect();
        let product = if chosen.contains(&id) { product(&node.op) } else { None };
        new.push(match product {
            Some((half, by)) => {
                let by = out.add(Op::Const(by), Vec::new());
                out.add(Op::Carryless(half), vec![args[0], by])
            }
            None => out.add(node.op.clone(), args),
        });
    }
    out.outputs = graph.outputs.iter().map(|id| new[*id]).collect();
    out
}

/// What a word is multiplied by to be rotated or shifted, and what of the product it is then.
fn product(op: &Op) -> Option<(Half, u32)> {
    match op {
        Op::Again => Some((Half::Fold, 1)),
        Op::Rotate(by) => Some((Half::Fold, 1 << (by & 31))),
        Op::Shift { right: false, by } => Some((Half::Low, 1 << by)),
        Op::Shift { right: true, by: by @ 1.. } => Some((Half::High, 1 << (32 - by))),
        _ => None,
    }
}

/// So many operations that products can do, those whose results have to be there last after they can be.
fn most_time(graph: &Graph, count: usize) -> Vec<Id> {
    let soonest = crate::passes::arrivals(graph);
    let end = soonest.iter().copied().max().unwrap_or(0);
    // The last slot in which each node's value can be taken.
    let mut latest = vec![end; graph.nodes.len()];
    for (id, node) in graph.nodes.iter().enumerate().rev() {
        for arg in &node.args {
            let by = latest[id].saturating_sub(latency_of(&node.op) + latency::HOP);
            latest[*arg] = latest[*arg].min(by);
        }
    }
    let mut all: Vec<(usize, Id)> = graph
        .nodes
        .iter()
        .enumerate()
        .filter(|(_, node)| product(&node.op).is_some())
        .map(|(id, _)| (latest[id].saturating_sub(soonest[id]), id))
        .collect();
    all.sort_by_key(|(time, id)| (std::cmp::Reverse(*time), *id));
    all.into_iter().take(count).map(|(_, id)| id).collect()
}
