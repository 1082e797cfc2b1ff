// SPDX-License-Identifier: Apache-2.0
//! Headers, in place: what ESP or AH goes behind on the way out, and what becomes of the packet on the way in.

use std::net::IpAddr;
use std::ops::Range;

use ace_engine::Buffer;

use super::ip::{self, Fragment, Ip, Outer, Version};
use super::{ecn, protocol};
use crate::counters::Cause;
use crate::model::{Flow, Headers, Protocol, SaMode};

/// Where the bytes of a packet will be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Plan {
    /// Bytes of IP headers in front of ESP or AH.
    pub at: usize,
    /// Bytes that are enclosed.
    pub payload_len: usize,
    /// What they are.
    pub next_header: u8,
}

/// Looks whether a packet can be enclosed, and how. Changes nothing. A tunnel's payload is at least `least` bytes long.
///
/// # Errors
/// The cause for which it cannot.
#[inline]
pub fn plan(mode: SaMode, local: IpAddr, ip: &Ip, packet: &[u8], least: u16) -> Result<Plan, Cause> {
    match mode {
        SaMode::Tunnel => Ok(Plan {
            at: if local.is_ipv4() { ip::IPV4_MIN } else { ip::IPV6_LEN },
            payload_len: packet.len().max(usize::from(least)),
            next_header: match ip.version {
                Version::V4 => protocol::IPV4,
                Version::V6 => protocol::IPV6,
            },
        }),
        SaMode::Transport if ip.fragment != Fragment::Whole => Err(Cause::Fragment),
        SaMode::Transport => Ok(Plan {
            at: ip.insertion.at,
            payload_len: packet.len().checked_sub(ip.insertion.at).ok_or(Cause::MalformedPacket)?,
            next_header: *packet.get(ip.insertion.named_by).ok_or(Cause::MalformedPacket)?,
        }),
    }
}

impl Plan {
    /// Bytes of the packet that is made, and whether no router may divide it, which is asked for where it is too long.
    #[inline]
    pub fn is_too_long(
        &self,
        mode: SaMode,
        headers: &Headers,
        ip: &Ip,
        sealed_len: usize,
        most: u16,
    ) -> bool {
        let whole = ip.must_stay_whole() && (mode == SaMode::Transport || headers.dont_fragment);
        whole && self.at + sealed_len > usize::from(most)
    }

    /// Whether headers and so many bytes of ESP or AH are no longer than an IP packet can be.
    pub fn fits(&self, mode: SaMode, local: IpAddr, ip: &Ip, sealed_len: usize) -> bool {
        let v4 = match mode {
            SaMode::Tunnel => local.is_ipv4(),
            SaMode::Transport => ip.version == Version::V4,
        };
        let counted = self.at + sealed_len - if v4 { 0 } else { ip::IPV6_LEN };
        counted <= usize::from(u16::MAX)
    }
}

/// What an enclosing header says.
#[derive(Clone, Copy, Debug)]
pub struct Enclose<'a> {
    pub mode: SaMode,
    pub protocol: Protocol,
    pub local: &'a IpAddr,
    pub remote: &'a IpAddr,
    pub headers: &'a Headers,
    /// Goes to an outer IPv4 header.
    pub identification: u16,
    /// Bytes to leave free between the headers and the payload.
    pub gap: usize,
    /// Bytes behind the headers when all is done.
    pub sealed_len: usize,
}

/// Puts finished headers and a gap in front of what is enclosed.
///
/// # Errors
/// [`Cause::TooBig`].
#[inline]
pub fn enclose(buffer: &mut Buffer, ip: &Ip, plan: &Plan, with: &Enclose<'_>) -> Result<(), Cause> {
    match with.mode {
        SaMode::Tunnel => {
            let outer = Outer {
                source: with.local,
                destination: with.remote,
                traffic_class: with.headers.outer_class(ip.traffic_class),
                flow_label: ip.flow_label,
                dont_fragment: with.headers.dont_fragment && ip.must_stay_whole(),
                identification: with.identification,
                protocol: with.protocol.number(),
            };
            // Behind the packet, before the padding: its own length says where it ends (RFC 4303, 2.7).
            let padding = plan.payload_len.saturating_sub(buffer.len());
            buffer.push_back(padding).fill(0);
            buffer.push_front(plan.at + with.gap);
            let header = buffer.get_mut(..plan.at).ok_or(Cause::TooBig)?;
            outer.write(header, with.sealed_len).ok_or(Cause::TooBig)
        }
        SaMode::Transport => {
            buffer.push_front(with.gap);
            buffer.copy_within(with.gap..with.gap + plan.at, 0);
            let header = buffer.get_mut(..plan.at).ok_or(Cause::MalformedPacket)?;
            let number = with.protocol.number();
            ip::rewrite(header, ip.version, ip.insertion.named_by, number, with.sealed_len)
                .ok_or(Cause::TooBig)
        }
    }
}

/// What has to be remembered of the headers in front of received ESP or AH.
#[derive(Clone, Copy, Debug)]
pub struct Envelope {
    /// Where ESP or AH starts.
    pub at: usize,
    pub version: Version,
    /// Where the header says what follows.
    named_by: usize,
    traffic_class: u8,
}

impl Envelope {
    /// Of a packet that is being sealed.
    #[inline]
    pub fn around(at: usize, version: Version) -> Self {
        Self { at, version, named_by: 0, traffic_class: 0 }
    }

    /// Of a packet whose upper layer is ESP or AH.
    #[inline]
    pub fn of(ip: &Ip) -> Self {
        Self {
            at: ip.upper.at,
            version: ip.version,
            named_by: ip.upper.named_by,
            traffic_class: ip.traffic_class,
        }
    }

    /// Makes the clear packet of an opened one; checked against the SA's selector, as RFC 4301, 5.2 wants.
    ///
    /// # Errors
    /// The cause for which it must not leave.
    pub fn disclose(
        &self,
        buffer: &mut Buffer,
        mode: SaMode,
        headers: &Headers,
        payload: Range<usize>,
        next_header: u8,
        lets_in: impl FnOnce(&Flow) -> bool,
    ) -> Result<(), Cause> {
        if next_header == protocol::NO_NEXT {
            return Err(Cause::Dummy);
        }
        buffer.truncate(payload.end);
        let ip = match mode {
            SaMode::Tunnel => {
                let expected = match next_header {
                    protocol::IPV4 => Version::V4,
                    protocol::IPV6 => Version::V6,
                    _ => return Err(Cause::WrongNextHeader),
                };
                buffer.pop_front(payload.start);
                let inner = ip::parse(buffer).ok_or(Cause::BadInnerPacket)?;
                if inner.version != expected {
                    return Err(Cause::BadInnerPacket);
                }
                let mark = match headers.ecn {
                    true => ecn::decapsulate(inner.traffic_class, self.traffic_class),
                    false => Some(inner.traffic_class & ecn::MASK),
                };
                let mark = mark.ok_or(Cause::Congestion)?;
                let class = if headers.dscp { self.traffic_class } else { inner.traffic_class };
                ip::set_traffic_class(buffer, inner.version, class & !ecn::MASK | mark);
                inner
            }
            SaMode::Transport => {
                let gap = payload.start.checked_sub(self.at).ok_or(Cause::BadInnerPacket)?;
                buffer.copy_within(..self.at, gap);
                buffer.pop_front(gap);
                let header = buffer.get_mut(..self.at).ok_or(Cause::BadInnerPacket)?;
                ip::rewrite(header, self.version, self.named_by, next_header, payload.len())
                    .ok_or(Cause::BadInnerPacket)?;
                ip::parse(buffer).ok_or(Cause::BadInnerPacket)?
            }
        };
        // What is behind the packet is there to hide its length (RFC 4303, 2.7).
        buffer.truncate(ip.total_len);
        if lets_in(&ip.flow(buffer)) { Ok(()) } else { Err(Cause::SelectorMismatch) }
    }
}
