// SPDX-License-Identifier: Apache-2.0
//! What the loader in hardware (rtl/loader) is told to do: lists of steps in the memory that it reads.
//!
//! A list makes the loader write to the configuration port, byte for byte, what [`ace_ecp5::Emit`] writes: a whole
//! image, or what of it is not blank ([`Memory::whole`]), a few runs of frames over what the device holds
//! ([`Memory::partial`]), or a skeleton and over it the frames in which a variant differs ([`Memory::merged`]).
//! docs/library-format.md has the steps as a table.
//! [`Memory::clocks`] says how long it takes.

mod clocks;
mod list;
mod pipeline;
mod step;

use ace_ecp5::Device;
use ace_ecp5::emit::PATTERNS;
use ace_ecp5::memory::EBR_BYTES;
use thiserror::Error;

use crate::codec::ENTRIES;
use list::List;
pub use step::{STEP_BYTES, Step};

/// The loader's addresses and lengths have so many bits.
pub const ADDRESS_BITS: u32 = 24;
/// The most frames of a stream or a run.
const MAX_FRAMES: usize = 1 << 14;

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

/// A whole image: all frames of a device, or those that are not blank.
#[derive(Clone, Copy, Debug)]
pub struct Whole<'a> {
    pub stream: Place,
    /// The runs of the frames of the stream, if these are not all. What else there is, PROGRAMN has cleared.
    pub used: Option<&'a [Run]>,
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

    /// A list that loads a whole image: [`ace_ecp5::Emit::whole`] without a comment, or, of the frames that are used,
    /// [`ace_ecp5::Emit::used`].
    ///
    /// # Errors
    /// When there is no room or a place is not what it has to be.
    pub fn whole(&mut self, to: Registers, frames: Whole, blocks: &[Block]) -> Result<u32, LoadError> {
        let mut list = List::new(self);
        list.image(to, frames)?;
        list.rest(to, blocks, frames.used.is_some())?;
        list.done()
    }

    /// A list that loads a variant over its skeleton, which the device holds, and writes those block RAMs that
    /// differ: [`ace_ecp5::Emit::frames`] or, with the registers, [`ace_ecp5::Emit::over`], and the blocks behind the
    /// frames as a whole image has them.
    ///
    /// # Errors
    /// When there is no room or a place is not what it has to be.
    pub fn partial(
        &mut self,
        device: &'static Device,
        registers: Option<Registers>,
        delta: Delta,
        blocks: &[Block],
    ) -> Result<u32, LoadError> {
        let mut list = List::new(self);
        list.begin(device)?;
        if let Some(to) = registers {
            list.control0(to)?;
        }
        list.delta(delta)?;
        if let Some(to) = registers {
            list.usercode(to)?;
        }
        list.blocks(blocks, false)?;
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
        list.rest(to, blocks, skeleton.used.is_some())?;
        list.done()
    }
}
