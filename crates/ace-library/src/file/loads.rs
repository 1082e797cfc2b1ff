// SPDX-License-Identifier: Apache-2.0
//! What the loader in hardware writes of what a library holds, and how long it takes.

use std::borrow::Cow;

use ace_ecp5::emit::patterns;
use ace_ecp5::{ConfigMemory, Emit};

use super::image::Image;
use super::library::Library;
use super::members;
use super::used::Used;
use crate::codec::compress;
use crate::error::ImageError;
use crate::load::{Block, Delta, LoadError, Memory, Registers, Run, Whole};

/// What makes a configuration of a blank device, or of another one that a device holds.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Load {
    /// What goes through the configuration port.
    pub bitstream: Vec<u8>,
    /// How many frames it writes.
    pub frames: usize,
    /// Clocks in which the loader makes it, if neither memory nor port makes it wait; the dictionary is there.
    pub loader_clocks: u64,
}

impl Library {
    /// What loads a configuration into a device that PROGRAMN has cleared, in the device's own compression: the frames
    /// that are used, or all of them where addresses are not known.
    /// Skeleton and delta are merged on the way if it is stored so.
    ///
    /// # Errors
    /// Those of [`Library::memory`], or when the loader's memory cannot hold it.
    pub fn whole(&self, name: &str) -> Result<Load, ImageError> {
        self.load(name, false)
    }

    /// The same with all frames, blank ones too, as if nobody had cleared the device: what [`Library::whole`] is held
    /// against.
    ///
    /// # Errors
    /// Those of [`Library::whole`].
    pub fn whole_with_blank(&self, name: &str) -> Result<Load, ImageError> {
        self.load(name, true)
    }

    fn load(&self, name: &str, blank: bool) -> Result<Load, ImageError> {
        let (image, to) = (self.get(name)?, self.memory(name)?);
        let skeleton = image.base().map_or(Ok(image), |base| self.get(base))?;
        let emit = Emit { compress: true, ..Emit::default() };
        let used = used(skeleton).filter(|_| !blank);
        let bitstream = used.as_ref().and_then(|_| emit.used(&to)).unwrap_or_else(|| emit.whole(&to));
        let device = to.device();
        let frames = if used.is_some() { Used::of(&to).count() } else { device.frames };
        let loader_clocks = self.clocks(image, |memory| self.list_whole(name, blank, memory))?;
        Ok(Load { bitstream, frames, loader_clocks })
    }

    /// A list that has the loader write [`Library::whole`], in a memory that has, or will have, the dictionary's.
    ///
    /// # Errors
    /// Those of [`Library::whole`].
    pub fn whole_list(&self, name: &str, memory: &mut Memory) -> Result<u32, ImageError> {
        self.list_whole(name, false, memory)
    }

    fn list_whole(&self, name: &str, blank: bool, memory: &mut Memory) -> Result<u32, ImageError> {
        let (image, to) = (self.get(name)?, self.memory(name)?);
        let (skeleton, held) = match image.base() {
            None => (image, to.clone()),
            Some(base) => (self.get(base)?, self.memory(base)?),
        };
        let used = used(skeleton).filter(|_| !blank);
        let positions = self.positions(image)?;
        let device = to.device();
        let mut list = || {
            let patterns = Some(patterns(held.frames()));
            let stream = match used {
                None => memory.push(&compress(self.dictionary(), device, held.frames()))?,
                Some(_) => {
                    memory.push(&self.stream(skeleton.frames(), &held, &Used::of(&held).positions()))?
                }
            };
            let skeleton = Whole { stream, used: used.as_deref(), patterns };
            let registers = registers(&to);
            let blocks = blocks(memory, &to)?;
            if image.base().is_none() {
                return memory.whole(registers, skeleton, &blocks);
            }
            let stream = memory.push(&self.stream(image.frames(), &to, &positions))?;
            memory.merged(registers, skeleton, Delta { runs: &runs(image), stream }, &blocks)
        };
        list().map_err(|error| ImageError::Load { name: name.to_owned(), error })
    }

    /// The list of the dictionary, which the loader takes before any other.
    ///
    /// # Errors
    /// When the loader's memory cannot hold it.
    pub fn dictionary_list(&self, memory: &mut Memory) -> Result<u32, LoadError> {
        let place = memory.push(&self.dictionary().to_bytes())?;
        memory.dictionary(place)
    }

    /// What makes `to` of `from` in a device that holds it: the frames of the runs of `to`, and its registers where they
    /// are others or there are no frames (something has to be covered by a CRC), if what they make of it has the digest
    /// of `to`. `None` if it has not, if the two are not of one domain (one is the base of the other, or both
    /// have the same), or if they are the same one.
    ///
    /// # Errors
    /// Those of [`Library::memory`], or when the loader's memory cannot hold it.
    pub fn partial(&self, from: &str, to: &str) -> Result<Option<Load>, ImageError> {
        let Some((wanted, sent)) = self.over(from, to)? else { return Ok(None) };
        let new = self.get(to)?;
        let bitstream = members::partial(&wanted, &self.positions(new)?, sent.is_some());
        let Some(bitstream) = bitstream else { return Ok(None) };
        let loader_clocks = self.clocks(new, |memory| self.list_partial(new, &wanted, sent, memory))?;
        Ok(Some(Load { bitstream, frames: new.run_frames(), loader_clocks }))
    }

    /// A list that has the loader write [`Library::partial`], and `None` where that is none.
    ///
    /// # Errors
    /// Those of [`Library::partial`].
    pub fn partial_list(&self, from: &str, to: &str, memory: &mut Memory) -> Result<Option<u32>, ImageError> {
        let Some((wanted, sent)) = self.over(from, to)? else { return Ok(None) };
        self.list_partial(self.get(to)?, &wanted, sent, memory).map(Some)
    }

    fn list_partial(
        &self,
        new: &Image,
        wanted: &ConfigMemory,
        sent: Option<Registers>,
        memory: &mut Memory,
    ) -> Result<u32, ImageError> {
        let positions = self.positions(new)?;
        let mut list = || {
            let stream = memory.push(&self.stream(new.run_stream(), wanted, &positions))?;
            memory.partial(new.device(), sent, Delta { runs: &runs(new), stream }, &[])
        };
        list().map_err(|error| ImageError::Load { name: new.name().to_owned(), error })
    }

    /// What a device holds when the frames of the runs of `to` have been written over `from`, and the registers that have
    /// to be; `None` if that is not `to`.
    fn over(&self, from: &str, to: &str) -> Result<Option<(ConfigMemory, Option<Registers>)>, ImageError> {
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
        Ok(Some((wanted, sent)))
    }

    /// What the loader reads of a stream of these frames; of small streams, the same frames once more.
    fn stream<'a>(&self, stored: &'a [u8], memory: &ConfigMemory, positions: &[usize]) -> Cow<'a, [u8]> {
        if self.tables.loads() {
            return Cow::Borrowed(stored);
        }
        let all: Vec<&[u8]> = memory.frames().collect();
        let frames = positions.iter().filter_map(|at| all.get(*at).copied());
        Cow::Owned(compress(self.dictionary(), memory.device(), frames))
    }

    fn clocks(
        &self,
        image: &Image,
        list: impl FnOnce(&mut Memory) -> Result<u32, ImageError>,
    ) -> Result<u64, ImageError> {
        let mut memory = Memory::default();
        let list = list(&mut memory)?;
        let clocks = memory.clocks(list, image.device(), self.dictionary());
        clocks.ok_or_else(|| ImageError::Digest(image.name().to_owned()))
    }
}

fn registers(memory: &ConfigMemory) -> Registers {
    Registers { device: memory.device(), control0: memory.control0(), usercode: memory.usercode() }
}

/// The runs of the frames that a whole configuration uses; `None` if its stream holds all.
fn used(image: &Image) -> Option<Vec<Run>> {
    if image.used.is_all(image.device()) {
        return None;
    }
    let run = |(first, frames): &(usize, usize)| {
        Some(Run { address: image.device().address(*first)?, frames: *frames })
    };
    image.used.runs().iter().map(run).collect()
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
