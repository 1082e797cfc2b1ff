// SPDX-License-Identifier: Apache-2.0
//! Changes of a memory in the words of the database: for images that have to be refused.

use super::database::{Database, Tile};
use super::tiles::Bit;
use ace_ecp5::memory::ConfigMemory;

/// What is changed in a tile.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Change<'a> {
    /// A setting gets a value: bits of the value are set and cleared as the database says.
    Set(&'a str, &'a str),
    /// The bits that a value of a setting sets are cleared.
    Remove(&'a str, &'a str),
    /// Of a multiplexer (the name of its wire) one more arc is switched on: the one of this number.
    Arc(&'a str, usize),
    /// One bit is turned: frame and bit of the tile.
    Flip(usize, usize),
}

impl Database {
    /// Changes a tile, given by row, column and type. False if there is no such tile, setting, value, arc or bit.
    pub fn change(&self, memory: &mut ConfigMemory, tile: (i16, i16, &str), change: Change<'_>) -> bool {
        let (row, col, kind) = tile;
        let tiles = self.at.get(&(row, col)).into_iter().flatten().map(|index| &self.tiles[*index]);
        let Some(tile) = tiles.into_iter().find(|t| self.types[usize::from(t.kind)].name == kind) else {
            return false;
        };
        match change {
            Change::Flip(frame, bit) if frame < tile.size.0 && bit < tile.size.1 => {
                let (frame, bit) = (tile.frame + frame, tile.bit + bit);
                memory.bit(frame, bit).is_some_and(|held| memory.set_bit(frame, bit, !held))
            }
            Change::Flip(..) => false,
            Change::Set(name, value) => {
                self.value(tile, name, value).is_some_and(|bits| put(memory, tile, bits, |b| b.set))
            }
            Change::Remove(name, value) => self.value(tile, name, value).is_some_and(|bits| {
                let set: Vec<Bit> = bits.iter().filter(|b| b.set).copied().collect();
                put(memory, tile, &set, |_| false)
            }),
            Change::Arc(name, number) => {
                let muxes = &self.types[usize::from(tile.kind)].muxes;
                let mux = muxes.iter().find(|mux| self.names.text(mux.sink.name) == name);
                let arc = mux.and_then(|mux| mux.arcs.get(number));
                arc.is_some_and(|(_, bits)| put(memory, tile, bits, |b| b.set))
            }
        }
    }

    fn value(&self, tile: &Tile, name: &str, value: &str) -> Option<&[Bit]> {
        let choice = self.types[usize::from(tile.kind)].choices.get(name)?;
        choice.options.iter().find(|(other, _)| other == value).map(|(_, bits)| &**bits)
    }

    /// Every setting of every tile that holds a bit of the memory: the tile (row, column, type), and each value.
    pub fn settings(&self, memory: &ConfigMemory) -> Vec<((i16, i16, &str), Change<'_>)> {
        let used = |tile: &&Tile| {
            (tile.frame..tile.frame + tile.size.0).any(|frame| {
                (tile.bit..tile.bit + tile.size.1).any(|bit| memory.bit(frame, bit) == Some(true))
            })
        };
        let mut all = Vec::new();
        for tile in self.tiles.iter().filter(used) {
            let kind = &self.types[usize::from(tile.kind)];
            let mut choices: Vec<_> = kind.choices.iter().collect();
            choices.sort_by_key(|(name, _)| *name);
            for (name, choice) in choices {
                let values = choice.options.iter().map(|(value, _)| Change::Set(name, value));
                all.extend(values.map(|change| ((tile.row, tile.col, &*kind.name), change)));
            }
        }
        all
    }

    /// Tiles of a type: row and column.
    pub fn places(&self, kind: &str) -> Vec<(i16, i16)> {
        let tiles = self.tiles.iter().filter(|tile| self.types[usize::from(tile.kind)].name == kind);
        tiles.map(|tile| (tile.row, tile.col)).collect()
    }
}

fn put(memory: &mut ConfigMemory, tile: &Tile, bits: &[Bit], value: impl Fn(&Bit) -> bool) -> bool {
    bits.iter()
        .all(|b| memory.set_bit(tile.frame + usize::from(b.frame), tile.bit + usize::from(b.bit), value(b)))
}
