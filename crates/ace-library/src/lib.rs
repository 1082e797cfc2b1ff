// SPDX-License-Identifier: Apache-2.0
//! Configurations stored small, under one signature.
//!
//! [`Library`] is the file: configurations, manifests, proofs and context sets, signed with Ed25519. [`codec`] is the compression
//! that it uses: a dictionary shared by all its streams, and streams that memory reads turn back into frames.
//! [`load`] tells the loader in hardware what to do. docs/library-format.md describes all of it.
//!
//! ```
//! use ace_ecp5::{ConfigMemory, device::LFE5U_45F};
//! use ace_library::{Library, SecretKey, Trust, codec::Dictionary};
//!
//! let mut memory = ConfigMemory::new(&LFE5U_45F);
//! memory.set_frame(17, &[0x0f; 106]);
//! let mut library = Library::new(Dictionary::train([&memory]));
//! library.add("des", &memory, br#"{ "name": "des" }"#, b"", &[])?;
//! let file = library.to_bytes(Some(&SecretKey::generate()?));
//! // Nothing of a file is believed before its digest and signatures are right; here anybody may have signed it.
//! let again = Library::from_bytes(&file, &Trust::ANYBODY)?;
//! assert_eq!(again.memory("des")?, memory);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
#![forbid(unsafe_code)]
#![warn(missing_docs)]

pub mod codec;
pub mod domain;
pub mod error;
pub mod file;
pub mod load;

pub use error::{FileError, ImageError, KeyError, Refusal, SeenError};
pub use file::{ContextSet, Image, KeySet, Library, PublicKey, SecretKey, Seen, Trust};
