// SPDX-License-Identifier: Apache-2.0
//! The memory of keys: which were used, and how far. It outlives SAs, reloads and the program, so that no number goes out
//! twice under a key, and no packet is taken twice.
//!
//! What is counted belongs to the key. Before a number is used, that it may be used stands in the state file; numbers are
//! written down in blocks. After a crash an SA goes on behind the last block.

mod book;
pub(crate) mod record;
pub(crate) mod role;
pub(crate) mod state;
mod storage;

use std::io;
use std::path::Path;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use ace_ipsec::{Account, Grant, Granter, SaSpec};
use tracing::{error, info};

pub(crate) use book::Book;
pub use book::KeyError;
use state::State;
pub use storage::{StateFile, Storage, StorageError};

/// After a write that failed nothing is written for so long.
const PATIENCE: Duration = Duration::from_millis(100);
/// An SA that used nothing for so long is idle.
const IDLE: Duration = Duration::from_secs(1);

/// The memory. Clones are the same one.
#[derive(Clone)]
pub struct Keys(Arc<Inner>);

struct Inner {
    book: Mutex<Book>,
    /// Held while something is written.
    storage: Mutex<Writer>,
    wake: Condvar,
    stopped: Mutex<bool>,
}

struct Writer {
    storage: Box<dyn Storage>,
    failed: Option<Instant>,
}

impl std::fmt::Debug for Keys {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Keys")
    }
}

pub(crate) fn lock<T>(it: &Mutex<T>) -> MutexGuard<'_, T> {
    it.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Keys {
    /// The memory that stands in a file, which is created if there is none.
    ///
    /// # Errors
    /// [`StorageError`], with the remedy.
    pub fn open(path: &Path) -> Result<Self, StorageError> {
        Self::with(path, Box::new(StateFile::open(path)?))
    }

    /// The same elsewhere; `name` is what errors call it.
    ///
    /// # Errors
    /// As there.
    pub fn with(name: &Path, storage: Box<dyn Storage>) -> Result<Self, StorageError> {
        let state = State::read(name, storage)?;
        state.alone()?;
        let (book, storage) = state.into_book();
        Ok(Self::of(book, storage))
    }

    pub(crate) fn of(book: Book, storage: Box<dyn Storage>) -> Self {
        Self(Arc::new(Inner {
            book: Mutex::new(book),
            storage: Mutex::new(Writer { storage, failed: None }),
            wake: Condvar::new(),
            stopped: Mutex::new(false),
        }))
    }

    /// A thread that writes down numbers before they are needed. Without it whoever needs them writes.
    ///
    /// # Errors
    /// As the system says.
    pub fn start(&self) -> io::Result<JoinHandle<()>> {
        let inner = Arc::clone(&self.0);
        std::thread::Builder::new().name("keys".into()).spawn(move || inner.run())
    }

    /// Takes an SA: the first number that it may use, and its leave to count.
    ///
    /// # Errors
    /// [`KeyError`].
    pub fn admit(&self, spec: &SaSpec) -> Result<(u64, Grant), KeyError> {
        let (first, token, account) = lock(&self.0.book).admit(spec)?;
        self.0.wake.notify_one();
        let granter: Arc<dyn Granter> = Arc::<Inner>::clone(&self.0);
        Ok((first, Grant::new(granter, token, account)))
    }

    /// Whether it would take an SA, once the one that has its key now is no more.
    ///
    /// # Errors
    /// [`KeyError`].
    pub fn check(&self, spec: &SaSpec) -> Result<(), KeyError> {
        lock(&self.0.book).check(spec).map(drop)
    }

    /// An SA is no more.
    pub fn release(&self, grant: &Grant) {
        if let Some(token) = grant.token() {
            lock(&self.0.book).release(token);
        }
    }

    /// All SAs are no more, and exactly what they have used is written down.
    ///
    /// # Errors
    /// As the system says: after it numbers are passed over, and none is used twice.
    pub fn stop(&self) -> io::Result<()> {
        *lock(&self.0.stopped) = true;
        self.0.wake.notify_all();
        lock(&self.0.book).release_all();
        self.0.commit(None)
    }
}

impl Inner {
    fn run(&self) {
        let mut stopped = lock(&self.stopped);
        let mut looked = Instant::now();
        while !*stopped {
            drop(stopped);
            if looked.elapsed() >= IDLE {
                looked = Instant::now();
                lock(&self.book).calm();
            }
            if lock(&self.book).is_wanted() && self.commit(None).is_err() {
                std::thread::sleep(PATIENCE);
            }
            stopped = lock(&self.stopped);
            if !*stopped {
                let waited = self.wake.wait_timeout(stopped, PATIENCE);
                stopped = waited.unwrap_or_else(PoisonError::into_inner).0;
            }
        }
    }

    /// Writes down what is wanted, unless the number that `until` waits for was granted meanwhile.
    fn commit(&self, until: Option<(&Account, u64)>) -> io::Result<()> {
        let mut writer = lock(&self.storage);
        if until.is_some_and(|(account, number)| number <= account.granted()) {
            return Ok(());
        }
        if writer.failed.is_some_and(|at| at.elapsed() < PATIENCE) {
            return Err(io::ErrorKind::WouldBlock.into());
        }
        let writes = lock(&self.book).collect(Instant::now());
        if writes.is_empty() {
            return Ok(());
        }
        let done = writes
            .iter()
            .try_for_each(|write| {
                let (at, bytes) = write.bytes();
                writer.storage.write_at(at, &bytes)
            })
            .and_then(|()| writer.storage.sync());
        match &done {
            Ok(()) => {
                lock(&self.book).publish(&writes);
                if writer.failed.take().is_some() {
                    info!("the state file is written again");
                }
            }
            Err(why) => {
                lock(&self.book).put_back(&writes);
                if writer.failed.replace(Instant::now()).is_none() {
                    error!(%why, "the state file cannot be written: SAs that have used up what was written down stand still");
                }
            }
        }
        done
    }
}

impl Granter for Inner {
    fn extend(&self, token: u64, account: &Account, number: u64) {
        lock(&self.book).want(token, number);
        // What could not be written is said once; the packet is dropped and counted.
        let _ = self.commit(Some((account, number)));
    }

    fn soon(&self, token: u64) {
        lock(&self.book).want(token, 0);
        self.wake.notify_one();
    }
}

#[cfg(test)]
mod tests;
