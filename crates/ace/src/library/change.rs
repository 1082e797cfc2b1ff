// SPDX-License-Identifier: Apache-2.0
//! Commands that write a library.

use std::collections::BTreeSet;
use std::path::PathBuf;

use ace_board::manifest::Configuration;
use ace_ecp5::ConfigMemory;
use ace_library::codec::Dictionary;
use ace_library::file::{publish, read, update};
use ace_library::{FileError, Image, Library, Refusal, Trust};
use anyhow::{Context, Result, bail};

use super::look::manifest;
use super::{FileArgs, WriteArgs, counted, named, public_key};
use crate::engines::BoardArgs;
use crate::study::compression::image;
use crate::{Outcome, print_json};

#[derive(clap::Args)]
pub struct Build {
    /// Only these configurations
    names: Vec<String>,
    #[command(flatten)]
    write: WriteArgs,
    /// Sign later, with `ace library sign`; until then nothing takes the library
    #[arg(long, conflicts_with = "secret")]
    unsigned: bool,
    /// Folder of the built configurations (default: $ACE_BUILD/configurations, else build/configurations)
    #[arg(long, value_name = "DIR")]
    configurations: Option<PathBuf>,
}

#[derive(clap::Args)]
pub struct Add {
    /// Configurations
    #[arg(required = true)]
    names: Vec<String>,
    #[command(flatten)]
    write: WriteArgs,
    /// Folder of the built configurations (default: $ACE_BUILD/configurations, else build/configurations)
    #[arg(long, value_name = "DIR")]
    configurations: Option<PathBuf>,
}

#[derive(clap::Args)]
pub struct Remove {
    /// Configurations
    #[arg(required = true)]
    names: Vec<String>,
    #[command(flatten)]
    write: WriteArgs,
}

#[derive(clap::Args)]
pub struct Sign {
    #[command(flatten)]
    write: WriteArgs,
    /// The public key that must have signed so far (default: $ACE_LIBRARY_KEY)
    #[arg(long, value_name = "FILE")]
    key: Option<PathBuf>,
    /// Take the library unsigned as well, or signed by anybody
    #[arg(long, conflicts_with = "key")]
    unsigned: bool,
}

/// A built configuration: what goes into a library.
struct Built {
    name: String,
    /// What it computes, by name of the algorithm.
    algorithms: Vec<String>,
    memory: ConfigMemory,
    manifest: Vec<u8>,
    /// Empty if there is none.
    proof: Vec<u8>,
}

/// The built configurations of these names, or all.
fn built(folder: Option<&std::path::Path>, names: &[String]) -> Result<Vec<Built>> {
    let catalogue = BoardArgs::catalogue_in(folder);
    for problem in &catalogue.problems {
        eprintln!("ace: {problem}");
    }
    let all = &catalogue.configurations;
    let place = catalogue.folder.display();
    if let Some(name) = names.iter().find(|name| !all.iter().any(|c| c.name == **name)) {
        bail!("no configuration {name} in {place}; `python -m ace_flow.build {name}` builds it");
    }
    let chosen = |c: &&Configuration| names.is_empty() || names.contains(&c.name);
    let mut built = Vec::new();
    for configuration in all.iter().filter(chosen) {
        let path = catalogue.folder.join(&configuration.name).join("manifest.json");
        let memory = image(&configuration.bitstream.path)?;
        if memory.digest() != configuration.memory_sha256 {
            bail!("{}: the bitstream is not the one of its manifest; build it again", configuration.name);
        }
        let manifest = std::fs::read(&path).with_context(|| format!("cannot read {}", path.display()))?;
        let path = path.with_file_name("proof.json");
        let proof = match std::fs::read(&path) {
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => Vec::new(),
            proof => proof.with_context(|| format!("cannot read {}", path.display()))?,
        };
        // A record of other bits proves nothing about these.
        let record: serde_json::Value = serde_json::from_slice(&proof).unwrap_or_default();
        if record["memory_sha256"].as_str().is_some_and(|proven| proven != hex::encode(memory.digest())) {
            bail!(
                "{} is of other bits than {}; `python -m ace_flow.build {}` proves these",
                path.display(),
                configuration.bitstream.path.display(),
                configuration.name
            );
        }
        let algorithms = configuration.can.iter().map(|c| c.algorithm.clone()).collect();
        built.push(Built { name: configuration.name.clone(), algorithms, memory, manifest, proof });
    }
    if built.is_empty() {
        bail!("no configurations in {place}; build them with `make models`");
    }
    // What a variant is one of comes first, so that it is the skeleton.
    built.sort_by_key(|b| of(&b.manifest).is_some());
    Ok(built)
}

/// What a manifest calls its configuration a variant of.
fn of(manifest: &[u8]) -> Option<String> {
    let manifest: serde_json::Value = serde_json::from_slice(manifest).ok()?;
    manifest["variant_of"].as_str().map(str::to_owned)
}

/// Puts a configuration into a library, as what it changes of another one of its domain if that is less.
fn put(library: &mut Library, built: &Built) -> Result<()> {
    let shares = |image: &&Image| {
        let manifest = manifest(image);
        let mut can = manifest["can"].as_array().into_iter().flatten();
        let variant = of(&built.manifest).is_some_and(|base| base == image.name());
        variant || can.any(|can| built.algorithms.iter().any(|a| can["algorithm"] == a.as_str()))
    };
    let domain: Vec<String> = library.images().iter().filter(shares).map(|i| i.name().to_owned()).collect();
    let domain: Vec<&str> = domain.iter().map(String::as_str).collect();
    Ok(library.add(&built.name, &built.memory, &built.manifest, &built.proof, &domain)?)
}

pub fn build(args: &Build) -> Result<Outcome> {
    let path = args.write.file.path();
    let secret = if args.unsigned { None } else { Some(args.write.secret()?) };
    // A library takes the place of another one under a higher version. What is no library is not overwritten.
    let version = if path.exists() {
        let anybody = Trust { key: None, required_version: 0, device: None };
        match read(&path, &anybody) {
            Ok(old) => old.library.version,
            Err(FileError::Refused { refusal: Refusal::Format { version, .. }, .. }) => version,
            Err(error) => return Err(error).context("not replaced; remove it or choose another place"),
        }
    } else {
        0
    };
    let built = built(args.configurations.as_deref(), &args.names)?;
    let mut library = Library::new(Dictionary::train(built.iter().map(|b| &b.memory)));
    for configuration in &built {
        put(&mut library, configuration)?;
        eprintln!("ace: {} is in", configuration.name);
    }
    library.version = version.saturating_add(1);
    publish(&path, &library.to_bytes(secret.as_ref()))?;
    said(&args.write.file, &library)
}

pub fn add(args: &Add) -> Result<Outcome> {
    let secret = args.write.secret()?;
    let built = built(args.configurations.as_deref(), &args.names)?;
    let trust = Trust::signed_by(secret.public());
    let library = update(&args.write.file.existing()?, &trust, Some(&secret), |library| {
        for b in &built {
            put(library, b)?;
        }
        anyhow::Ok(())
    })?;
    said(&args.write.file, &library)
}

pub fn remove(args: &Remove) -> Result<Outcome> {
    let secret = args.write.secret()?;
    let trust = Trust::signed_by(secret.public());
    let library = update(&args.write.file.existing()?, &trust, Some(&secret), |library| {
        // What stands on another one goes before it.
        let names: BTreeSet<&String> = args.names.iter().collect();
        let (bases, others): (Vec<_>, Vec<_>) =
            names.into_iter().partition(|name| library.get(name).is_ok_and(|i| i.base().is_none()));
        for name in others.into_iter().chain(bases) {
            library.remove(name)?;
        }
        anyhow::Ok(())
    })?;
    said(&args.write.file, &library)
}

pub fn sign(args: &Sign) -> Result<Outcome> {
    let secret = args.write.secret()?;
    let key = match named(args.key.as_deref(), "ACE_LIBRARY_KEY") {
        _ if args.unsigned => None,
        Some(path) => Some(public_key(&path)?),
        None => {
            bail!("whose signature is there so far? Give --key FILE, or --unsigned if that does not matter")
        }
    };
    let trust = Trust { key, required_version: 0, device: None };
    let library = update(&args.write.file.existing()?, &trust, Some(&secret), |_| anyhow::Ok(()))?;
    said(&args.write.file, &library)
}

/// What the library is now.
fn said(file: &FileArgs, library: &Library) -> Result<Outcome> {
    let (path, bytes) = (file.path(), library.parts().total());
    if file.json {
        print_json(&serde_json::json!({
            "library": path, "version": library.version, "configurations": library.images().len(), "bytes": bytes,
        }))?;
    } else {
        println!(
            "{}: version {}, {}, {bytes} bytes",
            path.display(),
            library.version,
            counted(library.images().len())
        );
    }
    Ok(Outcome::Well)
}
