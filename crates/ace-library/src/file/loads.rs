// SPDX-License-Identifier: Apache-2.0
//! What the loader in hardware writes of what a library holds, and how long it takes.

use ace_ecp5::ConfigMemory;
use ace_ecp5::emit::patterns;

use super::{Image, Library, members};
use crate::error::ImageError;
use crate::load::{Block, Delta, LoadError, Memory, Registers, Run, Whole};

/// What makes one configuration of another one that a device holds.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Partial {
    /// What goes through the configuration port.
    pub bitstream: Vec<u8>,
    /// How many frames it writes.
    pub frames: usize,
    /// Clocks in which the loader makes it, if neither memory nor port makes it wait; the dictionary is there.
    pub loader_clocks: u64,
}

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
            let registers = registers(&to);
            let blocks = blocks(memory, &to)?;
            if image.base().is_none() {
                return memory.whole(registers, skeleton, &blocks);
            }
            let stream = memory.push(image.frames())?;
            memory.merged(registers, skeleton, Delta { runs: &runs(image), stream }, &blocks)
        })
    }

    /// What makes `to` of `from` in a device that holds it: the frames of the runs of `to`, and its registers where they
    /// are others or there are no frames (something has to be covered by a CRC), if what they make of it has the digest
    /// of `to`. `None` if it has not, if the two are not of one domain (one is the base of the other, or both
    /// have the same), or if they are the same one.
    ///
    /// # Errors
    /// Those of [`Library::memory`], or when the loader's memory cannot hold it.
    pub fn partial(&self, from: &str, to: &str) -> Result<Option<Partial>, ImageError> {
        let (old, new) = (self.get(from)?, self.get(to)?);
        let base = |image: &'_ Image| image.base().unwrap_or(image.name()).to_owned();
        if from == to || base(old) != base(new) {
            return Ok(None);
        }
        let (mut memory, wanted) = (self.memory(from)?, self.memory(to)?);
        self.write_runs(new, &mut memory)?;
        let same = registers(&memory) == registers(&wanted) && !new.runs.is_empty();
        let sent = (!same).then(|| registers(&wanted));
        memory.set_control0(new.control0);
        memory.set_usercode(new.usercode);
        if memory.digest() != new.digest {
            return Ok(None);
        }
        let bitstream = members::partial(&wanted, &self.positions(new)?, sent.is_some());
        let Some(bitstream) = bitstream else { return Ok(None) };
        let loader_clocks = self.clocks(new, |memory| {
            let stream = memory.push(new.run_stream())?;
            memory.partial(new.device(), sent, Delta { runs: &runs(new), stream }, &[])
        })?;
        Ok(Some(Partial { bitstream, frames: new.run_frames(), loader_clocks }))
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

fn registers(memory: &ConfigMemory) -> Registers {
    Registers { device: memory.device(), control0: memory.control0(), usercode: memory.usercode() }
}

fn runs(image: &Image) -> Vec<Run> {
    image.runs().iter().map(|run| Run { address: run.address, frames: run.frames as usize }).collect()
}

/// The block RAMs of a memory, their contents in the loader's memory.
fn blocks(memory: &mut Memory, image: &ConfigMemory) -> Result<Vec<Block>, LoadError> {
    let block = |(id, bytes): (u16, &[u8])| {
        let used = bytes.iter().any(|byte| *byte != 0);
        Ok(Block { id, contents: used.then(|| memory.push(bytes)).transpose()? })
    };
    image.ebr().map(block).collect()
}
