// SPDX-License-Identifier: Apache-2.0
//! What a session makes of a frame that came.

use std::time::Duration;

use super::answers::Partial;
use super::flight::{Flight, Queue};
use super::{ANY, Event, Loss, Session, State, Trailer};
use crate::identity::Identity;
use crate::wire::{self, Frame, Kind, Refusal};

impl Session {
    /// Takes a frame from the wire, whatever it is.
    pub fn input(&mut self, bytes: &[u8], now: Duration) {
        let Ok(frame) = Frame::parse(bytes) else {
            self.counts.strange += 1;
            return;
        };
        let header = frame.header;
        if self.is_over() || header.to != self.ours || header.from != self.board {
            return;
        }
        let ours = header.session == self.id;
        let known = match header.kind {
            // To what was asked in the session before, as *bye*.
            _ if !ours => false,
            Kind::Identity => self.identity(&frame, now),
            Kind::Refused => self.refused(&frame, now),
            _ if !self.is_open() => false,
            Kind::Answer => self.answer(&frame, now),
            Kind::Verdict => self.verdict(&frame, now),
            Kind::Stale => self.stale(&frame, now),
            Kind::Value => self.value(&frame),
            Kind::Stored => self.stored(frame.header.number, true),
            // What hosts send.
            _ => false,
        };
        if known {
            self.heard = now;
        } else {
            self.counts.strange += 1;
        }
    }

    fn identity(&mut self, frame: &Frame<'_>, now: Duration) -> bool {
        let Some(identity) = Identity::from_beats(frame.beats) else { return false };
        let opens = self.state == State::Opening;
        let own = |asked: &super::Asked| asked.tries > 0 && (opens || frame.header.number == asked.number);
        let Some(asked) = self.hello.filter(own) else {
            // Of a hello that was sent again since.
            return true;
        };
        let ours = identity.host == self.ours && identity.session == self.id;
        match self.state {
            _ if identity.version != wire::VERSION => self.lose(Loss::Version(identity.version)),
            _ if !ours && identity.host != self.ours => self.lose(Loss::OtherHost),
            _ if !ours => self.lose(Loss::Ended),
            State::Opening => {
                // A session that the board has just opened has no sets and no keys.
                if identity.epochs.iter().any(|epochs| *epochs != (0, 0)) {
                    self.lose(Loss::Ended);
                    return true;
                }
                let slots = usize::from(identity.slots).min(wire::SLOTS);
                self.slots.resize_with(slots, Queue::default);
                self.partial.resize_with(slots, Partial::default);
                self.queue = usize::from(identity.queue);
                self.state = State::Open;
                self.hello = None;
                if asked.tries == 1 {
                    self.timing.measured(now.saturating_sub(asked.at));
                }
                self.events.push_back(Event::Opened(identity));
            }
            State::Open => {
                self.hello = None;
                let took = now.saturating_sub(asked.at);
                let been = |(queue, epochs): (&Queue, &(u8, u8))| queue.totals(*epochs).is_some();
                match self.slots.iter().zip(&identity.epochs).all(been) {
                    true => self.events.push_back(Event::Identity(identity, took)),
                    false => self.lose(Loss::Reset),
                }
            }
            State::Over => {}
        }
        true
    }

    /// The slot's frame to which an answer of the link belongs.
    fn by_number(&self, frame: &Frame<'_>) -> Option<(usize, usize)> {
        let slot = usize::from(frame.header.slot);
        let flights = &self.slots.get(slot)?.flights;
        let at = flights.iter().position(|flight| flight.has_number(frame.header.number))?;
        Some((slot, at))
    }

    fn refused(&mut self, frame: &Frame<'_>, now: Duration) -> bool {
        let number = frame.header.number;
        let stores = self.store.as_ref().map(|store| store.asked);
        let link = [self.hello, self.register.and_then(|(.., asked)| asked), stores];
        let asked = link.iter().flatten().any(|asked| asked.tries > 0 && asked.number == number);
        let found = self.by_number(frame);
        if !asked && found.is_none() {
            return false;
        }
        match (frame.refusal(), found) {
            (Some(Refusal::OtherHost), _) => self.lose(Loss::OtherHost),
            (Some(Refusal::NoSession), _) => self.lose(Loss::Ended),
            (Some(Refusal::NoSlot), _) => self.lose(Loss::NoSlot),
            (Some(Refusal::Order), Some((slot, at))) => {
                // A segment was lost: all of it again.
                if let Some(sent) = self.flight(slot, at).and_then(|flight| flight.sent.as_mut()) {
                    sent.lost(now);
                }
            }
            (Some(Refusal::Store), Some((slot, at))) => return self.unstored(slot, at),
            (Some(Refusal::Store), None) => return self.stored(number, false),
            _ => return false,
        }
        true
    }

    fn flight(&mut self, slot: usize, at: usize) -> Option<&mut Flight> {
        self.slots.get_mut(slot)?.flights.get_mut(at)
    }

    fn answer(&mut self, frame: &Frame<'_>, now: Duration) -> bool {
        let slot = usize::from(frame.header.slot);
        let Some(partial) = self.partial.get_mut(slot) else { return false };
        let Some(response) = partial.take(frame) else { return true };
        let Some(trailer) = Trailer::of(response) else { return false };
        let Some(queue) = self.slots.get_mut(slot) else { return false };
        let is = |flight: &Flight| flight.tag == trailer.tag && flight.tries > 0 && flight.answer.is_none();
        let Some(at) = queue.flights.iter().position(is) else {
            // An answer to what was sent twice.
            return true;
        };
        let Some(flight) = queue.flights.get_mut(at) else { return false };
        if trailer.status == 0 && flight.expected != ANY && response.len() != flight.expected {
            return false;
        }
        if trailer.is_short() && flight.is_data() {
            // A segment was lost, or what was sent again has cut it short: all of it again.
            if let Some(sent) = flight.sent.as_mut() {
                sent.lost(now);
            }
            return true;
        }
        if let Some(sent) = flight.sent.filter(|_| flight.tries == 1) {
            self.timing.measured(now.saturating_sub(sent.at));
        }
        let response = response.to_vec();
        self.answered(slot, at, response, now);
        true
    }

    /// A frame has its response.
    fn answered(&mut self, slot: usize, at: usize, response: Vec<u8>, now: Duration) {
        let Some(queue) = self.slots.get_mut(slot) else { return };
        let Some(totals) = queue.flights.get(at).map(|flight| (flight.sets, flight.keys)) else { return };
        queue.reached(totals);
        let first = queue.first_control();
        if first.is_some_and(|first| first < at) && queue.flights.get(at).is_some_and(Flight::is_data) {
            return queue.hold(at, response);
        }
        let Some(flight) = queue.take(at, now, true) else { return };
        let good = Trailer::of(&response).is_some_and(|trailer| trailer.status == 0);
        let number = slot as u8;
        self.events.push_back(Event::Answer { ticket: flight.ticket, slot: number, response });
        match flight.is_data() {
            true => {}
            false if good => {
                self.controls = (self.controls + 1).min(super::CONTROLS);
                self.release(slot, now);
            }
            false => self.fall(slot, at, now),
        }
    }

    /// Answers that have waited for a load or key, up to the next one that is not known to be good.
    fn release(&mut self, slot: usize, now: Duration) {
        let Some(queue) = self.slots.get_mut(slot) else { return };
        let mut at = 0;
        while let Some(flight) = queue.flights.get(at).filter(|flight| flight.is_data()) {
            if flight.answer.is_none() {
                at += 1;
            } else if let Some(Flight { ticket, answer: Some(response), .. }) = queue.take(at, now, true) {
                self.events.push_back(Event::Answer { ticket, slot: slot as u8, response });
            }
        }
    }

    /// A load or key came to nothing: data behind it were made for what is not there.
    fn fall(&mut self, slot: usize, from: usize, now: Duration) {
        let Some(queue) = self.slots.get_mut(slot) else { return };
        let mut at = from;
        while let Some(flight) = queue.flights.get(at) {
            if !flight.is_data() {
                at += 1;
                continue;
            }
            if let Some(flight) = queue.take(at, now, false) {
                self.counts.stale += 1;
                self.events.push_back(Event::Again { ticket: flight.ticket, slot: slot as u8 });
            }
        }
    }

    fn verdict(&mut self, frame: &Frame<'_>, now: Duration) -> bool {
        // Each segment that comes again has one.
        let Some((slot, at)) = self.by_number(frame) else { return true };
        let (Some(beat), Some(flight)) = (frame.first_beat(), self.flight(slot, at)) else { return false };
        if flight.is_data() {
            return false;
        }
        if beat == wire::UNKNOWN {
            // The slot works on it. It is asked again when the answer is missed again.
            return true;
        }
        match Trailer::of(&beat) {
            Some(trailer) if trailer.tag == flight.tag => {
                self.answered(slot, at, beat.to_vec(), now);
                true
            }
            _ => false,
        }
    }

    fn stale(&mut self, frame: &Frame<'_>, now: Duration) -> bool {
        let Some((slot, at)) = self.by_number(frame) else { return true };
        let Some(queue) = self.slots.get_mut(slot) else { return false };
        let Some(totals) = queue.totals((frame.header.sets, frame.header.keys)) else {
            self.lose(Loss::Reset);
            return true;
        };
        queue.reached(totals);
        let place = totals.0 + totals.1;
        let Some(flight) = queue.flights.get(at) else { return false };
        let (is_data, own) = (flight.is_data(), flight.place());
        if place > own {
            // The board is further: data will never be computed, and what a load or key came to nobody says any more.
            let behind = if is_data { None } else { Some(at) };
            self.controls = 1;
            if let Some(flight) = queue.take(at, now, false) {
                self.counts.stale += 1;
                self.events.push_back(Event::Again { ticket: flight.ticket, slot: slot as u8 });
            }
            if let Some(from) = behind {
                self.fall(slot, from, now);
            }
            return true;
        }
        // The board has not had a load or key in front: from there on all is sent again. If it has had it since, this alone.
        let from = queue.flights.iter().position(|flight| !flight.is_data() && flight.place() > place);
        match from.filter(|from| *from <= at) {
            Some(from) => {
                queue.rewind(from);
                self.controls = 1;
            }
            None => {
                if let Some(sent) = queue.flights.get_mut(at).and_then(|flight| flight.sent.as_mut()) {
                    sent.lost(now);
                }
            }
        }
        true
    }

    fn value(&mut self, frame: &Frame<'_>) -> bool {
        let Some((asked, _, Some(sent))) = self.register else { return false };
        let Some((register, value)) = frame.register() else { return false };
        let own = asked & !wire::WRITE;
        if frame.header.number != sent.number || register & !wire::WRITE != own {
            return false;
        }
        self.register = None;
        self.events.push_back(Event::Register { register: own, value });
        true
    }
}
