// SPDX-License-Identifier: Apache-2.0
//! What operations really take: running estimates by association, class and size, on a slot and on the processor beside
//! the slots.
//!
//! What the caller says an operation takes is where they begin: manifests and profiles. What is kept is the factor by
//! which it took more or less, so that one size of a bin speaks for the others. An association has one direction, so that
//! of the operation is in the key.

use std::collections::HashMap;

use super::op::ClassId;
use crate::Time;

/// Who does an operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Doer {
    Slot,
    Processor,
}

/// The weight of the newest observation, when there are many.
const NEWEST: f64 = 1.0 / 8.0;
/// Records that are kept; when there are more, all begin anew.
const MOST: usize = 1 << 16;
/// A factor beyond these is an accident, not a pace.
const RANGE: (f64, f64) = (1.0 / 64.0, 64.0);

/// A factor on what is expected.
#[derive(Clone, Copy, Debug)]
struct Factor {
    mean: f64,
    seen: u32,
}

#[derive(Clone, Copy, Debug)]
struct Record {
    slot: Factor,
    processor: Factor,
    last: Option<Doer>,
    count: u32,
}

const UNSEEN: Factor = Factor { mean: 1.0, seen: 0 };

impl Factor {
    fn see(&mut self, factor: f64) {
        self.seen = self.seen.saturating_add(1);
        let weight = NEWEST.max(1.0 / f64::from(self.seen));
        self.mean += weight * (factor.clamp(RANGE.0, RANGE.1) - self.mean);
    }

    fn of(&self, time: Time) -> Time {
        if self.mean == 1.0 { time } else { (time as f64 * self.mean) as Time }
    }
}

/// What is known of an operation when it comes.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Known {
    /// Who did the last one like it.
    pub last: Option<Doer>,
    /// It is to go to the other one, if that can be had at once: or nothing would be known of it.
    pub probe: bool,
    /// A slot has done one like it: its cost is what was seen.
    pub seen: bool,
}

#[derive(Clone, Debug)]
pub(crate) struct Estimates {
    records: HashMap<(u32, ClassId, u8), Record, foldhash::fast::RandomState>,
    /// The processor's number among the slots.
    pub ours: usize,
    /// One operation in so many is a probe; 0: none.
    every: u32,
}

/// Sizes within a factor of two.
fn bin(bytes: u32) -> u8 {
    (u32::BITS - bytes.leading_zeros()) as u8
}

impl Estimates {
    pub fn new(ours: usize, every: u32) -> Self {
        Self { records: HashMap::default(), ours, every }
    }

    /// Corrects what is expected of an operation on a slot and on the processor.
    pub fn correct(
        &mut self,
        (flow, class, bytes): (u32, ClassId, u32),
        slot: &mut Time,
        processor: &mut Option<Time>,
    ) -> Known {
        if self.records.len() >= MOST {
            self.records.clear();
        }
        let new = Record { slot: UNSEEN, processor: UNSEEN, last: None, count: 0 };
        let record = self.records.entry((flow, class, bin(bytes))).or_insert(new);
        *slot = record.slot.of(*slot);
        *processor = processor.map(|time| record.processor.of(time));
        record.count = record.count.wrapping_add(1);
        let probe = self.every > 0 && record.count.is_multiple_of(self.every);
        Known { last: record.last, probe, seen: record.slot.seen > 0 }
    }

    /// An operation of which `expected` was said at first took `time`.
    pub fn observe(
        &mut self,
        (flow, class, bytes): (u32, ClassId, u32),
        doer: Doer,
        expected: Time,
        time: Time,
    ) {
        let Some(record) = self.records.get_mut(&(flow, class, bin(bytes))) else { return };
        record.last = Some(doer);
        if expected > 0 {
            let factor = match doer {
                Doer::Slot => &mut record.slot,
                Doer::Processor => &mut record.processor,
            };
            factor.see(time as f64 / expected as f64);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn estimates_follow_what_is_seen_and_not_an_accident() {
        let mut all = Estimates::new(2, 64);
        let key = (7, 1, 1400);
        let expect = |all: &mut Estimates, key| {
            let (mut slot, mut processor) = (1000, Some(500));
            let known = all.correct(key, &mut slot, &mut processor);
            (slot, processor, known.last)
        };
        assert_eq!(expect(&mut all, key), (1000, Some(500), None));
        all.observe(key, Doer::Slot, 1000, 3000);
        // The first one counts whole; one size speaks for those of its bin, and for no other flow or size.
        assert_eq!(expect(&mut all, (7, 1, 1100)), (3000, Some(500), Some(Doer::Slot)));
        assert_eq!(expect(&mut all, (8, 1, 1400)), (1000, Some(500), None));
        assert_eq!(expect(&mut all, (7, 1, 60)), (1000, Some(500), None));
        for _ in 0..40 {
            all.observe(key, Doer::Processor, 500, 250);
            all.observe(key, Doer::Slot, 1000, 2000);
        }
        let (slot, processor, last) = expect(&mut all, key);
        assert!((1995..=2060).contains(&slot) && processor == Some(250), "{slot} {processor:?}");
        assert_eq!(last, Some(Doer::Slot));
        all.observe(key, Doer::Slot, 1000, u64::MAX);
        assert!(expect(&mut all, key).0 < 12_000);
    }

    #[test]
    fn one_in_sixty_four_is_a_probe() {
        let mut all = Estimates::new(2, 64);
        let probes = (0..6400).filter(|_| all.correct((1, 0, 64), &mut 5, &mut None).probe).count();
        assert_eq!(probes, 100);
    }
}
