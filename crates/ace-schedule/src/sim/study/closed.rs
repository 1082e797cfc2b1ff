// SPDX-License-Identifier: Apache-2.0
//! Closed loops, as TCP is one: each association has a window of packets on their way, and sends one more when one has
//! left and a round trip has passed. Nothing is dropped.

use ace_engine::{ConfigurationId, Table};
use serde::Serialize;

use super::{Class, Figures, network};
use crate::sim::simulate::{NEVER, Packet, Setup, Trace, simulate};
use crate::sim::traffic::Random;
use crate::{Costs, Policy, Time};

/// Packets of each association on their way.
pub const WINDOW: usize = 16;
const ROUND_TRIP: Time = 2_000_000;
const BYTES: u32 = 1424;
/// Of a class's latency bounds: so long it runs.
const BOUNDS: Time = 20;

/// What a policy makes of a class in a closed loop.
#[derive(Clone, Debug, Serialize)]
pub struct Closed {
    /// The [`Class::name`].
    pub class: String,
    /// The policy that decided.
    pub policy: Policy,
    /// Megabits a second of the packets that left.
    pub mbps: f64,
    /// Of the packets that left, those within the bound.
    pub in_time: f64,
    /// The latency that one packet in a thousand of those that left exceeded, in milliseconds.
    pub p999_ms: f64,
    /// Associations that got less than a tenth of the mean.
    pub starved: usize,
}

/// Runs a class as a closed loop with [`WINDOW`] packets an association, for 20 latency bounds or 40 ms, whichever is
/// longer. The same seed gives the same packets.
pub fn closed(figures: &Figures, class: &Class, policy: Policy, seed: u64) -> Closed {
    let network = network(figures, class);
    let (mut random, latency) = (Random(seed), (class.latency_ms * 1e6) as Time);
    let cost = |configuration: ConfigurationId| {
        let (per_byte, fixed) = network.pace[configuration];
        (f64::from(BYTES) * per_byte + fixed) as Time
    };
    let packet = |flow: usize| {
        let suite = network.flows[flow].0;
        let mut costs = [0; crate::sim::simulate::PASSES];
        for (cost_of, pass) in costs.iter_mut().zip(&network.suites[suite]) {
            *cost_of = pass.first().map_or(0, |c| cost(*c));
        }
        (flow as u32, suite as u32, costs)
    };
    let flows = network.flows.len();
    let mut packets: Vec<Packet> = (0..flows * WINDOW)
        .map(|at| {
            let (flow, suite, costs) = packet(at % flows);
            Packet { arrival: random.below(ROUND_TRIP), flow, suite, bytes: BYTES, costs }
        })
        .collect();
    packets.sort_by_key(|p| p.arrival);
    let trace = Trace { suites: network.suites.clone(), packets };
    let costs = Costs::whole(Table::filled((class.load_us * 1e3) as Time, network.pace.len()));
    let stop = (BOUNDS * latency).max(20 * ROUND_TRIP);
    let setup =
        Setup { again: Some(ROUND_TRIP), stop, log: false, ..Setup::new(class.slots, &costs, latency) };
    let out = simulate(&trace, &setup, policy);
    let mut of_flow = vec![0_usize; flows];
    let mut waits = Vec::new();
    let own = trace.packets.iter().map(|p| (p.flow, p.arrival));
    let followed = out.followed.iter().map(|(like, at)| (trace.packets[*like].flow, *at));
    for ((flow, arrival), left) in own.chain(followed).zip(&out.left).filter(|(_, left)| **left != NEVER) {
        of_flow[flow as usize] += 1;
        waits.push(left - arrival);
    }
    waits.sort_unstable();
    let mean = waits.len() as f64 / flows.max(1) as f64;
    let in_time = waits.partition_point(|wait| *wait <= latency);
    let at = (waits.len() * 999 / 1000).min(waits.len().saturating_sub(1));
    Closed {
        class: class.name.clone(),
        policy,
        mbps: waits.len() as f64 * f64::from(BYTES) * 8e3 / stop as f64,
        in_time: in_time as f64 / waits.len().max(1) as f64,
        p999_ms: waits.get(at).map_or(0.0, |wait| *wait as f64 / 1e6),
        starved: of_flow.iter().filter(|count| (**count as f64) < mean / 10.0).count(),
    }
}

/// What the rotation law says that a class carries, and what `rotation` carries of it with 99 % of the bytes in time, in
/// Mb/s. None where the law says nothing.
#[derive(Clone, Debug, Serialize)]
pub struct Law {
    /// The [`Class::name`].
    pub class: String,
    /// What the law says, in megabits a second.
    pub law_mbps: f64,
    /// What the simulation carries, in megabits a second; the search ends at 1.6 times the law.
    pub simulated_mbps: f64,
}

/// Compares the rotation law ([`crate::bound::rotation`]) with what [`Policy::Rotation`] carries in the simulator, by
/// bisection. None where the law gives 1 Mb/s or less.
pub fn law(figures: &Figures, class: &Class, seed: u64) -> Option<Law> {
    let network = network(figures, class);
    let law = super::law(class, &network) * 8000.0;
    if law <= 1.0 {
        return None;
    }
    let carried = |part: f64| {
        let (trace, _) = super::trace(class, &network, part, seed);
        let costs = Costs::whole(Table::filled((class.load_us * 1e3) as Time, network.pace.len()));
        let latency = (class.latency_ms * 1e6) as Time;
        let setup = Setup {
            late: crate::sim::simulate::Late::Dropped,
            log: false,
            ..Setup::new(class.slots, &costs, latency)
        };
        let out = simulate(&trace, &setup, Policy::Rotation);
        crate::sim::traffic::in_time(&trace, &setup, &out.left) >= 0.99
    };
    let (mut low, mut high) = (0.0, 1.6);
    for _ in 0..7 {
        let middle = (low + high) / 2.0;
        if carried(middle) { low = middle } else { high = middle }
    }
    Some(Law { class: class.name.clone(), law_mbps: law, simulated_mbps: law * low })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sim::study::Figure;

    #[test]
    fn a_closed_loop_sends_again_and_adaptive_starves_nobody() {
        let figure = |name: &str, mbps| Figure { name: name.into(), mbps, fixed_ns: 500.0 };
        let figures = Figures {
            cipher: vec![figure("a", 400.0), figure("b", 800.0), figure("c", 300.0)],
            hash: vec![figure("h", 600.0)],
            class: Vec::new(),
        };
        let class = Class {
            name: "small".into(),
            on_off: false,
            flows: 6,
            suites: 3,
            zipf: 0.0,
            fused: true,
            slots: 2,
            load_us: 200.0,
            latency_ms: 10.0,
        };
        let of = |policy| closed(&figures, &class, policy, 7);
        let (on_demand, adaptive) = (of(Policy::OnDemand), of(Policy::Adaptive));
        assert!(adaptive.mbps > on_demand.mbps, "{} {}", adaptive.mbps, on_demand.mbps);
        // A window of 16 a round trip each is the most: 6 flows, 16 packets, 1424 bytes, 2 ms.
        assert!(adaptive.mbps <= 6.0 * 16.0 * 1424.0 * 8.0 / 2000.0 + 1.0, "{}", adaptive.mbps);
        assert_eq!(adaptive.starved, 0);
        let law = law(&figures, &class, 7).expect("a law");
        assert!(
            law.simulated_mbps > 0.4 * law.law_mbps && law.simulated_mbps < 1.3 * law.law_mbps,
            "{law:?}"
        );
    }
}
