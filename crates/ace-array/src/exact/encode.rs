// SPDX-License-Identifier: Apache-2.0
//! A schedule with a given interval as clauses: where every operation is issued modulo the interval, on which element and
//! with which ports, how every operand comes, and that nothing is said twice. Which slots these are is not in the clauses:
//! [`super::stages`] says afterwards, or why there are none.

use std::collections::BTreeMap;

use batsat::Lit;

use super::clauses::Clauses;
use super::stages::{Distance, Event, slots};
use crate::ir::graph::{Graph, Id, Op};
use crate::ir::shape::{Kind, Shape, Unit, latency};
use crate::passes::latency_of;
use crate::schedule::check;
use crate::schedule::{Place, Route, Schedule, Store, kind_of};

const HOP: i64 = latency::HOP as i64;
/// From a store's issue to the first slot of what is read.
const STORED: i64 = (latency::STORE + latency::READ) as i64;

/// An operation's choices; of each list exactly one is true.
struct Choices {
    slots: Vec<Lit>,
    units: Vec<(Unit, Lit)>,
    ports: Vec<(Vec<usize>, Lit)>,
}

/// A value that may be stored: the element, and the slot of the store.
struct Kept {
    memories: Vec<Lit>,
    slots: Vec<Lit>,
}

/// An operand that comes over the network: directly or read again, and then from which slot on.
struct Operand {
    user: Id,
    at: usize,
    value: Id,
    direct: Lit,
    read: Vec<Lit>,
}

/// What a port may take in a slot: a value directly, or one that is read again.
type Taken = (Id, bool);

pub(super) struct Encoding<'a> {
    graph: &'a Graph,
    shape: &'a Shape,
    ii: usize,
    pub(super) clauses: Clauses,
    operations: Vec<Option<Choices>>,
    retained: BTreeMap<Id, Kept>,
    operands: Vec<Operand>,
}

impl<'a> Encoding<'a> {
    pub(super) fn new(graph: &'a Graph, shape: &'a Shape, ii: usize, clauses: Clauses) -> Encoding<'a> {
        let none = (Vec::new(), BTreeMap::new(), Vec::new());
        let mut new =
            Encoding { graph, shape, ii, clauses, operations: none.0, retained: none.1, operands: none.2 };
        new.operations = (0..graph.nodes.len()).map(|id| new.choices(id)).collect();
        new.turns();
        new.elements();
        new.operands();
        new.ports();
        new.memories();
        new
    }

    fn own(&self, id: Id) -> i64 {
        latency_of(&self.graph.nodes[id].op) as i64
    }

    fn modulo(&self, slot: i64) -> usize {
        slot.rem_euclid(self.ii as i64) as usize
    }

    /// Whether an operation's value is first on the network in a slot.
    fn visible(&self, id: Id, slot: usize) -> Lit {
        let at = self.modulo(slot as i64 - self.own(id));
        self.operations[id].as_ref().map_or(!self.clauses.yes, |operation| operation.slots[at])
    }

    fn choices(&mut self, id: Id) -> Option<Choices> {
        let node = &self.graph.nodes[id];
        let kind = kind_of(&node.op)?;
        let count = self.shape.count(kind);
        let indices = match &node.op {
            Op::Input(word) | Op::Output(word) => word % count..word % count + 1,
            _ => 0..count,
        };
        let units: Vec<Unit> = indices.map(|index| Unit { kind, index }).collect();
        // Whatever the checker takes, on the first of them as on each.
        let fits = |ports: &Vec<usize>| {
            let place = Place { slot: 0, unit: units[0], ports: ports.clone() };
            check::ports(self.graph, self.shape, id, &place).is_ok()
        };
        let ports: Vec<Vec<usize>> =
            orders(node.args.len(), self.shape.ports(kind)).into_iter().filter(fits).collect();
        let slots = self.clauses.one_of(self.ii);
        let which = self.clauses.one_of(units.len());
        let how = self.clauses.one_of(ports.len());
        Some(Choices {
            slots,
            units: units.into_iter().zip(which).collect(),
            ports: ports.into_iter().zip(how).collect(),
        })
    }

    /// Of schedules that differ by a turn of the slots, or by names of elements, one is enough.
    fn turns(&mut self) {
        let contexts = self.graph.contexts();
        for (operation, context) in self.operations.iter().zip(&contexts) {
            if let (Some(operation), Some(context)) = (operation, context) {
                // There is none if the interval is too short: `at` looks at that.
                let slot = operation.slots.get(*context).copied();
                self.clauses.add(&slot.into_iter().collect::<Vec<_>>());
            }
        }
        // Who is given contexts by the source cannot turn.
        let free = self.graph.pinned.is_empty();
        let operations = self.operations.iter().flatten().filter(|_| free);
        if let Some(first) = operations.max_by_key(|operation| operation.units.len()) {
            let slot = first.slots[0];
            self.clauses.add(&[slot]);
        }
        for kind in Kind::ALL {
            let all: Vec<Vec<Lit>> = self
                .operations
                .iter()
                .flatten()
                .filter(|operation| operation.units.len() > 1 && operation.units[0].0.kind == kind)
                .map(|operation| operation.units.iter().map(|(_, unit)| *unit).collect())
                .collect();
            for (at, own) in all.iter().enumerate() {
                for (index, unit) in own.iter().enumerate().skip(1) {
                    let before: Vec<Lit> = all[..at].iter().map(|other| other[index - 1]).collect();
                    self.clauses.implies(&[*unit], &before);
                }
            }
        }
    }

    /// An element begins one operation in a slot, and ends one; a key memory has a word in a slot.
    fn elements(&mut self) {
        let mut busy: BTreeMap<(Unit, bool, usize), Vec<Lit>> = BTreeMap::new();
        let mut asked: BTreeMap<(Unit, usize), Vec<Lit>> = BTreeMap::new();
        for id in 0..self.operations.len() {
            let Some(operation) = &self.operations[id] else { continue };
            let (own, units, slots) = (self.own(id), operation.units.clone(), operation.slots.clone());
            let keyed = self.graph.nodes[id].args.iter().any(|arg| self.graph.is_key(*arg));
            let memory = |unit: Unit| self.shape.key_of(unit).filter(|_| keyed);
            for (unit, here) in units {
                for (slot, now) in slots.iter().enumerate() {
                    let both = self.clauses.all(&[here, *now]);
                    busy.entry((unit, false, slot)).or_default().push(both);
                    if let Some(memory) = memory(unit) {
                        asked.entry((memory, slot)).or_default().push(both);
                    }
                    // Other elements take as long for whatever they do.
                    if unit.kind == Kind::Quad {
                        let end = self.modulo(slot as i64 + own);
                        busy.entry((unit, true, end)).or_default().push(both);
                    }
                }
            }
        }
        busy.values().chain(asked.values()).for_each(|all| self.clauses.at_most_one(all));
    }

    fn operands(&mut self) {
        for (user, node) in self.graph.nodes.iter().enumerate() {
            for (at, value) in node.args.iter().copied().enumerate() {
                if self.graph.is_key(value) {
                    continue;
                }
                let direct = self.clauses.literal();
                let read = self.clauses.one_of(self.ii);
                let (ii, memories) = (self.ii, self.shape.memories);
                let clauses = &mut self.clauses;
                let retained = self.retained.entry(value).or_insert_with(|| {
                    let memories = clauses.literals(memories);
                    clauses.at_most_one(&memories);
                    Kept { memories, slots: clauses.one_of(ii) }
                });
                clauses.add(&[vec![direct], retained.memories.clone()].concat());
                self.operands.push(Operand { user, at, value, direct, read });
            }
        }
        let slots = |id: Id| self.operations[id].as_ref().map_or(Vec::new(), |one| one.slots.clone());
        for operand in &self.operands {
            let (from, to) = (slots(operand.value), slots(operand.user));
            let own = self.own(operand.value) + HOP;
            let retained = &self.retained[&operand.value].slots;
            let store = self.shape.reach(Kind::Memory, 0);
            within(&mut self.clauses, &[!operand.direct], &from, retained, own, store);
            let Some(user) = &self.operations[operand.user] else { continue };
            for (port, how) in by_port(&user.ports, operand.at) {
                let reach = self.shape.reach(user.units[0].0.kind, port);
                for how in how {
                    within(&mut self.clauses, &[operand.direct, how], &from, &to, own, reach);
                    within(&mut self.clauses, &[!operand.direct, how], &operand.read, &to, HOP, reach);
                }
            }
        }
    }

    /// A port takes one value in a slot.
    fn ports(&mut self) {
        let mut takes: BTreeMap<(Unit, usize), BTreeMap<(Taken, usize), Lit>> = BTreeMap::new();
        for operand in &self.operands {
            let Some(operation) = &self.operations[operand.user] else { continue };
            for (unit, here) in &operation.units {
                for (port, how) in by_port(&operation.ports, operand.at) {
                    let comes = self.clauses.literal();
                    how.iter().for_each(|how| self.clauses.implies(&[*here, *how], &[comes]));
                    let of = takes.entry((*unit, port)).or_default();
                    for slot in 0..self.ii {
                        let seen = self.visible(operand.value, slot);
                        for (stored, when) in
                            [(false, [operand.direct, seen]), (true, [!operand.direct, operand.read[slot]])]
                        {
                            let key = ((operand.value, stored), slot);
                            let taken = *of.entry(key).or_insert_with(|| self.clauses.literal());
                            self.clauses.implies(&[comes, when[0], when[1]], &[taken]);
                        }
                    }
                }
            }
        }
        for of in takes.values() {
            for slot in 0..self.ii {
                let here = of.iter().filter(|((_, at), _)| *at == slot).map(|(_, taken)| *taken);
                self.clauses.at_most_one(&here.collect::<Vec<_>>());
            }
        }
    }

    /// A memory element takes, writes and reads one value in a slot.
    fn memories(&mut self) {
        for memory in 0..self.shape.memories {
            for slot in 0..self.ii {
                let (mut takes, mut writes, mut reads) = (Vec::new(), Vec::new(), Vec::new());
                for (value, retained) in &self.retained {
                    let here = retained.memories[memory];
                    takes.push(self.clauses.all(&[here, self.visible(*value, slot)]));
                    writes.push(self.clauses.all(&[here, retained.slots[slot]]));
                    let read = self.clauses.literal();
                    for operand in self.operands.iter().filter(|operand| operand.value == *value) {
                        self.clauses.implies(&[here, !operand.direct, operand.read[slot]], &[read]);
                    }
                    reads.push(read);
                }
                for all in [takes, writes, reads] {
                    self.clauses.at_most_one(&all);
                }
            }
        }
    }

    /// The schedule of a solution or, if its slots modulo the interval are none, what is not true of any schedule.
    pub(super) fn schedule(&self) -> Result<Schedule, Vec<Lit>> {
        let clauses = &self.clauses;
        let mut events = Vec::new();
        let mut event = |slots: &[Lit]| {
            let slot = clauses.which(slots);
            events.push(Event { slot: slot as i64, why: slots[slot] });
            events.len() - 1
        };
        let operations: Vec<usize> =
            self.operations.iter().map(|one| one.as_ref().map_or(0, |one| event(&one.slots))).collect();
        let stored = |operand: &&Operand| !clauses.is(operand.direct);
        let mut stores: BTreeMap<Id, usize> = BTreeMap::new();
        for operand in self.operands.iter().filter(stored) {
            stores.entry(operand.value).or_insert_with(|| event(&self.retained[&operand.value].slots));
        }
        let reads: Vec<Option<usize>> = self
            .operands
            .iter()
            .map(|operand| Some(operand).filter(stored).map(|operand| event(&operand.read)))
            .collect();
        let store_reach = self.shape.reach(Kind::Memory, 0) as i64;
        let mut distances = Vec::new();
        let mut between = |from: usize, to: usize, least: i64, most: i64, why: &[Lit]| {
            distances.push(Distance { from, to, least, why: Vec::new() });
            distances.push(Distance { from: to, to: from, least: -most, why: why.to_vec() });
        };
        for (operand, read) in self.operands.iter().zip(&reads) {
            let (from, to) = (operations[operand.value], operations[operand.user]);
            let own = self.own(operand.value);
            let Some(user) = &self.operations[operand.user] else { continue };
            let (ports, how) = user.ports.iter().find(|(_, how)| clauses.is(*how)).unwrap_or(&user.ports[0]);
            let reach = self.shape.reach(user.units[0].0.kind, ports[operand.at]) as i64;
            let Some(read) = *read else {
                between(from, to, own + HOP, own + reach, &[operand.direct, *how]);
                continue;
            };
            let store = stores[&operand.value];
            between(from, store, own + HOP, own + store_reach, &[!operand.direct]);
            between(read, to, HOP, reach, &[!operand.direct, *how]);
        }
        for (at, (operand, read)) in self.operands.iter().zip(&reads).enumerate() {
            let Some(read) = *read else { continue };
            let from = stores[&operand.value];
            distances.push(Distance { from, to: read, least: STORED, why: vec![!operand.direct] });
            // What is read of a value in slots that are one modulo the interval is read once.
            for (other, second) in self.operands.iter().zip(&reads).skip(at + 1) {
                let Some(second) = *second else { continue };
                if other.value == operand.value && events[second].slot == events[read].slot {
                    let why = vec![!operand.direct, !other.direct, events[read].why, events[second].why];
                    distances.push(Distance { from: read, to: second, least: 0, why: why.clone() });
                    distances.push(Distance { from: second, to: read, least: 0, why });
                }
            }
        }
        let slots = slots(self.ii as i64, &events, &distances)?;
        let place = |id: Id, one: &Choices| {
            let unit =
                one.units.iter().find(|(_, unit)| clauses.is(*unit)).map_or(one.units[0].0, |one| one.0);
            let ports =
                one.ports.iter().find(|(_, how)| clauses.is(*how)).map_or(Vec::new(), |one| one.0.clone());
            Place { slot: slots[operations[id]], unit, ports }
        };
        let places =
            self.operations.iter().enumerate().map(|(id, one)| one.as_ref().map(|one| place(id, one)));
        let mut routes: Vec<Vec<Route>> =
            self.graph.nodes.iter().map(|node| vec![Route::Key; node.args.len()]).collect();
        for (operand, read) in self.operands.iter().zip(&reads) {
            routes[operand.user][operand.at] =
                read.map_or(Route::Direct, |read| Route::Stored { slot: slots[read] });
        }
        let store = |(value, at): (&Id, &usize)| {
            (*value, Store { memory: clauses.which(&self.retained[value].memories), slot: slots[*at] })
        };
        let stores = stores.iter().map(store).collect();
        Ok(Schedule { ii: self.ii, places: places.collect(), routes, stores, shared: BTreeMap::new() }
            .normal(self.graph))
    }
}

/// Every order of so many things in so many places.
fn orders(things: usize, places: usize) -> Vec<Vec<usize>> {
    (0..things).fold(vec![Vec::new()], |all, _| {
        let more = |taken: Vec<usize>| {
            let free: Vec<usize> = (0..places).filter(|place| !taken.contains(place)).collect();
            free.into_iter().map(move |place| [taken.clone(), vec![place]].concat())
        };
        all.into_iter().flat_map(more).collect()
    })
}

/// The choices that bring an argument to each port.
fn by_port(choices: &[(Vec<usize>, Lit)], at: usize) -> BTreeMap<usize, Vec<Lit>> {
    let mut out: BTreeMap<usize, Vec<Lit>> = BTreeMap::new();
    for (ports, how) in choices {
        out.entry(ports[at]).or_default().push(*how);
    }
    out
}

/// One event comes `least` slots and up to `count` - 1 more behind another one: modulo the interval that says something
/// if the interval is longer than that.
fn within(clauses: &mut Clauses, when: &[Lit], from: &[Lit], to: &[Lit], least: i64, count: usize) {
    let ii = from.len();
    if count >= ii {
        return;
    }
    for (slot, now) in from.iter().enumerate() {
        let first = (slot as i64 + least).rem_euclid(ii as i64) as usize;
        let then: Vec<Lit> = (first..first + count).map(|at| to[at % ii]).collect();
        clauses.implies(&[when, &[*now]].concat(), &then);
    }
}
