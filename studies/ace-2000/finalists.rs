// SPDX-License-Identifier: Apache-2.0
//! Tables 1 and 2: key set-up and throughput of the AES finalists.

use ace_report::{Page, or_dash, say};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::error::Result;
use crate::measured;

/// Key length of the paper's tables, in bytes.
const KEY: usize = 16;
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

/// A finalist, the paper's figures and ours.
#[derive(Serialize)]
pub struct Row {
    pub cipher: String,
    pub paper_software: Published,
    pub paper_hardware: Published,
    pub software: Software,
    /// One block at a time.
    pub iterative: Option<Hardware>,
    /// The fastest shape in CBC encryption.
    pub fastest: Option<Hardware>,
}

/// Wall time.
#[derive(Serialize)]
pub struct Software {
    pub setup_us: f64,
    pub setup_blocks: f64,
    pub feedback_mbps: f64,
    pub parallel_mbps: f64,
}

/// Modelled.
#[derive(Clone, Serialize)]
pub struct Hardware {
    pub configuration: String,
    pub in_flight: u64,
    pub fmax_mhz: f64,
    pub setup_us: f64,
    pub setup_blocks: f64,
    pub mbps: f64,
}

pub fn compare(finalist: Finalist, built: &[Value], measured: &measured::Software) -> Result<Row> {
    let cipher = measured.cipher(&finalist.algorithm)?;
    let software = Software {
        setup_us: cipher.setup_us,
        setup_blocks: cipher.setup_us / cipher.block_us.max(1e-6),
        feedback_mbps: cipher.feedback_mbps,
        parallel_mbps: cipher.parallel_mbps,
    };
    let mut all: Vec<Hardware> =
        built.iter().filter_map(|m| hardware(m, &finalist.algorithm, "cbc")).collect();
    all.sort_by(|a, b| b.mbps.total_cmp(&a.mbps));
    Ok(Row {
        cipher: finalist.name,
        paper_software: finalist.software,
        paper_hardware: finalist.hardware,
        software,
        iterative: all.iter().find(|h| h.in_flight == 1).cloned(),
        fastest: all.first().cloned(),
    })
}

/// What a configuration costs for encryption with a key of 128 bits in `mode`, if it has that.
fn hardware(manifest: &Value, algorithm: &str, mode: &str) -> Option<Hardware> {
    let find = |list: &Value| -> Option<f64> {
        let entry = list.as_array()?.iter().find(|e| {
            e["algorithm"] == algorithm
                && e["key_bytes"] == KEY
                && e["direction"] == "encrypt"
                && (e["mode"].is_null() || e["mode"] == mode)
        })?;
        // Of a key set-up, what the paper calls its latency: the time until the first round, if it is known.
        entry.get("first_round").or(entry.get("cycles")).or(entry.get("mbps"))?.as_f64()
    };
    let (cycles, setup) = (find(&manifest["cycles"]["per_block"])?, find(&manifest["cycles"]["key_setup"])?);
    let fmax_mhz = manifest["fmax_mhz"].as_f64()?;
    Some(Hardware {
        configuration: manifest["name"].as_str()?.to_owned(),
        in_flight: manifest["in_flight"].as_u64().unwrap_or(1),
        fmax_mhz,
        setup_us: setup / fmax_mhz,
        setup_blocks: setup / cycles,
        mbps: find(&manifest["throughput_mbps"])?,
    })
}

pub fn print_setup(page: &mut Page, rows: &[Row]) {
    say!(page, "## Table 1: key-setup latency, 128-bit key\n");
    say!(
        page,
        "| cipher | software µs, paper | here | hardware µs, paper | ours | software ÷ hardware, paper | ours | software in blocks, paper | here | hardware in blocks, paper | ours | configuration |"
    );
    say!(page, "|---|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|---|");
    for row in rows {
        let (software, ours) = (&row.software, row.iterative.as_ref());
        say!(
            page,
            "| {} | {:.2} | {} | {:.2} | {} | {:.0} | {} | {:.2} | {} | {:.2} | {} | {} |",
            row.cipher,
            row.paper_software.setup_us,
            format!("{:.3}", software.setup_us),
            row.paper_hardware.setup_us,
            or_dash(ours.map(|h| h.setup_us), 3),
            row.paper_software.setup_us / row.paper_hardware.setup_us,
            or_dash(ours.map(|h| software.setup_us / h.setup_us), 1),
            row.paper_software.setup_blocks,
            format!("{:.2}", software.setup_blocks),
            row.paper_hardware.setup_blocks,
            or_dash(ours.map(|h| h.setup_blocks), 2),
            ours.map_or("–", |h| &h.configuration),
        );
    }
    say!(page);
}

pub fn print_throughput(page: &mut Page, rows: &[Row]) {
    say!(page, "## Table 2: throughput in Mb/s, 128-bit key, encryption in feedback (CBC)\n");
    say!(
        page,
        "| cipher | software, paper | here (ECB) | hardware, paper | ours, one block at a time | ours, fastest | speed-up, paper | ours, one block | ours, fastest | configurations |"
    );
    say!(page, "|---|--:|--:|--:|--:|--:|--:|--:|--:|---|");
    for row in rows {
        let (one, best) = (row.iterative.as_ref(), row.fastest.as_ref());
        let here = row.software.feedback_mbps;
        let speed_up = |h: Option<&Hardware>| h.map(|h| h.mbps / here);
        say!(
            page,
            "| {} | {:.2} | {} ({}) | {:.2} | {} | {} | {:.2} | {} | {} | {} |",
            row.cipher,
            row.paper_software.mbps,
            format!("{here:.0}"),
            format!("{:.0}", row.software.parallel_mbps),
            row.paper_hardware.mbps,
            or_dash(one.map(|h| h.mbps), 0),
            or_dash(best.map(|h| h.mbps), 0),
            row.paper_hardware.mbps / row.paper_software.mbps,
            or_dash(speed_up(one), 2),
            or_dash(speed_up(best), 2),
            [one, best]
                .into_iter()
                .flatten()
                .map(|h| h.configuration.as_str())
                .collect::<Vec<_>>()
                .join(", "),
        );
    }
    say!(page);
}
