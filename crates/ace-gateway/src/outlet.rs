// SPDX-License-Identifier: Apache-2.0
//! A way out that nobody waits for: a thread writes what is put in, and what it cannot write is counted. A full disk, a
//! pipe that nobody reads and a reader that is gone cost lines, and never a packet.
//!
//! Libraries do not do that. tracing-appender bounds lines and not bytes (128,000 of any length), counts what found no room
//! and not what could not be written (its worker passes over the error), and writes behind a full disk without a pause.
//! tracing-journald sends from the thread that speaks, by a socket that waits, and drops its errors uncounted.

use std::io::{self, Write};
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::sync::mpsc::{Receiver, SyncSender, TryRecvError, sync_channel};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

/// So many pieces wait at most.
const MOST_PIECES: usize = 1 << 14;

/// Where bytes go in pieces, each of them whole or not at all as far as that is ours to say. Clones are the same way out.
#[derive(Clone)]
pub struct Outlet(Arc<Way>);

/// The thread ends when nobody has it any more.
struct Way {
    shared: Arc<Shared>,
    /// Taken by the thread when it starts.
    direct: Mutex<Option<Box<dyn Write + Send>>>,
    sender: OnceLock<SyncSender<Vec<u8>>>,
}

struct Shared {
    most_bytes: usize,
    waiting: AtomicUsize,
    lost: AtomicU64,
    why: Mutex<Option<String>>,
    /// Whoever takes pieces has to take all, or none any more.
    ends: bool,
    broken: AtomicBool,
}

impl Outlet {
    /// Pieces of at most so many bytes together wait. Until [`Outlet::start`] each is written at once.
    pub fn new(out: Box<dyn Write + Send>, most_bytes: usize) -> Self {
        Self::of(out, most_bytes, false)
    }

    /// The same to a reader. When it is gone nothing more is written, and the thread ends.
    pub fn to_reader(out: Box<dyn Write + Send>, most_bytes: usize) -> Self {
        Self::of(out, most_bytes, true)
    }

    fn of(out: Box<dyn Write + Send>, most_bytes: usize, ends: bool) -> Self {
        let shared = Shared {
            ends,
            broken: AtomicBool::new(false),
            most_bytes,
            waiting: AtomicUsize::new(0),
            lost: AtomicU64::new(0),
            why: Mutex::new(None),
        };
        let direct = Mutex::new(Some(out));
        Self(Arc::new(Way { shared: Arc::new(shared), direct, sender: OnceLock::new() }))
    }

    /// Has a thread write from here on.
    ///
    /// # Errors
    /// There is no thread to be had.
    pub fn start(&self, name: &str) -> io::Result<()> {
        let Some(out) = self.0.direct.lock().unwrap_or_else(PoisonError::into_inner).take() else {
            return Ok(());
        };
        let (sender, receiver) = sync_channel(MOST_PIECES);
        let shared = Arc::clone(&self.0.shared);
        thread::Builder::new().name(name.to_owned()).spawn(move || shared.write_all(out, &receiver))?;
        // It was not set before: the writer was there.
        let _ = self.0.sender.set(sender);
        Ok(())
    }

    /// Puts a piece in, and never waits once it has started. False if it is lost.
    pub fn put(&self, piece: &[u8]) -> bool {
        let Way { shared, direct, sender } = &*self.0;
        if let Some(sender) = sender.get() {
            let before = shared.waiting.fetch_add(piece.len(), Ordering::AcqRel);
            let room = before + piece.len() <= shared.most_bytes && !shared.broken.load(Ordering::Acquire);
            if room && sender.try_send(piece.to_vec()).is_ok() {
                return true;
            }
            shared.waiting.fetch_sub(piece.len(), Ordering::AcqRel);
            shared.lose("too much waits to be written");
            return false;
        }
        let mut direct = direct.lock().unwrap_or_else(PoisonError::into_inner);
        match direct.as_mut().map(|out| out.write_all(piece).and_then(|()| out.flush())) {
            Some(Ok(())) => true,
            Some(Err(why)) => {
                shared.lose(&why.to_string());
                false
            }
            // It starts just now, and has no place for pieces yet.
            None => {
                shared.lose("it is being started");
                false
            }
        }
    }

    /// The reader is gone.
    pub fn is_broken(&self) -> bool {
        self.0.shared.broken.load(Ordering::Acquire)
    }

    /// Pieces that were not written.
    pub fn lost(&self) -> u64 {
        self.0.shared.lost.load(Ordering::Relaxed)
    }

    /// Why the last of them was not.
    pub fn why(&self) -> Option<String> {
        self.0.shared.why.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Waits until all is written, but not longer than `most`.
    pub fn finish(&self, most: Duration) {
        let until = Instant::now() + most;
        while self.0.shared.waiting.load(Ordering::Acquire) > 0 && Instant::now() < until {
            thread::sleep(Duration::from_millis(1));
        }
    }
}

impl Shared {
    fn lose(&self, why: &str) {
        self.lost.fetch_add(1, Ordering::Relaxed);
        *self.why.lock().unwrap_or_else(PoisonError::into_inner) = Some(why.to_owned());
    }

    /// What is in memory of the writer when nothing more waits is written too.
    fn write_all(&self, mut out: Box<dyn Write + Send>, from: &Receiver<Vec<u8>>) {
        let mut unflushed = 0;
        loop {
            let piece = match from.try_recv() {
                Ok(piece) => piece,
                Err(TryRecvError::Disconnected) => return,
                Err(TryRecvError::Empty) => {
                    if let Err(why) = out.flush() {
                        self.lose(&why.to_string());
                    }
                    self.waiting.fetch_sub(std::mem::take(&mut unflushed), Ordering::AcqRel);
                    let Ok(piece) = from.recv() else { return };
                    piece
                }
            };
            if let Err(why) = out.write_all(&piece) {
                self.lose(&why.to_string());
                if self.ends {
                    return self.broken.store(true, Ordering::Release);
                }
            }
            unflushed += piece.len();
            if unflushed > self.most_bytes / 4 {
                self.waiting.fetch_sub(std::mem::take(&mut unflushed), Ordering::AcqRel);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::net::UnixStream;

    use super::*;

    #[test]
    fn nobody_waits_for_a_pipe_that_nobody_reads_and_what_is_lost_is_counted() {
        let (reader, writer) = UnixStream::pair().expect("sockets");
        let outlet = Outlet::new(Box::new(writer), 1 << 20);
        outlet.start("test").expect("a thread");
        let piece = [7; 1 << 12];
        // Far more than the pipe and the memory hold.
        let lost = (0..4096).filter(|_| !outlet.put(&piece)).count() as u64;
        assert!(lost > 2048 && lost == outlet.lost(), "{lost} of 4096");
        outlet.finish(Duration::from_millis(20));
        // The reader goes: what waited is lost as well, and nothing ends.
        drop(reader);
        outlet.finish(Duration::from_secs(60));
        assert!(outlet.lost() > lost && outlet.why().is_some());
        assert!(outlet.put(b"a line"));
    }

    #[test]
    fn a_full_disk_costs_lines_before_the_thread_starts_and_behind_it() {
        let full = std::fs::OpenOptions::new().write(true).open("/dev/full").expect("a device");
        let outlet = Outlet::new(Box::new(full), 100);
        assert!(!outlet.put(b"one") && outlet.lost() == 1);
        outlet.start("test").expect("a thread");
        outlet.put(b"two");
        outlet.finish(Duration::from_secs(60));
        assert_eq!(outlet.lost(), 2);
        assert!(!outlet.put(&[0; 101]), "more than may wait");
        assert_eq!(outlet.lost(), 3);
    }

    #[test]
    fn a_reader_that_is_gone_ends_its_outlet() {
        let (reader, writer) = UnixStream::pair().expect("sockets");
        let outlet = Outlet::to_reader(Box::new(writer), 1 << 20);
        outlet.start("test").expect("a thread");
        assert!(outlet.put(b"a") && !outlet.is_broken());
        drop(reader);
        let start = Instant::now();
        while !outlet.is_broken() {
            outlet.put(b"b");
            assert!(start.elapsed() < Duration::from_secs(60));
        }
        assert!(!outlet.put(b"c") && outlet.lost() > 0);
    }

    #[test]
    fn an_outlet_that_nobody_has_any_more_ends_behind_its_last_piece() {
        let (mut reader, writer) = UnixStream::pair().expect("sockets");
        let outlet = Outlet::to_reader(Box::new(writer), 1 << 20);
        outlet.start("test").expect("a thread");
        assert!(outlet.put(b"last"));
        drop(outlet);
        let mut read = Vec::new();
        io::Read::read_to_end(&mut reader, &mut read).expect("it ends");
        assert_eq!(read, b"last");
    }

    #[test]
    fn what_is_put_in_comes_out_in_order() {
        let (mut reader, writer) = UnixStream::pair().expect("sockets");
        let outlet = Outlet::new(Box::new(io::BufWriter::new(writer)), 1 << 20);
        assert!(outlet.put(b"a"));
        outlet.start("test").expect("a thread");
        assert!(outlet.put(b"b") && outlet.put(b"c"));
        let mut read = [0; 3];
        io::Read::read_exact(&mut reader, &mut read).expect("it comes");
        assert_eq!((&read, outlet.lost()), (b"abc", 0));
    }
}
