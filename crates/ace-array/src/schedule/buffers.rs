// SPDX-License-Identifier: Apache-2.0
//! Memories whose addresses turn: a block's are a stride behind those of the one before.

use super::types::{Route, Schedule};
use crate::error::Misfit;
use crate::ir::graph::{Graph, Id, Op};
use crate::ir::shape::{Shape, latency};

/// A word of a block: its address, the slot of its write, and that of its last read.
struct Word {
    at: i64,
    from: i64,
    to: i64,
}

/// The word, if there is one, by its number, at whose address another one of any block is written between its write and its last read.
fn over(all: &[Word], stride: i64, words: i64, ii: i64) -> Option<usize> {
    (0..all.len()).find(|number| {
        let own = &all[*number];
        all.iter().enumerate().any(|(another, other)| {
            // Of blocks that are so much younger, or older, the write falls into that time.
            let ages =
                (own.from - other.from).div_euclid(ii)..=own.to.saturating_sub(other.from).div_euclid(ii);
            ages.into_iter().any(|age| {
                let same = (other.at - own.at + age * stride) % words == 0;
                same && (age != 0 || another != *number) && other.from + age * ii >= own.from
            })
        })
    })
}

impl Schedule {
    /// Whether no other value of any block is stored at a value's address from its store to its last read.
    pub(super) fn fits_memory(&self, graph: &Graph, shape: &Shape, memory: usize) -> Result<(), Misfit> {
        let last = self.last_reads(graph);
        let stored = self.stored(memory);
        let word = |(value, at): &(Id, usize)| Word {
            at: *at as i64,
            from: self.stores[value].slot,
            to: last[*value],
        };
        let all: Vec<Word> = stored.iter().map(word).collect();
        let stride = self.memory_stride(shape) as i64;
        match over(&all, stride, shape.memory_words as i64, self.ii as i64) {
            Some(number) => {
                let slots = all[number].to - all[number].from;
                let what = format!(
                    "this is stored for {slots} slots, and another value comes to its address before that: a block has \
                     {stride} of {} words",
                    shape.memory_words
                );
                Err(Misfit::of(stored[number].0, what))
            }
            None => Ok(()),
        }
    }

    /// By node: the slot of the last read of what is stored of it.
    fn last_reads(&self, graph: &Graph) -> Vec<i64> {
        let mut last = vec![i64::MIN; graph.nodes.len()];
        for (id, node) in graph.nodes.iter().enumerate() {
            for (arg, route) in node.args.iter().zip(&self.routes[id]) {
                if let Route::Stored { slot } = route {
                    last[*arg] = last[*arg].max(slot - latency::READ as i64);
                }
            }
        }
        last
    }

    /// The same schedule, in which values of a block share addresses that are not there at the same time: each one, as it
    /// comes, has the first address that is free again.
    pub(super) fn sharing(mut self, graph: &Graph, shape: &Shape) -> Schedule {
        let last = self.last_reads(graph);
        for memory in 0..shape.memories {
            let mut values: Vec<Id> = self.stored(memory).into_iter().map(|(value, _)| value).collect();
            values.sort_by_key(|value| (self.stores[value].slot, *value));
            // By address: the last read of what is there.
            let mut free: Vec<i64> = Vec::new();
            for value in values {
                let store = self.stores[&value].slot;
                let at = free.iter().position(|read| *read < store).unwrap_or(free.len());
                if at == free.len() {
                    free.push(i64::MIN);
                }
                free[at] = last[value].max(store);
                self.shared.insert(value, at);
            }
        }
        self
    }

    /// Whether every word of the result is still there in the interval behind the last one.
    pub(super) fn outputs_stay(&self, graph: &Graph, shape: &Shape) -> bool {
        let ii = self.ii as i64;
        let to = self.latency(graph) as i64 - latency::OUTPUT as i64 + ii;
        let stride = graph.outputs.len().div_ceil(shape.outputs) as i64;
        (0..shape.outputs).all(|unit| {
            let words = graph.nodes.iter().zip(&self.places).filter_map(|(node, place)| match node.op {
                Op::Output(word) if word % shape.outputs == unit => {
                    let from = place.as_ref().map_or(0, |place| place.slot);
                    Some(Word { at: (word / shape.outputs) as i64, from, to })
                }
                _ => None,
            });
            over(&words.collect::<Vec<_>>(), stride, shape.stream_words as i64, ii).is_none()
        })
    }
}
