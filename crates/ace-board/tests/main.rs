// SPDX-License-Identifier: Apache-2.0
//! All tests of this crate from outside, in one program: `cargo test --test it NAME::`.

mod aeads;
mod agreement;
mod both_kinds;
mod built;
mod catalogue;
mod cbc_macs;
mod common;
mod context_set_choice;
mod context_sets;
mod decisions;
mod documents;
mod engine;
mod ethernet;
mod faults;
mod frames;
mod interleaved;
mod joint;
mod key_setup;
#[cfg(target_os = "linux")]
mod model;
mod overlapping;
mod refusals;
mod robust;
mod store;
mod variants;
