// SPDX-License-Identifier: Apache-2.0
//! Policies beside what no policy can beat.

use std::time::Instant;

use ace_schedule::bound::compare::{self, SMALL, Served};
use ace_schedule::simulate::{Late, Setup, simulate};
use ace_schedule::study::{Figures, Row, WAYS, Way, network, row, trace};
use ace_schedule::{Costs, Policy};
use anyhow::{Context, Result};
use serde::Serialize;

use crate::page::{say, say_part};

/// Seeds with which nothing was tuned.
const SEED: u64 = 1000;

#[derive(Serialize)]
pub struct Study {
    small: Vec<SmallRow>,
    large: Vec<Row>,
    speed: Vec<Speed>,
}

/// A class of small traces: means over the traces of what was served in time, over the optimum.
#[derive(Serialize)]
struct SmallRow {
    traffic: String,
    configurations: usize,
    slots: usize,
    load: usize,
    bound: usize,
    rate: f64,
    traces: usize,
    /// The optimum that loads only what waits.
    waiting: f64,
    policies: Vec<f64>,
    /// Of `adaptive` alone, over the optimum that loads only what waits.
    adaptive_of_waiting: f64,
    worst_adaptive: f64,
}

/// Wall time of the simulator here.
#[derive(Serialize)]
struct Speed {
    policy: Policy,
    packets_per_second: f64,
    ns_per_decision: f64,
}

/// `quick`: few traces.
pub fn study(quick: bool) -> Result<Study> {
    let figures: Figures = toml::from_str(include_str!("../../../../studies/scheduling/classes.toml"))
        .context("studies/scheduling/classes.toml")?;
    let small = SMALL.iter().map(|class| small(class, if quick { 2 } else { 18 })).collect();
    let rows = |class| [0.8, 1.2].map(|part| row(&figures, class, part, SEED));
    let large = figures.class.iter().flat_map(rows).collect();
    let speed = Policy::ALL.iter().map(|policy| speed(&figures, *policy)).collect();
    Ok(Study { small, large, speed })
}

fn small(class: &compare::Class, traces: u64) -> SmallRow {
    let all: Vec<Served> = (0..traces).filter_map(|seed| compare::served(class, SEED + seed)).collect();
    let mean = |of: &dyn Fn(&Served) -> f64| all.iter().map(of).sum::<f64>() / all.len().max(1) as f64;
    let over = |served: usize, best: usize| served as f64 / best.max(1) as f64;
    let adaptive = Policy::ALL.iter().position(|p| *p == Policy::Adaptive).unwrap_or(0);
    SmallRow {
        traffic: format!("{:?}", class.kind).to_lowercase(),
        configurations: class.configurations,
        slots: class.slots,
        load: class.load,
        bound: class.bound,
        rate: class.rate,
        traces: all.len(),
        waiting: mean(&|s| over(s.waiting, s.best)),
        policies: (0..Policy::ALL.len()).map(|p| mean(&|s| over(s.policies[p], s.best))).collect(),
        adaptive_of_waiting: mean(&|s| over(s.policies[adaptive], s.waiting)),
        worst_adaptive: all.iter().map(|s| over(s.policies[adaptive], s.best)).fold(f64::INFINITY, f64::min),
    }
}

/// The class with most associations and slots, at 0.8 of its capacity, for as many packets as it has.
fn speed(figures: &Figures, policy: Policy) -> Speed {
    let Some(class) = figures.class.iter().max_by_key(|c| c.lanes * c.slots) else {
        return Speed { policy, packets_per_second: 0.0, ns_per_decision: 0.0 };
    };
    let network = network(figures, class);
    let (trace, _) = trace(class, &network, 0.8, SEED);
    let costs = Costs::whole(vec![(class.load_us * 1e3) as u64; network.pace.len()]);
    let latency = (class.latency_ms * 1e6) as u64;
    let setup = Setup { late: Late::Dropped, log: false, ..Setup::new(class.slots, &costs, latency) };
    let start = Instant::now();
    let out = simulate(&trace, &setup, policy);
    let seconds = start.elapsed().as_secs_f64().max(1e-9);
    Speed {
        policy,
        packets_per_second: trace.packets.len() as f64 / seconds,
        ns_per_decision: seconds * 1e9 / out.decisions.max(1) as f64,
    }
}

fn name(way: &Way) -> String {
    format!("{}{}", way.policy, if way.drops { "" } else { ", late kept" })
}

pub fn print(study: &Study) {
    let traces: usize = study.small.iter().map(|r| r.traces).sum();
    say!("## Small traces: served in time ÷ the exact optimum, mean of {traces} random traces\n");
    say!("Load and bound in packets' times; what is late is dropped.\n");
    say_part!("| traffic | configurations | slots | load | bound | packets a step | traces | no prefetch |");
    Policy::ALL.iter().for_each(|p| say_part!(" {p} |"));
    say!(" adaptive, worst | adaptive ÷ no prefetch |");
    say!("|---|--:|--:|--:|--:|--:|--:|--:|{}--:|--:|", "--:|".repeat(Policy::ALL.len()));
    for r in &study.small {
        let SmallRow { traffic, configurations, slots, load, bound, rate, traces, waiting, .. } = r;
        say_part!(
            "| {traffic} | {configurations} | {slots} | {load} | {bound} | {rate} | {traces} | {waiting:.3} |"
        );
        r.policies.iter().for_each(|of| say_part!(" {of:.3} |"));
        say!(" {:.3} | {:.3} |", r.worst_adaptive, r.adaptive_of_waiting);
    }
    let weight = |r: &SmallRow| r.traces as f64 / traces.max(1) as f64;
    let mean = |of: &dyn Fn(&SmallRow) -> f64| study.small.iter().map(|r| of(r) * weight(r)).sum::<f64>();
    say_part!("| all | | | | | | {traces} | {:.3} |", mean(&|r| r.waiting));
    (0..Policy::ALL.len()).for_each(|p| say_part!(" {:.3} |", mean(&|r| r.policies[p])));
    let worst = study.small.iter().map(|r| r.worst_adaptive).fold(f64::INFINITY, f64::min);
    say!(" {worst:.3} | {:.3} |", mean(&|r| r.adaptive_of_waiting));

    say!("\n## Large traces: bytes in time ÷ all bytes (p99.9 in ms; exposed loads)\n");
    say!("Load: of the capacity by the rotation law.\n");
    say_part!("| class | load | Mb/s | packets |");
    WAYS.iter().for_each(|way| say_part!(" {} |", name(way)));
    say!("\n|---|--:|--:|--:|{}", "--:|".repeat(WAYS.len()));
    for r in &study.large {
        say_part!("| {} | {:.1} | {:.0} | {} |", r.class, r.part, r.mbps, r.packets);
        for of in &r.results {
            say_part!(" {:.3} ({:.2}; {:.0} %) |", of.in_time, of.p999_ms, 100.0 * of.overhead);
        }
        say!();
    }

    say!("\n## Speed of the simulator here (wall time)\n");
    say!("| policy | packets a second | ns a decision, all that belongs to it included |");
    say!("|---|--:|--:|");
    for s in &study.speed {
        say!("| {} | {:.0} | {:.0} |", s.policy, s.packets_per_second, s.ns_per_decision);
    }
    say!("\nAll times but these are modelled. Slots are slots, not banks: each works for itself.");
}
