// SPDX-License-Identifier: Apache-2.0
//! An XOR of rotations of one word is its product without carries modulo x^32 + 1 by a word that is known: one operation of
//! the multiplier.

use std::collections::BTreeMap;

use crate::ir::domain::Half;
use crate::ir::graph::{Builder, Graph, Id, Op, XOR};

/// As many rotations as are worth a product: of two an ALU and a rotator or two make the XOR.
const LEAST: usize = 3;

/// Makes each XOR of three or more rotations of one word, which nothing else wants, a product; none if there is no such XOR.
pub fn turns(graph: &Graph) -> Option<Graph> {
    let uses = graph.uses();
    let mut inside = vec![false; graph.nodes.len()];
    for node in graph.nodes.iter().filter(|node| node.op == XOR) {
        for arg in &node.args {
            inside[*arg] |= graph.nodes[*arg].op == XOR && uses[*arg] == 1;
        }
    }
    let mut builder = Builder::like(graph);
    let mut new: Vec<Id> = Vec::with_capacity(graph.nodes.len());
    let mut made = false;
    for (id, node) in graph.nodes.iter().enumerate() {
        builder.graph.stand(graph.span(id));
        if matches!(node.op, Op::Output(_)) {
            new.push(new[node.args[0]]);
            continue;
        }
        if node.op == XOR && !inside[id] {
            let (products, rest) = terms(graph, &uses, &inside, id);
            if !products.is_empty() {
                let product = |(word, by): (Id, u32)| {
                    let by = builder.add(Op::Const(by), Vec::new());
                    builder.add(Op::Carryless(Half::Fold), vec![new[word], by])
                };
                let products: Vec<Id> = products.into_iter().map(product).collect();
                let all = rest.into_iter().map(|id| new[id]).chain(products);
                new.push(all.reduce(|all, id| builder.add(XOR, vec![all, id])).unwrap_or(new[node.args[0]]));
                made = true;
                continue;
            }
        }
        let args = node.args.iter().map(|arg| new[*arg]).collect();
        new.push(builder.add(node.op.clone(), args));
    }
    let outputs: Vec<Id> = graph.outputs.iter().map(|id| new[*id]).collect();
    made.then(|| builder.finish(&outputs))
}

/// The words of a tree of XORs that are there often enough, each with what it is multiplied by, and all other terms.
fn terms(graph: &Graph, uses: &[usize], inside: &[bool], root: Id) -> (Vec<(Id, u32)>, Vec<Id>) {
    let mut open = vec![root];
    let mut of: BTreeMap<Id, Vec<(u32, Id)>> = BTreeMap::new();
    while let Some(id) = open.pop() {
        let node = &graph.nodes[id];
        match node.op {
            Op::Logic(_) if node.op == XOR && (id == root || inside[id]) => open.extend(&node.args),
            Op::Rotate(by) if uses[id] == 1 => of.entry(node.args[0]).or_default().push((by, id)),
            _ => of.entry(id).or_default().push((0, id)),
        }
    }
    let (mut products, mut rest) = (Vec::new(), Vec::new());
    for (word, copies) in of {
        if copies.len() >= LEAST {
            products.push((word, copies.iter().fold(0, |all, (by, _)| all ^ 1 << by)));
        } else {
            rest.extend(copies.iter().map(|(_, id)| *id));
        }
    }
    (products, rest)
}
