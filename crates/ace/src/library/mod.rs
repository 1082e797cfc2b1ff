// SPDX-License-Identifier: Apache-2.0
//! `ace library`: the file that holds configurations, signed.

pub mod args;
mod change;
mod domains;
pub mod entry;
mod extract;
mod files;
mod loader;
mod look;
mod prove;
mod rounds;
mod stats;
mod verify;

use std::path::PathBuf;

use crate::page::Output;
use ace_library::SecretKey;
use ace_library::file::{publish, publish_secret};
use ace_report::{Outcome, print_json};
use anyhow::{Result, bail};
use clap::Subcommand;

pub use args::{ReadArgs, for_figures, warned};

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
    /// Check signatures, version, every configuration and every context set. A configuration has to have its digest when it
    /// is decompressed, and the record of a proof. A set has to be what its manifest says, and proven to be its source
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
    SignFile(files::SignFile),
    VerifyFile(files::VerifyFile),
}

#[derive(clap::Args)]
struct Keygen {
    /// Where the secret key goes; nothing is overwritten
    file: PathBuf,
    /// Print as JSON
    #[arg(long)]
    json: bool,
}

pub fn run(page: &mut Output, args: &Args) -> Result<Outcome> {
    match &args.command {
        Command::Build(args) => change::build(args),
        Command::List(args) => look::list(page, args),
        Command::Show(args) => look::show(page, args),
        Command::Extract(args) => extract::extract(args),
        Command::Loader(args) => loader::loader(args),
        Command::Add(args) => change::add(args),
        Command::Remove(args) => change::remove(args),
        Command::Recode(args) => change::recode(args),
        Command::Verify(args) => verify::verify(page, args),
        Command::Prove(args) => prove::prove(page, args),
        Command::Stats(args) => stats::stats(page, args),
        Command::Domains(args) => domains::domains(page, args),
        Command::Rounds(args) => rounds::rounds(page, args),
        Command::Keygen(args) => keygen(args),
        Command::Sign(args) => change::sign(args),
        Command::SignFile(args) => files::sign(args),
        Command::VerifyFile(args) => files::verify(args),
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
