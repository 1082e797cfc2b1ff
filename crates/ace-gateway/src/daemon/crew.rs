// SPDX-License-Identifier: Apache-2.0
//! Several cores: a thread and a lane for each. Every SA is one core's; what comes to another one is handed over in a
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

use ace_config::SaFile;
use nix::poll::{PollFd, PollFlags, PollTimeout, poll};

use super::front::figures;
use super::lane::{Among, Lane, Letter, Ports};
use crate::core::{Core, CoreError, PeerStatus, Reloaded, SaView, Steer, by_spi};
use crate::io::Losses;
use crate::status::{CoreStatus, Figures};

/// Letters that wait for one core.
const MOST: usize = 4096;

/// One core's, as all see it.
struct Place {
    /// `None` once it has panicked.
    lane: Mutex<Option<Lane>>,
    letters: Mutex<Vec<Letter>>,
    wake: UnixStream,
    /// Nobody works here any more.
    dead: AtomicBool,
    /// Letters for which there was no room, or nobody.
    refused: AtomicU64,
}

struct Shared {
    places: Vec<Place>,
    stop: AtomicBool,
    start: Instant,
}

pub struct Crew {
    shared: Arc<Shared>,
    threads: Vec<JoinHandle<()>>,
    said: Receiver<String>,
}

fn lock<T>(it: &Mutex<T>) -> MutexGuard<'_, T> {
    // A lane that was left in the middle is taken away by whoever left it.
    it.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Place {
    fn post(&self, letters: &mut Vec<Letter>) {
        if letters.is_empty() {
            return;
        }
        let mut waiting = lock(&self.letters);
        let room = if self.dead.load(Ordering::Acquire) { 0 } else { MOST - waiting.len().min(MOST) };
        let refused = letters.len().saturating_sub(room) as u64;
        letters.truncate(room);
        let was_empty = waiting.is_empty();
        waiting.append(letters);
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

impl Crew {
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
            ends.push((fds.collect::<std::io::Result<Vec<OwnedFd>>>()?, theirs));
            let letters = (0..count).map(|_| Vec::new()).collect();
            let among = Some(Among { me, steer: Steer::default(), letters, strayed: 0 });
            places.push(Place {
                lane: Mutex::new(Some(Lane { core, ports, losses: Losses::default(), among })),
                letters: Mutex::default(),
                wake: ours,
                dead: AtomicBool::new(false),
                refused: AtomicU64::new(0),
            });
        }
        let shared = Arc::new(Shared { places, stop: AtomicBool::new(false), start });
        let (tell, said) = channel();
        let mut crew = Self { shared, threads: Vec::new(), said };
        for (me, (fds, waked)) in ends.into_iter().enumerate() {
            let (shared, tell) = (Arc::clone(&crew.shared), tell.clone());
            let thread = std::thread::Builder::new().name(format!("core {me}"));
            crew.threads.push(thread.spawn(move || work(&shared, me, &fds, waked, &tell))?);
        }
        Ok(crew)
    }

    /// As [`Core::load`]: all cores change between two packets, or none does.
    ///
    /// # Errors
    /// As there.
    pub fn load(&self, now: Duration, file: &SaFile) -> Result<Reloaded, CoreError> {
        let cores = self.shared.places.len();
        let mut lanes: Vec<_> = self.shared.places.iter().map(|place| lock(&place.lane)).collect();
        let part = |me: usize| file.sas().iter().filter(|sa| by_spi(sa.spi, cores) == me).collect::<Vec<_>>();
        let living = || lanes.iter().enumerate().filter_map(|(me, lane)| Some((me, lane.as_ref()?)));
        living().try_for_each(|(me, lane)| lane.core.check(file, &part(me)))?;
        // What is on its way from one core to another leaves under the SA that it came under: nobody is in the middle of
        // a turn now, and a box is filled in turns alone.
        for (place, lane) in self.shared.places.iter().zip(&mut lanes) {
            if let Some(lane) = lane.as_mut() {
                let letters = std::mem::take(&mut *lock(&place.letters));
                lane.take(now, letters);
            }
        }
        let mut sum = Reloaded { kept: 0, added: 0, removed: 0 };
        let mut failed = None;
        for (me, lane) in lanes.iter_mut().enumerate() {
            let Some(lane) = lane.as_mut() else { continue };
            match lane.core.load_part(now, file, &part(me)) {
                Ok(Reloaded { kept, added, removed }) => {
                    sum = Reloaded {
                        kept: sum.kept + kept,
                        added: sum.added + added,
                        removed: sum.removed + removed,
                    };
                }
                Err(error) => failed = Some(error),
            }
            if let Some(among) = &mut lane.among {
                among.steer = Steer::new(file, cores);
            }
        }
        failed.map_or(Ok(sum), Err)
    }

    fn lanes<R>(&self, of: impl Fn(&Lane) -> R) -> Vec<R> {
        self.shared.places.iter().filter_map(|place| lock(&place.lane).as_ref().map(&of)).collect()
    }

    pub fn sas(&self) -> Vec<SaView> {
        self.lanes(|lane| lane.core.sas()).into_iter().flatten().collect()
    }

    pub fn sa_count(&self) -> usize {
        self.lanes(|lane| lane.core.sa_count()).into_iter().sum()
    }

    /// Of all cores together, the peers, and of each core what tells it apart.
    pub fn figures(&self) -> (Figures, Vec<PeerStatus>, Option<Vec<CoreStatus>>) {
        let sum = |mut all: Figures, one: Figures| {
            all.add(one);
            all
        };
        let all = self.lanes(figures).into_iter().reduce(sum).unwrap_or_default();
        let each = self.shared.places.iter().map(|place| {
            let lane = lock(&place.lane);
            CoreStatus {
                alive: !place.dead.load(Ordering::Acquire),
                sas: lane.as_ref().map(|lane| lane.core.sa_count()),
                accepted: lane.as_ref().map(|lane| lane.core.packets().accepted.packets),
                handed_over_refused: place.refused.load(Ordering::Relaxed),
                strayed: lane.as_ref().and_then(|lane| lane.among.as_ref()).map(|among| among.strayed),
            }
        });
        let peers = self.lanes(|lane| lane.core.peers()).into_iter().next();
        (all, peers.unwrap_or_default(), Some(each.collect()))
    }

    /// What there is to say.
    pub fn poll_event(&self) -> Option<String> {
        self.said.try_recv().ok()
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

impl Drop for Crew {
    fn drop(&mut self) {
        self.stop();
    }
}

fn work(shared: &Shared, me: usize, fds: &[OwnedFd], waked: UnixStream, tell: &Sender<String>) {
    let Some(place) = shared.places.get(me) else { return };
    let mut waits = Waits { fds, waked, until: None };
    while !shared.stop.load(Ordering::Acquire) {
        let (inside, outside) = waits.wait(shared.start);
        let turned = catch_unwind(AssertUnwindSafe(|| {
            let mut lane = lock(&place.lane);
            let Some(lane) = lane.as_mut() else { return };
            let now = shared.start.elapsed();
            let letters = std::mem::take(&mut *lock(&place.letters));
            lane.take(now, letters);
            lane.turn(now, inside, outside);
            while let Some(event) = lane.core.poll_event() {
                let _ = tell.send(event);
            }
            for (other, letters) in
                lane.among.iter_mut().flat_map(|among| among.letters.iter_mut().enumerate())
            {
                if let Some(other) = shared.places.get(other) {
                    other.post(letters);
                    letters.clear();
                }
            }
            waits.until = lane.core.poll_timeout();
        }));
        if turned.is_err() {
            bury(place);
            let _ = tell.send(format!(
                "core {me} has failed: its SAs are gone and what is for them is dropped; start the gateway anew"
            ));
            return;
        }
    }
    let _ = catch_unwind(AssertUnwindSafe(|| {
        if let Some(lane) = lock(&place.lane).as_mut() {
            let now = shared.start.elapsed();
            lane.core.finish(now);
            lane.send(now);
        }
    }));
}

/// Takes SAs and keys away. Sockets and queue stay open and are not read: were they closed, the kernel would give what
/// is for them to others, which have no SA for it either, and divide what is the others' in another way.
fn bury(place: &Place) {
    place.dead.store(true, Ordering::Release);
    let lane = lock(&place.lane).take();
    lock(&place.letters).clear();
    let Some(Lane { core, ports, .. }) = lane else { return };
    // What has panicked once may do so again.
    let _ = catch_unwind(AssertUnwindSafe(|| drop(core)));
    std::mem::forget(ports);
}

/// What a thread waits for.
struct Waits<'a> {
    fds: &'a [OwnedFd],
    waked: UnixStream,
    until: Option<Duration>,
}

impl Waits<'_> {
    /// Whether the inside and the outside have something; or there are letters, or it is time.
    fn wait(&mut self, start: Instant) -> (bool, bool) {
        let timeout = self.until.map_or(PollTimeout::NONE, |at| {
            let left = at.saturating_sub(start.elapsed()).as_millis() + 1;
            PollTimeout::try_from(left.min(60_000) as nix::libc::c_int).unwrap_or(PollTimeout::NONE)
        });
        let all = std::iter::once(self.waked.as_fd()).chain(self.fds.iter().map(AsFd::as_fd));
        let mut all: Vec<PollFd<'_>> = all.map(|fd| PollFd::new(fd, PollFlags::POLLIN)).collect();
        if poll(&mut all, timeout).is_err() {
            return (false, false);
        }
        let ready: Vec<bool> = all.iter().map(|fd| fd.any().unwrap_or(false)).collect();
        if ready.first() == Some(&true) {
            let mut bytes = [0; 64];
            while (&self.waked).read(&mut bytes).is_ok_and(|count| count > 0) {}
        }
        (ready.get(1) == Some(&true), ready.get(2..).unwrap_or_default().contains(&true))
    }
}

#[cfg(test)]
mod tests;
