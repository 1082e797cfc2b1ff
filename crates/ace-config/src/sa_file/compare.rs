// SPDX-License-Identifier: Apache-2.0
//! What no two SAs may have in common, and what they should not.

use std::collections::{HashMap, HashSet};
use std::hash::BuildHasher;
use std::net::IpAddr;

use ace_ipsec::model::{KeyUse, Protocol};
use ace_ipsec::{Direction, SaSpec};

use super::fields::{Fields, Report};

/// What an SA has that no other SA of the file may have, or should not, as numbers that mean nothing outside of this
/// process: name, SPI at its destination, selector, key of a counter.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Claims([Option<u64>; 4]);

impl Claims {
    /// Whether several SAs claim the same: a file with all of them has an error or a warning, but for the two ends of one
    /// SA in one file.
    pub fn collide<'c>(all: impl IntoIterator<Item = &'c Claims>) -> bool {
        let mut seen = HashSet::with_hasher(foldhash::fast::RandomState::default());
        all.into_iter().flat_map(|claims| claims.0).flatten().any(|claim| !seen.insert(claim))
    }
}

/// Makes [`Claims`]: those of one claimant can be compared.
#[derive(Clone, Default)]
pub struct Claimant(foldhash::quality::RandomState);

impl std::fmt::Debug for Claimant {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Claimant")
    }
}

impl Claimant {
    /// What an SA claims.
    pub fn of(&self, sa: &SaSpec) -> Claims {
        let outbound = sa.direction == Direction::Out;
        Claims([
            Some(self.0.hash_one((0, &sa.name))),
            Some(self.0.hash_one((1, place(sa)))),
            outbound.then(|| self.0.hash_one((2, sa.core, sa.if_id, &sa.selector))),
            sa.cipher.counts().then(|| self.0.hash_one(sa.key.as_bytes())),
        ])
    }
}

/// Where its packets arrive.
fn place(sa: &SaSpec) -> (Direction, IpAddr, Protocol, u32) {
    let destination = match sa.direction {
        Direction::In => sa.local,
        Direction::Out => sa.remote,
    };
    (sa.direction, destination, sa.protocol, sa.spi)
}

/// The SAs so far, by what is compared. There is no other copy of their keys.
#[derive(Default)]
pub struct Earlier {
    /// And where they stand.
    pub sas: Vec<(SaSpec, usize)>,
    claims: HashMap<u64, Vec<usize>>,
    claimant: Claimant,
}

impl Earlier {
    /// Compares the next SA with all before, and takes it.
    pub fn take(&mut self, report: &mut Report<'_>, fields: &Fields<'_>, sa: SaSpec) {
        let index = self.sas.len();
        let claims = self.claimant.of(&sa);
        let Claims([name, spi, selector, key]) = claims;
        if let Some((_, at)) = self.first(name, |other| other.name == sa.name) {
            let what = format!("is the name of the SA in line {} too", report.line(*at));
            fields.wrong(report, "name", &what, "a name of its own");
        }
        if let Some((other, at)) = self.first(spi, |other| place(other) == place(&sa)) {
            let line = report.line(*at);
            let (end, destination) = match sa.direction {
                Direction::In => ("local", sa.local),
                Direction::Out => ("remote", sa.remote),
            };
            let what = format!("and `{end}` {destination} are those of `{}` in line {line} too", other.name);
            fields.wrong(report, "spi", &what, "each pair of SPI and destination once");
        }
        self.counter_key(report, fields, &sa, key);
        let outbound = |other: &SaSpec| {
            other.direction == Direction::Out
                && (other.core, other.if_id) == (sa.core, sa.if_id)
                && other.selector == sa.selector
        };
        if let Some((other, at)) = self.first(selector, outbound) {
            let line = report.line(*at);
            let message = format!("never used: `{}` in line {line} has the same selector", other.name);
            report.warning(fields.at, fields.say(message));
        }
        claims.0.into_iter().flatten().for_each(|claim| self.claims.entry(claim).or_default().push(index));
        self.sas.push((sa, fields.at));
    }

    /// The first SA with a claim for which this holds as well: numbers alone may be the same by chance.
    fn first(&self, claim: Option<u64>, same: impl Fn(&SaSpec) -> bool) -> Option<&(SaSpec, usize)> {
        let all = self.claims.get(&claim?)?.iter().filter_map(|&other| self.sas.get(other));
        all.into_iter().find(|(other, _)| same(other))
    }

    /// A counter that comes twice under one key gives the plaintext away, whoever sends it.
    fn counter_key(&self, report: &mut Report<'_>, fields: &Fields<'_>, sa: &SaSpec, claim: Option<u64>) {
        let same = |other: &SaSpec| {
            other.key == sa.key && other.cipher.kind == sa.cipher.kind && !both_ends(other, sa)
        };
        let Some((other, _)) = self.first(claim, same) else { return };
        let at = fields.at_key("key");
        let what = if other.direction == sa.direction {
            "two senders must not share a counter-mode key"
        } else {
            "both directions must not share a counter-mode key"
        };
        let message = format!("`key` is that of `{}` too: {what} (RFC 3686, 7)", other.name);
        if sa.key_use == KeyUse::Fresh || other.key_use == KeyUse::Fresh {
            fields.error(report, at, format!("{message}; allowed: a key of its own, for `fresh_key = true`"));
        } else {
            report.warning(at, fields.say(message));
        }
    }
}

/// Whether these are the two ends of one SA in one file.
fn both_ends(a: &SaSpec, b: &SaSpec) -> bool {
    a.direction != b.direction && a.spi == b.spi && a.local == b.remote && a.remote == b.local
}
