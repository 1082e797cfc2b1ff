// SPDX-License-Identifier: Apache-2.0
//! A slot behind the board's end of the link: segments become frames, and epochs say which of them go to it.

use std::collections::HashMap;

use ace_board::model::{Frame as SlotFrame, SlotModel};

use super::store::Store;
use crate::wire::{self, BEAT, Frame, Kind};

/// Clocks for which a slot works at a time.
const CLOCKS: u64 = 4096;
/// Byte 1 of a frame whose result is a key's frame, as `rtl/array/array_front_pkg.sv`.
const EXPAND: u8 = 0x53;
/// The same of ciphers whose result may be a hash's frame, if byte 7 says so.
const JOINS: [u8; 3] = [ace_board::frame::op::ECB, ace_board::frame::op::CBC, ace_board::frame::op::CTR];

/// What has become of a segment.
pub enum Taken {
    Well,
    /// It does not follow the one before.
    Order,
    /// The store does not have its end.
    Unstored,
    /// Its epochs are others than the slot's.
    Stale,
    /// The load or key has been there; its trailer.
    Repeated([u8; BEAT]),
}

/// A frame of which not all segments have come.
struct Open {
    kind: Kind,
    next: u16,
    /// Nothing of it goes to the slot.
    passed_over: bool,
    bytes: Vec<u8>,
    /// Beats that it takes in the queue.
    queued: usize,
}

pub struct Slot {
    model: Box<dyn SlotModel>,
    sets: u8,
    keys: u8,
    open: Option<Open>,
    joined: u64,
    /// Beats of frames that are in the slot.
    inside: HashMap<u64, usize>,
    /// The last load or key, and its trailer.
    change: Option<u64>,
    verdict: [u8; BEAT],
}

impl Slot {
    pub fn new(model: Box<dyn SlotModel>) -> Self {
        Self {
            model,
            sets: 0,
            keys: 0,
            open: None,
            joined: 0,
            inside: HashMap::new(),
            change: None,
            verdict: wire::UNKNOWN,
        }
    }

    pub fn epochs(&self) -> (u8, u8) {
        (self.sets, self.keys)
    }

    pub fn is_busy(&self) -> bool {
        !self.inside.is_empty()
    }

    /// Beats that count as being in the queue.
    pub fn queued(&self) -> usize {
        let open = self.open.as_ref().map_or(0, |open| open.queued);
        self.inside.values().sum::<usize>() + open
    }

    pub fn reset(&mut self) {
        self.model.reset();
        (self.sets, self.keys) = (0, 0);
        (self.open, self.change, self.verdict) = (None, None, wire::UNKNOWN);
        self.inside.clear();
    }

    /// Sets and keys are gone, and no epoch says so.
    pub fn forget(&mut self) {
        self.model.reset();
        self.inside.clear();
    }

    /// Takes a segment.
    pub fn take(&mut self, frame: &Frame<'_>, store: &Store) -> Taken {
        let header = frame.header;
        let follows = |open: &Open| open.next == header.number && open.kind == header.kind;
        let mut taken = Taken::Well;
        if frame.is_first() {
            self.cut();
            let of = (header.sets, header.keys);
            let next = match header.kind {
                Kind::Load | Kind::Recall => (self.sets.wrapping_add(1), self.keys),
                Kind::Key => (self.sets, self.keys.wrapping_add(1)),
                _ => self.epochs(),
            };
            let repeated = header.kind != Kind::Data && of == self.epochs();
            taken = match of == next {
                true => Taken::Well,
                false if repeated => Taken::Repeated(self.verdict),
                false => Taken::Stale,
            };
            let passed_over = !matches!(taken, Taken::Well);
            let (kind, next, bytes) = (header.kind, header.number, Vec::new());
            self.open = Some(Open { kind, next, passed_over, bytes, queued: 0 });
        } else if !self.open.as_ref().is_some_and(follows) {
            self.cut();
            return Taken::Order;
        }
        let recalled = frame.span().filter(|_| header.kind == Kind::Recall);
        let (beats, end) = match recalled {
            Some((span, beats)) => {
                let words = span.and_then(|span| store.get(span));
                if words.is_none() && matches!(taken, Taken::Well) {
                    self.open = None;
                    return Taken::Unstored;
                }
                (beats, words)
            }
            None => (frame.beats, None),
        };
        if let Some(open) = &mut self.open {
            open.next = header.number.wrapping_add(1);
            open.queued += frame.beats.len() / BEAT + wire::OVERHEAD;
            open.bytes.extend_from_slice(beats);
            open.bytes.extend_from_slice(end.unwrap_or_default());
        }
        if frame.is_last() {
            self.finish();
        }
        taken
    }

    /// Ends a frame early: the slot has a last beat all the same.
    fn cut(&mut self) {
        self.finish();
    }

    fn finish(&mut self) {
        let Some(open) = self.open.take().filter(|open| !open.passed_over && !open.bytes.is_empty()) else {
            return;
        };
        let number = self.joined;
        self.joined += 1;
        match open.kind {
            Kind::Load | Kind::Recall => self.sets = self.sets.wrapping_add(1),
            Kind::Key => self.keys = self.keys.wrapping_add(1),
            _ => {}
        }
        if open.kind != Kind::Data {
            (self.change, self.verdict) = (Some(number), wire::UNKNOWN);
        }
        self.inside.insert(number, open.queued);
        let (op, result) = (open.bytes.get(1).copied(), open.bytes.get(7).copied());
        let chained = op == Some(EXPAND) || (op.is_some_and(|op| JOINS.contains(&op)) && result != Some(0));
        let capacity = 2 * open.bytes.len() + 512;
        self.model.join(number, SlotFrame { chained, ..SlotFrame::new(open.bytes, capacity) });
    }

    /// Lets the slot work for a while, until it has a response.
    pub fn work(&mut self) -> Option<Vec<u8>> {
        if self.inside.is_empty() {
            return None;
        }
        match self.model.go(self.model.clocks() + CLOCKS, 0) {
            Ok(Some((number, frame))) => {
                self.inside.remove(&number);
                if self.change == Some(number)
                    && let Some(trailer) = frame.response.last_chunk()
                {
                    self.verdict = *trailer;
                }
                Some(frame.response)
            }
            Ok(None) => None,
            Err(_) => {
                // A slot that hangs answers nothing until it is reset.
                self.inside.clear();
                None
            }
        }
    }
}
