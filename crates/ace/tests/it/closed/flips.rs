// SPDX-License-Identifier: Apache-2.0
//! Every bit of three images turned, and random pairs: refused, or shown to compute the same, or shown to compute
//! something else. With ACE_TESTS=all every one of them, else some of des; the figures are printed (`--nocapture`).

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::process::Command;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Instant;

use ace_ecp5::{ConfigMemory, Emit};
use ace_ecp5_netlist::{BitFlipSensitivity, Reading, Verdict};

use super::Images;
use crate::common::root;

/// How many flips of each verdict are held against a reading of the whole image.
const CHECKED: usize = 6;
const PAIRS: u32 = 10_000;

fn all() -> bool {
    std::env::var_os("ACE_TESTS").is_some_and(|value| value == "all")
}

/// Numbers that look random, each below `below`.
fn random(seed: u32, below: u32) -> u32 {
    let mut z = (u64::from(seed) + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    z = (z ^ z >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ z >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
    ((z ^ z >> 31) % u64::from(below)) as u32
}

/// What came of the numbers from 0 to `count`, in as many threads as there are processors.
fn verdicts(
    reading: &Reading<'_>,
    count: u32,
    try_one: impl Fn(&mut BitFlipSensitivity<'_>, u32) -> (Vec<u32>, Verdict) + Sync,
) -> BTreeMap<Verdict, (u32, Vec<Vec<u32>>)> {
    let next = AtomicU32::new(0);
    let work = || {
        let mut flips = BitFlipSensitivity::new(reading).expect("no circle");
        let mut found: BTreeMap<Verdict, (u32, Vec<Vec<u32>>)> = BTreeMap::new();
        loop {
            let first = next.fetch_add(512, Ordering::Relaxed);
            if first >= count {
                return found;
            }
            for number in first..count.min(first + 512) {
                let (bits, verdict) = try_one(&mut flips, number);
                let (seen, some) = found.entry(verdict).or_default();
                *seen += 1;
                // The first of each, and later ones that come with less and less luck.
                if some.len() < CHECKED || random(*seen, *seen) < CHECKED as u32 {
                    if some.len() == 4 * CHECKED {
                        some.swap_remove(random(number, 4 * CHECKED as u32) as usize);
                    }
                    some.push(bits);
                }
            }
        }
    };
    let threads = std::thread::available_parallelism().map_or(1, usize::from);
    let mut all = BTreeMap::new();
    std::thread::scope(|scope| {
        let workers: Vec<_> = (0..threads).map(|_| scope.spawn(work)).collect();
        for (verdict, (seen, some)) in workers.into_iter().flat_map(|w| w.join().expect("no panic")) {
            let entry: &mut (u32, Vec<Vec<u32>>) = all.entry(verdict).or_default();
            entry.0 += seen;
            entry.1.extend(some);
        }
    });
    all
}

fn turned(memory: &ConfigMemory, bits: &[u32]) -> ConfigMemory {
    let (mut other, width) = (memory.clone(), memory.device().frame_bits);
    for bit in bits {
        let (frame, at) = (*bit as usize / width, *bit as usize % width);
        assert!(other.set_bit(frame, at, memory.bit(frame, at) == Some(false)));
    }
    other
}

/// Whether the flow proves an image to be the netlist of a configuration that is built. None if it is not built.
fn proven(name: &str, memory: &ConfigMemory) -> Option<bool> {
    let build = std::env::var_os("ACE_BUILD").map_or(root().join("build"), PathBuf::from);
    let netlist = build.join("configurations").join(name).join("netlist.json");
    let python =
        std::env::var_os("VIRTUAL_ENV").map_or(root().join(".venv"), PathBuf::from).join("bin/python");
    if !netlist.is_file() || !python.is_file() {
        // With part of the tests, only part of the netlists are made.
        let required = all() && std::env::var_os("ACE_REQUIRE_BUILD").is_some();
        assert!(!required, "{} is not built", netlist.display());
        eprintln!("{} is not built: some flips are not proven by the flow", netlist.display());
        return None;
    }
    let folder = tempfile::tempdir().expect("a folder");
    let bits = folder.path().join(format!("{name}.bit"));
    std::fs::write(&bits, Emit::default().whole(memory)).expect("it is written");
    let mut command = Command::new(python);
    command.args(["-m", "ace_flow", "prove"]).arg(&bits).arg("--netlist").arg(&netlist);
    command.args(["--top", &format!("{name}_slot")]).current_dir(root());
    command.env("PYTHONPATH", root().join("flow")).env("ACE_BIN", env!("CARGO_BIN_EXE_ace"));
    let output = command.output().expect("it runs");
    let message = String::from_utf8_lossy(&output.stderr).into_owned();
    // Refuted, and not broken.
    assert!(
        output.status.success() || ["differ", " in the bits"].iter().any(|word| message.contains(word)),
        "{message}"
    );
    Some(output.status.success())
}

fn tried(
    name: &str,
    what: &str,
    count: u32,
    try_one: impl Fn(&mut BitFlipSensitivity<'_>, u32) -> (Vec<u32>, Verdict) + Sync,
) {
    let Some(images) = Images::new(&[name]) else { return };
    let memory = images.memory(name);
    let reading = Reading::new(&memory, &images.database, &images.pins).expect("it is read");
    let whole = images.read(&memory).expect("it is read");
    assert_eq!(&whole, reading.netlist());
    let start = Instant::now();
    let found = verdicts(&reading, count, try_one);
    let seconds = start.elapsed().as_secs_f64();
    let counts: Vec<String> = found.iter().map(|(v, (seen, _))| format!("{v:?} {seen}")).collect();
    println!(
        "{name}: {count} {what} in {seconds:.0} s, {:.0} a second: {}",
        f64::from(count) / seconds,
        counts.join(", ")
    );
    assert_eq!(found.values().map(|(seen, _)| seen).sum::<u32>(), count);
    // The same by reading the whole image, for some of each.
    for (verdict, (_, some)) in &found {
        if let Some(good) = match verdict {
            Verdict::Same | Verdict::Equal => Some(true),
            Verdict::Different | Verdict::Solved => Some(false),
            Verdict::Unread | Verdict::Refused => None,
        } {
            for bits in some.iter().take(if all() { CHECKED } else { 1 }) {
                let message = proven(name, &turned(&memory, bits));
                assert!(
                    message.is_none_or(|message| message == good),
                    "{name}: bits {bits:?} are {verdict:?}"
                );
            }
        }
        for bits in some.iter().rev().take(if all() { 4 * CHECKED } else { CHECKED }) {
            let read = images.read(&turned(&memory, bits));
            let agrees = match verdict {
                Verdict::Unread | Verdict::Refused => read.is_err(),
                Verdict::Same => read.as_ref().is_ok_and(|netlist| netlist == &whole),
                Verdict::Different | Verdict::Solved | Verdict::Equal => {
                    read.as_ref().is_ok_and(|netlist| netlist != &whole)
                }
            };
            assert!(
                agrees,
                "{name}: bits {bits:?} are {verdict:?}, and read as a whole {:?}",
                read.map(|_| ())
            );
        }
    }
}

fn every_bit(name: &str) {
    const BITS: u32 = 9470 * 846;
    if !all() && name != "des" {
        eprintln!("{name}: only with ACE_TESTS=all");
        return;
    }
    let count = if all() { BITS } else { 30_000 };
    tried(name, "bits", count, |flips, number| {
        assert_eq!(flips.bits(), BITS);
        let bit = if all() { number } else { random(number, BITS) };
        (vec![bit], flips.flip(bit).expect("the solver has an answer"))
    });
}

#[test]
fn every_bit_of_des() {
    every_bit("des");
}

#[test]
fn every_bit_of_aes() {
    every_bit("aes");
}

#[test]
fn every_bit_of_idea() {
    every_bit("idea");
}

/// Two bits anywhere, and two bits of one tile's height and width beside each other.
#[test]
fn pairs_of_bits() {
    tried("des", "pairs", if all() { PAIRS } else { 200 }, |flips, number| {
        let first = random(2 * number, flips.bits());
        let near = (first + 846 * random(2 * number + 1, 100) + random(number, 12)) % flips.bits();
        let far = random(2 * number + 1, flips.bits());
        let other = if number % 2 == 0 { far } else { near };
        let bits = if other == first { vec![first] } else { vec![first, other] };
        let verdict = flips.again(&bits).expect("the solver has an answer");
        (bits, verdict)
    });
}
