// SPDX-License-Identifier: Apache-2.0
//! `ace image show`.

use ace_report::{Outcome, print_json, say};
use anyhow::Result;
use serde_json::Value;

use super::board_image;
use crate::library::ReadArgs;
use crate::page::Output;

/// Describe one image: board, clocks, what is proven of it; with --json manifest and proof as well
#[derive(clap::Args)]
pub struct Show {
    /// The image's name, or the board's
    name: String,
    #[command(flatten)]
    read: ReadArgs,
}

pub fn show(page: &mut Output, args: &Show) -> Result<Outcome> {
    let opened = args.read.open()?;
    let about = board_image(&opened.library, &args.name)?;
    let stored = opened.library.get(&about.name)?;
    let manifest: Value = serde_json::from_slice(&stored.manifest()?)?;
    let proof: Value = serde_json::from_slice(&stored.proof()?)?;
    if args.read.file.json {
        print_json(&serde_json::json!({ "manifest": manifest, "proof": proof }))?;
        return Ok(Outcome::Well);
    }
    say!(page, "{}: {}", about.name, about.summary);
    say!(page, "board     {} ({} {})", about.board, about.device, manifest["package"].as_str().unwrap_or(""));
    say!(page, "memory    {}", about.memory_sha256);
    for (name, clock) in &about.clocks {
        say!(
            page,
            "clock     {name} {:.2} MHz, placed and routed for {:.1}",
            clock.asked_mhz,
            clock.fmax_mhz
        );
    }
    let number = |part: &str, key: &str| proof[part][key].as_u64().unwrap_or(0);
    say!(
        page,
        "proven    bits are the netlist, {} points; the netlist is its RTL, {} points",
        number("bits", "points"),
        number("rtl", "points")
    );
    let ways = proof["rtl"]["crossings"].as_object().map_or(0, |ways| ways.len());
    say!(page, "crossings {ways} ways between clocks, through cells that the board\u{2019}s file names");
    for warning in &about.warnings {
        say!(page, "warning   {warning}");
    }
    Ok(Outcome::Well)
}
