// SPDX-License-Identifier: Apache-2.0
//! How long the loader takes, if neither its memory nor the port makes it wait: when each row is decoded, when the
//! next stage has room for it, and when its bits reach the port.

use std::collections::VecDeque;
use std::slice::Iter;

use ace_ecp5::Device;

use super::step::{self, STEP_BYTES, Step};
use super::{Memory, Place};
use crate::codec::{Dictionary, ENTRIES, decompress, paces};

/// Clocks of a step besides its bytes: its own twelve bytes and the memory's answers.
const STEP_CLOCKS: u64 = 23;
/// Of these, what the beginning of a stream does not take, at which nothing is read.
const UNREAD_CLOCKS: u64 = 6;
/// From when rows may be taken to the first byte of the stream, which is asked for anew.
const READ_CLOCKS: u64 = 4;
/// And what only the last step does not take: something behind it.
const END_CLOCKS: u64 = 1;
/// Of an entry of the dictionary.
const ENTRY_CLOCKS: u64 = 2;
/// The CRC, two bytes.
const SEAL_CLOCKS: u64 = 2;
/// From a frame's last byte to when the next frame's first one may be there: the CRC, the dummy byte.
const FRAME_END_CLOCKS: u64 = 4;
/// The first bits of a stream.
const FIRST_CLOCKS: u64 = 3;
/// From the decoder to the queue, and until the queue has counted a row.
const QUEUED_CLOCKS: u64 = 4;
/// The queue's number of rows is looked at one clock, and it lets the decoder go on in the next.
const ROOM_CLOCKS: u64 = 2;
/// The most rows of the queue with which the decoder goes on.
const ROOM: usize = 27;

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
                step::END => return Some(clocks - END_CLOCKS),
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
                    let paces = paces(dictionary, device, &frames);
                    clocks -= UNREAD_CLOCKS;
                    stream = Stream { decoder: Decoder::new(paces), frames, frame: 0 };
                }
                _ => {
                    let packed = if step.is_packed() { Some(Packer::new(device, patterns?)) } else { None };
                    clocks += stream.clocks(device, step.count(), packed)? - READ_CLOCKS;
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
    decoder: Decoder,
    frames: Vec<u8>,
    frame: usize,
}

impl Stream {
    /// Clocks of the next frames. Each time is the clock in which something goes on to the next stage.
    fn clocks(&mut self, device: &Device, count: usize, mut packer: Option<Packer>) -> Option<u64> {
        let rows = self.decoder.paces.len().checked_div(self.frames.len() / device.frame_bytes())?;
        let frames = self.frames.get(self.frame..self.frame + count * device.frame_bytes())?;
        self.decoder.begin();
        // When a row can be taken, and when the bytes of the frame can go to the port.
        let (mut free, mut open) = (0, 0);
        let mut end = 0;
        for frame in frames.chunks_exact(device.frame_bytes()) {
            let mut bytes = frame.iter();
            // Bits of the highest row and those that fill the first byte: 3 or 7.
            let mut seven = frame.len() * 8 % 12 == 8;
            let mut out = 0;
            for at in 0..rows {
                out = self.decoder.row(free)?;
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
                self.decoder.taken(out);
                seven ^= at > 0;
            }
            end = match &mut packer {
                Some(packer) => packer.end(open),
                None => {
                    free = out + 1;
                    out
                }
            };
            open = end + FRAME_END_CLOCKS;
        }
        self.decoder.stop(end + SEAL_CLOCKS);
        self.frame += count * device.frame_bytes();
        Some(open)
    }
}

/// What rtl/controller/config_decoder.sv and row_queue.sv do.
#[derive(Default)]
struct Decoder {
    /// Clocks that rows take, and how many of the row at hand's are over.
    paces: Vec<u8>,
    row: usize,
    over: u8,
    /// When the clock is that comes next.
    next: u64,
    /// When rows can leave the queue; when those were decoded that it has not counted yet; when those left it that it
    /// still counts.
    decoded: VecDeque<u64>,
    coming: VecDeque<u64>,
    leaving: VecDeque<u64>,
    count: usize,
    /// When the place behind the queue is free, and when the row in it can be taken.
    free: u64,
    out: Option<u64>,
}

impl Decoder {
    fn new(paces: Vec<u8>) -> Self {
        Self { paces, ..Self::default() }
    }

    /// Reading goes on, at the earliest.
    fn begin(&mut self) {
        // What was on its way is there.
        self.decoded.iter_mut().chain(&mut self.out).for_each(|at| *at = 0);
        self.count += self.coming.len();
        self.count -= self.leaving.len();
        self.coming.clear();
        self.leaving.clear();
        self.free = 0;
        self.next = READ_CLOCKS + if self.row == 0 && self.over == 0 { FIRST_CLOCKS } else { 0 };
    }

    /// The next clock of the row at hand, if it is not behind `last`.
    fn clock(&mut self, last: u64) -> Option<()> {
        let pace = *self.paces.get(self.row)?;
        loop {
            while self.coming.front().is_some_and(|at| at + QUEUED_CLOCKS < self.next) {
                self.coming.pop_front();
                self.count += 1;
            }
            while self.leaving.front().is_some_and(|at| at + ROOM_CLOCKS <= self.next) {
                self.leaving.pop_front();
                self.count -= 1;
            }
            if self.next > last {
                return None;
            }
            if self.count <= ROOM {
                break;
            }
            self.next += 1;
        }
        self.over += 1;
        if self.over == pace {
            self.decoded.push_back(self.next + QUEUED_CLOCKS);
            self.coming.push_back(self.next);
            self.row += 1;
            self.over = 0;
        }
        self.next += 1;
        Some(())
    }

    /// When the next row is there, from `free` on.
    fn row(&mut self, free: u64) -> Option<u64> {
        loop {
            self.leave();
            if let Some(out) = self.out.take() {
                return Some(free.max(out));
            }
            self.clock(u64::MAX)?;
        }
    }

    /// The next row goes from the queue to the place behind it, whether or not it is wanted.
    fn leave(&mut self) {
        if self.out.is_none()
            && let Some(at) = self.decoded.pop_front()
        {
            let leave = at.max(self.free);
            self.leaving.push_back(leave);
            self.out = Some(leave + 1);
        }
    }

    /// It was taken.
    fn taken(&mut self, at: u64) {
        self.free = at;
    }

    /// Nothing is decoded behind this clock.
    fn stop(&mut self, at: u64) {
        self.leave();
        while self.clock(at).is_some() {
            self.leave();
        }
    }
}

/// What rtl/controller/frame_packer.sv does.
struct Packer {
    /// Lengths of codes.
    lengths: [u32; 256],
    fill: u32,
    /// When the last byte and the one before were compared, when it got its code, when that was put to the others, and
    /// when there is room for another byte.
    compared: u64,
    compared_before: u64,
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
        Self { lengths, fill, compared: 0, compared_before: 0, coded: 0, put: 0, free: 0, held: fill }
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
        self.compared_before = self.compared;
        self.compared = (out + 1).max(self.compared + 1).max(self.coded);
        self.coded = (self.compared + 1).max(self.put);
        let leave = open.max(self.put + 1);
        let room = if self.held < 16 { self.put + 1 } else { leave + u64::from(self.held / 8) - 1 };
        let put = room.max(self.coded + 1);
        let left = (put + 1).saturating_sub(leave).min(u64::from(self.held / 8));
        self.held = self.held - 8 * left as u32 + length;
        self.put = put;
        // Two bytes wait; one comes behind the clock in which the first of them is compared.
        self.free = (out + 1).max(self.compared_before + 1);
        out
    }

    /// The frame has ended. Returns when its last byte leaves.
    fn end(&mut self, open: u64) -> u64 {
        self.put = open.max(self.put + 1) + u64::from(self.held.div_ceil(8)) - 1;
        self.held = self.fill;
        self.put
    }
}
