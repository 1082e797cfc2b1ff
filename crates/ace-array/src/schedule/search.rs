// SPDX-License-Identifier: Apache-2.0
//! Iterative modulo scheduling: operations from the latest possible start on, each where all of its routes are free;
//! what finds no place ejects who is in its way, and those are placed again.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BinaryHeap};

use super::reserve::{Tables, Taken, Way};
use super::{Place, Route, Schedule, Store, kind_of, port_choices};
use crate::graph::{Graph, Id, Op};
use crate::pass::latency_of;
use crate::shape::{Kind, Shape, Unit, latency};

const HOP: i64 = latency::HOP as i64;

struct Search<'a> {
    tables: Tables<'a>,
    places: Vec<Option<Place>>,
    users: Vec<Vec<(Id, usize)>>,
    soonest: Vec<i64>,
    latest: Vec<i64>,
    /// Where an operation was put by force the last time.
    forced: Vec<Option<i64>>,
    times: Vec<usize>,
    choices: Vec<Vec<Vec<usize>>>,
    random: u64,
}

/// One attempt at an interval.
pub fn search(graph: &Graph, shape: &Shape, ii: usize, seed: u64, ejections: usize) -> Option<Schedule> {
    let mut search = Search::new(graph, shape, ii, seed);
    search.run(ejections * graph.nodes.len())?;
    Some(search.schedule())
}

impl<'a> Search<'a> {
    fn new(graph: &'a Graph, shape: &'a Shape, ii: usize, seed: u64) -> Search<'a> {
        let count = graph.nodes.len();
        let mut users: Vec<Vec<(Id, usize)>> = vec![Vec::new(); count];
        let mut soonest = vec![0i64; count];
        for (id, node) in graph.nodes.iter().enumerate() {
            for (at, arg) in node.args.iter().enumerate().filter(|(_, arg)| !graph.is_key(**arg)) {
                users[*arg].push((id, at));
                soonest[id] = soonest[id].max(soonest[*arg] + latency_of(&graph.nodes[*arg].op) as i64 + HOP);
            }
        }
        let end = soonest.iter().copied().max().unwrap_or(0);
        let mut latest = vec![end; count];
        for id in (0..count).rev() {
            let own = latency_of(&graph.nodes[id].op) as i64 + HOP;
            latest[id] = users[id].iter().map(|(user, _)| latest[*user] - own).min().unwrap_or(end);
        }
        Search {
            tables: Tables::new(graph, shape, ii),
            places: vec![None; count],
            users,
            soonest,
            latest,
            forced: vec![None; count],
            times: vec![0; count],
            choices: (0..count).map(|id| port_choices(graph, id, shape)).collect(),
            random: seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1,
        }
    }

    fn graph(&self) -> &'a Graph {
        self.tables.graph
    }

    fn pick(&mut self, below: usize) -> usize {
        self.random ^= self.random << 13;
        self.random ^= self.random >> 7;
        self.random ^= self.random << 17;
        (self.random >> 33) as usize % below.max(1)
    }

    fn own(&self, id: Id) -> i64 {
        latency_of(&self.graph().nodes[id].op) as i64
    }

    fn slot(&self, id: Id) -> Option<i64> {
        self.places[id].as_ref().map(|place| place.slot)
    }

    /// Arguments that come over the network.
    fn sources(&self, id: Id) -> Vec<Id> {
        self.graph().nodes[id].args.iter().copied().filter(|arg| !self.graph().is_key(*arg)).collect()
    }

    /// Elements that can do an operation.
    fn units(&self, id: Id) -> Vec<Unit> {
        let op = &self.graph().nodes[id].op;
        let Some(kind) = kind_of(op) else { return Vec::new() };
        let count = self.tables.shape.count(kind);
        let all = match op {
            Op::Input(word) | Op::Output(word) => word % count..word % count + 1,
            _ => 0..count,
        };
        all.map(|index| Unit { kind, index }).collect()
    }

    /// First and last slot that placed neighbours leave.
    fn window(&self, id: Id) -> (Option<i64>, Option<i64>) {
        let after = |arg: Id| self.slot(arg).map(|slot| slot + self.own(arg) + HOP);
        let first = self.sources(id).into_iter().filter_map(after).max();
        let before = |user: Id| self.slot(user).map(|slot| slot - self.own(id) - HOP);
        let last = self.users[id].iter().filter_map(|(user, _)| before(*user)).min();
        (first, last)
    }

    fn taken(&self, id: Id) -> Option<Taken> {
        let place = self.places[id].as_ref()?;
        Some(Taken { from: place.unit, value: id, slot: place.slot + self.own(id) })
    }

    /// Puts an operation somewhere with all routes to and from its placed neighbours, or says who is in the way.
    fn put(&mut self, id: Id, slot: i64, unit: Unit, ports: &[usize]) -> Result<(), Vec<Id>> {
        let end = slot + self.own(id);
        self.tables.occupy(id, unit, slot, end)?;
        self.places[id] = Some(Place { slot, unit, ports: ports.to_vec() });
        let routed = self.route_all(id, slot, unit, ports);
        if let Err(mut by) = routed {
            self.take_back(id);
            by.retain(|other| *other != id);
            return Err(by);
        }
        Ok(())
    }

    fn route_all(&mut self, id: Id, slot: i64, unit: Unit, ports: &[usize]) -> Result<(), Vec<Id>> {
        for (at, arg) in self.graph().nodes[id].args.iter().enumerate() {
            if self.graph().is_key(*arg) {
                continue;
            }
            if let Some(from) = self.taken(*arg) {
                self.tables.route((id, at), (unit, ports[at]), slot, from)?;
            }
        }
        let from = self.taken(id);
        for (user, at) in self.users[id].clone() {
            let (Some(place), Some(from)) = (&self.places[user], from) else { continue };
            let (port, slot) = ((place.unit, place.ports[at]), place.slot);
            if user != id {
                self.tables.route((user, at), port, slot, from).map_err(|_| vec![user])?;
            }
        }
        Ok(())
    }

    fn unroute(&mut self, user: Id, at: usize) {
        let arg = self.graph().nodes[user].args[at];
        let (Some(place), Some(from)) = (&self.places[user], self.taken(arg)) else { return };
        let port = (place.unit, place.ports[at]);
        self.tables.unroute((user, at), port, from.slot);
    }

    fn take_back(&mut self, id: Id) {
        for at in 0..self.graph().nodes[id].args.len() {
            self.unroute(id, at);
        }
        for (user, at) in self.users[id].clone() {
            self.unroute(user, at);
        }
        if let Some(place) = self.places[id].take() {
            self.tables.vacate(place.unit, place.slot, place.slot + self.own(id));
        }
    }

    /// What is placed first: what must start early. A word of the block waits for who reads it.
    fn priority(&self, id: Id) -> i64 {
        if self.sources(id).is_empty() {
            let user = self.users[id].iter().map(|(user, _)| self.latest[*user]).min();
            return 2 * user.unwrap_or(self.latest[id]) + 1;
        }
        2 * self.latest[id]
    }

    fn run(&mut self, budget: usize) -> Option<()> {
        let count = self.graph().nodes.len();
        let mut open: BinaryHeap<Reverse<(i64, Id)>> = BinaryHeap::new();
        let mut waits: Vec<bool> =
            self.graph().nodes.iter().map(|node| kind_of(&node.op).is_some()).collect();
        for id in (0..count).filter(|id| waits[*id]) {
            open.push(Reverse((self.priority(id), id)));
        }
        let (mut late, mut ejected) = (0, 0);
        while let Some(Reverse((_, id))) = open.pop() {
            if !std::mem::take(&mut waits[id]) {
                continue;
            }
            let (start, slots) = self.slots(id, late);
            if !self.settle(id, &slots) {
                for other in self.force(id, start)? {
                    ejected += 1;
                    if !waits[other] {
                        waits[other] = true;
                        open.push(Reverse((self.priority(other), other)));
                    }
                }
                if ejected > budget {
                    return None;
                }
            }
            late = late.max(self.slot(id)? - self.latest[id]);
        }
        Some(())
    }

    /// Slots to try, in their order, and the one to force if none will do.
    fn slots(&self, id: Id, late: i64) -> (i64, Vec<i64>) {
        let ii = self.tables.ii as i64;
        let (first, last) = self.window(id);
        let off = |other: Id| self.slot(other).map(|slot| slot - self.latest[other]);
        let near = self.users[id].iter().map(|(user, _)| *user).chain(self.sources(id)).filter_map(off).max();
        let base = self.latest[id] + near.unwrap_or(late);
        let line = self.tables.shape.line as i64;
        let start = match first {
            Some(first) if self.latest[id] - self.soonest[id] <= 3 * line => first,
            Some(first) => first.max(base - 2),
            None => base,
        };
        let slots = match (first, last) {
            (None, Some(last)) => {
                let top = if self.sources(id).is_empty() { last } else { last.min(start + 4) };
                (top - ii + 1..=top).rev().collect()
            }
            (Some(first), Some(last)) => (first..=last.min(first + ii - 1)).collect(),
            (_, None) => (start..start + ii).collect(),
        };
        (start, slots)
    }

    /// Whether more values would be there in one slot than the ports of those who want them can take.
    fn crowded(&self, id: Id, slot: i64) -> bool {
        let shape = self.tables.shape;
        let mut wants: Vec<((Kind, usize), usize)> = Vec::new();
        let results = self.tables.results(slot + self.own(id));
        for value in results.chain([id]) {
            for (user, at) in &self.users[value] {
                let node = &self.graph().nodes[*user];
                let want = match &node.op {
                    Op::Quad { lanes, .. } => (Kind::Quad, lanes[*at].0),
                    Op::Output(word) => (Kind::Output, word % shape.outputs),
                    op => match kind_of(op) {
                        Some(kind @ (Kind::Rotator | Kind::Multiplier)) => (kind, *at),
                        _ => continue,
                    },
                };
                match wants.iter_mut().find(|(of, _)| *of == want) {
                    Some((_, count)) => *count += 1,
                    None => wants.push((want, 1)),
                }
            }
        }
        let room = |kind: Kind| if kind == Kind::Output { 1 } else { shape.count(kind) };
        // A product's operands can change places.
        wants.iter().any(|((kind, _), count)| *count > room(*kind) && *kind != Kind::Multiplier)
    }

    fn settle(&mut self, id: Id, slots: &[i64]) -> bool {
        let (free, crowded): (Vec<i64>, Vec<i64>) = slots.iter().partition(|slot| !self.crowded(id, **slot));
        self.settle_in(id, &free) || self.settle_in(id, &crowded)
    }

    fn settle_in(&mut self, id: Id, slots: &[i64]) -> bool {
        let mut units = self.units(id);
        for slot in slots {
            let turn = self.pick(units.len());
            units.rotate_left(turn);
            for unit in units.clone() {
                if !self.tables.free(unit, *slot) {
                    continue;
                }
                for choice in 0..self.choices[id].len() {
                    let ports = self.choices[id][choice].clone();
                    if self.put(id, *slot, unit, &ports).is_ok() {
                        return true;
                    }
                }
            }
        }
        false
    }

    /// Puts an operation where it has to be and says who went for that.
    fn force(&mut self, id: Id, start: i64) -> Option<Vec<Id>> {
        let ii = self.tables.ii as i64;
        let known = self.window(id).0.is_some() || self.forced[id].is_some();
        let mut slot = if known { start.max(self.forced[id].map_or(start, |slot| slot + 1)) } else { start };
        if slot > start + ii {
            slot = start;
        }
        let units = self.units(id);
        let mut unit = units[self.pick(units.len())];
        let mut choice = self.pick(self.choices[id].len());
        let mut gone = Vec::new();
        // When values come depends on who makes them: who is forced again and again has these placed again as well.
        self.times[id] += 1;
        if self.times[id].is_multiple_of(4) {
            for arg in self.sources(id) {
                if self.places[arg].is_some() {
                    self.take_back(arg);
                    gone.push(arg);
                }
            }
        }
        for attempt in 0..60 {
            let ports = self.choices[id].get(choice)?.clone();
            let mut by = match self.put(id, slot, unit, &ports) {
                Ok(()) => {
                    self.forced[id] = Some(slot);
                    return Some(gone);
                }
                Err(by) => by,
            };
            by.retain(|other| self.places[*other].is_some());
            if by.is_empty() {
                // Nobody holds anything: neighbours are too near or too far.
                by = self.users[id]
                    .iter()
                    .map(|(user, _)| *user)
                    .filter(|user| self.places[*user].is_some())
                    .collect();
                if by.is_empty() && attempt > 3 {
                    by = self.sources(id).into_iter().filter(|arg| self.places[*arg].is_some()).collect();
                }
                if by.is_empty() {
                    slot += 1;
                    unit = units[self.pick(units.len())];
                    choice = self.pick(self.choices[id].len());
                    continue;
                }
            }
            by.sort_unstable();
            by.dedup();
            for other in by {
                self.take_back(other);
                gone.push(other);
            }
        }
        None
    }

    fn schedule(self) -> Schedule {
        let graph = self.graph();
        let mut stores = BTreeMap::new();
        for (id, kept) in self.tables.kept.iter().enumerate() {
            if let Some(kept) = kept {
                stores.insert(id, Store { memory: kept.memory, slot: kept.slot });
            }
        }
        let route = |id: Id, at: usize| match self.tables.ways[id][at] {
            _ if graph.is_key(graph.nodes[id].args[at]) => Route::Key,
            Some(Way::Stored { slot, .. }) => Route::Stored { slot },
            _ => Route::Direct,
        };
        let routes = (0..graph.nodes.len())
            .map(|id| (0..graph.nodes[id].args.len()).map(|at| route(id, at)).collect())
            .collect();
        Schedule { ii: self.tables.ii, places: self.places, routes, stores }
    }
}
