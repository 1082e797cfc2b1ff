// SPDX-License-Identifier: Apache-2.0
//! Headers: what ESP goes behind on the way out, and what becomes of the packet on the way in.

use crate::counters::Cause;
use crate::packet::Opened;
use crate::sa_file::{Sa, SaMode};
use crate::wire::ip::{self, Fragment, Ip, Outer, Version};
use crate::wire::{ecn, protocol};

/// A clear packet, taken apart for ESP.
#[derive(Debug)]
pub struct Enclosed<'a> {
    pub payload: &'a [u8],
    pub next_header: u8,
    /// What goes in front of ESP.
    pub header: Vec<u8>,
}

/// Splits a clear packet into what ESP encloses and the finished header in front of it. `sealed_len` tells how
/// long the ESP will be for a payload; `identification` goes to an outer IPv4 header.
pub fn enclose<'a>(
    sa: &Sa,
    ip: &Ip,
    packet: &'a [u8],
    sealed_len: impl Fn(usize) -> usize,
    identification: u16,
) -> Result<Enclosed<'a>, Cause> {
    match sa.mode {
        SaMode::Tunnel => {
            let outer = Outer {
                source: sa.local,
                destination: sa.remote,
                traffic_class: ip.traffic_class,
                flow_label: ip.flow_label,
                dont_fragment: ip.dont_fragment,
                identification,
            };
            let header = outer.to_bytes(sealed_len(packet.len())).ok_or(Cause::TooBig)?;
            let next_header = match ip.version {
                Version::V4 => protocol::IPV4,
                Version::V6 => protocol::IPV6,
            };
            Ok(Enclosed { payload: packet, next_header, header })
        }
        SaMode::Transport => {
            if ip.fragment != Fragment::Whole {
                return Err(Cause::Fragment);
            }
            let (header, payload) = packet.split_at_checked(ip.insertion.at).ok_or(Cause::MalformedPacket)?;
            let mut header = header.to_vec();
            let named_by = ip.insertion.named_by;
            let next_header = *header.get(named_by).ok_or(Cause::MalformedPacket)?;
            ip::rewrite(&mut header, ip.version, named_by, protocol::ESP, sealed_len(payload.len()))
                .ok_or(Cause::TooBig)?;
            Ok(Enclosed { payload, next_header, header })
        }
    }
}

/// The headers in front of received ESP.
#[derive(Debug)]
pub struct Envelope {
    header: Vec<u8>,
    version: Version,
    /// Where the header says that ESP follows.
    named_by: usize,
    traffic_class: u8,
}

impl Envelope {
    /// Takes a packet apart whose upper layer is ESP: headers and ESP.
    pub fn split(ip: &Ip, mut packet: Vec<u8>) -> (Envelope, Vec<u8>) {
        let esp = packet.split_off(ip.upper.at.min(packet.len()));
        let envelope = Envelope {
            header: packet,
            version: ip.version,
            named_by: ip.upper.named_by,
            traffic_class: ip.traffic_class,
        };
        (envelope, esp)
    }

    /// The clear packet; checked against the SA's selector, as RFC 4301, 5.2 wants.
    pub fn disclose(mut self, sa: &Sa, opened: Opened) -> Result<Vec<u8>, Cause> {
        let Opened { mut payload, next_header } = opened;
        if next_header == protocol::NO_NEXT {
            return Err(Cause::Dummy);
        }
        let mut packet = match sa.mode {
            SaMode::Tunnel => {
                let expected = match next_header {
                    protocol::IPV4 => Version::V4,
                    protocol::IPV6 => Version::V6,
                    _ => return Err(Cause::WrongNextHeader),
                };
                let inner = ip::parse(&payload).ok_or(Cause::BadInnerPacket)?;
                if inner.version != expected {
                    return Err(Cause::BadInnerPacket);
                }
                // What is behind the packet is there to hide its length (RFC 4303, 2.7).
                payload.truncate(inner.total_len);
                let mark =
                    ecn::decapsulate(inner.traffic_class, self.traffic_class).ok_or(Cause::Congestion)?;
                ip::set_ecn(&mut payload, inner.version, mark);
                payload
            }
            SaMode::Transport => {
                ip::rewrite(&mut self.header, self.version, self.named_by, next_header, payload.len())
                    .ok_or(Cause::BadInnerPacket)?;
                self.header.append(&mut payload);
                self.header
            }
        };
        let ip = ip::parse(&packet).ok_or(Cause::BadInnerPacket)?;
        packet.truncate(ip.total_len);
        match sa.selector.matches(&ip, &packet) {
            crate::selector::Match::Yes => Ok(packet),
            _ => Err(Cause::SelectorMismatch),
        }
    }
}
