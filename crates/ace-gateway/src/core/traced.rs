// SPDX-License-Identifier: Apache-2.0
//! What of packets is told to readers. Nothing of it is done while nobody reads.

use std::collections::HashMap;
use std::net::SocketAddr;
use std::time::Duration;

use ace_config::gateway::Encapsulation;
use ace_ipsec::packet::ip::{self, Ip};
use ace_ipsec::{Direction, Fate, How, SaId};

use super::Core;
use crate::trace::{Bytes, Event, MOST_READERS, TraceError, Tracer, hex};

/// Headers of a packet, and the ports behind them: what is seen of a clear one that is dropped.
const HEADERS: usize = 8;

/// A packet on its way in, as it came.
struct Arrived {
    event: Event,
    shown: Shown,
}

/// Bytes, and how many there were.
type Part = Option<(Vec<u8>, usize)>;

/// What readers get to see, each as it asks.
#[derive(Default)]
struct Shown {
    outer: Part,
    inner: Part,
}

/// Who is told, and what is known of packets under way.
#[derive(Default)]
pub struct Traces {
    readers: Vec<Tracer>,
    arrived: HashMap<u64, Arrived>,
}

impl Traces {
    #[inline]
    pub fn is_on(&self) -> bool {
        !self.readers.is_empty()
    }

    fn wants(&self, bytes: Bytes) -> bool {
        self.readers.iter().any(|reader| reader.bytes == bytes)
    }

    /// A packet comes: what an operation would change is read now.
    #[inline]
    pub fn arrive(&mut self, token: u64, from_inside: bool, packet: &[u8]) {
        if self.is_on() {
            self.note(token, from_inside, packet);
        }
    }

    fn note(&mut self, token: u64, from_inside: bool, packet: &[u8]) {
        let mut event = Event { bytes: packet.len(), ..Event::default() };
        event.direction = if from_inside { "out".to_owned() } else { "in".to_owned() };
        let parsed = ip::parse(packet);
        let mut headers = 0;
        if let Some(ip) = &parsed {
            see(&mut event, ip, packet);
            if !from_inside {
                (event.spi, event.sequence) = outer(ip, packet);
            }
            headers = ip.upper.at + HEADERS;
        }
        let whole = packet.len();
        let part = |most: usize| Some((packet.get(..most.min(whole)).unwrap_or_default().to_vec(), whole));
        // What is in a clear packet is for those alone who ask for it.
        let outer = if from_inside { headers } else { whole };
        let mut seen = Shown::default();
        if self.wants(Bytes::Outer) {
            seen.outer = part(outer);
        }
        if self.wants(Bytes::Inner) {
            seen.inner = part(whole);
        }
        self.arrived.insert(token, Arrived { event, shown: seen });
    }

    /// A datagram for no SA.
    pub fn stranger(&mut self, at: Duration, from: SocketAddr, spi: u32, sequence: u32, bytes: usize) {
        if !self.is_on() {
            return;
        }
        let mut event = Event {
            direction: "in".to_owned(),
            spi: Some(spi),
            sequence: Some(sequence),
            source: Some(from.ip()),
            protocol: Some(50),
            bytes,
            verdict: "dropped".to_owned(),
            cause: Some("datagrams_unknown_spi".to_owned()),
            why: Some("no inbound security association has this SPI".to_owned()),
            ..Event::default()
        };
        self.tell(at, &mut event, &Shown::default());
    }

    /// Readers that are gone are told nothing more.
    fn tell(&mut self, at: Duration, event: &mut Event, shown: &Shown) {
        for reader in &self.readers {
            let part = match reader.bytes {
                Bytes::None => &None,
                Bytes::Outer => &shown.outer,
                Bytes::Inner => &shown.inner,
            };
            (event.packet, event.packet_bytes) =
                part.as_ref().map(|(bytes, whole)| (hex(bytes), *whole)).unzip();
            reader.tell(at, event);
        }
        let before = self.readers.len();
        self.readers.retain(|reader| !reader.is_gone());
        if before > 0 && self.readers.is_empty() {
            self.arrived.clear();
        }
    }
}

/// Addresses, protocol and ports.
fn see(event: &mut Event, ip: &Ip, packet: &[u8]) {
    let flow = ip.flow(packet.get(..ip.total_len).unwrap_or_default());
    (event.source, event.destination) = (Some(flow.source), Some(flow.destination));
    (event.protocol, event.ports) = (flow.protocol, flow.ports);
}

/// SPI and sequence number of ESP or AH.
fn outer(ip: &Ip, packet: &[u8]) -> (Option<u32>, Option<u32>) {
    let at = match ip.protocol {
        Some(50) => ip.upper.at,
        Some(51) => ip.upper.at + 4,
        _ => return (None, None),
    };
    let word = |at: usize| Some(u32::from_be_bytes(*packet.get(at..at + 4)?.first_chunk()?));
    (word(at), word(at + 4))
}

impl Core {
    /// Whether one reader more would be told.
    ///
    /// # Errors
    /// Enough are told already.
    pub fn may_trace(&mut self) -> Result<(), TraceError> {
        self.traces.readers.retain(|reader| !reader.is_gone());
        if self.traces.readers.len() >= MOST_READERS { Err(TraceError::Many) } else { Ok(()) }
    }

    /// Tells a reader what becomes of packets that come from now on.
    pub fn trace(&mut self, reader: Tracer) {
        self.traces.readers.push(reader);
    }

    /// A packet leaves or is dropped.
    pub(super) fn tell_traces(&mut self, token: u64, left: &[u8], sa: Option<SaId>, fate: Fate) {
        // One that came before anybody read is nobody's affair.
        let Some(Arrived { mut event, mut shown }) = self.traces.arrived.remove(&token) else { return };
        if let Some(status) = sa.and_then(|sa| self.plane.sa(sa)) {
            event.spi = Some(status.spi);
            event.direction = if status.direction == Direction::Out { "out" } else { "in" }.to_owned();
            event.sa = Some(status.name);
        }
        event.peer = sa.and_then(|sa| self.plane.remote(sa));
        let parsed = || ip::parse(left);
        let as_left = |part: &mut Part| {
            if part.is_some() {
                *part = Some((left.to_vec(), left.len()));
            }
        };
        match fate {
            Fate::ToOutside(How::Protected) => {
                event.verdict = "protected".to_owned();
                event.left = Some(left.len());
                if let Some(ip) = parsed() {
                    event.sequence = outer(&ip, left).1;
                    let reached = self.peers.endpoint(ip.destination).is_some();
                    if self.encapsulation == Encapsulation::Udp && !reached {
                        dropped(&mut event, "no_peer", "no peer is known for the other end");
                    }
                }
                as_left(&mut shown.outer);
            }
            Fate::ToInside(How::Decapsulated) => {
                event.verdict = "decapsulated".to_owned();
                event.left = Some(left.len());
                if let Some(ip) = parsed() {
                    see(&mut event, &ip, left);
                }
                as_left(&mut shown.inner);
            }
            Fate::Dropped(cause) => dropped(&mut event, cause.name(), &cause.to_string()),
            _ => dropped(&mut event, "clear_dropped", "no rule protects the packet"),
        }
        self.traces.tell(self.now, &mut event, &shown);
    }
}

fn dropped(event: &mut Event, cause: &str, why: &str) {
    event.verdict = "dropped".to_owned();
    (event.cause, event.why) = (Some(cause.to_owned()), Some(why.to_owned()));
}
