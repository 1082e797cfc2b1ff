// SPDX-License-Identifier: Apache-2.0
//! `ace run`: a capture goes in, a capture comes out.

use std::collections::{BTreeMap, HashMap};
use std::io::IsTerminal;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use ace_board::trace::BoardReport;
use ace_engine::{Completion, Engine, Job, JobId};
use ace_esp::{
    Counters, DataPlane, How, IvSource, OsIvs, Pending, Policy, SaFile, SaStatus, SeededIvs, Verdict,
};
use anyhow::{Context, Result, anyhow, bail};
use indicatif::ProgressBar;
use serde::Serialize;

use crate::capture::{Capture, Output};
use crate::engines::{self, AnyEngine, EngineArgs};
use crate::link::{Link, unpadded};
use crate::{Outcome, print_json, report};

/// Send a capture through ESP: clear packets that match an outbound security association leave protected, ESP
/// packets that match an inbound one leave decapsulated, all others follow the default policy of the SA file.
///
/// Packets leave in the order in which they came, with their time stamps. The output appears under its name only
/// when it is complete.
#[derive(clap::Args)]
pub struct Args {
    /// Capture to read: pcap or pcapng; Ethernet, Linux cooked or raw IP
    input: PathBuf,
    /// Security associations (docs/sa-file.md)
    #[arg(long, value_name = "FILE")]
    sas: PathBuf,
    /// Capture to write (pcap)
    #[arg(short, long, value_name = "FILE")]
    output: PathBuf,
    #[command(flatten)]
    engine: EngineArgs,
    /// Write a page with the timeline (report.html) and a trace for Perfetto (trace.json) into this folder
    #[arg(long, value_name = "DIR")]
    report: Option<PathBuf>,
    /// Take initialisation vectors from a generator with this seed: the same run again gives the same packets.
    /// For tests and demonstrations; without it they come from the operating system
    #[arg(long, value_name = "N")]
    iv_seed: Option<u64>,
    /// Print the summary as JSON
    #[arg(long)]
    json: bool,
}

/// What a run did. Times of the board are modelled, `wall_seconds` is not.
#[derive(Serialize)]
pub struct Summary {
    pub input: String,
    pub output: String,
    pub engine: &'static str,
    pub frames: u64,
    /// Frames that hold no IP packet, and what the policy did with them.
    pub not_ip: u64,
    /// Frames of which the capture kept only the beginning; dropped.
    pub cut_short: u64,
    pub written: u64,
    pub packets: Counters,
    pub sas: Vec<SaStatus>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub board: Option<BoardReport>,
    /// What the engine reported about packets it lost, with how often.
    pub engine_errors: BTreeMap<String, u64>,
    /// What is wrong with the end of the capture.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub damage: Option<String>,
    pub interrupted: bool,
    pub wall_seconds: f64,
}

pub fn run(args: &Args) -> Result<Outcome> {
    if let (Ok(a), Ok(b)) = (args.input.canonicalize(), args.output.canonicalize())
        && a == b
    {
        bail!("{} is both input and output", args.input.display());
    }
    let text = std::fs::read_to_string(&args.sas)
        .with_context(|| format!("cannot read the SA file {}", args.sas.display()))?;
    let sas = SaFile::parse(&args.sas.display().to_string(), &text)?;
    for warning in sas.warnings() {
        eprintln!("ace: warning: {warning}");
    }
    let ivs: Box<dyn IvSource> = match args.iv_seed {
        Some(seed) => Box::new(SeededIvs::new(seed)),
        None => Box::new(OsIvs),
    };
    let engine = engines::open(&args.engine)?;
    let capture = Capture::open(&args.input)?;
    let link = Link::of(capture.link()).with_context(|| format!("{}", args.input.display()))?;
    let output = Output::create(&args.output, capture.link(), capture.resolution())?;

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
    let start = Instant::now();
    let mut pump = Pump {
        plane: DataPlane::new(sas, ivs),
        engine,
        link,
        bypass,
        output,
        in_flight: HashMap::new(),
        finished: BTreeMap::new(),
        next_out: 0,
        frames: 0,
        not_ip: 0,
        cut_short: 0,
        written: 0,
        next_job: 0,
        engine_errors: BTreeMap::new(),
    };
    let progress = if args.json || !std::io::stderr().is_terminal() {
        ProgressBar::hidden()
    } else {
        ProgressBar::new_spinner().with_message("packets")
    };
    let damage = pump.pump(capture, &interrupted, &progress)?;
    progress.finish_and_clear();
    pump.output.finish()?;

    let summary = Summary {
        input: args.input.display().to_string(),
        output: args.output.display().to_string(),
        engine: pump.engine.name(),
        frames: pump.frames,
        not_ip: pump.not_ip,
        cut_short: pump.cut_short,
        written: pump.written,
        packets: pump.plane.counters().clone(),
        sas: pump.plane.sas().collect(),
        board: pump.engine.report(),
        engine_errors: pump.engine_errors,
        damage,
        interrupted: interrupted.load(Ordering::Relaxed),
        wall_seconds: start.elapsed().as_secs_f64(),
    };
    if let Some(folder) = &args.report {
        report::write(folder, &summary)?;
    }
    if args.json {
        print_json(&summary)?;
    } else {
        report::text::print(&summary);
    }
    if let Some(folder) = &args.report
        && !args.json
    {
        println!("report: {}", folder.join("report.html").display());
    }
    for (error, count) in &summary.engine_errors {
        eprintln!("ace: {count} packets dropped: {error}");
    }
    if let Some(damage) = &summary.damage {
        eprintln!("ace: {damage}");
    }
    Ok(if summary.interrupted {
        eprintln!("ace: interrupted; {} holds the packets that were finished", args.output.display());
        Outcome::Interrupted
    } else if summary.damage.is_some() || !summary.engine_errors.is_empty() {
        Outcome::Wrong
    } else {
        Outcome::Well
    })
}

/// Where a packet came from: what is needed to put it back into a capture.
struct Origin {
    index: u64,
    time: Duration,
    header: Vec<u8>,
}

struct Pump {
    plane: DataPlane,
    engine: AnyEngine,
    link: Link,
    bypass: bool,
    output: Output,
    in_flight: HashMap<JobId, (Origin, Pending)>,
    /// Frames that wait for earlier ones; `None` for a dropped packet.
    finished: BTreeMap<u64, Option<(Duration, Vec<u8>)>>,
    next_out: u64,
    frames: u64,
    not_ip: u64,
    cut_short: u64,
    written: u64,
    next_job: JobId,
    engine_errors: BTreeMap<String, u64>,
}

impl Pump {
    /// Returns what is wrong with the end of the capture, if anything is.
    fn pump(
        &mut self,
        mut capture: Capture,
        interrupted: &AtomicBool,
        progress: &ProgressBar,
    ) -> Result<Option<String>> {
        let window = self.engine.packet_buffer();
        let mut damage = None;
        let mut more = true;
        loop {
            while more && self.in_flight.len() < window && !interrupted.load(Ordering::Relaxed) {
                match capture.next() {
                    Some(Ok(frame)) => self.take(frame)?,
                    Some(Err(error)) => {
                        damage = Some(error.to_string());
                        more = false;
                    }
                    None => more = false,
                }
            }
            if self.in_flight.is_empty() {
                return Ok(damage);
            }
            let completions = self.engine.poll();
            if completions.is_empty() {
                bail!("the engine gave up {} packets without a word", self.in_flight.len());
            }
            for Completion { id, result } in completions {
                let (origin, pending) = self
                    .in_flight
                    .remove(&id)
                    .ok_or_else(|| anyhow!("the engine completed job {id}, which it was not given"))?;
                if let Err(error) = &result {
                    *self.engine_errors.entry(error.to_string()).or_default() += 1;
                }
                let verdict = self.plane.advance(pending, result);
                self.settle(origin, verdict)?;
            }
            progress.set_position(self.next_out);
        }
    }

    fn take(&mut self, frame: crate::capture::Frame) -> Result<()> {
        let index = self.frames;
        self.frames += 1;
        if frame.cut {
            self.cut_short += 1;
            return self.finish(index, None);
        }
        let Some(at) = self.link.header_len(&frame.bytes) else {
            self.not_ip += 1;
            let kept = self.bypass.then_some((frame.time, frame.bytes));
            return self.finish(index, kept);
        };
        let (header, packet) = frame.bytes.split_at(at);
        let origin = Origin { index, time: frame.time, header: header.to_vec() };
        let verdict = self.plane.accept(unpadded(packet).to_vec());
        self.settle(origin, verdict)
    }

    fn settle(&mut self, origin: Origin, verdict: Verdict) -> Result<()> {
        match verdict {
            Verdict::Work(work) => {
                let id = self.next_job;
                self.next_job += 1;
                self.engine.submit(Job {
                    id,
                    lane: work.lane,
                    packet: origin.index,
                    operation: work.operation,
                    then: work.then,
                });
                self.in_flight.insert(id, (origin, work.pending));
                Ok(())
            }
            Verdict::Forward { packet, how: How::Protected | How::Decapsulated | How::Bypassed, .. } => {
                let frame = self.link.wrap(&origin.header, &packet);
                self.finish(origin.index, Some((origin.time, frame)))
            }
            Verdict::Dropped { .. } => self.finish(origin.index, None),
        }
    }

    /// Writes every frame whose predecessors are settled.
    fn finish(&mut self, index: u64, frame: Option<(Duration, Vec<u8>)>) -> Result<()> {
        self.finished.insert(index, frame);
        while let Some(frame) = self.finished.remove(&self.next_out) {
            if let Some((time, bytes)) = frame {
                self.output.write(time, &bytes)?;
                self.written += 1;
            }
            self.next_out += 1;
        }
        Ok(())
    }
}
