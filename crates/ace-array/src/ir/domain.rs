// SPDX-License-Identifier: Apache-2.0
//! What words are: numbers, or terms that stand for all numbers. Elements, tile and graphs are written once over both, so that
//! the simulator and the validator have one description.

use crate::ir::graph::logic;

/// A kind of words of 32 bits, and what can be computed of them. [`Plain`] says what each operation means.
pub trait Domain {
    /// A word.
    type Word: Copy + PartialEq + std::fmt::Debug;

    /// A known word.
    fn constant(&mut self, value: u32) -> Self::Word;
    /// A bit function of three words: its truth table by {third, second, first}.
    fn logic(&mut self, truth: u8, args: [Self::Word; 3]) -> Self::Word;
    /// The sum of words and a known one, modulo 2^32.
    fn sum(&mut self, words: &[Self::Word], plus: u32) -> Self::Word;
    /// The XOR with a known word.
    fn flip(&mut self, word: Self::Word, by: u32) -> Self::Word;
    /// The AND with a known word.
    fn mask(&mut self, word: Self::Word, by: u32) -> Self::Word;
    /// To the left by 0 to 31.
    fn rotate(&mut self, word: Self::Word, by: u32) -> Self::Word;
    /// To the left by those of the lowest five bits of `amount` that `mask` has.
    fn rotate_by(&mut self, word: Self::Word, amount: Self::Word, mask: u32) -> Self::Word;
    /// 2x + 1.
    fn twice_and_one(&mut self, word: Self::Word) -> Self::Word;
    /// The product of the low halves.
    fn low_product(&mut self, a: Self::Word, b: Self::Word) -> Self::Word;
    /// The sum of the products of each one's low half and the other one's high half, of which only the low half counts.
    fn cross_product(&mut self, a: Self::Word, b: Self::Word) -> Self::Word;
    /// The low half of a product, of the two parts above.
    fn joined_product(&mut self, low: Self::Word, cross: Self::Word) -> Self::Word;
    /// The halves of a product without carries that are asked for.
    fn carryless(&mut self, a: Self::Word, b: Self::Word, half: Half) -> Self::Word;
    /// The entry of a table that the byte `lane` of a word names; with `six` only its upper six bits count.
    fn look_up(
        &mut self,
        table: Table<'_, Self::Word>,
        word: Self::Word,
        lane: usize,
        six: bool,
    ) -> Self::Word;
    /// What a memory shows that takes another word at the same address in the clock of the read. The RTL leaves it open.
    fn collided(&mut self, word: Self::Word) -> Self::Word;

    /// The complement.
    fn not(&mut self, word: Self::Word) -> Self::Word {
        self.flip(word, u32::MAX)
    }

    /// The low half of a product.
    fn multiply(&mut self, a: Self::Word, b: Self::Word) -> Self::Word {
        let (low, cross) = (self.low_product(a, b), self.cross_product(a, b));
        self.joined_product(low, cross)
    }

    /// To the right by the low five bits of `amount`, as a rotator does it: by one to the left, and by 31 less the amount.
    fn rotate_right_by(&mut self, word: Self::Word, amount: Self::Word) -> Self::Word {
        let (one, rest) = (self.rotate(word, 1), self.flip(amount, 31));
        self.rotate_by(one, rest, 31)
    }
}

/// What of a product without carries, of 64 bits, an operation gives.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Half {
    /// The low half.
    Low,
    /// The high half.
    High,
    /// The XOR of both: the product modulo x^32 + 1, of rotated words.
    Fold,
}

impl Half {
    /// By the bits of a context's operation, the low half's and the high half's.
    pub fn of_bits(bits: u32) -> Option<Half> {
        [None, Some(Half::Low), Some(Half::High), Some(Half::Fold)][(bits & 3) as usize]
    }

    /// Whether the low half is in it, and whether the high one.
    pub fn has(self) -> (bool, bool) {
        (self != Half::High, self != Half::Low)
    }
}

/// A table that is looked up.
#[derive(Clone, Copy, Debug)]
pub enum Table<'a, W> {
    /// 256 words as they lie in a memory.
    Memory(&'a [W]),
    /// Words that a source gives: 256, or 64 of which each lies at four places.
    Source(&'a [u32]),
}

/// Numbers.
#[derive(Clone, Copy, Debug, Default)]
pub struct Plain;

impl Domain for Plain {
    type Word = u32;

    fn constant(&mut self, value: u32) -> u32 {
        value
    }

    fn logic(&mut self, truth: u8, args: [u32; 3]) -> u32 {
        logic(truth, &args)
    }

    fn sum(&mut self, words: &[u32], plus: u32) -> u32 {
        words.iter().fold(plus, |all, word| all.wrapping_add(*word))
    }

    fn flip(&mut self, word: u32, by: u32) -> u32 {
        word ^ by
    }

    fn mask(&mut self, word: u32, by: u32) -> u32 {
        word & by
    }

    fn rotate(&mut self, word: u32, by: u32) -> u32 {
        word.rotate_left(by)
    }

    fn rotate_by(&mut self, word: u32, amount: u32, mask: u32) -> u32 {
        word.rotate_left(amount & mask & 31)
    }

    fn twice_and_one(&mut self, word: u32) -> u32 {
        word << 1 | 1
    }

    fn low_product(&mut self, a: u32, b: u32) -> u32 {
        (a & 0xFFFF) * (b & 0xFFFF)
    }

    fn cross_product(&mut self, a: u32, b: u32) -> u32 {
        (a >> 16).wrapping_mul(b & 0xFFFF).wrapping_add((a & 0xFFFF).wrapping_mul(b >> 16))
    }

    fn joined_product(&mut self, low: u32, cross: u32) -> u32 {
        low.wrapping_add(cross << 16)
    }

    fn carryless(&mut self, a: u32, b: u32, half: Half) -> u32 {
        let all = (0..32).filter(|at| b >> at & 1 == 1).fold(0u64, |all, at| all ^ u64::from(a) << at);
        let (low, high) = half.has();
        (u32::from(low) * (all as u32)) ^ (u32::from(high) * (all >> 32) as u32)
    }

    fn look_up(&mut self, table: Table<'_, u32>, word: u32, lane: usize, six: bool) -> u32 {
        let byte = (word >> (8 * lane)) as usize & if six { 0xFC } else { 0xFF };
        match table {
            Table::Source(words) if words.len() == 64 => words[byte >> 2],
            Table::Memory(words) | Table::Source(words) => words[byte],
        }
    }

    fn collided(&mut self, word: u32) -> u32 {
        word
    }
}
