// SPDX-License-Identifier: Apache-2.0
//! Modulo schedules: a slot, an element and ports for every operation of a block, and a route for every operand. A
//! block starts every `ii` slots and all blocks have the same schedule, so that slots `ii` apart share everything.

mod buffers;
pub(crate) mod check;
mod iterate;
mod place;
mod reserve;
mod search;
mod types;

pub use check::check;
pub use iterate::{Effort, schedule};
pub use types::*;

pub use crate::ir::goal::Goal;
