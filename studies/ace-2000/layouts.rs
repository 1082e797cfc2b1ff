// SPDX-License-Identifier: Apache-2.0
//! Section 4.2: p rounds in hardware, p times the throughput, of the configurations that there are and of cores that were
//! placed for the question alone.

use std::collections::BTreeMap;

use ace_report::{Page, say};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::error::{Context, Result};
use crate::marks::{By, Mark, cell, heads};
use crate::measured::Recorded;

/// What `python -m ace_flow rounds` has placed; empty while nobody has.
const RESULTS: &str = include_str!(concat!(env!("OUT_DIR"), "/ace-2000-rounds.json"));
/// Bytes that a slot's stream carries a clock.
const BEAT: f64 = 8.0;

/// Parameters of configurations that say how many rounds are laid out one behind the other, and how many rings of
/// them stand side by side.
const ROUNDS: [&str; 2] = ["RoundsPerClock", "Unrolled"];
const RINGS: &str = "Rings";
/// Rings that are longer than a round and have no parameter that says so.
const LONG_RINGS: [(&str, u64); 1] = [("serpent_ring_slot", 8)];

/// One way to lay out rounds: `rings` times `behind` of them.
#[derive(Serialize)]
pub struct Layout {
    pub algorithm: String,
    rings: u64,
    behind: u64,
    pub rounds: u64,
    configuration: String,
    in_flight: u64,
    lut4: u64,
    fmax_mhz: f64,
    cycles: f64,
    /// The stream brings no more blocks.
    at_limit: bool,
    ecb_mbps: f64,
    /// Throughput over that of the layout with the fewest rounds, and over it per round.
    pub gain: f64,
    pub gain_per_round: f64,
}

/// Configurations of an algorithm that differ in the number of rounds that are laid out.
pub fn layouts(built: &[Value]) -> Vec<Layout> {
    let mut all: Vec<Layout> = Vec::new();
    for manifest in built {
        let Some(parameters) = manifest["parameters"].as_object() else { continue };
        let top = manifest["top"].as_str().unwrap_or("?");
        let of = |name: &str| parameters.get(name).and_then(Value::as_u64);
        let rings = of(RINGS).unwrap_or(1);
        let long = LONG_RINGS.iter().find(|l| l.0 == top).map(|l| l.1);
        let Some(behind) =
            ROUNDS.iter().find_map(|n| of(n)).or(long).or(top.ends_with("_ring_slot").then_some(1))
        else {
            continue;
        };
        for algorithm in
            manifest["can"].as_array().into_iter().flatten().filter_map(|c| c["algorithm"].as_str())
        {
            let of = |list: &Value, key: &str| {
                list.as_array()?
                    .iter()
                    .filter(|e| {
                        e["algorithm"] == algorithm && e["mode"] == "ecb" && e["direction"] == "encrypt"
                    })
                    .find_map(|e| e[key].as_f64())
            };
            let figures =
                of(&manifest["cycles"]["per_block"], "cycles").zip(of(&manifest["throughput_mbps"], "mbps"));
            let Some((cycles, ecb_mbps)) = figures else { continue };
            all.push(Layout {
                algorithm: algorithm.to_owned(),
                rings,
                behind,
                rounds: rings * behind,
                configuration: manifest["name"].as_str().unwrap_or("?").to_owned(),
                in_flight: manifest["in_flight"].as_u64().unwrap_or(1),
                lut4: manifest["area"]["lut4"].as_u64().unwrap_or(0),
                fmax_mhz: manifest["fmax_mhz"].as_f64().unwrap_or(0.0),
                cycles,
                at_limit: cycles
                    <= ecb_mbps * cycles / manifest["fmax_mhz"].as_f64().unwrap_or(1.0) / 8.0 / BEAT
                        * AT_LIMIT,
                ecb_mbps,
                gain: 1.0,
                gain_per_round: 1.0,
            });
        }
    }
    // One way to lay out the rounds is no comparison. Of those with as many rounds the fastest counts.
    all.sort_by(|a, b| {
        let rounds = (&a.algorithm, a.rounds).cmp(&(&b.algorithm, b.rounds));
        rounds.then(b.ecb_mbps.total_cmp(&a.ecb_mbps))
    });
    all.dedup_by(|a, b| (&a.algorithm, a.rounds) == (&b.algorithm, b.rounds));
    gained(all)
}

/// Gains over the layout of the same algorithm with the fewest rounds.
fn gained(mut all: Vec<Layout>) -> Vec<Layout> {
    let several: Vec<bool> =
        all.iter().map(|l| all.iter().filter(|o| o.algorithm == l.algorithm).count() > 1).collect();
    let mut several = several.iter();
    all.retain(|_| several.next() == Some(&true));
    for at in 0..all.len() {
        let first = all.iter().filter(|o| o.algorithm == all[at].algorithm).min_by_key(|o| o.rounds);
        let Some((mbps, rounds)) = first.map(|first| (first.ecb_mbps, first.rounds)) else { continue };
        all[at].gain = all[at].ecb_mbps / mbps.max(1e-9);
        all[at].gain_per_round = all[at].gain / (all[at].rounds as f64 / rounds.max(1) as f64);
    }
    all
}

/// What was placed for this question.
#[derive(Default, Deserialize, Serialize)]
pub struct Placed {
    recorded: Option<Recorded>,
    pub layouts: Vec<PlacedLayout>,
    /// By row the seeds with which it was not placed yet.
    missing: BTreeMap<String, Vec<u64>>,
}

/// Of what a row takes.
#[derive(Deserialize, Serialize)]
struct Cells {
    lut4: u64,
}

/// A row of it. Gains are over the finalist's first row, on the seeds that both have.
#[derive(Deserialize, Serialize)]
pub struct PlacedLayout {
    pub finalist: String,
    name: String,
    rings: u64,
    behind: u64,
    pub rounds: u64,
    area: Cells,
    routes: Vec<Value>,
    fmax_mhz: f64,
    cycles_per_block: f64,
    mbps: f64,
    stream_mbps: f64,
    pub gain: Option<f64>,
    pub gain_per_round: Option<f64>,
    stream_gain: Option<f64>,
}

/// It, if there is anything.
pub fn placed() -> Result<Placed> {
    if RESULTS.trim().is_empty() {
        return Ok(Placed::default());
    }
    serde_json::from_str(RESULTS)
        .with_context(|| format!("{FILE}: write it anew with python -m ace_flow rounds"))
}

const FILE: &str = "studies/ace-2000/rounds.json";
/// So near to a block in as many clocks as it has beats the stream is what bounds it.
const AT_LIMIT: f64 = 1.05;

pub fn print(page: &mut Page, placed: &Placed, layouts: &[Layout]) {
    say!(page, "## p rounds in hardware, p times the throughput (section 4.2), ECB encryption\n");
    if let Some(recorded) = placed.recorded.as_ref().filter(|_| !placed.layouts.is_empty()) {
        say!(page, "Rows that were placed for this question ({}):\n", recorded.about());
        print_placed(page, placed);
    }
    say!(page, "Configurations of the library, whole slots:\n");
    print_rows(page, layouts);
    say!(
        page,
        "\np counts the rounds laid out in hardware: so many one behind the other, and so many rings of them side by side. \
         With one block in flight the rounds are one long path in a clock, and the clock falls as fast \
         as rounds are added. With several the rounds are stages of a ring, each with registers and a block of its own. A \
         slot takes and gives {BEAT} bytes a clock: *at the limit* no more rounds help. The paper left p rounds as a \
         calculation.\n"
    );
}

fn print_placed(page: &mut Page, placed: &Placed) {
    let (by, rtl) = (Mark::Measured(By::Placed), Mark::Measured(By::Rtl));
    let columns = [
        ("seeds", by),
        ("LUT4", by),
        ("Fmax MHz", by),
        ("cycles/block", rtl),
        ("Mb/s", rtl),
        ("a beat a clock, Mb/s", by),
        ("gain", rtl),
        ("gain ÷ p", rtl),
        ("gain that the stream leaves room for", by),
    ];
    say!(page, "{}", heads(&["finalist", "p", "rings × rounds", "configuration"], &columns));
    for l in &placed.layouts {
        say!(
            page,
            "| {} | {} | {} × {} | {} | {} | {} | {:.1} | {:.1} | {:.0} | {:.0} | {} | {} | {} |",
            l.finalist,
            l.rounds,
            l.rings,
            l.behind,
            l.name,
            l.routes.len(),
            l.area.lut4,
            l.fmax_mhz,
            l.cycles_per_block,
            l.mbps,
            l.stream_mbps,
            cell(l.gain, 2),
            cell(l.gain_per_round, 2),
            cell(l.stream_gain, 2)
        );
    }
    let rows: Vec<&str> = placed.missing.keys().map(String::as_str).collect();
    match rows.is_empty() {
        true => say!(page),
        false => say!(page, "\nNot placed with all seeds yet: {}.\n", rows.join(", ")),
    }
}

fn print_rows(page: &mut Page, layouts: &[Layout]) {
    let (placed, rtl) = (Mark::Measured(By::Placed), Mark::Measured(By::Rtl));
    let columns = [
        ("in flight", placed),
        ("LUT4", placed),
        ("Fmax MHz", placed),
        ("cycles/block", rtl),
        ("Mb/s", rtl),
        ("gain", rtl),
        ("gain ÷ p", rtl),
    ];
    say!(page, "{}", heads(&["algorithm", "p", "rings × rounds", "configuration"], &columns));
    for l in layouts {
        say!(
            page,
            "| {} | {} | {} × {} | {} | {} | {} | {:.1} | {:.1}{} | {:.0} | {:.2} | {:.2} |",
            l.algorithm,
            l.rounds,
            l.rings,
            l.behind,
            l.configuration,
            l.in_flight,
            l.lut4,
            l.fmax_mhz,
            l.cycles,
            if l.at_limit { ", at the limit" } else { "" },
            l.ecb_mbps,
            l.gain,
            l.gain_per_round
        );
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn what_was_placed_is_read_and_printed() {
        let row = json!({
            "finalist": "aes", "name": "aes-enc-x8", "rings": 2, "behind": 1, "rounds": 2, "parameters": {},
            "area": { "lut4": 5000, "ccu2c": 1, "ff": 1, "dpr16x4": 0, "ebr": 0, "mult18": 0 },
            "routes": [{ "seed": 1101, "fmax_mhz": 140.0 }], "fmax_mhz": 140.0, "cycles_per_block": 5.0,
            "mbps": 3584.0, "stream_mbps": 8960.0, "gain_seeds": [1101], "gain": 1.9, "gain_per_round": 0.95,
            "stream_gain": 4.9,
        });
        let recorded =
            json!({ "date": "2026-11-26", "machine": "x", "command": "python -m ace_flow rounds" });
        let text = json!({ "recorded": recorded, "layouts": [row], "missing": { "aes-pipe": [1101] } });
        let placed: Placed = serde_json::from_value(text).unwrap();
        let mut page = Page::new();
        print(&mut page, &placed, &[]);
        let page = page.render(ace_report::Style::Md);
        assert!(page.contains(
            "| aes | 2 | 2 × 1 | aes-enc-x8 | 1 | 5000 | 140.0 | 5.0 | 3584 | 8960 | 1.90 | 0.95 | 4.90 |"
        ));
        assert!(page.contains("Not placed with all seeds yet: aes-pipe."));
    }

    #[test]
    fn a_ring_stands_beside_its_one_round() {
        let manifest = |name: &str, top: &str, parameters: Value, in_flight: u64, cycles: f64, mbps: f64| {
            let of = |key: &str, figure: f64| json!([{ "algorithm": "serpent", "mode": "ecb", "direction": "encrypt", key: figure }]);
            json!({
                "name": name, "top": top, "parameters": parameters, "in_flight": in_flight, "fmax_mhz": 100.0,
                "can": [{ "algorithm": "serpent" }],
                "cycles": { "per_block": of("cycles", cycles) }, "throughput_mbps": of("mbps", mbps),
            })
        };
        let built = [
            manifest("ring", "serpent_ring_slot", json!({ "Lanes": 16 }), 16, 4.0, 3200.0),
            manifest("one", "serpent_slot", json!({ "RoundsPerClock": 1 }), 1, 32.0, 400.0),
            manifest("slow", "serpent_slot", json!({ "RoundsPerClock": 1 }), 1, 33.0, 390.0),
        ];
        let found = layouts(&built);
        let rows: Vec<_> = found.iter().map(|l| (l.configuration.as_str(), l.rounds, l.gain)).collect();
        assert_eq!(rows, [("one", 1, 1.0), ("ring", 8, 8.0)]);
        assert_eq!(found[1].gain_per_round, 1.0);
        // One way alone is compared with nothing.
        assert!(layouts(&built[..1]).is_empty());
    }
}
