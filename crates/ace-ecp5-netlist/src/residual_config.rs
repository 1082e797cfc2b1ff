// SPDX-License-Identifier: Apache-2.0
//! What placing leaves in an image although no pad depends on it. It is read as everything else is, so that nothing of
//! it is passed over, and it must be what is described here.

use super::cells::Net;
use super::database::Tile;
use super::error::NetlistError;
use super::extractor::{Extractor, Source};
use super::slice::{INPUTS, SLICES};
use super::wire::{NOWHERE, Wire};

/// The table of a LUT that is not in use.
const BLANK: u16 = 0xffff;

impl Extractor<'_> {
    /// The short list, clocks: nextpnr hands a clock to all quadrants, also to those without a register. It is the
    /// same clock there, or the image is refused.
    pub fn residual_quadrants(&self) -> Result<(), NetlistError> {
        for number in self.fabric.feeds.borrow().iter() {
            let names = ["UL", "UR", "LL", "LR"].map(|quadrant| format!("G_{quadrant}PCLK{number}"));
            let wires: Vec<Wire> =
                names.iter().filter_map(|name| self.fabric.wire(NOWHERE, NOWHERE, name)).collect();
            let mut clock = None;
            for wire in wires {
                let root = self.fabric.root(wire)?;
                if root != wire && *clock.get_or_insert(root) != root {
                    return Err(NetlistError::Unsupported(
                        self.fabric.describe(wire),
                        "another clock".into(),
                    ));
                }
            }
        }
        Ok(())
    }

    /// The short list, logic tiles: ends of carry chains, and LUTs that nothing reads.
    pub fn residual_logic(&mut self) -> Result<(), NetlistError> {
        self.looked_into = self.fabric.unexplained_tiles();
        for tile in self.looked_into.clone() {
            if self.fabric.type_name(&tile) == "PLC2" {
                for slice in 0..SLICES.len() {
                    self.residual_slice(&tile, slice)?;
                }
            }
        }
        self.finish()
    }

    pub fn residual_slice(&mut self, tile: &Tile, slice: usize) -> Result<(), NetlistError> {
        let at = (tile.row, tile.col);
        let luts = [2 * slice, 2 * slice + 1];
        let mode = self.fabric.choice(tile, &format!("SLICE{}.MODE", SLICES[slice]));
        for lut in luts {
            let wire = self.at(at, &format!("F{lut}_SLICE"))?;
            if self.nets.contains_key(&wire) {
                continue;
            }
            match mode {
                // Behind a carry that leaves a chain nextpnr puts a slice that hands it to the fabric, also when nothing
                // there reads it. All its inputs are constant.
                Some("CCU2") => {
                    let init = if lut % 2 == 0 { 0 } else { 0x000e };
                    let constant = self.init(tile, lut)? == init
                        && self.lut_inputs(at, lut)? == [Source::Net(Net::ONE); 4]
                        && self.set(tile, slice, &format!("CCU2.INJECT1_{}", lut % 2))? == "NO";
                    if !constant {
                        return self.refuse(at, slice, "a carry that nothing reads");
                    }
                    self.set(tile, slice, "MODE")?;
                }
                // A LUT that synthesis has kept: it is a cell of the netlist without a reader, and where its inputs come
                // from is followed as for any other.
                Some("LOGIC") => {
                    let mut used = false;
                    for letter in ["A", "B", "C", "D"] {
                        let input = self.at(at, &format!("{letter}{lut}"))?;
                        used |= self.fabric.driver(input)?.is_some();
                    }
                    if used && self.init(tile, lut)? == BLANK {
                        return self.refuse(at, slice, "an arc to a LUT that is not in use");
                    }
                    if used {
                        self.slice_output(at, &format!("F{lut}"))?;
                    } else if self.init(tile, lut)? != BLANK || self.constant_inputs(tile, lut) {
                        self.constant_source(at, lut)?;
                    }
                }
                _ => {}
            }
        }
        Ok(())
    }

    /// Whether all inputs of a LUT are set to 1.
    fn constant_inputs(&self, tile: &Tile, lut: usize) -> bool {
        INPUTS.iter().all(|letter| {
            let name = format!("SLICE{}.{letter}{}MUX", SLICES[lut / 2], lut % 2);
            self.fabric.choice(tile, &name) == Some("1")
        })
    }

    /// nextpnr has one LUT for whatever is tied to 0 and one for what is tied to 1, and keeps it also where in the end
    /// nothing reads it: the table has one value, and all four inputs are constant.
    fn constant_source(&mut self, at: (i16, i16), lut: usize) -> Result<(), NetlistError> {
        let tile = self.logic_tile(at)?;
        let init = self.init(&tile, lut)?;
        if !matches!(init, 0 | BLANK) || self.lut_inputs(at, lut)? != [Source::Net(Net::ONE); 4] {
            return self.refuse(at, lut / 2, "a table that nothing reads");
        }
        if std::mem::replace(&mut self.constants[usize::from(init == BLANK)], true) {
            return self.refuse(at, lut / 2, "a second source of a constant that nothing reads");
        }
        Ok(())
    }
}
