// SPDX-License-Identifier: Apache-2.0
//! What the LUTs of a key hold, where they are, and what has to be in all other bits.

use std::collections::HashSet;

use ace_ecp5::ConfigMemory;
use serde::Deserialize;

use crate::error::{Result, Wrong, ensure};
use crate::idea_2004::software::{Subkeys, subkeys};

/// What the flow knows of a design that it has placed and routed.
#[derive(Deserialize)]
pub struct Places {
    /// All of IDEA, or its first phase alone.
    pub whole: bool,
    /// Clocks from a block to its result.
    pub latency: usize,
    /// Of each of the eight LUTs of a tile: frame and bit of each entry, counted from the tile's first, and the value
    /// that stands for one.
    tables: [[(usize, usize, bool); 16]; 8],
    pub luts: Vec<Place>,
}

/// A LUT of the key.
#[derive(Deserialize)]
pub struct Place {
    /// Its tile, and the first frame and bit of that.
    tile: String,
    first_frame: usize,
    first_bit: usize,
    /// In the slices of the tile, 0 to 7.
    lut: usize,
    /// Where the router has put each of its inputs; those of one net may be at one place.
    inputs: [u8; 4],
    /// The number of the subkey that it holds a part of.
    subkey: usize,
    #[serde(flatten)]
    holds: Holds,
}

/// What it holds of the subkey.
#[derive(Clone, Copy, Deserialize)]
#[serde(tag = "holds", rename_all = "lowercase")]
enum Holds {
    /// A bit of the products of four bits of the operand, those at 4 * `part`, modulo 2^16 + 1.
    Product { part: u8, bit: u8 },
    /// A bit of what a multiplication gives: of the operand 0, where input 3 says so, the negated subkey, otherwise
    /// input 0.
    Zero { bit: u8 },
    /// A bit of it.
    Sum { bit: u8 },
}

const MODULUS: u64 = 65537;

impl Holds {
    fn known(self) -> bool {
        match self {
            Self::Product { part, bit } => part < 4 && bit < 17,
            Self::Zero { bit } | Self::Sum { bit } => bit < 16,
        }
    }

    /// The entry of input n in bit n, with the inputs in the order of the RTL.
    fn entries(self, subkey: u16) -> u16 {
        let full = if subkey == 0 { MODULUS - 1 } else { u64::from(subkey) };
        let entry = |n: u64| match self {
            Self::Product { part, bit } => ((n << (4 * part)) * full % MODULUS) >> bit & 1 == 1,
            Self::Zero { bit } if n & 8 != 0 => (MODULUS - full) >> bit & 1 == 1,
            Self::Zero { .. } => n & 1 == 1,
            Self::Sum { bit } => subkey >> bit & 1 == 1,
        };
        (0..16).fold(0, |contents, n| contents | u16::from(entry(n)) << n)
    }
}

/// Entries with input i at place `inputs[i]`.
fn moved(entries: u16, inputs: [u8; 4]) -> u16 {
    (0..16).fold(0, |contents, n: u16| {
        let index: u16 = (0..4).map(|i| (n >> inputs[i] & 1) << i).sum();
        contents | (entries >> index & 1) << n
    })
}

/// A placed and routed design whose key is in LUTs.
pub struct Design {
    placed: ConfigMemory,
    luts: Vec<Lut>,
}

struct Lut {
    name: String,
    /// Frame and bit of each entry, and the value that stands for one.
    table: [(usize, usize, bool); 16],
    inputs: [u8; 4],
    subkey: usize,
    holds: Holds,
}

impl Lut {
    fn entries(&self, subkeys: &Subkeys) -> u16 {
        moved(self.holds.entries(subkeys[self.subkey]), self.inputs)
    }

    /// What a memory holds; `None` if it is of a smaller device.
    fn contents(&self, memory: &ConfigMemory) -> Option<u16> {
        self.table.iter().enumerate().try_fold(0, |contents, (n, (frame, bit, one))| {
            Some(contents | u16::from(memory.bit(*frame, *bit)? == *one) << n)
        })
    }

    fn put(&self, memory: &mut ConfigMemory, entries: u16) {
        for (n, (frame, bit, one)) in self.table.iter().enumerate() {
            memory.set_bit(*frame, *bit, (entries >> n & 1 == 1) == *one);
        }
    }
}

impl Design {
    /// # Errors
    /// A LUT that is not in the device, shares bits with another one, or holds nothing that is known.
    pub fn new(placed: ConfigMemory, places: &Places) -> Result<Self> {
        let mut seen = HashSet::new();
        let mut luts = Vec::new();
        for (number, place) in places.luts.iter().enumerate() {
            let Place { first_frame, first_bit, inputs, subkey, holds, .. } = *place;
            ensure!(place.lut < 8, "LUT {number}: `lut` is 0 to 7");
            ensure!(inputs.iter().all(|place| *place < 4), "LUT {number}: `inputs` are places, 0 to 3");
            ensure!(subkey < 52 && holds.known(), "LUT {number}: no such subkey, part or bit");
            let table = places.tables[place.lut].map(|(frame, bit, one)| {
                (first_frame.saturating_add(frame), first_bit.saturating_add(bit), one)
            });
            let name = format!("{}.K{}", place.tile, place.lut);
            for (frame, bit, _) in table {
                ensure!(placed.bit(frame, bit).is_some(), "LUT {number}: {name} is not in the bitstream");
                ensure!(seen.insert((frame, bit)), "LUT {number}: {name} shares a bit with another one");
            }
            luts.push(Lut { name, table, inputs, subkey, holds });
        }
        ensure!(!luts.is_empty(), "there are no LUTs of a key");
        Ok(Self { placed, luts })
    }

    pub fn placed(&self) -> &ConfigMemory {
        &self.placed
    }

    /// The memory of the design with a key.
    pub fn with(&self, key: &[u8; 16]) -> ConfigMemory {
        let subkeys = subkeys(key);
        let mut memory = self.placed.clone();
        for lut in &self.luts {
            lut.put(&mut memory, lut.entries(&subkeys));
        }
        memory
    }

    /// Digest of a memory without what the key's LUTs hold.
    pub fn outside(&self, memory: &ConfigMemory) -> [u8; 32] {
        let mut memory = memory.clone();
        for lut in &self.luts {
            lut.put(&mut memory, 0);
        }
        memory.digest()
    }

    /// Whether a memory is the design with a key: bits outside by their digest, those inside worked out and compared.
    ///
    /// # Errors
    /// What is wrong.
    pub fn look(&self, memory: &ConfigMemory, key: &[u8; 16]) -> Result<(), Wrong> {
        let (wanted, found) = (self.outside(&self.placed), self.outside(memory));
        if found != wanted {
            let (found, wanted) = (hex::encode(found), hex::encode(wanted));
            return Err(Wrong::Outside { found, wanted });
        }
        let subkeys = subkeys(key);
        let wrong = |lut: &&Lut| lut.contents(memory) != Some(lut.entries(&subkeys));
        let others: Vec<&str> = self.luts.iter().filter(wrong).map(|lut| &*lut.name).collect();
        match others[..] {
            [] => Ok(()),
            [first, ..] => {
                let (count, all) = (others.len(), self.luts.len());
                Err(Wrong::Inside { count, all, first: first.to_owned() })
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn entries_are_products_and_negations() {
        let product = Holds::Product { part: 1, bit: 7 };
        assert!((0..16).all(|n| product.entries(16) >> n & 1 == (16 * n * 16) >> 7 & 1));
        // A subkey of 0 is 2^16, which is -1: of 1 the product is 2^16, of 0 (which is 2^16) it is 1.
        assert_eq!(Holds::Product { part: 0, bit: 16 }.entries(0), 0b10);
        assert_eq!(Holds::Zero { bit: 0 }.entries(0), 0xffaa);
        assert_eq!(Holds::Zero { bit: 1 }.entries(0), 0x00aa);
        assert_eq!((Holds::Sum { bit: 3 }.entries(8), Holds::Sum { bit: 2 }.entries(8)), (0xffff, 0));
    }

    #[test]
    fn inputs_move() {
        assert_eq!(moved(0xaaaa, [0, 1, 2, 3]), 0xaaaa);
        // What was at input 0 is at place 3.
        assert_eq!(moved(0xaaaa, [3, 1, 2, 0]), 0xff00);
        assert_eq!(moved(0x8000, [1, 3, 0, 2]), 0x8000);
        // Inputs 0 and 1 at place 2, the others at place 3.
        assert_eq!(moved(0x8008, [2, 2, 3, 3]), 0xf0f0);
    }
}
