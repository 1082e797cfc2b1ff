// SPDX-License-Identifier: Apache-2.0
//! Frames to a stream of decisions, and back.

use ace_ecp5::Device;

use super::super::decode::{Decoded, StreamError};
use super::super::rows::{FRAME_ROWS, Rows};
use super::coder::{Decoder, Encoder};
use super::table::{COLUMN, Contexts, Known, OWN};

/// Compresses frames of `device` and their places in the order of transmission, which go upwards. No frames are no bytes.
pub(crate) fn compress<'a>(
    contexts: &Contexts,
    device: &Device,
    frames: impl IntoIterator<Item = (usize, &'a [u8])>,
) -> Vec<u8> {
    let rows = Rows::new(device);
    let (mut known, mut out) = (Known::new(rows.count), Encoder::default());
    let mut values = [0u16; FRAME_ROWS];
    let mut frames = frames.into_iter().peekable();
    if frames.peek().is_none() {
        return Vec::new();
    }
    for (position, frame) in frames {
        known.begin(position);
        values.fill(0);
        rows.each(frame, |row, value| values[rows.count - 1 - row] = value);
        for (row, value) in values[..rows.count].iter().enumerate() {
            let width = rows.width(rows.count - 1 - row);
            let taken = contexts.row(&known, position, (row, width), &mut |zero, bit: Option<usize>| {
                let set = bit.map_or(*value != 0, |bit| value >> bit & 1 == 1);
                out.put(set, zero);
                set
            });
            debug_assert_eq!(taken, *value);
            known.put(row, *value);
        }
    }
    out.finish()
}

/// Fills `out`, the frames of `device` at these places in the order of transmission, from a stream.
///
/// # Errors
/// When the stream is shorter or longer than one that [`compress`] writes.
pub(crate) fn decompress(
    contexts: &Contexts,
    device: &Device,
    stream: &[u8],
    positions: impl IntoIterator<Item = usize>,
    out: &mut [u8],
) -> Result<Decoded, StreamError> {
    let rows = Rows::new(device);
    let mut seen = Decoded::default();
    if !out.len().is_multiple_of(rows.frame_bytes) {
        return Err(StreamError::Length { bytes: out.len(), frame_bytes: rows.frame_bytes });
    }
    let frames = out.len() / rows.frame_bytes;
    if frames == 0 {
        return stream.is_empty().then_some(seen).ok_or(StreamError::Trailing);
    }
    let (mut known, mut bits) = (Known::new(rows.count), Decoder::new(stream));
    let mut values = [0u16; FRAME_ROWS];
    for (number, (position, frame)) in
        positions.into_iter().zip(out.chunks_exact_mut(rows.frame_bytes)).enumerate()
    {
        known.begin(position);
        let before = seen.clocks();
        seen.frames += 1;
        for row in 0..rows.count {
            let width = rows.width(rows.count - 1 - row);
            let value = contexts.row(&known, position, (row, width), &mut |zero, _| {
                seen.decisions += 1;
                bits.take(zero)
            });
            values[row % FRAME_ROWS] = value;
            seen.rows += 1;
            seen.values += u64::from(value != 0);
            known.put(row, value);
        }
        if bits.beyond_end() {
            return Err(StreamError::Truncated { frame: number, frames });
        }
        rows.pack(&values, frame).ok_or(StreamError::Outside { frame: number })?;
        seen.waits = bits.waits;
        seen.slowest_frame = seen.slowest_frame.max(seen.clocks() - before);
    }
    seen.waits += bits.doubling;
    bits.at_end().then_some(seen).ok_or(StreamError::Trailing)
}

impl Contexts {
    /// A row of so many bits, of which `decide` says of one after the other whether it is set: of the row as a whole,
    /// `None`, then of its bits from the highest on. The lowest is not asked for if no other one is set.
    #[inline]
    fn row(
        &self,
        known: &Known,
        position: usize,
        (row, width): (usize, usize),
        decide: &mut impl FnMut(u8, Option<usize>) -> bool,
    ) -> u16 {
        let flag = &self.flags[position % COLUMN];
        if !decide(flag.zero[known.flag(flag, row)], None) {
            return 0;
        }
        let tables = &self.bits[position % COLUMN];
        let (before, mut value) = (known.before[row % FRAME_ROWS], 0u16);
        for bit in (0..width).rev() {
            let table = &tables[bit];
            let at = table.choose(before | u128::from(value) << OWN);
            let forced = bit == 0 && value == 0;
            value |= u16::from(forced || decide(table.zero[at], Some(bit))) << bit;
        }
        value
    }
}
