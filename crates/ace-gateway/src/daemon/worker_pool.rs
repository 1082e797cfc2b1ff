// SPDX-License-Identifier: Apache-2.0
//! Several cores: a thread and a worker for each. Every SA is one core's; what comes to another one is handed over in a
//! bounded box. A core that panics loses its SAs, with their keys: what is for them is dropped until the gateway is
//! started anew, for nobody knows which sequence numbers it had used. The others go on.

use std::io::{Read, Write};
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::net::UnixStream;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
use tracing::{debug, warn};

use super::front::{edits, figures};
use super::load::Plan;
use super::worker::{Handoff, Ports, Routing, Worker};
use crate::core::{Core, CoreError, Homes, PeerStatus, Reloaded, Remotes, SaView, Steer, TooBig};
use crate::firewall::{Edit, Id};
use crate::io::broken::{Broken, Row};
use crate::status::{CoreStatus, Figures};
use crate::trace::{TraceError, Tracer};

/// Handoffs that wait for one core.
const MOST: usize = 4096;

/// One core's, as all see it.
struct Place {
    /// `None` once it has panicked.
    worker: Mutex<Option<Worker>>,
    handoffs: Mutex<Vec<Handoff>>,
    wake: UnixStream,
    /// Nobody works here any more.
    dead: AtomicBool,
    /// Handoffs for which there was no room, or nobody.
    refused: AtomicU64,
}

struct Shared {
    places: Vec<Place>,
    stop: AtomicBool,
    /// Of the first core whose device or socket does not work any more.
    broken: Mutex<Option<Broken>>,
    start: Instant,
}

pub struct WorkerPool {
    shared: Arc<Shared>,
    threads: Vec<JoinHandle<()>>,
    events: Receiver<String>,
    homes: Mutex<Arc<Homes>>,
}

fn lock<T>(it: &Mutex<T>) -> MutexGuard<'_, T> {
    // A worker that was left in the middle is taken away by whoever left it.
    it.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Place {
    fn post(&self, handoffs: &mut Vec<Handoff>) {
        if handoffs.is_empty() {
            return;
        }
        let mut waiting = lock(&self.handoffs);
        let room = if self.dead.load(Ordering::Acquire) { 0 } else { MOST - waiting.len().min(MOST) };
        let refused = handoffs.len().saturating_sub(room) as u64;
        handoffs.truncate(room);
        let was_empty = waiting.is_empty();
        waiting.append(handoffs);
        drop(waiting);
        self.refused.fetch_add(refused, Ordering::Relaxed);
        if was_empty {
            self.wake();
        }
    }

    fn wake(&self) {
        // A pipe that is full wakes too.
        let _ = (&self.wake).write(&[1]);
    }
}

impl Shared {
    fn breaks(&self, broken: Broken) {
        lock(&self.broken).get_or_insert(broken);
    }
}

impl WorkerPool {
    /// Threads for cores without SAs.
    ///
    /// # Errors
    /// As the system says.
    pub fn start(all: Vec<(Core, Box<dyn Ports>)>, start: Instant) -> std::io::Result<Self> {
        let count = all.len();
        let (mut places, mut ends) = (Vec::new(), Vec::new());
        for (me, (mut core, ports)) in all.into_iter().enumerate() {
            core.tell_moves();
            let (ours, theirs) = UnixStream::pair()?;
            ours.set_nonblocking(true)?;
            theirs.set_nonblocking(true)?;
            let fds = ports.fds().into_iter().map(|fd| fd.try_clone_to_owned());
            ends.push((fds.collect::<std::io::Result<Vec<OwnedFd>>>()?, ports.inside().len(), theirs));
            let handoffs = (0..count).map(|_| Vec::new()).collect();
            let routing =
                Some(Routing { me, steer: Steer::default(), homes: Arc::default(), handoffs, misrouted: 0 });
            places.push(Place {
                worker: Mutex::new(Some(Worker::new(core, ports, routing))),
                handoffs: Mutex::default(),
                wake: ours,
                dead: AtomicBool::new(false),
                refused: AtomicU64::new(0),
            });
        }
        let shared =
            Arc::new(Shared { places, stop: AtomicBool::new(false), broken: Mutex::default(), start });
        let (tell, events) = channel();
        let mut pool = Self { shared, threads: Vec::new(), events, homes: Mutex::default() };
        for (me, (fds, devices, waked)) in ends.into_iter().enumerate() {
            let (shared, tell) = (Arc::clone(&pool.shared), tell.clone());
            let thread = std::thread::Builder::new().name(format!("core {me}"));
            pool.threads.push(thread.spawn(move || work(&shared, me, (&fds, devices), waked, &tell))?);
        }
        Ok(pool)
    }

    /// As [`Core::load`]: all cores change between two packets, or none does.
    ///
    /// # Errors
    /// As there.
    pub fn load(&self, now: Duration, plan: &mut Plan) -> Result<Reloaded, CoreError> {
        let Plan { wanted, division, steers } = plan;
        let mut steers = std::mem::take(steers).into_iter();
        let mut workers: Vec<_> = self.shared.places.iter().map(|place| lock(&place.worker)).collect();
        let mut parts = vec![Vec::new(); workers.len()];
        for (sa, core) in wanted.sas.iter().zip(&division.cores) {
            parts.get_mut(*core).into_iter().for_each(|part| part.push(sa));
        }
        let mut stay = Vec::new();
        let (mut new, mut gone) = (false, false);
        for (worker, part) in workers.iter().zip(&parts) {
            let found = worker.as_ref().map_or(Ok(Vec::new()), |worker| worker.core.check(part))?;
            let left: Vec<_> =
                part.iter().zip(&found).filter(|(_, found)| **found).map(|(sa, _)| *sa).collect();
            new |= left.len() < found.len();
            gone |= worker.as_ref().is_some_and(|worker| left.len() < worker.core.file_count());
            stay.push(left);
        }
        // What is on its way from one core to another leaves under the SA that it came under: nobody is in the middle of
        // a turn now, and a box is filled in turns alone.
        for (place, worker) in self.shared.places.iter().zip(&mut workers) {
            if let Some(worker) = worker.as_mut() {
                let handoffs = std::mem::take(&mut *lock(&place.handoffs));
                if let Err(broken) = worker.take(now, handoffs) {
                    self.shared.breaks(broken);
                }
            }
        }
        let mut sum = Reloaded { kept: 0, edited: 0, added: 0, removed: 0 };
        let mut failed = None;
        // An SA may go from one core to another: its key is free before it comes.
        if new && gone {
            for (worker, stay) in workers.iter_mut().zip(&stay) {
                let Some(worker) = worker.as_mut() else { continue };
                match worker.core.load_part(now, wanted, stay) {
                    Ok(Reloaded { removed, .. }) => sum.removed += removed,
                    Err(error) => failed = Some(error),
                }
            }
        }
        let homes = Arc::new(std::mem::take(&mut division.homes));
        for (me, worker) in workers.iter_mut().enumerate() {
            let Some(worker) = worker.as_mut() else { continue };
            match worker.core.load_part(now, wanted, &parts[me]) {
                Ok(Reloaded { kept, edited, added, removed }) => {
                    sum = Reloaded {
                        kept: sum.kept + kept,
                        edited: sum.edited + edited,
                        added: sum.added + added,
                        removed: sum.removed + removed,
                    };
                }
                Err(error) => failed = Some(error),
            }
            if let (Some(routing), Some(steer)) = (&mut worker.routing, steers.next()) {
                routing.steer = steer;
                routing.homes = Arc::clone(&homes);
            }
            match worker.ports.divide(&homes, me) {
                Ok(0) => {}
                Ok(left) => {
                    debug!(left, "SPIs that the kernel brings to another core, which hands them over")
                }
                Err(why) => {
                    warn!(%why, "the kernel does not divide by tunnel; cores hand over what is not theirs")
                }
            }
        }
        *lock(&self.homes) = homes;
        failed.map_or(Ok(sum), Err)
    }

    fn workers<R>(&self, of: impl Fn(&Worker) -> R) -> Vec<R> {
        self.shared.places.iter().filter_map(|place| lock(&place.worker).as_ref().map(&of)).collect()
    }

    /// Whoever has the SA takes it.
    pub fn too_big(&self, about: TooBig) {
        let home = lock(&self.homes).outbound(about.spi);
        if let Some(place) = self.shared.places.get(home) {
            place.post(&mut vec![Handoff::TooBig(about)]);
        }
    }

    pub fn rule_changes(&self) -> Vec<(Id, Option<Edit>)> {
        let places = self.shared.places.iter().zip(0u32..);
        let of = |(place, me): (&Place, u32)| {
            lock(&place.worker).as_mut().map(|worker| edits(me, &mut worker.core)).unwrap_or_default()
        };
        places.flat_map(of).collect()
    }

    pub fn sas(&self) -> Vec<SaView> {
        self.workers(|worker| worker.core.sas()).into_iter().flatten().collect()
    }

    /// # Errors
    /// Enough are told already, or the reader does not begin.
    pub fn trace(&self, start: impl FnOnce() -> Result<Tracer, TraceError>) -> Result<(), TraceError> {
        let mut workers: Vec<_> = self.shared.places.iter().map(|place| lock(&place.worker)).collect();
        let mut living = workers.iter_mut().filter_map(|worker| worker.as_mut());
        living.try_for_each(|worker| worker.core.may_trace())?;
        let tracer = start()?;
        let living = workers.iter_mut().filter_map(|worker| worker.as_mut());
        living.for_each(|worker| worker.core.trace(tracer.clone()));
        Ok(())
    }

    /// Each core has its share of the same ends. Rules are never without an SA where there is no XFRM.
    pub fn remotes(&self) -> Remotes {
        let join = |mut all: Remotes, (remotes, ..): Remotes| {
            remotes.iter().for_each(|(end, remote)| all.0.entry(*end).or_default().join(remote));
            all
        };
        self.workers(|worker| worker.core.remotes()).into_iter().reduce(join).unwrap_or_default()
    }

    pub fn sa_count(&self) -> usize {
        self.workers(|worker| worker.core.sa_count()).into_iter().sum()
    }

    /// Of all cores together, the peers, and of each core what tells it apart.
    pub fn figures(&self) -> (Figures, Vec<PeerStatus>, Option<Vec<CoreStatus>>) {
        let sum = |mut all: Figures, one: Figures| {
            all.add(one);
            all
        };
        let all = self.workers(figures).into_iter().reduce(sum).unwrap_or_default();
        let each = self.shared.places.iter().map(|place| {
            let worker = lock(&place.worker);
            CoreStatus {
                alive: !place.dead.load(Ordering::Acquire),
                sas: worker.as_ref().map(|worker| worker.core.sa_count()),
                accepted: worker.as_ref().map(|worker| worker.core.packets().accepted.packets),
                handed_over_refused: place.refused.load(Ordering::Relaxed),
                misrouted: worker
                    .as_ref()
                    .and_then(|worker| worker.routing.as_ref())
                    .map(|routing| routing.misrouted),
            }
        });
        let peers = self.workers(|worker| worker.core.peers()).into_iter().next();
        (all, peers.unwrap_or_default(), Some(each.collect()))
    }

    /// # Errors
    /// What of a core is gone or fails for good, once. The core does nothing any more.
    pub fn broken(&self) -> Result<(), Broken> {
        lock(&self.shared.broken).take().map_or(Ok(()), Err)
    }

    /// What there is to say.
    pub fn poll_event(&self) -> Option<String> {
        self.events.try_recv().ok()
    }

    /// What was taken is sent, and all threads end.
    pub fn stop(&mut self) {
        self.shared.stop.store(true, Ordering::Release);
        self.shared.places.iter().for_each(Place::wake);
        for thread in self.threads.drain(..) {
            // It has caught what it could; whatever else ended it is over.
            let _ = thread.join();
        }
    }
}

impl Drop for WorkerPool {
    fn drop(&mut self) {
        self.stop();
    }
}

/// The first `devices` of `fds` are those inside.
fn work(
    shared: &Shared,
    me: usize,
    (fds, devices): (&[OwnedFd], usize),
    waked: UnixStream,
    tell: &Sender<String>,
) {
    let Some(place) = shared.places.get(me) else { return };
    let mut waits = Waits { fds, devices, waked, until: None, row: Row::default() };
    while !shared.stop.load(Ordering::Acquire) {
        let ready = waits.wait(shared.start);
        let turned = catch_unwind(AssertUnwindSafe(|| {
            let (inside, outside) = ready?;
            let mut worker = lock(&place.worker);
            let Some(worker) = worker.as_mut() else { return Ok(()) };
            let now = shared.start.elapsed();
            let handoffs = std::mem::take(&mut *lock(&place.handoffs));
            let worked = worker.take(now, handoffs).and_then(|()| worker.turn(now, &inside, outside));
            while let Some(event) = worker.core.poll_event() {
                let _ = tell.send(event);
            }
            for (other, handoffs) in
                worker.routing.iter_mut().flat_map(|routing| routing.handoffs.iter_mut().enumerate())
            {
                if let Some(other) = shared.places.get(other) {
                    other.post(handoffs);
                    handoffs.clear();
                }
            }
            waits.until = worker.core.poll_timeout();
            worked
        }));
        match turned {
            Ok(Ok(())) => {}
            // Whoever looks stops the others too.
            Ok(Err(broken)) => return shared.breaks(broken),
            Err(_) => {
                bury(place);
                let _ = tell.send(format!(
                    "core {me} has failed: its SAs are gone and what is for them is dropped; start the gateway anew"
                ));
                return;
            }
        }
    }
    let _ = catch_unwind(AssertUnwindSafe(|| {
        if let Some(worker) = lock(&place.worker).as_mut() {
            let now = shared.start.elapsed();
            worker.core.finish(now);
            if let Err(broken) = worker.send(now) {
                shared.breaks(broken);
            }
        }
    }));
}

/// Takes SAs and keys away. Sockets and queue stay open and are not read: were they closed, the kernel would give what
/// is for them to others, which have no SA for it either, and divide what is the others' in another way.
fn bury(place: &Place) {
    place.dead.store(true, Ordering::Release);
    let worker = lock(&place.worker).take();
    lock(&place.handoffs).clear();
    let Some(Worker { core, ports, .. }) = worker else { return };
    // What has panicked once may do so again.
    let _ = catch_unwind(AssertUnwindSafe(|| drop(core)));
    std::mem::forget(ports);
}

/// What a thread waits for.
struct Waits<'a> {
    fds: &'a [OwnedFd],
    devices: usize,
    waked: UnixStream,
    until: Option<Duration>,
    /// Waits that failed.
    row: Row,
}

impl Waits<'_> {
    /// Which devices inside have something, and whether the outside has; or there are handoffs, or it is time.
    fn wait(&mut self, start: Instant) -> Result<(Vec<usize>, bool), Broken> {
        let timeout = self.until.map_or(PollTimeout::NONE, |at| {
            let left = at.saturating_sub(start.elapsed()).as_millis() + 1;
            PollTimeout::try_from(left.min(60_000) as nix::libc::c_int).unwrap_or(PollTimeout::NONE)
        });
        let all = std::iter::once(self.waked.as_fd()).chain(self.fds.iter().map(AsFd::as_fd));
        let mut all: Vec<PollFd<'_>> = all.map(|fd| PollFd::new(fd, PollFlags::POLLIN)).collect();
        match poll(&mut all, timeout) {
            Ok(_) => self.row.well(),
            Err(why) => {
                self.row.failed(why.into()).map_err(Broken::waiting)?;
                return Ok((Vec::new(), false));
            }
        }
        let ready: Vec<bool> = all.iter().map(|fd| fd.any().unwrap_or(false)).collect();
        if ready.first() == Some(&true) {
            let mut bytes = [0; 64];
            while (&self.waked).read(&mut bytes).is_ok_and(|count| count > 0) {}
        }
        let (inside, outside) =
            ready.get(1..).and_then(|ready| ready.split_at_checked(self.devices)).unwrap_or_default();
        let inside = inside.iter().enumerate().filter(|(_, ready)| **ready).map(|(device, _)| device);
        Ok((inside.collect(), outside.contains(&true)))
    }
}

#[cfg(test)]
mod tests;
