// SPDX-License-Identifier: Apache-2.0
//! The routing that a configuration memory switches on: from a wire back to what drives it.

use std::cell::{Cell, RefCell};
use std::collections::BTreeSet;

use super::database::{Database, Drive, Tile};
use super::error::NetlistError;
use super::query_cache::{QueryCache, Question};
use super::tiles::{Bit, Bits, Mux, NameKind, RelWire};
use super::wire::{NOWHERE, Wire};
use ace_ecp5::device::Device;
use ace_ecp5::memory::ConfigMemory;

/// Longer than any way through the fabric.
const LONGEST: usize = 10_000;

/// A memory seen through a database.
#[derive(Clone, Debug)]
pub(crate) struct Fabric<'a> {
    pub database: &'a Database,
    pub memory: &'a ConfigMemory,
    /// What was read, written again: the bits of every arc and every value that the circuit rests on.
    pub written: RefCell<ConfigMemory>,
    /// The clocks that reach a spine, by the number that quadrants give them.
    pub feeds: RefCell<BTreeSet<u8>>,
    /// A bit that is taken for the other ([`place`]), and what was asked so far; only where flips are tried.
    pub flipped: Cell<Option<u32>>,
    /// What else than logic is followed, as in anybody's design ([`super::open`]); a slot has nothing of it.
    pub open: bool,
    pub cache: Option<QueryCache<'a>>,
}

/// The number of a bit among all of a device.
pub(crate) fn place(device: &Device, frame: usize, bit: usize) -> u32 {
    (frame * device.frame_bits + bit) as u32
}

impl<'a> Fabric<'a> {
    pub fn new(database: &'a Database, memory: &'a ConfigMemory) -> Self {
        let written = RefCell::new(ConfigMemory::new(memory.device()));
        let (feeds, flipped) = (RefCell::default(), Cell::new(None));
        Self { database, memory, written, feeds, flipped, open: false, cache: None }
    }

    pub fn held(&self, tile: &Tile, frame: u16, bit: u16) -> Option<bool> {
        let (frame, bit) = (tile.frame + usize::from(frame), tile.bit + usize::from(bit));
        let held = self.memory.bit(frame, bit)?;
        let Some(cache) = &self.cache else { return Some(held) };
        let place = place(self.memory.device(), frame, bit);
        cache.reads(&[place]);
        Some(held ^ (self.flipped.get() == Some(place)))
    }

    /// The circuit rests on these bits being as they are.
    pub fn explain<'b>(&self, tile: &Tile, bits: impl IntoIterator<Item = &'b Bit>) {
        let mut written = self.written.borrow_mut();
        for b in bits.into_iter().filter(|b| b.set) {
            let (frame, bit) = (tile.frame + usize::from(b.frame), tile.bit + usize::from(b.bit));
            written.set_bit(frame, bit, true);
            if let Some(cache) = &self.cache {
                cache.writes(place(self.memory.device(), frame, bit));
            }
        }
    }

    /// The arc of a multiplexer whose bits are set, and no other bit of the multiplexer is. None: no arc is on;
    /// what is set then, another setting has to explain.
    fn arc(&self, tile: &Tile, mux: &'a Mux) -> Result<Option<(RelWire, &'a Bits)>, NetlistError> {
        let on = mux.own.iter().filter(|(frame, bit)| self.held(tile, *frame, *bit) == Some(true)).count();
        let sets = |bits: &Bits| bits.iter().filter(|b| b.set).count();
        let matching = || mux.arcs.iter().filter(|(_, bits)| self.matches(tile, bits));
        let mut exact = matching().filter(|(_, bits)| sets(bits) == on);
        let found = exact.next();
        let other = exact.next();
        if let (Some((from, bits)), None) = (found, other) {
            return Ok(Some((*from, bits)));
        }
        let partial: Vec<&str> = matching()
            .filter(|(_, bits)| sets(bits) > 0)
            .map(|(from, _)| self.database.names.text(from.name))
            .collect();
        if found.is_none() && partial.is_empty() {
            return Ok(None);
        }
        let bits: Vec<String> = mux
            .own
            .iter()
            .filter(|(frame, bit)| self.held(tile, *frame, *bit) == Some(true))
            .map(|(frame, bit)| format!("F{frame}B{bit}"))
            .collect();
        let name = self.database.names.text(mux.sink.name).to_owned();
        let which = format!("bits {}, sources {}", bits.join(" "), partial.join(" "));
        Err(NetlistError::Arcs(self.place(tile), name, which))
    }

    /// For messages.
    pub fn place(&self, tile: &Tile) -> String {
        format!("R{}C{}:{}", tile.row, tile.col, self.type_name(tile))
    }

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

    pub fn matches<'b>(&self, tile: &Tile, bits: impl IntoIterator<Item = &'b Bit>) -> bool {
        bits.into_iter().all(|b| self.held(tile, b.frame, b.bit) == Some(b.set))
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

    /// What drives a wire now; `None` where its way through the fabric begins.
    pub fn driver(&self, wire: Wire) -> Result<Option<Wire>, NetlistError> {
        match self.cache {
            None => self.find_driver(wire),
            Some(_) => self.ask(Question::Driver(wire)).driver(),
        }
    }

    pub fn find_driver(&self, wire: Wire) -> Result<Option<Wire>, NetlistError> {
        if let Some(driver) = self.known_driver(wire)? {
            return Ok(Some(driver));
        }
        let mut found: Option<Wire> = None;
        let mut default: Option<Wire> = None;
        let behind_pad = self.behind_pad(wire);
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
                let (from, bits) = match sink.drive {
                    Drive::Fixed(from) => (from, None),
                    Drive::Mux(mux) => {
                        let mux = &self.database.types[usize::from(tile.kind)].muxes[mux];
                        match self.arc(tile, mux)? {
                            Some((from, bits)) => (from, Some(bits)),
                            None => continue,
                        }
                    }
                };
                let source = self.absolute(tile, from);
                if self.unused(source) {
                    continue;
                }
                if behind_pad && bits.is_none() {
                    default = Some(source);
                    continue;
                }
                bits.into_iter().for_each(|bits| self.explain(tile, bits));
                if found == Some(source) {
                    continue;
                }
                if let Some(other) = found {
                    let [wire, a, b] = [wire, other, source].map(|w| self.describe(w));
                    return Err(NetlistError::Conflict(wire, a, b));
                }
                found = Some(source);
            }
        }
        Ok(found.or(default))
    }

    /// Whether a wire is what a pad's registers and the fabric see of a pad: the pad itself, unless an arc puts its delay
    /// there.
    fn behind_pad(&self, wire: Wire) -> bool {
        let letter = self.text(wire).strip_prefix("JDI");
        letter.is_some_and(|letter| matches!(letter, "A" | "B" | "C" | "D"))
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
                self.feeds.borrow_mut().insert(number);
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
            Some((pin, "MULT18")) => pin.starts_with("JP") && !self.multiplies(source),
            Some((pin, "IOLOGIC" | "SIOLOGIC")) if self.open => self.pad_logic_unused(source, pin),
            Some((_, cell)) => CELLS.contains(&cell),
            None => {
                let number = self.text(source).strip_prefix("JP").filter(|digits| !digits.is_empty());
                number.is_some_and(|digits| digits.bytes().all(|b| b.is_ascii_digit()))
            }
        }
    }
}
