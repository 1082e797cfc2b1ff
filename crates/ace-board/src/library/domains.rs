// SPDX-License-Identifier: Apache-2.0
//! What the configurations of an algorithm share, and what switching between them takes.

use std::collections::BTreeMap;

use ace_ecp5::ConfigMemory;
use ace_library::domain::{Skeleton, delta, skeleton};
use ace_library::{ImageError, Library};
use serde::Serialize;

use super::between::{Between, between};
use super::board_image::configurations;
use super::manifest::manifest;
use super::members::{Member, members};

/// Bytes a second: slave SPI at 60 MHz, and a byte a clock at 50 MHz through the 8-bit port.
const SPI: f64 = 60e6 / 8.0;
const PARALLEL: f64 = 50e6;

/// Configurations, and those that are stored over one another.
#[derive(Serialize)]
pub struct Domains {
    /// By algorithm and device.
    pub domains: Vec<Domain>,
    /// That are stored over one another.
    pub members: Vec<Member>,
    /// Between algorithms.
    pub between: Vec<Between>,
}

/// Configurations of one algorithm on one device.
#[derive(Serialize)]
pub struct Domain {
    /// What all of them compute.
    pub algorithm: String,
    /// What they are for.
    pub device: &'static str,
    /// How many there are.
    pub configurations: usize,
    /// That are the same in all.
    pub frames_shared: usize,
    /// Those of them that are not blank.
    pub frames_shared_used: usize,
    /// Of the bits that at least one sets.
    pub bits_shared_percent: f64,
    /// From each to the next.
    pub switches: Vec<Switch>,
}

/// From one configuration to another one of its domain. Times are modelled.
#[derive(Serialize)]
pub struct Switch {
    /// What the slot holds.
    pub from: String,
    /// What it is to hold.
    pub to: String,
    /// That differ.
    pub frames: usize,
    /// That differ.
    pub bits: u64,
    /// Whose contents differ.
    pub block_rams: usize,
    /// Of the frames that differ, compressed.
    pub stored_bytes: usize,
    /// Of what is less: the changed frames, or the whole image in the device's own compression.
    pub port_bytes: usize,
    /// Whether that is the frames.
    pub partial: bool,
    /// By slave SPI at 60 MHz.
    pub spi_ms: f64,
    /// By a byte a clock at 50 MHz.
    pub parallel_ms: f64,
}

/// From one to another image of a library; `None` if the devices differ.
fn switch(
    library: &Library,
    (from, a): (&str, &ConfigMemory),
    (to, b): (&str, &ConfigMemory),
) -> Option<Switch> {
    let delta = delta(library.tables(), a, b)?;
    let whole = library.whole(to).ok()?.bitstream.len();
    // A partial bitstream carries no contents of block RAMs.
    let part = delta.port_bytes.filter(|bytes| *bytes < whole && delta.blocks == 0);
    let port_bytes = part.unwrap_or(whole);
    Some(Switch {
        from: from.to_owned(),
        to: to.to_owned(),
        frames: delta.frames.len(),
        bits: delta.bits,
        block_rams: delta.blocks,
        stored_bytes: delta.stored_bytes,
        port_bytes,
        partial: part.is_some(),
        spi_ms: port_bytes as f64 / SPI * 1e3,
        parallel_ms: port_bytes as f64 / PARALLEL * 1e3,
    })
}

/// What a library holds of each algorithm.
///
/// # Errors
/// A configuration cannot be taken out of the library.
pub fn domains(library: &Library) -> Result<Domains, ImageError> {
    let mut groups: BTreeMap<(String, u32), Vec<(&str, ConfigMemory)>> = BTreeMap::new();
    for image in configurations(library).filter(|i| i.base().is_none()) {
        let manifest = manifest(image);
        for can in manifest["can"].as_array().into_iter().flatten() {
            if let Some(algorithm) = can["algorithm"].as_str() {
                let group = groups.entry((algorithm.to_owned(), image.device().idcode)).or_default();
                if group.iter().all(|(name, _)| *name != image.name()) {
                    group.push((image.name(), library.memory(image.name())?));
                }
            }
        }
    }
    let mut found = Vec::new();
    for ((algorithm, _), group) in groups.into_iter().filter(|(_, group)| group.len() > 1) {
        let images: Vec<&ConfigMemory> = group.iter().map(|(_, image)| image).collect();
        let Some(Skeleton { bits_shared, bits_used, frames_shared, frames_shared_used }) = skeleton(&images)
        else {
            continue;
        };
        let mut switches = Vec::new();
        for ((from, a), (to, b)) in group.iter().zip(group.iter().skip(1)) {
            switches.extend(switch(library, (from, a), (to, b)));
        }
        found.push(Domain {
            algorithm,
            device: images[0].device().name,
            configurations: images.len(),
            frames_shared,
            frames_shared_used,
            bits_shared_percent: 100.0 * bits_shared as f64 / bits_used.max(1) as f64,
            switches,
        });
    }
    Ok(Domains { domains: found, members: members(library)?, between: between(library)? })
}
