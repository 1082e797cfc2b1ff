// SPDX-License-Identifier: Apache-2.0
//! The tables: what is known of a bit when it is decoded, and how probable a 0 is then.

use super::super::model::ROW_BITS;
use super::super::rows::FRAME_ROWS;

/// Frames of a column of tiles, which have tables of their own.
pub(super) const COLUMN: usize = 106;
/// Frames before the one at hand that are looked at.
pub(super) const WINDOW: usize = 7;
/// Bits that choose among the probabilities of a bit of a row, and of whether a row is zero.
pub(super) const BIT_PARENTS: usize = 3;
pub(super) const FLAG_PARENTS: usize = 4;
/// Bits of the rows before, then those of the row itself.
pub(super) const OWN: usize = WINDOW * ROW_BITS;
/// No parent: a bit that is 0.
pub(super) const NO_BIT: u8 = 127;
/// Of whether a row is zero: rows above, the same row in frames before, the row below in the frame before, any of the
/// same row.
pub(super) const ABOVE: usize = 3;
pub(super) const BELOW: usize = ABOVE + WINDOW;
pub(super) const ANY: usize = BELOW + 1;
pub(super) const NO_FLAG: u8 = 15;
/// Bytes of the tables of a frame of a column: of each bit, the highest first, its parents and its probabilities; then
/// those of whether a row is zero, two parents a byte.
pub(super) const BIT_BYTES: usize = BIT_PARENTS + (1 << BIT_PARENTS);
pub(super) const FLAG_BYTES: usize = FLAG_PARENTS / 2 + (1 << FLAG_PARENTS);
pub(super) const FRAME_BYTES: usize = ROW_BITS * BIT_BYTES + FLAG_BYTES;
/// Length of the tables.
pub const CONTEXTS_BYTES: usize = COLUMN * FRAME_BYTES;

/// What is known of a bit when it is decoded, and how probable a 0 is then, in 256ths, 1 to 255.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Context<const PARENTS: usize, const VALUES: usize> {
    pub(super) parents: [u8; PARENTS],
    pub(super) zero: [u8; VALUES],
}

pub(super) type Bit = Context<BIT_PARENTS, { 1 << BIT_PARENTS }>;
pub(super) type Flag = Context<FLAG_PARENTS, { 1 << FLAG_PARENTS }>;

/// The tables that all streams of a library share.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Contexts {
    /// By frame of a column and bit of a row.
    pub(super) bits: Vec<[Bit; ROW_BITS]>,
    pub(super) flags: Vec<Flag>,
}

impl Contexts {
    /// As a library stores them. `None` if the length is wrong, a parent is none that can be, or a probability is zero.
    pub fn from_bytes(bytes: &[u8]) -> Option<Self> {
        if bytes.len() != CONTEXTS_BYTES {
            return None;
        }
        let none = Bit { parents: [NO_BIT; BIT_PARENTS], zero: [0; 1 << BIT_PARENTS] };
        let mut contexts = Self { bits: Vec::new(), flags: Vec::new() };
        for frame in bytes.chunks_exact(FRAME_BYTES) {
            let (rows, flag) = frame.split_at(ROW_BITS * BIT_BYTES);
            let mut bits = [none; ROW_BITS];
            for (bit, bytes) in bits.iter_mut().rev().zip(rows.chunks_exact(BIT_BYTES)) {
                let (parents, zero) = bytes.split_at(BIT_PARENTS);
                bit.parents.copy_from_slice(parents);
                bit.zero.copy_from_slice(zero);
            }
            // Of its own row a bit knows those above it.
            let known = |at: usize, parent: u8| {
                let own = usize::from(parent).checked_sub(OWN);
                parent == NO_BIT || own.is_none_or(|own| own > at && own < ROW_BITS)
            };
            let right = |(at, bit): (usize, &Bit)| {
                bit.parents.iter().all(|parent| known(at, *parent)) && !bit.zero.contains(&0)
            };
            let (pairs, zero) = flag.split_at(FLAG_PARENTS / 2);
            let mut flag = Flag { parents: [NO_FLAG; FLAG_PARENTS], zero: [0; 1 << FLAG_PARENTS] };
            for (parents, pair) in flag.parents.chunks_exact_mut(2).zip(pairs) {
                parents.copy_from_slice(&[pair >> 4, pair & 15]);
            }
            flag.zero.copy_from_slice(zero);
            let flags = flag.parents.iter().all(|parent| usize::from(*parent) <= ANY || *parent == NO_FLAG);
            if !bits.iter().enumerate().all(right) || !flags || flag.zero.contains(&0) {
                return None;
            }
            contexts.bits.push(bits);
            contexts.flags.push(flag);
        }
        Some(contexts)
    }

    /// As a library stores them.
    pub fn to_bytes(&self) -> Vec<u8> {
        let mut out = Vec::with_capacity(CONTEXTS_BYTES);
        for (bits, flag) in self.bits.iter().zip(&self.flags) {
            for bit in bits.iter().rev() {
                out.extend(bit.parents);
                out.extend(bit.zero);
            }
            out.extend(flag.parents.chunks_exact(2).map(|pair| pair[0] << 4 | pair[1]));
            out.extend(flag.zero);
        }
        out
    }
}

/// What a decoder knows: rows of the frames before, the frame at hand, the highest row first.
pub(super) struct Known {
    /// Of each row the last frames, the one before lowest, as it comes out of the tables' parents.
    pub(super) before: [u128; FRAME_ROWS],
    rows: usize,
    /// The frame at hand.
    used: u128,
    /// The rows of the frame before that are not zero.
    last: u128,
    /// Where the next frame stands.
    next: Option<usize>,
}

impl Known {
    pub(super) fn new(rows: usize) -> Self {
        Self { before: [0; FRAME_ROWS], rows, used: 0, last: 0, next: None }
    }

    /// A frame begins at this place in the order of transmission. Frames between it and the one before are taken for
    /// blank, whatever they are.
    pub(super) fn begin(&mut self, position: usize) {
        let gap = self.next.map_or(WINDOW, |next| position.saturating_sub(next).min(WINDOW));
        if gap > 0 {
            for row in &mut self.before[..self.rows] {
                *row = *row << (gap * ROW_BITS) & WINDOW_MASK;
            }
            self.used = 0;
        }
        (self.last, self.used) = (self.used, 0);
        self.next = Some(position + 1);
    }

    /// Which of the probabilities that a row is zero counts.
    #[inline]
    pub(super) fn flag(&self, flag: &Flag, row: usize) -> usize {
        let here = self.before[row % FRAME_ROWS];
        flag.parents.iter().fold(0, |at, parent| {
            let parent = usize::from(*parent);
            let set = if parent < ABOVE {
                row > parent && self.used >> (row - 1 - parent) & 1 == 1
            } else if parent < BELOW {
                here >> ((parent - ABOVE) * ROW_BITS) & ROW_MASK != 0
            } else if parent == BELOW {
                row + 1 < self.rows && self.last >> (row + 1) & 1 == 1
            } else {
                parent == ANY && here != 0
            };
            at << 1 | usize::from(set)
        })
    }

    /// The row is this one.
    pub(super) fn put(&mut self, row: usize, value: u16) {
        let before = &mut self.before[row % FRAME_ROWS];
        *before = (*before << ROW_BITS | u128::from(value)) & WINDOW_MASK;
        self.used |= u128::from(value != 0) << row;
    }
}

pub(super) const ROW_MASK: u128 = (1 << ROW_BITS) - 1;
pub(super) const WINDOW_MASK: u128 = (1 << (WINDOW * ROW_BITS)) - 1;

impl Bit {
    /// Which of the probabilities counts: `known` has the rows before, and above these the row itself as far as it is
    /// known.
    #[inline]
    pub(super) fn choose(&self, known: u128) -> usize {
        self.parents.iter().fold(0, |at, parent| at << 1 | (known >> parent) as usize & 1)
    }
}
