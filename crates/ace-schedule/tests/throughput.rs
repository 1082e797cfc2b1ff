// SPDX-License-Identifier: Apache-2.0
//! Slots and a processor together carry what the better of them carries alone.

use ace_engine::{ConfigurationId, Table};
use ace_schedule::simulate::{Core, NEVER, PASSES, Packet, Setup, Trace, simulate};
use ace_schedule::traffic::Random;
use ace_schedule::{Costs, Policy, Time};

use crate::c;

/// A small random trace, the board for it, and what a processor takes.
struct Case {
    trace: Trace,
    slots: usize,
    costs: Costs,
    cpu: Vec<[Time; PASSES]>,
    core: Option<Core>,
    buffer: usize,
}

fn case(seed: u64) -> Case {
    let mut random = Random(seed);
    let mut below = |n: u64| random.below(n);
    let configurations = 1 + below(4) as usize;
    // Time for a byte in a slot, and how much longer the processor takes.
    let paces: Vec<(f64, f64)> = (0..configurations)
        .map(|_| (1.0 + below(10) as f64, [0.1, 0.3, 0.7, 1.0, 1.5, 3.0, 8.0, 20.0][below(8) as usize]))
        .collect();
    let suites: Vec<Vec<Vec<ConfigurationId>>> = (0..1 + below(4))
        .map(|_| (0..1 + below(2)).map(|_| vec![c(below(configurations as u64) as usize)]).collect())
        .collect();
    let flows = 1 + below(8);
    let load: Table<Time> = (0..configurations).map(|_| (1 + below(40)) * 1000).collect();
    let slots = 1 + below(2) as usize;
    let count = 60 + below(240);
    let gap = [0, 0, 100, 300, 1000][below(5) as usize];
    let (mut packets, mut cpu, mut arrival) = (Vec::new(), Vec::new(), 0);
    for _ in 0..count {
        arrival += below(2 * gap + 1);
        let flow = below(flows);
        let suite = flow % suites.len() as u64;
        let bytes = [64, 576, 1424][below(3) as usize];
        let (mut slot, mut processor) = ([0; PASSES], [NEVER; PASSES]);
        for (pass, candidates) in suites[suite as usize].iter().enumerate() {
            let (pace, factor) = paces[candidates[0].index()];
            slot[pass] = (f64::from(bytes) * pace) as Time + 100;
            processor[pass] = (f64::from(bytes) * pace * factor) as Time + 50;
        }
        packets.push(Packet { arrival, flow: flow as u32, suite: suite as u32, bytes, costs: slot });
        cpu.push(processor);
    }
    let core = [None, None, Some(Core { packet: 200 + below(8000), host: 100 + below(800) })];
    let core = core[below(3) as usize];
    let buffer = [8, 64, 256][below(3) as usize];
    Case { trace: Trace { suites, packets }, slots, costs: Costs::whole(load), cpu, core, buffer }
}

impl Case {
    fn setup(&self) -> Setup<'_> {
        Setup { buffer: self.buffer, core: self.core, ..Setup::new(self.slots, &self.costs, 50_000_000) }
    }

    /// When a processor that is never idle while something is there is done with all.
    fn computed(&self) -> Time {
        let packet = self.core.map_or(0, |core| core.packet);
        let passes = |at: usize| self.cpu[at].iter().filter(|time| **time != NEVER).sum::<Time>();
        let packets = self.trace.packets.iter().enumerate();
        packets.fold(0, |now: Time, (at, p)| now.max(p.arrival) + packet + passes(at))
    }

    /// When all is done by slots alone, by the processor alone, and by both.
    fn totals(&self, policy: Policy) -> [Time; 3] {
        let slots = simulate(&self.trace, &self.setup(), policy);
        let both = simulate(&self.trace, &Setup { cpu: Some(&self.cpu), ..self.setup() }, policy);
        assert_eq!((slots.unserved, both.unserved), (0, 0));
        let [slots, both] = [slots, both].map(|out| out.left.into_iter().max().unwrap_or(0));
        [slots, self.computed(), both]
    }
}

/// The time of both together over that of the better one alone, by trace, the worst last.
fn ratios(policy: Policy, seeds: std::ops::Range<u64>) -> Vec<(f64, u64)> {
    let ratio = |seed| {
        let [slots, processor, both] = case(seed).totals(policy);
        (both as f64 / slots.min(processor) as f64, seed)
    };
    let mut all: Vec<_> = seeds.map(ratio).collect();
    all.sort_by(|a, b| a.0.total_cmp(&b.0));
    all
}

/// The rule was found with seeds 0 to 199 and 100,000 to 101,999. These 200 were looked at once, when it stood; whoever
/// changes it because of one of them takes others.
const FRESH: std::ops::Range<u64> = 10_000..10_200;

/// Those that the rule was found with: how often it misses, for the page.
#[test]
#[ignore = "takes a while, and holds nothing"]
fn how_often_it_is_beyond() {
    for policy in [Policy::DoubleBuffer, Policy::Adaptive, Policy::Landlord, Policy::Rotation] {
        let all = ratios(policy, 100_000..102_000);
        let over = all.iter().filter(|of| of.0 > 1.03).count();
        println!("{policy}: {over} of {} beyond 3 %, worst {:.3?}", all.len(), all.last());
    }
}

#[test]
fn both_together_carry_what_the_better_one_carries_alone() {
    for policy in [Policy::DoubleBuffer, Policy::Adaptive, Policy::Landlord, Policy::Rotation] {
        let all = ratios(policy, FRESH);
        let mean = all.iter().map(|of| of.0).sum::<f64>() / all.len() as f64;
        let over: Vec<_> = all.iter().filter(|of| of.0 > 1.03).collect();
        println!("{policy}: mean {mean:.3}, worst {:.3?}, beyond 3 % {over:?}", all.last());
        assert!(mean < 0.85, "{policy}: {mean}");
        assert!(over.is_empty(), "{policy}: {over:?}");
    }
}
