// SPDX-License-Identifier: Apache-2.0
//! `ace run`: a capture goes in, a capture comes out.

mod joined;
pub mod needs;
mod pump;

use std::io::{IsTerminal, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use ace_config::wireshark;
use ace_engine::Engine;
use ace_fs::Output;
use ace_fs::STDOUT;
use ace_ipsec::{IvSource, OsIvs, Policy, SaSpec, SeededIvs, Shard};
use ace_pcap::read::SecretsKind;
use ace_pcap::{Capture, CaptureWriter, DataLink, Format, LinkType};
use ace_report::Summary;
use anyhow::{Context, Result, bail};
use indicatif::{ProgressBar, ProgressStyle};
use zeroize::Zeroizing;

use crate::engines::{self, AnyEngine, EngineArgs, EngineKind, Own, PoliciesArgs};
use crate::sas;
use ace_report::Outcome;
use pump::Pump;

/// Send a capture through ESP. Clear packets that match an outbound security association leave protected; ESP packets that
/// match an inbound one leave decapsulated. All others follow the default policy of the SA file.
///
/// Packets leave in the order in which they came, with their time stamps. A regular output file appears under its
/// name when it is complete; devices and pipes are written through.
///
/// The exit code is 1 when something that should have been protected, or should have come out of ESP, did not, or the
/// capture is damaged.
#[derive(clap::Args)]
pub struct Args {
    /// Capture to read, `-` for standard input: pcap or pcapng, packed by gzip or not; link types are in
    /// docs/captures.md
    input: PathBuf,
    /// Security associations (docs/sa-file.md)
    #[arg(long, value_name = "FILE")]
    sas: PathBuf,
    /// Capture to write: pcapng if its name ends so, else pcap; `-` for standard output, the summary goes to standard
    /// error then
    #[arg(short, long, value_name = "FILE")]
    output: PathBuf,
    /// Let frames pass under the policy `bypass` that cannot be looked through (MACsec, types that are not known): they
    /// may hold packets that should have been protected. Without this they are dropped
    #[arg(long)]
    bypass_opaque: bool,
    /// End with exit code 1 when any packet was dropped, whatever the cause
    #[arg(long)]
    fail_on_drop: bool,
    /// Begin although the engine cannot do what an SA needs: its packets are dropped
    #[arg(long)]
    keep_going: bool,
    #[command(flatten)]
    engine: EngineArgs,
    #[command(flatten)]
    policy: PoliciesArgs,
    /// Write a page with the timeline (report.html) and a trace for Perfetto (trace.json) into this folder
    #[arg(long, value_name = "DIR")]
    report: Option<PathBuf>,
    /// Take initialisation vectors from a generator with this seed: the same run again gives the same packets.
    /// For tests and demonstrations; without it they come from the operating system
    #[arg(long, value_name = "N")]
    iv_seed: Option<u64>,
    /// Put the SAs with their keys into the output, from which Wireshark (4.7 and newer) decrypts it and `ace sas import`
    /// reads them. A new file is for its owner alone then. pcapng only
    #[arg(long)]
    with_keys: bool,
    /// Print the summary as JSON
    #[arg(long)]
    json: bool,
}

/// Events of a run that its report shows: about 50 MB while it runs, and a page that a browser opens.
const REPORTED_EVENTS: usize = 200_000;

pub fn run(args: &Args) -> Result<Outcome> {
    if let (Ok(a), Ok(b)) = (args.input.canonicalize(), args.output.canonicalize())
        && a == b
        && a.is_file()
    {
        bail!("{} is both input and output", args.input.display());
    }
    let policies = &args.policy.policy.0;
    let compares = policies.len() > 1;
    if compares && args.engine.engine == EngineKind::Own(Own::Cpu) {
        bail!("several policies: the CPU engine has none");
    }
    if compares && !args.input.is_file() {
        bail!("several policies: {} cannot be read again for each", args.input.display());
    }
    if args.with_keys && Format::of(&args.output) != Format::PcapNg {
        bail!("--with-keys: a pcap file has no place for keys; name the output .pcapng");
    }
    let sas = sas::load(&args.sas)?;
    let keys = args.with_keys.then(|| wireshark_rows(sas.sas())).transpose()?;
    let events = if args.report.is_some() { REPORTED_EVENTS } else { 0 };
    let open = |policy: &ace_schedule::Policy| engines::open(&args.engine, *policy, events);
    let engines: Vec<AnyEngine> = policies.iter().map(open).collect::<Result<_>>()?;
    let missing = engines.first().map_or_else(Vec::new, |engine| needs::missing(sas.sas(), engine));
    for why in &missing {
        eprintln!("ace: {why}");
    }
    let beside = engines.first().and_then(AnyEngine::board_beside_processor);
    for why in beside.map_or_else(Vec::new, |board| needs::missing(sas.sas(), board)) {
        eprintln!("ace: note: this processor does what the board cannot: {why}");
    }
    if !missing.is_empty() && !args.keep_going {
        bail!("not started: packets of these SAs would be dropped (--keep-going drops them)");
    }
    let interrupted = Arc::new(AtomicBool::new(false));
    let flag = Arc::clone(&interrupted);
    ctrlc::set_handler(move || {
        // A second Ctrl-C does not wait for the packets in flight.
        if flag.swap(true, Ordering::Relaxed) {
            std::process::exit(130);
        }
    })
    .context("cannot catch Ctrl-C")?;

    let bypass = sas.default_policy() == Policy::Bypass;
    let planes: Vec<Shard> = engines
        .iter()
        .map(|_| {
            let ivs: Box<dyn IvSource> = match args.iv_seed {
                Some(seed) => Box::new(SeededIvs::new(seed)),
                None => Box::new(OsIvs::default()),
            };
            sas.shard(Duration::ZERO, ivs)
        })
        .collect::<Result<_, _>>()?;
    // Their keys have been prepared.
    drop(sas);
    let mut summary = Summary::default();
    let mut compared = Vec::new();
    let count = engines.len();
    for (number, (engine, plane)) in engines.into_iter().zip(planes).enumerate() {
        // The packets of the last one are kept.
        compared.extend(summary.board.take());
        let is_last = number + 1 == count;
        let keys = keys.as_ref().filter(|_| is_last);
        summary = one(args, engine, plane, bypass, Written { is_last, keys }, &interrupted)?;
        if summary.interrupted && !is_last {
            eprintln!("ace: interrupted before any packet was written");
            return Ok(Outcome::Interrupted);
        }
    }
    summary.compared = compared;
    if let Some(folder) = &args.report {
        ace_report::run::write(folder, &summary)?;
    }
    let mut text = Vec::new();
    if args.json {
        serde_json::to_writer_pretty(&mut text, &summary)?;
        text.push(b'\n');
    } else {
        ace_report::run::text(&mut text, &summary)?;
        if let Some(folder) = &args.report {
            writeln!(text, "report: {}", folder.join("report.html").display())?;
        }
    }
    // The packets have gone there.
    if [STDOUT, "/dev/stdout"].map(Path::new).contains(&args.output.as_path()) {
        std::io::stderr().write_all(&text)?;
    } else {
        std::io::stdout().write_all(&text)?;
    }
    for (error, count) in &summary.engine_errors {
        eprintln!("ace: {count} packets dropped: {error}");
    }
    if let Some(damage) = &summary.damage {
        eprintln!("ace: {damage}");
    }
    if summary.interrupted {
        eprintln!("ace: interrupted; {} holds the packets that were finished", args.output.display());
        return Ok(Outcome::Interrupted);
    }
    let dropped = args.fail_on_drop && summary.dropped() > 0;
    Ok(if summary.is_wrong() || dropped { Outcome::Wrong } else { Outcome::Well })
}

/// What Wireshark can use of the SAs: the rows of its table, without what is remarked between them.
fn wireshark_rows(sas: &[SaSpec]) -> Result<Zeroizing<String>> {
    let table = wireshark::table(sas, None);
    for warning in &table.warnings {
        eprintln!("ace: warning: {warning}");
    }
    let mut rows = Zeroizing::new(String::with_capacity(table.text.len()));
    for row in table.text.lines().filter(|row| row.starts_with('"')) {
        rows.push_str(row);
        rows.push('\n');
    }
    if rows.is_empty() {
        bail!("--with-keys: Wireshark has a name for none of the SAs");
    }
    Ok(rows)
}

/// What of a run goes into the output.
#[derive(Clone, Copy)]
struct Written<'a> {
    /// Whether its packets do; else they go nowhere, and only its times count.
    is_last: bool,
    keys: Option<&'a Zeroizing<String>>,
}

/// All of the capture through one engine.
fn one(
    args: &Args,
    engine: AnyEngine,
    plane: Shard,
    bypass: bool,
    written: Written<'_>,
    interrupted: &AtomicBool,
) -> Result<Summary> {
    let capture = Capture::open(&args.input)?;
    let link = capture.link().unwrap_or(DataLink::ETHERNET);
    if LinkType::of(link).is_none() && !args.bypass_opaque {
        let (name, known) = (capture.name(), LinkType::NAMES);
        bail!("{name}: link type {link:?} is not supported; {known} are");
    }
    let Written { is_last: written, keys } = written;
    let path = if written { &args.output } else { Path::new("/dev/null") };
    let unwritten = || format!("cannot write {}", path.display());
    let create = if keys.is_some() { Output::create_private } else { Output::create };
    let output = create(path).with_context(unwritten)?;
    let format = Format::of(path);
    let mut output = CaptureWriter::new(output, format, link, capture.resolution(), capture.snapshot_len())
        .with_context(unwritten)?;
    if let Some(keys) = keys {
        output.write_secrets(SecretsKind::ESP, keys.as_bytes()).with_context(unwritten)?;
    }
    let start = Instant::now();
    let summary = Summary {
        input: args.input.display().to_string(),
        output: args.output.display().to_string(),
        bypass_opaque: args.bypass_opaque,
        ..Summary::default()
    };
    let mut pump = Pump::new(plane, engine, bypass, output, summary);
    pump.quiet = !written;
    let progress = if args.json || !std::io::stderr().is_terminal() {
        ProgressBar::hidden()
    } else {
        progress(capture.size())
    };
    pump.pump(capture, interrupted, &progress).with_context(unwritten)?;
    progress.finish_and_clear();
    pump.output.into_inner().finish().with_context(unwritten)?;
    let mut packets = pump.plane.counters().clone();
    // What the pump counted is what the data plane could not see.
    packets.accepted.bytes += pump.summary.packets.accepted.bytes;
    packets.bypassed.bytes += pump.summary.packets.bypassed.bytes;
    Ok(Summary {
        engine: pump.engine.name(),
        packets,
        sas: pump.plane.sas().collect(),
        board: pump.engine.report(),
        interrupted: interrupted.load(Ordering::Relaxed),
        wall_seconds: start.elapsed().as_secs_f64(),
        ..pump.summary
    })
}

/// Packets so far, how fast, and of a capture whose length is known how much of it and how long it will take.
fn progress(size: Option<u64>) -> ProgressBar {
    let (bar, template) = match size {
        Some(size) => (ProgressBar::new(size), "{msg}, {percent} %, {eta} left"),
        None => (ProgressBar::new_spinner(), "{msg}, {elapsed}"),
    };
    // A template that does not parse would be one of this file's.
    bar.with_style(ProgressStyle::with_template(template).unwrap_or_else(|_| ProgressStyle::default_bar()))
}
