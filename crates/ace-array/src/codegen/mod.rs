// SPDX-License-Identifier: Apache-2.0
//! From a schedule to the bytes that a tile loads.

mod emit;
pub mod set;

pub use emit::emit;
