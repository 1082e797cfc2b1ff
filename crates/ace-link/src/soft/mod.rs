// SPDX-License-Identifier: Apache-2.0
//! The board's end of the link in software, over simulated slots: for tests, and for trying what needs a board without one.
//! It follows `docs/link.md` and knows nothing of the host's end.

mod rough;
#[cfg(target_os = "linux")]
mod serve;
mod slot;
mod store;

use std::collections::VecDeque;
use std::ops::RangeInclusive;
use std::time::Duration;

use ace_board::model::SlotModel;

pub use self::rough::{Faults, Pair, Rough};
#[cfg(target_os = "linux")]
pub use self::serve::{Served, serve};
use self::slot::Slot;
use self::store::Store;
use crate::identity::{Counters, Identity};
use crate::wire::{self, ALL, Address, BEAT, Frame, Header, Kind, Refusal, Span, register};

/// A session of which nothing is heard ends: 2^28 clocks at 100 MHz.
const SESSION: Duration = Duration::from_millis(2684);
/// The tap moves so often while no frame has come whole.
const SEARCH: Duration = Duration::from_micros(2621);

/// A session that is open.
#[derive(Clone, Copy, Debug)]
struct Opened {
    host: Address,
    id: u16,
    heard: Duration,
}

/// What a board in software is.
#[derive(Clone, Debug)]
pub struct Description {
    /// Its address.
    pub address: Address,
    /// Beats that its receive queue holds.
    pub queue: u16,
    /// Clock of its slots in kHz.
    pub khz: u32,
    /// What its image was made from.
    pub image: [u8; BEAT],
    /// Which slots take context sets, bit by bit.
    pub arrays: u8,
    /// Words of its store; 0: it has none.
    pub store_words: u16,
    /// Taps at which frames come whole.
    pub eye: RangeInclusive<u8>,
}

impl Default for Description {
    fn default() -> Self {
        let address = wire::BOARD;
        let (image, arrays) = (*b"software", u8::MAX);
        Self { address, queue: 1024, khz: 100_000, image, arrays, store_words: 4096, eye: 0..=127 }
    }
}

/// A board in software.
pub struct Board {
    is: Description,
    slots: Vec<Slot>,
    store: Store,
    session: Option<Opened>,
    counters: Counters,
    tap: u8,
    led: u32,
    phy: [u16; 32],
    phy_answer: u32,
    number: u16,
    out: VecDeque<Vec<u8>>,
    /// While no frame has come whole: when the tap moves next.
    search: Option<Duration>,
    /// The tap before, and when the board goes back to it.
    before: Option<(u8, Duration)>,
}

impl Board {
    /// A board out of reset, with these slots.
    pub fn new(is: Description, models: Vec<Box<dyn SlotModel>>) -> Self {
        Self {
            slots: models.into_iter().map(Slot::new).collect(),
            store: Store::new(is.store_words),
            is,
            session: None,
            counters: Counters::default(),
            tap: 0,
            led: 0,
            phy: [0; 32],
            phy_answer: 0,
            number: 0,
            out: VecDeque::new(),
            search: Some(SEARCH),
            before: None,
        }
    }

    /// Power off and on: all is forgotten.
    pub fn reset(&mut self) {
        self.end();
        (self.counters, self.tap, self.search) = (Counters::default(), 0, Some(SEARCH));
        self.before = None;
        self.out.clear();
    }

    /// An upset between two frames: slots lose sets and keys, and neither session nor epochs say so. No board should.
    pub fn forget(&mut self) {
        self.slots.iter_mut().for_each(Slot::forget);
    }

    /// An upset in the store: it is empty, or words of it have other bits. No board should.
    pub fn spoil_store(&mut self, empty: bool) {
        if empty { self.store.clear() } else { self.store.spoil() }
    }

    /// Host and number of the session that is open.
    pub fn session(&self) -> Option<(Address, u16)> {
        self.session.map(|opened| (opened.host, opened.id))
    }

    /// What it has counted.
    pub fn counters(&self) -> Counters {
        self.counters
    }

    /// The next frame that it sends.
    pub fn output(&mut self) -> Option<Vec<u8>> {
        let frame = self.out.pop_front()?;
        self.counters.sent = self.counters.sent.wrapping_add(1);
        Some(frame)
    }

    /// The receive delay goes on its own way while no frame comes whole.
    fn taps(&mut self, now: Duration) {
        while self.search.is_some_and(|next| next <= now) {
            self.tap = self.tap.wrapping_add(8) % wire::TAPS;
            self.search = self.search.map(|next| next + SEARCH);
        }
        if let Some((tap, _)) = self.before.filter(|(_, until)| *until <= now) {
            (self.tap, self.before) = (tap, None);
        }
    }

    /// Lets slots work for a while. Whether any has something left to do.
    pub fn work(&mut self, now: Duration) -> bool {
        if self.session.is_some_and(|opened| now > opened.heard + SESSION) {
            self.end();
        }
        self.taps(now);
        let Some(opened) = self.session else { return false };
        let mut busy = false;
        for (at, slot) in self.slots.iter_mut().enumerate() {
            while let Some(response) = slot.work() {
                let (sets, keys) = slot.epochs();
                for (flags, beats) in wire::cut(&response) {
                    let header = Header {
                        to: opened.host,
                        from: self.is.address,
                        kind: Kind::Answer,
                        flags,
                        number: self.number,
                        sets,
                        keys,
                        slot: at as u8,
                        session: opened.id,
                    };
                    self.number = self.number.wrapping_add(1);
                    let mut frame = Vec::new();
                    header.write(beats, &mut frame);
                    self.out.push_back(frame);
                }
            }
            busy |= slot.is_busy();
        }
        busy
    }

    /// A frame that came with a wrong FCS.
    pub fn broken(&mut self) {
        self.counters.broken = self.counters.broken.wrapping_add(1);
    }

    /// Takes a frame from the wire.
    pub fn input(&mut self, bytes: &[u8], now: Duration) {
        self.taps(now);
        if !self.is.eye.contains(&self.tap) {
            return self.broken();
        }
        self.before = None;
        self.counters.whole = self.counters.whole.wrapping_add(1);
        self.search = None;
        let frame = match Frame::parse(bytes) {
            Ok(frame) if frame.header.to == self.is.address => frame,
            Ok(frame) if frame.header.to == ALL && frame.header.kind == Kind::Hello => frame,
            _ => return self.dropped(),
        };
        let header = frame.header;
        if header.kind == Kind::Hello {
            return self.hello(&header, now);
        }
        match &mut self.session {
            Some(opened) if opened.host != header.from => return self.refuse(&header, Refusal::OtherHost),
            Some(opened) if opened.id == header.session => opened.heard = now,
            _ => return self.refuse(&header, Refusal::NoSession),
        }
        match header.kind {
            Kind::Data | Kind::Load | Kind::Key => self.slot_frame(&frame),
            Kind::Store | Kind::Recall if self.is.store_words > 0 => match frame.span() {
                Some((span, words)) if header.kind == Kind::Store => self.store(&frame, span, words),
                Some(_) => self.slot_frame(&frame),
                None => self.dropped(),
            },
            Kind::Register => match frame.register() {
                Some((asked, value)) => self.register(&header, asked, value, now),
                None => self.dropped(),
            },
            Kind::Bye => {
                self.end();
                self.identity(&header);
            }
            _ => self.dropped(),
        }
    }

    fn dropped(&mut self) {
        self.counters.dropped = self.counters.dropped.wrapping_add(1);
    }

    /// The session is over, and slots are reset.
    fn end(&mut self) {
        self.session = None;
        self.out.clear();
        self.store.clear();
        self.slots.iter_mut().for_each(Slot::reset);
    }

    fn hello(&mut self, header: &Header, now: Duration) {
        if header.session == 0 {
            return self.dropped();
        }
        match &mut self.session {
            Some(opened) if opened.host == header.from && opened.id == header.session => opened.heard = now,
            Some(opened) if opened.host != header.from => return self.refuse(header, Refusal::OtherHost),
            _ => {
                self.end();
                self.session = Some(Opened { host: header.from, id: header.session, heard: now });
            }
        }
        self.identity(header);
    }

    fn answer(&mut self, request: &Header, kind: Kind, beats: &[u8]) {
        let mut frame = Vec::new();
        let answer = Header { from: self.is.address, ..request.answer(kind) };
        answer.write(beats, &mut frame);
        self.out.push_back(frame);
    }

    fn refuse(&mut self, request: &Header, why: Refusal) {
        self.answer(request, Kind::Refused, &(why as u64).to_le_bytes());
    }

    fn identity(&mut self, request: &Header) {
        let mut epochs = [(0, 0); wire::SLOTS];
        epochs.iter_mut().zip(&self.slots).for_each(|(epochs, slot)| *epochs = slot.epochs());
        let (host, session) = self.session().unwrap_or_default();
        let identity = Identity {
            version: wire::VERSION,
            slots: self.slots.len() as u8,
            queue: self.is.queue,
            khz: self.is.khz,
            image: self.is.image,
            host,
            session,
            counters: self.counters,
            tap: self.tap,
            settled: true,
            arrays: self.is.arrays,
            store_words: self.is.store_words,
            epochs,
        };
        self.answer(request, Kind::Identity, &identity.to_beats());
    }

    /// Whether the queue has room for a frame; else it is counted.
    fn has_room(&mut self, frame: &Frame<'_>) -> bool {
        let beats = self.slots.iter().map(Slot::queued).sum::<usize>() + wire::OVERHEAD;
        let has_room = beats + frame.beats.len() / BEAT <= usize::from(self.is.queue);
        self.counters.no_room = self.counters.no_room.wrapping_add(u32::from(!has_room));
        has_room
    }

    fn store(&mut self, frame: &Frame<'_>, span: Option<Span>, words: &[u8]) {
        if self.has_room(frame) {
            match span.is_some_and(|span| self.store.put(span, words)) {
                true => self.answer(&frame.header, Kind::Stored, &[]),
                false => self.refuse(&frame.header, Refusal::Store),
            }
        }
    }

    fn slot_frame(&mut self, frame: &Frame<'_>) {
        let header = frame.header;
        if !self.has_room(frame) {
            return;
        }
        let Some(slot) = self.slots.get_mut(usize::from(header.slot)) else {
            return self.refuse(&header, Refusal::NoSlot);
        };
        match slot.take(frame, &self.store) {
            slot::Taken::Well => {}
            slot::Taken::Unstored => self.refuse(&header, Refusal::Store),
            slot::Taken::Order => self.refuse(&header, Refusal::Order),
            slot::Taken::Stale => {
                let (sets, keys) = slot.epochs();
                self.answer(&Header { sets, keys, ..header }, Kind::Stale, &[]);
            }
            slot::Taken::Repeated(trailer) => self.answer(&header, Kind::Verdict, &trailer),
        }
    }

    fn register(&mut self, request: &Header, asked: u32, value: u32, now: Duration) {
        let write = asked & wire::WRITE != 0;
        let number = asked & !wire::WRITE;
        let now = match (number, write) {
            (register::TAP, true) => {
                self.before = Some((self.tap, now + SEARCH));
                self.tap = value as u8 & 0x7f;
                value & 0x7f
            }
            (register::TAP, false) => u32::from(self.tap),
            (register::MDIO, true) => {
                let place = self.phy.get_mut((value >> 16 & 0x1f) as usize);
                if let Some(place) = place {
                    if value >> 26 & 1 == 1 {
                        *place = value as u16;
                    }
                    self.phy_answer = u32::from(*place);
                }
                self.phy_answer
            }
            (register::MDIO, false) => self.phy_answer,
            (register::LED, write) => {
                self.led = if write { value & 1 } else { self.led };
                self.led
            }
            (register::CLEAR, true) => {
                self.counters = Counters::default();
                0
            }
            _ => 0,
        };
        self.answer(request, Kind::Value, &wire::register_beat(number, now));
    }
}
