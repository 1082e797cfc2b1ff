// SPDX-License-Identifier: Apache-2.0
//! What a board says of itself (`docs/link.md`, "Identity").

use serde::Serialize;

use crate::wire::{Address, BEAT, SLOTS};

/// Beats of *identity*.
pub const BEATS: usize = 8;

/// A board, and how it stands.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Identity {
    /// Version of the link.
    pub version: u8,
    /// How many slots it has.
    pub slots: u8,
    /// Beats that its receive queue holds.
    pub queue: u16,
    /// Clock of the slots in kHz.
    pub khz: u32,
    /// What the image was made from: the number that the SHA-256's first 16 hexadecimal digits are, lowest byte first.
    pub image: [u8; BEAT],
    /// Address of the session's host; zeros: there is none.
    pub host: Address,
    /// The session.
    pub session: u16,
    /// What its link has counted.
    pub counters: Counters,
    /// Tap of the receive delay.
    pub tap: u8,
    /// The tap is where it was asked to be.
    pub settled: bool,
    /// Which slots take context sets: bit by bit.
    pub arrays: u8,
    /// Words of its store; 0: it has none.
    pub store_words: u16,
    /// Of each slot, epochs of sets and keys.
    pub epochs: [(u8, u8); SLOTS],
}

/// Frames that a board has counted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Counters {
    /// Came whole.
    pub whole: u32,
    /// Had a wrong FCS or ended too early.
    pub broken: u32,
    /// Found no room in the queue.
    pub no_room: u32,
    /// Were dropped for any other reason.
    pub dropped: u32,
    /// Were sent.
    pub sent: u32,
}

impl Identity {
    /// From the beats of the frame; `None` if there are fewer.
    pub fn from_beats(beats: &[u8]) -> Option<Self> {
        let mut words = beats.chunks_exact(BEAT).map(|beat| beat.try_into().map(u64::from_le_bytes));
        let mut next = || words.next().and_then(Result::ok);
        let (first, image, host, received, lost, sent) =
            (next()?, next()?, next()?, next()?, next()?, next()?);
        let halves = |word: u64| (word as u32, (word >> 32) as u32);
        let [a, b, c, d, e, f, low, high] = host.to_le_bytes();
        let (whole, broken) = halves(received);
        let (no_room, dropped) = halves(lost);
        let mut epochs = [(0, 0); SLOTS];
        for (at, word) in [next()?, next()?].into_iter().enumerate() {
            for (slot, pair) in word.to_le_bytes().chunks_exact(2).enumerate() {
                if let (Some(place), [sets, keys]) = (epochs.get_mut(4 * at + slot), pair) {
                    *place = (*sets, *keys);
                }
            }
        }
        Some(Self {
            version: first as u8,
            slots: (first >> 8) as u8,
            queue: (first >> 16) as u16,
            khz: (first >> 32) as u32,
            image: image.to_le_bytes(),
            host: [a, b, c, d, e, f],
            session: u16::from_le_bytes([low, high]),
            counters: Counters { whole, broken, no_room, dropped, sent: sent as u32 },
            tap: (sent >> 32) as u8 & 0x7f,
            settled: sent >> 39 & 1 == 1,
            arrays: (sent >> 40) as u8,
            store_words: (sent >> 48) as u16,
            epochs,
        })
    }

    /// As it goes over the wire.
    pub fn to_beats(&self) -> Vec<u8> {
        let Self { counters, host: [a, b, c, d, e, f], .. } = self;
        let [low, high] = self.session.to_le_bytes();
        let both = |low: u32, high: u32| u64::from(low) | u64::from(high) << 32;
        let tap = u32::from(self.tap & 0x7f)
            | u32::from(self.settled) << 7
            | u32::from(self.arrays) << 8
            | u32::from(self.store_words) << 16;
        let mut words = vec![
            u64::from(self.version)
                | u64::from(self.slots) << 8
                | u64::from(self.queue) << 16
                | u64::from(self.khz) << 32,
            u64::from_le_bytes(self.image),
            u64::from_le_bytes([*a, *b, *c, *d, *e, *f, low, high]),
            both(counters.whole, counters.broken),
            both(counters.no_room, counters.dropped),
            both(counters.sent, tap),
        ];
        words.extend(self.epochs.chunks(4).map(|four| {
            four.iter()
                .rev()
                .fold(0, |word, (sets, keys)| word << 16 | u64::from(*keys) << 8 | u64::from(*sets))
        }));
        words.iter().flat_map(|word| word.to_le_bytes()).collect()
    }
}
