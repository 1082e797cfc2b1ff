// SPDX-License-Identifier: Apache-2.0
//! IP protocol numbers and IPv6 next headers that matter here.

pub const HOP_BY_HOP: u8 = 0;
pub const IPV4: u8 = 4;
pub const TCP: u8 = 6;
pub const UDP: u8 = 17;
pub const DCCP: u8 = 33;
pub const IPV6: u8 = 41;
pub const ROUTING: u8 = 43;
pub const FRAGMENT: u8 = 44;
pub const ESP: u8 = 50;
pub const AH: u8 = 51;
pub const NO_NEXT: u8 = 59;
pub const DESTINATION_OPTIONS: u8 = 60;
pub const SCTP: u8 = 132;
pub const UDP_LITE: u8 = 136;

/// Whether the first four bytes of this protocol are source and destination port.
pub fn has_ports(protocol: u8) -> bool {
    matches!(protocol, TCP | UDP | DCCP | SCTP | UDP_LITE)
}
