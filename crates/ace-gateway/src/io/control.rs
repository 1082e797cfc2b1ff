// SPDX-License-Identifier: Apache-2.0
//! The socket on which a gateway answers: one word and a newline go in, JSON comes out. Who asks must be root or who
//! started the gateway. A client that says nothing, or does not take its answer, is cut off and stands in nobody's way.

use std::io::{self, ErrorKind, Read, Write};
use std::os::fd::{AsFd, BorrowedFd};
use std::os::unix::fs::{DirBuilderExt, PermissionsExt};
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::{Path, PathBuf};
use std::time::Duration;

use nix::poll::PollFlags;
use nix::sys::socket::{getsockopt, sockopt::PeerCredentials};
use nix::unistd::geteuid;

use super::Rest;

/// Longer than any question.
const LONGEST: usize = 64;
const MOST_CLIENTS: usize = 16;
/// For a question, and for every piece of an answer.
const PATIENCE: Duration = Duration::from_secs(5);

pub struct Control {
    listener: UnixListener,
    path: PathBuf,
    /// Who may ask, besides root.
    owner: u32,
    clients: Vec<Client>,
    rest: Rest,
}

struct Client {
    stream: UnixStream,
    question: Vec<u8>,
    /// What is left of it.
    answer: Option<(Vec<u8>, usize)>,
    until: Duration,
}

impl Control {
    /// # Errors
    /// As the system says; a socket on which somebody answers is not taken over.
    pub fn bind(path: &Path) -> io::Result<Self> {
        make_way(path, |path| UnixStream::connect(path).is_ok())?;
        let listener = UnixListener::bind(path)?;
        std::fs::set_permissions(path, std::fs::Permissions::from_mode(0o600))?;
        listener.set_nonblocking(true)?;
        Ok(Self {
            listener,
            path: path.to_owned(),
            owner: geteuid().as_raw(),
            clients: Vec::new(),
            rest: Rest::default(),
        })
    }

    /// What to wait for.
    pub fn fds(&self) -> impl Iterator<Item = (BorrowedFd<'_>, PollFlags)> {
        let client = |client: &'_ Client| match client.answer {
            None => PollFlags::POLLIN,
            Some(_) => PollFlags::POLLOUT,
        };
        let listener = self.rest.until().is_none().then(|| (self.listener.as_fd(), PollFlags::POLLIN));
        (listener.into_iter()).chain(self.clients.iter().map(move |one| (one.stream.as_fd(), client(one))))
    }

    /// When the next client is cut off, or may come.
    pub fn timeout(&self) -> Option<Duration> {
        self.clients.iter().map(|client| client.until).chain(self.rest.until()).min()
    }

    /// Takes questions and gives answers as far as nobody has to be waited for. Without an answer whoever was asked has taken
    /// the stream.
    pub fn serve(&mut self, now: Duration, mut answer: impl FnMut(&str, &UnixStream) -> Option<Vec<u8>>) {
        while let Some((stream, _)) = self.rest.accept(now, || self.listener.accept()) {
            let may = getsockopt(&stream, PeerCredentials)
                .is_ok_and(|who| who.uid() == 0 || who.uid() == self.owner);
            if may && self.clients.len() < MOST_CLIENTS && stream.set_nonblocking(true).is_ok() {
                let until = now + PATIENCE;
                self.clients.push(Client { stream, question: Vec::new(), answer: None, until });
            }
        }
        self.clients.retain_mut(|client| client.goes_on(now, &mut answer) && now < client.until);
    }
}

impl Client {
    /// False when there is nothing more to do for it.
    fn goes_on(
        &mut self,
        now: Duration,
        answer: &mut impl FnMut(&str, &UnixStream) -> Option<Vec<u8>>,
    ) -> bool {
        while self.answer.is_none() {
            let mut piece = [0; LONGEST];
            match self.stream.read(&mut piece) {
                Ok(0) => return false,
                Ok(len) => self.question.extend_from_slice(piece.get(..len).unwrap_or_default()),
                Err(error) => return error.kind() == ErrorKind::WouldBlock,
            }
            if let Some(end) = self.question.iter().position(|byte| *byte == b'\n') {
                let word = String::from_utf8_lossy(self.question.get(..end).unwrap_or_default()).into_owned();
                let Some(answer) = answer(&word, &self.stream) else { return false };
                self.answer = Some((answer, 0));
                self.until = now + PATIENCE;
            } else if self.question.len() > LONGEST {
                return false;
            }
        }
        let Some((text, sent)) = &mut self.answer else { return true };
        while let Some(left) = text.get(*sent..).filter(|left| !left.is_empty()) {
            match self.stream.write(left) {
                Ok(0) => return false,
                Ok(len) => {
                    *sent += len;
                    self.until = now + PATIENCE;
                }
                Err(error) => return error.kind() == ErrorKind::WouldBlock,
            }
        }
        false
    }
}

impl Drop for Control {
    fn drop(&mut self) {
        // Another user's folder does not let it: the next gateway takes the place over.
        let _ = std::fs::remove_file(&self.path);
    }
}

/// Makes the folder of a socket, and takes away what a gateway left there.
///
/// # Errors
/// As the system says; a socket on which somebody answers stays.
pub fn make_way(path: &Path, answers: impl FnOnce(&Path) -> bool) -> io::Result<()> {
    if let Some(folder) = path.parent().filter(|folder| !folder.as_os_str().is_empty()) {
        std::fs::DirBuilder::new().recursive(true).mode(0o755).create(folder)?;
    }
    if path.exists() {
        if answers(path) {
            return Err(io::Error::new(ErrorKind::AddrInUse, "another gateway answers there"));
        }
        std::fs::remove_file(path)?;
    }
    Ok(())
}

/// Asks the gateway at a socket one question.
///
/// # Errors
/// As the system says; nothing said is an error too, because the gateway refuses without a word.
pub fn ask(path: &Path, question: &str) -> io::Result<String> {
    let mut stream = UnixStream::connect(path)?;
    stream.set_read_timeout(Some(PATIENCE))?;
    stream.set_write_timeout(Some(PATIENCE))?;
    stream.write_all(format!("{question}\n").as_bytes())?;
    let mut reply = String::new();
    stream.read_to_string(&mut reply)?;
    if reply.is_empty() {
        return Err(io::Error::new(
            ErrorKind::PermissionDenied,
            "the gateway answers root and who started it, nobody else, and sixteen at once",
        ));
    }
    Ok(reply)
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicBool, Ordering};

    use super::*;

    #[test]
    fn questions_are_answered_beside_clients_that_hang() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("run/gateway.sock");
        let mut control = Control::bind(&path).unwrap();
        let stop = AtomicBool::new(false);
        std::thread::scope(|scope| {
            scope.spawn(|| {
                let start = std::time::Instant::now();
                while !stop.load(Ordering::Relaxed) {
                    // A clock that runs a hundred times as fast: the patience is over soon.
                    control
                        .serve(start.elapsed() * 100, |word, _| Some(vec![b'a' + word.len() as u8; 1 << 20]));
                    std::thread::sleep(Duration::from_millis(1));
                }
            });
            let mut half = UnixStream::connect(&path).unwrap();
            half.write_all(b"stat").unwrap();
            let mut long = UnixStream::connect(&path).unwrap();
            long.write_all(&[b'x'; 3 * LONGEST]).unwrap();
            let mut deaf = UnixStream::connect(&path).unwrap();
            deaf.write_all(b"status\n").unwrap();
            assert!(Control::bind(&path).is_err(), "the place is taken");
            let reply = ask(&path, "sas").unwrap();
            assert_eq!((reply.len(), reply.as_bytes()[0]), (1 << 20, b'd'));
            // All three are cut off.
            for mut client in [half, long] {
                let mut rest = Vec::new();
                let ended = client.read_to_end(&mut rest);
                assert!(rest.is_empty() || ended.is_err());
            }
            std::thread::sleep(Duration::from_millis(100));
            let mut rest = Vec::new();
            let _ = deaf.read_to_end(&mut rest);
            assert!(rest.len() < 1 << 20);
            stop.store(true, Ordering::Relaxed);
        });
        drop(control);
        assert!(!path.exists());
    }
}
