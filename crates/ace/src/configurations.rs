// SPDX-License-Identifier: Apache-2.0
//! `ace configurations`: the table of manifests.

use std::path::PathBuf;

use ace_board::Catalogue;
use anyhow::{Context, Result, bail};
use serde_json::Value;

use crate::engines::BoardArgs;
use crate::page::Output;
use crate::values::folder;
use ace_report::{Outcome, print_json, say};

/// Print what the built configurations compute and cost: area, clock, cycles, throughput.
///
/// LUT4, CCU2C, EBR and MULT18 are of the core; its modes and the shell (frames, buffers) have a column each.
/// Fmax is of the whole slot, the median over the placed and routed seeds. Cycles per block are measured in the
/// simulated RTL, end to end, where a slot works on several frames at a time with as many as keep it busy. Key
/// set-up is what a fresh key adds to a frame, its beats included, in microseconds and in block times, from a frame
/// of one block to one of 16. Mb/s is block bits times clock over cycles per block; LUTeq is LUT4 + 2 CCU2C of the
/// core. Not tried on silicon.
#[derive(clap::Args)]
pub struct Args {
    /// Folder of the built configurations (default: $ACE_BUILD/configurations, else build/configurations)
    #[arg(long, value_name = "DIR", value_parser = folder)]
    configurations: Option<PathBuf>,
    /// Print the manifests as one JSON list
    #[arg(long)]
    json: bool,
}

pub fn run(page: &mut Output, args: &Args) -> Result<Outcome> {
    let catalogue = BoardArgs::catalogue_in(args.configurations.as_deref());
    let manifests = manifests(&catalogue)?;
    if args.json {
        print_json(&manifests)?;
    } else {
        say!(
            page,
            "| configuration | in flight | LUT4 | CCU2C | EBR | MULT18 | modes LUT4 | shell LUT4 | Fmax MHz | seeds | operation | cycles/block | key set-up µs | in blocks | Mb/s | Mb/s per LUTeq |"
        );
        say!(page, "|---|--:|--:|--:|--:|--:|--:|--:|--:|--:|---|--:|--:|--:|--:|--:|");
        for manifest in &manifests {
            print(page, manifest);
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
        let text = ace_fs::read(&path).with_context(|| format!("cannot read {}", path.display()))?;
        let manifest: Value = serde_json::from_slice(&text).with_context(|| format!("{}", path.display()))?;
        manifests.push(manifest);
    }
    Ok(manifests)
}

/// One configuration: its first row carries the figures that hold for all its operations.
fn print(page: &mut Output, manifest: &Value) {
    let core = |key: &str| manifest["area_core"][key].as_u64().unwrap_or(0);
    let seeds = manifest["seeds"].as_array().map_or(0, Vec::len);
    let clock = manifest["fmax_mhz"].as_f64().unwrap_or(0.0);
    let lut_equivalents = (core("lut4") + 2 * core("ccu2c")).max(1) as f64;
    let mut head = format!(
        "| {} | {} | {} | {} | {} | {} | {} | {} | {clock:.1} | {seeds} ",
        manifest["name"].as_str().unwrap_or("?"),
        manifest["in_flight"].as_u64().unwrap_or(1),
        core("lut4"),
        core("ccu2c"),
        // Block memories and multipliers have no place in a shell but buffers.
        core("ebr"),
        core("mult18"),
        manifest["area_modes"]["lut4"].as_u64().unwrap_or(0),
        manifest["area_shell"]["lut4"].as_u64().unwrap_or(0),
    );
    // Operations of an algorithm that take the same number of cycles share a line.
    let mut lines: Vec<Line> = Vec::new();
    for row in manifest["throughput_mbps"].as_array().into_iter().flatten() {
        let keys = ["mode", "operation", "key_bytes", "direction"];
        let Some(cycles) = find(&manifest["cycles"]["per_block"], row, &keys, "cycles") else { continue };
        let setup = ["first_block", "cycles"].into_iter().filter_map(|what| {
            find(&manifest["cycles"]["key_setup"], row, &["key_bytes", "direction", "operation"], what)
        });
        let algorithm = text(row, "algorithm").to_owned();
        let known = lines.iter().position(|l| l.algorithm == algorithm && number(l.cycles) == number(cycles));
        let at = known.unwrap_or_else(|| {
            lines.push(Line {
                algorithm,
                cycles,
                mbps: row["mbps"].as_f64().unwrap_or(0.0),
                ..Line::default()
            });
            lines.len() - 1
        });
        let line = &mut lines[at];
        line.key_bits.extend(row["key_bytes"].as_u64().map(|bytes| bytes * 8));
        line.modes.push(text(row, "mode").to_owned() + text(row, "operation"));
        line.directions.push(text(row, "direction").to_owned());
        line.setup.extend(setup);
    }
    for mut line in lines {
        say!(
            page,
            "{head}| {} | {} | {} | {} | {:.0} | {:.2} |",
            line.operations(),
            number(line.cycles),
            line.range(3, |setup| setup / clock),
            line.range(2, |setup| setup / line.cycles),
            line.mbps,
            line.mbps / lut_equivalents,
        );
        head = "| | | | | | | | | | ".to_owned();
    }
}

/// One line of the table.
#[derive(Default)]
struct Line {
    algorithm: String,
    key_bits: Vec<u64>,
    modes: Vec<String>,
    directions: Vec<String>,
    cycles: f64,
    /// Clocks that a fresh key adds, of all that share the line.
    setup: Vec<f64>,
    mbps: f64,
}

impl Line {
    /// `aes 128/192/256 ecb/cbc encrypt`; a direction is named if the other one is not there.
    fn operations(&mut self) -> String {
        let mut once = Vec::new();
        for list in [&mut self.modes, &mut self.directions] {
            let mut distinct: Vec<String> = Vec::new();
            list.retain(|item| {
                let new = !distinct.contains(item);
                if new {
                    distinct.push(item.clone());
                }
                new
            });
            once.push(distinct);
        }
        self.key_bits.sort_unstable();
        self.key_bits.dedup();
        let bits = match self.key_bits[..] {
            [first, .., last] if self.key_bits.len() > 4 => format!("{first} to {last}"),
            _ => self.key_bits.iter().map(u64::to_string).collect::<Vec<_>>().join("/"),
        };
        let direction = if once[1].len() == 1 { once[1][0].as_str() } else { "" };
        let words = [self.algorithm.as_str(), &bits, &once[0].join("/"), direction];
        words.into_iter().filter(|w| !w.is_empty()).collect::<Vec<_>>().join(" ")
    }

    /// From the smallest to the largest.
    fn range(&self, digits: usize, unit: impl Fn(f64) -> f64) -> String {
        let low = self.setup.iter().copied().reduce(f64::min).map(&unit);
        let high = self.setup.iter().copied().reduce(f64::max).map(&unit);
        match (low.map(|v| format!("{v:.digits$}")), high.map(|v| format!("{v:.digits$}"))) {
            (Some(low), Some(high)) if low != high => format!("{low} to {high}"),
            (Some(low), _) => low,
            _ => "–".into(),
        }
    }
}

fn text<'a>(row: &'a Value, key: &str) -> &'a str {
    row[key].as_str().unwrap_or("")
}

fn number(value: f64) -> String {
    if value.fract() == 0.0 { format!("{value:.0}") } else { format!("{value:.1}") }
}

/// A figure of the entry that speaks of the same thing as `row`, as far as it says.
fn find(list: &Value, row: &Value, keys: &[&str], figure: &str) -> Option<f64> {
    list.as_array()?
        .iter()
        .find(|entry| {
            entry["algorithm"] == row["algorithm"]
                && keys.iter().all(|key| entry[key].is_null() || row[key].is_null() || entry[key] == row[key])
        })?
        .get(figure)?
        .as_f64()
}
