// SPDX-License-Identifier: Apache-2.0
//! `ace image list`.

use ace_board::library::board_images;
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
    let table = table.right("slots\u{2019} MHz", |i| {
        i.clocks.get("slot").map_or_else(|| "\u{2013}".to_owned(), |clock| format!("{:.1}", clock.asked_mhz))
    });
    page.table(&table.left("memory", |i| format!("{:.16}\u{2026}", i.memory_sha256)));
    Ok(Outcome::Well)
}
