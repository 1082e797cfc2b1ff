// SPDX-License-Identifier: Apache-2.0
//! A recording of live traffic, to be played again on the virtual clock: for each packet when it came, its SA, its length
//! and what its headers say. No payload, no key. A line is one JSON value.

use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::net::SocketAddr;
use std::time::Duration;

use ace_ipsec::packet::ip;
use ace_ipsec::{Direction, Protocol, SaId, SaMode, SaStatus};
use serde::{Deserialize, Serialize};

/// What the first line says.
pub const VERSION: u32 = 1;
/// Flows that are told apart; packets of more are not recorded.
const FLOWS: usize = 1 << 16;
const TCP: u8 = 6;
const UDP: u8 = 17;

/// A line of a recording.
#[derive(Clone, Debug, Deserialize, PartialEq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Line {
    /// The first one: the version of the format.
    Recording(u32),
    /// An SA, before its first packet.
    Sa(Sa),
    /// Who speaks to whom, before the first packet of it.
    Flow(Flow),
    /// A packet that left, in the order in which packets left.
    Packet(Packet),
    /// So many packets were wanted; there were more.
    Full(u64),
}

/// An SA without its keys.
#[derive(Clone, Debug, Deserialize, PartialEq, Serialize)]
#[serde(deny_unknown_fields)]
pub struct Sa {
    /// What packets call it by; counted from 0.
    pub number: u32,
    /// As in the SA file.
    pub name: String,
    /// Packets go out with it; else they come in.
    pub out: bool,
    /// AH; else ESP.
    pub ah: bool,
    /// Tunnel mode; else transport mode.
    pub tunnel: bool,
    /// Extended sequence numbers (RFC 4303, 2.2.1).
    pub esn: bool,
    /// As in an SA file.
    pub cipher: String,
    /// As in an SA file.
    pub auth: String,
}

/// One direction of a conversation.
#[derive(Clone, Debug, Deserialize, PartialEq, Serialize)]
#[serde(deny_unknown_fields)]
pub struct Flow {
    /// What packets call it by; counted from 0.
    pub number: u32,
    /// The IP protocol number of the upper layer: 6 for TCP.
    pub protocol: u8,
    /// Port 0 where there are none.
    pub source: SocketAddr,
    /// Port 0 where there are none.
    pub destination: SocketAddr,
}

/// Nanoseconds since the gateway began, SA, flow, bytes of the clear packet, bytes of data in it; of TCP the sequence and
/// acknowledgement numbers.
#[derive(Clone, Copy, Debug, Deserialize, PartialEq, Eq, Serialize)]
pub struct Packet(pub u64, pub u32, pub u32, pub u32, pub u32, pub u32, pub u32);

/// What was seen of a clear packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Seen {
    at: Duration,
    protocol: u8,
    ends: (SocketAddr, SocketAddr),
    bytes: u32,
    data: u32,
    sequence: u32,
    acknowledged: u32,
}

impl Seen {
    /// `None` for what is no IP packet.
    pub fn of(at: Duration, packet: &[u8]) -> Option<Self> {
        let ip = ip::parse(packet)?;
        let upper = packet.get(ip.upper.at..ip.total_len).unwrap_or_default();
        let word = |at: usize| Some(u32::from_be_bytes(upper.get(at..at + 4)?.try_into().ok()?));
        let half = |at: usize| Some(u16::from_be_bytes(upper.get(at..at + 2)?.try_into().ok()?));
        let protocol = ip.protocol.unwrap_or_default();
        let has_ports = matches!(protocol, TCP | UDP);
        let port = |at| half(at).filter(|_| has_ports).unwrap_or_default();
        let header = match protocol {
            TCP => upper.get(12).map_or(20, |byte| usize::from(byte >> 4) * 4),
            UDP => 8,
            _ => 0,
        };
        let of_tcp = |at| word(at).filter(|_| protocol == TCP).unwrap_or_default();
        Some(Self {
            at,
            protocol,
            ends: (SocketAddr::new(ip.source, port(0)), SocketAddr::new(ip.destination, port(2))),
            // A packet is shorter than 2^17 bytes.
            bytes: u32::try_from(ip.total_len).unwrap_or(u32::MAX),
            data: u32::try_from(upper.len().saturating_sub(header)).unwrap_or_default(),
            sequence: of_tcp(4),
            acknowledged: of_tcp(8),
        })
    }
}

/// Makes the lines.
pub struct Recorder {
    sas: HashMap<SaId, u32>,
    flows: HashMap<(u8, SocketAddr, SocketAddr), u32>,
    most: u64,
    taken: u64,
    lines: Vec<u8>,
}

impl Recorder {
    /// Of the first `most` packets that leave.
    pub fn new(most: u64) -> Self {
        let mut it = Self { sas: HashMap::new(), flows: HashMap::new(), most, taken: 0, lines: Vec::new() };
        it.line(&Line::Recording(VERSION));
        it
    }

    /// Whether more packets came than were wanted; the recording then says so.
    pub fn is_full(&self) -> bool {
        self.taken > self.most
    }

    /// A packet has left under an SA.
    pub fn left(&mut self, seen: Seen, id: SaId, sa: impl FnOnce() -> Option<SaStatus>) {
        if self.is_full() {
            return;
        }
        self.taken += 1;
        if self.is_full() {
            return self.line(&Line::Full(self.most));
        }
        let (sas, flows) = (self.sas.len() as u32, self.flows.len() as u32);
        let sa = match self.sas.entry(id) {
            Entry::Occupied(known) => *known.get(),
            Entry::Vacant(place) => {
                let Some(status) = sa() else { return };
                place.insert(sas);
                self.line(&Line::Sa(Sa {
                    number: sas,
                    name: status.name,
                    out: status.direction == Direction::Out,
                    ah: status.protocol == Protocol::Ah,
                    tunnel: status.mode == SaMode::Tunnel,
                    esn: status.esn,
                    cipher: status.cipher.to_owned(),
                    auth: status.auth.to_owned(),
                }));
                sas
            }
        };
        let (source, destination) = seen.ends;
        let flow = match self.flows.entry((seen.protocol, source, destination)) {
            Entry::Occupied(known) => *known.get(),
            Entry::Vacant(_) if flows as usize == FLOWS => return,
            Entry::Vacant(place) => {
                place.insert(flows);
                self.line(&Line::Flow(Flow { number: flows, protocol: seen.protocol, source, destination }));
                flows
            }
        };
        let Seen { at, bytes, data, sequence, acknowledged, .. } = seen;
        let at = u64::try_from(at.as_nanos()).unwrap_or(u64::MAX);
        self.line(&Line::Packet(Packet(at, sa, flow, bytes, data, sequence, acknowledged)));
    }

    fn line(&mut self, line: &Line) {
        // There is nothing in it that cannot be written, and memory takes it.
        let _ = serde_json::to_writer(&mut self.lines, line);
        self.lines.push(b'\n');
    }

    /// Hands over the lines so far.
    pub fn take(&mut self) -> Vec<u8> {
        std::mem::take(&mut self.lines)
    }
}
