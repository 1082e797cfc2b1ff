// SPDX-License-Identifier: Apache-2.0
//! `ace inspect`: what a configuration port makes of a bitstream.

use std::path::PathBuf;

use anyhow::{Context, Result};

use ace_report::{Outcome, print_json};

/// Say what a configuration port makes of an ECP5 bitstream: device, frames, checks, and the digest of the
/// configuration memory it leaves.
#[derive(clap::Args)]
pub struct Args {
    /// Bitstream (.bit)
    file: PathBuf,
    /// Print as JSON
    #[arg(long)]
    json: bool,
}

pub fn run(args: &Args) -> Result<Outcome> {
    let bytes = ace_fs::read(&args.file).with_context(|| format!("cannot read {}", args.file.display()))?;
    let inspection = ace_ecp5::inspect(&bytes).with_context(|| format!("{}", args.file.display()))?;
    if args.json {
        print_json(&inspection)?;
    } else {
        let value = serde_json::to_value(&inspection)?;
        for (key, value) in value.as_object().into_iter().flatten() {
            match value {
                serde_json::Value::String(text) => println!("{key:16} {text}"),
                serde_json::Value::Null => {}
                other => println!("{key:16} {other}"),
            }
        }
    }
    Ok(Outcome::Well)
}
