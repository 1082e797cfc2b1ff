// SPDX-License-Identifier: Apache-2.0
//! `ace library stats`: what configurations take, and how fast they are decompressed.

use std::time::Duration;

use ace_board::BoardConfig;
use ace_board::library::{Load, Stats, frame_bytes};
use ace_library::file::{INDEX_ENTRY_BYTES, Opened};
use ace_report::{Table, or_dash, say};
use anyhow::Result;
use serde_json::json;

use super::args::ReadArgs;
use crate::page::Output;
use crate::values::seconds;
use ace_report::{Outcome, print_json};

#[derive(clap::Args)]
pub struct Args {
    #[command(flatten)]
    read: ReadArgs,
    /// Measure the decompression in software, so many seconds for each configuration (wall time)
    #[arg(long, value_name = "SECONDS", value_parser = seconds::<60>)]
    measure: Option<f64>,
}

/// The slowest and the fastest decompression in software and the one in the middle, if it was measured.
fn software(rows: &[Stats]) -> Option<serde_json::Value> {
    let mut speeds: Vec<(f64, &str)> =
        rows.iter().filter_map(|r| Some((r.software_mb_per_second?, r.name.as_str()))).collect();
    speeds.sort_by(|a, b| a.0.total_cmp(&b.0));
    let of = |at: usize| json!({ "configuration": speeds[at].1, "mb_per_second": speeds[at].0 });
    let last = speeds.len().checked_sub(1)?;
    Some(json!({ "least": of(0), "median": of(speeds.len() / 2), "greatest": of(last), "of": speeds.len() }))
}

pub fn stats(page: &mut Output, args: &Args) -> Result<Outcome> {
    let Opened { library, bytes, .. } = args.read.open()?;
    let rows = ace_board::library::stats(&library, args.measure.map(Duration::from_secs_f64))?;
    // Streams, lists and contents are those of images of boards as well, which are no rows of the table.
    let (parts, all) =
        (library.parts(), library.images().iter().map(|i| frame_bytes(i.device())).sum::<usize>());
    let signatures = (bytes as usize).saturating_sub(parts.total());
    let share = |bytes: usize| 100.0 * bytes as f64 / all.max(1) as f64;
    if args.read.file.json {
        print_json(&json!({
            "version": library.version,
            "bytes": bytes,
            "frame_bytes": all,
            "dictionary_bytes": parts.dictionary,
            "context_bytes": parts.contexts,
            "block_ram_contents_bytes": parts.contents,
            "index_bytes": parts.index,
            "run_bytes": parts.runs,
            "stream_bytes": parts.frames,
            "home_bytes": parts.home,
            "block_ram_list_bytes": parts.blocks,
            "context_set_bytes": parts.sets,
            "text_bytes": parts.texts,
            "configurations_percent": share(parts.configurations()),
            "file_percent": share(parts.total() + signatures),
            "software_mb_per_second": software(&rows),
            "configurations": rows,
        }))?;
        return Ok(Outcome::Well);
    }
    let table = Table::of(&rows).left("configuration", |r| &r.name);
    let table = table.left("stored over", |r| r.base.as_deref().unwrap_or("–"));
    let table = table.left("tied to the RTL by", |r| &r.tied_to_rtl_by);
    let table = table.right("LUT use %", |r| or_dash(r.lut_use_percent, 1));
    let table = table.right("stored bytes", |r| r.stored_bytes);
    let table = table.right("% of frames", |r| format!("{:.2}", r.percent));
    let table = table.right("block RAMs", |r| r.block_rams);
    let table = table.right("bytes/clock", |r| format!("{:.2}", r.bytes_per_clock));
    page.table(&table.right("software MB/s", |r| or_dash(r.software_mb_per_second, 0)));
    match parts.contexts {
        0 => loads(page, &rows),
        _ => decoded_loads(page, &rows),
    }
    say!(page, "\n| part of the library | bytes | % of all frames |\n|---|--:|--:|");
    for (what, bytes) in [
        ("streams", parts.frames),
        ("streams home, from variants to their skeleton", parts.home),
        ("runs of frames", parts.runs),
        ("lists of block RAMs", parts.blocks),
        ("contents of block RAMs, each once", parts.contents),
        ("index", parts.index),
        ("dictionary", parts.dictionary),
        ("tables of small streams", parts.contexts),
        ("all that decompression reads", parts.configurations()),
        ("context sets, with their index", parts.sets),
        ("manifests and proofs", parts.texts),
        ("header, digest, signatures", parts.header + parts.trailer + signatures),
        ("the file", parts.total() + signatures),
    ] {
        say!(page, "| {what} | {bytes} | {:.2} |", share(bytes));
    }
    let alone: Vec<&Stats> = rows.iter().filter(|r| r.base.is_none()).collect();
    let shared = parts.dictionary + parts.contexts + parts.contents + parts.blocks;
    let stored = alone.iter().map(|r| r.stored_bytes + INDEX_ENTRY_BYTES).sum::<usize>() + shared;
    say!(
        page,
        "| the {} that stand on no other one, alone, for decompression | {stored} | {:.2} of theirs |",
        alone.len(),
        100.0 * stored as f64 / alone.iter().map(|r| r.frame_bytes).sum::<usize>().max(1) as f64
    );
    Ok(Outcome::Well)
}

/// What the decoder of small streams takes of each, at the controller's clock; what goes to the port is what it is with
/// streams of rows.
fn decoded_loads(page: &mut Output, rows: &[Stats]) {
    let clock = BoardConfig::default().controller.clock_mhz;
    let ms = format!("ms at {clock} MHz");
    let table = Table::of(rows).left("configuration", |r| &r.name).right("decoder clocks", |r| r.clocks);
    say!(page);
    page.table(&table.right(ms, |r| format!("{:.2}", 1e-3 * r.clocks as f64 / clock)));
}

/// What it takes to load each: of the frames that are used, behind what it takes with all frames. Port and loader are
/// those of `board.toml` as committed; a load takes the longer of the two.
fn loads(page: &mut Output, rows: &[Stats]) {
    let board = BoardConfig::default();
    let port = |load: &Load| board.port_time(load.port_bytes as u64) as f64 / 1e9;
    let loader = |load: &Load| 1e-3 * load.loader_clocks as f64 / board.controller.clock_mhz;
    let ms = |value: f64| format!("{value:.2}");
    let table = Table::of(rows).left("configuration", |r| &r.name);
    let table = table.right("frames used", |r| r.frames_used).right("runs", |r| r.runs);
    let table = table.right("port bytes: all frames", |r| r.load_with_blank.port_bytes);
    let table = table.right("used ones", |r| r.load.port_bytes);
    let table = table.right("loader clocks: all", |r| r.load_with_blank.loader_clocks);
    let table = table.right("used", |r| r.load.loader_clocks);
    let table =
        table.right("port ms: all", |r| ms(port(&r.load_with_blank))).right("used", |r| ms(port(&r.load)));
    let table = table
        .right("loader ms: all", |r| ms(loader(&r.load_with_blank)))
        .right("used", |r| ms(loader(&r.load)));
    let table = table.right("load ms: all", |r| ms(r.load_with_blank.parallel_ms));
    say!(page);
    page.table(&table.right("used", |r| ms(r.load.parallel_ms)));
}
