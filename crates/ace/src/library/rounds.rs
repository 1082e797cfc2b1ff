// SPDX-License-Identifier: Apache-2.0
//! `ace library rounds`: Table 4 of the paper of 2000 for p rounds in hardware.

use ace_library::file::Opened;
use ace_studies::ace_2000;
use anyhow::Result;

use super::args::ReadArgs;
use crate::page::Output;
use ace_report::{Outcome, print_json};

#[derive(clap::Args)]
pub struct Rounds {
    #[command(flatten)]
    read: ReadArgs,
}

pub fn rounds(page: &mut Output, args: &Rounds) -> Result<Outcome> {
    let Opened { library, .. } = args.read.open()?;
    let rounds = ace_2000::rounds(&library)?;
    if args.read.file.json {
        print_json(&rounds)?;
    } else {
        ace_2000::print_rounds(page, &rounds);
    }
    Ok(Outcome::Well)
}
