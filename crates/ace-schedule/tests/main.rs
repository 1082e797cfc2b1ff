// SPDX-License-Identifier: Apache-2.0
//! All tests of this crate from outside, in one program: `cargo test --test it NAME::`.

mod bounds;
mod coprocessor;
mod exhaustive;
mod mixes;
mod properties;
