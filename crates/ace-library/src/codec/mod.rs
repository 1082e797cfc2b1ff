// SPDX-License-Identifier: Apache-2.0
//! Frames as a stream that memory reads alone turn back into frames, one row of twelve bits a clock.
//!
//! docs/library.md describes the format bit by bit and says why it is as it is.

mod bits;
mod decode;
mod dictionary;
mod encode;
mod rows;
mod stored;

pub use decode::{Decoded, StreamError, decompress};
pub use dictionary::{DICTIONARY_BYTES, Dictionary, ENTRIES};
pub use encode::compress;
pub use stored::{BLOCK_ENTRY_BYTES, Stored};

/// Bits of a row.
pub(crate) const ROW_BITS: usize = 12;
/// So many zero rows of the same place make it quiet.
pub(crate) const QUIET_FRAMES: usize = 7;
/// Bits of a run's exponent.
pub(crate) const EXPONENT_BITS: u32 = 4;
/// The exponent that says that a run goes on behind this one.
pub(crate) const MORE: u32 = 15;
/// Rows that a run with that exponent skips.
pub(crate) const MORE_ROWS: u32 = (1 << MORE) - 1;
/// The prefix of a literal row of 12 bits.
pub(crate) const LITERAL: (u32, u32) = (0b1111, 4);
/// Zero among the codes of a hot row.
pub(crate) const HOT_ZERO: (u32, u32) = (0b101, 3);

/// Codes of the same length.
pub(crate) struct Class {
    pub(crate) prefix: u32,
    pub(crate) prefix_bits: u32,
    pub(crate) rank_bits: u32,
}

/// The dictionary's entries, the first ones first.
pub(crate) const CLASSES: [Class; 4] = [
    Class { prefix: 0b0, prefix_bits: 1, rank_bits: 4 },
    Class { prefix: 0b10, prefix_bits: 2, rank_bits: 6 },
    Class { prefix: 0b110, prefix_bits: 3, rank_bits: 8 },
    Class { prefix: 0b1110, prefix_bits: 4, rank_bits: 9 },
];

/// Which rows of the last frames were not zero.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct History {
    /// One bit a row; the last frame first.
    frames: [u128; QUIET_FRAMES],
}

impl History {
    /// Rows that one of the last frames used.
    #[inline]
    pub(crate) fn active(&self) -> u128 {
        self.frames.iter().fold(0, |all, rows| all | rows)
    }

    /// Rows that the last frame used.
    #[inline]
    pub(crate) fn last(&self) -> u128 {
        self.frames[0]
    }

    #[inline]
    pub(crate) fn push(&mut self, rows: u128) {
        self.frames.copy_within(..QUIET_FRAMES - 1, 1);
        self.frames[0] = rows;
    }
}
