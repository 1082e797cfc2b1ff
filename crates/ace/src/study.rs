// SPDX-License-Identifier: Apache-2.0
//! `ace study`: a paper's tables beside ours.

pub mod compression;
mod drp2006;
pub mod idea2004;
mod molen2003;
mod pilchard2002;
mod routed;
mod scheduling;

use std::path::PathBuf;
use std::time::Duration;

use ace_engine::Algorithm;
use ace_engine::measure::cipher_speed;
use anyhow::{Context, Result};
use clap::ValueEnum;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::configurations::manifests;
use crate::engines::BoardArgs;
use crate::page::say;
use crate::{Outcome, print_json};

/// Key length of the paper's tables, in bytes.
const KEY: usize = 16;
/// Parameters of configurations that say how many rounds are laid out one behind the other, and how many rings of
/// them stand side by side.
const ROUNDS: [&str; 2] = ["RoundsPerClock", "Unrolled"];
const RINGS: &str = "Rings";
/// Room for more blocks in flight, which more rounds want.
const ROOM: &str = "Lanes";
/// Rings that are longer than a round and have no parameter that says so.
const LONG_RINGS: [(&str, u64); 1] = [("serpent_ring_slot", 8)];

/// Print a paper's tables beside ours.
///
/// Hardware figures are modelled: cycles counted in the simulated RTL at the placed and routed clock of the built
/// configurations (LFE5U-45F, speed 6; not tried on silicon). Software figures are wall time, measured now on this
/// CPU with the cpu engine's ciphers.
#[derive(clap::Args)]
pub struct Args {
    /// Which paper
    #[arg(value_enum)]
    paper: Paper,
    /// Only this table; 4 is printed only if asked for
    #[arg(long, value_enum)]
    table: Option<Table>,
    /// Bitstreams to compress besides what is built (table 4)
    #[arg(long, value_name = "FILE", num_args = 1..)]
    also: Vec<PathBuf>,
    /// Time to measure each cipher in software, in seconds
    #[arg(long, value_name = "SECONDS", default_value_t = 0.5, value_parser = seconds)]
    measure: f64,
    /// Folder of the built configurations (default: $ACE_BUILD/configurations, else build/configurations)
    #[arg(long, value_name = "DIR")]
    configurations: Option<PathBuf>,
    /// What went through a gateway, in TOML (pilchard-2002, tables 3 and 4)
    #[arg(long, value_name = "RESULT")]
    vpn: Option<PathBuf>,
    /// Few traces (scheduling); without the array's columns (drp-2006)
    #[arg(long)]
    quick: bool,
    /// Print as JSON
    #[arg(long)]
    json: bool,
}

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Paper {
    /// Dandalis, Prasanna, Rolim: An Adaptive Cryptographic Engine for IPSec Architectures (FCCM 2000)
    #[value(name = "ace-2000")]
    Ace2000,
    /// Hasegawa and others: An Adaptive Cryptographic Accelerator for IPsec on Dynamically Reconfigurable Processor
    /// (2006): its machine and the overhead of its reconfiguration
    #[value(name = "drp-2006")]
    Drp2006,
    /// Ashruf and others: Reconfigurable Implementation for the AES Algorithm (2003): a core with a reconfigurable unit
    #[value(name = "molen-2003")]
    Molen2003,
    /// Granado and others: Improving the Performance of the IDEA Cryptographic Algorithm Using FPGAs (2004): three data
    /// paths, three ways in, and what its future work gives
    #[value(name = "idea-2004")]
    Idea2004,
    /// Cheung, Leong: Implementation of an FPGA Based Accelerator for Virtual Private Networks (2002): DES by rounds in a
    /// clock, triple DES behind a block interface, software against accelerator
    #[value(name = "pilchard-2002")]
    Pilchard2002,
    /// No paper: policies beside what no policy can beat (docs/scheduling.md)
    Scheduling,
}

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Table {
    /// Key-setup latency of the AES finalists
    #[value(name = "1")]
    KeySetup,
    /// Throughput of the AES finalists
    #[value(name = "2")]
    Throughput,
    /// Compression of configurations, dictionary counted (with Table 3)
    #[value(name = "4")]
    Compression,
    /// p rounds in hardware, p times the throughput (section 4.2)
    Rounds,
}

fn seconds(text: &str) -> Result<f64, String> {
    match text.parse::<f64>() {
        Ok(value) if (0.001..=600.0).contains(&value) => Ok(value),
        _ => Err("a number from 0.001 to 600 is wanted".into()),
    }
}

/// studies/ace-2000/paper.toml.
#[derive(Deserialize)]
struct Figures {
    finalist: Vec<Finalist>,
    compressed: Vec<compression::Published>,
}

#[derive(Deserialize)]
struct Finalist {
    name: String,
    algorithm: String,
    software: Published,
    hardware: Published,
}

#[derive(Clone, Copy, Deserialize, Serialize)]
struct Published {
    setup_us: f64,
    setup_blocks: f64,
    mbps: f64,
}

/// A finalist, the paper's figures and ours.
#[derive(Serialize)]
struct Row {
    cipher: String,
    paper_software: Published,
    paper_hardware: Published,
    software: Option<Software>,
    /// One block at a time.
    iterative: Option<Hardware>,
    /// The fastest shape in CBC encryption.
    fastest: Option<Hardware>,
}

/// Measured now, wall time.
#[derive(Serialize)]
struct Software {
    setup_us: f64,
    setup_blocks: f64,
    feedback_mbps: f64,
    parallel_mbps: f64,
}

/// Modelled.
#[derive(Clone, Serialize)]
struct Hardware {
    configuration: String,
    in_flight: u64,
    fmax_mhz: f64,
    setup_us: f64,
    setup_blocks: f64,
    mbps: f64,
}

/// One way to lay out rounds: `rings` times `behind` of them.
#[derive(Serialize)]
struct Layout {
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

pub fn run(args: &Args) -> Result<Outcome> {
    match args.paper {
        Paper::Ace2000 => {}
        Paper::Drp2006 => {
            let study = drp2006::study(args.configurations.as_deref(), args.quick)?;
            if args.json {
                print_json(&study)?
            } else {
                drp2006::print(&study)
            }
            return Ok(Outcome::Well);
        }
        Paper::Molen2003 => {
            let study = molen2003::study()?;
            if args.json {
                print_json(&study)?
            } else {
                molen2003::print(&study)
            }
            return Ok(Outcome::Well);
        }
        Paper::Idea2004 => {
            let study = idea2004::study(args.measure)?;
            if args.json {
                print_json(&study)?
            } else {
                idea2004::print(&study)
            }
            return Ok(Outcome::Well);
        }
        Paper::Pilchard2002 => {
            let catalogue = BoardArgs::catalogue_in(args.configurations.as_deref());
            // The study says what it has without any.
            let built = if catalogue.configurations.is_empty() { Vec::new() } else { manifests(&catalogue)? };
            let study = pilchard2002::study(&built, args.vpn.as_deref(), args.measure)?;
            if args.json {
                print_json(&study)?
            } else {
                pilchard2002::print(&study)
            }
            return Ok(Outcome::Well);
        }
        Paper::Scheduling => {
            let study = scheduling::study(args.configurations.as_deref(), args.quick)?;
            if args.json {
                print_json(&study)?
            } else {
                scheduling::print(&study)
            }
            return Ok(Outcome::Well);
        }
    }
    let figures: Figures = toml::from_str(include_str!("../../../studies/ace-2000/paper.toml"))
        .context("studies/ace-2000/paper.toml")?;
    let catalogue = BoardArgs::catalogue_in(args.configurations.as_deref());
    let built = manifests(&catalogue)?;
    if args.table == Some(Table::Compression) {
        let rows = compression::rows(&catalogue, &args.also)?;
        if args.json {
            print_json(&serde_json::json!({ "paper": figures.compressed, "rows": rows }))?;
        } else {
            compression::print(&figures.compressed, &rows);
        }
        return Ok(Outcome::Well);
    }
    let wants = |table| args.table.is_none_or(|t| t == table);
    let rows: Vec<Row> = if wants(Table::KeySetup) || wants(Table::Throughput) {
        let budget = Duration::from_secs_f64(args.measure);
        figures.finalist.into_iter().map(|f| compare(f, &built, budget)).collect()
    } else {
        Vec::new()
    };
    let layouts = if wants(Table::Rounds) { layouts(&built) } else { Vec::new() };
    if args.json {
        print_json(&serde_json::json!({ "finalists": rows, "rounds": layouts }))?;
        return Ok(Outcome::Well);
    }
    for row in &rows {
        if row.iterative.is_none() {
            eprintln!("ace: no configuration of {} is built; `make models` builds them", row.cipher);
        }
    }
    if wants(Table::KeySetup) {
        print_setup(&rows);
    }
    if wants(Table::Throughput) {
        print_throughput(&rows);
    }
    if wants(Table::Rounds) {
        print_layouts(&layouts);
    }
    say!(
        "Between the two software columns lie 26 years of processors (Pentium Pro, 200 MHz, 1999; this CPU today), \
         between the hardware columns a Virtex of 220 nm and an ECP5 of 40 nm, and other tools: what a column says \
         about another one is the ratio within its own time. Software: wall time of this run. Hardware: cycles of \
         the simulated RTL at the placed and routed clock, not tried on silicon."
    );
    Ok(Outcome::Well)
}

fn compare(finalist: Finalist, built: &[Value], budget: Duration) -> Row {
    let speed = Algorithm::by_name(&finalist.algorithm).and_then(|a| cipher_speed(a, KEY, budget));
    let software = speed.map(|s| Software {
        setup_us: s.key_setup.as_secs_f64() * 1e6,
        setup_blocks: s.key_setup.as_secs_f64() / s.block.as_secs_f64().max(1e-12),
        feedback_mbps: s.feedback_mbps,
        parallel_mbps: s.parallel_mbps,
    });
    let mut all: Vec<Hardware> =
        built.iter().filter_map(|m| hardware(m, &finalist.algorithm, "cbc")).collect();
    all.sort_by(|a, b| b.mbps.total_cmp(&a.mbps));
    Row {
        cipher: finalist.name,
        paper_software: finalist.software,
        paper_hardware: finalist.hardware,
        software,
        iterative: all.iter().find(|h| h.in_flight == 1).cloned(),
        fastest: all.first().cloned(),
    }
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

/// Families of configurations that differ in the number of rounds alone.
fn layouts(built: &[Value]) -> Vec<Layout> {
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

fn or_dash(value: Option<f64>, digits: usize) -> String {
    value.map_or("–".into(), |v| format!("{v:.digits$}"))
}

fn print_setup(rows: &[Row]) {
    say!("## Table 1: key-setup latency, 128-bit key\n");
    say!(
        "| cipher | software µs, paper | here | hardware µs, paper | ours | software ÷ hardware, paper | ours | software in blocks, paper | here | hardware in blocks, paper | ours | configuration |"
    );
    say!("|---|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|---|");
    for row in rows {
        let (software, ours) = (row.software.as_ref(), row.iterative.as_ref());
        say!(
            "| {} | {:.2} | {} | {:.2} | {} | {:.0} | {} | {:.2} | {} | {:.2} | {} | {} |",
            row.cipher,
            row.paper_software.setup_us,
            or_dash(software.map(|s| s.setup_us), 3),
            row.paper_hardware.setup_us,
            or_dash(ours.map(|h| h.setup_us), 3),
            row.paper_software.setup_us / row.paper_hardware.setup_us,
            or_dash(software.zip(ours).map(|(s, h)| s.setup_us / h.setup_us), 1),
            row.paper_software.setup_blocks,
            or_dash(software.map(|s| s.setup_blocks), 2),
            row.paper_hardware.setup_blocks,
            or_dash(ours.map(|h| h.setup_blocks), 2),
            ours.map_or("–", |h| &h.configuration),
        );
    }
    say!();
}

fn print_throughput(rows: &[Row]) {
    say!("## Table 2: throughput in Mb/s, 128-bit key, encryption in feedback (CBC)\n");
    say!(
        "| cipher | software, paper | here (ECB) | hardware, paper | ours, one block at a time | ours, fastest | speed-up, paper | ours, one block | ours, fastest | configurations |"
    );
    say!("|---|--:|--:|--:|--:|--:|--:|--:|--:|---|");
    for row in rows {
        let (one, best) = (row.iterative.as_ref(), row.fastest.as_ref());
        let here = row.software.as_ref().map(|s| s.feedback_mbps);
        let speed_up = |h: Option<&Hardware>| h.zip(here).map(|(h, s)| h.mbps / s);
        say!(
            "| {} | {:.2} | {} ({}) | {:.2} | {} | {} | {:.2} | {} | {} | {} |",
            row.cipher,
            row.paper_software.mbps,
            or_dash(here, 0),
            or_dash(row.software.as_ref().map(|s| s.parallel_mbps), 0),
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
    say!();
}

fn print_layouts(layouts: &[Layout]) {
    say!("## p rounds in hardware, p times the throughput (section 4.2), ECB encryption\n");
    say!(
        "| algorithm | p | rings × rounds | configuration | in flight | LUT4 (slot) | Fmax MHz | cycles/block | Mb/s | gain | gain / p |"
    );
    say!("|---|--:|--:|---|--:|--:|--:|--:|--:|--:|--:|");
    for l in layouts {
        say!(
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
    say!();
}
