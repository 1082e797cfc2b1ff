// SPDX-License-Identifier: Apache-2.0
//! The exact optimum of a few packets on slots with a processor beside them: when the last of them can be done.
//!
//! The processor is a second kind of machine, which needs no load. Every schedule is a sequence in which each packet is put
//! behind what its machine was given before: of a packet for a slot that holds something else the load stands in the
//! sequence, as early as slot and port allow, also before the packet comes. In the order of those beginnings each schedule
//! is such a sequence, and beginning earlier makes no other one later. So all sequences and all places for each packet are
//! tried, but those that cannot end before the best one so far.

use ace_engine::ConfigurationId;

use crate::sim::simulate::{NEVER, PASSES, Packet, Setup, Trace, simulate};
use crate::sim::traffic::Random;
use crate::{Costs, Policy, Time};

/// A packet of one pass, in no order with others.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Job {
    /// When it comes.
    pub arrival: Time,
    /// What it needs in a slot.
    pub configuration: ConfigurationId,
    /// Its time in a slot that holds that.
    pub slot: Time,
    /// Its time on the processor, if that can do it.
    pub processor: Option<Time>,
}

/// Packets at most: the search takes all their orders.
pub const MOST: usize = 7;

struct Search<'a> {
    jobs: &'a [Job],
    costs: &'a Costs,
    best: Time,
}

/// What is given so far: when machines and port are free, and when all of it is done.
#[derive(Clone)]
struct Open {
    left: Vec<usize>,
    slots: Vec<(Option<ConfigurationId>, Time)>,
    processor: Time,
    port: Time,
    end: Time,
}

/// When the last packet can be done on so many empty slots, with a processor where jobs say what it takes. None for more
/// than [`MOST`] jobs, or if nobody can do one of them.
pub fn shortest(jobs: &[Job], slots: usize, costs: &Costs) -> Option<Time> {
    if jobs.len() > MOST {
        return None;
    }
    let mut search = Search { jobs, costs, best: NEVER };
    let left = (0..jobs.len()).collect();
    search.go(&Open { left, slots: vec![(None, 0); slots], processor: 0, port: 0, end: 0 });
    (search.best < NEVER).then_some(search.best)
}

impl Search<'_> {
    fn go(&mut self, open: &Open) {
        if open.end >= self.best {
            return;
        }
        if open.left.is_empty() {
            self.best = open.end;
            return;
        }
        for at in 0..open.left.len() {
            let mut next = open.clone();
            let job = self.jobs[next.left.swap_remove(at)];
            if let Some(time) = job.processor {
                let mut next = next.clone();
                next.processor = next.processor.max(job.arrival).saturating_add(time);
                next.end = next.end.max(next.processor);
                self.go(&next);
            }
            for slot in 0..next.slots.len() {
                // Empty slots are alike.
                if next.slots[..slot].contains(&(None, 0)) && next.slots[slot] == (None, 0) {
                    continue;
                }
                let mut next = next.clone();
                let (resident, free) = next.slots[slot];
                let ready = if resident == Some(job.configuration) {
                    free
                } else {
                    next.port =
                        next.port.max(free).saturating_add(self.costs.of(resident, job.configuration));
                    next.port
                };
                let done = ready.max(job.arrival).saturating_add(job.slot);
                next.slots[slot] = (Some(job.configuration), done);
                next.end = next.end.max(done);
                self.go(&next);
            }
        }
    }
}

/// A small random trace: when all of it is done.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Ends {
    /// By who knows the future.
    pub best: Time,
    /// By the processor alone.
    pub processor: Time,
    /// Under the policies that were asked for, by slots alone.
    pub slots: Vec<Time>,
    /// The same by both together.
    pub both: Vec<Time>,
}

/// Plays a small random trace of a seed: 3 to 7 packets, 1 to 3 configurations, 1 or 2 slots, a processor from three times as
/// fast as a slot to an eighth.
pub fn ends(seed: u64, policies: &[Policy]) -> Option<Ends> {
    let mut random = Random(seed);
    let mut below = |n: u64| random.below(n);
    let configurations = 1 + below(3);
    let slots = 1 + below(2) as usize;
    let loads: Vec<Time> = (0..configurations).map(|_| 100 + 100 * below(20)).collect();
    let factors: Vec<f64> =
        (0..configurations).map(|_| [0.33, 0.7, 1.0, 1.5, 3.0, 8.0][below(6) as usize]).collect();
    let mut arrival = 0;
    let job = |_| {
        arrival += [0, 0, 50, 300][below(4) as usize];
        let configuration = below(configurations) as usize;
        let slot = 50 + 50 * below(12);
        let processor = Some((slot as f64 * factors[configuration]) as Time);
        Job { arrival, configuration: ConfigurationId::from_index(configuration), slot, processor }
    };
    let jobs: Vec<Job> = (0..3 + seed as usize % (MOST - 2)).map(job).collect();
    let costs = Costs::whole(loads);
    let packet = |(at, job): (usize, &Job)| Packet {
        arrival: job.arrival,
        flow: at as u32,
        suite: job.configuration.index() as u32,
        bytes: 100,
        costs: [job.slot; PASSES],
    };
    let suites = (0..configurations).map(|c| vec![vec![ConfigurationId::from_index(c as usize)]]).collect();
    let trace = Trace { suites, packets: jobs.iter().enumerate().map(packet).collect() };
    let cpu: Vec<[Time; PASSES]> =
        jobs.iter().map(|job| [job.processor.unwrap_or(NEVER), NEVER, NEVER]).collect();
    let setup = Setup { log: false, ..Setup::new(slots, &costs, 1_000_000) };
    let beside = Setup { cpu: Some(&cpu), ..setup };
    let last =
        |setup: &Setup<'_>, policy| simulate(&trace, setup, policy).left.into_iter().max().unwrap_or(0);
    let alone = |done: Time, job: &Job| done.max(job.arrival).saturating_add(job.processor.unwrap_or(NEVER));
    Some(Ends {
        best: shortest(&jobs, slots, &costs)?,
        processor: jobs.iter().fold(0, alone),
        slots: policies.iter().map(|policy| last(&setup, *policy)).collect(),
        both: policies.iter().map(|policy| last(&beside, *policy)).collect(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn job(arrival: Time, c: usize, slot: Time, processor: Option<Time>) -> Job {
        Job { arrival, configuration: ConfigurationId::from_index(c), slot, processor }
    }

    #[test]
    fn what_can_be_reckoned_by_hand() {
        let costs = Costs::whole(vec![100, 100]);
        let of = |jobs: &[Job], slots| shortest(jobs, slots, &costs);
        // Loaded before it comes; on the processor sooner; neither.
        assert_eq!(of(&[job(150, 0, 10, Some(50))], 1), Some(160));
        assert_eq!(of(&[job(20, 0, 10, Some(50))], 1), Some(70));
        assert_eq!(of(&[job(0, 0, 10, None)], 0), None);
        // Both at once: the slot does the longer one behind its load.
        assert_eq!(of(&[job(0, 0, 10, Some(200)), job(0, 0, 10, Some(105))], 1), Some(110));
        // One port: the second load waits for the first.
        assert_eq!(of(&[job(0, 0, 10, None), job(0, 1, 10, None)], 2), Some(210));
        assert_eq!(of(&[job(0, 0, 10, None); MOST + 1], 1), None);
    }

    #[test]
    fn no_policy_beats_it_with_a_processor_or_without() {
        let mut less = 0;
        for seed in 0..300 {
            let of = ends(seed, &Policy::ALL).unwrap();
            let all = of.both.iter().chain(&of.slots).chain([&of.processor]);
            assert!(all.min().is_some_and(|least| *least >= of.best), "{seed}: {of:?}");
            less += usize::from(of.both.iter().all(|both| *both > of.best));
        }
        assert!((1..300).contains(&less), "{less} of 300 are beyond every policy");
    }
}
