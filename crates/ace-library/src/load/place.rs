// SPDX-License-Identifier: Apache-2.0
//! What lists are made of: places in the memory, registers, frames, block RAMs.

use ace_ecp5::Device;
use ace_ecp5::emit::PATTERNS;
use ace_ecp5::memory::EBR_BYTES;
use thiserror::Error;

/// The loader's addresses and lengths have so many bits.
pub const ADDRESS_BITS: u32 = 24;
/// The most frames of a stream or a run.
pub(super) const MAX_FRAMES: usize = 1 << 14;

/// Why there is no list.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
#[allow(missing_docs)] // The messages say it.
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
    /// Of the first.
    pub address: u32,
    /// How many.
    pub length: u32,
}

/// A block RAM that is to be written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Block {
    /// Which one of the device.
    pub id: u16,
    /// Its contents; `None`: zeros.
    pub contents: Option<Place>,
}

/// The registers that a bitstream sets beside the frames, and the device that it names.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Registers {
    /// Whose IDCODE is checked.
    pub device: &'static Device,
    /// Control register 0.
    pub control0: u32,
    /// USERCODE.
    pub usercode: u32,
}

/// A whole image: all frames of a device, or those that are not blank.
#[derive(Clone, Copy, Debug)]
pub struct Whole<'a> {
    /// The stream of its frames.
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
    /// How many.
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
