// SPDX-License-Identifier: Apache-2.0
//! A board without a build: real bitstreams of made-up contents, and slots that compute in software.
#![allow(dead_code, unused_imports)] // every test file uses its own part

mod build;
mod built;
mod slots;

use std::path::Path;

use ace_board::pass::{Pass, Task};
use ace_engine::algorithm::Algorithm;
use ace_engine::{Direction, Engine, EngineError, Job, Kind, Mode, Secret, compute as software, engine};

pub use build::{Build, NETLIST, hex, memory, record};
pub use built::{algorithms, built, cases, published, with_netlists};
pub use slots::{Mischief, SoftSlots};

/// What the CPU makes of a task.
pub fn compute(task: Task) -> Result<Vec<u8>, EngineError> {
    software::run(task.operation()?).map(|buffer| task.result(&buffer))
}

/// What an engine makes of a task.
pub fn run_one(engine: &mut dyn Engine, task: Task) -> Result<Vec<u8>, EngineError> {
    engine::run_one(engine, task.operation()?).map(|buffer| task.result(&buffer))
}

/// What an engine makes of tasks, handed over together, task `n` as packet `n` of the flow `n` modulo `flows`. Each is
/// answered once.
pub fn run_all(engine: &mut dyn Engine, tasks: &[Task], flows: u32) -> Vec<Result<Vec<u8>, EngineError>> {
    let job = |(id, task): (usize, &Task)| Job {
        id: id as u64,
        flow: id as u32 % flows,
        packet: id as u64,
        operation: task.operation().unwrap(),
    };
    let mut done = engine::run_all(engine, tasks.iter().enumerate().map(job).collect());
    done.sort_by_key(|done| done.id);
    assert!(done.iter().map(|done| done.id).eq(0..tasks.len() as u64), "each job is answered once");
    done.iter().zip(tasks).map(|(done, task)| done.result.map(|()| task.result(&done.buffer))).collect()
}

/// A file in the repository.
pub fn repository(path: &str) -> std::path::PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").join(path)
}

/// Random operations that are legal, all algorithms and modes.
pub struct Random(pub u64);

impl Random {
    pub fn below(&mut self, n: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 16) % n
    }

    pub fn bytes(&mut self, len: usize) -> Vec<u8> {
        (0..len).map(|_| self.below(256) as u8).collect()
    }

    pub fn pick<'a, T>(&mut self, list: &'a [T]) -> &'a T {
        &list[self.below(list.len() as u64) as usize]
    }

    /// An operation of `algorithm` on at most `longest` bytes.
    pub fn operation(&mut self, algorithm: &'static Algorithm, longest: u64) -> Task {
        let len = self.below(longest + 1) as usize;
        match algorithm.kind {
            Kind::Cipher { block, keys } => {
                let mode = *self.pick(&Mode::ALL);
                let direction = *self.pick(&[Direction::Encrypt, Direction::Decrypt]);
                let key_len = *self.pick(keys);
                let key = Secret::new(self.bytes(key_len));
                let iv = if mode == Mode::Ecb { Vec::new() } else { self.bytes(block) };
                let len = if mode.whole_blocks() { len / block * block } else { len };
                Task { pass: Pass::Cipher { algorithm, mode, direction, key, iv }, data: self.bytes(len) }
            }
            Kind::Hash { digest, .. } => {
                let pass = if self.below(3) == 0 {
                    Pass::Hash { algorithm }
                } else {
                    // Short, block-long and longer keys, the empty one too.
                    let key_len = *self.pick(&[0, 1, 16, 20, 63, 64, 65, 100, 200]);
                    let output_len = 1 + self.below(digest as u64) as usize;
                    Pass::Hmac { algorithm, key: Secret::new(self.bytes(key_len)), output_len }
                };
                Task { pass, data: self.bytes(len) }
            }
        }
    }
}
