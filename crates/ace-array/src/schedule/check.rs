// SPDX-License-Identifier: Apache-2.0
//! Looks at a finished schedule by the tile's rules alone, and shares no table with the scheduler: what every context
//! would have to say is written down, and nothing may be said twice.

mod buffer_lifetimes;

use std::collections::BTreeMap;

use super::types::{Place, Route, Schedule};
use crate::Error;
use crate::ir::graph::{Graph, Id, Op};
use crate::ir::shape::{Kind, Shape, Unit};
use crate::passes::check_legal;

/// What is said to one part of the tile in one slot of the interval.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Part {
    Issue(Unit),
    Result(Unit),
    Port(Unit, usize),
    Read(usize),
    Write(usize),
    Key(Unit),
}

struct Book {
    ii: i64,
    booked: BTreeMap<(Part, i64), (Id, i64)>,
}

impl Book {
    /// What is said of one value in one slot of a block's time may be said again, for another operand of it.
    fn say(&mut self, part: Part, value: Id, slot: i64) -> Result<(), Error> {
        let at = (part, slot.rem_euclid(self.ii));
        match self.booked.insert(at, (value, slot)) {
            Some(other) if other != (value, slot) => Err(wrong(format!(
                "{part:?} in slot {} is wanted for operation {value} in slot {slot} and for {} in slot {}",
                at.1, other.0, other.1
            ))),
            _ => Ok(()),
        }
    }

    fn once(&mut self, part: Part, value: Id, slot: i64) -> Result<(), Error> {
        if self.booked.contains_key(&(part, slot.rem_euclid(self.ii))) {
            return Err(wrong(format!("{part:?} is taken twice in slot {}", slot.rem_euclid(self.ii))));
        }
        self.say(part, value, slot)
    }
}

fn wrong(what: String) -> Error {
    Error::Schedule(what)
}

/// What an element needs from its issue to its result, by the tile's data sheet (docs/array.md).
fn clocks(op: &Op) -> i64 {
    match op {
        Op::Input(_) => 2,
        Op::Logic(_) | Op::Sum(_) => 2,
        Op::Again | Op::Rotate(_) | Op::RotateBy { .. } | Op::Shift { .. } => 3,
        Op::Multiply | Op::Carryless(_) | Op::Quadratic { .. } => 4,
        Op::Quad { links, .. } if links.iter().any(|link| *link != crate::ir::graph::Link::Xor) => 5,
        Op::Quad { .. } | Op::Lookup { .. } => 3,
        Op::Output(_) => 3,
        Op::Key(_) | Op::Const(_) | Op::Pin(_) => 0,
    }
}

/// What the front end asks of a set-up: two words of a key in two clocks and eight more fit the interval, the raw key has
/// eight words at most, and twelve bits count the clocks to the last word.
fn keys(graph: &Graph, schedule: &Schedule) -> Result<(), Error> {
    let words = graph.outputs.len();
    let written = |id: &Id| schedule.places.get(*id).and_then(|place| Some(place.as_ref()?.slot + 3));
    let last = graph.outputs.iter().filter_map(written).max().unwrap_or(0);
    if graph.inputs > 8 || schedule.ii < words + words % 2 + 8 || last > 4000 || graph.keys > 0 {
        let (inputs, ii) = (graph.inputs, schedule.ii);
        return Err(wrong(format!(
            "a key of {inputs} words, {words} of it in {ii} slots, the last one in {last}"
        )));
    }
    Ok(())
}

/// Refuses every schedule that a tile of this shape would not run as it is meant.
pub fn check(graph: &Graph, shape: &Shape, schedule: &Schedule) -> Result<(), Error> {
    check_legal(graph, shape)?;
    if schedule.ii == 0 || schedule.ii > shape.contexts {
        return Err(wrong(format!("{} contexts of {}", schedule.ii, shape.contexts)));
    }
    if schedule.places.len() != graph.nodes.len() || schedule.routes.len() != graph.nodes.len() {
        return Err(wrong("it is of another graph".to_owned()));
    }
    if graph.setup {
        keys(graph, schedule)?;
    }
    let contexts = graph.contexts();
    let mut book = Book { ii: schedule.ii as i64, booked: BTreeMap::new() };
    for (id, node) in graph.nodes.iter().enumerate() {
        let place = &schedule.places[id];
        if graph.is_key(id) {
            if place.is_some() {
                return Err(wrong(format!("operation {id} is a key's word and has an element")));
            }
            continue;
        }
        let place = place.as_ref().ok_or_else(|| wrong(format!("operation {id} has no place")))?;
        let fits = match &node.op {
            Op::Input(word) => place.unit == Unit { kind: Kind::Input, index: word % shape.inputs },
            Op::Output(word) => place.unit == Unit { kind: Kind::Output, index: word % shape.outputs },
            Op::Logic(_) | Op::Sum(_) => place.unit.kind == Kind::Alu,
            Op::Again | Op::Rotate(_) | Op::RotateBy { .. } | Op::Shift { .. } => {
                place.unit.kind == Kind::Rotator
            }
            Op::Multiply | Op::Carryless(_) | Op::Quadratic { .. } => place.unit.kind == Kind::Multiplier,
            Op::Quad { .. } => place.unit.kind == Kind::Quad,
            _ => false,
        };
        if !fits || place.unit.index >= shape.count(place.unit.kind) || place.slot < 0 {
            return Err(wrong(format!("operation {id} ({:?}) cannot be done at {place:?}", node.op)));
        }
        let context = place.slot.rem_euclid(schedule.ii as i64) as usize;
        if contexts[id].is_some_and(|given| given != context) {
            return Err(wrong(format!(
                "operation {id} is in context {context}, and the source gives another"
            )));
        }
        book.once(Part::Issue(place.unit), id, place.slot)?;
        if let (true, Some(unit)) = (node.args.iter().any(|arg| graph.is_key(*arg)), shape.key_of(place.unit))
        {
            book.once(Part::Key(unit), id, place.slot - 3)?;
        }
        book.once(Part::Result(place.unit), id, place.slot + clocks(&node.op))?;
        ports(graph, shape, id, place)?;
    }
    for (value, store) in &schedule.stores {
        keep(graph, shape, schedule, &mut book, *value, store.memory, store.slot)?;
    }
    for (id, node) in graph.nodes.iter().enumerate() {
        for at in 0..node.args.len() {
            operand(graph, shape, schedule, &mut book, id, at)?;
        }
    }
    buffer_lifetimes::check(graph, shape, schedule)
}

/// Every argument has a port of its own, and one that can have it.
pub(crate) fn ports(graph: &Graph, shape: &Shape, id: Id, place: &Place) -> Result<(), Error> {
    let node = &graph.nodes[id];
    let fail = |what: &str| Err(wrong(format!("operation {id} ({:?}) {what}: {:?}", node.op, place.ports)));
    let count = shape.ports(place.unit.kind);
    if place.ports.len() != node.args.len() || place.ports.iter().any(|port| *port >= count) {
        return fail("has ports that its element has not");
    }
    for (at, port) in place.ports.iter().enumerate() {
        if place.ports[..at].contains(port) {
            return fail("has two operands at one port");
        }
        if graph.is_key(node.args[at]) && (!Shape::has_keys(place.unit.kind) || *port + 1 != count) {
            return fail("has a key's word at a port without key memory");
        }
    }
    match &node.op {
        Op::Quad { lanes, .. } if lanes.iter().zip(&place.ports).any(|((lane, _), port)| lane != port) => {
            fail("looks up a byte in another lane")
        }
        Op::Sum(minus) => {
            let negative = |at: usize| minus >> at & 1 == 1;
            let bad = |(at, port): (usize, &usize)| negative(at) && port + 2 < count;
            let gap = (1..count - 1).any(|port| !place.ports.contains(&port));
            if place.ports.iter().enumerate().any(bad) || gap { fail("is no sum of an ALU") } else { Ok(()) }
        }
        Op::Rotate(_) | Op::RotateBy { .. } | Op::Shift { .. } | Op::Quadratic { .. } | Op::Output(_)
            if place.ports.iter().enumerate().any(|(at, port)| at != *port) =>
        {
            fail("has its operands exchanged")
        }
        _ => Ok(()),
    }
}

/// A store takes a value that is there, and has its memory element for itself.
fn keep(
    graph: &Graph,
    shape: &Shape,
    schedule: &Schedule,
    book: &mut Book,
    value: Id,
    memory: usize,
    slot: i64,
) -> Result<(), Error> {
    let place = schedule.places.get(value).and_then(Option::as_ref);
    let place = place.ok_or_else(|| wrong(format!("value {value} is stored and has no place")))?;
    let visible = place.slot + clocks(&graph.nodes[value].op);
    if memory >= shape.memories || !(1..=shape.reach(Kind::Memory, 0) as i64).contains(&(slot - visible)) {
        return Err(wrong(format!("value {value} of slot {visible} is stored in slot {slot}")));
    }
    book.say(Part::Port(Unit { kind: Kind::Memory, index: memory }, 0), value, visible)?;
    book.once(Part::Write(memory), value, slot)
}

/// An operand is what its port took, when the line still has it.
fn operand(
    graph: &Graph,
    shape: &Shape,
    schedule: &Schedule,
    book: &mut Book,
    id: Id,
    at: usize,
) -> Result<(), Error> {
    let arg = graph.nodes[id].args[at];
    let Some(place) = &schedule.places[id] else { return Ok(()) };
    let route = schedule.routes[id].get(at).copied();
    let route = route.ok_or_else(|| wrong(format!("operand {at} of operation {id} has no route")))?;
    if graph.is_key(arg) != (route == Route::Key) {
        return Err(wrong(format!("operand {at} of operation {id} comes by {route:?}")));
    }
    let port = Part::Port(place.unit, place.ports[at]);
    let taken = match route {
        // A key memory is asked three slots before the issue, and knows so many blocks' keys.
        Route::Key => {
            let asked = place.slot - 3;
            return match asked.div_euclid(schedule.ii as i64) {
                stage if (0..shape.stages as i64).contains(&stage) => Ok(()),
                stage => Err(wrong(format!(
                    "operand {at} of operation {id} is a key that is asked for in slot {asked}, which is stage {stage} of {}",
                    shape.stages
                ))),
            };
        }
        Route::Direct => {
            let from = schedule.places[arg].as_ref().map_or(0, |from| from.slot);
            let visible = from + clocks(&graph.nodes[arg].op);
            book.say(port, arg, visible)?;
            visible
        }
        Route::Stored { slot } => {
            let store = schedule.stores.get(&arg);
            let store = store.ok_or_else(|| wrong(format!("value {arg} is read back and was not stored")))?;
            // Four slots from a store's issue to the first read that sees it.
            if slot - store.slot < 4 {
                return Err(wrong(format!("value {arg} is read back before it is stored")));
            }
            book.say(Part::Read(store.memory), arg, slot)?;
            // What the memory shows is not the value's own slot on the network, so it has another name.
            book.say(port, graph.nodes.len() + arg, slot)?;
            slot
        }
    };
    let reach = shape.reach(place.unit.kind, place.ports[at]);
    if !(1..=reach as i64).contains(&(place.slot - taken)) {
        return Err(wrong(format!(
            "operand {at} of operation {id} is taken in slot {taken} and wanted in slot {}, and the line has {reach}",
            place.slot
        )));
    }
    Ok(())
}
