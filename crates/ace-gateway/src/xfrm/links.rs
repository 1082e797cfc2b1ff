// SPDX-License-Identifier: Apache-2.0
//! Which SAs a template may be for and which policies an SA may be for, without a walk over all: by request id, else by both
//! ends. What is found is a little more than what fits.

use std::collections::{BTreeSet, HashMap};
use std::hash::Hash;
use std::net::IpAddr;

use super::shapes::{SaKey, Template};

/// Source and destination.
type Ends = (IpAddr, IpAddr);

/// Sets by what all in them have in common.
#[derive(Debug)]
struct Sets<K, V>(HashMap<K, BTreeSet<V>>);

impl<K, V> Default for Sets<K, V> {
    fn default() -> Self {
        Self(HashMap::new())
    }
}

impl<K: Eq + Hash, V: Ord + Copy> Sets<K, V> {
    fn add(&mut self, key: K, value: V) {
        self.0.entry(key).or_default().insert(value);
    }

    fn remove(&mut self, key: K, value: V) {
        if let Some(set) = self.0.get_mut(&key) {
            set.remove(&value);
            if set.is_empty() {
                self.0.remove(&key);
            }
        }
    }

    fn get<'a>(&'a self, key: &K) -> impl Iterator<Item = V> + use<'a, K, V> {
        self.0.get(key).into_iter().flatten().copied()
    }
}

/// SAs.
#[derive(Debug, Default)]
pub struct SaLinks {
    by_reqid: Sets<u32, SaKey>,
    by_ends: Sets<Ends, SaKey>,
    all: BTreeSet<SaKey>,
}

impl SaLinks {
    pub fn add(&mut self, key: SaKey, reqid: u32, ends: Ends) {
        self.by_reqid.add(reqid, key);
        self.by_ends.add(ends, key);
        self.all.insert(key);
    }

    pub fn remove(&mut self, key: SaKey, reqid: u32, ends: Ends) {
        self.by_reqid.remove(reqid, key);
        self.by_ends.remove(ends, key);
        self.all.remove(&key);
    }

    /// Those that a template may be for.
    pub fn of(&self, wants: &Template) -> Vec<SaKey> {
        match (wants.reqid, wants.source, wants.destination) {
            (0, Some(source), Some(destination)) => self.by_ends.get(&(source, destination)).collect(),
            (0, ..) => self.all.iter().copied().collect(),
            (reqid, ..) => self.by_reqid.get(&reqid).collect(),
        }
    }
}

/// Policies that are to protect, by index.
#[derive(Debug, Default)]
pub struct PolicyLinks {
    /// With their direction.
    by_reqid: Sets<(u8, u32), u32>,
    by_ends: Sets<(u8, Ends), u32>,
    /// For SAs of any request id and of some ends.
    rest: Sets<u8, u32>,
}

impl PolicyLinks {
    pub fn add(&mut self, index: u32, way: u8, wants: &Template) {
        match (wants.reqid, wants.source, wants.destination) {
            (0, Some(source), Some(destination)) => self.by_ends.add((way, (source, destination)), index),
            (0, ..) => self.rest.add(way, index),
            (reqid, ..) => self.by_reqid.add((way, reqid), index),
        }
    }

    pub fn remove(&mut self, index: u32, way: u8, wants: &Template) {
        match (wants.reqid, wants.source, wants.destination) {
            (0, Some(source), Some(destination)) => self.by_ends.remove((way, (source, destination)), index),
            (0, ..) => self.rest.remove(way, index),
            (reqid, ..) => self.by_reqid.remove((way, reqid), index),
        }
    }

    /// Those that may be for an SA, in the order in which they came.
    pub fn of(&self, way: u8, reqid: u32, ends: Ends) -> Vec<u32> {
        let named = (reqid != 0).then(|| self.by_reqid.get(&(way, reqid)));
        let mut all: Vec<u32> = named
            .into_iter()
            .flatten()
            .chain(self.by_ends.get(&(way, ends)))
            .chain(self.rest.get(&way))
            .collect();
        all.sort_unstable();
        all
    }
}
