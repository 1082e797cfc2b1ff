// SPDX-License-Identifier: Apache-2.0
//! What a session sends, and when it gives up.

use std::time::Duration;

use super::flight::{Flight, Sent};
use super::{Asked, Loss, Session, State, TRIES};
use crate::Batch;
use crate::wire::{self, Header, Kind, flag};

/// A host that has nothing to do speaks so often.
const KEEPALIVE: Duration = Duration::from_millis(500);
/// So often a session is asked for. A board whose receiver still searches (docs/link.md, "Registers") hears for some
/// milliseconds in every 42.
const OPENING: Duration = Duration::from_millis(11);
/// A board of which nothing is heard for so long, although it was asked, is not there any more: this, or so many times what
/// an answer is waited for.
const SILENCE: Duration = Duration::from_secs(1);
const SILENT_WAITS: u32 = 6;
/// A board of which nothing was heard for so long while something is waited for is asked whether it is there.
const ASKS: Duration = Duration::from_millis(250);
/// A host that was not here for so long has not listened, and begins to wait anew.
const ABSENCE: Duration = Duration::from_millis(200);

impl Session {
    /// When [`Session::output`] has something to send even if nothing comes.
    pub fn due(&self) -> Option<Duration> {
        if self.is_over() {
            return None;
        }
        let flights = self.slots.iter().flat_map(|queue| &queue.flights).filter_map(Flight::missed);
        let hello = self.hello.map(|asked| asked.missed);
        let register = self.register.and_then(|(.., asked)| asked).map(|asked| asked.missed);
        let store = self.store_due();
        flights.chain(hello).chain(register).chain(store).chain([self.spoke + KEEPALIVE]).min()
    }

    /// Puts into `batch` what is to be sent now.
    pub fn output(&mut self, batch: &mut Batch, now: Duration) {
        if std::mem::take(&mut self.bye) {
            let header = self.header(Kind::Bye, flag::FIRST | flag::LAST);
            batch.add(|out| header.write(&[], out));
        }
        if self.is_over() {
            return;
        }
        if self.state == State::Open && self.hello.is_none() && now >= self.spoke + KEEPALIVE {
            self.hello(now);
        }
        // A slot that works for long on what it was given is no board that is gone.
        if self.waits.is_some() && now >= self.heard + ASKS {
            self.hello(now);
        }
        self.ask_link(batch, now);
        if self.state == State::Open {
            self.resend(now);
            self.miss_words(now);
            self.send(batch, now);
            self.send_words(batch, now);
        }
        if !batch.is_empty() {
            self.spoke = now;
        }
        let waits = self.hello.is_some() || self.slots.iter().any(|queue| !queue.flights.is_empty());
        let listened = now < self.polled + ABSENCE;
        self.polled = now;
        self.waits = self.waits.filter(|_| listened).or(Some(now)).filter(|_| waits);
        let silence = SILENCE.max(self.timing.usual() * SILENT_WAITS);
        if self.waits.is_some_and(|since| now >= since.max(self.heard) + silence) {
            self.lose(Loss::Silent);
        }
    }

    /// Sends what the link itself answers.
    fn ask_link(&mut self, batch: &mut Batch, now: Duration) {
        let all = flag::FIRST | flag::LAST;
        if let Some(mut asked) = self.hello.filter(|asked| asked.missed <= now) {
            let header = self.header(Kind::Hello, all);
            asked = self.once_more(asked, header.number, now);
            self.hello = Some(asked);
            batch.add(|out| header.write(&[], out));
        }
        let Some((register, value, asked)) = self.register.filter(|_| self.is_open()) else { return };
        let asked = asked.unwrap_or(Asked { number: 0, at: now, missed: now, tries: 0 });
        if asked.missed <= now {
            let header = self.header(Kind::Register, all);
            let asked = self.once_more(asked, header.number, now);
            self.register = Some((register, value, Some(asked)));
            batch.add(|out| header.write(&wire::register_beat(register, value), out));
        }
    }

    pub(super) fn once_more(&self, asked: Asked, number: u16, now: Duration) -> Asked {
        let tries = asked.tries + 1;
        let patience = if self.state == State::Opening { OPENING } else { self.timing.patience(tries) };
        Asked { number, at: now, missed: now + patience, tries }
    }

    /// The header of the next frame.
    pub(super) fn header(&mut self, kind: Kind, flags: u8) -> Header {
        let number = self.number;
        self.number = number.wrapping_add(1);
        let (to, from, session) = (self.board, self.ours, self.id);
        Header { to, from, kind, flags, number, sets: 0, keys: 0, slot: 0, session }
    }

    /// Frames whose answer is missed are to be sent again.
    fn resend(&mut self, now: Duration) {
        for queue in &mut self.slots {
            for at in 0..queue.flights.len() {
                let Some(flight) = queue.flights.get(at) else { continue };
                if let Some(sent) = flight.sent.filter(|sent| flight.answer.is_none() && sent.missed <= now) {
                    // What was found to be lost otherwise says nothing about times.
                    if !sent.known_lost {
                        self.timing.missed(now);
                    }
                    queue.unsent(at);
                }
            }
        }
    }

    /// Sends what was not sent, as far as the board's queue has room for it.
    fn send(&mut self, batch: &mut Batch, now: Duration) {
        let mut gives_up = false;
        for slot in 0..self.slots.len() {
            let mut at = 0;
            loop {
                let used = self.used();
                let Some(queue) = self.slots.get_mut(slot).filter(|queue| queue.backlog > 0) else { break };
                let Some(flight) = queue.flights.get_mut(at) else { break };
                at += 1;
                if flight.sent.is_some() || flight.answer.is_some() {
                    continue;
                }
                if used > 0 && used + flight.beats() > self.queue {
                    break;
                }
                flight.tries += 1;
                gives_up |= flight.tries > TRIES;
                self.counts.frames += u64::from(flight.tries == 1);
                self.counts.resent += u64::from(flight.tries > 1);
                let (number, bytes) = (self.number, flight.bytes.get());
                let segments = wire::segments(bytes.len()) as u16;
                let header = Header {
                    to: self.board,
                    from: self.ours,
                    kind: flight.kind,
                    flags: 0,
                    number,
                    sets: flight.sets as u8,
                    keys: flight.keys as u8,
                    slot: slot as u8,
                    session: self.id,
                };
                for (part, (flags, beats)) in wire::cut(bytes).enumerate() {
                    let number = number.wrapping_add(part as u16);
                    batch.add(|out| Header { flags, number, ..header }.write(beats, out));
                }
                let missed = now + self.timing.patience(flight.tries);
                queue.sent(at - 1, Sent { number, segments, at: now, missed, known_lost: false });
                self.number = number.wrapping_add(segments);
            }
        }
        if gives_up {
            self.lose(Loss::Unanswered);
        }
    }
}
