// SPDX-License-Identifier: Apache-2.0
//! Table 4 of the paper of 2000 for p rounds in hardware, which it left to future work.

use std::collections::BTreeMap;

use ace_library::Library;
use ace_library::file::Stored;
use ace_report::{Page, Table};
use serde::Serialize;
use serde_json::Value;

use ace_board::library::manifest;

use super::scheme;
use crate::error::Result;

/// Configurations that differ in p, the slowest of an algorithm first.
#[derive(Serialize)]
#[serde(transparent)]
pub struct Rounds {
    rows: Vec<RoundsVariant>,
}

/// One configuration of an algorithm of which there are several.
#[derive(Serialize)]
struct RoundsVariant {
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

/// Of all configurations that a library holds whole.
///
/// # Errors
/// One cannot be taken out of it.
pub fn rounds(library: &Library) -> Result<Rounds> {
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
                let scheme = scheme::compress(&data);
                let way = |c: &scheme::Compressed| percent(c.index_bits() + c.dictionary_bits());
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
        rows.push(RoundsVariant { algorithm, configuration, cycles_per_block, p, lut4, sizes });
    }
    Ok(Rounds { rows })
}

/// Puts the table on a page.
pub fn print(page: &mut Page, rounds: &Rounds) {
    let percent = |value: f64| format!("{value:.2}");
    let table = Table::of(&rounds.rows).left("algorithm", |r| &r.algorithm);
    let table = table.left("configuration", |r| &r.configuration);
    let table = table.right("clocks a block", |r| percent(r.cycles_per_block));
    let table = table.right("p", |r| format!("{:.1}", r.p));
    let table = table.right("LUT4", |r| r.lut4.map_or("–".to_owned(), |n| n.to_string()));
    let table = table.right("bits", |r| r.sizes.bits).right("LZW %", |r| percent(r.sizes.lzw_percent));
    let table = table.right("phase I %", |r| percent(r.sizes.phase1_percent));
    let table = table.right("phase II %", |r| percent(r.sizes.phase2_percent));
    page.table(&table.right("library %", |r| percent(r.sizes.library_percent)));
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
