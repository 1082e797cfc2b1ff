// SPDX-License-Identifier: Apache-2.0
//! A set in a tile whose every other word is another's: one own block among others', as the slot may start them.

use super::terms::{FOREIGN, Term, Terms};
use crate::codegen::set::{Set, Target, Write};
use crate::ir::shape::{Shape, starts_ahead};
use crate::sim::tile::Tile;

/// Others' blocks that have started before the own one.
const BEFORE: usize = 3;

/// Where a set lies: the bank, and the word of the key memories at which the own key begins. Another key lies beside it.
#[derive(Clone, Copy, Debug)]
pub struct Seat {
    bank: usize,
    key: usize,
    other: usize,
}

impl Seat {
    /// The first bank with the first key, and the second bank with the last one.
    pub fn both(set: &Set, shape: &Shape) -> [Seat; 2] {
        let (first, words) = (2 * shape.constants, usize::from(set.key_words));
        let last = shape.key_words - words;
        [Seat { bank: 0, key: first, other: last }, Seat { bank: 1, key: last, other: first }]
    }
}

/// What the words of the own result are, by word: what is there in all clocks in which it may be read, or [`FOREIGN`].
pub fn run(terms: Terms, set: &Set, shape: &Shape, seat: Seat) -> (Terms, Vec<Term>) {
    let mut tile = Tile::filled(shape, terms, FOREIGN);
    if seat.bank == 0 {
        // The second bank runs first.
        switch(&mut tile, set.settings(shape, true), seat.other);
    }
    for write in set.writes() {
        tile.step(Some(write), seat.other);
    }
    for word in 0..usize::from(set.key_words) {
        let term = tile.domain.key(word);
        tile.put_key(seat.key + word, term);
    }
    switch(&mut tile, set.settings(shape, seat.bank == 1), seat.other);
    let rows = set.input_stride(shape);
    let ahead = starts_ahead(rows, set.ii());
    let latency = usize::from(set.latency);
    let words = usize::from(set.output_words);
    let mut found: Vec<Option<Term>> = vec![None; words];
    let (mut starts, mut own) = (0, None);
    let (mut clock, mut asked) = (0, None);
    // Whatever a block's words are, they are there when it starts, and others' may be so much earlier.
    while own.is_none_or(|(start, _)| clock <= start + latency + set.ii()) {
        let start = tile.starts();
        let is_own = start && starts == BEFORE;
        tile.step(None, if is_own { seat.key } else { seat.other });
        let (input, output) = tile.bases();
        // What context 0 reads is there when it asks, and no clock before.
        if let Some(base) = asked.take() {
            for at in 0..rows * shape.inputs {
                let word = if at < usize::from(set.input_words) { tile.domain.input(at) } else { FOREIGN };
                tile.put_input(at % shape.inputs, base + at / shape.inputs, word);
            }
            foreign(&mut tile, shape, base + rows, ahead * rows);
        }
        if is_own {
            (own, asked) = (Some((clock, output)), Some(input));
        } else if start && starts > BEFORE {
            foreign(&mut tile, shape, input + ahead * rows, rows);
        }
        starts += usize::from(start);
        if let Some((_, base)) = own.filter(|(start, _)| clock >= start + latency) {
            for (at, found) in found.iter_mut().enumerate() {
                let here = tile.result(at % shape.outputs, base + at / shape.outputs).unwrap_or(FOREIGN);
                *found = Some(if found.is_none_or(|known| known == here) { here } else { FOREIGN });
            }
        }
        clock += 1;
    }
    (tile.domain, found.into_iter().map(|word| word.unwrap_or(FOREIGN)).collect())
}

/// Others' words in rows of the input memories.
fn foreign(tile: &mut Tile<Terms>, shape: &Shape, from: usize, rows: usize) {
    for input in 0..shape.inputs {
        (from..from + rows).for_each(|at| tile.put_input(input, at, FOREIGN));
    }
}

/// Lets the other bank run.
fn switch(tile: &mut Tile<Terms>, settings: Write, key: usize) {
    debug_assert_eq!(settings.target, Target::Settings);
    let bank = tile.idle_bank();
    tile.step(Some(settings), key);
    while tile.idle_bank() == bank {
        tile.step(None, key);
    }
}
