// SPDX-License-Identifier: Apache-2.0
//! What processors take for the finalists today: wall time.

use std::time::Duration;

use ace_engine::Algorithm;
use ace_engine::measure::cipher_speed;
use serde::{Deserialize, Serialize};

use super::finalists::{Finalist, KEY};

/// One core, every cipher.
#[derive(Clone, Deserialize, Serialize)]
pub struct Measured {
    /// As the kernel names it.
    pub processor: String,
    /// The finalists that there is software of.
    pub ciphers: Vec<Software>,
}

/// A cipher, with a key of 128 bits.
#[derive(Clone, Deserialize, Serialize)]
pub struct Software {
    pub algorithm: String,
    pub setup_us: f64,
    /// The same over the time of a block.
    pub setup_blocks: f64,
    /// One packet: each block waits for the one before (CBC).
    pub feedback_mbps: f64,
    /// Many: as many independent blocks side by side as the code likes (ECB), still one core.
    pub parallel_mbps: f64,
}

/// Measures each for so long on this machine.
pub fn measure(finalists: &[Finalist], budget: Duration) -> Measured {
    let of = |finalist: &Finalist| {
        let speed = Algorithm::by_name(&finalist.algorithm).and_then(|a| cipher_speed(a, KEY, budget))?;
        Some(Software {
            algorithm: finalist.algorithm.clone(),
            setup_us: speed.key_setup.as_secs_f64() * 1e6,
            setup_blocks: speed.key_setup.as_secs_f64() / speed.block.as_secs_f64().max(1e-12),
            feedback_mbps: speed.feedback_mbps,
            parallel_mbps: speed.parallel_mbps,
        })
    };
    Measured {
        processor: ace_bench::profile::processor().unwrap_or_else(|| std::env::consts::ARCH.into()),
        ciphers: finalists.iter().filter_map(of).collect(),
    }
}
