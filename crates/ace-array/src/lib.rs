// SPDX-License-Identifier: Apache-2.0
//! The multi-context array: its shape, its compiler and its simulator. Nothing here reads or writes a file.
//!
//! [`source`] reads an algorithm to a graph, [`pass`] makes it one of what elements do, [`schedule`] gives every
//! operation a slot, an element and routes, [`check`] looks at that again by itself, [`exact`] says of small graphs
//! whether fewer contexts would do, [`set`] is the bytes that a tile loads, and [`tile`] runs them clock by clock.
//! `docs/array.md` tells it from the outside.

pub mod algorithms;
pub mod check;
pub mod compile;
pub mod draw;
mod element;
pub mod emit;
pub mod error;
pub mod exact;
pub mod explore;
pub mod graph;
pub mod host;
pub mod layout;
pub mod pass;
pub mod rtl;
pub mod schedule;
pub mod set;
pub mod shape;
pub mod source;
pub mod tile;
pub mod trace;
pub mod variants;

pub use compile::{Compiled, compile};
pub use error::Error;
pub use variants::Named;
