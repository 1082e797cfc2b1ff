// SPDX-License-Identifier: Apache-2.0
//! `ace inspect`: what a configuration port makes of a bitstream.

use std::path::PathBuf;

use anyhow::{Context, Result};

use ace_ecp5::Inspection;
use ace_report::{Outcome, print_json};
use serde::Serialize;

use crate::library::entry::{Entry, Sought, WhereArgs};

/// Say what a configuration port makes of an ECP5 bitstream: device, frames, checks, and the digest of the memory that it
/// leaves. If the library has these bits, it names the entry, its signer and what is proven of it. A file for a flash memory may hold several, and jumps between them. Of a context set only the entry is printed.
#[derive(clap::Args)]
pub struct Args {
    /// Bitstream (.bit), or context set (.set)
    file: PathBuf,
    /// Of a file with several bitstreams behind each other, the one of this number, from 0; without it they are listed
    #[arg(long, value_name = "N")]
    image: Option<usize>,
    #[command(flatten)]
    library: WhereArgs,
}

/// What is printed: what the port makes of it, and what the library says of that.
#[derive(Serialize)]
struct About {
    #[serde(flatten)]
    inspection: Inspection,
    #[serde(skip_serializing_if = "Option::is_none")]
    library: Option<Entry>,
}

pub fn run(args: &Args) -> Result<Outcome> {
    let bytes = ace_fs::read(&args.file).with_context(|| format!("cannot read {}", args.file.display()))?;
    let json = args.library.file.json;
    if bytes.starts_with(&ace_array::set::MAGIC) {
        let found = args.library.find(&Sought::Set(&bytes))?;
        match (found, json) {
            (Ok(entry), true) => print_json(&serde_json::json!({ "library": entry }))?,
            (Ok(entry), false) => println!("library          {entry}"),
            (Err(why), true) => print_json(&serde_json::json!({ "no_library": format!("{why:#}") }))?,
            (Err(why), false) => println!("library          {why:#}"),
        }
        return Ok(Outcome::Well);
    }
    let images = ace_ecp5::images(&bytes);
    if args.image.is_none() && images.len() > 1 {
        if json {
            print_json(&images)?;
        } else {
            for (number, image) in images.iter().enumerate() {
                let what = match (image.jump, &image.error) {
                    (Some(address), _) => format!("a jump to {address:#08x}"),
                    (None, Some(error)) => format!("{}, {error}", image.device.unwrap_or("damaged")),
                    (None, None) => image.device.unwrap_or("no device").to_owned(),
                };
                println!("image {number:<4} bytes {:#08x} to {:#08x}: {what}", image.begin, image.end);
            }
            println!("--image N describes one of them");
        }
        return Ok(Outcome::Well);
    }
    let bytes = ace_ecp5::images::choose(&bytes, args.image)?;
    let inspection = ace_ecp5::inspect(bytes).with_context(|| format!("{}", args.file.display()))?;
    let found = args.library.find(&Sought::Memory(&inspection.memory_sha256))?;
    let (library, none) = match found {
        Ok(entry) => (Some(entry), None),
        Err(why) => (None, Some(format!("{why:#}"))),
    };
    if json {
        print_json(&About { inspection, library })?;
    } else {
        let value = serde_json::to_value(&inspection)?;
        for (key, value) in value.as_object().into_iter().flatten() {
            match value {
                serde_json::Value::String(text) => println!("{key:16} {text}"),
                serde_json::Value::Null => {}
                other => println!("{key:16} {other}"),
            }
        }
        let words = library.map(|entry| entry.to_string()).or(none).unwrap_or_default();
        println!("{:16} {words}", "library");
    }
    Ok(Outcome::Well)
}
