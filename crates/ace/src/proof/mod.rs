// SPDX-License-Identifier: Apache-2.0
//! `ace proof`: what proofs rest on, and what the records of a library say.

mod base;
mod records;

use ace_report::Outcome;
use anyhow::Result;

use crate::page::Output;

/// What is proven of the library, and what the proofs rest on (docs/proof.md)
#[derive(clap::Args)]
pub struct Args {
    #[command(subcommand)]
    command: Command,
}

#[derive(clap::Subcommand)]
enum Command {
    Base(base::Args),
    Records(records::Args),
}

pub fn run(page: &mut Output, args: &Args) -> Result<Outcome> {
    match &args.command {
        Command::Base(args) => base::run(page, args),
        Command::Records(args) => records::run(page, args),
    }
}
