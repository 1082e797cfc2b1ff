// SPDX-License-Identifier: Apache-2.0
//! `ace bench crossover`: throughput against size, one operation after the other, as Figure 7 of the paper of 2002.
//! This processor is measured; slot and stated processor are modelled, and only these two are compared.

use std::path::PathBuf;
use std::time::Duration;

use ace_board::open::Parts;
use ace_engine::Algorithm;
use anyhow::{Context, Result, bail};
use serde::Serialize;

use super::{check_seconds, profile};
use crate::engines::{self, BoardArgs};
use crate::page::Output;
use ace_report::{Outcome, Table, print_json, say};

/// Bytes of data of an operation.
const BYTES: [usize; 8] = [64, 128, 256, 512, 1424, 4096, 16384, 65536];

#[derive(clap::Args)]
pub struct Args {
    /// Algorithms, in CBC encryption with a key of 128 bits (192 for 3DES; the longest where there is none of 128), or as HMAC
    #[arg(default_values = ["3des", "aes", "idea", "sha1"])]
    algorithms: Vec<String>,
    /// The stated processor: a file as in studies/processors, which `ace bench profile` writes of this one; without it,
    /// the machine measured there
    #[arg(long, value_name = "FILE")]
    processor: Option<PathBuf>,
    #[command(flatten)]
    board: BoardArgs,
    /// Seconds per measurement
    #[arg(long, default_value_t = 0.02)]
    seconds: f64,
    /// Print as JSON
    #[arg(long)]
    json: bool,
}

/// Mbit/s; none where nobody has a figure.
#[derive(Serialize)]
struct EngineRates {
    algorithm: String,
    operation: String,
    bytes: usize,
    /// Measured here, wall time.
    measured: Option<f64>,
    processor: Option<f64>,
    /// That holds the configuration; host and link included.
    slot: Option<f64>,
    /// That has to be loaded for this operation alone.
    slot_with_load: Option<f64>,
    /// Whoever of stated processor and slot is done earlier.
    auto: Option<f64>,
    /// As above, and the slot is empty.
    auto_with_load: Option<f64>,
}

pub fn run(page: &mut Output, args: &Args) -> Result<Outcome> {
    check_seconds(args.seconds)?;
    let processor = engines::processor(args.processor.as_deref())?;
    let Parts { config: board, catalogue, .. } = args.board.parts()?;
    if catalogue.configurations.is_empty() {
        bail!(
            "no configurations in {}; build them with `make models`, or name others with --configurations",
            catalogue.folder.display()
        );
    }
    let budget = Duration::from_secs_f64(args.seconds);
    let mut rows = Vec::new();
    for name in &args.algorithms {
        let algorithm = Algorithm::by_name(name).with_context(|| format!("`{name}` is no algorithm"))?;
        for bytes in BYTES {
            let operation = profile::operation(algorithm, bytes)
                .with_context(|| format!("`{name}`: no software for CBC or HMAC"))?;
            let need = operation.action.needs().0;
            let best = catalogue.candidates(&need, &board.device).first().copied();
            let best = best.map(|at| &catalogue.configurations[at]);
            let host = board.host.send_ns + board.host.notice_ns;
            let link = 2.0 * board.link_time(bytes as u64) as f64 / 1e3;
            let slot = best.map(|c| c.estimate(&need, bytes) as f64 / 1e3 + host + link);
            let load = best.map(|c| catalogue.load_time(&board, c) as f64 / 1e3);
            let stated = processor.time_ns(&need, bytes);
            let loaded = slot.zip(load).map(|(slot, load)| slot + load);
            let rate = |ns: f64| bytes as f64 * 8e3 / ns;
            let earlier = |a: Option<f64>, b: Option<f64>| a.into_iter().chain(b).reduce(f64::min);
            rows.push(EngineRates {
                algorithm: algorithm.name.into(),
                operation: need.to_string(),
                bytes,
                measured: Some(rate(profile::time(&operation, budget))),
                processor: stated.map(rate),
                slot: slot.map(rate),
                slot_with_load: loaded.map(rate),
                auto: earlier(stated, slot).map(rate),
                auto_with_load: earlier(stated, loaded).map(rate),
            });
        }
    }
    if args.json {
        print_json(&rows)?;
        return Ok(Outcome::Well);
    }
    say!(page, "Mbit/s, one operation after the other. Stated: {} ({}).", processor.name, processor.source);
    say!(
        page,
        "Modelled, but for the third column, which is wall time on this machine and is compared with nothing.\n"
    );
    let figure = |of: Option<f64>| of.map_or(String::new(), |of| format!("{of:.1}"));
    let table = Table::of(&rows).left("operation", |r| &r.operation).right("bytes", |r| r.bytes);
    let table = table.right("this processor, measured", |r| figure(r.measured));
    let table = table.right("stated", |r| figure(r.processor)).right("slot", |r| figure(r.slot));
    let table = table.right("slot, loaded for it", |r| figure(r.slot_with_load));
    let table = table.right("auto", |r| figure(r.auto));
    page.table(&table.right("auto, empty slot", |r| figure(r.auto_with_load)));
    say!(page);
    for of in rows.chunk_by(|a, b| a.algorithm == b.algorithm) {
        say!(page, "{}: {}", of[0].operation, verdict(of));
    }
    Ok(Outcome::Well)
}

/// Where the rows of one algorithm cross.
fn verdict(of: &[EngineRates]) -> String {
    if of.iter().all(|row| row.slot.is_none()) {
        return "no configuration is built.".into();
    }
    if of.iter().all(|row| row.processor.is_none()) {
        return "no figure of the stated processor.".into();
    }
    let from = |rate: fn(&EngineRates) -> Option<f64>| {
        let first = of.iter().find(|row| rate(row) > row.processor);
        first.map_or("for none of these sizes".to_owned(), |row| format!("from {} bytes", row.bytes))
    };
    let (resident, loaded) = (from(|row| row.slot), from(|row| row.slot_with_load));
    format!(
        "the slot is faster than the stated processor {resident}; when it is loaded for one operation, {loaded}."
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn where_they_cross_is_named() {
        let row = |bytes, processor, slot, slot_with_load| EngineRates {
            algorithm: "x".into(),
            operation: "x".into(),
            bytes,
            measured: None,
            processor,
            slot,
            slot_with_load,
            auto: None,
            auto_with_load: None,
        };
        let rows = [row(64, Some(5.0), Some(4.0), Some(1.0)), row(128, Some(6.0), Some(7.0), Some(2.0))];
        assert!(verdict(&rows).contains("from 128 bytes; when it is loaded for one operation, for none"));
        assert!(verdict(&[row(64, None, Some(4.0), None)]).starts_with("no figure"));
        assert!(verdict(&[row(64, Some(1.0), None, None)]).starts_with("no configuration"));
    }

    #[test]
    fn every_size_is_whole_blocks() {
        assert!(BYTES.iter().all(|bytes| bytes % 16 == 0) && BYTES.is_sorted());
    }
}
