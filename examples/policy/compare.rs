// SPDX-License-Identifier: Apache-2.0
//! Every policy on the same traffic, that of the study's busiest class: packets that were late, and loads.

use ace_schedule::simulate::{Late, Setup, simulate};
use ace_schedule::study::{Figures, network, trace};
use ace_schedule::{Costs, Policy};

/// Of what the slots could do at most.
const LOAD: f64 = 0.8;
const SEED: u64 = 1000;

fn main() {
    let figures: Figures =
        toml::from_str(include_str!("../../../studies/scheduling/classes.toml")).expect("figures");
    let class = figures.class.iter().max_by_key(|c| c.flows * c.slots).expect("a class");
    let network = network(&figures, class);
    let (trace, _) = trace(class, &network, LOAD, SEED);
    let costs = Costs::whole(vec![(class.load_us * 1e3) as u64; network.pace.len()]);
    let latency = (class.latency_ms * 1e6) as u64;
    let setup = Setup { late: Late::Dropped, log: false, ..Setup::new(class.slots, &costs, latency) };
    println!("{:16} {:>8} {:>8} {:>8}", "policy", "packets", "late", "loads");
    for policy in Policy::ALL {
        let out = simulate(&trace, &setup, policy);
        println!("{:16} {:8} {:8} {:8}", policy.name(), trace.packets.len(), out.dropped, out.load_count);
    }
}
