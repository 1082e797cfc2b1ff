// SPDX-License-Identifier: Apache-2.0
//! A tile's other side: bytes to words and back, a set loaded, blocks in, results out. In hardware this is the shell's
//! and the front end's work; here it drives the simulator.

use std::collections::VecDeque;

use super::lines::Trace;
use crate::Error;
use crate::codegen::set::{Set, Target, Write};
use crate::frontend::Order;
use crate::ir::shape::Shape;
use crate::ir::shape::starts_ahead;
use crate::sim::tile::Tile;

/// One block: its words and its key's number.
#[derive(Clone, Debug)]
pub struct Block {
    /// The block's words, as many as [`Set::input_words`] says.
    pub words: Vec<u32>,
    /// Which of the keys that were loaded it is for, from 0.
    pub key: usize,
}

/// What a run took.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Ran {
    /// The words of each block's result.
    pub results: Vec<Vec<u32>>,
    /// From the first block's start to the last result.
    pub clocks: usize,
}

/// A tile with a set that runs.
pub struct Runner {
    /// The tile that runs.
    pub tile: Tile,
    shape: Shape,
    set: Set,
    bases: Vec<usize>,
    /// What every clock was, if somebody wants to know.
    pub trace: Option<Trace>,
}

/// A block on its way: its number, when its result is there, and where.
struct Pending {
    block: usize,
    ready: usize,
    base: usize,
}

impl Runner {
    /// Loads a set into a new tile and lets it run.
    pub fn new(shape: &Shape, set: &Set) -> Runner {
        Runner::start(shape, set, None)
    }

    /// The same, and writes down every clock.
    pub fn traced(shape: &Shape, set: &Set) -> Runner {
        Runner::start(shape, set, Some(Trace::new(shape)))
    }

    fn start(shape: &Shape, set: &Set, trace: Option<Trace>) -> Runner {
        let tile = Tile::new(shape);
        let (set, shape) = (set.clone(), shape.clone());
        let mut runner = Runner { tile, shape, set, bases: Vec::new(), trace };
        let (set, shape) = (&runner.set.clone(), &runner.shape.clone());
        for write in set.writes() {
            runner.step(Some(write), 0);
        }
        let bank = runner.tile.idle_bank();
        runner.step(Some(set.settings(shape, bank == 1)), 0);
        // The switch happens when the last context has run, and reaches the elements two clocks later.
        while runner.tile.idle_bank() == bank {
            runner.step(None, 0);
        }
        for _ in 0..3 {
            runner.step(None, 0);
        }
        runner
    }

    fn step(&mut self, write: Option<Write>, key_base: usize) {
        if let Some(trace) = &mut self.trace {
            trace.line(write, key_base, self.tile.read_at, &self.tile.look());
        }
        self.tile.step(write, key_base);
    }

    /// Puts a key's words behind those that are there, and gives its number.
    pub fn key(&mut self, words: &[u32]) -> Result<usize, Error> {
        let base = 2 * self.shape.constants + self.bases.len() * usize::from(self.set.key_words);
        if words.len() != usize::from(self.set.key_words) || base + words.len() > self.shape.key_words {
            return Err(Error::Use(format!("there is no room for another key of {} words", words.len())));
        }
        for (at, word) in words.iter().enumerate() {
            let at = (base + at) as u16;
            let write = Write { target: Target::Key, rotate: false, lane: 0, at, data: u64::from(*word) };
            self.step(Some(write), 0);
        }
        self.bases.push(base);
        Ok(self.bases.len() - 1)
    }

    /// How many keys there is room for.
    pub fn key_room(&self) -> usize {
        let words = usize::from(self.set.key_words);
        (self.shape.key_words - 2 * self.shape.constants).checked_div(words).unwrap_or(usize::MAX)
    }

    /// Runs blocks one behind the other, as many in flight as the set has.
    pub fn run(&mut self, blocks: &[Block]) -> Result<Ran, Error> {
        for block in blocks {
            let known = self.set.key_words == 0 || block.key < self.bases.len();
            if block.words.len() != usize::from(self.set.input_words) || !known {
                return Err(Error::Use("a block has other words, or a key that is not there".to_owned()));
            }
        }
        let stride = self.set.input_stride(&self.shape);
        let ahead = starts_ahead(stride, self.set.ii());
        let mut results = Vec::with_capacity(blocks.len());
        let mut writes = VecDeque::new();
        let mut pending: VecDeque<Pending> = VecDeque::new();
        let (mut clock, mut starts, mut first) = (0, 0, None);
        while results.len() < blocks.len() {
            let start = self.tile.starts();
            let starting = if start { usize::checked_sub(starts, ahead) } else { None };
            let starting = starting.filter(|block| *block < blocks.len());
            let key = starting.and_then(|block| self.bases.get(blocks[block].key)).copied().unwrap_or(0);
            self.step(writes.pop_front(), key);
            let (input_base, output_base) = self.tile.bases();
            if let Some(block) = starting {
                first.get_or_insert(clock);
                let ready = clock + usize::from(self.set.latency);
                pending.push_back(Pending { block, ready, base: output_base });
            }
            if start {
                // This start's number is that of the block whose words are written now.
                if let Some(block) = blocks.get(starts) {
                    self.queue(&block.words, input_base + ahead * stride, &mut writes);
                }
                starts += 1;
            }
            if let Some(next) = pending.front()
                && clock >= next.ready
            {
                debug_assert_eq!(next.block, results.len());
                results.push(self.result(next.base));
                pending.pop_front();
            }
            clock += 1;
        }
        Ok(Ran { results, clocks: clock - first.unwrap_or(0) })
    }

    fn queue(&self, block: &[u32], base: usize, writes: &mut VecDeque<Write>) {
        for (at, words) in block.chunks(self.shape.inputs).enumerate() {
            let data = words.iter().rev().fold(0, |data, word| data << 32 | u64::from(*word));
            let at = ((base + at) % self.shape.stream_words) as u16;
            writes.push_back(Write { target: Target::Input, rotate: false, lane: 0, at, data });
        }
    }

    fn result(&self, base: usize) -> Vec<u32> {
        let outputs = self.shape.outputs;
        (0..usize::from(self.set.output_words))
            .map(|at| self.tile.output(at % outputs, base + at / outputs))
            .collect()
    }
}

/// A block's bytes as its words. DES's permutation is wires beside the stream's memories.
pub fn to_words(order: Order, bytes: &[u8]) -> Vec<u32> {
    let join = |four: &[u8], little: bool| {
        let one = |at: usize| u32::from(four.get(at).copied().unwrap_or(0));
        let word = (0..4).fold(0, |word, at| word | one(at) << (8 * at));
        if little { word } else { word.swap_bytes() }
    };
    let words: Vec<u32> = bytes.chunks(4).map(|four| join(four, order == Order::Little)).collect();
    if order != Order::Des {
        return words;
    }
    words
        .chunks(2)
        .flat_map(|two| {
            let block = u64::from(two[0]) << 32 | u64::from(two.get(1).copied().unwrap_or(0));
            let through = (0..64).fold(0u64, |out, at| out << 1 | block >> (64 - initial(at)) & 1);
            [((through >> 32) as u32).rotate_right(1), (through as u32).rotate_right(1)]
        })
        .collect()
}

/// The other way.
pub fn to_bytes(order: Order, words: &[u32]) -> Vec<u8> {
    match order {
        Order::Little => words.iter().flat_map(|word| word.to_le_bytes()).collect(),
        Order::Big => words.iter().flat_map(|word| word.to_be_bytes()).collect(),
        Order::Des => words
            .chunks(2)
            .flat_map(|two| {
                let low = two.get(1).copied().unwrap_or(0).rotate_left(1);
                let through = u64::from(two[0].rotate_left(1)) << 32 | u64::from(low);
                let block =
                    (0..64).fold(0u64, |out, at| out | (through >> (63 - at) & 1) << (64 - initial(at)));
                block.to_be_bytes()
            })
            .collect(),
    }
}

/// The bit of the block, counted from 1, that comes to place `at` of 0 to 63 (FIPS 46-3, IP).
fn initial(at: u32) -> u32 {
    const FIRST: [u32; 8] = [58, 60, 62, 64, 57, 59, 61, 63];
    FIRST[at as usize / 8] - 8 * (at % 8)
}
