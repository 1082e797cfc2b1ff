// SPDX-License-Identifier: Apache-2.0
//! `ace rekey`: a configuration whose key is in LUTs gets another one, by frames.

mod circuit;
mod design;
mod shown;

use std::path::{Path, PathBuf};

use ace_ecp5::{ConfigMemory, ConfigPort, Emit};
use ace_ecp5_netlist::{Database, Pins};
use anyhow::{Context, Result};
use serde::Serialize;

use crate::netlist::{database, load};
use crate::{Outcome, print_json};
use design::{Design, Places};

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
    key: [u8; 16],
    /// The key that the slot holds by now
    #[arg(long, value_parser = key, default_value = "00000000000000000000000000000000")]
    held: [u8; 16],
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

#[derive(Serialize)]
struct Report {
    key: String,
    /// Of the design's memory as it was placed.
    placed_sha256: String,
    /// Of the memory without what the key's LUTs hold.
    outside_sha256: String,
    memory_sha256: String,
    luts: usize,
    /// None of it where a bitstream is looked at.
    #[serde(skip_serializing_if = "Option::is_none")]
    delta: Option<Delta>,
    /// Blocks that the circuit which was read back has enciphered.
    #[serde(skip_serializing_if = "Option::is_none")]
    blocks: Option<usize>,
}

#[derive(Serialize)]
struct Delta {
    held: String,
    /// Written.
    frames: usize,
    bytes: usize,
    /// Of a bitstream that makes the same of a blank slot.
    whole_bytes: usize,
}

fn key(text: &str) -> Result<[u8; 16], String> {
    let mut key = [0; 16];
    hex::decode_to_slice(text, &mut key).map_err(|_| "a key has 32 hexadecimal digits".to_owned())?;
    Ok(key)
}

/// Has a slot that holds one memory take the frames in which the other differs; what it holds then.
fn written(held: &ConfigMemory, wanted: &ConfigMemory) -> Result<(ConfigMemory, Vec<u8>, Delta)> {
    let emit = Emit { compress: true, ..Emit::default() };
    let count = held.device().frames;
    let changed: Vec<usize> =
        (0..count).filter(|number| held.frame(*number) != wanted.frame(*number)).collect();
    let delta = emit.over(wanted, &changed).context("the frame addresses of this device are not known")?;
    let mut port = ConfigPort::new(held.device());
    port.push(&emit.whole(held))?;
    port.finish()?;
    port.rearm();
    port.push(&delta)?;
    let memory = port.finish()?.clone();
    let whole_bytes = emit.whole(wanted).len();
    let report = Delta { held: String::new(), frames: changed.len(), bytes: delta.len(), whole_bytes };
    Ok((memory, delta, report))
}

pub fn run(args: &Args) -> Result<Outcome> {
    let read = |path: &Path| ace_fs::read(path).with_context(|| format!("cannot read {}", path.display()));
    let bits = |path: &Path| load(&read(path)?).with_context(|| format!("{}", path.display()));
    let placed = bits(&args.placed)?;
    let places: Places =
        serde_json::from_slice(&read(&args.places)?).with_context(|| format!("{}", args.places.display()))?;
    let design = Design::new(placed, &places)
        .with_context(|| format!("{} and {}", args.placed.display(), args.places.display()))?;
    let (memory, written) = match &args.look {
        Some(path) => (bits(path)?, None),
        None => {
            let (memory, stream, report) = written(&design.with(&args.held), &design.with(&args.key))?;
            (memory, Some((stream, Delta { held: hex::encode(args.held), ..report })))
        }
    };
    if let Err(wrong) = design.look(&memory, &args.key) {
        println!("{wrong}");
        return Ok(Outcome::Wrong);
    }
    if let (Some(path), Some((stream, _))) = (&args.delta, &written) {
        write(path, stream)?;
    }
    if let Some(path) = &args.output {
        write(path, &Emit::default().whole(&memory))?;
    }
    let blocks = args.show.then(|| {
        let database = Database::load(&database(args.database.as_deref())?, memory.device())?;
        let text = String::from_utf8(read(&args.pins)?)?;
        let pins = Pins::parse(&args.package, &text).with_context(|| format!("{}", args.pins.display()))?;
        shown::enciphers(&memory, &database, &pins, &places, &args.key)
    });
    let report = Report {
        key: hex::encode(args.key),
        placed_sha256: hex::encode(design.placed().digest()),
        outside_sha256: hex::encode(design.outside(&memory)),
        memory_sha256: hex::encode(memory.digest()),
        luts: places.luts.len(),
        delta: written.map(|(_, delta)| delta),
        blocks: blocks.transpose()?,
    };
    if args.json {
        print_json(&report)?;
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

/// Whoever reads these bits knows the key.
fn write(path: &Path, bytes: &[u8]) -> Result<()> {
    ace_fs::write_private(path, bytes).with_context(|| format!("cannot write {}", path.display()))
}
