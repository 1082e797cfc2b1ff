// SPDX-License-Identifier: Apache-2.0
//! All tests of this crate from outside, in one program: `cargo test --test it NAME::`.

mod aead;
mod bounds;
mod buffer_lifetimes;
mod common;
mod exact;
mod hostile;
mod keys;
mod known_answers;
mod passes;
mod pins;
mod random_blocks;
mod refusals;
mod trace;
mod validate;
