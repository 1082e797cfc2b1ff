// SPDX-License-Identifier: Apache-2.0
//! How long an answer takes, and when one is missed: RFC 6298 with the times of a cable in place of the Internet's.

use std::time::Duration;

/// Before anything was measured.
const FIRST: Duration = Duration::from_millis(250);
/// A board whose queue is full answers later than one that was just measured idle.
const SHORTEST: Duration = Duration::from_millis(5);
const LONGEST: Duration = Duration::from_secs(2);
/// Doublings of the time-out at most.
const DOUBLINGS: u32 = 5;

/// Round trips, smoothed.
#[derive(Clone, Copy, Debug, Default)]
pub struct Timing {
    smoothed: Option<Duration>,
    variation: Duration,
}

impl Timing {
    /// A frame that was sent once was answered after so long. Of one that was sent again nobody knows which was answered
    /// (Karn's algorithm).
    pub fn measured(&mut self, took: Duration) {
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

    /// When a frame that was sent so many times is missed, after the last time.
    pub fn patience(&self, sent: u32) -> Duration {
        let own = self.smoothed.map_or(FIRST, |smoothed| smoothed + self.variation * 4);
        own.clamp(SHORTEST, LONGEST) * (1 << sent.saturating_sub(1).min(DOUBLINGS))
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
        assert_eq!(timing.patience(30), timing.patience(1) * 32);
    }

    #[test]
    fn times_stay_within_bounds() {
        let mut timing = Timing::default();
        timing.measured(Duration::from_micros(30));
        assert_eq!(timing.patience(1), SHORTEST);
        (0..100).for_each(|_| timing.measured(Duration::from_secs(60)));
        assert_eq!(timing.patience(1), LONGEST);
    }
}
