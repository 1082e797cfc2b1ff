// SPDX-License-Identifier: Apache-2.0
//! Where double buffering wins and where it loses: both policies over many random traces on two slots.
//! Prints, by look-ahead and cost of a load (an operation costs 1 to 60), the mean of the total times
//! (double-buffer ÷ on-demand), how many traces came out slower, and the slowest.
//!
//! `cargo run --release -p ace-schedule --example compare_policies`

use ace_schedule::{Costs, Packet, Policy, Task, simulate};

/// xorshift64: the same traces on every machine.
struct Random(u64);

impl Random {
    fn below(&mut self, n: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 20) % n
    }
}

/// One to four lanes of one or two passes each, out of five configurations.
fn trace(random: &mut Random, longest: u64) -> Vec<Packet> {
    let lanes = 1 + random.below(4);
    let suites: Vec<Vec<usize>> =
        (0..lanes).map(|_| (0..=random.below(2)).map(|_| random.below(5) as usize).collect()).collect();
    let packets = 1 + random.below(longest);
    let mut packet = || {
        let lane = random.below(lanes) as u32;
        let cost = 1 + random.below(60);
        let tasks = suites[lane as usize].iter().map(|c| Task { candidates: vec![*c], cost }).collect();
        Packet { lane, tasks }
    };
    (0..packets).map(|_| packet()).collect()
}

fn main() {
    println!("look-ahead   load  traces   mean  slower  slowest");
    for buffer in [1, 2, 4, 8, 16, 64] {
        for load in [10, 100, 2000] {
            let mut random = Random(88_172_645_463_325_252);
            let costs = Costs::whole(vec![load; 5]);
            let (mut sum, mut slower, mut slowest) = (0.0, 0, 0.0_f64);
            let traces = 5000;
            for _ in 0..traces {
                let trace = trace(&mut random, if buffer < 16 { 60 } else { 200 });
                let total = |policy| simulate(&trace, buffer, 2, &costs, policy).total as f64;
                let ratio = total(Policy::ALL[1]) / total(Policy::OnDemand);
                sum += ratio;
                slower += usize::from(ratio > 1.0);
                slowest = slowest.max(ratio);
            }
            let mean = sum / f64::from(traces);
            println!("{buffer:>10} {load:>6} {traces:>7} {mean:>6.3} {slower:>7} {slowest:>8.3}");
        }
    }
}
