// SPDX-License-Identifier: Apache-2.0
//! Configuration memory back to a netlist.
//!
//! [`Database`] is the Project Trellis database of a device; [`extract()`] follows the routing that the bits switch
//! on, from the pads that drive back to the pads that are driven, and makes a cell of every LUT, carry, flip-flop
//! and memory on the way. Nothing is guessed: bits that ask for something that is not translated are
//! refused, with the place. What the bits of silicon mean is what Project Trellis found out; none of this has been
//! tried on silicon.

#![warn(missing_docs)]

mod answers;
mod bit_flip_sensitivity;
mod block;
pub mod cells;
mod closed;
mod compare;
mod control;
mod database;
mod edit;
mod error;
mod extract;
mod extractor;
mod fabric;
mod json;
mod matching;
mod mult;
mod open;
mod pads;
mod pins;
mod points;
mod query_cache;
mod ram;
mod reading;
mod reference;
mod residual_config;
mod settings;
mod simulate;
mod slice;
mod solve;
mod sources;
mod tiles;
mod verilog;
mod wire;

pub use bit_flip_sensitivity::{BitFlipSensitivity, Verdict};
pub use cells::Netlist;
pub use closed::{CONTROL0, USERCODE};
pub use control::{Control, control};
pub use database::{Database, Pad};
pub use edit::Change;
pub use error::NetlistError;
pub use extract::{extract, follow};
pub use matching::{Matched, name_registers};
pub use open::{Open, OpenPins, PadReading, extract_open};
pub use pins::Pins;
pub use reading::Reading;
pub use reference::reference;
