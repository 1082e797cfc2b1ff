// SPDX-License-Identifier: Apache-2.0
//! `ace library`: the file that holds configurations, signed.

mod change;
mod domains;
mod extract;
mod loader;
mod look;
mod prove;
mod rounds;
mod stats;
mod verify;

use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use ace_board::config::DEFAULT_LIBRARY;
use ace_board::store::default_library;
use ace_ecp5::Device;
use ace_library::file::{Guard, Opened, fingerprints, publish, publish_secret};
use ace_library::{Image, Library, PublicKey, SecretKey, Trust};
use anyhow::{Context, Result, anyhow, bail};
use clap::Subcommand;

use crate::trust::{OlderArgs, TrustArgs, named, read_text};
use crate::{Outcome, meant, print_json};

/// Make, change, check and describe the library: one file of configurations, compressed and signed.
///
/// A library is loaded only if whoever is trusted has signed it: the keys that are compiled in, or those of --key.
/// docs/library.md is the guide, docs/library-format.md describes the file.
#[derive(clap::Args)]
pub struct Args {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Make a library of the built configurations, with a dictionary made for them
    Build(change::Build),
    /// List the configurations and the context sets
    List(look::List),
    /// Describe one configuration: sizes, digest, what it is stored over; with --json manifest and proof as well; with --sets
    /// a context set
    Show(look::Show),
    Extract(extract::Extract),
    Loader(loader::Loader),
    /// Add built configurations, or replace those of the same names; the others stay as they are
    Add(change::Add),
    /// Remove configurations; the others stay as they are
    Remove(change::Remove),
    /// Encode the configurations of a library anew and sign it; no bit of them changes
    Recode(change::Recode),
    /// Check signatures and version, decompress every configuration, compare its digest, and read its record of a proof;
    /// read every context set as a slot would, and compare it with its manifest
    Verify(verify::Verify),
    Prove(prove::Prove),
    /// What configurations take, and how fast they are decompressed
    Stats(stats::Args),
    /// What configurations of the same algorithm share, and what switching between them takes
    Domains(domains::Domains),
    /// What more rounds in hardware cost when they are compressed: Table 4 of the paper of 2000 against p
    Rounds(rounds::Rounds),
    /// Make a key: FILE signs libraries, FILE.pub tells who signed
    Keygen(Keygen),
    /// Add a signature to a library, whatever others have signed it
    Sign(change::Sign),
}

#[derive(clap::Args)]
struct Keygen {
    /// Where the secret key goes; nothing is overwritten
    file: PathBuf,
    /// Print as JSON
    #[arg(long)]
    json: bool,
}

#[derive(clap::Args)]
struct FileArgs {
    /// The library (default: $ACE_LIBRARY, else library/ace.lib)
    #[arg(long, value_name = "FILE")]
    library: Option<PathBuf>,
    /// Print as JSON
    #[arg(long)]
    json: bool,
}

/// For commands that only read.
#[derive(clap::Args)]
struct ReadArgs {
    #[command(flatten)]
    file: FileArgs,
    #[command(flatten)]
    trust: TrustArgs,
    /// Refuse versions of the library older than this
    #[arg(long, value_name = "VERSION", default_value_t = 0)]
    require: u64,
    /// Refuse libraries that hold configurations for another device
    #[arg(long, value_name = "DEVICE", value_parser = device)]
    device: Option<&'static Device>,
}

/// The library that commands take without options, to print figures of it.
pub fn for_figures() -> Result<Library> {
    let file = FileArgs { library: None, json: false };
    // Nothing is loaded from it: that a newer one was here before, in another checkout perhaps, changes no figure.
    let trust = TrustArgs { key: None, older: OlderArgs { allow_older: true } };
    Ok(ReadArgs { file, trust, require: 0, device: None }.open()?.library)
}

/// For commands that write.
#[derive(clap::Args)]
struct WriteArgs {
    #[command(flatten)]
    file: FileArgs,
    /// The secret key that signs (default: $ACE_LIBRARY_SECRET)
    #[arg(long, value_name = "FILE")]
    secret: Option<PathBuf>,
    #[command(flatten)]
    older: OlderArgs,
}

fn device(name: &str) -> Result<&'static Device, String> {
    Device::by_name(name).ok_or_else(|| "LFE5U-25F, LFE5U-45F or LFE5U-85F is wanted".to_owned())
}

impl FileArgs {
    fn path(&self) -> PathBuf {
        named(self.library.as_deref(), "ACE_LIBRARY").unwrap_or_else(|| match Path::new(DEFAULT_LIBRARY) {
            here if here.exists() => here.to_owned(),
            // From any other folder the same one.
            here => default_library().unwrap_or_else(|| here.to_owned()),
        })
    }

    /// The path of a library that has to be there.
    fn existing(&self) -> Result<PathBuf> {
        let path = self.path();
        if path.metadata().is_err_and(|error| error.kind() == ErrorKind::NotFound) {
            bail!(
                "there is no library {}; --library or ACE_LIBRARY names another one, `ace library build` makes one",
                path.display()
            );
        }
        Ok(path)
    }
}

impl ReadArgs {
    fn open(&self) -> Result<Opened> {
        let path = self.file.existing()?;
        Ok(warned(self.guard()?.open(&path)?))
    }

    fn guard(&self) -> Result<Guard> {
        self.trust.guard(Trust { required_version: self.require, device: self.device, ..Trust::ANYBODY })
    }
}

/// Says what is to be said about a library that was opened or written.
fn warned(opened: Opened) -> Opened {
    if let Some(unkept) = &opened.unkept {
        eprintln!("ace: warning: {unkept}");
    }
    opened
}

/// `version 3, signed by 0123456789abcdef0123456789abcdef`.
fn version_and_signers(opened: &Opened) -> String {
    let by = match &opened.signers[..] {
        [] => "signed by nobody".to_owned(),
        signers => format!("signed by {}", fingerprints(signers)),
    };
    format!("version {}, {by}", opened.library.version)
}

/// The fingerprints of who has signed.
fn signers(opened: &Opened) -> Vec<String> {
    opened.signers.iter().map(PublicKey::fingerprint).collect()
}

impl WriteArgs {
    fn secret(&self) -> Result<SecretKey> {
        let Some(path) = named(self.secret.as_deref(), "ACE_LIBRARY_SECRET") else {
            bail!(
                "who signs? Give --secret FILE or set ACE_LIBRARY_SECRET; `ace library keygen FILE` makes a key"
            );
        };
        let text = read_text(&path)?;
        SecretKey::parse(&text).with_context(|| path.display().to_string())
    }
}

/// The configurations of these names, each once, or all.
fn chosen<'a>(library: &'a Library, names: &[String]) -> Result<Vec<&'a Image>> {
    names.iter().try_for_each(|name| one(library, name).map(drop))?;
    let wanted = |image: &&Image| names.is_empty() || names.iter().any(|name| name == image.name());
    Ok(library.images().iter().filter(wanted).collect())
}

/// One configuration by name, or which name may have been meant.
fn one<'a>(library: &'a Library, name: &str) -> Result<&'a Image> {
    let known: Vec<&str> = library.images().iter().map(Image::name).collect();
    library.get(name).map_err(|error| match meant(name, &known) {
        near if near.is_empty() => error.into(),
        near => anyhow!("{error};{near}"),
    })
}

/// `3 configurations`.
fn counted(configurations: usize) -> String {
    format!("{configurations} configuration{}", if configurations == 1 { "" } else { "s" })
}

/// `, 3 context sets` where there are any.
fn and_sets(sets: usize) -> String {
    match sets {
        0 => String::new(),
        1 => ", 1 context set".to_owned(),
        sets => format!(", {sets} context sets"),
    }
}

pub fn run(args: &Args) -> Result<Outcome> {
    match &args.command {
        Command::Build(args) => change::build(args),
        Command::List(args) => look::list(args),
        Command::Show(args) => look::show(args),
        Command::Extract(args) => extract::extract(args),
        Command::Loader(args) => loader::loader(args),
        Command::Add(args) => change::add(args),
        Command::Remove(args) => change::remove(args),
        Command::Recode(args) => change::recode(args),
        Command::Verify(args) => verify::verify(args),
        Command::Prove(args) => prove::prove(args),
        Command::Stats(args) => stats::stats(args),
        Command::Domains(args) => domains::domains(args),
        Command::Rounds(args) => rounds::rounds(args),
        Command::Keygen(args) => keygen(args),
        Command::Sign(args) => change::sign(args),
    }
}

fn keygen(args: &Keygen) -> Result<Outcome> {
    let mut public = args.file.clone().into_os_string();
    public.push(".pub");
    let (public, key) = (PathBuf::from(public), SecretKey::generate()?);
    // The one file is made anew or not at all; what the other one is of would be lost.
    if public.symlink_metadata().is_ok() {
        bail!("{} is there already; choose another name", public.display());
    }
    publish_secret(&args.file, key.to_text().as_bytes())?;
    publish(&public, key.public().to_text().as_bytes())?;
    if args.json {
        let value = serde_json::json!({
            "secret": args.file, "public": public, "key": key.public().fingerprint(),
        });
        print_json(&value)?;
    } else {
        println!("secret key {}, to be kept secret", args.file.display());
        println!("public key {} ({})", public.display(), key.public().fingerprint());
    }
    Ok(Outcome::Well)
}
