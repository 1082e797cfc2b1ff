// SPDX-License-Identifier: Apache-2.0
//! A frame as rows of twelve bits, the height of a tile.

use ace_ecp5::Device;

use super::ROW_BITS;

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

    /// Writes a frame from its rows; `None` if they set bits that it has not.
    #[inline]
    pub(crate) fn pack(&self, values: &[u16], frame: &mut [u8]) -> Option<()> {
        let (first, pairs) = values.get(..(self.count + 1) | 1)?.split_first()?;
        let mut carry = u32::from(*first);
        let mut wrong = carry >> 1;
        // Two rows are three bytes, one bit further up.
        let mut groups = frame.rchunks_exact_mut(3);
        let mut pairs = pairs.chunks_exact(2).map(|two| u32::from(two[0]) | u32::from(two[1]) << ROW_BITS);
        for (bytes, pair) in groups.by_ref().zip(pairs.by_ref()) {
            let [_, a, b, c] = (pair << 1 | carry & 1).to_be_bytes();
            bytes.copy_from_slice(&[a, b, c]);
            carry = pair >> 23;
        }
        let highest = groups.into_remainder();
        let mut left = pairs.next().unwrap_or(0) << 1 | carry;
        for byte in highest.iter_mut().rev() {
            *byte = left as u8;
            left >>= 8;
        }
        wrong |= left | pairs.next().unwrap_or(0);
        let fill = frame.len() * 8 - self.frame_bits;
        wrong |= frame.first().map_or(0, |byte| u32::from(*byte) >> (8 - fill));
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
