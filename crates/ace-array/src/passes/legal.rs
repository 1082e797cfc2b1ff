// SPDX-License-Identifier: Apache-2.0
//! The last pass: what is left is what an element does in one operation, with operands that it can have.

use std::collections::BTreeSet;

use crate::codegen::set::{LANES, PAGES};
use crate::error::Misfit;
use crate::ir::graph::{Graph, Id, Op, swept};
use crate::ir::shape::Shape;
use crate::schedule::{kind_of, port_choices};

/// The first and only argument, as it is.
const COPY: Op = Op::Logic(0b10);

/// Gives every operation operands that its element can have: a word of a key or a constant where there is no key memory
/// is copied by an ALU first, and so is one that no port of its element can have beside the others. [`check_legal`] accepts
/// the result.
pub fn legalise(graph: &Graph, shape: &Shape) -> Graph {
    let mut out = graph.empty_like();
    let mut new: Vec<Id> = Vec::with_capacity(graph.nodes.len());
    // Keys that an ALU has put on the network.
    let mut copies: Vec<(Id, Id)> = Vec::new();
    let uses = graph.uses();
    for (id, node) in graph.nodes.iter().enumerate() {
        out.stand(graph.span(id));
        let mut args: Vec<Id> = Vec::new();
        let mut keys = 0;
        for (at, arg) in node.args.iter().enumerate() {
            let here = match &node.op {
                Op::Logic(_) | Op::Sum(_) | Op::Multiply | Op::Carryless(_) => keys == 0,
                Op::RotateBy { .. } => at == 1,
                _ => false,
            };
            let mut value = new[*arg];
            if graph.is_key(*arg) {
                if here {
                    keys += 1;
                } else {
                    value = copied(&mut out, &mut copies, value);
                }
            } else if let Op::Input(_) = graph.nodes[*arg].op {
                // Everybody reads a word of the block when it is wanted; nobody has to keep it.
                value = out.add(graph.nodes[*arg].op.clone(), Vec::new());
            }
            args.push(value);
        }
        // A quadratic that is rotated by five and not used otherwise.
        if let (Op::Rotate(5), Op::Quadratic { rotate: false }) =
            (&node.op, &graph.nodes[node.args.first().copied().unwrap_or(0)].op)
            && uses[node.args[0]] == 1
        {
            let inner = out.nodes[new[node.args[0]]].args.clone();
            new.push(out.add(Op::Quadratic { rotate: true }, inner));
            continue;
        }
        let op = match &node.op {
            Op::Lookup { table, lane, six } => {
                Op::Quad { lanes: vec![(*lane, *table)], links: Vec::new(), six: *six }
            }
            op => op.clone(),
        };
        if keys > 0 && !has_ports(&mut out, &op, &args, shape) {
            for arg in &mut args {
                if out.is_key(*arg) {
                    *arg = copied(&mut out, &mut copies, *arg);
                }
            }
        }
        new.push(out.add(op, args));
        if matches!(node.op, Op::Output(_)) {
            debug_assert!(graph.outputs.contains(&id));
        }
    }
    out.outputs = graph.outputs.iter().map(|id| new[*id]).collect();
    swept(&out)
}

/// A word of a key or a constant as an ALU puts it on the network.
fn copied(out: &mut Graph, copies: &mut Vec<(Id, Id)>, key: Id) -> Id {
    if let Some((_, copy)) = copies.iter().find(|(of, _)| *of == key) {
        return *copy;
    }
    let copy = out.add(COPY, vec![key]);
    copies.push((key, copy));
    copy
}

/// Whether an element has ports for all operands of an operation: a sum, of which only the first operand or the last one can
/// be left out, has none for a negative word of a key alone.
fn has_ports(out: &mut Graph, op: &Op, args: &[Id], shape: &Shape) -> bool {
    let id = out.add(op.clone(), args.to_vec());
    let found = !port_choices(out, id, shape).is_empty();
    out.take_back();
    found
}

/// Says what of a graph no element can do.
pub fn check_legal(graph: &Graph, shape: &Shape) -> Result<(), Misfit> {
    let fail = |id: Id, what: String| Err(Misfit::of(id, what));
    let mut pages: Vec<Vec<usize>> = vec![Vec::new(); 4];
    for (id, node) in graph.nodes.iter().enumerate() {
        let keys: Vec<usize> = (0..node.args.len()).filter(|at| graph.is_key(node.args[*at])).collect();
        let most = match &node.op {
            Op::Logic(_) | Op::Sum(_) => (1, shape.alu_operands),
            Op::RotateBy { .. } => (usize::from(keys == [1]), 2),
            Op::Multiply | Op::Carryless(_) => (1, 2),
            _ => (0, 4),
        };
        let ports = kind_of(&node.op).is_none() || !port_choices(graph, id, shape).is_empty();
        if keys.len() > most.0 || node.args.len() > most.1 || !ports {
            return fail(id, format!("this ({:?}) has operands that no element takes", node.op));
        }
        match &node.op {
            Op::Lookup { .. } => return fail(id, "a table is looked up outside of a quad".to_owned()),
            Op::Multiply | Op::Carryless(_) | Op::Quadratic { .. } if shape.multipliers == 0 => {
                return fail(id, "a product, and the array has no multiplier".to_owned());
            }
            Op::Quad { lanes, links, .. } => {
                if links.iter().any(|link| *link != crate::ir::graph::Link::Xor) && lanes.len() != 4 {
                    return fail(id, format!("a chain of {} look-ups, and a quad has {LANES}", lanes.len()));
                }
                for (lane, table) in lanes {
                    if !pages[*lane].contains(table) {
                        pages[*lane].push(*table);
                    }
                }
                if let Some((lane, _)) = lanes.iter().find(|(lane, _)| pages[*lane].len() > PAGES) {
                    let name = |table: &usize| graph.tables[*table].name.as_str();
                    let names = pages[*lane].iter().map(name).collect::<Vec<_>>().join(", ");
                    return fail(
                        id,
                        format!("lane {lane} has {PAGES} tables, and {names} are looked up there"),
                    );
                }
            }
            _ => {}
        }
    }
    let of = |what: &Op| {
        graph.nodes.iter().position(|node| std::mem::discriminant(&node.op) == std::mem::discriminant(what))
    };
    let rooms = [
        ("key", graph.keys, shape.key_room(), Op::Key(0)),
        ("block", graph.inputs, shape.stream_words / 2, Op::Input(0)),
    ];
    for (what, words, room, op) in rooms {
        if words > room {
            let what = format!("the {what} has {words} words, and there is room for {room}");
            return Err(Misfit { what, node: of(&op) });
        }
    }
    let mut constants = [BTreeSet::new(), BTreeSet::new()];
    for (id, node) in graph.nodes.iter().enumerate() {
        let Some(kind) = kind_of(&node.op) else { continue };
        let known = node.args.iter().filter_map(|arg| match graph.nodes[*arg].op {
            Op::Const(value) => Some(value),
            _ => None,
        });
        let whose = Shape::constants_of(kind);
        constants[whose].extend(known);
        let (count, room) = (constants[whose].len(), shape.constants);
        if count > room {
            let whose = ["ALUs", "rotators and multipliers"][whose];
            return fail(
                id,
                format!("{count} constants of {whose} up to here, and there is room for {room}"),
            );
        }
    }
    Ok(())
}
