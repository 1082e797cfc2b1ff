// SPDX-License-Identifier: Apache-2.0
//! What `python -m ace_flow study` has placed and routed for a study: studies/NAME/results.json. Whether
//! that is of the designs as they are flow/tests/test_study.py looks.

use std::collections::BTreeMap;

use crate::error::{Context, Result, bail};
use serde::{Deserialize, Serialize};
use serde_json::Value;

#[derive(Clone, Deserialize, Serialize)]
pub struct Routed {
    pub written_by: String,
    pub tools: BTreeMap<String, String>,
    pub speed: u32,
    pub seeds: Vec<u64>,
    pub designs: Vec<Design>,
}

#[derive(Clone, Deserialize, Serialize)]
pub struct Design {
    pub name: String,
    pub top: String,
    pub parameters: BTreeMap<String, Value>,
    pub synth: Vec<String>,
    pub device: String,
    pub frequency_mhz: u64,
    /// SHA-256 of the files it was made of.
    pub sources: BTreeMap<String, String>,
    pub area: Area,
    pub routes: Vec<Route>,
    pub median: Route,
}

#[derive(Clone, Copy, Deserialize, Serialize)]
pub struct Area {
    pub lut4: u64,
    pub ccu2c: u64,
    pub ff: u64,
    pub dpr16x4: u64,
    pub ebr: u64,
    pub mult18: u64,
}

impl Area {
    /// LUT4, and those whose places carry cells (two) and distributed memories (four, and two for writing) take.
    pub fn lut_sites(&self) -> u64 {
        self.lut4 + 2 * self.ccu2c + 6 * self.dpr16x4
    }
}

#[derive(Clone, Deserialize, Serialize)]
pub struct Route {
    pub seed: u64,
    pub fmax_mhz: f64,
    pub critical_path: Path,
}

#[derive(Clone, Deserialize, Serialize)]
pub struct Path {
    pub logic_ns: f64,
    pub routing_ns: f64,
}

impl Routed {
    pub fn read(text: &str, file: &str) -> Result<Self> {
        serde_json::from_str(text)
            .with_context(|| format!("{file}: write it anew with python -m ace_flow study"))
    }

    pub fn design(&self, name: &str) -> Result<&Design> {
        match self.designs.iter().find(|d| d.name == name) {
            Some(design) => Ok(design),
            None => bail!("no design `{name}` in what `{}` has written; run it", self.written_by),
        }
    }

    /// How the page says where the figures are from.
    pub fn about(&self) -> String {
        let tools: Vec<String> =
            self.tools.iter().map(|(name, version)| format!("{name} {version}")).collect();
        let (first, last) =
            (self.seeds.first().copied().unwrap_or(0), self.seeds.last().copied().unwrap_or(0));
        format!(
            "LFE5U, speed {}, between registers; clocks are the median of the seeds {first} to {last} ({}); not tried on silicon",
            self.speed,
            tools.join(", ")
        )
    }
}
