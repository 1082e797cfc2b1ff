// SPDX-License-Identifier: Apache-2.0
//! What became of each packet, told to a reader as it happens. The data plane never waits for a reader: what it does not
//! take in time is lost and counted.

use std::io;
use std::net::{IpAddr, Shutdown};
use std::os::unix::net::UnixStream;
use std::time::Duration;

use serde::{Deserialize, Serialize};
use thiserror::Error;

use crate::outlet::Outlet;
use crate::status::Clock;

/// Bytes that wait for a reader.
const MOST_BYTES: usize = 4 << 20;
/// Readers at once.
pub const MOST_READERS: usize = 4;

/// Why nothing is told.
#[derive(Debug, Error)]
pub enum TraceError {
    /// Others read already.
    #[error("{MOST_READERS} readers are told already; end one of them")]
    Many,
    /// The question has a word that is none.
    #[error("`{0}` is no word of a trace: `spi=0x1001`, `packets`, `inner`, `all`")]
    Word(String),
    /// The system refuses a thread or the stream.
    #[error(transparent)]
    Io(#[from] io::Error),
}

/// What of a packet is told besides what its headers say.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum Bytes {
    /// Nothing.
    #[default]
    None,
    /// ESP and AH as they are outside; of a clear packet that is dropped the headers.
    Outer,
    /// Clear packets.
    Inner,
}

/// A packet and what became of it: a line.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Event {
    /// When it left or was dropped, in seconds since 1970.
    pub time: f64,
    /// `out`: it came from inside; else `in`.
    pub direction: String,
    /// The SA's name, where there is one.
    pub sa: Option<String>,
    /// The other end.
    pub peer: Option<IpAddr>,
    /// Of ESP or AH, where it is known.
    pub spi: Option<u32>,
    /// The low half of the sequence number on the wire.
    pub sequence: Option<u32>,
    /// Of the clear packet, where it was seen; else of the one around it.
    pub source: Option<IpAddr>,
    /// The same.
    pub destination: Option<IpAddr>,
    /// The same.
    pub protocol: Option<u8>,
    /// The same: source and destination, or of ICMP type and code.
    pub ports: Option<(u16, u16)>,
    /// As it came.
    pub bytes: usize,
    /// As it left.
    pub left: Option<usize>,
    /// `protected`, `decapsulated`, `dropped`.
    pub verdict: String,
    /// Why it was dropped, as counters call it.
    pub cause: Option<String>,
    /// The same for people.
    pub why: Option<String>,
    /// Its bytes or the first of them, in hexadecimal, where they are asked for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub packet: Option<String>,
    /// Bytes that the packet has.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub packet_bytes: Option<usize>,
    /// Packets that this reader was not told of until now: it was too slow.
    #[serde(default)]
    pub lost: u64,
}

/// A reader. Clones are the same one.
#[derive(Clone)]
pub struct Tracer {
    out: Outlet,
    /// Of this SPI alone.
    pub spi: Option<u32>,
    /// What it wants.
    pub bytes: Bytes,
    clock: Clock,
    /// To look whether it is there.
    reader: std::sync::Arc<UnixStream>,
}

impl Tracer {
    /// Begins with what a question says behind its first word.
    ///
    /// # Errors
    /// [`TraceError`].
    pub fn start(stream: UnixStream, words: &str, clock: Clock) -> Result<Self, TraceError> {
        let (mut spi, mut bytes) = (None, Bytes::None);
        for word in words.split_whitespace() {
            let wrong = || TraceError::Word(word.to_owned());
            match word.split_once('=') {
                Some(("spi", number)) => {
                    let digits = number.strip_prefix("0x").ok_or_else(wrong)?;
                    spi = Some(u32::from_str_radix(digits, 16).map_err(|_| wrong())?);
                }
                None if word == "packets" => bytes = bytes.max(Bytes::Outer),
                None if word == "inner" => bytes = Bytes::Inner,
                None if word == "all" => {}
                _ => return Err(wrong()),
            }
        }
        let reader = std::sync::Arc::new(stream.try_clone()?);
        // Nothing more is asked.
        let _ = reader.shutdown(Shutdown::Read);
        let out = Outlet::to_reader(Box::new(stream), MOST_BYTES);
        out.start("trace")?;
        out.put(b"{\"trace\":1}\n");
        Ok(Self { out, spi, bytes, clock, reader })
    }

    /// Tells of a packet, if it is one that is asked for.
    pub fn tell(&self, at: Duration, event: &mut Event) {
        if self.spi.is_some_and(|spi| event.spi != Some(spi)) {
            return;
        }
        event.time = self.clock.at_nanos(at);
        event.lost = self.out.lost();
        // There is nothing in it that cannot be written.
        let Ok(mut line) = serde_json::to_vec(event) else { return };
        line.push(b'\n');
        self.out.put(&line);
    }

    /// Nobody reads any more.
    pub fn is_gone(&self) -> bool {
        use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
        use std::os::fd::AsFd;
        let hung = || {
            let mut fds = [PollFd::new(self.reader.as_fd(), PollFlags::empty())];
            let told = poll(&mut fds, PollTimeout::ZERO).is_ok_and(|count| count > 0);
            told && fds[0].revents().is_some_and(|of| of.intersects(PollFlags::POLLHUP | PollFlags::POLLERR))
        };
        self.out.is_broken() || hung()
    }
}

/// Bytes in hexadecimal.
pub fn hex(bytes: &[u8]) -> String {
    const DIGITS: &[u8; 16] = b"0123456789abcdef";
    let digit = |at: u8| char::from(DIGITS[usize::from(at & 15)]);
    bytes.iter().flat_map(|byte| [digit(byte >> 4), digit(*byte)]).collect()
}
