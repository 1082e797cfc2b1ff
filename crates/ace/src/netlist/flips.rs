// SPDX-License-Identifier: Apache-2.0
//! `ace netlist --flips`: every bit of a memory turned (docs/proof.md, "Every bit turned").

use std::collections::BTreeMap;
use std::io::Write;
use std::path::Path;
use std::sync::Mutex;
use std::time::{Duration, Instant};

use ace_ecp5::ConfigMemory;
use ace_ecp5_netlist::{BitFlipSensitivity, Database, Reading, Verdict};
use ace_report::{Outcome, print_json};
use anyhow::{Context, Result, ensure};
use serde::{Deserialize, Serialize};

/// Bits that are tried and written down together.
const BLOCK: u32 = 1 << 14;
/// How often it says how far it is.
const SAID: Duration = Duration::from_secs(10);

/// What came of all blocks so far.
#[derive(Debug, Deserialize, PartialEq, Serialize)]
#[serde(deny_unknown_fields)]
struct Progress {
    memory_sha256: String,
    bits: u32,
    block: u32,
    /// The numbers of the blocks that are done.
    done: Vec<u32>,
    /// How many bits have each verdict.
    verdicts: BTreeMap<String, u64>,
    /// Of those that are read as a circuit that computes the same: what the database calls them.
    accepted: BTreeMap<String, u64>,
}

#[derive(Default)]
struct Counts {
    verdicts: BTreeMap<Verdict, u64>,
    accepted: BTreeMap<String, u64>,
}

pub fn run(
    memory: &ConfigMemory,
    database: &Database,
    reading: &Reading<'_>,
    path: &Path,
    jobs: usize,
    json: bool,
) -> Result<Outcome> {
    let bits = BitFlipSensitivity::new(reading)?.bits();
    let mut progress = Progress {
        memory_sha256: hex::encode(memory.digest()),
        bits,
        block: BLOCK,
        done: Vec::new(),
        verdicts: BTreeMap::new(),
        accepted: BTreeMap::new(),
    };
    if path.exists() {
        let text = ace_fs::read_text(path).with_context(|| format!("cannot read {}", path.display()))?;
        let before: Progress = serde_json::from_str(&text)
            .with_context(|| format!("{} is not what --flips writes: name another file", path.display()))?;
        let same = (&before.memory_sha256, before.bits, before.block)
            == (&progress.memory_sha256, progress.bits, progress.block);
        ensure!(same, "{} is of other bits: name another file", path.display());
        progress = before;
    }
    let blocks = bits.div_ceil(BLOCK);
    let waiting = Mutex::new((0..blocks).filter(|block| !progress.done.contains(block)).collect::<Vec<_>>());
    let (start, had) = (Instant::now(), progress.done.len());
    let shared = Mutex::new((progress, start));
    let work = || -> Result<()> {
        let mut flips = BitFlipSensitivity::new(reading)?;
        loop {
            let Some(block) = waiting.lock().expect("no panic").pop() else { return Ok(()) };
            let counts = tried(&mut flips, memory, database, block)?;
            let mut shared = shared.lock().expect("no panic");
            let (progress, printed) = &mut *shared;
            progress.done.push(block);
            for (verdict, count) in counts.verdicts {
                *progress.verdicts.entry(format!("{verdict:?}")).or_default() += count;
            }
            for (name, count) in counts.accepted {
                *progress.accepted.entry(name).or_default() += count;
            }
            let text = serde_json::to_string_pretty(progress)?;
            ace_fs::write(path, text.as_bytes())
                .with_context(|| format!("cannot write {}", path.display()))?;
            if printed.elapsed() >= SAID {
                *printed = Instant::now();
                let rate =
                    f64::from(BLOCK) * (progress.done.len() - had) as f64 / start.elapsed().as_secs_f64();
                eprintln!("{} of {blocks} blocks, {rate:.0} bits a second", progress.done.len());
            }
        }
    };
    std::thread::scope(|scope| {
        let workers: Vec<_> = (0..jobs).map(|_| scope.spawn(work)).collect();
        workers.into_iter().try_for_each(|worker| worker.join().expect("no panic"))
    })?;
    let (progress, _) = shared.into_inner().expect("no panic");
    if json {
        print_json(&progress)?;
        return Ok(Outcome::Well);
    }
    let mut out = std::io::stdout().lock();
    let verdicts: Vec<String> =
        progress.verdicts.iter().map(|(verdict, count)| format!("{verdict} {count}")).collect();
    writeln!(out, "{} bits: {}", progress.bits, verdicts.join(", "))?;
    for (name, count) in &progress.accepted {
        writeln!(out, "the same circuit: {count} of {name}")?;
    }
    Ok(Outcome::Well)
}

fn tried(
    flips: &mut BitFlipSensitivity<'_>,
    memory: &ConfigMemory,
    database: &Database,
    block: u32,
) -> Result<Counts> {
    let mut counts = Counts::default();
    let width = memory.device().frame_bits;
    for bit in block * BLOCK..flips.bits().min((block + 1) * BLOCK) {
        let verdict = flips.flip(bit)?;
        *counts.verdicts.entry(verdict).or_default() += 1;
        if matches!(verdict, Verdict::Same | Verdict::Equal) {
            let owners = database.owners(bit as usize / width, bit as usize % width).join(", ");
            *counts.accepted.entry(format!("{owners} ({verdict:?})")).or_default() += 1;
        }
    }
    Ok(counts)
}
