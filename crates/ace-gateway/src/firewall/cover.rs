// SPDX-License-Identifier: Apache-2.0
//! Which packets on the wire a rule is for, as ranges of what nftables looks at.

use std::net::IpAddr;
use std::ops::RangeInclusive;

use ace_ipsec::Selector;
use ipnet::IpNet;

/// Protocols whose first four bytes are ports, as selectors have it: TCP, UDP, DCCP, SCTP, UDP-Lite.
const WITH_PORTS: [u8; 5] = [6, 17, 33, 132, 136];

/// Both ends belong to it.
pub type Range = (u128, u128);

/// A box of packets.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Cover {
    pub v6: bool,
    pub source: Range,
    pub destination: Range,
    /// `None`: any.
    pub protocol: Option<u8>,
    /// Source and destination, where there is a protocol; `None`: any, also those of a packet that has none.
    pub ports: Option<[(u16, u16); 2]>,
}

impl Cover {
    /// The boxes of a selector: one a family, and one a protocol where it asks for ports and for no protocol.
    pub fn of(selector: &Selector) -> Vec<Self> {
        let nets = [selector.source, selector.destination];
        let families = [false, true]
            .into_iter()
            .filter(|v6| nets.iter().flatten().all(|net| net.addr().is_ipv6() == *v6));
        let wants_ports = selector.source_ports.is_some() || selector.destination_ports.is_some();
        let protocols: Vec<Option<u8>> = match (wants_ports, selector.protocol) {
            (true, None) => WITH_PORTS.into_iter().map(Some).collect(),
            // No packet is one of those.
            (true, Some(protocol)) if !WITH_PORTS.contains(&protocol) => Vec::new(),
            (_, protocol) => vec![protocol],
        };
        let ports = wants_ports.then(|| [range(&selector.source_ports), range(&selector.destination_ports)]);
        let one = |v6: bool, protocol: &Option<u8>| Self {
            v6,
            source: addresses(selector.source, v6),
            destination: addresses(selector.destination, v6),
            protocol: *protocol,
            ports,
        };
        families.flat_map(|v6| protocols.iter().map(move |protocol| one(v6, protocol))).collect()
    }

    /// Whether a packet can be in both.
    pub fn overlaps(&self, other: &Self) -> bool {
        let meet = |a: Range, b: Range| a.0 <= b.1 && b.0 <= a.1;
        let ports = |(a, b): ((u16, u16), (u16, u16))| a.0 <= b.1 && b.0 <= a.1;
        self.v6 == other.v6
            && meet(self.destination, other.destination)
            && meet(self.source, other.source)
            && self.protocol.zip(other.protocol).is_none_or(|(a, b)| a == b)
            && self.ports.zip(other.ports).is_none_or(|([a, b], [c, d])| ports((a, c)) && ports((b, d)))
    }
}

fn range(ports: &Option<RangeInclusive<u16>>) -> (u16, u16) {
    ports.as_ref().map_or((0, u16::MAX), |ports| (*ports.start(), *ports.end()))
}

fn addresses(net: Option<IpNet>, v6: bool) -> Range {
    let bits = |address: IpAddr| match address {
        IpAddr::V4(address) => u128::from(u32::from(address)),
        IpAddr::V6(address) => u128::from(address),
    };
    match net {
        Some(net) => (bits(net.network()), bits(net.broadcast())),
        None if v6 => (0, u128::MAX),
        None => (0, u128::from(u32::MAX)),
    }
}
