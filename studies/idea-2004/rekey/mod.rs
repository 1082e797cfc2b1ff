// SPDX-License-Identifier: Apache-2.0
//! A configuration whose key is in LUTs gets another one, by frames.
//!
//! A configuration with a key stays in the slot as long as it is there, for whoever reads the memory back: this is for
//! the study, and no library holds it.

mod circuit;
mod design;
mod shown;

use std::path::{Path, PathBuf};

use ace_ecp5::{ConfigMemory, ConfigPort, Emit};
use ace_ecp5_netlist::{Database, Pins};
use serde::Serialize;

use crate::error::{Context, Result};
use design::{Design, Places};

/// A key of IDEA.
pub type IdeaKey = [u8; 16];

/// What is to become of the design.
#[derive(Clone, Debug)]
pub enum Task {
    /// Frames over a slot that holds another key.
    Write {
        /// The key that the slot holds by now.
        resident: IdeaKey,
    },
    /// Nothing: look whether this bitstream is the design with the key.
    Look(PathBuf),
}

/// What was made or looked at.
#[derive(Serialize)]
pub struct Report {
    /// In hexadecimal digits.
    pub key: String,
    /// Of the design's memory as it was placed.
    pub placed_sha256: String,
    /// Of the memory without what the key's LUTs hold.
    pub outside_sha256: String,
    /// Of the memory.
    pub memory_sha256: String,
    /// That hold the key.
    pub luts: usize,
    /// None of it where a bitstream is looked at.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub delta: Option<Delta>,
    /// Blocks that the circuit which was read back has enciphered.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub blocks: Option<usize>,
}

/// What makes one key of another.
#[derive(Clone, Serialize)]
pub struct Delta {
    /// The key before, in hexadecimal digits.
    #[serde(rename = "held")]
    pub resident: String,
    /// Written.
    pub frames: usize,
    /// Of these, as a bitstream.
    pub bytes: usize,
    /// Of a bitstream that makes the same of a blank slot.
    pub whole_bytes: usize,
}

/// The design with its key: all bits outside of the key's LUTs are as they were placed, those inside are the key's.
pub struct Rekeyed {
    /// About it.
    pub report: Report,
    memory: ConfigMemory,
    delta: Option<Vec<u8>>,
    places: Places,
    key: IdeaKey,
}

fn read(path: &Path) -> Result<Vec<u8>> {
    ace_fs::read(path).with_context(|| format!("cannot read {}", path.display()))
}

fn bits(path: &Path) -> Result<ConfigMemory> {
    ace_ecp5::load(&read(path)?).with_context(|| path.display().to_string())
}

/// Works out what the LUTs of the design hold under a key, has a slot take the frames, and looks at what is there then.
/// `placed`: the bitstream as it was placed and routed; `places`: where the key's LUTs are, as
/// `python -m ace_flow constant-bits` writes it.
///
/// # Errors
/// [`crate::Error::Wrong`] if the memory is not the design with this key; files that cannot be used.
pub fn rekey(placed: &Path, places: &Path, key: IdeaKey, task: &Task) -> Result<Rekeyed> {
    let memory = bits(placed)?;
    let text = read(places)?;
    let names = || format!("{} and {}", placed.display(), places.display());
    let places: Places = serde_json::from_slice(&text).with_context(|| places.display().to_string())?;
    let design = Design::new(memory, &places).with_context(names)?;
    let (memory, delta) = match task {
        Task::Look(path) => (bits(path)?, None),
        Task::Write { resident } => {
            let (memory, stream, report) = written(&design.with(resident), &design.with(&key))?;
            (memory, Some((stream, Delta { resident: hex::encode(resident), ..report })))
        }
    };
    design.look(&memory, &key)?;
    let (delta, report) = delta.unzip();
    let report = Report {
        key: hex::encode(key),
        placed_sha256: hex::encode(design.placed().digest()),
        outside_sha256: hex::encode(design.outside(&memory)),
        memory_sha256: hex::encode(memory.digest()),
        luts: places.luts.len(),
        delta: report,
        blocks: None,
    };
    Ok(Rekeyed { report, memory, delta, places, key })
}

/// Has a slot that holds one memory take the frames in which the other differs; what it holds then.
fn written(resident: &ConfigMemory, wanted: &ConfigMemory) -> Result<(ConfigMemory, Vec<u8>, Delta)> {
    let emit = Emit { compress: true, ..Emit::default() };
    let count = resident.device().frames;
    let changed: Vec<usize> =
        (0..count).filter(|number| resident.frame(*number) != wanted.frame(*number)).collect();
    let delta = emit.over(wanted, &changed).context("the frame addresses of this device are not known")?;
    let mut port = ConfigPort::new(resident.device());
    port.push(&emit.whole(resident))?;
    port.finish()?;
    port.rearm();
    port.push(&delta)?;
    let memory = port.finish()?.clone();
    let whole_bytes = emit.whole(wanted).len();
    let report = Delta { resident: String::new(), frames: changed.len(), bytes: delta.len(), whole_bytes };
    Ok((memory, delta, report))
}

impl Rekeyed {
    /// Writes the frames as a bitstream, if any were made. Whoever reads them knows the key.
    ///
    /// # Errors
    /// The file cannot be written.
    pub fn write_delta(&self, path: &Path) -> Result<()> {
        self.delta.as_ref().map_or(Ok(()), |stream| write(path, stream))
    }

    /// Writes what the slot holds as a whole bitstream. Whoever reads it knows the key.
    ///
    /// # Errors
    /// The file cannot be written.
    pub fn write_whole(&self, path: &Path) -> Result<()> {
        write(path, &Emit::default().whole(&self.memory))
    }

    /// Reads the bits back as a circuit, and compares it with IDEA in software. `database`: the folder of Project Trellis;
    /// `pins`: the constraint file with their names.
    ///
    /// # Errors
    /// Bits that are no circuit, or not this one; files that cannot be used.
    pub fn show(&mut self, database: &Path, package: &str, pins: &Path) -> Result<()> {
        let database = Database::load(database, self.memory.device())?;
        let text = String::from_utf8(read(pins)?).with_context(|| pins.display().to_string())?;
        let pins = Pins::parse(package, &text).with_context(|| pins.display().to_string())?;
        self.report.blocks = Some(shown::enciphers(&self.memory, &database, &pins, &self.places, &self.key)?);
        Ok(())
    }
}

fn write(path: &Path, bytes: &[u8]) -> Result<()> {
    ace_fs::write_private(path, bytes).with_context(|| format!("cannot write {}", path.display()))
}
