// SPDX-License-Identifier: Apache-2.0
//! The cable and the board's receiver: round trips, and at which taps of the receive delay frames come whole. Frames go one by
//! one here, without a [`crate::Session`]: what is lost is what is looked for.

use std::io;
use std::time::{Duration, Instant};

use serde::Serialize;

use super::ProbeError;
use crate::identity::Identity;
use crate::session::{Loss, draw};
use crate::wire::{self, BOARD, Frame, Header, Kind, Refusal, flag, register};
use crate::{Batch, Wire};

/// An answer is asked for so often, and waited for so long each time.
const ASKED: usize = 12;
const PATIENCE: Duration = Duration::from_millis(250);
/// The same of the first hello.
const SEARCHED: usize = 200;
const SEARCHES: Duration = Duration::from_millis(11);
/// The board goes back to the tap before when nothing has come whole for so long.
const GOES_BACK: Duration = Duration::from_millis(4);

/// How long round trips took.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct Times {
    /// How many there were.
    pub count: usize,
    /// The shortest one.
    pub shortest: Duration,
    /// Half of them took less.
    pub median: Duration,
    /// One in a hundred took longer.
    pub percentile_99: Duration,
    /// The longest one.
    pub longest: Duration,
}

impl Times {
    /// `None` if there were none.
    pub(super) fn of(mut all: Vec<Duration>) -> Option<Self> {
        all.sort_unstable();
        let at = |part: usize| all.get((all.len() * part / 100).min(all.len() - 1)).copied();
        let (shortest, longest) = (*all.first()?, *all.last()?);
        Some(Self { count: all.len(), shortest, median: at(50)?, percentile_99: at(99)?, longest })
    }
}

/// What came back at each tap.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Eye {
    /// Hellos at each.
    pub asked: usize,
    /// Answers, by tap.
    pub answered: Vec<usize>,
    /// The tap that was set: the middle of the widest range.
    pub chosen: Option<u8>,
}

impl Eye {
    /// First and last tap of the widest range in which all was answered.
    pub fn widest(&self) -> Option<(u8, u8)> {
        let (mut best, mut first) = (None, None);
        for (tap, answered) in (0_u8..).zip(&self.answered) {
            first = if *answered == self.asked { first.or(Some(tap)) } else { None };
            let width = |range: &(u8, u8)| range.1 - range.0;
            if let Some(first) = first
                && best.as_ref().is_none_or(|best| width(best) < tap - first)
            {
                best = Some((first, tap));
            }
        }
        best
    }

    /// A line of the taps: `#` where all was answered, `-` where some was, `.` where nothing was.
    pub fn drawn(&self) -> String {
        let one = |answered: &usize| match *answered {
            0 => '.',
            all if all == self.asked => '#',
            _ => '-',
        };
        self.answered.iter().map(one).collect()
    }
}

/// A session with a board, frame by frame.
pub struct Cable<'a, W: Wire> {
    wire: &'a mut W,
    interface: String,
    session: u16,
    number: u16,
    pub identity: Identity,
}

impl<'a, W: Wire> Cable<'a, W> {
    /// Opens a session.
    pub fn open(wire: &'a mut W, interface: &str) -> Result<Self, ProbeError> {
        let (session, interface) = (draw()?, interface.to_owned());
        let mut cable = Self { wire, interface, session, number: 0, identity: Identity::default() };
        cable.identity = cable.find()?;
        match cable.identity.version {
            wire::VERSION => Ok(cable),
            other => Err(cable.lost(Loss::Version(other))),
        }
    }

    fn lost(&self, loss: Loss) -> ProbeError {
        ProbeError::Lost { interface: self.interface.clone(), loss }
    }

    fn broken(&self, error: io::Error) -> ProbeError {
        ProbeError::Wire { interface: self.interface.clone(), error }
    }

    fn send(&mut self, kind: Kind, beats: &[u8], count: usize) -> Result<u16, ProbeError> {
        let first = self.number;
        let mut batch = Batch::default();
        for _ in 0..count {
            let header = Header {
                to: BOARD,
                from: self.wire.address(),
                kind,
                flags: flag::FIRST | flag::LAST,
                number: self.number,
                sets: 0,
                keys: 0,
                slot: 0,
                session: self.session,
            };
            batch.add(|out| header.write(beats, out));
            self.number = self.number.wrapping_add(1);
        }
        self.wire.send(&batch).map_err(|error| self.broken(error))?;
        Ok(first)
    }

    /// Waits until `count` answers to frames from this number on have come, or for so long. What the last one said.
    fn hear(
        &mut self,
        first: u16,
        count: usize,
        patience: Duration,
    ) -> Result<(usize, Option<Heard>), ProbeError> {
        let (since, ours, sent) = (Instant::now(), self.wire.address(), self.number.wrapping_sub(first));
        let (mut heard, mut last) = (0, None);
        loop {
            let taken = self.wire.receive(&mut |bytes| {
                let Ok(frame) = Frame::parse(bytes) else { return };
                let Header { to, from, number, .. } = frame.header;
                if to == ours && from == BOARD && number.wrapping_sub(first) < sent {
                    heard += 1;
                    last = Heard::of(&frame).or(last.take());
                }
            });
            taken.map_err(|error| self.broken(error))?;
            let left = patience.saturating_sub(since.elapsed());
            if heard >= count || left.is_zero() {
                return Ok((heard, last));
            }
            self.wire.wait(left).map_err(|error| self.broken(error))?;
        }
    }

    /// Asks until there is an answer.
    fn ask(&mut self, kind: Kind, beats: &[u8]) -> Result<Heard, ProbeError> {
        for _ in 0..ASKED {
            let first = self.send(kind, beats, 1)?;
            match self.hear(first, 1, PATIENCE)?.1 {
                Some(Heard::Refused(Some(Refusal::OtherHost))) => return Err(self.lost(Loss::OtherHost)),
                Some(Heard::Refused(_)) => return Err(self.lost(Loss::Ended)),
                Some(heard) => return Ok(heard),
                None => {}
            }
        }
        Err(self.lost(Loss::Silent))
    }

    /// Asks until there is an answer, often: a board whose receiver still searches hears for some milliseconds in every 42.
    fn find(&mut self) -> Result<Identity, ProbeError> {
        for _ in 0..SEARCHED {
            self.send(Kind::Hello, &[], 1)?;
            match self.hear(0, 1, SEARCHES)?.1 {
                Some(Heard::Identity(identity)) => return Ok(*identity),
                Some(Heard::Refused(Some(Refusal::OtherHost))) => return Err(self.lost(Loss::OtherHost)),
                _ => {}
            }
        }
        Err(self.lost(Loss::Silent))
    }

    /// What the board says of itself now.
    pub fn hello(&mut self) -> Result<Identity, ProbeError> {
        match self.ask(Kind::Hello, &[])? {
            Heard::Identity(identity) => Ok(*identity),
            _ => Err(self.lost(Loss::Unanswered)),
        }
    }

    fn register(&mut self, register: u32, value: Option<u32>) -> Result<u32, ProbeError> {
        let write = if value.is_some() { wire::WRITE } else { 0 };
        let beat = wire::register_beat(register | write, value.unwrap_or_default());
        match self.ask(Kind::Register, &beat)? {
            Heard::Register(value) => Ok(value),
            _ => Err(self.lost(Loss::Unanswered)),
        }
    }

    /// Ends the session.
    pub fn close(&mut self) -> Result<(), ProbeError> {
        self.ask(Kind::Bye, &[]).map(drop)
    }

    /// Round trips of so many hellos, one after the other.
    pub fn times(&mut self, count: usize) -> Result<Times, ProbeError> {
        let mut all = Vec::with_capacity(count);
        for _ in 0..count.max(1) {
            let since = Instant::now();
            let first = self.send(Kind::Hello, &[], 1)?;
            if self.hear(first, 1, PATIENCE)?.0 > 0 {
                all.push(since.elapsed());
            }
        }
        Times::of(all).ok_or_else(|| self.lost(Loss::Silent))
    }

    /// Tries all taps with so many hellos each, and sets the middle one of those at which all was answered.
    pub fn eye(&mut self, asked: usize, patience: Duration) -> Result<Eye, ProbeError> {
        let mut eye = Eye { asked, answered: Vec::new(), chosen: None };
        for tap in 0..wire::TAPS {
            self.move_to(tap)?;
            let first = self.send(Kind::Hello, &[], asked)?;
            let answered = self.hear(first, asked, patience)?.0;
            eye.answered.push(answered.min(asked));
            if answered == 0 {
                // Until it is back at a tap at which it hears.
                std::thread::sleep(GOES_BACK);
                self.hello()?;
            }
        }
        if let Some((first, last)) = eye.widest() {
            let middle = first + (last - first) / 2;
            self.move_to(middle)?;
            self.hello()?;
            eye.chosen = Some(middle);
        }
        Ok(eye)
    }

    /// Moves to a tap. Whether it is there is not asked: at a bad one nothing would be answered.
    fn move_to(&mut self, tap: u8) -> Result<(), ProbeError> {
        self.register(register::TAP, Some(u32::from(tap)))?;
        // 8 clocks a tap at 100 MHz are 10 us for all of them.
        std::thread::sleep(Duration::from_micros(50));
        Ok(())
    }
}

/// What an answer of the link says.
enum Heard {
    Identity(Box<Identity>),
    Register(u32),
    Refused(Option<Refusal>),
}

impl Heard {
    fn of(frame: &Frame<'_>) -> Option<Self> {
        match frame.header.kind {
            Kind::Identity => Identity::from_beats(frame.beats).map(Box::new).map(Heard::Identity),
            Kind::Value => frame.register().map(|(_, value)| Heard::Register(value)),
            Kind::Refused => Some(Heard::Refused(frame.refusal())),
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_widest_range_is_the_one_that_counts() {
        let eye = |answered: &[usize]| Eye { asked: 4, answered: answered.to_vec(), chosen: None };
        let one = eye(&[4, 4, 0, 1, 4, 4, 4, 3, 4]);
        assert_eq!(one.widest(), Some((4, 6)));
        assert_eq!(one.drawn(), "##.-###-#");
        assert_eq!(eye(&[0, 3, 0]).widest(), None);
        assert_eq!(eye(&[4]).widest(), Some((0, 0)));
        assert_eq!(eye(&[4; 128]).widest(), Some((0, 127)));
    }
}
