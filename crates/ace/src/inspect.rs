// SPDX-License-Identifier: Apache-2.0
//! `ace inspect`: what a configuration port makes of a bitstream.

use std::path::PathBuf;

use anyhow::{Context, Result};

use ace_report::{Outcome, print_json};

/// Say what a configuration port makes of an ECP5 bitstream: device, frames, checks, and the digest of the
/// configuration memory it leaves. A file for a flash memory may hold several, and jumps between them.
#[derive(clap::Args)]
pub struct Args {
    /// Bitstream (.bit)
    file: PathBuf,
    /// Of a file with several bitstreams behind each other, the one of this number, from 0; without it they are listed
    #[arg(long, value_name = "N")]
    image: Option<usize>,
    /// Print as JSON
    #[arg(long)]
    json: bool,
}

pub fn run(args: &Args) -> Result<Outcome> {
    let bytes = ace_fs::read(&args.file).with_context(|| format!("cannot read {}", args.file.display()))?;
    let images = ace_ecp5::images(&bytes);
    if args.image.is_none() && images.len() > 1 {
        if args.json {
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
