// SPDX-License-Identifier: Apache-2.0
//! Codes of rows, as a decoder finds them: what length a code has and where its row stands follow from the
//! context and the next five bits.

use super::model::{CLASSES, Class, HOT_ZERO, LITERAL, ROW_BITS};

/// Rows that there are.
pub(crate) const VALUES: usize = 1 << ROW_BITS;

// Places of rows in a decoder's dictionary: the row that is zero, the entries, and behind the entries those that
// stand for themselves.
const ZERO_AT: usize = 0;
pub(crate) const ENTRIES_AT: usize = 1;
pub(crate) const LITERALS_AT: usize = VALUES;
pub(crate) const PLACES: usize = 2 * VALUES;
/// What stands there for a literal zero, which is no row.
pub(crate) const NO_ROW: u16 = 1 << ROW_BITS;

/// What a code means depends on where it stands: at a warm row, at a hot row, or behind a run.
pub(crate) const WARM: u64 = 0;
pub(crate) const HOT: u64 = 1;
pub(crate) const BEHIND_RUN: u64 = 2;

/// What the first five bits of a code say: length in bits 0 to 4, flags, from bit 16 what [`Code::place`] adds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Code(u32);

const NOT_ZERO: u32 = 1 << 8;
const IS_LITERAL: u32 = 1 << 9;

/// By context and five bits.
static CODES: [[Code; 4]; 32] = codes();

impl Code {
    /// The code that stands topmost in `ahead`.
    #[inline(always)]
    pub(crate) fn of(context: u64, ahead: u64) -> Self {
        CODES[(ahead >> 59) as usize][(context % 4) as usize]
    }

    /// Bits, 1 to 17.
    #[inline(always)]
    pub(crate) fn len(self) -> u32 {
        self.0 % 32
    }

    /// 1 if the row is not zero, else 0.
    #[inline(always)]
    pub(crate) fn not_zero(self) -> u64 {
        u64::from(self.0 / NOT_ZERO % 2)
    }

    /// 1 if the row stands for itself, else 0.
    #[inline(always)]
    pub(crate) fn is_literal(self) -> u64 {
        u64::from(self.0 / IS_LITERAL % 2)
    }

    /// Where the row stands that this code, topmost in `ahead`, means.
    #[inline(always)]
    pub(crate) fn place(self, ahead: u64) -> usize {
        let bits = (ahead >> (64 - self.len())) as usize;
        bits.wrapping_add((self.0 >> 16) as usize) % PLACES
    }

    /// A prefix (bits and their number) and `rank_bits` bits more, which count from `place`.
    const fn new(prefix: (u32, u32), rank_bits: u32, place: usize, flags: u32) -> Self {
        let offset = place.wrapping_sub((prefix.0 as usize) << rank_bits) % PLACES;
        Self((offset as u32) << 16 | flags | (prefix.1 + rank_bits))
    }
}

const fn codes() -> [[Code; 4]; 32] {
    let mut codes = [[Code(1); 4]; 32];
    let mut five = 0;
    while five < 32 {
        codes[five as usize] =
            [code(WARM, five), code(HOT, five), code(BEHIND_RUN, five), code(BEHIND_RUN, five)];
        five += 1;
    }
    codes
}

/// The code that `five` bits begin.
const fn code(context: u64, five: u32) -> Code {
    let (zero, zero_bits) = if context == WARM { (0, 1) } else { HOT_ZERO };
    if context != BEHIND_RUN && five >> (5 - zero_bits) == zero {
        return Code::new((zero, zero_bits), 0, ZERO_AT, 0);
    }
    let (mut number, mut place) = (0, ENTRIES_AT);
    while number < CLASSES.len() {
        let prefix = prefix(context, &CLASSES[number]);
        if five >> (5 - prefix.1) == prefix.0 {
            return Code::new(prefix, CLASSES[number].rank_bits, place, NOT_ZERO);
        }
        place += 1 << CLASSES[number].rank_bits;
        number += 1;
    }
    let literal = Class { prefix: LITERAL.0, prefix_bits: LITERAL.1, rank_bits: ROW_BITS as u32 };
    Code::new(prefix(context, &literal), ROW_BITS as u32, LITERALS_AT, NOT_ZERO | IS_LITERAL)
}

/// The prefix that a class has in a context, and its length.
const fn prefix(context: u64, class: &Class) -> (u32, u32) {
    match (context, class.prefix) {
        (WARM, prefix) => (1 << class.prefix_bits | prefix, class.prefix_bits + 1),
        // Makes room for the zero.
        (HOT, 0b10) => (0b100, 3),
        (_, prefix) => (prefix, class.prefix_bits),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Every code of every context is as long as docs/library-format.md says, and no two mean the same place.
    #[test]
    fn lengths_and_places() {
        for (context, more, zero) in
            [(WARM, [1; 5], Some(1)), (HOT, [0, 1, 0, 0, 0], Some(3)), (BEHIND_RUN, [0; 5], None)]
        {
            let mut lens = [0; PLACES];
            for ahead in 0..1u64 << 17 {
                let code = Code::of(context, ahead << 47);
                let len = &mut lens[code.place(ahead << 47)];
                assert!([0, code.len()].contains(len));
                *len = code.len();
                assert_eq!(code.not_zero() == 0, code.place(ahead << 47) == 0);
                assert_eq!(code.is_literal() == 1, code.place(ahead << 47) >= LITERALS_AT);
            }
            assert_eq!(lens[0], zero.unwrap_or(0));
            let mut at = 1;
            for (class, (entries, bits)) in [(16, 5), (64, 8), (256, 11), (512, 13)].into_iter().enumerate() {
                assert!(lens[at..at + entries].iter().all(|len| *len == bits + more[class]));
                at += entries;
            }
            assert!(lens[at..LITERALS_AT].iter().all(|len| *len == 0));
            assert!(lens[LITERALS_AT..].iter().all(|len| *len == 16 + more[4]));
        }
    }
}
