// SPDX-License-Identifier: Apache-2.0
//! What a slot has been asked and has not answered, in the order in which it was asked.

use std::collections::VecDeque;
use std::time::Duration;

use zeroize::Zeroizing;

use crate::wire::{self, Kind};

/// Whose answer it is: a number of whoever asked.
pub type Ticket = usize;

/// A slot's frame on its way.
#[derive(Debug)]
pub struct Flight {
    pub ticket: Ticket,
    pub kind: Kind,
    pub tag: u16,
    /// How many loads and keys the slot has had, this one counted.
    pub sets: u64,
    pub keys: u64,
    pub bytes: Bytes,
    /// Of a recall the load that goes in its place if the store does not have the words.
    pub load: Option<Zeroizing<Vec<u8>>>,
    /// Bytes of a response whose status is Ok.
    pub expected: usize,
    pub sent: Option<Sent>,
    /// How many times it was sent.
    pub tries: u32,
    /// It came, and what stands in front of it is not known to be good yet.
    pub answer: Option<Vec<u8>>,
}

/// A frame's bytes; those of keys and sets are wiped.
#[derive(Debug)]
pub enum Bytes {
    Data(Vec<u8>),
    Secret(Zeroizing<Vec<u8>>),
}

impl Bytes {
    pub fn get(&self) -> &[u8] {
        match self {
            Bytes::Data(bytes) => bytes,
            Bytes::Secret(bytes) => bytes,
        }
    }

    pub fn get_mut(&mut self) -> &mut [u8] {
        match self {
            Bytes::Data(bytes) => bytes,
            Bytes::Secret(bytes) => bytes,
        }
    }
}

/// When and how a frame was sent last.
#[derive(Clone, Copy, Debug)]
pub struct Sent {
    /// The number of its first segment.
    pub number: u16,
    pub segments: u16,
    pub at: Duration,
    /// When its answer is missed.
    pub missed: Duration,
    /// The board has said that it is to come again.
    pub known_lost: bool,
}

impl Sent {
    /// The board has said that it is to come again, which is done now.
    pub fn lost(&mut self, now: Duration) {
        (self.missed, self.known_lost) = (now, true);
    }
}

impl Flight {
    /// Loads and keys up to this one: their order is that of these sums.
    pub fn place(&self) -> u64 {
        self.sets + self.keys
    }

    pub fn is_data(&self) -> bool {
        self.kind == Kind::Data
    }

    /// Whether one of its segments had this number when it was sent last.
    pub fn has_number(&self, number: u16) -> bool {
        self.sent.is_some_and(|sent| number.wrapping_sub(sent.number) < sent.segments)
    }

    /// Beats that it takes in the board's queue when it is there.
    pub fn beats(&self) -> usize {
        wire::queued(self.bytes.get().len())
    }

    pub fn missed(&self) -> Option<Duration> {
        self.sent.filter(|_| self.answer.is_none()).map(|sent| sent.missed)
    }
}

/// Tags of frames whose answer may still come although nobody waits for it, and until when.
#[derive(Debug, Default)]
struct Late(VecDeque<(u16, Duration)>);

/// How long an answer can be under way.
const LATE: Duration = Duration::from_secs(2);

/// A slot, as a session knows it.
#[derive(Debug, Default)]
pub struct Queue {
    pub flights: VecDeque<Flight>,
    /// Loads and keys that were asked for.
    pub sets: u64,
    pub keys: u64,
    /// Loads and keys of which the board is known to have them.
    pub there: (u64, u64),
    /// Beats of what is to be sent, and of what may be in the board's queue.
    pub backlog: usize,
    pub used: usize,
    next_tag: u16,
    late: Late,
}

impl Queue {
    /// A tag that nothing has which may still be answered.
    pub fn tag(&mut self, now: Duration) -> u16 {
        while self.late.0.front().is_some_and(|(_, until)| *until <= now) {
            self.late.0.pop_front();
        }
        loop {
            let tag = self.next_tag;
            self.next_tag = tag.wrapping_add(1);
            let is = |flight: &Flight| flight.tag == tag;
            if !self.flights.iter().any(is) && !self.late.0.iter().any(|(late, _)| *late == tag) {
                return tag;
            }
        }
    }

    /// Adds a frame that is to be sent.
    pub fn add(&mut self, flight: Flight) {
        self.backlog += flight.beats();
        self.flights.push_back(flight);
    }

    /// A frame was sent.
    pub fn sent(&mut self, at: usize, sent: Sent) {
        let Some(flight) = self.flights.get_mut(at).filter(|flight| flight.sent.is_none()) else { return };
        flight.sent = Some(sent);
        let beats = flight.beats();
        self.backlog = self.backlog.saturating_sub(beats);
        self.used += beats;
    }

    /// A frame is to be sent again.
    pub fn unsent(&mut self, at: usize) {
        let Some(flight) = self.flights.get_mut(at).filter(|flight| flight.answer.is_none()) else { return };
        if flight.sent.take().is_some() {
            let beats = flight.beats();
            self.used = self.used.saturating_sub(beats);
            self.backlog += beats;
        }
    }

    /// The store does not have a recall's words: all of the load goes in its place, and everything behind it again. Whose it
    /// is; `None` if it is no recall.
    pub fn whole(&mut self, at: usize) -> Option<Ticket> {
        self.flights.get(at).filter(|flight| flight.load.is_some())?;
        self.rewind(at);
        let flight = self.flights.get_mut(at)?;
        let short = flight.beats();
        (flight.kind, flight.bytes) = (Kind::Load, Bytes::Secret(flight.load.take()?));
        self.backlog = self.backlog.saturating_sub(short) + flight.beats();
        Some(flight.ticket)
    }

    /// Nothing is to be sent of a frame any more, and none of it is in the board's queue.
    fn settle(&mut self, at: usize) {
        let Some(flight) = self.flights.get_mut(at).filter(|flight| flight.answer.is_none()) else { return };
        let beats = flight.beats();
        let place = if flight.sent.take().is_some() { &mut self.used } else { &mut self.backlog };
        debug_assert!(*place >= beats, "it was counted");
        *place = place.saturating_sub(beats);
    }

    /// A frame has its answer, which waits.
    pub fn hold(&mut self, at: usize, answer: Vec<u8>) {
        self.settle(at);
        if let Some(flight) = self.flights.get_mut(at) {
            flight.answer = Some(answer);
        }
    }

    /// Takes a frame out. Its tag is not given again while an answer to it may come.
    pub fn take(&mut self, at: usize, now: Duration, answered: bool) -> Option<Flight> {
        self.settle(at);
        let flight = self.flights.remove(at)?;
        if flight.tries > u32::from(answered) {
            self.late.0.push_back((flight.tag, now + LATE));
        }
        Some(flight)
    }

    /// The first load or key that is not known to be good, and stands in front of all behind it.
    pub fn first_control(&self) -> Option<usize> {
        self.flights.iter().position(|flight| !flight.is_data())
    }

    /// The totals of which a board names the last bytes; `None` if it has never been there.
    pub fn totals(&self, (sets, keys): (u8, u8)) -> Option<(u64, u64)> {
        let total = |low: u8, there: u64, asked: u64| {
            let all = there + u64::from(low.wrapping_sub(there as u8));
            (all <= asked).then_some(all)
        };
        Some((total(sets, self.there.0, self.sets)?, total(keys, self.there.1, self.keys)?))
    }

    /// The board is known to have had so many loads and keys.
    pub fn reached(&mut self, (sets, keys): (u64, u64)) {
        self.there = (self.there.0.max(sets), self.there.1.max(keys));
    }

    /// Everything from here on is sent again, in its order.
    pub fn rewind(&mut self, from: usize) {
        (from..self.flights.len()).for_each(|at| self.unsent(at));
    }
}
