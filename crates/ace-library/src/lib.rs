// SPDX-License-Identifier: Apache-2.0
//! Configurations stored small, under one signature.
//!
//! [`Library`] is the file: configurations, manifests, proofs and context sets, signed with Ed25519. [`codec`] is the compression
//! that it uses: a dictionary shared by all its streams, and streams that memory reads turn back into frames.
//! [`load`] tells the loader in hardware what to do. docs/library-format.md describes all of it.

pub mod codec;
pub mod domain;
pub mod error;
pub mod file;
pub mod load;

pub use error::{FileError, ImageError, KeyError, Refusal, SeenError};
pub use file::{ContextSet, Image, KeySet, Library, PublicKey, SecretKey, Seen, Trust};
