// SPDX-License-Identifier: Apache-2.0
//! Passes that wait for a slot, by set and key: those of one key go together.

use std::collections::{HashMap, VecDeque};

/// The key of what has none.
pub const NO_KEY: u64 = u64::MAX;
/// A group that waits for so many decisions goes first.
const PATIENCE: u64 = 64;

/// Passes under one set and key.
#[derive(Debug)]
pub struct Group {
    pub set: usize,
    pub key: u64,
    /// Jobs, by their place in the engine.
    pub jobs: VecDeque<usize>,
    /// Since which decision something waits.
    pub since: u64,
}

/// All that wait.
#[derive(Debug, Default)]
pub struct Groups {
    groups: HashMap<(usize, u64), Group>,
    /// Those in which something waits, in the order in which they are asked.
    ready: VecDeque<(usize, u64)>,
    /// Decisions so far.
    pub now: u64,
}

/// How soon a group can go: the less the sooner.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Cost {
    /// Set and key are there.
    Nothing,
    /// The set is there.
    Key,
    /// The set goes to where nothing is.
    Load,
    /// The slot has to come to its end.
    Drain,
    /// Not now.
    Never,
}

impl Groups {
    /// A job waits, behind those of its group or in front of them.
    pub fn add(&mut self, set: usize, key: u64, job: usize, in_front: bool) {
        let since = self.now;
        let new = || Group { set, key, jobs: VecDeque::new(), since };
        let group = self.groups.entry((set, key)).or_insert_with(new);
        if group.jobs.is_empty() {
            group.since = since;
            self.ready.push_back((set, key));
        }
        match in_front {
            true => group.jobs.push_front(job),
            false => group.jobs.push_back(job),
        }
    }

    /// The group that goes next, by what each would cost. One that has waited for long goes whatever it costs.
    pub fn choose(&mut self, cost: impl Fn(&Group) -> Cost) -> Option<(usize, u64, Cost)> {
        self.now += 1;
        let mut best: Option<(Cost, usize)> = None;
        for (at, key) in self.ready.iter().enumerate() {
            let Some(group) = self.groups.get(key) else { continue };
            let own = cost(group);
            if own == Cost::Never {
                continue;
            }
            if self.now - group.since > PATIENCE {
                best = Some((own, at));
                break;
            }
            if best.is_none_or(|(other, _)| own < other) {
                best = Some((own, at));
            }
        }
        let (cost, at) = best?;
        let (set, key) = *self.ready.get(at)?;
        Some((set, key, cost))
    }

    /// The next job of a group.
    pub fn next(&mut self, set: usize, key: u64) -> Option<usize> {
        self.groups.get(&(set, key))?.jobs.front().copied()
    }

    /// The next job of a group has gone.
    pub fn gone(&mut self, set: usize, key: u64) {
        let Some(group) = self.groups.get_mut(&(set, key)) else { return };
        group.jobs.pop_front();
        if group.jobs.is_empty() {
            self.groups.remove(&(set, key));
            self.ready.retain(|other| *other != (set, key));
        }
    }

    /// A group has had its turn: others are asked first.
    pub fn turn(&mut self, set: usize, key: u64) {
        let now = self.now;
        if let Some(group) = self.groups.get_mut(&(set, key)) {
            group.since = now;
            self.ready.retain(|other| *other != (set, key));
            self.ready.push_back((set, key));
        }
    }

    /// Takes all jobs out for which this is so.
    pub fn take(&mut self, of: impl Fn(&Group) -> bool) -> Vec<usize> {
        let mut jobs = Vec::new();
        self.groups.retain(|_, group| {
            let out = of(group);
            if out {
                jobs.extend(group.jobs.drain(..));
            }
            !out
        });
        self.ready.retain(|key| self.groups.contains_key(key));
        jobs
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_cheapest_group_goes_and_nobody_waits_forever() {
        let mut groups = Groups::default();
        for job in 0..1000 {
            groups.add(0, 1, job, false);
        }
        groups.add(1, 2, 1000, false);
        let cost = |group: &Group| if group.set == 0 { Cost::Nothing } else { Cost::Drain };
        let mut turns = 0;
        loop {
            let (set, key, _) = groups.choose(cost).expect("something waits");
            if set == 1 {
                break;
            }
            assert!(groups.next(set, key).is_some());
            groups.gone(set, key);
            groups.turn(set, key);
            turns += 1;
        }
        assert!((50..80).contains(&turns), "{turns}");
        assert_eq!(groups.take(|_| true).len(), 1001 - turns);
        assert_eq!(groups.choose(|_| Cost::Nothing), None);
    }
}
