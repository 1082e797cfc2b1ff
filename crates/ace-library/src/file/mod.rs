// SPDX-License-Identifier: Apache-2.0
//! The library: configurations, their manifests and proofs, under one signature.

mod delta;
mod image;
mod key;
mod layout;
mod loads;
mod store;

use ace_ecp5::memory::EBR_BYTES;
use ace_ecp5::{ConfigMemory, Emit};

use crate::codec::{BLOCK_ENTRY_BYTES, Dictionary, compress, decompress};
use crate::error::ImageError;
use delta::Delta;
use image::Text;

pub use delta::{RUN_BYTES, Run};
pub use image::Image;
pub use key::{PublicKey, SecretKey};
pub use layout::{INDEX_ENTRY_BYTES, Parts, Trust};
pub use store::{Opened, publish, publish_secret, read, update};

/// The longest name of a configuration.
pub const NAME_BYTES: usize = 40;
/// The longest manifest or proof, not compressed.
pub const METADATA_MAX: usize = 1 << 20;
/// The number that stands for contents of zeros.
const BLANK: u16 = u16::MAX;

/// Configurations that share a dictionary and contents of block RAMs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Library {
    /// Grows with every change of the file.
    pub version: u64,
    dictionary: Dictionary,
    /// Contents of block RAMs, each once.
    contents: Vec<Vec<u8>>,
    /// By name.
    images: Vec<Image>,
}

impl Library {
    /// A library without configurations.
    pub fn new(dictionary: Dictionary) -> Self {
        Self { version: 0, dictionary, contents: Vec::new(), images: Vec::new() }
    }

    /// The configurations, by name.
    pub fn images(&self) -> &[Image] {
        &self.images
    }

    /// One configuration by name.
    ///
    /// # Errors
    /// When there is none of that name.
    pub fn get(&self, name: &str) -> Result<&Image, ImageError> {
        self.images.iter().find(|i| i.name == name).ok_or_else(|| ImageError::Unknown(name.to_owned()))
    }

    /// What all streams share.
    pub fn dictionary(&self) -> &Dictionary {
        &self.dictionary
    }

    /// How many different contents of block RAMs there are, blank ones not counted.
    pub fn contents(&self) -> usize {
        self.contents.len()
    }

    /// Adds a configuration or replaces the one of that name. It is stored as what it changes of one of `bases` if
    /// that takes less than half of the whole; those of them that are not there, are of another device or have a base
    /// themselves do not count. The others stay as they are, byte for byte, unless their base is replaced.
    ///
    /// # Errors
    /// When the name cannot be one, the texts are too long, there is no number left for block contents, or what
    /// is stored is not what was stored.
    pub fn add(
        &mut self,
        name: &str,
        memory: &ConfigMemory,
        manifest: &[u8],
        proof: &[u8],
        bases: &[&str],
    ) -> Result<(), ImageError> {
        let good = |b: u8| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'-' || b == b'_';
        if name.is_empty() || name.len() > NAME_BYTES || !name.bytes().all(good) {
            return Err(ImageError::Name(name.to_owned()));
        }
        if manifest.len() > METADATA_MAX || proof.len() > METADATA_MAX {
            return Err(ImageError::TooLong(name.to_owned()));
        }
        // What stands on a configuration that is replaced stands on the new one, or alone.
        let mut above = Vec::new();
        for image in self.images.iter().filter(|i| i.base.as_deref() == Some(name)) {
            above.push((image.clone(), self.memory(&image.name)?));
        }
        let mut next = self.clone();
        next.images.retain(|i| i.name != name && i.base.as_deref() != Some(name));
        next.insert(name, memory, (Text::pack(manifest), Text::pack(proof)), bases)?;
        for (image, memory) in above {
            next.insert(&image.name, &memory, (image.manifest, image.proof), &[name])?;
        }
        next.forget_unused();
        *self = next;
        Ok(())
    }

    /// Puts in a configuration whose name is free.
    fn insert(
        &mut self,
        name: &str,
        memory: &ConfigMemory,
        (manifest, proof): (Text, Text),
        bases: &[&str],
    ) -> Result<(), ImageError> {
        let whole = compress(&self.dictionary, memory.device(), memory.frames());
        let limit = (whole.len() + memory.ebr().len() * BLOCK_ENTRY_BYTES) / 2;
        let mut best: Option<(String, Delta)> = None;
        for base in self.images.iter().filter(|i| i.base.is_none() && bases.contains(&i.name.as_str())) {
            let limit = best.as_ref().map_or(limit, |(_, delta)| delta.stored_bytes());
            let delta = Delta::of(&self.dictionary, &self.memory(&base.name)?, memory);
            if let Some(delta) = delta.filter(|delta| delta.stored_bytes() < limit) {
                best = Some((base.name.clone(), delta));
            }
        }
        let (base, Delta { runs, frames, blocks: changed }) = match best {
            Some((base, delta)) => (Some(base), delta),
            None => {
                let all = memory.ebr().map(|(id, _)| id).collect();
                (None, Delta { runs: Vec::new(), frames: whole, blocks: all })
            }
        };
        let mut blocks = Vec::new();
        let mut contents = self.contents.clone();
        for (id, bytes) in memory.ebr().filter(|(id, _)| changed.contains(id)) {
            let number = if bytes.iter().all(|byte| *byte == 0) {
                BLANK
            } else {
                let known = contents.iter().position(|c| c == bytes);
                let number = known.unwrap_or_else(|| {
                    contents.push(bytes.to_vec());
                    contents.len() - 1
                });
                u16::try_from(number).ok().filter(|n| *n != BLANK).ok_or(ImageError::Full)?
            };
            blocks.push((id, number));
        }
        let image = Image {
            name: name.to_owned(),
            device: memory.device(),
            control0: memory.control0(),
            usercode: memory.usercode(),
            digest: memory.digest(),
            base,
            runs,
            frames,
            blocks,
            manifest,
            proof,
        };
        self.contents = contents;
        let at = self.images.partition_point(|i| i.name.as_str() < name);
        self.images.insert(at, image);
        Ok(())
    }

    /// Removes a configuration.
    ///
    /// # Errors
    /// When there is none of that name, or others are stored as what they change of it.
    pub fn remove(&mut self, name: &str) -> Result<(), ImageError> {
        self.get(name)?;
        let above = self.images.iter().filter(|i| i.base.as_deref() == Some(name));
        let above: Vec<&str> = above.map(|i| i.name.as_str()).collect();
        if !above.is_empty() {
            return Err(ImageError::Needed { name: name.to_owned(), by: above.join(", ") });
        }
        self.images.retain(|i| i.name != name);
        self.forget_unused();
        Ok(())
    }

    /// The configuration memory of a configuration, its digest checked.
    ///
    /// # Errors
    /// When there is none of that name or what is stored is not what was stored.
    pub fn memory(&self, name: &str) -> Result<ConfigMemory, ImageError> {
        self.memory_in(name).map(|(memory, _)| memory)
    }

    /// The same, and the clocks that a decompressor takes for it: for the base's stream and for its own, if it has a
    /// base.
    ///
    /// # Errors
    /// Those of [`Library::memory`].
    pub fn memory_in(&self, name: &str) -> Result<(ConfigMemory, u64), ImageError> {
        let image = self.get(name)?;
        let device = image.device;
        let (below, before) = match &image.base {
            // A base has none.
            Some(base) => self.get(base).and_then(|base| self.merged(base, ConfigMemory::new(device)))?,
            None => (ConfigMemory::new(device), 0),
        };
        let (mut memory, clocks) = self.merged(image, below)?;
        memory.set_control0(image.control0);
        memory.set_usercode(image.usercode);
        if memory.digest() != image.digest {
            return Err(ImageError::Digest(name.to_owned()));
        }
        Ok((memory, before + clocks))
    }

    /// A bitstream that makes one configuration of another one that a device holds, with only those frames in it
    /// that differ. `None` if there cannot be one: the devices differ, their frame addresses are not known, or
    /// the contents of block RAMs differ.
    ///
    /// # Errors
    /// Those of [`Library::memory`].
    pub fn partial(&self, from: &str, to: &str) -> Result<Option<Vec<u8>>, ImageError> {
        let (from, to) = (self.memory(from)?, self.memory(to)?);
        if from.device() != to.device() || !from.ebr().eq(to.ebr()) {
            return Ok(None);
        }
        let changed = |number: &usize| from.frame(*number) != to.frame(*number);
        let numbers: Vec<usize> = (0..to.device().frames).filter(changed).collect();
        Ok(Emit::default().frames(&to, &numbers))
    }

    /// `memory` with what an image holds written over it, and the clocks of a decompressor.
    fn merged(&self, image: &Image, mut memory: ConfigMemory) -> Result<(ConfigMemory, u64), ImageError> {
        let device = image.device;
        let mut frames = vec![0; image.frame_count() * device.frame_bytes()];
        let decoded = decompress(&self.dictionary, device, &image.frames, &mut frames)
            .map_err(|error| ImageError::Stream { name: image.name.clone(), error })?;
        let positions = match image.base {
            None => (0..device.frames).collect(),
            Some(_) => {
                delta::positions(device, &image.runs).ok_or_else(|| ImageError::Digest(image.name.clone()))?
            }
        };
        for (position, frame) in positions.iter().zip(frames.chunks_exact(device.frame_bytes())) {
            memory.set_frame(device.frames - 1 - position, frame);
        }
        let blank = vec![0; EBR_BYTES];
        for (id, number) in &image.blocks {
            let contents = self.contents.get(usize::from(*number)).filter(|_| *number != BLANK);
            memory.set_ebr(*id, contents.unwrap_or(&blank));
        }
        Ok((memory, decoded.clocks()))
    }

    /// Drops contents of block RAMs that no configuration has any more, and closes the gaps.
    fn forget_unused(&mut self) {
        let mut new = vec![None; self.contents.len()];
        for (_, number) in self.images.iter().flat_map(|i| &i.blocks) {
            if let Some(used) = new.get_mut(usize::from(*number)) {
                *used = Some(0u16);
            }
        }
        for (number, used) in new.iter_mut().flatten().enumerate() {
            *used = number as u16;
        }
        let mut kept = new.iter();
        self.contents.retain(|_| kept.next().is_some_and(Option::is_some));
        for (_, number) in self.images.iter_mut().flat_map(|i| &mut i.blocks) {
            if let Some(Some(now)) = new.get(usize::from(*number)) {
                *number = *now;
            }
        }
    }
}
