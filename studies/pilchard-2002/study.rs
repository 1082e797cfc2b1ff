// SPDX-License-Identifier: Apache-2.0
//! The 2002 paper: DES by rounds a clock, triple DES behind its block interface, software against accelerator, Amdahl.

mod figure7;
mod opening;
mod page;
mod vpn;

pub use page::print;

use crate::error::{Context, Result};
use ace_board::BoardConfig;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use ace_bench::share::Pair;

use crate::marks::Opening;
use crate::measured::{self, PACKET, spread};
use crate::processors::VR5500;
use crate::routed::Routed;
use figure7::{Accelerator, Curve, Figure7, Fit, Interface, Software};
use vpn::{Throughput, Vpn};

/// What the multi-cycle path is given more than the timing report says.
const MARGIN: f64 = 1.1;

/// studies/pilchard-2002/paper.toml.
#[derive(Deserialize, Serialize)]
struct Paper {
    accelerator: Published,
    software: Libdes,
    figure7: Point,
    amdahl: Amdahl,
    table2: Vec<Rounds>,
    ttcp: Vec<Throughput>,
    related: Vec<Related>,
}

/// Section 2.2: other implementations of DES.
#[derive(Deserialize, Serialize)]
struct Related {
    name: String,
    year: u32,
    what: String,
    mbps: f64,
}

impl Related {
    /// Of triple DES, not of DES.
    fn is_triple(&self) -> bool {
        self.what.contains("triple")
    }
}

#[derive(Deserialize, Serialize)]
struct Published {
    slices: u64,
    core_mhz: f64,
    mbps: f64,
    machine_mhz: f64,
    key_schedule_factor: u64,
}

impl Published {
    /// Clocks of the state machine in which a word is done.
    fn clocks(&self) -> f64 {
        (self.machine_mhz / self.core_mhz).ceil()
    }

    /// Mb/s of whole clocks.
    fn whole_mbps(&self) -> f64 {
        64.0 * self.machine_mhz / self.clocks()
    }
}

#[derive(Deserialize, Serialize)]
struct Libdes {
    des_ecb: f64,
    tdes_cbc: f64,
}

#[derive(Deserialize, Serialize)]
struct Point {
    bytes: usize,
    mbps: f64,
}

#[derive(Clone, Copy, Deserialize, Serialize)]
struct Amdahl {
    /// The part of the time that is not encryption.
    alpha: f64,
    p: f64,
    speed_up: f64,
}

impl Amdahl {
    fn of(alpha: f64, p: f64) -> Self {
        Self { alpha, p, speed_up: 1.0 / (alpha + (1.0 - alpha) / p) }
    }
}

/// A packet sealed in software, and triple DES of it: least, middle and greatest of pairs that were measured in turns.
#[derive(Serialize)]
struct Sealing {
    pairs: usize,
    packet_ns: [f64; 3],
    cipher_ns: [f64; 3],
    /// What is not triple DES.
    alpha: [f64; 3],
    /// Against the fastest accelerator that is there, and what Amdahl's formula then allows.
    p: Option<[f64; 3]>,
    speed_up: Option<[f64; 3]>,
}

#[derive(Deserialize, Serialize)]
struct Rounds {
    rounds: u64,
    slices: u64,
    mhz: f64,
    mbps: f64,
}

/// Table 2, a row of ours beside the paper's, if it has one.
#[derive(Serialize)]
struct RoundsComparison {
    paper: Option<Rounds>,
    rounds: u64,
    pipelined: bool,
    lut4: u64,
    ff: u64,
    fmax_mhz: Vec<f64>,
    median_mhz: f64,
    clocks: u64,
    mbps: f64,
}

/// The interface, placed and routed.
#[derive(Serialize)]
struct Port {
    lut4: u64,
    ebr: u64,
    mhz: f64,
}

/// The three cores in cascade, behind the interface.
#[derive(Serialize)]
struct Cascade {
    lut4: u64,
    delay_ns: f64,
    /// The state machine's clock, and how many of them the path is given.
    machine_mhz: f64,
    core_clocks: u64,
    mbps: f64,
    /// What the path alone would allow.
    path_mbps: f64,
}

#[derive(Serialize)]
struct Goal {
    what: &'static str,
    figure: Option<f64>,
    limit: f64,
    met: Option<bool>,
}

/// The paper's tables and figures beside ours.
#[derive(Serialize)]
pub struct Study {
    opening: Opening,
    routed: String,
    table2: Vec<RoundsComparison>,
    port: Port,
    /// If it has been placed and routed.
    cascade: Option<Cascade>,
    paper: Published,
    figure7: Figure7,
    amdahl_paper: Amdahl,
    /// Where software's figures are from.
    software: String,
    sealing: Sealing,
    related: Vec<Related>,
    ttcp_paper: Vec<Throughput>,
    ttcp: Vpn,
    goals: Vec<Goal>,
}

fn paper() -> Result<Paper> {
    toml::from_str(include_str!("paper.toml")).context("studies/pilchard-2002/paper.toml")
}

fn routed() -> Result<Routed> {
    Routed::read(include_str!("results.json"), "studies/pilchard-2002/results.json")
}

fn board(text: &str, file: &str) -> Result<BoardConfig> {
    Ok(BoardConfig::from_text(text, std::path::Path::new(file))?)
}

fn table2(paper: Vec<Rounds>, routed: &Routed) -> Result<Vec<RoundsComparison>> {
    let row = |name: &str, rounds: u64, paper: Option<Rounds>| -> Result<RoundsComparison> {
        let design = routed.design(name)?;
        let pipelined = paper.is_none();
        let clocks = if pipelined { 1 } else { 16 / rounds };
        Ok(RoundsComparison {
            paper,
            rounds,
            pipelined,
            lut4: design.area.lut4,
            ff: design.area.ff,
            fmax_mhz: design.routes.iter().map(|r| r.fmax_mhz).collect(),
            median_mhz: design.median.fmax_mhz,
            clocks,
            mbps: design.median.fmax_mhz * 64.0 / clocks as f64,
        })
    };
    let mut rows = Vec::new();
    for published in paper {
        let rounds = published.rounds;
        rows.push(row(&format!("des-{rounds}"), rounds, Some(published))?);
    }
    if routed.design("des-16-pipelined").is_ok() {
        rows.push(row("des-16-pipelined", 16, None)?);
    }
    Ok(rows)
}

fn cascade(routed: &Routed, machine_mhz: f64) -> Option<Cascade> {
    let core = routed.design("tdes-cascade").ok()?;
    let delay_ns = 1e3 / core.median.fmax_mhz;
    let core_clocks = (delay_ns * MARGIN * machine_mhz / 1e3).ceil() as u64;
    Some(Cascade {
        lut4: core.area.lut4,
        delay_ns,
        machine_mhz,
        core_clocks,
        mbps: 64.0 * machine_mhz / core_clocks as f64,
        path_mbps: 64.0 * core.median.fmax_mhz,
    })
}

/// What is built of triple DES, if it is, in feedback, at its own clock behind the machine's: one packet at a time, or as
/// many as are in flight, whose words then take a part of a clock on the average.
fn core(built: &[Value], name: &str, about: &str, machine_mhz: f64) -> Option<Accelerator> {
    let manifest = built.iter().find(|m| m["name"] == name)?;
    let entry = manifest["cycles"]["per_block"].as_array()?.iter().find(|e| {
        e["algorithm"] == "3des" && e["key_bytes"] == 24 && e["mode"] == "cbc" && e["direction"] == "encrypt"
    })?;
    let own_mhz = manifest["fmax_mhz"].as_f64()?;
    let clocks = |cycles: f64| cycles / own_mhz * MARGIN * machine_mhz;
    let each = clocks(entry["cycles"].as_f64()?);
    let name = format!("{name} ({about})");
    let Some(alone) = entry["alone"].as_f64() else {
        return Some(Accelerator::one(&name, each.ceil(), machine_mhz));
    };
    let packets = usize::try_from(manifest["in_flight"].as_u64()?).ok()?;
    Some(Accelerator { name, core_clocks: each, first_clocks: clocks(alone).ceil(), machine_mhz, packets })
}

/// The paper's tables and figures beside ours. `built`: the manifests of what is built; Beside this software.
///
/// # Errors
/// A file of studies/pilchard-2002 is not what it should be.
pub fn study(built: &[Value], measured: &measured::Software) -> Result<Study> {
    let Paper { accelerator: published, software, figure7, amdahl, table2: rows, ttcp: ttcp_paper, related } =
        paper()?;
    let routed = routed()?;
    let pilchard = board(include_str!("board.toml"), "studies/pilchard-2002/board.toml")?;
    let small = VR5500.read()?;
    let tdes = measured.cipher("3des")?;
    let des = small.rate.iter().find(|r| r.algorithm == "des").context("vr5500.toml has no DES")?;

    let cascade = cascade(&routed, published.machine_mhz);
    let port = routed.design("block-port")?;
    let port = Port { lut4: port.area.lut_sites(), ebr: port.area.ebr, mhz: port.median.fmax_mhz };
    let machine_mhz = published.machine_mhz;
    let there = Accelerator::one("the paper's", published.clocks(), machine_mhz);
    let cascaded = cascade
        .as_ref()
        .map(|c| Accelerator::one("three cascaded cores", c.core_clocks as f64, c.machine_mhz));
    let ours: Vec<Accelerator> = cascaded
        .into_iter()
        .chain(core(built, "3des", "one round a clock", machine_mhz))
        .chain(core(built, "3des-x8", "its packets in flight together", machine_mhz))
        .collect();
    let modern = Interface::of(&pilchard);
    // What its host costs besides is not said. The one point that is gives it.
    let fits = Fit::of(&modern, published.core_mhz, machine_mhz, figure7.bytes, figure7.mbps);

    let softwares = vec![
        Software { name: "P-III 866, LibDES".into(), mbps: software.tdes_cbc, inferred: false },
        Software { name: "this CPU".into(), mbps: tdes.feedback_mbps, inferred: false },
        Software { name: small.name, mbps: des.mbps / 3.0, inferred: true },
    ];
    // The paper's core with today's cost, and ours.
    let today = Accelerator { name: "the paper's, a block at board.toml's cost".into(), ..there.clone() };
    let mut curves: Vec<Curve> = fits.iter().map(Fit::curve).collect();
    curves.push(Curve::of(&today, &modern));
    let behind = curves.len();
    curves.extend(ours.iter().map(|a| Curve::of(a, &modern)));
    let ttcp = vpn::read(&fits[0], software.tdes_cbc)?;
    let figure7 = Figure7::of(softwares, curves, fits, [published.mbps, published.core_mhz, machine_mhz]);

    let pairs = &measured.values.sealing;
    let ciphered = enciphered(PACKET);
    let fastest =
        ours.iter().map(|a| modern.time_ns(a, ciphered) / a.packets as f64).fold(f64::INFINITY, f64::min);
    let bound = |p: &Pair| Amdahl::of(p.rest(), p.cipher / fastest);
    let none = || "studies/software.json: no pair was measured".to_owned();
    let sealing = Sealing {
        pairs: pairs.len(),
        packet_ns: spread(pairs.iter().map(|p| p.packet)).with_context(none)?,
        cipher_ns: spread(pairs.iter().map(|p| p.cipher)).with_context(none)?,
        alpha: spread(pairs.iter().map(Pair::rest)).with_context(none)?,
        p: spread(pairs.iter().map(|p| p.cipher / fastest)).filter(|_| fastest.is_finite()),
        speed_up: spread(pairs.iter().map(|p| bound(p).speed_up)).filter(|_| fastest.is_finite()),
    };

    // The small processor is the last of the software, ours are the curves behind the paper's.
    let crossover = (behind..behind + ours.len()).filter_map(|c| figure7.crossover(2, c)).min();
    let overlap = modern.overlap(ours.first().unwrap_or(&there));
    let met = |figure: Option<f64>, limit: f64, at_most: bool| {
        figure.map(|f| if at_most { f <= limit } else { f >= limit })
    };
    let goals = vec![
        Goal {
            what: "crossover on the small processor, bytes, at most",
            figure: crossover.map(|b| b as f64),
            limit: 256.0,
            met: met(crossover.map(|b| b as f64), 256.0, true),
        },
        Goal {
            what: "reading that overlaps with the core's work, %, at least",
            figure: Some(100.0 * overlap),
            limit: 95.0,
            met: met(Some(100.0 * overlap), 95.0, false),
        },
    ];
    let mut study = Study {
        opening: Opening::default(),
        routed: routed.about(),
        table2: table2(rows, &routed)?,
        port,
        cascade,
        paper: published,
        figure7,
        amdahl_paper: amdahl,
        software: measured.about(),
        sealing,
        related,
        ttcp_paper,
        ttcp,
        goals,
    };
    study.opening = opening::opening(&study);
    Ok(study)
}

/// Bytes that are enciphered for a packet in a tunnel: with padding, its length and the next header.
fn enciphered(packet: usize) -> usize {
    (packet + 2).next_multiple_of(8)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_papers_clocks_give_its_throughputs() {
        let paper = paper().unwrap();
        for row in &paper.table2 {
            let mbps = row.mhz * 64.0 * row.rounds as f64 / 16.0;
            assert!((mbps / row.mbps - 1.0).abs() < 0.001, "{} rounds: {mbps}", row.rounds);
        }
        let cascade = &paper.accelerator;
        assert!((cascade.core_mhz * 64.0 / cascade.mbps - 1.0).abs() < 0.001);
        let amdahl = Amdahl::of(paper.amdahl.alpha, paper.amdahl.p);
        assert!((amdahl.speed_up / paper.amdahl.speed_up - 1.0).abs() < 0.001);
    }

    #[test]
    fn the_study_has_its_shape_and_the_model_its_points() {
        let study = study(&[], &measured::Software::recorded().unwrap()).unwrap();
        assert!(study.table2.len() >= 5);
        for pair in study.table2[..5].windows(2) {
            assert!(pair[1].median_mhz < pair[0].median_mhz && pair[1].lut4 > pair[0].lut4);
        }
        let figure = &study.figure7;
        // The one point that is fitted; the plateau of the paper's text, which whole clocks keep a little below, is what a
        // cost of every call predicts and a cost of every block does not.
        for fit in 0..3 {
            assert!((figure.at(fit, 7168).unwrap() / 120.0 - 1.0).abs() < 0.001);
            // For small data it is "much lower than software".
            assert!(figure.at(fit, 8).unwrap() < 42.9 / 3.0);
        }
        assert!(figure.at(0, 65536).unwrap() > 0.98 * 136.64);
        assert!(figure.at(2, 65536).unwrap() < 0.9 * 136.64);
        // A part of the whole: triple DES is most of what sealing takes.
        let s = &study.sealing;
        assert!(s.alpha[1] > 0.0 && s.alpha[1] < 0.5 && s.alpha[0] <= s.alpha[1] && s.alpha[1] <= s.alpha[2]);
        assert!(study.cascade.is_none_or(|c| c.mbps < c.path_mbps));
    }
}
