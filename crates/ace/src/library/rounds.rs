// SPDX-License-Identifier: Apache-2.0
//! `ace library rounds`: Table 4 of the paper of 2000 for p rounds in hardware, which it left to future work.

use std::collections::BTreeMap;

use ace_library::codec::Stored;
use ace_library::file::Opened;
use ace_library::paper;
use anyhow::Result;
use serde::Serialize;
use serde_json::Value;

use super::ReadArgs;
use super::look::manifest;
use crate::page::say;
use crate::{Outcome, print_json};

#[derive(clap::Args)]
pub struct Rounds {
    #[command(flatten)]
    read: ReadArgs,
}

/// One configuration of an algorithm of which there are several.
#[derive(Serialize)]
struct Row {
    algorithm: String,
    configuration: String,
    cycles_per_block: f64,
    /// How many times as fast a clock as the slowest of its algorithm.
    p: f64,
    lut4: Option<u64>,
    #[serde(flatten)]
    sizes: Sizes,
}

/// In percent of its frames and block RAM contents; index and dictionary count.
#[derive(Clone, Copy, Serialize)]
struct Sizes {
    bits: usize,
    lzw_percent: f64,
    phase1_percent: f64,
    phase2_percent: f64,
    /// Without the dictionary that all share.
    library_percent: f64,
}

/// Clocks a block of each algorithm that a configuration has, in the first mode that does not chain; of a hash in its only one.
fn cycles(manifest: &Value) -> BTreeMap<String, f64> {
    let mut all = BTreeMap::new();
    for entry in manifest["cycles"]["per_block"].as_array().into_iter().flatten() {
        let free = entry["mode"].is_null() || entry["mode"] == "ecb";
        let encrypts = entry["direction"].is_null() || entry["direction"] == "encrypt";
        if let (true, true, Some(algorithm), Some(cycles)) =
            (free, encrypts, entry["algorithm"].as_str(), entry["cycles"].as_f64())
        {
            all.entry(algorithm.to_owned()).or_insert(cycles);
        }
    }
    all
}

/// Of each algorithm with several speeds its configurations, the slowest first: algorithm, name, clocks a block, p.
fn ranked(manifests: &[(String, Value)]) -> Vec<(String, String, f64, f64)> {
    let mut by_algorithm: BTreeMap<String, Vec<(f64, String)>> = BTreeMap::new();
    for (name, manifest) in manifests {
        for (algorithm, cycles) in cycles(manifest) {
            by_algorithm.entry(algorithm).or_default().push((cycles, name.clone()));
        }
    }
    let mut ranked = Vec::new();
    for (algorithm, mut all) in by_algorithm {
        all.sort_by(|a, b| b.0.total_cmp(&a.0).then_with(|| a.1.cmp(&b.1)));
        let Some((slowest, _)) = all.first().cloned() else { continue };
        if all.iter().all(|(cycles, _)| *cycles == slowest) {
            continue;
        }
        ranked.extend(all.into_iter().map(|(c, name)| (algorithm.clone(), name, c, slowest / c)));
    }
    ranked
}

pub fn rounds(args: &Rounds) -> Result<Outcome> {
    let Opened { library, .. } = args.read.open()?;
    let whole = library.images().iter().filter(|image| image.base().is_none());
    let manifests: Vec<(String, Value)> =
        whole.map(|image| (image.name().to_owned(), manifest(image))).collect();
    let (mut rows, mut known) = (Vec::new(), BTreeMap::new());
    for (algorithm, configuration, cycles_per_block, p) in ranked(&manifests) {
        let sizes = match known.get(&configuration) {
            Some(sizes) => *sizes,
            None => {
                let memory = library.memory(&configuration)?;
                let mut data: Vec<u8> = memory.frames().flatten().copied().collect();
                memory.ebr().for_each(|(_, bytes)| data.extend_from_slice(bytes));
                let percent = |bits: u64| 100.0 * bits as f64 / (data.len() * 8) as f64;
                let scheme = paper::compress(&data);
                let way = |c: &paper::Compressed| percent(c.index_bits() + c.dictionary_bits());
                let stored = Stored::of(library.tables(), &memory);
                let bytes = stored.frames + stored.blocks + stored.contents;
                *known.entry(configuration.clone()).or_insert(Sizes {
                    bits: data.len() * 8,
                    lzw_percent: way(&scheme.lzw),
                    phase1_percent: way(&scheme.phase1),
                    phase2_percent: way(&scheme.phase2),
                    library_percent: percent(bytes as u64 * 8),
                })
            }
        };
        let manifest = manifests.iter().find(|(name, _)| *name == configuration);
        let lut4 = manifest.and_then(|(_, manifest)| manifest["area"]["lut4"].as_u64());
        rows.push(Row { algorithm, configuration, cycles_per_block, p, lut4, sizes });
    }
    if args.read.file.json {
        print_json(&rows)?;
        return Ok(Outcome::Well);
    }
    say!(
        "| algorithm | configuration | clocks a block | p | LUT4 | bits | LZW % | phase I % | phase II % | library % |"
    );
    say!("|---|---|--:|--:|--:|--:|--:|--:|--:|--:|");
    for Row { algorithm, configuration, cycles_per_block, p, lut4, sizes } in &rows {
        say!(
            "| {algorithm} | {configuration} | {cycles_per_block:.2} | {p:.1} | {} | {} | {:.2} | {:.2} | {:.2} | {:.2} |",
            lut4.map_or("–".to_owned(), |n| n.to_string()),
            sizes.bits,
            sizes.lzw_percent,
            sizes.phase1_percent,
            sizes.phase2_percent,
            sizes.library_percent
        );
    }
    Ok(Outcome::Well)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn p_is_how_many_times_as_fast_a_clock() {
        let manifest = |algorithm: &str, cycles: f64| {
            json!({ "cycles": { "per_block": [
                { "algorithm": algorithm, "mode": "cbc", "direction": "encrypt", "cycles": 99.0 },
                { "algorithm": algorithm, "mode": "ecb", "direction": "decrypt", "cycles": 98.0 },
                { "algorithm": algorithm, "mode": "ecb", "direction": "encrypt", "cycles": cycles },
            ] } })
        };
        let all = [
            ("ring".to_owned(), manifest("des", 2.0)),
            ("slot".to_owned(), manifest("des", 16.0)),
            ("alone".to_owned(), manifest("sm4", 32.0)),
        ];
        let found = ranked(&all);
        let rows: Vec<(&str, f64)> = found.iter().map(|(_, name, _, p)| (name.as_str(), *p)).collect();
        // What there is once is compared with nothing.
        assert_eq!(rows, [("slot", 1.0), ("ring", 8.0)]);
        assert!(found.iter().all(|(algorithm, ..)| algorithm == "des"));
    }
}
