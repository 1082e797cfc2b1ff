// SPDX-License-Identifier: Apache-2.0
//! What an image takes in a library.

use std::collections::BTreeSet;

use ace_ecp5::ConfigMemory;

use super::delta::BLOCK_ENTRY_BYTES;
use super::image::INDEX_ENTRY_BYTES;
use super::used::Used;
use crate::codec::{DICTIONARY_BYTES, Tables};

/// Bytes of one image, by what they are.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Stored {
    /// Which frames are used, and these compressed.
    pub frames: usize,
    /// Which block RAMs have which contents.
    pub blocks: usize,
    /// Contents of block RAMs that are not blank, each once.
    pub contents: usize,
}

impl Stored {
    /// What `image` takes, its contents of block RAMs not shared with others.
    pub fn of(tables: &Tables, image: &ConfigMemory) -> Self {
        let contents: BTreeSet<&[u8]> =
            image.ebr().map(|(_, bytes)| bytes).filter(|bytes| bytes.iter().any(|b| *b != 0)).collect();
        let used = Used::of(image);
        Self {
            frames: used.to_bytes().len() + used.stream(tables, image).len(),
            blocks: image.ebr().len() * BLOCK_ENTRY_BYTES,
            contents: contents.iter().map(|bytes| bytes.len()).sum(),
        }
    }

    /// As if it were alone: with its index entry and the whole dictionary.
    pub fn alone(&self) -> usize {
        self.frames + self.blocks + self.contents + INDEX_ENTRY_BYTES + DICTIONARY_BYTES
    }
}
