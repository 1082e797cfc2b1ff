// SPDX-License-Identifier: Apache-2.0
//! What stands beside the paper's tasks: the stated processor, the array, the slots.

use ace_board::{BoardConfig, Catalogue, Configuration};
use ace_engine::algorithm::ALGORITHMS;
use ace_engine::{Algorithm, Need};
use serde::Serialize;

use crate::array::{OnArray, Tile};
use crate::error::{Context, Result};
use crate::processors::THIS_MACHINE;

/// A task of the paper, the algorithm here, and the array's variant.
const TASKS: [(&str, &str, &str); 7] = [
    ("DES", "des", "des_encrypt"),
    ("CAST128", "cast128", "cast128_encrypt"),
    ("AES", "aes", "aes128_encrypt"),
    ("CAST256", "cast256", "cast256_encrypt"),
    ("RC6", "rc6", "rc6_encrypt"),
    ("MD5", "md5", "md5"),
    ("SHA-1", "sha1", "sha1"),
];

/// Data over which a slot's rate is stated: the paper's 10,000 blocks, of AES.
const BYTES: usize = 160_000;

/// Of one task. What the library does not hold is none.
#[derive(Clone, Serialize)]
pub struct Ours {
    pub task: String,
    pub algorithm: String,
    /// Of every column here; none of a hash.
    pub key_bits: Option<usize>,
    pub processor_mbps: Option<f64>,
    pub array: OnArray,
    /// One frame at a time, and many.
    pub slot: Option<InSlot>,
    pub ring: Option<InSlot>,
}

#[derive(Clone, Serialize)]
pub struct InSlot {
    pub configuration: String,
    pub in_flight: usize,
    pub mbps: f64,
    /// What a load sends into the port.
    pub image_bits: u64,
    pub load_us: f64,
}

/// The columns.
pub fn columns(catalogue: &Catalogue) -> Result<Vec<Ours>> {
    let (processor, tile) = (THIS_MACHINE.read()?, Tile::read()?);
    let mut all = Vec::new();
    for (task, name, variant) in TASKS {
        let algorithm = ALGORITHMS.iter().copied().find(|a| a.name == name).context(name)?;
        let need = Need::stated(algorithm);
        let rate = processor.rate.iter().find(|rate| rate.algorithm == name);
        let rate = rate.filter(|rate| rate.key_bits == need.key_bits());
        let [slot, ring] = in_slots(algorithm, catalogue);
        all.push(Ours {
            task: task.into(),
            algorithm: name.into(),
            key_bits: need.key_bits(),
            processor_mbps: rate.map(|rate| rate.mbps),
            array: tile.variant(variant)?,
            slot,
            ring,
        });
    }
    Ok(all)
}

/// The fastest configuration that works on one frame at a time, and the fastest that works on several.
fn in_slots(algorithm: &'static Algorithm, catalogue: &Catalogue) -> [Option<InSlot>; 2] {
    let (board, need) = (BoardConfig::default(), Need::stated(algorithm));
    let candidates = catalogue.candidates(&need, &board.device);
    [false, true].map(|several| {
        let found = candidates.iter().map(|c| &catalogue.configurations[*c]);
        let found = found.filter(|c| (c.in_flight > 1) == several && c.variant_of.is_none());
        let best = found.min_by_key(|c| c.estimate(&need, BYTES))?;
        Some(InSlot {
            configuration: best.name.clone(),
            in_flight: best.in_flight,
            mbps: BYTES as f64 * 8e6 / best.estimate(&need, BYTES).max(1) as f64,
            image_bits: 8 * port_bytes(catalogue, best),
            load_us: catalogue.load_time(&board, best) as f64 / 1e6,
        })
    })
}

/// What a load of it sends into the port: of a stored image the frames that are used, else the file.
fn port_bytes(catalogue: &Catalogue, configuration: &Configuration) -> u64 {
    let stored = catalogue.stored(configuration);
    let load = stored.and_then(|store| store.library().whole(&configuration.name).ok());
    load.map_or(configuration.bitstream.bytes, |load| load.bitstream.len() as u64)
}
