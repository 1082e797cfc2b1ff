// SPDX-License-Identifier: Apache-2.0
//! One direction of a connection.

use std::collections::VecDeque;

use thiserror::Error;

use super::message::{Cut, Messages};
use super::{Found, Verdict};
use crate::pieces::Pieces;

/// Bytes that wait in one stream for those in front of them.
pub const MOST_STREAM: usize = 4 << 20;
/// So many of the last bytes are there to be held against what comes again.
const RECENT: usize = 16 << 10;

/// Why segments or messages came to nothing, as half a sentence for people.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Error)]
pub enum Why {
    /// The handshake is not in the capture, and so not where messages begin.
    #[error("segments of ESP in TCP whose stream begins before the capture")]
    Beheaded,
    /// A gap that nothing fills.
    #[error("segments of ESP in TCP behind one that is missing")]
    Missing,
    /// The same place twice.
    #[error("segments of ESP in TCP that overlap with other bytes")]
    Differs,
    /// RFC 9329, 3.
    #[error("segments of ESP in TCP behind a message of length 0 or 1")]
    Length,
    /// The bounds.
    #[error("segments of ESP in TCP behind more than may wait")]
    Many,
    /// The bounds.
    #[error("segments of ESP in TCP, of more streams than are remembered")]
    Streams,
    /// A message without its end.
    #[error("messages of ESP in TCP that do not end in the capture")]
    Cut,
    /// Less than an SPI.
    #[error("messages in TCP that are too short to be ESP")]
    Short,
    /// With an IP header.
    #[error("messages of ESP in TCP that are longer than a packet can be")]
    Long,
}

impl Why {
    /// All of them.
    pub const ALL: [Self; 9] = [
        Self::Beheaded,
        Self::Missing,
        Self::Differs,
        Self::Length,
        Self::Many,
        Self::Streams,
        Self::Cut,
        Self::Short,
        Self::Long,
    ];
}

/// What a stream carries.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Not known yet.
    Unknown,
    /// Messages.
    Esp,
    /// Something else.
    Other,
    /// Messages that nobody can find any more.
    Broken(Why),
}

#[derive(Debug)]
pub struct Stream {
    kind: Kind,
    /// Whose prefix is waited for.
    opener: bool,
    ours: bool,
    /// Of its first byte.
    start: u32,
    /// Bytes that were delivered, or, of one that is not for us, looked at.
    at: u64,
    /// Segments and bytes that wait.
    waiting: Pieces,
    waits: u64,
    recent: VecDeque<u8>,
    messages: Messages,
    end: Option<u64>,
    /// When it was used last.
    pub used: u64,
}

impl Stream {
    pub fn new(start: u32, opener: bool, ours: bool) -> Self {
        Self {
            kind: Kind::Unknown,
            opener,
            ours,
            start,
            at: 0,
            waiting: Pieces::default(),
            waits: 0,
            recent: VecDeque::new(),
            messages: Messages::default(),
            end: None,
            used: 0,
        }
    }

    /// One whose beginning nobody saw.
    pub fn beheaded(start: u32) -> Self {
        Self { kind: Kind::Broken(Why::Beheaded), ..Self::new(start, false, true) }
    }

    pub fn start(&self) -> u32 {
        self.start
    }

    pub fn kind(&self) -> Kind {
        self.kind
    }

    pub fn size(&self) -> usize {
        self.waiting.size() + self.recent.capacity() + self.messages.size()
    }

    /// What the other direction says of it: whoever did not open the connection says no prefix.
    pub fn learn(&mut self, reverse: Option<Kind>, at_port: bool) {
        if self.kind == Kind::Unknown && !self.opener {
            self.kind = match reverse {
                Some(Kind::Esp | Kind::Broken(_)) => Kind::Esp,
                Some(Kind::Other) => Kind::Other,
                Some(Kind::Unknown) => Kind::Unknown,
                None if at_port => Kind::Esp,
                None => Kind::Other,
            };
        }
    }

    /// Takes what a segment carries. `room`: so many bytes more may wait anywhere.
    pub fn take(
        &mut self,
        sequence: u32,
        begins: bool,
        payload: &[u8],
        room: usize,
        esp: &mut Vec<Vec<u8>>,
        found: &mut Found,
    ) -> Verdict {
        let beside = |kind| if kind == Kind::Other { Verdict::Ordinary } else { Verdict::Beside };
        if payload.is_empty() || self.kind == Kind::Other || (!self.ours && self.kind == Kind::Esp) {
            return beside(self.kind);
        }
        let sequence = sequence.wrapping_add(u32::from(begins));
        // As far from the place that is next as 31 bits say.
        let next = self.start.wrapping_add(self.at as u32);
        let distance = i64::from(sequence.wrapping_sub(next).cast_signed());
        let place = i64::try_from(self.at).unwrap_or(i64::MAX).saturating_add(distance);
        // A keepalive of TCP repeats a byte that was acknowledged, and need not have it.
        if payload.len() == 1 && distance == -1 {
            return Verdict::Beside;
        }
        if let Kind::Broken(why) = self.kind {
            found.lost.push((why, 1));
            return Verdict::Taken;
        }
        let (place, payload) = match u64::try_from(place) {
            Ok(place) => (place, payload),
            // In front of the first byte.
            Err(_) => (0, payload.get(place.unsigned_abs() as usize..).unwrap_or_default()),
        };
        let old = (self.at.saturating_sub(place) as usize).min(payload.len());
        let (old, fresh) = payload.split_at(old);
        if !self.agrees(place, old) {
            self.broken(Why::Differs, 1, found);
            return Verdict::Taken;
        }
        if fresh.is_empty() {
            return Verdict::Beside;
        }
        let place = place.max(self.at);
        if self.waiting.put(place, fresh).is_err() {
            self.broken(Why::Differs, 1, found);
            return Verdict::Taken;
        }
        let in_order = place == self.at;
        if !in_order && self.waiting.size() > MOST_STREAM.min(room) {
            self.broken(Why::Many, 1, found);
            return Verdict::Taken;
        }
        self.waits += 1;
        if in_order { self.deliver(esp, found) } else { Verdict::Taken }
    }

    /// Whether bytes that were delivered come again as they were, as far as that is known.
    fn agrees(&self, place: u64, again: &[u8]) -> bool {
        let oldest = self.at - self.recent.len() as u64;
        let skipped = (oldest.saturating_sub(place) as usize).min(again.len());
        let from = (place.max(oldest) - oldest) as usize;
        let known = again.get(skipped..).unwrap_or_default();
        known.is_empty() || self.recent.range(from..from + known.len()).eq(known)
    }

    /// What is in order goes on; the verdict on the segment with which it is.
    fn deliver(&mut self, esp: &mut Vec<Vec<u8>>, found: &mut Found) -> Verdict {
        if self.kind == Kind::Unknown && !self.opener {
            return Verdict::Ordinary;
        }
        let mut is_esp = self.kind == Kind::Esp && self.messages.may_be_esp();
        while let Some(bytes) = self.waiting.take(self.at) {
            self.at += bytes.len() as u64;
            let last = bytes.get(bytes.len().saturating_sub(RECENT)..).unwrap_or_default();
            let more = (self.recent.len() + last.len()).saturating_sub(RECENT);
            self.recent.drain(..more);
            self.recent.extend(last);
            let mut rest = bytes.as_slice();
            if self.kind == Kind::Unknown {
                match self.messages.prefix(rest) {
                    None => continue,
                    Some(true) => (self.kind, rest) = (Kind::Esp, &[]),
                    Some(false) => {
                        *self = Self {
                            kind: Kind::Other,
                            used: self.used,
                            ..Self::new(self.start, true, self.ours)
                        };
                        return Verdict::Ordinary;
                    }
                }
            }
            if !self.ours {
                // That it is one is all there is to know.
                self.messages.clear();
                continue;
            }
            let (cut, is_bad) = match self.messages.cut(rest) {
                Ok(cut) => (cut, false),
                Err((cut, _)) => (cut, true),
            };
            let Cut { esp: messages, short } = cut;
            is_esp |= !messages.is_empty() || short > 0;
            esp.extend(messages);
            if short > 0 {
                found.lost.push((Why::Short, short));
            }
            if is_bad {
                self.broken(Why::Length, 1, found);
                return Verdict::Taken;
            }
        }
        if self.waiting.is_empty() {
            self.waits = 0;
        }
        is_esp |= self.kind == Kind::Esp && self.messages.may_be_esp();
        if is_esp { Verdict::Taken } else { Verdict::Beside }
    }

    /// Nothing of it can be found any more; `more` segments beside those that wait.
    fn broken(&mut self, why: Why, more: u64, found: &mut Found) {
        let waits = if self.waiting.is_empty() { 0 } else { self.waits };
        self.kind = Kind::Broken(why);
        (self.waiting, self.waits, self.recent) = (Pieces::default(), 0, VecDeque::new());
        self.messages.clear();
        found.lost.push((why, waits + more));
    }

    /// Its last byte is in front of `sequence + len`.
    pub fn finish(&mut self, sequence: u32, len: usize) {
        let next = self.start.wrapping_add(self.at as u32);
        let distance = i64::from(sequence.wrapping_sub(next).cast_signed()) + len as i64;
        self.end = u64::try_from(self.at as i64 + distance).ok();
    }

    /// Whether all of it was delivered.
    pub fn is_over(&self) -> bool {
        self.end == Some(self.at)
    }

    /// Nothing more comes of it.
    pub fn end(&mut self, found: &mut Found) {
        self.give_up(Why::Missing, found);
    }

    pub fn give_up(&mut self, why: Why, found: &mut Found) {
        let is_one = self.kind == Kind::Esp && self.ours;
        if is_one && !self.waiting.is_empty() {
            found.lost.push((why, self.waits));
        }
        if is_one && self.messages.may_be_esp() {
            found.lost.push((Why::Cut, 1));
        }
        (self.waiting, self.waits) = (Pieces::default(), 0);
        self.messages.clear();
    }
}
