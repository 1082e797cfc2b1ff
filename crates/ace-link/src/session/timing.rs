// SPDX-License-Identifier: Apache-2.0
//! How long an answer takes, and when one is missed: RFC 6298 with the times of a cable in place of the Internet's.

use std::time::Duration;

/// Before anything was measured.
const FIRST: Duration = Duration::from_millis(250);
/// A board whose queue is full answers later than one that was just measured idle.
const SHORTEST: Duration = Duration::from_millis(5);
const LONGEST: Duration = Duration::from_secs(2);
/// Doublings of the time-out of a frame that is sent again and again, and of all of them.
const DOUBLINGS: u32 = 3;
const MOST_DOUBLINGS: u32 = 8;

/// Round trips, smoothed.
#[derive(Clone, Copy, Debug, Default)]
pub struct Timing {
    smoothed: Option<Duration>,
    variation: Duration,
    /// Doublings of the time-out until an answer is measured, and when there was one last.
    backed_off: u32,
    since: Duration,
}

impl Timing {
    /// A frame that was sent once was answered after so long. Of one that was sent again nobody knows which was answered
    /// (Karn's algorithm).
    pub fn measured(&mut self, took: Duration) {
        self.backed_off = 0;
        match self.smoothed {
            None => (self.smoothed, self.variation) = (Some(took), took / 2),
            Some(smoothed) => {
                self.variation = self.variation * 3 / 4 + smoothed.abs_diff(took) / 4;
                self.smoothed = Some(smoothed * 7 / 8 + took / 8);
            }
        }
    }

    /// The round trip, if any was measured.
    pub fn smoothed(&self) -> Option<Duration> {
        self.smoothed
    }

    /// How long an answer is waited for as a rule.
    pub fn usual(&self) -> Duration {
        let own = self.smoothed.map_or(FIRST, |smoothed| smoothed + self.variation * 4);
        own.clamp(SHORTEST, LONGEST)
    }

    /// An answer is missed: until one is measured all are waited for longer (RFC 6298, 5.5), at most twice as long for each
    /// time that has passed.
    pub fn missed(&mut self, now: Duration) {
        if now >= self.since + self.patience(1) {
            (self.backed_off, self.since) = ((self.backed_off + 1).min(MOST_DOUBLINGS), now);
        }
    }

    /// When a frame that was sent so many times is missed, after the last time.
    pub fn patience(&self, sent: u32) -> Duration {
        let doublings = sent.saturating_sub(1).min(DOUBLINGS).max(self.backed_off);
        (self.usual() * (1 << doublings)).min(LONGEST)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn steady_answers_are_waited_for_little_longer_than_they_take() {
        let mut timing = Timing::default();
        assert_eq!(timing.patience(1), FIRST);
        (0..100).for_each(|_| timing.measured(Duration::from_millis(40)));
        assert!(timing.patience(1) < Duration::from_millis(42), "{:?}", timing.patience(1));
        assert_eq!(timing.patience(3), timing.patience(1) * 4);
        assert_eq!(timing.patience(30), timing.patience(1) * 8);
    }

    #[test]
    fn times_stay_within_bounds() {
        let mut timing = Timing::default();
        timing.measured(Duration::from_micros(30));
        assert_eq!(timing.patience(1), SHORTEST);
        (0..100).for_each(|_| timing.measured(Duration::from_secs(60)));
        assert_eq!(timing.patience(1), LONGEST);
    }

    #[test]
    fn who_is_slower_than_thought_is_waited_for_longer_until_that_is_measured() {
        let mut timing = Timing::default();
        timing.measured(Duration::from_millis(1));
        let (mut now, mut times) = (Duration::ZERO, 0);
        while timing.patience(1) < Duration::from_millis(300) {
            now += timing.patience(1);
            timing.missed(now);
            timing.missed(now);
            times += 1;
        }
        assert_eq!(times, 6, "5 ms, twice as much each time");
        timing.measured(Duration::from_millis(300));
        assert!(timing.patience(1) > Duration::from_millis(200), "{:?}", timing.patience(1));
    }
}
