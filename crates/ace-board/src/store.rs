// SPDX-License-Identifier: Apache-2.0
//! The library that the controller reads: what goes through the port for one load.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::Mutex;

use ace_ecp5::{Device, Emit};
use ace_library::file::{Opened, read};
use ace_library::{FileError, ImageError, KeyError, Library, PublicKey, Trust};
use thiserror::Error;

use crate::config::{Controller, DEFAULT_LIBRARY};
use crate::manifest::Configuration;
use crate::port::{Refused, Written, stream};

/// Why a library cannot be used. It is not passed over: nothing is loaded then.
#[derive(Debug, Error)]
pub enum StoreError {
    #[error("{}: {source}; `library = \"\"` under [controller] loads what is built instead", file.display())]
    Missing { file: PathBuf, source: std::io::Error },
    #[error("{}: {source}", file.display())]
    Key { file: PathBuf, source: KeyError },
    #[error(transparent)]
    File(#[from] FileError),
}

/// A library that was opened: its signature, its version and the device of all it holds are as they have to be.
#[derive(Debug)]
pub struct Store {
    library: Library,
    /// Where it was found.
    pub file: PathBuf,
    /// What loads came to, by configuration: the same bits always leave the same memory.
    outcomes: Mutex<HashMap<String, Result<Written, Refused>>>,
}

impl Store {
    /// Opens the library that a board's description names; its relative paths start at `folder`, where that
    /// description is. The default library is looked for beside and above the current folder and the executable as
    /// well, and need not be there.
    ///
    /// # Errors
    /// When it is refused, or when one was asked for and is not there.
    pub fn open(wanted: &Controller, folder: Option<&Path>) -> Result<Option<Self>, StoreError> {
        if wanted.library.as_os_str().is_empty() {
            return Ok(None);
        }
        let mut folder = folder.unwrap_or(Path::new("")).to_owned();
        if let Err(source) = folder.join(&wanted.library).metadata() {
            if wanted.library != Path::new(DEFAULT_LIBRARY) {
                return Err(StoreError::Missing { file: folder.join(&wanted.library), source });
            }
            match above(&wanted.library) {
                Some(found) => folder = found,
                None => return Ok(None),
            }
        }
        let (file, key) = (folder.join(&wanted.library), folder.join(&wanted.key));
        let text = std::fs::read_to_string(&key)
            .map_err(|source| StoreError::Missing { file: key.clone(), source })?;
        let key = PublicKey::parse(&text).map_err(|source| StoreError::Key { file: key, source })?;
        let trust = Trust { key: Some(key), required_version: wanted.require, device: None };
        let Opened { library, .. } = read(&file, &trust)?;
        Ok(Some(Self { library, file, outcomes: Mutex::default() }))
    }

    /// `library/ace.lib, version 3`.
    pub fn words(&self) -> String {
        format!("{}, version {}", self.file.display(), self.library.version)
    }

    /// Whether it holds the very bits that the manifest of `configuration` names.
    pub fn holds(&self, configuration: &Configuration) -> bool {
        self.library.get(&configuration.name).is_ok_and(|image| {
            *image.digest() == configuration.memory_sha256 && image.device().name == configuration.device
        })
    }

    /// Decompresses a configuration and writes it into a blank slot of type `device`.
    pub(crate) fn write(&self, name: &str, device: &'static Device) -> Result<Written, Refused> {
        let mut outcomes = self.outcomes.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        if let Some(known) = outcomes.get(name) {
            return known.clone();
        }
        let outcome = match self.whole(name) {
            Ok((bytes, clocks)) => {
                stream(&bytes, device).map(|written| Written { decoder_clocks: clocks, ..written })
            }
            Err(error) => Err(Refused {
                reason: format!("{}: {error}", self.file.display()),
                bytes: 0,
                not_done: false,
            }),
        };
        outcomes.insert(name.into(), outcome.clone());
        outcome
    }

    /// The bitstream of a whole image, and the clocks in which the controller decompresses it.
    fn whole(&self, name: &str) -> Result<(Vec<u8>, u64), ImageError> {
        let (memory, clocks) = self.library.memory_in(name)?;
        Ok((Emit { compress: true, ..Emit::default() }.whole(&memory), clocks))
    }
}

/// The folder beside or above the current folder or the executable in which there is such a file.
fn above(name: &Path) -> Option<PathBuf> {
    let places = [std::env::current_dir().ok(), std::env::current_exe().ok()];
    let mut folders = places.iter().flatten().flat_map(|place| place.ancestors());
    folders.find(|folder| folder.join(name).is_file()).map(Path::to_owned)
}
