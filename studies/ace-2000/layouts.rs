// SPDX-License-Identifier: Apache-2.0
//! Section 4.2: p rounds in hardware, p times the throughput.

use ace_report::{Page, say};
use serde::Serialize;
use serde_json::Value;

/// Parameters of configurations that say how many rounds are laid out one behind the other, and how many rings of
/// them stand side by side.
const ROUNDS: [&str; 2] = ["RoundsPerClock", "Unrolled"];
const RINGS: &str = "Rings";
/// Room for more blocks in flight, which more rounds want.
const ROOM: &str = "Lanes";
/// Rings that are longer than a round and have no parameter that says so.
const LONG_RINGS: [(&str, u64); 1] = [("serpent_ring_slot", 8)];

/// One way to lay out rounds: `rings` times `behind` of them.
#[derive(Serialize)]
pub struct Layout {
    algorithm: String,
    family: String,
    rings: u64,
    behind: u64,
    rounds: u64,
    configuration: String,
    in_flight: u64,
    lut4: u64,
    fmax_mhz: f64,
    cycles: f64,
    ecb_mbps: f64,
    /// Throughput over that of the layout with the fewest rounds, and over it per round.
    gain: f64,
    gain_per_round: f64,
}

/// Families of configurations that differ in the number of rounds alone.
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
        let laid_out = |name: &str| ROUNDS.contains(&name) || name == ROOM || name == RINGS;
        let mut others: Vec<String> =
            parameters.iter().filter(|(k, _)| !laid_out(k)).map(|(k, v)| format!("{k}={v}")).collect();
        others.insert(0, top.to_owned());
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
                family: others.join(" "),
                rings,
                behind,
                rounds: rings * behind,
                configuration: manifest["name"].as_str().unwrap_or("?").to_owned(),
                in_flight: manifest["in_flight"].as_u64().unwrap_or(1),
                lut4: manifest["area"]["lut4"].as_u64().unwrap_or(0),
                fmax_mhz: manifest["fmax_mhz"].as_f64().unwrap_or(0.0),
                cycles,
                ecb_mbps,
                gain: 1.0,
                gain_per_round: 1.0,
            });
        }
    }
    all.sort_by(|a, b| (&a.algorithm, &a.family, a.rounds).cmp(&(&b.algorithm, &b.family, b.rounds)));
    all.dedup_by(|a, b| (&a.algorithm, &a.configuration) == (&b.algorithm, &b.configuration));
    let family = |l: &Layout| (l.algorithm.clone(), l.family.clone());
    // One way to lay out the rounds is no comparison.
    let count = |l: &Layout, all: &[Layout]| all.iter().filter(|o| family(o) == family(l)).count();
    let keep: Vec<bool> = all.iter().map(|l| count(l, &all) > 1).collect();
    let mut keep = keep.iter();
    all.retain(|_| *keep.next().unwrap_or(&false));
    for at in 0..all.len() {
        let first = all.iter().position(|o| family(o) == family(&all[at])).unwrap_or(at);
        let gain = all[at].ecb_mbps / all[first].ecb_mbps.max(1e-9);
        all[at].gain = gain;
        all[at].gain_per_round = gain / (all[at].rounds as f64 / all[first].rounds.max(1) as f64);
    }
    all
}

pub fn print(page: &mut Page, layouts: &[Layout]) {
    say!(page, "## p rounds in hardware, p times the throughput (section 4.2), ECB encryption\n");
    say!(
        page,
        "| algorithm | p | rings × rounds | configuration | in flight | LUT4 (slot) | Fmax MHz | cycles/block | Mb/s | gain | gain / p |"
    );
    say!(page, "|---|--:|--:|---|--:|--:|--:|--:|--:|--:|--:|");
    for l in layouts {
        say!(
            page,
            "| {} | {} | {} × {} | {} | {} | {} | {:.1} | {:.1} | {:.0} | {:.2} | {:.2} |",
            l.algorithm,
            l.rounds,
            l.rings,
            l.behind,
            l.configuration,
            l.in_flight,
            l.lut4,
            l.fmax_mhz,
            l.cycles,
            l.ecb_mbps,
            l.gain,
            l.gain_per_round
        );
    }
    say!(page);
}
