// SPDX-License-Identifier: Apache-2.0
//! What a tile sees and shows, one line a clock, for the RTL to do the same (`flow/model/array_bench.cpp`): a load and
//! what runs then, or random contexts, tables, keys and words that change while they run.

pub use super::lines::Trace;

use super::host::{Block, Runner};
use crate::codegen::set::{Set, Target, Write};
use crate::ir::layout::Layout;
use crate::ir::shape::Shape;
use crate::sim::tile::Tile;

/// Contexts that mostly run: so few that all of a bank are new whenever it changes.
const SOME: u64 = 32;
/// Clocks from one change of the bank to the next.
const CHANGE: usize = 700;

/// Random contexts: every bit of them, of tables, keys and constants, and writes to all of it while it runs. The bank
/// changes every so often. What runs first is written before, and is not among the clocks: of memories full of zeros
/// nothing comes that tells one tile from another.
pub fn random(shape: &Shape, seed: u64, clocks: usize) -> Trace {
    let mut state = seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1;
    let mut next = move || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        state.rotate_left(29).wrapping_mul(0x2545_F491_4F6C_DD1D)
    };
    let mut tile = Tile::new(shape);
    let mut trace = Trace::new(shape);
    let words = Layout::of(shape).words() as u64;
    let first = [
        (Target::Context, SOME * words),
        (Target::Constant, shape.constants as u64),
        (Target::Key, shape.key_words as u64),
        (Target::Table, 512),
        (Target::Input, shape.stream_words as u64),
    ];
    let mut first: Vec<(Target, u64)> =
        first.into_iter().flat_map(|(target, count)| (0..count).map(move |at| (target, at))).collect();
    first.reverse();
    let ahead = first.len();
    let mut context = 0;
    for clock in 0..ahead + clocks {
        // What is written has nothing to do with where: else there are fields that never have some of their values.
        let (random, data) = (next(), next());
        let write = |target, lane: u64, at: u64| {
            let rotate = random >> 60 & 1 == 1;
            Some(Write { target, rotate, lane: lane as u8, at: at as u16, data })
        };
        let at = random >> 8 & 511;
        let change = clock >= ahead && (clock - ahead).is_multiple_of(CHANGE);
        let chosen = match (first.pop(), random & 15) {
            (Some((Target::Context, at)), _) => write(Target::Context, at % words, at / words),
            (Some((target, at)), _) => write(target, 15, at),
            _ if change => {
                let bank = tile.idle_bank() as u64;
                let last = if random >> 40 & 3 == 0 { 0x7F } else { SOME - 1 };
                let data = (random & last) | (random >> 8 & 0x01FF_FFFF) << 8 | bank << 33;
                Some(Write { target: Target::Settings, rotate: false, lane: 0, at: 0, data })
            }
            // The sequence runs a clock ahead of what is written: the next bank's contexts are there before it is asked for.
            _ if clock > ahead && (clock - ahead) % CHANGE == 1 => None,
            (_, 0..=6) => {
                context = (context + 1) % (SOME * words);
                write(Target::Context, context % words, context / words)
            }
            (_, 7) => write(Target::Context, random >> 20 & 15 & (words - 1), at & 0xFF),
            (_, 8..=10) => write(Target::Table, random >> 20 & 15, at),
            (_, 11) => write(Target::Constant, random >> 20 & 15, at & 63),
            (_, 12) => write(Target::Key, 0, at),
            (_, 13) => write(Target::Input, 0, at & 0xFF),
            _ => None,
        };
        let (base, read_at) = (random >> 32 & 511, random >> 44 & 255);
        trace.line(chosen, base as usize, read_at as usize, &tile.look());
        tile.read_at = read_at as usize;
        tile.step(chosen, base as usize);
    }
    trace
}

/// A set that is loaded, keys, and blocks of random words.
pub fn of_set(shape: &Shape, set: &Set, seed: u64, blocks: usize) -> Result<Trace, crate::Error> {
    let mut runner = Runner::traced(shape, set);
    let mut state = seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1;
    let mut next = move || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 32) as u32
    };
    let keys = if set.key_words == 0 { 0 } else { runner.key_room().min(3) };
    for _ in 0..keys {
        let words: Vec<u32> = (0..set.key_words).map(|_| next()).collect();
        runner.key(&words)?;
    }
    let all: Vec<Block> = (0..blocks)
        .map(|at| Block { words: (0..set.input_words).map(|_| next()).collect(), key: at % keys.max(1) })
        .collect();
    runner.run(&all)?;
    Ok(runner.trace.take().unwrap_or_else(|| Trace::new(shape)))
}
