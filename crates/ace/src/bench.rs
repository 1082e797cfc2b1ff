// SPDX-License-Identifier: Apache-2.0
//! `ace bench`: wall-clock speed of the simulated slots and of the CPU engine.

mod crossover;
mod print;

use std::path::PathBuf;
use std::time::{Duration, Instant};

use ace_bench::{ASSOCIATIONS, BATCH, cores, engine, plane, profile};
use ace_board::Models;
use ace_board::bench::{Speed, slot_speed};
use ace_board::manifest::Configuration;
use ace_board::pass::{Pass, Task};
use ace_engine::software;
use ace_engine::{Algorithm, Direction, Kind, Mode, Operation, Secret};
use anyhow::{Result, bail};

use crate::engines::BoardArgs;
use crate::page::Output;
use crate::values::folder;
use ace_report::{Outcome, print_json, say};

/// Measure how fast slots are simulated and how fast the CPU engine is, in wall time.
///
/// One slot at a time, frames back to back under a kept key. The last column is no measurement of this machine: it is
/// what the configuration reaches in modelled time.
#[derive(clap::Args)]
#[command(args_conflicts_with_subcommands = true)]
pub struct Args {
    #[command(subcommand)]
    what: Option<What>,
    #[command(flatten)]
    slots: SlotArgs,
}

#[derive(clap::Subcommand)]
enum What {
    /// Packets through the CPU engine and through the data plane: CPU time of one thread, beside the portable software
    /// and bare ipsec-mb; rules looked up, an SA file parsed
    Dataplane(DataplaneArgs),
    /// Throughput against size: this processor, a stated one, a slot, and whoever of the last two is done earlier
    Crossover(crossover::Args),
    /// What the papers' studies need of this processor's software, in JSON (studies/software.json is such a measurement)
    Study {
        /// Seconds per measurement
        #[arg(long, default_value_t = 0.5)]
        seconds: f64,
    },
    /// What this processor takes for CBC encryption and HMAC in software, by algorithm: a file for `ace dispatch explain`
    Profile {
        /// Seconds per measurement
        #[arg(long, default_value_t = 0.05)]
        seconds: f64,
    },
}

#[derive(clap::Args)]
struct DataplaneArgs {
    /// Only suites whose names start with one of these
    suites: Vec<String>,
    /// Seconds per measurement
    #[arg(long, default_value_t = 0.5)]
    seconds: f64,
    /// Instead: one core, and so many at once, a shard and a thread bound to each
    #[arg(long, value_name = "N")]
    cores: Option<usize>,
    /// Print as JSON
    #[arg(long)]
    json: bool,
}

#[derive(clap::Args)]
struct SlotArgs {
    /// Only configurations whose names start with one of these
    names: Vec<String>,
    /// Bytes of data in a frame
    #[arg(long, default_value_t = 1440)]
    bytes: usize,
    /// Seconds per measurement
    #[arg(long, default_value_t = 0.5)]
    seconds: f64,
    /// Run the netlists instead of the RTL
    #[arg(long)]
    netlist: bool,
    /// Folder of the built configurations (default: $ACE_BUILD/configurations, else build/configurations)
    #[arg(long, value_name = "DIR", value_parser = folder)]
    configurations: Option<PathBuf>,
    /// Print as JSON
    #[arg(long)]
    json: bool,
}

fn dataplane(page: &mut Output, args: &DataplaneArgs) -> Result<Outcome> {
    check_seconds(args.seconds)?;
    if let Some(count) = args.cores {
        let rows = cores::rows(&args.suites, count, args.seconds)?;
        if args.json {
            print_json(&rows)?;
        } else {
            print::cores(page, &rows);
        }
        return Ok(Outcome::Well);
    }
    let engine = engine::rows(&args.suites, args.seconds)?;
    let plane = plane::rows(&args.suites, args.seconds)?;
    let policies = plane::policies()?;
    if args.json {
        print_json(&serde_json::json!({ "engine": engine, "data_plane": plane, "policies": policies }))?;
    } else {
        say!(
            page,
            "CPU time of one thread, medians of batches of {} packets of {} security associations.\n",
            BATCH,
            ASSOCIATIONS
        );
        print::rows(page, "Engine alone:", &engine);
        say!(page, "");
        print::rows(page, "Data plane and engine:", &plane);
        print::policies(page, &policies);
    }
    Ok(Outcome::Well)
}

fn check_seconds(seconds: f64) -> Result<()> {
    if !(0.01..=600.0).contains(&seconds) {
        bail!("--seconds is between 0.01 and 600");
    }
    Ok(())
}

#[derive(serde::Serialize)]
struct SlotSpeed {
    #[serde(flatten)]
    slot: Speed,
    cpu_mb_per_second: f64,
}

pub fn run(page: &mut Output, args: &Args) -> Result<Outcome> {
    match &args.what {
        Some(What::Dataplane(args)) => dataplane(page, args),
        Some(What::Crossover(args)) => crossover::run(page, args),
        Some(What::Study { seconds }) => {
            check_seconds(*seconds)?;
            print_json(&ace_studies::measured::Values::measure(*seconds)?)?;
            Ok(Outcome::Well)
        }
        Some(What::Profile { seconds }) => {
            check_seconds(*seconds)?;
            print!("{}", profile::text(&profile::measure(*seconds))?);
            Ok(Outcome::Well)
        }
        None => slots(&args.slots),
    }
}

fn slots(args: &SlotArgs) -> Result<Outcome> {
    check_seconds(args.seconds)?;
    if !(16..=1 << 24).contains(&args.bytes) || !args.bytes.is_multiple_of(16) {
        bail!("--bytes is a multiple of 16 between 16 and {}", 1 << 24);
    }
    let catalogue = BoardArgs::catalogue_in(args.configurations.as_deref());
    let models = if args.netlist { Models::Netlist } else { Models::Rtl };
    let time = Duration::from_secs_f64(args.seconds);
    let mut rows = Vec::new();
    if !args.json {
        println!("wall time, frames of {} bytes, {} models", args.bytes, models.name());
        println!(
            "{:12} {:24} {:>12} {:>14} {:>12} {:>18}",
            "slot", "operation", "slot MB/s", "Mclocks/s", "CPU MB/s", "modelled Mb/s"
        );
    }
    let chosen =
        |c: &&Configuration| args.names.is_empty() || args.names.iter().any(|n| c.name.starts_with(n));
    for configuration in catalogue.configurations.iter().filter(chosen) {
        for operation in operations(configuration, args.bytes) {
            let slot = slot_speed(configuration, &operation, models, time)?;
            let cpu_mb_per_second = cpu_speed(&operation, time)?;
            if !args.json {
                println!(
                    "{:12} {:24} {:>12.2} {:>14.2} {:>12.1} {:>18.0}",
                    slot.configuration,
                    slot.operation,
                    slot.mb_per_second,
                    slot.clocks_per_second / 1e6,
                    cpu_mb_per_second,
                    slot.modelled_mbps
                );
            }
            rows.push(SlotSpeed { slot, cpu_mb_per_second });
        }
    }
    if rows.is_empty() {
        bail!("no such configuration in {}; build them with `make models`", catalogue.folder.display());
    }
    if args.json {
        print_json(&rows)?;
    }
    Ok(Outcome::Well)
}

/// One operation per algorithm, direction and, for ciphers, shortest and longest key.
fn operations(configuration: &Configuration, bytes: usize) -> Vec<Task> {
    let mut operations = Vec::new();
    let data = || (0..bytes).map(|i| (i * 7 + 3) as u8).collect();
    for can in &configuration.can {
        let Some(algorithm) = Algorithm::by_name(&can.algorithm) else { continue };
        let mut push = |pass| operations.push(Task { pass, data: data() });
        match algorithm.kind {
            Kind::Cipher { block, .. } => {
                let shortest = can.key_bytes.iter().min();
                let longest = can.key_bytes.iter().max().filter(|l| Some(*l) != shortest);
                for key_bytes in shortest.into_iter().chain(longest) {
                    for direction in Direction::BOTH {
                        if can.directions.contains(&direction) && can.modes.contains(&Mode::Cbc) {
                            push(Pass::Cipher {
                                algorithm,
                                mode: Mode::Cbc,
                                direction,
                                key: Secret::new((1..=*key_bytes as u8).collect()),
                                iv: vec![9; block],
                            });
                        }
                    }
                }
            }
            Kind::Hash { .. } => push(Pass::Hash { algorithm }),
        }
    }
    operations
}

/// 10^6 bytes a second.
fn cpu_speed(task: &Task, time: Duration) -> Result<f64> {
    let Operation { action, mut buffer } = task.operation()?;
    let (start, mut count) = (Instant::now(), 0u64);
    while count == 0 || start.elapsed() < time / 4 {
        software::execute(&action, &mut buffer)?;
        count += 1;
    }
    Ok(task.data.len() as f64 * count as f64 / start.elapsed().as_secs_f64() / 1e6)
}
