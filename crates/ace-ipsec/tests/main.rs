// SPDX-License-Identifier: Apache-2.0
//! All tests of this crate from outside, in one program: `cargo test --test it NAME::`.

mod at_once;
mod common;
mod documents;
mod headers;
mod hostile;
mod joined;
mod limits;
mod manage;
mod path;
mod plane;
mod published;
mod round_trip;
mod traffic;
mod tunnels;
