// SPDX-License-Identifier: Apache-2.0
//! Our data paths as they were placed and routed.

use serde::Serialize;

use super::interface::{Clocks, PATHS, Path};
use crate::error::Result;
use crate::routed::Routed;

/// A clock for every operation.
pub const STEP: Clocks = Clocks { mt: 1, at: 1, xt: 1, access: 1 };
/// What the products of a path are made in.
pub const MULTIPLIERS: [&str; 2] = ["lut", "mult18"];

/// A data path of ours, placed and routed.
#[derive(Serialize)]
pub struct Built {
    pub path: Path,
    pub multipliers: &'static str,
    pub lut_sites: u64,
    pub ff: u64,
    pub mult18: u64,
    pub fmax_mhz: Vec<f64>,
    pub median_mhz: f64,
    /// Clocks of a block, one behind the other, and when each waits for the one before.
    pub clocks: u64,
    pub feedback_clocks: u64,
    pub mbps: f64,
    pub feedback_mbps: f64,
}

#[derive(Serialize)]
pub struct Substages {
    pub lut_sites: u64,
    pub ff: u64,
    pub mult18: u64,
    pub device: String,
    pub fmax_mhz: Vec<f64>,
    pub median_mhz: f64,
    pub stages: u64,
    pub mbps: f64,
}

pub fn name(path: Path) -> &'static str {
    match path {
        Path::S => "s",
        Path::SR => "sr",
        Path::P => "p",
    }
}

/// Clocks from one block to the next of our data paths, and with feedback (rtl/idea_paths.sv).
pub fn clocks(path: Path) -> (u64, u64) {
    match path {
        // The result stands a clock before the next block is taken.
        Path::S | Path::SR => {
            let first = if path == Path::S { 4 } else { 1 };
            let block = 8 * path.phase(STEP) + first + 1;
            (block, block)
        }
        Path::P => (path.phase(STEP), 9 * path.phase(STEP) + 1),
    }
}

pub fn built(routed: &Routed) -> Result<Vec<Built>> {
    let mut all = Vec::new();
    for path in PATHS {
        for multipliers in MULTIPLIERS {
            let design = routed.design(&format!("{}-{multipliers}", name(path)))?;
            let (clocks, feedback_clocks) = clocks(path);
            let median_mhz = design.median.fmax_mhz;
            all.push(Built {
                path,
                multipliers,
                lut_sites: design.area.lut_sites(),
                ff: design.area.ff,
                mult18: design.area.mult18,
                fmax_mhz: design.routes.iter().map(|r| r.fmax_mhz).collect(),
                median_mhz,
                clocks,
                feedback_clocks,
                mbps: 64.0 * median_mhz / clocks as f64,
                feedback_mbps: 64.0 * median_mhz / feedback_clocks as f64,
            });
        }
    }
    Ok(all)
}
