// SPDX-License-Identifier: Apache-2.0
//! Context sets: what slots that hold the array load. They are kept as they are: a load takes microseconds, and no
//! decoder is to be in its way.

use sha2::{Digest, Sha256};

use super::image::{METADATA_MAX, Text};
use super::library::Library;
use super::name::{NAME_BYTES, is_name};
use super::reader::{Malformed, Reader};
use crate::error::ImageError;

/// Bytes of the index for one context set.
pub const SET_ENTRY_BYTES: usize = 96;
/// The longest context set.
pub const SET_MAX: usize = 1 << 20;

/// One context set.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ContextSet {
    name: String,
    bytes: Vec<u8>,
    digest: [u8; 32],
    manifest: Text,
}

impl ContextSet {
    /// Its name.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// What a slot is sent.
    pub fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// SHA-256 of its bytes.
    pub fn digest(&self) -> &[u8; 32] {
        &self.digest
    }

    /// The manifest, as it was given.
    ///
    /// # Errors
    /// When it cannot be unpacked.
    pub fn manifest(&self) -> Result<Vec<u8>, ImageError> {
        self.manifest.unpack().ok_or_else(|| ImageError::Metadata(self.name.clone()))
    }

    /// Bytes of its manifest, as it is stored.
    pub(super) fn text_bytes(&self) -> usize {
        self.manifest.deflated.len()
    }

    /// Bytes of it in a library besides its manifest.
    pub(super) fn stored_bytes(&self) -> usize {
        SET_ENTRY_BYTES + self.bytes.len()
    }
}

impl Library {
    /// The context sets, by name. Their names are their own: a configuration may have the same.
    pub fn sets(&self) -> &[ContextSet] {
        &self.sets
    }

    /// One context set by name.
    ///
    /// # Errors
    /// When there is none of that name.
    pub fn set(&self, name: &str) -> Result<&ContextSet, ImageError> {
        self.sets.iter().find(|set| set.name == name).ok_or_else(|| ImageError::UnknownSet(name.to_owned()))
    }

    /// Adds a context set or replaces the one of that name.
    ///
    /// # Errors
    /// When the name cannot be one, or there are no bytes or too many.
    pub fn add_set(&mut self, name: &str, bytes: &[u8], manifest: &[u8]) -> Result<(), ImageError> {
        if !is_name(name) {
            return Err(ImageError::Name(name.to_owned()));
        }
        if bytes.is_empty() || bytes.len() > SET_MAX {
            return Err(ImageError::SetLength(name.to_owned()));
        }
        if manifest.len() > METADATA_MAX {
            return Err(ImageError::TooLong(name.to_owned()));
        }
        self.sets.retain(|set| set.name != name);
        let at = self.sets.partition_point(|set| set.name.as_str() < name);
        let set = ContextSet {
            name: name.to_owned(),
            bytes: bytes.to_vec(),
            digest: Sha256::digest(bytes).into(),
            manifest: Text::pack(manifest),
        };
        self.sets.insert(at, set);
        Ok(())
    }

    /// Removes a context set.
    ///
    /// # Errors
    /// When there is none of that name.
    pub fn remove_set(&mut self, name: &str) -> Result<(), ImageError> {
        self.set(name)?;
        self.sets.retain(|set| set.name != name);
        Ok(())
    }
}

/// Puts the sets behind what there is of a file.
pub(super) fn put(sets: &[ContextSet], out: &mut Vec<u8>) {
    let mut offset = out.len() + sets.len() * SET_ENTRY_BYTES;
    for set in sets {
        let mut name = [0; NAME_BYTES];
        name[..set.name.len()].copy_from_slice(set.name.as_bytes());
        out.extend(name);
        out.extend((offset as u64).to_le_bytes());
        let words = [set.bytes.len() as u32, set.manifest.deflated.len() as u32, set.manifest.len as u32, 0];
        words.iter().for_each(|word| out.extend(word.to_le_bytes()));
        out.extend(set.digest);
        offset += set.bytes.len() + set.text_bytes();
    }
    for set in sets {
        out.extend(&set.bytes);
        out.extend(&set.manifest.deflated);
    }
}

/// Takes so many sets from the front of what is left of a file of `len` bytes. The error says what makes no sense.
pub(super) fn take(count: usize, len: usize, all: &mut Reader) -> Result<Vec<ContextSet>, Malformed> {
    let index =
        count.checked_mul(SET_ENTRY_BYTES).and_then(|n| all.take(n)).ok_or("index of context sets")?;
    let mut sets: Vec<ContextSet> = Vec::new();
    for entry in index.chunks_exact(SET_ENTRY_BYTES) {
        let offset = len - all.left();
        let set = one(&mut Reader::new(entry), offset as u64, all);
        let set = set.ok_or_else(|| format!("context set {}", sets.len()))?;
        if sets.last().is_some_and(|last| last.name >= set.name) {
            return Err(format!("order at context set {}", set.name).into());
        }
        sets.push(set);
    }
    Ok(sets)
}

/// One set: its entry in the index and, next in `data`, the rest.
fn one(entry: &mut Reader, offset: u64, data: &mut Reader) -> Option<ContextSet> {
    let name = entry.name()?;
    if entry.long()? != offset {
        return None;
    }
    let (bytes, deflated, len) = (entry.word()? as usize, entry.word()? as usize, entry.word()? as usize);
    entry.zeros(4)?;
    let digest = *entry.take(32)?.first_chunk::<32>()?;
    if bytes == 0 || bytes > SET_MAX || len > METADATA_MAX {
        return None;
    }
    let bytes = data.take(bytes)?.to_vec();
    if Sha256::digest(&bytes)[..] != digest[..] {
        return None;
    }
    let manifest = Text { deflated: data.take(deflated)?.to_vec(), len };
    Some(ContextSet { name, bytes, digest, manifest })
}
