// SPDX-License-Identifier: Apache-2.0
//! What no two SAs may have in common, and what they should not.

use std::collections::HashMap;
use std::hash::BuildHasher;
use std::net::IpAddr;

use ace_ipsec::model::{KeyUse, Protocol};
use ace_ipsec::{Direction, SaSpec, Selector};

use super::fields::{Fields, Report};

/// The SAs so far, by what is compared. Keys are found by a hash that means nothing outside, so that there is no
/// other copy of them.
#[derive(Default)]
pub struct Earlier {
    /// And where they stand.
    pub sas: Vec<(SaSpec, usize)>,
    names: HashMap<String, usize>,
    spis: HashMap<(Direction, IpAddr, Protocol, u32), usize>,
    selectors: HashMap<Selector, usize>,
    counter_keys: HashMap<u64, Vec<usize>>,
    hasher: foldhash::quality::RandomState,
}

impl Earlier {
    /// Compares the next SA with all before, and takes it.
    pub fn take(&mut self, report: &mut Report<'_>, fields: &Fields<'_>, sa: SaSpec) {
        let index = self.sas.len();
        if let Some((_, at)) = self.names.get(&sa.name).and_then(|&other| self.sas.get(other)) {
            let what = format!("is the name of the SA in line {} too", report.line(*at));
            fields.wrong(report, "name", &what, "a name of its own");
        }
        let (end, destination) = match sa.direction {
            Direction::In => ("local", sa.local),
            Direction::Out => ("remote", sa.remote),
        };
        let spi = (sa.direction, destination, sa.protocol, sa.spi);
        if let Some((other, at)) = self.spis.get(&spi).and_then(|&other| self.sas.get(other)) {
            let line = report.line(*at);
            let what = format!("and `{end}` {destination} are those of `{}` in line {line} too", other.name);
            fields.wrong(report, "spi", &what, "each pair of SPI and destination once");
        }
        if sa.cipher.counts() {
            self.counter_key(report, fields, &sa);
            self.counter_keys.entry(self.hasher.hash_one(sa.key.as_bytes())).or_default().push(index);
        }
        if sa.direction == Direction::Out {
            if let Some((other, at)) = self.selectors.get(&sa.selector).and_then(|&other| self.sas.get(other))
            {
                let line = report.line(*at);
                let message = format!("never used: `{}` in line {line} has the same selector", other.name);
                report.warning(fields.at, fields.say(message));
            }
            self.selectors.entry(sa.selector.clone()).or_insert(index);
        }
        self.names.entry(sa.name.clone()).or_insert(index);
        self.spis.entry(spi).or_insert(index);
        self.sas.push((sa, fields.at));
    }

    /// A counter that comes twice under one key gives the plaintext away, whoever sends it.
    fn counter_key(&self, report: &mut Report<'_>, fields: &Fields<'_>, sa: &SaSpec) {
        let candidates = self.counter_keys.get(&self.hasher.hash_one(sa.key.as_bytes()));
        let others = candidates.into_iter().flatten().filter_map(|&other| self.sas.get(other));
        let same = |other: &SaSpec| other.key == sa.key && other.cipher.kind == sa.cipher.kind;
        let Some((other, _)) = others.into_iter().find(|(other, _)| same(other) && !both_ends(other, sa))
        else {
            return;
        };
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
