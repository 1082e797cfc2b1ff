// SPDX-License-Identifier: Apache-2.0
//! Selectors (RFC 4301, 4.4.1.1): which packets an SA or a rule is for.

use std::fmt;
use std::net::IpAddr;
use std::ops::RangeInclusive;

use ipnet::IpNet;
use serde::{Deserialize, Serialize};

use super::protocol;

/// Addresses, protocol and ports as they stand in the packet; `None` matches anything.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Selector {
    /// Source addresses. For an inbound SA these are on the remote side.
    pub source: Option<IpNet>,
    /// Destination addresses.
    pub destination: Option<IpNet>,
    /// The IP protocol number, of the upper layer: 6 for TCP.
    pub protocol: Option<u8>,
    /// Source ports of TCP, UDP, UDP-Lite, DCCP and SCTP. Where `protocol` is ICMP's or ICMPv6's, types of its messages
    /// (RFC 4301, 4.4.1.1). No packet of another protocol matches.
    pub source_ports: Option<RangeInclusive<u16>>,
    /// Destination ports, or codes, by the same rule.
    pub destination_ports: Option<RangeInclusive<u16>>,
}

/// What selectors look at.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Flow {
    /// Source address in the IP header.
    pub source: IpAddr,
    /// Destination address in the IP header.
    pub destination: IpAddr,
    /// `None` when a later fragment does not show it.
    pub protocol: Option<u8>,
    /// Source and destination, of ICMP type and code; `None` when there are none, or the packet does not show them.
    pub ports: Option<(u16, u16)>,
}

impl Flow {
    /// Whether the packet keeps something from the selectors that its protocol has.
    pub(crate) fn hides(&self) -> bool {
        self.protocol.is_none_or(|number| {
            self.ports.is_none() && (protocol::has_ports(number) || protocol::has_types(number))
        })
    }
}

/// Whether a packet is one of the selector's.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Match {
    /// All that the selector asks for fits.
    Yes,
    /// Something that the packet shows does not fit.
    No,
    /// The selector asks for what the packet does not show (later fragments have no ports). It may be one of
    /// the selector's, so it must not be treated as if it were not.
    Unknown,
}

impl Selector {
    /// Compares.
    pub fn matches(&self, flow: &Flow) -> Match {
        let address = |net: &Option<IpNet>, address| net.as_ref().is_none_or(|net| within(net, address));
        if !address(&self.source, &flow.source) || !address(&self.destination, &flow.destination) {
            return Match::No;
        }
        match (self.protocol, flow.protocol) {
            (Some(wanted), Some(found)) if wanted != found => return Match::No,
            (Some(_), None) => return Match::Unknown,
            _ => {}
        }
        if !self.wants_ports() {
            return Match::Yes;
        }
        match (flow.protocol, flow.ports) {
            (Some(found), _) if !self.tells_apart(found) => Match::No,
            (_, None) => Match::Unknown,
            (_, Some((source, destination))) => {
                let port = |range: &Option<RangeInclusive<u16>>, port| {
                    range.as_ref().is_none_or(|range| range.contains(&port))
                };
                if port(&self.source_ports, source) && port(&self.destination_ports, destination) {
                    Match::Yes
                } else {
                    Match::No
                }
            }
        }
    }

    /// Whether ports are ports of this protocol, or types. Types are asked for by the protocol's name alone: whoever selects
    /// port 8 of any protocol does not mean an echo.
    fn tells_apart(&self, found: u8) -> bool {
        protocol::has_ports(found) || protocol::has_types(found) && self.protocol == Some(found)
    }

    fn wants_ports(&self) -> bool {
        self.source_ports.is_some() || self.destination_ports.is_some()
    }
}

/// Whether the prefixes are the same: `IpNet::contains` makes both ends of the net first.
#[inline]
fn within(net: &IpNet, address: &IpAddr) -> bool {
    match (net, address) {
        (IpNet::V4(net), IpAddr::V4(address)) => {
            let differ = u64::from(u32::from(net.addr()) ^ u32::from(*address));
            differ >> (32 - net.prefix_len()) == 0
        }
        (IpNet::V6(net), IpAddr::V6(address)) => {
            let differ = u128::from(net.addr()) ^ u128::from(*address);
            differ.checked_shr(u32::from(128 - net.prefix_len())).unwrap_or(0) == 0
        }
        _ => false,
    }
}

impl fmt::Display for Selector {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let net = |net: &Option<IpNet>| net.map_or("any".to_owned(), |net| net.to_string());
        write!(f, "{} -> {}", net(&self.source), net(&self.destination))?;
        if let Some(protocol) = self.protocol {
            write!(f, ", protocol {protocol}")?;
        }
        let names = match self.protocol.is_some_and(protocol::has_types) {
            true => ["type", "code"],
            false => ["from port", "to port"],
        };
        for (name, range) in names.into_iter().zip([&self.source_ports, &self.destination_ports]) {
            if let Some(range) = range {
                write!(f, ", {name} {}-{}", range.start(), range.end())?;
            }
        }
        Ok(())
    }
}
