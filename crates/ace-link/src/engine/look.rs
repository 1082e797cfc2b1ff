// SPDX-License-Identifier: Apache-2.0
//! What is to be seen of an engine: what banks hold and have done, over all sessions, and how the cable is.

use std::collections::BTreeMap;
use std::time::Duration;

use ace_board::capability::Capability;
use ace_board::frame::Status;

use super::LinkEngine;
use super::slots::Slot;
use crate::session::{Counts, Loss};
use crate::{Identity, Wire};

/// A bank: slot, tile, bank.
type Place = (usize, usize, usize);

/// What an engine has done.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Work {
    /// Loads that were sent, over the cable or by name.
    pub loads: u64,
    /// Those by name: the board's store has the set.
    pub recalls: u64,
    /// Of these, those that the board has refused, so that the set went over the cable.
    pub refused_recalls: u64,
    /// Loads that a slot has refused, but for those by which its tiles are found.
    pub refused_loads: u64,
    /// Keys that were sent.
    pub keys: u64,
    /// Frames of data that were sent, once each.
    pub data: u64,
    /// Sessions that were lost.
    pub lost: u64,
    /// Sessions that were opened because a slot did not hold what it was thought to hold.
    pub renewed: u64,
}

/// What was answered by a bank, or under a set.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Done {
    /// Loads that the slot has taken.
    pub loads: u64,
    /// Those that came from the board's store.
    pub by_name: u64,
    /// Passes that it has computed: one for each frame of data.
    pub operations: u64,
    /// Bytes of data in them.
    pub data_bytes: u64,
}

impl Done {
    fn loaded(&mut self, by_name: bool) {
        self.loads += 1;
        self.by_name += u64::from(by_name);
    }

    fn computed(&mut self, bytes: usize) {
        self.operations += 1;
        self.data_bytes += bytes as u64;
    }
}

/// The board's store, as this session has filled it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Shelved<'a> {
    /// Words that it has; 0: the board has none.
    pub words: usize,
    /// Words that were written, or are to be.
    pub filled: usize,
    /// Sets that are in it, in the order of their places.
    pub sets: Vec<&'a str>,
    /// Whether a set is still being written.
    pub is_writing: bool,
}

/// A bank of a tile.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BankReport<'a> {
    /// Of the board.
    pub slot: usize,
    /// Of the slot.
    pub tile: usize,
    /// Of the tile.
    pub bank: usize,
    /// The set in it; `None`: it is empty, as every one is when a session begins.
    pub resident: Option<&'a str>,
    /// All sets that it has had, in the order of the first loads.
    pub loaded: Vec<&'a str>,
    /// What it has done.
    pub done: Done,
}

/// What banks and sets have done, whatever became of the sessions.
#[derive(Debug, Default)]
pub(super) struct Tally {
    banks: BTreeMap<Place, (Done, Vec<usize>)>,
    sets: BTreeMap<usize, Done>,
}

impl Tally {
    pub fn loaded(&mut self, place: Place, set: usize, by_name: bool) {
        let (done, had) = self.banks.entry(place).or_default();
        done.loaded(by_name);
        if !had.contains(&set) {
            had.push(set);
        }
        self.sets.entry(set).or_default().loaded(by_name);
    }

    pub fn computed(&mut self, place: Place, set: usize, bytes: usize) {
        self.banks.entry(place).or_default().0.computed(bytes);
        self.sets.entry(set).or_default().computed(bytes);
    }
}

impl<W: Wire> LinkEngine<W> {
    /// What the board said when the session was opened.
    pub fn identity(&self) -> &Identity {
        &self.identity
    }

    /// Why the last session was lost, while there is no new one.
    pub fn loss(&self) -> Option<Loss> {
        self.loss
    }

    /// Operations that were answered with and without a result.
    pub fn operations(&self) -> (u64, u64) {
        self.jobs.counts
    }

    /// Sets that a slot does not take, with what it said.
    pub fn refused(&self) -> impl Iterator<Item = (&str, Option<Status>)> {
        let named = |(set, status): (&usize, &Option<Status>)| Some((self.sets.get(*set)?.name(), *status));
        self.refused.iter().filter_map(named)
    }

    /// What was done so far.
    pub fn work(&self) -> Work {
        self.work
    }

    /// What the session has counted, and those before it.
    pub fn counts(&self) -> Counts {
        let (all, own) = (self.counts, self.session.counts());
        Counts {
            frames: all.frames + own.frames,
            resent: all.resent + own.resent,
            stale: all.stale + own.stale,
            strange: all.strange + own.strange,
        }
    }

    /// The round trip of a frame, if any was measured.
    pub fn round_trip(&self) -> Option<Duration> {
        self.session.round_trip()
    }

    /// What the board's store has.
    pub fn shelved(&self) -> Shelved<'_> {
        let (words, filled) = (usize::from(self.identity.store_words), self.shelf.filled());
        let sets = self.shelf.sets().into_iter().filter_map(|set| self.name_of(set)).collect();
        Shelved { words, filled, sets, is_writing: self.shelf.next().is_some() }
    }

    /// Both banks of every tile that is known, and of every other one that has done something.
    pub fn banks(&self) -> Vec<BankReport<'_>> {
        let tiles = |(slot, own): (usize, &Slot)| {
            let banks = if own.fixed.is_some() { 1 } else { 2 };
            (0..own.tiles.len().max(1)).flat_map(move |tile| (0..banks).map(move |bank| (slot, tile, bank)))
        };
        let mut all: Vec<Place> = self.slots.iter().enumerate().flat_map(tiles).collect();
        all.extend(self.tally.banks.keys());
        all.sort_unstable();
        all.dedup();
        let name = |set: usize| self.name_of(set);
        let report = |(slot, tile, bank): Place| {
            let own = self.slots.get(slot);
            let fixed = own.and_then(|own| name(own.fixed?));
            let own = own.and_then(|own| own.bank((tile, bank)));
            let (done, had) = self.tally.banks.get(&(slot, tile, bank)).cloned().unwrap_or_default();
            let loaded = had.into_iter().filter_map(name).collect();
            BankReport {
                slot,
                tile,
                bank,
                resident: own.and_then(|own| name(own.set)).or(fixed),
                loaded,
                done,
            }
        };
        all.into_iter().map(report).collect()
    }

    /// What was done under each set that was loaded.
    pub fn used(&self) -> impl Iterator<Item = (&str, Done)> {
        self.tally.sets.iter().filter_map(|(set, done)| Some((self.name_of(*set)?, *done)))
    }

    /// What slots compute that take no sets, by the names of the algorithms.
    pub fn fixed(&self) -> impl Iterator<Item = (&str, &[Capability])> {
        self.fixed.iter().filter(|own| !own.can.is_empty()).map(|own| (own.name.as_str(), own.can.as_slice()))
    }

    /// Names of the sets that slots hold.
    pub fn resident(&self) -> Vec<&str> {
        self.banks().iter().filter_map(|bank| bank.resident).collect()
    }
}
