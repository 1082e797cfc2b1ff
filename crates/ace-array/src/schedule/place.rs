// SPDX-License-Identifier: Apache-2.0
//! Operations in places: what a place costs, and the routes of who has one.

use super::reserve::{Path, Price, Taken, Use};
use super::search::{HOP, Search};
use super::types::Place;
use crate::ir::graph::Id;
use crate::ir::shape::Unit;

/// What an operand costs that no port takes yet, one that is read once more from a memory element, and one that has to be
/// stored for it.
const NEAR: u64 = 1;
const READ: u64 = 3;
const KEEP: u64 = 4;
/// How much more those weigh who find no other slot between their neighbours.
const TIGHT: i64 = 16;

/// One operand whose two ends are placed; `other` is the end that was there before.
struct Operand {
    user: Use,
    port: (Unit, usize),
    from: Taken,
    slot: i64,
    other: Id,
}

impl Search<'_> {
    fn taken(&self, id: Id) -> Option<Taken> {
        let place = self.places[id].as_ref()?;
        Some(Taken { from: place.unit, value: id, slot: place.slot + self.own(id) })
    }

    /// Puts an operation somewhere with all routes to and from its placed neighbours, or says who has to go for that.
    pub(super) fn put(&mut self, id: Id, slot: i64, unit: Unit, ports: &[usize]) -> Result<(), Vec<Id>> {
        let end = slot + self.own(id);
        let holders: Vec<Id> = self.tables.holders(id, unit, slot, end).collect();
        if !holders.is_empty() {
            return Err(holders);
        }
        self.tables.occupy(id, unit, slot, end);
        self.places[id] = Some(Place { slot, unit, ports: ports.to_vec() });
        let operands: Vec<Operand> = self.operands(id, slot, unit, ports).collect();
        for operand in operands {
            let Operand { user, port, from, slot, other } = operand;
            match self.tables.way(port, slot, from) {
                Some(path) => self.tables.route(user, port, from, path),
                None => {
                    let by = self.cheaper(&operand);
                    self.take_back(id);
                    return Err(by.unwrap_or(vec![other]));
                }
            }
        }
        Ok(())
    }

    /// Operands of an operation, and those that others have of it, as far as both ends are placed.
    fn operands(&self, id: Id, slot: i64, unit: Unit, ports: &[usize]) -> impl Iterator<Item = Operand> {
        let own = self.graph().nodes[id].args.iter().enumerate().filter_map(move |(at, arg)| {
            let from = self.taken(*arg)?;
            Some(Operand { user: (id, at), port: (unit, ports[at]), from, slot, other: *arg })
        });
        let from = Taken { from: unit, value: id, slot: slot + self.own(id) };
        let others = self.users[id].iter().filter_map(move |(user, at)| {
            let place = self.places[*user].as_ref()?;
            let port = (place.unit, place.ports[*at]);
            Some(Operand { user: (*user, *at), port, from, slot: place.slot, other: *user })
        });
        own.chain(others)
    }

    /// Those who hold an operand's port, if they weigh less than the other end of it.
    fn cheaper(&self, operand: &Operand) -> Option<Vec<Id>> {
        let wait = operand.slot - operand.from.slot - HOP;
        if !(0..self.tables.reach(operand.port)).contains(&wait) {
            return None;
        }
        let Price::Held(users) = self.tables.price(operand.port, operand.from) else { return None };
        let mut users: Vec<Id> = users.iter().map(|(user, _)| *user).collect();
        users.sort_unstable();
        users.dedup();
        let all: u64 = users.iter().map(|user| self.weight(*user)).sum();
        (all <= self.weight(operand.other)).then_some(users)
    }

    fn unroute(&mut self, user: Id, at: usize) {
        let arg = self.graph().nodes[user].args[at];
        let (Some(place), Some(from)) = (&self.places[user], self.taken(arg)) else { return };
        let port = (place.unit, place.ports[at]);
        self.tables.unroute((user, at), port, from.slot);
    }

    pub(super) fn take_back(&mut self, id: Id) {
        for at in 0..self.graph().nodes[id].args.len() {
            self.unroute(id, at);
        }
        for (user, at) in self.users[id].clone() {
            self.unroute(user, at);
        }
        if let Some(place) = self.places[id].take() {
            self.tables.vacate(id, place.unit, place.slot, place.slot + self.own(id));
        }
    }

    /// What it would cost to do an operation there: what those weigh who would have to go, and the ports and memory
    /// elements that are taken. Nothing if it is more than `most`.
    pub(super) fn cost(
        &self,
        id: Id,
        slot: i64,
        unit: Unit,
        ports: &[usize],
        most: u64,
    ) -> Option<(u64, u64)> {
        let end = slot + self.own(id);
        let (mut gone, mut taken) = (0, 0);
        for other in self.tables.holders(id, unit, slot, end) {
            gone += self.weight(other);
        }
        for operand in self.operands(id, slot, unit, ports) {
            if gone > most {
                return None;
            }
            match self.tables.way(operand.port, operand.slot, operand.from) {
                Some(Path::Direct) => {
                    let shared = matches!(self.tables.price(operand.port, operand.from), Price::Shared);
                    taken += if shared { 0 } else { NEAR };
                }
                Some(Path::Again { .. }) => taken += READ,
                Some(Path::Keep { .. }) => taken += KEEP,
                None => {
                    let holders = self.cheaper(&operand);
                    let holders = holders.map(|users| users.iter().map(|user| self.weight(*user)).sum());
                    gone += holders.unwrap_or(self.weight(operand.other));
                }
            }
        }
        (gone <= most).then_some((gone, taken))
    }

    /// What it costs that an operation has to go: who went often and who has few slots finds a place least.
    pub(super) fn weight(&self, id: Id) -> u64 {
        let (first, last) = self.window(id);
        let slack = first.zip(last).map_or(i64::MAX, |(first, last)| (last - first).max(0));
        (1 + self.times[id] as u64) * (1 + (TIGHT / slack.saturating_add(1)) as u64)
    }
}
