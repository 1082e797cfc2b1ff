// SPDX-License-Identifier: Apache-2.0
//! The library that the controller reads: what goes through the port for one load.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use ace_ecp5::{BitstreamError, ConfigPort, Device, Emit};
use ace_library::file::{Opened, read};
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
type Parts = HashMap<(String, String), Option<Arc<Load>>>;

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
            None => self.whole(name).map_err(unsent).and_then(|load| {
                let written = stream(&load.bytes, device)?;
                Ok(Written { loader_clocks: load.loader_clocks, ..written })
            }),
            Some((over, load)) => self.whole(over).map_err(unsent).and_then(|held| {
                let mut port = ConfigPort::new(device);
                let refused = |error: BitstreamError, bytes: u64, not_done: bool| Refused {
                    reason: error.to_string(),
                    bytes,
                    not_done,
                };
                port.push(&held.bytes).map_err(|error| refused(error, 0, false))?;
                port.rearm();
                port.push(&load.bytes).map_err(|error| refused(error.clone(), error.offset, false))?;
                let bytes = load.bytes.len() as u64;
                let memory = port.finish().map_err(|error| refused(error, bytes, true))?.digest();
                Ok(Written { memory, bytes, loader_clocks: load.loader_clocks })
            }),
        };
        self.outcomes().insert(key, outcome.clone());
        outcome
    }

    fn outcomes(&self) -> MutexGuard<'_, Outcomes> {
        self.outcomes.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The bitstream of a whole image, and the loader's clocks for it.
    fn whole(&self, name: &str) -> Result<Load, ImageError> {
        let memory = self.library.memory(name)?;
        let bytes = Emit { compress: true, ..Emit::default() }.whole(&memory);
        Ok(Load { bytes, loader_clocks: self.library.whole_clocks(name)? })
    }

    /// What makes `name` of `over` in a slot that holds it: the delta of `name`, if that has all the frames in which the
    /// two differ, as it has of its skeleton, and of others on the same skeleton that change the same frames.
    pub(crate) fn part(&self, over: &str, name: &str) -> Option<Arc<Load>> {
        let mut parts = self.parts.lock().unwrap_or_else(PoisonError::into_inner);
        let part = parts.entry((over.into(), name.into()));
        part.or_insert_with(|| self.part_of(over, name).map(Arc::new)).clone()
    }

    fn part_of(&self, over: &str, name: &str) -> Option<Load> {
        let (old, new) = (self.library.get(over).ok()?, self.library.get(name).ok()?);
        let skeleton = |image: &'_ Image| image.base().unwrap_or(image.name()).to_owned();
        if over == name || skeleton(old) != skeleton(new) {
            return None;
        }
        let loader_clocks = self.library.delta_clocks(name).ok()??;
        let (from, to) = (self.library.memory(over).ok()?, self.library.memory(name).ok()?);
        let device = to.device();
        let mut held = vec![false; device.frames];
        for run in new.runs() {
            let first = device.position(run.address)?;
            held.get_mut(first..first + run.frames as usize)?.fill(true);
        }
        let mut frames = from.frames().zip(to.frames()).zip(&held);
        if !from.ebr().eq(to.ebr()) || !frames.all(|((old, new), held)| *held || old == new) {
            return None;
        }
        let numbers = held.iter().enumerate().filter(|(_, held)| **held);
        let numbers: Vec<usize> = numbers.map(|(position, _)| device.frames - 1 - position).collect();
        Some(Load { bytes: Emit::default().frames(&to, &numbers)?, loader_clocks })
    }
}

/// What goes through the port, and the clocks in which the loader makes it.
#[derive(Debug)]
pub(crate) struct Load {
    pub bytes: Vec<u8>,
    pub loader_clocks: u64,
}

/// The folder beside or above the current folder or the executable in which there is such a file.
fn above(name: &Path) -> Option<PathBuf> {
    let places = [std::env::current_dir().ok(), std::env::current_exe().ok()];
    let mut folders = places.iter().flatten().flat_map(|place| place.ancestors());
    folders.find(|folder| folder.join(name).is_file()).map(Path::to_owned)
}
