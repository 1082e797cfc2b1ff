// SPDX-License-Identifier: Apache-2.0
//! Why nothing was measured.

use ace_config::SaFileErrors;
use ace_engine::{EngineError, Illegal};
use ace_ipsec::Cause;

/// Why a measurement ended without figures.
#[derive(Debug, thiserror::Error)]
pub enum BenchError {
    /// The SA file that a measurement makes is not accepted: a fault of this crate.
    #[error(transparent)]
    Sas(#[from] SaFileErrors),
    /// Its SAs have no place in a shard.
    #[error(transparent)]
    Shard(#[from] ace_ipsec::SadError),
    /// An operation failed.
    #[error(transparent)]
    Engine(#[from] EngineError),
    /// An operation makes no sense.
    #[error(transparent)]
    Illegal(#[from] Illegal),
    /// A packet did not come through.
    #[error("a packet was dropped: {0}")]
    Dropped(Cause),
    /// No suite begins with what was asked for.
    #[error("no such suite; there are {0}")]
    Suite(String),
    /// There are no figures of a suite.
    #[error("{0}: nothing was measured")]
    Nothing(String),
    /// More cores were asked for than there are, or one.
    #[error("--cores is between 2 and {most}: as many as this process may have")]
    Cores {
        /// That this process may have.
        most: usize,
    },
    /// A thread could not be bound to its core.
    #[error("a thread cannot be bound to its core")]
    Bind(#[from] rustix::io::Errno),
    /// A thread ended early.
    #[error("a thread of the measurement is gone")]
    Thread,
    /// A profile has no form in TOML.
    #[error("a profile")]
    Profile(#[from] toml::ser::Error),
}
