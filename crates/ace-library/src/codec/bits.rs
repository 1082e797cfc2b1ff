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

/// Gives bits out again. Behind the end there are zeros; [`BitReader::consumed`] tells.
#[derive(Debug)]
pub(crate) struct BitReader<'a> {
    bytes: &'a [u8],
    /// The next byte to take.
    next: usize,
    /// Bits not yet consumed, the next one topmost.
    held: u64,
    /// How many of them are there.
    count: u32,
}

impl<'a> BitReader<'a> {
    pub(crate) fn new(bytes: &'a [u8]) -> Self {
        Self { bytes, next: 0, held: 0, count: 0 }
    }

    /// Sees to it that at least 32 bits can be peeked at.
    #[inline]
    pub(crate) fn refill(&mut self) {
        if self.count > 32 {
            return;
        }
        let ahead = self.bytes.get(self.next..).and_then(|rest| rest.first_chunk::<4>());
        let word = match ahead {
            Some(word) => u32::from_be_bytes(*word),
            None => {
                let mut word = [0; 4];
                let rest = self.bytes.get(self.next..).unwrap_or_default();
                word[..rest.len()].copy_from_slice(rest);
                u32::from_be_bytes(word)
            }
        };
        self.held |= u64::from(word) << (32 - self.count);
        self.next += 4;
        self.count += 32;
    }

    /// The next `count` bits (1 to 32), without consuming them.
    #[inline]
    pub(crate) fn peek(&self, count: u32) -> u32 {
        (self.held >> (64 - count)) as u32
    }

    #[inline]
    pub(crate) fn consume(&mut self, count: u32) {
        self.held <<= count;
        self.count -= count;
    }

    /// Bits consumed so far, those behind the end included.
    pub(crate) fn consumed(&self) -> u64 {
        self.next as u64 * 8 - u64::from(self.count)
    }

    /// Everything was consumed but the zeros that fill the last byte.
    pub(crate) fn at_end(&self) -> bool {
        let total = self.bytes.len() as u64 * 8;
        let left = total.checked_sub(self.consumed());
        left.is_some_and(|left| left < 8 && (left == 0 || self.peek(left as u32) == 0))
    }
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
            assert_eq!(reader.peek(count), value);
            reader.consume(count);
        }
        assert!(reader.at_end());
        assert_eq!(reader.consumed(), 70);
        for _ in 0..4 {
            reader.refill();
            reader.consume(32);
        }
        assert!(!reader.at_end());
    }
}
