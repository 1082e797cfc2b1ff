// SPDX-License-Identifier: Apache-2.0
//! A stream to frames.

use ace_ecp5::Device;
use thiserror::Error;

use super::bits::BitReader;
use super::codes::{BEHIND_RUN, Code, NO_ROW};
use super::dictionary::Dictionary;
use super::model::{EXPONENT_BITS, History, MORE, MORE_ROWS};
use super::rows::{FRAME_ROWS, Rows};

/// Rows of a frame go by words, the highest row in bit 0 of the first word. The last bit of a word is none of
/// them: it ends a search.
const WORD_ROWS: u32 = 63;
/// A refill is 56 bits, a code at most 17.
const CODES_A_REFILL: usize = 3;

/// Why a stream is refused: each says what is wrong, and frames are counted from 0.
#[allow(missing_docs)] // The messages say it.
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
    /// Of a small stream: binary decisions, five clocks each, and frames, two more each.
    pub decisions: u64,
    /// Of a small stream.
    pub frames: u64,
    /// Clocks in which the range of a small stream is doubled, and nothing else can be done.
    pub waits: u64,
    /// The greatest number of clocks that a frame takes.
    pub slowest_frame: u64,
}

impl Decoded {
    /// Clocks that the format allows for rows, one for each and one for each run; of a small stream those of the
    /// decompressor in hardware, once it has begun.
    pub fn clocks(&self) -> u64 {
        self.rows + self.runs + 5 * self.decisions + 2 * self.frames + self.waits
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
    let mut decoder = Decoder { dictionary, rows, seen: Decoded::default() };
    let mut next = Next { bits: BitReader::new(stream), run: NO_RUN };
    let mut history = History::default();
    for (number, frame) in out.chunks_exact_mut(rows.frame_bytes).enumerate() {
        let runs = decoder.seen.runs;
        let used = decoder.frame(&mut next, &history, frame).map_err(|wrong| match wrong {
            Wrong::Outside => StreamError::Outside { frame: number },
            Wrong::Zero => StreamError::Zero { frame: number },
        });
        // Behind the end there are zeros, and anything may be made of them.
        if next.bits.beyond_end() {
            return Err(StreamError::Truncated { frame: number, frames });
        }
        history.push(used?);
        let clocks = rows.count as u64 + decoder.seen.runs - runs;
        decoder.seen.slowest_frame = decoder.seen.slowest_frame.max(clocks);
    }
    if next.run.rows > 0 || !next.bits.at_end() {
        return Err(StreamError::Trailing);
    }
    Ok(Decoded { rows: (frames * rows.count) as u64, ..decoder.seen })
}

enum Wrong {
    Outside,
    Zero,
}

/// Quiet rows that are zero.
#[derive(Clone, Copy)]
struct Run {
    rows: u32,
    /// Another run follows, not a row that is not zero.
    more: bool,
}

/// The next quiet row reads a run.
const NO_RUN: Run = Run { rows: 0, more: true };

/// Where a decoder is.
#[derive(Clone, Copy)]
struct Next<'a> {
    bits: BitReader<'a>,
    run: Run,
}

struct Decoder<'a> {
    dictionary: &'a Dictionary,
    rows: Rows,
    seen: Decoded,
}

impl Decoder<'_> {
    /// Writes one frame and says which rows it uses.
    #[inline]
    fn frame(&mut self, next: &mut Next, history: &History, frame: &mut [u8]) -> Result<u128, Wrong> {
        let (active, last) = (history.active(), history.last());
        let rows = self.rows.count as u32;
        if active == 0 && next.run.rows >= rows {
            next.run.rows -= rows;
            frame.fill(0);
            return Ok(0);
        }
        let mut values = [0; FRAME_ROWS];
        let first = Word { start: 0, rows: rows.min(WORD_ROWS), active: active as u64, last: last as u64 };
        let mut used = u128::from(self.word(next, first, false, &mut values)?);
        if rows > WORD_ROWS {
            let (active, last) = ((active >> 64) as u64, (last >> 64) as u64);
            let second = Word { start: WORD_ROWS as usize, rows: rows - WORD_ROWS, active, last };
            let above = used >> (WORD_ROWS - 1) != 0;
            used |= u128::from(self.word(next, second, above, &mut values)?) << 64;
        }
        self.seen.values += u64::from(used.count_ones());
        if used == 0 {
            frame.fill(0);
        } else {
            self.rows.pack(&values, frame).ok_or(Wrong::Outside)?;
        }
        Ok(used)
    }

    /// Decodes one word of a frame, says which rows it uses.
    ///
    /// A step is one code of a row and then the quiet rows behind it. A misprediction costs more than a step,
    /// so that what depends on the code, even whether the row is zero, is arithmetic.
    #[inline(always)]
    fn word(
        &mut self,
        next: &mut Next,
        word: Word,
        above: bool,
        values: &mut [u16; FRAME_ROWS],
    ) -> Result<u64, Wrong> {
        let Next { mut bits, mut run } = *next;
        let dictionary = self.dictionary.rows();
        let active = word.active | 1 << word.rows;
        let (mut row, mut above, mut used, mut literals) = (0, u64::from(above), 0, 0);
        let wrong = 'word: loop {
            'codes: loop {
                bits.refill();
                for _ in 0..CODES_A_REFILL {
                    let context = above & word.last >> row;
                    // Behind a row that is not zero, every row has a code; else the next active one has.
                    let quiet = (active >> row | above | 1 << WORD_ROWS).trailing_zeros();
                    if quiet > run.rows {
                        break 'codes;
                    }
                    run.rows -= quiet;
                    row += quiet;
                    if row >= word.rows {
                        break 'word None;
                    }
                    let code = Code::of(context, bits.ahead());
                    let value = dictionary[code.place(bits.ahead())];
                    bits.consume(code.len());
                    if value >= NO_ROW {
                        break 'word Some(Wrong::Zero);
                    }
                    values[(word.start + row as usize) % FRAME_ROWS] = value;
                    above = code.not_zero();
                    used |= above << row;
                    literals += code.is_literal();
                    row += 1;
                }
            }
            // There are more quiet rows than the run covers.
            row += run.rows;
            bits.refill();
            if run.more {
                run = read_run(&mut bits);
                self.seen.runs += 1;
                continue;
            }
            run = NO_RUN;
            let code = Code::of(BEHIND_RUN, bits.ahead());
            let value = dictionary[code.place(bits.ahead())];
            bits.consume(code.len());
            literals += code.is_literal();
            if value == NO_ROW {
                break Some(Wrong::Zero);
            }
            values[(word.start + row as usize) % FRAME_ROWS] = value;
            used |= 1 << row;
            above = 1;
            row += 1;
        };
        *next = Next { bits, run };
        self.seen.literals += literals;
        wrong.map_or(Ok(used), Err)
    }
}

fn read_run(bits: &mut BitReader) -> Run {
    let exponent = bits.take(EXPONENT_BITS);
    match exponent {
        0 => Run { rows: 0, more: false },
        MORE => Run { rows: MORE_ROWS, more: true },
        _ => Run { rows: (1 << exponent) - 1 + bits.take(exponent), more: false },
    }
}

/// Some rows of a frame.
#[derive(Clone, Copy)]
struct Word {
    /// The number of the first one, the highest of the frame being 0.
    start: usize,
    rows: u32,
    /// Those that are not of the greatest age.
    active: u64,
    /// Those of age 0.
    last: u64,
}
