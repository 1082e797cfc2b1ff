// SPDX-License-Identifier: Apache-2.0
//! The 2006 paper: its machine, its two associations, the overhead of reconfiguration.

use ace_schedule::in_order::{InOrder, in_order};
use ace_schedule::traffic::Random;
use anyhow::{Context, Result, bail};
use serde::{Deserialize, Serialize};

use crate::page::say;

/// studies/drp-2006/paper.toml.
#[derive(Deserialize, Serialize)]
pub struct Paper {
    machine: Machine,
    result: Figure9,
    traffic: Traffic,
    task: Vec<Task>,
}

#[derive(Deserialize, Serialize)]
struct Machine {
    bus_bits: u32,
    bus_mhz: f64,
    groups: usize,
}

/// In percent.
#[derive(Clone, Copy, Deserialize, Serialize)]
struct Figure9 {
    without: f64,
    double: f64,
    removed: f64,
    kept: f64,
}

#[derive(Deserialize, Serialize)]
struct Traffic {
    packets: usize,
    acknowledgements: f64,
    same: f64,
    data_bytes: f64,
    acknowledgement_bytes: f64,
    associations: [[String; 2]; 2],
}

#[derive(Deserialize, Serialize)]
struct Task {
    name: String,
    contexts: u32,
    mhz: f64,
    drp: f64,
    dsp: f64,
    mips: f64,
    bits: u64,
}

/// What the model makes of the paper's figures.
#[derive(Serialize)]
pub struct Study {
    paper: Paper,
    /// By task: microseconds of a load.
    load_us: Vec<f64>,
    figure9: Figure9,
    what_if: Vec<WhatIf>,
}

/// The same traffic with more groups, or with loads of another length.
#[derive(Serialize)]
struct WhatIf {
    groups: usize,
    /// None: Table 2 over the paper's bus.
    load_us: Option<f64>,
    figure9: Figure9,
}

pub fn study() -> Result<Study> {
    let paper = paper()?;
    let bus = f64::from(paper.machine.bus_bits) * paper.machine.bus_mhz;
    let load_us: Vec<f64> = paper.task.iter().map(|t| t.bits as f64 / bus).collect();
    let tasks = paper.tasks()?;
    let run = |groups: usize, load: &[f64]| {
        let without = in_order(&tasks, load, 1, false);
        percent(&tasks, &without, &in_order(&tasks, load, groups, true))
    };
    let figure9 = run(paper.machine.groups, &load_us);
    let mut what_if = Vec::new();
    for load in [None, Some(5.0), Some(10.0), Some(25.0), Some(7700.0)] {
        for groups in 2..=4 {
            let loads = load.map_or_else(|| load_us.clone(), |us| vec![us; load_us.len()]);
            what_if.push(WhatIf { groups, load_us: load, figure9: run(groups, &loads) });
        }
    }
    Ok(Study { load_us, figure9, what_if, paper })
}

fn percent(tasks: &[(usize, f64)], without: &InOrder, double: &InOrder) -> Figure9 {
    Figure9 {
        without: 100.0 * without.overhead(),
        double: 100.0 * double.overhead(),
        removed: 100.0 * (1.0 - double.exposed() / without.exposed()),
        kept: 100.0 * (1.0 - double.loads as f64 / tasks.len() as f64),
    }
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

fn paper() -> Result<Paper> {
    toml::from_str(include_str!("../../../../studies/drp-2006/paper.toml"))
        .context("studies/drp-2006/paper.toml")
}

struct Packet {
    association: usize,
    acknowledgement: bool,
    bytes: f64,
}

impl Paper {
    /// Packets at random, as [`Traffic`] has them.
    fn traffic(&self) -> Vec<Packet> {
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

    /// Its traffic: configuration and microseconds of each task.
    fn tasks(&self) -> Result<Vec<(usize, f64)>> {
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
            tasks.extend(order.map(|task| (task, bytes * 8.0 / self.task[task].drp)));
        }
        Ok(tasks)
    }
}

pub fn print(study: &Study) {
    let paper = &study.paper;
    say!("## Tables 1 and 2: the paper's tasks, and what a load of each takes on its bus\n");
    say!("| task | contexts | MHz | DRP-1 Mb/s | DSP | VR5500 | DRP-1 ÷ VR5500 | bits | load µs |");
    say!("|---|--:|--:|--:|--:|--:|--:|--:|--:|");
    for (t, load) in paper.task.iter().zip(&study.load_us) {
        let Task { name, contexts, mhz, drp, dsp, mips, bits } = t;
        let ratio = drp / mips;
        say!(
            "| {name} | {contexts} | {mhz:.1} | {drp:.1} | {dsp:.1} | {mips:.1} | {ratio:.1} | {bits} | {load:.1} |"
        );
    }
    say!("\n## Figure 9: overhead of reconfiguration, in order, {} groups\n", paper.machine.groups);
    say!("| | without % | double buffer % | removed % | kept % |");
    say!("|---|--:|--:|--:|--:|");
    let row = |name: &str, f: &Figure9| {
        say!("| {name} | {:.1} | {:.2} | {:.1} | {:.1} |", f.without, f.double, f.removed, f.kept);
    };
    row("paper", &paper.result);
    row("this model", &study.figure9);
    let traffic = &paper.traffic;
    say!(
        "\nThe model needs traffic of which the paper says nothing: {:.0} % of the packets are acknowledgements of {} bytes, \
         the others have {} bytes, and a packet belongs to the association of the one before it in {:.0} % of the cases. \
         What is left of the overhead are acknowledgements, whose tasks are shorter than a load.\n",
        100.0 * traffic.acknowledgements,
        traffic.acknowledgement_bytes,
        traffic.data_bytes,
        100.0 * traffic.same
    );
    say!("## The same traffic and rates, other groups and loads\n");
    say!("| load µs | groups | without % | with % | removed % | kept % |");
    say!("|--:|--:|--:|--:|--:|--:|");
    for w in &study.what_if {
        let load = w.load_us.map_or("Table 2".into(), |us| format!("{us}"));
        let f = &w.figure9;
        let groups = w.groups;
        say!("| {load} | {groups} | {:.1} | {:.2} | {:.1} | {:.1} |", f.without, f.double, f.removed, f.kept);
    }
    say!("\nModelled time. Power is not modelled.");
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_papers_machine_on_traffic_like_its_own_has_its_overhead() {
        let study = study().unwrap();
        let (paper, ours) = (study.paper.result, study.figure9);
        for (paper, ours, within) in [
            (paper.without, ours.without, 0.4),
            (paper.double, ours.double, 0.3),
            (paper.removed, ours.removed, 1.0),
            (paper.kept, ours.kept, 1.0),
        ] {
            assert!((paper - ours).abs() <= within, "{paper} there, {ours} here");
        }
        // 40 KB over 1.6 GB/s.
        assert!(study.load_us.iter().all(|us| (7.0..26.0).contains(us)), "{:?}", study.load_us);
    }
}
