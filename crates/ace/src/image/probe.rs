// SPDX-License-Identifier: Apache-2.0
//! `ace image probe`: whether the board at an interface is there, hears well, and computes.

use ace_board::array::Loadable;
use ace_board::library::{board_images, verify_board_image};
use ace_library::Library;
use ace_link::probe::{Loads, NARROW, Report, Times, Wanted, probe};
use ace_link::wire;
use ace_report::{Outcome, Table, print_json};
use anyhow::{Result, bail};
use serde::Serialize;
use serde_json::Value;

use crate::engines::BoardArgs;

/// Ask the board behind a network interface what it is, how good its cable is, and whether it computes.
///
/// Its receive delay is tried at all 128 taps, and the middle of those at which all frames came whole is set. Then every
/// context set of the signed library computes, and the known answers of every algorithm are asked for; beside what was
/// measured stands what is expected. It needs the board for itself. Ends with 0 if all is well, 1 if something is wrong, 2
/// if there is no board.
#[derive(clap::Args)]
pub struct Args {
    /// The network interface at which the board is
    #[arg(value_name = "IF")]
    interface: String,
    /// Packets for the rate of each set; 0 measures none
    #[arg(long, value_name = "N", default_value_t = Wanted::default().packets)]
    packets: usize,
    /// Bytes of data in each
    #[arg(long, value_name = "N", default_value_t = Wanted::default().bytes, value_parser = bytes)]
    bytes: usize,
    /// Hellos for the round trip
    #[arg(long, value_name = "N", default_value_t = Wanted::default().hellos)]
    hellos: usize,
    /// Only these context sets
    #[arg(long, value_name = "SET", num_args = 1..)]
    sets: Vec<String>,
    /// No known answers
    #[arg(long)]
    no_answers: bool,
    #[command(flatten)]
    board: BoardArgs,
    /// Print as JSON
    #[arg(long)]
    json: bool,
}

/// Blocks of every cipher, as many as a lane of a slot holds.
fn bytes(text: &str) -> Result<usize> {
    match text.parse() {
        Ok(bytes @ 16..=1984) if bytes % 16 == 0 => Ok(bytes),
        _ => bail!("a multiple of 16, from 16 to 1984"),
    }
}

pub fn run(args: &Args) -> Result<Outcome> {
    let (mut sets, store) = args.board.behind_a_cable()?;
    if !args.sets.is_empty() {
        for name in &args.sets {
            if sets.iter().all(|set| set.name() != name) {
                bail!("there is no context set `{name}` in the library; `ace library list` has them");
            }
        }
        sets.retain(|set| args.sets.iter().any(|name| name == set.name()));
    }
    let Args { packets, bytes, hellos, .. } = *args;
    let wanted = Wanted { packets, bytes, hellos, answers: !args.no_answers, ..Wanted::default() };
    let report = open(&args.interface, sets, wanted)?;
    let problems = report.problems();
    let known = store.as_ref().and_then(|store| named(store.library(), &report.image));
    if args.json {
        print_json(&Printed { report: &report, library_image: known })?;
    } else {
        print(&report, known.as_deref());
    }
    for problem in &problems {
        eprintln!("ace: {}: {problem}", args.interface);
    }
    Ok(if problems.is_empty() { Outcome::Well } else { Outcome::Wrong })
}

/// What `--json` prints.
#[derive(Serialize)]
struct Printed<'a> {
    #[serde(flatten)]
    report: &'a Report,
    /// The image of the library that says the same of itself.
    library_image: Option<String>,
}

/// The image of the library that says this of itself, if it is what was signed and proven. Nothing keeps another one from
/// saying it, too.
fn named(library: &Library, identity: &str) -> Option<String> {
    board_images(library).ok()?.into_iter().map(|image| image.name).find(|name| {
        let of = || -> Result<bool> {
            let stored = library.get(name)?;
            let manifest: Value = serde_json::from_slice(&stored.manifest()?)?;
            let own = manifest["parameters"]["Identity"].as_str().map(|own| own.trim_start_matches("64'h"));
            verify_board_image(library, stored)?;
            Ok(own == Some(identity))
        };
        of().unwrap_or(false)
    })
}

#[cfg(target_os = "linux")]
fn open(interface: &str, sets: Vec<Loadable>, wanted: Wanted) -> Result<Report> {
    use std::io::IsTerminal;

    let mut socket = ace_link::socket::Socket::open(interface)?;
    let bar = match std::io::stderr().is_terminal() {
        true => indicatif::ProgressBar::new_spinner(),
        false => indicatif::ProgressBar::hidden(),
    };
    let mut tell = |what: &str| {
        bar.set_message(what.to_owned());
        bar.tick();
    };
    let report = probe(&mut socket, interface, sets, wanted, &mut tell);
    bar.finish_and_clear();
    Ok(report?)
}

#[cfg(not(target_os = "linux"))]
fn open(interface: &str, _: Vec<Loadable>, _: Wanted) -> Result<Report> {
    bail!("{interface}: a board behind a network interface needs Linux")
}

fn print(report: &Report, known: Option<&str>) {
    let identity = &report.identity;
    let counters = &identity.counters;
    println!(
        "board      {} at {}, image {}, link version {}",
        wire::words(wire::BOARD),
        report.interface,
        report.image,
        identity.version
    );
    match known {
        Some(name) => println!("           which {name} of the library says of itself"),
        None => println!("           which no image of the library says of itself"),
    }
    println!(
        "slots      {} at {} MHz, a receive queue of {} beats",
        identity.slots,
        f64::from(identity.khz) / 1e3,
        identity.queue
    );
    match identity.store_words {
        0 => println!("store      none"),
        words => println!("store      {words} words of 8 bytes"),
    }
    println!("session    {:04x} of {}", identity.session, wire::words(identity.host));
    println!(
        "frames     {} came whole, {} broken, {} found no room, {} were dropped, {} were sent",
        counters.whole, counters.broken, counters.no_room, counters.dropped, counters.sent
    );
    let Times { count, shortest, median, percentile_99, longest } = report.round_trip;
    println!(
        "round trip {median:.1?} in the middle of {count}, {shortest:.1?} to {longest:.1?}, 99 of 100 below {percentile_99:.1?}"
    );
    println!("eye        {} hellos at each tap: # all answered, - some, . none", report.eye.asked);
    for (row, taps) in report.eye.drawn().as_bytes().chunks(64).enumerate() {
        println!("  {:>3}      {}", 64 * row, String::from_utf8_lossy(taps));
    }
    match (report.eye.widest(), report.eye.chosen) {
        (Some((first, last)), Some(chosen)) => println!(
            "           taps {first} to {last} ({:.2} ns; at least {NARROW} taps are expected); tap {chosen} is set",
            f64::from(last - first + 1) * 0.025
        ),
        _ => println!("           no tap is good"),
    }
    if let Some(Loads { set, bytes, by_cable, by_name, .. }) = &report.loads {
        let times = |times: &Option<Times>| {
            times.as_ref().map_or("not measured".to_owned(), |times| {
                format!("{:.1?} in the middle of {}", times.median, times.count)
            })
        };
        println!(
            "a load     of {set}, {bytes} bytes: over the cable {}; by name, from the store, {}",
            times(by_cable),
            times(by_name)
        );
    }
    if !report.rates.is_empty() {
        let table = Table::of(&report.rates)
            .left("context set", |set| set.name.clone())
            .left("operation", |set| set.operation.clone())
            .right("Mb/s", |set| set.mbps.map_or("-".to_owned(), |mbps| format!("{mbps:.0}")))
            .right("a tile", |set| set.slot_mbps.map_or("-".to_owned(), |mbps| format!("{mbps:.0}")))
            .right("the cable", |set| format!("{:.0}", set.cable_mbps));
        println!("\n{}", table.text());
        println!(
            "A tile: what one tile of the slot computes at this clock, as its RTL was measured. Not more than the cable is expected."
        );
    }
    if !report.answers.is_empty() {
        let table = Table::of(&report.answers)
            .left("known answers", |one| one.subject.clone())
            .right("passed", |one| one.passed)
            .right("failed", |one| one.failed.len())
            .right("skipped", |one| one.skipped);
        println!("\n{}", table.text());
        for failure in report.answers.iter().flat_map(|one| &one.failed).take(20) {
            println!(
                "{}, {}: expected {}, got {}",
                failure.source, failure.step, failure.expected, failure.got
            );
        }
    }
    println!(
        "meanwhile  {} frames came whole to the board, {} broken, {} found no room; this host sent {} again",
        report.counted.whole, report.counted.broken, report.counted.no_room, report.resent
    );
}
