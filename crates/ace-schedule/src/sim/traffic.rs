// SPDX-License-Identifier: Apache-2.0
//! Traffic to study policies with: the same for the same seed, on every machine.

use crate::bound::exact::Grid;
use crate::sim::simulate::{PASSES, Packet, Setup, Trace};
use ace_engine::{ConfigurationId, Table};

use crate::Time;

/// splitmix64.
#[derive(Clone, Debug)]
pub struct Random(pub u64);

impl Random {
    fn number(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// 0 ≤ x < 1.
    pub fn unit(&mut self) -> f64 {
        (self.number() >> 11) as f64 / (1u64 << 53) as f64
    }

    /// 0 ≤ x < n; 0 if n is 0.
    pub fn below(&mut self, n: u64) -> u64 {
        (self.unit() * n as f64) as u64
    }

    /// A number with an exponential distribution of this mean.
    pub fn exponential(&mut self, mean: f64) -> f64 {
        -mean * (1.0 - self.unit()).ln()
    }

    /// Pareto with shape 1.5, cut at 20 times its mean.
    fn heavy(&mut self, mean: f64) -> f64 {
        (mean / 3.0 * (1.0 - self.unit()).powf(-1.0 / 1.5)).min(20.0 * mean)
    }

    /// An index, by weights.
    pub fn pick(&mut self, weights: &[f64]) -> usize {
        let mut left = self.unit() * weights.iter().sum::<f64>();
        weights
            .iter()
            .position(|w| {
                left -= w;
                left < 0.0
            })
            .unwrap_or(weights.len().saturating_sub(1))
    }
}

/// Shares of n by Zipf's law with this exponent.
pub fn zipf(n: usize, exponent: f64) -> Vec<f64> {
    let all: Vec<f64> = (1..=n).map(|at| (at as f64).powf(-exponent)).collect();
    let sum: f64 = all.iter().sum();
    all.into_iter().map(|w| w / sum).collect()
}

/// How packets of a small trace come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Small {
    /// Each packet at a random step, by Zipf's shares.
    Poisson,
    /// Several packets of one configuration close together.
    Bursts,
    /// One configuration after the other has most of the packets.
    Turns,
}

/// Packets on a grid: `rate` packets a step in the mean, over 100 steps.
pub fn small(random: &mut Random, kind: Small, mut grid: Grid, rate: f64, exponent: f64) -> Grid {
    const STEPS: u64 = 100;
    let m = grid.configurations;
    let shares = zipf(m, exponent);
    let (mut count, mut time) = (0, random.exponential(1.0 / rate));
    while time < STEPS as f64 {
        (count, time) = (count + 1, time + random.exponential(1.0 / rate));
    }
    while grid.packets.len() < count {
        let step = random.below(STEPS) as usize;
        match kind {
            Small::Poisson => grid.packets.push((step, random.pick(&shares))),
            Small::Turns => {
                let turn = step / (STEPS as usize / 4) % m;
                let c = if random.unit() < 0.7 { turn } else { random.pick(&shares) };
                grid.packets.push((step, c));
            }
            Small::Bursts => {
                let c = random.pick(&shares);
                let mut burst = 2;
                while random.unit() > 1.0 / 6.0 {
                    burst += 1;
                }
                for _ in 0..burst.min(count - grid.packets.len()) {
                    let step = (step + random.below(4) as usize).min(STEPS as usize - 1);
                    grid.packets.push((step, c));
                }
            }
        }
    }
    grid.packets.sort_unstable();
    grid
}

/// Time of a step where a grid is run through a policy.
pub const STEP: Time = 1000;

/// A grid's packets for the simulator: each configuration is a flow, and each packet of it takes a step.
pub fn on_grid(grid: &Grid) -> Trace {
    let packet = |(step, c): &(usize, usize)| Packet {
        arrival: *step as Time * STEP,
        flow: *c as u32,
        suite: *c as u32,
        bytes: 1000,
        costs: [STEP; PASSES],
    };
    Trace {
        suites: (0..grid.configurations).map(|c| vec![vec![ConfigurationId::from_index(c)]]).collect(),
        packets: grid.packets.iter().map(packet).collect(),
    }
}

/// Security associations and what their packets take.
#[derive(Clone, Debug)]
pub struct Network {
    /// The suites, as in [`Trace::suites`].
    pub suites: Vec<Vec<Vec<ConfigurationId>>>,
    /// Of each configuration: time for a byte, and for a packet besides.
    pub pace: Table<(f64, f64)>,
    /// By association: its suite and its share of the packets.
    pub flows: Vec<(usize, f64)>,
    /// Sizes of packets and their shares.
    pub sizes: Vec<(u32, f64)>,
}

impl Network {
    fn packet(&self, random: &mut Random, arrival: Time, flow: usize) -> Packet {
        let weights: Vec<f64> = self.sizes.iter().map(|s| s.1).collect();
        let bytes = self.sizes[random.pick(&weights)].0;
        let suite = self.flows[flow].0;
        let mut costs = [0; PASSES];
        for (cost, pass) in costs.iter_mut().zip(&self.suites[suite]) {
            let (byte, more) = pass.first().map_or((0.0, 0.0), |c| self.pace[*c]);
            *cost = ((f64::from(bytes) * byte + more) as Time).max(1);
        }
        Packet { arrival, flow: flow as u32, suite: suite as u32, bytes, costs }
    }

    /// Mean length of a packet in bytes, by the shares of the sizes.
    pub fn mean_bytes(&self) -> f64 {
        let all: f64 = self.sizes.iter().map(|s| s.1).sum();
        self.sizes.iter().map(|s| f64::from(s.0) * s.1).sum::<f64>() / all
    }

    /// By configuration: the part of a slot that `bytes` a unit of time need.
    pub fn parts(&self, bytes: f64) -> Table<f64> {
        let mut parts = Table::filled(0.0, self.pace.len());
        for (suite, share) in &self.flows {
            for c in self.suites[*suite].iter().filter_map(|pass| pass.first()) {
                parts[*c] += bytes * share * (self.pace[*c].0 + self.pace[*c].1 / self.mean_bytes());
            }
        }
        parts
    }

    /// Packets at random times, `bytes` a unit of time.
    pub fn poisson(&self, random: &mut Random, bytes: f64, time: Time) -> Trace {
        let gap = self.mean_bytes() / bytes;
        let mut sum = 0.0;
        let sums: Vec<f64> = self
            .flows
            .iter()
            .map(|l| {
                sum += l.1;
                sum
            })
            .collect();
        let (mut packets, mut at) = (Vec::new(), random.exponential(gap));
        while at < time as f64 {
            let wanted = random.unit() * sum;
            let flow = sums.partition_point(|s| *s <= wanted).min(self.flows.len() - 1);
            packets.push(self.packet(random, at as Time, flow));
            at += random.exponential(gap);
        }
        Trace { suites: self.suites.clone(), packets }
    }

    /// Each association sends for times with a heavy tail, `on` in the mean, and is silent four times as long.
    pub fn on_off(&self, random: &mut Random, bytes: f64, time: Time, on: f64) -> Trace {
        const DUTY: f64 = 0.2;
        let mut packets = Vec::new();
        for (flow, (_, share)) in self.flows.iter().enumerate() {
            let gap = self.mean_bytes() / (bytes * share / DUTY);
            let mut at = -random.unit() * on / DUTY;
            while at < time as f64 {
                let end = at + random.heavy(on);
                let mut next = at + random.exponential(gap);
                while next < end.min(time as f64) {
                    if next >= 0.0 {
                        packets.push(self.packet(random, next as Time, flow));
                    }
                    next += random.exponential(gap);
                }
                at = end + random.heavy(on * (1.0 - DUTY) / DUTY);
            }
        }
        packets.sort_by_key(|p| p.arrival);
        Trace { suites: self.suites.clone(), packets }
    }

    /// What a closed loop begins with: `window` packets of each association.
    pub fn windows(&self, random: &mut Random, window: usize, within: Time) -> Trace {
        let mut packets: Vec<Packet> = (0..self.flows.len() * window)
            .map(|at| {
                let arrival = random.below(within.max(1));
                self.packet(random, arrival, at % self.flows.len())
            })
            .collect();
        packets.sort_by_key(|p| p.arrival);
        Trace { suites: self.suites.clone(), packets }
    }
}

/// Bytes of a trace that left in time, over all of them.
pub fn in_time(trace: &Trace, setup: &Setup<'_>, left: &[Time]) -> f64 {
    let bytes = |p: &Packet| u64::from(p.bytes);
    let good = trace.packets.iter().zip(left).filter(|(p, left)| **left <= p.arrival + setup.terms.latency);
    let all: u64 = trace.packets.iter().map(bytes).sum();
    good.map(|(p, _)| bytes(p)).sum::<u64>() as f64 / all.max(1) as f64
}
