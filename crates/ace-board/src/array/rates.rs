// SPDX-License-Identifier: Apache-2.0
//! How fast the array's slot is: what was routed and measured of its RTL, as `array/` had it when this was built.

use std::collections::BTreeMap;
use std::fmt::Display;

use ace_array::set::Set;
use ace_array::shape::Shape;
use ace_array::{aead, rtl};
use serde::Deserialize;
use sha2::{Digest, Sha256};

use super::ArrayError;

/// What `python -m ace_flow array-route --keep` and `python -m ace_flow array-rates --keep` have measured.
const ROUTED: &str = include_str!("../../../../array/routed.json");
const RATES: &str = include_str!("../../../../array/rates.json");

/// What was placed and routed of the array: a slot, or a tile alone.
#[derive(Deserialize)]
pub struct Routed {
    /// The part that it was placed on, `LFE5U-45F`.
    pub device: String,
    /// Tiles of the slot.
    pub tiles: usize,
    /// Ways of each tile: datapaths in step.
    #[serde(default = "one")]
    pub ways: usize,
    /// Lanes of each tile.
    pub lanes: usize,
    /// The clock that the router was asked for, in MHz.
    pub asked_mhz: f64,
    /// The clock that is reached, in MHz: the median over the seeds.
    pub fmax_mhz: f64,
    /// Cells in use, by nextpnr's name of their kind.
    pub used: BTreeMap<String, u64>,
    /// Cells that the part has, by the same names.
    pub available: BTreeMap<String, u64>,
    /// The clock reached with each seed, in MHz.
    pub seeds: BTreeMap<String, f64>,
    /// The longest path of the run that was kept.
    pub critical_path: CriticalPath,
    /// What was proven of its bits, if they were.
    #[serde(default)]
    pub proof: Option<Proof>,
    /// Cells behind synthesis, by Yosys' kinds as `ace_flow.synth.ecp5` counts them: `lut4`, `dpr16x4`, `ebr`.
    pub cells: BTreeMap<String, u64>,
    /// Digests of the sources, by the names of their files.
    pub inputs: BTreeMap<String, String>,
}

impl Routed {
    /// The bare tile of this shape, if that is what was routed last: its package is the one that was read.
    #[must_use]
    pub fn tile<'a>(all: &'a BTreeMap<String, Self>, shape: &Shape) -> Option<&'a Self> {
        let package = hex::encode(Sha256::digest(rtl::package(shape)));
        all.get("tile").filter(|tile| tile.inputs.get("array_pkg.sv") == Some(&package))
    }
}

/// What `python -m ace_flow array-bits` has proven of the bits.
#[derive(Deserialize)]
pub struct Proof {
    /// Points at which the netlist of the bits and that of synthesis were compared.
    pub points: u64,
    /// Points of these that have the same structure in both, so that no solver was asked.
    pub by_structure: u64,
    /// Points of a netlist that was made wrong on purpose, at which the proof found the difference.
    pub control_points_refuted: u64,
}

/// The longest path.
#[derive(Deserialize)]
pub struct CriticalPath {
    /// The register where the path begins, by its name in the netlist.
    pub from: String,
    /// The register where it ends.
    pub to: String,
    /// Delay of cells on the path, in nanoseconds.
    pub logic_ns: f64,
    /// Delay of wires on the path, in nanoseconds.
    pub routing_ns: f64,
}

/// What was measured of the slot's RTL.
#[derive(Deserialize)]
pub struct Rates {
    /// Of a frame.
    pub bytes: usize,
    /// Tiles of the slot that was measured.
    pub tiles: usize,
    /// Ways of each tile: datapaths in step.
    pub ways: usize,
    /// Of each tile.
    pub lanes: usize,
    /// Of a variant: clocks by the number of frames side by side.
    pub clocks: BTreeMap<String, BTreeMap<usize, u64>>,
}

impl Rates {
    /// Mb/s of so many frames side by side.
    pub fn mbps(&self, variant: &str, frames: usize, mhz: f64) -> Option<f64> {
        let clocks = *self.clocks.get(variant)?.get(&frames)?;
        Some(8.0 * (frames * self.bytes) as f64 * mhz / clocks.max(1) as f64)
    }
}

fn wrong(file: &'static str, reason: &dyn Display) -> ArrayError {
    ArrayError::Table { file: file.to_owned(), reason: reason.to_string() }
}

/// All that was routed, by name.
///
/// # Errors
/// When `array/` is not what it was built as.
pub fn routed() -> Result<BTreeMap<String, Routed>, ArrayError> {
    serde_json::from_str(ROUTED).map_err(|e| wrong("array/routed.json", &e))
}

fn one() -> usize {
    1
}

/// What was measured of the slot.
///
/// # Errors
/// As [`routed`].
pub fn rates() -> Result<Rates, ArrayError> {
    serde_json::from_str(RATES).map_err(|e| wrong("array/rates.json", &e))
}

/// The clock of the slot whose rates these are, in MHz.
///
/// # Errors
/// When that one was not routed.
pub fn clock(routed: &BTreeMap<String, Routed>, rates: &Rates) -> Result<f64, ArrayError> {
    let Rates { tiles, ways, lanes, .. } = rates;
    let same = |slot: &&Routed| (slot.tiles, slot.ways, slot.lanes) == (*tiles, *ways, *lanes);
    let routed = routed.values().find(same).ok_or_else(|| {
        let reason = format!(
            "it has no slot of the {tiles} tiles, {ways} ways and {lanes} lanes that array/rates.json is of; \
             `python -m ace_flow array-route slot --keep` routes it"
        );
        wrong("array/routed.json", &reason)
    })?;
    Ok(routed.fmax_mhz)
}

/// The slot: its tiles, the ways and lanes of each, and its clock, with what was measured of it.
pub struct Slot {
    /// How many tiles the slot has.
    pub tiles: usize,
    /// How many ways each tile has: datapaths in step.
    pub ways: usize,
    /// How many lanes each tile has.
    pub lanes: usize,
    /// The slot's clock in MHz.
    pub mhz: f64,
    rates: Rates,
}

impl Slot {
    /// The folder of its sets, in that of what is built.
    pub const FOLDER: &str = "array/sets";
    /// What makes its sets and its model.
    pub const COMMAND: &str = "ace array build";

    /// The slot that is routed and signed.
    ///
    /// # Errors
    /// When `array/` is not what it was built as.
    pub fn standard() -> Result<Self, ArrayError> {
        let rates = rates()?;
        let mhz = clock(&routed()?, &rates)?;
        Ok(Self { tiles: rates.tiles, ways: rates.ways, lanes: rates.lanes, mhz, rates })
    }

    /// Mb/s of a set in one tile with all of its lanes at work: what was measured of it or of its counterpart, else what the
    /// contexts and the latency leave.
    pub fn rate(&self, name: &str, set: &Set) -> f64 {
        let Self { tiles, ways, lanes, mhz, rates } = self;
        let counterpart = name.replace("_decrypt", "_encrypt");
        let modelled = || {
            let words = match (usize::from(set.input_words), usize::from(set.output_words)) {
                // Counter, sum and mask are the slot's.
                (aead::IN, aead::OUT) => 4,
                (words, _) => words.saturating_sub(set.chain.len()),
            };
            let each = set.dependent_interval() as f64 / *lanes as f64;
            32.0 * words as f64 * mhz / each.max(set.ii() as f64 / *ways as f64)
        };
        let measured = rates.mbps(&counterpart, tiles * lanes, *mhz);
        measured.map_or_else(modelled, |mbps| mbps / *tiles as f64)
    }
}
