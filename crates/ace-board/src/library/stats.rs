// SPDX-License-Identifier: Apache-2.0
//! What configurations take in a library, and how fast they are decompressed.

use std::time::{Duration, Instant};

use ace_ecp5::Device;
use ace_library::codec::Decoded;
use ace_library::{Image, ImageError, Library};
use serde::Serialize;

use super::board_image::configurations;
use super::manifest::{manifest, tie_of};
use super::members::Load;

/// Bytes of a device's frames.
pub fn frame_bytes(device: &Device) -> usize {
    device.frames * device.frame_bytes()
}

/// Bytes that the stream of a configuration becomes.
fn decoded_bytes(image: &Image) -> usize {
    image.frame_count() * image.device().frame_bytes()
}

/// One configuration's figures.
#[derive(Serialize)]
pub struct Stats {
    /// Its name.
    pub name: String,
    /// What it is for.
    pub device: &'static str,
    /// What ties its netlist to the RTL, by its own record.
    pub tied_to_rtl_by: String,
    /// Of the device's LUT4.
    pub lut_use_percent: Option<f64>,
    /// Of the device's frames.
    pub frame_bytes: usize,
    /// Of its streams and runs.
    pub stored_bytes: usize,
    /// Of its frames, what is stored.
    pub percent: f64,
    /// What it is stored over, if it is not stored whole: all that follows is then of the frames that differ.
    pub base: Option<String>,
    /// That it writes.
    pub block_rams: usize,
    /// Modelled: a decompressor that takes a clock for every row and every run, and three for every decision.
    pub clocks: u64,
    /// Of frames, decompressed.
    pub bytes_per_clock: f64,
    /// The most that one frame takes.
    pub slowest_frame_clocks: u64,
    /// Wall time.
    pub software_mb_per_second: Option<f64>,
    /// Frames that are not blank.
    pub frames_used: usize,
    /// Of frames that are used or not.
    pub runs: usize,
    /// Into a device that PROGRAMN has cleared, of the frames that are used.
    pub load: Load,
    /// Of all frames.
    pub load_with_blank: Load,
}

/// Every configuration's figures; `budget`: to measure how fast each is decompressed in software.
///
/// # Errors
/// A configuration cannot be taken out of the library.
pub fn stats(library: &Library, budget: Option<Duration>) -> Result<Vec<Stats>, ImageError> {
    let mut rows = Vec::new();
    for image in configurations(library) {
        let raw = frame_bytes(image.device());
        let (decoded, speed) = decode(library, image, budget)?;
        let lut4 = manifest(image)["area"]["lut4"].as_u64();
        let (load, all) = (library.whole(image.name())?, library.whole_with_blank(image.name())?);
        let memory = library.memory(image.name())?;
        let used: Vec<bool> = memory.frames().map(|frame| frame.iter().any(|byte| *byte != 0)).collect();
        rows.push(Stats {
            name: image.name().to_owned(),
            device: image.device().name,
            tied_to_rtl_by: tie_of(image, &manifest(image)).to_string(),
            lut_use_percent: lut4.map(|n| 100.0 * n as f64 / image.device().lut4 as f64),
            frame_bytes: raw,
            stored_bytes: image.stored_frame_bytes(),
            percent: 100.0 * image.stored_frame_bytes() as f64 / raw as f64,
            base: image.base().map(str::to_owned),
            block_rams: image.blocks().0,
            clocks: decoded.clocks(),
            bytes_per_clock: decoded_bytes(image) as f64 / decoded.clocks().max(1) as f64,
            slowest_frame_clocks: decoded.slowest_frame,
            software_mb_per_second: speed,
            frames_used: used.iter().filter(|used| **used).count(),
            runs: used.chunk_by(|a, b| a == b).filter(|run| run[0]).count(),
            load: Load::of(load.bitstream.len(), load.loader_clocks),
            load_with_blank: Load::of(all.bitstream.len(), all.loader_clocks),
        });
    }
    Ok(rows)
}

/// Decompresses once, or for as long as `budget` says; megabytes of frames a second, the best time counts.
fn decode(
    library: &Library,
    image: &Image,
    budget: Option<Duration>,
) -> Result<(Decoded, Option<f64>), ImageError> {
    let mut out = Vec::new();
    let (start, mut best) = (Instant::now(), f64::INFINITY);
    loop {
        let from = Instant::now();
        let decoded = library.decode(image, &mut out)?;
        best = best.min(from.elapsed().as_secs_f64());
        match budget {
            None => return Ok((decoded, None)),
            Some(budget) if start.elapsed() >= budget => {
                return Ok((decoded, Some(out.len() as f64 / best / 1e6)));
            }
            Some(_) => {}
        }
    }
}
