// SPDX-License-Identifier: Apache-2.0
//! Bit functions merged: every cone of two-input functions that has few enough leaves is one operation. Cuts of each
//! node are enumerated, and the ones taken that cost the fewest operations, shared ones shared out (area flow).

use crate::graph::{AND, Builder, Graph, Id, Op, XOR, logic};

/// Cuts that are kept of a node.
const CUTS: usize = 12;

#[derive(Clone, PartialEq)]
struct Cut {
    cost: f64,
    depth: usize,
    leaves: Vec<Id>,
}

pub fn cover(graph: &Graph, operands: usize) -> Graph {
    if operands == 2 {
        return merged(&split(graph), operands);
    }
    merged(graph, operands)
}

/// Functions of three as functions of two: by the third argument, one of the other two or what that differs from it in.
fn split(graph: &Graph) -> Graph {
    let mut builder = Builder::like(graph);
    let mut new: Vec<Id> = Vec::with_capacity(graph.nodes.len());
    for node in &graph.nodes {
        let args: Vec<Id> = node.args.iter().map(|arg| new[*arg]).collect();
        new.push(match (&node.op, args.as_slice()) {
            (Op::Output(_), _) => args[0],
            (Op::Logic(truth), [a, b, c]) => {
                let zero = builder.add(Op::Logic(truth & 15), vec![*a, *b]);
                let other = builder.add(Op::Logic((truth ^ truth >> 4) & 15), vec![*a, *b]);
                let chosen = builder.add(AND, vec![other, *c]);
                builder.add(XOR, vec![zero, chosen])
            }
            _ => builder.add(node.op.clone(), args),
        });
    }
    let outputs: Vec<Id> = graph.outputs.iter().map(|id| new[*id]).collect();
    builder.finish(&outputs)
}

fn merged(graph: &Graph, operands: usize) -> Graph {
    let uses = graph.uses();
    let is_logic = |id: Id| matches!(graph.nodes[id].op, Op::Logic(_));
    let mut cuts: Vec<Vec<Cut>> = vec![Vec::new(); graph.nodes.len()];
    // What a node costs as a leaf, and its depth.
    let mut flow = vec![(0.0, 0); graph.nodes.len()];
    for (id, node) in graph.nodes.iter().enumerate() {
        if !is_logic(id) {
            let below = node.args.iter().map(|arg| flow[*arg].1).max().unwrap_or(0);
            flow[id] = (0.0, below + usize::from(!graph.is_key(id)));
            continue;
        }
        let mut found: Vec<Vec<Id>> = vec![Vec::new()];
        for arg in &node.args {
            let mut choices = vec![vec![*arg]];
            choices.extend(cuts[*arg].iter().map(|cut| cut.leaves.clone()));
            let mut wider = Vec::new();
            for leaves in &found {
                for choice in &choices {
                    let mut both = leaves.clone();
                    both.extend(choice);
                    both.sort_unstable();
                    both.dedup();
                    if both.len() <= operands && !wider.contains(&both) {
                        wider.push(both);
                    }
                }
            }
            found = wider;
        }
        // The node's own arguments, whatever they are, can always be taken.
        let mut own = node.args.clone();
        own.sort_unstable();
        own.dedup();
        let keys = |leaves: &Vec<Id>| leaves.iter().filter(|leaf| graph.is_key(**leaf)).count();
        found.retain(|leaves| *leaves == own || keys(leaves) <= 1);
        if found.is_empty() {
            found.push(own);
        }
        let mut list: Vec<Cut> = found
            .into_iter()
            .map(|leaves| {
                let cost =
                    1.0 + leaves.iter().map(|leaf| flow[*leaf].0 / uses[*leaf].max(1) as f64).sum::<f64>();
                let depth = leaves.iter().map(|leaf| flow[*leaf].1).max().unwrap_or(0) + 1;
                Cut { cost, depth, leaves }
            })
            .collect();
        list.sort_by(|a, b| {
            a.cost.total_cmp(&b.cost).then(a.depth.cmp(&b.depth)).then(a.leaves.cmp(&b.leaves))
        });
        list.truncate(CUTS);
        flow[id] = (list[0].cost, list[0].depth);
        cuts[id] = list;
    }
    let mut builder = Builder::like(graph);
    let mut new: Vec<Id> = vec![usize::MAX; graph.nodes.len()];
    let needed = needed(graph, &cuts);
    for (id, node) in graph.nodes.iter().enumerate() {
        if !needed[id] {
            continue;
        }
        new[id] = match node.op {
            Op::Output(_) => new[node.args[0]],
            Op::Logic(_) => {
                let leaves = &cuts[id][0].leaves;
                let truth = (0..1u8 << leaves.len()).fold(0, |truth, row| {
                    let at = |leaf: Id| leaves.iter().position(|other| *other == leaf);
                    truth | u8::from(value(graph, id, &|leaf| at(leaf).map(|at| row >> at & 1 == 1))) << row
                });
                builder.add(Op::Logic(truth), leaves.iter().map(|leaf| new[*leaf]).collect())
            }
            _ => builder.add(node.op.clone(), node.args.iter().map(|arg| new[*arg]).collect()),
        };
    }
    let outputs: Vec<Id> = graph.outputs.iter().map(|id| new[*id]).collect();
    builder.finish(&outputs)
}

/// Nodes that have a value of their own when every needed bit function takes its best cut.
fn needed(graph: &Graph, cuts: &[Vec<Cut>]) -> Vec<bool> {
    let mut needed = vec![false; graph.nodes.len()];
    for id in &graph.outputs {
        needed[*id] = true;
    }
    for id in (0..graph.nodes.len()).rev().filter(|id| *id < graph.nodes.len()) {
        if needed[id] {
            let of = cuts[id].first().map_or(&graph.nodes[id].args, |cut| &cut.leaves);
            for leaf in of {
                needed[*leaf] = true;
            }
        }
    }
    needed
}

/// One bit of a cone.
fn value(graph: &Graph, id: Id, leaf: &dyn Fn(Id) -> Option<bool>) -> bool {
    let node = &graph.nodes[id];
    let args: Vec<u32> = node
        .args
        .iter()
        .map(|arg| u32::from(leaf(*arg).unwrap_or_else(|| value(graph, *arg, leaf))))
        .collect();
    match node.op {
        Op::Logic(truth) => logic(truth, &args) & 1 == 1,
        _ => false,
    }
}
