// SPDX-License-Identifier: Apache-2.0
//! `ace netlist --open`: anybody's design.

use std::collections::BTreeMap;
use std::io::Write;

use ace_ecp5::{ConfigMemory, Emit};
use ace_ecp5_netlist::{Control, Database, Open, OpenPins, PadReading, control, extract_open};
use ace_report::{Outcome, print_json};
use anyhow::{Context, Result};
use serde::Serialize;

use super::{Args, text_for, write};

#[derive(Serialize)]
struct Summary<'a> {
    device: &'static str,
    memory_sha256: String,
    /// What the bitstream does beyond what the memory shows.
    untold: Option<String>,
    /// Control register 0 and USERCODE.
    control0: u32,
    usercode: u32,
    cells: BTreeMap<&'static str, usize>,
    ports: usize,
    pads: &'a [PadReading],
    logic: &'a BTreeMap<String, BTreeMap<String, String>>,
    settings: &'a [(String, String, String)],
    unexplained: &'a [String],
    control: Option<Control>,
}

pub fn run(
    args: &Args,
    memory: &ConfigMemory,
    untold: Option<String>,
    database: &Database,
) -> Result<Outcome> {
    let in_file = || format!("{}", args.file.display());
    let pins = match &args.pins {
        None => OpenPins { package: args.package.clone(), ..OpenPins::default() },
        Some(path) => {
            let named = || format!("{}", path.display());
            let bytes = ace_fs::read(path).with_context(|| format!("cannot read {}", path.display()))?;
            let text = String::from_utf8(bytes).with_context(named)?;
            OpenPins::parse(&args.package, &text).with_context(named)?
        }
    };
    let Open { netlist, pads, logic, settings, unexplained } =
        extract_open(memory, database, &pins).with_context(in_file)?;
    let changed = match &args.changed {
        None => None,
        Some(path) => {
            let (changed, bit) = control(memory, database, &netlist).with_context(in_file)?;
            let bytes = Emit::default().whole(&changed);
            ace_fs::write(path, &bytes).with_context(|| format!("cannot write {}", path.display()))?;
            Some(bit)
        }
    };
    if let Some(path) = &args.output {
        write(path, &text_for(path, &netlist, "design"))?;
    } else if !args.json {
        std::io::stdout().write_all(netlist.verilog("design").as_bytes())?;
    }
    let summary = Summary {
        device: memory.device().name,
        memory_sha256: hex::encode(memory.digest()),
        untold,
        control0: memory.control0(),
        usercode: memory.usercode(),
        cells: netlist.count(),
        ports: netlist.ports.len(),
        pads: &pads,
        logic: &logic,
        settings: &settings,
        unexplained: &unexplained,
        control: changed,
    };
    if args.json {
        print_json(&summary)?;
    } else if args.output.is_some() {
        let cells: Vec<String> =
            summary.cells.iter().map(|(name, count)| format!("{count} {name}")).collect();
        println!("{}: {}, {} ports", summary.device, cells.join(", "), summary.ports);
        println!("memory {}", summary.memory_sha256);
        for line in &unexplained {
            println!("nothing rests on this: {line}");
        }
    }
    Ok(Outcome::Well)
}
