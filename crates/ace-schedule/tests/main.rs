// SPDX-License-Identifier: Apache-2.0
//! All tests of this crate from outside, in one program: `cargo test --test it NAME::`.

mod bounds;
mod coprocessor;
mod exhaustive;
mod mixes;
mod properties;
mod throughput;

use ace_engine::ConfigurationId;

/// The configuration with this number.
fn c(index: usize) -> ConfigurationId {
    ConfigurationId::from_index(index)
}
