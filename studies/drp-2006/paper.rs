// SPDX-License-Identifier: Apache-2.0
//! What the paper says: its machine, its tasks, its figure 9; and the traffic of which it says nothing.

use ace_schedule::traffic::Random;
use serde::{Deserialize, Serialize};

use crate::error::{Context, Result, bail};

/// studies/drp-2006/paper.toml.
#[derive(Deserialize, Serialize)]
pub struct Paper {
    pub machine: Machine,
    pub result: Figure9,
    pub traffic: Traffic,
    pub task: Vec<Task>,
}

#[derive(Deserialize, Serialize)]
pub struct Machine {
    pub bus_bits: u32,
    pub bus_mhz: f64,
    pub groups: usize,
}

/// In percent.
#[derive(Clone, Copy, Deserialize, Serialize)]
pub struct Figure9 {
    pub without: f64,
    pub double: f64,
    pub removed: f64,
    pub kept: f64,
}

#[derive(Deserialize, Serialize)]
pub struct Traffic {
    pub packets: usize,
    pub acknowledgements: f64,
    pub same: f64,
    pub data_bytes: f64,
    pub acknowledgement_bytes: f64,
    pub associations: [[String; 2]; 2],
}

#[derive(Deserialize, Serialize)]
pub struct Task {
    pub name: String,
    pub contexts: u32,
    pub mhz: f64,
    pub drp: f64,
    pub dsp: f64,
    pub mips: f64,
    pub bits: u64,
    pub key_schedule: Option<bool>,
}

/// Microseconds of a load of a task over the paper's bus.
pub fn load_us(paper: &Paper, task: &Task) -> f64 {
    task.bits as f64 / (f64::from(paper.machine.bus_bits) * paper.machine.bus_mhz)
}

/// The first packets of the model's traffic: an association (outbound or inbound one of AES and MD5, then of RC6 and SHA-1)
/// and bytes each.
pub fn packets(count: usize) -> Result<Vec<(u32, u64)>> {
    let mut paper = paper()?;
    paper.traffic.packets = count;
    let each = paper.traffic();
    Ok(each
        .into_iter()
        .map(|p| (2 * p.association as u32 + u32::from(p.acknowledgement), p.bytes as u64))
        .collect())
}

pub fn paper() -> Result<Paper> {
    toml::from_str(include_str!("paper.toml")).context("studies/drp-2006/paper.toml")
}

pub struct Packet {
    pub association: usize,
    pub acknowledgement: bool,
    pub bytes: f64,
}

impl Paper {
    /// Packets at random, as [`Traffic`] has them.
    pub fn traffic(&self) -> Vec<Packet> {
        let traffic = &self.traffic;
        let (mut random, mut association) = (Random(3), 0);
        let mut packet = || {
            if random.unit() >= traffic.same {
                association = 1 - association;
            }
            let acknowledgement = random.unit() < traffic.acknowledgements;
            let bytes = if acknowledgement { traffic.acknowledgement_bytes } else { traffic.data_bytes };
            Packet { association, acknowledgement, bytes }
        };
        (0..traffic.packets).map(|_| packet()).collect()
    }

    /// Its traffic: configuration and microseconds of each task, which has a rate.
    pub fn tasks(&self, mbps: impl Fn(&Task) -> f64) -> Result<Vec<(usize, f64)>> {
        let find = |name: &String| match self.task.iter().position(|t| t.name == *name) {
            Some(at) => Ok(at),
            None => bail!("studies/drp-2006/paper.toml: no task `{name}`"),
        };
        let traffic = &self.traffic;
        let mut suites = Vec::new();
        for [cipher, hash] in &traffic.associations {
            suites.push([find(cipher)?, find(hash)?]);
        }
        let mut tasks = Vec::new();
        for Packet { association, acknowledgement, bytes } in self.traffic() {
            let [cipher, hash] = suites[association];
            let order = if acknowledgement { [hash, cipher] } else { [cipher, hash] };
            tasks.extend(order.map(|task| (task, bytes * 8.0 / mbps(&self.task[task]))));
        }
        Ok(tasks)
    }
}
