// SPDX-License-Identifier: Apache-2.0
//! IP protocol numbers and IPv6 next headers that matter here.

/// IPv6 hop-by-hop options (RFC 8200, 4.3).
pub const HOP_BY_HOP: u8 = 0;
/// ICMP (RFC 792).
pub const ICMP: u8 = 1;
/// An IPv4 packet, as tunnels carry it (RFC 2003).
pub const IPV4: u8 = 4;
/// TCP (RFC 9293).
pub const TCP: u8 = 6;
/// UDP (RFC 768).
pub const UDP: u8 = 17;
/// DCCP (RFC 4340).
pub const DCCP: u8 = 33;
/// An IPv6 packet, as tunnels carry it (RFC 2473).
pub const IPV6: u8 = 41;
/// IPv6 routing header (RFC 8200, 4.4).
pub const ROUTING: u8 = 43;
/// IPv6 fragment header (RFC 8200, 4.5).
pub const FRAGMENT: u8 = 44;
/// Encapsulating Security Payload (RFC 4303).
pub const ESP: u8 = 50;
/// Authentication Header (RFC 4302).
pub const AH: u8 = 51;
/// ICMPv6 (RFC 4443).
pub const ICMPV6: u8 = 58;
/// Nothing follows (RFC 8200, 4.7); in ESP a dummy packet (RFC 4303, 2.6).
pub const NO_NEXT: u8 = 59;
/// IPv6 destination options (RFC 8200, 4.6).
pub const DESTINATION_OPTIONS: u8 = 60;
/// SCTP (RFC 9260).
pub const SCTP: u8 = 132;
/// UDP-Lite (RFC 3828).
pub const UDP_LITE: u8 = 136;

/// Whether the first four bytes of this protocol are source and destination port.
pub fn has_ports(protocol: u8) -> bool {
    matches!(protocol, TCP | UDP | DCCP | SCTP | UDP_LITE)
}

/// Whether the first two bytes of this protocol are a type and a code, by which selectors tell messages apart (RFC 4301,
/// 4.4.1.1).
pub fn has_types(protocol: u8) -> bool {
    matches!(protocol, ICMP | ICMPV6)
}
