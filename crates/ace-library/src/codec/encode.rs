// SPDX-License-Identifier: Apache-2.0
//! Frames to a stream.

use ace_ecp5::Device;

use super::bits::BitWriter;
use super::dictionary::Dictionary;
use super::model::{EXPONENT_BITS, HOT_ZERO, History, LITERAL, MORE, MORE_ROWS, ROW_BITS};
use super::rows::Rows;

/// Compresses frames of `device` in the order in which they come, each [`Device::frame_bytes`] long. Bits that
/// fill the first byte of a frame are taken as zero.
pub fn compress<'a>(
    dictionary: &Dictionary,
    device: &Device,
    frames: impl IntoIterator<Item = &'a [u8]>,
) -> Vec<u8> {
    let rows = Rows::new(device);
    let mut out = Encoder { dictionary, codes: Vec::new(), run: None };
    let mut history = History::default();
    let mut values = vec![0u16; rows.count];
    for frame in frames {
        values.fill(0);
        let mut used = 0u128;
        rows.each(frame, |row, value| {
            values[row] = value;
            used |= 1 << row;
        });
        let (active, last) = (history.active(), history.last());
        if used == 0 && active == 0 {
            out.skip(rows.count as u32);
        } else {
            let mut above = false;
            for (row, value) in values.iter().enumerate().rev() {
                let here = |rows: u128| rows >> row & 1 == 1;
                match (here(last), here(active), above) {
                    (_, false, false) => out.quiet(*value),
                    (true, _, true) => out.hot(*value),
                    _ => out.warm(*value),
                }
                above = *value != 0;
            }
        }
        history.push(used);
    }
    out.end_run();
    let mut bits = BitWriter::default();
    for (code, len) in out.codes {
        bits.put(code, len);
    }
    bits.finish()
}

struct Encoder<'a> {
    dictionary: &'a Dictionary,
    /// Codes and their lengths.
    codes: Vec<(u32, u32)>,
    run: Option<Run>,
}

/// Quiet rows that are zero.
struct Run {
    /// Where the run's code stands: where the first of its rows was.
    at: usize,
    rows: u32,
}

impl Encoder<'_> {
    fn put(&mut self, code: u32, len: u32) {
        self.codes.push((code, len));
    }

    /// The run that goes on, or one that begins here.
    fn run(&mut self) -> &mut Run {
        let codes = &mut self.codes;
        self.run.get_or_insert_with(|| {
            codes.push((0, 0));
            Run { at: codes.len() - 1, rows: 0 }
        })
    }

    fn skip(&mut self, mut rows: u32) {
        while rows > 0 {
            let run = self.run();
            let more = rows.min(MORE_ROWS - run.rows);
            run.rows += more;
            rows -= more;
            if run.rows == MORE_ROWS {
                let at = run.at;
                self.codes[at] = (MORE, EXPONENT_BITS);
                self.run = None;
            }
        }
    }

    fn quiet(&mut self, value: u16) {
        if value == 0 {
            self.skip(1);
        } else {
            self.run();
            self.end_run();
            self.value(value);
        }
    }

    fn end_run(&mut self) {
        if let Some(Run { at, rows }) = self.run.take() {
            let exponent = (rows + 1).ilog2();
            // The exponent, then what is left: below the number's first bit the two stand side by side.
            let left = rows + 1 - (1 << exponent);
            self.codes[at] = (exponent << exponent | left, EXPONENT_BITS + exponent);
        }
    }

    fn warm(&mut self, value: u16) {
        if value == 0 {
            self.put(0, 1);
        } else {
            self.put(1, 1);
            self.value(value);
        }
    }

    fn hot(&mut self, value: u16) {
        match self.dictionary.code(value) {
            _ if value == 0 => self.put(HOT_ZERO.0, HOT_ZERO.1),
            // 10 makes room for the zero.
            Some((code, 8)) => self.put(0b100 << 6 | u32::from(code) & 0x3f, 9),
            _ => self.value(value),
        }
    }

    fn value(&mut self, value: u16) {
        match self.dictionary.code(value) {
            Some((code, len)) => self.put(u32::from(code), u32::from(len)),
            None => {
                self.put(LITERAL.0, LITERAL.1);
                self.put(u32::from(value), ROW_BITS as u32);
            }
        }
    }
}
