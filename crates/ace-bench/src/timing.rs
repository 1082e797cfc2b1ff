// SPDX-License-Identifier: Apache-2.0
//! What was measured of one suite: one thread, one direction.

use serde::Serialize;

/// Times are of one operation, or of one packet.
#[derive(Serialize)]
pub struct SuiteTiming {
    /// Cipher and hash.
    pub suite: String,
    /// `seal` or `open`.
    pub direction: &'static str,
    /// Of the text, or of the clear IP packet.
    pub bytes: usize,
    /// Of one, the median.
    pub nanoseconds: f64,
    /// 10^6 a second.
    pub mpps: f64,
    /// 10^9 bits a second.
    pub gbit_per_second: f64,
    /// Heap allocations of all that was measured.
    pub allocations: usize,
    /// With the portable software as engine.
    pub portable_nanoseconds: f64,
    /// The library alone, on a text of so many bytes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub bare_nanoseconds: Option<f64>,
}
