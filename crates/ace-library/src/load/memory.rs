// SPDX-License-Identifier: Apache-2.0
//! The memory, and lists put into it.

use ace_ecp5::Device;

use super::list::List;
use super::place::{ADDRESS_BITS, Block, Delta, LoadError, Place, Registers, Whole};
use super::step::Step;
use crate::codec::ENTRIES;

/// The memory that the loader reads: dictionary, streams and contents of block RAMs as a library stores them, and
/// lists.
#[derive(Clone, Debug, Default)]
pub struct Memory {
    pub(super) bytes: Vec<u8>,
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
