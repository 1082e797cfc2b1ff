// SPDX-License-Identifier: Apache-2.0
//! Wall time of the simulator: `cargo run --release -p ace-schedule --example speed [POLICY]`, for a profiler to look at.

use std::time::Instant;

use ace_schedule::simulate::{Late, Setup, simulate};
use ace_schedule::study::{Figures, network, trace};
use ace_schedule::{Costs, Policy};

fn main() {
    let figures: Figures =
        toml::from_str(include_str!("../../../studies/scheduling/classes.toml")).expect("figures");
    let class = figures.class.iter().max_by_key(|c| c.flows * c.slots).expect("a class");
    let network = network(&figures, class);
    let (trace, _) = trace(class, &network, 0.8, 1000);
    let costs = Costs::whole(vec![(class.load_us * 1e3) as u64; network.pace.len()]);
    let setup = Setup {
        late: Late::Dropped,
        log: false,
        ..Setup::new(class.slots, &costs, (class.latency_ms * 1e6) as u64)
    };
    let wanted = std::env::args().nth(1);
    for policy in Policy::ALL.into_iter().filter(|p| wanted.as_ref().is_none_or(|w| p.name() == w)) {
        let mut best = f64::INFINITY;
        let mut decisions = 0;
        for _ in 0..20 {
            let start = Instant::now();
            decisions = simulate(&trace, &setup, policy).decisions;
            best = best.min(start.elapsed().as_secs_f64());
        }
        let packets = trace.packets.len() as f64;
        println!(
            "{policy}: {:.2} million packets/s, {:.0} ns a decision, {:.2} decisions a packet",
            packets / best / 1e6,
            best * 1e9 / decisions as f64,
            decisions as f64 / packets
        );
    }
}
