// SPDX-License-Identifier: Apache-2.0
//! The library: configurations, their manifests and proofs, under one signature.

mod key;
mod layout;
mod store;

use std::io::Read;

use ace_ecp5::memory::EBR_BYTES;
use ace_ecp5::{ConfigMemory, Device};
use flate2::Compression;
use flate2::read::{DeflateDecoder, DeflateEncoder};

use crate::codec::{Dictionary, compress, decompress};
use crate::error::ImageError;

pub use key::{PublicKey, SecretKey};
pub use layout::{INDEX_ENTRY_BYTES, Parts, Trust};
pub use store::{Opened, publish, publish_secret, read, update};

/// The longest name of a configuration.
pub const NAME_BYTES: usize = 40;
/// The longest manifest or proof, not compressed.
pub const METADATA_MAX: usize = 1 << 20;
/// The number that stands for contents of zeros.
const BLANK: u16 = u16::MAX;

/// A manifest or a proof: text that the library does not look into.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct Text {
    deflated: Vec<u8>,
    len: usize,
}

/// One configuration, compressed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Image {
    name: String,
    device: &'static Device,
    control0: u32,
    usercode: u32,
    /// SHA-256 of the configuration memory.
    digest: [u8; 32],
    frames: Vec<u8>,
    /// Identities of block RAMs and the numbers of their contents.
    blocks: Vec<(u16, u16)>,
    manifest: Text,
    proof: Text,
}

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

    /// Adds a configuration or replaces the one of that name. The others stay as they are, byte for byte.
    ///
    /// # Errors
    /// When the name cannot be one, the texts are too long, or there is no number left for block contents.
    pub fn add(
        &mut self,
        name: &str,
        memory: &ConfigMemory,
        manifest: &[u8],
        proof: &[u8],
    ) -> Result<(), ImageError> {
        let good = |b: u8| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'-' || b == b'_';
        if name.is_empty() || name.len() > NAME_BYTES || !name.bytes().all(good) {
            return Err(ImageError::Name(name.to_owned()));
        }
        if manifest.len() > METADATA_MAX || proof.len() > METADATA_MAX {
            return Err(ImageError::TooLong(name.to_owned()));
        }
        let mut blocks = Vec::new();
        let mut contents = self.contents.clone();
        for (id, bytes) in memory.ebr() {
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
            frames: compress(&self.dictionary, memory.device(), memory.frames()),
            blocks,
            manifest: Text::pack(manifest),
            proof: Text::pack(proof),
        };
        self.contents = contents;
        match self.images.binary_search_by(|i| i.name.as_str().cmp(name)) {
            Ok(at) => self.images[at] = image,
            Err(at) => self.images.insert(at, image),
        }
        self.forget_unused();
        Ok(())
    }

    /// Removes a configuration.
    ///
    /// # Errors
    /// When there is none of that name.
    pub fn remove(&mut self, name: &str) -> Result<(), ImageError> {
        self.get(name)?;
        self.images.retain(|i| i.name != name);
        self.forget_unused();
        Ok(())
    }

    /// The configuration memory of a configuration, its digest checked.
    ///
    /// # Errors
    /// When there is none of that name or what is stored is not what was stored.
    pub fn memory(&self, name: &str) -> Result<ConfigMemory, ImageError> {
        let image = self.get(name)?;
        let device = image.device;
        let mut frames = vec![0; device.frames * device.frame_bytes()];
        decompress(&self.dictionary, device, &image.frames, &mut frames)
            .map_err(|error| ImageError::Stream { name: name.to_owned(), error })?;
        let mut memory = ConfigMemory::new(device);
        for (position, frame) in frames.chunks_exact(device.frame_bytes()).enumerate() {
            memory.set_frame(device.frames - 1 - position, frame);
        }
        let blank = vec![0; EBR_BYTES];
        for (id, number) in &image.blocks {
            let contents = self.contents.get(usize::from(*number)).filter(|_| *number != BLANK);
            memory.set_ebr(*id, contents.unwrap_or(&blank));
        }
        memory.set_control0(image.control0);
        memory.set_usercode(image.usercode);
        if memory.digest() != image.digest {
            return Err(ImageError::Digest(name.to_owned()));
        }
        Ok(memory)
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

impl Image {
    pub fn name(&self) -> &str {
        &self.name
    }

    pub fn device(&self) -> &'static Device {
        self.device
    }

    /// [`ConfigMemory::digest`] of what is stored.
    pub fn digest(&self) -> &[u8; 32] {
        &self.digest
    }

    /// The stream of the frames.
    pub fn frames(&self) -> &[u8] {
        &self.frames
    }

    /// How many block RAMs are written, and how many of them with other than zeros.
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
    fn pack(text: &[u8]) -> Self {
        let mut deflated = Vec::new();
        // Reading from and writing to memory does not fail.
        let _ = DeflateEncoder::new(text, Compression::best()).read_to_end(&mut deflated);
        Self { deflated, len: text.len() }
    }

    fn unpack(&self) -> Option<Vec<u8>> {
        let mut text = Vec::new();
        let mut reader = DeflateDecoder::new(&self.deflated[..]).take(METADATA_MAX as u64 + 1);
        reader.read_to_end(&mut text).ok()?;
        (text.len() == self.len).then_some(text)
    }
}
