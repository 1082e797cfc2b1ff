// SPDX-License-Identifier: Apache-2.0
//! Which packets on the wire a rule is for, as ranges of what nftables looks at.

use std::net::IpAddr;
use std::ops::RangeInclusive;

use ace_ipsec::Selector;
use ace_ipsec::packet::protocol::{has_ports, has_types};
use ipnet::IpNet;

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
            (true, None) => (0..=u8::MAX).filter(|protocol| has_ports(*protocol)).map(Some).collect(),
            // No packet is one of those.
            (true, Some(protocol)) if !has_ports(protocol) && !has_types(protocol) => Vec::new(),
            (_, protocol) => vec![protocol],
        };
        let sides = [range(&selector.source_ports), range(&selector.destination_ports)];
        let ports = match wants_ports {
            true if selector.protocol.is_some_and(has_types) => types(sides),
            true => vec![Some(sides)],
            false => vec![None],
        };
        let mut all = Vec::new();
        for v6 in families {
            let (source, destination) = (addresses(selector.source, v6), addresses(selector.destination, v6));
            for protocol in &protocols {
                let one = |ports: &_| Self { v6, source, destination, protocol: *protocol, ports: *ports };
                all.extend(ports.iter().map(one));
            }
        }
        all
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

/// Type and code stand where other protocols have the source port, each in a byte; what follows is a checksum.
fn types([(first, last), (low, high)]: [(u16, u16); 2]) -> Vec<Option<[(u16, u16); 2]>> {
    const ANY: (u16, u16) = (0, u16::MAX);
    let (last, high) = (last.min(0xff), high.min(0xff));
    if first > last || low > high {
        return Vec::new();
    }
    if (low, high) == (0, 0xff) {
        return vec![Some([(first << 8, last << 8 | 0xff), ANY])];
    }
    (first..=last).map(|kind| Some([(kind << 8 | low, kind << 8 | high), ANY])).collect()
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

#[cfg(test)]
mod tests {
    use std::net::Ipv4Addr;

    use ace_ipsec::{Flow, Match};
    use proptest::prelude::*;

    use super::*;

    fn ports() -> impl Strategy<Value = Option<RangeInclusive<u16>>> {
        proptest::option::of((0..4u16, 0..300u16).prop_map(|(at, len)| at..=at + len))
    }

    proptest! {
        /// A packet as nftables sees it is in a box exactly where the selector takes it.
        #[test]
        fn boxes_are_what_the_selector_says(
            source_ports in ports(), destination_ports in ports(),
            protocol in proptest::option::of(prop::sample::select(vec![1u8, 6, 17, 47, 58])),
            packet in (prop::sample::select(vec![1u8, 6, 17, 47, 58]), 0..6u16, 0..6u16, any::<u16>()),
        ) {
            let selector = Selector { protocol, source_ports, destination_ports, ..Selector::default() };
            let (number, first, second, checksum) = packet;
            let any = Ipv4Addr::new(10, 0, 0, 1);
            let has = has_ports(number) || has_types(number);
            let flow = Flow { source: any.into(), destination: any.into(), protocol: Some(number), ports: has.then_some((first, second)) };
            let words = if has_types(number) { (first << 8 | second, checksum) } else { (first, second) };
            let at = u128::from(u32::from(any));
            let seen = Cover {
                v6: false, source: (at, at), destination: (at, at), protocol: Some(number),
                ports: Some([(words.0, words.0), (words.1, words.1)]),
            };
            let covered = Cover::of(&selector).iter().any(|cover| cover.overlaps(&seen));
            prop_assert_eq!(covered, selector.matches(&flow) == Match::Yes);
        }
    }
}
