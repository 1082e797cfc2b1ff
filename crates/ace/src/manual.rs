// SPDX-License-Identifier: Apache-2.0
//! `ace manual`: pages for man, and completions for shells; `make install` puts them in their places.

use std::fs;
use std::path::PathBuf;

use anyhow::{Context, Result};
use clap::CommandFactory;
use clap_complete::{Shell, generate_to};

use crate::Cli;
use ace_report::Outcome;

/// Write manual pages and completions below a folder as they are below a prefix.
#[derive(clap::Args)]
pub struct Args {
    /// The folder, of which `share` becomes a part
    folder: PathBuf,
}

/// Where each shell looks.
const COMPLETIONS: [(Shell, &str); 3] = [
    (Shell::Bash, "share/bash-completion/completions"),
    (Shell::Zsh, "share/zsh/site-functions"),
    (Shell::Fish, "share/fish/vendor_completions.d"),
];

pub fn run(args: &Args) -> Result<Outcome> {
    let folder = |below: &str| -> Result<PathBuf> {
        let folder = args.folder.join(below);
        fs::create_dir_all(&folder).with_context(|| format!("cannot make {}", folder.display()))?;
        Ok(folder)
    };
    let man = folder("share/man/man1")?;
    clap_mangen::generate_to(Cli::command(), &man)
        .with_context(|| format!("cannot write {}", man.display()))?;
    for (shell, below) in COMPLETIONS {
        let place = folder(below)?;
        let file = generate_to(shell, &mut Cli::command(), "ace", &place);
        let file = file.with_context(|| format!("cannot write {}", place.display()))?;
        if shell == Shell::Bash {
            // Bash looks for the name of the command.
            fs::rename(&file, place.join("ace"))?;
        }
    }
    Ok(Outcome::Well)
}
