// SPDX-License-Identifier: Apache-2.0
//! `ace dispatch`: which engine does what, and why.

use std::path::PathBuf;

use ace_board::open::Parts;
use ace_engine::Need;
use ace_engine::profile::Processor;
use anyhow::Result;
use serde::Serialize;

use crate::engines::{self, BoardArgs};
use crate::page::Output;
use crate::sas;
use ace_report::{Outcome, Table, print_json, say};

/// What is known of slots and of a stated processor, for each security association.
#[derive(clap::Args)]
pub struct Args {
    #[command(subcommand)]
    what: What,
}

#[derive(clap::Subcommand)]
enum What {
    /// For each SA, operation and size: what slot and processor take, from how many packets a load pays, and who does it
    Explain(Explain),
}

#[derive(clap::Args)]
struct Explain {
    /// Security associations
    #[arg(long, value_name = "FILE")]
    sas: PathBuf,
    /// The processor: a file as in studies/processors, which `ace bench profile` writes of this one; without it,
    /// the machine measured there
    #[arg(long, value_name = "FILE")]
    processor: Option<PathBuf>,
    #[command(flatten)]
    board: BoardArgs,
    /// Print as JSON
    #[arg(long)]
    json: bool,
}

/// Bytes of data of small and large packets.
const BYTES: [usize; 3] = [64, 512, 1424];

#[derive(Serialize)]
struct Explanation {
    sa: String,
    operation: String,
    bytes: usize,
    configuration: Option<String>,
    slot_us: Option<f64>,
    load_us: Option<f64>,
    processor_us: Option<f64>,
    /// Waiting packets that repay a load; none if it never pays.
    pays_from: Option<u64>,
    verdict: &'static str,
}

pub fn run(page: &mut Output, args: &Args) -> Result<Outcome> {
    let What::Explain(args) = &args.what;
    let processor = engines::processor(args.processor.as_deref())?;
    let Parts { config: board, catalogue, .. } = args.board.parts()?;
    let file = sas::load(&args.sas)?;
    let mut rows = Vec::new();
    for sa in file.sas() {
        for need in sa.needs() {
            let candidates = catalogue.candidates(&need, &board.device);
            let best = candidates.first().map(|c| &catalogue.configurations[*c]);
            for bytes in BYTES {
                let host = (board.host.send_ns + board.host.notice_ns) / 1e3;
                let link = 2.0 * board.link_time(bytes as u64) as f64 / 1e6;
                let slot_us = best.map(|c| c.estimate(&need, bytes) as f64 / 1e6 + host + link);
                let load_us = best.map(|c| catalogue.load_time(&board, c) as f64 / 1e6);
                let processor_us = processor.time_ns(&need, bytes).map(|ns| ns / 1e3);
                rows.push(row(
                    &sa.name,
                    &need,
                    bytes,
                    best.map(|c| c.name.clone()),
                    slot_us,
                    load_us,
                    processor_us,
                ));
            }
        }
    }
    if args.json {
        print_json(&rows)?;
    } else {
        print(page, &rows, &processor);
    }
    Ok(Outcome::Well)
}

fn row(
    sa: &str,
    need: &Need,
    bytes: usize,
    configuration: Option<String>,
    slot_us: Option<f64>,
    load_us: Option<f64>,
    processor_us: Option<f64>,
) -> Explanation {
    let saved = processor_us.zip(slot_us).map(|(cpu, slot)| cpu - slot);
    let pays_from = saved
        .zip(load_us)
        .filter(|(saved, _)| *saved > 0.0)
        .map(|(saved, load)| (load / saved).ceil() as u64);
    let verdict = match (slot_us, processor_us, pays_from) {
        (None, None, _) => "nobody",
        (None, Some(_), _) => "processor: no configuration",
        (Some(_), None, _) => "slot: no figure for the processor",
        (Some(_), Some(_), Some(_)) => "slot when held; processor until a load pays and while it goes on",
        (Some(_), Some(_), None) => "processor: a load never pays",
    };
    Explanation {
        sa: sa.into(),
        operation: need.to_string(),
        bytes,
        configuration,
        slot_us,
        load_us,
        processor_us,
        pays_from,
        verdict,
    }
}

fn print(page: &mut Output, rows: &[Explanation], processor: &Processor) {
    say!(
        page,
        "Processor: {} ({}). Slot: modelled, link and host included.\n",
        processor.name,
        processor.source
    );
    let figure = |of: Option<f64>| of.map_or(String::new(), |of| format!("{of:.1}"));
    let table = Table::of(rows).left("SA", |r| &r.sa).left("operation", |r| &r.operation);
    let table = table.right("bytes", |r| r.bytes);
    let table = table.left("configuration", |r| r.configuration.as_deref().unwrap_or_default());
    let table = table.right("slot us", |r| figure(r.slot_us)).right("load us", |r| figure(r.load_us));
    let table = table.right("processor us", |r| figure(r.processor_us));
    let pays = |n| format!("{n} packets");
    let table = table.right("a load pays from", move |r| r.pays_from.map_or(String::new(), pays));
    page.table(&table.left("who", |r| r.verdict));
}
