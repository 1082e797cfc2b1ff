// SPDX-License-Identifier: Apache-2.0
//! Why an operation has no result. Small and `Copy`, because a packet that fails is as fast as one that does not;
//! what there is to say beyond it [`crate::Engine::explain`] says.

use thiserror::Error;

use crate::configuration::ConfigurationId;
use crate::need::Need;

/// Why an operation has no result. A packet whose operation fails is dropped and counted; never sent in clear.
#[derive(Clone, Copy, Debug, Error, PartialEq, Eq)]
pub enum EngineError {
    /// Nothing that the engine has or could load computes this.
    #[error("no configuration for {need}")]
    NoConfiguration {
        /// The pass that nothing computes.
        need: Need,
    },
    /// A configuration exists and could not be loaded.
    #[error("configuration {configuration} was refused")]
    LoadFailed {
        /// The configuration that the board did not take.
        configuration: ConfigurationId,
    },
    /// The slot answered with this status.
    #[error("slot {slot} answered with status {status}")]
    SlotStatus {
        /// Number of the slot, from 0.
        slot: u32,
        /// The configuration that was in the slot.
        configuration: ConfigurationId,
        /// The status of the response frame, never 0; docs/slot.md lists them.
        status: u8,
    },
    /// The slot did not answer, or not as the boundary demands.
    #[error("slot {slot} failed: {failure}")]
    SlotFailed {
        /// Number of the slot, from 0.
        slot: u32,
        /// The configuration that was in the slot.
        configuration: ConfigurationId,
        /// What the slot did wrong.
        failure: SlotFailure,
    },
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
    /// No response came in time. The slot needs a reset.
    #[error("no answer")]
    Silent,
    /// The response was malformed, or an answer to nothing that was asked.
    #[error("a response that breaks the rules of the boundary")]
    Protocol,
    /// An earlier frame for the slot failed, so this one was not tried.
    #[error("a frame got lost")]
    Lost,
}

/// What is wrong with an operation. Lengths are bytes.
#[derive(Clone, Copy, Debug, Error, PartialEq, Eq)]
pub enum Illegal {
    /// A key for a cipher was asked for, and the algorithm is a hash.
    #[error("the algorithm is not a cipher")]
    NotACipher,
    /// A key for a hash or HMAC was asked for, and the algorithm is a cipher.
    #[error("the algorithm is not a hash")]
    NotAHash,
    /// The key's [`Purpose`](crate::Purpose) is not what the action computes.
    #[error("a key for something else")]
    KeyPurpose,
    /// The algorithm takes no key of this length.
    #[error("no key of {0} bytes")]
    KeyLength(usize),
    /// The IV does not fit cipher and mode.
    #[error("an IV of {wanted} bytes is needed, not {found}")]
    IvLength {
        /// Length that cipher and mode take.
        wanted: usize,
        /// Length that was given.
        found: usize,
    },
    /// The AEAD takes no nonce of this length ([`Aead::has_nonce`](crate::Aead::has_nonce)).
    #[error("no nonce of {0} bytes")]
    NonceLength(usize),
    /// The tag is longer than the MAC, empty, or of a length that the AEAD does not allow
    /// ([`Aead::has_tag`](crate::Aead::has_tag)).
    #[error("no tag of {0} bytes")]
    TagLength(usize),
    /// ECB and CBC take whole blocks only (SP 800-38A, 5.2); this is the length of the text.
    #[error("{0} bytes are not whole blocks")]
    NotWholeBlocks(usize),
    /// The AEAD encrypts no text of this length under one nonce ([`Aead::longest_text`](crate::Aead::longest_text)).
    #[error("{0} bytes are more than fit")]
    TooLong(usize),
    /// A span ends behind the packet or before its own start.
    #[error("a range that is not in the buffer")]
    Range,
    /// Spans share a byte where one of them is written and the other one read.
    #[error("ranges that overlap")]
    Overlap,
    /// The operation encrypts and checks a tag, or decrypts and writes one.
    #[error("encryption writes a tag and decryption checks one")]
    TagDirection,
    /// A counter mode would use a counter block twice under one key (SP 800-38A, B.1).
    #[error("the counter would come round to its start")]
    CounterWraps,
}

impl From<Illegal> for EngineError {
    fn from(illegal: Illegal) -> Self {
        EngineError::Illegal(illegal)
    }
}
