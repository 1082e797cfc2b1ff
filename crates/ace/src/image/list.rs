// SPDX-License-Identifier: Apache-2.0
//! `ace image list`.

use std::collections::BTreeMap;

use ace_board::library::{Seed, board_images};
use ace_report::{Outcome, Table, print_json};
use anyhow::Result;

use crate::library::ReadArgs;
use crate::page::Output;

/// List the images of the library
#[derive(clap::Args)]
pub struct List {
    #[command(flatten)]
    read: ReadArgs,
}

pub fn list(page: &mut Output, args: &List) -> Result<Outcome> {
    let opened = args.read.open()?;
    let images = board_images(&opened.library)?;
    if args.read.file.json {
        print_json(&images)?;
        return Ok(Outcome::Well);
    }
    let table = Table::of(&images).left("image", |i| &i.name);
    let table = table.left("board", |i| &i.board);
    let table = table.left("slots", |i| &i.slots);
    let table = table.left("clocks asked, MHz", |i| {
        each(i.clocks.iter().map(|(name, clock)| format!("{name} {:.1}", clock.asked_mhz)))
    });
    let table =
        table.left("clocks by seed, MHz", |i| i.seeds.iter().map(routed).collect::<Vec<_>>().join("; "));
    let table = table.right("LUT4", |i| cells(&i.area, "lut4"));
    let table = table.right("FF", |i| cells(&i.area, "ff"));
    let table = table
        .right("block RAMs", |i| format!("{} of {}", cells(&i.area, "ebr"), cells(&i.available, "DP16KD")));
    page.table(&table.left("memory", |i| format!("{:.16}\u{2026}", i.memory_sha256)));
    Ok(Outcome::Well)
}

fn cells(of: &BTreeMap<String, u64>, kind: &str) -> u64 {
    of.get(kind).copied().unwrap_or_default()
}

fn each(what: impl Iterator<Item = String>) -> String {
    what.collect::<Vec<_>>().join(", ")
}

fn routed(seed: &Seed) -> String {
    let clocks = seed.fmax_mhz.iter().map(|(name, mhz)| format!("{name} {mhz:.1}"));
    format!("{}: {}", seed.seed, each(clocks))
}
