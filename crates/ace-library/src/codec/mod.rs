// SPDX-License-Identifier: Apache-2.0
//! Frames as a stream that memory reads alone turn back into frames, one row of twelve bits a clock.
//!
//! docs/library-format.md describes the format bit by bit and says why it is as it is.

mod bits;
mod codes;
mod contexts;
mod decode;
mod dictionary;
mod encode;
mod model;
mod rows;
mod steps;
mod tables;

pub use contexts::{CONTEXTS_BYTES, Contexts};
pub use decode::{Decoded, StreamError, decompress};
pub use dictionary::{DICTIONARY_BYTES, Dictionary, ENTRIES};
pub use encode::compress;
pub(crate) use steps::{Clock, cells_of, clocks_of};
pub use tables::Tables;
