// SPDX-License-Identifier: Apache-2.0
//! Contexts that a source gives to operations: taken out of the graph when all other passes have ended, and looked at.

use crate::ir::graph::{Graph, Id, Op};
use crate::ir::shape::{Kind, Shape};
use crate::schedule::kind_of;

/// The graph without pins: who has the value in front of one has the pin.
pub fn unpinned(graph: &Graph) -> Graph {
    let mut out = graph.empty_like();
    let mut new: Vec<Id> = Vec::with_capacity(graph.nodes.len());
    for (id, node) in graph.nodes.iter().enumerate() {
        out.stand(graph.span(id));
        let args: Vec<Id> = node.args.iter().map(|arg| new[*arg]).collect();
        match node.op {
            Op::Pin(pin) => {
                out.pinned.push((args[0], pin));
                new.push(args[0]);
            }
            _ => new.push(out.add(node.op.clone(), args)),
        }
    }
    out.outputs = graph.outputs.iter().map(|id| new[*id]).collect();
    out
}

/// Whether each pin can be kept by itself and beside the others, as far as elements decide that. The error is which one
/// cannot, and why.
pub fn check_pins(graph: &Graph, shape: &Shape) -> Result<(), (usize, String)> {
    for (pin, it) in graph.pins.iter().enumerate() {
        if it.context >= shape.contexts {
            return Err((pin, format!("the array has {}, from 0 on", shape.contexts)));
        }
        if !graph.pinned.iter().any(|(_, other)| *other == pin) {
            return Err((pin, "no word of the result needs this operation".to_owned()));
        }
    }
    let mut given: Vec<Option<usize>> = vec![None; graph.nodes.len()];
    let mut taken: Vec<(Kind, usize, usize)> = Vec::new();
    // In the source's order, so that the later one of two is named.
    let mut pinned = graph.pinned.clone();
    pinned.sort_by_key(|(_, pin)| *pin);
    for (id, pin) in pinned {
        let context = graph.pins[pin].context;
        match given[id] {
            Some(other) if other == context => continue,
            Some(other) => {
                return Err((pin, format!("the same operation has context {other} already")));
            }
            None => given[id] = Some(context),
        }
        let Some(kind) = kind_of(&graph.nodes[id].op) else {
            return Err((pin, "this is no operation of an element".to_owned()));
        };
        let element = match &graph.nodes[id].op {
            Op::Input(word) | Op::Output(word) => word % shape.count(kind),
            _ => usize::MAX,
        };
        let room = if element == usize::MAX { shape.count(kind) } else { 1 };
        let there = taken.iter().filter(|it| **it == (kind, element, context)).count();
        if there == room {
            let name = kind.name();
            let all = if room == 1 { "its one".to_owned() } else { format!("all {room}") };
            return Err((pin, format!("{all} of kind {name} there have an operation already")));
        }
        taken.push((kind, element, context));
    }
    Ok(())
}
