// SPDX-License-Identifier: Apache-2.0
//! Look-ups merged into quads: chains of sums and differences as they stand, XORs of look-ups by their lanes.

use crate::ir::graph::{Builder, Graph, Id, Link, Op, XOR};
use crate::passes::latency_of;

/// Merges look-ups that are joined into quads, first chains of sums and differences and then XORs.
pub fn tables(graph: &Graph) -> Graph {
    xors(&chains(graph))
}

/// A look-up that nothing else uses.
fn single(graph: &Graph, uses: &[usize], id: Id) -> Option<(usize, usize, bool, Id)> {
    match &graph.nodes[id] {
        node if uses[id] == 1 => match node.op {
            Op::Lookup { table, lane, six } => Some((lane, table, six, node.args[0])),
            _ => None,
        },
        _ => None,
    }
}

/// What a node links, if it is an XOR, a sum or a difference of two.
fn link(op: &Op) -> Option<Link> {
    match op {
        Op::Logic(0b0110) => Some(Link::Xor),
        Op::Sum(0) => Some(Link::Plus),
        Op::Sum(0b10) => Some(Link::Minus),
        _ => None,
    }
}

type Lanes = (Vec<(usize, usize, Id)>, Vec<Link>, bool);

/// The lanes from 3 down to where the chain that ends in `id` has come, if it is one.
fn chain(graph: &Graph, uses: &[usize], id: Id, lane: usize) -> Option<Lanes> {
    if lane == 3 {
        let (at, table, six, arg) = single(graph, uses, id)?;
        return (at == 3).then(|| (vec![(3, table, arg)], Vec::new(), six));
    }
    let node = &graph.nodes[id];
    let link = link(&node.op)?;
    if node.args.len() != 2 || (lane > 0 && uses[id] != 1) {
        return None;
    }
    let orders: &[(usize, usize)] = if link == Link::Minus { &[(0, 1)] } else { &[(0, 1), (1, 0)] };
    for (above, below) in orders {
        let Some((at, table, six, arg)) = single(graph, uses, node.args[*below]) else { continue };
        let Some(mut lanes) = chain(graph, uses, node.args[*above], lane + 1) else { continue };
        if at == lane && lanes.2 == six {
            lanes.0.push((lane, table, arg));
            lanes.1.push(link);
            return Some(lanes);
        }
    }
    None
}

fn chains(graph: &Graph) -> Graph {
    let uses = graph.uses();
    let mut builder = Builder::like(graph);
    let mut new: Vec<Id> = Vec::with_capacity(graph.nodes.len());
    for (id, node) in graph.nodes.iter().enumerate() {
        builder.graph.stand(graph.span(id));
        let found =
            chain(graph, &uses, id, 0).filter(|(_, links, _)| links.iter().any(|link| *link != Link::Xor));
        let id = match (found, &node.op) {
            (_, Op::Output(_)) => new[node.args[0]],
            (Some((lanes, links, six)), _) => {
                let args = lanes.iter().map(|(_, _, arg)| new[*arg]).collect();
                let lanes = lanes.iter().map(|(lane, table, _)| (*lane, *table)).collect();
                builder.add(Op::Quad { lanes, links, six }, args)
            }
            (None, op) => builder.add(op.clone(), node.args.iter().map(|arg| new[*arg]).collect()),
        };
        new.push(id);
    }
    let outputs: Vec<Id> = graph.outputs.iter().map(|id| new[*id]).collect();
    builder.finish(&outputs)
}

/// Every XOR of several terms: its look-ups in as few quads as their lanes allow, all terms by their time.
fn xors(graph: &Graph) -> Graph {
    let uses = graph.uses();
    // What the root of a tree of XORs takes in: XORs, and look-ups that nothing else wants.
    let mut inside = vec![false; graph.nodes.len()];
    for node in graph.nodes.iter().filter(|node| node.op == XOR) {
        for arg in &node.args {
            let joins = graph.nodes[*arg].op == XOR || single(graph, &uses, *arg).is_some();
            inside[*arg] |= joins && uses[*arg] == 1;
        }
    }
    let mut made = Made { builder: Builder::like(graph), arrival: Vec::new() };
    let mut new: Vec<Id> = vec![usize::MAX; graph.nodes.len()];
    for (id, node) in graph.nodes.iter().enumerate() {
        made.builder.graph.stand(graph.span(id));
        new[id] = match node.op {
            Op::Output(_) => new[node.args[0]],
            _ if inside[id] => usize::MAX,
            Op::Lookup { table, lane, six } => {
                let op = Op::Quad { lanes: vec![(lane, table)], links: Vec::new(), six };
                made.add(op, vec![new[node.args[0]]])
            }
            Op::Logic(0b0110) => {
                let (mut quads, mut terms): (Vec<Lanes>, Vec<Id>) = (Vec::new(), Vec::new());
                let mut open = vec![id];
                while let Some(at) = open.pop() {
                    if graph.nodes[at].op == XOR && (at == id || inside[at]) {
                        open.extend(graph.nodes[at].args.iter().rev());
                        continue;
                    }
                    let lookup = single(graph, &uses, at).filter(|_| inside[at]);
                    let Some((lane, table, six, arg)) = lookup else {
                        terms.push(new[at]);
                        continue;
                    };
                    let fits =
                        |quad: &&mut Lanes| quad.2 == six && quad.0.iter().all(|(at, _, _)| *at != lane);
                    match quads.iter_mut().find(fits) {
                        Some(quad) => quad.0.push((lane, table, new[arg])),
                        None => quads.push((vec![(lane, table, new[arg])], Vec::new(), six)),
                    }
                }
                made.join(quads, terms)
            }
            _ => made.add(node.op.clone(), node.args.iter().map(|arg| new[*arg]).collect()),
        };
    }
    let outputs: Vec<Id> = graph.outputs.iter().map(|id| new[*id]).collect();
    made.builder.finish(&outputs)
}

struct Made {
    builder: Builder,
    arrival: Vec<usize>,
}

impl Made {
    fn add(&mut self, op: Op, args: Vec<Id>) -> Id {
        let time = args.iter().map(|arg| self.arrival[*arg]).max().unwrap_or(0) + latency_of(&op) + 1;
        let id = self.builder.add(op, args);
        if id == self.arrival.len() {
            self.arrival.push(time);
        }
        id
    }

    /// The XOR of quads and other terms; what is there first is joined first.
    fn join(&mut self, quads: Vec<Lanes>, mut terms: Vec<Id>) -> Id {
        for (mut lanes, _, six) in quads {
            lanes.sort_by_key(|(lane, _, _)| std::cmp::Reverse(*lane));
            let links = vec![Link::Xor; lanes.len() - 1];
            let op = Op::Quad {
                lanes: lanes.iter().map(|(lane, table, _)| (*lane, *table)).collect(),
                links,
                six,
            };
            terms.push(self.add(op, lanes.iter().map(|(_, _, arg)| *arg).collect()));
        }
        terms.sort_unstable_by_key(|id| (self.arrival[*id], *id));
        let mut all = terms[0];
        for term in &terms[1..] {
            all = self.add(XOR, vec![all, *term]);
        }
        all
    }
}
