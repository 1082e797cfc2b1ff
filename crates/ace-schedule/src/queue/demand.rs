// SPDX-License-Identifier: Apache-2.0
//! What waits for a class of operations, by age, and how much of it comes.

use crate::Time;

/// An age bin is so much of the latency bound.
pub(crate) const BINS_A_BOUND: u64 = 16;
/// Bins that are kept: what is older cannot be in time.
const KEPT: usize = 32;
/// Bins that can hold something that is still in time.
const LIVE: u64 = BINS_A_BOUND + 2;

/// The clock of the age bins, the same for all classes of a queue.
#[derive(Clone, Debug)]
pub(crate) struct Clock {
    pub now: Time,
    pub latency: Time,
    /// Width of a bin.
    pub width: Time,
    pub bin: u64,
    /// Rates shrink by this from one bin to the next.
    fade: f64,
    /// The part of what came in that is left in the sum, times this, is a rate.
    per_time: f64,
}

impl Clock {
    pub fn new(latency: Time, memory: Time) -> Self {
        let width = (latency / BINS_A_BOUND).max(1);
        let half_lives = width as f64 / memory.max(width) as f64;
        let fade = 0.5_f64.powf(half_lives);
        Self { now: 0, latency, width, bin: 0, fade, per_time: (1.0 - fade) / width as f64 }
    }

    /// The last instant at which it can start for that.
    pub fn last_start(&self, arrived: Time, cost: Time) -> Time {
        arrived.saturating_add(self.latency).saturating_sub(cost)
    }

    /// Whether an operation that takes `cost` can be done within the bound if it starts now.
    pub fn in_time(&self, arrived: Time, cost: Time) -> bool {
        self.now.saturating_add(cost) <= arrived.saturating_add(self.latency)
    }
}

/// Slot time that waits, by the age of its packets, and what came lately.
#[derive(Clone, Debug, Default)]
pub(crate) struct Demand {
    bins: [Time; KEPT],
    /// The bin up to which `bins` and `came` are right.
    bin: u64,
    came: f64,
    /// All slot time that waits, late or not.
    pub work: Time,
}

impl Demand {
    fn roll(&mut self, clock: &Clock) {
        let steps = clock.bin - self.bin;
        for bin in self.bin + 1..=self.bin + steps.min(KEPT as u64) {
            self.bins[(bin % KEPT as u64) as usize] = 0;
        }
        if steps > KEPT as u64 {
            self.bins = [0; KEPT];
        }
        self.came *= clock.fade.powi(i32::try_from(steps).unwrap_or(i32::MAX));
        self.bin = clock.bin;
    }

    fn slot_of(&self, clock: &Clock, arrived: Time) -> Option<usize> {
        let bin = arrived / clock.width;
        (bin + KEPT as u64 > self.bin && bin <= self.bin).then_some((bin % KEPT as u64) as usize)
    }

    /// `fresh`: it is the first that is heard of it, and counts for the rate.
    pub fn add(&mut self, clock: &Clock, arrived: Time, cost: Time, fresh: bool) {
        if self.bin != clock.bin {
            self.roll(clock);
        }
        self.work += cost;
        if fresh {
            self.came += cost as f64;
        }
        if let Some(at) = self.slot_of(clock, arrived) {
            self.bins[at] += cost;
        }
    }

    pub fn take(&mut self, clock: &Clock, arrived: Time, cost: Time) {
        if self.bin != clock.bin {
            self.roll(clock);
        }
        self.work = self.work.saturating_sub(cost);
        if let Some(at) = self.slot_of(clock, arrived) {
            self.bins[at] = self.bins[at].saturating_sub(cost);
        }
    }

    /// Slot time that comes in a unit of time.
    pub fn rate(&self, clock: &Clock) -> f64 {
        let behind = i32::try_from(clock.bin - self.bin).unwrap_or(i32::MAX);
        self.came * clock.fade.powi(behind) * clock.per_time
    }

    /// Slot time of bin `bin`.
    fn of(&self, bin: u64) -> Time {
        match bin + KEPT as u64 > self.bin && bin <= self.bin {
            true => self.bins[(bin % KEPT as u64) as usize],
            false => 0,
        }
    }
}

/// Slot time in the queues of `demands` that is in time if they are served from `start` on, the oldest first.
pub(crate) fn in_time<'a>(
    clock: &Clock,
    demands: impl Iterator<Item = &'a Demand> + Clone,
    start: Time,
) -> Time {
    let mut served = 0;
    for bin in clock.bin.saturating_sub(LIVE)..=clock.bin {
        let work: Time = demands.clone().map(|d| d.of(bin)).sum();
        if work > 0 {
            // The youngest of the bin decides, as far as is known.
            let end = (bin + 1).saturating_mul(clock.width).saturating_add(clock.latency);
            served += work.min(end.saturating_sub(start.saturating_add(served)));
        }
    }
    served
}

/// Bytes that slot time brings, over the last thousand operations or two.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Yield {
    bytes: f64,
    time: f64,
    count: u32,
}

impl Yield {
    pub fn add(&mut self, bytes: u32, time: Time) {
        self.bytes += f64::from(bytes);
        self.time += time as f64;
        self.count += 1;
        if self.count >= 2048 {
            *self = Self { bytes: self.bytes / 2.0, time: self.time / 2.0, count: self.count / 2 };
        }
    }

    /// Bytes a unit of time; 0 if nothing is known.
    pub fn rate(&self) -> f64 {
        if self.time > 0.0 { self.bytes / self.time } else { 0.0 }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_value_of_a_queue_is_what_is_still_in_time() {
        let mut clock = Clock::new(160, 160);
        let mut demand = Demand::default();
        demand.add(&clock, 0, 50, true);
        (clock.now, clock.bin) = (100, 10);
        demand.add(&clock, 100, 30, true);
        let value = |start| in_time(&clock, [&demand].into_iter(), start);
        // The first bin ends at 10 and its bound at 170; the other one's at 270.
        assert_eq!(value(100), 80);
        assert_eq!(value(150), 20 + 30);
        assert_eq!(value(170), 30);
        assert_eq!(value(250), 20);
        assert_eq!(value(270), 0);
        demand.take(&clock, 0, 50);
        assert_eq!((in_time(&clock, [&demand].into_iter(), 0), demand.work), (30, 30));
        // What is older than the bins reach is not in any.
        (clock.now, clock.bin) = (1000, 100);
        demand.add(&clock, 1000, 5, true);
        assert_eq!(in_time(&clock, [&demand].into_iter(), 0), 5);
    }

    #[test]
    fn a_steady_stream_has_its_rate() {
        let mut clock = Clock::new(1600, 3200);
        let mut demand = Demand::default();
        for now in 0..200_000u64 {
            (clock.now, clock.bin) = (now, now / clock.width);
            if now.is_multiple_of(4) {
                demand.add(&clock, now, 3, true);
                demand.take(&clock, now, 3);
            }
        }
        assert!((demand.rate(&clock) - 0.75).abs() < 0.03, "{}", demand.rate(&clock));
        clock.bin += 32;
        assert!((demand.rate(&clock) - 0.375).abs() < 0.02);
    }
}
