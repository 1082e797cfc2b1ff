// SPDX-License-Identifier: Apache-2.0
//! Which frames go to a slot next.

use std::time::Duration;

use ace_board::array::Loadable;
use ace_board::expected::Expected;
use ace_board::frame::HEADER;
use ace_board::pass::Task;
use ace_engine::{ConfigurationId, EngineError};

use super::fixed;
use super::groups::{Cost, Group, NO_KEY};
use super::slots::{Bank, Phase, Place, Slot};
use super::{LinkEngine, Pending};
use crate::Wire;
use crate::wire::{BEAT, Kind};

/// Frames of one group that go together before others are asked.
const TURN: usize = 16;

impl<W: Wire> LinkEngine<W> {
    /// Asks slots for what waits, as long as there is room on the way to them.
    pub(super) fn dispatch(&mut self, now: Duration) {
        let mut more = true;
        while std::mem::take(&mut more) {
            for slot in 0..self.slots.len() {
                while self.session.has_room(slot as u8) && self.step(slot, now) {
                    more = true;
                }
            }
        }
    }

    /// One decision for a slot. False if there is nothing to do for it now.
    fn step(&mut self, slot: usize, now: Duration) -> bool {
        let Some(own) = self.slots.get(slot) else { return false };
        match own.phase {
            Phase::Open => {}
            Phase::Drains { set } => {
                if self.session.under_way(slot as u8) == 0 {
                    self.drained(slot, set, now);
                }
                return false;
            }
            Phase::Marks { .. } => return false,
        }
        if own.fixed.is_some() && self.is_ahead(slot) {
            return false;
        }
        let slots = &self.slots;
        let chosen = self.groups.choose(|group| cost(slots, slot, group));
        let Some((set, key, cost)) = chosen else { return false };
        let Some(own) = self.slots.get_mut(slot) else { return false };
        match cost {
            Cost::Drain => {
                own.phase = Phase::Drains { set };
                true
            }
            Cost::Load => {
                if let Place::Fresh { tile } = own.place() {
                    self.load(slot, tile, set, now);
                }
                true
            }
            _ => self.turn(slot, set, key, now),
        }
    }

    /// Whether another slot that computes the same has less to do.
    fn is_ahead(&self, slot: usize) -> bool {
        let fixed = self.slots.get(slot).and_then(|own| own.fixed);
        let own = self.session.under_way(slot as u8);
        self.slots
            .iter()
            .enumerate()
            .any(|(other, like)| like.fixed == fixed && self.session.under_way(other as u8) < own)
    }

    /// Nothing is under way any more: the bank that is to stay is made to run, and then the other one is known.
    fn drained(&mut self, slot: usize, set: usize, now: Duration) {
        let Some(own) = self.slots.get_mut(slot) else { return };
        match own.place() {
            Place::Fresh { tile } => {
                own.phase = Phase::Open;
                self.load(slot, tile, set, now);
            }
            Place::Beside { tile, runs } => {
                let Some(stays) = own.bank((tile, runs)).map(|bank| bank.set) else { return };
                let Some(frame) = self.sets.get(stays).map(Loadable::run) else { return };
                own.phase = Phase::Marks { set, tile };
                own.runs((tile, runs), self.groups.now);
                self.name(slot, (tile, runs), stays, now);
                let ticket = self.tickets.add(Pending::Mark);
                self.session.data(slot as u8, ticket, frame, BEAT, now);
            }
        }
    }

    /// Sees to it that a frame for this set is not another one's: of several for the same frames the one with the last key is
    /// asked. Under the key that is sent here nothing is computed.
    fn name(&mut self, slot: usize, at: (usize, usize), set: usize, now: Duration) {
        let Some(own) = self.slots.get_mut(slot) else { return };
        if !alone(own, &self.sets, set) {
            let frame = self.sets.get_mut(set).and_then(Loadable::any_key);
            let Some(frame) = frame else { return };
            last_key(own, &self.sets, set);
            if let Some(bank) = own.bank_mut(at) {
                bank.key = None;
            }
            self.work.keys += 1;
            let ticket = self.tickets.add(Pending::Key { set, key: NO_KEY, at });
            self.session.change(slot as u8, ticket, Kind::Key, frame, now);
        }
    }

    /// Loads a set into the bank of a tile that does not run.
    pub(super) fn load(&mut self, slot: usize, tile: usize, set: usize, now: Duration) {
        let (Some(own), Some(what)) = (self.slots.get_mut(slot), self.sets.get(set)) else { return };
        let frame = what.load(tile as u8);
        let bank = own.load(tile, set, self.groups.now);
        own.phase = Phase::Open;
        self.work.loads += 1;
        let span = self.shelf.find(set);
        let ticket = self.tickets.add(Pending::Load { set, at: (tile, bank), by_name: span.is_some() });
        match span {
            Some(span) => {
                self.work.recalls += 1;
                self.session.recall(slot as u8, ticket, span, frame, now);
            }
            None => self.session.change(slot as u8, ticket, Kind::Load, frame, now),
        }
    }

    /// Writes words of a set that was loaded into the board's store, if slots can be asked for nothing now.
    pub(super) fn shelve(&mut self, now: Duration) {
        if let Some((set, place, words)) = self.shelf.next()
            && self.session.can_store()
            && let Some(load) = self.sets.get(set).map(|set| set.load(0))
            && let Some(words) = load.get(HEADER + words.start..HEADER + words.end)
        {
            self.session.store(place, words, now);
        }
    }

    /// Frames of a group go to a slot that holds their set, behind their key.
    fn turn(&mut self, slot: usize, set: usize, key: u64, now: Duration) -> bool {
        let Some(own) = self.slots.get(slot) else { return false };
        let fixed = own.fixed.is_some();
        let Some(at) = own.find(set).or(fixed.then_some((0, 0))) else { return false };
        // Without a key to send there is nothing to go together for, and there may be another slot.
        for _ in 0..if fixed { 1 } else { TURN } {
            if !self.session.has_room(slot as u8) {
                break;
            }
            let Some(job) = self.groups.next(set, key) else { return true };
            let task = self
                .jobs
                .get_mut(job)
                .and_then(|job| Task::of(&job.action, job.second, &job.buffer, &job.carried));
            let Some(task) = task else {
                // What no slot can be asked for was not taken.
                self.groups.gone(set, key);
                self.jobs.finish(job, Err(EngineError::Lost));
                continue;
            };
            let frame = if fixed { fixed::request(&task) } else { Some(Loadable::data(&task)) };
            let keyed = fixed || self.keyed(slot, at, (set, key), &task, now);
            let Some(frame) = frame.filter(|_| keyed) else {
                self.groups.gone(set, key);
                let configuration = ConfigurationId::from_index(set);
                self.jobs.finish(job, Err(EngineError::LoadFailed { configuration }));
                continue;
            };
            self.groups.gone(set, key);
            let expected = Expected::of(&task, 0);
            let ticket = self.tickets.add(Pending::Data { job, set, key, at, expected });
            self.work.data += 1;
            self.session.data(slot as u8, ticket, frame, expected.bytes(), now);
        }
        let decisions = self.groups.now;
        if let Some(own) = self.slots.get_mut(slot) {
            own.runs(at, decisions);
        }
        self.groups.turn(set, key);
        true
    }

    /// Sees to it that the set has this key. False if it has no such keys.
    fn keyed(
        &mut self,
        slot: usize,
        at: (usize, usize),
        place: (usize, u64),
        task: &Task,
        now: Duration,
    ) -> bool {
        let (set, key) = place;
        let Some(own) = self.slots.get_mut(slot) else { return false };
        if key == NO_KEY || own.bank(at).is_some_and(|bank| bank.key == Some(key)) {
            return true;
        }
        let Some(what) = self.sets.get_mut(set) else { return false };
        let Some(frame) = self.keys.frame(place, what, task, now) else { return false };
        if let Some(bank) = own.bank_mut(at) {
            bank.key = Some(key);
        }
        last_key(own, &self.sets, set);
        self.work.keys += 1;
        let ticket = self.tickets.add(Pending::Key { set, key, at });
        self.session.change(slot as u8, ticket, Kind::Key, frame, now);
        true
    }
}

/// Banks of a slot whose sets are for the same frames as this one.
fn alike<'a>(own: &'a mut Slot, sets: &'a [Loadable], set: usize) -> impl Iterator<Item = &'a mut Bank> {
    let like = move |other: usize| match (sets.get(other), sets.get(set)) {
        (Some(other), Some(set)) => other.answers_like(set),
        _ => false,
    };
    let banks = own.tiles.iter_mut().flat_map(|tile| &mut tile.banks).flatten();
    banks.filter(move |bank| bank.set != set && like(bank.set))
}

/// Whether a slot has no other set for the same frames.
fn alone(own: &mut Slot, sets: &[Loadable], set: usize) -> bool {
    alike(own, sets, set).next().is_none()
}

/// A slot asks the set with the last key, of those that are for the same frames: the others' keys have to come again.
fn last_key(own: &mut Slot, sets: &[Loadable], set: usize) {
    alike(own, sets, set).for_each(|bank| bank.key = None);
}

/// What it would cost a slot to take a group's frames.
fn cost(slots: &[Slot], slot: usize, group: &Group) -> Cost {
    let Some(own) = slots.get(slot) else { return Cost::Never };
    if let Some(fixed) = own.fixed {
        return if group.set == fixed { Cost::Nothing } else { Cost::Never };
    }
    if slots.iter().any(|own| own.fixed == Some(group.set)) {
        return Cost::Never;
    }
    if let Some(at) = own.find(group.set) {
        let keyed = group.key == NO_KEY || own.bank(at).is_some_and(|bank| bank.key == Some(group.key));
        return if keyed { Cost::Nothing } else { Cost::Key };
    }
    // Where another slot has the set, or is about to, it is that one's.
    let is_there = |(at, other): (usize, &Slot)| {
        let comes =
            matches!(other.phase, Phase::Drains { set } | Phase::Marks { set, .. } if set == group.set);
        at != slot && (comes || other.find(group.set).is_some())
    };
    if slots.iter().enumerate().any(is_there) {
        return Cost::Never;
    }
    match own.place() {
        Place::Fresh { .. } => Cost::Load,
        Place::Beside { .. } => Cost::Drain,
    }
}
