// SPDX-License-Identifier: Apache-2.0
//! What sealing a packet takes, and of it the cipher: two measurements that take turns, so that what slows one down slows
//! the other one, too. CPU time of this thread.

use std::hint::black_box;
use std::time::Duration;

use ace_engine::software::CpuEngine;
use ace_engine::{Algorithm, Direction, Key, Kind, Mode, Operation, compute};
use serde::{Deserialize, Serialize};

use crate::BenchError;
use crate::measure::{BATCH, cpu_time};
use crate::plane::Gates;

/// Turns of a pair: a batch of packets and as many runs of the cipher each. A single turn is a hundredth off, which is as
/// much as what is asked about.
const TURNS: usize = 16;

/// One pair.
#[derive(Clone, Copy, Debug, Deserialize, PartialEq, Serialize)]
pub struct Pair {
    /// Nanoseconds of a packet from the data plane's inside to its outside, with portable software.
    pub packet: f64,
    /// Nanoseconds of the cipher alone over the bytes that are enciphered in that packet.
    pub cipher: f64,
}

impl Pair {
    /// The part of the packet's time that is not the cipher's: Amdahl's α.
    pub fn rest(&self) -> f64 {
        1.0 - self.cipher / self.packet
    }
}

/// Pairs for packets of `bytes` under `suite` (cipher and authentication as SA files name them); its cipher is `algorithm`
/// in CBC with a key of `key` bytes. For about `seconds`, at least five pairs.
///
/// # Errors
/// There is no such suite or cipher, or a packet is dropped.
pub fn pairs(
    suite: (&str, &str),
    algorithm: &'static Algorithm,
    key: usize,
    bytes: usize,
    seconds: f64,
) -> Result<Vec<Pair>, BenchError> {
    let nothing = || BenchError::Nothing(suite.0.to_owned());
    let Kind::Cipher { block, .. } = algorithm.kind else { return Err(nothing()) };
    // ESP enciphers the packet, the padding, its length and the next header (RFC 4303, section 2).
    let data = vec![0x5a; (bytes + 2).next_multiple_of(block)];
    let raw: Vec<u8> = (0..key).map(|i| (i * 59 + 23) as u8).collect();
    let key = Key::cipher(algorithm, Mode::Cbc, &raw).map_err(|_| nothing())?;
    let operation =
        Operation::cipher(key, Direction::Encrypt, &vec![7; block], &data).map_err(|_| nothing())?;
    let mut gates = Gates::new(suite, bytes, Box::new(CpuEngine::new()))?;
    // The flow cache is warm from the second batch on.
    gates.batch()?;
    let (start, mut pairs) = (cpu_time(), Vec::new());
    while pairs.len() < 5 || cpu_time() - start < Duration::from_secs_f64(seconds) {
        let (mut packets, mut ciphers) = (Duration::ZERO, Duration::ZERO);
        for _ in 0..TURNS {
            let [(sealing, _), _] = gates.batch()?;
            packets += sealing;
            let before = cpu_time();
            for _ in 0..BATCH {
                // Known lengths: there is no error to look at.
                let _ = black_box(compute::run(black_box(operation.clone())));
            }
            ciphers += cpu_time() - before;
        }
        let of = |time: Duration| time.as_nanos() as f64 / (TURNS * BATCH) as f64;
        pairs.push(Pair { packet: of(packets), cipher: of(ciphers) });
    }
    Ok(pairs)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_cipher_is_a_part_of_the_packet() {
        let tdes = Algorithm::by_name("3des").expect("3DES");
        let pairs = pairs(("3des-cbc", "hmac-sha1-96"), tdes, 24, 1424, 0.01).expect("pairs");
        assert!(pairs.len() >= 5 && pairs.iter().all(|p| p.cipher > 0.0 && p.packet > 0.0));
        assert!(super::pairs(("3des-cbc", "hmac-sha1-96"), tdes, 23, 1424, 0.01).is_err());
    }
}
