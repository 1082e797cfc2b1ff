// SPDX-License-Identifier: Apache-2.0
//! Anybody's design: as [`super::extract()`] reads a slot, but with pads of any kind, registers and delays in pads, PLLs,
//! the oscillator, gated clocks and the configuration's own pins. What is not logic becomes a block, of which
//! parameters and pins are known and nothing else.
//!
//! A slot is never read this way: [`super::extract()`] refuses all of it.

mod base;
mod blocks;
mod lpf;
mod pad_bits;
mod pad_logic;
mod read;
mod residue;

use std::collections::BTreeMap;

use super::cells::{Net, Netlist};
use super::database::Pad;

pub use lpf::OpenPins;
pub use read::extract_open;

/// A cell that is named already, and whose inputs are not followed yet.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Site {
    /// The flip-flop behind a pad's input.
    InputRegister {
        pad: Pad,
        output: Net,
    },
    /// `IDDRX1F`.
    InputDdr {
        pad: Pad,
        outputs: [Net; 2],
    },
    /// `DELAYF` behind a pad's input: Z and CFLAG.
    Delay {
        pad: Pad,
        outputs: [Net; 2],
    },
    Pll {
        at: (i16, i16),
    },
    Jtag {
        at: (i16, i16),
    },
}

/// How a pad is set.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize)]
pub struct PadReading {
    /// The port's name; the ball's where no file of pins names it.
    pub port: String,
    /// The ball, if the package has one for the pad.
    pub ball: Option<String>,
    /// `INPUT`, `OUTPUT` or `BIDIR`.
    pub direction: String,
    /// For example `LVCMOS33`. Some types have the same bits as others: the first by name, or what the file of pins says.
    pub io_type: String,
    /// Drive, pull, slew rate and others that are set.
    pub attributes: BTreeMap<String, String>,
    /// The file of pins says the same, and its values have exactly these bits.
    pub as_told: bool,
}

/// What a memory holds.
#[derive(Clone, Debug)]
pub struct Open {
    /// The circuit of the pads. A pad that is not always driven is three ports: `name`, `name$out` and `name$off`, of which
    /// the last is 1 when it is not driven.
    pub netlist: Netlist,
    /// The pads that are in use.
    pub pads: Vec<PadReading>,
    /// Where registers or delays in pads are on, all settings of theirs, by port.
    pub logic: BTreeMap<String, BTreeMap<String, String>>,
    /// Settings of the whole device: place, name, value.
    pub settings: Vec<(String, String, String)>,
    /// Bits that are set although nothing of the circuit rests on them, or the other way round: tile, bit and whose it is.
    pub unexplained: Vec<String>,
}

/// A port's name with something behind it: `a[3]` becomes `a$out[3]`.
fn suffixed(name: &str, suffix: &str) -> String {
    match super::verilog::bus(name) {
        (base, Some(bit)) => format!("{base}{suffix}[{bit}]"),
        (base, None) => format!("{base}{suffix}"),
    }
}
