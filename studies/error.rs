// SPDX-License-Identifier: Apache-2.0
//! Why there is no study.

use std::error::Error as StdError;

/// Why there is no study, or a configuration gets no other key.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// Something cannot be read or written, or says something else than it should.
    #[error("{what}")]
    In {
        /// Which file, and what to do about it.
        what: String,
        /// Why.
        source: Box<dyn StdError + Send + Sync>,
    },
    /// Something that is needed is not there, or makes no sense.
    #[error("{0}")]
    Unfit(String),
    /// A description of a board is refused.
    #[error(transparent)]
    Board(#[from] ace_board::ConfigError),
    /// A bitstream cannot be read.
    #[error(transparent)]
    Built(#[from] ace_board::library::BuiltError),
    /// The library does not give a configuration.
    #[error(transparent)]
    Image(#[from] ace_library::ImageError),
    /// A configuration port refuses bits.
    #[error(transparent)]
    Bits(#[from] ace_ecp5::BitstreamError),
    /// Bits are no circuit.
    #[error(transparent)]
    Netlist(#[from] ace_ecp5_netlist::NetlistError),
    /// Nothing was measured.
    #[error(transparent)]
    Bench(#[from] ace_bench::BenchError),
    /// Something could not be read or compressed.
    #[error(transparent)]
    Io(#[from] std::io::Error),
    /// What was looked at is not the design with this key.
    #[error(transparent)]
    Wrong(#[from] Wrong),
}

/// A memory that is not the design with a key.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Wrong {
    /// Digests without the key's LUTs.
    #[error("outside the key's LUTs the memory is {found}, and the design is {wanted}")]
    Outside {
        /// Of the memory.
        found: String,
        /// Of the design.
        wanted: String,
    },
    /// The key's LUTs hold something else.
    #[error("{count} of the key's {all} LUTs do not hold what the key makes, {first} first")]
    Inside {
        /// That do.
        count: usize,
        /// Of the key.
        all: usize,
        /// One of them.
        first: String,
    },
}

pub(crate) type Result<T, E = Error> = std::result::Result<T, E>;

/// Says of which file an error is.
pub(crate) trait Context<T> {
    fn context(self, what: impl Into<String>) -> Result<T>;
    fn with_context(self, what: impl FnOnce() -> String) -> Result<T>;
}

impl<T, E: Into<Box<dyn StdError + Send + Sync>>> Context<T> for std::result::Result<T, E> {
    fn context(self, what: impl Into<String>) -> Result<T> {
        self.map_err(|error| Error::In { what: what.into(), source: error.into() })
    }

    fn with_context(self, what: impl FnOnce() -> String) -> Result<T> {
        self.map_err(|error| Error::In { what: what(), source: error.into() })
    }
}

impl<T> Context<T> for Option<T> {
    fn context(self, what: impl Into<String>) -> Result<T> {
        self.ok_or_else(|| Error::Unfit(what.into()))
    }

    fn with_context(self, what: impl FnOnce() -> String) -> Result<T> {
        self.ok_or_else(|| Error::Unfit(what()))
    }
}

/// Ends with what is not there or makes no sense.
macro_rules! bail {
    ($($what:tt)*) => { return Err($crate::error::Error::Unfit(format!($($what)*))) };
}
/// The same unless something holds.
macro_rules! ensure {
    ($holds:expr, $($what:tt)*) => {
        if !$holds {
            $crate::error::bail!($($what)*);
        }
    };
}
pub(crate) use {bail, ensure};
