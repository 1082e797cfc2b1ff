// SPDX-License-Identifier: Apache-2.0
//! `ace bench profile`: what this processor takes for operations, in the form of studies/processors.

use std::hint::black_box;
use std::time::{Duration, Instant};

use ace_engine::algorithm::ALGORITHMS;
use ace_engine::profile::{Processor, Rate};
use ace_engine::{Algorithm, Direction, Key, Kind, Mac, Mode, Need, Operation, compute, software};

use crate::BenchError;

/// Data of a small and of a full-sized packet: a line through both is the rate and what an operation costs besides.
const BYTES: [usize; 2] = [64, 1424];

/// One operation over so many bytes, with the key that figures are stated for ([`Need::stated`]).
pub fn operation(algorithm: &'static Algorithm, bytes: usize) -> Option<Operation> {
    let key = |len: usize| (0..len).map(|i| (i * 59 + 23) as u8).collect::<Vec<u8>>();
    let data = vec![0xa5; bytes];
    let operation = match algorithm.kind {
        Kind::Cipher { block, .. } => {
            let bits = Need::stated(algorithm).key_bits()?;
            let key = Key::cipher(algorithm, Mode::Cbc, &key(bits / 8)).ok()?;
            Operation::cipher(key, Direction::Encrypt, &vec![7; block], &data).ok()?
        }
        Kind::Hash { digest, .. } => {
            Operation::mac(Key::mac(Mac::Hmac(algorithm), &key(digest)).ok()?, &data, digest)
        }
    };
    software::can(&operation.action.needs().0).then_some(operation)
}

/// Nanoseconds of one run, its buffer copied; the best of several rounds, because all else can only slow it down.
pub fn time(operation: &Operation, budget: Duration) -> f64 {
    let start = Instant::now();
    let mut best = f64::INFINITY;
    while best.is_infinite() || start.elapsed() < budget {
        let round = Instant::now();
        for _ in 0..64 {
            // Known lengths: there is no error to look at.
            let _ = black_box(compute::run(black_box(operation.clone())));
        }
        best = best.min(round.elapsed().as_secs_f64() * 1e9 / 64.0);
    }
    best
}

/// What this processor takes for every algorithm that it has, each measured for so long.
pub fn measure(seconds: f64) -> Processor {
    let budget = Duration::from_secs_f64(seconds);
    let of = |algorithm: &&'static Algorithm| {
        let [small, large] = BYTES.map(|bytes| operation(algorithm, bytes).map(|op| time(&op, budget)));
        let (small, large) = (small?, large?);
        let a_byte = ((large - small) / (BYTES[1] - BYTES[0]) as f64).max(1e-6);
        let tenth = |x: f64| (x * 10.0).round() / 10.0;
        Some(Rate {
            algorithm: algorithm.name.into(),
            key_bits: Need::stated(algorithm).key_bits(),
            mbps: tenth(8000.0 / a_byte),
            fixed_ns: tenth((small - a_byte * BYTES[0] as f64).max(0.0)),
        })
    };
    Processor {
        name: processor().unwrap_or_else(|| std::env::consts::ARCH.into()),
        source: "ace bench profile".into(),
        rate: ALGORITHMS.iter().filter_map(of).collect(),
    }
}

/// As the kernel names it.
fn processor() -> Option<String> {
    let text = std::fs::read_to_string("/proc/cpuinfo").ok()?;
    let name = text.lines().find_map(|line| line.strip_prefix("model name"))?;
    Some(name.trim_start_matches([':', ' ', '\t']).trim().into())
}

/// As a file of studies/processors.
pub fn text(processor: &Processor) -> Result<String, BenchError> {
    Ok(toml::to_string(processor)?)
}
