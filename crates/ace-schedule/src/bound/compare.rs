// SPDX-License-Identifier: Apache-2.0
//! Policies against the exact optimum on small random traces.

use super::exact::{Grid, Loads, most_in_time};
use crate::sim::simulate::{Late, Setup, simulate};
use crate::sim::traffic::{Random, STEP, Small, on_grid, small};
use crate::{Costs, Policy};

/// A class of small traces.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Class {
    /// How the packets come.
    pub kind: Small,
    /// Different configurations that packets ask for, at most 8.
    pub configurations: usize,
    /// Slots of the board, at most 4.
    pub slots: usize,
    /// In steps, of which a packet takes one.
    pub load: usize,
    /// Steps from a packet's arrival within which it has to be done.
    pub bound: usize,
    /// Packets a step.
    pub rate: f64,
}

const fn class(
    kind: Small,
    configurations: usize,
    slots: usize,
    load: usize,
    bound: usize,
    rate: f64,
) -> Class {
    Class { kind, configurations, slots, load, bound, rate }
}

/// Classes that policies are compared in: random packets, bursts and turns, with loads that are long and short beside a
/// packet.
pub const SMALL: [Class; 12] = [
    class(Small::Poisson, 3, 1, 4, 20, 0.7),
    class(Small::Poisson, 3, 1, 4, 20, 1.0),
    class(Small::Poisson, 4, 2, 5, 20, 1.0),
    class(Small::Poisson, 4, 2, 5, 20, 1.6),
    class(Small::Bursts, 3, 1, 4, 20, 0.6),
    class(Small::Bursts, 4, 2, 5, 20, 1.2),
    class(Small::Bursts, 5, 2, 8, 16, 0.8),
    class(Small::Turns, 4, 1, 4, 16, 0.8),
    class(Small::Turns, 4, 2, 6, 24, 1.4),
    class(Small::Poisson, 4, 2, 10, 12, 1.0),
    class(Small::Poisson, 3, 1, 1, 16, 0.8),
    class(Small::Bursts, 4, 1, 1, 16, 0.8),
];

/// What was served in time in one trace.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Served {
    /// Packets of the trace.
    pub packets: usize,
    /// By who knows the future.
    pub best: usize,
    /// By who knows the future and loads only what waits.
    pub waiting: usize,
    /// By [`Policy::ALL`], which drop what is late.
    pub policies: Vec<usize>,
}

/// One trace of a class; None if the optimum has too many states.
pub fn served(class: &Class, seed: u64) -> Option<Served> {
    let Class { kind, configurations, slots, load, bound, rate } = *class;
    let empty = Grid { configurations, slots, load, bound, packets: Vec::new() };
    let exponent = if seed % 2 == 1 { 0.8 } else { 0.0 };
    let grid = small(&mut Random(seed), kind, empty, rate, exponent);
    let best = most_in_time(&grid, Loads::Clairvoyant)?;
    let waiting = most_in_time(&grid, Loads::Waiting)?;
    let costs = Costs::whole(vec![load as u64 * STEP; configurations]);
    let latency = bound as u64 * STEP;
    let setup = Setup { late: Late::Dropped, log: false, ..Setup::new(slots, &costs, latency) };
    let trace = on_grid(&grid);
    let of = |policy: &Policy| {
        let out = simulate(&trace, &setup, *policy);
        trace.packets.iter().zip(&out.left).filter(|(p, left)| **left <= p.arrival + latency).count()
    };
    Some(Served {
        packets: grid.packets.len(),
        best,
        waiting,
        policies: Policy::ALL.iter().map(of).collect(),
    })
}
