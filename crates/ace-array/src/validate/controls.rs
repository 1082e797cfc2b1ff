// SPDX-License-Identifier: Apache-2.0
//! What becomes of a set when one bit of its contexts is another one.

use super::{Unlike, validate};
use crate::bounds;
use crate::codegen::set::Set;
use crate::error::Error;
use crate::frontend::Built;
use crate::host::{Block, Runner};
use crate::ir::layout::Layout;
use crate::ir::shape::Shape;

/// Bits that are turned between one whose set is simulated and the next one.
const SAMPLE: usize = 16;
/// Blocks that are simulated, under one key.
const BLOCKS: usize = 8;

/// How many bits there are of each kind.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Turned {
    /// The set reaches for what is not its own, which the rules of [`bounds`] refuse.
    pub beyond: usize,
    /// Within its own, and not what its source says: a word is something else, with a block and a key that show it.
    pub different: usize,
    /// The same, of which the comparison alone knows: a word has to do with what is another's.
    pub foreign: usize,
    /// Refused because nothing shows that it is what the source says, nor that it is not.
    pub open: usize,
    /// What the source says for all keys and blocks: nothing reads the bit, or it says the same in another way.
    pub equal: usize,
    /// Of those that are equal, those that were simulated.
    pub simulated: usize,
    /// Of these, those whose answers were other ones: none, or the comparison is wrong.
    pub wrong: usize,
}

impl Turned {
    /// Bits that were turned.
    pub fn bits(&self) -> usize {
        self.beyond + self.different + self.foreign + self.open + self.equal
    }
}

/// Turns every `step`-th bit of the contexts of a set, one at a time.
///
/// # Errors
/// When the set itself is not what its source says, or cannot be simulated.
pub fn turned(set: &Set, built: &Built, shape: &Shape, step: usize) -> Result<Turned, Error> {
    let wrong = |error: Unlike| Error::Use(format!("the set itself is refused: {error}"));
    validate(set, built, shape).map_err(wrong)?;
    let answers = simulated(set, shape)?;
    let bits = Layout::of(shape).bits;
    let mut counts = Turned::default();
    let mut changed = set.clone();
    for at in (0..set.ii() * bits).step_by(step.max(1)) {
        let (context, bit) = (at / bits, at % bits);
        let turn = |set: &mut Set| set.contexts[context].0[bit / 64] ^= 1 << (bit % 64);
        turn(&mut changed);
        let verdict = bounds::check(&changed, shape).map(|()| validate(&changed, built, shape));
        match verdict {
            Err(_) => counts.beyond += 1,
            Ok(Err(Unlike::Foreign { .. })) => counts.foreign += 1,
            Ok(Err(Unlike::Open { .. } | Unlike::Contradiction)) => counts.open += 1,
            Ok(Err(Unlike::Other { .. } | Unlike::Header { .. } | Unlike::Room { .. })) => {
                counts.different += 1
            }
            Ok(Ok(_)) => {
                counts.equal += 1;
                if counts.equal % SAMPLE == 0 {
                    counts.simulated += 1;
                    counts.wrong += usize::from(simulated(&changed, shape)? != answers);
                }
            }
        }
        turn(&mut changed);
    }
    Ok(counts)
}

/// What a set answers to some blocks in the simulated tile.
fn simulated(set: &Set, shape: &Shape) -> Result<Vec<Vec<u32>>, Error> {
    let mut next = super::draws::stream(set.ii() as u64);
    let mut runner = Runner::new(shape, set);
    let key: Vec<u32> = (0..set.key_words).map(|_| next()).collect();
    let key = if key.is_empty() { 0 } else { runner.key(&key)? };
    let words = usize::from(set.input_words);
    let blocks: Vec<Block> =
        (0..BLOCKS).map(|_| Block { words: (0..words).map(|_| next()).collect(), key }).collect();
    Ok(runner.run(&blocks)?.results)
}
