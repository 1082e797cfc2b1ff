// SPDX-License-Identifier: Apache-2.0
//! Frames as a stream of binary decisions, each coded with a probability that a table holds: smaller than the stream of
//! rows, and slower to decode.
//!
//! docs/library-format.md ("The small stream") describes the format and says why it is as it is.

mod coder;
mod stream;
mod table;
mod train;

pub(crate) use stream::{compress, decompress};
pub use table::{CONTEXTS_BYTES, Contexts};
