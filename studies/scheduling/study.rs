// SPDX-License-Identifier: Apache-2.0
//! Policies beside what no policy can beat.

mod beside;
mod board;
mod pays;

use std::time::Instant;

use crate::error::{Context, Result};
use crate::marks::{By, Mark, Opening, heads, range};
use ace_board::Catalogue;
use ace_report::{Page, say, say_part};
use ace_schedule::bound::compare::{self, SMALL, Served};
use ace_schedule::simulate::{Late, Setup, simulate};
use ace_schedule::study::{
    self, ClassResult, Closed, Figures, Law, WAYS, WINDOW, Way, against_law, closed, network, row, trace,
};
use ace_schedule::{Costs, Policy};
use serde::Serialize;

/// Seeds with which nothing was tuned.
const SEED: u64 = 1000;

/// What policies make of traffic, and what none can beat.
#[derive(Serialize)]
pub struct Study {
    opening: Opening,
    small: Vec<SmallRow>,
    large: Vec<ClassResult>,
    closed: Vec<Closed>,
    law: Vec<Law>,
    pays: Vec<pays::Pays>,
    beside: beside::Beside,
    boards: board::Boards,
    speed: Vec<Speed>,
    goals: Vec<Goal>,
}

/// Something that was to be reached.
#[derive(Serialize)]
struct Goal {
    what: String,
    figure: f64,
    limit: f64,
    /// The figure is to be at most the limit; else at least.
    at_most: bool,
    met: bool,
}

impl Goal {
    fn at_most(what: &str, figure: f64, limit: f64) -> Self {
        Self { what: what.into(), figure, limit, at_most: true, met: figure <= limit }
    }

    fn at_least(what: &str, figure: f64, limit: f64) -> Self {
        Self { what: what.into(), figure, limit, at_most: false, met: figure >= limit }
    }
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

/// Policies beside bounds; `quick`: few traces, and of the large ones few and without their bounds but for the first.
///
/// # Errors
/// A file of studies/ is not what it should be: a fault of this repository.
pub fn study(catalogue: &Catalogue, quick: bool) -> Result<Study> {
    let figures: Figures =
        toml::from_str(include_str!("classes.toml")).context("studies/scheduling/classes.toml")?;
    let small: Vec<SmallRow> = SMALL.iter().map(|class| small(class, if quick { 1 } else { 18 })).collect();
    let few = |name: &str| name.starts_with("2 SAs") || name.starts_with("25 us loads");
    let rows = |class: &study::Class| {
        let bounded = !quick || class.flows == 2;
        [0.8, 1.2].map(|part| row(&figures, class, part, SEED, bounded))
    };
    let large: Vec<ClassResult> =
        figures.class.iter().filter(|c| !quick || few(&c.name)).flat_map(rows).collect();
    let speed: Vec<Speed> = Policy::ALL.iter().map(|policy| speed(&figures, *policy, quick)).collect();
    let boards = board::study()?;
    // In a closed loop two passes and one, long loads and short ones.
    let looped = figures.class.iter().filter(|c| if quick { c.flows == 2 } else { !c.on_off });
    let closed: Vec<Closed> = looped
        .clone()
        .flat_map(|class| Policy::ALL.map(|policy| closed(&figures, class, policy, SEED)))
        .collect();
    let law: Vec<Law> = looped.filter_map(|class| against_law(&figures, class, SEED)).collect();
    let goals = goals(&small, &large, &closed, &boards, &speed);
    let pays = pays::rows(catalogue)?;
    let beside = beside::study(&figures, SEED)?;
    let opening = opening(&small, &large, &boards, &pays, &goals);
    Ok(Study { opening, small, large, closed, law, pays, beside, boards, speed, goals })
}

/// The goals that can be asked of what was run.
fn goals(
    small: &[SmallRow],
    large: &[ClassResult],
    closed: &[Closed],
    boards: &board::Boards,
    speed: &[Speed],
) -> Vec<Goal> {
    let mut goals = Vec::new();
    let mean = |rows: Vec<(f64, usize)>| {
        let count: usize = rows.iter().map(|r| r.1).sum();
        rows.iter().map(|r| r.0 * r.1 as f64).sum::<f64>() / count.max(1) as f64
    };
    let adaptive = position(Policy::Adaptive);
    let wide = |r: &&SmallRow| r.bound >= 4 * r.load;
    let of = small.iter().filter(wide).map(|r| (r.policies[adaptive], r.traces)).collect();
    goals.push(Goal::at_least("small traces, D >= 4 L: adaptive / optimum, mean", mean(of), 0.92));
    let of = small.iter().filter(|r| !wide(r)).map(|r| (r.adaptive_of_waiting, r.traces)).collect();
    goals.push(Goal::at_least(
        "small traces, D < 4 L: adaptive / optimum without prefetch, mean",
        mean(of),
        0.85,
    ));
    let way = |way: Way| WAYS.iter().position(|w| *w == way).unwrap_or(0);
    let ours = way(Way { policy: Policy::Adaptive, drops: true });
    for (part, limit) in [(0.8, 0.92), (1.2, 0.80)] {
        let rows = large.iter().filter(|r| r.part == part);
        let of = rows.filter_map(|r| Some(r.results[ours].in_time / r.bound?)).fold(f64::INFINITY, f64::min);
        if of.is_finite() {
            goals.push(Goal::at_least(
                &format!("large traces at {part}: adaptive / proven bound, worst"),
                of,
                limit,
            ));
        }
    }
    let best = |r: &ClassResult| {
        let others = r.results.iter().enumerate().filter(|(at, _)| *at != ours);
        others.map(|(_, of)| of.in_time).fold(1e-9, f64::max)
    };
    let worst = large.iter().map(|r| r.results[ours].in_time / best(r)).fold(f64::INFINITY, f64::min);
    goals.push(Goal::at_least("large traces: adaptive / best other policy, worst", worst, 0.97));
    // Beside those that starve nobody.
    let loops = closed.iter().filter(|c| c.policy == Policy::Adaptive).map(|own| {
        let others =
            closed.iter().filter(|c| c.class == own.class && c.policy != own.policy && c.starved == 0);
        own.mbps / others.map(|c| c.mbps).fold(1e-9, f64::max)
    });
    let worst = loops.fold(f64::INFINITY, f64::min);
    goals.push(Goal::at_least("closed loops: adaptive / best other that starves nobody, worst", worst, 0.94));
    goals.extend(boards.goals());
    for s in speed {
        let (what, limit) = match s.policy {
            Policy::Adaptive => ("adaptive", 1.0),
            Policy::DoubleBuffer => ("double-buffer", 5.0),
            _ => continue,
        };
        goals.push(Goal::at_least(
            &format!("simulator here, {what}, 1000 SAs, 8 slots, 12 algorithms: million packets/s"),
            s.packets_per_second / 1e6,
            limit,
        ));
        if s.policy == Policy::Adaptive {
            goals.push(Goal::at_most(
                "a decision of adaptive, all that belongs to it included: us",
                s.ns_per_decision / 1e3,
                0.5,
            ));
        }
    }
    goals
}

fn position(policy: Policy) -> usize {
    Policy::ALL.iter().position(|p| *p == policy).unwrap_or(0)
}

fn small(class: &compare::Class, traces: u64) -> SmallRow {
    let all: Vec<Served> = (0..traces).filter_map(|seed| compare::served(class, SEED + seed)).collect();
    let mean = |of: &dyn Fn(&Served) -> f64| all.iter().map(of).sum::<f64>() / all.len().max(1) as f64;
    let over = |served: usize, best: usize| served as f64 / best.max(1) as f64;
    let adaptive = position(Policy::Adaptive);
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

/// The class with most associations and slots, at 0.8 of its capacity, for as many packets as it has; the best of some runs.
fn speed(figures: &Figures, policy: Policy, quick: bool) -> Speed {
    let Some(class) = figures.class.iter().max_by_key(|c| c.flows * c.slots) else {
        return Speed { policy, packets_per_second: 0.0, ns_per_decision: 0.0 };
    };
    let network = network(figures, class);
    let (trace, _) = trace(class, &network, 0.8, SEED);
    let costs = Costs::whole(vec![(class.load_us * 1e3) as u64; network.pace.len()]);
    let latency = (class.latency_ms * 1e6) as u64;
    let setup = Setup { late: Late::Dropped, log: false, ..Setup::new(class.slots, &costs, latency) };
    let once = || {
        let start = Instant::now();
        let out = simulate(&trace, &setup, policy);
        (start.elapsed().as_secs_f64().max(1e-9), out.decisions)
    };
    let runs = (0..if quick { 1 } else { 9 }).map(|_| once());
    let Some((seconds, decisions)) = runs.min_by(|a, b| a.0.total_cmp(&b.0)) else {
        return Speed { policy, packets_per_second: 0.0, ns_per_decision: 0.0 };
    };
    Speed {
        policy,
        packets_per_second: trace.packets.len() as f64 / seconds,
        ns_per_decision: seconds * 1e9 / decisions.max(1) as f64,
    }
}

fn name(way: &Way) -> String {
    format!("{}{}", way.policy, if way.drops { "" } else { ", late kept" })
}

/// The first lines: what was asked, and what came out.
fn opening(
    small: &[SmallRow],
    large: &[ClassResult],
    boards: &board::Boards,
    pays: &[pays::Pays],
    goals: &[Goal],
) -> Opening {
    let adaptive = position(Policy::Adaptive);
    let missed: Vec<&str> = goals.iter().filter(|g| !g.met).map(|g| g.what.as_str()).collect();
    let bounded = large.iter().filter_map(|r| Some(r.results.last()?.in_time / r.bound?));
    let demo = boards.demo(64).map_or(String::new(), |(least, most, policy)| {
        format!(" The demo takes {least:.1} ms with {policy} and {most:.1} ms at worst on two slots.")
    });
    let faster = pays::faster(pays);
    Opening {
        claimed: vec![
            "no paper stands behind this page. The one of 2006 says that known packets let loads be hidden; asked here is how near \
             a policy comes to what no policy can beat."
                .into(),
        ],
        built: vec![
            "five policies, pure functions of queue, slots and costs; an exact optimum for small traces and a proven bound for \
             large ones; recordings through boards whose slots run the RTL."
                .into(),
        ],
        holds: vec![
            format!(
                "adaptive serves {} of the exact optimum (means of small classes), {} of the proven bound of large ones.",
                range(small.iter().map(|r| r.policies[adaptive]), 2),
                range(bounded, 2)
            ),
            format!("knowing the packets ahead hides loads.{demo}"),
            format!(
                "strictly in order, one packet in flight, our array waits in {:.2} % of the time on traffic as in 2006.",
                boards.paper_in_order
            ),
        ],
        fails: vec![
            format!("{} of {} goals are missed: {}.", missed.len(), goals.len(), missed.join("; ")),
            format!(
                "in a slot only {} beat a core of today.",
                if faster.is_empty() { "none".into() } else { faster.join(", ") }
            ),
        ],
        fitted: vec![
            "nothing; the traffic of classes and the rates in studies/scheduling/classes.toml are assumptions, and seeds are ones \
             with which nothing was tuned."
                .into(),
        ],
    }
}

/// Puts the study on a page.
pub fn print(page: &mut Page, study: &Study) {
    study.opening.print(page);
    let traces: usize = study.small.iter().map(|r| r.traces).sum();
    say!(page, "## Small traces: served in time ÷ the exact optimum, mean of {traces} random traces\n");
    say!(page, "Load and bound in packets' times; what is late is dropped. All of it {}.\n", Mark::Predicted);
    say_part!(
        page,
        "| traffic | configurations | slots | load | bound | packets a step | traces | no prefetch |"
    );
    Policy::ALL.iter().for_each(|p| say_part!(page, " {p} |"));
    say!(page, " adaptive, worst | adaptive ÷ no prefetch |");
    say!(page, "|---|--:|--:|--:|--:|--:|--:|--:|{}--:|--:|", "--:|".repeat(Policy::ALL.len()));
    for r in &study.small {
        let SmallRow { traffic, configurations, slots, load, bound, rate, traces, waiting, .. } = r;
        say_part!(
            page,
            "| {traffic} | {configurations} | {slots} | {load} | {bound} | {rate} | {traces} | {waiting:.3} |"
        );
        r.policies.iter().for_each(|of| say_part!(page, " {of:.3} |"));
        say!(page, " {:.3} | {:.3} |", r.worst_adaptive, r.adaptive_of_waiting);
    }
    let weight = |r: &SmallRow| r.traces as f64 / traces.max(1) as f64;
    let mean = |of: &dyn Fn(&SmallRow) -> f64| study.small.iter().map(|r| of(r) * weight(r)).sum::<f64>();
    say_part!(page, "| all | | | | | | {traces} | {:.3} |", mean(&|r| r.waiting));
    (0..Policy::ALL.len()).for_each(|p| say_part!(page, " {:.3} |", mean(&|r| r.policies[p])));
    let worst = study.small.iter().map(|r| r.worst_adaptive).fold(f64::INFINITY, f64::min);
    say!(page, " {worst:.3} | {:.3} |", mean(&|r| r.adaptive_of_waiting));

    say!(page, "\n## Large traces: bytes in time ÷ all bytes (p99.9 in ms; exposed loads)\n");
    say!(page, "Load: of the capacity by the rotation law. All of it {}.\n", Mark::Predicted);
    say_part!(page, "| class | load | Mb/s | packets | bound | adaptive ÷ bound |");
    WAYS.iter().for_each(|way| say_part!(page, " {} |", name(way)));
    say!(page, "\n|---|--:|--:|--:|--:|--:|{}", "--:|".repeat(WAYS.len()));
    for r in &study.large {
        say_part!(page, "| {} | {:.1} | {:.0} | {} |", r.class, r.part, r.mbps, r.packets);
        match (r.bound, r.results.last()) {
            (Some(bound), Some(adaptive)) => {
                say_part!(page, " {bound:.3} | {:.3} |", adaptive.in_time / bound)
            }
            _ => say_part!(page, " | |"),
        }
        for of in &r.results {
            say_part!(page, " {:.3} ({:.2}; {:.0} %) |", of.in_time, of.p999_ms, 100.0 * of.overhead);
        }
        say!(page);
    }

    say!(
        page,
        "\n## Closed loops: each association sends again 2 ms after a packet has left, {WINDOW} at most on their way\n"
    );
    say!(
        page,
        "Nothing is dropped. Starved: associations that got less than a tenth of the mean. All of it {}.\n",
        Mark::Predicted
    );
    say!(page, "| class | policy | Mb/s | in time | p99.9 ms | starved |");
    say!(page, "|---|---|--:|--:|--:|--:|");
    for c in &study.closed {
        let Closed { class, policy, mbps, in_time, p999_ms, starved } = c;
        say!(page, "| {class} | {policy} | {mbps:.0} | {in_time:.3} | {p999_ms:.2} | {starved} |");
    }
    say!(page, "\n## The rotation law against simulated rotation, 99 % of the bytes in time\n");
    let p = Mark::Predicted;
    say!(page, "{}", heads(&["class"], &[("law Mb/s", p), ("simulated Mb/s", p), ("simulated ÷ law", p)]));
    for l in &study.law {
        let part = l.simulated_mbps / l.law_mbps;
        say!(page, "| {} | {:.0} | {:.0} | {part:.2} |", l.class, l.law_mbps, l.simulated_mbps);
    }
    pays::print(page, &study.pays);
    beside::print(page, &study.beside);

    study.boards.print(page);

    say!(page, "\n## Speed of the simulator here\n");
    let wall = Mark::Measured(By::Wall);
    let columns = [("packets a second", wall), ("ns a decision, all that belongs to it included", wall)];
    say!(page, "{}", heads(&["policy"], &columns));
    for s in &study.speed {
        say!(page, "| {} | {:.0} | {:.0} |", s.policy, s.packets_per_second, s.ns_per_decision);
    }
    say!(page, "\n## Goals\n");
    say!(page, "| goal | figure | limit | met |");
    say!(page, "|---|--:|--:|---|");
    for g in &study.goals {
        let sign = if g.at_most { "≤" } else { "≥" };
        say!(
            page,
            "| {} | {:.3} | {sign} {} | {} |",
            g.what,
            g.figure,
            g.limit,
            if g.met { "yes" } else { "**no**" }
        );
    }
    say!(page, "\nAll times but these are modelled. Slots are slots, not banks: each works for itself.");
}
