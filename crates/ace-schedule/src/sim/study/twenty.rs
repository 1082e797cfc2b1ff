// SPDX-License-Identifier: Apache-2.0
//! Twenty associations over six ciphers and two hashes, on two slots with a processor beside them: both together beside
//! each of them alone.

use ace_engine::ConfigurationId;
use ace_engine::profile::Processor;
use serde::Serialize;

use super::{Figure, Figures};
use crate::sim::simulate::{NEVER, PASSES, Packet, Setup, Trace, simulate};
use crate::sim::traffic::{Network, Random, zipf};
use crate::{Costs, Policy, Time};

/// Six ciphers, then two hashes, as in `studies/scheduling/twenty-out.toml`.
pub const ALGORITHMS: [&str; 8] = ["aes", "des", "3des", "cast128", "cast256", "rc6", "md5", "sha1"];
/// Slots of the board.
pub const SLOTS: usize = 2;
/// A whole image of the demo's (docs/scheduling.md), ns.
pub const LOAD: Time = 4_550_000;
/// What packets are promised, ns.
pub const LATENCY: Time = 50_000_000;

/// Packets of a seed at so many Mb/s for so many ns. None if an algorithm has no figure.
pub fn traffic(figures: &Figures, seed: u64, mbps: f64, duration: Time) -> Option<Trace> {
    let pace = |name: &str| {
        let Figure { mbps, fixed_ns, .. } =
            figures.cipher.iter().chain(&figures.hash).find(|f| f.name == name)?;
        Some((8000.0 / mbps, *fixed_ns))
    };
    let c = ConfigurationId::from_index;
    let network = Network {
        suites: (0..20).map(|at| vec![vec![c(at % 6)], vec![c(6 + at % 2)]]).collect(),
        pace: ALGORITHMS.into_iter().map(pace).collect::<Option<_>>()?,
        flows: (0..20).zip(zipf(20, 0.9)).collect(),
        sizes: vec![(64, 1.0), (1424, 2.0)],
    };
    Some(network.poisson(&mut Random(seed), mbps / 8000.0, duration))
}

/// Time of each pass on a processor.
pub fn computed(trace: &Trace, processor: &Processor) -> Vec<[Time; PASSES]> {
    let time = |configuration: ConfigurationId, bytes: u32| {
        let rate = processor.rate.iter().find(|r| r.algorithm == ALGORITHMS[configuration.index()]);
        rate.map_or(NEVER, |r| (f64::from(bytes) * 8000.0 / r.mbps + r.fixed_ns) as Time)
    };
    let packet = |p: &Packet| {
        let passes = &trace.suites[p.suite as usize];
        [time(passes[0][0], p.bytes), time(passes[1][0], p.bytes), NEVER]
    };
    trace.packets.iter().map(packet).collect()
}

/// When all of it is done, ns, and by whom.
#[derive(Clone, Debug, Serialize)]
pub struct Together {
    /// As its file names it.
    pub processor: String,
    /// Who decides.
    pub policy: Policy,
    /// Packets.
    pub packets: usize,
    /// By slots alone.
    pub slots: Time,
    /// By the processor alone, if it can do all of it.
    pub alone: Option<Time>,
    /// By both.
    pub both: Time,
    /// Of these, passes of the processor, of slots, and loads.
    pub computed: usize,
    /// Passes of slots.
    pub executed: usize,
    /// Loads with both.
    pub loads: usize,
}

impl Together {
    /// Time of the better one alone over that of both together.
    pub fn of_the_better(&self) -> f64 {
        self.alone.map_or(self.slots, |alone| alone.min(self.slots)) as f64 / self.both.max(1) as f64
    }
}

/// More than both together carry, for a tenth of a second. None if an algorithm has no figure.
pub fn together(
    figures: &Figures,
    processor: &Processor,
    policy: Policy,
    seed: u64,
    mbps: f64,
) -> Option<Together> {
    let trace = traffic(figures, seed, mbps, 100_000_000)?;
    let cpu = computed(&trace, processor);
    let costs = Costs::whole(vec![LOAD; ALGORITHMS.len()]);
    let setup = Setup { log: false, ..Setup::new(SLOTS, &costs, LATENCY) };
    let slots = simulate(&trace, &setup, policy);
    let both = simulate(&trace, &Setup { cpu: Some(&cpu), ..setup }, policy);
    let alone = trace.packets.iter().zip(&cpu).try_fold(0, |done: Time, (packet, times)| {
        let times = &times[..2];
        (!times.contains(&NEVER)).then(|| done.max(packet.arrival) + times.iter().sum::<Time>())
    });
    let last = |left: &[Time]| left.iter().copied().max().unwrap_or(0);
    Some(Together {
        processor: processor.name.clone(),
        policy,
        packets: trace.packets.len(),
        slots: last(&slots.left),
        alone,
        both: last(&both.left),
        computed: both.computed,
        executed: both.start_count - both.computed,
        loads: both.load_count,
    })
}
