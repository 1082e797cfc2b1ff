// SPDX-License-Identifier: Apache-2.0
//! Whether a set is what its source says, for all keys and blocks: the set is run in the simulator's tile over terms, beside
//! what is others', and each word of its result has to be the term that the source's graph is. docs/array-sets.md, "What a set
//! computes", says it in words.

mod controls;
mod draws;
mod refusal;
mod run;
mod sweep;
mod terms;

use crate::codegen::set::Set;
use crate::frontend::Built;
use crate::ir::shape::Shape;

pub use controls::{Turned, turned};
pub use refusal::Unlike;

use run::{Seat, run};
use terms::{FOREIGN, Terms};

/// What was compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Validated {
    /// Words of the result, each of which is the same term on both sides.
    pub words: usize,
    /// Terms of the set and of its source together.
    pub terms: usize,
    /// Those of them that have another form than their equals, which trying all values has shown.
    pub solved: usize,
}

/// Compares a set with what the front end has built of a variant of its source.
///
/// # Errors
/// What of the set is not as the source says, or is not shown to be.
pub fn validate(set: &Set, built: &Built, shape: &Shape) -> Result<Validated, Unlike> {
    header(set, built)?;
    fits(set, shape)?;
    let mut terms = Terms::new();
    let graph = &built.graph;
    let block: Vec<_> = (0..graph.inputs).map(|word| terms.input(word)).collect();
    let key: Vec<_> = (0..graph.keys).map(|word| terms.key(word)).collect();
    let wanted = graph.evaluate_in(&mut terms, &block, &key);
    for seat in Seat::both(set, shape) {
        let found;
        (terms, found) = run(terms, set, shape, seat);
        for (word, (found, wanted)) in found.iter().zip(&wanted).enumerate() {
            if *found == FOREIGN {
                return Err(Unlike::Foreign { word });
            }
            if found != wanted {
                let (is, says) = (terms.values(*found), terms.values(*wanted));
                return Err(match is.iter().zip(&says).find(|(is, says)| is != says) {
                    Some((is, says)) => Unlike::Other { word, is: *is, says: *says },
                    None => Unlike::Open { word },
                });
            }
        }
    }
    if terms.contradicted() {
        return Err(Unlike::Contradiction);
    }
    Ok(Validated { words: wanted.len(), terms: terms.count(), solved: terms.solved() })
}

/// What a set says of itself beside its contexts.
fn header(set: &Set, built: &Built) -> Result<(), Unlike> {
    let graph = &built.graph;
    let same = [
        ("code of the algorithm", set.algorithm == built.code),
        ("direction", set.decrypt == built.decrypt),
        ("purpose", set.keys == built.keys),
        ("order of the block's bytes", set.input == built.input),
        ("order of the result's bytes", set.output == built.output),
        ("number of words of a block", usize::from(set.input_words) == graph.inputs),
        ("number of words of a result", usize::from(set.output_words) == graph.outputs.len()),
        ("number of words of a key", usize::from(set.key_words) == graph.keys),
        ("first state of the hash", set.chain == built.chain),
    ];
    let unlike = same.into_iter().find(|(_, same)| !same);
    unlike.map_or(Ok(()), |(what, _)| Err(Unlike::Header { what }))
}

/// What the tile has room for, which whoever reads a set from bytes knows already.
fn fits(set: &Set, shape: &Shape) -> Result<(), Unlike> {
    let room = [
        ("number of contexts", (1..=shape.contexts).contains(&set.ii())),
        ("number of words of a key", usize::from(set.key_words) <= shape.key_room()),
        ("number of words of a block", set.input_stride(shape) <= shape.stream_words / 2),
        ("number of words of a result", set.output_stride(shape) <= shape.stream_words / 2),
        ("number of constants", set.constants.iter().all(|words| words.len() <= shape.constants)),
    ];
    let beyond = room.into_iter().find(|(_, fits)| !fits);
    beyond.map_or(Ok(()), |(what, _)| Err(Unlike::Room { what }))
}
