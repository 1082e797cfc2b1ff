// SPDX-License-Identifier: Apache-2.0
//! Random blocks under random keys: what the compiler's graphs compute, and what sets compute in the simulated tile, is what
//! the CPU engine computes.

use ace_array::Error;
use ace_array::algorithms::{self, SERVED, Served};
use ace_array::frontend::Built;
use ace_array::host::{Block, Runner, to_bytes, to_words};
use ace_array::schedule::{Effort, Goal};
use ace_array::set::Set;
use ace_array::shape::Shape;
use ace_array::{compile, passes};
use ace_engine::algorithm::ALGORITHMS;
use ace_engine::{Algorithm, Direction, Mode, compute};

/// SplitMix64.
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut x = self.0;
        x = (x ^ x >> 30).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        x = (x ^ x >> 27).wrapping_mul(0x94D0_49BB_1331_11EB);
        x ^ x >> 31
    }

    fn bytes(&mut self, count: usize) -> Vec<u8> {
        (0..count).map(|_| self.next() as u8).collect()
    }
}

/// Blocks a key is used for.
const OF_A_KEY: usize = 1000;

/// All of it with `ACE_TESTS=all` (`make test-all`), else a part that takes seconds.
fn cases(part: usize, all: usize) -> usize {
    if std::env::var_os("ACE_TESTS").is_some_and(|v| v == "all") { all } else { part }
}

fn engine(served: &Served) -> &'static Algorithm {
    ALGORITHMS
        .iter()
        .find(|a| a.name == served.algorithm)
        .expect("the engines know every algorithm of the array")
}

/// One key, or one message of a block, and what the CPU makes of it: pairs of a block's words and a result's bytes.
struct Case {
    key: Vec<u8>,
    blocks: Vec<(Vec<u32>, Vec<u8>)>,
}

fn case(served: &Served, decrypt: bool, built: &Built, count: usize, random: &mut Random) -> Case {
    let algorithm = engine(served);
    if served.keys.is_empty() {
        let message = |random: &mut Random| {
            let length = random.next() as usize % 56;
            let text = random.bytes(length);
            let mut block = text.clone();
            block.push(0x80);
            block.resize(56, 0);
            let bits = 8 * text.len() as u64;
            let big = built.input == ace_array::frontend::Order::Big;
            block.extend(if big { bits.to_be_bytes() } else { bits.to_le_bytes() });
            let words = [built.chain.clone(), to_words(built.input, &block)].concat();
            (words, compute::digest(algorithm, &text).unwrap())
        };
        return Case { key: Vec::new(), blocks: (0..count).map(|_| message(random)).collect() };
    }
    let length = served.keys[random.next() as usize % served.keys.len()];
    let key = random.bytes(length);
    let size = 4 * built.graph.inputs;
    let text = random.bytes(size * count);
    let direction = if decrypt { Direction::Decrypt } else { Direction::Encrypt };
    let wanted = compute::cipher(algorithm, Mode::Ecb, direction, &key, &[], &text).unwrap();
    let words = text.chunks(size).map(|block| to_words(built.input, block));
    Case { key, blocks: words.zip(wanted.chunks(size).map(<[u8]>::to_vec)).collect() }
}

fn ways(served: &Served) -> &'static [bool] {
    if served.keys.is_empty() { &[false] } else { &[false, true] }
}

/// Variants that an algorithm's blocks are shared out among.
fn variants(served: &Served) -> usize {
    SERVED.iter().filter(|other| other.algorithm == served.algorithm).map(|other| ways(other).len()).sum()
}

/// A million blocks an algorithm with `ACE_TESTS=all`.
#[test]
fn graphs_compute_what_the_cpu_does() {
    let mut random = Random(31);
    for served in SERVED {
        let program = algorithms::program(served.file).unwrap();
        for decrypt in ways(served) {
            let name = served.variant(*decrypt);
            let mut built = program.build(&name).unwrap();
            let graph = passes::all(&built.graph, &Shape::standard(), Goal::Throughput);
            let all = cases(600, 1_000_000usize.div_ceil(variants(served)));
            for from in (0..all).step_by(OF_A_KEY.min(all / 3)) {
                let count = OF_A_KEY.min(all / 3).min(all - from);
                let case = case(served, *decrypt, &built, count, &mut random);
                let words = program.expand(&mut built, &case.key).unwrap();
                for (block, wanted) in &case.blocks {
                    let found = to_bytes(built.output, &graph.evaluate(block, &words));
                    assert_eq!(&found, wanted, "{name}, key {:02x?}, block {block:08x?}", case.key);
                }
            }
        }
    }
}

/// Sets for throughput and for latency. `ace array verify` runs more of them, from the command line.
#[test]
fn sets_compute_what_the_cpu_does() {
    let mut random = Random(32);
    let shape = Shape::standard();
    for served in SERVED {
        let program = algorithms::program(served.file).unwrap();
        let both = |way: &bool| [Goal::Throughput, Goal::Latency].map(|goal| (*way, goal));
        for (decrypt, goal) in ways(served).iter().flat_map(both) {
            let name = served.variant(decrypt);
            let mut compiled = match compile(&program, &name, &shape, Effort::of(goal)) {
                // Short ways take more operations: such a set there is none of, as `Named::sets` says.
                Err(Error::Fit { .. }) if goal == Goal::Latency => continue,
                compiled => compiled.unwrap(),
            };
            let set = Set::from_bytes(&compiled.set.to_bytes(), &shape).unwrap();
            let all = cases(60, 20_000);
            for _ in (0..all).step_by(OF_A_KEY.min(all / 3)) {
                let count = OF_A_KEY.min(all / 3);
                let case = case(served, decrypt, &compiled.built, count, &mut random);
                let mut runner = Runner::new(&shape, &set);
                let words = program.expand(&mut compiled.built, &case.key).unwrap();
                let key = if words.is_empty() { 0 } else { runner.key(&words).unwrap() };
                let blocks: Vec<Block> =
                    case.blocks.iter().map(|(words, _)| Block { words: words.clone(), key }).collect();
                let ran = runner.run(&blocks).unwrap();
                assert_eq!(ran.results.len(), blocks.len());
                for (found, (_, wanted)) in ran.results.iter().zip(&case.blocks) {
                    assert_eq!(&to_bytes(set.output, found), wanted, "{name}, key {:02x?}", case.key);
                }
            }
        }
    }
}
