// SPDX-License-Identifier: Apache-2.0
//! All tests of this crate from outside, in one program: `cargo test --test it NAME::`.

mod captures;
mod fragments;
mod link;
mod offload;
mod secrets;
mod tcp;
