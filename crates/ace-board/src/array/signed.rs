// SPDX-License-Identifier: Apache-2.0
//! Context sets on their way into a signed library: what is put in, and what is said of it.

use std::iter;
use std::path::{Path, PathBuf};

use ace_array::Named;
use ace_array::algorithms::Served;
use ace_array::set::Set;
use ace_array::shape::Shape;
use ace_engine::{Direction, Mode};
use ace_library::{ContextSet, Library};
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use super::ArrayError;
use super::digests::digests;
use super::slot::{MODES, capability};
use crate::capability::Capability;

/// What a library says of a context set: all but `can` stands in the set, too, and is compared with it.
#[derive(Debug, Deserialize, PartialEq, Eq, Serialize)]
pub struct SetManifest {
    /// The set's name in the library, which is that of its variant.
    pub name: String,
    /// The algorithm, as `algorithms/` calls it.
    pub algorithm: String,
    /// The algorithm's code, byte 0 of a request.
    pub code: u8,
    /// Whether the set decrypts.
    pub decrypt: bool,
    /// Throughput or latency. Libraries do not say it in which a variant has one set.
    #[serde(default)]
    pub made_for: Option<String>,
    /// Version of the array that it is for.
    pub array: String,
    /// Contexts, which are clocks from one block to the next at full load.
    pub cycles_per_block: usize,
    /// Clocks from a block's entrance to its exit.
    pub latency: u16,
    /// Clocks from one block of a packet alone to its next one.
    #[serde(default)]
    pub clocks_alone: Option<usize>,
    /// Words of 32 bits of an expanded key; 0 if frames bring none.
    pub key_words: u16,
    /// Who expands keys.
    pub key_setup: String,
    /// The set's length in bytes.
    pub bytes: usize,
    /// Clocks in which a tile takes the set.
    pub load_clocks: usize,
    /// SHA-256 of the set in hexadecimal digits.
    pub sha256: String,
    /// The variant that it sets the keys up for. It serves no frames then.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sets_up: Option<String>,
    /// What a slot with this set can be asked for; nothing if it expands keys.
    pub can: Vec<Capability>,
}

/// What a board that is loaded with a variant's set can be asked for.
pub fn can(served: &Served, decrypt: bool) -> Vec<Capability> {
    if decrypt {
        return vec![capability(served, &[Direction::Decrypt], &[Mode::Ecb, Mode::Cbc])];
    }
    let encrypts = capability(served, &[Direction::Encrypt], MODES);
    // What decrypts in CFB is the cipher that encrypts.
    let back = (!encrypts.modes.is_empty()).then(|| capability(served, &[Direction::Decrypt], &[Mode::Cfb]));
    iter::once(encrypts).chain(back).collect()
}

impl SetManifest {
    /// Of a set that is to be one of a variant's.
    ///
    /// # Errors
    /// Why it is not one that a slot of this array takes, or of another algorithm.
    pub fn of(name: &str, bytes: &[u8]) -> Result<Self, ArrayError> {
        let named = Named::find(name).ok_or_else(|| ArrayError::Unknown(name.to_owned()))?;
        let Named { served, decrypt, goal, setup, .. } = named;
        let set = Set::from_bytes(bytes, &Shape::standard()).map_err(|e| ArrayError::set(name, e))?;
        let (code, back, keys) = (set.algorithm, set.decrypt, set.keys);
        if (code, back, keys) != (served.code, decrypt, setup.is_some()) {
            return Err(ArrayError::Other { name: name.to_owned(), code, decrypt: back, keys });
        }
        Ok(Self {
            name: name.to_owned(),
            algorithm: served.algorithm.to_owned(),
            code: served.code,
            decrypt,
            made_for: Some(goal.to_string()),
            array: format!("{:08x}", set.version),
            cycles_per_block: set.ii(),
            latency: set.latency,
            clocks_alone: Some(set.dependent_interval()),
            key_words: set.key_words,
            key_setup: if set.key_words > 0 { "host" } else { "none" }.to_owned(),
            bytes: bytes.len(),
            load_clocks: set.load_clocks(),
            sha256: hex::encode(Sha256::digest(bytes)),
            sets_up: setup.map(|_| served.variant(decrypt)),
            can: if setup.is_some() { Vec::new() } else { can(served, decrypt) },
        })
    }

    /// What a library says of a set.
    ///
    /// # Errors
    /// When its manifest cannot be read.
    pub fn stated(set: &ContextSet) -> Result<Self, ArrayError> {
        let unread = |reason: String| ArrayError::Manifest { name: set.name().to_owned(), reason };
        let manifest = set.manifest().map_err(|error| unread(error.to_string()))?;
        serde_json::from_slice(&manifest).map_err(|error| unread(error.to_string()))
    }
}

/// A context set that goes into a library.
pub struct Known {
    /// The set's name in the library.
    pub name: String,
    /// The set as a tile takes it.
    pub bytes: Vec<u8>,
    /// Its [`SetManifest`] as JSON.
    pub manifest: Vec<u8>,
}

/// Whether what a library says of a set is so, a slot of this array would take it, and it keeps to its own block and bank
/// ([`ace_array::bounds`]).
///
/// # Errors
/// What is not so.
pub fn verify(set: &ContextSet) -> Result<(), ArrayError> {
    let stated = SetManifest::stated(set)?;
    let mut is = SetManifest::of(set.name(), set.bytes())?;
    if (&stated.made_for, stated.clocks_alone) == (&None, None) {
        (is.made_for, is.clocks_alone) = (None, None);
    }
    if stated != is {
        let reason = "it is of another context set".to_owned();
        return Err(ArrayError::Manifest { name: set.name().to_owned(), reason });
    }
    Ok(())
}

/// Proves that a set is what the source of its variant says, which this program was built with, for all keys and blocks
/// ([`ace_array::validate`]).
///
/// # Errors
/// What is not so, or is not shown.
pub fn validate(set: &ContextSet) -> Result<(), ArrayError> {
    let name = set.name();
    let named = Named::find(name).ok_or_else(|| ArrayError::Unknown(name.to_owned()))?;
    let built = named.built().map_err(|error| ArrayError::set(name, error))?;
    let shape = Shape::standard();
    let set = Set::from_bytes(set.bytes(), &shape).map_err(|error| ArrayError::set(name, error))?;
    let validated = ace_array::validate::validate(&set, &built, &shape);
    validated.map(drop).map_err(|unlike| ArrayError::Unlike { name: name.to_owned(), unlike })
}

/// Whether [`verify`] and [`validate`] have nothing against any set of a library, and how many they are: nobody signs others.
///
/// # Errors
/// Of the first one against which they have something.
pub fn verify_all(library: &Library) -> Result<usize, ArrayError> {
    library.sets().iter().try_for_each(|set| verify(set).and_then(|()| validate(set)))?;
    Ok(library.sets().len())
}

/// The sets of these names below a folder, or all that this `ace` knows, with their manifests: what goes into a library.
///
/// # Errors
/// When one is missing, or is not what the compiler makes of the sources of this `ace`.
pub fn sets(folder: &Path, names: &[String]) -> Result<Vec<Known>, ArrayError> {
    let known = digests()?;
    let names = if names.is_empty() { known.keys().cloned().collect() } else { names.to_vec() };
    let mut out = Vec::new();
    for name in names {
        let Some(digest) = known.get(&name) else {
            return Err(ArrayError::NoDigest(name));
        };
        let path: PathBuf = folder.join(&name).join(format!("{name}.set"));
        let bytes = match ace_fs::read(&path) {
            Ok(bytes) => bytes,
            Err(error) => return Err(ArrayError::Unread { path, error }),
        };
        let manifest = SetManifest::of(&name, &bytes)?;
        if manifest.sha256 != hex::encode(digest) {
            return Err(ArrayError::OtherDigest(path));
        }
        let text = serde_json::to_vec(&manifest);
        let manifest =
            text.map_err(|e| ArrayError::Manifest { name: name.clone(), reason: e.to_string() })?;
        out.push(Known { name, bytes, manifest });
    }
    Ok(out)
}
