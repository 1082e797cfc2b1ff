// SPDX-License-Identifier: Apache-2.0
//! What was decided about the flows seen last. Bounded: a flow takes the place of another.

use std::hash::BuildHasher;
use std::net::IpAddr;

use super::Decision;
use crate::model::Flow;

/// Flows; a power of two.
const PLACES: usize = 4096;

#[derive(Clone, Copy, Debug)]
struct Place {
    flow: Flow,
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
    pub fn get(&self, flow: &Flow) -> Option<Decision> {
        let place = self.places.get(self.at(flow))?;
        (place.stamp == self.stamp && place.flow == *flow).then_some(place.decision)
    }

    pub fn put(&mut self, flow: &Flow, decision: Decision) {
        if self.places.is_empty() {
            let nothing = Place { flow: *flow, decision, stamp: 0 };
            self.places = vec![nothing; PLACES];
        }
        let (at, stamp) = (self.at(flow), self.stamp);
        if let Some(place) = self.places.get_mut(at) {
            *place = Place { flow: *flow, decision, stamp };
        }
    }

    /// Forgets all.
    pub fn forget(&mut self) {
        self.stamp += 1;
    }

    fn at(&self, flow: &Flow) -> usize {
        let bits = |address| match address {
            IpAddr::V4(address) => u128::from(u32::from(address)),
            IpAddr::V6(address) => u128::from(address),
        };
        let (source, destination) = flow.ports.unwrap_or_default();
        let rest = (u32::from(source) << 16 | u32::from(destination), flow.protocol);
        self.hasher.hash_one((bits(flow.source), bits(flow.destination), rest)) as usize % PLACES
    }
}
