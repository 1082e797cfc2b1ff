// SPDX-License-Identifier: Apache-2.0
//! Bits of a stream, the most significant of a byte first.

/// Collects bits.
#[derive(Debug, Default)]
pub(crate) struct BitWriter {
    bytes: Vec<u8>,
    held: u64,
    count: u32,
}

impl BitWriter {
    /// Appends the low `count` bits of `value`, at most 32.
    pub(crate) fn put(&mut self, value: u32, count: u32) {
        self.held = self.held << count | u64::from(value);
        self.count += count;
        while self.count >= 8 {
            self.count -= 8;
            self.bytes.push((self.held >> self.count) as u8);
        }
    }

    /// The bytes; zeros fill the last one.
    pub(crate) fn finish(mut self) -> Vec<u8> {
        if self.count > 0 {
            self.bytes.push((self.held << (8 - self.count)) as u8);
        }
        self.bytes
    }
}

/// Gives bits out again. Behind the end there are zeros; [`BitReader::beyond_end`] tells.
#[derive(Clone, Copy, Debug)]
pub(crate) struct BitReader<'a> {
    /// Bytes not yet taken.
    rest: &'a [u8],
    /// Bytes taken that are not there.
    beyond: u64,
    /// Bits not yet consumed, the next one topmost. Below `count` bits there may be some of the next byte.
    held: u64,
    /// How many of them there are, at most 63.
    count: u32,
}

impl<'a> BitReader<'a> {
    pub(crate) fn new(bytes: &'a [u8]) -> Self {
        Self { rest: bytes, beyond: 0, held: 0, count: 0 }
    }

    /// Sees to it that at least 56 bits can be consumed.
    #[inline(always)]
    pub(crate) fn refill(&mut self) {
        // As many whole bytes as there is room for; the modulus tells the compiler that they are there.
        let bytes = (63 - self.count) as usize / 8 % 8;
        let word = match self.rest.first_chunk::<8>() {
            Some(word) => {
                self.rest = &self.rest[bytes..];
                u64::from_be_bytes(*word)
            }
            None => {
                let word = last_word(self.rest);
                let there = bytes.min(self.rest.len());
                self.beyond += (bytes - there) as u64;
                self.rest = &self.rest[there..];
                word
            }
        };
        self.held |= word >> self.count;
        self.count += bytes as u32 * 8;
    }

    /// The next bits, the first one topmost: at least as many as [`BitReader::refill`] says.
    #[inline(always)]
    pub(crate) fn ahead(&self) -> u64 {
        self.held
    }

    /// `count` is at most what is held.
    #[inline(always)]
    pub(crate) fn consume(&mut self, count: u32) {
        self.held <<= count;
        self.count -= count;
    }

    /// The next `count` bits (1 to 32).
    pub(crate) fn take(&mut self, count: u32) -> u32 {
        let bits = (self.held >> (64 - count)) as u32;
        self.consume(count);
        bits
    }

    /// Bits were consumed that are not there.
    #[inline]
    pub(crate) fn beyond_end(&self) -> bool {
        self.beyond * 8 > u64::from(self.count)
    }

    /// Everything was consumed but the zeros that fill the last byte.
    pub(crate) fn at_end(mut self) -> bool {
        self.refill();
        let left = u64::from(self.count).checked_sub(self.beyond * 8);
        self.rest.is_empty() && left.is_some_and(|left| left < 8 && self.held == 0)
    }
}

/// The last bytes, fewer than eight, with zeros behind them.
#[cold]
fn last_word(rest: &[u8]) -> u64 {
    rest.iter().rev().fold(0, |word, byte| word >> 8 | u64::from(*byte) << 56)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_goes_in_comes_out() {
        let pieces = [(1, 1), (0x5a5, 12), (0, 3), (0xffff_ffff, 32), (7, 5), (1, 17)];
        let mut writer = BitWriter::default();
        for (value, count) in pieces {
            writer.put(value, count);
        }
        let bytes = writer.finish();
        assert_eq!(bytes.len(), 9);
        let mut reader = BitReader::new(&bytes);
        for (value, count) in pieces {
            reader.refill();
            assert_eq!(reader.take(count), value);
        }
        assert!(reader.at_end());
        for beyond in [false, true, true] {
            reader.refill();
            reader.consume(if beyond { 50 } else { 2 });
            assert_eq!(reader.beyond_end(), beyond);
            assert_eq!(reader.at_end(), !beyond);
        }
    }
}
