// SPDX-License-Identifier: Apache-2.0
//! The gateway that counts, towards its standby: one thread looks for it, says that this one is there and hears what became
//! of it; another tells the other one, should it want to count too, that this one does.

use std::io::{self, Read, Write};
use std::os::fd::{AsFd, BorrowedFd};
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::time::{Duration, Instant};

use ace_config::gateway::Standby;
use nix::libc::c_int;
use nix::poll::{PollFd, PollTimeout, poll};
use tracing::warn;

use crate::keys::Keys;
use crate::keys::role::Phase;
use crate::keys::state::State;
use crate::status;

use super::channel::{Server, SharedKey};
use super::message::Reply;
use super::mirror::{Mirror, NotAttached};
use super::{PairError, call, listen, patience};

/// What the gateway has of it.
pub struct Active {
    of: Standby,
    key: SharedKey,
    mirror: Mirror,
    /// Until its thread starts.
    server: Option<Server>,
    waked: UnixStream,
    wake: Option<UnixStream>,
}

impl Active {
    /// Opens the state file, and looks whether the standby is there.
    ///
    /// # Errors
    /// [`PairError`]: the other one counts, or would not know of this one.
    pub fn begin(of: &Standby, state: &Path) -> Result<(Keys, Self), PairError> {
        let (of, peer) = (of.clone(), of.peer);
        let key = SharedKey::read(&of.key)?;
        let state = State::open(state)?;
        state.may_count()?;
        let is_new = state.is_new();
        let (mirror, book) = Mirror::new(state);
        let server = Some(listen(&of, &key)?);
        // Nobody took over from whoever is not bound to a standby: its thread looks for one.
        let looks = is_new || mirror.view().role.phase == Phase::Attached { strict: true };
        let attached = looks.then(|| call(&of, &key).and_then(|link| mirror.attach(link, of.stop_alone)));
        match attached.unwrap_or(Ok(())) {
            Ok(()) => {}
            Err(NotAttached::Counting { term }) if mirror.view().role.phase == Phase::Given => {
                return Err(PairError::TakenOver { peer, term, later: false });
            }
            Err(NotAttached::Counting { term }) => return Err(PairError::Both { peer, term }),
            Err(why @ NotAttached::Refused(_)) => return Err(PairError::Unfit { peer, why }),
            Err(why) if is_new => return Err(PairError::First { peer, why }),
            Err(why) => warn!(
                %peer, %why,
                "the standby does not answer: nothing goes until it does, or until `ace gateway alone` says that it is off"
            ),
        }
        let (waked, wake) = UnixStream::pair().map_err(|why| PairError::Listen { at: of.listen, why })?;
        let keys = mirror.keys(book);
        Ok((keys, Self { of, key, mirror, server, waked, wake: Some(wake) }))
    }

    /// Its threads.
    ///
    /// # Errors
    /// As the system says.
    pub fn start(&mut self) -> io::Result<()> {
        self.waked.set_nonblocking(true)?;
        let (of, key, mirror) = (self.of.clone(), self.key.clone(), self.mirror.clone());
        if let Some(wake) = self.wake.take() {
            let thread = std::thread::Builder::new().name("standby".into());
            thread.spawn(move || look(&of, &key, &mirror, wake))?;
        }
        let mirror = self.mirror.clone();
        if let Some(server) = self.server.take() {
            let thread = std::thread::Builder::new().name("standby door".into());
            thread.spawn(move || answer(server, &mirror))?;
        }
        Ok(())
    }

    /// Readable when there is something to look at.
    pub fn fd(&self) -> BorrowedFd<'_> {
        self.waked.as_fd()
    }

    /// The other one counts.
    ///
    /// # Errors
    /// [`PairError`]: so it is.
    pub fn look(&self) -> Result<(), PairError> {
        let mut bytes = [0; 16];
        while (&self.waked).read(&mut bytes).is_ok_and(|count| count > 0) {}
        let role = self.mirror.view().role;
        match role.phase {
            Phase::Given => {
                Err(PairError::TakenOver { peer: self.of.peer, term: role.term + 1, later: true })
            }
            _ => Ok(()),
        }
    }

    /// Somebody says that the standby is off for good and never took over.
    ///
    /// # Errors
    /// [`NotAttached`].
    pub fn go_alone(&self) -> Result<(), NotAttached> {
        self.mirror.go_alone()
    }

    /// How it stands.
    pub fn status(&self) -> status::Standby {
        let view = self.mirror.view();
        let state = match view.role.phase {
            _ if view.attached => "attached",
            Phase::Alone => "alone",
            Phase::Attached { strict: false } => "looks for the standby",
            Phase::Attached { strict: true } => "stands still without the standby",
            Phase::Standby { .. } | Phase::Given => "does not count any more",
        };
        status::Standby {
            role: "active".to_owned(),
            state: state.to_owned(),
            attached: view.attached,
            peer: Some(self.of.peer),
            take_overs: view.role.term,
        }
    }
}

/// Attaches the standby whenever it is there, until the other one counts.
fn look(of: &Standby, key: &SharedKey, mirror: &Mirror, wake: UnixStream) {
    let (every, mut last_why) = (patience(of) / 4, String::new());
    let mut wake = wake;
    loop {
        if mirror.view().attached {
            // What comes of an error is said there, and looked at below.
            let _ = mirror.beat();
            last_why.clear();
        } else if let Err(why) = call(of, key).and_then(|link| mirror.attach(link, of.stop_alone)) {
            // Each reason once.
            let why = why.to_string();
            if why != last_why {
                warn!(peer = %of.peer, %why, "the standby is not attached");
                last_why = why;
            }
        }
        if mirror.view().role.phase == Phase::Given {
            // The gateway looks at it.
            let _ = wake.write(&[1]);
            return;
        }
        std::thread::sleep(every);
    }
}

/// Says to all that have the key that this one counts.
fn answer(mut server: Server, mirror: &Mirror) {
    let start = Instant::now();
    loop {
        let now = start.elapsed();
        server.serve(now, |_, _| Reply::Counting { term: mirror.view().role.term });
        let left = server.timeout().map_or(Duration::from_secs(60), |at| at.saturating_sub(now));
        let left = PollTimeout::try_from((left.as_millis() + 1).min(60_000) as c_int);
        let mut fds: Vec<PollFd<'_>> = server.fds().map(|(fd, flags)| PollFd::new(fd, flags)).collect();
        if poll(&mut fds, left.unwrap_or(PollTimeout::ZERO)).is_err() {
            std::thread::sleep(Duration::from_millis(10));
        }
    }
}
