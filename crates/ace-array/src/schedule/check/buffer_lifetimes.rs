// SPDX-License-Identifier: Apache-2.0
//! Words in memories whose addresses turn with the blocks: what is read there is what was put there for it, and nobody
//! has written over it: no other value of the same block, and none of a block that the turning base brings back.

use super::wrong;
use crate::Error;
use crate::ir::graph::{Graph, Id, Op};
use crate::ir::shape::Shape;
use crate::ir::shape::starts_ahead;
use crate::schedule::types::{Route, Schedule};

/// One of the tile's memories: block `n` finds its word 0 at address `n * stride`, modulo the words that there are.
struct Turning {
    name: String,
    words: i64,
    stride: i64,
    ii: i64,
    /// So many slots before a read sees it, another word spoils it: what the memory shows is not known if it takes a word
    /// at the same address in that clock (`no_rw_check` in rtl/array/array_memory.sv).
    spoils: i64,
}

/// A word of a block: its address without the base, and the first slot of the block in which a read sees it.
struct Word {
    value: Id,
    at: i64,
    there: i64,
}

impl Turning {
    /// Whether a word stays what it is until `last`, the slot of its last read, whatever else is written.
    fn keeps(&self, own: &Word, last: i64, all: &[Word]) -> Result<(), Error> {
        for other in all {
            // Blocks that begin so many intervals later whose word falls into that time.
            let first = (own.there - other.there).div_euclid(self.ii);
            for later in first..=(last + self.spoils - other.there).div_euclid(self.ii) {
                let there = other.there + later * self.ii;
                let same = (other.at + later * self.stride - own.at).rem_euclid(self.words) == 0;
                let itself = later == 0 && other.value == own.value && other.at == own.at;
                if !same || there < own.there || itself {
                    continue;
                }
                let block = match later {
                    0 => "the same block".to_owned(),
                    1.. => format!("the block {later} behind it"),
                    _ => format!("the block {} before it", -later),
                };
                return Err(wrong(format!(
                    "word {} of {} has value {} from slot {} on and is read in slot {last}, but from slot {there} on \
                     it has value {} of {block}",
                    own.at.rem_euclid(self.words),
                    self.name,
                    own.value,
                    own.there,
                    other.value
                )));
            }
        }
        Ok(())
    }
}

pub(super) fn check(graph: &Graph, shape: &Shape, schedule: &Schedule) -> Result<(), Error> {
    memories(graph, shape, schedule)?;
    inputs(graph, shape, schedule)?;
    outputs(graph, shape, schedule)
}

/// Memory elements: a store's word is seen by reads that are issued two slots later, and shown two slots after that. A
/// block's words lie in the order of their values or where the schedule says, and the element that has most of them says by how much all turn.
fn memories(graph: &Graph, shape: &Shape, schedule: &Schedule) -> Result<(), Error> {
    let mut stored: Vec<Vec<Word>> = (0..shape.memories).map(|_| Vec::new()).collect();
    for (value, store) in &schedule.stores {
        let words = &mut stored[store.memory];
        let at = schedule.shared.get(value).copied().unwrap_or(words.len());
        words.push(Word { value: *value, at: at as i64, there: store.slot + 2 });
    }
    let stride = stored.iter().flatten().map(|word| word.at + 1).max().unwrap_or(0);
    let mut last = vec![i64::MIN; graph.nodes.len()];
    for (node, routes) in graph.nodes.iter().zip(&schedule.routes) {
        for (arg, route) in node.args.iter().zip(routes) {
            if let Route::Stored { slot } = route {
                last[*arg] = last[*arg].max(slot - 2);
            }
        }
    }
    for (index, all) in stored.iter().enumerate() {
        let name = format!("memory element {index}");
        let (words, ii) = (shape.memory_words as i64, schedule.ii as i64);
        let turning = Turning { name, words, stride, ii, spoils: 1 };
        for own in all.iter().filter(|own| last[own.value] > i64::MIN) {
            turning.keeps(own, last[own.value], all)?;
        }
    }
    Ok(())
}

/// Input memories: whoever feeds the tile may write a block's words so many starts before its own.
fn inputs(graph: &Graph, shape: &Shape, schedule: &Schedule) -> Result<(), Error> {
    let ii = schedule.ii as i64;
    let rows = graph.inputs.div_ceil(shape.inputs);
    let there = -(starts_ahead(rows, schedule.ii) as i64) * ii;
    for (id, node) in graph.nodes.iter().enumerate() {
        let (Op::Input(word), Some(place)) = (&node.op, &schedule.places[id]) else { continue };
        let name = format!("input {}", word % shape.inputs);
        let turning = Turning { name, words: shape.stream_words as i64, stride: rows as i64, ii, spoils: 0 };
        let all: Vec<Word> = (0..rows as i64).map(|at| Word { value: id, at, there }).collect();
        turning.keeps(&all[word / shape.inputs], place.slot, &all)?;
    }
    Ok(())
}

/// Output memories: a word is there three slots behind its issue, and a block's result is read in the interval that
/// begins with its last word.
fn outputs(graph: &Graph, shape: &Shape, schedule: &Schedule) -> Result<(), Error> {
    let ii = schedule.ii as i64;
    let mut written: Vec<Vec<Word>> = (0..shape.outputs).map(|_| Vec::new()).collect();
    let mut last = 0;
    for (id, node) in graph.nodes.iter().enumerate() {
        let (Op::Output(word), Some(place)) = (&node.op, &schedule.places[id]) else { continue };
        let word = Word { value: id, at: (word / shape.outputs) as i64, there: place.slot + 3 };
        last = last.max(word.there + ii);
        written[place.unit.index].push(word);
    }
    let stride = graph.outputs.len().div_ceil(shape.outputs) as i64;
    for (index, all) in written.iter().enumerate() {
        let name = format!("output {index}");
        let turning = Turning { name, words: shape.stream_words as i64, stride, ii, spoils: 0 };
        all.iter().try_for_each(|own| turning.keeps(own, last, all))?;
    }
    Ok(())
}
