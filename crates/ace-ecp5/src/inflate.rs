// SPDX-License-Identifier: Apache-2.0
//! The compression of the device's own decompressor, one frame at a time: `0` is a zero byte, `100xxx` a byte
//! with bit xxx set, `101xxx` an entry of the dictionary, `11xxxxxxxx` any byte. A frame is filled with zero
//! bytes in front to a multiple of eight bytes and starts on a byte of the stream.

/// The longest frame, filled up.
pub(crate) const MAX_FRAME: usize = 144;
/// The longest compressed frame and what a word-wise reader may read past it.
pub(crate) const FAST_INPUT: usize = MAX_FRAME * 10 / 8 + 8;

/// Length of a frame with the bytes that fill it up.
pub(crate) const fn filled_len(frame_bytes: usize) -> usize {
    frame_bytes.next_multiple_of(8)
}

/// What a code of six bits stands for, by its last four: a single bit, or the dictionary.
pub(crate) type Codes = [u8; 16];

/// `patterns` as command 02 sends them: pattern 7 first.
pub(crate) fn codes(patterns: &[u8; 8]) -> Codes {
    std::array::from_fn(|i| if i < 8 { 1 << i } else { patterns[15 - i] })
}

/// Decompresses a frame of `out.len()` bytes from an input of at least [`FAST_INPUT`] bytes; returns the
/// bytes taken.
pub(crate) fn frame(codes: &Codes, input: &[u8], out: &mut [u8]) -> usize {
    out.fill(0);
    let mut filled = 0;
    let mut taken = 0usize;
    while filled < out.len() {
        let mut word = [0; 8];
        word.copy_from_slice(&input[taken / 8..taken / 8 + 8]);
        let mut bits = u64::from_be_bytes(word) << (taken % 8);
        let available = 64 - taken % 8;
        let mut left = available;
        // Every code has at most ten bits; with fewer left, read on from the byte in which they are.
        while left >= 10 {
            let zeros = (bits.leading_zeros() as usize).min(left).min(out.len() - filled);
            filled += zeros;
            left -= zeros;
            if filled == out.len() || left < 10 {
                break;
            }
            bits <<= zeros;
            let len = if bits >> 62 == 0b11 {
                out[filled] = (bits >> 54) as u8;
                10
            } else {
                out[filled] = codes[(bits >> 58) as usize & 15];
                6
            };
            filled += 1;
            bits <<= len;
            left -= len;
            if filled == out.len() {
                break;
            }
        }
        taken += available - left;
    }
    taken.div_ceil(8)
}

/// The same for an input that comes byte by byte.
#[derive(Clone, Debug)]
pub(crate) struct Inflate {
    out: [u8; MAX_FRAME],
    filled: usize,
    bits: u32,
    left: u32,
}

impl Inflate {
    pub(crate) fn new() -> Self {
        Self { out: [0; MAX_FRAME], filled: 0, bits: 0, left: 0 }
    }

    /// Takes a byte; the frame of `len` bytes, when it is complete.
    pub(crate) fn push(&mut self, codes: &Codes, byte: u8, len: usize) -> Option<&[u8]> {
        self.bits = self.bits << 8 | u32::from(byte);
        self.left += 8;
        while self.filled < len {
            let top = |n: u32| self.left.checked_sub(n).map(|rest| (rest, self.bits >> rest));
            let (rest, byte) = match top(1)? {
                (rest, code) if code & 1 == 0 => (rest, 0),
                _ => match top(2)? {
                    (_, code) if code & 1 == 1 => top(10).map(|(rest, code)| (rest, code as u8))?,
                    _ => top(6).map(|(rest, code)| (rest, codes[code as usize & 15]))?,
                },
            };
            self.out[self.filled] = byte;
            self.filled += 1;
            self.left = rest;
        }
        Some(&self.out[..len])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const DICTIONARY: [u8; 8] = [0x07, 0xe0, 0x33, 0xff, 0x0f, 0x11, 0x22, 0x44];

    fn compress(bytes: &[u8], choose: impl Fn(u8) -> bool) -> Vec<u8> {
        let mut bits: Vec<u8> = Vec::new();
        let mut add = |value: u32, len: u32| bits.extend((0..len).rev().map(|i| (value >> i & 1) as u8));
        for &byte in bytes {
            let entry = DICTIONARY.iter().rev().position(|d| *d == byte);
            match (byte, entry) {
                (0, _) => add(0, 1),
                (b, _) if b.is_power_of_two() && choose(b) => add(0b100_000 | b.trailing_zeros(), 6),
                (b, Some(i)) if choose(b) => add(0b101_000 | i as u32, 6),
                (b, _) => add(0b11 << 8 | u32::from(b), 10),
            }
        }
        bits.chunks(8).map(|c| c.iter().enumerate().fold(0, |a, (i, b)| a | b << (7 - i))).collect()
    }

    #[test]
    fn both_readers_give_back_what_was_compressed() {
        let codes = codes(&DICTIONARY);
        let mut seed = 1u64;
        let mut next = move || {
            seed = seed.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
            (seed >> 33) as u32
        };
        for round in 0..600 {
            let len = [80, 112, 144][round % 3];
            // From all zero to all literal.
            let density = next() % 256;
            let bytes: Vec<u8> = (0..len)
                .map(|_| match next() % 256 < density {
                    false => 0,
                    true if round % 2 == 0 => next() as u8,
                    true => DICTIONARY[next() as usize % 8] & (next() as u8 | 0x0f),
                })
                .collect();
            let packed = compress(&bytes, |b| round % 5 != 0 || b > 0x20);
            let mut input = packed.clone();
            input.resize(packed.len() + FAST_INPUT, 0xa5);
            let mut out = vec![0x5a; len];
            assert_eq!(frame(&codes, &input, &mut out), packed.len());
            assert_eq!(out, bytes);

            let mut slow = Inflate::new();
            for (i, byte) in packed.iter().enumerate() {
                let done = slow.push(&codes, *byte, len);
                assert_eq!(done.is_some(), i + 1 == packed.len());
                assert!(done.is_none_or(|done| done == bytes));
            }
        }
    }
}
