// SPDX-License-Identifier: Apache-2.0
//! How long packets to an end may be, found out with packets alone (RFC 4821; RFC 8899, 5). Lengths are of packets inside.

use std::time::Duration;

/// So many probes of a length in a row that come to nothing say something of the length, while short ones are answered: one
/// alone may be lost for any reason.
const LOST: u32 = 3;
/// Nearer the search does not go.
const NEAR: u16 = 8;
/// Before a longer packet is tried again.
const RAISE: Duration = Duration::from_secs(600);

/// What a search has come to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Found {
    /// Nothing new.
    Nothing,
    /// Packets go through up to the length that was tried; true: there is no longer one.
    Through(bool),
    /// Longer ones than the shortest are swallowed, and nobody knows yet from which length on.
    Swallowed,
}

pub struct Search {
    shortest: u16,
    longest: u16,
    /// Goes through.
    good: u16,
    /// Does not.
    bad: Option<u16>,
    /// When that was found out.
    since: Duration,
    trying: u16,
    lost: u32,
}

impl Search {
    /// The longest is tried first.
    pub fn new(shortest: u16, longest: u16) -> Self {
        let shortest = shortest.min(longest);
        Self { shortest, longest, good: shortest, bad: None, since: Duration::ZERO, trying: longest, lost: 0 }
    }

    /// What to try next.
    pub fn trying(&self) -> u16 {
        self.trying
    }

    /// Whether there is more to find out now.
    pub fn is_on(&self) -> bool {
        self.lost > 0 || self.trying != self.good
    }

    /// One of the length that is tried came through, or did not while a short one did.
    pub fn tried(&mut self, now: Duration, came: bool) -> Found {
        if came {
            self.lost = 0;
            self.good = self.trying;
            if self.bad.is_some() && now.saturating_sub(self.since) >= RAISE {
                self.bad = None;
            }
            self.next();
            return Found::Through(self.good == self.longest);
        }
        self.lost += 1;
        if self.lost < LOST {
            return Found::Nothing;
        }
        self.lost = 0;
        let first = self.bad.is_none() || self.trying <= self.good;
        if self.trying <= self.good {
            self.good = self.shortest;
        }
        (self.bad, self.since) = (Some(self.trying), now);
        self.next();
        if first { Found::Swallowed } else { Found::Nothing }
    }

    fn next(&mut self) {
        self.trying = match self.bad {
            None => self.longest,
            Some(bad) if bad.saturating_sub(self.good) <= NEAR => self.good,
            Some(bad) => self.good + (bad - self.good) / 2,
        };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Tries until there is nothing more to find out. The tries, and what was found.
    fn run(search: &mut Search, now: Duration, way: u16) -> (u32, Vec<Found>) {
        let (mut count, mut found) = (0, Vec::new());
        loop {
            count += 1;
            let trying = search.trying();
            found.push(search.tried(now, trying <= way));
            if !search.is_on() {
                return (count, found);
            }
            assert!(count < 100, "{trying}");
        }
    }

    #[test]
    fn every_length_of_a_way_is_found() {
        for way in 512..=1400 {
            let mut search = Search::new(512, 1400);
            let (count, found) = run(&mut search, Duration::ZERO, way);
            let best = search.trying();
            assert!(best <= way && (way - best <= NEAR || way == 1400), "{best} of {way}");
            assert!(count <= 30, "{count}");
            assert_eq!(found.contains(&Found::Swallowed), way < 1400);
            assert_eq!(found.last() == Some(&Found::Through(true)), way == 1400);
        }
    }

    #[test]
    fn a_way_that_changes_is_found_again_and_one_loss_says_nothing() {
        let mut search = Search::new(512, 1400);
        run(&mut search, Duration::ZERO, 1400);
        assert_eq!(search.tried(Duration::ZERO, false), Found::Nothing);
        assert_eq!((search.tried(Duration::ZERO, true), search.is_on()), (Found::Through(true), false));
        // It becomes shorter.
        let (_, found) = run(&mut search, Duration::ZERO, 1200);
        assert!(found.contains(&Found::Swallowed) && (1192..=1200).contains(&search.trying()));
        // Shorter still, which is seen at what went through before.
        let (_, found) = run(&mut search, Duration::ZERO, 700);
        assert!(found.contains(&Found::Swallowed) && (692..=700).contains(&search.trying()));
        // Longer again, which is tried when some time has gone.
        assert_eq!(run(&mut search, RAISE / 2, 1400).0, 1);
        let (_, found) = run(&mut search, RAISE * 2, 1400);
        assert_eq!(found.last(), Some(&Found::Through(true)));
    }
}
