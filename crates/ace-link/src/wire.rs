// SPDX-License-Identifier: Apache-2.0
//! Frames of the link (`docs/link.md`, "A frame"): views of bytes, and builders. All numbers of the protocol stand here.

use thiserror::Error;

/// An Ethernet address.
pub type Address = [u8; 6];

/// The board's address.
pub const BOARD: Address = [0x02, 0x41, 0x43, 0x45, 0x00, 0x01];
/// Everybody's.
pub const ALL: Address = [0xff; 6];
/// IEEE 802, local experiment 1.
pub const ETHERTYPE: u16 = 0x88B5;
/// The version of the link that this end speaks.
pub const VERSION: u8 = 1;

/// Bytes of a beat.
pub const BEAT: usize = 8;
/// Bytes in front of the beats.
pub const HEADER: usize = 24;
/// Beats of a segment that is not the last one, and the most that any has.
pub const SEGMENT: usize = 184;
/// Words of the store that one frame brings: all beats but the one that says where they go.
pub const STORED: usize = SEGMENT - 1;
/// Bytes of the longest frame, without FCS.
pub const LONGEST: usize = HEADER + SEGMENT * BEAT;
/// Bytes of the shortest frame, without FCS.
pub const SHORTEST: usize = 60;
/// Beats that a frame takes in the board's queue besides its own.
pub const OVERHEAD: usize = 3;
/// Slots that *identity* can speak of.
pub const SLOTS: usize = 8;
/// Taps of the board's receive delay.
pub const TAPS: u8 = 128;
/// Bit 31 of a register's request: it is written.
pub const WRITE: u32 = 1 << 31;
/// What a *verdict* has in place of a trailer while the slot has not answered.
pub const UNKNOWN: [u8; BEAT] = [0xff; BEAT];

/// Byte 14.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[repr(u8)]
pub enum Kind {
    /// Opens a session, or finds the one that is open.
    Hello = 0x01,
    /// Of a frame that may be repeated.
    Data = 0x02,
    /// Of a frame that changes a set.
    Load = 0x03,
    /// Of a frame that changes a key.
    Key = 0x04,
    /// Reads or writes a register.
    Register = 0x05,
    /// Ends the session.
    Bye = 0x06,
    /// Of words for the board's store.
    Store = 0x07,
    /// Of a frame that changes a set and whose end is in the store.
    Recall = 0x08,
    /// What the board is and how it stands.
    Identity = 0x81,
    /// Of a slot's response.
    Answer = 0x82,
    /// The trailer of the last load or key.
    Verdict = 0x83,
    /// The frame's epochs are not those of its slot.
    Stale = 0x84,
    /// A register's value.
    Value = 0x85,
    /// The board does not do it: [`Refusal`].
    Refused = 0x86,
    /// The words are in the store.
    Stored = 0x87,
}

impl Kind {
    const KINDS: [Kind; 15] = [
        Kind::Hello,
        Kind::Data,
        Kind::Load,
        Kind::Key,
        Kind::Register,
        Kind::Bye,
        Kind::Store,
        Kind::Recall,
        Kind::Identity,
        Kind::Answer,
        Kind::Verdict,
        Kind::Stale,
        Kind::Value,
        Kind::Refused,
        Kind::Stored,
    ];

    /// By its code.
    pub fn from_code(code: u8) -> Option<Self> {
        Self::KINDS.into_iter().find(|kind| *kind as u8 == code)
    }
}

/// Why a board refuses: the first byte of *refused*.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum Refusal {
    /// Another host has the session.
    OtherHost = 1,
    /// No session is open, or another one of the same host.
    NoSession = 2,
    /// There is no such slot.
    NoSlot = 3,
    /// The segment does not follow the one before.
    Order = 4,
    /// The store has no such words, or no such room.
    Store = 5,
}

impl Refusal {
    /// By its code.
    pub fn from_code(code: u8) -> Option<Self> {
        [Self::OtherHost, Self::NoSession, Self::NoSlot, Self::Order, Self::Store]
            .into_iter()
            .find(|why| *why as u8 == code)
    }
}

/// Byte 15.
pub mod flag {
    /// The first segment of its frame.
    pub const FIRST: u8 = 1 << 0;
    /// The last segment of its frame.
    pub const LAST: u8 = 1 << 1;
}

/// Registers of the board (`docs/link.md`, "Registers").
pub mod register {
    /// The tap of the receive delay.
    pub const TAP: u32 = 0;
    /// Bit 7 of it: it moves.
    pub const MOVES: u32 = 1 << 7;
    /// The PHY's registers.
    pub const MDIO: u32 = 1;
    /// The LED.
    pub const LED: u32 = 2;
    /// Written, it clears the counters of *identity*.
    pub const CLEAR: u32 = 3;
}

/// Words of the store.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Span {
    /// Where the first one is.
    pub place: u16,
    /// How many.
    pub words: u16,
}

impl Span {
    /// The first beat of *recall*.
    pub fn beat(self) -> [u8; BEAT] {
        (u64::from(self.place) | u64::from(self.words) << 16).to_le_bytes()
    }

    /// The place behind its last word.
    pub fn end(self) -> usize {
        usize::from(self.place) + usize::from(self.words)
    }

    /// The first beat of *store*, whose other beats go to this place and behind it.
    pub fn store_beat(place: u16) -> [u8; BEAT] {
        u64::from(place).to_le_bytes()
    }
}

/// Why bytes are no frame of the link. Whoever gets them passes over them.
#[derive(Clone, Copy, Debug, Error, PartialEq, Eq)]
pub enum Malformed {
    /// So many bytes, which are fewer than a header has.
    #[error("{0} bytes are shorter than a frame's header")]
    Short(usize),
    /// Another EtherType.
    #[error("EtherType {0:#06x}")]
    Type(u16),
    /// A kind that nobody knows.
    #[error("kind {0:#04x}")]
    Kind(u8),
    /// A flag that is not given.
    #[error("flags {0:#04x}")]
    Flags(u8),
    /// More beats than a segment has, or than bytes came.
    #[error("{0} beats in a frame of {1} bytes")]
    Beats(u8, usize),
}

/// What stands in front of the beats.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Header {
    /// Who is meant.
    pub to: Address,
    /// Who sends.
    pub from: Address,
    /// What the frame is.
    pub kind: Kind,
    /// Bits of [`flag`].
    pub flags: u8,
    /// One more with each frame of the sender; in an answer of the link itself the request's.
    pub number: u16,
    /// Epoch of the slot's sets.
    pub sets: u8,
    /// Epoch of the slot's keys.
    pub keys: u8,
    /// The slot.
    pub slot: u8,
    /// The session.
    pub session: u16,
}

impl Header {
    /// The answer to a frame: the same, the other way, as another kind.
    pub fn answer(&self, kind: Kind) -> Self {
        Self { to: self.from, from: self.to, kind, flags: flag::FIRST | flag::LAST, ..*self }
    }

    /// Puts a frame of these beats behind what is in `out`, padded to the shortest frame. Of `beats` as many bytes as a
    /// segment holds count, in whole beats.
    pub fn write(&self, beats: &[u8], out: &mut Vec<u8>) {
        let count = (beats.len() / BEAT).min(SEGMENT);
        let start = out.len();
        out.extend_from_slice(&self.to);
        out.extend_from_slice(&self.from);
        out.extend_from_slice(&ETHERTYPE.to_be_bytes());
        out.extend_from_slice(&[self.kind as u8, self.flags]);
        out.extend_from_slice(&self.number.to_le_bytes());
        out.extend_from_slice(&[self.sets, self.keys, self.slot, count as u8]);
        out.extend_from_slice(&self.session.to_le_bytes());
        out.extend_from_slice(beats.get(..count * BEAT).unwrap_or_default());
        if out.len() < start + SHORTEST {
            out.resize(start + SHORTEST, 0);
        }
    }
}

/// A frame that came.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Frame<'a> {
    /// What stands in front of its beats.
    pub header: Header,
    /// Its beats: whole ones.
    pub beats: &'a [u8],
}

impl<'a> Frame<'a> {
    /// Reads a frame; what is behind its beats is passed over.
    ///
    /// # Errors
    /// Why it is none.
    pub fn parse(bytes: &'a [u8]) -> Result<Self, Malformed> {
        let Some((header, behind)) = bytes.split_first_chunk::<HEADER>() else {
            return Err(Malformed::Short(bytes.len()));
        };
        let ethertype = u16::from_be_bytes([header[12], header[13]]);
        if ethertype != ETHERTYPE {
            return Err(Malformed::Type(ethertype));
        }
        let kind = Kind::from_code(header[14]).ok_or(Malformed::Kind(header[14]))?;
        let flags = header[15];
        if flags & !(flag::FIRST | flag::LAST) != 0 {
            return Err(Malformed::Flags(flags));
        }
        let count = header[21];
        let beats = behind.get(..usize::from(count) * BEAT).filter(|_| usize::from(count) <= SEGMENT);
        let beats = beats.ok_or(Malformed::Beats(count, bytes.len()))?;
        let [to, from] = [0, 6].map(|at| std::array::from_fn(|byte| header[at + byte]));
        let header = Header {
            to,
            from,
            kind,
            flags,
            number: u16::from_le_bytes([header[16], header[17]]),
            sets: header[18],
            keys: header[19],
            slot: header[20],
            session: u16::from_le_bytes([header[22], header[23]]),
        };
        Ok(Self { header, beats })
    }

    /// Whether it is its frame's first segment.
    pub fn is_first(&self) -> bool {
        self.header.flags & flag::FIRST != 0
    }

    /// Whether it is its frame's last segment.
    pub fn is_last(&self) -> bool {
        self.header.flags & flag::LAST != 0
    }

    /// Its first beat, if it has one.
    pub fn first_beat(&self) -> Option<[u8; BEAT]> {
        self.beats.first_chunk().copied()
    }

    /// Of *store* and *recall* the words that it is about, if its first beat has no other bits, and the beats behind that one.
    /// `None` if it is not one segment of two beats or more.
    pub fn span(&self) -> Option<(Option<Span>, &'a [u8])> {
        let (beat, rest) = self.beats.split_first_chunk::<BEAT>()?;
        let [a, b, c, d, zeros @ ..] = *beat;
        let (place, words) = (u16::from_le_bytes([a, b]), u16::from_le_bytes([c, d]));
        let span = match self.header.kind {
            Kind::Store => Some((rest.len() / BEAT) as u16).filter(|_| words == 0),
            Kind::Recall => Some(words),
            _ => return None,
        };
        let span = span.filter(|_| zeros == [0; 4]).map(|words| Span { place, words });
        (self.is_first() && self.is_last() && !rest.is_empty()).then_some((span, rest))
    }

    /// Why the board refuses, if that is what it says.
    pub fn refusal(&self) -> Option<Refusal> {
        Refusal::from_code(*self.beats.first()?)
    }

    /// A register and its value, if the frame is about one.
    pub fn register(&self) -> Option<(u32, u32)> {
        let [a, b, c, d, e, f, g, h] = self.first_beat()?;
        Some((u32::from_le_bytes([a, b, c, d]), u32::from_le_bytes([e, f, g, h])))
    }
}

/// The beat of a frame about a register.
pub fn register_beat(register: u32, value: u32) -> [u8; BEAT] {
    (u64::from(register) | u64::from(value) << 32).to_le_bytes()
}

/// Segments of a slot's frame of so many bytes.
pub fn segments(bytes: usize) -> usize {
    bytes.div_ceil(SEGMENT * BEAT).max(1)
}

/// Beats that such a frame takes in the board's queue.
pub fn queued(bytes: usize) -> usize {
    bytes.div_ceil(BEAT) + OVERHEAD * segments(bytes)
}

/// The segments of a slot's frame, with their flags.
pub fn cut(frame: &[u8]) -> impl Iterator<Item = (u8, &[u8])> {
    let last = segments(frame.len()) - 1;
    (0..=last).map(move |at| {
        let first = if at == 0 { flag::FIRST } else { 0 };
        let end = if at == last { flag::LAST } else { 0 };
        let start = at * SEGMENT * BEAT;
        (first | end, frame.get(start..(start + SEGMENT * BEAT).min(frame.len())).unwrap_or_default())
    })
}

/// An address as people write it.
pub fn words(address: Address) -> String {
    address.map(|byte| format!("{byte:02x}")).join(":")
}
