// SPDX-License-Identifier: Apache-2.0
//! The controller's policies: which configuration is loaded where and when, and which operation runs next.
//!
//! A decision is a pure function of the [`Queue`], which knows the time, the [`SlotState`]s and the [`Costs`]: no I/O,
//! no randomness. The live board and the trace simulator ([`simulate()`]) call the same [`Policy::decide`], again and again
//! at one instant until it answers [`Decision::Wait`] or [`Decision::WaitUntil`], and then let time pass until something
//! happens.
//!
//! Times are plain `u64`; the caller chooses the unit and keeps to it.

#![warn(missing_docs)]

pub mod bound;
mod policies;
mod queue;
pub mod sim;
mod types;

pub use policies::{Policy, UnknownPolicy};
pub use queue::{ClassId, Queue, QueuedOp, Terms};
pub use sim::{captured, in_order, simulate, study, traffic};
pub use types::{Costs, Decision, Processor, SlotState, Time};
