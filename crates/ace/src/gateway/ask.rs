// SPDX-License-Identifier: Apache-2.0
//! Questions to a running gateway, and its answers as tables.

use std::io::Write;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use ace_gateway::ask;
use anyhow::{Context, Result, bail};
use serde_json::Value;

use crate::page::{self, say};
use crate::{Outcome, print_json};

/// A library is decompressed and verified in about a second; a board in use ends its frames first.
const PATIENCE: Duration = Duration::from_secs(60);

#[derive(clap::Args)]
pub struct Ask {
    /// The gateway's socket: `control` of its configuration
    #[arg(long, value_name = "PATH", default_value = "/run/ace/gateway.sock")]
    control: PathBuf,
    /// Print as JSON
    #[arg(long)]
    json: bool,
    /// Ask again every so many seconds, until Ctrl-C
    #[arg(long, value_name = "SECONDS", num_args = 0..=1, default_missing_value = "1")]
    watch: Option<f64>,
}

#[derive(clap::Args)]
pub struct Hand {
    /// The library. The gateway reads it, as the user that it has become
    file: PathBuf,
    /// The gateway's socket: `control` of its configuration
    #[arg(long, value_name = "PATH", default_value = "/run/ace/gateway.sock")]
    control: PathBuf,
}

fn answer(control: &Path, question: &str) -> Result<Value> {
    let said = ask(control, question)
        .with_context(|| format!("no gateway answers at {}; --control names another", control.display()))?;
    let answer: Value = serde_json::from_str(&said).context("the gateway's answer is not JSON")?;
    match answer["error"].as_str() {
        Some(error) => bail!("the gateway says: {error}"),
        None => Ok(answer),
    }
}

impl Ask {
    pub fn show(&self, question: &str, table: fn(&Value)) -> Result<Outcome> {
        let every = self.watch.map(|seconds| Duration::try_from_secs_f64(seconds.clamp(0.1, 3600.0)));
        let every = every.transpose().context("--watch is no number of seconds")?;
        loop {
            let answer = answer(&self.control, question)?;
            if self.watch.is_some() && !self.json {
                // The screen is cleared, the cursor goes home (ECMA-48, ED and CUP).
                print!("\x1b[2J\x1b[H");
            }
            match (self.json, self.watch) {
                // One to a line.
                (true, Some(_)) => println!("{answer}"),
                (true, None) => print_json(&answer)?,
                (false, _) => {
                    table(&answer);
                    page::print()?;
                }
            }
            std::io::stdout().flush()?;
            match every {
                Some(every) => std::thread::sleep(every),
                None => return Ok(Outcome::Well),
            }
        }
    }
}

impl Hand {
    pub fn over(&self) -> Result<Outcome> {
        let path = std::path::absolute(&self.file).with_context(|| self.file.display().to_string())?;
        let text = path.to_str().filter(|text| !text.contains('\n'));
        let text = text.with_context(|| format!("{}: such a path cannot be handed over", path.display()))?;
        let number = answer(&self.control, &format!("library {text}"))?["number"].clone();
        let start = Instant::now();
        loop {
            let said = answer(&self.control, &format!("library-said {number}"))?;
            if said["pending"] != true {
                say!("taken: {}", words(&said["taken"]));
                if let Some(error) = said["sas_error"].as_str() {
                    bail!("the library is at work; the SA file was not taken anew: {error}");
                }
                return Ok(Outcome::Well);
            }
            if start.elapsed() > PATIENCE {
                bail!(
                    "the gateway has not taken it after {} s; `status` and its log say more",
                    PATIENCE.as_secs()
                );
            }
            std::thread::sleep(Duration::from_millis(20));
        }
    }
}

pub fn status(answer: &Value) {
    say!("| what | value |\n|---|--:|");
    for key in ["version", "seconds", "tun", "listening", "page", "engine", "sas"] {
        say!("| {key} | {} |", words(&answer[key]));
    }
    for peer in answer["peers"].as_array().into_iter().flatten() {
        say!("| peer {} | {} |", words(&peer["address"]), words(&peer["endpoint"]));
    }
    for part in ["accepted", "protected", "decapsulated"] {
        let traffic = &answer["packets"][part];
        say!("| {part} | {} packets, {} bytes |", words(&traffic["packets"]), words(&traffic["bytes"]));
    }
    for (part, of) in [("dropped", &answer["packets"]), ("gateway", answer), ("losses", answer)] {
        for (cause, count) in of[part].as_object().into_iter().flatten() {
            if count.as_u64() != Some(0) {
                say!("| {part}: {cause} | {} |", words(count));
            }
        }
    }
}

pub fn sas(answer: &Value) {
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
            words(&sa["name"]),
            format!("{:#x}", sa["spi"].as_u64().unwrap_or_default()),
            words(&sa["direction"]),
            words(&sa["remote"]),
            suite,
            words(&sa["sequence"]),
            words(&counters["forwarded"]["packets"]),
            words(&counters["forwarded"]["bytes"]),
            dropped.to_string(),
        ];
        say!("| {} |", cells.join(" | "));
    }
}

pub fn slots(answer: &Value) {
    let board = &answer["board"];
    if board.is_null() {
        say!("This gateway has no board: `kind` of [engine] is \"cpu\".");
        return;
    }
    say!(
        "Library: {}. Policy: {}. Modelled time: {} s.\n",
        words(&board["library"]),
        words(&board["policy"]),
        seconds(&board["modelled_seconds"])
    );
    say!("| slot | holds | loads | operations | executing, modelled s | loading, modelled s |");
    say!("|--:|---|--:|--:|--:|--:|");
    for (at, slot) in board["slots"].as_array().into_iter().flatten().enumerate() {
        let cells = [
            at.to_string(),
            slot["resident"].as_str().unwrap_or("nothing").to_owned(),
            words(&slot["loads"]),
            words(&slot["operations"]),
            seconds(&slot["modelled_execute_seconds"]),
            seconds(&slot["modelled_load_seconds"]),
        ];
        say!("| {} |", cells.join(" | "));
    }
    let costs = answer["costs"].as_array().map(Vec::as_slice).unwrap_or_default();
    if !costs.is_empty() {
        say!("\nWho computes, by wall time for a packet:\n");
        say!("| operation | bytes from | processor us | board us | now | by processor | by board |");
        say!("|---|--:|--:|--:|---|--:|--:|");
    }
    let micros = |ns: &Value| ns.as_f64().map_or_else(String::new, |ns| format!("{:.2}", ns / 1e3));
    for cost in costs {
        let cells = [
            words(&cost["operation"]),
            words(&cost["bytes"]),
            micros(&cost["cpu_ns"]),
            micros(&cost["board_ns"]),
            if cost["barred"] == true { "cpu (the board failed)".to_owned() } else { words(&cost["at"]) },
            words(&cost["by_cpu"]),
            words(&cost["by_board"]),
        ];
        say!("| {} |", cells.join(" | "));
    }
    say!();
    for key in ["taken_over", "spilled", "refused", "switched", "board_lost"] {
        if answer[key].as_u64() != Some(0) && answer[key] != false {
            say!("{}: {}", key.replace('_', " "), words(&answer[key]));
        }
    }
}

fn seconds(value: &Value) -> String {
    format!("{:.6}", value.as_f64().unwrap_or_default())
}

/// As people read it.
fn words(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}
