// SPDX-License-Identifier: Apache-2.0
//! `ace gateway`: the data plane on live traffic, and questions to a gateway that runs.

mod ask;
mod engine;
mod link;
mod log;
mod replay;
mod slots;
mod trace;

use std::os::fd::AsFd;
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::time::Duration;

use ace_gateway::standby::Waited;
use ace_gateway::{daemon, standby};
use anyhow::{Context, Result, bail};
use clap::Subcommand;
use tracing::{error, warn};

use crate::page::Output;
use ace_report::{Outcome, say};
use ask::{Alone, Ask, Hand, TakeOver};
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
        matches!(self.question, None | Some(Question::Standby { .. }))
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
    /// Be one of two gateways ([standby]): a standby that copies the other one's state, and takes over when that one is gone.
    /// It is the gateway at once if it was before and nobody has taken over since. No sequence number is used twice,
    /// whichever of the two sends. Runs until SIGTERM or Ctrl-C
    Standby {
        /// The gateway's that it is to be: docs/gateway.md
        config: PathBuf,
        /// Take SA files that others may read or write
        #[arg(long)]
        allow_open_keys: bool,
        #[command(flatten)]
        log: Log,
    },
    /// Have a standby take over now. The gateway that counted before gets no number any more, and ends when it hears of it
    TakeOver(TakeOver),
    /// Give the keys of a gateway that is stopped to its standby, which takes over. It never counts under them again
    HandOver {
        /// The gateway's: docs/gateway.md
        config: PathBuf,
    },
    /// Have a gateway go on whose standby is lost. If it is not off, or took over before, sequence numbers are used twice
    Alone(Alone),
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
        (Some(Question::Slots(ask)), _) => ask.show(page, "slots", |page, view| slots::slots(page, view)),
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
        (Some(Question::Standby { config, allow_open_keys, log }), _) => {
            begin(config, *allow_open_keys, log, true)
        }
        (Some(Question::TakeOver(word)), _) => word.say(page),
        (Some(Question::Alone(word)), _) => word.say(page),
        (Some(Question::HandOver { config }), _) => {
            standby::hand_over(&daemon::read_config(config)?, config)?;
            say!(page, "the standby takes over");
            Ok(Outcome::Well)
        }
        (None, Some(file)) => begin(file, args.allow_open_keys, &args.log, false),
        (None, None) => bail!("name a configuration, or ask `status`, `sas` or `slots`"),
    }
}

/// Runs a gateway, at once or when its time has come.
fn begin(file: &Path, open_keys: bool, log: &Log, waits: bool) -> Result<Outcome> {
    let mut config = daemon::read_config(file)?;
    config.open_keys = open_keys;
    daemon::hold_signals()?;
    let log = log.begin()?;
    let ended = loop {
        if waits && standby::wait(&config, file)? == Waited::Stopped {
            return Ok(Outcome::Well);
        }
        let (engines, remote) = engine::open(&config.engine).with_context(|| file.display().to_string())?;
        break match daemon::run(config.clone(), engines, remote, log.clone()) {
            Err(error) if waits && error.has_to_wait() => {
                warn!(%error, "waits");
                continue;
            }
            Err(error) if error.is_later() => {
                error!(%error, "ended");
                Ok(Outcome::Wrong)
            }
            ended => Ok(ended.map(|()| Outcome::Well)?),
        };
    };
    log.finish(LAST_WORDS);
    ended
}
