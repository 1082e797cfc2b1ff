// SPDX-License-Identifier: Apache-2.0
//! A state file of which a standby has a copy: what is written is there when the standby has it too.
//!
//! So nothing is used that the standby does not have, and whoever took over gives no leave any more. Neither needs a clock.

use std::collections::BTreeMap;
use std::io;
use std::sync::{Arc, Mutex};

use thiserror::Error;
use tracing::{error, info, warn};

use crate::keys::role::{Phase, Role};
use crate::keys::state::State;
use crate::keys::{Book, Keys, Storage, lock};

use super::message::{Part, Reply, Request, writes};

/// The way to the standby. An error breaks it.
pub trait Link: Send {
    /// # Errors
    /// There is no answer. What was asked may have been done.
    fn call(&mut self, request: &Request) -> io::Result<Reply>;
}

/// Why a standby is not attached.
#[derive(Debug, Error)]
pub enum NotAttached {
    /// It cannot be reached.
    #[error("{0}")]
    Link(#[from] io::Error),
    /// It does not want to be this one's.
    #[error("it refuses: {0}")]
    Refused(String),
    /// It is about to end.
    #[error("it is being stopped")]
    Leaving,
    /// It has taken over.
    #[error("it has taken over (number {term})")]
    Counting {
        /// How often the keys were taken over.
        term: u64,
    },
    /// Our own file.
    #[error("the state file cannot be written: {0}")]
    Own(io::Error),
    /// Nothing is to be attached.
    #[error("the standby is attached; stop it there, and this gateway goes on alone")]
    Attached,
}

/// A state file with a standby. Clones are the same one.
#[derive(Clone)]
pub struct Mirror(Arc<Shared>);

struct Shared {
    inner: Mutex<Inner>,
    /// Of it, for those who do not wait for a write.
    view: Mutex<View>,
}

/// How it stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct View {
    pub role: Role,
    /// A standby has everything now.
    pub attached: bool,
}

struct Inner {
    local: Box<dyn Storage>,
    salt: [u8; 32],
    role: Role,
    link: Option<Box<dyn Link>>,
    /// What the standby does not have yet, by place.
    pending: BTreeMap<u64, Vec<u8>>,
    /// What was written since the whole file was read that is on its way.
    journal: Option<BTreeMap<u64, Vec<u8>>>,
}

impl Mirror {
    /// Of a file under whose keys this gateway may count, and what the file remembers.
    pub fn new(state: State) -> (Self, Book) {
        let (salt, role) = (state.salt, state.role);
        let (book, local) = state.into_book();
        let (link, pending, journal) = (None, BTreeMap::new(), None);
        let inner = Mutex::new(Inner { local, salt, role, link, pending, journal });
        (Self(Arc::new(Shared { inner, view: Mutex::new(View { role, attached: false }) })), book)
    }

    /// The memory of keys that has it.
    pub fn keys(&self, book: Book) -> Keys {
        Keys::of(book, Box::new(self.clone()))
    }

    pub fn view(&self) -> View {
        *lock(&self.0.view)
    }

    fn with<T>(&self, what: impl FnOnce(&mut Inner) -> T) -> T {
        let mut inner = lock(&self.0.inner);
        let done = what(&mut inner);
        *lock(&self.0.view) = View { role: inner.role, attached: inner.link.is_some() };
        done
    }

    /// Gives a standby everything, and from then on whatever is written. `strict`: nothing is used then that it does not
    /// have.
    ///
    /// # Errors
    /// [`NotAttached`]: all is as it was, or this one is not to count any more.
    pub fn attach(&self, mut link: Box<dyn Link>, strict: bool) -> Result<(), NotAttached> {
        let done = self.give(&mut *link, strict);
        self.with(|inner| {
            inner.journal = None;
            match done {
                Ok(()) => {
                    inner.link = Some(link);
                    info!(term = inner.role.term, strict, "the standby is attached");
                    Ok(())
                }
                Err(why) => Err(inner.not(why)),
            }
        })
    }

    fn give(&self, link: &mut dyn Link, strict: bool) -> Result<(), NotAttached> {
        let (hello, whole) = self.with(|inner| {
            inner.link = None;
            let Role { phase, term, .. } = inner.role;
            let attached = matches!(phase, Phase::Attached { .. });
            let whole = inner.local.read().map_err(NotAttached::Own)?;
            inner.journal = Some(BTreeMap::new());
            Ok::<_, NotAttached>((Request::Hello { salt: inner.salt, term, attached }, whole))
        })?;
        call(link, &hello)?;
        for request in writes([(0, whole)]) {
            call(link, &request)?;
        }
        // Most of what was written meanwhile, while packets flow; then the last of it.
        let written = self.with(|inner| inner.journal.replace(BTreeMap::new()));
        for request in writes(written.into_iter().flatten()) {
            call(link, &request)?;
        }
        self.with(|inner| {
            for request in writes(inner.journal.take().into_iter().flatten()) {
                call(link, &request)?;
            }
            // What was written and is not known to be on the disk comes again with the next write.
            let pending = inner.pending.iter().map(|(at, bytes)| (*at, bytes.clone()));
            for request in writes(pending) {
                call(link, &request)?;
            }
            let phase = match inner.role.phase {
                Phase::Given => return call(link, &Request::Attach { strict: false }),
                _ => Phase::Attached { strict },
            };
            // It never thinks more of this one than this one does.
            if strict {
                inner.record(phase).map_err(NotAttached::Own)?;
            }
            call(link, &Request::Attach { strict })?;
            if !strict {
                inner.record(phase).map_err(NotAttached::Own)?;
            }
            Ok(())
        })
    }

    /// Says that this one is there, if nothing else was to be said.
    ///
    /// # Errors
    /// The standby is attached no longer.
    pub fn beat(&self) -> io::Result<()> {
        self.with(|inner| inner.tell(&[Request::Beat]))
    }

    /// Gives the keys over for good.
    ///
    /// # Errors
    /// [`NotAttached`]: this one does not count any more if its file says so; it can be said again.
    pub fn hand_over(&self, mut link: Box<dyn Link>) -> Result<(), NotAttached> {
        match self.give(&mut *link, false) {
            Err(NotAttached::Counting { term }) if term > self.view().role.term => {
                return self.with(|inner| inner.record(Phase::Given)).map_err(NotAttached::Own);
            }
            other => other?,
        }
        // First this one ends.
        self.with(|inner| inner.record(Phase::Given)).map_err(NotAttached::Own)?;
        call(&mut *link, &Request::Goodbye)
    }

    /// Somebody says that the standby is off and will not take over.
    ///
    /// # Errors
    /// [`NotAttached`]: it is there, or the file cannot be written.
    pub fn go_alone(&self) -> Result<(), NotAttached> {
        self.with(|inner| {
            if inner.link.is_some() {
                return Err(NotAttached::Attached);
            }
            if inner.role.phase == Phase::Given {
                return Err(NotAttached::Counting { term: inner.role.term + 1 });
            }
            warn!("somebody says that the standby is off for good: this gateway goes on alone");
            inner.write(inner.role.in_term(inner.role.term + 1, Phase::Alone)).map_err(NotAttached::Own)
        })
    }
}

/// Asks, and takes nothing for an answer but that it is done.
fn call(link: &mut dyn Link, request: &Request) -> Result<(), NotAttached> {
    match link.call(request)? {
        Reply::Done => Ok(()),
        Reply::Leaving => Err(NotAttached::Leaving),
        Reply::Refused(why) => Err(NotAttached::Refused(why)),
        Reply::Counting { term } => Err(NotAttached::Counting { term }),
    }
}

impl Inner {
    fn write(&mut self, role: Role) -> io::Result<()> {
        let (at, bytes) = role.bytes();
        self.local.write_at(at, &bytes)?;
        self.local.sync()?;
        self.role = role;
        Ok(())
    }

    fn record(&mut self, phase: Phase) -> io::Result<()> {
        if self.role.phase == phase { Ok(()) } else { self.write(self.role.turned(phase)) }
    }

    /// The standby is attached no longer; what follows from why it is not.
    fn not(&mut self, why: NotAttached) -> NotAttached {
        self.link = None;
        let attached = matches!(self.role.phase, Phase::Attached { .. });
        match why {
            NotAttached::Counting { term } if term > self.role.term => {
                error!(term, "the standby has taken over: this gateway ends");
                // What cannot be written is the same when it is started again and hears of it again.
                match self.record(Phase::Given) {
                    Ok(()) => why,
                    Err(error) => {
                        self.role = self.role.turned(Phase::Given);
                        NotAttached::Own(error)
                    }
                }
            }
            NotAttached::Leaving if attached => match self.record(Phase::Alone) {
                Ok(()) => {
                    warn!("the standby was stopped: this gateway goes on alone");
                    why
                }
                Err(error) => NotAttached::Own(error),
            },
            why => why,
        }
    }

    /// Tells the standby, if there has to be one. Without an answer this one goes on alone, or does not go on.
    fn tell(&mut self, requests: &[Request]) -> io::Result<()> {
        let strict = match self.role.phase {
            Phase::Alone => return Ok(()),
            Phase::Attached { strict } => strict,
            Phase::Standby { .. } | Phase::Given => {
                return Err(io::Error::other("the standby has taken over"));
            }
        };
        let told = match &mut self.link {
            Some(link) => requests.iter().try_for_each(|request| call(&mut **link, request)),
            None => Err(NotAttached::Link(io::Error::other("the standby is not attached"))),
        };
        let Err(why) = told else { return Ok(()) };
        if self.link.is_some() {
            warn!(%why, "the standby is attached no longer");
        }
        let why = self.not(why);
        match self.role.phase {
            Phase::Alone => Ok(()),
            Phase::Attached { .. } if !strict => {
                self.record(Phase::Alone)?;
                warn!(
                    "this gateway goes on alone, as `alone = \"go-on\"` says: the standby cannot take over by itself"
                );
                Ok(())
            }
            _ => Err(io::Error::other(why.to_string())),
        }
    }
}

impl Storage for Mirror {
    fn read(&mut self) -> io::Result<Vec<u8>> {
        self.with(|inner| inner.local.read())
    }

    fn write_at(&mut self, at: u64, bytes: &[u8]) -> io::Result<()> {
        self.with(|inner| {
            inner.local.write_at(at, bytes)?;
            inner.pending.insert(at, bytes.to_vec());
            Ok(())
        })
    }

    fn sync(&mut self) -> io::Result<()> {
        self.with(|inner| {
            inner.local.sync()?;
            if let Some(journal) = &mut inner.journal {
                journal.extend(inner.pending.iter().map(|(at, bytes)| (*at, bytes.clone())));
            }
            let parts = inner.pending.iter().map(|(at, bytes)| (*at, bytes.clone()));
            let requests = writes(parts.collect::<Vec<Part>>());
            inner.tell(&requests)?;
            inner.pending.clear();
            Ok(())
        })
    }

    fn replace(&mut self, _: &[u8]) -> io::Result<()> {
        Err(io::ErrorKind::Unsupported.into())
    }
}
