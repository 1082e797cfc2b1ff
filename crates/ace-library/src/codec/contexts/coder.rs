// SPDX-License-Identifier: Apache-2.0
//! Binary arithmetic coding with probabilities of eight bits: a range of sixteen bits that each decision divides.

/// The range is never less than this behind a decision.
const HALF: u32 = 1 << 15;

/// What a zero takes of a range.
#[inline]
fn split(range: u32, zero: u8) -> u32 {
    (range >> 8) * u32::from(zero)
}

pub(super) struct Encoder {
    /// Bits, one a byte, into which a carry may still run.
    bits: Vec<u8>,
    low: u32,
    range: u32,
}

impl Default for Encoder {
    fn default() -> Self {
        Self { bits: Vec::new(), low: 0, range: 2 * HALF - 1 }
    }
}

impl Encoder {
    pub(super) fn put(&mut self, bit: bool, zero: u8) {
        let split = split(self.range, zero);
        if bit {
            self.low += split;
            self.range -= split;
        } else {
            self.range = split;
        }
        self.carry();
        while self.range < HALF {
            self.bits.push((self.low >> 15) as u8);
            self.low = self.low << 1 & (2 * HALF - 1);
            self.range <<= 1;
        }
    }

    fn carry(&mut self) {
        if self.low >= 2 * HALF {
            self.low -= 2 * HALF;
            for bit in self.bits.iter_mut().rev() {
                *bit ^= 1;
                if *bit == 1 {
                    break;
                }
            }
        }
    }

    /// One bit more tells where in the range the stream ends; zeros fill the last byte.
    pub(super) fn finish(mut self) -> Vec<u8> {
        self.low = self.low.next_multiple_of(HALF);
        self.carry();
        self.bits.push((self.low >> 15) as u8);
        let byte = |bits: &[u8]| bits.iter().fold(0, |byte, bit| byte << 1 | bit) << (8 - bits.len());
        self.bits.chunks(8).map(byte).collect()
    }
}

pub(super) struct Decoder<'a> {
    rest: &'a [u8],
    /// Bits in front of `rest`, topmost, and how many of them.
    ahead: u64,
    count: u32,
    /// What lies between the lower end of the range and the stream.
    value: u32,
    range: u32,
    /// Bits by which the range has moved.
    moved: usize,
    len: usize,
    /// Clocks of the decoder in hardware in which it waits for the range, and those that the last decision's bits
    /// take.
    pub(super) waits: u64,
    pub(super) doubling: u64,
}

impl<'a> Decoder<'a> {
    pub(super) fn new(stream: &'a [u8]) -> Self {
        let mut new = Self {
            rest: stream,
            ahead: 0,
            count: 0,
            value: 0,
            range: 2 * HALF - 1,
            moved: 0,
            waits: 0,
            doubling: 0,
            len: stream.len(),
        };
        new.value = new.bits(16);
        new
    }

    /// The next bits, at most 16, zeros behind the end.
    #[inline]
    fn bits(&mut self, count: u32) -> u32 {
        while self.count < count {
            let (byte, rest) = self.rest.split_first().map_or((0, self.rest), |(byte, rest)| (*byte, rest));
            self.rest = rest;
            self.ahead |= u64::from(byte) << (56 - self.count);
            self.count += 8;
        }
        let bits = (self.ahead >> 32 >> (32 - count)) as u32;
        self.ahead <<= count;
        self.count -= count;
        bits
    }

    #[inline]
    pub(super) fn take(&mut self, zero: u8) -> bool {
        let split = split(self.range, zero);
        let bit = self.value >= split;
        if bit {
            self.value -= split;
            self.range -= split;
        } else {
            self.range = split;
        }
        let shift = self.range.leading_zeros() - 16;
        // It doubles the range bit by bit, from the next decision on, which has two clocks for it.
        self.waits += self.doubling.saturating_sub(2);
        self.doubling = u64::from(shift) + u64::from(shift as usize > 8 - self.moved % 8);
        self.moved += shift as usize;
        if shift > 0 {
            self.range <<= shift;
            self.value = self.value << shift | self.bits(shift);
        }
        bit
    }

    /// More was taken than there is.
    pub(super) fn beyond_end(&self) -> bool {
        self.moved + 1 > 8 * self.len
    }

    /// The stream is as long as what was taken; what fills its last byte is not looked at.
    pub(super) fn at_end(&self) -> bool {
        (self.moved + 1).div_ceil(8) == self.len
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Decisions come back whatever their probabilities, also where a carry runs far, and the length is the stream's.
    #[test]
    fn decisions_come_back() {
        let mut seed = 1u64;
        let mut random = || {
            seed = seed.wrapping_mul(0x5851_f42d_4c95_7f2d).wrapping_add(1);
            (seed >> 33) as u32
        };
        for count in [0, 1, 2, 7, 8, 1000, 30_000] {
            for likely in [1, 30, 128, 255] {
                let decisions: Vec<(bool, u8)> =
                    (0..count).map(|_| (random() % 256 >= likely, (random() % 255 + 1) as u8)).collect();
                let mut encoder = Encoder::default();
                decisions.iter().for_each(|(bit, zero)| encoder.put(*bit, *zero));
                let stream = encoder.finish();
                let mut decoder = Decoder::new(&stream);
                assert!(decisions.iter().all(|(bit, zero)| decoder.take(*zero) == *bit));
                assert!(decoder.at_end() && !decoder.beyond_end());
            }
        }
    }
}
