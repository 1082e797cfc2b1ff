// SPDX-License-Identifier: Apache-2.0
//! `ace gateway`: the data plane on live traffic, and questions to a gateway that runs.

mod ask;
mod engine;
mod log;
mod replay;
mod trace;

use std::os::fd::AsFd;
use std::os::unix::net::UnixStream;
use std::path::PathBuf;
use std::time::Duration;

use ace_gateway::daemon;
use anyhow::{Context, Result, bail};
use clap::Subcommand;
use tracing::error;

use crate::page::Output;
use ace_report::Outcome;
use ask::{Ask, Hand};
use log::Log;
use replay::Replay;
use trace::Trace;

/// How long the end waits for whoever reads what is said.
const LAST_WORDS: Duration = Duration::from_secs(1);

/// Protect live traffic (docs/gateway.md): what is routed into a TUN device leaves in ESP or AH, and the other way
/// round. Runs until SIGTERM or Ctrl-C; SIGHUP takes the SA file anew. Ends with exit code 1 when its device or a socket
/// is gone.
///
/// This processor computes, or the board, or whoever costs less ([engine]). What no SA protects goes nowhere, and neither does anything while no gateway runs: the
/// device stays, with its routes (`ip link delete` removes it).
#[derive(clap::Args)]
#[command(args_conflicts_with_subcommands = true, arg_required_else_help = true)]
pub struct Args {
    /// What the gateway is: docs/gateway.md
    config: Option<PathBuf>,
    /// Take SA files that others may read or write
    #[arg(long)]
    allow_open_keys: bool,
    #[command(flatten)]
    log: Log,
    #[command(subcommand)]
    question: Option<Question>,
}

impl Args {
    /// Whether this is the gateway itself: it outlives whoever reads what it says.
    pub fn stays(&self) -> bool {
        self.question.is_none()
    }
}

#[derive(Subcommand)]
enum Question {
    /// Say how a running gateway is: peers, packets, what was dropped and why
    Status(Ask),
    /// List the SAs of a running gateway with what they carried
    Sas(Ask),
    /// Show the board of a running gateway: slots, loads, and who computes what at which cost
    Slots(Ask),
    /// Show what becomes of each packet of a running gateway, from now until Ctrl-C: when, which way, by which SA, and why it
    /// was dropped. No packet waits for it: what is not read in time is left out and counted
    Trace(Trace),
    /// Hand a running gateway a newer signed library. It is verified, its version has to be higher, and slots change
    /// over when their frames have ended; then the SA file is taken anew. Anything wrong changes nothing
    Library(Hand),
    /// Take away what a gateway leaves behind so that nothing leaves in clear: the device, the routes and the rules of a
    /// configuration. Not while it runs
    Release {
        /// The gateway's: docs/gateway.md
        config: PathBuf,
    },
    /// Play recorded traffic ([record]) on the virtual clock, with and without the board: TCP as a closed loop, all else
    /// when it came. Each operation goes where it is done earlier and does not lengthen the whole. Times are the model's, never wall time
    Replay(Box<Replay>),
    /// Keep the firewall of a gateway, which starts this itself
    #[command(hide = true)]
    Firewall,
}

pub fn run(page: &mut Output, args: &Args) -> Result<Outcome> {
    match (&args.question, &args.config) {
        (Some(Question::Status(ask)), _) => ask.show(page, "status", ask::status),
        (Some(Question::Sas(ask)), _) => ask.show(page, "sas", ask::sas),
        (Some(Question::Slots(ask)), _) => ask.show(page, "slots", ask::slots),
        (Some(Question::Library(hand)), _) => hand.over(page),
        (Some(Question::Trace(trace)), _) => trace.run(),
        (Some(Question::Release { config }), _) => {
            daemon::release(&daemon::read_config(config)?)?;
            Ok(Outcome::Well)
        }
        (Some(Question::Replay(replay)), _) => replay.run(page),
        (Some(Question::Firewall), _) => {
            let orders = std::io::stdin().as_fd().try_clone_to_owned()?;
            let orders = UnixStream::from(orders);
            let words = orders.try_clone()?;
            ace_gateway::firewall::keep(orders, words)?;
            Ok(Outcome::Well)
        }
        (None, Some(file)) => {
            let mut config = daemon::read_config(file)?;
            config.open_keys = args.allow_open_keys;
            daemon::hold_signals()?;
            let log = args.log.begin()?;
            let (engines, remote) =
                engine::open(&config.engine).with_context(|| file.display().to_string())?;
            let ended = match daemon::run(config, engines, remote, log.clone()) {
                Err(error) if error.is_later() => {
                    error!(%error, "ended");
                    Ok(Outcome::Wrong)
                }
                ended => Ok(ended.map(|()| Outcome::Well)?),
            };
            log.finish(LAST_WORDS);
            ended
        }
        (None, None) => bail!("name a configuration, or ask `status`, `sas` or `slots`"),
    }
}
