// SPDX-License-Identifier: Apache-2.0
//! `ace gateway standby`: has the copy, and waits for its time.

use std::path::Path;
use std::time::{Duration, Instant};

use ace_config::gateway::{GatewayConfig, Standby};
use nix::libc::c_int;
use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
use nix::sys::signal::Signal;
use nix::sys::signalfd::{SfdFlags, SignalFd};
use sd_notify::NotifyState;
use serde_json::{Value, json};
use std::os::fd::AsFd;
use tracing::{info, warn};

use crate::daemon::{GatewayError, check_sas, signals};
use crate::io::control::Control;
use crate::io::setup::SetupError;
use crate::keys::state::State;
use crate::status::{self, Status};

use super::channel::{Server, SharedKey};
use super::message::Reply;
use super::replica::Replica;
use super::{listen, patience, section};

/// How waiting ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Waited {
    /// This one counts, since now or before it began, and is to be a gateway.
    Counts,
    /// It was told to stop.
    Stopped,
}

struct Waiting<'a> {
    of: &'a Standby,
    config: &'a GatewayConfig,
    replica: Replica,
    start: Instant,
    /// When the other one was heard.
    heard: Duration,
    was_attached: bool,
}

/// Waits until it has taken over, or SIGTERM. A state file under whose keys this one counted before is waited with for
/// nothing: whether somebody has taken over since is asked where a gateway begins.
///
/// # Errors
/// [`GatewayError`].
pub fn wait(config: &GatewayConfig, name: &Path) -> Result<Waited, GatewayError> {
    let of = section(config, name)?;
    let key = SharedKey::read(&of.key).map_err(super::PairError::from)?;
    // Whatever would keep the gateway from beginning is better known now.
    check_sas(config)?;
    let state = State::open(config.state.as_deref().unwrap_or(Path::new("gateway.state")))?;
    if !state.is_new() && state.may_count().is_ok() {
        return Ok(Waited::Counts);
    }
    let replica = Replica::new(state);
    let mut server = listen(of, &key)?;
    let what = format!("the socket {}", config.control.display());
    let mut control =
        Control::bind(&config.control).map_err(|why| GatewayError::Open { what, why, remedy: "" })?;
    let stops = SignalFd::with_flags(&signals(), SfdFlags::SFD_NONBLOCK | SfdFlags::SFD_CLOEXEC);
    let stops = stops.map_err(SetupError::Wait)?;
    let start = Instant::now();
    let mut it = Waiting { of, config, replica, start, heard: Duration::ZERO, was_attached: false };
    // Without a service manager nobody hears it.
    let _ = sd_notify::notify(false, &[NotifyState::Ready]);
    info!(listening = %of.listen, peer = %of.peer, "waits as a standby");
    let mut until = None;
    loop {
        let now = start.elapsed();
        it.serve(now, &mut server);
        control.serve(now, |question, _| Some(format!("{}\n", it.answer(question)).into_bytes()));
        it.listen(now);
        if it.replica.counts() {
            return Ok(Waited::Counts);
        }
        while let Ok(Some(signal)) = stops.read_signal() {
            if signal.ssi_signo != Signal::SIGHUP as u32 && until.is_none() {
                until = Some(now + patience(of));
                if let Err(why) = it.replica.leave() {
                    warn!(%why, "the state file cannot be written: the other gateway stands still if it has to have a standby");
                }
            }
        }
        if until.is_some_and(|until| now >= until || !it.replica.is_attached()) {
            info!("stopped");
            return Ok(Waited::Stopped);
        }
        let mut fds = vec![PollFd::new(stops.as_fd(), PollFlags::POLLIN)];
        fds.extend(server.fds().chain(control.fds()).map(|(fd, flags)| PollFd::new(fd, flags)));
        let times = [until, server.timeout(), control.timeout(), Some(now + patience(of) / 4)];
        let left = times.into_iter().flatten().min().unwrap_or(now).saturating_sub(now);
        let left = PollTimeout::try_from((left.as_millis() + 1).min(60_000) as c_int);
        if poll(&mut fds, left.unwrap_or(PollTimeout::ZERO)).is_err() {
            std::thread::sleep(Duration::from_millis(10));
        }
    }
}

impl Waiting<'_> {
    fn serve(&mut self, now: Duration, server: &mut Server) {
        server.serve(now, |number, request| {
            let reply = self.replica.answer(number, request);
            match &reply {
                Reply::Done => self.heard = now,
                Reply::Refused(why) => warn!(%why, "another gateway was refused"),
                Reply::Leaving | Reply::Counting { .. } => {}
            }
            reply
        });
        let is = self.replica.is_attached();
        if is != self.was_attached {
            self.was_attached = is;
            match is {
                true => info!(term = self.replica.role().term, "attached: it has everything"),
                false => info!("not attached"),
            }
        }
    }

    /// Takes over when nothing was heard for long, if that is safe.
    fn listen(&mut self, now: Duration) {
        let wait = Duration::from_secs(self.of.wait.into());
        if now < self.heard + wait || self.replica.counts() {
            return;
        }
        match self.replica.take_over(false) {
            Ok(()) => warn!(silent = ?(now - self.heard), "the other gateway is silent: this one takes over"),
            Err(why) => {
                if self.was_attached {
                    self.was_attached = false;
                    warn!(%why, "the other gateway is silent, and this one does not take over");
                }
            }
        }
    }

    fn answer(&mut self, question: &str) -> Value {
        match question {
            "status" => json!(self.status()),
            "sas" => json!([]),
            "take-over" | "take-over anyway" => match self.replica.take_over(question.ends_with("anyway")) {
                Ok(()) => {
                    warn!("somebody says that this gateway takes over");
                    json!({"taken_over": self.replica.role().term})
                }
                Err(why) => json!({"error": why.to_string()}),
            },
            _ => json!({"error": "this is a standby, and answers `status` and `take-over`"}),
        }
    }

    fn status(&self) -> Status {
        let attached = self.replica.is_attached();
        let state = match self.replica.may_take_over() {
            Ok(()) if attached => "has everything, and takes over when the other one is silent".to_owned(),
            Ok(()) => "takes over when it has heard nothing for a while".to_owned(),
            Err(why) => format!("does not take over: {why}"),
        };
        Status {
            version: env!("CARGO_PKG_VERSION").to_owned(),
            seconds: self.start.elapsed().as_secs_f64(),
            tun: self.config.inside.tun.clone(),
            standby: Some(status::Standby {
                role: "standby".to_owned(),
                state,
                attached,
                peer: Some(self.of.peer),
                take_overs: self.replica.role().term,
            }),
            ..Status::default()
        }
    }
}
