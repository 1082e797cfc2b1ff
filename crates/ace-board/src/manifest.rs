// SPDX-License-Identifier: Apache-2.0
//! One configuration, as its `manifest.json` describes it (docs/flow.md).

use std::collections::BTreeMap;
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};

use ace_engine::Need;
use ace_library::ImageError;
use ace_library::file::is_name;
use serde::Deserialize;
use thiserror::Error;

use crate::capability::{Capability, asked_of};
use crate::cbc_mac;
use crate::config::hz;
use crate::record::{self, Origin, RecordError};
use crate::trace::Picos;

/// The version of the manifest that this code reads.
const SCHEMA: u32 = 1;

/// A configuration that the flow has built.
#[derive(Clone, Debug)]
pub struct Configuration {
    /// The name that folders, libraries and commands use.
    pub name: String,
    /// One line on what it is, for people.
    pub summary: String,
    /// The part it is made for.
    pub device: String,
    /// The clock of the placed and routed design.
    pub clock_hz: u64,
    /// The file with the bits that are loaded.
    pub bitstream: FileRef,
    /// Model of the RTL.
    pub model: FileRef,
    /// Model of the synthesised netlist.
    pub netlist_model: Option<FileRef>,
    /// Digest of the configuration memory that the bitstream leaves behind.
    pub memory_sha256: [u8; 32],
    /// Digest of the netlist that these bits are, where the manifest has it.
    pub netlist_sha256: Option<[u8; 32]>,
    /// Digest of all that decides these bits, the RTL among it, where the manifest has it.
    pub recipe: Option<String>,
    /// What its model is made of, where the manifest says so.
    pub model_of: ModelOf,
    /// Where the record of the proof is, if there is one.
    pub record: PathBuf,
    /// Frames that the slot works on at a time.
    pub in_flight: usize,
    /// What its kept LUTs hold, all of them: one model serves a base and its variants.
    pub lut_init: Vec<KeptLut>,
    /// What it computes.
    pub can: Vec<Capability>,
    /// It is a context set for slots that hold the array, and no bitstream.
    pub context_set: bool,
    /// Of a context set that sets keys up, the one that it does so for. It serves no frames itself.
    pub sets_up: Option<String>,
    /// Of a context set, how often blocks start.
    pub blocks: Option<Blocks>,
    /// Of a context set, the clocks in which a tile takes it; 0 where nobody has said it.
    pub load_clocks: u64,
    /// What it differs from in contents of LUTs alone, and does less than.
    pub variant_of: Option<String>,
    /// CPU seconds that the flow needed to make the model, where it was built.
    pub model_seconds: Option<f64>,
    rates: Vec<Rate>,
}

/// What a model is made of (`flow/ace_flow/sim/emit.py`).
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
pub struct ModelOf {
    /// Digest of the design as slang has read it, which is also what is proven.
    pub elaborated_sha256: Option<String>,
    /// Digest of the C++ that was generated of it and compiled.
    pub generated_sha256: Option<String>,
}

/// Clocks from one block to the next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Blocks {
    /// Of any packets.
    pub interval: u32,
    /// Of one packet, each of whose blocks waits for the one before.
    pub alone: u32,
}

impl Blocks {
    /// Clocks of a block with as many packets as lanes, and how many packets it takes for that.
    pub fn pace(&self, lanes: usize) -> (f64, f64) {
        let alone = f64::from(self.alone);
        let clocks = f64::from(self.interval).max(alone / lanes.max(1) as f64);
        (clocks, alone / clocks)
    }
}

/// A file of a configuration and what is known about its contents.
#[derive(Clone, Debug)]
pub struct FileRef {
    /// Where the file is.
    pub path: PathBuf,
    /// Its length in bytes.
    pub bytes: u64,
    /// Its SHA-256.
    pub sha256: [u8; 32],
}

/// A LUT in which variants differ from their base, by its path below the top, and bit by bit its output for every value
/// of its inputs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KeptLut {
    /// The LUT's path below the top.
    pub name: String,
    /// Its output, bit by bit, for every value of its inputs.
    pub contents: u16,
}

/// A manifest that is not usable.
#[derive(Debug, Error)]
#[error("{}: {reason}", file.display())]
pub struct ManifestError {
    /// The manifest that was read.
    pub file: PathBuf,
    /// What is wrong with it.
    pub reason: ManifestReason,
}

/// Why a manifest is not usable, whatever file it is in.
#[derive(Debug, Error)]
pub enum ManifestReason {
    /// The file cannot be read.
    #[error(transparent)]
    Read(io::Error),
    /// It is not JSON of this form.
    #[error(transparent)]
    Json(#[from] serde_json::Error),
    /// It is of another version.
    #[error("schema {0} is not {SCHEMA}: rebuild with `make models`")]
    Schema(u32),
    /// Nothing may be called so.
    #[error(transparent)]
    Name(ImageError),
    /// No design has such a clock, in MHz.
    #[error("fmax_mhz {0} makes no sense")]
    Clock(f64),
    /// A variant differs from its base in nothing.
    #[error("a variant without contents of kept LUTs: rebuild with `make models`")]
    NoLuts,
    /// No context set has blocks that start so.
    #[error("contexts and clocks_alone make no sense: `ace array build` makes them anew")]
    Blocks,
    /// The digest of a file is not 64 hexadecimal digits.
    #[error("{}: bad sha256", .0.display())]
    FileDigest(PathBuf),
    /// A digest of this name is not 64 hexadecimal digits.
    #[error("bad {0}")]
    Digest(&'static str),
}

#[derive(Deserialize)]
struct Raw {
    schema: u32,
    name: String,
    #[serde(default)]
    summary: String,
    can: Vec<Capability>,
    #[serde(default)]
    context_set: bool,
    #[serde(default)]
    sets_up: Option<String>,
    #[serde(default)]
    contexts: Option<u32>,
    #[serde(default)]
    clocks_alone: Option<u32>,
    #[serde(default)]
    load_clocks: u64,
    #[serde(default)]
    variant_of: Option<String>,
    #[serde(default, rename = "kept")]
    lut_init: BTreeMap<String, u16>,
    #[serde(default)]
    model_seconds: Option<f64>,
    device: String,
    fmax_mhz: f64,
    #[serde(default = "one")]
    in_flight: usize,
    #[serde(default)]
    throughput_mbps: Vec<Rate>,
    files: RawFiles,
    memory_sha256: String,
    #[serde(default)]
    netlist_sha256: Option<String>,
    #[serde(default)]
    recipe: Option<String>,
    #[serde(flatten)]
    model_of: ModelOf,
}

fn one() -> usize {
    1
}

#[derive(Deserialize)]
struct RawFiles {
    bitstream: RawFile,
    model: RawFile,
    netlist_model: Option<RawFile>,
}

#[derive(Deserialize)]
struct RawFile {
    path: PathBuf,
    bytes: u64,
    sha256: String,
}

#[derive(Clone, Debug, Deserialize)]
struct Rate {
    algorithm: String,
    mode: Option<String>,
    direction: Option<String>,
    key_bytes: Option<usize>,
    mbps: f64,
}

impl Configuration {
    /// Reads `manifest.json`. The files it names are not touched.
    pub fn read(file: &Path) -> Result<Self, ManifestError> {
        let fail = |reason| ManifestError { file: file.into(), reason };
        let text = ace_fs::read(file).map_err(|error| fail(ManifestReason::Read(error)))?;
        Self::from_json(&text, file.parent().unwrap_or(Path::new(""))).map_err(fail)
    }

    /// `folder`: what paths in the manifest are relative to.
    ///
    /// # Errors
    /// What is wrong with it first.
    pub fn from_json(text: &[u8], folder: &Path) -> Result<Self, ManifestReason> {
        let raw: Raw = serde_json::from_slice(text)?;
        if raw.schema != SCHEMA {
            return Err(ManifestReason::Schema(raw.schema));
        }
        if !is_name(&raw.name) {
            return Err(ManifestReason::Name(ImageError::Name(raw.name)));
        }
        if !(0.001..=100_000.0).contains(&raw.fmax_mhz) {
            return Err(ManifestReason::Clock(raw.fmax_mhz));
        }
        if raw.variant_of.is_some() && raw.lut_init.is_empty() {
            return Err(ManifestReason::NoLuts);
        }
        let blocks = match (raw.contexts, raw.clocks_alone) {
            (None, None) => None,
            (Some(interval @ 1..), Some(alone)) if alone >= interval => Some(Blocks { interval, alone }),
            _ => return Err(ManifestReason::Blocks),
        };
        let file = |raw: RawFile| -> Result<FileRef, ManifestReason> {
            let sha256 = digest(&raw.sha256).ok_or_else(|| ManifestReason::FileDigest(raw.path.clone()))?;
            Ok(FileRef { path: folder.join(raw.path), bytes: raw.bytes, sha256 })
        };
        let named = |name, text: &str| digest(text).ok_or(ManifestReason::Digest(name));
        Ok(Self {
            name: raw.name,
            summary: raw.summary,
            device: raw.device,
            clock_hz: hz(raw.fmax_mhz),
            bitstream: file(raw.files.bitstream)?,
            model: file(raw.files.model)?,
            netlist_model: raw.files.netlist_model.map(file).transpose()?,
            memory_sha256: named("memory_sha256", &raw.memory_sha256)?,
            netlist_sha256: raw.netlist_sha256.map(|text| named("netlist_sha256", &text)).transpose()?,
            recipe: raw.recipe,
            model_of: raw.model_of,
            record: folder.join("proof.json"),
            in_flight: raw.in_flight.clamp(1, 64),
            lut_init: raw.lut_init.into_iter().map(|(name, contents)| KeptLut { name, contents }).collect(),
            can: raw.can,
            context_set: raw.context_set,
            sets_up: raw.sets_up,
            blocks: blocks.filter(|_| raw.context_set),
            load_clocks: if raw.context_set { raw.load_clocks } else { 0 },
            variant_of: raw.variant_of,
            model_seconds: raw.model_seconds,
            rates: raw.throughput_mbps,
        })
    }

    /// Whether one of its capabilities covers the need.
    pub fn serves(&self, need: &Need) -> bool {
        self.can.iter().any(|c| c.serves(need))
    }

    /// Whether there are frames that both answer, so that a slot which holds both cannot tell whose they are.
    pub fn answers_like(&self, other: &Self) -> bool {
        self.can.iter().any(|a| other.can.iter().any(|b| a.answers_like(b)))
    }

    /// What it says it was made of.
    pub fn origin(&self) -> Origin<'_> {
        Origin {
            netlist: self.netlist_sha256.as_ref(),
            recipe: self.recipe.as_deref(),
            elaborated: self.model_of.elaborated_sha256.as_deref(),
        }
    }

    /// Its own record, if that says that a memory of this digest is proven to be its netlist.
    ///
    /// # Errors
    /// Why it does not.
    pub fn proven(&self, memory: &[u8; 32]) -> Result<Vec<u8>, RecordError> {
        let record = match ace_fs::read(&self.record) {
            Err(error) if error.kind() != ErrorKind::NotFound => {
                return Err(RecordError::Read { file: self.record.clone(), error });
            }
            record => record.unwrap_or_default(),
        };
        record::check(&record, memory, &self.origin())?;
        Ok(record)
    }

    /// What another manifest of the same bits says otherwise and decides what the board makes of them: `signed` is to
    /// say at least as much.
    pub fn claims_more_than(&self, signed: &Self) -> Option<&'static str> {
        let known = |can: &Capability| signed.can.contains(can);
        [
            (self.device != signed.device, "device"),
            (self.clock_hz != signed.clock_hz, "clock"),
            (self.in_flight != signed.in_flight, "number of frames in flight"),
            (self.lut_init != signed.lut_init, "contents of kept LUTs"),
            (self.model_of.elaborated_sha256 != signed.model_of.elaborated_sha256, "design of its model"),
            (self.model_of.generated_sha256 != signed.model_of.generated_sha256, "source of its model"),
            (!self.can.iter().all(known), "algorithms"),
        ]
        .into_iter()
        .find_map(|(other, what)| other.then_some(what))
    }

    /// Estimate of a slot's time for `bytes` of data: what the manifest measured, else a bit per clock.
    pub fn estimate(&self, need: &Need, bytes: usize) -> Picos {
        let need = &cbc_mac::computed(need);
        let fits = |r: &&Rate| {
            let (mode, direction, key) = match need {
                Need::Cipher { mode, direction, key_len, .. } => {
                    (Some(mode.name()), Some(direction.name()), Some(*key_len))
                }
                _ => (None, None, None),
            };
            asked_of(need).is_some_and(|algorithm| r.algorithm == algorithm.name)
                && (r.mode.is_none() || mode.is_none() || r.mode.as_deref() == mode)
                && (r.direction.is_none() || direction.is_none() || r.direction.as_deref() == direction)
                && (r.key_bytes.is_none() || key.is_none() || r.key_bytes == key)
        };
        let mbps = self.rates.iter().find(fits).map_or(self.clock_hz as f64 / 1e6, |r| r.mbps);
        // Bits over 10^6 bits a second are microseconds, 10^6 ps each.
        (bytes as f64 * 8.0 / mbps.max(1e-6) * 1e6) as Picos
    }
}

/// 64 hexadecimal digits.
fn digest(text: &str) -> Option<[u8; 32]> {
    let mut out = [0; 32];
    hex::decode_to_slice(text, &mut out).ok()?;
    Some(out)
}
