// SPDX-License-Identifier: Apache-2.0
//! `ace netlist CIRCUIT.json --names NETLIST.json`: which register of a circuit is which of a netlist.

use std::collections::BTreeMap;

use ace_ecp5_netlist::{name_registers, reference};
use ace_report::{Outcome, print_json};
use anyhow::{Context, Result, bail};
use serde::Serialize;

use super::Args;

#[derive(Serialize)]
struct Summary {
    /// Names of registers and blocks of the netlist, by those of the circuit.
    names: BTreeMap<String, String>,
    matched: usize,
    arbitrary: usize,
}

pub fn run(args: &Args, circuit: &str) -> Result<Outcome> {
    let in_file = || format!("{}", args.file.display());
    let Some(path) = &args.names else {
        bail!("{} is a circuit: --names says of which netlist its registers are", args.file.display());
    };
    let bytes = ace_fs::read(path).with_context(|| format!("cannot read {}", path.display()))?;
    let text = String::from_utf8(bytes).with_context(|| format!("{}", path.display()))?;
    let (_, synthesised) = reference(&text).with_context(|| format!("{}", path.display()))?;
    let (_, mut netlist) = reference(circuit).with_context(in_file)?;
    let before: Vec<String> = netlist.cells.iter().map(|cell| cell.name.clone()).collect();
    let matched = name_registers(&mut netlist, &synthesised).with_context(in_file)?;
    let cut = before.into_iter().zip(&netlist.cells).filter(|(_, cell)| cell.kind.cuts());
    let names = cut.map(|(before, cell)| (before, cell.name.clone())).collect();
    let summary = Summary { names, matched: matched.cells, arbitrary: matched.arbitrary };
    if args.json {
        print_json(&summary)?;
    } else {
        println!("{} registers and blocks are those of {}", summary.matched, path.display());
    }
    Ok(Outcome::Well)
}
