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
    let count = 8 + below(120);
    let gap = [0, 0, 200, 1000, 4000][below(5) as usize];
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

#[test]
fn both_together_are_never_below_the_better_alone() {
    for policy in [Policy::DoubleBuffer, Policy::Adaptive, Policy::Landlord, Policy::Rotation] {
        let mut worst: Vec<(f64, u64, [Time; 3])> = (0..2000)
            .map(|seed| {
                let totals = case(seed).totals(policy);
                (totals[2] as f64 / totals[0].min(totals[1]) as f64, seed, totals)
            })
            .collect();
        worst.sort_by(|a, b| b.0.total_cmp(&a.0));
        let over = worst.iter().filter(|w| w.0 > 1.03).count();
        let mean: f64 = worst.iter().map(|w| w.0).sum::<f64>() / worst.len() as f64;
        let first = worst.iter().filter(|w| w.0 > 1.03 && w.1 < 200).count();
        println!("{policy}: {over} over 1.03 ({first} of the first); mean {mean:.3}; {:?}", &worst[..8]);
    }
}
