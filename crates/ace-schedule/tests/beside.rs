// SPDX-License-Identifier: Apache-2.0
//! A processor beside the slots: no packet waits for a load when the processor would have it done earlier.

use std::path::{Path, PathBuf};

use ace_schedule::simulate::{NEVER, Outcome, PASSES, Setup, Trace, simulate};
use ace_schedule::study::{Figure, Figures};
use ace_schedule::traffic::{Network, Random, zipf};
use ace_schedule::{Costs, Policy, Time};
use serde::Deserialize;

#[derive(Deserialize)]
struct Profile {
    name: String,
    rate: Vec<Rate>,
}

#[derive(Deserialize)]
struct Rate {
    algorithm: String,
    mbps: f64,
    #[serde(default)]
    fixed_ns: f64,
}

const ALGORITHMS: [&str; 8] = ["aes", "des", "3des", "cast128", "cast256", "rc6", "md5", "sha1"];
const SLOTS: usize = 2;
/// A whole image of the demo's (docs/scheduling.md).
const LOAD: Time = 4_550_000;
const LATENCY: Time = 50_000_000;

fn studies(file: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../studies").join(file)
}

fn read<T: serde::de::DeserializeOwned>(file: &str) -> T {
    toml::from_str(&std::fs::read_to_string(studies(file)).unwrap()).unwrap()
}

/// 20 SAs over six ciphers and two hashes, 300 ms.
fn traffic(seed: u64, mbps: f64) -> Trace {
    let figures: Figures = read("scheduling/classes.toml");
    let pace = |name: &str| {
        let all = || figures.cipher.iter().chain(&figures.hash);
        let Figure { mbps, fixed_ns, .. } = all().find(|f| f.name == name).unwrap();
        (8000.0 / mbps, *fixed_ns)
    };
    let network = Network {
        suites: (0..20).map(|at| vec![vec![at % 6], vec![6 + at % 2]]).collect(),
        pace: ALGORITHMS.map(pace).to_vec(),
        lanes: (0..20).zip(zipf(20, 0.9)).collect(),
        sizes: vec![(64, 1.0), (1424, 2.0)],
    };
    network.poisson(&mut Random(seed), mbps / 8000.0, 300_000_000)
}

/// Time of each pass on the processor.
fn computed(trace: &Trace, profile: &Profile) -> Vec<[Time; PASSES]> {
    let time = |configuration: usize, bytes: u32| {
        let rate = profile.rate.iter().find(|r| r.algorithm == ALGORITHMS[configuration]);
        rate.map_or(NEVER, |r| (f64::from(bytes) * 8000.0 / r.mbps + r.fixed_ns) as Time)
    };
    let packet = |p: &ace_schedule::simulate::Packet| {
        let passes = &trace.suites[p.suite as usize];
        [time(passes[0][0], p.bytes), time(passes[1][0], p.bytes), NEVER]
    };
    trace.packets.iter().map(packet).collect()
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
        let of_lane = before.insert((packet.lane, s.pass), s.end).unwrap_or(0);
        ends.insert((s.packet, s.pass), s.end);
        let turn = first.unwrap_or(packet.arrival).max(of_lane);
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
        let trace = traffic(1000, mbps);
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
