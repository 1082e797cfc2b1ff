// SPDX-License-Identifier: Apache-2.0
//! Configurations into a library and out of it again.

use ace_ecp5::ConfigMemory;

use super::delta::{BLOCK_ENTRY_BYTES, Delta, Frames};
use super::image::{BLANK, Image, METADATA_MAX, Text};
use super::library::Library;
use super::name::is_name;
use super::used::Used;
use crate::error::ImageError;

impl Library {
    /// Adds a configuration or replaces the one of that name. It is stored as what it changes of one of `bases` if
    /// that takes less than half of the whole; those of them that are not there, are of another device or have a base
    /// themselves do not count. The others stay as they are, byte for byte, but for the small streams of the base that
    /// it has or had and of the variants of these.
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
        if !is_name(name) {
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
        let left = self.get(name).ok().and_then(|image| image.base.clone());
        let joined = next.get(name)?.base.clone().unwrap_or(name.to_owned());
        for base in left.into_iter().chain([joined]) {
            next.settle(&base)?;
        }
        next.forget_unused();
        *self = next;
        Ok(())
    }

    /// Puts in a configuration whose name is free.
    pub(super) fn insert(
        &mut self,
        name: &str,
        memory: &ConfigMemory,
        (manifest, proof): (Text, Text),
        bases: &[&str],
    ) -> Result<(), ImageError> {
        let used = Used::of(memory);
        let whole = used.stream(&self.tables, memory);
        let limit = (used.to_bytes().len() + whole.len() + memory.ebr().len() * BLOCK_ENTRY_BYTES) / 2;
        let mut best: Option<(String, Delta)> = None;
        for base in self.images.iter().filter(|i| i.base.is_none() && bases.contains(&i.name.as_str())) {
            let limit = best.as_ref().map_or(limit, |(_, delta)| delta.stored_bytes());
            let delta = Delta::of(&self.tables, &self.memory(&base.name)?, memory);
            if let Some(delta) = delta.filter(|delta| delta.stored_bytes() < limit) {
                best = Some((base.name.clone(), delta));
            }
        }
        let (base, Delta { frames, blocks: changed }) = match best {
            Some((base, delta)) => (Some(base), delta),
            None => {
                let all = memory.ebr().map(|(id, _)| id).collect();
                (None, Delta { frames: Frames { runs: Vec::new(), stream: whole }, blocks: all })
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
            used: if base.is_none() { used } else { Used::default() },
            base,
            runs: frames.runs,
            frames: frames.stream,
            home: Vec::new(),
            blocks,
            manifest,
            proof,
        };
        self.contents = contents;
        let at = self.images.partition_point(|i| i.name.as_str() < name);
        self.images.insert(at, image);
        Ok(())
    }

    /// Removes a configuration. The others stay as they are, byte for byte, but for the small streams of its base and
    /// of the variants of that.
    ///
    /// # Errors
    /// When there is none of that name, others are stored as what they change of it, or what is stored is not what was
    /// stored.
    pub fn remove(&mut self, name: &str) -> Result<(), ImageError> {
        let base = self.get(name)?.base.clone();
        let above = self.images.iter().filter(|i| i.base.as_deref() == Some(name));
        let above: Vec<&str> = above.map(|i| i.name.as_str()).collect();
        if !above.is_empty() {
            return Err(ImageError::Needed { name: name.to_owned(), by: above.join(", ") });
        }
        let mut next = self.clone();
        next.images.retain(|i| i.name != name);
        if let Some(base) = base {
            next.settle(&base)?;
        }
        next.forget_unused();
        *self = next;
        Ok(())
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
