// SPDX-License-Identifier: Apache-2.0
//! ESP in TCP (RFC 9329): segments are put in order, and the stream is cut into messages of ESP and IKE.
//!
//! The stream says `IKETCP` once, from whoever opened the connection, and then of each message how long it is. A byte
//! that is missing hides all that follows: no later place can be told to begin a message, and none is guessed.
//! Checksums of TCP are not looked at, because network cards fill them in.

mod message;
mod stream;

use std::collections::HashMap;
use std::net::{IpAddr, SocketAddr};

use crate::headers::{Header, TCP, be16, be32, esp_after};
use crate::nat::PORT;
use stream::{Kind, Stream};

pub use stream::{MOST_STREAM, Why};

/// Directions of connections that are remembered; then the one that was used least recently is given up.
pub const MOST_STREAMS: usize = 1024;
/// Bytes that wait, or may come again, of all streams together.
pub const MOST_BYTES: usize = 64 << 20;
const TCP_MIN: usize = 20;
const FIN: u8 = 1;
const SYN: u8 = 2;
const RST: u8 = 4;
const ACK: u8 = 16;

/// A segment of TCP, of a packet that says its length.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Segment<'a> {
    /// Who sent it.
    pub source: SocketAddr,
    /// Whom it is for.
    pub destination: SocketAddr,
    packet: &'a [u8],
    sequence: u32,
    flags: u8,
    payload: &'a [u8],
}

impl<'a> Segment<'a> {
    /// `None`: it is something else, or a fragment, or its IPv4 header has a wrong checksum.
    pub fn of(packet: &'a [u8]) -> Option<Self> {
        let header = Header::of(packet).filter(|h| h.protocol == TCP && h.fragment.is_none())?;
        let tcp = packet.get(header.at..)?;
        let len = usize::from(*tcp.get(12)? >> 4) * 4;
        let payload = tcp.get(len..).filter(|_| len >= TCP_MIN)?;
        Some(Self {
            source: SocketAddr::new(header.source, be16(tcp, 0)?),
            destination: SocketAddr::new(header.destination, be16(tcp, 2)?),
            packet,
            sequence: be32(tcp, 4)?,
            flags: *tcp.get(13)?,
            payload,
        })
    }

    fn has(&self, flag: u8) -> bool {
        self.flags & flag != 0
    }

    fn is_at_port(&self) -> bool {
        self.source.port() == PORT || self.destination.port() == PORT
    }
}

/// What a segment was.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// A packet as any other.
    Ordinary,
    /// Of a stream of ESP, and without a byte of it: the handshake, acknowledgements, IKE, keepalives.
    Beside,
    /// Its bytes are ESP, or wait for those in front of them.
    Taken,
}

/// What came out of streams.
#[derive(Debug, Default)]
pub struct Found {
    /// Packets of ESP, each with the IP header of the segment that ended it.
    pub esp: Vec<Vec<u8>>,
    /// How many segments or messages came to nothing, and why.
    pub lost: Vec<(Why, u64)>,
}

type Key = (SocketAddr, SocketAddr);

/// Connections that may carry ESP, one direction each.
#[derive(Debug, Default)]
pub struct Streams {
    table: HashMap<Key, Stream>,
    clock: u64,
    size: usize,
}

impl Streams {
    /// Takes a segment from or to one of our ends. `is_end` says whether an address is one.
    pub fn take(
        &mut self,
        segment: &Segment<'_>,
        is_end: impl Fn(&IpAddr) -> bool,
        found: &mut Found,
    ) -> Verdict {
        let ours = is_end(&segment.destination.ip());
        if !ours && !is_end(&segment.source.ip()) {
            return Verdict::Ordinary;
        }
        self.clock += 1;
        let key = (segment.source, segment.destination);
        let reverse = self.table.get(&(segment.destination, segment.source)).map(Stream::kind);
        self.open(key, segment, ours, found);
        let Some(stream) = self.table.get_mut(&key) else {
            let beside = ours && segment.is_at_port() && segment.payload.is_empty();
            return if beside { Verdict::Beside } else { Verdict::Ordinary };
        };
        stream.used = self.clock;
        stream.learn(reverse, segment.is_at_port());
        let before = stream.size();
        let lost = found.lost.len();
        let (mut messages, room) = (Vec::new(), MOST_BYTES.saturating_sub(self.size));
        let verdict =
            stream.take(segment.sequence, segment.has(SYN), segment.payload, room, &mut messages, found);
        for message in messages {
            match esp_after(segment.packet, &message) {
                Some(packet) if ours => found.esp.push(packet),
                Some(_) => {}
                None => found.lost.push((Why::Long, 1)),
            }
        }
        if segment.has(FIN) {
            stream.finish(segment.sequence, segment.payload.len());
        }
        if segment.has(RST) || stream.is_over() {
            stream.end(found);
        }
        let kind = stream.kind();
        let after = stream.size();
        self.size = (self.size + after).saturating_sub(before);
        if segment.has(RST) {
            self.size = self.size.saturating_sub(after);
            self.table.remove(&key);
        }
        if !ours {
            found.lost.truncate(lost);
            return Verdict::Ordinary;
        }
        match kind {
            Kind::Unknown if segment.is_at_port() => Verdict::Beside,
            Kind::Unknown => Verdict::Ordinary,
            _ => verdict,
        }
    }

    /// Whether a segment, of which not all is there, has bytes that may be ESP for one of our ends.
    pub fn concerns(&self, segment: &Segment<'_>, is_end: impl Fn(&IpAddr) -> bool) -> bool {
        let kind = self.table.get(&(segment.source, segment.destination)).map(Stream::kind);
        let is_one = match kind {
            Some(Kind::Esp | Kind::Broken(_)) => true,
            Some(Kind::Other) => false,
            Some(Kind::Unknown) | None => segment.is_at_port(),
        };
        is_one && !segment.payload.is_empty() && is_end(&segment.destination.ip())
    }

    /// Ends all streams: nothing more comes.
    pub fn end(&mut self, found: &mut Found) {
        for mut stream in std::mem::take(&mut self.table).into_values() {
            stream.end(found);
        }
        self.size = 0;
    }

    /// Begins a stream where a segment shows that one begins.
    fn open(&mut self, key: Key, segment: &Segment<'_>, ours: bool, found: &mut Found) {
        let known = self.table.get(&key).map(Stream::start);
        let begins = segment.has(SYN) && !segment.has(RST);
        let first = segment.sequence.wrapping_add(u32::from(begins));
        let stream = match known {
            Some(start) if !begins || start == first => return,
            // Another connection between the same ends.
            _ if begins => Stream::new(first, !segment.has(ACK), ours),
            _ if segment.has(RST) => return,
            None if segment.payload.starts_with(message::PREFIX) => Stream::new(first, true, ours),
            // A keepalive of TCP repeats a byte that was acknowledged.
            None if ours && segment.is_at_port() && segment.payload.len() > 1 => Stream::beheaded(first),
            _ => return,
        };
        if let Some(mut old) = self.table.remove(&key) {
            self.size = self.size.saturating_sub(old.size());
            old.end(found);
        }
        while self.table.len() >= MOST_STREAMS {
            let Some(oldest) = self.table.iter().min_by_key(|(_, stream)| stream.used).map(|(key, _)| *key)
            else {
                break;
            };
            if let Some(mut old) = self.table.remove(&oldest) {
                self.size = self.size.saturating_sub(old.size());
                old.give_up(Why::Streams, found);
            }
        }
        self.table.insert(key, stream);
    }
}
