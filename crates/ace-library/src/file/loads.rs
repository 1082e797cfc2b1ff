// SPDX-License-Identifier: Apache-2.0
//! How long the loader in hardware takes for what a library holds.

use ace_ecp5::ConfigMemory;
use ace_ecp5::emit::patterns;

use super::{Image, Library};
use crate::error::ImageError;
use crate::load::{Block, Delta, LoadError, Memory, Registers, Run, Whole};

impl Library {
    /// Clocks of the loader for a whole image of a configuration in the device's own compression, skeleton and delta
    /// merged on the way if it is stored so; the dictionary is there. Neither memory nor port makes it wait.
    ///
    /// # Errors
    /// Those of [`Library::memory`], or when the loader's memory cannot hold it.
    pub fn whole_clocks(&self, name: &str) -> Result<u64, ImageError> {
        let (image, to) = (self.get(name)?, self.memory(name)?);
        let (skeleton, frames) = match image.base() {
            None => (image, to.clone()),
            Some(base) => (self.get(base)?, self.memory(base)?),
        };
        self.clocks(image, |memory| {
            let patterns = Some(patterns(frames.frames()));
            let skeleton = Whole { stream: memory.push(skeleton.frames())?, patterns };
            let registers =
                Registers { device: to.device(), control0: to.control0(), usercode: to.usercode() };
            let blocks = blocks(memory, &to, |_| true)?;
            if image.base().is_none() {
                return memory.whole(registers, skeleton, &blocks);
            }
            let stream = memory.push(image.frames())?;
            memory.merged(registers, skeleton, Delta { runs: &runs(image), stream }, &blocks)
        })
    }

    /// Clocks of the loader for what a configuration changes of its skeleton, over which it is written. `None` if it
    /// is stored whole.
    ///
    /// # Errors
    /// As [`Library::whole_clocks`].
    pub fn delta_clocks(&self, name: &str) -> Result<Option<u64>, ImageError> {
        let (image, to) = (self.get(name)?, self.memory(name)?);
        if image.base().is_none() {
            return Ok(None);
        }
        let clocks = self.clocks(image, |memory| {
            let stream = memory.push(image.frames())?;
            let changed = |id: u16| image.blocks.iter().any(|(other, _)| *other == id);
            let blocks = blocks(memory, &to, changed)?;
            memory.partial(to.device(), Delta { runs: &runs(image), stream }, &blocks)
        });
        clocks.map(Some)
    }

    fn clocks(
        &self,
        image: &Image,
        list: impl FnOnce(&mut Memory) -> Result<u32, LoadError>,
    ) -> Result<u64, ImageError> {
        let mut memory = Memory::default();
        let error = |error| ImageError::Load { name: image.name().to_owned(), error };
        let list = list(&mut memory).map_err(error)?;
        let clocks = memory.clocks(list, image.device(), &self.dictionary);
        clocks.ok_or_else(|| ImageError::Digest(image.name().to_owned()))
    }
}

fn runs(image: &Image) -> Vec<Run> {
    image.runs().iter().map(|run| Run { address: run.address, frames: run.frames as usize }).collect()
}

/// The block RAMs of a memory that are wanted, their contents in the loader's memory.
fn blocks(
    memory: &mut Memory,
    image: &ConfigMemory,
    wanted: impl Fn(u16) -> bool,
) -> Result<Vec<Block>, LoadError> {
    let wanted = image.ebr().filter(|(id, _)| wanted(*id));
    let block = |(id, bytes): (u16, &[u8])| {
        let used = bytes.iter().any(|byte| *byte != 0);
        Ok(Block { id, contents: used.then(|| memory.push(bytes)).transpose()? })
    };
    wanted.map(block).collect()
}
