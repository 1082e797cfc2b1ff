// SPDX-License-Identifier: Apache-2.0
//! What the tiles of pads have to hold: of a pad nothing is read but whether it drives; the rest follows from that and
//! from the file of pins, and is compared bit for bit. So a pad has no register, no delay, no open drain, no other
//! voltage and no other pull than this.

use std::collections::HashMap;

use super::cells::Net;
use super::database::{Pad, Tile};
use super::error::NetlistError;
use super::extractor::Extractor;
use super::fabric::Fabric;
use super::wire::Wire;

/// The one kind of pad that a slot has ([`super::Pins::parse`] refuses others).
pub(crate) const IO_TYPE: &str = "LVCMOS33";
/// The supply of a bank whose pads drive; nothing is said of banks whose pads only listen.
const SUPPLY: &str = "3V3";

/// What a pad is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Role {
    Input,
    Output,
}

/// The settings of a pad, in the order in which later ones write over the bits of earlier ones.
fn settings(role: Option<Role>) -> Vec<(&'static str, String)> {
    match role {
        None => vec![("BASE_TYPE", "NONE".to_owned())],
        Some(Role::Input) => {
            vec![("BASE_TYPE", format!("INPUT_{IO_TYPE}")), ("HYSTERESIS", "ON".to_owned())]
        }
        // The type alone would ask for no pull; what is written is the default.
        Some(Role::Output) => {
            vec![("BASE_TYPE", format!("OUTPUT_{IO_TYPE}")), ("PULLMODE", "DOWN".to_owned())]
        }
    }
}

impl Fabric<'_> {
    /// The two tiles (one at the lower edge) that hold the settings of a pad: its buffer's and its logic's.
    pub(crate) fn pad_tiles(&self, pad: Pad, lowest: i16) -> Vec<Tile> {
        let right = pad.col + i16::from(pad.pio == 'B');
        let places = match pad.row {
            0 => vec![(0, right), (1, right)],
            row if row == lowest => vec![(row, right)],
            row => vec![(row + 2 * i16::from(matches!(pad.pio, 'C' | 'D')), pad.col), (row + 1, pad.col)],
        };
        places.into_iter().flat_map(|(row, col)| self.tiles_at(row, col).copied()).collect()
    }

    /// Writes what the pads of the device have to hold, and the supplies of the banks.
    pub fn write_pads(&self, roles: &HashMap<Pad, Role>) -> Result<(), NetlistError> {
        let mut driven = [false; 16];
        let lowest = self.database.tiles.iter().map(|tile| tile.row).max().unwrap_or(0);
        for supplied in &self.database.supplied {
            let pad = supplied.pad;
            let role = roles.get(&pad).copied();
            if let (Some(Role::Output), Some(bank)) = (role, driven.get_mut(usize::from(supplied.bank))) {
                *bank = true;
            }
            let base = format!("PIO{}.BASE_TYPE", pad.pio);
            let has = |tile: &Tile| self.database.types[usize::from(tile.kind)].choices.contains_key(&base);
            for tile in self.pad_tiles(pad, lowest).iter().filter(|tile| has(tile)) {
                for (name, value) in settings(role) {
                    self.write(tile, &format!("PIO{}.{name}", pad.pio), &value)?;
                }
            }
        }
        for tile in &self.database.tiles {
            let bank = self.type_name(tile).strip_prefix("BANKREF").and_then(|n| n.parse::<usize>().ok());
            if bank.and_then(|bank| driven.get(bank)) == Some(&true) {
                self.write(tile, "BANK.VCCIO", SUPPLY)?;
            }
        }
        Ok(())
    }
}

impl Extractor<'_> {
    pub fn pad_wire(&self, pad: Pad, pin: &str) -> Result<Wire, NetlistError> {
        let name = format!("{pin}{}_PIO", pad.pio);
        self.fabric
            .wire(pad.row, pad.col, &name)
            .ok_or_else(|| NetlistError::Undriven(format!("R{}C{}/{name}", pad.row, pad.col)))
    }

    /// No pad takes its output from a register of its own.
    pub fn no_pad_registers(&self) -> Result<(), NetlistError> {
        let database = self.fabric.database;
        for (kind, tiles) in database.types.iter().zip(&database.of_kind) {
            let names: Vec<&String> =
                kind.choices.keys().filter(|name| name.starts_with("PIO") && name.contains("MUX_")).collect();
            let tiles = tiles.iter().map(|index| &database.tiles[*index]);
            for (tile, name) in tiles.flat_map(|tile| names.iter().map(move |name| (tile, *name))) {
                if self.fabric.choice(tile, name).is_some_and(|value| value.starts_with("IOL")) {
                    let place = format!("R{}C{}", tile.row, tile.col);
                    return Err(NetlistError::Unsupported(place, format!("a register in a pad ({name})")));
                }
            }
        }
        Ok(())
    }

    /// Whether a pad is an output: its tristate input is constant 0.
    pub fn drives(&mut self, pad: Pad) -> Result<bool, NetlistError> {
        let wire = self.pad_wire(pad, "PADDT")?;
        let root = self.fabric.root(wire)?;
        match self.constant(root) {
            Some(Net::ZERO) => Ok(true),
            Some(_) => Ok(false),
            None if self.fabric.text(root).ends_with("_PIO") => Ok(false),
            None => {
                Err(NetlistError::Unsupported(self.fabric.describe(wire), "a pad that is switched".into()))
            }
        }
    }
}
