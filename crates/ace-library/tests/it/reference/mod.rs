// SPDX-License-Identifier: Apache-2.0
//! A decompressor as docs/library-format.md describes the stream: a bit after the other, a row after the other.

use ace_ecp5::Device;
use ace_library::codec::{Decoded, StreamError};

struct Bits<'a> {
    bytes: &'a [u8],
    at: usize,
}

impl Bits<'_> {
    fn take(&mut self, count: u32) -> u32 {
        (0..count).fold(0, |all, _| {
            let bit = self.bytes.get(self.at / 8).map_or(0, |byte| byte >> (7 - self.at % 8) & 1);
            self.at += 1;
            all << 1 | u32::from(bit)
        })
    }

    /// Fewer than eight bits are left, and they are zero.
    fn at_end(&self) -> bool {
        let left = (self.bytes.len() * 8).checked_sub(self.at);
        left.is_some_and(|left| left < 8 && Bits { bytes: self.bytes, at: self.at }.take(left as u32) == 0)
    }
}

struct Decoder<'a> {
    dictionary: Vec<u32>,
    bits: Bits<'a>,
    /// Quiet rows still zero, and whether another run follows.
    run: Option<(u32, bool)>,
    seen: Decoded,
}

impl Decoder<'_> {
    /// A value, or in a hot row zero. A literal zero is `None`.
    fn value(&mut self, hot: bool) -> Option<u32> {
        let ones = (0..4).take_while(|_| self.bits.take(1) == 1).count();
        if ones == 1 && hot && self.bits.take(1) == 1 {
            return Some(0);
        }
        let (first, bits) = [(0, 4), (16, 6), (80, 8), (336, 9), (0, 12)][ones];
        let number = self.bits.take(bits);
        if ones == 4 {
            self.seen.literals += 1;
            return Some(number).filter(|value| *value > 0);
        }
        Some(self.dictionary[first + number as usize])
    }

    fn quiet(&mut self) -> Option<u32> {
        loop {
            match self.run.take() {
                None => {
                    let k = self.bits.take(4);
                    self.seen.runs += 1;
                    self.run =
                        Some(if k == 15 { (32767, true) } else { ((1 << k) - 1 + self.bits.take(k), false) });
                }
                Some((0, true)) => {}
                Some((0, false)) => return self.value(false),
                Some((rows, more)) => {
                    self.run = Some((rows - 1, more));
                    return Some(0);
                }
            }
        }
    }

    fn row(&mut self, age: u8, above: bool) -> Option<u32> {
        match (age, above) {
            (7, false) => self.quiet(),
            (0, true) => self.value(true),
            _ if self.bits.take(1) == 0 => Some(0),
            _ => self.value(false),
        }
    }
}

/// First bit and bits of each row, the lowest first.
fn rows(device: &Device) -> Vec<(usize, usize)> {
    let narrow: &[usize] = match device.name {
        "LFE5U-25F" => &[157],
        "LFE5U-45F" => &[265, 555],
        _ => &[121, 411, 701],
    };
    let mut rows = vec![(0, 1)];
    while let Some(bit) = rows.last().map(|(bit, width)| bit + width).filter(|bit| *bit < device.frame_bits) {
        let last = bit == device.frame_bits - 1;
        rows.push((
            bit,
            if last {
                1
            } else if narrow.contains(&bit) {
                2
            } else {
                12
            },
        ));
    }
    rows
}

/// As [`ace_library::codec::decompress`], with the dictionary as a library stores it.
pub fn decompress(
    dictionary: &[u8],
    device: &Device,
    stream: &[u8],
    out: &mut [u8],
) -> Result<Decoded, StreamError> {
    let mut packed = Bits { bytes: dictionary, at: 0 };
    let dictionary = (0..848).map(|_| packed.take(12)).collect();
    let bits = Bits { bytes: stream, at: 0 };
    let mut decoder = Decoder { dictionary, bits, run: None, seen: Decoded::default() };
    let rows = rows(device);
    let frames = out.len() / device.frame_bytes();
    let mut ages = vec![7; rows.len()];
    for (number, frame) in out.chunks_exact_mut(device.frame_bytes()).enumerate() {
        let runs = decoder.seen.runs;
        let mut refused = None;
        let mut above = false;
        frame.fill(0);
        for (row, (first, width)) in rows.iter().copied().enumerate().rev() {
            let Some(value) = decoder.row(ages[row], above) else {
                refused = Some(StreamError::Zero { frame: number });
                break;
            };
            if value >> width != 0 {
                refused = Some(StreamError::Outside { frame: number });
            }
            for bit in (0..width).filter(|bit| value >> bit & 1 == 1) {
                let place = first + bit;
                frame[device.frame_bytes() - 1 - place / 8] |= 1 << (place % 8);
            }
            above = value != 0;
            ages[row] = if above { 0 } else { 7.min(ages[row] + 1) };
            decoder.seen.values += u64::from(above);
        }
        if decoder.bits.at > stream.len() * 8 {
            return Err(StreamError::Truncated { frame: number, frames });
        }
        if let Some(refused) = refused {
            return Err(refused);
        }
        let clocks = rows.len() as u64 + decoder.seen.runs - runs;
        decoder.seen.rows += rows.len() as u64;
        decoder.seen.slowest_frame = decoder.seen.slowest_frame.max(clocks);
    }
    if decoder.run.is_some_and(|(rows, _)| rows > 0) || !decoder.bits.at_end() {
        return Err(StreamError::Trailing);
    }
    Ok(decoder.seen)
}
