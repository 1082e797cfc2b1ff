// SPDX-License-Identifier: Apache-2.0
//! Constants folded, identities gone, rotations of rotations made one, equal values computed once, dead code left out.

use crate::ir::graph::{Builder, Graph, Id, Op};

/// Folds constants, leaves out identities and dead code, joins rotations of rotations and computes equal values once.
pub fn fold(graph: &Graph) -> Graph {
    let mut builder = Builder::like(graph);
    let mut new: Vec<Id> = Vec::with_capacity(graph.nodes.len());
    for (id, node) in graph.nodes.iter().enumerate() {
        builder.graph.stand(graph.span(id));
        let args: Vec<Id> = node.args.iter().map(|arg| new[*arg]).collect();
        let id = match node.op {
            // Outputs are made when all is done.
            Op::Output(_) => args[0],
            _ => simplest(&mut builder, node.op.clone(), args),
        };
        new.push(id);
    }
    let outputs: Vec<Id> = graph.outputs.iter().map(|id| new[*id]).collect();
    builder.finish(&outputs)
}

/// The value of an operation, as simply as these rules know it.
fn simplest(builder: &mut Builder, op: Op, args: Vec<Id>) -> Id {
    let constant = |builder: &Builder, id: Id| match builder.graph.nodes[id].op {
        Op::Const(value) => Some(value),
        _ => None,
    };
    let known: Option<Vec<u32>> = args.iter().map(|arg| constant(builder, *arg)).collect();
    match (&op, known) {
        (Op::Input(_) | Op::Key(_) | Op::Const(_) | Op::Pin(_), _) | (_, None) => {}
        (op, Some(known)) => {
            let value = builder.graph.apply(op, &known, &[], &[]);
            return builder.add(Op::Const(value), Vec::new());
        }
    }
    match op {
        Op::Logic(truth) => logic(builder, truth, args),
        Op::Sum(minus) => sum(builder, minus, args),
        Op::Rotate(by) => match &builder.graph.nodes[args[0]] {
            _ if by % 32 == 0 => args[0],
            node if matches!(node.op, Op::Rotate(_)) => {
                let Op::Rotate(first) = node.op else { return args[0] };
                let inner = node.args.clone();
                simplest(builder, Op::Rotate((first + by) % 32), inner)
            }
            _ => builder.add(Op::Rotate(by % 32), args),
        },
        Op::RotateBy { right } => match constant(builder, args[1]) {
            Some(by) => {
                let by = if right { 32 - by % 32 } else { by };
                simplest(builder, Op::Rotate(by % 32), vec![args[0]])
            }
            None => builder.add(op, args),
        },
        Op::Shift { by: 0, .. } => args[0],
        _ => builder.add(op, args),
    }
}

/// A bit function of the arguments that it depends on, each once and in their order.
fn logic(builder: &mut Builder, truth: u8, args: Vec<Id>) -> Id {
    let mut leaves: Vec<Id> = args.clone();
    leaves.sort_unstable();
    leaves.dedup();
    // What each row of the new table is: arguments that are constants are that in every bit, or do not fold here.
    let bits = |id: Id| match builder.graph.nodes[id].op {
        Op::Const(0) => Some(false),
        Op::Const(u32::MAX) => Some(true),
        _ => None,
    };
    let open: Vec<Id> = leaves.into_iter().filter(|id| bits(*id).is_none()).collect();
    let row = |open: &[Id], values: usize| {
        let bit = |id: &Id| {
            bits(*id).unwrap_or_else(|| {
                open.iter().position(|leaf| leaf == id).is_some_and(|at| values >> at & 1 == 1)
            })
        };
        let at = args.iter().enumerate().fold(0, |at, (place, id)| at | usize::from(bit(id)) << place);
        truth >> at & 1 == 1
    };
    let free =
        |leaf: usize| (0..1 << open.len()).all(|values| row(&open, values) == row(&open, values ^ 1 << leaf));
    let live: Vec<usize> = (0..open.len()).filter(|leaf| !free(*leaf)).collect();
    let table = (0..1usize << live.len()).fold(0u8, |table, values| {
        let spread = live.iter().enumerate().fold(0, |out, (at, leaf)| out | (values >> at & 1) << leaf);
        table | u8::from(row(&open, spread)) << values
    });
    let live: Vec<Id> = live.into_iter().map(|leaf| open[leaf]).collect();
    match (live.len(), table) {
        (0, 0) => builder.add(Op::Const(0), Vec::new()),
        (0, _) => builder.add(Op::Const(u32::MAX), Vec::new()),
        (1, 0b10) => live[0],
        _ => builder.add(Op::Logic(table), live),
    }
}

/// A sum with one constant at most, and none that is zero.
fn sum(builder: &mut Builder, minus: u8, args: Vec<Id>) -> Id {
    let mut constant = 0u32;
    let mut terms: Vec<(bool, Id)> = Vec::new();
    for (at, id) in args.into_iter().enumerate() {
        let negative = minus >> at & 1 == 1;
        match builder.graph.nodes[id].op {
            Op::Const(value) if negative => constant = constant.wrapping_sub(value),
            Op::Const(value) => constant = constant.wrapping_add(value),
            _ => terms.push((negative, id)),
        }
    }
    // x - x is nothing.
    while let Some((a, b)) = opposites(&terms) {
        terms.remove(a.max(b));
        terms.remove(a.min(b));
    }
    terms.sort_unstable();
    if constant != 0 {
        let id = builder.add(Op::Const(constant), Vec::new());
        terms.push((false, id));
    }
    match terms.as_slice() {
        [] => builder.add(Op::Const(0), Vec::new()),
        [(false, id)] => *id,
        _ => {
            let minus =
                terms.iter().enumerate().fold(0, |mask, (at, (minus, _))| mask | u8::from(*minus) << at);
            builder.add(Op::Sum(minus), terms.into_iter().map(|(_, id)| id).collect())
        }
    }
}

fn opposites(terms: &[(bool, Id)]) -> Option<(usize, usize)> {
    for (a, (negative, id)) in terms.iter().enumerate() {
        if let Some(b) = terms.iter().position(|other| *other == (!negative, *id)) {
            return Some((a, b));
        }
    }
    None
}
