// SPDX-License-Identifier: Apache-2.0
//! All tests of this crate from outside, in one program: `cargo test --test it NAME::`.

#[path = "../../ace-ipsec/tests/common/mod.rs"]
mod common;
mod gateway;
mod sa_file;
mod tunnels;
