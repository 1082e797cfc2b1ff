// SPDX-License-Identifier: Apache-2.0
//! Speed of the CPU engine's ciphers on this machine: wall time, half a second each.

use std::time::Duration;

use ace_engine::Kind;
use ace_engine::algorithm::ALGORITHMS;
use ace_engine::measure::cipher_speed;

fn main() {
    println!("{:<10} {:>8} {:>10} {:>10} {:>12}", "cipher", "key bits", "CBC Mb/s", "ECB Mb/s", "key set-up");
    for algorithm in ALGORITHMS {
        let Kind::Cipher { keys, .. } = algorithm.kind else { continue };
        for key_len in keys.iter().filter(|len| [8, 16, 24, 32].contains(*len)) {
            if let Some(speed) = cipher_speed(algorithm, *key_len, Duration::from_millis(500)) {
                println!(
                    "{:<10} {:>8} {:>10.0} {:>10.0} {:>9.2} µs",
                    algorithm.name,
                    key_len * 8,
                    speed.feedback_mbps,
                    speed.parallel_mbps,
                    speed.key_setup.as_secs_f64() * 1e6
                );
            }
        }
    }
}
