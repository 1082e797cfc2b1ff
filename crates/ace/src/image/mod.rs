// SPDX-License-Identifier: Apache-2.0
//! `ace image`: images of real boards.

mod probe;

use ace_report::Outcome;
use anyhow::Result;

/// Images of real boards: bitstreams that their owners load, with slots behind an Ethernet cable (docs/link.md).
#[derive(clap::Args)]
pub struct Args {
    #[command(subcommand)]
    what: What,
}

#[derive(clap::Subcommand)]
enum What {
    Probe(probe::Args),
}

pub fn run(args: &Args) -> Result<Outcome> {
    match &args.what {
        What::Probe(args) => probe::run(args),
    }
}
