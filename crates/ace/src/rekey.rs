// SPDX-License-Identifier: Apache-2.0
//! `ace rekey`: a configuration whose key is in LUTs gets another one, by frames.

use std::path::PathBuf;

use ace_studies::Error;
use ace_studies::idea_2004::rekey::{Delta, IdeaKey, Task, rekey};
use anyhow::Result;

use crate::netlist::database;
use crate::values::key;
use ace_report::{Outcome, print_json};

/// Give IDEA under a constant key (studies/idea-2004) another key: what its LUTs hold is worked out from the key, the
/// frames that differ are written over a slot that holds another key, and what is there then is looked at. All that
/// is outside the key's LUTs has to be as in the design as it was placed, routed and proven.
///
/// A configuration with a key stays in the slot as long as it is there, for whoever reads the memory back: this is for
/// the study, and no library holds it.
#[derive(clap::Args)]
pub struct Args {
    /// Bitstream of the design as it was placed and routed (.bit)
    placed: PathBuf,
    /// Where the key's LUTs are and what each holds: as `python -m ace_flow constant-bits` writes it
    #[arg(long)]
    places: PathBuf,
    /// The key, 32 hexadecimal digits
    #[arg(long, value_parser = key)]
    key: IdeaKey,
    /// The key that the slot holds by now
    #[arg(long = "held", id = "held", value_name = "HELD", value_parser = key, default_value = "00000000000000000000000000000000")]
    resident: IdeaKey,
    /// Write the frames here, as a bitstream
    #[arg(long, value_name = "FILE")]
    delta: Option<PathBuf>,
    /// Write what the slot holds then, as a whole bitstream
    #[arg(long, short)]
    output: Option<PathBuf>,
    /// Read the bits back as a circuit, and compare it with IDEA in software
    #[arg(long)]
    show: bool,
    /// Write nothing: look whether this bitstream is the design with the key
    #[arg(long, value_name = "FILE", conflicts_with_all = ["held", "delta", "output"])]
    look: Option<PathBuf>,
    /// Constraint file with the names of the pins (LOCATE lines of an LPF)
    #[arg(long, default_value = "studies/idea-2004/constant.lpf")]
    pins: PathBuf,
    /// Package of the device
    #[arg(long, default_value = "CABGA381")]
    package: String,
    /// Folder of the Project Trellis database (with devices.json); default: that of the wheel in $VIRTUAL_ENV or .venv
    #[arg(long)]
    database: Option<PathBuf>,
    /// Print as JSON
    #[arg(long)]
    json: bool,
}

pub fn run(args: &Args) -> Result<Outcome> {
    let task = match &args.look {
        Some(path) => Task::Look(path.clone()),
        None => Task::Write { resident: args.resident },
    };
    let mut rekeyed = match rekey(&args.placed, &args.places, args.key, &task) {
        Err(Error::Wrong(wrong)) => {
            println!("{wrong}");
            return Ok(Outcome::Wrong);
        }
        rekeyed => rekeyed?,
    };
    if let Some(path) = &args.delta {
        rekeyed.write_delta(path)?;
    }
    if let Some(path) = &args.output {
        rekeyed.write_whole(path)?;
    }
    if args.show {
        rekeyed.show(&database(args.database.as_deref())?, &args.package, &args.pins)?;
    }
    let report = &rekeyed.report;
    if args.json {
        print_json(report)?;
        return Ok(Outcome::Well);
    }
    println!("{} LUTs hold the key; outside of them {}", report.luts, report.outside_sha256);
    if let Some(Delta { frames, bytes, whole_bytes, .. }) = &report.delta {
        println!("{frames} frames, {bytes} bytes; whole {whole_bytes}");
    }
    if let Some(blocks) = report.blocks {
        println!("read back, it enciphers {blocks} blocks as IDEA does under this key");
    }
    Ok(Outcome::Well)
}
