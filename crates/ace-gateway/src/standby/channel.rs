// SPDX-License-Identifier: Apache-2.0
//! The way between a gateway and its standby: TCP, and in it Noise (`Noise_NNpsk0_25519_ChaChaPoly_SHA256`) under a key that
//! both have in a file. A frame is two bytes of its length, big endian, and as many bytes.

use std::io::{self, ErrorKind, Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::os::fd::{AsFd, BorrowedFd};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use nix::poll::PollFlags;
use snow::{Builder, HandshakeState, TransportState};
use thiserror::Error;
use zeroize::Zeroizing;

use crate::daemon::open_to_others;
use crate::io::Rest;

use super::message::{Reply, Request};
use super::mirror::Link;

const PATTERN: &str = "Noise_NNpsk0_25519_ChaChaPoly_SHA256";
/// Two that do not speak the same do not understand each other.
const PROLOGUE: &[u8] = b"ace gateway standby 1";
/// Of Noise.
const LONGEST: usize = 65_535;
/// Clients that are looked at; of one more the oldest stranger is cut off.
const MOST_CLIENTS: usize = 8;
/// For whoever has not shown that it has the key.
const STRANGER: Duration = Duration::from_secs(2);
/// For whoever has, and says nothing.
const QUIET: Duration = Duration::from_secs(60);

/// What both ends have.
#[derive(Clone)]
pub struct SharedKey(Zeroizing<[u8; 32]>);

/// Why there is no key.
#[derive(Debug, Error)]
pub enum KeyFileError {
    /// The system refuses.
    #[error(
        "cannot read the key of the standby {path}: {why}; `umask 077; openssl rand -hex 32 > {path}` makes one, for both ends"
    )]
    Read {
        /// The file.
        path: PathBuf,
        /// What the system says.
        why: io::Error,
    },
    /// Somebody else could be the standby.
    #[error(
        "others may read or write the key of the standby {path} (mode {mode:03o}); chmod 600 {path}, and make a new key if somebody did"
    )]
    Open {
        /// The file.
        path: PathBuf,
        /// Its permissions.
        mode: u32,
    },
    /// It is no key.
    #[error("{0}:1: it is no key: 64 hexadecimal digits are, as `openssl rand -hex 32` makes them")]
    Wrong(PathBuf),
}

impl SharedKey {
    /// Of a file that its owner alone may read.
    ///
    /// # Errors
    /// [`KeyFileError`].
    pub fn read(path: &Path) -> Result<Self, KeyFileError> {
        let failed = |why| KeyFileError::Read { path: path.to_owned(), why };
        let mut file = std::fs::File::open(path).map_err(failed)?;
        if let Some(mode) = open_to_others(&file.metadata().map_err(failed)?) {
            return Err(KeyFileError::Open { path: path.to_owned(), mode });
        }
        let mut text = Zeroizing::new(Vec::with_capacity(128));
        (&mut file).take(128).read_to_end(&mut text).map_err(failed)?;
        let mut key = Zeroizing::new([0; 32]);
        hex::decode_to_slice(text.trim_ascii(), &mut *key)
            .map_err(|_| KeyFileError::Wrong(path.to_owned()))?;
        Ok(Self(key))
    }

    fn builder(&self) -> Result<Builder<'_>, snow::Error> {
        Builder::new(PATTERN.parse()?).prologue(PROLOGUE)?.psk(0, &self.0)
    }
}

fn noise(why: snow::Error) -> io::Error {
    io::Error::new(ErrorKind::PermissionDenied, format!("whoever is there does not have the same key: {why}"))
}

fn framed(bytes: &[u8]) -> Vec<u8> {
    [&(bytes.len() as u16).to_be_bytes(), bytes].concat()
}

/// The gateway's end.
pub struct Caller {
    stream: TcpStream,
    noise: TransportState,
    patience: Duration,
}

impl Caller {
    /// Each question, and the beginning, may take so long.
    ///
    /// # Errors
    /// As the system says, or somebody else is there.
    pub fn connect(to: SocketAddr, key: &SharedKey, patience: Duration) -> io::Result<Self> {
        let until = Instant::now() + patience;
        let mut stream = TcpStream::connect_timeout(&to, patience)?;
        stream.set_nodelay(true)?;
        stream.set_write_timeout(Some(patience))?;
        let mut hands = key.builder().and_then(Builder::build_initiator).map_err(noise)?;
        let mut bytes = vec![0; 256];
        let len = hands.write_message(&[], &mut bytes).map_err(noise)?;
        stream.write_all(&framed(bytes.get(..len).unwrap_or_default()))?;
        let answer = receive(&mut stream, until)?;
        hands.read_message(&answer, &mut bytes).map_err(noise)?;
        Ok(Self { stream, noise: hands.into_transport_mode().map_err(noise)?, patience })
    }
}

fn receive(stream: &mut TcpStream, until: Instant) -> io::Result<Vec<u8>> {
    let mut frame = vec![0; 2];
    let mut at = 0;
    while let Some(room) = frame.get_mut(at..).filter(|room| !room.is_empty()) {
        let left = until.saturating_duration_since(Instant::now());
        if left.is_zero() {
            return Err(io::Error::new(ErrorKind::TimedOut, "the standby does not answer in time"));
        }
        stream.set_read_timeout(Some(left))?;
        match stream.read(room) {
            Ok(0) => {
                return Err(io::Error::new(
                    ErrorKind::UnexpectedEof,
                    "the standby breaks off: it ended, or does not have the same key",
                ));
            }
            Ok(len) => at += len,
            Err(why) if matches!(why.kind(), ErrorKind::WouldBlock | ErrorKind::Interrupted) => {}
            Err(why) => return Err(why),
        }
        if at == 2
            && let [high, low] = frame[..]
        {
            frame.resize(2 + usize::from(u16::from_be_bytes([high, low])), 0);
        }
    }
    Ok(frame.split_off(2))
}

impl Link for Caller {
    fn call(&mut self, request: &Request) -> io::Result<Reply> {
        let until = Instant::now() + self.patience;
        let mut bytes = vec![0; LONGEST];
        let len = self.noise.write_message(&request.to_bytes(), &mut bytes).map_err(noise)?;
        self.stream.write_all(&framed(bytes.get(..len).unwrap_or_default()))?;
        let answer = receive(&mut self.stream, until)?;
        let len = self.noise.read_message(&answer, &mut bytes).map_err(noise)?;
        let reply = bytes.get(..len).and_then(Reply::of);
        reply.ok_or_else(|| io::Error::new(ErrorKind::InvalidData, "the standby's answer is none"))
    }
}

/// The standby's end. Nobody waits for it.
pub struct Server {
    listener: TcpListener,
    key: SharedKey,
    clients: Vec<Client>,
    rest: Rest,
    count: u64,
}

struct Client {
    stream: TcpStream,
    number: u64,
    stage: Option<Stage>,
    /// What has come of a frame.
    frame: Vec<u8>,
    until: Duration,
}

enum Stage {
    Hands(Box<HandshakeState>),
    /// Whether it has said something: only then it is there now, and has the key.
    Speaks(Box<TransportState>, bool),
}

impl Server {
    /// # Errors
    /// As the system says.
    pub fn bind(at: SocketAddr, key: SharedKey) -> io::Result<Self> {
        let listener = TcpListener::bind(at)?;
        listener.set_nonblocking(true)?;
        Ok(Self { listener, key, clients: Vec::new(), rest: Rest::default(), count: 0 })
    }

    /// What to wait for.
    pub fn fds(&self) -> impl Iterator<Item = (BorrowedFd<'_>, PollFlags)> {
        let listener = self.rest.until().is_none().then(|| self.listener.as_fd());
        let clients = self.clients.iter().map(|client| client.stream.as_fd());
        listener.into_iter().chain(clients).map(|fd| (fd, PollFlags::POLLIN))
    }

    /// When a client is cut off, or may come.
    pub fn timeout(&self) -> Option<Duration> {
        self.clients.iter().map(|client| client.until).chain(self.rest.until()).min()
    }

    /// Answers. A connection has a number that is higher than those before it.
    pub fn serve(&mut self, now: Duration, mut answer: impl FnMut(u64, Request) -> Reply) {
        while let Some((stream, _)) = self.rest.accept(now, || self.listener.accept()) {
            let hands = self.key.builder().and_then(Builder::build_responder);
            let quick = stream.set_nonblocking(true).and_then(|()| stream.set_nodelay(true));
            let (Ok(hands), Ok(())) = (hands, quick) else { continue };
            if self.clients.len() >= MOST_CLIENTS {
                let stranger = |client: &Client| !matches!(client.stage, Some(Stage::Speaks(_, true)));
                match self.clients.iter().position(stranger) {
                    Some(oldest) => drop(self.clients.remove(oldest)),
                    None => continue,
                }
            }
            self.count += 1;
            let stage = Some(Stage::Hands(Box::new(hands)));
            let (number, until) = (self.count, now + STRANGER);
            self.clients.push(Client { stream, number, stage, frame: Vec::new(), until });
        }
        self.clients.retain_mut(|client| client.goes_on(now, &mut answer).is_ok() && now < client.until);
    }
}

impl Client {
    /// # Errors
    /// There is nothing more to do for it.
    fn goes_on(&mut self, now: Duration, answer: &mut impl FnMut(u64, Request) -> Reply) -> io::Result<()> {
        // So many at a time, and the others have their turn.
        for _ in 0..64 {
            let wanted = match self.frame.first_chunk::<2>() {
                Some(len) => 2 + usize::from(u16::from_be_bytes(*len)),
                None => 2,
            };
            let have = self.frame.len();
            if have < 2 || have < wanted {
                self.frame.resize(wanted, 0);
                let read = self.stream.read(self.frame.get_mut(have..).unwrap_or_default());
                self.frame.truncate(have + *read.as_ref().unwrap_or(&0));
                match read {
                    Ok(0) => return Err(ErrorKind::UnexpectedEof.into()),
                    Ok(_) => continue,
                    Err(why) if why.kind() == ErrorKind::WouldBlock => return Ok(()),
                    Err(why) => return Err(why),
                }
            }
            let frame = std::mem::take(&mut self.frame);
            self.take(frame.get(2..).unwrap_or_default(), now, answer)?;
        }
        Ok(())
    }

    fn take(
        &mut self,
        frame: &[u8],
        now: Duration,
        answer: &mut impl FnMut(u64, Request) -> Reply,
    ) -> io::Result<()> {
        let mut bytes = vec![0; LONGEST];
        let (stage, out) = match self.stage.take() {
            Some(Stage::Hands(mut hands)) => {
                hands.read_message(frame, &mut bytes).map_err(noise)?;
                let len = hands.write_message(&[], &mut bytes).map_err(noise)?;
                let speaks = hands.into_transport_mode().map_err(noise)?;
                (Stage::Speaks(Box::new(speaks), false), len)
            }
            Some(Stage::Speaks(mut speaks, _)) => {
                let len = speaks.read_message(frame, &mut bytes).map_err(noise)?;
                let request = bytes.get(..len).and_then(Request::of);
                let request = request.ok_or(io::Error::from(ErrorKind::InvalidData))?;
                let reply = answer(self.number, request).to_bytes();
                let len = speaks.write_message(&reply, &mut bytes).map_err(noise)?;
                self.until = now + QUIET;
                (Stage::Speaks(speaks, true), len)
            }
            None => return Err(ErrorKind::InvalidData.into()),
        };
        self.stage = Some(stage);
        // Answers are short, and whoever does not take them is cut off.
        self.stream.write_all(&framed(bytes.get(..out).unwrap_or_default()))
    }
}

#[cfg(test)]
mod tests;
