// SPDX-License-Identifier: Apache-2.0
//! A capture shows both sides of a gateway in one file, and no packet says from which side it came. Whoever reads one
//! chooses with this; the data plane itself never guesses.

use std::net::IpAddr;

use super::{Packet, Shard};
use crate::model::{Protocol, Time};
use crate::packet::ip;
use crate::side::{Inside, Outside};
use crate::spd::Decision;

/// From which side a packet of a capture came.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Seen {
    /// The protected side: the packet is in clear and on its way out, or was decapsulated already.
    Inside,
    /// The unprotected side: the packet came from the network.
    Outside,
}

impl Shard {
    /// ESP or AH for one of our ends came from outside, and what an inside rule is for from inside. What is left came
    /// from outside if an outside rule is for it: then it had to be protected and was not.
    pub fn seen(&mut self, packet: &[u8]) -> Seen {
        let Some(ip) = ip::parse(packet) else { return Seen::Inside };
        if self.for_us(&ip).is_some() {
            return Seen::Outside;
        }
        let flow = ip.flow(packet.get(..ip.total_len).unwrap_or_default());
        if self.inside.decide(0, &flow) != Decision::Default {
            Seen::Inside
        } else if self.outside.decide(0, &flow) != Decision::Default {
            Seen::Outside
        } else {
            Seen::Inside
        }
    }

    /// Whether a packet is ESP or AH for one of our ends, or a rule is for it: if it comes to nothing, something is
    /// missing.
    pub fn concerns(&mut self, packet: &[u8]) -> bool {
        let Some(ip) = ip::parse(packet) else { return false };
        let flow = ip.flow(packet.get(..ip.total_len).unwrap_or_default());
        self.for_us(&ip).is_some()
            || self.inside.decide(0, &flow) != Decision::Default
            || self.outside.decide(0, &flow) != Decision::Default
    }

    /// Whether ESP and AH for an address are ours.
    pub fn is_end(&self, address: &IpAddr) -> bool {
        self.sad.is_end(address)
    }

    /// Whether there is an SA for ESP that arrives.
    pub fn knows(&self, destination: IpAddr, spi: u32) -> bool {
        self.sad.find(destination, Protocol::Esp, spi).is_some()
    }

    /// Takes a packet of a capture at the side of [`Shard::seen`].
    pub fn ingest_seen(&mut self, now: Time, packet: Packet) {
        match self.seen(&packet.buffer) {
            Seen::Inside => self.ingest(now, Inside, [packet]),
            Seen::Outside => self.ingest(now, Outside, [packet]),
        }
    }
}
