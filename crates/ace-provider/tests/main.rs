// SPDX-License-Identifier: Apache-2.0
//! All tests of this crate from outside, in one program: `cargo test --test it NAME::`.
#![allow(unsafe_code)] // OpenSSL is called through its C interface.

mod command;
mod common;
mod counted;
mod names;
mod openssl;
mod programs;
mod published;
