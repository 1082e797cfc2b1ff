// SPDX-License-Identifier: Apache-2.0
//! How long packets may be on their way to the other end (RFC 4301, 8.2).

use std::collections::HashMap;
use std::net::IpAddr;

use super::Shard;
use crate::id::SaId;
use crate::model::{Protocol, SaMode, Time};
use crate::packet::ip::{self, Version};
use crate::packet::{ah, envelope};
use crate::sad::association::Half;
use crate::sad::{Association, Remote};

impl Shard {
    /// Outbound SAs with an SPI, each with its other end and the last number that it sent.
    pub fn outbound(&self, spi: u32, protocol: Protocol) -> Vec<(SaId, IpAddr, u64)> {
        let of = |(id, sa): (SaId, &Association)| match &sa.half {
            Half::Out(half) if sa.fixed.spi == spi && sa.fixed.protocol == protocol => {
                Some((id, sa.remote, half.sent))
            }
            _ => None,
        };
        self.sad.iter().filter_map(of).collect()
    }

    /// Says how long a packet of an outbound SA may be on its way, in bytes from its IP header as this makes it, and until
    /// when that is so. Longer ones that must not be divided are dropped ([`Cause::PathMtu`](crate::Cause::PathMtu)). False
    /// if as little is known already, or there is no such SA.
    pub fn narrow(&mut self, id: SaId, most: u16, until: Time) -> bool {
        let now = self.now;
        match self.sad.get_mut(id).map(|sa| &mut sa.half) {
            Some(Half::Out(half)) => half.narrow(most, now, until),
            _ => false,
        }
    }

    /// Outbound SAs to another end.
    pub fn outbound_to(&self, remote: IpAddr) -> Vec<SaId> {
        let of = |(id, sa): (SaId, &Association)| {
            (sa.remote == remote && matches!(sa.half, Half::Out(_))).then_some(id)
        };
        self.sad.iter().filter_map(of).collect()
    }

    /// What is known of an outbound SA's way, and until when that is believed, gives place to something else: what somebody
    /// has found out, or nothing while a longer packet is tried. What was known.
    pub fn replace_path(&mut self, id: SaId, path: Option<(u16, Time)>) -> Option<(u16, Time)> {
        match self.sad.get_mut(id).map(|sa| &mut sa.half) {
            Some(Half::Out(half)) => std::mem::replace(&mut half.path, path),
            _ => None,
        }
    }

    /// The other end of an SA.
    pub fn remote(&self, id: SaId) -> Option<IpAddr> {
        self.sad.get(id).map(|sa| sa.remote)
    }

    /// What went to and came from each other end, by SAs that are and that were.
    pub fn remotes(&self) -> HashMap<IpAddr, Remote> {
        self.sad.remotes()
    }

    /// Rules for what comes from inside whose packets find no SA; those that wait for a first packet are none.
    pub fn unserved(&self) -> usize {
        self.inside.unserved()
    }

    /// The longest packet like this one that an SA's way lets through, in bytes. `None`: nothing is known of the way.
    pub fn longest_inside(&self, id: SaId, packet: &[u8]) -> Option<u16> {
        let sa = self.sad.get(id)?;
        let Half::Out(half) = &sa.half else { return None };
        let most = usize::from(half.path_mtu(self.now)?);
        let ip = ip::parse(packet)?;
        let fixed = &*sa.fixed;
        let plan = envelope::plan(fixed.mode, sa.local, &ip, packet, 0).ok()?;
        let version = if sa.local.is_ipv4() { Version::V4 } else { Version::V6 };
        let sealed = |len: usize| match fixed.protocol {
            Protocol::Esp => fixed.transform.sealed_len(len),
            Protocol::Ah => ah::header_len(fixed.transform.icv_len, version) + len,
        };
        // Padding grows in steps; packets are never longer than what they become.
        let fits = |len: &usize| plan.at + sealed(*len) <= most;
        let payload = (0..most.saturating_sub(plan.at)).rev().find(fits)?;
        let headers = if fixed.mode == SaMode::Tunnel { 0 } else { plan.at };
        u16::try_from(headers + payload).ok()
    }
}
