// SPDX-License-Identifier: Apache-2.0
//! A frame as rows of twelve bits, the height of a tile.

use ace_ecp5::Device;

use super::model::ROW_BITS;

/// More than any frame has rows.
pub(crate) const FRAME_ROWS: usize = 128;

/// How the frames of a device divide into rows: where tiles begin, the lowest bit and the highest alone, and rows of two bits
/// where the device has them.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Rows {
    pub(crate) frame_bytes: usize,
    frame_bits: usize,
    /// Rows of a frame.
    pub(crate) count: usize,
    /// The lowest bit of each row, the lowest row first, and its bits.
    first: [u16; FRAME_ROWS],
    width: [u8; FRAME_ROWS],
}

impl Rows {
    pub(crate) fn new(device: &Device) -> Self {
        let (mut first, mut width) = ([0; FRAME_ROWS], [0; FRAME_ROWS]);
        let (mut count, mut bit) = (0, 0);
        while bit < device.frame_bits && count < FRAME_ROWS {
            let bits = match bit {
                0 => 1,
                _ if device.narrow_rows.contains(&bit) => 2,
                _ => ROW_BITS.min(device.frame_bits - bit),
            };
            (first[count], width[count]) = (bit as u16, bits as u8);
            bit += bits;
            count += 1;
        }
        Self { frame_bytes: device.frame_bytes(), frame_bits: device.frame_bits, count, first, width }
    }

    /// Bits of a row.
    #[inline]
    pub(crate) fn width(&self, row: usize) -> usize {
        usize::from(self.width[row % FRAME_ROWS])
    }

    /// Writes a frame from its rows, the highest first; `None` if they set bits that it has not.
    #[inline]
    pub(crate) fn pack(&self, values: &[u16; FRAME_ROWS], frame: &mut [u8]) -> Option<()> {
        // Bits that wait are the lowest `count` ones.
        let (mut bits, mut count) = (0u64, frame.len() * 8 - self.frame_bits);
        let mut wrong = 0;
        let (fours, rest) = frame.as_chunks_mut::<4>();
        let mut fours = fours.iter_mut();
        for (value, width) in values.iter().zip(self.width[..self.count].iter().rev()) {
            wrong |= value >> width;
            bits = bits << width | u64::from(*value);
            count += usize::from(*width);
            if let Some(left) = count.checked_sub(32)
                && let Some(four) = fours.next()
            {
                *four = ((bits >> left) as u32).to_be_bytes();
                count = left;
            }
        }
        for byte in rest.iter_mut().rev() {
            *byte = bits as u8;
            bits >>= 8;
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
            let bit = usize::from(self.first[number]);
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
                assert_eq!(
                    usize::from(rows.first[row]),
                    usize::from(rows.first[row - 1]) + rows.width(row - 1)
                );
            }
            assert_eq!(rows.width(rows.count - 1), 1);
            let narrow = (0..rows.count).filter(|row| rows.width(*row) == 2).count();
            assert_eq!(narrow, device.narrow_rows.len());
        }
    }

    #[test]
    fn rows_make_the_frame_again() {
        let mut frame = vec![0; 106];
        (frame[0], frame[72], frame[104], frame[105]) = (0x3e, 0x06, 0x20, 0x03);
        let (rows, count) = (Rows::new(&LFE5U_45F), 74);
        assert_eq!(rows.count, count);
        let (mut seen, mut values) = (Vec::new(), [0; FRAME_ROWS]);
        rows.each(&frame, |row, value| {
            seen.push((row, value));
            values[count - 1 - row] = value;
        });
        assert_eq!(seen[..5], [(73, 1), (72, 0xf00), (23, 3), (2, 1), (1, 1)]);
        let mut again = vec![0; 106];
        assert_eq!(rows.pack(&values, &mut again), Some(()));
        assert_eq!(again, frame);
        values[count - 1] = 2;
        assert_eq!(rows.pack(&values, &mut again), None);
    }
}
