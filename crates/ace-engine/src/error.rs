// SPDX-License-Identifier: Apache-2.0
//! Why an operation has no result. Small and `Copy`, because a packet that fails is as fast as one that does not;
//! what there is to say beyond it [`crate::Engine::explain`] says.

use thiserror::Error;

use crate::need::Need;

/// A configuration of the engine's catalogue, by its place there.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ConfigurationId(pub u32);

impl ConfigurationId {
    /// The one at this place of the catalogue.
    pub fn at(place: usize) -> Self {
        // A catalogue of 2^32 configurations does not fit into memory.
        Self(u32::try_from(place).unwrap_or(u32::MAX))
    }

    /// Its place in the catalogue.
    pub const fn place(self) -> usize {
        self.0 as usize
    }
}

/// Why an operation has no result. A packet whose operation fails is dropped and counted; never sent in clear.
#[derive(Clone, Copy, Debug, Error, PartialEq, Eq)]
pub enum EngineError {
    /// Nothing that the engine has or could load computes this.
    #[error("no configuration for {need}")]
    NoConfiguration { need: Need },
    /// A configuration exists and could not be loaded.
    #[error("configuration {} was refused", .configuration.0)]
    LoadFailed { configuration: ConfigurationId },
    /// The slot answered with this status.
    #[error("slot {slot} answered with status {status}")]
    SlotStatus { slot: u32, configuration: ConfigurationId, status: u8 },
    /// The slot did not answer, or not as the boundary demands.
    #[error("slot {slot} failed: {failure}")]
    SlotFailed { slot: u32, configuration: ConfigurationId, failure: SlotFailure },
    /// No slot is left that works.
    #[error("no slot is left that works")]
    NoSlot,
    /// More waits for the engine than it takes.
    #[error("the engine's queue is full")]
    Overloaded,
    /// The operation makes no sense.
    #[error("illegal operation: {0}")]
    Illegal(Illegal),
    /// The tag is not that of the text: whoever sent this does not have the key.
    #[error("the tag does not match")]
    Mismatch,
    /// The engine has no answer and nothing in flight.
    #[error("the engine lost the job")]
    Lost,
}

/// How a slot fails without a status.
#[derive(Clone, Copy, Debug, Error, PartialEq, Eq)]
pub enum SlotFailure {
    #[error("no answer")]
    Silent,
    #[error("a response that breaks the rules of the boundary")]
    Protocol,
    #[error("a frame got lost")]
    Lost,
}

/// What is wrong with an operation. Lengths are bytes.
#[derive(Clone, Copy, Debug, Error, PartialEq, Eq)]
pub enum Illegal {
    #[error("the algorithm is not a cipher")]
    NotACipher,
    #[error("the algorithm is not a hash")]
    NotAHash,
    #[error("a key for something else")]
    KeyPurpose,
    #[error("no key of {0} bytes")]
    KeyLength(usize),
    #[error("an IV of {wanted} bytes is needed, not {found}")]
    IvLength { wanted: usize, found: usize },
    #[error("no nonce of {0} bytes")]
    NonceLength(usize),
    #[error("no tag of {0} bytes")]
    TagLength(usize),
    #[error("{0} bytes are not whole blocks")]
    NotWholeBlocks(usize),
    #[error("{0} bytes are more than fit")]
    TooLong(usize),
    #[error("a range that is not in the buffer")]
    Range,
    #[error("ranges that overlap")]
    Overlap,
    #[error("encryption writes a tag and decryption checks one")]
    TagDirection,
    #[error("the counter would come round to its start")]
    CounterWraps,
}

impl From<Illegal> for EngineError {
    fn from(illegal: Illegal) -> Self {
        EngineError::Illegal(illegal)
    }
}
