// SPDX-License-Identifier: Apache-2.0
//! `ace gateway`: the data plane on live traffic, and questions to a gateway that runs.

use std::path::{Path, PathBuf};

use ace_gateway::{ask, daemon};
use anyhow::{Context, Result, bail};
use clap::Subcommand;
use serde_json::Value;

use crate::page::say;
use crate::{Outcome, engines, print_json};

/// Protect live traffic (docs/gateway.md): what is routed into a TUN device leaves in ESP or AH, and the other way
/// round. Runs until SIGTERM or Ctrl-C; SIGHUP takes the SA file anew.
///
/// This processor computes. What no SA protects goes nowhere, and neither does anything while no gateway runs: the
/// device stays, with its routes (`ip link delete` removes it).
#[derive(clap::Args)]
#[command(args_conflicts_with_subcommands = true, arg_required_else_help = true)]
pub struct Args {
    /// What the gateway is: docs/gateway.md
    config: Option<PathBuf>,
    #[command(subcommand)]
    question: Option<Question>,
}

#[derive(Subcommand)]
enum Question {
    /// Say how a running gateway is: peers, packets, what was dropped and why
    Status(Ask),
    /// List the SAs of a running gateway with what they carried
    Sas(Ask),
}

#[derive(clap::Args)]
struct Ask {
    /// The gateway's socket: `control` of its configuration
    #[arg(long, value_name = "PATH", default_value = "/run/ace/gateway.sock")]
    control: PathBuf,
    /// Print as JSON
    #[arg(long)]
    json: bool,
}

pub fn run(args: &Args) -> Result<Outcome> {
    match (&args.question, &args.config) {
        (Some(Question::Status(ask)), _) => status(ask),
        (Some(Question::Sas(ask)), _) => sas(ask),
        (None, Some(config)) => {
            let config = daemon::read_config(config)?;
            daemon::run(config, engines::cpu(), |line| eprintln!("ace gateway: {line}"))?;
            Ok(Outcome::Well)
        }
        (None, None) => bail!("name a configuration, or ask `status` or `sas`"),
    }
}

fn answer(control: &Path, question: &str) -> Result<Value> {
    let said = ask(control, question)
        .with_context(|| format!("no gateway answers at {}; --control names another", control.display()))?;
    serde_json::from_str(&said).context("the gateway's answer is not JSON")
}

fn status(args: &Ask) -> Result<Outcome> {
    let answer = answer(&args.control, "status")?;
    if args.json {
        print_json(&answer)?;
        return Ok(Outcome::Well);
    }
    say!("| what | value |\n|---|--:|");
    for key in ["version", "seconds", "tun", "listening", "engine", "sas"] {
        say!("| {key} | {} |", text(&answer[key]));
    }
    for peer in answer["peers"].as_array().into_iter().flatten() {
        say!("| peer {} | {} |", text(&peer["address"]), text(&peer["endpoint"]));
    }
    for part in ["accepted", "protected", "decapsulated"] {
        let traffic = &answer["packets"][part];
        say!("| {part} | {} packets, {} bytes |", text(&traffic["packets"]), text(&traffic["bytes"]));
    }
    for (part, of) in [("dropped", &answer["packets"]), ("gateway", &answer), ("losses", &answer)] {
        for (cause, count) in of[part].as_object().into_iter().flatten() {
            if count.as_u64() != Some(0) {
                say!("| {part}: {cause} | {} |", text(count));
            }
        }
    }
    Ok(Outcome::Well)
}

fn sas(args: &Ask) -> Result<Outcome> {
    let answer = answer(&args.control, "sas")?;
    if args.json {
        print_json(&answer)?;
        return Ok(Outcome::Well);
    }
    say!("| name | SPI | direction | peer | suite | sequence | packets | bytes | dropped |");
    say!("|---|--:|---|---|---|--:|--:|--:|--:|");
    for sa in answer.as_array().into_iter().flatten() {
        let suite = match (sa["cipher"].as_str(), sa["auth"].as_str()) {
            (Some(cipher), Some("none")) => cipher.to_owned(),
            (cipher, auth) => format!("{} + {}", cipher.unwrap_or_default(), auth.unwrap_or_default()),
        };
        let counters = &sa["counters"];
        let dropped = counters["dropped"].as_object().into_iter().flatten();
        let dropped: u64 = dropped.filter_map(|(_, count)| count.as_u64()).sum();
        let cells = [
            text(&sa["name"]),
            format!("{:#x}", sa["spi"].as_u64().unwrap_or_default()),
            text(&sa["direction"]),
            text(&sa["remote"]),
            suite,
            text(&sa["sequence"]),
            text(&counters["forwarded"]["packets"]),
            text(&counters["forwarded"]["bytes"]),
            dropped.to_string(),
        ];
        say!("| {} |", cells.join(" | "));
    }
    Ok(Outcome::Well)
}

/// As people read it.
fn text(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}
