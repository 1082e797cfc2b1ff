// SPDX-License-Identifier: Apache-2.0
//! What is not a set's own, and where it reaches for it.

use std::fmt;

use thiserror::Error;

use crate::ir::shape::Unit;

/// Where in an element a set reaches for something.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Place {
    /// A word of the key, by its number.
    Key(usize),
    /// A constant, by its number.
    Constant(usize),
    /// A table of a quad.
    Table {
        /// The lane that looks it up.
        lane: usize,
        /// The page.
        page: usize,
    },
    /// An address of a memory element, an input or an output, as the context says it.
    Address(usize),
    /// An operand port.
    Port(usize),
    /// The operation itself.
    Operation,
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Place::Key(word) => write!(f, "word {word} of the key"),
            Place::Constant(word) => write!(f, "constant {word}"),
            Place::Table { lane, page } => write!(f, "table of lane {lane}, page {page}"),
            Place::Address(at) => write!(f, "address {at}"),
            Place::Port(port) => write!(f, "port {port}"),
            Place::Operation => f.write_str("operation"),
        }
    }
}

/// Why that is not the block's own.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub enum Why {
    /// The key has fewer words.
    #[error("the set declares {0} words of a key")]
    BeyondKey(usize),
    /// The key is another block's.
    #[error("that of the block {asked} stages old is asked for, and the block is {age} stages old")]
    OtherKey {
        /// The stage that the context names.
        asked: usize,
        /// How old the block is in that slot, in intervals.
        age: i64,
    },
    /// The tile knows the keys of fewer blocks.
    #[error("the block is {age} stages old, and the tile knows the keys of {stages}")]
    LateKey {
        /// How old the block is in that slot, in intervals.
        age: i64,
        /// Blocks whose keys the tile knows.
        stages: usize,
    },
    /// The set loads fewer constants.
    #[error("the set has {0} constants")]
    NoConstant(usize),
    /// The set loads no such table.
    #[error("the set loads no such table")]
    NoTable,
    /// The set loads a fourth of the entries.
    #[error("the set loads 64 words of it, and all 256 are looked up")]
    ShortTable,
    /// No word of the block lies there.
    #[error("in slot {slot} it is no word of the block's {words}, but another block's")]
    OtherInput {
        /// The slot of the read.
        slot: i64,
        /// Words of a block.
        words: usize,
    },
    /// A later block's word may be there already.
    #[error("in slot {slot} it may be the word of the block {later} behind it already")]
    LateInput {
        /// The slot of the read.
        slot: i64,
        /// How many blocks behind.
        later: i64,
    },
    /// What was said or computed before the block began.
    #[error("slot {0} is before the block begins: what is there then is another's")]
    Before(i64),
    /// The block has put nothing there so far.
    #[error("in slot {0} the block has stored nothing there: what is read is another's")]
    NotStored(i64),
    /// The memory takes a word there in the very clock of the read.
    #[error("in slot {0} the memory takes a word there while it is read")]
    StoredMeanwhile(i64),
    /// The set declares fewer words.
    #[error("it is word {word} of the block, and the set declares {declared}")]
    BeyondMemory {
        /// The word, counted from the block's base.
        word: usize,
        /// Words of a block, which is the stride of the bases.
        declared: usize,
    },
    /// What is stored no word of the result needs.
    #[error("it is written, and no word of the block's result is made of it")]
    Unneeded,
    /// What is put out is no word of the own result.
    #[error("it is written, and is no word of the block's own result")]
    OtherOutput,
    /// A word of the result is not there when it is read.
    #[error("word {word} of the result is not written by slot {latency}: what is read is another's")]
    NoOutput {
        /// The word of the result.
        word: usize,
        /// The slot in which results can be read.
        latency: usize,
    },
    /// A word of the result is written over while it is read.
    #[error("word {word} of the result is written over in slot {slot}, before it is read")]
    OutputOver {
        /// The word of the result.
        word: usize,
        /// The slot from which on another word is there.
        slot: i64,
    },
}

/// What a set reaches for that is not its own.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Beyond {
    /// The context that says so; none if no context says what one has to.
    pub context: Option<usize>,
    /// The element that does it.
    pub element: Unit,
    /// What it reaches for.
    pub place: Place,
    /// Why that is not its own.
    pub why: Why,
}

impl fmt::Display for Beyond {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(context) = self.context {
            write!(f, "context {context}, ")?;
        }
        let Beyond { element, place, why, .. } = self;
        write!(f, "{} {}, {place}: {why}", element.kind.name(), element.index)
    }
}

/// Why a set is not one that keeps to its own.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum Refusal {
    /// Its header has a number that the slot would take for a smaller one.
    #[error("the set is refused: {what} = {value}, and the slot has room for {most}")]
    Header {
        /// What the number is of.
        what: &'static str,
        /// The number.
        value: usize,
        /// The largest one.
        most: usize,
    },
    /// It reaches for what is not its own.
    #[error(
        "the set is refused, as it reaches beyond its own block and bank: {0}; `ace array compile` makes one of its source that \
         does not"
    )]
    Beyond(Beyond),
}
