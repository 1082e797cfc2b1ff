// SPDX-License-Identifier: Apache-2.0
//! What waits and what runs, kept by classes, flows and ages, so that a decision costs as much as there are classes.

pub(crate) mod class;
pub(crate) mod demand;
mod equivalents;
pub(crate) mod estimate;
mod flow;
mod kinds;
mod line;
mod op;
mod operations;
mod regret;
pub(crate) mod select;
pub(crate) mod spent;

pub use op::{ClassId, QueuedOp, Terms};
pub use operations::Queue;
