// SPDX-License-Identifier: Apache-2.0
//! What can be wrong with context sets and with slots that hold the array.

use std::path::PathBuf;

use thiserror::Error;

use crate::frame::{ResponseError, Status};
use crate::model::RunError;

/// Why a context set is not loaded, or there is no slot for it.
#[derive(Debug, Error)]
pub enum ArrayError {
    #[error("no algorithm of the array has the variant {0}")]
    Unknown(String),
    #[error("{name}: {error}")]
    Set { name: String, error: ace_array::Error },
    #[error("{0} sets keys up, and answers no frames of data")]
    SetsUp(String),
    #[error("{name}: the set is one for algorithm {code:#04x}, decrypt {decrypt}, keys {keys}")]
    Other { name: String, code: u8, decrypt: bool, keys: bool },
    #[error("the slot refuses the set: {0}")]
    Refused(Status),
    #[error(transparent)]
    Run(#[from] RunError),
    #[error(transparent)]
    Response(#[from] ResponseError),
    /// A file of the repository that was compiled in.
    #[error("{file}: {reason}")]
    Table { file: String, reason: String },
    #[error("manifest of {name}: {reason}")]
    Manifest { name: String, reason: String },
    #[error("algorithms/*/array/sets.toml has no context set {0}")]
    NoDigest(String),
    #[error("cannot read {}: {error}; `ace array build` makes it", path.display())]
    Unread { path: PathBuf, error: std::io::Error },
    #[error(
        "{} is not the set of its algorithm's array/sets.toml, which tests hold against the compiler; `ace array build` makes that",
        .0.display()
    )]
    OtherDigest(PathBuf),
    #[error("there are no context sets in {}; `{make}` makes them", folder.display())]
    NoSets { folder: PathBuf, make: String },
    #[error(
        "{} is for tiles of {} lanes at {} MHz, and this one has {} at {}; `{make}` makes it anew",
        path.display(), found.0, found.1, wanted.0, wanted.1
    )]
    OtherSlot { path: PathBuf, found: (usize, f64), wanted: (usize, f64), make: String },
}

impl ArrayError {
    pub(super) fn set(name: &str, error: ace_array::Error) -> Self {
        Self::Set { name: name.to_owned(), error }
    }
}
