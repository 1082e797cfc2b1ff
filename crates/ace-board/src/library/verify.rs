// SPDX-License-Identifier: Apache-2.0
//! Whether what a library holds is what was signed, proven and timed.

use ace_library::{Image, ImageError, Library};
use thiserror::Error;

use super::built::{TimingError, timed};
use crate::store::{OfferError, offer};

/// What is wrong with a configuration of a library.
#[derive(Debug, Error)]
pub enum VerifyError {
    /// It cannot be taken out, or is not what it was.
    #[error(transparent)]
    Image(#[from] ImageError),
    /// Manifest and record do not say what a board wants to know.
    #[error("{name}: {why}")]
    Record {
        /// Of the configuration.
        name: String,
        /// What they say instead.
        why: OfferError,
    },
    /// Nobody knows where its clock is from.
    #[error("{name}: {source}")]
    Timing {
        /// Of the configuration.
        name: String,
        /// Why not.
        source: TimingError,
    },
}

/// Decompresses a configuration, compares its digest, and reads its manifest and its record of a proof.
///
/// # Errors
/// What is wrong first.
pub fn verify(library: &Library, image: &Image) -> Result<(), VerifyError> {
    let name = || image.name().to_owned();
    library.memory(image.name())?;
    let record = |why| VerifyError::Record { name: name(), why };
    offer(image).map_err(record)?;
    let manifest = image.manifest().map_err(|error| record(error.into()))?;
    timed(&manifest, None).map_err(|source| VerifyError::Timing { name: name(), source })
}
