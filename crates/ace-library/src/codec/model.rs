// SPDX-License-Identifier: Apache-2.0
//! What the codes of rows are and what they depend on: docs/library-format.md ("The stream").

/// Bits of a row.
pub(crate) const ROW_BITS: usize = 12;
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

/// For how long rows have been zero: their ages, a bit of each age in a plane, one bit a row.
#[derive(Clone, Copy, Debug)]
pub(crate) struct History {
    planes: [u128; 3],
}

impl Default for History {
    fn default() -> Self {
        Self { planes: [!0; 3] }
    }
}

impl History {
    /// Rows that are not of the greatest age: one of the last seven frames used them.
    #[inline(always)]
    pub(crate) fn active(&self) -> u128 {
        !(self.planes[0] & self.planes[1] & self.planes[2])
    }

    /// Rows of age 0: the last frame used them.
    #[inline(always)]
    pub(crate) fn last(&self) -> u128 {
        !(self.planes[0] | self.planes[1] | self.planes[2])
    }

    /// A frame is done that uses `rows`.
    #[inline(always)]
    pub(crate) fn push(&mut self, rows: u128) {
        let [a, b, c] = self.planes;
        // One more, but not more than 7.
        self.planes = [!a | b & c, (a ^ b) | a & c, c | a & b].map(|plane| plane & !rows);
    }
}
