// SPDX-License-Identifier: Apache-2.0
//! Iterative modulo scheduling: operations from the latest possible start on, each where all of its routes are free;
//! what finds no place ejects those who weigh least of all who are in its way, and they are placed again.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BinaryHeap};

use super::reserve::{Tables, Way};
use super::types::{Place, Route, Schedule, Store, kind_of, port_choices};
use crate::ir::graph::{Graph, Id, Op};
use crate::ir::shape::{Kind, Shape, Unit, latency};
use crate::passes::latency_of;

pub(super) const HOP: i64 = latency::HOP as i64;
/// Slots in which a place is looked for by force. More of them move what is in the way further than they help.
const REACH: i64 = 32;
/// As often as an operation is forced, its operands are placed again, because when they come depends on who makes them.
const AGAIN: usize = 8;
/// An attempt ends when one in so many operations had to go, on average.
const ALL_GONE: usize = 3;
/// A graph of fewer nodes is tried as long as one of so many: few ejections are too few there, as the exact check shows.
const SMALL: usize = 64;
const AS_LARGE: usize = 200;

pub(super) struct Search<'a> {
    pub(super) tables: Tables<'a>,
    pub(super) places: Vec<Option<Place>>,
    pub(super) users: Vec<Vec<(Id, usize)>>,
    soonest: Vec<i64>,
    latest: Vec<i64>,
    /// How far an operation may lag behind its operands' coming before it waits for those that its result is for.
    eager: i64,
    /// Where words of the result begin to be put out: the first ones of an expanded key wait for the last ones.
    out_from: i64,
    /// Where an operation was put by force the last time, and how often.
    forced: Vec<Option<i64>>,
    pub(super) times: Vec<usize>,
    choices: Vec<Vec<Vec<usize>>>,
    /// By operation: the context that the source gives it.
    contexts: Vec<Option<usize>>,
    random: u64,
    /// Places that were looked at: time, as it is the same on every machine.
    pub(super) looks: u64,
}

/// One attempt at an interval; what it has looked at is taken from `budget`, and how often there was no free place for an
/// operation is added to `forced`. `together`: an expanded key's words are put out within an interval.
pub fn search(
    graph: &Graph,
    shape: &Shape,
    ii: usize,
    seed: u64,
    together: bool,
    budget: &mut u64,
    forced: &mut [usize],
) -> Option<Schedule> {
    let mut search = Search::new(graph, shape, (ii, together), seed);
    let found = search.run(*budget);
    *budget = budget.saturating_sub(search.looks);
    forced.iter_mut().zip(&search.times).for_each(|(all, times)| *all += times);
    found.map(|()| search.schedule())
}

impl<'a> Search<'a> {
    fn new(graph: &'a Graph, shape: &'a Shape, (ii, together): (usize, bool), seed: u64) -> Search<'a> {
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
        // Of so many blocks the output memories have the words at once.
        let blocks = (shape.stream_words / graph.outputs.len().div_ceil(shape.outputs).max(1)) as i64;
        let long = graph.setup && end > if together { ii as i64 } else { (blocks + 1) * ii as i64 };
        let most = if together { 1 } else { (blocks - 2).max(1) };
        let out_from = if long { end - most * ii as i64 + REACH } else { 0 };
        Search {
            tables: Tables::new(graph, shape, ii),
            places: vec![None; count],
            users,
            soonest,
            latest,
            forced: vec![None; count],
            times: vec![0; count],
            choices: (0..count).map(|id| port_choices(graph, id, shape)).collect(),
            contexts: graph.contexts(),
            random: seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1,
            // Graphs differ in which is better: message schedules want to be early, few stores to be late.
            eager: if seed % 4 == 3 { 3 * shape.line as i64 } else { i64::MAX },
            out_from,
            looks: 0,
        }
    }

    pub(super) fn graph(&self) -> &'a Graph {
        self.tables.graph
    }

    pub(super) fn pick(&mut self, below: usize) -> usize {
        self.random ^= self.random << 13;
        self.random ^= self.random >> 7;
        self.random ^= self.random << 17;
        (self.random >> 33) as usize % below.max(1)
    }

    pub(super) fn own(&self, id: Id) -> i64 {
        latency_of(&self.graph().nodes[id].op) as i64
    }

    pub(super) fn slot(&self, id: Id) -> Option<i64> {
        self.places[id].as_ref().map(|place| place.slot)
    }

    /// Arguments that come over the network.
    pub(super) fn sources(&self, id: Id) -> Vec<Id> {
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
    pub(super) fn window(&self, id: Id) -> (Option<i64>, Option<i64>) {
        let after = |arg: Id| self.slot(arg).map(|slot| slot + self.own(arg) + HOP);
        let first = self.graph().nodes[id].args.iter().filter_map(|arg| after(*arg)).max();
        let before = |user: Id| self.slot(user).map(|slot| slot - self.own(id) - HOP);
        let last = self.users[id].iter().filter_map(|(user, _)| before(*user)).min();
        (first, last)
    }

    /// What is placed first: what must start early. A word of the block waits for who reads it.
    fn priority(&self, id: Id) -> i64 {
        if self.sources(id).is_empty() {
            let user = self.users[id].iter().map(|(user, _)| self.latest[*user]).min();
            return 2 * user.unwrap_or(self.latest[id]) + 1;
        }
        2 * self.latest[id]
    }

    fn run(&mut self, budget: u64) -> Option<()> {
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
                // Those that come to an end come to it with few: others are better begun anew.
                if ALL_GONE * ejected > if count < SMALL { AS_LARGE } else { count } {
                    return None;
                }
            }
            if self.looks > budget {
                return None;
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
        let start = match first {
            Some(first) if matches!(self.graph().nodes[id].op, Op::Output(_)) && self.out_from > first => {
                self.out_from
            }
            Some(first) if self.latest[id] - self.soonest[id] <= self.eager => first,
            Some(first) => first.max(base - 2),
            None => base,
        };
        let slots: Vec<i64> = match (first, last) {
            (None, Some(last)) => {
                let top = if self.sources(id).is_empty() { last } else { last.min(start + 4) };
                (top - ii + 1..=top).rev().collect()
            }
            (Some(first), Some(last)) if self.keeps(id) <= 1 => {
                (first.max(last - ii + 1)..=last).rev().collect()
            }
            (Some(first), Some(last)) => (first..=last.min(first + ii - 1)).collect(),
            // Whose context is given is not far from where it would be otherwise.
            (None, None) if self.contexts[id].is_some() => (start - ii / 2..start + (ii + 1) / 2).collect(),
            (_, None) => (start..start + ii).collect(),
        };
        (start, slots.into_iter().filter(|slot| self.may(id, *slot)).collect())
    }

    /// Whether a slot is in the context that the source gives an operation, if it gives one.
    fn may(&self, id: Id, slot: i64) -> bool {
        self.contexts[id].is_none_or(|context| slot.rem_euclid(self.tables.ii as i64) == context as i64)
    }

    /// How many of an operation's operands nobody wants later.
    fn keeps(&self, id: Id) -> usize {
        let mut args = self.sources(id);
        args.sort_unstable();
        args.dedup();
        let first = self.window(id).0;
        let alone = |arg: &Id| {
            let later = self.users[*arg].iter().filter(|(user, _)| *user != id);
            !later.filter_map(|(user, _)| self.slot(*user)).any(|slot| Some(slot) > first)
        };
        args.iter().filter(|arg| alone(arg)).count()
    }

    /// Whether more values would be there in one slot than the ports of those who want them can take.
    fn crowded(&self, id: Id, slot: i64) -> bool {
        let shape = self.tables.shape;
        let mut wants: Vec<((Kind, usize), usize)> = Vec::new();
        let want = |wants: &mut Vec<((Kind, usize), usize)>, what| match wants
            .iter_mut()
            .find(|(of, _)| *of == what)
        {
            Some((_, count)) => *count += 1,
            None => wants.push((what, 1)),
        };
        let results = self.tables.results(slot + self.own(id));
        for value in results.chain([id]) {
            // A set-up has values that wait for the end of it, and each memory element takes one in a slot.
            if self.graph().setup && self.far(value) {
                want(&mut wants, (Kind::Memory, 0));
            }
            for (user, at) in &self.users[value] {
                let node = &self.graph().nodes[*user];
                let wanted = match &node.op {
                    Op::Quad { lanes, .. } => (Kind::Quad, lanes[*at].0),
                    Op::Output(word) => (Kind::Output, word % shape.outputs),
                    op => match kind_of(op) {
                        Some(kind @ (Kind::Rotator | Kind::Multiplier)) => (kind, *at),
                        _ => continue,
                    },
                };
                want(&mut wants, wanted);
            }
        }
        let room = |kind: Kind| if kind == Kind::Output { 1 } else { shape.count(kind) };
        // A product's operands can change places.
        wants.iter().any(|((kind, _), count)| *count > room(*kind) && *kind != Kind::Multiplier)
    }

    /// Whether somebody wants a value when no line has it any more.
    fn far(&self, id: Id) -> bool {
        let line = self.tables.shape.long_line as i64;
        self.users[id].iter().any(|(user, _)| self.soonest[*user] - self.soonest[id] - self.own(id) > line)
    }

    fn settle(&mut self, id: Id, slots: &[i64]) -> bool {
        let mut crowded = Vec::new();
        for slot in slots {
            if self.crowded(id, *slot) {
                crowded.push(*slot);
            } else if self.settle_in(id, *slot) {
                return true;
            }
        }
        crowded.into_iter().any(|slot| self.settle_in(id, slot))
    }

    /// Puts an operation where it costs least of a slot's places that nobody has to go for.
    fn settle_in(&mut self, id: Id, slot: i64) -> bool {
        let mut units = self.units(id);
        let turn = self.pick(units.len());
        units.rotate_left(turn);
        let mut found: Vec<(u64, Unit, usize)> = Vec::new();
        for unit in units.into_iter().filter(|unit| self.tables.free(*unit, slot)) {
            for choice in 0..self.choices[id].len() {
                self.looks += 1;
                let cost = self.cost(id, slot, unit, &self.choices[id][choice], 0);
                found.extend(cost.map(|(_, taken)| (taken, unit, choice)));
            }
        }
        found.sort_by_key(|(taken, ..)| *taken);
        found.into_iter().any(|(_, unit, choice)| {
            let ports = self.choices[id][choice].clone();
            self.put(id, slot, unit, &ports).is_ok()
        })
    }

    /// Puts an operation where those who have to go for it weigh least, and says who went.
    fn force(&mut self, id: Id, start: i64) -> Option<Vec<Id>> {
        let units = self.units(id);
        let ii = self.tables.ii as i64;
        let reach = if self.contexts[id].is_some() { ii } else { ii.min(REACH) };
        let mut best: Option<((u64, u64), i64, Unit, usize)> = None;
        let mut ties = 0;
        for slot in start..start + reach {
            if !self.may(id, slot) {
                continue;
            }
            // Not where it went the last time, if that can be helped.
            let again = if self.forced[id] == Some(slot) { self.weight(id) } else { 0 };
            for unit in &units {
                for choice in 0..self.choices[id].len() {
                    self.looks += 1;
                    let least = best.map_or((u64::MAX, u64::MAX), |(cost, ..)| cost);
                    let cost = self.cost(id, slot, *unit, &self.choices[id][choice], least.0);
                    let Some(cost) =
                        cost.map(|(gone, taken)| (gone + again, taken)).filter(|cost| *cost <= least)
                    else {
                        continue;
                    };
                    ties = if cost < least { 1 } else { ties + 1 };
                    if self.pick(ties) == 0 {
                        best = Some((cost, slot, *unit, choice));
                    }
                }
            }
        }
        self.times[id] += 1;
        let (_, slot, unit, choice) = best?;
        let mut gone = Vec::new();
        if self.times[id].is_multiple_of(AGAIN) {
            for arg in self.sources(id) {
                self.eject(arg, &mut gone);
            }
        }
        let ports = self.choices[id][choice].clone();
        // Each time somebody goes, so that this ends.
        while let Err(by) = self.put(id, slot, unit, &ports) {
            let before = gone.len();
            for other in by {
                self.eject(other, &mut gone);
            }
            if gone.len() == before {
                return None;
            }
        }
        self.forced[id] = Some(slot);
        Some(gone)
    }

    fn eject(&mut self, id: Id, gone: &mut Vec<Id>) {
        if self.places[id].is_some() {
            self.take_back(id);
            gone.push(id);
        }
    }

    fn schedule(self) -> Schedule {
        let graph = self.graph();
        let mut stores = BTreeMap::new();
        for (id, retained) in self.tables.retained.iter().enumerate() {
            if let Some(retained) = retained {
                stores.insert(id, Store { memory: retained.memory, slot: retained.slot });
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
        Schedule { ii: self.tables.ii, places: self.places, routes, stores, shared: BTreeMap::new() }
    }
}
