// SPDX-License-Identifier: Apache-2.0
//! Policies on traffic of stated classes: the figures behind `ace study scheduling`.
//!
//! Times are nanoseconds.

mod closed;
pub mod twenty;

use ace_engine::Table;
pub use closed::{Closed, Law, WINDOW, closed, law as against_law};
use serde::{Deserialize, Serialize};

use crate::bound::{linear, rotation};
use crate::sim::simulate::{Late, NEVER, Setup, Trace, simulate};
use crate::sim::traffic::{Network, Random, in_time, zipf};
use crate::{Costs, Policy, Time};

/// What a slot does with an algorithm.
#[derive(Clone, Debug, Deserialize, Serialize)]
pub struct Figure {
    /// The algorithm's name, as in the library.
    pub name: String,
    /// Megabits of packets a second, without what an operation takes besides.
    pub mbps: f64,
    /// Time of an operation besides its bytes.
    pub fixed_ns: f64,
}

/// What `ace study scheduling` reads: the figures of algorithms and the classes of traffic.
#[derive(Clone, Debug, Deserialize, Serialize)]
pub struct Figures {
    /// The ciphers, in the order in which suites take them.
    pub cipher: Vec<Figure>,
    /// The hashes, in the order in which suites take them.
    pub hash: Vec<Figure>,
    /// The classes of traffic, in the order in which they are reported.
    pub class: Vec<Class>,
}

/// A class of traffic on a board.
#[derive(Clone, Debug, Deserialize, Serialize)]
pub struct Class {
    /// How the class is called in the report.
    pub name: String,
    /// Whether associations send in bursts with a heavy tail; otherwise packets come at random times.
    pub on_off: bool,
    /// How many security associations send.
    pub flows: usize,
    /// Suites: cipher i with hash i mod 2.
    pub suites: usize,
    /// Zipf's exponent of the suites among the associations.
    pub zipf: f64,
    /// One configuration for both passes, or one for each.
    pub fused: bool,
    /// Slots of the board.
    pub slots: usize,
    /// Time of loading one configuration, in microseconds.
    pub load_us: f64,
    /// The latency bound of every packet, in milliseconds.
    pub latency_ms: f64,
}

/// How a policy is asked to treat what is late.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Way {
    /// The policy that decides.
    pub policy: Policy,
    /// Whether packets that can no longer be in time are dropped.
    pub drops: bool,
}

/// Every policy, dropping what is late; and double buffering as it was, which does not.
pub const WAYS: [Way; 6] = [
    Way { policy: Policy::OnDemand, drops: true },
    Way { policy: Policy::DoubleBuffer, drops: false },
    Way { policy: Policy::DoubleBuffer, drops: true },
    Way { policy: Policy::Landlord, drops: true },
    Way { policy: Policy::Rotation, drops: true },
    Way { policy: Policy::Adaptive, drops: true },
];

/// What one policy made of one class at one load.
#[derive(Clone, Debug, Serialize)]
pub struct Result {
    /// The policy, and whether it dropped what was late.
    pub way: Way,
    /// Of all bytes, those that left within the bound.
    pub in_time: f64,
    /// The latency that one packet in a thousand of those that left exceeded.
    pub p999_ms: f64,
    /// Exposed loads over the whole time.
    pub overhead: f64,
    /// Loads of configurations over the whole time.
    pub loads: usize,
}

/// A class at a part of the capacity that the rotation law gives it; where the law gives none, of the slots' share of what
/// as many slots as configurations would carry.
#[derive(Clone, Debug, Serialize)]
pub struct ClassResult {
    /// The [`Class::name`].
    pub class: String,
    /// Traffic offered over the capacity, 1 for all of it.
    pub part: f64,
    /// Traffic offered, in megabits a second.
    pub mbps: f64,
    /// Packets of the trace.
    pub packets: usize,
    /// Of all bytes, what no schedule exceeds ([`crate::bound::linear`]), where that was asked for and solved.
    pub bound: Option<f64>,
    /// One for each of [`WAYS`], in that order.
    pub results: Vec<Result>,
}

const SIZES: [(u32, f64); 2] = [(64, 1.0), (1424, 2.0)];
const SHARES: f64 = 0.9;

/// The associations and paces of a class: the first associations have the suites one after the other, the rest one at
/// random by [`Class::zipf`], and the shares of associations follow Zipf's law. The same class gives the same network.
pub fn network(figures: &Figures, class: &Class) -> Network {
    let mut names: Table<String> = Table::default();
    let mut pace = Table::default();
    let mut add = |name: String, mbps: f64, fixed: f64| match names.position(|n| *n == name) {
        Some(known) => known,
        None => {
            pace.push((8000.0 / mbps, fixed));
            names.push(name)
        }
    };
    let suite = |at: usize| {
        let cipher = &figures.cipher[at % figures.cipher.len()];
        let hash = &figures.hash[at % figures.hash.len()];
        if class.fused {
            // One image holds both, a frame streams through, and the slower one decides.
            let name = format!("{}+{}", cipher.name, hash.name);
            vec![vec![add(name, cipher.mbps.min(hash.mbps), cipher.fixed_ns + hash.fixed_ns)]]
        } else {
            let first = add(cipher.name.clone(), cipher.mbps, cipher.fixed_ns);
            vec![vec![first], vec![add(hash.name.clone(), hash.mbps, hash.fixed_ns)]]
        }
    };
    let suites: Vec<_> = (0..class.suites).map(suite).collect();
    let mut random = Random(1);
    let weights = zipf(class.suites, class.zipf);
    // Every suite has an association first; the others have one at random.
    let suite_of = |flow: usize| if flow < class.suites { flow } else { random.pick(&weights) };
    let flows = (0..class.flows).map(suite_of).zip(zipf(class.flows, SHARES)).collect();
    Network { suites, pace, flows, sizes: SIZES.to_vec() }
}

/// Bytes a nanosecond at which the law says that the configurations can still take turns.
fn law(class: &Class, network: &Network) -> f64 {
    let (load, latency) = (class.load_us * 1e3, class.latency_ms * 1e6);
    let parts: Vec<_> = network.parts(1.0).into_iter().map(|part| (part, load)).collect();
    rotation::capacity(&parts, class.slots, latency)
}

/// The same; where the law gives none, a share of what as many slots as configurations would carry.
fn capacity(class: &Class, network: &Network) -> f64 {
    let (load, latency) = (class.load_us * 1e3, class.latency_ms * 1e6);
    let parts: Vec<_> = network.parts(1.0).into_iter().map(|part| (part, load)).collect();
    let law = law(class, network);
    let used = parts.iter().filter(|p| p.0 > 0.0).count();
    match law * 8000.0 > 1.0 {
        true => law,
        false => rotation::capacity(&parts, used, latency) * class.slots as f64 / used.max(1) as f64,
    }
}

/// The trace of a class at a part of its capacity, and Mb/s.
pub fn trace(class: &Class, network: &Network, part: f64, seed: u64) -> (Trace, f64) {
    let latency = class.latency_ms * 1e6;
    let bytes = capacity(class, network) * part;
    let time = latency * if latency > 2e6 { 16.0 } else { 30.0 };
    let mut random = Random(seed);
    let trace = match class.on_off {
        true => network.on_off(&mut random, bytes, time as Time, latency),
        false => network.poisson(&mut random, bytes, time as Time),
    };
    (trace, bytes * 8000.0)
}

/// One class at one part of its capacity.
pub fn row(figures: &Figures, class: &Class, part: f64, seed: u64, bounded: bool) -> ClassResult {
    let network = network(figures, class);
    let (trace, mbps) = trace(class, &network, part, seed);
    let load = Table::filled((class.load_us * 1e3) as Time, network.pace.len());
    let latency = (class.latency_ms * 1e6) as Time;
    let slots = linear::Slots { count: class.slots, load: &load, latency };
    let bound = if bounded { linear::most_in_time(&trace, &slots) } else { None };
    let costs = Costs::whole(load);
    let end = trace.packets.last().map_or(0, |p| p.arrival);
    let of = |way: &Way| {
        let setup = Setup {
            late: if way.drops { Late::Dropped } else { Late::Kept },
            stop: end + 4 * latency,
            log: false,
            ..Setup::new(class.slots, &costs, latency)
        };
        let out = simulate(&trace, &setup, way.policy);
        let mut waits: Vec<Time> = trace
            .packets
            .iter()
            .zip(&out.left)
            .filter(|(_, l)| **l != NEVER)
            .map(|(p, l)| l - p.arrival)
            .collect();
        waits.sort_unstable();
        let p999 = waits.get((waits.len() * 999 / 1000).min(waits.len().saturating_sub(1)));
        Result {
            way: *way,
            in_time: in_time(&trace, &setup, &out.left),
            p999_ms: p999.map_or(0.0, |t| *t as f64 / 1e6),
            overhead: out.exposed_load as f64 / out.total.max(1) as f64,
            loads: out.load_count,
        }
    };
    let results = WAYS.iter().map(of).collect();
    ClassResult { class: class.name.clone(), part, mbps, packets: trace.packets.len(), bound, results }
}
