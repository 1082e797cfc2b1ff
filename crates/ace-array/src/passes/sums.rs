// SPDX-License-Identifier: Apache-2.0
//! Sums of sums as one sum of terms, and that made again of as few operations as an ALU's operands allow, what is there
//! first before what comes late.

use crate::ir::graph::{Builder, Graph, Id, Op};
use crate::ir::shape::latency;
use crate::passes::latency_of;

/// A term: whether it is subtracted, when it is there, whether a key memory has it, its node.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Term {
    time: usize,
    id: Id,
    minus: bool,
    key: bool,
}

/// Makes chains of sums and differences operations of up to `operands` terms, those that are there first in front.
pub fn sums(graph: &Graph, operands: usize) -> Graph {
    let uses = graph.uses();
    let mut inside = vec![false; graph.nodes.len()];
    for node in &graph.nodes {
        if matches!(node.op, Op::Sum(_)) {
            for arg in &node.args {
                inside[*arg] |= matches!(graph.nodes[*arg].op, Op::Sum(_)) && uses[*arg] == 1;
            }
        }
    }
    let mut made = Made { builder: Builder::like(graph), time: Vec::new() };
    let mut new: Vec<Id> = vec![usize::MAX; graph.nodes.len()];
    for (id, node) in graph.nodes.iter().enumerate() {
        made.builder.graph.stand(graph.span(id));
        new[id] = match node.op {
            Op::Output(_) => new[node.args[0]],
            _ if inside[id] => usize::MAX,
            Op::Sum(_) => {
                let mut terms = Vec::new();
                gather(graph, &inside, id, false, &mut |id, minus| {
                    let key = graph.is_key(id);
                    terms.push(Term { time: made.time[new[id]], id: new[id], minus, key });
                });
                made.sum(terms, operands)
            }
            _ => made.add(node.op.clone(), node.args.iter().map(|arg| new[*arg]).collect()),
        };
    }
    let outputs: Vec<Id> = graph.outputs.iter().map(|id| new[*id]).collect();
    made.builder.finish(&outputs)
}

fn gather(graph: &Graph, inside: &[bool], id: Id, negative: bool, each: &mut impl FnMut(Id, bool)) {
    let node = &graph.nodes[id];
    let Op::Sum(mask) = node.op else { return };
    for (at, arg) in node.args.iter().enumerate() {
        let minus = negative ^ (mask >> at & 1 == 1);
        if inside[*arg] { gather(graph, inside, *arg, minus, each) } else { each(*arg, minus) }
    }
}

struct Made {
    builder: Builder,
    time: Vec<usize>,
}

impl Made {
    fn add(&mut self, op: Op, args: Vec<Id>) -> Id {
        let hop = |arg: &Id| self.time[*arg] + latency::HOP;
        let time = args.iter().map(hop).max().unwrap_or(0) + latency_of(&op);
        let key = matches!(op, Op::Key(_) | Op::Const(_));
        let id = self.builder.add(op, args);
        if id == self.time.len() {
            self.time.push(if key { 0 } else { time });
        }
        id
    }

    fn sum(&mut self, mut terms: Vec<Term>, operands: usize) -> Id {
        loop {
            terms.sort_unstable();
            if let [Term { id, minus: false, .. }] = terms[..] {
                return id;
            }
            // The first one that is added leads, if there is one, so that nothing has to be turned round.
            let lead = terms.iter().position(|term| !term.minus).unwrap_or(0);
            let mut taken = vec![terms.remove(lead)];
            // The first operation takes so few that all others are full: what comes late waits for nobody, and what is
            // early is one value to keep, not two.
            let few = match terms.len() % (operands - 1) {
                0 => operands,
                rest => rest + 1,
            };
            let mut next = 0;
            while taken.len() < few && next < terms.len() {
                // An ALU has one key memory.
                if terms[next].key && taken.iter().any(|term| term.key) {
                    next += 1;
                } else {
                    taken.push(terms.remove(next));
                }
            }
            if taken.len() == 1 && !terms.is_empty() {
                // Two keys: the legaliser gives one of them an ALU of its own.
                taken.push(terms.remove(0));
            }
            let turned = taken[0].minus && taken.len() > 1;
            let mask = |at: usize, term: &Term| u8::from(term.minus ^ turned) << at;
            let minus = taken.iter().enumerate().fold(0, |all, (at, term)| all | mask(at, term));
            let id = self.add(Op::Sum(minus), taken.iter().map(|term| term.id).collect());
            terms.push(Term { time: self.time[id], id, minus: turned, key: false });
        }
    }
}
