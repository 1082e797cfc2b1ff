// SPDX-License-Identifier: Apache-2.0
//! `ace gateway`: opens everything, gives up what it no longer needs, and moves packets until it is told to stop.

mod answers;
mod error;
mod faces;
mod front;
mod guarding;
mod load;
mod open;
mod reader;
mod recording;
mod tunnels;
mod waiting;
mod worker;
mod worker_pool;

use std::cell::Cell;
use std::ffi::OsString;
use std::net::SocketAddr;
use std::ops::Range;
use std::os::fd::AsFd;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use ace_config::gateway::GatewayConfig;
use ace_engine::Engine;
use nix::libc::c_int;
use nix::poll::{PollFlags, PollTimeout};
use nix::sys::signal::{SigSet, Signal};
use nix::sys::signalfd::SignalFd;
use sd_notify::NotifyState;
use tracing::{error, info, warn};

use crate::engines::Remote;
use crate::firewall::Firewall;
use crate::io::broken::{Broken, Row};
use crate::io::control::Control;
use crate::io::guard::Guard;
use crate::io::icmp::Icmp;
use crate::io::setup::SetupError;
use crate::io::xfrm::{XfrmSocket, is_local};
use crate::keys::Keys;
use crate::outlet::Outlet;
use crate::page::Page;
use crate::standby::Active;
use crate::status::Clock;
pub use error::GatewayError;
use front::Front;
pub use guarding::release;
use load::Loading;
pub(crate) use load::{check_sas, open_to_others};
use recording::Recording;
use waiting::Waiting;
use worker::Worker;

/// How long what cores have to say may wait.
const LISTEN: Duration = Duration::from_millis(200);

struct Daemon {
    config: GatewayConfig,
    front: Front,
    loading: Loading,
    control: Option<Control>,
    xfrm: Option<XfrmSocket>,
    signals: SignalFd,
    start: Instant,
    /// By the clock on the wall.
    began: Cell<Clock>,
    watchdog: Option<Duration>,
    watchdog_fed: Duration,
    /// With UDP.
    listening: Option<SocketAddr>,
    /// With a board.
    remote: Option<Remote>,
    handed: answers::Handed,
    page: Option<Page>,
    recording: Option<Recording>,
    /// Where what is said goes.
    log: Outlet,
    keys: Keys,
    /// Of devices inside, in their order.
    guards: Vec<Guard>,
    /// Guards to be asked, by place.
    due: Vec<usize>,
    standby: Option<Active>,
    firewall: Option<Firewall>,
    icmp: Option<Icmp>,
    waiting: Waiting,
    /// Waits that failed.
    waits: Row,
    writing: Option<std::thread::JoinHandle<()>>,
    stopping: bool,
}

/// Reads a configuration.
///
/// # Errors
/// What is wrong with it, line by line.
pub fn read_config(path: &Path) -> Result<GatewayConfig, GatewayError> {
    let why = |why| GatewayError::Read { path: path.to_owned(), why };
    let text = ace_fs::read_text(path).map_err(why)?;
    let mut config = GatewayConfig::parse(&path.display().to_string(), &text)?;
    config.state.get_or_insert_with(|| state_file(path, std::env::var_os("STATE_DIRECTORY")));
    Ok(config)
}

/// Where a gateway that names no state file has it: in the folder that systemd gives it, else beside its configuration.
fn state_file(config: &Path, given: Option<OsString>) -> PathBuf {
    let own = config.with_extension("state");
    let folder = given.as_deref().and_then(|folders| std::env::split_paths(folders).next());
    match (folder.filter(|folder| folder.is_absolute()), own.file_name()) {
        (Some(folder), Some(name)) => folder.join(name),
        _ => own,
    }
}

pub(crate) fn signals() -> SigSet {
    [Signal::SIGTERM, Signal::SIGINT, Signal::SIGHUP].into_iter().collect()
}

/// Signals wait for [`run`] from here on. It has to be called before any thread is started: one that has not inherited
/// this would be ended by them, and the gateway with it.
///
/// # Errors
/// As the system says.
pub fn hold_signals() -> Result<(), GatewayError> {
    Ok(signals().thread_block().map_err(SetupError::Hold)?)
}

/// Runs a gateway until SIGTERM or SIGINT, with an engine for each core. `remote` belongs to an engine with a board.
/// What there is to say are `tracing` events; they go through `log`, which is started with the other threads.
///
/// # Errors
/// [`GatewayError`]: before the first packet, or because a device or a socket does not work any more.
pub fn run(
    config: GatewayConfig,
    engines: Vec<Box<dyn Engine + Send>>,
    remote: Option<Remote>,
    log: Outlet,
) -> Result<(), GatewayError> {
    let mut daemon = Daemon::open(config, engines, remote, log)?;
    // Somebody may have been at them since they were made.
    daemon.guard_all()?;
    // Rules of the SA file stand before the first packet.
    daemon.enforce_first()?;
    daemon.notify(&[NotifyState::Ready]);
    info!(sas = daemon.front.sa_count(), "ready");
    let mut ended = Ok(());
    while !daemon.stopping && ended.is_ok() {
        ended = daemon.turn();
    }
    daemon.notify(&[NotifyState::Stopping]);
    // What was taken is sent.
    let now = daemon.start.elapsed();
    if let Err(error) = daemon.front.finish(now)
        && ended.is_ok()
    {
        warn!(%error, "what was taken last was not sent");
    }
    if let (Some(mut recording), Some(worker)) = (daemon.recording.take(), daemon.front.worker()) {
        recording.finish(&mut worker.core);
    }
    // No packet is under way: exactly what was used is written down.
    if let Err(why) = daemon.keys.stop() {
        warn!(%why, "the state file was not written at the end: some sequence numbers will be passed over");
    }
    if let Some(writing) = daemon.writing.take() {
        // It has nothing to say.
        let _ = writing.join();
    }
    let packets = daemon.front.figures().0.packets;
    let (protected, decapsulated) = (packets.protected.packets, packets.decapsulated.packets);
    info!(protected, decapsulated, "stopped");
    ended
}

/// Who has something.
struct Ready {
    /// Devices, by place.
    inside: Vec<usize>,
    outside: bool,
    signalled: bool,
    /// The engine's thread, or somebody who asks.
    others: bool,
}

impl Daemon {
    /// Waits for something, and does all of it. Both sides have their turn, and each turn is bounded.
    fn turn(&mut self) -> Result<(), GatewayError> {
        let Ready { inside, outside, signalled, others } = self.wait()?;
        let now = self.start.elapsed();
        match &mut self.front {
            Front::One(worker) => worker.turn(now, &inside, outside)?,
            Front::Pool(pool) => pool.broken()?,
        }
        while let Some(event) = self.front.poll_event() {
            info!("{event}");
        }
        if let (Some(recording), Some(worker)) = (&mut self.recording, self.front.worker()) {
            recording.go_on(&mut worker.core);
        }
        if let Some(remote) = &mut self.remote {
            remote.calm();
            if let Some(event) = remote.poll_event() {
                warn!("{event}");
            }
        }
        self.libraries();
        // Answers are about everything else. Most turns are about packets alone, and nobody is asked whether he asks.
        let due = |until: Option<Duration>| until.is_some_and(|until| now >= until);
        let late = due(self.control.as_ref().and_then(Control::timeout));
        if (others || late)
            && let Some(mut control) = self.control.take()
        {
            control.serve(now, |question, stream| Some(line(&self.answer(now, question, stream)?)));
            self.control = Some(control);
        }
        if others && let Some(mut page) = self.page.take() {
            page.serve(|| self.state(now));
            self.page = Some(page);
        }
        let Self { xfrm, front, .. } = self;
        if let (Some(xfrm), Some(Worker { core, .. })) = (xfrm, front.worker()) {
            if others || due(xfrm.timeout()) {
                xfrm.serve(now, |request| core.xfrm(now, request, &is_local));
            }
            while let Some((group, notice)) = core.poll_notice() {
                xfrm.tell(group, &notice);
            }
        }
        if signalled {
            self.signals()?;
        }
        self.enforce()?;
        if others {
            self.reload(now);
            self.look()?;
            self.hear()?;
            self.standby.as_ref().map_or(Ok(()), Active::look)?;
            if let Some(icmp) = &self.icmp {
                icmp.read(self.listening.map(|at| at.port()), |about| self.front.too_big(now, about));
            }
        }
        if self.watchdog.is_some_and(|every| now >= self.watchdog_fed + every) {
            self.watchdog_fed = now;
            self.notify(&[NotifyState::Watchdog]);
        }
        Ok(())
    }

    /// Until inside, outside or a signal has something, somebody asks, or it is time.
    fn wait(&mut self) -> Result<Ready, Broken> {
        let now = self.start.elapsed();
        let timeouts = [
            match &self.front {
                Front::One(worker) => worker.core.poll_timeout(),
                // What they have to say waits no longer.
                Front::Pool(_) => Some(now + LISTEN),
            },
            self.control.as_ref().and_then(Control::timeout),
            self.xfrm.as_ref().and_then(XfrmSocket::timeout),
            self.watchdog.map(|every| self.watchdog_fed + every),
        ];
        let timeout = timeouts.into_iter().flatten().min().map_or(PollTimeout::NONE, |at| {
            // Up to the next millisecond, so that it is not woken too early again and again.
            let left = at.saturating_sub(now).as_millis() + 1;
            PollTimeout::try_from(left.min(60_000) as c_int).unwrap_or(PollTimeout::NONE)
        });
        let mut fds = vec![(self.signals.as_fd(), PollFlags::POLLIN)];
        if let Front::One(worker) = &self.front {
            fds.extend(worker.ports.fds().into_iter().map(|fd| (fd, PollFlags::POLLIN)));
        }
        let ports = 1..fds.len();
        fds.extend(self.guards.iter().map(|guard| (guard.fd(), PollFlags::POLLIN)));
        fds.push((self.loading.fd(), PollFlags::POLLIN));
        fds.extend(self.icmp.iter().flat_map(Icmp::fds).map(|fd| (fd, PollFlags::POLLIN)));
        fds.extend(self.standby.iter().map(|standby| (standby.fd(), PollFlags::POLLIN)));
        fds.extend(self.firewall.iter().map(|firewall| (firewall.fd(), PollFlags::POLLIN)));
        fds.extend(self.remote.iter().filter_map(Remote::fd).map(|fd| (fd, PollFlags::POLLIN)));
        fds.extend(self.page.iter().filter_map(Page::fd).map(|fd| (fd, PollFlags::POLLIN)));
        fds.extend(self.control.iter().flat_map(Control::fds));
        fds.extend(self.xfrm.iter().flat_map(XfrmSocket::fds));
        let ready = match self.waiting.wait(&fds, timeout) {
            Ok(ready) => ready,
            // What nobody said is looked for next time.
            Err(why) => {
                self.waiting.changed();
                self.waits.failed(why.into()).map_err(Broken::waiting)?;
                return Ok(Ready { inside: Vec::new(), outside: false, signalled: true, others: true });
            }
        };
        self.waits.well();
        let any = |range: Range<usize>| ready.iter().any(|place| range.contains(place));
        let devices = match &self.front {
            Front::One(worker) => worker.inside.len(),
            Front::Pool(_) => 0,
        };
        let inside = ready.iter().filter_map(|place| place.checked_sub(1)).filter(|device| *device < devices);
        let inside: Vec<usize> = inside.collect();
        let (outside, signalled) = (any(1 + devices..ports.end.max(1 + devices)), any(0..1));
        let others = any(ports.end..fds.len());
        // Packets alone open and close nothing.
        if signalled || others || ready.is_empty() {
            self.waiting.changed();
        }
        Ok(Ready { inside, outside, signalled, others })
    }

    fn signals(&mut self) -> Result<(), Broken> {
        while let Some(signal) = self.signals.read_signal().map_err(|why| Broken::waiting(why.into()))? {
            if signal.ssi_signo != Signal::SIGHUP as u32 {
                self.stopping = true;
                continue;
            }
            // Newer systemd wants to know when.
            match NotifyState::monotonic_usec_now() {
                Ok(when) => self.notify(&[NotifyState::Reloading, when]),
                Err(_) => self.notify(&[NotifyState::Reloading]),
            }
            self.loading.ask();
        }
        Ok(())
    }

    /// Takes a file that has been read.
    fn reload(&mut self, now: Duration) {
        let mut last = None;
        while let Some(taken) = self.loading.take(|plan| self.front.load(now, plan)) {
            if let Err(error) = &taken {
                error!(%error, "not reloaded, all SAs stay as they are");
            }
            last = Some(taken);
        }
        if let Some(taken) = last.filter(|_| self.loading.is_idle()) {
            self.library_reloaded(taken.err().map(|error| error.to_string()));
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
