// SPDX-License-Identifier: Apache-2.0
//! `ace image`: bitstreams for real boards, as a library holds them. Each command is a file.

mod list;
mod load;
#[cfg(target_os = "linux")]
mod probe;
mod show;
#[cfg(target_os = "linux")]
mod sim;

use ace_board::library::{BoardImage, board_images, verify_board_image};
use ace_library::Library;
use ace_report::Outcome;
use anyhow::{Result, bail};
use clap::Subcommand;

use crate::page::Output;

/// Images: bitstreams that the owner of a board loads into it, with slots behind its Ethernet.
///
/// `python -m ace_flow image` makes and proves one, `ace library add --image` signs it. docs/image.md is the guide. Not tried on
/// silicon.
#[derive(clap::Args)]
pub struct Args {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    List(list::List),
    Show(show::Show),
    Load(load::Load),
    #[cfg(target_os = "linux")]
    Probe(probe::Args),
    #[cfg(target_os = "linux")]
    Sim(sim::Args),
}

pub fn run(page: &mut Output, args: &Args) -> Result<Outcome> {
    match &args.command {
        Command::List(args) => list::list(page, args),
        Command::Show(args) => show::show(page, args),
        Command::Load(args) => load::load(args),
        #[cfg(target_os = "linux")]
        Command::Probe(args) => probe::run(args),
        #[cfg(target_os = "linux")]
        Command::Sim(args) => sim::run(args),
    }
}

/// The image of this name, or the one for the board of this name, if it is what was signed and proven.
pub fn board_image(library: &Library, name: &str) -> Result<BoardImage> {
    let all = board_images(library)?;
    let named = all.iter().filter(|image| image.name == name);
    let mut found: Vec<&BoardImage> = named.collect();
    if found.is_empty() {
        found = all.iter().filter(|image| image.board == name).collect();
    }
    match found[..] {
        [one] => Ok(verify_board_image(library, library.get(&one.name)?)?),
        [] if all.is_empty() => bail!(
            "the library holds no image; `python -m ace_flow image {name}` makes one, `ace library add --image` puts it in"
        ),
        [] => {
            bail!("no image {name}, and none for a board of this name; `ace image list` says which there are")
        }
        _ => {
            let names: Vec<&str> = found.iter().map(|image| image.name.as_str()).collect();
            bail!("several images are for {name}; which of {}?", names.join(", "))
        }
    }
}
