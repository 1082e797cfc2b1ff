// SPDX-License-Identifier: Apache-2.0
//! `ace configurations`: the table of manifests.

use std::path::PathBuf;

use anyhow::{Context, Result, bail};
use serde_json::Value;

use crate::engines::BoardArgs;
use crate::{Outcome, print_json};

/// Print what the built configurations compute and cost: area, clock, cycles, throughput.
///
/// Area is of the whole slot, with the core and its modes alone in brackets; the clock is the median over the
/// placed and routed seeds; cycles are measured in the simulated RTL; Mb/s is block bits times clock over cycles per
/// block. Not tried on silicon.
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
    if args.json {
        print_json(&manifests)?;
    } else {
        println!(
            "| configuration | LUT4 | CCU2C | FF | EBR | Fmax MHz | seeds | operation | cycles/block | key set-up | Mb/s |"
        );
        println!("|---|--:|--:|--:|--:|--:|--:|---|--:|--:|--:|");
        for manifest in &manifests {
            print(manifest);
        }
    }
    Ok(if catalogue.problems.is_empty() { Outcome::Well } else { Outcome::Wrong })
}

/// One configuration: its first row carries the figures that hold for all its operations.
fn print(manifest: &Value) {
    let area = |key: &str| {
        let of = |group: &str| manifest[group][key].as_u64().unwrap_or(0);
        match (of("area"), of("area_core")) {
            (0, _) => "0".to_owned(),
            (slot, core) => format!("{slot} ({core})"),
        }
    };
    let seeds = manifest["seeds"].as_array().map_or(0, Vec::len);
    let mut head = format!(
        "| {} | {} | {} | {} | {} | {:.1} | {seeds} ",
        manifest["name"].as_str().unwrap_or("?"),
        area("lut4"),
        area("ccu2c"),
        area("ff"),
        manifest["area"]["ebr"],
        manifest["fmax_mhz"].as_f64().unwrap_or(0.0),
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
        println!(
            "{head}| {} | {} | {} | {:.0} |",
            [&line.algorithm, line.modes.join("/").as_str(), &line.direction].join(" ").trim_end(),
            line.cycles.map_or("–".into(), number),
            line.setup.map_or("–".into(), number),
            line.mbps
        );
        head = "| | | | | | | ".to_owned();
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
