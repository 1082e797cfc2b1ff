// SPDX-License-Identifier: Apache-2.0
//! Commands that write a library.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use ace_board::library::{Built, BuiltError, BuiltImage, built as read_built, configurations, tied_by_proof};
use ace_ecp5::ConfigMemory;
use ace_library::codec::{Contexts, Dictionary, Tables};
use ace_library::file::{Guard, Opened, read};
use ace_library::{FileError, KeySet, Library, Refusal, SecretKey, Trust};
use anyhow::{Context, Result, bail};
use clap::builder::PossibleValue;

use super::args::{FileArgs, WriteArgs, counted, signers, version_and_signers, warned};
use crate::engines::BoardArgs;
use crate::trust::keys;
use crate::values::folder;
use ace_board::array::signed::{self, Known};
use ace_report::{Outcome, print_json};

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
    #[arg(long, value_name = "DIR", value_parser = folder)]
    configurations: Option<PathBuf>,
    /// Put in the context sets of this folder as well, all that `ace array build` makes
    #[arg(long, value_name = "DIR")]
    sets: Option<PathBuf>,
    #[command(flatten)]
    streams: Streams,
}

/// How a library encodes frames.
#[derive(clap::Args)]
struct Streams {
    /// How frames are encoded
    // Of the same type as the option of all commands that says how tables are printed, whose name it shares.
    #[arg(long, value_parser = [
        PossibleValue::new("fast").help("Rows by a dictionary: the loader in hardware takes one a clock"),
        PossibleValue::new("small").help("Binary decisions by tabled probabilities: a third smaller, and three clocks each"),
    ], default_value = "fast")]
    format: String,
}

impl Streams {
    /// What the streams of these configurations share. Those that stand on their own tell what is probable.
    fn tables<'a>(
        &self,
        all: &[&'a ConfigMemory],
        bases: impl IntoIterator<Item = &'a ConfigMemory>,
    ) -> Tables {
        let dictionary = Dictionary::train(all.iter().copied());
        let contexts = (self.format == "small").then(|| Box::new(Contexts::train(bases)));
        Tables { dictionary, contexts }
    }
}

#[derive(clap::Args)]
pub struct Add {
    /// Configurations, or with --sets context sets, all of them if none is named
    #[arg(required_unless_present_any = ["sets", "image"])]
    names: Vec<String>,
    #[command(flatten)]
    write: WriteArgs,
    /// Folder of the built configurations (default: $ACE_BUILD/configurations, else build/configurations)
    #[arg(long, value_name = "DIR", value_parser = folder)]
    configurations: Option<PathBuf>,
    /// Add context sets, from the folder into which `ace array build` has put them
    #[arg(long, value_name = "DIR", conflicts_with = "configurations")]
    sets: Option<PathBuf>,
    /// Add an image of a board, from the folder into which `python -m ace_flow image` has put it
    #[arg(long, value_name = "DIR", conflicts_with_all = ["names", "sets", "configurations"])]
    image: Vec<PathBuf>,
}

#[derive(clap::Args)]
pub struct Remove {
    /// Configurations, or with --sets context sets
    #[arg(required = true)]
    names: Vec<String>,
    /// The names are of context sets
    #[arg(long)]
    sets: bool,
    #[command(flatten)]
    write: WriteArgs,
}

#[derive(clap::Args)]
pub struct Sign {
    #[command(flatten)]
    write: WriteArgs,
    /// Public keys, one of which must have signed so far (default: $ACE_LIBRARY_KEY, else those that are compiled in)
    #[arg(long, value_name = "FILE")]
    key: Option<PathBuf>,
    /// Take the library unsigned as well, or signed by anybody
    #[arg(long, conflicts_with = "key")]
    unsigned: bool,
}

#[derive(clap::Args)]
pub struct Recode {
    #[command(flatten)]
    write: WriteArgs,
    /// The library that is read, if it is to stay as it is (default: the one that is written)
    #[arg(long, value_name = "FILE")]
    from: Option<PathBuf>,
    /// Public keys, one of which must have signed what is read (default: $ACE_LIBRARY_KEY, else those that are compiled in)
    #[arg(long, value_name = "FILE")]
    key: Option<PathBuf>,
    /// Read the library unsigned as well, or signed by anybody
    #[arg(long, conflicts_with = "key")]
    unsigned: bool,
    #[command(flatten)]
    streams: Streams,
}

/// The built configurations of these names, or all; what is wrong with them is said.
fn built(folder: Option<&Path>, names: &[String]) -> Result<Vec<Built>> {
    let catalogue = BoardArgs::catalogue_in(folder);
    for problem in &catalogue.problems {
        eprintln!("ace: {problem}");
    }
    Ok(read_built(&catalogue, names).inspect_err(|error| {
        if let BuiltError::Unproven { refused } = error {
            refused.iter().for_each(|(name, why)| eprintln!("ace: {name}: {why}"));
        }
    })?)
}

pub fn build(args: &Build) -> Result<Outcome> {
    let path = args.write.file.path();
    let secret = if args.unsigned { None } else { Some(args.write.secret()?) };
    let guard = match &secret {
        Some(secret) => own(args.write.older.guard(Trust::ANYBODY), secret),
        None => args.write.older.guard(Trust::ANYBODY),
    };
    // A library takes the place of another one under a higher version. What is no library is not overwritten.
    let old = if path.exists() {
        match read(&path, &Trust::ANYBODY) {
            Ok(old) => old.library.version,
            Err(FileError::Refused { refusal: Refusal::Format { version, .. }, .. }) => version,
            Err(error) => return Err(error).context("not replaced; remove it or choose another place"),
        }
    } else {
        0
    };
    let built = built(args.configurations.as_deref(), &args.names)?;
    let all: Vec<&ConfigMemory> = built.iter().map(|b| &b.memory).collect();
    let bases = built.iter().filter(|b| !b.is_variant()).map(|b| &b.memory);
    let mut library = Library::new(args.streams.tables(&all, bases));
    for configuration in &built {
        configuration.put(&mut library)?;
        eprintln!("ace: {} is in", configuration.name);
    }
    for set in sets(args.sets.as_deref(), &[])? {
        library.add_set(&set.name, &set.bytes, &set.manifest)?;
    }
    library.version = guard.next_version(&path, old)?;
    report(&args.write.file, guard.put(&path, library, secret.as_ref())?)
}

/// Context sets by name, with their manifests.
fn sets(folder: Option<&Path>, names: &[String]) -> Result<Vec<Known>> {
    folder.map_or(Ok(Vec::new()), |folder| Ok(signed::sets(folder, names)?))
}

/// The same configurations, encoded anew: nothing is built or proven again, as no bit of them changes.
pub fn recode(args: &Recode) -> Result<Outcome> {
    let (path, secret) = (args.write.file.path(), args.write.secret()?);
    let keys = if args.unsigned { None } else { Some(keys(args.key.as_deref())?.any()) };
    let from = args.from.clone().unwrap_or_else(|| path.clone());
    let old = warned(args.write.older.guard(Trust { keys, ..Trust::ANYBODY }).open(&from)?).library;
    let mut memories = Vec::new();
    for image in old.images() {
        memories.push(old.memory(image.name())?);
    }
    let all: Vec<&ConfigMemory> = memories.iter().collect();
    let bases = old.images().iter().zip(&memories).filter(|(image, _)| image.base().is_none());
    let mut library = old.recoded(args.streams.tables(&all, bases.map(|(_, memory)| memory)))?;
    for (image, memory) in old.images().iter().zip(&memories) {
        if library.memory(image.name())? != *memory {
            bail!("{}: what was encoded is not what is decoded", image.name());
        }
    }
    signed::verify_all(&library)?;
    let guard = own(args.write.older.guard(Trust::ANYBODY), &secret);
    // Elsewhere it is the same library as the one that is read, which is not to be taken for an older one then.
    let beside = from != path && !path.exists();
    library.version = if beside { old.version } else { guard.next_version(&path, old.version)? };
    report(&args.write.file, guard.put(&path, library, Some(&secret))?)
}

/// The same guard, which takes what this key has signed. Of a key that is compiled in versions begin where those do.
fn own(guard: Guard, secret: &SecretKey) -> Guard {
    let key = secret.public();
    let keys = KeySet::built_in().map_or(KeySet::of(key), |set| set.alone(key));
    Guard { trust: Trust { keys: Some(keys), ..guard.trust }, ..guard }
}

pub fn add(args: &Add) -> Result<Outcome> {
    let secret = args.write.secret()?;
    let sets = sets(args.sets.as_deref(), &args.names)?;
    let images = args.image.iter().map(|folder| BuiltImage::read(folder)).collect::<Result<Vec<_>, _>>()?;
    let built = match args.sets {
        _ if !images.is_empty() => Vec::new(),
        Some(_) => Vec::new(),
        None => built(args.configurations.as_deref(), &args.names)?,
    };
    let guard = own(args.write.older.guard(Trust::ANYBODY), &secret);
    let library = guard.update(&args.write.file.existing()?, &secret, |library| {
        for b in &built {
            b.put(library)?;
        }
        for image in &images {
            image.put(library)?;
        }
        for set in &sets {
            library.add_set(&set.name, &set.bytes, &set.manifest)?;
        }
        signed::verify_all(library)?;
        anyhow::Ok(())
    })?;
    report(&args.write.file, library)
}

pub fn remove(args: &Remove) -> Result<Outcome> {
    let secret = args.write.secret()?;
    let guard = own(args.write.older.guard(Trust::ANYBODY), &secret);
    let library = guard.update(&args.write.file.existing()?, &secret, |library| {
        let names: BTreeSet<&String> = args.names.iter().collect();
        if args.sets {
            names.into_iter().try_for_each(|name| library.remove_set(name))?;
            signed::verify_all(library)?;
            return Ok(());
        }
        // What stands on another one goes before it.
        let (bases, others): (Vec<_>, Vec<_>) =
            names.into_iter().partition(|name| library.get(name).is_ok_and(|i| i.base().is_none()));
        for name in others.into_iter().chain(bases) {
            library.remove(name)?;
        }
        signed::verify_all(library)?;
        anyhow::Ok(())
    })?;
    report(&args.write.file, library)
}

pub fn sign(args: &Sign) -> Result<Outcome> {
    let secret = args.write.secret()?;
    let keys = match args.unsigned {
        true => None,
        // Those who sign one after the other are not as many as are wanted before the last one has.
        false => Some(keys(args.key.as_deref())?.any()),
    };
    let guard = args.write.older.guard(Trust { keys, ..Trust::ANYBODY });
    let signed = guard.sign(&args.write.file.existing()?, &secret, |library| {
        signed::verify_all(library)?;
        anyhow::Ok(())
    })?;
    report(&args.write.file, signed)
}

/// What the library is now.
fn report(file: &FileArgs, opened: Opened) -> Result<Outcome> {
    let (path, opened) = (file.path(), warned(opened));
    let (library, bytes) = (&opened.library, opened.bytes);
    if file.json {
        print_json(&serde_json::json!({
            "library": path, "version": library.version, "configurations": configurations(library).count(), "bytes": bytes,
            "signed_by": signers(&opened), "proven_to_rtl": tied_by_proof(library),
        }))?;
    } else {
        let about = version_and_signers(&opened);
        let (count, rtl) = (counted(configurations(library).count()), tied_by_proof(library));
        println!("{}: {about}, {count}, {rtl} of them proven to the RTL, {bytes} bytes", path.display());
    }
    Ok(Outcome::Well)
}
