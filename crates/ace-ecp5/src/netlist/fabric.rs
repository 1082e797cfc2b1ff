// SPDX-License-Identifier: Apache-2.0
//! The routing that a configuration memory switches on: from a wire back to what drives it.

use super::database::{Database, Drive, Tile};
use super::error::NetlistError;
use super::mult::multiplies;
use super::tiles::{Bits, Name, NameKind, RelWire};
use crate::memory::ConfigMemory;

/// The row and column of wires that the whole device has once.
const NOWHERE: i16 = -1;
/// Longer than any way through the fabric.
const LONGEST: usize = 10_000;

/// A wire of the device.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) struct Wire {
    pub row: i16,
    pub col: i16,
    pub name: Name,
}

/// A memory seen through a database.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Fabric<'a> {
    pub database: &'a Database,
    pub memory: &'a ConfigMemory,
}

impl<'a> Fabric<'a> {
    /// A wire by its name in a tile, if the device has one of that name anywhere.
    pub fn wire(&self, row: i16, col: i16, name: &str) -> Option<Wire> {
        self.database.names.get(name).map(|name| Wire { row, col, name })
    }

    pub fn text(&self, wire: Wire) -> &'a str {
        self.database.names.text(wire.name)
    }

    /// For messages and for names of cells.
    pub fn describe(&self, wire: Wire) -> String {
        match wire.row {
            NOWHERE => self.text(wire).to_owned(),
            _ => format!("R{}C{}/{}", wire.row, wire.col, self.text(wire)),
        }
    }

    fn matches(&self, tile: &Tile, bits: &Bits) -> bool {
        bits.iter().all(|b| {
            let (frame, bit) = (tile.frame + usize::from(b.frame), tile.bit + usize::from(b.bit));
            self.memory.bit(frame, bit) == Some(b.set)
        })
    }

    fn absolute(&self, tile: &Tile, rel: RelWire) -> Wire {
        match self.database.kind_of(rel.name) {
            NameKind::Global => Wire { row: NOWHERE, col: NOWHERE, name: rel.name },
            _ => Wire { row: tile.row + rel.down, col: tile.col + rel.right, name: rel.name },
        }
    }

    /// The tiles of one place whose type's name satisfies a condition.
    pub fn tiles_at(&self, row: i16, col: i16) -> impl Iterator<Item = &'a Tile> + use<'a> {
        let database = self.database;
        database.at.get(&(row, col)).into_iter().flatten().map(|index| &database.tiles[*index])
    }

    /// The type of a tile.
    pub fn type_name(&self, tile: &Tile) -> &'a str {
        &self.database.types[usize::from(tile.kind)].name
    }

    /// The value of a setting of a tile: the matching one of most bits. `None` if the tile has no such setting
    /// or no value matches.
    pub fn choice(&self, tile: &Tile, name: &str) -> Option<&'a str> {
        let choice = self.database.types[usize::from(tile.kind)].choices.get(name)?;
        let matching = choice.options.iter().filter(|(_, bits)| self.matches(tile, bits));
        matching.max_by_key(|(_, bits)| bits.len()).map(|(value, _)| value.as_str())
    }

    /// The value of a setting whose bits lie in several tiles: the matching one of most bits in all of them.
    pub fn spread(&self, tiles: &[Tile], name: &str) -> Option<&'a str> {
        let database = self.database;
        let parts: Vec<_> = tiles
            .iter()
            .filter_map(|tile| Some((tile, database.types[usize::from(tile.kind)].choices.get(name)?)))
            .collect();
        let mut best: Option<(usize, &'a str)> = None;
        for (value, _) in parts.iter().flat_map(|(_, choice)| &choice.options) {
            let count = parts.iter().try_fold(0, |sum, (tile, choice)| {
                // A tile that does not know a value has no bit of it.
                match choice.options.iter().find(|(other, _)| other == value) {
                    None => Some(sum),
                    Some((_, bits)) => self.matches(tile, bits).then_some(sum + bits.len()),
                }
            });
            if count.is_some_and(|count| best.is_none_or(|(most, _)| count > most)) {
                best = count.map(|count| (count, value.as_str()));
            }
        }
        best.map(|(_, value)| value)
    }

    /// Whether a value of a setting matches the bits of a tile that has it, but for bits that inverted inputs of the
    /// same block (settings `prefix…MUX`) also own.
    pub fn option_matches(&self, tile: &Tile, name: &str, value: &str, prefix: &str) -> bool {
        let choices = &self.database.types[usize::from(tile.kind)].choices;
        let Some(choice) = choices.get(name) else { return true };
        let inputs = choices.iter().filter(|(other, _)| other.starts_with(prefix) && other.ends_with("MUX"));
        let inverted: Vec<_> = inputs
            .flat_map(|(_, other)| &other.options)
            .filter(|(value, _)| value == "INV")
            .flat_map(|(_, bits)| bits.iter().map(|b| (b.frame, b.bit)))
            .collect();
        choice.options.iter().any(|(other, bits)| {
            let own = bits.iter().filter(|b| b.set || !inverted.contains(&(b.frame, b.bit)));
            other == value && self.matches(tile, &own.copied().collect())
        })
    }

    /// As [`Fabric::choice`], but the tile must have a value.
    pub fn setting(&self, tile: &Tile, name: &str) -> Result<&'a str, NetlistError> {
        self.choice(tile, name).ok_or_else(|| {
            NetlistError::Setting(
                format!("R{}C{}:{}", tile.row, tile.col, self.type_name(tile)),
                name.to_owned(),
            )
        })
    }

    /// The digits of a number that this tile has, the lowest first.
    pub fn word(&self, tile: &Tile, name: &str) -> Option<Vec<Option<bool>>> {
        let digits = self.database.types[usize::from(tile.kind)].words.get(name)?;
        Some(digits.iter().map(|bits| bits.as_ref().map(|bits| self.matches(tile, bits))).collect())
    }

    /// What drives a wire now; `None` where its way through the fabric begins.
    pub fn driver(&self, wire: Wire) -> Result<Option<Wire>, NetlistError> {
        if let Some(driver) = self.known_driver(wire)? {
            return Ok(Some(driver));
        }
        let mut found: Option<Wire> = None;
        for sink in self.database.sinks.get(&wire.name).into_iter().flatten() {
            let whole = wire.row == NOWHERE;
            let tiles: &[usize] = if whole {
                &self.database.of_kind[usize::from(sink.kind)]
            } else {
                let place = (wire.row - sink.rel.down, wire.col - sink.rel.right);
                self.database.at.get(&place).map_or(&[], Vec::as_slice)
            };
            for tile in tiles.iter().map(|index| &self.database.tiles[*index]) {
                if tile.kind != sink.kind {
                    continue;
                }
                let source = match sink.drive {
                    Drive::Fixed(from) => self.absolute(tile, from),
                    Drive::Mux(mux) => {
                        let mux = &self.database.types[usize::from(tile.kind)].muxes[mux];
                        let active = mux.arcs.iter().filter(|(_, bits)| self.matches(tile, bits));
                        match active.max_by_key(|(_, bits)| bits.len()) {
                            Some((from, _)) => self.absolute(tile, *from),
                            None => continue,
                        }
                    }
                };
                if self.unused(source) || found == Some(source) {
                    continue;
                }
                if let Some(other) = found {
                    let [wire, a, b] = [wire, other, source].map(|w| self.describe(w));
                    return Err(NetlistError::Conflict(wire, a, b));
                }
                found = Some(source);
            }
        }
        Ok(found)
    }

    /// What is not in the tiles' tables: the clock tree between taps, spines and quadrants, and carry chains.
    fn known_driver(&self, wire: Wire) -> Result<Option<Wire>, NetlistError> {
        let database = self.database;
        let undriven = || NetlistError::Undriven(self.describe(wire));
        Ok(match database.kind_of(wire.name) {
            NameKind::Plain | NameKind::Global => None,
            // In a carry chain the bit that chooses the multiplexer means something else.
            NameKind::LogicOutput(lut) => {
                let slice = ["A", "B", "C", "D"][usize::from(lut / 2)];
                let mode = format!("SLICE{slice}.MODE");
                let chain = self.tiles_at(wire.row, wire.col).any(|t| self.choice(t, &mode) == Some("CCU2"));
                if chain { self.wire(wire.row, wire.col, &format!("F{lut}_SLICE")) } else { None }
            }
            NameKind::Branch => {
                let (col, side) = database.tap(wire.col).ok_or_else(undriven)?;
                let name = format!("{side}{}", &self.text(wire)[1..]);
                Some(self.wire(wire.row, col, &name).ok_or_else(undriven)?)
            }
            NameKind::Trunk if database.quadrant_of_spine(wire.row, wire.col).is_some() => None,
            NameKind::Trunk => {
                let (row, col) = database.spine(wire.row, wire.col).ok_or_else(undriven)?;
                Some(Wire { row, col, name: wire.name })
            }
            NameKind::Feed(number) => {
                let quadrant = database.quadrant_of_spine(wire.row, wire.col).ok_or_else(undriven)?;
                let name = format!("G_{quadrant}PCLK{number}");
                Some(self.wire(NOWHERE, NOWHERE, &name).ok_or_else(undriven)?)
            }
        })
    }

    /// Where the way to a wire begins: an output of a cell, or a wire that nothing drives.
    pub fn root(&self, wire: Wire) -> Result<Wire, NetlistError> {
        let mut at = wire;
        for _ in 0..LONGEST {
            match self.driver(at)? {
                Some(next) => at = next,
                None => return Ok(at),
            }
        }
        Err(NetlistError::Loop(self.describe(wire)))
    }

    /// Outputs of cells that a translated design has not in use; the modes of what it has are checked where the cells
    /// are made. Products and accumulators share wires; what is on among multipliers is asked, and a multiplier beside
    /// an accumulator that is on is refused.
    fn unused(&self, source: Wire) -> bool {
        const CELLS: [&str; 9] =
            ["CIBTEST", "MULT9", "PRADD9", "PRADD18", "ALU24", "ALU54", "IOLOGIC", "SIOLOGIC", "DQS"];
        match self.text(source).rsplit_once('_') {
            Some((pin, "MULT18")) => pin.starts_with("JP") && !multiplies(self, source),
            Some((_, cell)) => CELLS.contains(&cell),
            None => {
                let number = self.text(source).strip_prefix("JP").filter(|digits| !digits.is_empty());
                number.is_some_and(|digits| digits.bytes().all(|b| b.is_ascii_digit()))
            }
        }
    }
}
