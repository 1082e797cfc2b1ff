// SPDX-License-Identifier: Apache-2.0
//! What the loader in hardware (rtl/controller) is told to do: lists of steps in the memory that it reads.
//!
//! A list makes the loader write to the configuration port, byte for byte, what [`ace_ecp5::Emit`] writes: a whole
//! image ([`Memory::whole`]), a few runs of frames over what the device holds ([`Memory::partial`]), or a skeleton
//! and over it the frames in which a variant differs ([`Memory::merged`]). docs/library.md has the steps as a table.
//! [`Memory::clocks`] says how long it takes.

mod clocks;
mod step;

use ace_ecp5::Device;
use ace_ecp5::emit::PATTERNS;
use ace_ecp5::memory::EBR_BYTES;
use thiserror::Error;

use crate::codec::ENTRIES;
pub use step::{STEP_BYTES, Step};

/// The loader's addresses and lengths have so many bits.
pub const ADDRESS_BITS: u32 = 24;
/// The most frames of a stream or a run.
const MAX_FRAMES: usize = 1 << 14;

/// Commands of the port with the three bytes behind their opcodes, as Project Trellis names them.
mod command {
    pub(super) const RESET_CRC: u8 = 0x3b;
    pub(super) const VERIFY_ID: u8 = 0xe2;
    pub(super) const CONTROL0: u8 = 0x22;
    pub(super) const INIT_ADDRESS: u8 = 0x46;
    pub(super) const WRITE_ADDRESS: u8 = 0xb4;
    /// A CRC and one dummy byte behind every frame.
    pub(super) const FRAMES: [u8; 2] = [0x82, 0x91];
    pub(super) const COMPRESSED: [u8; 2] = [0xb8, 0x91];
    pub(super) const WRITE_DICTIONARY: u8 = 0x02;
    /// A CRC behind the command.
    pub(super) const USERCODE: [u8; 4] = [0xc2, 0x80, 0, 0];
    pub(super) const EBR_ADDRESS: u8 = 0xf6;
    /// A CRC behind all rows, of which there are 256.
    pub(super) const WRITE_EBR: [u8; 4] = [0xb2, 0xd0, 1, 0];
    pub(super) const DONE: u8 = 0x5e;
}

/// Why there is no list.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
pub enum LoadError {
    #[error("the loader's memory has at most {} MiB", (1 << ADDRESS_BITS) >> 20)]
    Full,
    #[error("{0} frames are not 1 to {MAX_FRAMES}")]
    Frames(usize),
    #[error("the contents of a block RAM have {0} bytes, not {EBR_BYTES}")]
    Block(u32),
}

/// Bytes in the loader's memory.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Place {
    pub address: u32,
    pub length: u32,
}

/// A block RAM that is to be written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Block {
    pub id: u16,
    /// Its contents; `None`: zeros.
    pub contents: Option<Place>,
}

/// The registers that a bitstream sets beside the frames, and the device that it names.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Registers {
    pub device: &'static Device,
    pub control0: u32,
    pub usercode: u32,
}

/// All frames of a device.
#[derive(Clone, Copy, Debug)]
pub struct Whole {
    pub stream: Place,
    /// If the port is to get them in the device's own compression: its patterns, as [`ace_ecp5::emit::patterns`]
    /// chooses them.
    pub patterns: Option<[u8; PATTERNS]>,
}

/// Frames that follow one another in the order of transmission.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Run {
    /// Of the first one, as the port takes it: [`Device::address`].
    pub address: u32,
    pub frames: usize,
}

/// What a variant adds to its skeleton.
#[derive(Clone, Copy, Debug)]
pub struct Delta<'a> {
    /// Where the frames go.
    pub runs: &'a [Run],
    /// One stream of all these frames, which begins as every stream does; it is not read if there are no runs.
    pub stream: Place,
}

/// The memory that the loader reads: dictionary, streams and contents of block RAMs as a library stores them, and
/// lists.
#[derive(Clone, Debug, Default)]
pub struct Memory {
    bytes: Vec<u8>,
}

impl Memory {
    /// A memory that begins with these bytes, for example with a library's file.
    pub fn new(bytes: Vec<u8>) -> Self {
        Self { bytes }
    }

    /// What the loader reads.
    pub fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// Stores bytes.
    ///
    /// # Errors
    /// When there is no room.
    pub fn push(&mut self, bytes: &[u8]) -> Result<Place, LoadError> {
        let place = Place { address: self.bytes.len() as u32, length: bytes.len() as u32 };
        if (self.bytes.len() + bytes.len()) >> ADDRESS_BITS != 0 {
            return Err(LoadError::Full);
        }
        self.bytes.extend(bytes);
        Ok(place)
    }

    /// A list that takes the dictionary, as a library stores it. Returns its address, as all of these do.
    ///
    /// # Errors
    /// When there is no room.
    pub fn dictionary(&mut self, place: Place) -> Result<u32, LoadError> {
        let mut list = List::new(self);
        list.steps.push(Step::dictionary(place, ENTRIES));
        list.end()
    }

    /// A list that loads a whole image: [`ace_ecp5::Emit::whole`] without a comment.
    ///
    /// # Errors
    /// When there is no room or a place is not what it has to be.
    pub fn whole(&mut self, to: Registers, frames: Whole, blocks: &[Block]) -> Result<u32, LoadError> {
        let mut list = List::new(self);
        list.image(to, frames)?;
        list.rest(to, blocks)?;
        list.done()
    }

    /// A list that loads a variant over its skeleton, which the device holds, and writes those block RAMs that
    /// differ: [`ace_ecp5::Emit::frames`], and the blocks behind the frames as a whole image has them.
    ///
    /// # Errors
    /// When there is no room or a place is not what it has to be.
    pub fn partial(
        &mut self,
        device: &'static Device,
        delta: Delta,
        blocks: &[Block],
    ) -> Result<u32, LoadError> {
        let mut list = List::new(self);
        list.begin(device)?;
        list.delta(delta)?;
        list.blocks(blocks)?;
        list.done()
    }

    /// A list that loads a variant of which the memory holds the skeleton's stream and the delta: all frames of the
    /// skeleton, over them those of the delta (not compressed), then registers and block RAMs of the variant. Where a block RAM of the
    /// skeleton is one that the variant does not write, it is not written either.
    ///
    /// # Errors
    /// When there is no room or a place is not what it has to be.
    pub fn merged(
        &mut self,
        to: Registers,
        skeleton: Whole,
        delta: Delta,
        blocks: &[Block],
    ) -> Result<u32, LoadError> {
        let mut list = List::new(self);
        list.image(to, skeleton)?;
        list.delta(delta)?;
        list.rest(to, blocks)?;
        list.done()
    }
}

/// A list that is being made; the commands are stored as they come.
struct List<'a> {
    memory: &'a mut Memory,
    steps: Vec<Step>,
}

impl<'a> List<'a> {
    fn new(memory: &'a mut Memory) -> Self {
        Self { memory, steps: Vec::new() }
    }

    /// Bytes that enter the CRC.
    fn covered(&mut self, bytes: &[u8]) -> Result<(), LoadError> {
        let place = self.memory.push(bytes)?;
        self.steps.push(Step::copy(place, true));
        Ok(())
    }

    fn uncovered(&mut self, bytes: &[u8]) -> Result<(), LoadError> {
        let place = self.memory.push(bytes)?;
        self.steps.push(Step::copy(place, false));
        Ok(())
    }

    fn begin(&mut self, device: &Device) -> Result<(), LoadError> {
        // An empty comment, the preamble, four dummy bytes.
        let preamble = [0xff, 0x00, 0xff, 0xff, 0xff, 0xbd, 0xb3, 0xff, 0xff, 0xff, 0xff];
        self.uncovered(&[&preamble[..], &[command::RESET_CRC, 0, 0, 0]].concat())?;
        self.covered(&[&[command::VERIFY_ID, 0, 0, 0][..], &device.idcode.to_be_bytes()].concat())
    }

    fn image(&mut self, to: Registers, Whole { stream, patterns }: Whole) -> Result<(), LoadError> {
        let frames = to.device.frames;
        self.begin(to.device)?;
        self.covered(&[&[command::CONTROL0, 0, 0, 0][..], &to.control0.to_be_bytes()].concat())?;
        self.covered(&[command::INIT_ADDRESS, 0, 0, 0])?;
        self.steps.push(Step::stream(stream, frames));
        let Some(mut patterns) = patterns else {
            return self.frames(command::FRAMES, Step::frames(frames, true), frames);
        };
        patterns.reverse();
        let place = self.memory.push(&[&[command::WRITE_DICTIONARY, 0, 0, 0][..], &patterns].concat())?;
        self.steps.push(Step::copy(place, true).packed());
        self.frames(command::COMPRESSED, Step::frames(frames, true).packed(), frames)
    }

    fn frames(&mut self, command: [u8; 2], step: Step, frames: usize) -> Result<(), LoadError> {
        if !(1..=MAX_FRAMES).contains(&frames) {
            return Err(LoadError::Frames(frames));
        }
        let [high, low] = (frames as u16).to_be_bytes();
        self.covered(&[command[0], command[1], high, low])?;
        self.steps.push(step);
        Ok(())
    }

    fn delta(&mut self, delta: Delta) -> Result<(), LoadError> {
        let total = delta.runs.iter().map(|run| run.frames).sum();
        if total > MAX_FRAMES {
            return Err(LoadError::Frames(total));
        }
        if total > 0 {
            self.steps.push(Step::stream(delta.stream, total));
        }
        for (number, run) in delta.runs.iter().enumerate() {
            self.covered(&[&[command::WRITE_ADDRESS, 0, 0, 0][..], &run.address.to_be_bytes()].concat())?;
            let step = Step::frames(run.frames, number + 1 == delta.runs.len());
            self.frames(command::FRAMES, step, run.frames)?;
        }
        Ok(())
    }

    /// What follows the frames of a whole image.
    fn rest(&mut self, to: Registers, blocks: &[Block]) -> Result<(), LoadError> {
        self.uncovered(&[0xff; 12])?;
        let place = self.memory.push(&[&command::USERCODE[..], &to.usercode.to_be_bytes()].concat())?;
        self.steps.push(Step::copy(place, true).sealed());
        self.blocks(blocks)
    }

    fn blocks(&mut self, blocks: &[Block]) -> Result<(), LoadError> {
        for block in blocks {
            let address = (u32::from(block.id) << 11).to_be_bytes();
            let ahead = [&[command::EBR_ADDRESS, 0, 0, 0][..], &address, &command::WRITE_EBR];
            self.covered(&ahead.concat())?;
            let step = match block.contents {
                Some(place) if place.length as usize == EBR_BYTES => Step::copy(place, true),
                Some(place) => return Err(LoadError::Block(place.length)),
                None => Step::copy(Place { address: 0, length: EBR_BYTES as u32 }, true).blank(),
            };
            self.steps.push(step.sealed());
        }
        Ok(())
    }

    fn done(mut self) -> Result<u32, LoadError> {
        self.uncovered(&[command::DONE, 0, 0, 0, 0xff, 0xff, 0xff, 0xff])?;
        self.end()
    }

    fn end(mut self) -> Result<u32, LoadError> {
        self.steps.push(Step::end());
        let bytes: Vec<u8> = self.steps.iter().flat_map(|step| step.to_bytes()).collect();
        Ok(self.memory.push(&bytes)?.address)
    }
}
