// SPDX-License-Identifier: Apache-2.0
//! Bit functions merged: every cone of two-input functions that has few enough leaves is one operation. Cuts of each
//! node are enumerated, and the ones taken that cost the fewest operations, shared ones shared out (area flow).

use super::latency_of;
use crate::ir::goal::Goal;
use crate::ir::graph::{AND, Builder, Graph, Id, Op, XOR, logic};
use crate::ir::shape::latency;

/// From an ALU's operand to the next one's.
const STEP: usize = latency::ALU + latency::HOP;
/// Cuts that are kept of a node.
const CUTS: usize = 12;

#[derive(Clone, PartialEq)]
struct Cut {
    cost: f64,
    time: usize,
    leaves: Vec<Id>,
}

/// Merges the bit functions of a graph into operations of up to `operands` arguments, 2 or 3. For throughput it looks for
/// few operations, for latency for short ways.
pub fn cover(graph: &Graph, operands: usize, goal: Goal) -> Graph {
    if operands == 2 {
        return merged(&split(graph), operands, goal);
    }
    merged(graph, operands, goal)
}

/// Functions of three as functions of two: by the third argument, one of the other two or what that differs from it in.
fn split(graph: &Graph) -> Graph {
    let mut builder = Builder::like(graph);
    let mut new: Vec<Id> = Vec::with_capacity(graph.nodes.len());
    for (id, node) in graph.nodes.iter().enumerate() {
        builder.graph.stand(graph.span(id));
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

fn merged(graph: &Graph, operands: usize, goal: Goal) -> Graph {
    let uses = graph.uses();
    let is_logic = |id: Id| matches!(graph.nodes[id].op, Op::Logic(_));
    let mut cuts: Vec<Vec<Cut>> = vec![Vec::new(); graph.nodes.len()];
    // What a node costs as a leaf, and when it is there.
    let mut flow = vec![(0.0, 0); graph.nodes.len()];
    for (id, node) in graph.nodes.iter().enumerate() {
        if !is_logic(id) {
            let below = node.args.iter().map(|arg| flow[*arg].1).max().unwrap_or(0);
            flow[id] = (0.0, if graph.is_key(id) { 0 } else { below + latency_of(&node.op) + latency::HOP });
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
                let time = leaves.iter().map(|leaf| flow[*leaf].1).max().unwrap_or(0) + STEP;
                Cut { cost, time, leaves }
            })
            .collect();
        list.sort_by(|a, b| {
            let [cost, time] = [a.cost.total_cmp(&b.cost), a.time.cmp(&b.time)];
            let first = if goal == Goal::Latency { time.then(cost) } else { cost.then(time) };
            first.then(a.leaves.cmp(&b.leaves))
        });
        list.truncate(CUTS);
        flow[id] = (list[0].cost, list[0].time);
        cuts[id] = list;
    }
    let (best, needed) = Recovery::of(graph, &cuts, goal);
    let mut builder = Builder::like(graph);
    let mut new: Vec<Id> = vec![usize::MAX; graph.nodes.len()];
    for (id, node) in graph.nodes.iter().enumerate() {
        if !needed[id] {
            continue;
        }
        builder.graph.stand(graph.span(id));
        new[id] = match node.op {
            Op::Output(_) => new[node.args[0]],
            Op::Logic(_) => {
                let leaves = &cuts[id][best[id]].leaves;
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

/// Rounds of second thoughts.
const ROUNDS: usize = 3;

/// Area flow guesses what is shared. Once every function has a cut it is known, and each one chooses again: the cut that
/// needs the fewest operations, then the fewest operands, which are ports and lifetimes, then the one that is there first;
/// or that one before all.
struct Recovery<'a> {
    graph: &'a Graph,
    cuts: &'a [Vec<Cut>],
    best: Vec<usize>,
    /// How many want a node's value.
    wanted: Vec<usize>,
}

impl<'a> Recovery<'a> {
    /// The cut of every node, and whether it has a value of its own.
    fn of(graph: &'a Graph, cuts: &'a [Vec<Cut>], goal: Goal) -> (Vec<usize>, Vec<bool>) {
        let count = graph.nodes.len();
        let mut this = Recovery { graph, cuts, best: vec![0; count], wanted: vec![0; count] };
        for id in &graph.outputs {
            this.want(*id);
        }
        for _ in 0..ROUNDS {
            let mut time = vec![0; count];
            for id in 0..count {
                if this.wanted[id] > 0 && cuts[id].len() > 1 {
                    this.choose(id, &time, goal);
                }
                let own = if graph.is_key(id) { 0 } else { latency_of(&graph.nodes[id].op) + latency::HOP };
                time[id] = own + this.leaves(id).iter().map(|leaf| time[*leaf]).max().unwrap_or(0);
            }
        }
        let needed = this.wanted.iter().map(|wanted| *wanted > 0).collect();
        (this.best, needed)
    }

    fn choose(&mut self, id: Id, time: &[usize], goal: Goal) {
        self.drop_leaves(id);
        let cuts = self.cuts;
        let price = |at: usize| {
            self.best[id] = at;
            let more = self.want_leaves(id);
            self.drop_leaves(id);
            let leaves = self.leaves(id);
            let operands = leaves.iter().filter(|leaf| !self.graph.is_key(**leaf)).count();
            let there = leaves.iter().map(|leaf| time[*leaf]).max().unwrap_or(0);
            if goal == Goal::Latency { (there, more, operands, at) } else { (more, operands, there, at) }
        };
        let least = (0..cuts[id].len()).map(price).min();
        self.best[id] = least.map_or(0, |(.., at)| at);
        self.want_leaves(id);
    }

    fn leaves(&self, id: Id) -> &'a [Id] {
        self.cuts[id].get(self.best[id]).map_or(&self.graph.nodes[id].args, |cut| &cut.leaves)
    }

    /// How many bit functions are needed that were not.
    fn want(&mut self, id: Id) -> usize {
        self.wanted[id] += 1;
        if self.wanted[id] > 1 { 0 } else { usize::from(!self.cuts[id].is_empty()) + self.want_leaves(id) }
    }

    fn want_leaves(&mut self, id: Id) -> usize {
        self.leaves(id).iter().map(|leaf| self.want(*leaf)).sum()
    }

    fn drop_leaves(&mut self, id: Id) {
        for leaf in self.leaves(id) {
            self.wanted[*leaf] -= 1;
            if self.wanted[*leaf] == 0 {
                self.drop_leaves(*leaf);
            }
        }
    }
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
