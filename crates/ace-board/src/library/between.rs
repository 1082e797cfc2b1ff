// SPDX-License-Identifier: Apache-2.0
//! What a switch between configurations of different algorithms would take as a partial write, beside a load into a device
//! that PROGRAMN has cleared.

use std::collections::BTreeSet;

use ace_ecp5::memory::EBR_BYTES;
use ace_ecp5::{ConfigMemory, Emit};
use ace_library::{ImageError, Library};
use serde::Serialize;

use super::board_image::configurations;
use super::manifest::manifest;
use crate::BoardConfig;

/// Bytes at the port that a block RAM has besides its contents: address, command, CRC.
const BLOCK_BYTES: usize = 14;

/// One configuration, over each that shares no algorithm with it and is on the same device. Times are modelled, of the
/// port alone.
#[derive(Serialize)]
pub struct Between {
    /// What the slot is to hold.
    pub name: String,
    /// How many others there are.
    pub others: usize,
    /// Frames that are not blank.
    pub frames_used: usize,
    /// Those of them that are the same in every one of the others.
    pub frames_the_same: usize,
    /// Over the other one with the fewest bytes, in the middle, with the most: frames that differ, and bytes at the port
    /// with block RAMs that differ, in the device's compression.
    pub over: [Write; 3],
    /// Into a device that PROGRAMN has cleared.
    pub cleared_port_bytes: usize,
    /// The same, in milliseconds of the port.
    pub cleared_port_ms: f64,
}

/// What makes one configuration of another as a partial write.
#[derive(Clone, Serialize)]
pub struct Write {
    /// What the slot holds.
    pub from: String,
    /// That differ.
    pub frames: usize,
    /// With block RAMs that differ.
    pub port_bytes: usize,
    /// Milliseconds of the port.
    pub port_ms: f64,
}

/// Of all configurations that are stored whole.
pub fn between(library: &Library) -> Result<Vec<Between>, ImageError> {
    let mut all: Vec<(&str, BTreeSet<String>, ConfigMemory)> = Vec::new();
    for image in configurations(library).filter(|image| image.base().is_none()) {
        let manifest = manifest(image);
        let can = manifest["can"].as_array().into_iter().flatten();
        let algorithms = can.filter_map(|can| can["algorithm"].as_str().map(str::to_owned)).collect();
        all.push((image.name(), algorithms, library.memory(image.name())?));
    }
    let mut found = Vec::new();
    for (name, algorithms, to) in &all {
        let others: Vec<_> = all
            .iter()
            .filter(|(_, others, from)| from.device() == to.device() && others.is_disjoint(algorithms))
            .collect();
        let mut over: Vec<Write> =
            others.iter().filter_map(|(from, _, memory)| write(from, memory, to)).collect();
        over.sort_by_key(|write| write.port_bytes);
        let (Some(least), Some(middle), Some(most)) = (over.first(), over.get(over.len() / 2), over.last())
        else {
            continue;
        };
        let used =
            |number: &usize| to.frame(*number).is_some_and(|frame| frame.iter().any(|byte| *byte != 0));
        let same =
            |number: &usize| others.iter().all(|(_, _, from)| from.frame(*number) == to.frame(*number));
        let numbers: Vec<usize> = (0..to.device().frames).filter(used).collect();
        let cleared = library.whole(name)?.bitstream.len();
        found.push(Between {
            name: (*name).to_owned(),
            others: over.len(),
            frames_used: numbers.len(),
            frames_the_same: numbers.iter().filter(|number| same(number)).count(),
            over: [least.clone(), middle.clone(), most.clone()],
            cleared_port_bytes: cleared,
            cleared_port_ms: ms(cleared),
        });
    }
    Ok(found)
}

fn ms(bytes: usize) -> f64 {
    BoardConfig::default().port_time(bytes as u64) as f64 / 1e9
}

/// What makes `to` of `from`; `None` if frame addresses are not known.
fn write(name: &str, from: &ConfigMemory, to: &ConfigMemory) -> Option<Write> {
    let changed = |number: &usize| from.frame(*number) != to.frame(*number);
    let frames: Vec<usize> = (0..to.device().frames).filter(changed).collect();
    let bits = Emit { compress: true, ..Emit::default() }.over(to, &frames)?;
    let same = |id: u16, bytes: &[u8]| from.ebr().any(|(i, b)| i == id && b == bytes);
    let blocks = to.ebr().filter(|(id, bytes)| !same(*id, bytes)).count();
    let port_bytes = bits.len() + blocks * (EBR_BYTES + BLOCK_BYTES);
    Some(Write { from: name.to_owned(), frames: frames.len(), port_bytes, port_ms: ms(port_bytes) })
}
