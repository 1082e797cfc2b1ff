// SPDX-License-Identifier: Apache-2.0
//! Questions to a running gateway, and its answers as tables.

use std::io::Write;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use ace_gateway::ask;
use ace_gateway::status::{Interface, Peer, Sa, Status, Traffic};
use anyhow::{Context, Result, bail};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use crate::page::Output;
use ace_report::{Outcome, print_json, say};

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

/// What a gateway says instead of an answer.
#[derive(Deserialize)]
struct Refusal {
    error: String,
}

/// What came of a library that was handed over.
#[derive(Default, Deserialize)]
#[serde(default)]
struct Handed {
    number: u64,
    pending: bool,
    taken: String,
    sas_error: Option<String>,
}

fn answer<T: DeserializeOwned>(control: &Path, question: &str) -> Result<T> {
    let reply = ask(control, question)
        .with_context(|| format!("no gateway answers at {}; --control names another", control.display()))?;
    if let Ok(Refusal { error }) = serde_json::from_str(&reply) {
        bail!("the gateway says: {error}");
    }
    serde_json::from_str(&reply).context("the gateway's answer is not of this version of ace")
}

impl Ask {
    pub fn show<T: DeserializeOwned + Serialize>(
        &self,
        page: &mut Output,
        question: &str,
        table: fn(&mut Output, &T),
    ) -> Result<Outcome> {
        let every = self.watch.map(|seconds| Duration::try_from_secs_f64(seconds.clamp(0.1, 3600.0)));
        let every = every.transpose().context("--watch is no number of seconds")?;
        loop {
            let answer: T = answer(&self.control, question)?;
            if self.watch.is_some() && !self.json {
                // The screen is cleared, the cursor goes home (ECMA-48, ED and CUP).
                print!("\x1b[2J\x1b[H");
            }
            match (self.json, self.watch) {
                // One to a line.
                (true, Some(_)) => println!("{}", serde_json::to_string(&answer)?),
                (true, None) => print_json(&answer)?,
                (false, _) => {
                    table(page, &answer);
                    page.print()?;
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

/// A word of somebody who knows what the gateway cannot.
#[derive(clap::Args)]
pub struct Alone {
    /// The gateway's socket: `control` of its configuration
    #[arg(long, value_name = "PATH", default_value = "/run/ace/gateway.sock")]
    control: PathBuf,
    /// The standby is off, stays off until it is attached again, and never took over
    #[arg(long, required = true)]
    standby_is_off: bool,
}

#[derive(clap::Args)]
pub struct TakeOver {
    /// The standby's socket: `control` of its configuration
    #[arg(long, value_name = "PATH", default_value = "/run/ace/gateway.sock")]
    control: PathBuf,
    /// Also if nobody was attached since the standby began: nobody said `ace gateway alone` at the other one since it was
    /// attached for the last time
    #[arg(long)]
    nobody_said_alone: bool,
}

impl Alone {
    pub fn say(&self, page: &mut Output) -> Result<Outcome> {
        let _: serde_json::Value = answer(&self.control, "alone")?;
        say!(page, "the gateway goes on alone");
        Ok(Outcome::Well)
    }
}

impl TakeOver {
    pub fn say(&self, page: &mut Output) -> Result<Outcome> {
        let question = if self.nobody_said_alone { "take-over anyway" } else { "take-over" };
        let _: serde_json::Value = answer(&self.control, question)?;
        say!(page, "the standby takes over");
        Ok(Outcome::Well)
    }
}

impl Hand {
    pub fn over(&self, page: &mut Output) -> Result<Outcome> {
        let path = std::path::absolute(&self.file).with_context(|| self.file.display().to_string())?;
        let text = path.to_str().filter(|text| !text.contains('\n'));
        let text = text.with_context(|| format!("{}: such a path cannot be handed over", path.display()))?;
        let Handed { number, .. } = answer(&self.control, &format!("library {text}"))?;
        let start = Instant::now();
        loop {
            let reply: Handed = answer(&self.control, &format!("library-outcome {number}"))?;
            if !reply.pending {
                say!(page, "taken: {}", reply.taken);
                if let Some(error) = reply.sas_error {
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

pub fn status(page: &mut Output, answer: &Status) {
    say!(page, "| what | value |\n|---|--:|");
    say!(
        page,
        "| version | {} |\n| seconds | {} |\n| tun | {} |",
        answer.version,
        answer.seconds,
        answer.tun
    );
    for Interface { name, if_id, moved } in &answer.interfaces {
        let place = if *moved { "moved to another network namespace" } else { "as configured" };
        say!(page, "| interface {name}, if_id {if_id} | {place} |");
    }
    say!(page, "| listening | {} |\n| page | {} |", shown(answer.listening), shown(answer.page));
    say!(page, "| engine | {} |\n| sas | {} |", answer.figures.engine, answer.sas);
    if let Some(standby) = &answer.standby {
        say!(page, "| {}, the other one is at {} | {} |", standby.role, shown(standby.peer), standby.state);
        say!(page, "| take-overs | {} |", standby.take_overs);
    }
    if let Some(why) = &answer.board_fails {
        say!(page, "| every operation on the board has failed so far | {why} |");
    }
    if let Some(dropped) = answer.clear_dropped {
        say!(page, "| covered packets that came in clear, dropped | {dropped} |");
    }
    if let Some(file) = &answer.open_keys {
        say!(page, "| others may read or write these keys | {file} |");
    }
    if answer.rules_without_sa > 0 {
        say!(page, "| rules without SA | {} |", answer.rules_without_sa);
    }
    for peer in &answer.peers {
        say!(page, "| peer {} | {} |", peer.address, told(peer));
    }
    let packets = &answer.figures.packets;
    for (part, traffic) in [
        ("accepted", packets.accepted),
        ("protected", packets.protected),
        ("decapsulated", packets.decapsulated),
    ] {
        say!(page, "| {part} | {} packets, {} bytes |", traffic.packets, traffic.bytes);
    }
    let dropped = packets.dropped.iter().map(|(cause, count)| ("dropped", cause.as_str(), *count));
    let own = answer.figures.gateway.iter().map(|(what, count)| ("gateway", what, count));
    let losses = answer.figures.losses.iter().map(|(cause, count)| ("losses", cause, count));
    let unwritten = answer.unwritten.iter().map(|(what, count)| ("unwritten", what, count));
    for (part, cause, count) in
        dropped.chain(own).chain(losses).chain(unwritten).filter(|(.., count)| *count > 0)
    {
        say!(page, "| {part}: {cause} | {count} |");
    }
}

fn told(peer: &Peer) -> String {
    let mut words = peer.endpoint.map_or_else(|| "nowhere".to_owned(), |at| at.to_string());
    if peer.is_without_sa() {
        let (out, into) = (peer.outbound_sas, peer.inbound_sas);
        words += &format!(", without SA ({out} out, {into} in)");
    }
    words += &format!(", {} packets to it, {} from it", peer.sent.packets, peer.received.packets);
    if let Some(check) = &peer.check {
        words += match check.up {
            None => ", not known whether it answers",
            Some(true) => ", answers",
            Some(false) => ", DOES NOT ANSWER",
        };
        if let Some(longest) = check.longest {
            words += &format!(", packets of {longest} bytes go through");
        }
    }
    if let Some(at) = peer.authenticated {
        let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_secs_f64();
        words += &format!(", the last one {:.1} s ago", (now - at).max(0.0));
    }
    words
}

fn shown(at: Option<SocketAddr>) -> String {
    at.map_or_else(String::new, |at| at.to_string())
}

pub fn sas(page: &mut Output, answer: &Vec<Sa>) {
    say!(
        page,
        "| name | SPI | direction | peer | interface | suite | sequence | packets | bytes | dropped |"
    );
    say!(page, "|---|--:|---|---|---|---|--:|--:|--:|--:|");
    for sa in answer {
        let suite = sa.suite();
        let Traffic { packets, bytes } = sa.counters.forwarded;
        say!(
            page,
            "| {} | {:#x} | {} | {} | {} | {suite} | {} | {packets} | {bytes} | {} |",
            sa.name,
            sa.spi,
            sa.direction,
            sa.remote.map_or_else(String::new, |remote| remote.to_string()),
            sa.interface,
            sa.sequence,
            sa.counters.dropped.values().sum::<u64>()
        );
    }
}
