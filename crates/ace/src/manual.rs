// SPDX-License-Identifier: Apache-2.0
//! `ace manual`: pages for man, and completions for shells; `make install` puts them in their places.

use std::fs;
use std::path::PathBuf;

use anyhow::{Context, Result};
use clap::{Command, CommandFactory, ValueHint};
use clap_complete::{Shell, generate_to};
use serde::Serialize;

use crate::Cli;
use crate::examples::with_examples;
use ace_report::{Outcome, print_json};

/// Write manual pages and completions below a folder as they are below a prefix, or say which commands there are.
#[derive(clap::Args)]
pub struct Args {
    /// The folder, of which `share` becomes a part
    #[arg(required_unless_present = "commands")]
    folder: Option<PathBuf>,
    /// Print every command with its arguments as JSON instead
    #[arg(long, conflicts_with = "folder")]
    commands: bool,
}

/// A command that does something.
#[derive(Serialize)]
struct Known {
    /// The words behind `ace`.
    path: Vec<String>,
    /// Whether help shows it.
    hidden: bool,
    examples: Vec<String>,
    arguments: Vec<Argument>,
}

#[derive(Serialize)]
struct Argument {
    id: String,
    /// `--NAME`, or nothing where its place says which one it is.
    long: Option<String>,
    required: bool,
    takes_value: bool,
    /// Its value is a path.
    path: bool,
    values: Vec<String>,
}

fn known(command: &Command, path: &[String], all: &mut Vec<Known>) {
    if !command.is_subcommand_required_set() && !path.is_empty() {
        let text = command.get_after_help().map(ToString::to_string).unwrap_or_default();
        let arguments =
            command.get_arguments().filter(|argument| argument.get_id() != "help").map(|argument| Argument {
                id: argument.get_id().to_string(),
                long: argument.get_long().map(str::to_owned),
                required: argument.is_required_set(),
                takes_value: argument.get_action().takes_values(),
                path: argument.get_value_hint() == ValueHint::AnyPath,
                values: argument
                    .get_possible_values()
                    .iter()
                    .map(|value| value.get_name().to_owned())
                    .collect(),
            });
        all.push(Known {
            path: path.to_vec(),
            hidden: command.is_hide_set(),
            examples: text
                .lines()
                .map(str::trim)
                .filter(|line| line.starts_with("ace "))
                .map(str::to_owned)
                .collect(),
            arguments: arguments.collect(),
        });
    }
    for sub in command.get_subcommands().filter(|sub| sub.get_name() != "help") {
        known(sub, &[path, &[sub.get_name().to_owned()]].concat(), all);
    }
}

/// Where each shell looks.
const COMPLETIONS: [(Shell, &str); 3] = [
    (Shell::Bash, "share/bash-completion/completions"),
    (Shell::Zsh, "share/zsh/site-functions"),
    (Shell::Fish, "share/fish/vendor_completions.d"),
];

pub fn run(args: &Args) -> Result<Outcome> {
    let Some(root) = &args.folder else {
        let mut all = Vec::new();
        known(&with_examples(Cli::command()), &[], &mut all);
        print_json(&all)?;
        return Ok(Outcome::Well);
    };
    let folder = |below: &str| -> Result<PathBuf> {
        let folder = root.join(below);
        fs::create_dir_all(&folder).with_context(|| format!("cannot make {}", folder.display()))?;
        Ok(folder)
    };
    let man = folder("share/man/man1")?;
    clap_mangen::generate_to(with_examples(Cli::command()), &man)
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
