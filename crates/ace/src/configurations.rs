// SPDX-License-Identifier: Apache-2.0
//! `ace configurations`: the table of manifests.

use std::path::PathBuf;

use ace_board::Catalogue;
use anyhow::{Context, Result, bail};
use serde_json::Value;

use crate::engines::BoardArgs;
use crate::{Outcome, print_json};

/// Print what the built configurations compute and cost: area, clock, cycles, throughput.
///
/// LUT4, CCU2C, EBR and MULT18 are of the core with its modes; the shell (frames, buffers) has a column of its own.
/// Fmax is of the whole slot, the median over the placed and routed seeds. Cycles per block are measured in the
/// simulated RTL, end to end, where a slot works on several frames at a time with as many as keep it busy. Key
/// set-up is what a fresh key adds to a frame, its beats included, in microseconds and in block times. Mb/s is block
/// bits times clock over cycles per block; LUTeq is LUT4 + 2 CCU2C of core and modes. Not tried on silicon.
#[derive(clap::Args)]
pub struct Args {
    /// Folder of the built configurations (default: $ACE_BUILD/configurations, else build/configurations)
    #[arg(long, value_name = "DIR")]
    configurations: Option<PathBuf>,
    /// Print the manifests as one JSON list
    #[arg(long)]
    json: bool,
}

pub fn run(args: &Args) -> Result<Outcome> {
    let catalogue = BoardArgs::catalogue_in(args.configurations.as_deref());
    let manifests = manifests(&catalogue)?;
    if args.json {
        print_json(&manifests)?;
    } else {
        println!(
            "| configuration | in flight | LUT4 | CCU2C | EBR | MULT18 | shell LUT4 | Fmax MHz | seeds | operation | cycles/block | key set-up µs | in blocks | Mb/s | Mb/s per LUTeq |"
        );
        println!("|---|--:|--:|--:|--:|--:|--:|--:|--:|---|--:|--:|--:|--:|--:|");
        for manifest in &manifests {
            print(manifest);
        }
    }
    Ok(if catalogue.problems.is_empty() { Outcome::Well } else { Outcome::Wrong })
}

/// The manifests of a catalogue, as they stand in their files. What is wrong with others is said on stderr.
pub fn manifests(catalogue: &Catalogue) -> Result<Vec<Value>> {
    for problem in &catalogue.problems {
        eprintln!("ace: {problem}");
    }
    if catalogue.configurations.is_empty() {
        bail!("no configurations in {}; build them with `make models`", catalogue.folder.display());
    }
    let mut manifests = Vec::new();
    for configuration in &catalogue.configurations {
        let path = catalogue.folder.join(&configuration.name).join("manifest.json");
        let text = std::fs::read(&path).with_context(|| format!("cannot read {}", path.display()))?;
        let manifest: Value = serde_json::from_slice(&text).with_context(|| format!("{}", path.display()))?;
        manifests.push(manifest);
    }
    Ok(manifests)
}

/// One configuration: its first row carries the figures that hold for all its operations.
fn print(manifest: &Value) {
    let core = |key: &str| manifest["area_core"][key].as_u64().unwrap_or(0);
    let seeds = manifest["seeds"].as_array().map_or(0, Vec::len);
    let clock = manifest["fmax_mhz"].as_f64().unwrap_or(0.0);
    let lut_equivalents = (core("lut4") + 2 * core("ccu2c")).max(1) as f64;
    let mut head = format!(
        "| {} | {} | {} | {} | {} | {} | {} | {clock:.1} | {seeds} ",
        manifest["name"].as_str().unwrap_or("?"),
        manifest["in_flight"].as_u64().unwrap_or(1),
        core("lut4"),
        core("ccu2c"),
        // Block memories and multipliers have no place in a shell but buffers.
        core("ebr"),
        core("mult18"),
        manifest["area_shell"]["lut4"].as_u64().unwrap_or(0),
    );
    // Operations that cost the same share a line: the modes of a cipher usually do.
    let mut lines: Vec<Line> = Vec::new();
    for row in manifest["throughput_mbps"].as_array().into_iter().flatten() {
        let line = Line {
            algorithm: match row["key_bytes"].as_u64() {
                Some(bytes) => format!("{}-{}", text(row, "algorithm"), bytes * 8),
                None => text(row, "algorithm").to_owned(),
            },
            modes: vec![text(row, "mode").to_owned() + text(row, "operation")],
            direction: text(row, "direction").to_owned(),
            cycles: find(
                &manifest["cycles"]["per_block"],
                row,
                &["mode", "operation", "key_bytes", "direction"],
            ),
            setup: find(&manifest["cycles"]["key_setup"], row, &["key_bytes", "direction", "operation"]),
            mbps: row["mbps"].as_f64().unwrap_or(0.0),
        };
        match lines.iter_mut().find(|known| known.costs_the_same(&line)) {
            Some(known) => known.modes.extend(line.modes),
            None => lines.push(line),
        }
    }
    for line in lines {
        let or_dash =
            |value: Option<f64>, digits: usize| value.map_or("–".into(), |v| format!("{v:.digits$}"));
        println!(
            "{head}| {} | {} | {} | {} | {:.0} | {:.2} |",
            [&line.algorithm, line.modes.join("/").as_str(), &line.direction].join(" ").trim_end(),
            line.cycles.map_or("–".into(), number),
            or_dash(line.setup.map(|s| s / clock), 3),
            or_dash(line.setup.zip(line.cycles).map(|(s, c)| s / c), 2),
            line.mbps,
            line.mbps / lut_equivalents,
        );
        head = "| | | | | | | | | ".to_owned();
    }
}

/// One line of the table.
struct Line {
    algorithm: String,
    modes: Vec<String>,
    direction: String,
    cycles: Option<f64>,
    setup: Option<f64>,
    mbps: f64,
}

impl Line {
    fn costs_the_same(&self, other: &Line) -> bool {
        (&self.algorithm, &self.direction, self.cycles, self.setup)
            == (&other.algorithm, &other.direction, other.cycles, other.setup)
    }
}

fn text<'a>(row: &'a Value, key: &str) -> &'a str {
    row[key].as_str().unwrap_or("")
}

fn number(value: f64) -> String {
    if value.fract() == 0.0 { format!("{value:.0}") } else { format!("{value:.1}") }
}

/// The cycles of the entry that speaks of the same thing as `row`, as far as it says.
fn find(list: &Value, row: &Value, keys: &[&str]) -> Option<f64> {
    list.as_array()?
        .iter()
        .find(|entry| {
            entry["algorithm"] == row["algorithm"]
                && keys.iter().all(|key| entry[key].is_null() || row[key].is_null() || entry[key] == row[key])
        })?
        .get("cycles")?
        .as_f64()
}
