// SPDX-License-Identifier: Apache-2.0
//! What the decompressor in hardware (rtl/loader/config_decoder.sv) does in each of its clocks.

use ace_ecp5::Device;

use super::bits::BitReader;
use super::codes::{BEHIND_RUN, Code, HOT, WARM};
use super::model::{EXPONENT_BITS, History, MORE, MORE_ROWS, ROW_BITS};
use super::rows::Rows;

/// A clock: how many bits it takes, and whether it is the last one of a cell.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Clock(u8);

impl Clock {
    pub(crate) fn bits(self) -> u32 {
        u32::from(self.0 % 128)
    }

    pub(crate) fn ends_cell(self) -> bool {
        self.0 >= 128
    }
}

/// The cells of a frame, the highest first: one row alone, or a pair of rows of twelve bits. How many rows each has, and
/// how many bytes of the frame end in it.
pub(crate) fn cells_of(device: &Device) -> Vec<(usize, usize)> {
    let rows = Rows::new(device);
    let mut bits = device.frame_bytes() * 8 - device.frame_bits;
    let mut row = rows.count;
    let mut cells = Vec::new();
    while row > 0 {
        let pair = row > 1 && rows.width(row - 1) == ROW_BITS && rows.width(row - 2) == ROW_BITS;
        let count = if pair { 2 } else { 1 };
        let before = bits / 8;
        bits += (1..=count).map(|back| rows.width(row - back)).sum::<usize>();
        cells.push((count, bits / 8 - before));
        row -= count;
    }
    cells
}

/// The clocks for a stream of so many frames, which is one that [`super::compress`] writes.
pub(crate) fn clocks_of(device: &Device, stream: &[u8], frames: usize) -> Vec<Clock> {
    let cells = cells_of(device);
    let mut walk = Walk { bits: BitReader::new(stream), run: None, clocks: Vec::new() };
    let mut history = History::default();
    for _ in 0..frames {
        let (active, last) = (history.active(), history.last());
        let (mut row, mut used) = (0, 0u128);
        let mut above = false;
        for (rows, _) in &cells {
            let mut left = *rows;
            while left > 0 {
                let ages = |row: usize| Ages { active: active >> row & 1 == 1, last: last >> row & 1 == 1 };
                let lower = (left == 2).then(|| ages(row + 1));
                let (done, value) = walk.rows(ages(row), above, lower, left == 1);
                above = value;
                used |= u128::from(value) << row;
                row += done;
                left -= done;
            }
        }
        history.push(used);
    }
    walk.clocks
}

struct Ages {
    /// Used in one of the last seven frames.
    active: bool,
    /// Used in the last one.
    last: bool,
}

struct Walk<'a> {
    bits: BitReader<'a>,
    /// Quiet rows that are still zero, and whether another run follows.
    run: Option<(u32, bool)>,
    clocks: Vec<Clock>,
}

impl Walk<'_> {
    fn clock(&mut self, bits: u32, ends_cell: bool) {
        self.bits.consume(bits);
        self.clocks.push(Clock(bits as u8 | if ends_cell { 128 } else { 0 }));
    }

    /// Takes a row, or both of a pair if they are zero. How many these are, and whether the row is not zero.
    fn rows(&mut self, ages: Ages, above: bool, lower: Option<Ages>, last: bool) -> (usize, bool) {
        self.bits.refill();
        let quiet = !ages.active && !above;
        if quiet && self.run.is_none() {
            let exponent = (self.bits.ahead() >> (64 - EXPONENT_BITS)) as u32;
            let more = exponent == MORE;
            let bits = if more { 0 } else { exponent };
            let left = (self.bits.ahead() << EXPONENT_BITS >> 1 | 1 << 63) >> (63 - bits);
            self.run = Some((if more { MORE_ROWS } else { left as u32 - 1 }, more));
            self.clock(EXPONENT_BITS + bits, false);
            self.bits.refill();
        }
        let hot = ages.last && above;
        let ahead = self.bits.ahead();
        if quiet && let Some((1.., _)) = self.run {
            let both = lower.filter(|lower| match lower.active {
                true => ahead >> 63 == 0,
                false => self.run.is_some_and(|(left, _)| left > 1),
            });
            let bits = both.as_ref().map_or(0, |lower| u32::from(lower.active));
            self.skip(1 + u32::from(both.as_ref().is_some_and(|lower| !lower.active)));
            self.clock(bits, last || both.is_some());
            return (if both.is_some() { 2 } else { 1 }, false);
        }
        if !quiet && !hot && ahead >> 63 == 0 {
            let both = lower.filter(|lower| match lower.active {
                true => ahead >> 62 == 0,
                false => matches!(self.run, Some((1.., _))),
            });
            if both.as_ref().is_some_and(|lower| !lower.active) {
                self.skip(1);
            }
            let bits = 1 + both.as_ref().map_or(0, |lower| u32::from(lower.active));
            self.clock(bits, last || both.is_some());
            return (if both.is_some() { 2 } else { 1 }, false);
        }
        let context = if quiet {
            BEHIND_RUN
        } else if hot {
            HOT
        } else {
            WARM
        };
        let code = Code::of(context, ahead);
        self.clock(code.len(), last);
        if quiet {
            self.run = None;
        }
        (1, code.not_zero() == 1)
    }

    /// So many quiet rows are zero.
    fn skip(&mut self, rows: u32) {
        self.run = match self.run {
            Some((left, more)) if left > rows || !more => Some((left.saturating_sub(rows), more)),
            _ => None,
        };
    }
}
