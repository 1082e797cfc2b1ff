// SPDX-License-Identifier: Apache-2.0
//! Responses of a slot, out of their segments.

use ace_board::frame;

use crate::wire::{BEAT, Frame};

/// The longest response that is put together: more than any request that fits a session asks for.
const LONGEST: usize = 1 << 22;

/// A response that comes in segments.
#[derive(Debug, Default)]
pub struct Partial {
    bytes: Vec<u8>,
    /// The number that the next segment has.
    next: u16,
    open: bool,
}

impl Partial {
    /// Takes a segment. With the last one there is a response, if none is missing.
    pub fn take(&mut self, segment: &Frame<'_>) -> Option<&[u8]> {
        let number = segment.header.number;
        if segment.is_first() {
            self.bytes.clear();
            self.open = true;
        } else if !self.open || number != self.next {
            // The one before was lost.
            self.open = false;
            return None;
        }
        if self.bytes.len() + segment.beats.len() > LONGEST {
            self.open = false;
            return None;
        }
        self.bytes.extend_from_slice(segment.beats);
        self.next = number.wrapping_add(1);
        if !segment.is_last() {
            return None;
        }
        self.open = false;
        Some(&self.bytes)
    }
}

/// What the last beat of a response says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Trailer {
    /// Bytes of result.
    pub len: u32,
    /// Whose response it is.
    pub tag: u16,
    /// As a slot says it; 0 is Ok.
    pub status: u8,
}

impl Trailer {
    /// Of a response of whole beats.
    pub fn of(response: &[u8]) -> Option<Self> {
        let [a, b, c, d, e, f, status, zero] = *response.last_chunk::<BEAT>()?;
        (zero == 0).then(|| Self {
            len: u32::from_le_bytes([a, b, c, d]),
            tag: u16::from_le_bytes([e, f]),
            status,
        })
    }

    /// Whether a frame was cut short on its way.
    pub fn is_short(&self) -> bool {
        self.status == frame::Status::FrameShort as u8
    }
}
