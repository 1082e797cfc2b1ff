// SPDX-License-Identifier: Apache-2.0
//! Every built configuration against the CPU engine over random operations, frame by frame on the models: for each
//! algorithm, over all its configurations and shapes, 50,000 blocks, with `ACE_TESTS=all` a million.
//!
//! A failure names configuration, seed and frame; the frames of a seed are the same in every run.

use std::collections::{BTreeMap, VecDeque};
use std::num::NonZero;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use crate::common::{Random, algorithms, built, cases, compute};
use ace_board::board::SharedObjects;
use ace_board::frame::{self, HMAC_KEY_MAX, KeySection, Status};
use ace_board::model::{Frame, Options, SlotModel};
use ace_board::pass::{Pass, Task};
use ace_board::{Configuration, ModelSource, Models};
use ace_engine::{Algorithm, Kind, Secret};

/// Blocks for each algorithm; of a hash, blocks that are compressed.
fn enough() -> u64 {
    cases(if cfg!(debug_assertions) { 20_000 } else { 50_000 }, 1_000_000)
}
/// A configuration's turn. They take turns until each has had its share; then those whose models are fast go on
/// until their algorithm has its blocks.
fn turn() -> Duration {
    Duration::from_millis(cases(50, 500))
}
/// Frames for each configuration at least.
fn share() -> u64 {
    cases(if cfg!(debug_assertions) { 64 } else { 128 }, 512)
}
/// Frames for one call of a model.
const FRAMES: usize = 64;
/// Bytes of a frame's data at most: beyond what a lane's buffer holds.
const LONGEST: u64 = 3000;

/// One algorithm on one configuration.
struct Pair<'a> {
    configuration: &'a Configuration,
    algorithm: &'static Algorithm,
    model: Box<dyn SlotModel>,
    random: Random,
    /// The key that the slot has kept.
    cached: Option<Secret>,
    frames: u64,
    blocks: u64,
    time: Duration,
}

impl<'a> Pair<'a> {
    fn new(configuration: &'a Configuration, algorithm: &'static Algorithm) -> Self {
        let model = SharedObjects.open(configuration, Models::Rtl);
        let model = model.unwrap_or_else(|e| panic!("{}: {e}", configuration.name));
        // Of xorshift only 0 is not a seed.
        let name = format!("{} {algorithm}", configuration.name);
        let seed = name.bytes().fold(20, |seed: u64, byte| seed.wrapping_mul(31).wrapping_add(byte.into()));
        let random = Random(seed.max(1));
        Self {
            configuration,
            algorithm,
            model,
            random,
            cached: None,
            frames: 0,
            blocks: 0,
            time: Duration::ZERO,
        }
    }

    /// An operation that the configuration serves, and whether its key goes with it. Half of the frames that can
    /// use the slot's key do.
    fn next(&mut self) -> (Task, bool) {
        loop {
            let longest = if self.random.below(4) == 0 { 100 } else { LONGEST };
            let mut operation = self.random.operation(self.algorithm, longest);
            let cached = self.cached.clone().filter(|_| self.random.below(2) == 0);
            let fresh = match (&mut operation.pass, cached) {
                (Pass::Cipher { key, .. } | Pass::Hmac { key, .. }, Some(cached)) => {
                    *key = cached;
                    false
                }
                // The slot hashes longer keys in a frame of their own: that is the board's business.
                (Pass::Hmac { key, .. }, None) if key.len() > HMAC_KEY_MAX => continue,
                (Pass::Hash { .. }, _) => false,
                _ => true,
            };
            if !self.configuration.serves(&operation.pass.need()) {
                continue;
            }
            if let (true, Pass::Cipher { key, .. } | Pass::Hmac { key, .. }) = (fresh, &operation.pass) {
                self.cached = Some(key.clone());
            }
            return (operation, fresh);
        }
    }

    /// One call of the model. Returns the blocks that agree.
    fn batch(&mut self) -> u64 {
        let first = self.frames;
        let asked: Vec<(Task, bool)> = (0..FRAMES).map(|_| self.next()).collect();
        let request = |(tag, (operation, fresh)): (usize, &(Task, bool))| {
            let key = match &operation.pass {
                Pass::Cipher { key, .. } | Pass::Hmac { key, .. } if *fresh => {
                    KeySection::Fresh(key.as_bytes())
                }
                _ => KeySection::Kept,
            };
            let request = frame::request(operation, key, tag as u16);
            Frame::new(request.to_vec(), frame::padded(frame::result_len(operation)) + 2 * frame::BEAT)
        };
        let mut frames: Vec<Frame> = asked.iter().enumerate().map(request).collect();
        // Every eighth call, one beat in four comes or goes late.
        let stall = if self.random.below(8) == 0 { 1 << 14 } else { 0 };
        let options = Options { seed: first, in_stall: stall, out_stall: stall, ..Options::default() };
        let name = &self.configuration.name;
        let run = self.model.run(&mut frames, &options);
        run.unwrap_or_else(|e| panic!("{name}, {}: {e} in frames from {first}", self.algorithm));
        let mut blocks = 0;
        for (number, ((operation, fresh), frame)) in (first..).zip(asked.into_iter().zip(&frames)) {
            let need = (operation.pass.need(), if fresh { "fresh key" } else { "kept or no key" });
            let response = frame::response(&frame.response)
                .unwrap_or_else(|e| panic!("{name}, frame {number}, {need:?}: {e}"));
            assert_eq!(response.status, Status::Ok, "{name}, frame {number}, {need:?}");
            blocks += block_count(&operation);
            let expected = compute(operation).expect("the operation is legal");
            assert!(response.result == expected, "{name}, frame {number}, {need:?}: another result");
        }
        self.frames += FRAMES as u64;
        blocks
    }

    fn turn(&mut self) -> u64 {
        let (start, before) = (Instant::now(), self.blocks);
        let turn = turn();
        while start.elapsed() < turn {
            self.blocks += self.batch();
        }
        self.time += start.elapsed();
        self.blocks - before
    }
}

/// Blocks that the core works on.
fn block_count(operation: &Task) -> u64 {
    let data = operation.data.len() as u64;
    match (&operation.pass, &operation.pass.algorithm().kind) {
        (Pass::Cipher { .. }, Kind::Cipher { block, .. }) => data.div_ceil(*block as u64),
        // Padding is a byte and a length of 8; the outer hash of an HMAC is a block more.
        (pass, Kind::Hash { block, .. } | Kind::Cipher { block, .. }) => {
            (data + 9).div_ceil(*block as u64) + u64::from(matches!(pass, Pass::Hmac { .. }))
        }
    }
}

/// What the threads share.
struct Work<'a> {
    waiting: VecDeque<Pair<'a>>,
    done: Vec<Pair<'a>>,
    compared: BTreeMap<&'static str, u64>,
    /// Blocks a second of the pairs that may have another turn, by algorithm and configuration.
    speeds: BTreeMap<(&'static str, &'a str), f64>,
    failed: bool,
}

/// Keeps the other threads from working for minutes when one has failed.
struct Watch<'a, 'b>(&'a Mutex<Work<'b>>);

impl Drop for Watch<'_, '_> {
    fn drop(&mut self) {
        if std::thread::panicking() {
            self.0.lock().unwrap_or_else(PoisonError::into_inner).failed = true;
        }
    }
}

#[test]
fn every_configuration_agrees_with_the_cpu() {
    let catalogue = built();
    let pairs = catalogue.configurations.iter().flat_map(|configuration| {
        algorithms(configuration).into_iter().map(move |algorithm| Pair::new(configuration, algorithm))
    });
    let work = Work {
        waiting: pairs.collect(),
        done: Vec::new(),
        compared: BTreeMap::new(),
        speeds: BTreeMap::new(),
        failed: false,
    };
    let (start, enough_blocks, share) = (Instant::now(), enough(), share());
    let work = Mutex::new(work);
    std::thread::scope(|scope| {
        for _ in 0..std::thread::available_parallelism().map_or(1, NonZero::get) {
            scope.spawn(|| {
                let _watch = Watch(&work);
                let take = || {
                    let mut work = work.lock().expect("no panic under the lock");
                    if work.failed { None } else { work.waiting.pop_front() }
                };
                while let Some(mut pair) = take() {
                    let blocks = pair.turn();
                    let mut work = work.lock().expect("no panic under the lock");
                    let sum = work.compared.entry(pair.algorithm.name).or_default();
                    *sum += blocks;
                    let enough = *sum >= enough_blocks;
                    // The fastest always goes on.
                    let (name, place) =
                        (pair.algorithm.name, (pair.algorithm.name, pair.configuration.name.as_str()));
                    let speed = pair.blocks as f64 / pair.time.as_secs_f64();
                    work.speeds.insert(place, speed);
                    let faster =
                        |((other, _), by): (&(&str, &str), &f64)| *other == name && *by > 2.0 * speed;
                    let slow = work.speeds.iter().any(faster);
                    if (enough || slow) && pair.frames >= share {
                        work.speeds.remove(&place);
                        work.done.push(pair);
                    } else {
                        work.waiting.push_back(pair);
                    }
                }
            });
        }
    });
    let work = work.into_inner().expect("no panic under the lock");
    let mut done = work.done;
    done.sort_by_key(|pair| (pair.algorithm.name, pair.configuration.name.clone()));
    for pair in &done {
        println!(
            "{:<10} on {:<16} {:>8} blocks in {:>6} frames, {:>6.1} s",
            pair.algorithm.name,
            pair.configuration.name,
            pair.blocks,
            pair.frames,
            pair.time.as_secs_f64()
        );
    }
    for (algorithm, blocks) in &work.compared {
        println!("{algorithm:<10} {blocks:>8} blocks agree");
        assert!(*blocks >= enough_blocks, "{algorithm}");
    }
    println!("{:.0} s", start.elapsed().as_secs_f64());
}
