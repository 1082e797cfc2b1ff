// SPDX-License-Identifier: Apache-2.0
//! Words for the board's store. One frame of them is under way at a time, as the store takes no word in front of the one
//! before, and each waits until no slot's frame does.

use std::time::Duration;

use super::{Asked, Event, Session};
use crate::Batch;
use crate::wire::{self, Kind, Span, flag};

/// Words that were sent so many times without an answer are given up: slots compute without a store.
const TRIES: u32 = 16;

/// Words on their way to the store.
#[derive(Debug)]
pub struct Storing {
    place: u16,
    /// The frame's beats, the place in front.
    beats: Vec<u8>,
    pub asked: Asked,
    /// It was sent, and its answer is not missed.
    under_way: bool,
}

impl Storing {
    /// Beats that may be in the board's queue.
    pub fn queued(&self) -> usize {
        if self.under_way { wire::queued(self.beats.len()) } else { 0 }
    }
}

impl Session {
    /// Whether words can go to the store: none are under way, and nothing else waits.
    pub fn can_store(&self) -> bool {
        let idle = self.is_open() && self.store.is_none() && self.backlog() == 0;
        idle && (0..self.slots.len()).all(|slot| self.has_room(slot as u8))
    }

    /// Asks for these words (whole beats, [`wire::STORED`] at most) to be at this place of the store; answered by
    /// [`Event::Stored`].
    pub fn store(&mut self, place: u16, words: &[u8], now: Duration) {
        let beats = [&Span::store_beat(place), words].concat();
        let asked = Asked { number: 0, at: now, missed: now, tries: 0 };
        self.store = Some(Storing { place, beats, asked, under_way: false });
    }

    /// Whether the words can be sent without any slot's frame waiting for them.
    fn words_fit(&self, store: &Storing) -> bool {
        let used = self.used() - store.queued();
        self.backlog() == 0 && (used == 0 || used + wire::queued(store.beats.len()) <= self.queue)
    }

    /// When they are to be sent, if nothing else has to be first.
    pub(super) fn store_due(&self) -> Option<Duration> {
        self.store.as_ref().filter(|store| self.words_fit(store)).map(|store| store.asked.missed)
    }

    /// Their answer may be missed: then they are to be sent again.
    pub(super) fn miss_words(&mut self, now: Duration) {
        if let Some(store) = self.store.as_mut().filter(|store| store.asked.missed <= now) {
            store.under_way = false;
        }
    }

    /// Sends them, for the first time or again.
    pub(super) fn send_words(&mut self, batch: &mut Batch, now: Duration) {
        if self.store_due().is_none_or(|due| due > now) {
            return;
        }
        let Some(mut store) = self.store.take() else { return };
        if store.asked.tries >= TRIES {
            return self.events.push_back(Event::Stored { place: store.place, taken: false });
        }
        let header = self.header(Kind::Store, flag::FIRST | flag::LAST);
        (store.asked, store.under_way) = (self.once_more(store.asked, header.number, now), true);
        batch.add(|out| header.write(&store.beats, out));
        self.store = Some(store);
    }

    /// The board says whether words are in the store.
    pub(super) fn stored(&mut self, number: u16, taken: bool) -> bool {
        let own = |store: &mut Storing| store.asked.tries > 0 && store.asked.number == number;
        if let Some(store) = self.store.take_if(own) {
            self.events.push_back(Event::Stored { place: store.place, taken });
        }
        // Else it is of what was sent again since.
        true
    }

    /// The board does not have the words of a recall.
    pub(super) fn unstored(&mut self, slot: usize, at: usize) -> bool {
        let Some(ticket) = self.slots.get_mut(slot).and_then(|queue| queue.whole(at)) else { return false };
        self.controls = 1;
        self.events.push_back(Event::Unstored { ticket, slot: slot as u8 });
        true
    }
}
