// SPDX-License-Identifier: Apache-2.0
//! `ace gateway replay`: recorded traffic on the virtual clock, with and without the board. Modelled time alone.

mod ends;
mod play;
mod recording;

use std::path::PathBuf;

use ace_board::config::SlotLimits;
use ace_board::trace::{BoardReport, Picos, What};
use ace_board::{Board, BoardConfig, Catalogue, Models};
use anyhow::{Result, bail};
use serde::Serialize;

use crate::engines::{self, BoardArgs, PolicyArgs};
use crate::page::Output;
use crate::run::needs;
use ace_report::{Outcome, print_json, say};
use ends::Ends;
use play::{Pause, Played, Terms};
use recording::{Kind, Recording};

/// Events of a board that are looked through for its loads.
const EVENTS: usize = 1 << 22;

#[derive(clap::Args)]
pub struct Replay {
    /// What `file` of [record] in a gateway's configuration names
    recording: PathBuf,
    /// The processor: a file as in studies/processors; without it, the machine measured there
    #[arg(long, value_name = "FILE")]
    processor: Option<PathBuf>,
    /// What a packet takes of the processor besides cipher and hash
    #[arg(long, value_name = "MICROSECONDS", default_value_t = 4.0)]
    packet_us: f64,
    /// From a packet's leaving outwards to its answer's coming back
    #[arg(long, value_name = "MICROSECONDS", default_value_t = 200.0)]
    round_trip_us: f64,
    /// UDP comes from a sender that waits for its socket, as ttcp's and iperf's do: as soon as there is room, and none is
    /// lost. Without this it comes when it came
    #[arg(long)]
    greedy: bool,
    /// The first packets of the recording; slots run RTL, which takes about a millisecond for each
    #[arg(long, value_name = "N", default_value_t = 20_000)]
    packets: usize,
    #[command(flatten)]
    policy: PolicyArgs,
    #[command(flatten)]
    board: BoardArgs,
    /// Print as JSON
    #[arg(long)]
    json: bool,
}

/// One protocol's packets.
#[derive(Serialize)]
struct Stream {
    protocol: &'static str,
    packets: usize,
    lost: usize,
    /// Data that left, over the time from the first packet's coming to the last one's leaving.
    mbps: f64,
    /// The longest that a packet was in the gateway, its kernel's queue included.
    longest_us: f64,
}

/// One way to compute.
#[derive(Serialize)]
struct Side {
    what: &'static str,
    seconds: f64,
    streams: Vec<Stream>,
    by_processor: u64,
    by_slots: u64,
    /// What was loaded, and for how many passes.
    configurations: Vec<(String, u64)>,
    loads: u64,
    load_ms: f64,
    /// Packets that left while a configuration was being loaded.
    left_in_loads: usize,
    /// The longest time in which nothing left though there was something in hand: while one was being loaded, and else.
    pause_in_loads_us: f64,
    pause_else_us: f64,
}

#[derive(Serialize)]
struct Gain {
    protocol: &'static str,
    /// By the board beside the processor.
    percent: f64,
}

#[derive(Serialize)]
struct Report {
    processor: String,
    board: String,
    packets: usize,
    sent_again: usize,
    packet_us: f64,
    round_trip_us: f64,
    sides: Vec<Side>,
    gains: Vec<Gain>,
}

impl Replay {
    pub fn run(&self, page: &mut Output) -> Result<Outcome> {
        let sensible = |of: f64| (0.0..=1e6).contains(&of);
        if !sensible(self.packet_us) || !sensible(self.round_trip_us) {
            bail!("--packet-us and --round-trip-us are 0 to 1000000");
        }
        let recording = Recording::read(&self.recording, self.packets)?;
        let processor = engines::processor(self.processor.as_deref())?;
        let (packet, round_trip) = (picos(self.packet_us), picos(self.round_trip_us));
        let terms = Terms { packet, round_trip, greedy: self.greedy };
        let policy = self.policy.policy;
        let alone = || -> Result<Board> {
            // Nothing is loaded: what its slots could be does not matter.
            let config = BoardConfig { slot: SlotLimits::default(), ..self.board.config()? };
            let mut board = Board::new(config, Catalogue::default(), policy, Models::Rtl)?;
            board.set_processor(processor.clone());
            Ok(board)
        };
        let beside = || -> Result<Board> {
            let mut board = self.board.rtl(policy)?;
            board.set_processor(processor.clone());
            Ok(board)
        };
        let boards: [(&str, Result<Board>); 3] = [
            ("processor", alone()),
            ("processor and board", beside()),
            ("board, which alone computes", self.board.rtl(policy)),
        ];
        let file = ends::file(&recording.sas, false)?;
        let mut sides = Vec::new();
        let mut words = String::new();
        for (what, board) in boards {
            let mut board = board?;
            let missing = needs::missing(file.sas(), &board);
            if !missing.is_empty() {
                eprintln!("ace: not played by {what}: {}", missing.join("; "));
                continue;
            }
            board.one_core();
            board.keep_events(EVENTS);
            let played =
                play::play(&recording, terms, &mut board, ends::plane(&file)?, Ends::of(&recording.sas)?)?;
            let report = board.report();
            words = format!("{} slots of {}, {}", report.slots.len(), report.device, report.policy);
            sides.push(side(what, &recording, &played, &report));
        }
        let report = Report {
            processor: processor.name,
            board: words,
            packets: recording.steps.len(),
            sent_again: recording.sent_again,
            packet_us: self.packet_us,
            round_trip_us: self.round_trip_us,
            gains: gains(&sides),
            sides,
        };
        if self.json {
            print_json(&report)?;
        } else {
            print(page, &report);
        }
        Ok(if report.sides.is_empty() { Outcome::Wrong } else { Outcome::Well })
    }
}

fn picos(microseconds: f64) -> Picos {
    (microseconds * 1e6) as Picos
}

fn micros(time: Picos) -> f64 {
    time as f64 / 1e6
}

fn stream(protocol: &'static str, kind: Kind, recording: &Recording, played: &Played) -> Option<Stream> {
    let all: Vec<_> =
        recording.steps.iter().zip(&played.ways).filter(|(step, _)| step.kind == kind).collect();
    let left: Vec<_> = all.iter().filter(|(_, way)| way.left != Picos::MAX).collect();
    let first = left.iter().map(|(_, way)| way.came).min()?;
    let last = left.iter().map(|(_, way)| way.left).max()?;
    let data: u64 = left.iter().map(|(step, _)| u64::from(step.data)).sum();
    Some(Stream {
        protocol,
        packets: all.len(),
        lost: all.len() - left.len(),
        mbps: data as f64 * 8e6 / (last - first).max(1) as f64,
        longest_us: left.iter().map(|(_, way)| micros(way.left - way.came)).fold(0.0, f64::max),
    })
}

fn side(what: &'static str, recording: &Recording, played: &Played, report: &BoardReport) -> Side {
    let loads: Vec<(Picos, Picos)> = report
        .events
        .iter()
        .filter(|event| matches!(event.what, What::Load { .. }))
        .map(|event| (event.start, event.end))
        .collect();
    let in_load = |at: Picos| loads.iter().any(|(start, end)| (*start..=*end).contains(&at));
    let overlaps = |pause: &&Pause| loads.iter().any(|(start, end)| pause.from < *end && *start < pause.to);
    let longest = |in_loads: bool| {
        let of = played.pauses.iter().filter(|pause| overlaps(pause) == in_loads);
        of.map(|pause| micros(pause.to - pause.from)).fold(0.0, f64::max)
    };
    let kinds = [("TCP", Kind::Tcp), ("UDP", Kind::Udp), ("other", Kind::Other)];
    Side {
        what,
        seconds: report.totals.total as f64 / 1e12,
        streams: kinds.into_iter().filter_map(|(name, kind)| stream(name, kind, recording, played)).collect(),
        by_processor: report.totals.computed,
        by_slots: report.slots.iter().map(|slot| slot.operations).sum(),
        configurations: report
            .configurations
            .iter()
            .filter(|of| of.loads > 0)
            .map(|of| (of.name.clone(), of.operations))
            .collect(),
        loads: report.totals.loads,
        load_ms: micros(report.totals.load) / 1e3,
        left_in_loads: played.ways.iter().filter(|way| way.left != Picos::MAX && in_load(way.left)).count(),
        pause_in_loads_us: longest(true),
        pause_else_us: longest(false),
    }
}

/// What the board beside the processor gains.
fn gains(sides: &[Side]) -> Vec<Gain> {
    let [alone, both, ..] = sides else { return Vec::new() };
    let pairs = alone.streams.iter().zip(&both.streams);
    pairs
        .filter(|(a, b)| a.mbps > 0.0 && a.protocol == b.protocol)
        .map(|(a, b)| Gain { protocol: a.protocol, percent: 100.0 * (b.mbps / a.mbps - 1.0) })
        .collect()
}

fn print(page: &mut Output, report: &Report) {
    say!(
        page,
        "{} packets ({} that TCP had sent again are left out), modelled time. Processor: {}, one core; a packet takes {} µs of it \
         besides cipher and hash. Board: {}. Outside an answer takes {} µs.\n",
        report.packets,
        report.sent_again,
        report.processor,
        report.packet_us,
        report.board,
        report.round_trip_us
    );
    say!(page, "| | protocol | packets | lost | Mbit/s | longest in the gateway, µs |");
    say!(page, "|---|---|--:|--:|--:|--:|");
    for side in &report.sides {
        for s in &side.streams {
            let Stream { protocol, packets, lost, mbps, longest_us } = s;
            say!(page, "| {} | {protocol} | {packets} | {lost} | {mbps:.1} | {longest_us:.1} |", side.what);
        }
    }
    say!(
        page,
        "\n| | s | passes by processor | by slots | loads | ms | packets that left meanwhile | longest pause meanwhile, µs | else, µs |"
    );
    say!(page, "|---|--:|--:|--:|--:|--:|--:|--:|--:|");
    for s in &report.sides {
        say!(
            page,
            "| {} | {:.4} | {} | {} | {} | {:.2} | {} | {:.1} | {:.1} |",
            s.what,
            s.seconds,
            s.by_processor,
            s.by_slots,
            s.loads,
            s.load_ms,
            s.left_in_loads,
            s.pause_in_loads_us,
            s.pause_else_us
        );
    }
    say!(page);
    for s in report.sides.iter().filter(|s| !s.configurations.is_empty()) {
        let of: Vec<String> =
            s.configurations.iter().map(|(name, passes)| format!("{name} ({passes} passes)")).collect();
        say!(page, "Loaded, {}: {}", s.what, of.join(", "));
    }
    for gain in &report.gains {
        say!(page, "{}: improvement by the accelerator {:.1} %", gain.protocol, gain.percent);
    }
}
