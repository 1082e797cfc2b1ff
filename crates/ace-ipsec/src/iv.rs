// SPDX-License-Identifier: Apache-2.0
//! Where initialisation vectors come from.

use rand_chacha::ChaCha20Rng;
use rand_chacha::rand_core::{Rng, SeedableRng};
use thiserror::Error;
use zeroize::Zeroizing;

/// The source has no randomness to give. The packet is dropped, never sent with a weak IV.
#[derive(Debug, Error)]
#[error("no randomness for an initialisation vector: {0}")]
pub struct IvError(pub String);

/// Gives unpredictable bytes. CBC asks it for every packet (RFC 3602, 3); counter modes ask it once per SA, for the
/// number that the sequence number is combined with, and not at all if the key is fresh.
pub trait IvSource: Send {
    /// Fills `iv`, whatever its length.
    ///
    /// # Errors
    /// [`IvError`]: nothing was filled that may be used.
    fn fill(&mut self, iv: &mut [u8]) -> Result<(), IvError>;
}

/// Calls between two seeds of the operating system.
const RESEED: u32 = 1 << 16;

/// Randomness of the operating system, stretched by ChaCha20 so that not every packet is a system call: what
/// production uses.
#[derive(Debug, Default)]
pub struct OsIvs {
    stream: Option<ChaCha20Rng>,
    left: u32,
}

impl IvSource for OsIvs {
    fn fill(&mut self, iv: &mut [u8]) -> Result<(), IvError> {
        if self.left == 0 {
            let mut seed = Zeroizing::new([0; 32]);
            getrandom::fill(seed.as_mut()).map_err(|e| IvError(e.to_string()))?;
            self.stream = Some(ChaCha20Rng::from_seed(*seed));
            self.left = RESEED;
        }
        self.left -= 1;
        let stream = self.stream.as_mut().ok_or_else(|| IvError("no seed".into()))?;
        stream.fill_bytes(iv);
        Ok(())
    }
}

/// A ChaCha20 stream from a seed: the same run again gives the same packets. For tests and repeatable
/// demonstrations only; with counter modes, two runs with one seed and one key use the key stream twice.
#[derive(Debug)]
pub struct SeededIvs(ChaCha20Rng);

impl SeededIvs {
    /// Takes the seed of the stream; one seed gives one stream for all SAs together.
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
