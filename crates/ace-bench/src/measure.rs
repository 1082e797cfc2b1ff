// SPDX-License-Identifier: Apache-2.0
//! Time of one thread, allocations, and medians of things that take turns.

use std::time::Duration;

use crate::BenchError;

/// Packets in a batch.
pub const BATCH: usize = 256;
/// Security associations among the packets of a batch.
pub const ASSOCIATIONS: usize = 16;

/// CPU time of this thread: what a busy machine changes least.
pub fn cpu_time() -> Duration {
    let time = rustix::time::clock_gettime(rustix::time::ClockId::ThreadCPUTime);
    // Neither part is negative: the clock starts with the thread.
    Duration::new(time.tv_sec.unsigned_abs(), u32::try_from(time.tv_nsec).unwrap_or(0))
}

/// Heap allocations of the process so far, those that only grew or shrank included.
pub fn allocations() -> usize {
    let counts = stats_alloc::INSTRUMENTED_SYSTEM.stats();
    counts.allocations + counts.reallocations
}

/// What is measured: runs a batch, which counts or warms up, and says how long it took, each way.
pub(crate) type Batch<'a, const WAYS: usize> =
    &'a mut dyn FnMut(bool) -> Result<[Duration; WAYS], BenchError>;

/// Batches of one thing before it is the next one's turn, and how many of them only fill the caches again.
const TURN: usize = 16;
const WARM_UP: usize = 4;

/// Nanoseconds of one packet, the median of many batches of each thing. They take turns, so that whatever else the
/// machine does meets all of them.
pub(crate) fn in_turns<const WAYS: usize>(
    seconds: f64,
    things: &mut [Batch<'_, WAYS>],
) -> Result<Vec<[f64; WAYS]>, BenchError> {
    let mut times: Vec<[Vec<Duration>; WAYS]> =
        things.iter().map(|_| std::array::from_fn(|_| Vec::with_capacity(1 << 14))).collect();
    let start = cpu_time();
    loop {
        for (thing, times) in things.iter_mut().zip(&mut times) {
            for batch in 0..TURN {
                let took = thing(batch >= WARM_UP)?;
                if batch >= WARM_UP {
                    times.iter_mut().zip(took).for_each(|(times, took)| times.push(took));
                }
            }
        }
        if (cpu_time() - start).as_secs_f64() >= seconds {
            break;
        }
    }
    let median = |mut times: Vec<Duration>| {
        times.sort_unstable();
        times.get(times.len() / 2).map_or(f64::NAN, |median| median.as_nanos() as f64 / BATCH as f64)
    };
    Ok(times.into_iter().map(|ways| ways.map(median)).collect())
}
