// SPDX-License-Identifier: Apache-2.0
//! What can be wrong with context sets and with slots that hold the array.

use std::path::PathBuf;

use thiserror::Error;

use crate::frame::{ResponseError, Status};
use crate::model::RunError;

/// Why a context set is not loaded, or there is no slot for it.
#[derive(Debug, Error)]
pub enum ArrayError {
    /// The name is no variant that [`ace_array::Named::find`] knows.
    #[error("no algorithm of the array has the variant {0}")]
    Unknown(String),
    /// The compiler, or the reader of sets, refuses the set of a variant.
    #[error("{name}: {error}")]
    Set {
        /// The variant.
        name: String,
        /// Why, as the array's crate says it.
        error: ace_array::Error,
    },
    /// The set of a variant is not what its source says.
    #[error("{name}: the set is refused: {unlike}; `ace array compile` makes one of its source")]
    Unlike {
        /// The variant.
        name: String,
        /// What is not so.
        unlike: ace_array::validate::Unlike,
    },
    /// The set of this variant expands keys for another one, and no frame of data can be sent to it.
    #[error("{0} sets keys up, and answers no frames of data")]
    SetsUp(String),
    /// The bytes are a good set, but of another algorithm, direction or purpose than their name says.
    #[error("{name}: the set is one for algorithm {code:#04x}, decrypt {decrypt}, keys {keys}")]
    Other {
        /// The name under which the set came.
        name: String,
        /// The algorithm's code in the set, byte 0 of a request.
        code: u8,
        /// Whether the set decrypts.
        decrypt: bool,
        /// Whether the set expands keys.
        keys: bool,
    },
    /// The slot answered the frame that loads the set with this status.
    #[error("the slot refuses the set: {0}")]
    Refused(Status),
    /// The slot's model came to no answer.
    #[error(transparent)]
    Run(#[from] RunError),
    /// The slot's answer breaks the rules of the boundary.
    #[error(transparent)]
    Response(#[from] ResponseError),
    /// A file of the repository that was compiled in cannot be read as what it is.
    #[error("{file}: {reason}")]
    Table {
        /// The file's path in the repository.
        file: String,
        /// Why its text cannot be read.
        reason: String,
    },
    /// The manifest of a context set in a library cannot be read.
    #[error("manifest of {name}: {reason}")]
    Manifest {
        /// The set's name.
        name: String,
        /// What is wrong with the manifest.
        reason: String,
    },
    /// No algorithm's `array/sets.toml` has a digest for this set.
    #[error("algorithms/*/array/sets.toml has no context set {0}")]
    NoDigest(String),
    /// The file of a set, which `ace array build` makes, cannot be read.
    #[error("cannot read {}: {error}; `ace array build` makes it", path.display())]
    Unread {
        /// The file.
        path: PathBuf,
        /// Why the system could not read it.
        error: std::io::Error,
    },
    #[error(
        "{} is not the set of its algorithm's array/sets.toml, which tests hold against the compiler; `ace array build` makes that",
        .0.display()
    )]
    /// The SHA-256 of this file is not the one in `sets.toml`.
    OtherDigest(PathBuf),
    /// The folder has no context set of any variant.
    #[error("there are no context sets in {}; `{make}` makes them", folder.display())]
    NoSets {
        /// The folder that was looked into.
        folder: PathBuf,
        /// The command that makes the sets.
        make: String,
    },
    #[error(
        "there is no model of the array's slot, on which the library's context sets run: {}: {reason}; `{make}` in a checkout of ACE makes it, and `make install` \
         puts it beside an installed ace",
        path.display()
    )]
    /// Sets are there, and nothing that runs them.
    NoModel {
        /// Where the model should be.
        path: PathBuf,
        /// Why it cannot be used.
        reason: String,
        /// The command that makes it.
        make: String,
    },
    #[error(
        "{}: the slot's model is not of the design signed in {}; `{make}` makes it of these sources, and if those have changed \
         the library is to be signed anew (or --unsigned)",
        path.display(), library.display()
    )]
    /// The model of the slot is of another design, or other source, than the signed one.
    OtherModel {
        /// The file of a set.
        path: PathBuf,
        /// The library.
        library: PathBuf,
        /// The command that makes the model.
        make: String,
    },
    #[error(
        "{} is for tiles of {} lanes at {} MHz, and this one has {} at {}; `{make}` makes it anew",
        path.display(), found.0, found.1, wanted.0, wanted.1
    )]
    /// The sets were made for a slot with other tiles, or with another clock.
    OtherSlot {
        /// The file that says what they were made for.
        path: PathBuf,
        /// Lanes of a tile and MHz that the sets were made for.
        found: (usize, f64),
        /// Lanes of a tile and MHz of the slot that is asked for.
        wanted: (usize, f64),
        /// The command that makes the sets anew.
        make: String,
    },
}

impl ArrayError {
    pub(super) fn set(name: &str, error: ace_array::Error) -> Self {
        Self::Set { name: name.to_owned(), error }
    }
}
