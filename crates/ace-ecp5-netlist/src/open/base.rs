// SPDX-License-Identifier: Apache-2.0
//! What is set in the vendor's empty design, with which nextpnr begins, besides the short list of a slot's device
//! ([`crate::closed`]): constants at what is off, and bits without a name. As in nextpnr's `baseconfigs.cc`.

use crate::error::NetlistError;
use crate::fabric::Fabric;

/// Of 25k dies: the voltage monitor's tile has another type there.
const MONITOR: (&str, [(usize, usize); 5]) = ("DSP_SPINE_UL1", [(2, 0), (3, 0), (5, 0), (11, 0), (13, 0)]);
/// Of 85k dies: from this column on, pads of the lowest row have a bit without a meaning that is set.
const LOWEST: i16 = 96;
/// Where parts have SERDES, the constants of [`crate::closed`] have no names: frames of a tile whose bit is set, and that
/// bit.
const TIED_BIT: usize = 10;
const ALL: &[usize] = &[20, 21, 22, 23, 28, 29, 30, 31, 74, 75, 76, 77, 82, 83, 84, 85];
const EIGHT: &[usize] = &[20, 22, 29, 31, 74, 76, 83, 85];
const SERDES: [(&str, &[usize]); 12] = [
    ("CIB_DCU0", ALL),
    ("CIB_DCU1", &[20, 22, 29, 31, 74]),
    ("CIB_DCU2", EIGHT),
    ("CIB_DCU3", &[20, 22, 23, 29, 31, 74, 75, 76, 77, 82, 83, 84, 85]),
    ("CIB_DCUA", ALL),
    ("CIB_DCUB", ALL),
    ("CIB_DCUC", ALL),
    ("CIB_DCUD", &[20, 21, 22, 23, 28, 29, 31, 74, 75, 76, 77, 82, 83, 84, 85]),
    ("CIB_DCUF", ALL),
    ("CIB_DCUG", EIGHT),
    ("CIB_DCUH", EIGHT),
    ("CIB_DCUI", EIGHT),
];

impl Fabric<'_> {
    /// Writes what the vendor's empty design holds.
    pub(super) fn write_base(&self) -> Result<(), NetlistError> {
        self.write_short_list()?;
        let die = self.memory.device().die();
        let lowest = self.database.tiles.iter().map(|tile| tile.row).max().unwrap_or(0);
        let mut written = self.written.borrow_mut();
        for tile in &self.database.tiles {
            let kind = self.type_name(tile);
            let mut set = |frame: usize, bit: usize| {
                written.set_bit(tile.frame + frame, tile.bit + bit, true);
            };
            if die == "25" && kind == MONITOR.0 {
                MONITOR.1.iter().for_each(|(frame, bit)| set(*frame, *bit));
            }
            if die == "85" && tile.row == lowest && tile.col >= LOWEST && kind.starts_with("PICB") {
                set(0, 1);
            }
            for (_, frames) in SERDES.iter().filter(|(name, _)| *name == kind) {
                frames.iter().for_each(|frame| set(*frame, TIED_BIT));
            }
        }
        Ok(())
    }
}
