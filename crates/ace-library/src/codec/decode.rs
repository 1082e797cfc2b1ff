// SPDX-License-Identifier: Apache-2.0
//! A stream to frames.

use ace_ecp5::Device;
use thiserror::Error;

use super::bits::BitReader;
use super::dictionary::{Dictionary, PEEK};
use super::rows::Rows;
use super::{EXPONENT_BITS, History, LITERAL, MORE, MORE_ROWS, ROW_BITS};

/// More than a frame has rows.
const ROWS: usize = 128;

/// Why a stream is refused.
#[derive(Clone, Copy, Debug, Error, PartialEq, Eq)]
pub enum StreamError {
    #[error("the compressed frames end in frame {frame} of {frames}")]
    Truncated { frame: usize, frames: usize },
    #[error("the compressed frames set a bit outside of frame {frame}")]
    Outside { frame: usize },
    #[error("the compressed frames hold a zero where none can be, in frame {frame}")]
    Zero { frame: usize },
    #[error("there is more behind the compressed frames")]
    Trailing,
    #[error("{bytes} bytes are no whole number of frames of {frame_bytes} bytes")]
    Length { bytes: usize, frame_bytes: usize },
}

/// What a decompressor did; what it costs in hardware follows from it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Decoded {
    /// Rows written, one a clock.
    pub rows: u64,
    /// Codes of runs, one clock each.
    pub runs: u64,
    /// Rows that are not zero.
    pub values: u64,
    /// Those of them that stand as they are.
    pub literals: u64,
    /// The greatest number of clocks that a frame takes.
    pub slowest_frame: u64,
}

impl Decoded {
    /// Clocks of a decompressor that takes one for every row and one for every run.
    pub fn clocks(&self) -> u64 {
        self.rows + self.runs
    }
}

/// Fills `out`, whole frames of `device`, from a stream.
///
/// # Errors
/// When the stream is not one that [`super::compress`] writes for so many frames: too short, too long, or with
/// bits where the device has none. `out` is then undefined.
pub fn decompress(
    dictionary: &Dictionary,
    device: &Device,
    stream: &[u8],
    out: &mut [u8],
) -> Result<Decoded, StreamError> {
    let rows = Rows::new(device);
    if !out.len().is_multiple_of(rows.frame_bytes) {
        return Err(StreamError::Length { bytes: out.len(), frame_bytes: rows.frame_bytes });
    }
    let frames = out.len() / rows.frame_bytes;
    let mut decoder = Decoder {
        dictionary,
        rows,
        bits: BitReader::new(stream),
        run: None,
        seen: Decoded { rows: (frames * rows.count) as u64, ..Decoded::default() },
    };
    let limit = stream.len() as u64 * 8;
    let mut history = History::default();
    for (number, frame) in out.chunks_exact_mut(rows.frame_bytes).enumerate() {
        let runs = decoder.seen.runs;
        let used = decoder.frame(&history, frame).map_err(|wrong| match wrong {
            Wrong::Outside => StreamError::Outside { frame: number },
            Wrong::Zero => StreamError::Zero { frame: number },
        });
        // Behind the end there are zeros, and anything may be made of them.
        if decoder.bits.consumed() > limit {
            return Err(StreamError::Truncated { frame: number, frames });
        }
        history.push(used?);
        let clocks = rows.count as u64 + decoder.seen.runs - runs;
        decoder.seen.slowest_frame = decoder.seen.slowest_frame.max(clocks);
    }
    if decoder.run.is_some_and(|run| run.rows > 0) || !decoder.bits.at_end() {
        return Err(StreamError::Trailing);
    }
    Ok(decoder.seen)
}

enum Wrong {
    Outside,
    Zero,
}

/// Quiet rows to skip.
#[derive(Clone, Copy)]
struct Run {
    rows: u32,
    /// Another run follows, not a row that is not zero.
    more: bool,
}

struct Decoder<'a> {
    dictionary: &'a Dictionary,
    rows: Rows,
    bits: BitReader<'a>,
    run: Option<Run>,
    seen: Decoded,
}

impl Decoder<'_> {
    /// Writes one frame and says which rows it uses.
    #[inline]
    fn frame(&mut self, history: &History, frame: &mut [u8]) -> Result<u128, Wrong> {
        let (active, last) = (history.active(), history.last());
        let count = self.rows.count;
        if active == 0
            && let Some(run) = &mut self.run
            && run.rows as usize >= count
        {
            run.rows -= count as u32;
            frame.fill(0);
            return Ok(0);
        }
        let mut values = [0u16; ROWS];
        let mut used = 0u128;
        let mut above = false;
        // The next row's bit is topmost. Rows below `row` are not done yet.
        let (mut active, mut last) = (active << (ROWS - count), last << (ROWS - count));
        let mut row = count;
        while row > 0 {
            let (value, done) = if active >> (ROWS - 1) == 0 && !above {
                let quiet = (active.leading_zeros() as usize).min(row);
                match self.quiet(quiet)? {
                    (skipped, None) => {
                        row -= skipped;
                        (active, last) = (active << skipped, last << skipped);
                        continue;
                    }
                    (skipped, Some(value)) => (value, skipped + 1),
                }
            } else {
                (self.row(above && last >> (ROWS - 1) != 0)?, 1)
            };
            row -= done;
            (active, last) = (active << done, last << done);
            values[row % ROWS] = value;
            above = value != 0;
            used |= u128::from(above) << row;
        }
        self.seen.values += u64::from(used.count_ones());
        if used == 0 {
            frame.fill(0);
        } else {
            self.rows.pack(&values, frame).ok_or(Wrong::Outside)?;
        }
        Ok(used)
    }

    /// At most `quiet` quiet rows: how many are zero, and the value of the one behind them if it is among them.
    fn quiet(&mut self, quiet: usize) -> Result<(usize, Option<u16>), Wrong> {
        let run = match self.run {
            Some(run) => run,
            None => self.read_run(),
        };
        if run.rows as usize >= quiet {
            self.run = Some(Run { rows: run.rows - quiet as u32, ..run });
            return Ok((quiet, None));
        }
        self.run = None;
        let skipped = run.rows as usize;
        if run.more {
            return Ok((skipped, None));
        }
        self.bits.refill();
        Ok((skipped, Some(self.value()?)))
    }

    fn read_run(&mut self) -> Run {
        self.bits.refill();
        let exponent = self.bits.peek(EXPONENT_BITS);
        self.bits.consume(EXPONENT_BITS);
        self.seen.runs += 1;
        if exponent == MORE {
            return Run { rows: MORE_ROWS, more: true };
        }
        let mut rows = (1 << exponent) - 1;
        if exponent > 0 {
            rows += self.bits.peek(exponent);
            self.bits.consume(exponent);
        }
        Run { rows, more: false }
    }

    /// A row that is warm or hot.
    #[inline]
    fn row(&mut self, hot: bool) -> Result<u16, Wrong> {
        self.bits.refill();
        let (value, len) = self.dictionary.decode(hot, self.bits.peek(PEEK));
        if len == 0 {
            self.bits.consume(u32::from(!hot));
            return self.literal();
        }
        self.bits.consume(len);
        Ok(value)
    }

    /// A row that is not zero, for which there are bits enough: what follows the 1 of a warm row.
    fn value(&mut self) -> Result<u16, Wrong> {
        let (value, len) = self.dictionary.decode(false, 1 << (PEEK - 1) | self.bits.peek(PEEK - 1));
        if len == 0 {
            return self.literal();
        }
        self.bits.consume(len - 1);
        Ok(value)
    }

    #[cold]
    fn literal(&mut self) -> Result<u16, Wrong> {
        let len = LITERAL.1 + ROW_BITS as u32;
        let value = self.bits.peek(len) & ((1 << ROW_BITS) - 1);
        self.bits.consume(len);
        self.seen.literals += 1;
        if value == 0 { Err(Wrong::Zero) } else { Ok(value as u16) }
    }
}
