// SPDX-License-Identifier: Apache-2.0
//! The shape of a tile: how many elements of each kind, and how long everything takes.

use serde::{Deserialize, Serialize};

use crate::Error;

/// The shape that the repository's array has.
pub const SHAPE: &str = include_str!("../../shape.toml");

/// A kind of element.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Kind {
    /// Sums of up to three operands, and bit functions of three.
    Alu,
    /// Rotations and shifts.
    Rotator,
    /// Four look-ups, joined.
    Quad,
    /// Products, low half, and products without carries.
    Multiplier,
    /// Words that are kept for later slots.
    Memory,
    /// Words of the block, read.
    Input,
    /// Words of the result, written.
    Output,
}

impl Kind {
    /// In the order of sources and of fields in a context.
    pub const ALL: [Kind; 7] =
        [Kind::Alu, Kind::Rotator, Kind::Quad, Kind::Multiplier, Kind::Memory, Kind::Input, Kind::Output];

    /// As messages and docs/array.md call it.
    pub fn name(self) -> &'static str {
        match self {
            Kind::Alu => "ALU",
            Kind::Rotator => "rotator",
            Kind::Quad => "quad",
            Kind::Multiplier => "multiplier",
            Kind::Memory => "memory",
            Kind::Input => "input",
            Kind::Output => "output",
        }
    }
}

/// One element of the tile.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Unit {
    /// The element's kind.
    pub kind: Kind,
    /// Its number among those of its kind.
    pub index: usize,
}

/// Clocks from an element's issue to the first slot in which its result can be taken by an operand port.
pub mod latency {
    /// Of a sum or a bit function.
    pub const ALU: usize = 2;
    /// Of a rotation or a shift.
    pub const ROTATOR: usize = 3;
    /// Four look-ups and their XOR.
    pub const QUAD: usize = 3;
    /// Four look-ups and a chain of sums, differences and XORs.
    pub const QUAD_CHAIN: usize = 5;
    /// Of a product.
    pub const MULTIPLIER: usize = 4;
    /// A read of a memory element or an input.
    pub const READ: usize = 2;
    /// From a store's issue to that of the first read that sees it.
    pub const STORE: usize = 2;
    /// From an output's issue to the slot in which its word can be read outside.
    pub const OUTPUT: usize = 3;
    /// The network: from a value's first slot to the first issue that can use it.
    pub const HOP: usize = 1;
    /// A key memory is asked so many slots before the operation that uses the word.
    pub const KEY_LEAD: usize = 3;
}

/// Numbers of elements and depths of memories; see `array/shape.toml`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Shape {
    /// How many ALUs there are.
    pub alus: usize,
    /// How many rotators there are.
    pub rotators: usize,
    /// How many quads there are.
    pub quads: usize,
    /// How many multipliers there are; there may be none.
    pub multipliers: usize,
    /// How many memory elements there are.
    pub memories: usize,
    /// How many inputs there are, each of which gives a word of the block a clock.
    pub inputs: usize,
    /// How many outputs there are, each of which takes a word of the result a clock.
    pub outputs: usize,
    /// Operands of an ALU, 2 or 3.
    pub alu_operands: usize,
    /// Clocks back that a port's delay line reaches.
    pub line: usize,
    /// Clocks back that the delay line of an ALU's last port reaches.
    pub long_line: usize,
    /// Words of a memory element.
    pub memory_words: usize,
    /// Words of an input or an output memory.
    pub stream_words: usize,
    /// Words of a key memory, the constants of both banks included.
    pub key_words: usize,
    /// Constants of one bank in each key memory. ALUs have others than rotators ([`Shape::constants_of`]).
    pub constants: usize,
    /// Contexts of one bank.
    pub contexts: usize,
    /// Blocks that are on their way at once, at most.
    pub stages: usize,
}

impl Shape {
    /// The repository's shape.
    pub fn standard() -> Shape {
        Shape::parse(SHAPE).expect("the repository's shape is legal")
    }

    /// Reads a shape and checks that an array of it can be built.
    pub fn parse(text: &str) -> Result<Shape, Error> {
        let shape: Shape = toml::from_str(text).map_err(|error| Error::Shape(error.to_string()))?;
        shape.check()?;
        Ok(shape)
    }

    fn check(&self) -> Result<(), Error> {
        let wrong = |what: String| Err(Error::Shape(what));
        for kind in Kind::ALL {
            let count = self.count(kind);
            let least = usize::from(!matches!(kind, Kind::Multiplier));
            if !(least..=16).contains(&count) {
                return wrong(format!(
                    "{count} elements of kind {}: {least} to 16 are possible",
                    kind.name()
                ));
            }
        }
        let depths = [
            ("line", self.line, 8, 32),
            ("long_line", self.long_line, 8, 32),
            ("memory_words", self.memory_words, 16, 512),
            ("stream_words", self.stream_words, 16, 512),
            ("key_words", self.key_words, 64, 512),
            ("constants", self.constants, 1, 64),
            ("contexts", self.contexts, 16, 256),
            ("stages", self.stages, 4, 32),
        ];
        for (name, value, least, most) in depths {
            if !value.is_power_of_two() || !(least..=most).contains(&value) {
                return wrong(format!("{name} = {value}: a power of two from {least} to {most} is wanted"));
            }
        }
        if self.long_line < self.line {
            return wrong(format!(
                "long_line = {}: it is not shorter than line = {}",
                self.long_line, self.line
            ));
        }
        if self.key_words <= 2 * self.constants {
            return wrong(format!(
                "key_words = {} leave no room beside two banks of {} constants",
                self.key_words, self.constants
            ));
        }
        if self.multipliers > self.rotators {
            return wrong(format!(
                "multipliers = {}: each takes words of a key from a rotator, and there are {}",
                self.multipliers, self.rotators
            ));
        }
        if !(2..=3).contains(&self.alu_operands) {
            return wrong(format!("alu_operands = {}: 2 or 3 are possible", self.alu_operands));
        }
        Ok(())
    }

    /// How many elements of a kind there are.
    pub fn count(&self, kind: Kind) -> usize {
        match kind {
            Kind::Alu => self.alus,
            Kind::Rotator => self.rotators,
            Kind::Quad => self.quads,
            Kind::Multiplier => self.multipliers,
            Kind::Memory => self.memories,
            Kind::Input => self.inputs,
            Kind::Output => self.outputs,
        }
    }

    /// Operand ports of one element of a kind.
    pub fn ports(&self, kind: Kind) -> usize {
        match kind {
            Kind::Alu => self.alu_operands,
            Kind::Rotator | Kind::Multiplier => 2,
            Kind::Quad => 4,
            Kind::Memory | Kind::Output => 1,
            Kind::Input => 0,
        }
    }

    /// Which constants a key memory has: those of the ALUs, or those of the rotators, with which multipliers share them. A bank has
    /// room for [`Shape::constants`] of each.
    pub fn constants_of(kind: Kind) -> usize {
        usize::from(kind != Kind::Alu)
    }

    /// Whether elements of a kind can take a word of a key memory at their last port.
    pub fn has_keys(kind: Kind) -> bool {
        matches!(kind, Kind::Alu | Kind::Rotator | Kind::Multiplier)
    }

    /// The element whose key memory gives the word that comes instead of an operand: its own or, of a multiplier, that of
    /// the rotator of the same number, which has a word a slot for both.
    pub fn key_of(&self, unit: Unit) -> Option<Unit> {
        match unit.kind {
            Kind::Multiplier => Some(Unit { kind: Kind::Rotator, index: unit.index }),
            kind => Shape::has_keys(kind).then_some(unit),
        }
    }

    /// Every element, in the order of [`Kind::ALL`] and then by number.
    pub fn units(&self) -> impl Iterator<Item = Unit> + '_ {
        Kind::ALL.into_iter().flat_map(|kind| (0..self.count(kind)).map(move |index| Unit { kind, index }))
    }

    /// Elements whose results go over the network.
    pub fn sources(&self) -> usize {
        Kind::ALL.iter().filter(|kind| **kind != Kind::Output).map(|kind| self.count(*kind)).sum()
    }

    /// What a port selects to take an element's result.
    pub fn source(&self, unit: Unit) -> usize {
        let before = Kind::ALL.iter().take_while(|kind| **kind != unit.kind);
        before.map(|kind| self.count(*kind)).sum::<usize>() + unit.index
    }

    /// Bits of a port's select. All ones select zero.
    pub fn select_bits(&self) -> usize {
        bits_for(self.sources() + 1)
    }

    /// Clocks back that the line of an element's port reaches.
    pub fn reach(&self, kind: Kind, port: usize) -> usize {
        if kind == Kind::Alu && port + 1 == self.alu_operands { self.long_line } else { self.line }
    }

    /// Bits of a port's delay, which is also the amount of a rotation: of 32 bits, however far a line reaches.
    pub fn delay_bits(&self) -> usize {
        bits_for(32)
    }

    /// Bits that the words of one key at most need as an address.
    pub fn key_offset_bits(&self) -> usize {
        bits_for(self.key_words / 2)
    }

    /// The words of one key at most: what a bank has of the key memories (`KeyRoom` of rtl/array/array_front_pkg.sv).
    pub fn key_room(&self) -> usize {
        (self.key_words - 2 * self.constants) / 2
    }

    /// Which array a set fits: shapes with one number have one encoding and one timing.
    pub fn version(&self) -> u32 {
        // What the layout and the latencies are is part of it: whoever changes them counts this up.
        const ENCODING: u32 = 3;
        let mut digest = crc32fast::Hasher::new();
        digest.update(&ENCODING.to_le_bytes());
        let kinds = Kind::ALL.map(|kind| self.count(kind));
        let depths = [
            self.alu_operands,
            self.line,
            self.long_line,
            self.memory_words,
            self.stream_words,
            self.key_words,
        ];
        for value in kinds.iter().chain(&depths).chain(&[self.constants, self.contexts, self.stages]) {
            digest.update(&(*value as u32).to_le_bytes());
        }
        digest.finalize()
    }
}

/// Bits that count `values` values.
pub fn bits_for(values: usize) -> usize {
    values.next_power_of_two().trailing_zeros() as usize
}

/// So many starts before its own a block's words are written at the earliest: a row takes a clock, of each way, and as many
/// where a mask is read with it, and there are a few until the memory has them. The slot's front end is not earlier
/// (`rtl/array/array_issue.sv`).
pub fn starts_ahead(rows: usize, ii: usize) -> usize {
    (4 * rows + 6).div_ceil(ii) + 1
}
