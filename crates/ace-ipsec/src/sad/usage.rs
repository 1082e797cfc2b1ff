// SPDX-License-Identifier: Apache-2.0
//! What was used of an SA's lifetime. Several cores may charge one outbound SA.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::Relaxed};
use std::time::Duration;

use crate::model::{Lifetime, Time};

/// No packet yet.
const NEVER: u64 = u64::MAX;

#[derive(Debug)]
pub struct Usage {
    limit: Lifetime,
    unlimited: bool,
    installed: Time,
    bytes: AtomicU64,
    packets: AtomicU64,
    /// Nanoseconds of the caller's clock.
    first_use: AtomicU64,
    /// Each is reported once.
    soft_over: AtomicBool,
    hard_over: AtomicBool,
}

/// What a packet or the clock did to the lifetime.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Charge {
    Within,
    /// Still carried; the first one at or beyond a soft limit.
    SoftReached,
    /// Not carried, and nothing is from now on. `first` of its kind.
    Refused {
        first: bool,
    },
}

impl Usage {
    pub fn new(limit: Lifetime, now: Time) -> Self {
        Self {
            limit,
            unlimited: limit.is_unlimited(),
            installed: now,
            bytes: AtomicU64::new(0),
            packets: AtomicU64::new(0),
            first_use: AtomicU64::new(NEVER),
            soft_over: AtomicBool::new(false),
            hard_over: AtomicBool::new(false),
        }
    }

    /// The same use under other limits. What is over stays over.
    pub fn relimit(&mut self, limit: Lifetime) {
        self.limit = limit;
        self.unlimited = limit.is_unlimited() && !self.hard_over();
    }

    /// Counts a packet, unless it goes beyond a hard limit. The first that does ends the SA: a smaller one behind
    /// it is refused as well.
    pub fn charge(&self, bytes: usize, now: Time) -> Charge {
        if self.unlimited {
            return Charge::Within;
        }
        if self.hard_over.load(Relaxed) {
            return Charge::Refused { first: false };
        }
        let _ = self.first_use.compare_exchange(NEVER, nanos(now), Relaxed, Relaxed);
        let Lifetime { hard_bytes, hard_packets, soft_bytes, soft_packets, .. } = self.limit;
        let within = |counter: &AtomicU64, more: u64, limit: Option<u64>| {
            let step =
                |used: u64| used.checked_add(more).filter(|sum| limit.is_none_or(|limit| *sum <= limit));
            counter.fetch_update(Relaxed, Relaxed, step).map(|before| before + more).ok()
        };
        let Some(bytes) = within(&self.bytes, bytes as u64, hard_bytes) else { return self.end() };
        let Some(packets) = within(&self.packets, 1, hard_packets) else { return self.end() };
        let reached = |used: u64, limit: Option<u64>| limit.is_some_and(|limit| used >= limit);
        if (reached(bytes, soft_bytes) || reached(packets, soft_packets))
            && !self.soft_over.swap(true, Relaxed)
        {
            return Charge::SoftReached;
        }
        self.expire(now)
    }

    /// So much counts as carried: what another keeper of the SA says, or what it has carried elsewhere.
    pub fn carried(&self, bytes: u64, packets: u64) {
        self.bytes.store(bytes, Relaxed);
        self.packets.store(packets, Relaxed);
    }

    /// What the clock alone does.
    pub fn expire(&self, now: Time) -> Charge {
        let Lifetime { soft_seconds, hard_seconds, soft_use_seconds, hard_use_seconds, .. } = self.limit;
        if self.due(hard_seconds, hard_use_seconds).is_some_and(|at| at <= now) {
            return self.end();
        }
        let soft = self.due(soft_seconds, soft_use_seconds).is_some_and(|at| at <= now);
        if soft && !self.soft_over.swap(true, Relaxed) { Charge::SoftReached } else { Charge::Within }
    }

    /// Whether the first packet will set a clock going.
    pub fn awaits_first_packet(&self) -> bool {
        let Lifetime { soft_use_seconds, hard_use_seconds, .. } = self.limit;
        (soft_use_seconds.is_some() || hard_use_seconds.is_some()) && self.first_use.load(Relaxed) == NEVER
    }

    /// When the clock will next do something.
    pub fn deadline(&self) -> Option<Time> {
        if self.hard_over() {
            return None;
        }
        let hard = self.due(self.limit.hard_seconds, self.limit.hard_use_seconds);
        let soft = self.due(self.limit.soft_seconds, self.limit.soft_use_seconds);
        [hard, soft.filter(|_| !self.soft_over())].into_iter().flatten().min()
    }

    pub fn installed(&self) -> Time {
        self.installed
    }

    /// When the clock reaches the soft and the hard limit, as far as that is known before a first packet.
    pub fn ends(&self) -> (Option<Time>, Option<Time>) {
        let Lifetime { soft_seconds, hard_seconds, soft_use_seconds, hard_use_seconds, .. } = self.limit;
        (self.due(soft_seconds, soft_use_seconds), self.due(hard_seconds, hard_use_seconds))
    }

    /// The earlier of two limits, one since the installation and one since the first packet.
    fn due(&self, seconds: Option<u64>, use_seconds: Option<u64>) -> Option<Time> {
        let first_use = Some(self.first_use.load(Relaxed)).filter(|&at| at != NEVER);
        let after = |from: Time, seconds: u64| from.checked_add(Duration::from_secs(seconds));
        let installed = seconds.and_then(|seconds| after(self.installed, seconds));
        let used = first_use.zip(use_seconds);
        let used = used.and_then(|(at, seconds)| after(Duration::from_nanos(at), seconds));
        [installed, used].into_iter().flatten().min()
    }

    fn end(&self) -> Charge {
        Charge::Refused { first: !self.hard_over.swap(true, Relaxed) }
    }

    pub fn soft_over(&self) -> bool {
        self.soft_over.load(Relaxed)
    }

    /// True from the first packet that was refused, or the moment of a hard limit.
    pub fn hard_over(&self) -> bool {
        self.hard_over.load(Relaxed)
    }
}

fn nanos(now: Time) -> u64 {
    u64::try_from(now.as_nanos()).unwrap_or(NEVER - 1).min(NEVER - 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    const NOW: Time = Time::ZERO;

    fn at(seconds: u64) -> Time {
        Duration::from_secs(seconds)
    }

    #[test]
    fn packets() {
        let limit = Lifetime { soft_packets: Some(2), hard_packets: Some(3), ..Lifetime::default() };
        let usage = Usage::new(limit, NOW);
        let charges: Vec<_> = (0..5).map(|_| usage.charge(1000, NOW)).collect();
        assert_eq!(
            charges,
            [
                Charge::Within,
                Charge::SoftReached,
                Charge::Within,
                Charge::Refused { first: true },
                Charge::Refused { first: false },
            ]
        );
    }

    #[test]
    fn bytes_count_to_the_last_and_the_end_is_the_end() {
        let limit = Lifetime { soft_bytes: Some(10), hard_bytes: Some(20), ..Lifetime::default() };
        let usage = Usage::new(limit, NOW);
        assert_eq!(usage.charge(9, NOW), Charge::Within);
        assert_eq!(usage.charge(11, NOW), Charge::SoftReached, "20 bytes are allowed");
        assert_eq!(usage.charge(0, NOW), Charge::Within);
        assert_eq!(usage.charge(1, NOW), Charge::Refused { first: true });
        assert_eq!(usage.charge(0, NOW), Charge::Refused { first: false }, "a smaller one goes no more");
    }

    #[test]
    fn seconds_since_installed() {
        let limit = Lifetime { soft_seconds: Some(5), hard_seconds: Some(7), ..Lifetime::default() };
        let usage = Usage::new(limit, at(100));
        assert_eq!(usage.deadline(), Some(at(105)));
        assert_eq!((usage.installed(), usage.ends()), (at(100), (Some(at(105)), Some(at(107)))));
        assert_eq!(usage.expire(at(104)), Charge::Within);
        assert_eq!(usage.expire(at(105)), Charge::SoftReached);
        assert_eq!(usage.deadline(), Some(at(107)));
        assert_eq!(usage.charge(1, at(106)), Charge::Within);
        assert_eq!(usage.charge(1, at(107)), Charge::Refused { first: true });
        assert_eq!(usage.deadline(), None);
    }

    #[test]
    fn seconds_since_the_first_packet() {
        let limit = Lifetime { hard_use_seconds: Some(3), ..Lifetime::default() };
        let usage = Usage::new(limit, NOW);
        assert_eq!((usage.deadline(), usage.expire(at(1000))), (None, Charge::Within));
        assert_eq!(usage.charge(1, at(1000)), Charge::Within);
        assert_eq!(usage.charge(1, at(1002)), Charge::Within);
        assert_eq!(usage.deadline(), Some(at(1003)));
        assert_eq!(usage.expire(at(1003)), Charge::Refused { first: true });
    }

    #[test]
    fn cores_share_a_limit() {
        let usage = Usage::new(Lifetime { hard_packets: Some(10_000), ..Lifetime::default() }, NOW);
        let carried = std::thread::scope(|scope| {
            let count = || (0..5_000).filter(|_| usage.charge(1, NOW) == Charge::Within).count();
            let threads: Vec<_> = (0..4).map(|_| scope.spawn(count)).collect();
            threads.into_iter().map(|thread| thread.join().unwrap()).sum::<usize>()
        });
        assert_eq!(carried, 10_000);
    }
}
