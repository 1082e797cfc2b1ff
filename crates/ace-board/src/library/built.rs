// SPDX-License-Identifier: Apache-2.0
//! Built configurations on their way into a library: only what is proven, with a clock that is accounted for.

use std::io;
use std::path::{Path, PathBuf};

use ace_ecp5::{BitstreamError, ConfigMemory};
use ace_library::file::is_name;
use ace_library::{Image, ImageError, Library};
use serde_json::Value;
use sha2::{Digest, Sha256};
use thiserror::Error;

use super::manifest::manifest;
use crate::Catalogue;
use crate::manifest::Configuration;
use crate::record::RecordError;

/// A built configuration: what goes into a library.
pub struct Built {
    /// Its name.
    pub name: String,
    /// What it computes, by name of the algorithm.
    algorithms: Vec<String>,
    /// What its bits leave in a device.
    pub memory: ConfigMemory,
    manifest: Vec<u8>,
    /// Its record says that these bits are proven.
    proof: Vec<u8>,
}

/// Why configurations are not taken.
#[derive(Debug, Error)]
pub enum BuiltError {
    /// One that was asked for is not there.
    #[error("no configuration {name} in {}; `python -m ace_flow build {name}` builds it", folder.display())]
    Missing {
        /// What was asked for.
        name: String,
        /// Where it was looked for.
        folder: PathBuf,
    },
    /// There is none.
    #[error("no configurations in {}; build them with `make models`", .0.display())]
    None(PathBuf),
    /// A file cannot be read.
    #[error("cannot read {}", path.display())]
    Read {
        /// The file.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
    /// A configuration port refuses a bitstream.
    #[error("{}", path.display())]
    Bits {
        /// The file.
        path: PathBuf,
        /// Why.
        source: BitstreamError,
    },
    /// A bitstream is not the one that its manifest is of.
    #[error("{0}: the bitstream is not the one of its manifest; build it again")]
    Other(String),
    /// Some are not proven, or nobody knows where their clocks are from.
    #[error(
        "only what is proven goes into a library; `python -m ace_flow build {}` builds and proves it",
        refused.iter().map(|(name, _)| name.as_str()).collect::<Vec<_>>().join(" ")
    )]
    Unproven {
        /// Which, and why.
        refused: Vec<(String, UnsoundError)>,
    },
}

/// Why a configuration does not go into a library.
#[derive(Debug, Error)]
pub enum UnsoundError {
    /// Its record does not say that its bits are proven.
    #[error(transparent)]
    Record(#[from] RecordError),
    /// Nobody knows where its clock is from.
    #[error(transparent)]
    Timing(#[from] TimingError),
}

/// Why nobody knows where the clock of a configuration is from.
#[derive(Debug, Error)]
pub enum TimingError {
    /// The manifest is none.
    #[error(transparent)]
    Json(#[from] serde_json::Error),
    /// It does not say.
    #[error("its manifest does not say where its clock is from (`timing`)")]
    Unsaid,
    /// A file is not the one that it names.
    #[error("{} is not what its manifest says (`timing`)", .0.display())]
    Altered(PathBuf),
    /// The report has another clock.
    #[error("its manifest says {stated} MHz, and {} says {wanted}", path.display())]
    Clock {
        /// In the manifest.
        stated: Value,
        /// In the report.
        wanted: Value,
        /// The report.
        path: PathBuf,
    },
}

/// Reads a bitstream into the memory that it leaves behind.
///
/// # Errors
/// The file cannot be read, or a configuration port refuses it.
pub fn read_memory(path: &Path) -> Result<ConfigMemory, BuiltError> {
    let bytes = ace_fs::read(path).map_err(|source| BuiltError::Read { path: path.to_owned(), source })?;
    ace_ecp5::load(&bytes).map_err(|source| BuiltError::Bits { path: path.to_owned(), source })
}

/// The built configurations of these names, or all: skeletons first, and then what is a variant of one.
///
/// # Errors
/// One that is missing, damaged or not proven.
pub fn built(catalogue: &Catalogue, names: &[String]) -> Result<Vec<Built>, BuiltError> {
    let all = &catalogue.configurations;
    let folder = || catalogue.folder.clone();
    if let Some(name) = names.iter().find(|name| !all.iter().any(|c| c.name == **name)) {
        return Err(BuiltError::Missing { name: name.clone(), folder: folder() });
    }
    let chosen = |c: &&Configuration| names.is_empty() || names.contains(&c.name);
    let (mut built, mut refused) = (Vec::new(), Vec::new());
    for configuration in all.iter().filter(chosen) {
        let path = catalogue.folder.join(&configuration.name).join("manifest.json");
        let memory = read_memory(&configuration.bitstream.path)?;
        if memory.digest() != configuration.memory_sha256 {
            return Err(BuiltError::Other(configuration.name.clone()));
        }
        let manifest =
            ace_fs::read(&path).map_err(|source| BuiltError::Read { path: path.clone(), source })?;
        let sound = || -> Result<Vec<u8>, UnsoundError> {
            let proof = configuration.proven(&memory.digest())?;
            timed(&manifest, path.parent())?;
            Ok(proof)
        };
        match sound() {
            Err(why) => refused.push((configuration.name.clone(), why)),
            Ok(proof) => {
                let algorithms = configuration.can.iter().map(|c| c.algorithm.clone()).collect();
                built.push(Built { name: configuration.name.clone(), algorithms, memory, manifest, proof });
            }
        }
    }
    if !refused.is_empty() {
        return Err(BuiltError::Unproven { refused });
    }
    if built.is_empty() {
        return Err(BuiltError::None(folder()));
    }
    // What a variant is one of comes first, so that it is the skeleton.
    built.sort_by_key(Built::is_variant);
    Ok(built)
}

/// Whether a manifest says from what report of timing its clock is and of which design, and, where these lie in its folder
/// (of a variant its base's), whether they are the ones.
///
/// # Errors
/// It does not, or they are others.
pub fn timed(manifest: &[u8], folder: Option<&Path>) -> Result<(), TimingError> {
    let manifest: Value = serde_json::from_slice(manifest)?;
    let timing = &manifest["timing"];
    let files = [("report_sha256", "json"), ("design_sha256", "config")];
    for (key, ending) in files {
        let digest = timing[key].as_str().unwrap_or_default();
        if digest.len() != 64 || !digest.bytes().all(|b| b.is_ascii_hexdigit()) {
            return Err(TimingError::Unsaid);
        }
        let (Some(folder), Some(seed)) = (folder, timing["seed"].as_u64()) else { continue };
        let folder = match manifest["variant_of"].as_str().filter(|base| is_name(base)) {
            Some(base) => folder.with_file_name(base),
            None => folder.to_owned(),
        };
        let path = folder.join(format!("route-{seed}.{ending}"));
        let Ok(bytes) = ace_fs::read(&path) else { continue };
        if hex::encode(Sha256::digest(&bytes)) != digest {
            return Err(TimingError::Altered(path));
        }
        let report: Value = serde_json::from_slice(&bytes).unwrap_or_default();
        if ending == "json" && report["fmax_mhz"] != manifest["fmax_mhz"] {
            let (stated, wanted) = (manifest["fmax_mhz"].clone(), report["fmax_mhz"].clone());
            return Err(TimingError::Clock { stated, wanted, path });
        }
    }
    Ok(())
}

impl Built {
    /// What its manifest calls it a variant of.
    fn variant_of(&self) -> Option<String> {
        let manifest: Value = serde_json::from_slice(&self.manifest).ok()?;
        manifest["variant_of"].as_str().map(str::to_owned)
    }

    /// Whether it is a variant of another one.
    pub fn is_variant(&self) -> bool {
        self.variant_of().is_some()
    }

    /// Puts it into a library, as what it changes of another one of its domain if that is less.
    ///
    /// # Errors
    /// The library does not take it.
    pub fn put(&self, library: &mut Library) -> Result<(), ImageError> {
        let base = self.variant_of();
        let shares = |image: &&Image| {
            let manifest = manifest(image);
            let mut can = manifest["can"].as_array().into_iter().flatten();
            let variant = base.as_deref() == Some(image.name());
            variant || can.any(|can| self.algorithms.iter().any(|a| can["algorithm"] == a.as_str()))
        };
        let domain: Vec<String> =
            library.images().iter().filter(shares).map(|i| i.name().to_owned()).collect();
        let domain: Vec<&str> = domain.iter().map(String::as_str).collect();
        library.add(&self.name, &self.memory, &self.manifest, &self.proof, &domain)
    }
}
