// SPDX-License-Identifier: Apache-2.0
//! Traces through policies without a board: traffic, the simulator, and what is studied with both.

pub mod captured;
pub mod in_order;
pub mod simulate;
pub mod study;
pub mod traffic;

pub use simulate::simulate;
