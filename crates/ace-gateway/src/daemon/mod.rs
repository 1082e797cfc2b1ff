// SPDX-License-Identifier: Apache-2.0
//! `ace gateway`: opens everything, gives up what it no longer needs, and moves packets until it is told to stop.

mod answers;
mod load;
mod recording;

use std::net::SocketAddr;
use std::os::fd::AsFd;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use ace_config::SaFileErrors;
use ace_config::gateway::{Encapsulation, GatewayConfig};
use ace_engine::Engine;
use ace_esp::OsIvs;
use nix::libc::c_int;
use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
use nix::sys::signal::{SigSet, Signal};
use nix::sys::signalfd::{SfdFlags, SignalFd};
use sd_notify::NotifyState;
use thiserror::Error;

use crate::core::{Core, CoreError, Outgoing, Settings};
use crate::engines::Remote;
use crate::io::control::Control;
use crate::io::raw::Raw;
use crate::io::tun::Tun;
use crate::io::udp::Udp;
use crate::io::xfrm::{XfrmSocket, is_local};
use crate::io::{Losses, setup};
use crate::page::Page;
use load::load;
use recording::Recording;

/// Why a gateway does not begin or go on, with what to do about it.
#[derive(Debug, Error)]
pub enum GatewayError {
    #[error("cannot read {path}: {why}")]
    Read { path: PathBuf, why: std::io::Error },
    #[error(transparent)]
    Text(#[from] SaFileErrors),
    #[error("{path}: {why}")]
    Sas { path: PathBuf, why: CoreError },
    #[error(
        "the route {route} leads into the gateway and {end}, where its own packets go, is within it: they would go \
         round in circles; leave {end} out of `routes`"
    )]
    Circle { route: String, end: std::net::IpAddr },
    #[error("cannot open {what}: {why}{remedy}")]
    Open { what: String, why: std::io::Error, remedy: &'static str },
    #[error("[engine]: {0}")]
    Engine(String),
    #[error("{0}")]
    Setup(String),
}

/// The way to the outside.
enum Outside {
    Udp(Box<Udp>),
    Raw(Box<Raw>),
}

struct Daemon {
    config: GatewayConfig,
    core: Core,
    tun: Tun,
    outside: Outside,
    control: Option<Control>,
    xfrm: Option<XfrmSocket>,
    signals: SignalFd,
    losses: Losses,
    start: Instant,
    watchdog: Option<Duration>,
    petted: Duration,
    /// With UDP.
    listening: Option<SocketAddr>,
    /// With a board.
    remote: Option<Remote>,
    handed: answers::Handed,
    page: Option<Page>,
    recording: Option<Recording>,
    stopping: bool,
}

/// Reads a configuration.
///
/// # Errors
/// What is wrong with it, line by line.
pub fn read_config(path: &Path) -> Result<GatewayConfig, GatewayError> {
    let why = |why| GatewayError::Read { path: path.to_owned(), why };
    let text = ace_io::input::text(path).map_err(why)?;
    Ok(GatewayConfig::parse(&path.display().to_string(), &text)?)
}

fn signals() -> SigSet {
    [Signal::SIGTERM, Signal::SIGINT, Signal::SIGHUP].into_iter().collect()
}

/// Signals wait for [`run`] from here on. It has to be called before any thread is started: one that has not inherited
/// this would be ended by them, and the gateway with it.
///
/// # Errors
/// As the system says.
pub fn hold_signals() -> Result<(), GatewayError> {
    let wrong = |why| GatewayError::Setup(format!("cannot hold signals: {why}"));
    signals().thread_block().map_err(wrong)
}

/// Runs a gateway until SIGTERM or SIGINT. `remote` belongs to an engine with a board. `said` takes what there is to
/// say, a line each.
///
/// # Errors
/// [`GatewayError`], before the first packet.
pub fn run(
    config: GatewayConfig,
    engine: Box<dyn Engine>,
    remote: Option<Remote>,
    mut said: impl FnMut(&str),
) -> Result<(), GatewayError> {
    let mut daemon = Daemon::open(config, engine, remote, &mut said)?;
    daemon.notify(&[NotifyState::Ready]);
    said(&format!("ready: {} SAs", daemon.core.sa_count()));
    while !daemon.stopping {
        daemon.turn(&mut said);
    }
    daemon.notify(&[NotifyState::Stopping]);
    // What was taken is sent.
    let now = daemon.start.elapsed();
    daemon.core.finish(now);
    daemon.send(now);
    if let Some(mut recording) = daemon.recording.take() {
        recording.go_on(&mut daemon.core, &mut said);
    }
    let packets = daemon.core.packets();
    let (protected, decapsulated) = (packets.protected.packets, packets.decapsulated.packets);
    said(&format!("stopped: {protected} packets protected, {decapsulated} taken back"));
    Ok(())
}

/// Who has something.
struct Ready {
    inside: bool,
    outside: bool,
    signalled: bool,
    /// The engine's thread, or somebody who asks.
    others: bool,
}

impl Daemon {
    fn open(
        config: GatewayConfig,
        engine: Box<dyn Engine>,
        remote: Option<Remote>,
        said: &mut impl FnMut(&str),
    ) -> Result<Self, GatewayError> {
        let (inside, outside) = (&config.inside, &config.outside);
        let keepalive = Some(Duration::from_secs(outside.keepalive.into())).filter(|it| !it.is_zero());
        let settings = Settings {
            encapsulation: outside.encapsulation,
            peers: config.peers.clone(),
            port: 4500,
            keepalive: keepalive.filter(|_| outside.encapsulation == Encapsulation::Udp),
            xfrm: config.xfrm.as_ref().map(|xfrm| xfrm.allow_legacy),
        };
        let mut core = Core::new(settings, engine, Box::new(OsIvs::default()));
        load(&mut core, &config, Duration::ZERO, said)?;
        let mask = signals();
        let signals = mask
            .thread_block()
            .and_then(|()| SignalFd::with_flags(&mask, SfdFlags::SFD_NONBLOCK | SfdFlags::SFD_CLOEXEC))
            .map_err(|why| GatewayError::Setup(format!("cannot wait for signals: {why}")))?;
        let open = |what: String, remedy| move |why| GatewayError::Open { what, why, remedy };
        let opened = match outside.encapsulation {
            Encapsulation::Udp => {
                let remedy = "; another program may listen there, or `listen` is no address of this machine";
                let bound = Udp::bind(outside.listen)
                    .map_err(open(format!("UDP port {}", outside.listen), remedy))?;
                Outside::Udp(Box::new(bound))
            }
            Encapsulation::None => {
                let remedy = "; this needs CAP_NET_RAW: start as root, or use encapsulation = \"udp\"";
                Outside::Raw(Box::new(Raw::open().map_err(open("raw sockets".to_owned(), remedy))?))
            }
        };
        let remedy = "; this needs CAP_NET_ADMIN and /dev/net/tun, and one process alone has a device";
        let tun = Tun::open(inside).map_err(open(format!("the TUN device {}", inside.tun), remedy))?;
        setup::configure(inside).map_err(GatewayError::Setup)?;
        let control = Control::bind(&config.control)
            .map_err(open(format!("the socket {}", config.control.display()), ""))?;
        let xfrm = match &config.xfrm {
            Some(xfrm) => {
                let what = format!("the socket {}", xfrm.socket.display());
                Some(XfrmSocket::bind(&xfrm.socket).map_err(open(what, ""))?)
            }
            None => None,
        };
        let page = match config.page {
            Some(page) => {
                let remedy = "; another program may listen there: `listen` of [page] names another port";
                Some(Page::open(page.listen).map_err(open(format!("the page at {}", page.listen), remedy))?)
            }
            None => None,
        };
        let recording = match &config.record {
            Some(record) => {
                let what = format!("the recording {}", record.file.display());
                Some(Recording::create(record, &mut core).map_err(open(what, ""))?)
            }
            None => None,
        };
        if let Some(user) = &config.user {
            setup::become_user(user).map_err(GatewayError::Setup)?;
        }
        setup::confine().map_err(GatewayError::Setup)?;
        let mut microseconds = 0;
        let watchdog = sd_notify::watchdog_enabled(false, &mut microseconds)
            .then(|| Duration::from_micros(microseconds) / 3);
        let listening = match &opened {
            Outside::Udp(udp) => udp.local_addr().ok(),
            Outside::Raw(_) => None,
        };
        Ok(Self {
            config,
            core,
            tun,
            outside: opened,
            control: Some(control),
            xfrm,
            signals,
            losses: Losses::default(),
            start: Instant::now(),
            watchdog,
            petted: Duration::ZERO,
            listening,
            remote,
            handed: answers::Handed::default(),
            page,
            recording,
            stopping: false,
        })
    }

    /// Waits for something, and does all of it. Both sides have their turn, and each turn is bounded.
    fn turn(&mut self, said: &mut impl FnMut(&str)) {
        let Ready { inside, outside, signalled, others } = self.wait();
        let now = self.start.elapsed();
        if inside {
            let Self { tun, core, losses, .. } = self;
            tun.read(losses, |packet| {
                let mut buffer = core.buffer();
                buffer.extend_from_slice(packet);
                core.from_inside(now, buffer);
            });
            self.send(now);
        }
        if outside {
            let Self { outside, core, losses, .. } = self;
            match outside {
                Outside::Udp(udp) => udp.read(losses, |source, ecn, payload| {
                    let mut buffer = core.buffer();
                    buffer.extend_from_slice(payload);
                    core.from_udp(now, source, ecn, buffer);
                }),
                Outside::Raw(raw) => raw.read(losses, |packet| {
                    let mut buffer = core.buffer();
                    buffer.extend_from_slice(packet);
                    core.from_raw(now, buffer);
                }),
            }
            self.send(now);
        }
        self.core.tick(now);
        self.send(now);
        while let Some(event) = self.core.poll_event() {
            said(&event);
        }
        if let Some(recording) = &mut self.recording
            && !recording.go_on(&mut self.core, said)
        {
            self.recording = None;
        }
        if let Some(remote) = &mut self.remote {
            remote.calm();
        }
        self.libraries(now, said);
        // Answers are about everything else. Most turns are about packets alone, and nobody is asked whether he asks.
        let late = self.control.as_ref().and_then(Control::timeout).is_some_and(|until| now >= until);
        if (others || late)
            && let Some(mut control) = self.control.take()
        {
            control.serve(now, |question| line(&self.answer(now, question)));
            self.control = Some(control);
        }
        if others && let Some(mut page) = self.page.take() {
            page.serve(|question| self.answer(now, question));
            self.page = Some(page);
        }
        let Self { xfrm, core, .. } = self;
        if let Some(xfrm) = xfrm {
            if others {
                xfrm.serve(|request| core.xfrm(now, request, &is_local));
            }
            while let Some((group, notice)) = core.poll_notice() {
                xfrm.tell(group, &notice);
            }
        }
        if signalled {
            self.signals(now, said);
        }
        if self.watchdog.is_some_and(|every| now >= self.petted + every) {
            self.petted = now;
            self.notify(&[NotifyState::Watchdog]);
        }
    }

    /// Until inside, outside or a signal has something, somebody asks, or it is time.
    fn wait(&self) -> Ready {
        let now = self.start.elapsed();
        let timeouts = [
            self.core.poll_timeout(),
            self.control.as_ref().and_then(Control::timeout),
            self.watchdog.map(|every| self.petted + every),
        ];
        let timeout = timeouts.into_iter().flatten().min().map_or(PollTimeout::NONE, |at| {
            // Up to the next millisecond, so that it is not woken too early again and again.
            let left = at.saturating_sub(now).as_millis() + 1;
            PollTimeout::try_from(left.min(60_000) as c_int).unwrap_or(PollTimeout::NONE)
        });
        let mut fds = vec![
            PollFd::new(self.tun.as_fd(), PollFlags::POLLIN),
            PollFd::new(self.signals.as_fd(), PollFlags::POLLIN),
        ];
        match &self.outside {
            Outside::Udp(udp) => fds.push(PollFd::new(udp.as_fd(), PollFlags::POLLIN)),
            Outside::Raw(raw) => fds.extend(raw.fds().map(|fd| PollFd::new(fd, PollFlags::POLLIN))),
        }
        let outside = 2..fds.len();
        fds.extend(self.remote.iter().filter_map(Remote::fd).map(|fd| PollFd::new(fd, PollFlags::POLLIN)));
        fds.extend(self.page.iter().map(|page| PollFd::new(page.fd(), PollFlags::POLLIN)));
        let control = self.control.iter().flat_map(Control::fds);
        fds.extend(control.map(|(fd, flags)| PollFd::new(fd, flags)));
        let xfrm = self.xfrm.iter().flat_map(XfrmSocket::fds);
        fds.extend(xfrm.map(|(fd, flags)| PollFd::new(fd, flags)));
        if poll(&mut fds, timeout).is_err() {
            return Ready { inside: false, outside: false, signalled: true, others: true };
        }
        let is_ready = |fd: &PollFd<'_>| fd.any().unwrap_or(false);
        let at = |index: usize| fds.get(index).is_some_and(is_ready);
        let others = fds.get(outside.end..).unwrap_or_default().iter().any(is_ready);
        let outside = fds.get(outside).unwrap_or_default().iter().any(is_ready);
        Ready { inside: at(0), outside, signalled: at(1), others }
    }

    /// Computes, and sends what comes of it.
    fn send(&mut self, now: Duration) {
        self.core.work(now);
        let Self { core, tun, outside, losses, .. } = self;
        while let Some(outgoing) = core.poll() {
            let buffer = match (outgoing, &mut *outside) {
                (Outgoing::Inside(packet), _) => {
                    tun.put(&packet);
                    packet
                }
                (Outgoing::Udp { to, ecn, payload }, Outside::Udp(udp)) => {
                    udp.put(losses, to, ecn, &payload);
                    payload
                }
                (Outgoing::Raw { to, packet }, Outside::Raw(raw)) => {
                    raw.send(losses, to, &packet);
                    packet
                }
                (Outgoing::Udp { payload: buffer, .. } | Outgoing::Raw { packet: buffer, .. }, _) => buffer,
            };
            core.give_back(buffer);
        }
        tun.flush(losses);
        if let Outside::Udp(udp) = outside {
            udp.flush(losses);
        }
    }

    fn signals(&mut self, now: Duration, said: &mut impl FnMut(&str)) {
        while let Ok(Some(signal)) = self.signals.read_signal() {
            if signal.ssi_signo != Signal::SIGHUP as u32 {
                self.stopping = true;
                continue;
            }
            // Newer systemd wants to know when.
            match NotifyState::monotonic_usec_now() {
                Ok(when) => self.notify(&[NotifyState::Reloading, when]),
                Err(_) => self.notify(&[NotifyState::Reloading]),
            }
            if let Err(error) = load(&mut self.core, &self.config, now, said) {
                said(&format!("not reloaded, all SAs stay as they are: {error}"));
            }
            self.notify(&[NotifyState::Ready]);
        }
    }

    /// Without a service manager nobody hears it.
    fn notify(&self, states: &[NotifyState<'_>]) {
        let _ = sd_notify::notify(false, states);
    }
}

fn line(value: &serde_json::Value) -> Vec<u8> {
    format!("{value}\n").into_bytes()
}
