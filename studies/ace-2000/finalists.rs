// SPDX-License-Identifier: Apache-2.0
//! Tables 1 and 2: key set-up and throughput of the AES finalists.

use ace_report::{Page, say};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::error::Result;
use crate::marks::{By, Mark, heads};
use crate::measured;

/// Key length of the paper's tables, in bytes.
pub const KEY: usize = 16;
/// Bits of a block.
const BLOCK: f64 = 128.0;

#[derive(Deserialize)]
pub struct Finalist {
    pub name: String,
    pub algorithm: String,
    pub software: Published,
    pub hardware: Published,
}

#[derive(Clone, Copy, Deserialize, Serialize)]
pub struct Published {
    pub setup_us: f64,
    pub setup_blocks: f64,
    pub mbps: f64,
}

impl Published {
    /// Block times of the key set-up by its own time and throughput.
    fn blocks(&self) -> f64 {
        self.setup_us * self.mbps / BLOCK
    }

    /// They are not the block times beside them.
    pub fn is_off(&self) -> bool {
        (self.blocks() / self.setup_blocks - 1.0).abs() > 0.1
    }
}

/// A finalist, the paper's figures and ours.
#[derive(Serialize)]
pub struct FinalistComparison {
    pub cipher: String,
    pub paper_software: Published,
    pub paper_hardware: Published,
    pub software: Software,
    /// One block at a time.
    pub iterative: Option<Hardware>,
    /// The fastest in CBC encryption that works on several packets at a time.
    pub several: Option<Hardware>,
}

/// One core, wall time.
#[derive(Clone, Serialize)]
pub struct Software {
    pub setup_us: f64,
    /// The same over the time of a block.
    pub setup_blocks: f64,
    /// One packet: each block waits for the one before (CBC).
    pub feedback_mbps: f64,
    /// Many: as many independent blocks side by side as the code likes (ECB).
    pub parallel_mbps: f64,
}

/// A configuration.
#[derive(Clone, Serialize)]
pub struct Hardware {
    pub configuration: String,
    pub in_flight: u64,
    pub fmax_mhz: f64,
    /// Clocks until the first round may start, and those that a fresh key adds to a frame.
    pub first_round: f64,
    pub added: f64,
    pub setup_us: f64,
    pub setup_blocks: f64,
    pub mbps: f64,
}

impl FinalistComparison {
    pub fn paper_setup_ratio(&self) -> f64 {
        self.paper_software.setup_us / self.paper_hardware.setup_us
    }

    /// Key set-up in software over that in hardware, today.
    pub fn setup_ratio(&self) -> Option<f64> {
        Some(self.software.setup_us / self.iterative.as_ref()?.setup_us)
    }

    /// One packet in hardware over one packet in software.
    pub fn one(&self) -> Option<f64> {
        Some(self.iterative.as_ref()?.mbps / self.software.feedback_mbps)
    }

    /// Many packets in hardware over as many blocks side by side as one core takes.
    pub fn many(&self) -> Option<f64> {
        Some(self.several.as_ref()?.mbps / self.software.parallel_mbps)
    }

    /// How much less time software takes for the key than in the paper, and hardware.
    pub fn gains(&self) -> Option<(f64, f64)> {
        let software = self.paper_software.setup_us / self.software.setup_us;
        Some((software, self.paper_hardware.setup_us / self.iterative.as_ref()?.setup_us))
    }
}

impl Software {
    fn of(cipher: &measured::Cipher) -> Self {
        let measured::Cipher { setup_us, block_us, feedback_mbps, parallel_mbps, .. } = *cipher;
        Self { setup_us, setup_blocks: setup_us / block_us.max(1e-6), feedback_mbps, parallel_mbps }
    }
}

pub fn compare(
    finalist: Finalist,
    built: &[Value],
    measured: &measured::Software,
) -> Result<FinalistComparison> {
    let [iterative, several] = shapes(built, &finalist.algorithm);
    Ok(FinalistComparison {
        software: Software::of(measured.cipher(&finalist.algorithm)?),
        cipher: finalist.name,
        paper_software: finalist.software,
        paper_hardware: finalist.hardware,
        iterative,
        several,
    })
}

/// The fastest configurations in CBC encryption, of those with one block in flight and of the others.
pub fn shapes(built: &[Value], algorithm: &str) -> [Option<Hardware>; 2] {
    let mut all: Vec<Hardware> = built.iter().filter_map(|m| hardware(m, algorithm, "cbc")).collect();
    all.sort_by(|a, b| b.mbps.total_cmp(&a.mbps));
    [all.iter().find(|h| h.in_flight == 1).cloned(), all.iter().find(|h| h.in_flight > 1).cloned()]
}

/// What a configuration costs for encryption with a key of 128 bits in `mode`, if it has that.
fn hardware(manifest: &Value, algorithm: &str, mode: &str) -> Option<Hardware> {
    let find = |list: &Value| -> Option<Value> {
        let entry = list.as_array()?.iter().find(|e| {
            e["algorithm"] == algorithm
                && e["key_bytes"] == KEY
                && e["direction"] == "encrypt"
                && (e["mode"].is_null() || e["mode"] == mode)
        })?;
        Some(entry.clone())
    };
    let cycles = find(&manifest["cycles"]["per_block"])?["cycles"].as_f64()?;
    let setup = find(&manifest["cycles"]["key_setup"])?;
    let added = setup["cycles"].as_f64()?;
    // What the paper calls its latency: the time until the first round, if it is known.
    let first_round = setup["first_round"].as_f64().unwrap_or(added);
    let fmax_mhz = manifest["fmax_mhz"].as_f64()?;
    Some(Hardware {
        configuration: manifest["name"].as_str()?.to_owned(),
        in_flight: manifest["in_flight"].as_u64().unwrap_or(1),
        fmax_mhz,
        first_round,
        added,
        setup_us: first_round / fmax_mhz,
        setup_blocks: first_round / cycles,
        mbps: find(&manifest["throughput_mbps"])?["mbps"].as_f64()?,
    })
}

/// Cells with so many digits, or dashes.
fn cells(figures: &[(Option<f64>, usize)]) -> String {
    let cell = |(of, digits): &(Option<f64>, usize)| of.map_or("–".into(), |of| format!("{of:.digits$}"));
    figures.iter().map(cell).collect::<Vec<_>>().join(" | ")
}

pub fn print_setup(page: &mut Page, rows: &[FinalistComparison]) {
    let (paper, wall, rtl) = (Mark::Published, Mark::Measured(By::Wall), Mark::Measured(By::Rtl));
    say!(page, "## Table 1: key-setup latency, 128-bit key\n");
    let columns = [
        ("software µs", paper),
        ("here", wall),
        ("hardware µs", paper),
        ("ours", rtl),
        ("software ÷ hardware", paper),
        ("ours", Mark::Predicted),
        ("software in blocks", paper),
        ("here", wall),
        ("hardware in blocks", paper),
        ("ours", rtl),
        ("clocks to the first round", rtl),
        ("clocks a fresh key adds", rtl),
    ];
    say!(page, "{}", heads(&["cipher", "configuration"], &columns));
    for row in rows {
        let (software, ours) = (&row.software, row.iterative.as_ref());
        let cells = cells(&[
            (Some(row.paper_software.setup_us), 2),
            (Some(software.setup_us), 3),
            (Some(row.paper_hardware.setup_us), 2),
            (ours.map(|h| h.setup_us), 3),
            (Some(row.paper_setup_ratio()), 0),
            (row.setup_ratio(), 1),
            (Some(row.paper_software.setup_blocks), 2),
            (Some(software.setup_blocks), 2),
            (Some(row.paper_hardware.setup_blocks), 2),
            (ours.map(|h| h.setup_blocks), 2),
            (ours.map(|h| h.first_round), 0),
            (ours.map(|h| h.added), 0),
        ]);
        say!(page, "| {} | {} | {cells} |", row.cipher, ours.map_or("–", |h| &h.configuration));
    }
    let slips: Vec<String> = rows
        .iter()
        .filter(|row| row.paper_hardware.is_off())
        .map(|row| {
            let Published { setup_us, setup_blocks, mbps } = row.paper_hardware;
            format!(
                "{} {setup_blocks} block times there, {:.2} from its own {setup_us} µs and {mbps} Mb/s",
                row.cipher,
                row.paper_hardware.blocks()
            )
        })
        .collect();
    if !slips.is_empty() {
        say!(page, "\nA slip of the paper: {}.", slips.join("; "));
    }
    say!(page, "\n{}\n", conclusion(rows));
}

/// What Table 1 says of the claim, in figures of its own.
fn conclusion(rows: &[FinalistComparison]) -> String {
    let range = |values: Vec<f64>| crate::marks::range(values, 1);
    let whole = |values: Vec<f64>| crate::marks::range(values, 0);
    let gains: Vec<(f64, f64)> = rows.iter().filter_map(FinalistComparison::gains).collect();
    let slower = |row: &&FinalistComparison| row.gains().is_some_and(|(_, hardware)| hardware < 1.0);
    let slower: Vec<&str> = rows.iter().filter(slower).map(|row| row.cipher.as_str()).collect();
    let waits = |row: &&FinalistComparison| row.iterative.as_ref().is_some_and(|h| h.setup_blocks >= 1.0);
    let waits: Vec<&str> = rows.iter().filter(waits).map(|row| row.cipher.as_str()).collect();
    let list = |names: Vec<&str>| if names.is_empty() { "none".into() } else { names.join(", ") };
    format!(
        "**The claim is that hardware sets keys up {:.0} to {:.0} times as fast; here it is {} times.** Both sides moved. \
         Software takes {} times less time than in 1999, for a core that is clocked fifteen times as fast, decodes several \
         instructions a clock and has the key schedule of AES as instructions. Hardware takes {} times less; slower than the \
         paper's is ours for {}. A first round that begins beside the schedule is what makes the latency short; longer than \
         a block takes it waits here in {}.",
        rows.iter().map(FinalistComparison::paper_setup_ratio).fold(f64::INFINITY, f64::min),
        rows.iter().map(FinalistComparison::paper_setup_ratio).fold(0.0, f64::max),
        range(rows.iter().filter_map(FinalistComparison::setup_ratio).collect()),
        whole(gains.iter().map(|g| g.0).collect()),
        range(gains.iter().map(|g| g.1).collect()),
        list(slower),
        list(waits)
    )
}

pub fn print_throughput(page: &mut Page, rows: &[FinalistComparison]) {
    let (paper, wall, rtl) = (Mark::Published, Mark::Measured(By::Wall), Mark::Measured(By::Rtl));
    say!(page, "## Table 2: throughput in Mb/s, 128-bit key, encryption\n");
    let columns = [
        ("software", paper),
        ("hardware", paper),
        ("speed-up", paper),
        ("one packet: software here", wall),
        ("ours", rtl),
        ("speed-up", Mark::Predicted),
        ("many packets: software, one core", wall),
        ("ours", rtl),
        ("side by side in ours", rtl),
        ("speed-up", Mark::Predicted),
    ];
    say!(page, "{}", heads(&["cipher", "configurations"], &columns));
    for row in rows {
        let (one, several, software) = (row.iterative.as_ref(), row.several.as_ref(), &row.software);
        let cells = cells(&[
            (Some(row.paper_software.mbps), 2),
            (Some(row.paper_hardware.mbps), 2),
            (Some(row.paper_hardware.mbps / row.paper_software.mbps), 2),
            (Some(software.feedback_mbps), 0),
            (one.map(|h| h.mbps), 0),
            (row.one(), 2),
            (Some(software.parallel_mbps), 0),
            (several.map(|h| h.mbps), 0),
            (several.map(|h| h.in_flight as f64), 0),
            (row.many(), 3),
        ]);
        let names: Vec<&str> =
            [one, several].into_iter().flatten().map(|h| h.configuration.as_str()).collect();
        say!(page, "| {} | {} | {cells} |", row.cipher, names.join(", "));
    }
    say!(
        page,
        "\n*One packet*: CBC, each block waits for the one before, in software as in hardware. *Many*: a slot works on packets of \
         several associations at a time; software on as many independent blocks side by side as the code likes, which is ECB \
         and one core. A machine with n cores has n times that. The paper's hardware is one round and one block, as is ours \
         with one packet (several rounds or a part of one in a clock, whatever is fastest).\n"
    );
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn block_times_follow_from_time_and_throughput() {
        let rc6 = Published { setup_us: 0.17, setup_blocks: 0.15, mbps: 112.87 };
        assert!((rc6.blocks() - 0.15).abs() < 0.001);
        let mars = Published { setup_us: 1.96, setup_blocks: 3.12, mbps: 101.88 };
        assert!((mars.blocks() - 1.56).abs() < 0.001);
    }
}
