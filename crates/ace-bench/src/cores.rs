// SPDX-License-Identifier: Apache-2.0
//! `ace bench dataplane --cores`: the data plane on one core and on several at once, a shard with its own SAs on each,
//! each thread bound to its core. In memory: no device and no socket.

use std::sync::Barrier;
use std::thread;
use std::time::{Duration, Instant};

use rustix::thread::{CpuSet, sched_getaffinity, sched_setaffinity};
use serde::Serialize;

use crate::BenchError;
use crate::measure::{BATCH, cpu_time};
use crate::plane::{Gates, SUITES};

/// One core and all of them take turns, so that whatever else the machine does meets both.
pub const ROUNDS: usize = 9;

/// Packets a second through both directions, sealed and opened again.
#[derive(Serialize)]
pub struct CoreScaling {
    /// Cipher and hash.
    pub suite: String,
    /// Of a clear IP packet.
    pub bytes: usize,
    /// That worked at once.
    pub cores: usize,
    /// 10^6 packets in a second of wall time: the median of one core, and of all.
    pub one_mpps: f64,
    /// Of all at once.
    pub all_mpps: f64,
    /// Of each round, and the median of them.
    pub times: f64,
    /// As above by what the threads had of their cores: other programs take no part in it.
    pub one_cpu_mpps: f64,
    /// Of all at once.
    pub all_cpu_mpps: f64,
    /// Of each round, the median.
    pub cpu_times: f64,
}

/// What threads did: packets a second, by wall time and by processor time.
#[derive(Clone, Copy)]
struct Rate {
    wall: f64,
    cpu: f64,
}

/// The first `count` cores that this process may have.
fn cores(count: usize) -> Result<Vec<usize>, BenchError> {
    let allowed = sched_getaffinity(None)?;
    let all: Vec<usize> = (0..CpuSet::MAX_CPU).filter(|core| allowed.is_set(*core)).collect();
    match all.get(..count) {
        Some(some) if count > 1 => Ok(some.to_vec()),
        _ => Err(BenchError::Cores { most: all.len() }),
    }
}

/// Every core that is named works for as long.
fn together(cores: &[usize], suites: (&str, &str), bytes: usize, time: Duration) -> Result<Rate, BenchError> {
    let barrier = Barrier::new(cores.len());
    let one = |core: usize| -> Result<Rate, BenchError> {
        let made = || -> Result<Gates, BenchError> {
            let mut set = CpuSet::new();
            set.set(core);
            sched_setaffinity(None, &set)?;
            let mut gates = Gates::new(suites, bytes, ace_ipsec_mb::cpu_engine())?;
            // The caches are filled.
            for _ in 0..4 {
                gates.batch()?;
            }
            Ok(gates)
        };
        let made = made();
        // Whoever has failed is not waited for afterwards, and everybody begins at once.
        barrier.wait();
        let mut gates = made?;
        let (start, before) = (Instant::now(), cpu_time());
        let mut packets = 0;
        while start.elapsed() < time {
            gates.batch()?;
            packets += BATCH;
        }
        let (wall, cpu) = (start.elapsed(), cpu_time() - before);
        Ok(Rate { wall: packets as f64 / wall.as_secs_f64(), cpu: packets as f64 / cpu.as_secs_f64() })
    };
    thread::scope(|scope| {
        let threads: Vec<_> = cores.iter().map(|core| scope.spawn(move || one(*core))).collect();
        let mut sum = Rate { wall: 0.0, cpu: 0.0 };
        for thread in threads {
            let rate = thread.join().map_err(|_| BenchError::Thread)??;
            sum = Rate { wall: sum.wall + rate.wall, cpu: sum.cpu + rate.cpu };
        }
        Ok(sum)
    })
}

fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    values.get(values.len() / 2).copied().unwrap_or(f64::NAN)
}

/// Every suite that starts with one of `names`, or every one.
pub fn rows(names: &[String], count: usize, seconds: f64) -> Result<Vec<CoreScaling>, BenchError> {
    let cores = cores(count)?;
    let time = Duration::from_secs_f64(seconds / ROUNDS as f64);
    let mut rows = Vec::new();
    let chosen = |name: &str| names.is_empty() || names.iter().any(|n| name.starts_with(n.as_str()));
    for &(cipher, auth, _) in SUITES.iter().filter(|(cipher, ..)| chosen(cipher)) {
        for bytes in [64, 1424] {
            let mut measured: Vec<(Rate, Rate)> = Vec::new();
            for round in 0..ROUNDS {
                // Each core has its turn alone.
                let alone =
                    cores.get(round % cores.len()..).and_then(|rest| rest.get(..1)).unwrap_or_default();
                let one = together(alone, (cipher, auth), bytes, time)?;
                measured.push((one, together(&cores, (cipher, auth), bytes, time)?));
            }
            let of = |value: fn(&(Rate, Rate)) -> f64| median(measured.iter().map(value).collect());
            rows.push(CoreScaling {
                suite: if auth == "none" { cipher.to_owned() } else { format!("{cipher} + {auth}") },
                bytes,
                cores: cores.len(),
                one_mpps: of(|(one, _)| one.wall / 1e6),
                all_mpps: of(|(_, all)| all.wall / 1e6),
                times: of(|(one, all)| all.wall / one.wall),
                one_cpu_mpps: of(|(one, _)| one.cpu / 1e6),
                all_cpu_mpps: of(|(_, all)| all.cpu / 1e6),
                cpu_times: of(|(one, all)| all.cpu / one.cpu),
            });
        }
    }
    Ok(rows)
}
