// SPDX-License-Identifier: Apache-2.0
//! How fast the decompressor in hardware (rtl/controller/config_decoder.sv) gives rows.

use ace_ecp5::Device;

use super::dictionary::Dictionary;
use super::rows::Rows;
use super::{CLASSES, History, MORE_ROWS};

/// Clocks of each row of frames of one stream, in the order in which they are decompressed.
pub(crate) fn paces(dictionary: &Dictionary, device: &Device, frames: &[u8]) -> Vec<u8> {
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
            let mut clocks = if value == 0 { 1 } else { value_clocks(dictionary, value, hot) };
            if quiet {
                // The exponent stands in front of the run's first row.
                clocks += u8::from(run.is_none());
                let (at, length) = run.get_or_insert((paces.len(), 0));
                *length += u32::from(value == 0);
                if *length == MORE_ROWS {
                    run = None;
                } else if value != 0 {
                    let bits = (*length + 1).ilog2() as u8;
                    match paces.get_mut(*at) {
                        Some(first) => *first += bits,
                        None => clocks += bits,
                    }
                    run = None;
                }
            } else if value != 0 && !hot {
                clocks += 1;
            }
            paces.push(clocks);
            above = value != 0;
        }
        history.push(used);
    }
    if let Some((at, length)) = run {
        paces[at] += (length + 1).ilog2() as u8;
    }
    paces
}

/// The parts of a value.
fn value_clocks(dictionary: &Dictionary, value: u16, hot: bool) -> u8 {
    let bits = dictionary.code(value).map(|(_, bits)| u32::from(bits));
    match CLASSES.iter().position(|class| bits == Some(class.prefix_bits + class.rank_bits)) {
        Some(0) => 2,
        Some(1) => 2 + u8::from(hot),
        Some(2) => 3,
        _ => 4,
    }
}
