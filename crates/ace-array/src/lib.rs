// SPDX-License-Identifier: Apache-2.0
//! The multi-context array: its shape, its compiler and its simulator. Nothing here reads or writes a file.
//!
//! [`frontend`] reads an algorithm to a [`graph`], [`passes`] make it one of what elements do, [`schedule`] gives every
//! operation a slot, an element and routes and looks at that again by itself, [`exact`] says of small graphs whether fewer
//! contexts would do, [`set`] is the bytes that a tile loads, and [`tile`] runs them clock by clock. [`compile()`] does all
//! steps. `docs/array.md` tells it from the outside.
//!
//! ```
//! use ace_array::schedule::Effort;
//! use ace_array::set::Set;
//! use ace_array::shape::Shape;
//! use ace_array::{algorithms, compile};
//!
//! let (program, shape) = (algorithms::program("md5.ace")?, Shape::standard());
//! let compiled = compile(&program, "md5", &shape, Effort::default())?;
//! let bytes = compiled.set.to_bytes();
//! // A tile takes the set as bytes, and refuses whatever is not one.
//! assert_eq!(Set::from_bytes(&bytes, &shape)?.ii(), compiled.set.ii());
//! assert!(Set::from_bytes(&bytes[1..], &shape).is_err());
//! # Ok::<(), ace_array::Error>(())
//! ```

#![warn(missing_docs)]

pub mod algorithms;
pub mod bounds;
pub mod codegen;
pub mod compile;
pub mod draw;
pub mod error;
pub mod exact;
pub mod explore;
pub mod frontend;
mod ir;
pub mod passes;
pub mod rtl;
pub mod schedule;
mod sim;
pub mod validate;
pub mod variants;

pub use codegen::set;
pub use compile::{Compiled, compile};
pub use error::Error;
pub use ir::{domain, graph, layout, shape};
pub use sim::{aead, host, tile, trace};
pub use variants::Named;
