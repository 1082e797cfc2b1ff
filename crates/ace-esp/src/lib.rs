// SPDX-License-Identifier: Apache-2.0
//! The ESP data plane (RFC 4301, 4303), sans-I/O.
//!
//! [`DataPlane::accept`] takes one IP packet and says what becomes of it: it is forwarded, dropped, or there is
//! [`Work`] to be done first: one operation for an engine. The engine's answer goes to
//! [`DataPlane::advance`], which gives the next [`Verdict`]. Nothing here computes a cipher or a hash, opens a
//! socket or looks at a clock.
#![forbid(unsafe_code)]

mod association;
pub mod counters;
mod encapsulate;
pub mod iv;
pub mod kat;
mod lifetime;
pub mod packet;
pub mod plane;
pub mod replay;
pub mod sa_file;
pub mod selector;
pub mod suite;
pub mod wire;

pub use counters::{Cause, Counters, Drops, SaCounters, Traffic};
pub use iv::{IvError, IvSource, OsIvs, SeededIvs};
pub use lifetime::Lifetime;
pub use plane::{DataPlane, Event, How, Pending, SaId, SaStatus, Verdict, Work};
pub use sa_file::{Direction, Policy, Sa, SaFile, SaFileErrors, SaMode};
pub use selector::Selector;
