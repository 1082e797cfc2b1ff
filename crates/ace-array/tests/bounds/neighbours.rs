// SPDX-License-Identifier: Apache-2.0
//! A tile that others have used, and use beside a block: what a set answers there, with one secret of theirs and with another.

use ace_array::layout::Layout;
use ace_array::set::{Set, Target, Write};
use ace_array::shape::{Shape, starts_ahead};
use ace_array::tile::Tile;

/// Contexts of the set that ran before.
const BEFORE: u64 = 16;
/// The key of the own blocks lies here, and others' all around it.
const KEY: usize = 300;
const OTHER_KEY: usize = 140;
/// Whose the blocks are that start one behind the other: own, another's, nobody's.
const ORDER: &[u8; 8] = b"ooxo xxo";

/// Numbers that hang on a seed.
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mixed = (self.0 ^ self.0 >> 30).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        let mixed = (mixed ^ mixed >> 27).wrapping_mul(0x94D0_49BB_1331_11EB);
        mixed ^ mixed >> 31
    }
}

/// Tiles with a set in the bank that does not run, as two others' secrets have left them: in all else they are the same.
pub struct Neighbours {
    shape: Shape,
    set: Set,
    tiles: [Tile; 2],
}

impl Neighbours {
    pub fn of(shape: &Shape, set: &Set) -> Self {
        let tile = |secret| used(shape, set, &mut Random(secret));
        Neighbours { shape: shape.clone(), set: set.clone(), tiles: [tile(1), tile(2)] }
    }

    /// Whether the answers to the own blocks hang on what is others', if the set is changed to this one in one context.
    pub fn shows(&self, changed: &Set, context: usize) -> bool {
        let mut answers = self.tiles.iter().zip(1..).map(|(tile, secret)| {
            let mut tile = tile.clone();
            for (word, lane) in changed.contexts[context].0.iter().zip(0..) {
                step(&mut tile, Target::Context, lane, context, *word);
            }
            self.answers(tile, changed, Random(secret << 32))
        });
        answers.next() != answers.next()
    }

    /// The same of the set as it is.
    pub fn show(&self) -> bool {
        self.shows(&self.set, 0)
    }

    /// Results of the own blocks, as they are at the beginning and at the end of the time in which they are read.
    fn answers(&self, mut tile: Tile, set: &Set, mut others: Random) -> Vec<u32> {
        let bank = tile.idle_bank();
        tile.step(Some(set.settings(&self.shape, bank == 1)), 0);
        while tile.idle_bank() == bank {
            tile.step(None, 0);
        }
        let stride = set.input_stride(&self.shape);
        let ahead = starts_ahead(stride, set.ii());
        let mut own = Random(3);
        let (mut starts, mut writes, mut due, mut out) = (0, Vec::new(), Vec::new(), Vec::new());
        let last = ORDER.len() + ahead;
        let mut clock = 0;
        while starts <= last || !due.is_empty() {
            let start = tile.starts();
            let whose = start.then(|| ORDER.get(usize::checked_sub(starts, ahead)?)).flatten();
            let base = if whose == Some(&b'o') { KEY } else { OTHER_KEY };
            tile.step(writes.pop(), base);
            let (input, output) = tile.bases();
            if whose == Some(&b'o') {
                let first = clock + usize::from(set.latency);
                due.extend([(first, output), (first + set.ii() - 1, output)]);
            }
            if start {
                let random = match ORDER.get(starts) {
                    Some(b'o') => Some(&mut own),
                    Some(b'x') => Some(&mut others),
                    _ => None,
                };
                if let Some(random) = random {
                    let row = |at: usize| {
                        let at = ((input + ahead * stride + at) % self.shape.stream_words) as u16;
                        Write { target: Target::Input, rotate: false, lane: 0, at, data: random.next() }
                    };
                    writes = (0..stride).map(row).rev().collect();
                }
                starts += 1;
            }
            due.retain(|(when, base)| {
                let now = clock == *when;
                if now {
                    let word = |word: usize| {
                        tile.output(word % self.shape.outputs, base + word / self.shape.outputs)
                    };
                    out.extend((0..usize::from(set.output_words)).map(word));
                }
                !now
            });
            clock += 1;
        }
        out
    }
}

fn step(tile: &mut Tile, target: Target, lane: u8, at: usize, data: u64) {
    tile.step(Some(Write { target, rotate: false, lane, at: at as u16, data }), OTHER_KEY);
}

/// A tile in which a set of random contexts has run over random keys, constants, tables and blocks until every memory was full
/// of what came of them; then the set and its key are loaded beside it.
fn used(shape: &Shape, set: &Set, secret: &mut Random) -> Tile {
    let mut tile = Tile::new(shape);
    // What runs is the same in both: only what it runs over is not.
    let mut public = Random(4);
    let words = Layout::of(shape).words() as u64;
    let load = |tile: &mut Tile, public: &mut Random, secret: &mut Random| {
        (0..BEFORE * words).for_each(|at| {
            step(tile, Target::Context, (at % words) as u8, (at / words) as usize, public.next());
        });
        (0..512).for_each(|at| step(tile, Target::Table, 15, at, secret.next()));
        (0..shape.constants).for_each(|at| step(tile, Target::Constant, 0, at, secret.next()));
    };
    for _ in 0..2 {
        load(&mut tile, &mut public, secret);
        (2 * shape.constants..shape.key_words)
            .for_each(|at| step(&mut tile, Target::Key, 0, at, secret.next()));
        (0..shape.stream_words).for_each(|at| step(&mut tile, Target::Input, 0, at, secret.next()));
        let bank = tile.idle_bank() as u64;
        let settings = (BEFORE - 1) | (0x0111_0303 << 8) | (bank << 33);
        tile.step(Some(Write { target: Target::Settings, rotate: false, lane: 0, at: 0, data: settings }), 0);
        (0..3 * BEFORE * shape.memory_words as u64).for_each(|_| tile.step(None, OTHER_KEY));
    }
    for write in set.writes() {
        tile.step(Some(write), OTHER_KEY);
    }
    let mut own = Random(5);
    for at in 0..usize::from(set.key_words) {
        step(&mut tile, Target::Key, 0, KEY + at, own.next());
    }
    tile
}
