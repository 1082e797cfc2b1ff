// SPDX-License-Identifier: Apache-2.0
//! What the paper says: its machine, its tasks, its figure 9; and the traffic of which it says nothing.

use ace_schedule::captured::demo;
use ace_schedule::traffic::Random;
use serde::{Deserialize, Serialize};

use crate::array::Overhead;
use crate::error::{Context, Result, bail};

/// The recording of the experiment that the paper describes, made here (tests/demo/record.py): two downloads from one host at
/// once. A test of ace-schedule holds the rows against tests/demo/traffic.pcap.
const RECORDING: &str = include_str!("../scheduling/demo.csv");

/// studies/drp-2006/paper.toml.
#[derive(Deserialize, Serialize)]
pub struct Paper {
    pub machine: Machine,
    pub result: Overhead,
    pub hmac: Vec<Hmac>,
    pub traffic: Traffic,
    pub task: Vec<Task>,
}

#[derive(Deserialize, Serialize)]
pub struct Machine {
    pub bus_bits: u32,
    pub bus_mhz: f64,
    pub groups: usize,
}

/// An improvement that the text names.
#[derive(Deserialize, Serialize)]
pub struct Hmac {
    pub name: String,
    pub task: String,
    pub improvement: f64,
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
    pub max_pes: u32,
    pub all_pes: u32,
    pub vmems: u32,
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

pub fn paper() -> Result<Paper> {
    toml::from_str(include_str!("paper.toml")).context("studies/drp-2006/paper.toml")
}

#[derive(Clone, Copy)]
pub struct Packet {
    pub association: usize,
    pub acknowledgement: bool,
    pub bytes: f64,
}

/// The packets of the recording: from the host that is downloaded from go data, to it acknowledgements.
pub fn recorded() -> Vec<Packet> {
    let packet = |(flow, bytes): (u32, u64)| Packet {
        association: flow as usize / 2,
        acknowledgement: flow % 2 == 1,
        bytes: bytes as f64,
    };
    demo(RECORDING).into_iter().map(packet).collect()
}

/// Shares of acknowledgements, and of packets of the association of the one before.
pub fn shares(packets: &[Packet]) -> (f64, f64) {
    let acknowledgements = packets.iter().filter(|p| p.acknowledgement).count();
    let same = packets.windows(2).filter(|two| two[0].association == two[1].association).count();
    let of = |part: usize, whole: usize| part as f64 / whole.max(1) as f64;
    (of(acknowledgements, packets.len()), of(same, packets.len().saturating_sub(1)))
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

    /// Tasks of packets with the paper's two associations: a task and its bytes.
    pub fn tasks(&self, packets: &[Packet]) -> Result<Vec<(usize, f64)>> {
        let find = |name: &String| match self.task.iter().position(|t| t.name == *name) {
            Some(at) => Ok(at),
            None => bail!("studies/drp-2006/paper.toml: no task `{name}`"),
        };
        let mut suites = Vec::new();
        for [cipher, hash] in &self.traffic.associations {
            suites.push([find(cipher)?, find(hash)?]);
        }
        let mut tasks = Vec::new();
        for Packet { association, acknowledgement, bytes } in packets.iter().copied() {
            let [cipher, hash] = suites[association];
            let order = if acknowledgement { [hash, cipher] } else { [cipher, hash] };
            tasks.extend(order.map(|task| (task, bytes)));
        }
        Ok(tasks)
    }

    /// Microseconds of tasks on the paper's machine.
    pub fn timed(&self, tasks: &[(usize, f64)]) -> Vec<(usize, f64)> {
        tasks.iter().map(|&(task, bytes)| (task, 8.0 * bytes / self.task[task].drp)).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_recording_is_two_downloads() {
        let (acknowledgements, same) = shares(&recorded());
        assert!((acknowledgements - 0.271).abs() < 0.001 && (same - 0.93).abs() < 0.005);
        let paper = paper().unwrap();
        let (acknowledgements, same) = shares(&paper.traffic());
        assert!((acknowledgements - paper.traffic.acknowledgements).abs() < 0.02);
        assert!((same - paper.traffic.same).abs() < 0.02);
    }
}
