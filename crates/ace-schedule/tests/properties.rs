// SPDX-License-Identifier: Apache-2.0
//! What every policy has to guarantee, over random traces.

use std::collections::HashMap;

use ace_schedule::bound::fewest_loads_in_order;
use ace_schedule::simulate::{Late, NEVER, Outcome, Packet, Setup, Trace};
use ace_schedule::{Costs, Policy, Time, simulate};
use proptest::prelude::*;

use crate::c;

const CONFIGURATIONS: usize = 5;
const LATENCY: Time = 1000;

/// Any packets whatever: passes change from packet to packet within a flow.
fn wild() -> impl Strategy<Value = Trace> {
    let pass = prop::collection::vec((0..CONFIGURATIONS).prop_map(c), 1..3);
    let packet = (0u32..4, prop::collection::vec(pass, 0..4), [1u64..60, 1..60, 1..60], 0u64..40);
    prop::collection::vec(packet, 0..80).prop_map(|packets| {
        let (mut trace, mut arrival) = (Trace::default(), 0);
        for (at, (flow, suite, costs, gap)) in packets.into_iter().enumerate() {
            trace.suites.push(suite);
            arrival += gap;
            trace.packets.push(Packet { arrival, flow, suite: at as u32, bytes: 100, costs });
        }
        trace
    })
}

/// Packets as security associations make them: each flow has its suite, one configuration per pass.
fn suites() -> impl Strategy<Value = Trace> {
    let suite = prop::collection::vec((0..CONFIGURATIONS).prop_map(|index| vec![c(index)]), 1..3);
    let packets = prop::collection::vec((0usize..4, 1u64..60, 0u64..40), 0..120);
    (prop::collection::vec(suite, 1..4), packets, any::<bool>()).prop_map(|(suites, packets, at_once)| {
        let mut arrival = 0;
        let packet = |(flow, cost, gap): (usize, u64, u64)| {
            arrival += if at_once { 0 } else { gap };
            let flow = (flow % suites.len()) as u32;
            Packet { arrival, flow, suite: flow, bytes: 100, costs: [cost; 3] }
        };
        let packets = packets.into_iter().map(packet).collect();
        Trace { suites, packets }
    })
}

fn policies() -> impl Strategy<Value = Policy> {
    prop::sample::select(Policy::ALL.to_vec())
}

fn costs(load: u64) -> Costs {
    Costs::whole(vec![load; CONFIGURATIONS])
}

fn passes(trace: &Trace) -> usize {
    trace.packets.iter().map(|p| trace.suites[p.suite as usize].len()).sum()
}

/// Checks a run from its log alone.
fn check(trace: &Trace, setup: &Setup, out: &Outcome) {
    if setup.late == Late::Kept {
        assert_eq!(out.starts.len(), passes(trace), "every pass runs once");
        assert_eq!(out.unserved, 0);
        assert!(out.left.iter().all(|left| *left != NEVER));
    } else {
        assert_eq!(out.left.iter().filter(|left| **left == NEVER).count(), out.dropped);
    }
    let mut ends: HashMap<(usize, usize), u64> = HashMap::new();
    for s in &out.starts {
        let packet = &trace.packets[s.packet];
        assert!(packet.arrival <= s.start, "{s:?} before it came");
        assert_eq!(s.end - s.start, packet.costs[s.pass]);
        let candidates = &trace.suites[packet.suite as usize][s.pass];
        assert!(
            s.configuration.is_some_and(|resident| candidates.contains(&resident)),
            "{s:?} on a configuration that cannot serve it"
        );
        // The last load of this slot that began before is this configuration, and it is over.
        let load = out.loads.iter().rfind(|(slot, _, start, _)| *slot == s.slot && *start <= s.start);
        let (_, configuration, _, ready) = load.expect("a slot that was never loaded");
        assert_eq!(Some(*configuration), s.configuration, "{s:?}");
        assert!(*ready <= s.start, "{s:?} during a load");
        assert!(ends.insert((s.packet, s.pass), s.end).is_none(), "{s:?} ran twice");
        if s.pass > 0 {
            assert!(ends[&(s.packet, s.pass - 1)] <= s.start, "a pass before the one it depends on");
        }
    }
    // A slot does one thing at a time, and of its banks one works.
    let mut spans: Vec<_> = out.loads.iter().map(|(slot, _, start, end)| (*slot, *start, *end)).collect();
    spans.extend(out.starts.iter().map(|s| (s.slot, s.start, s.end)));
    let mut works: Vec<_> = out.starts.iter().map(|s| (s.slot / setup.banks, s.start, s.end)).collect();
    for spans in [&mut spans, &mut works] {
        spans.sort_unstable();
        for pair in spans.windows(2) {
            assert!(pair[0].0 != pair[1].0 || pair[0].2 <= pair[1].1, "{pair:?} overlap");
        }
    }
    // One configuration port.
    for pair in out.loads.windows(2) {
        assert!(pair[0].3 <= pair[1].2, "two loads at once: {pair:?}");
    }
    assert!(out.exposed_first <= out.exposed_load && out.exposed_load <= out.load && out.load <= out.total);
    assert_eq!((out.loads.len(), out.starts.len()), (out.load_count, out.start_count));
}

/// In one flow, the same pass of an earlier packet starts and ends first, and packets leave in order.
fn check_flows(trace: &Trace, out: &Outcome) {
    let mut last: HashMap<(u32, usize), (usize, u64)> = HashMap::new();
    for s in &out.starts {
        let flow = trace.packets[s.packet].flow;
        if let Some((packet, end)) = last.insert((flow, s.pass), (s.packet, s.end)) {
            assert!(packet < s.packet, "flow {flow}: packet {} before {}", packet, s.packet);
            assert!(end <= s.start, "flow {flow}: packets {} and {} at once", packet, s.packet);
        }
    }
    let mut left: HashMap<u32, u64> = HashMap::new();
    for (packet, at) in trace.packets.iter().zip(&out.left).filter(|(_, at)| **at != NEVER) {
        let last = left.insert(packet.flow, *at).unwrap_or(0);
        assert!(last <= *at, "flow {}: a packet left before an earlier one", packet.flow);
    }
}

prop_compose! {
    fn setups()(slots in 1usize..4, banks in 1usize..3, buffer in 1usize..20, open in any::<bool>(),
                dropped in any::<bool>()) -> (usize, usize, usize, Late) {
        let late = if dropped { Late::Dropped } else { Late::Kept };
        (slots * banks, banks, if open { usize::MAX } else { buffer }, late)
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, ..ProptestConfig::default() })]

    #[test]
    fn every_pass_runs_once_where_it_can(
        trace in wild(), policy in policies(), (slots, banks, buffer, late) in setups(), load in 0u64..400
    ) {
        let costs = costs(load);
        let setup = Setup { banks, buffer, late, ..Setup::new(slots, &costs, LATENCY) };
        check(&trace, &setup, &simulate(&trace, &setup, policy));
    }

    #[test]
    fn lanes_keep_their_order(
        trace in suites(), policy in policies(), (slots, banks, buffer, late) in setups(), load in 0u64..400
    ) {
        let costs = costs(load);
        let setup = Setup { banks, buffer, late, ..Setup::new(slots, &costs, LATENCY) };
        let out = simulate(&trace, &setup, policy);
        check(&trace, &setup, &out);
        check_flows(&trace, &out);
    }

    /// Whatever a processor beside the slots can do and how fast: every pass runs once, flows keep their order, and nothing
    /// stands still.
    #[test]
    fn with_a_processor_beside_flows_keep_their_order_and_all_is_done(
        trace in suites(), policy in policies(), slots in 1usize..4, buffer in 1usize..20, load in 0u64..400,
        times in prop::collection::vec(prop::option::of(1u64..100), 1..8)
    ) {
        let costs = costs(load);
        let of = |at: usize| times[at % times.len()].unwrap_or(NEVER);
        let cpu: Vec<[Time; 3]> = (0..trace.packets.len()).map(|at| [of(at), of(3 * at + 1), NEVER]).collect();
        let setup = Setup { buffer, cpu: Some(&cpu), ..Setup::new(slots, &costs, LATENCY) };
        let out = simulate(&trace, &setup, policy);
        prop_assert_eq!(out.unserved, 0);
        prop_assert_eq!(out.starts.len(), passes(&trace));
        check_flows(&trace, &out);
        let mut works: Vec<_> = out.starts.iter().filter(|s| s.slot == slots).collect();
        prop_assert_eq!(works.len(), out.computed);
        works.sort_by_key(|s| s.start);
        prop_assert!(works.windows(2).all(|pair| pair[0].end <= pair[1].start), "one thing at a time");
        for s in works {
            prop_assert_eq!(s.end - s.start, cpu[s.packet][s.pass]);
        }
    }

    #[test]
    fn on_demand_keeps_the_order_of_packets_and_overlaps_nothing(
        trace in wild(), slots in 1usize..4, buffer in 1usize..20, load in 0u64..200
    ) {
        let costs = costs(load);
        let setup = Setup { buffer, ..Setup::new(slots, &costs, LATENCY) };
        let out = simulate(&trace, &setup, Policy::OnDemand);
        let order: Vec<_> = out.starts.iter().map(|s| (s.packet, s.pass)).collect();
        prop_assert!(order.is_sorted());
        prop_assert_eq!(out.exposed_load, out.load);
        let sequence: Vec<_> = out.starts.iter().filter_map(|s| s.configuration).collect();
        prop_assert!(out.loads.len() >= fewest_loads_in_order(&sequence, slots));
    }

    #[test]
    fn the_same_trace_gives_the_same_decisions(trace in wild(), policy in policies(), load in 0u64..200) {
        let costs = costs(load);
        let run = || simulate(&trace, &Setup::new(2, &costs, LATENCY), policy);
        prop_assert_eq!(run(), run());
    }

    /// No packet that is dropped could have been in time at that moment, and none that is out late is counted as lost.
    #[test]
    fn what_is_dropped_was_late(trace in suites(), policy in policies(), load in 0u64..3000) {
        let costs = costs(load);
        let setup = Setup { late: Late::Dropped, ..Setup::new(2, &costs, 300) };
        let out = simulate(&trace, &setup, policy);
        for (packet, left) in trace.packets.iter().zip(&out.left).filter(|(_, left)| **left != NEVER) {
            // The bound is kept for every packet that leaves, up to the pass that was running when it ended.
            prop_assert!(*left <= packet.arrival + 300);
        }
    }
}

/// Traces like those of `suites`, the same in every run, all packets there at once.
fn fixed_traces(count: u64) -> Vec<Trace> {
    let mut state = 88_172_645_463_325_252_u64;
    let mut below = |n: u64| {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        (state >> 20) % n
    };
    let mut trace = |_| {
        let flows = 1 + below(4);
        let suites: Vec<Vec<Vec<_>>> =
            (0..flows).map(|_| (0..=below(2)).map(|_| vec![c(below(5) as usize)]).collect()).collect();
        let mut packet = |_| {
            let (flow, cost) = (below(flows) as u32, 1 + below(60));
            Packet { arrival: 0, flow, suite: flow, bytes: 100, costs: [cost; 3] }
        };
        let packets = (0..200).map(&mut packet).collect();
        Trace { suites, packets }
    };
    (0..count).map(&mut trace).collect()
}

#[test]
fn double_buffering_is_not_slower_with_enough_look_ahead() {
    for load in [1, 10, 100, 2000, 20_000] {
        let costs = costs(load);
        for trace in fixed_traces(60) {
            let setup = Setup { buffer: 64, ..Setup::new(2, &costs, u64::MAX / 4) };
            let on_demand = simulate(&trace, &setup, Policy::OnDemand);
            let double = simulate(&trace, &setup, Policy::DoubleBuffer);
            assert!(double.total <= on_demand.total, "{} > {}", double.total, on_demand.total);
            assert!(double.exposed_load <= on_demand.exposed_load);
        }
    }
}

/// One packet of flow 1 against an endless stream of flow 0 whose two configurations fill both slots.
fn lonely(policy: Policy, starvation: Time, load: u64) -> Time {
    let packet = |flow: u32| Packet { arrival: 0, flow, suite: flow, bytes: 100, costs: [10; 3] };
    let mut packets = vec![packet(0); 2000];
    packets[3] = packet(1);
    let trace = Trace { suites: vec![vec![vec![c(0)], vec![c(1)]], vec![vec![c(2)]]], packets };
    let costs = costs(load);
    let mut setup = Setup { buffer: 16, ..Setup::new(2, &costs, starvation / 2) };
    setup.terms.starvation = starvation;
    let out = simulate(&trace, &setup, policy);
    check(&trace, &setup, &out);
    out.left[3]
}

#[test]
fn nobody_waits_longer_than_the_limit_and_the_loads_before_it() {
    for policy in [Policy::DoubleBuffer, Policy::Rotation, Policy::Adaptive] {
        for starvation in [100, 1000, 4000] {
            for load in [0, 10, 300] {
                let left = lonely(policy, starvation, load);
                // Two loads that are under way before, its own, and frames in the slots.
                let bound = starvation + 3 * load + 50;
                assert!(left <= bound, "{policy}, {starvation}, load {load}: {left} > {bound}");
            }
        }
    }
    // Without the bound it would wait for the end of the stream.
    assert!(lonely(Policy::DoubleBuffer, u64::MAX / 4, 10) > 15_000);
}

#[test]
fn fewest_loads_by_hand() {
    assert_eq!(fewest_loads_in_order(&[], 2), 0);
    assert_eq!(fewest_loads_in_order(&[0, 1, 0, 1].map(c), 2), 2);
    assert_eq!(fewest_loads_in_order(&[0, 1, 2, 0, 1, 2].map(c), 2), 4);
    assert_eq!(fewest_loads_in_order(&[0, 1, 2, 0, 1, 2].map(c), 1), 6);
    assert_eq!(fewest_loads_in_order(&[0, 1, 2, 0, 1, 2].map(c), 3), 3);
}

/// One slot, packets that want 0, then 1 or 2, then 0 again: making 1 of 0 is cheap, 2 is not.
#[test]
fn a_part_of_an_image_is_chosen_and_charged_as_such() {
    let packet = |suite| Packet { arrival: 0, flow: 0, suite, bytes: 100, costs: [10; 3] };
    let trace = Trace {
        suites: vec![vec![vec![c(0)]], vec![vec![c(2), c(1)]]],
        packets: vec![packet(0), packet(1), packet(0)],
    };
    let mut costs = costs(1000);
    let run = |costs: &Costs| simulate(&trace, &Setup::new(1, costs, 100_000), Policy::DoubleBuffer);
    assert_eq!(run(&costs).loads.iter().map(|load| load.1).collect::<Vec<_>>(), [0, 2, 0].map(c));
    costs.switch.insert((c(0), c(1)), 50);
    // A part that is dearer than the whole changes nothing.
    costs.switch.insert((c(1), c(0)), 5000);
    let out = run(&costs);
    assert_eq!(
        out.loads.iter().map(|load| (load.1, load.3 - load.2)).collect::<Vec<_>>(),
        [(c(0), 1000), (c(1), 50), (c(0), 1000)]
    );
    assert_eq!(
        (costs.of(None, c(1)), costs.of(Some(c(0)), c(1)), costs.of(Some(c(2)), c(1))),
        (1000, 50, 1000)
    );
    check(&trace, &Setup::new(1, &costs, 100_000), &out);
}

/// A ring is worth its longer load when many flows wait, and not for one, which goes through it a frame at a time.
#[test]
fn two_slots_for_one_class_when_its_queue_asks_for_it() {
    let costs = costs(100);
    let packets = (0..4000u64).map(|at| Packet {
        arrival: at * 6,
        flow: (at % 16) as u32,
        suite: 0,
        bytes: 100,
        costs: [10; 3],
    });
    let trace = Trace { suites: vec![vec![vec![c(0)]]], packets: packets.collect() };
    let in_time = |slots: usize| {
        let setup = Setup { late: Late::Dropped, ..Setup::new(slots, &costs, LATENCY) };
        let out = simulate(&trace, &setup, Policy::Adaptive);
        check(&trace, &setup, &out);
        (out.loads.len(), trace.packets.len() - out.dropped)
    };
    assert_eq!(in_time(1).0, 1);
    let (loads, served) = in_time(2);
    assert_eq!(loads, 2);
    assert!(served > 3600, "{served}");
}
