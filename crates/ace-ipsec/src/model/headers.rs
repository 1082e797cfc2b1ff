// SPDX-License-Identifier: Apache-2.0
//! What a tunnel does with fields of headers (RFC 4301, 5.1.2; RFC 6040), and how long its packets are (RFC 4303, 2.7).

use serde::Serialize;

use super::{Direction, Protocol, SaMode};

/// What becomes of headers in a tunnel.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize)]
pub struct Headers {
    /// Congestion marks go from the inner header to the outer one and come back (RFC 6040). Without it the outer header has
    /// none, and inbound the inner one stays as it is.
    pub ecn: bool,
    /// DSCP is copied: outbound from the inner header to the outer one, inbound from the outer header to the inner one.
    pub dscp: bool,
    /// "Don't fragment" of an inner IPv4 header goes to the outer one. Without it routers may fragment all packets.
    pub dont_fragment: bool,
    /// Outbound ESP: packets inside are padded to so many bytes, so that nobody sees how long they are.
    pub tfc_padding: u16,
}

impl Headers {
    /// What RFC 4301 has for a direction: DSCP is copied on the way out alone.
    pub fn of(direction: Direction) -> Self {
        Self { ecn: true, dscp: direction == Direction::Out, dont_fragment: true, tfc_padding: 0 }
    }

    /// Whether an SA can have them.
    pub fn fit(self, direction: Direction, mode: SaMode, protocol: Protocol) -> bool {
        let usual = Self { tfc_padding: 0, ..self } == Self::of(direction);
        let padded = self.tfc_padding != 0;
        (usual || mode == SaMode::Tunnel)
            && (!padded || mode == SaMode::Tunnel && protocol == Protocol::Esp && direction == Direction::Out)
    }

    /// DSCP and congestion marks of an outer header, by those of the inner one.
    #[inline]
    pub fn outer_class(self, inner: u8) -> u8 {
        let dscp = if self.dscp { 0xfc } else { 0 };
        let ecn = if self.ecn { 0x03 } else { 0 };
        inner & (dscp | ecn)
    }
}
