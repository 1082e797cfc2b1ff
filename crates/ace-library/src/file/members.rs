// SPDX-License-Identifier: Apache-2.0
//! A base and the configurations that are stored over it, its variants: how each is made of each other one.

use std::collections::BTreeSet;

use ace_ecp5::{ConfigMemory, Emit};

use super::delta::{Frames, changed, number};
use super::image::Image;
use super::library::Library;
use crate::error::ImageError;

/// The most frames that a domain has in common,
pub const COMMON_FRAMES: usize = 64;
/// the most bytes that they take at the port,
pub const COMMON_PORT_BYTES: usize = 7 << 10;
/// and the most bytes that those of one member take in a library.
pub const COMMON_STORED_BYTES: usize = 3 << 9;

/// A variant and the places in the order of transmission of the frames that it changes.
struct Member {
    name: String,
    memory: ConfigMemory,
    changed: Vec<usize>,
    /// It has the frames that all have which can be written over one another.
    common: bool,
}

impl Library {
    /// Stores anew the small streams of a base and of its variants: those of all frames in which any of them differs,
    /// so that each can be written over each other one. A variant with which that would be more frames or bytes than
    /// [`COMMON_FRAMES`], [`COMMON_PORT_BYTES`] or [`COMMON_STORED_BYTES`] keeps its own frames, as does one with other
    /// contents of block RAMs; of those that change the fewest frames most find room. What comes out does not depend
    /// on what was there before.
    pub(super) fn settle(&mut self, base: &str) -> Result<(), ImageError> {
        if self.get(base).ok().is_none_or(|image| image.base.is_some()) {
            return Ok(());
        }
        let whole = self.memory(base)?;
        let mut members = Vec::new();
        for image in self.images.iter().filter(|i| i.base.as_deref() == Some(base)) {
            let memory = self.memory(&image.name)?;
            let changed = changed(&whole, &memory);
            members.push(Member { name: image.name.clone(), memory, changed, common: false });
        }
        // Names are in order, and stay so among those of the same number of frames.
        members.sort_by_key(|member| member.changed.len());
        let mut common: Vec<usize> = Vec::new();
        for at in 0..members.len() {
            let new = &members[at];
            let all: BTreeSet<usize> = common.iter().chain(&new.changed).copied().collect();
            let all: Vec<usize> = all.into_iter().collect();
            let those = members.iter().filter(|member| member.common).chain([new]);
            let memories: Vec<&ConfigMemory> = those.map(|member| &member.memory).chain([&whole]).collect();
            if new.memory.ebr().eq(whole.ebr()) && self.is_small(&all, &memories) {
                common = all;
                members[at].common = true;
            }
        }
        for member in &members {
            let positions = if member.common { &common } else { &member.changed };
            let frames = Frames::of(&self.tables, &member.memory, positions);
            if let (Some(Frames { runs, stream }), Some(image)) = (frames, self.get_mut(&member.name)) {
                (image.runs, image.frames) = (runs, stream);
            }
        }
        // Without frames there is nothing to be brought back.
        let home = Frames::of(&self.tables, &whole, &common);
        if let (Some(Frames { runs, stream }), Some(image)) = (home, self.get_mut(base)) {
            (image.runs, image.home) = (runs, stream);
        }
        Ok(())
    }

    fn get_mut(&mut self, name: &str) -> Option<&mut Image> {
        self.images.iter_mut().find(|i| i.name == name)
    }

    /// Whether frames are few enough to be common to all these.
    fn is_small(&self, positions: &[usize], members: &[&ConfigMemory]) -> bool {
        let stored = |memory: &&ConfigMemory| {
            let frames = Frames::of(&self.tables, memory, positions);
            frames.is_some_and(|frames| frames.stored_bytes() <= COMMON_STORED_BYTES)
        };
        let port = |memory: &ConfigMemory| Some(partial(memory, positions, true)?.len());
        positions.len() <= COMMON_FRAMES
            && members.iter().all(stored)
            && members.first().and_then(|memory| port(memory)).is_some_and(|bytes| bytes <= COMMON_PORT_BYTES)
    }
}

/// The bitstream of the frames at these places in the order of transmission, with the registers or without.
pub(super) fn partial(memory: &ConfigMemory, positions: &[usize], registers: bool) -> Option<Vec<u8>> {
    let numbers = positions.iter().map(|at| number(memory.device(), *at)).collect::<Option<Vec<_>>>()?;
    let emit = Emit::default();
    if registers { emit.over(memory, &numbers) } else { emit.frames(memory, &numbers) }
}
