// SPDX-License-Identifier: Apache-2.0
//! What the loader does in each clock while it writes frames, if neither its memory nor the port makes it wait: the
//! decoder, the queue of cells behind it, the bytes that they make, and the device's own compression.

use std::collections::VecDeque;

use ace_ecp5::Device;
use ace_ecp5::emit::PATTERNS;

use crate::codec::{Clock, cells_of, clocks_of};

/// From the beginning of a run to the first byte of the stream, which is asked for anew.
const READ_CLOCKS: u64 = 4;
/// Bits that the decoder's window has to hold, and with which it takes no more bytes.
const FULL_BITS: u32 = 18;
const ROOM_BITS: u32 = 24;
/// From the decoder to the queue.
const LATENCY: u64 = 5;
/// The most cells of the queue with which the decoder goes on.
const ROOM_CELLS: usize = 24;
/// Bytes of what announces a run of frames.
pub(super) const ADDRESS_CLOCKS: u64 = 12;

/// A stream, and how far it is read.
#[derive(Default)]
pub(super) struct Pipeline {
    clocks: Vec<Clock>,
    frames: Vec<u8>,
    cells: Vec<(usize, usize)>,
    /// The next clock of the decoder, the next cell of the frame at hand, the next byte.
    clock: usize,
    cell: usize,
    byte: usize,
    /// Bits in the window, and whether a byte waits in front of it.
    bits: u32,
    next: bool,
    /// In the clock before the decoder might go on, and there was room.
    active: bool,
    ready: bool,
    /// When cells come to the queue.
    coming: VecDeque<u64>,
    queue: Queue,
    /// Bytes that wait, and which is the last one of its frame.
    waiting: Vec<usize>,
    packer: Packer,
    now: u64,
}

/// rtl/loader/row_queue.sv: cells that it holds, and what its flip-flops say of them.
#[derive(Default)]
struct Queue {
    count: usize,
    some: bool,
    room: bool,
    valid: bool,
}

/// rtl/loader/frame_packer.sv: lengths of codes on their way, with whether they are a frame's last.
#[derive(Default)]
struct Packer {
    fill: u32,
    entry: VecDeque<(u32, bool)>,
    hit: Option<(u32, bool)>,
    code: Option<(u32, bool)>,
    held: u32,
    flush: bool,
}

/// What goes to the port.
#[derive(Clone, Copy, PartialEq, Eq)]
enum State {
    Address(u64),
    Frames,
    /// The CRC and the dummy byte.
    Between(u64),
}

impl Pipeline {
    /// `frames` are what `stream` holds.
    pub(super) fn new(device: &Device, stream: &[u8], frames: Vec<u8>) -> Self {
        let clocks = clocks_of(device, stream, frames.len() / device.frame_bytes());
        let fill = (device.frame_bytes().next_multiple_of(8) - device.frame_bytes()) as u32;
        let packer = Packer { fill, held: fill, ..Packer::default() };
        let queue = Queue { room: false, ..Queue::default() };
        Self { clocks, frames, cells: cells_of(device), packer, queue, ..Self::default() }
    }

    /// Clocks of the next frames, in the device's own compression if there are patterns for it, behind their address or
    /// not. `None` if there are no more.
    pub(super) fn run(
        &mut self,
        device: &Device,
        count: usize,
        patterns: Option<&[u8; PATTERNS]>,
        address: bool,
    ) -> Option<u64> {
        let bytes = device.frame_bytes();
        let end = self.byte / bytes * bytes + count * bytes;
        self.frames.get(..end)?;
        let lengths: Option<[u32; 256]> = patterns.map(|patterns| {
            std::array::from_fn(|byte| match byte as u8 {
                0 => 1,
                b if b.is_power_of_two() || patterns.contains(&b) => 6,
                _ => 10,
            })
        });
        // Between runs everything settles but the decoder, which holds still.
        for _ in 0..2 * LATENCY {
            self.step((false, false), false, false, lengths.as_ref());
        }
        let (start, mut left, mut taken) = (self.now, count, false);
        let mut state = if address { State::Address(0) } else { State::Frames };
        while left > 0 {
            let active = left > 1 || !matches!(state, State::Between(2));
            let wanted = match state {
                State::Address(_) => true,
                State::Frames => left > 1 || !taken,
                State::Between(_) => left > 1,
            };
            let read = self.now - start >= READ_CLOCKS;
            let out = self.step((active, read), wanted, state == State::Frames, lengths.as_ref());
            taken |= out.taken;
            state = match state {
                State::Address(at) if at + 1 < ADDRESS_CLOCKS => State::Address(at + 1),
                State::Address(_) => State::Frames,
                State::Frames if out.last => State::Between(0),
                State::Frames => State::Frames,
                State::Between(at) if at < 2 => State::Between(at + 1),
                State::Between(_) => {
                    left -= 1;
                    taken = false;
                    State::Frames
                }
            };
        }
        Some(self.now - start)
    }

    /// One clock: whether the decoder may go on, and whether there is a byte for it; whether cells are wanted;
    /// whether the port takes bytes.
    fn step(
        &mut self,
        (active, read): (bool, bool),
        wanted: bool,
        port: bool,
        lengths: Option<&[u32; 256]>,
    ) -> Out {
        let mut out = Out::default();
        // The bytes behind the queue, from their end on.
        let (mut token, mut bytes_ready) = (None, self.waiting.is_empty());
        if let Some((first, rest)) = self.waiting.split_first() {
            let (first, rest) = (*first, rest.len());
            let zeros = match lengths {
                Some(_) => {
                    self.waiting[1..].iter().take_while(|at| self.frames.get(**at) == Some(&0)).count()
                }
                None => 0,
            };
            let ready = if lengths.is_some() { self.packer.entry.len() < 2 } else { port };
            let last = (first + 1).is_multiple_of(self.frame_bytes());
            if ready {
                let length =
                    lengths.map_or(0, |l| l[usize::from(self.frames.get(first).copied().unwrap_or(0))]);
                token = Some((length + zeros as u32, last));
                bytes_ready = zeros == rest;
                self.waiting.drain(..=zeros);
            }
        }
        if lengths.is_some() {
            out.taken = token.is_some_and(|(_, last)| last);
            out.last = self.packer.step(token, port);
        } else {
            out.last = token.is_some_and(|(_, last)| last);
            self.packer.step(None, false);
        }
        // A cell leaves the queue.
        let pop = self.queue.valid && wanted && bytes_ready;
        if pop {
            let (_, bytes) = self.cells[self.cell];
            self.waiting = (self.byte..self.byte + bytes).collect();
            self.byte += bytes;
            self.cell = (self.cell + 1) % self.cells.len();
        }
        let push = self.coming.pop_front_if(|at| *at <= self.now).is_some();
        let room = self.queue.step(push, wanted && bytes_ready);
        // The decoder.
        let full = self.bits >= FULL_BITS;
        let load = self.next && self.bits <= ROOM_BITS;
        self.next = (read && self.active) || (self.next && !load);
        if full
            && self.ready
            && let Some(clock) = self.clocks.get(self.clock)
        {
            self.bits -= clock.bits();
            if clock.ends_cell() {
                self.coming.push_back(self.now + LATENCY - 1);
            }
            self.clock += 1;
        }
        (self.active, self.ready) = (active, room && active);
        self.bits += if load { 8 } else { 0 };
        self.now += 1;
        out
    }

    fn frame_bytes(&self) -> usize {
        self.cells.iter().map(|(_, bytes)| bytes).sum()
    }
}

#[derive(Default)]
struct Out {
    /// The packer has all of a frame; the port has its last byte.
    taken: bool,
    last: bool,
}

impl Queue {
    /// A cell comes; one may leave. Whether there was room.
    fn step(&mut self, push: bool, ready: bool) -> bool {
        let room = self.room;
        let take = self.some && (!self.valid || ready);
        self.valid = self.some || (self.valid && !ready);
        self.room = self.count <= ROOM_CELLS;
        self.some = push || self.count > 1 || (self.some && !take);
        self.count = self.count + usize::from(push) - usize::from(take);
        room
    }
}

impl Packer {
    /// A code comes, which there is room for; a byte may leave. Whether it is the last one of a frame.
    fn step(&mut self, token: Option<(u32, bool)>, port: bool) -> bool {
        let emit = port && (self.held >= 8 || self.flush);
        let last = emit && self.flush && self.held <= 8;
        let held = if emit { self.held.saturating_sub(8) } else { self.held };
        let code_ready = !self.flush && self.held < 16;
        let hit_ready = self.code.is_none() || code_ready;
        let byte_ready = self.hit.is_none() || hit_ready;
        self.held = held;
        if last {
            (self.held, self.flush) = (self.fill, false);
        } else if let Some((length, last)) = self.code.filter(|_| code_ready) {
            self.held += length;
            self.flush = last;
        }
        if hit_ready {
            self.code = self.hit;
        }
        if byte_ready {
            self.hit = self.entry.pop_front();
        }
        self.entry.extend(token);
        last
    }
}
