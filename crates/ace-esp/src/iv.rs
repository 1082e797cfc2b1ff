// SPDX-License-Identifier: Apache-2.0
//! Where initialisation vectors come from.

use rand_chacha::ChaCha20Rng;
use rand_chacha::rand_core::{Rng, SeedableRng};
use thiserror::Error;

/// The source has no randomness to give. The packet is dropped, never sent with a weak IV.
#[derive(Debug, Error)]
#[error("no randomness for an initialisation vector: {0}")]
pub struct IvError(pub String);

/// Gives unpredictable bytes. CBC asks it for every packet (RFC 3602, 3); counter mode asks it once per SA, for
/// the number that the sequence number is combined with.
pub trait IvSource: Send {
    /// Fills `iv`, whatever its length.
    fn fill(&mut self, iv: &mut [u8]) -> Result<(), IvError>;
}

/// Randomness of the operating system: what production uses.
#[derive(Debug, Default)]
pub struct OsIvs;

impl IvSource for OsIvs {
    fn fill(&mut self, iv: &mut [u8]) -> Result<(), IvError> {
        getrandom::fill(iv).map_err(|e| IvError(e.to_string()))
    }
}

/// A ChaCha20 stream from a seed: the same run again gives the same packets. For tests and repeatable
/// demonstrations only; with counter mode, two runs with one seed and one key use the key stream twice.
#[derive(Debug)]
pub struct SeededIvs(ChaCha20Rng);

impl SeededIvs {
    pub fn new(seed: u64) -> Self {
        Self(ChaCha20Rng::seed_from_u64(seed))
    }
}

impl IvSource for SeededIvs {
    fn fill(&mut self, iv: &mut [u8]) -> Result<(), IvError> {
        self.0.fill_bytes(iv);
        Ok(())
    }
}
