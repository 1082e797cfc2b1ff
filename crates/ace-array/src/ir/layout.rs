// SPDX-License-Identifier: Apache-2.0
//! Where everything lies in a context word. Fields of an element lie side by side, elements in the order of their
//! kinds. A field belongs to the slot of the operation's issue, but a select to the slot in which the value is taken,
//! and a key's to the slot `KEY_LEAD` before.

use crate::ir::shape::{Kind, Shape, Unit, bits_for};

/// A field of a context word.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Field {
    /// Bits of the context below it.
    pub offset: usize,
    /// Its bits.
    pub width: usize,
}

/// Fields of one element, of which those that its kind has not are empty.
#[derive(Clone, Debug, Default)]
pub struct Fields {
    /// By port: which source of the network it takes ([`Shape::source`]; all ones: zero).
    pub select: Vec<Field>,
    /// By port: how many clocks old the value is that it reads from its delay line.
    pub delay: Vec<Field>,
    /// ALU: bit 8 tells a sum from a bit function; a sum has in bits 0 to 3: subtract the operand before the last,
    /// subtract the last, leave the last out, leave the first out; a bit function has its truth table in bits 0 to 7 by {c, b, a}.
    /// Rotator: constant amount, right, shift. Quad: zero of each lane, page of each lane, six bits, an operation
    /// of two bits (0 XOR, 2 sum, 3 difference) for lanes 0, 1, 2 with what comes from the lanes above.
    /// Multiplier: x(2x+1), rotate by 5, the halves of a product without carries that the result has: low, high; and
    /// whether the second factor is the word that its rotator's key memory has.
    pub op: Option<Field>,
    /// Word of the key (or constant), stage, constant, use.
    pub key: Option<[Field; 4]>,
    /// Memories and outputs: whether something is written.
    pub write: Option<Field>,
    /// Memories and outputs: the word that is written.
    pub write_address: Option<Field>,
    /// Memories and inputs: the word that is read.
    pub read_address: Option<Field>,
}

/// ALU: a sum; without it a bit function.
pub const ALU_SUM: u64 = 1 << 8;
/// ALU, sum: the operand before the last is subtracted.
pub const SUM_MINUS_INNER: u64 = 1;
/// ALU, sum: the last operand is subtracted.
pub const SUM_MINUS_LAST: u64 = 2;
/// ALU, sum: the last operand is left out.
pub const SUM_WITHOUT_LAST: u64 = 4;
/// ALU, sum: the first operand is left out.
pub const SUM_WITHOUT_FIRST: u64 = 8;
/// Rotator: the amount is a constant, which stands in the second port's delay.
pub const ROTATE_CONSTANT: u64 = 1;
/// Rotator: to the right.
pub const ROTATE_RIGHT: u64 = 2;
/// Rotator: a shift; without it a rotation.
pub const ROTATE_SHIFT: u64 = 4;
/// Quad: the first of four bits, one a lane, that choose the lane's page.
pub const QUAD_PAGE: usize = 4;
/// Quad: the bit that says that tables have 64 words.
pub const QUAD_SIX: usize = 8;
/// Quad: the first of three fields of two bits, one for each of the lanes 0 to 2, that say how the lane is joined.
pub const QUAD_OPS: usize = 9;
/// Multiplier: x(2x + 1) instead of a product.
pub const MULTIPLY_QUADRATIC: u64 = 1;
/// Multiplier: the result is rotated left by five, if it is a product of numbers.
pub const MULTIPLY_ROTATE: u64 = 2;
/// Multiplier: the low half of a product without carries.
pub const MULTIPLY_LOW: u64 = 4;
/// Multiplier: its high half. Of both bits the result is the XOR of both halves.
pub const MULTIPLY_HIGH: u64 = 8;
/// Multiplier: the second factor comes from a key memory ([`Shape::key_of`]).
pub const MULTIPLY_KEY: u64 = 16;

/// The layout of a shape's contexts.
#[derive(Clone, Debug)]
pub struct Layout {
    units: Vec<(Unit, Fields)>,
    /// Bits of a context that are in use.
    pub bits: usize,
}

impl Layout {
    /// The layout that the elements of a shape have, one behind the other without gaps.
    pub fn of(shape: &Shape) -> Layout {
        let mut next = 0;
        let mut field = |width: usize| {
            next += width;
            Field { offset: next - width, width }
        };
        let mut units = Vec::new();
        for unit in shape.units() {
            let mut fields = Fields::default();
            for _ in 0..shape.ports(unit.kind) {
                fields.select.push(field(shape.select_bits()));
                fields.delay.push(field(shape.delay_bits()));
            }
            let op = match unit.kind {
                Kind::Alu => 9,
                Kind::Rotator => 3,
                Kind::Quad => 15,
                Kind::Multiplier => 5,
                Kind::Memory | Kind::Input | Kind::Output => 0,
            };
            fields.op = (op > 0).then(|| field(op));
            if shape.key_of(unit) == Some(unit) {
                let widths = [shape.key_offset_bits(), bits_for(shape.stages), 1, 1];
                fields.key = Some(widths.map(&mut field));
            }
            let words = if unit.kind == Kind::Memory { shape.memory_words } else { shape.stream_words };
            if matches!(unit.kind, Kind::Memory | Kind::Output) {
                fields.write = Some(field(1));
                fields.write_address = Some(field(bits_for(words)));
            }
            if matches!(unit.kind, Kind::Memory | Kind::Input) {
                fields.read_address = Some(field(bits_for(words)));
            }
            units.push((unit, fields));
        }
        Layout { units, bits: next }
    }

    /// Words of 64 bits of one context.
    pub fn words(&self) -> usize {
        self.bits.div_ceil(64)
    }

    /// The fields of an element. It panics if the shape has no such element.
    pub fn fields(&self, unit: Unit) -> &Fields {
        let found = self.units.iter().find(|(of, _)| *of == unit);
        &found.expect("a layout has every element of its shape").1
    }

    /// Every element with its fields, in order.
    pub fn all(&self) -> &[(Unit, Fields)] {
        &self.units
    }
}

/// One context: bits, 64 to a word, the lowest first.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Context(pub Vec<u64>);

impl Context {
    /// A context of this layout in which all fields are zero.
    pub fn new(layout: &Layout) -> Context {
        Context(vec![0; layout.words()])
    }

    /// The value of a field.
    pub fn get(&self, field: Field) -> u64 {
        let word = |at: usize| self.0.get(at).copied().unwrap_or(0);
        let (at, shift) = (field.offset / 64, field.offset % 64);
        let both = u128::from(word(at)) | u128::from(word(at + 1)) << 64;
        (both >> shift) as u64 & ((1 << field.width) - 1)
    }

    /// Puts a value into a field that is zero. Bits beyond the field's width are lost.
    pub fn put(&mut self, field: Field, value: u64) {
        let value = u128::from(value & ((1 << field.width) - 1)) << (field.offset % 64);
        for (at, part) in [(field.offset / 64, value as u64), (field.offset / 64 + 1, (value >> 64) as u64)] {
            if part != 0 {
                self.0[at] |= part;
            }
        }
    }
}
