// SPDX-License-Identifier: Apache-2.0
//! The closed world: what was read, written again, is the memory. Every bit that the circuit does not rest on is clear,
//! but for a short list, and so are the registers of the port.

use std::collections::BTreeSet;

use super::database::{Database, Tile};
use super::error::NetlistError;
use super::fabric::Fabric;
use ace_ecp5::memory::ConfigMemory;

/// Control register 0 of a slot: what `ecppack` writes when it is asked for nothing. The lowest six bits would be the
/// clock of a master port, bits 25 to 27 and 29 a configuration in the background.
pub const CONTROL0: u32 = 0x4000_0000;
/// The USERCODE of a slot.
pub const USERCODE: u32 = 0;

/// The short list, settings: type of the tiles, setting, value. When a device wakes up, in the order that is the
/// database's default (all others of `SYSCONFIG`, `GSR`, `CCLK`, `JTAG` and `OSC` are blank: off).
const WAKE_UP: [(&str, &str, &str); 3] = [
    ("EFB0_PICB0", "SYSCONFIG.DONEPHASE", "T3"),
    ("EFB0_PICB0", "SYSCONFIG.GSRPHASE", "T2"),
    ("EFB0_PICB0", "SYSCONFIG.GWEPHASE", "T2"),
];
/// The short list, bits that have no name: those of the vendor's empty design, with which nextpnr begins. The tile
/// belongs to the voltage monitor of the pads' drivers.
const NAMELESS: [(&str, &[(usize, usize)]); 1] =
    [("PVT_COUNT2", &[(2, 0), (3, 0), (5, 0), (11, 0), (13, 0)])];
/// The short list, constants: the vendor's empty design ties pins of the fabric to 0 at PLLs, at the configuration port
/// and where LFE5UM parts have SERDES. What they lead to is off. Type of the tiles, pins.
const TIED: [(&str, &str); 16] = [
    ("CIB_EFB0", "B3 C6 D6"),
    ("CIB_EFB1", "A3 B3 C3 D3 A4 B4 C4 D4 A5 B5 C5 D5 A6 B6"),
    ("CIB_PLL1", "A3 B3"),
    ("CIB_PLL3", "A3 B3"),
    ("VCIB_DCU0", "A1 A3 A5 A7 B1 B3 B5 B7 C0 C2 C4 C6 D0 D2 D4 D6"),
    ("VCIB_DCU1", "B1 B3 B5 D0 D2"),
    ("VCIB_DCU2", "B1 B3 B5 B7 D0 D2 D4 D6"),
    ("VCIB_DCU3", "A5 A7 B1 B3 B5 B7 C0 C4 C6 D0 D2 D4 D6"),
    ("VCIB_DCUA", "A1 A3 A5 A7 B1 B3 B5 B7 C0 C2 C4 C6 D0 D2 D4 D6"),
    ("VCIB_DCUB", "A1 A3 A5 A7 B1 B3 B5 B7 C0 C2 C4 C6 D0 D2 D4 D6"),
    ("VCIB_DCUC", "A1 A3 A5 A7 B1 B3 B5 B7 C0 C2 C4 C6 D0 D2 D4 D6"),
    ("VCIB_DCUD", "A1 A5 A7 B1 B3 B5 B7 C0 C2 C4 C6 D0 D2 D4 D6"),
    ("VCIB_DCUF", "A1 A3 A5 A7 B1 B3 B5 B7 C0 C2 C4 C6 D0 D2 D4 D6"),
    ("VCIB_DCUG", "B1 B3 B5 B7 D0 D2 D4 D6"),
    ("VCIB_DCUH", "B1 B3 B5 B7 D0 D2 D4 D6"),
    ("VCIB_DCUI", "B1 B3 B5 B7 D0 D2 D4 D6"),
];

impl Fabric<'_> {
    /// Writes the short list.
    pub fn write_short_list(&self) -> Result<(), NetlistError> {
        for tile in &self.database.tiles {
            let kind = self.type_name(tile);
            for (_, name, value) in WAKE_UP.iter().filter(|(wanted, _, _)| *wanted == kind) {
                self.write(tile, name, value)?;
            }
            for (_, bits) in NAMELESS.iter().filter(|(wanted, _)| *wanted == kind) {
                let mut written = self.written.borrow_mut();
                for (frame, bit) in *bits {
                    written.set_bit(tile.frame + frame, tile.bit + bit, true);
                }
            }
            for (_, pins) in TIED.iter().filter(|(wanted, _)| *wanted == kind) {
                for pin in pins.split(' ') {
                    self.write(tile, &format!("CIB.J{pin}MUX"), "0")?;
                }
            }
        }
        Ok(())
    }

    /// Whether the memory is what was written, and its registers those of a slot. `used` are the numbers of the block
    /// memories of the circuit.
    pub fn close(&self, used: &BTreeSet<u16>) -> Result<(), NetlistError> {
        let registers =
            [("CTRL0", self.memory.control0(), CONTROL0), ("USERCODE", self.memory.usercode(), USERCODE)];
        for (name, held, wanted) in registers {
            if held != wanted {
                return Err(NetlistError::Register(name, held, wanted, held ^ wanted));
            }
        }
        if let Some((id, _)) = self.memory.ebr().find(|(id, _)| !used.contains(id)) {
            return Err(NetlistError::Contents(id));
        }
        let differences = differences(self.memory, &self.written.borrow());
        match differences.first() {
            Some((frame, bit)) => Err(self.unexplained(*frame, *bit, differences.len() - 1)),
            None => Ok(()),
        }
    }

    /// The tiles with a bit that is not as it was written.
    pub fn unexplained_tiles(&self) -> Vec<Tile> {
        let differences = differences(self.memory, &self.written.borrow());
        let tiles = differences.iter().filter_map(|(frame, bit)| self.database.tile_of(*frame, *bit));
        let mut tiles: Vec<Tile> = tiles.copied().collect();
        tiles.sort_by_key(|tile| (tile.frame, tile.bit));
        tiles.dedup_by_key(|tile| (tile.frame, tile.bit));
        tiles
    }

    fn unexplained(&self, frame: usize, bit: usize, more: usize) -> NetlistError {
        let set = self.memory.bit(frame, bit) == Some(true);
        let held = if set { "set" } else { "clear" };
        let Some(tile) = self.database.tile_of(frame, bit) else {
            let why = "no tile has it".to_owned();
            return NetlistError::Unexplained {
                place: format!("frame {frame}"),
                bit: bit.to_string(),
                held,
                why,
                more,
            };
        };
        let (row, col) = (frame - tile.frame, bit - tile.bit);
        let owners = self.database.owners(frame, bit);
        let why = match (set, owners.is_empty()) {
            (true, true) => "the database has no name for it".to_owned(),
            (true, false) => format!("nothing that the circuit rests on explains it ({})", owners.join(", ")),
            (false, _) => format!("the pads or the short list want it set ({})", owners.join(", ")),
        };
        NetlistError::Unexplained { place: self.place(tile), bit: format!("F{row}B{col}"), held, why, more }
    }
}

impl Database {
    /// What the database says a bit of the memory belongs to, such as `setting SLICEA.CEMUX`; nothing for one without a
    /// name.
    pub fn owners(&self, frame: usize, bit: usize) -> Vec<String> {
        let Some(tile) = self.tile_of(frame, bit) else { return Vec::new() };
        let kind = &self.types[usize::from(tile.kind)];
        let (frame, bit) = (frame - tile.frame, bit - tile.bit);
        let here = |b: &super::tiles::Bit| (usize::from(b.frame), usize::from(b.bit)) == (frame, bit);
        let muxes = kind.muxes.iter().filter(|mux| mux.arcs.iter().any(|(_, bits)| bits.iter().any(here)));
        let muxes = muxes.map(|mux| format!("multiplexer {}", self.names.text(mux.sink.name)));
        let choices = kind.choices.iter();
        let choices = choices.filter(|(_, c)| c.options.iter().any(|(_, bits)| bits.iter().any(here)));
        let words = kind.words.iter().filter(|(_, w)| w.iter().flatten().any(|bits| bits.iter().any(here)));
        let names = choices.map(|(name, _)| name).chain(words.map(|(name, _)| name));
        let mut owners: Vec<String> = muxes.chain(names.map(|name| format!("setting {name}"))).collect();
        owners.sort();
        owners
    }
}

/// The bits that differ, by frame and bit.
pub(crate) fn differences(a: &ConfigMemory, b: &ConfigMemory) -> Vec<(usize, usize)> {
    let mut all = Vec::new();
    for number in 0..a.device().frames {
        let (Some(x), Some(y)) = (a.frame(number), b.frame(number)) else { continue };
        if x == y {
            continue;
        }
        for (place, (x, y)) in x.iter().rev().zip(y.iter().rev()).enumerate() {
            let bits = (0..8).filter(|bit| (x ^ y) >> bit & 1 == 1);
            all.extend(bits.map(|bit| (number, 8 * place + bit)));
        }
    }
    all
}
