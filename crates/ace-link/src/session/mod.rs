// SPDX-License-Identifier: Apache-2.0
//! A session with a board as a state machine: frames and a clock in, frames and events out. It knows no socket and no clock
//! of its own, so that a test can lose what it likes.
//!
//! What was asked is answered in events, under the ticket that came with it. An answer to data comes only when the loads and
//! keys in front of them are known to be good: with a key that the slot has refused nothing was computed that anybody sees.
//! *Data* that the board has not computed under the epochs for which they were made come back as [`Event::Again`].

mod answers;
mod flight;
mod input;
mod output;
mod stores;
mod timing;

use std::collections::VecDeque;
use std::time::Duration;

use thiserror::Error;
use zeroize::Zeroizing;

use self::answers::Partial;
pub use self::answers::Trailer;
pub use self::flight::Ticket;
use self::flight::{Bytes, Flight, Queue};
use self::stores::Storing;
use self::timing::Timing;
use crate::identity::Identity;
use crate::wire::{self, Address, BEAT, Kind, Span};

/// A frame that was sent so many times is not answered.
const TRIES: u32 = 64;
/// Loads and keys under way at a time. Epochs are bytes, and must not come round; and if one is lost, all behind it comes
/// again.
const CONTROLS: u64 = 8;
/// Where the tag of a slot's frame is.
const TAG: std::ops::Range<usize> = 4..6;

/// Why a session is over.
#[derive(Clone, Copy, Debug, Error, PartialEq, Eq)]
pub enum Loss {
    /// Nothing comes back.
    #[error("the board does not answer (is it powered, has it the image, is the cable direct?)")]
    Silent,
    /// The board answers, and not this.
    #[error("the board answers, but not a frame that was sent {TRIES} times")]
    Unanswered,
    /// Another host has the board.
    #[error("another host has a session with the board")]
    OtherHost,
    /// The board does not know the session any more: it was reset or silent for too long, or another program of this host
    /// has opened one.
    #[error("the session is over: the board was reset, or another program of this host uses it")]
    Ended,
    /// The board knows the session, and has forgotten sets and keys: it was reset.
    #[error("the board was reset")]
    Reset,
    /// There is another number of slots than the board said.
    #[error("the board has no such slot")]
    NoSlot,
    /// The board speaks another version of the link.
    #[error("the board speaks version {} of the link, and this program version {}", .0, wire::VERSION)]
    Version(u8),
    /// The interface does not work any more.
    #[error("the network interface is down or gone")]
    Wire,
}

/// What a session says.
#[derive(Debug, PartialEq, Eq)]
pub enum Event {
    /// The board has opened it.
    Opened(Identity),
    /// The board said again how it is, after so long.
    Identity(Identity, Duration),
    /// A slot's response: whole beats, of which the last one is a trailer with the right tag.
    Answer {
        /// Whose.
        ticket: Ticket,
        /// Its slot.
        slot: u8,
        /// The response.
        response: Vec<u8>,
    },
    /// Data were not computed, as the slot's sets or keys are not those for which they were made; or it is not known what has
    /// become of a load or key.
    Again {
        /// Whose.
        ticket: Ticket,
        /// Its slot.
        slot: u8,
    },
    /// The store does not have what a load was to come from, so that it goes over the cable. It is not answered yet.
    Unstored {
        /// Whose.
        ticket: Ticket,
        /// Its slot.
        slot: u8,
    },
    /// Words were asked to go to the store.
    Stored {
        /// Where the first one goes.
        place: u16,
        /// They are there. Else the board has refused them, or never said anything.
        taken: bool,
    },
    /// A register's value.
    Register {
        /// The register.
        register: u32,
        /// Its value now.
        value: u32,
    },
    /// It is over, and nothing that was asked will be answered.
    Lost(Loss),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    Opening,
    Open,
    Over,
}

/// A response may be as long as it likes.
pub const ANY: usize = usize::MAX;

/// A frame of the link itself that is to be answered by one.
#[derive(Clone, Copy, Debug)]
struct Asked {
    number: u16,
    at: Duration,
    missed: Duration,
    tries: u32,
}

/// What a session has counted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// Slots' frames that were sent, once each.
    pub frames: u64,
    /// Those that were sent once more.
    pub resent: u64,
    /// Data that came back as stale.
    pub stale: u64,
    /// Frames that came and belonged to nothing.
    pub strange: u64,
}

/// A session of this host with a board.
#[derive(Debug)]
pub struct Session {
    ours: Address,
    board: Address,
    id: u16,
    state: State,
    number: u16,
    queue: usize,
    slots: Vec<Queue>,
    partial: Vec<Partial>,
    timing: Timing,
    hello: Option<Asked>,
    register: Option<(u32, u32, Option<Asked>)>,
    store: Option<Storing>,
    bye: bool,
    /// When something was heard, and when something was sent, last.
    heard: Duration,
    spoke: Duration,
    /// Since when something is waited for.
    waits: Option<Duration>,
    /// When it was asked for something to send last.
    polled: Duration,
    events: VecDeque<Event>,
    /// Loads and keys that may be under way: fewer where some get lost.
    controls: u64,
    counts: Counts,
}

/// A number for a session: not 0, and one that nobody foresees.
///
/// # Errors
/// When the system has no random numbers.
pub fn draw() -> Result<u16, getrandom::Error> {
    loop {
        let mut bytes = [0; 2];
        getrandom::fill(&mut bytes)?;
        match u16::from_le_bytes(bytes) {
            0 => {}
            number => return Ok(number),
        }
    }
}

impl Session {
    /// Begins to open a session of this number between these addresses.
    pub fn new(ours: Address, board: Address, id: u16, now: Duration) -> Self {
        Self {
            ours,
            board,
            id,
            state: State::Opening,
            number: 0,
            queue: 0,
            slots: Vec::new(),
            partial: Vec::new(),
            timing: Timing::default(),
            hello: Some(Asked { number: 0, at: now, missed: now, tries: 0 }),
            register: None,
            store: None,
            bye: false,
            heard: now,
            spoke: now,
            waits: Some(now),
            polled: now,
            events: VecDeque::new(),
            controls: CONTROLS,
            counts: Counts::default(),
        }
    }

    /// Its number.
    pub fn id(&self) -> u16 {
        self.id
    }

    /// Whether slots can be asked.
    pub fn is_open(&self) -> bool {
        self.state == State::Open
    }

    /// Whether it is over.
    pub fn is_over(&self) -> bool {
        self.state == State::Over
    }

    /// The next event.
    pub fn event(&mut self) -> Option<Event> {
        self.events.pop_front()
    }

    /// What it has counted.
    pub fn counts(&self) -> Counts {
        self.counts
    }

    /// The round trip, if any was measured.
    pub fn round_trip(&self) -> Option<Duration> {
        self.timing.smoothed()
    }

    /// Whether one more frame for a slot would be sent at once. More may be asked; it waits here.
    pub fn has_room(&self, slot: u8) -> bool {
        let Some(queue) = self.slots.get(usize::from(slot)) else { return false };
        let controls = (queue.sets + queue.keys) - (queue.there.0 + queue.there.1);
        self.is_open() && controls < self.controls && self.used() + self.backlog() < self.queue
    }

    /// Beats that wait until there is room for them.
    fn backlog(&self) -> usize {
        self.slots.iter().map(|queue| queue.backlog).sum()
    }

    /// Frames of a slot that are not answered.
    pub fn under_way(&self, slot: u8) -> usize {
        self.slots.get(usize::from(slot)).map_or(0, |queue| queue.flights.len())
    }

    /// Beats that may be in the board's queue.
    fn used(&self) -> usize {
        let stores = self.store.as_ref().map_or(0, Storing::queued);
        self.slots.iter().map(|queue| queue.used).sum::<usize>() + stores
    }

    /// Asks a slot for what changes neither sets nor keys. `expected`: bytes (or [`ANY`]) of a response whose status is Ok, the trailer
    /// included. The tag is put in here.
    pub fn data(&mut self, slot: u8, ticket: Ticket, frame: Vec<u8>, expected: usize, now: Duration) {
        self.ask(slot, ticket, Kind::Data, Bytes::Data(frame), None, expected, now);
    }

    /// The same for a frame that changes a set ([`Kind::Load`]) or a key ([`Kind::Key`]), behind all that was asked before and
    /// in front of all that is asked later. It is answered by a trailer.
    pub fn change(&mut self, slot: u8, ticket: Ticket, kind: Kind, frame: Zeroizing<Vec<u8>>, now: Duration) {
        if let Some(queue) = self.slots.get_mut(usize::from(slot)) {
            match kind {
                Kind::Load => queue.sets += 1,
                _ => queue.keys += 1,
            }
            self.ask(slot, ticket, kind, Bytes::Secret(frame), None, BEAT, now);
        }
    }

    /// The same for a load whose end the store has: these words are sent for it. If the board does not have them, all of it goes
    /// over the cable ([`Event::Unstored`]).
    pub fn recall(&mut self, slot: u8, ticket: Ticket, span: Span, load: Zeroizing<Vec<u8>>, now: Duration) {
        let head = load.len().checked_sub(BEAT * usize::from(span.words));
        let head = head.filter(|head| (BEAT..=BEAT * wire::STORED).contains(head) && head % BEAT == 0);
        let Some(head) = head.and_then(|head| load.get(..head)) else {
            return self.change(slot, ticket, Kind::Load, load, now);
        };
        if let Some(queue) = self.slots.get_mut(usize::from(slot)) {
            queue.sets += 1;
            let bytes = Bytes::Secret([&span.beat(), head].concat().into());
            self.ask(slot, ticket, Kind::Recall, bytes, Some(load), BEAT, now);
        }
    }

    #[expect(clippy::too_many_arguments, reason = "all that a frame is")]
    fn ask(
        &mut self,
        slot: u8,
        ticket: Ticket,
        kind: Kind,
        mut bytes: Bytes,
        mut load: Option<Zeroizing<Vec<u8>>>,
        expected: usize,
        now: Duration,
    ) {
        let Some(queue) = self.slots.get_mut(usize::from(slot)) else { return };
        let tag = queue.tag(now);
        // Of a recall the frame begins behind the beat that says where its end is.
        let begin = if load.is_some() { BEAT } else { 0 };
        let frames = [bytes.get_mut().get_mut(begin..), load.as_mut().map(|load| load.as_mut_slice())];
        for frame in frames.into_iter().flatten() {
            if let Some(place) = frame.get_mut(TAG) {
                place.copy_from_slice(&tag.to_le_bytes());
            }
        }
        let (sets, keys) = (queue.sets, queue.keys);
        queue.add(Flight {
            ticket,
            kind,
            tag,
            sets,
            keys,
            bytes,
            load,
            expected,
            sent: None,
            tries: 0,
            answer: None,
        });
    }

    /// Asks the board how it is; answered by [`Event::Identity`].
    pub fn hello(&mut self, now: Duration) {
        if self.hello.is_none() && self.is_open() {
            self.hello = Some(Asked { number: 0, at: now, missed: now, tries: 0 });
        }
    }

    /// Reads a register, or writes it; answered by [`Event::Register`]. One at a time.
    pub fn register(&mut self, register: u32, value: Option<u32>) {
        let write = if value.is_some() { wire::WRITE } else { 0 };
        self.register = Some((register | write, value.unwrap_or_default(), None));
    }

    /// Ends the session: slots forget sets and keys.
    pub fn close(&mut self) {
        self.bye = self.state == State::Open;
        self.state = State::Over;
    }

    /// It is over. Nothing that was asked is answered, and keys are wiped.
    pub fn lose(&mut self, loss: Loss) {
        if self.state != State::Over {
            self.state = State::Over;
            self.slots.clear();
            self.events.clear();
            self.events.push_back(Event::Lost(loss));
        }
    }
}
