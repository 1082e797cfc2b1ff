// SPDX-License-Identifier: Apache-2.0
//! What every policy has to guarantee, over random traces.

use std::collections::HashMap;

use ace_schedule::{Costs, Outcome, Packet, Policy, Task, fewest_loads_in_order, simulate};
use proptest::prelude::*;

const CONFIGURATIONS: usize = 5;

fn task(configurations: usize) -> impl Strategy<Value = Task> {
    (prop::collection::vec(0..configurations, 1..3), 1u64..60)
        .prop_map(|(candidates, cost)| Task { candidates, cost })
}

/// Any packets whatever: passes change from packet to packet within a lane.
fn wild() -> impl Strategy<Value = Vec<Packet>> {
    let packet = (0u32..4, prop::collection::vec(task(CONFIGURATIONS), 0..4))
        .prop_map(|(lane, tasks)| Packet { lane, tasks });
    prop::collection::vec(packet, 0..80)
}

/// Packets as security associations make them: each lane has its suite, one configuration per pass.
fn suites() -> impl Strategy<Value = Vec<Packet>> {
    let suite = prop::collection::vec(0..CONFIGURATIONS, 1..3);
    (prop::collection::vec(suite, 1..4), prop::collection::vec((0usize..4, 1u64..60), 0..120)).prop_map(
        |(suites, packets)| {
            let packet = |(lane, cost): (usize, u64)| {
                let lane = lane % suites.len();
                let tasks = suites[lane].iter().map(|c| Task { candidates: vec![*c], cost }).collect();
                Packet { lane: lane as u32, tasks }
            };
            packets.into_iter().map(packet).collect()
        },
    )
}

fn policies() -> impl Strategy<Value = Policy> {
    prop_oneof![Just(Policy::OnDemand), (0u32..40).prop_map(|patience| Policy::DoubleBuffer { patience })]
}

fn costs(load: u64) -> Costs {
    Costs::whole(vec![load; CONFIGURATIONS])
}

/// Checks a run from its log alone.
fn check(trace: &[Packet], out: &Outcome) {
    let wanted: usize = trace.iter().map(|p| p.tasks.len()).sum();
    assert_eq!(out.starts.len(), wanted, "every task runs once");
    assert_eq!(out.unserved, 0);
    let mut ends: HashMap<(usize, usize), u64> = HashMap::new();
    for s in &out.starts {
        let task = &trace[s.packet].tasks[s.task];
        assert_eq!(s.end - s.start, task.cost);
        assert!(task.candidates.contains(&s.configuration), "{s:?} on a configuration that cannot serve it");
        // The last load of this slot that began before is this configuration, and it is over.
        let load = out.loads.iter().rfind(|(slot, _, start, _)| *slot == s.slot && *start <= s.start);
        let (_, configuration, _, ready) = load.expect("a slot that was never loaded");
        assert_eq!(*configuration, s.configuration, "{s:?}");
        assert!(*ready <= s.start, "{s:?} during a load");
        assert!(
            ends.insert((s.packet, s.task), s.end).is_none(),
            "task {} of packet {} ran twice",
            s.task,
            s.packet
        );
        if s.task > 0 {
            assert!(ends[&(s.packet, s.task - 1)] <= s.start, "a pass before the one it depends on");
        }
    }
    // A slot does one thing at a time.
    let mut spans: Vec<_> = out.loads.iter().map(|(slot, _, start, end)| (*slot, *start, *end)).collect();
    spans.extend(out.starts.iter().map(|s| (s.slot, s.start, s.end)));
    spans.sort_unstable();
    for pair in spans.windows(2) {
        assert!(pair[0].0 != pair[1].0 || pair[0].2 <= pair[1].1, "{pair:?} overlap");
    }
    // One configuration port.
    for pair in out.loads.windows(2) {
        assert!(pair[0].3 <= pair[1].2, "two loads at once: {pair:?}");
    }
    assert!(out.exposed_load <= out.load && out.load <= out.total);
}

/// In one lane, the same pass of an earlier packet starts and ends first.
fn check_lanes(trace: &[Packet], out: &Outcome) {
    let mut last: HashMap<(u32, usize), (usize, u64)> = HashMap::new();
    for s in &out.starts {
        let lane = trace[s.packet].lane;
        if let Some((packet, end)) = last.insert((lane, s.task), (s.packet, s.end)) {
            assert!(packet < s.packet, "lane {lane}: packet {} before {}", packet, s.packet);
            assert!(end <= s.start, "lane {lane}: packets {} and {} at once", packet, s.packet);
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 200, ..ProptestConfig::default() })]

    #[test]
    fn every_task_runs_once_where_it_can(
        trace in wild(), policy in policies(), slots in 1usize..4, buffer in 1usize..20, load in 0u64..200
    ) {
        check(&trace, &simulate(&trace, buffer, slots, &costs(load), policy));
    }

    #[test]
    fn lanes_keep_their_order(
        trace in suites(), policy in policies(), slots in 1usize..4, buffer in 1usize..20, load in 0u64..200
    ) {
        let out = simulate(&trace, buffer, slots, &costs(load), policy);
        check(&trace, &out);
        check_lanes(&trace, &out);
    }

    #[test]
    fn on_demand_keeps_the_order_of_packets_and_overlaps_nothing(
        trace in wild(), slots in 1usize..4, buffer in 1usize..20, load in 0u64..200
    ) {
        let out = simulate(&trace, buffer, slots, &costs(load), Policy::OnDemand);
        let order: Vec<_> = out.starts.iter().map(|s| (s.packet, s.task)).collect();
        prop_assert!(order.is_sorted());
        prop_assert_eq!(out.exposed_load, out.load);
        let work: u64 = out.starts.iter().map(|s| s.end - s.start).sum();
        prop_assert_eq!(out.total, out.load + work);
        let sequence: Vec<_> = out.starts.iter().map(|s| s.configuration).collect();
        prop_assert!(out.loads.len() >= fewest_loads_in_order(&sequence, slots));
    }

    #[test]
    fn the_same_trace_gives_the_same_decisions(trace in wild(), policy in policies(), load in 0u64..200) {
        let run = || simulate(&trace, 8, 2, &costs(load), policy);
        prop_assert_eq!(run(), run());
    }
}

/// Traces like those of `suites`, the same in every run.
fn fixed_traces(count: u64) -> Vec<Vec<Packet>> {
    let mut state = 88_172_645_463_325_252_u64;
    let mut below = |n: u64| {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        (state >> 20) % n
    };
    let mut trace = |_| {
        let lanes = 1 + below(4);
        let suites: Vec<Vec<usize>> =
            (0..lanes).map(|_| (0..=below(2)).map(|_| below(5) as usize).collect()).collect();
        let mut packet = |_| {
            let (lane, cost) = (below(lanes), 1 + below(60));
            let tasks = suites[lane as usize].iter().map(|c| Task { candidates: vec![*c], cost }).collect();
            Packet { lane: lane as u32, tasks }
        };
        (0..200).map(&mut packet).collect()
    };
    (0..count).map(&mut trace).collect()
}

#[test]
fn double_buffering_is_not_slower_with_enough_look_ahead() {
    for load in [1, 10, 100, 2000, 20_000] {
        for trace in fixed_traces(60) {
            let on_demand = simulate(&trace, 64, 2, &costs(load), Policy::OnDemand);
            let double = simulate(&trace, 64, 2, &costs(load), Policy::ALL[1]);
            assert!(double.total <= on_demand.total, "{} > {}", double.total, on_demand.total);
            assert!(double.exposed_load <= on_demand.exposed_load);
        }
    }
}

/// With two packets of look-ahead it gives up configuration 0, which both lanes need, because nothing in the
/// buffer needs it at that moment; replacing what was used longest ago does better here.
#[test]
fn double_buffering_is_slower_when_it_sees_too_little() {
    let suites = [[0, 3], [0, 1]];
    let lanes = [1, 0, 0, 0, 1, 0, 1, 0, 1, 1, 0, 0];
    let tasks = |lane: usize| suites[lane].map(|c| Task { candidates: vec![c], cost: 30 }).to_vec();
    let trace: Vec<_> = lanes.map(|lane| Packet { lane: lane as u32, tasks: tasks(lane) }).to_vec();
    let total = |buffer, policy| simulate(&trace, buffer, 2, &costs(2000), policy).total;
    assert!(total(2, Policy::ALL[1]) > total(2, Policy::OnDemand));
    assert!(total(12, Policy::ALL[1]) < total(12, Policy::OnDemand));
}

/// One packet of lane 1 against an endless stream of lane 0 whose two configurations fill both slots.
fn lonely(patience: u32, load: u64) -> (usize, usize) {
    let two = |c: usize| Task { candidates: vec![c], cost: 10 };
    let mut trace = vec![Packet { lane: 0, tasks: vec![two(0), two(1)] }; 2000];
    trace[3] = Packet { lane: 1, tasks: vec![two(2)] };
    let out = simulate(&trace, 16, 2, &costs(load), Policy::DoubleBuffer { patience });
    check(&trace, &out);
    let at = out.starts.iter().position(|s| s.packet == 3).expect("it ran");
    let overtook = out.starts[..at].iter().filter(|s| s.packet > 3).count();
    (overtook, out.loads.len())
}

#[test]
fn nobody_waits_longer_than_patience_and_one_load() {
    for patience in [0, 1, 10, 100, 1000] {
        for load in [0, 10, 300] {
            let (overtook, _) = lonely(patience, load);
            // While the load is under way the other slot may go on: one operation per 10 units of time, and
            // those already in the slots.
            let bound = patience as usize + load as usize / 10 + 3;
            assert!(overtook <= bound, "patience {patience}, load {load}: overtaken by {overtook} > {bound}");
        }
    }
    // Without the bound it would wait for the end of the stream.
    assert!(lonely(u32::MAX, 10).0 > 3900);
}

#[test]
fn fewest_loads_by_hand() {
    assert_eq!(fewest_loads_in_order(&[], 2), 0);
    assert_eq!(fewest_loads_in_order(&[0, 1, 0, 1], 2), 2);
    assert_eq!(fewest_loads_in_order(&[0, 1, 2, 0, 1, 2], 2), 4);
    assert_eq!(fewest_loads_in_order(&[0, 1, 2, 0, 1, 2], 1), 6);
    assert_eq!(fewest_loads_in_order(&[0, 1, 2, 0, 1, 2], 3), 3);
}

/// One slot, packets that want 0, then 1 or 2, then 0 again: making 1 of 0 is cheap, 2 is not.
#[test]
fn a_part_of_an_image_is_chosen_and_charged_as_such() {
    let packet = |candidates: &[usize]| Packet {
        lane: 0,
        tasks: vec![Task { candidates: candidates.to_vec(), cost: 10 }],
    };
    let trace = [packet(&[0]), packet(&[2, 1]), packet(&[0])];
    let mut costs = costs(1000);
    let run = |costs: &Costs| simulate(&trace, 4, 1, costs, Policy::ALL[1]);
    assert_eq!(run(&costs).loads.iter().map(|load| load.1).collect::<Vec<_>>(), [0, 2, 0]);
    costs.switch.insert((0, 1), 50);
    // A part that is dearer than the whole changes nothing.
    costs.switch.insert((1, 0), 5000);
    let out = run(&costs);
    assert_eq!(
        out.loads.iter().map(|load| (load.1, load.3 - load.2)).collect::<Vec<_>>(),
        [(0, 1000), (1, 50), (0, 1000)]
    );
    assert_eq!((costs.of(None, 1), costs.of(Some(0), 1), costs.of(Some(2), 1)), (1000, 50, 1000));
    check(&trace, &out);
}
