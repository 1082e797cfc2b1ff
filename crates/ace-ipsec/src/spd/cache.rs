// SPDX-License-Identifier: Apache-2.0
//! What was decided about the flows seen last. Bounded: a flow takes the place of another.

use std::hash::BuildHasher;
use std::net::IpAddr;

use super::Decision;
use crate::model::Flow;

/// Flows; a power of two.
const PLACES: usize = 4096;

/// A flow in words that are hashed and compared at once: IPv4 addresses in one, IPv6 addresses in four; family,
/// protocol and ports in the last.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Key {
    addresses: [u64; 4],
    rest: u64,
    if_id: u32,
}

impl Key {
    #[inline]
    fn of(if_id: u32, flow: &Flow) -> Self {
        let (source_port, destination_port) = flow.ports.unwrap_or_default();
        // Where there are ports and where there are none; 9 bits, because no protocol is none of 256.
        let shown = u64::from(flow.ports.is_some()) << 41;
        let protocol = flow.protocol.map_or(256, u64::from) << 32;
        let rest = shown | protocol | u64::from(source_port) << 16 | u64::from(destination_port);
        let halves = |address: u128| [(address >> 64) as u64, address as u64];
        let family = |address: &IpAddr| u64::from(address.is_ipv6());
        match (&flow.source, &flow.destination) {
            (IpAddr::V4(source), IpAddr::V4(destination)) => {
                let both = u64::from(u32::from(*source)) << 32 | u64::from(u32::from(*destination));
                Self { addresses: [both, 0, 0, 0], rest, if_id }
            }
            (source, destination) => {
                let [a, b] = halves(bits(source));
                let [c, d] = halves(bits(destination));
                let families = 1 << 62 | family(source) << 61 | family(destination) << 60;
                Self { addresses: [a, b, c, d], rest: rest | families, if_id }
            }
        }
    }
}

fn bits(address: &IpAddr) -> u128 {
    match address {
        IpAddr::V4(address) => u128::from(u32::from(*address)),
        IpAddr::V6(address) => u128::from(*address),
    }
}

#[derive(Clone, Copy, Debug)]
struct Place {
    key: Key,
    decision: Decision,
    /// Of another stamp than the cache's: nothing is here.
    stamp: u64,
}

/// Which rule is for which flow. A change of the rules empties it.
#[derive(Debug)]
pub struct FlowCache {
    /// Empty until the first flow.
    places: Vec<Place>,
    stamp: u64,
    /// Nobody outside knows which flows meet in a place.
    hasher: foldhash::fast::RandomState,
}

impl Default for FlowCache {
    fn default() -> Self {
        Self { places: Vec::new(), stamp: 1, hasher: foldhash::fast::RandomState::default() }
    }
}

impl FlowCache {
    #[inline]
    pub fn get(&self, if_id: u32, flow: &Flow) -> Option<Decision> {
        let key = Key::of(if_id, flow);
        let place = self.places.get(self.at(&key))?;
        (place.stamp == self.stamp && place.key == key).then_some(place.decision)
    }

    pub fn put(&mut self, if_id: u32, flow: &Flow, decision: Decision) {
        let key = Key::of(if_id, flow);
        if self.places.is_empty() {
            self.places = vec![Place { key, decision, stamp: 0 }; PLACES];
        }
        let (at, stamp) = (self.at(&key), self.stamp);
        if let Some(place) = self.places.get_mut(at) {
            *place = Place { key, decision, stamp };
        }
    }

    /// Forgets all.
    pub fn forget(&mut self) {
        self.stamp += 1;
    }

    #[inline]
    fn at(&self, key: &Key) -> usize {
        let [a, b, c, d] = key.addresses;
        let hash = match b | c | d | u64::from(key.if_id) {
            0 => self.hasher.hash_one((a, key.rest)),
            _ => self.hasher.hash_one((a, b, c, d, key.rest, key.if_id)),
        };
        hash as usize % PLACES
    }
}
