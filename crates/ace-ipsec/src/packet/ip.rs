// SPDX-License-Identifier: Apache-2.0
//! IPv4 (RFC 791) and IPv6 (RFC 8200) headers as far as ESP needs them.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use super::{be16, be32, protocol, put};
use crate::model::Flow;

/// Bytes of an IPv4 header without options.
pub const IPV4_MIN: usize = 20;
/// Bytes of an IPv6 header without extensions.
pub const IPV6_LEN: usize = 40;
/// Hop limit of headers that are made here.
const HOP_LIMIT: u8 = 64;

/// The version in the first four bits of a packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Version {
    /// IPv4 (RFC 791).
    V4,
    /// IPv6 (RFC 8200).
    V6,
}

/// In the order of what they keep from a reader.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Fragment {
    /// Not a fragment (or the only one, RFC 6946).
    Whole,
    /// With the upper layer's header, and more fragments to come.
    First,
    /// Without the upper layer's header.
    Later,
}

/// A place in the chain of headers: what starts at `at` is named by the protocol byte at `named_by`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Link {
    /// Offset of the header in the packet.
    pub at: usize,
    /// Offset of the byte in front of it that says which protocol it is.
    pub named_by: usize,
}

/// What the headers of a packet say. All offsets lie within `total_len`, and that within the packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Ip {
    /// IPv4 or IPv6.
    pub version: Version,
    /// Source address in the IP header.
    pub source: IpAddr,
    /// Destination address in the IP header; a routing header may name a later one.
    pub destination: IpAddr,
    /// DSCP and ECN.
    pub traffic_class: u8,
    /// IPv6 only, else 0.
    pub flow_label: u32,
    /// IPv4 only, else false.
    pub dont_fragment: bool,
    /// Whether the packet is a part of a datagram, and which.
    pub fragment: Fragment,
    /// Bytes from the first of the header to the last of the payload.
    pub total_len: usize,
    /// Upper-layer protocol; `None` when a later fragment does not show it.
    pub protocol: Option<u8>,
    /// The upper layer: behind every extension header.
    pub upper: Link,
    /// Where ESP goes in transport mode: behind hop-by-hop, routing and fragment headers, before destination
    /// options and the upper layer (RFC 4303, 3.1.1).
    pub insertion: Link,
}

/// Reads the headers of one packet. `None` when it is not a whole IPv4 or IPv6 packet; bytes behind the packet
/// are allowed. Jumbograms (RFC 2675) are not understood.
#[inline(always)]
pub fn parse(packet: &[u8]) -> Option<Ip> {
    match packet.first()? >> 4 {
        4 => parse_v4(packet),
        6 => parse_v6(packet),
        _ => None,
    }
}

#[inline(always)]
fn parse_v4(packet: &[u8]) -> Option<Ip> {
    let header_len = usize::from(packet.first()? & 15) * 4;
    let total_len = usize::from(be16(packet, 2)?);
    if header_len < IPV4_MIN || total_len < header_len || packet.len() < total_len {
        return None;
    }
    let flags = be16(packet, 6)?;
    let upper = Link { at: header_len, named_by: 9 };
    Some(Ip {
        version: Version::V4,
        source: Ipv4Addr::from(be32(packet, 12)?).into(),
        destination: Ipv4Addr::from(be32(packet, 16)?).into(),
        traffic_class: *packet.get(1)?,
        flow_label: 0,
        dont_fragment: flags & 0x4000 != 0,
        fragment: fragment(flags & 0x1fff, flags & 0x2000 != 0),
        total_len,
        protocol: packet.get(9).copied(),
        upper,
        insertion: upper,
    })
}

fn parse_v6(packet: &[u8]) -> Option<Ip> {
    let total_len = IPV6_LEN + usize::from(be16(packet, 4)?);
    let packet = packet.get(..total_len)?;
    let start = be32(packet, 0)?;
    let address = |at: usize| -> Option<IpAddr> {
        let bytes: [u8; 16] = packet.get(at..at + 16)?.try_into().ok()?;
        Some(Ipv6Addr::from(bytes).into())
    };
    let mut ip = Ip {
        version: Version::V6,
        source: address(8)?,
        destination: address(24)?,
        traffic_class: (start >> 20) as u8,
        flow_label: start & 0xf_ffff,
        dont_fragment: false,
        fragment: Fragment::Whole,
        total_len,
        protocol: None,
        upper: Link { at: IPV6_LEN, named_by: 6 },
        insertion: Link { at: IPV6_LEN, named_by: 6 },
    };
    loop {
        let Link { at, named_by } = ip.upper;
        let next = *packet.get(named_by)?;
        let len = match next {
            // Only directly behind the IPv6 header (RFC 8200, 4.1).
            protocol::HOP_BY_HOP if at != IPV6_LEN => return None,
            protocol::HOP_BY_HOP | protocol::ROUTING | protocol::DESTINATION_OPTIONS => {
                (usize::from(*packet.get(at + 1)?) + 1) * 8
            }
            protocol::FRAGMENT => {
                let word = be16(packet, at + 2)?;
                // Of two such headers the one counts that makes it a fragment.
                ip.fragment = ip.fragment.max(fragment(word >> 3, word & 1 != 0));
                8
            }
            upper => {
                ip.protocol = Some(upper);
                return Some(ip);
            }
        };
        if at + len > total_len {
            return None;
        }
        ip.upper = Link { at: at + len, named_by: at };
        if next != protocol::DESTINATION_OPTIONS {
            ip.insertion = ip.upper;
        }
        if ip.fragment == Fragment::Later {
            // What follows is the middle of something; its first header may be an extension header.
            ip.protocol = packet.get(at).copied().filter(|&p| !is_extension(p));
            return Some(ip);
        }
    }
}

fn is_extension(next: u8) -> bool {
    matches!(
        next,
        protocol::HOP_BY_HOP | protocol::ROUTING | protocol::FRAGMENT | protocol::DESTINATION_OPTIONS
    )
}

fn fragment(offset: u16, more: bool) -> Fragment {
    match (offset, more) {
        (0, false) => Fragment::Whole,
        (0, true) => Fragment::First,
        _ => Fragment::Later,
    }
}

impl Ip {
    /// No router may divide it: its sender says so, or it is IPv6 (RFC 8200, 5).
    #[inline]
    pub fn must_stay_whole(&self) -> bool {
        self.dont_fragment || self.version == Version::V6
    }

    /// What selectors look at; `packet` is what this was read from.
    #[inline]
    pub fn flow(&self, packet: &[u8]) -> Flow {
        let ports = if self.fragment == Fragment::Later { None } else { self.ports(packet) };
        Flow { source: self.source, destination: self.destination, protocol: self.protocol, ports }
    }

    /// Source and destination port, of ICMP type and code, when the packet shows them.
    pub fn ports(&self, packet: &[u8]) -> Option<(u16, u16)> {
        let protocol = self.protocol.filter(|_| self.fragment != Fragment::Later)?;
        let upper = packet.get(self.upper.at..self.total_len)?;
        if protocol::has_types(protocol) {
            let [kind, code, ..] = *upper else { return None };
            return Some((kind.into(), code.into()));
        }
        if !protocol::has_ports(protocol) {
            return None;
        }
        Some((be16(upper, 0)?, be16(upper, 2)?))
    }
}

/// The Internet checksum (RFC 1071) of an IPv4 header; over a header that holds its checksum it is 0.
pub fn checksum(header: &[u8]) -> u16 {
    // Four bytes at a time: their high half counts as much as it would alone, modulo 2^16 - 1.
    let (words, rest) = header.as_chunks();
    let mut last = [0; 4];
    last.iter_mut().zip(rest).for_each(|(to, from)| *to = *from);
    !fold(words.iter().chain([&last]).map(|word| u64::from(u32::from_be_bytes(*word))).sum())
}

/// A sum modulo 2^16 - 1, and 0 only if it is 0.
#[inline]
fn fold(mut sum: u64) -> u16 {
    while sum > 0xffff {
        sum = (sum & 0xffff) + (sum >> 16);
    }
    sum as u16
}

/// What an outer header is made of.
#[derive(Clone, Copy, Debug)]
pub struct Outer<'a> {
    /// Of one family with `destination`.
    pub source: &'a IpAddr,
    /// The other end.
    pub destination: &'a IpAddr,
    /// DSCP and ECN, as [`Ip::traffic_class`].
    pub traffic_class: u8,
    /// IPv6 only; the low 20 bits go into the header.
    pub flow_label: u32,
    /// IPv4 only.
    pub dont_fragment: bool,
    /// IPv4 only.
    pub identification: u16,
    /// What follows.
    pub protocol: u8,
}

impl Outer<'_> {
    /// Fills a header of 20 or 40 bytes in front of `payload_len` bytes; `None` when no packet can be that long or
    /// the families differ.
    #[inline]
    pub fn write(self, header: &mut [u8], payload_len: usize) -> Option<()> {
        match (self.source, self.destination) {
            (IpAddr::V4(source), IpAddr::V4(destination)) => {
                let header: &mut [u8; IPV4_MIN] = header.try_into().ok()?;
                let total = u16::try_from(IPV4_MIN.checked_add(payload_len)?).ok()?;
                let dont_fragment = u32::from(self.dont_fragment) << 14;
                let mut words = [
                    0x4500_0000 | u32::from(self.traffic_class) << 16 | u32::from(total),
                    u32::from(self.identification) << 16 | dont_fragment,
                    u32::from(HOP_LIMIT) << 24 | u32::from(self.protocol) << 16,
                    u32::from(*source),
                    u32::from(*destination),
                ];
                words[2] |= u32::from(!fold(words.iter().map(|word| u64::from(*word)).sum()));
                for (place, word) in header.as_chunks_mut().0.iter_mut().zip(words) {
                    *place = word.to_be_bytes();
                }
                Some(())
            }
            (IpAddr::V6(source), IpAddr::V6(destination)) => {
                let header: &mut [u8; IPV6_LEN] = header.try_into().ok()?;
                let length = u16::try_from(payload_len).ok()?;
                let start = 6 << 28 | u32::from(self.traffic_class) << 20 | self.flow_label & 0xf_ffff;
                put(header, 0, &start.to_be_bytes());
                put(header, 4, &length.to_be_bytes());
                put(header, 6, &[self.protocol, HOP_LIMIT]);
                put(header, 8, &source.octets());
                put(header, 24, &destination.octets());
                Some(())
            }
            _ => None,
        }
    }
}

/// Rewrites the headers in front of a transport-mode payload: `named_by` now names `protocol`, and
/// `payload_len` bytes follow. `None` when no packet can be that long.
pub fn rewrite(
    header: &mut [u8],
    version: Version,
    named_by: usize,
    protocol: u8,
    payload_len: usize,
) -> Option<()> {
    let total = header.len().checked_add(payload_len)?;
    *header.get_mut(named_by)? = protocol;
    match version {
        Version::V4 => {
            put(header, 2, &u16::try_from(total).ok()?.to_be_bytes());
            write_checksum(header);
        }
        Version::V6 => put(header, 4, &u16::try_from(total.checked_sub(IPV6_LEN)?).ok()?.to_be_bytes()),
    }
    Some(())
}

fn write_checksum(header: &mut [u8]) {
    put(header, 10, &[0, 0]);
    let sum = checksum(header);
    put(header, 10, &sum.to_be_bytes());
}

/// Sets DSCP and congestion marks of a packet. The IPv4 checksum is updated, not recomputed (RFC 1624), so that a
/// wrong one stays wrong.
pub fn set_traffic_class(packet: &mut [u8], version: Version, class: u8) {
    match version {
        Version::V4 => {
            let (Some(old), Some(sum)) = (be16(packet, 0), be16(packet, 10)) else { return };
            let new = old & 0xff00 | u16::from(class);
            let mut total = u32::from(!sum) + u32::from(!old) + u32::from(new);
            while total > 0xffff {
                total = (total & 0xffff) + (total >> 16);
            }
            put(packet, 0, &new.to_be_bytes());
            if new != old {
                put(packet, 10, &(!(total as u16)).to_be_bytes());
            }
        }
        Version::V6 => {
            // The traffic class lies across bytes 0 and 1.
            let Some(old) = be16(packet, 0) else { return };
            put(packet, 0, &(old & 0xf00f | u16::from(class) << 4).to_be_bytes());
        }
    }
}
