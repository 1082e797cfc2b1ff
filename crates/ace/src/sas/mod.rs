// SPDX-License-Identifier: Apache-2.0
//! `ace sas`: SA files, before anything runs with them.

mod import;
mod text;
mod wireshark;

use std::path::{Path, PathBuf};

use ace_config::{SaFile, read_wiped};
use ace_esp::{Direction, SaSpec};
use anyhow::{Context, Result};
use clap::Subcommand;
use serde_json::json;
use zeroize::Zeroizing;

use crate::page::say;
use crate::{Outcome, print_json};

/// Check, mirror, translate and make SA files (docs/sa-file.md).
#[derive(clap::Args)]
pub struct Args {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Say what is wrong with an SA file, or what is in it; no key is printed
    Check(Check),
    /// Write the other end's SA file: what goes out here comes in there. The keys are in it
    Mirror(Translate),
    /// Write Wireshark's table `esp_sa`, with which it and tshark decrypt and authenticate ESP. The keys are in it
    ///
    /// It belongs into Wireshark's folder of a profile as `esp_sa`, or line by line behind tshark's option
    /// `-o uat:esp_sa:`. docs/tutorial.md shows it.
    Wireshark(Translate),
    /// Make an SA file of what `ip -s xfrm state` prints on a machine with SAs. The keys are in it
    Import(import::Import),
}

#[derive(clap::Args)]
struct Check {
    file: PathBuf,
    /// Print as JSON
    #[arg(long)]
    json: bool,
}

#[derive(clap::Args)]
struct Translate {
    file: PathBuf,
    /// Where it goes (default: standard output)
    #[arg(short, long, value_name = "FILE", default_value = "-")]
    output: PathBuf,
}

pub fn run(args: &Args) -> Result<Outcome> {
    match &args.command {
        Command::Check(args) => check(args),
        Command::Mirror(args) => {
            let file = load(&args.file)?;
            let mirrored: Vec<SaSpec> = file.sas().iter().map(mirrored).collect();
            write(&args.output, &text::sa_file(file.default_policy(), &mirrored)?)
        }
        Command::Wireshark(args) => {
            let file = load(&args.file)?;
            write(&args.output, &wireshark::table(file.sas()))
        }
        Command::Import(args) => import::import(args),
    }
}

/// Reads an SA file and says what it warns of.
pub fn load(path: &Path) -> Result<SaFile> {
    let text = read_wiped(path).with_context(|| format!("cannot read the SA file {}", path.display()))?;
    let file = SaFile::parse(&path.display().to_string(), &text)?;
    for warning in file.warnings() {
        eprintln!("ace: warning: {warning}");
    }
    Ok(file)
}

/// Keys are for whoever runs this alone, where a file is made for them.
fn write(path: &Path, text: &Zeroizing<String>) -> Result<Outcome> {
    ace_io::output::publish_private(path, text.as_bytes())
        .with_context(|| format!("cannot write {}", path.display()))?;
    Ok(Outcome::Well)
}

/// The same SA at its other end. Selectors are those of clear packets, which are the same there.
fn mirrored(sa: &SaSpec) -> SaSpec {
    SaSpec {
        direction: match sa.direction {
            Direction::Out => Direction::In,
            Direction::In => Direction::Out,
        },
        local: sa.remote,
        remote: sa.local,
        ..sa.clone()
    }
}

fn check(args: &Check) -> Result<Outcome> {
    let file = load(&args.file)?;
    let direction = |sa: &SaSpec| if sa.direction == Direction::Out { "out" } else { "in" };
    if args.json {
        let sas = file.sas().iter().map(|sa| {
            json!({
                "name": sa.name, "spi": sa.spi, "direction": direction(sa), "protocol": sa.protocol,
                "mode": sa.mode, "local": sa.local, "remote": sa.remote,
                "selector": sa.selector.to_string(), "cipher": sa.cipher.name, "auth": sa.auth.name,
                "esn": sa.esn, "replay_window": sa.replay_window,
            })
        });
        let sas: Vec<_> = sas.collect();
        print_json(&json!({"default_policy": format!("{:?}", file.default_policy()).to_lowercase(),
            "warnings": file.warnings(), "sas": sas}))?;
        return Ok(Outcome::Well);
    }
    say!(
        "| name | SPI | direction | mode | from | to | packets | suite |\n|---|--:|---|---|---|---|---|---|"
    );
    for sa in file.sas() {
        let (from, to) = match sa.direction {
            Direction::Out => (sa.local, sa.remote),
            Direction::In => (sa.remote, sa.local),
        };
        let mode = format!("{:?} {:?}", sa.protocol, sa.mode).to_lowercase();
        let suite = match sa.auth.name {
            "none" => sa.cipher.name.to_owned(),
            auth => format!("{} + {auth}", sa.cipher.name),
        };
        let (name, spi, packets) = (&sa.name, sa.spi, &sa.selector);
        let direction = direction(sa);
        say!("| {name} | {spi:#x} | {direction} | {mode} | {from} | {to} | {packets} | {suite} |");
    }
    Ok(Outcome::Well)
}
