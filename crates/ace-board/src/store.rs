// SPDX-License-Identifier: Apache-2.0
//! The library that the controller reads: what goes through the port for one load.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use ace_ecp5::{BitstreamError, ConfigPort, Device, Emit};
use ace_library::file::{Opened, Partial, read};
use ace_library::{FileError, Image, ImageError, KeyError, Library, PublicKey, Trust};
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

type Outcomes = HashMap<(Option<String>, String), Result<Written, Refused>>;
type Parts = HashMap<(String, String), Option<Arc<Partial>>>;

/// A library that was opened: its signature, its version and the device of all it holds are as they have to be.
#[derive(Debug)]
pub struct Store {
    library: Library,
    /// Where it was found.
    pub file: PathBuf,
    /// What loads came to, by what the slot held, if that made a difference, and by configuration: the same bits
    /// over the same memory always leave the same one.
    outcomes: Mutex<Outcomes>,
    parts: Mutex<Parts>,
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
        Ok(Some(Self { library, file, outcomes: Mutex::default(), parts: Mutex::default() }))
    }

    /// `library/ace.lib, version 3`.
    pub fn words(&self) -> String {
        format!("{}, version {}", self.file.display(), self.library.version)
    }

    /// What its manifests say of the configurations that it holds; their files are not here.
    pub fn configurations(&self) -> Vec<Configuration> {
        let read = |image: &Image| Configuration::from_json(&image.manifest().ok()?, Path::new("")).ok();
        self.library.images().iter().filter_map(read).collect()
    }

    /// Whether it holds the very bits that the manifest of `configuration` names.
    pub fn holds(&self, configuration: &Configuration) -> bool {
        self.library.get(&configuration.name).is_ok_and(|image| {
            *image.digest() == configuration.memory_sha256 && image.device().name == configuration.device
        })
    }

    /// Decompresses a configuration and writes it into a slot of type `device`: into a blank one, or, where there is
    /// a [`Store::part`], over what it holds.
    pub(crate) fn write(
        &self,
        over: Option<&str>,
        name: &str,
        device: &'static Device,
    ) -> Result<Written, Refused> {
        let part = over.and_then(|over| Some((over, self.part(over, name)?)));
        let key = (part.as_ref().map(|(over, _)| (*over).to_owned()), name.to_owned());
        if let Some(known) = self.outcomes().get(&key) {
            return known.clone();
        }
        let unsent = |error: ImageError| Refused {
            reason: format!("{}: {error}", self.file.display()),
            bytes: 0,
            not_done: false,
        };
        let outcome = match part {
            None => self.whole(name).map_err(unsent).and_then(|(bits, loader_clocks)| {
                let written = stream(&bits, device)?;
                Ok(Written { loader_clocks, ..written })
            }),
            Some((over, part)) => self.whole(over).map_err(unsent).and_then(|(held, _)| {
                let mut port = ConfigPort::new(device);
                let refused = |error: BitstreamError, bytes: u64, not_done: bool| Refused {
                    reason: error.to_string(),
                    bytes,
                    not_done,
                };
                port.push(&held).map_err(|error| refused(error, 0, false))?;
                port.rearm();
                port.push(&part.bitstream).map_err(|error| refused(error.clone(), error.offset, false))?;
                let bytes = part.bitstream.len() as u64;
                let memory = port.finish().map_err(|error| refused(error, bytes, true))?.digest();
                Ok(Written { memory, bytes, loader_clocks: part.loader_clocks })
            }),
        };
        self.outcomes().insert(key, outcome.clone());
        outcome
    }

    fn outcomes(&self) -> MutexGuard<'_, Outcomes> {
        self.outcomes.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The bitstream of a whole image, and the loader's clocks for it.
    fn whole(&self, name: &str) -> Result<(Vec<u8>, u64), ImageError> {
        let memory = self.library.memory(name)?;
        let bits = Emit { compress: true, ..Emit::default() }.whole(&memory);
        Ok((bits, self.library.whole_clocks(name)?))
    }

    /// What makes `name` of `over` in a slot that holds it, where the library has that.
    pub(crate) fn part(&self, over: &str, name: &str) -> Option<Arc<Partial>> {
        let mut parts = self.parts.lock().unwrap_or_else(PoisonError::into_inner);
        let part = parts.entry((over.into(), name.into()));
        // What cannot be read is said when the whole is loaded.
        part.or_insert_with(|| self.library.partial(over, name).ok().flatten().map(Arc::new)).clone()
    }
}

/// The folder beside or above the current folder or the executable in which there is such a file.
fn above(name: &Path) -> Option<PathBuf> {
    let places = [std::env::current_dir().ok(), std::env::current_exe().ok()];
    let mut folders = places.iter().flatten().flat_map(|place| place.ancestors());
    folders.find(|folder| folder.join(name).is_file()).map(Path::to_owned)
}
