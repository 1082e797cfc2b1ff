// SPDX-License-Identifier: Apache-2.0
//! A frame as rows of twelve bits, the height of a tile.

use ace_ecp5::Device;

use super::ROW_BITS;

/// More than any frame has rows.
pub(crate) const FRAME_ROWS: usize = 128;

/// How the frames of a device divide into rows. Row 0 is bit 0 alone, row r > 0 is bits 12r-11 to 12r, and the
/// highest row is what is left of the frame.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Rows {
    pub(crate) frame_bytes: usize,
    frame_bits: usize,
    /// Rows of a frame.
    pub(crate) count: usize,
}

impl Rows {
    pub(crate) fn new(device: &Device) -> Self {
        let count = 1 + (device.frame_bits - 1).div_ceil(ROW_BITS);
        Self { frame_bytes: device.frame_bytes(), frame_bits: device.frame_bits, count }
    }

    /// The lowest bit of a row.
    #[inline]
    pub(crate) fn first_bit(row: usize) -> usize {
        (row * ROW_BITS).saturating_sub(ROW_BITS - 1)
    }

    /// Bits of a row.
    pub(crate) fn width(&self, row: usize) -> usize {
        match row {
            0 => 1,
            _ => (self.frame_bits - Self::first_bit(row)).min(ROW_BITS),
        }
    }

    /// Writes a frame from its rows, the highest first; `None` if they set bits that it has not.
    #[inline]
    pub(crate) fn pack(&self, values: &mut [u16; FRAME_ROWS], frame: &mut [u8]) -> Option<()> {
        let lowest = &mut values[(self.count - 1) % FRAME_ROWS];
        let wrong = *lowest >> 1;
        // Of the lowest row there is only the first bit of twelve.
        *lowest <<= ROW_BITS - 1;
        let wrong = wrong | values[0] >> self.width(self.count - 1);
        // The frame begins with so many bits of the rows left out.
        let left_out = ROW_BITS - self.width(self.count - 1) - (frame.len() * 8 - self.frame_bits);
        // Four rows are six bytes.
        let (first, behind) = values.as_chunks::<4>().0.split_first()?;
        let four = |rows: &[u16; 4]| rows.iter().fold(0, |all, row| all << ROW_BITS | u64::from(*row));
        let mut group = four(first);
        let mut six = |rows: &[u16; 4]| {
            let next = four(rows);
            let bits = group << left_out | next >> (48 - left_out);
            group = next;
            (bits << 16).to_be_bytes()
        };
        let (sixes, rest) = frame.as_chunks_mut::<6>();
        for (bytes, rows) in sixes.iter_mut().zip(behind) {
            bytes.copy_from_slice(&six(rows)[..6]);
        }
        let last = six(behind.get(sixes.len())?);
        for (byte, bits) in rest.iter_mut().zip(last) {
            *byte = bits;
        }
        (wrong == 0).then_some(())
    }

    /// Calls `row(number, value)` for every row of a frame that is not zero, the highest first.
    pub(crate) fn each(&self, frame: &[u8], mut row: impl FnMut(usize, u16)) {
        if frame.iter().all(|byte| *byte == 0) {
            return;
        }
        let byte = |from_end: usize| {
            let at = frame.len().checked_sub(from_end + 1);
            at.and_then(|at| frame.get(at)).copied().map_or(0, u32::from)
        };
        for number in (0..self.count).rev() {
            let bit = Self::first_bit(number);
            let three = byte(bit / 8) | byte(bit / 8 + 1) << 8 | byte(bit / 8 + 2) << 16;
            let value = three >> (bit % 8) & ((1 << self.width(number)) - 1);
            if value != 0 {
                row(number, value as u16);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ace_ecp5::device::{DEVICES, LFE5U_45F};

    #[test]
    fn rows_cover_every_bit_once() {
        for device in DEVICES {
            let rows = Rows::new(device);
            let bits: usize = (0..rows.count).map(|row| rows.width(row)).sum();
            assert_eq!(bits, device.frame_bits);
            for row in 1..rows.count {
                assert_eq!(Rows::first_bit(row), Rows::first_bit(row - 1) + rows.width(row - 1));
            }
        }
        let rows = Rows::new(&LFE5U_45F);
        assert_eq!((rows.count, rows.width(71)), (72, 5));
        let mut frame = vec![0; 106];
        (frame[0], frame[104], frame[105]) = (0x3e, 0x20, 0x03);
        let mut seen = Vec::new();
        rows.each(&frame, |row, value| seen.push((row, value)));
        assert_eq!(seen, [(71, 0x1f), (2, 1), (1, 1), (0, 1)]);
    }
}
