// SPDX-License-Identifier: Apache-2.0
//! How long the loader takes, if neither its memory nor the port makes it wait: when each row is decoded, when the
//! next stage has room for it, and when its bits reach the port.

use std::slice::Iter;

use ace_ecp5::Device;

use super::step::{self, STEP_BYTES, Step};
use super::{Memory, Place};
use crate::codec::{Dictionary, ENTRIES, Pace, decompress, paces};

/// Clocks of a step besides its bytes: its own twelve bytes and the memory's answers.
const STEP_CLOCKS: u64 = 21;
/// Of these, what only a copy takes: its first word, and that its end is seen.
const COPY_CLOCKS: u64 = 5;
/// Of an entry of the dictionary.
const ENTRY_CLOCKS: u64 = 2;
/// The CRC, two bytes.
const SEAL_CLOCKS: u64 = 2;
/// From a frame's last byte to when the next frame's first one may be there: the CRC, the dummy byte.
const FRAME_END_CLOCKS: u64 = 4;
/// From the decoder to the bytes of the frame.
const ROW_CLOCKS: u64 = 3;
/// Rows that are on this way at most.
const ROWS_AHEAD: usize = 3;

impl Memory {
    /// Clocks from a start with this list to its end, if neither the memory nor the port makes the loader wait.
    /// `None` if it is not a list for this device.
    pub fn clocks(&self, list: u32, device: &Device, dictionary: &Dictionary) -> Option<u64> {
        let steps = self.bytes.get(list as usize..)?.as_chunks::<STEP_BYTES>().0;
        let mut patterns = None;
        let mut stream = Stream::default();
        let mut clocks = 0;
        for step in steps.iter().map(Step::of) {
            clocks += STEP_CLOCKS;
            match step.operation() {
                step::END => return Some(clocks),
                step::COPY => {
                    clocks += u64::from(step.place().length);
                    clocks += if step.is_sealed() { SEAL_CLOCKS } else { 0 };
                    if step.is_packed() {
                        patterns = self.at(step.place())?.last_chunk::<8>();
                    }
                }
                step::STREAM if step.is_dictionary() => clocks += ENTRY_CLOCKS * ENTRIES as u64,
                step::STREAM => {
                    let mut frames = vec![0; step.count() * device.frame_bytes()];
                    decompress(dictionary, device, self.at(step.place())?, &mut frames).ok()?;
                    stream = Stream { paces: paces(dictionary, device, &frames), frames, row: 0, frame: 0 };
                }
                _ => {
                    let packed = if step.is_packed() { Some(Packer::new(device, patterns?)) } else { None };
                    clocks += stream.clocks(device, step.count(), packed)? - COPY_CLOCKS;
                }
            }
        }
        None
    }

    fn at(&self, place: Place) -> Option<&[u8]> {
        let (address, length) = (place.address as usize, place.length as usize);
        self.bytes.get(address..address.checked_add(length)?)
    }
}

/// A stream, and how far it is read.
#[derive(Default)]
struct Stream {
    frames: Vec<u8>,
    paces: Vec<Pace>,
    row: usize,
    frame: usize,
}

impl Stream {
    /// Clocks of the next frames. Each time is the clock in which something goes on to the next stage.
    fn clocks(&mut self, device: &Device, count: usize, mut packer: Option<Packer>) -> Option<u64> {
        let rows = self.paces.len().checked_div(self.frames.len() / device.frame_bytes())?;
        let paces = self.paces.get(self.row..self.row + count * rows)?;
        let frames = self.frames.get(self.frame..)?.chunks_exact(device.frame_bytes());
        let (mut decoded, mut long) = (0, true);
        let mut taken = [0; ROWS_AHEAD];
        // When a row can be taken, and when the bytes of the frame can go to the port.
        let (mut free, mut open) = (0, 0);
        let (mut number, mut out) = (0, 0);
        for (rows_of, frame) in paces.chunks_exact(rows).zip(frames) {
            let mut bytes = frame.iter();
            // Bits of the highest row and those that fill the first byte: 3 or 7.
            let mut seven = frame.len() * 8 % 12 == 8;
            for (at, pace) in rows_of.iter().enumerate() {
                let wait = u64::from(pace.needs_bits && long);
                let begun = (decoded + 1 + wait).max(taken[number % ROWS_AHEAD]);
                decoded = begun + u64::from(pace.clocks) - 1;
                long = pace.long;
                out = free.max(decoded + ROW_CLOCKS);
                if at == 0 {
                    free = out + 1;
                } else if let Some(packer) = &mut packer {
                    let pair = seven && at + 1 < rows;
                    out = packer.row(&mut bytes, out, open, pair)?;
                    free = packer.free;
                } else {
                    out = out.max(open);
                    free = out + if seven { 2 } else { 1 };
                }
                taken[number % ROWS_AHEAD] = out;
                number += 1;
                seven ^= at > 0;
            }
            let end = match &mut packer {
                Some(packer) => packer.end(open),
                None => {
                    free = out + 1;
                    out
                }
            };
            open = end + FRAME_END_CLOCKS;
        }
        self.row += count * rows;
        self.frame += count * device.frame_bytes();
        Some(open)
    }
}

/// What rtl/controller/frame_packer.sv does.
struct Packer {
    /// Lengths of codes.
    lengths: [u32; 256],
    fill: u32,
    /// When the last byte was compared, when it got its code, when that was put to the others, and when there is room
    /// for another byte.
    compared: u64,
    coded: u64,
    put: u64,
    free: u64,
    /// Bits held behind the last one.
    held: u32,
}

impl Packer {
    fn new(device: &Device, patterns: &[u8; 8]) -> Self {
        let length = |byte: u8| match byte {
            0 => 1,
            b if b.is_power_of_two() || patterns.contains(&b) => 6,
            _ => 10,
        };
        let fill = (device.frame_bytes().next_multiple_of(8) - device.frame_bytes()) as u32;
        let lengths = std::array::from_fn(|byte| length(byte as u8));
        Self { lengths, fill, compared: 0, coded: 0, put: 0, free: 0, held: fill }
    }

    /// Takes the bytes that a row completes, which is there at `out`. Returns when the row is taken.
    fn row(&mut self, bytes: &mut Iter<u8>, out: u64, open: u64, pair: bool) -> Option<u64> {
        let first = self.lengths[usize::from(*bytes.next()?)];
        if !pair {
            return Some(self.byte(first, out, open));
        }
        match *bytes.next()? {
            0 => Some(self.byte(first + 1, out, open)),
            second => {
                let out = self.byte(first, out, open);
                self.byte(self.lengths[usize::from(second)], out + 1, open);
                Some(out)
            }
        }
    }

    /// Takes a code. Bytes leave from `open` on, one a clock; a code is put behind 15 bits at most.
    fn byte(&mut self, length: u32, out: u64, open: u64) -> u64 {
        let out = out.max(self.free);
        self.compared = (out + 1).max(self.compared + 1).max(self.coded);
        self.coded = (self.compared + 1).max(self.put);
        let leave = open.max(self.put + 1);
        let room = if self.held < 16 { self.put + 1 } else { leave + u64::from(self.held / 8) - 1 };
        let put = room.max(self.coded + 1);
        let left = (put + 1).saturating_sub(leave).min(u64::from(self.held / 8));
        self.held = self.held - 8 * left as u32 + length;
        self.put = put;
        // A byte comes as soon as the one before it is compared.
        self.free = (out + 1).max(self.compared);
        out
    }

    /// The frame has ended. Returns when its last byte leaves.
    fn end(&mut self, open: u64) -> u64 {
        self.put = open.max(self.put + 1) + u64::from(self.held.div_ceil(8)) - 1;
        self.held = self.fill;
        self.put
    }
}
