// SPDX-License-Identifier: Apache-2.0
//! How fast the decompressor in hardware (rtl/controller/config_decoder.sv) gives rows.

use ace_ecp5::Device;

use super::dictionary::Dictionary;
use super::rows::Rows;
use super::{CLASSES, History, MORE_ROWS};

/// Clocks of a row.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Pace {
    /// It begins with bits, for which it waits one more clock if the row before it leaves them behind a long code.
    pub(crate) needs_bits: bool,
    pub(crate) clocks: u32,
    /// Its last code is one of more than a bit.
    pub(crate) long: bool,
}

/// The rows of frames of one stream in the order in which they are decompressed.
pub(crate) fn paces(dictionary: &Dictionary, device: &Device, frames: &[u8]) -> Vec<Pace> {
    let rows = Rows::new(device);
    let mut paces = Vec::with_capacity(frames.len() / rows.frame_bytes * rows.count);
    let mut history = History::default();
    let mut values = vec![0u16; rows.count];
    // A run of quiet rows: where the first of them stands, and how many there are.
    let mut run: Option<(usize, u32)> = None;
    for frame in frames.chunks_exact(rows.frame_bytes) {
        values.fill(0);
        let mut used = 0u128;
        rows.each(frame, |row, value| {
            values[row] = value;
            used |= 1 << row;
        });
        let (active, last) = (history.active(), history.last());
        let mut above = false;
        for (row, value) in values.iter().copied().enumerate().rev() {
            let here = |rows: u128| rows >> row & 1 == 1;
            let quiet = !here(active) && !above;
            let hot = here(last) && above;
            let clocks = if value == 0 { 1 } else { value_clocks(dictionary, value) };
            paces.push(match (value, quiet) {
                (0, true) => {
                    let (_, length) = run.get_or_insert((paces.len(), 0));
                    *length += 1;
                    // In front of its first row are the run's exponent, a clock for it to be there, its bits.
                    if *length == 1 {
                        Pace { needs_bits: true, clocks: 3, long: false }
                    } else {
                        Pace { needs_bits: false, clocks: 1, long: false }
                    }
                }
                // A run of no rows in front of it.
                (_, true) if run.is_none() => Pace { needs_bits: true, clocks: 2 + clocks, long: true },
                (0, false) => Pace { needs_bits: true, clocks: 1, long: hot },
                (_, false) if !hot => Pace { needs_bits: true, clocks: 1 + clocks, long: true },
                _ => Pace { needs_bits: true, clocks, long: true },
            });
            if let Some((at, length)) = run
                && ((quiet && value != 0) || length == MORE_ROWS)
            {
                paces[at].clocks += (length + 1).ilog2();
                run = None;
            }
            above = value != 0;
        }
        history.push(used);
    }
    if let Some((at, length)) = run {
        paces[at].clocks += (length + 1).ilog2();
    }
    paces
}

/// A value of the first class is one code, every other one goes in two parts.
fn value_clocks(dictionary: &Dictionary, value: u16) -> u32 {
    let short = CLASSES[0].prefix_bits + CLASSES[0].rank_bits;
    match dictionary.code(value) {
        Some((_, bits)) if u32::from(bits) == short => 1,
        _ => 2,
    }
}
