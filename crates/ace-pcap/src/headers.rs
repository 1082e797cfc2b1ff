// SPDX-License-Identifier: Apache-2.0
//! IP headers as far as it takes to find what is cut in pieces.

use std::net::IpAddr;

use crate::offload::{has_checksum, set_checksum};

pub(crate) const TCP: u8 = 6;
pub(crate) const UDP: u8 = 17;
pub(crate) const ESP: u8 = 50;
pub(crate) const AH: u8 = 51;
const HOP_BY_HOP: u8 = 0;
const ROUTING: u8 = 43;
const FRAGMENT: u8 = 44;
const OPTIONS: u8 = 60;
const IPV4_MIN: usize = 20;
const IPV6_LEN: usize = 40;
/// Bytes of IPv6's fragment header.
pub(crate) const FRAGMENT_LEN: usize = 8;

/// The header of a packet that is as long as its bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Header {
    pub source: IpAddr,
    pub destination: IpAddr,
    /// Where what it carries begins: behind the fragment header, where there is one.
    pub at: usize,
    /// What it carries.
    pub protocol: u8,
    /// The byte that says so.
    pub named_by: usize,
    pub fragment: Option<Part>,
}

/// Which part of a datagram a fragment is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Part {
    pub id: u32,
    /// Bytes in front of it.
    pub offset: usize,
    pub more: bool,
    /// Of IPv6: the byte that names the fragment header.
    pub named_by: usize,
}

pub(crate) fn be16(bytes: &[u8], at: usize) -> Option<u16> {
    Some(u16::from_be_bytes(*bytes.get(at..)?.first_chunk()?))
}

pub(crate) fn be32(bytes: &[u8], at: usize) -> Option<u32> {
    Some(u32::from_be_bytes(*bytes.get(at..)?.first_chunk()?))
}

impl Header {
    /// `None`: not a packet, or an IPv4 header whose checksum is wrong, which nobody would take.
    pub fn of(packet: &[u8]) -> Option<Self> {
        match packet.first()? >> 4 {
            4 => Self::v4(packet),
            6 => Self::v6(packet),
            _ => None,
        }
    }

    fn v4(packet: &[u8]) -> Option<Self> {
        let at = usize::from(packet.first()? & 15) * 4;
        if at < IPV4_MIN || packet.len() < at || !has_checksum(packet) {
            return None;
        }
        let address = |at: usize| Some(IpAddr::from(*packet.get(at..)?.first_chunk::<4>()?));
        let word = be16(packet, 6)?;
        let part = Part {
            id: be16(packet, 4)?.into(),
            offset: usize::from(word & 0x1fff) * 8,
            more: word & 0x2000 != 0,
            named_by: 9,
        };
        Some(Self {
            source: address(12)?,
            destination: address(16)?,
            at,
            protocol: *packet.get(9)?,
            named_by: 9,
            fragment: (part.more || part.offset != 0).then_some(part),
        })
    }

    fn v6(packet: &[u8]) -> Option<Self> {
        let address = |at: usize| Some(IpAddr::from(*packet.get(at..)?.first_chunk::<16>()?));
        let (source, destination) = (address(8)?, address(24)?);
        let (mut at, mut named_by) = (IPV6_LEN, 6);
        loop {
            let protocol = *packet.get(named_by)?;
            let len = match protocol {
                HOP_BY_HOP | ROUTING | OPTIONS => (usize::from(*packet.get(at + 1)?) + 1) * 8,
                FRAGMENT => {
                    let word = be16(packet, at + 2)?;
                    let part = Part {
                        id: be32(packet, at + 4)?,
                        offset: usize::from(word & 0xfff8),
                        more: word & 1 != 0,
                        named_by,
                    };
                    // One that is all there is to its datagram is none (RFC 6946).
                    if part.more || part.offset != 0 {
                        let protocol = *packet.get(at)?;
                        let (named_by, at, fragment) = (at, at + FRAGMENT_LEN, Some(part));
                        return Some(Self { source, destination, at, protocol, named_by, fragment });
                    }
                    FRAGMENT_LEN
                }
                protocol => {
                    return Some(Self { source, destination, at, protocol, named_by, fragment: None });
                }
            };
            (named_by, at) = (at, at + len);
            if at > packet.len() {
                return None;
            }
        }
    }
}

/// A packet of ESP with a header as `packet` has one, of whose marks of congestion nothing is left; `None` if none can
/// be that long.
pub(crate) fn esp_after(packet: &[u8], esp: &[u8]) -> Option<Vec<u8>> {
    let v4 = packet.first()? >> 4 == 4;
    let mut made = packet.get(..if v4 { IPV4_MIN } else { IPV6_LEN })?.to_vec();
    let (len, counted) = (made.len() + esp.len(), if v4 { made.len() + esp.len() } else { esp.len() });
    let counted = u16::try_from(counted).ok()?.to_be_bytes();
    let (at, protocol) = if v4 { (2, 9) } else { (4, 6) };
    made.get_mut(at..at + 2)?.copy_from_slice(&counted);
    *made.get_mut(protocol)? = ESP;
    made.reserve(len);
    if v4 {
        *made.first_mut()? = 0x45;
        *made.get_mut(1)? &= 0xfc;
        made.get_mut(4..8)?.fill(0);
        set_checksum(&mut made);
    } else {
        *made.get_mut(1)? &= 0xcf;
    }
    made.extend_from_slice(esp);
    Some(made)
}

/// What a packet of IPv4 and IPv6 says of its congestion (RFC 3168).
pub(crate) fn congestion(packet: &[u8]) -> u8 {
    let at = |at: usize| packet.get(at).copied().unwrap_or_default();
    if at(0) >> 4 == 4 { at(1) & 3 } else { at(1) >> 4 & 3 }
}

/// Marks a packet whose sender understands it; the checksum is for its caller.
pub(crate) fn mark_congestion(packet: &mut [u8]) {
    let v4 = packet.first().is_some_and(|first| first >> 4 == 4);
    if let Some(byte) = packet.get_mut(1) {
        *byte |= if v4 { 3 } else { 0x30 };
    }
}
