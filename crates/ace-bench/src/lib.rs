// SPDX-License-Identifier: Apache-2.0
//! What the data plane and the CPU engine take on this machine, in wall time and CPU time: packets through one thread
//! ([`plane`]) and through several ([`cores`]), operations through the engine ([`engine`]), and what a processor takes for
//! algorithms ([`profile`]). Modelled time has no place here.
//!
//! ```
//! let rows = ace_bench::engine::rows(&["aes-128-gcm".into()], 0.01)?;
//! assert!(rows.iter().all(|row| row.nanoseconds > 0.0));
//! # Ok::<(), ace_bench::BenchError>(())
//! ```
#![forbid(unsafe_code)]
#![warn(missing_docs)]

mod bare;
pub mod cores;
pub mod engine;
mod error;
mod measure;
pub mod plane;
pub mod profile;
pub mod share;
mod timing;

pub use error::BenchError;
pub use measure::{ASSOCIATIONS, BATCH, allocations, cpu_time};
pub use timing::SuiteTiming;
