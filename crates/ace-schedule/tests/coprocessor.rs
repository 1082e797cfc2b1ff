// SPDX-License-Identifier: Apache-2.0
//! A processor beside the slots: no packet waits for a load when the processor would have it done earlier.

use std::path::{Path, PathBuf};

use ace_engine::profile::Processor as Profile;
use ace_schedule::simulate::{NEVER, Outcome, PASSES, Packet, Setup, Start, Trace, simulate};
use ace_schedule::study::Figures;
use ace_schedule::study::twenty::{ALGORITHMS, LATENCY, LOAD, SLOTS, computed, together, traffic};
use ace_schedule::{Costs, Decision, Policy, Processor, Queue, QueuedOp, SlotState, Terms, Time};

use crate::c;

fn studies(file: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../studies").join(file)
}

fn read<T: serde::de::DeserializeOwned>(file: &str) -> T {
    toml::from_str(&std::fs::read_to_string(studies(file)).unwrap()).unwrap()
}

/// Operations that waited for a load though the processor had nothing to do and would have had them done earlier, and all
/// that waited for one.
fn waited_in_vain(trace: &Trace, out: &Outcome, cpu: &[[Time; PASSES]]) -> (usize, usize) {
    let mut works: Vec<(Time, Time)> =
        out.starts.iter().filter(|s| s.slot == SLOTS).map(|s| (s.start, s.end)).collect();
    works.sort_unstable();
    // The first instant from `at` on at which the processor has nothing to do.
    let idle = |mut at: Time| {
        for (start, end) in &works {
            if *start <= at && at < *end {
                at = *end;
            }
        }
        at
    };
    let mut ends = std::collections::HashMap::new();
    let mut before: std::collections::HashMap<(u32, usize), Time> = std::collections::HashMap::new();
    let (mut vain, mut waited) = (0, 0);
    for s in &out.starts {
        let packet = &trace.packets[s.packet];
        let first = s.pass.checked_sub(1).and_then(|pass| ends.get(&(s.packet, pass)).copied());
        let of_flow = before.insert((packet.flow, s.pass), s.end).unwrap_or(0);
        ends.insert((s.packet, s.pass), s.end);
        let turn = first.unwrap_or(packet.arrival).max(of_flow);
        let Some(load) = out.loads.iter().rfind(|l| l.0 == s.slot && l.2 <= s.start) else { continue };
        if load.3 <= turn {
            continue;
        }
        waited += 1;
        let from = idle(turn);
        let time = cpu[s.packet][s.pass];
        if time != NEVER && from < load.3 && from + time < s.end {
            vain += 1;
        }
    }
    (vain, waited)
}

#[test]
fn no_packet_waits_for_a_load_when_the_processor_would_have_it_done_earlier() {
    for (file, mbps) in [("vr5500", 120.0), ("cortex-a53", 120.0), ("this-machine", 400.0)] {
        let profile: Profile = read(&format!("processors/{file}.toml"));
        let figures: Figures = read("scheduling/classes.toml");
        let trace = traffic(&figures, 1000, mbps, 300_000_000).unwrap();
        let cpu = computed(&trace, &profile);
        let costs = Costs::whole(vec![LOAD; ALGORITHMS.len()]);
        for policy in [Policy::DoubleBuffer, Policy::Landlord, Policy::Rotation, Policy::Adaptive] {
            let setup = Setup::new(SLOTS, &costs, LATENCY);
            let alone = simulate(&trace, &setup, policy);
            let out = simulate(&trace, &Setup { cpu: Some(&cpu), ..setup }, policy);
            let (vain, waited) = waited_in_vain(&trace, &out, &cpu);
            println!(
                "{}, {policy}: {} packets, {} loads ({} without), {} passes on the processor; {waited} waited for a load, {vain} in vain",
                profile.name,
                trace.packets.len(),
                out.load_count,
                alone.load_count,
                out.computed
            );
            assert_eq!(out.unserved, 0);
            assert!(out.computed > 0);
            assert_eq!(vain, 0, "{}, {policy}", profile.name);
        }
    }
}

/// More than anybody carries, so that the end of all is the throughput.
#[test]
fn both_together_carry_what_the_better_one_carries_alone_of_twenty_associations() {
    let figures: Figures = read("scheduling/classes.toml");
    for file in ["vr5500", "cortex-a53", "this-machine"] {
        let profile: Profile = read(&format!("processors/{file}.toml"));
        for policy in [Policy::DoubleBuffer, Policy::Landlord, Policy::Rotation, Policy::Adaptive] {
            for mbps in [400.0, 1500.0] {
                let of = together(&figures, &profile, policy, 1000, mbps).unwrap();
                println!("{mbps} {:.3} {of:?}", of.of_the_better());
                assert!(of.of_the_better() >= 0.97, "{of:?}");
            }
        }
    }
}

/// Passes on the processor, over all, of packets `from..to`.
fn on_processor(out: &Outcome, from: usize, to: usize) -> f64 {
    let all = out.starts.iter().filter(|s| (from..to).contains(&s.packet));
    let there = all.clone().filter(|s| s.slot == 1).count();
    there as f64 / all.count().max(1) as f64
}

/// Four associations on one slot and a processor that is said to take 50; what the slot is said to take, and what both take
/// by packet.
fn learnt(
    count: usize,
    estimate: Time,
    slot: impl Fn(usize) -> Time,
    processor: impl Fn(usize) -> Time,
    probe: u32,
) -> Outcome {
    let packet = |at: usize| {
        let arrival = 100 * at as Time;
        Packet { arrival, flow: at as u32 % 4, suite: 0, bytes: 100, costs: [estimate; PASSES] }
    };
    let trace = Trace { suites: vec![vec![vec![c(0)]]], packets: (0..count).map(packet).collect() };
    let costs = Costs::whole(vec![500]);
    let cpu = vec![[50, NEVER, NEVER]; count];
    let slot: Vec<[Time; PASSES]> = (0..count).map(|at| [slot(at); PASSES]).collect();
    let processor: Vec<[Time; PASSES]> = (0..count).map(|at| [processor(at); PASSES]).collect();
    let setup = Setup::new(1, &costs, 100_000);
    let terms = Terms { probe, ..setup.terms };
    let setup = Setup { cpu: Some(&cpu), really: Some((&slot, &processor)), terms, ..setup };
    let out = simulate(&trace, &setup, Policy::Adaptive);
    assert_eq!(out.unserved, 0);
    out
}

#[test]
fn operations_follow_what_slots_really_take() {
    // Fast as said, then three times as slow as the processor, then fast again.
    let really = |at: usize| if (2000..4000).contains(&at) { 150 } else { 15 };
    let out = learnt(16_000, 15, really, |_| 50, 64);
    let [first, second, last] =
        [(500, 2000), (2500, 4000), (14_000, 16_000)].map(|(a, b)| on_processor(&out, a, b));
    assert!(first < 0.05 && second > 0.9 && last < 0.05, "{first:.3} {second:.3} {last:.3}");
    // Some of each, or nobody would have known; and without probes nobody does.
    assert!(first > 0.005 && second < 1.0, "{first:.3} {second:.3}");
    let blind = learnt(16_000, 15, really, |_| 50, 0);
    assert!(on_processor(&blind, 14_000, 16_000) > 0.9);
}

#[test]
fn whoever_did_the_last_one_keeps_the_next_if_both_are_alike() {
    // Six packets of an association in which one of them takes a tenth more, then six in which the other does.
    let slot = |at: usize| if (at / 24).is_multiple_of(2) { 47 } else { 52 };
    let processor = |at: usize| if (at / 24).is_multiple_of(2) { 52 } else { 47 };
    let out = learnt(4000, 48, slot, processor, 0);
    let mut last = std::collections::HashMap::new();
    let changed = |s: &&Start| last.insert(s.packet % 4, s.slot) != Some(s.slot);
    let changes = out.starts.iter().skip(400).filter(changed).count();
    // The first of each association; without a margin there are three times as many.
    assert_eq!(changes, 4, "of {}", out.starts.len());
}

/// The second packet of an association whose first one is in a slot until 100, which has room: what is decided, and that it
/// is the processor's when the slot has answered.
#[test]
fn a_slot_that_has_an_association_does_not_keep_it_from_a_faster_processor() {
    let decided = |slot: Time, processor: Time| {
        let costs = Costs::whole(vec![500]);
        let mut queue = Queue::new(Terms::new(100_000, 500));
        queue.learn(1);
        let class = queue.class(&[c(0)], &[]);
        let op = |id: u64| QueuedOp {
            id,
            flow: 7,
            packet: id,
            arrived: 0,
            class,
            cost: slot,
            next: 0,
            cpu: Some(processor),
            aside: 10,
            host: 0,
            bytes: 100,
        };
        queue.push(op(0));
        queue.start(0, 0);
        queue.push(op(1));
        let busy = SlotState::Busy { configuration: c(0), since: 0, until: 100, room: 1 };
        let before =
            Policy::DoubleBuffer.decide_with_coprocessor(&mut queue, &[busy], &costs, Processor::default());
        queue.advance(100);
        queue.finish(0);
        let idle = SlotState::Idle { configuration: c(0), last_used: 100, since: 0, blocked: false };
        (
            before,
            Policy::DoubleBuffer.decide_with_coprocessor(&mut queue, &[idle], &costs, Processor::default()),
        )
    };
    assert_eq!(decided(80, 20), (Decision::WaitUntil(100), Decision::Compute { op: 1 }));
    let there = Decision::Execute { slot: 0, op: 1 };
    assert_eq!(decided(80, 120), (there, there));
}
