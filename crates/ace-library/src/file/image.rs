// SPDX-License-Identifier: Apache-2.0
//! One configuration as a library holds it.

use std::io::Read;

use ace_ecp5::Device;
use flate2::Compression;
use flate2::read::{DeflateDecoder, DeflateEncoder};

use super::delta::{RUN_BYTES, Run};
use super::used::Used;
use crate::error::ImageError;

/// Bytes of the index for one configuration.
pub const INDEX_ENTRY_BYTES: usize = 128;
/// The longest manifest or proof, not compressed.
pub const METADATA_MAX: usize = 1 << 20;
/// The number that stands for contents of zeros.
pub(super) const BLANK: u16 = u16::MAX;

/// A manifest or a proof: text that the library does not look into.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Text {
    pub(super) deflated: Vec<u8>,
    pub(super) len: usize,
}

/// One configuration, compressed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Image {
    pub(super) name: String,
    pub(super) device: &'static Device,
    pub(super) control0: u32,
    pub(super) usercode: u32,
    /// SHA-256 of the configuration memory, its registers too.
    pub(super) digest: [u8; 32],
    /// The name of the configuration that this one changes, which is stored whole.
    pub(super) base: Option<String>,
    /// The frames that are written over another configuration of its domain.
    pub(super) runs: Vec<Run>,
    /// Without a base: which frames are in the stream. All others are blank.
    pub(super) used: Used,
    /// The stream of the frames of the runs, or without a base of those that are used.
    pub(super) frames: Vec<u8>,
    /// The stream of the frames of the runs, without a base: what makes it of its variants again.
    pub(super) home: Vec<u8>,
    /// Identities of block RAMs and the numbers of their contents; of those that differ if there is a base.
    pub(super) blocks: Vec<(u16, u16)>,
    pub(super) manifest: Text,
    pub(super) proof: Text,
}

impl Image {
    /// Its name.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// What it is for.
    pub fn device(&self) -> &'static Device {
        self.device
    }

    /// [`ConfigMemory::digest`] of what is stored.
    pub fn digest(&self) -> &[u8; 32] {
        &self.digest
    }

    /// The configuration that this one changes, if it is not stored whole.
    pub fn base(&self) -> Option<&str> {
        self.base.as_deref()
    }

    /// The frames that make it of another configuration of its domain, in the order of transmission: at least those that
    /// it changes of its base; those that variants change of it, if it is a base; none if it is neither.
    pub fn runs(&self) -> &[Run] {
        &self.runs
    }

    /// The stream of the frames of its runs, one run after the other.
    pub fn run_stream(&self) -> &[u8] {
        match self.base {
            None => &self.home,
            Some(_) => &self.frames,
        }
    }

    /// How many frames its runs have.
    pub fn run_frames(&self) -> usize {
        self.runs.iter().map(|run| run.frames as usize).sum()
    }

    /// Bytes of its runs and of their stream.
    pub fn stored_run_bytes(&self) -> usize {
        self.run_stream().len() + self.runs.len() * RUN_BYTES
    }

    /// How many frames its stream holds.
    pub fn frame_count(&self) -> usize {
        match self.base {
            None => self.used.count(),
            Some(_) => self.run_frames(),
        }
    }

    /// The stream of the frames: of those that are used, or one after the other of the runs.
    pub fn frames(&self) -> &[u8] {
        &self.frames
    }

    /// Bytes that its frames take: which they are, its streams and the runs.
    pub fn stored_frame_bytes(&self) -> usize {
        self.used_bytes().len() + self.frames.len() + self.home.len() + self.runs.len() * RUN_BYTES
    }

    /// Which frames are used, as a file holds it.
    pub(super) fn used_bytes(&self) -> Vec<u8> {
        if self.base.is_none() { self.used.to_bytes() } else { Vec::new() }
    }

    /// How many block RAMs are written over the base or at all, and how many of them with other than zeros.
    pub fn blocks(&self) -> (usize, usize) {
        (self.blocks.len(), self.blocks.iter().filter(|(_, number)| *number != BLANK).count())
    }

    /// Bytes of manifest and proof, as they are stored.
    pub fn text_bytes(&self) -> usize {
        self.manifest.deflated.len() + self.proof.deflated.len()
    }

    /// The manifest, as it was given.
    ///
    /// # Errors
    /// When it cannot be unpacked.
    pub fn manifest(&self) -> Result<Vec<u8>, ImageError> {
        self.manifest.unpack().ok_or_else(|| ImageError::Metadata(self.name.clone()))
    }

    /// The proof, as it was given; empty if there is none.
    ///
    /// # Errors
    /// When it cannot be unpacked.
    pub fn proof(&self) -> Result<Vec<u8>, ImageError> {
        self.proof.unpack().ok_or_else(|| ImageError::Metadata(self.name.clone()))
    }
}

impl Text {
    pub(super) fn pack(text: &[u8]) -> Self {
        let mut deflated = Vec::new();
        // Reading from and writing to memory does not fail.
        let _ = DeflateEncoder::new(text, Compression::best()).read_to_end(&mut deflated);
        Self { deflated, len: text.len() }
    }

    pub(super) fn unpack(&self) -> Option<Vec<u8>> {
        let mut text = Vec::new();
        let mut reader = DeflateDecoder::new(&self.deflated[..]).take(METADATA_MAX as u64 + 1);
        reader.read_to_end(&mut text).ok()?;
        (text.len() == self.len).then_some(text)
    }
}
