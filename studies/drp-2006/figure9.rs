// SPDX-License-Identifier: Apache-2.0
//! Figure 9: what waiting for configurations takes, on the traffic of the model and on a recording; and the same with more
//! groups, other loads, a second level of configuration memory, and our array.

use ace_report::{Page, say};
use ace_schedule::in_order::{InOrder, in_order, in_order_by};
use serde::Serialize;

use super::ours::Ours;
use super::paper::{Packet, Paper, load_us, recorded, shares};
use crate::array::{IN_FLIGHT, Overhead, strictly_in_order};
use crate::error::Result;
use crate::marks::{Mark, heads};

/// A second level of configuration memory: what it holds is loaded in a quarter of the time (512 bits at 100 MHz).
const CACHE: f64 = 0.25;

/// The paper's machine on one traffic.
#[derive(Serialize)]
pub struct OnTraffic {
    pub packets: usize,
    /// Of the packets.
    pub acknowledgements: f64,
    /// Of the packets but the first.
    pub same: f64,
    pub figure9: Overhead,
    pub parts: Parts,
    /// Our array, by packets in flight.
    pub array: Vec<(usize, Overhead)>,
}

/// Where the time of loads went that one group and a load at every change of task would have: of that, in percent.
#[derive(Clone, Copy, Serialize)]
pub struct Parts {
    /// Loads behind tasks.
    pub hidden: f64,
    /// Loads that were not made, because the task was held.
    pub kept: f64,
    /// The first load of each group, in which all waits.
    pub first: f64,
    /// The others in which all waits.
    pub exposed: f64,
}

/// The same traffic with more groups, or with other loads.
#[derive(Serialize)]
pub struct WhatIf {
    pub what: String,
    pub groups: usize,
    /// Of every load, where they are equal.
    pub load_us: Option<f64>,
    pub figure9: Overhead,
    pub parts: Parts,
}

/// What the model makes of the paper's machine and of ours.
#[derive(Serialize)]
pub struct Figure9 {
    /// Made at random, with the two shares that were fitted.
    pub model: OnTraffic,
    /// Of the same experiment.
    pub recording: OnTraffic,
    pub what_if: Vec<WhatIf>,
}

/// Our array strictly in order on the traffic of the paper's model: the figure that other pages quote.
pub fn ours_in_order(paper: &Paper, ours: &[Ours], packets: &[Packet], in_flight: usize) -> Result<Overhead> {
    let variants: Vec<_> = ours.iter().map(|o| o.array.clone()).collect();
    Ok(strictly_in_order(&variants, &paper.tasks(packets)?, in_flight))
}

pub fn study(paper: &Paper, ours: &[Ours]) -> Result<Figure9> {
    let loads: Vec<f64> = paper.task.iter().map(|t| load_us(paper, t)).collect();
    let on = |packets: &[Packet]| -> Result<OnTraffic> {
        let tasks = paper.timed(&paper.tasks(packets)?);
        let (acknowledgements, same) = shares(packets);
        let (figure9, parts) = run(&tasks, &loads, paper.machine.groups);
        let array = IN_FLIGHT.map(|n| Ok((n, ours_in_order(paper, ours, packets, n)?)));
        let array = array.into_iter().collect::<Result<_>>()?;
        Ok(OnTraffic { packets: packets.len(), acknowledgements, same, figure9, parts, array })
    };
    let model = paper.traffic();
    let what_if = what_if(&paper.timed(&paper.tasks(&model)?), &loads, paper.machine.bus_bits);
    Ok(Figure9 { model: on(&model)?, recording: on(&recorded())?, what_if })
}

fn run(tasks: &[(usize, f64)], load: &[f64], groups: usize) -> (Overhead, Parts) {
    let without = in_order(tasks, load, 1, false);
    parted(tasks.len(), &without, &in_order(tasks, load, groups, true))
}

fn parted(tasks: usize, without: &InOrder, double: &InOrder) -> (Overhead, Parts) {
    let of = |time: f64| 100.0 * time / without.exposed();
    let parts = Parts {
        hidden: of(double.loading - double.exposed()).max(0.0),
        kept: (100.0 - of(double.loading)).max(0.0),
        first: of(double.first),
        exposed: of(double.exposed() - double.first),
    };
    (Overhead::of(tasks, without, double), parts)
}

fn what_if(tasks: &[(usize, f64)], loads: &[f64], bus_bits: u32) -> Vec<WhatIf> {
    let mut all = Vec::new();
    let mut say = |what: &str, groups, load_us, (figure9, parts)| {
        all.push(WhatIf { what: what.into(), groups, load_us, figure9, parts });
    };
    for load in [None, Some(5.0), Some(10.0), Some(25.0), Some(2500.0)] {
        for groups in 2..=4 {
            let equal = load.map_or_else(|| loads.to_vec(), |us| vec![us; loads.len()]);
            let what = load.map_or("Table 2, its bus".into(), |us| format!("loads of {us} µs"));
            say(&what, groups, load, run(tasks, &equal, groups));
        }
    }
    for times in [2_u32, 4] {
        let faster: Vec<f64> = loads.iter().map(|us| us / f64::from(times)).collect();
        let what = format!("Table 2, a bus of {} bits", times * bus_bits);
        say(&what, 2, None, run(tasks, &faster, 2));
    }
    for sets in [2, 3, 4] {
        let without = in_order(tasks, loads, 1, false);
        let double = in_order_by(tasks, loads.len(), cache(loads, sets), 2, true);
        let what = format!("Table 2, a cache of {sets} sets");
        say(&what, 2, None, parted(tasks.len(), &without, &double));
    }
    all
}

/// Loads with a second level that holds the `sets` that were loaded last.
fn cache(loads: &[f64], sets: usize) -> impl FnMut(usize) -> f64 {
    let mut resident: Vec<usize> = Vec::new();
    move |wanted| {
        let hit = resident.contains(&wanted);
        resident.retain(|c| *c != wanted);
        resident.insert(0, wanted);
        resident.truncate(sets);
        if hit { loads[wanted] * CACHE } else { loads[wanted] }
    }
}

pub fn print(page: &mut Page, paper: &Paper, figure9: &Figure9) {
    let Figure9 { model, recording, what_if } = figure9;
    say!(page, "## Figure 9: overhead of reconfiguration, in order, {} groups\n", paper.machine.groups);
    say!(page, "| | what it is | without % | double buffer % | removed % | tasks kept % |");
    say!(page, "|---|---|--:|--:|--:|--:|");
    let mut row = |name: &str, what: &str, f: &Overhead| {
        let Overhead { without, double, removed, kept } = f;
        say!(page, "| {name} | {what} | {without:.1} | {double:.2} | {removed:.1} | {kept:.1} |");
    };
    row("paper", &Mark::Published.to_string(), &paper.result);
    let fitted =
        format!("without and kept {}, double {}, removed follows from both", Mark::Fitted, Mark::Predicted);
    row("its machine, traffic at random", &fitted, &model.figure9);
    let predicted = Mark::Predicted.to_string();
    row("its machine, the recording", &predicted, &recording.figure9);
    for (name, on) in [("traffic at random", model), ("the recording", recording)] {
        for (in_flight, overhead) in &on.array {
            let plural = if *in_flight == 1 { "packet" } else { "packets" };
            row(&format!("our array, {name}, {in_flight} {plural} in flight"), &predicted, overhead);
        }
    }
    say!(
        page,
        "\nRemoved: the part of the time of loads, with one group and a load at every change of task, that is not waited for \
         with two. In this model of the paper's machine {:.1} % of that time is hidden behind tasks, {:.1} % belongs to loads \
         that are not made because the task is held, {:.2} % is the first load of each group, and {:.1} % is waited for later.",
        model.parts.hidden,
        model.parts.kept,
        model.parts.first,
        model.parts.exposed
    );
    let traffic = &paper.traffic;
    say!(
        page,
        "\n**The traffic at random is fitted.** The paper says nothing of its packets. A packet here belongs to the association of \
         the one before it in {:.0} % of the cases, which is the share of tasks kept, {:.1} % there. {:.0} % of the packets are \
         acknowledgements of {} bytes, the others have {} bytes: that share is solved for the overhead without double \
         buffering. One figure is left that nothing was solved for, the overhead with it: {:.2} % here, {:.1} % there. What is \
         removed follows from the two overheads. So this is one prediction and not four.",
        100.0 * traffic.same,
        paper.result.kept,
        100.0 * traffic.acknowledgements,
        traffic.acknowledgement_bytes,
        traffic.data_bytes,
        model.figure9.double,
        paper.result.double
    );
    say!(
        page,
        "\n**The recording is of the paper's experiment, made here**: two downloads at once from one host (tests/demo/traffic.pcap, \
         {} packets). {:.1} % of its packets are acknowledgements, and {:.0} % belong to the association of the one before: \
         packets of a download come in rows. On it the paper's machine has {:.1} % without and {:.2} % with double buffering; \
         {:.1} % is removed and {:.1} % of the tasks are kept. The overhead without is near the paper's, and the rest is not: the \
         paper's traffic changed its association far more often than this recording.",
        recording.packets,
        100.0 * recording.acknowledgements,
        100.0 * recording.same,
        recording.figure9.without,
        recording.figure9.double,
        recording.figure9.removed,
        recording.figure9.kept
    );
    let (one, many) = (IN_FLIGHT[0], IN_FLIGHT[1]);
    let of = |n: usize| model.array.iter().find(|a| a.0 == n).map_or(0.0, |a| a.1.double);
    say!(
        page,
        "\n**Our array in order** has {one} packet in flight, because the next task begins when this one has ended: {:.2} % with double \
         buffering. It is small because one packet at a time is slow, so that a load hides behind it. At the rate of {many} \
         packets in flight, which no order that is strict allows, it would be {:.1} %.\n",
        of(one),
        of(many)
    );
    say!(page, "## The paper's machine on the same traffic: more groups, other loads, a hierarchy\n");
    let p = Mark::Predicted;
    let columns = [
        ("without %", p),
        ("with %", p),
        ("removed %", p),
        ("of this hidden", p),
        ("and kept", p),
        ("first loads %", p),
        ("tasks kept %", p),
    ];
    say!(page, "{}", heads(&["loads", "groups"], &columns));
    for WhatIf { what, groups, figure9: f, parts, .. } in what_if {
        say!(
            page,
            "| {what} | {groups} | {:.1} | {:.2} | {:.1} | {:.1} | {:.1} | {:.2} | {:.1} |",
            f.without,
            f.double,
            f.removed,
            parts.hidden,
            parts.kept,
            parts.first,
            f.kept
        );
    }
    say!(
        page,
        "\nA cache holds the sets that were loaded last, and what it holds is loaded in a quarter of the time; what that \
         saves is counted with what is kept. Loads of 2500 µs are near those of a slot. Power is not modelled."
    );
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cache_that_holds_all_but_one_misses_when_four_take_turns() {
        let loads = [8.0; 4];
        let run = |sets| {
            let mut load = cache(&loads, sets);
            (0..12).map(|n| load(n % 4)).sum::<f64>()
        };
        assert_eq!((run(3), run(4)), (96.0, 4.0 * 8.0 + 8.0 * 2.0));
    }
}
