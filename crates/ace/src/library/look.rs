// SPDX-License-Identifier: Apache-2.0
//! Commands that read a library.

use std::time::{Duration, Instant};

use ace_board::BoardConfig;
use ace_board::record::{Tie, tie};
use ace_board::store::offer;
use ace_ecp5::Device;
use ace_ecp5::device::{LFE5U_25F, LFE5U_45F};
use ace_library::codec::Decoded;
use ace_library::file::{INDEX_ENTRY_BYTES, Opened};
use ace_library::{ContextSet, FileError, Image, Library};
use anyhow::Result;
use serde::Serialize;
use serde_json::{Value, json};

use super::change::timed;
use super::members::Load;
use super::{ReadArgs, and_sets, counted, signers, version_and_signers, warned};
use crate::page::say;
use crate::{Outcome, print_json};
use ace_board::array::signed::{self, SetManifest};

#[derive(clap::Args)]
pub struct List {
    #[command(flatten)]
    read: ReadArgs,
}

#[derive(clap::Args)]
pub struct Show {
    /// The configuration, or with --sets the context set
    name: String,
    /// The name is a context set's
    #[arg(long)]
    sets: bool,
    #[command(flatten)]
    read: ReadArgs,
}

#[derive(clap::Args)]
pub struct Verify {
    #[command(flatten)]
    read: ReadArgs,
}

#[derive(clap::Args)]
pub struct Stats {
    #[command(flatten)]
    read: ReadArgs,
    /// Measure the decompression in software, so many seconds for each configuration (wall time)
    #[arg(long, value_name = "SECONDS", value_parser = seconds)]
    measure: Option<f64>,
}

fn seconds(text: &str) -> Result<f64, String> {
    match text.parse::<f64>() {
        Ok(value) if (0.001..=60.0).contains(&value) => Ok(value),
        _ => Err("a number from 0.001 to 60 is wanted".into()),
    }
}

/// Bytes of a device's frames.
fn raw(device: &Device) -> usize {
    device.frames * device.frame_bytes()
}

/// Bytes that the stream of a configuration becomes.
fn decoded_bytes(image: &Image) -> usize {
    image.frame_count() * image.device().frame_bytes()
}

/// LUT4s of a device.
fn luts(device: &Device) -> u64 {
    match device {
        d if *d == LFE5U_25F => 24_288,
        d if *d == LFE5U_45F => 43_848,
        _ => 83_640,
    }
}

/// A manifest as JSON.
pub fn manifest(image: &Image) -> Value {
    image.manifest().ok().and_then(|text| serde_json::from_slice(&text).ok()).unwrap_or(Value::Null)
}

/// What ties the netlist of a configuration to its RTL, by its own record; a record that is of something else ties nothing.
pub fn tied(image: &Image, manifest: &Value) -> Tie {
    let proof: Value =
        image.proof().ok().and_then(|proof| serde_json::from_slice(&proof).ok()).unwrap_or(Value::Null);
    let netlist = manifest["netlist_sha256"].as_str().unwrap_or_default();
    tie(&proof["tied_to_rtl_by"], netlist, manifest["recipe"].as_str()).unwrap_or(Tie::Simulation)
}

/// How many of the configurations of a library are proven to be their RTL.
pub fn tied_by_proof(library: &Library) -> usize {
    library.images().iter().filter(|image| tied(image, &manifest(image)) == Tie::Equivalence).count()
}

pub fn list(args: &List) -> Result<Outcome> {
    let opened = args.read.open()?;
    let Opened { library, bytes, .. } = &opened;
    if args.read.file.json {
        let images: Vec<Value> = library.images().iter().map(|i| short(library, i)).collect();
        print_json(&json!({
            "version": library.version, "bytes": bytes, "signed_by": signers(&opened), "configurations": images,
            "sets": library.sets().iter().map(said).collect::<Result<Vec<_>>>()?,
        }))?;
        return Ok(Outcome::Well);
    }
    let (about, more) = (version_and_signers(&opened), and_sets(library.sets().len()));
    say!("{about}, {bytes} bytes, {}{more}", counted(library.images().len()));
    let width = library.images().iter().map(|image| image.name().len()).chain([13]).max().unwrap_or(0);
    say!("{:width$} {:10} {:>8}  {:11}  what it computes", "configuration", "device", "bytes", "tied by");
    for image in library.images() {
        let manifest = manifest(image);
        let summary = manifest["summary"].as_str().unwrap_or("");
        let over = image.base().map_or(String::new(), |base| format!(" (over {base})"));
        say!(
            "{:width$} {:10} {:>8}  {:11}  {summary}{over}",
            image.name(),
            image.device().name,
            image.stored_frame_bytes(),
            tied(image, &manifest)
        );
    }
    say!("{} of {} are proven to be their RTL", tied_by_proof(library), library.images().len());
    sets(library)?;
    Ok(Outcome::Well)
}

/// What a library says of its context sets.
fn sets(library: &Library) -> Result<()> {
    if library.sets().is_empty() {
        return Ok(());
    }
    let width = library.sets().iter().map(|set| set.name().len()).max().unwrap_or(0);
    say!(
        "\n{:width$} {:10} {:>8} {:10} {:>9} {:>7} {:>6} {:>6}  SHA-256",
        "context set",
        "array",
        "bytes",
        "for",
        "contexts",
        "latency",
        "alone",
        "load"
    );
    for set in library.sets() {
        let m = SetManifest::said(set)?;
        let digest = hex::encode(set.digest());
        let (contexts, load) = (m.cycles_per_block, m.load_clocks);
        let alone = m.clocks_alone.map_or("–".to_owned(), |clocks| clocks.to_string());
        say!(
            "{:width$} {:10} {:>8} {:10} {contexts:>9} {:>7} {alone:>6} {load:>6}  {digest:.16}…",
            m.name,
            m.array,
            m.bytes,
            m.made_for.as_deref().unwrap_or("–"),
            m.latency
        );
    }
    Ok(())
}

/// The signed manifest of a context set.
fn said(set: &ContextSet) -> Result<Value> {
    Ok(serde_json::to_value(SetManifest::said(set)?)?)
}

fn short(library: &Library, image: &Image) -> Value {
    let (blocks, used) = image.blocks();
    json!({
        "name": image.name(),
        "device": image.device().name,
        "memory_sha256": hex::encode(image.digest()),
        "frame_bytes": raw(image.device()),
        "stored_frame_bytes": image.stored_frame_bytes(),
        "base": image.base(),
        "variants": library.images().iter().filter(|i| i.base() == Some(image.name())).map(Image::name).collect::<Vec<_>>(),
        // What makes it of others of its domain.
        "partial_frames": image.run_frames(),
        "stored_partial_bytes": image.stored_run_bytes(),
        "frames_stored": image.frame_count(),
        "block_rams": blocks,
        "block_rams_with_contents": used,
        "text_bytes": image.text_bytes(),
        "library_version": library.version,
        "has_proof": image.proof().is_ok_and(|proof| !proof.is_empty()),
        "tied_to_rtl_by": tied(image, &manifest(image)).to_string(),
    })
}

pub fn show(args: &Show) -> Result<Outcome> {
    let Opened { library, .. } = args.read.open()?;
    if args.sets {
        let value = said(library.set(&args.name)?)?;
        if args.read.file.json {
            print_json(&value)?;
            return Ok(Outcome::Well);
        }
        for (key, value) in value.as_object().into_iter().flatten().filter(|(key, _)| *key != "can") {
            say!("{key:26} {}", words(value));
        }
        return Ok(Outcome::Well);
    }
    let image = super::one(&library, &args.name)?;
    let (mut value, manifest) = (short(&library, image), manifest(image));
    if args.read.file.json {
        value["manifest"] = manifest;
        value["proof"] = serde_json::from_slice(&image.proof()?).unwrap_or(Value::Null);
        print_json(&value)?;
        return Ok(Outcome::Well);
    }
    let more = ["summary", "top", "fmax_mhz"].map(|key| (key, manifest.get(key)));
    let more = more.iter().filter_map(|(key, value)| Some((*key, (*value)?)));
    let known = value.as_object().into_iter().flatten().map(|(key, value)| (key.as_str(), value));
    for (key, value) in known.chain(more) {
        say!("{key:26} {}", words(value));
    }
    Ok(Outcome::Well)
}

/// A value as text: lists with commas, and nothing as a dash.
fn words(value: &Value) -> String {
    match value {
        Value::Null => "–".into(),
        Value::String(text) => text.clone(),
        Value::Array(list) if list.is_empty() => "–".into(),
        Value::Array(list) => list.iter().map(words).collect::<Vec<_>>().join(", "),
        other => other.to_string(),
    }
}

pub fn verify(args: &Verify) -> Result<Outcome> {
    let path = args.read.file.existing()?;
    let guard = args.read.guard()?;
    let mut problems = Vec::new();
    let (mut checked, mut sets) = (0, 0);
    let mut opened = None;
    match guard.open(&path) {
        Ok(found) => {
            for image in found.library.images() {
                let name = image.name();
                let memory = found.library.memory(name).map(|_| ()).map_err(|error| error.to_string());
                let texts = || {
                    offer(image)?;
                    timed(&image.manifest().map_err(|error| error.to_string())?, None)
                };
                match memory.and_then(|()| texts().map_err(|why| format!("{name}: {why}"))) {
                    Ok(()) => checked += 1,
                    Err(problem) => problems.push(problem),
                }
            }
            for set in found.library.sets() {
                match signed::verify(set) {
                    Ok(()) => sets += 1,
                    Err(problem) => problems.push(format!("{problem:#}")),
                }
            }
            opened = Some(warned(found));
        }
        Err(error @ FileError::Refused { .. }) => problems.push(error.to_string()),
        Err(error) => return Err(error.into()),
    }
    if args.read.file.json {
        print_json(&json!({
            "version": opened.as_ref().map(|opened| opened.library.version),
            "signed_by": opened.as_ref().map(signers), "configurations": checked, "sets": sets,
            "problems": problems,
            "proven_to_rtl": opened.as_ref().map(|opened| tied_by_proof(&opened.library)),
        }))?;
    } else if let (Some(opened), []) = (&opened, &problems[..]) {
        let about = version_and_signers(opened);
        let rtl = tied_by_proof(&opened.library);
        say!(
            "{}: {about}, {}, all as signed and proven, {rtl} of them to the RTL{}",
            path.display(),
            counted(checked),
            and_sets(sets)
        );
    }
    for problem in &problems {
        eprintln!("ace: {problem}");
    }
    Ok(if problems.is_empty() { Outcome::Well } else { Outcome::Wrong })
}

/// One configuration's figures.
#[derive(Serialize)]
struct Row {
    name: String,
    device: &'static str,
    tied_to_rtl_by: String,
    lut_use_percent: Option<f64>,
    frame_bytes: usize,
    stored_bytes: usize,
    percent: f64,
    /// What it is stored over, if it is not stored whole: all that follows is then of the frames that differ.
    base: Option<String>,
    block_rams: usize,
    /// Modelled: a decompressor that takes a clock for every row and every run, and three for every decision.
    clocks: u64,
    bytes_per_clock: f64,
    slowest_frame_clocks: u64,
    /// Wall time.
    software_mb_per_second: Option<f64>,
    /// That are not blank, and in how many runs they stand.
    frames_used: usize,
    runs: usize,
    /// Into a device that PROGRAMN has cleared: of the frames that are used, and of all.
    load: Load,
    load_with_blank: Load,
}

pub fn stats(args: &Stats) -> Result<Outcome> {
    let Opened { library, bytes, .. } = args.read.open()?;
    let budget = args.measure.map(Duration::from_secs_f64);
    let mut rows = Vec::new();
    for image in library.images() {
        let raw = raw(image.device());
        let (decoded, speed) = decode(&library, image, budget)?;
        let lut4 = manifest(image)["area"]["lut4"].as_u64();
        let (load, all) = (library.whole(image.name())?, library.whole_with_blank(image.name())?);
        let memory = library.memory(image.name())?;
        let used: Vec<bool> = memory.frames().map(|frame| frame.iter().any(|byte| *byte != 0)).collect();
        rows.push(Row {
            name: image.name().to_owned(),
            device: image.device().name,
            tied_to_rtl_by: tied(image, &manifest(image)).to_string(),
            lut_use_percent: lut4.map(|n| 100.0 * n as f64 / luts(image.device()) as f64),
            frame_bytes: raw,
            stored_bytes: image.stored_frame_bytes(),
            percent: 100.0 * image.stored_frame_bytes() as f64 / raw as f64,
            base: image.base().map(str::to_owned),
            block_rams: image.blocks().0,
            clocks: decoded.clocks(),
            bytes_per_clock: decoded_bytes(image) as f64 / decoded.clocks().max(1) as f64,
            slowest_frame_clocks: decoded.slowest_frame,
            software_mb_per_second: speed,
            frames_used: used.iter().filter(|used| **used).count(),
            runs: used.chunk_by(|a, b| a == b).filter(|run| run[0]).count(),
            load: Load::of(load.bitstream.len(), load.loader_clocks),
            load_with_blank: Load::of(all.bitstream.len(), all.loader_clocks),
        });
    }
    let (parts, all) = (library.parts(), rows.iter().map(|r| r.frame_bytes).sum::<usize>());
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
            "configurations": rows,
        }))?;
        return Ok(Outcome::Well);
    }
    say!(
        "| configuration | stored over | tied to the RTL by | LUT use % | stored bytes | % of frames | block RAMs | bytes/clock | software MB/s |"
    );
    say!("|---|---|---|--:|--:|--:|--:|--:|--:|");
    let dash = |value: Option<f64>, digits: usize| value.map_or("–".into(), |v| format!("{v:.digits$}"));
    for r in &rows {
        say!(
            "| {} | {} | {} | {} | {} | {:.2} | {} | {:.2} | {} |",
            r.name,
            r.base.as_deref().unwrap_or("–"),
            r.tied_to_rtl_by,
            dash(r.lut_use_percent, 1),
            r.stored_bytes,
            r.percent,
            r.block_rams,
            r.bytes_per_clock,
            dash(r.software_mb_per_second, 0)
        );
    }
    match parts.contexts {
        0 => loads(&rows),
        _ => decoded_loads(&rows),
    }
    say!("\n| part of the library | bytes | % of all frames |\n|---|--:|--:|");
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
        say!("| {what} | {bytes} | {:.2} |", share(bytes));
    }
    let alone: Vec<&Row> = rows.iter().filter(|r| r.base.is_none()).collect();
    let shared = parts.dictionary + parts.contexts + parts.contents + parts.blocks;
    let stored = alone.iter().map(|r| r.stored_bytes + INDEX_ENTRY_BYTES).sum::<usize>() + shared;
    say!(
        "| the {} that stand on no other one, alone, for decompression | {stored} | {:.2} of theirs |",
        alone.len(),
        100.0 * stored as f64 / alone.iter().map(|r| r.frame_bytes).sum::<usize>().max(1) as f64
    );
    Ok(Outcome::Well)
}

/// What the decoder of small streams takes of each, at the controller's clock; what goes to the port is what it is with
/// streams of rows.
fn decoded_loads(rows: &[Row]) {
    let clock = BoardConfig::default().controller.clock_mhz;
    say!("\n| configuration | decoder clocks | ms at {clock} MHz |\n|---|--:|--:|");
    for r in rows {
        say!("| {} | {} | {:.2} |", r.name, r.clocks, 1e-3 * r.clocks as f64 / clock);
    }
}

/// What it takes to load each: of the frames that are used, behind what it takes with all frames. Port and loader are
/// those of `board.toml` as committed; a load takes the longer of the two.
fn loads(rows: &[Row]) {
    let board = BoardConfig::default();
    let port = |load: &Load| board.port_time(load.port_bytes as u64) as f64 / 1e9;
    let loader = |load: &Load| 1e-3 * load.loader_clocks as f64 / board.controller.clock_mhz;
    say!(
        "\n| configuration | frames used | runs | port bytes: all frames | used ones | loader clocks: all | used | port ms: all | used | loader ms: all | used | load ms: all | used |"
    );
    say!("|---|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|");
    for Row { name, frames_used, runs, load_with_blank: all, load: used, .. } in rows {
        say!(
            "| {name} | {frames_used} | {runs} | {} | {} | {} | {} | {:.2} | {:.2} | {:.2} | {:.2} | {:.2} | {:.2} |",
            all.port_bytes,
            used.port_bytes,
            all.loader_clocks,
            used.loader_clocks,
            port(all),
            port(used),
            loader(all),
            loader(used),
            all.parallel_ms,
            used.parallel_ms
        );
    }
}

/// Decompresses once, or for as long as `budget` says; megabytes of frames a second, the best time counts.
fn decode(library: &Library, image: &Image, budget: Option<Duration>) -> Result<(Decoded, Option<f64>)> {
    let mut out = Vec::new();
    let (start, mut best) = (Instant::now(), f64::INFINITY);
    loop {
        let from = Instant::now();
        let decoded = library.decode(image, &mut out)?;
        best = best.min(from.elapsed().as_secs_f64());
        match budget {
            None => return Ok((decoded, None)),
            Some(budget) if start.elapsed() >= budget => {
                return Ok((decoded, Some(out.len() as f64 / best / 1e6)));
            }
            Some(_) => {}
        }
    }
}
