// SPDX-License-Identifier: Apache-2.0
//! Section 4.2: p rounds in hardware, p times the throughput, of the configurations that there are and of cores that were
//! placed for the question alone.

use ace_report::{Page, say};
use serde::Serialize;
use serde_json::Value;

use crate::error::{Context, Result};
use crate::marks::{By, Mark, heads};
use crate::routed::{Design, Routed};

/// What `python -m ace_flow study ace-2000` has placed; empty while nobody has.
const RESULTS: &str = include_str!(concat!(env!("OUT_DIR"), "/ace-2000-results.json"));
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

/// What was placed for this question, if anything was.
pub fn placed() -> Result<Vec<Layout>> {
    if RESULTS.is_empty() {
        return Ok(Vec::new());
    }
    let routed = Routed::read(RESULTS, FILE)?;
    let of = |design: &Design| -> Result<Layout> {
        let missing = |key: &str| {
            format!("{FILE}: design `{}` has no `{key}`; `{}` writes it", design.name, routed.written_by)
        };
        let rounds = design.rounds.as_ref().with_context(|| missing("rounds"))?;
        Ok(Layout {
            algorithm: rounds.algorithm.clone(),
            rings: rounds.rings,
            behind: rounds.behind,
            rounds: rounds.rings * rounds.behind,
            configuration: design.name.clone(),
            in_flight: rounds.in_flight,
            lut4: design.area.lut4,
            fmax_mhz: design.median.fmax_mhz,
            cycles: rounds.clocks_per_block,
            at_limit: rounds.clocks_per_block <= rounds.block_bytes as f64 / BEAT * AT_LIMIT,
            ecb_mbps: 8.0 * rounds.block_bytes as f64 * design.median.fmax_mhz / rounds.clocks_per_block,
            gain: 1.0,
            gain_per_round: 1.0,
        })
    };
    let mut all = routed.designs.iter().map(of).collect::<Result<Vec<_>>>()?;
    all.sort_by(|a, b| (&a.algorithm, a.rounds).cmp(&(&b.algorithm, b.rounds)));
    Ok(gained(all))
}

const FILE: &str = "studies/ace-2000/results.json";
/// So near to a block in as many clocks as it has beats the stream is what bounds it.
const AT_LIMIT: f64 = 1.05;

pub fn print(page: &mut Page, placed: &[Layout], layouts: &[Layout]) {
    say!(page, "## p rounds in hardware, p times the throughput (section 4.2), ECB encryption\n");
    if !placed.is_empty() {
        say!(page, "Cores that were placed and routed for this question, with five seeds (`{FILE}`):\n");
        print_rows(page, placed);
        say!(page);
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
