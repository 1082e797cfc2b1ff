// SPDX-License-Identifier: Apache-2.0
//! Slots that hold the multi-context array: what runs context sets, sets keys up for them, and says how fast they are.
//! `ace_array` compiles them; `docs/array.md` describes both.

mod digests;
mod error;
mod joint;
mod loadable;
mod pieces;
mod rates;
mod sets;
mod setup;
pub mod signed;
mod slot;

pub use digests::digests;
pub use error::ArrayError;
pub use loadable::{Loadable, loadables};
pub use rates::{CriticalPath, Proof, Rates, Routed, Slot, clock, rates, routed};
pub use sets::{Sets, catalogue, check_model, installed_model, manifest, put_source};
pub use setup::KeySet;
pub use slot::{ArraySlot, capability};
