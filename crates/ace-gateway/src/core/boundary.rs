// SPDX-License-Identifier: Apache-2.0
//! What is told to the core when it is made, and what it gives out.

use std::net::{IpAddr, SocketAddr};
use std::time::Duration;

use ace_config::gateway::{Encapsulation, Peer};
use ace_engine::Buffer;

use super::interfaces::Interfaces;
use crate::keys::Keys;

/// What the core has to know of a configuration.
#[derive(Clone, Debug)]
pub struct Settings {
    /// What ESP and AH are carried by.
    pub encapsulation: Encapsulation,
    /// With UDP: where the other ends are at first; whoever is not named is at `port` of an SA's `remote`.
    pub peers: Vec<Peer>,
    /// The longest packet inside.
    pub mtu: u16,
    /// Devices inside besides the one that is that long.
    pub interfaces: Interfaces,
    /// Packets of an SA may carry a mark of its own.
    pub marks: bool,
    /// Where peers listen that are not named.
    pub port: u16,
    /// Silence before a keepalive; `None`: none are sent.
    pub keepalive: Option<Duration>,
    /// Takes SAs and policies by XFRM; whether also those that need `allow_legacy`.
    pub xfrm: Option<bool>,
    /// The memory of keys; `None`: nothing is remembered, and keys are used once.
    pub keys: Option<Keys>,
}

/// What has to be sent.
#[derive(Debug, PartialEq, Eq)]
pub enum Outgoing {
    /// A clear packet, to the inside.
    Inside {
        /// By which device; 0: the one without a number.
        if_id: u32,
        /// From the first byte of its IP header.
        packet: Buffer,
    },
    /// A datagram: ESP, or a keepalive.
    Udp {
        /// Where it goes.
        to: SocketAddr,
        /// DSCP of the outer IP header and, in the low two bits, ECN (RFC 2474, 3; RFC 3168, 5).
        class: u8,
        /// No router may divide it.
        whole: bool,
        /// For the kernel's routing; 0: that of all.
        mark: u32,
        /// What stands behind the UDP header.
        payload: Buffer,
    },
    /// A whole IP packet with ESP or AH.
    Raw {
        /// The other end of the SA.
        to: IpAddr,
        /// For the kernel's routing; 0: that of all.
        mark: u32,
        /// From the first byte of the outer IP header.
        packet: Buffer,
    },
}
