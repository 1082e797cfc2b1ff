// SPDX-License-Identifier: Apache-2.0
//! `ace certificate`: whether a proof shows that clauses cannot all be true.

use std::path::{Path, PathBuf};

use ace_lrat::Clauses;
use anyhow::{Context, Result};
use serde::Serialize;

use ace_report::{Outcome, print_json};

/// Check a solver's proof that clauses cannot all be true, step by step and without a solver. The clauses that
/// `python -m ace_flow equiv --certificates FOLDER` writes say that a netlist differs from its RTL.
#[derive(clap::Args)]
pub struct Args {
    /// Clauses (DIMACS)
    clauses: PathBuf,
    /// Proof (LRAT, as text)
    proof: PathBuf,
    /// Print as JSON
    #[arg(long)]
    json: bool,
}

#[derive(Serialize)]
struct Holds {
    clauses: usize,
    steps: usize,
    hints: usize,
}

fn text(path: &Path) -> Result<String> {
    let bytes = ace_fs::read(path).with_context(|| format!("cannot read {}", path.display()))?;
    String::from_utf8(bytes).with_context(|| format!("{}", path.display()))
}

pub fn run(args: &Args) -> Result<Outcome> {
    let clauses =
        Clauses::parse(&text(&args.clauses)?).with_context(|| format!("{}", args.clauses.display()))?;
    let checked =
        clauses.refuted_by(&text(&args.proof)?).with_context(|| format!("{}", args.proof.display()))?;
    let holds = Holds { clauses: checked.clauses, steps: checked.steps, hints: checked.hints };
    if args.json {
        print_json(&holds)?;
    } else {
        let Holds { clauses, steps, hints } = holds;
        println!("{clauses} clauses cannot all be true: {steps} steps hold, by {hints} hints");
    }
    Ok(Outcome::Well)
}
