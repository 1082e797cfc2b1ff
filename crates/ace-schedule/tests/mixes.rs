// SPDX-License-Identifier: Apache-2.0
//! Policies against each other: on the mixes of `ace study scheduling`, and on the demo's capture.

use std::fs::File;
use std::path::Path;

use ace_schedule::captured::{self, ITERATIVE, demo_suites};
use ace_schedule::simulate::{Setup, simulate};
use ace_schedule::study::{Figures, WAYS, row};
use ace_schedule::{Costs, Policy};
use pcap_file::pcap::PcapReader;

fn repository(file: &str) -> std::path::PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").join(file)
}

/// What leaves in time under `adaptive`, over the best of the others; the seed is one with which nothing was tuned.
#[test]
fn adaptive_is_near_the_best_of_the_others_in_every_mix() {
    let text = std::fs::read_to_string(repository("studies/scheduling/classes.toml")).unwrap();
    let figures: Figures = toml::from_str(&text).unwrap();
    let adaptive = WAYS.iter().position(|way| way.policy == Policy::Adaptive).unwrap();
    let mut worst = f64::INFINITY;
    // Those with few packets; `ace study scheduling` runs all.
    let few = |name: &str| name.contains("1 ms") || name.contains("two passes, whole");
    for class in figures.class.iter().filter(|c| few(&c.name)) {
        for part in [0.8, 1.2] {
            let row = row(&figures, class, part, 1000, false);
            let others =
                row.results.iter().enumerate().filter(|(at, _)| *at != adaptive).map(|(_, r)| r.in_time);
            let best = others.fold(0.0, f64::max);
            let ratio = row.results[adaptive].in_time / best;
            println!(
                "{ratio:.3} {} at {part}: {:.3?} ({} packets)",
                class.name,
                row.results.iter().map(|r| r.in_time).collect::<Vec<_>>(),
                row.packets
            );
            worst = worst.min(ratio);
        }
    }
    assert!(worst >= 0.97, "{worst}");
}

#[test]
fn the_demos_packets_are_those_of_its_capture() {
    let mut reader = PcapReader::new(File::open(repository("tests/demo/traffic.pcap")).unwrap()).unwrap();
    let mut packets = Vec::new();
    while let Some(packet) = reader.next_packet() {
        let data = packet.unwrap().data;
        // Ethernet and IPv4 without options: the last bytes of the addresses are 10.0.0.1 to 10.0.0.3.
        let flow = match (data[29], data[33]) {
            (1, 2) => 0,
            (2, 1) => 1,
            (1, 3) => 2,
            (3, 1) => 3,
            other => panic!("hosts {other:?}"),
        };
        packets.push((flow, u64::from(u16::from_be_bytes([data[16], data[17]]))));
    }
    assert_eq!(demo(), packets);
}

fn demo() -> Vec<(u32, u64)> {
    captured::demo(&std::fs::read_to_string(repository("studies/scheduling/demo.csv")).unwrap())
}

/// Whole images that take 4.55 ms, two slots, as the board has them: `ace run` on the capture takes as many loads.
#[test]
fn adaptive_is_as_good_as_every_simple_policy_on_the_demos_capture() {
    let trace = captured::trace(&demo(), &demo_suites(false), &ITERATIVE.into());
    let costs = Costs::whole(vec![4_550_000; 4]);
    for buffer in [32, 64] {
        let setup = Setup { buffer, ..Setup::new(2, &costs, 50_000_000) };
        let run = |policy| simulate(&trace, &setup, policy);
        let adaptive = run(Policy::Adaptive);
        for policy in Policy::ALL {
            let other = run(policy);
            println!("{buffer}: {policy} {} ns, {} loads", other.total, other.load_count);
            assert!(adaptive.total <= other.total && adaptive.exposed_load <= other.exposed_load, "{policy}");
        }
        assert!(buffer < 64 || adaptive.load_count == 9);
    }
}
