// SPDX-License-Identifier: Apache-2.0
//! The library that the controller reads: what goes through the port for one load.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use ace_ecp5::{BitstreamError, ConfigPort, Device};
use ace_engine::Table;
use ace_library::file::{Guard, Load, Opened, fingerprints};
use ace_library::{ContextSet, FileError, Image, ImageError, Library};
use serde::Deserialize;
use thiserror::Error;

use crate::capability::Capability;
use crate::config::{Controller, DEFAULT_LIBRARY};
use crate::library::configurations;
use crate::manifest::{Configuration, ManifestReason};
use crate::port::{Refused, Written, stream};
use crate::record::{self, RecordError};

/// Why a library cannot be used. It is not passed over: nothing is loaded then.
#[derive(Debug, Error)]
pub enum StoreError {
    /// The library's file, which the board's description names, cannot be read.
    #[error("{}: {error}; `library = \"\"` under [controller] says that there is none", file.display())]
    Missing {
        /// The file.
        file: PathBuf,
        /// Why the system could not read it.
        error: std::io::Error,
    },
    /// The file is no library that this board may use: damaged, too old or signed by nobody who is trusted.
    #[error(transparent)]
    File(#[from] FileError),
}

/// Why a library offers nothing under the name of one of its images; for people, behind that name and a colon.
#[derive(Debug, Error)]
pub enum OfferError {
    /// Manifest or record cannot be taken out.
    #[error(transparent)]
    Image(#[from] ImageError),
    /// The manifest is not usable.
    #[error("its manifest cannot be used: {0}")]
    Manifest(ManifestReason),
    /// Name, bits or device of image and manifest differ.
    #[error("its manifest is of another configuration")]
    OtherConfiguration,
    /// The record does not say that the bits are proven.
    #[error(transparent)]
    Record(#[from] RecordError),
}

/// Why no signed library speaks for a configuration or a context set.
#[derive(Debug, Error)]
pub enum NotSigned {
    /// There is none.
    #[error("there is no signed library")]
    NoLibrary,
    /// It has nothing of that name.
    #[error("{} does not hold it", .0.display())]
    Absent(PathBuf),
    /// It has an image of that name and does not offer it.
    #[error("{} holds it, and {why}", file.display())]
    NotOffered {
        /// The library.
        file: PathBuf,
        /// Why not.
        why: Arc<OfferError>,
    },
    /// It has other bits of that name.
    #[error("{} holds other bits of that name", .0.display())]
    OtherBits(PathBuf),
    /// It has another context set of that name.
    #[error("{} holds another context set of that name", .0.display())]
    OtherSet(PathBuf),
    /// The manifest in the build folder says more than the signed one.
    #[error("its manifest has {what} than the one signed in {}", file.display())]
    ClaimsMore {
        /// What is other.
        what: String,
        /// The library.
        file: PathBuf,
    },
    /// The set's manifest cannot be taken out.
    #[error(transparent)]
    Image(#[from] ImageError),
    /// The set's manifest is not usable.
    #[error("{}: the manifest of {name} cannot be used: {error}", file.display())]
    SetManifest {
        /// The library.
        file: PathBuf,
        /// The set.
        name: String,
        /// What is wrong.
        error: serde_json::Error,
    },
}

type Outcomes = HashMap<(Option<String>, String), Result<Written, Refused>>;
type Parts = HashMap<(String, String), Option<Arc<Load>>>;
type Wholes = HashMap<String, Result<Arc<Load>, ImageError>>;

/// A library that was opened: its signatures and its version are as they have to be.
#[derive(Debug)]
pub struct Store {
    library: Library,
    /// What its manifests say, by name, of what its records say is proven; of the others why not.
    offers: HashMap<String, Result<Configuration, Arc<OfferError>>>,
    /// Fingerprints of who has signed.
    pub signers: String,
    /// What is to be said about it.
    pub warning: Option<String>,
    /// Where it was found.
    pub file: PathBuf,
    /// What loads came to, by what the slot held, if that made a difference, and by configuration: the same bits
    /// over the same memory always leave the same one.
    outcomes: Mutex<Outcomes>,
    parts: Mutex<Parts>,
    wholes: Mutex<Wholes>,
}

impl Store {
    /// Opens the library that a board's description names; its relative paths start at `folder`, where that
    /// description is. The default library is looked for beside and above the current folder and the executable as
    /// well, and need not be there. `guard` says whose libraries are taken; `wanted` may ask for a newer one.
    ///
    /// # Errors
    /// When it is refused, or when one was asked for and is not there.
    pub fn open(
        wanted: &Controller,
        folder: Option<&Path>,
        mut guard: Guard,
    ) -> Result<Option<Self>, StoreError> {
        if wanted.library.as_os_str().is_empty() {
            return Ok(None);
        }
        let mut folder = folder.unwrap_or(Path::new("")).to_owned();
        if let Err(source) = folder.join(&wanted.library).metadata() {
            if wanted.library != Path::new(DEFAULT_LIBRARY) {
                return Err(StoreError::Missing { file: folder.join(&wanted.library), error: source });
            }
            match above(&wanted.library) {
                Some(found) => folder = found,
                None => return Ok(None),
            }
        }
        let file = folder.join(&wanted.library);
        guard.trust.required_version = guard.trust.required_version.max(wanted.require);
        let Opened { library, signers, unkept, .. } = guard.open(&file)?;
        let offered = |image: &Image| (image.name().to_owned(), offer(image).map_err(Arc::new));
        let offers = configurations(&library).map(offered).collect();
        Ok(Some(Self {
            library,
            offers,
            signers: fingerprints(&signers),
            warning: unkept.map(|error| error.to_string()),
            file,
            outcomes: Mutex::default(),
            parts: Mutex::default(),
            wholes: Mutex::default(),
        }))
    }

    /// `library/ace.lib, version 3, signed by 0123456789abcdef0123456789abcdef`.
    pub fn words(&self) -> String {
        format!("{}, version {}, signed by {}", self.file.display(), self.library.version, self.signers)
    }

    /// All that it holds.
    pub fn library(&self) -> &Library {
        &self.library
    }

    /// Of the library.
    pub fn version(&self) -> u64 {
        self.library.version
    }

    /// What its manifests say of the configurations that it holds proven; their files are not here.
    pub fn configurations(&self) -> Table<Configuration> {
        let images = self.library.images().iter();
        images.filter_map(|image| self.offers.get(image.name())?.as_ref().ok().cloned()).collect()
    }

    /// What it says of a configuration that it holds and offers.
    pub fn offered(&self, name: &str) -> Option<&Configuration> {
        self.offers.get(name)?.as_ref().ok()
    }

    /// Where it is.
    pub fn file(&self) -> &Path {
        &self.file
    }

    /// Whether it holds the very bits that the manifest of `configuration` names, proven, and says of them at least what
    /// that manifest says.
    ///
    /// # Errors
    /// Why not.
    pub fn offers(&self, configuration: &Configuration) -> Result<(), NotSigned> {
        let file = || self.file.clone();
        let signed = match self.offers.get(&configuration.name) {
            None => return Err(NotSigned::Absent(file())),
            Some(Err(why)) => return Err(NotSigned::NotOffered { file: file(), why: Arc::clone(why) }),
            Some(Ok(signed)) => signed,
        };
        if signed.memory_sha256 != configuration.memory_sha256 {
            return Err(NotSigned::OtherBits(file()));
        }
        match configuration.claims_more_than(signed) {
            Some(what) => Err(NotSigned::ClaimsMore { what: format!("another {what}"), file: file() }),
            None => Ok(()),
        }
    }

    /// The context set that the manifest of `wanted` names, if the library has it and says at least as much of it.
    ///
    /// # Errors
    /// Why not.
    pub fn set(&self, wanted: &Configuration) -> Result<&ContextSet, NotSigned> {
        #[derive(Deserialize)]
        struct Signed {
            can: Vec<Capability>,
        }
        let file = || self.file.clone();
        let Ok(set) = self.library.set(&wanted.name) else {
            return Err(NotSigned::Absent(file()));
        };
        if *set.digest() != wanted.bitstream.sha256 {
            return Err(NotSigned::OtherSet(file()));
        }
        let signed: Signed = serde_json::from_slice(&set.manifest()?)
            .map_err(|error| NotSigned::SetManifest { file: file(), name: wanted.name.clone(), error })?;
        match wanted.can.iter().all(|can| signed.can.contains(can)) {
            true => Ok(set),
            false => Err(NotSigned::ClaimsMore { what: "other algorithms".into(), file: file() }),
        }
    }

    pub(crate) fn holds(&self, configuration: &Configuration) -> bool {
        self.offers(configuration).is_ok()
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
            None => self.whole(name).map_err(unsent).and_then(|load| stream(&load.bitstream, device)),
            Some((over, part)) => self.whole(over).map_err(unsent).and_then(|resident| {
                let mut port = ConfigPort::new(device);
                let refused = |error: BitstreamError, bytes: u64, not_done: bool| Refused {
                    reason: error.to_string(),
                    bytes,
                    not_done,
                };
                port.push(&resident.bitstream).map_err(|error| refused(error, 0, false))?;
                port.rearm();
                port.push(&part.bitstream).map_err(|error| refused(error.clone(), error.offset, false))?;
                let bytes = part.bitstream.len() as u64;
                let memory = port.finish().map_err(|error| refused(error, bytes, true))?.digest();
                Ok(Written { memory, bytes })
            }),
        };
        self.outcomes().insert(key, outcome.clone());
        outcome
    }

    fn outcomes(&self) -> MutexGuard<'_, Outcomes> {
        self.outcomes.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// What loads `name` into a slot that holds nothing.
    pub(crate) fn whole(&self, name: &str) -> Result<Arc<Load>, ImageError> {
        let mut wholes = self.wholes.lock().unwrap_or_else(PoisonError::into_inner);
        let whole = wholes.entry(name.into());
        whole.or_insert_with(|| self.library.whole(name).map(Arc::new)).clone()
    }

    /// What loads `name`: of what a slot holds where there is a part that makes it of that, else the whole.
    pub(crate) fn load(&self, over: Option<&str>, name: &str) -> Result<Arc<Load>, ImageError> {
        over.and_then(|over| self.part(over, name)).map_or_else(|| self.whole(name), Ok)
    }

    /// What makes `name` of `over` in a slot that holds it, where the library has that.
    pub(crate) fn part(&self, over: &str, name: &str) -> Option<Arc<Load>> {
        let mut parts = self.parts.lock().unwrap_or_else(PoisonError::into_inner);
        let part = parts.entry((over.into(), name.into()));
        // What cannot be read is said when the whole is loaded.
        part.or_insert_with(|| self.library.partial(over, name).ok().flatten().map(Arc::new)).clone()
    }
}

/// What a library says of a configuration, if it says that its bits are proven. That the bits are as it says is another
/// matter.
///
/// # Errors
/// What it says instead.
pub fn offer(image: &Image) -> Result<Configuration, OfferError> {
    let signed = Configuration::from_json(&image.manifest()?, Path::new("")).map_err(OfferError::Manifest)?;
    if signed.name != image.name()
        || signed.memory_sha256 != *image.digest()
        || signed.device != image.device().name
    {
        return Err(OfferError::OtherConfiguration);
    }
    let proof = image.proof()?;
    record::check(&proof, image.digest(), &signed.origin())?;
    Ok(signed)
}

/// Where the default library is: beside or above the executable, where `make install` puts it, or in the checkout that the
/// current folder is in.
pub fn default_library() -> Option<PathBuf> {
    above(Path::new(DEFAULT_LIBRARY)).map(|folder| folder.join(DEFAULT_LIBRARY))
}

/// The folder of these in which there is such a file.
fn above(name: &Path) -> Option<PathBuf> {
    crate::folders::search(Path::to_owned, "share/ace", |folder| folder.join(name).is_file())
}
