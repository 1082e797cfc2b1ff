// SPDX-License-Identifier: Apache-2.0
//! How fast the CPU engine's ciphers are on this machine. Wall time, and a measurement: nothing is decided by it.

use std::hint::black_box;
use std::time::{Duration, Instant};

use crate::algorithm::{Algorithm, Kind};
use crate::need::{Direction, Mode};
use crate::software::block::BlockCipher;
use crate::software::table;

/// Bytes of data that are encrypted in one go: more than a packet, less than a cache.
const BUFFER: usize = 16 * 1024;

/// One cipher in software.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct CipherSpeed {
    /// CBC encryption: one block after the other, 10^6 bits a second.
    pub feedback_mbps: f64,
    /// ECB encryption: as many blocks at a time as the implementation likes, 10^6 bits a second.
    pub parallel_mbps: f64,
    /// From the key to the expanded key; of ciphers that keep tables for a key, with these.
    pub key_setup: Duration,
    /// One block in CBC encryption, the key expanded before.
    pub block: Duration,
}

/// Measures the CPU engine's software for keys of `key_len` bytes, within about `budget`; the best of several
/// rounds counts, because everything else that runs can only slow it down. `None` if the algorithm is no cipher or
/// has no such keys.
pub fn cipher_speed(algorithm: &Algorithm, key_len: usize, budget: Duration) -> Option<CipherSpeed> {
    let Kind::Cipher { block, .. } = &algorithm.kind else { return None };
    let software = table::cipher(algorithm, key_len)?;
    let key: Vec<u8> = (0..key_len).map(|i| (i * 59 + 23) as u8).collect();
    let iv = vec![0x5a; *block];
    let mut data = vec![0xa5; BUFFER / block * block];

    let each = budget / 3;
    let setup = best(each, |times| {
        for _ in 0..times {
            (software.set_up)(black_box(&key));
        }
    });
    let cipher = (software.expand)(&key)?;
    let feedback = best(each, |times| repeat(cipher.as_ref(), Mode::Cbc, &iv, &mut data, times));
    let parallel = best(each, |times| repeat(cipher.as_ref(), Mode::Ecb, &[], &mut data, times));
    let mbps = |time: Duration| data.len() as f64 * 8.0 / time.as_secs_f64().max(1e-12) / 1e6;
    Some(CipherSpeed {
        feedback_mbps: mbps(feedback),
        parallel_mbps: mbps(parallel),
        key_setup: setup,
        block: feedback / u32::try_from(data.len() / block).unwrap_or(u32::MAX),
    })
}

fn repeat(cipher: &dyn BlockCipher, mode: Mode, iv: &[u8], data: &mut [u8], times: u32) {
    for _ in 0..times {
        // The lengths are those of the table's row: there is no error to look at.
        let _ = black_box(cipher.run(mode, Direction::Encrypt, black_box(iv), data));
    }
}

/// The shortest time of one call among rounds of some milliseconds each.
fn best(budget: Duration, mut calls: impl FnMut(u32)) -> Duration {
    let start = Instant::now();
    let mut times = 1u32;
    let mut best = Duration::MAX;
    loop {
        let round = Instant::now();
        calls(times);
        let spent = round.elapsed();
        best = best.min(spent / times);
        if start.elapsed() >= budget {
            return best;
        }
        if spent < budget / 16 {
            times = times.saturating_mul(2);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::algorithm::{AES, MD5};

    #[test]
    fn a_cipher_has_figures_and_a_hash_has_none() {
        let speed = cipher_speed(&AES, 16, Duration::from_millis(20)).expect("AES-128");
        assert!(speed.feedback_mbps > 0.0 && speed.parallel_mbps > 0.0 && speed.block > Duration::ZERO);
        assert_eq!(cipher_speed(&AES, 17, Duration::from_millis(1)), None);
        assert_eq!(cipher_speed(&MD5, 16, Duration::from_millis(1)), None);
    }
}
