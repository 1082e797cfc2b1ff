// SPDX-License-Identifier: Apache-2.0
//! Files that are read whole, at most [`MOST`] bytes ([`read()`], [`read_text`]); and outputs that are there whole or not
//! at all ([`Output`], [`write()`], [`write_private`]).
//!
//! ```
//! let folder = tempfile::tempdir()?;
//! let file = folder.path().join("key");
//! ace_fs::write_private(&file, b"secret")?;
//! assert_eq!(ace_fs::read_text(&file)?, "secret");
//! # Ok::<(), std::io::Error>(())
//! ```
#![forbid(unsafe_code)]
#![warn(missing_docs)]

mod read;
mod write;

pub use read::{MOST, open, read, read_text};
pub use write::{Output, STDOUT, write, write_private};
