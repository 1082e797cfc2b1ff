// SPDX-License-Identifier: Apache-2.0
//! What of a set is not as its source says.

use thiserror::Error;

/// Why a set is not what its source says.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub enum Unlike {
    /// It says something else of itself.
    #[error("its {what} is another one than the source says")]
    Header {
        /// What it is that it says.
        what: &'static str,
    },
    /// The tile has no room for it.
    #[error("its {what} is more than the tile has room for")]
    Room {
        /// What there is too much of.
        what: &'static str,
    },
    /// A word of the result has to do with something that is not the block's own.
    #[error(
        "word {word} of its result is made of what is another's: of another block, bank or key, of what nobody has written, \
         or it is not there as long as it is read"
    )]
    Foreign {
        /// The word of the result.
        word: usize,
    },
    /// A word of the result is something else, and there are a block and a key that show it.
    #[error(
        "word {word} of its result is not what the source says: {is:#010x}, and not {says:#010x}, for one block and key"
    )]
    Other {
        /// The word of the result.
        word: usize,
        /// What it is for one block and key.
        is: u32,
        /// What the source says for them.
        says: u32,
    },
    /// No block and key were found for which it is something else, and none of the rules says that there is none.
    #[error("word {word} of its result is not shown to be what the source says")]
    Open {
        /// The word of the result.
        word: usize,
    },
    /// A rule of the comparison is wrong.
    #[error("nothing is said: a rule of the comparison contradicts the simulator, which is a fault of ACE")]
    Contradiction,
}
