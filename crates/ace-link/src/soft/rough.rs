// SPDX-License-Identifier: Apache-2.0
//! A wire in memory between a host and a board in software, which loses, breaks, doubles and delays what it is told to.

use std::collections::VecDeque;
use std::io;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use super::Board;
use crate::wire::Address;
use crate::{Batch, Wire};

/// What a wire does to frames, each way: chances in 65536.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Faults {
    /// Nothing comes.
    pub lost: u32,
    /// It comes with a wrong FCS, and no MAC lets it through.
    pub broken: u32,
    /// It comes twice.
    pub doubled: u32,
    /// One bit is another one, and the FCS does not show it.
    pub altered: u32,
}

/// A wire that is rough to what goes over it.
#[derive(Debug)]
pub struct Rough {
    faults: Faults,
    state: u64,
    /// Frames that it has done something to.
    pub hit: u64,
}

impl Rough {
    /// With a seed that is not 0.
    pub fn new(faults: Faults, seed: u64) -> Self {
        Self { faults, state: seed.max(1), hit: 0 }
    }

    fn below(&mut self, most: u64) -> u64 {
        self.state ^= self.state << 13;
        self.state ^= self.state >> 7;
        self.state ^= self.state << 17;
        (self.state >> 16) % most
    }

    fn happens(&mut self, chance: u32) -> bool {
        let happens = self.below(1 << 16) < u64::from(chance);
        self.hit += u64::from(happens);
        happens
    }

    /// What comes of a frame: how often it comes, whole or not.
    fn pass(&mut self, frame: &mut [u8]) -> (usize, bool) {
        if self.happens(self.faults.lost) {
            return (0, true);
        }
        if self.happens(self.faults.broken) {
            return (1, false);
        }
        if self.happens(self.faults.altered) {
            let bit = self.below(8 * frame.len().max(1) as u64);
            if let Some(byte) = frame.get_mut((bit / 8) as usize) {
                *byte ^= 1 << (bit % 8);
            }
        }
        (1 + usize::from(self.happens(self.faults.doubled)), true)
    }
}

/// Both ends of a wire with a board at the other one. The board works when the host waits.
pub struct Pair {
    address: Address,
    inner: Arc<Mutex<Inner>>,
}

struct Inner {
    board: Board,
    rough: Rough,
    pulled: bool,
    back: VecDeque<Vec<u8>>,
    start: Instant,
    skipped: Duration,
}

impl Pair {
    /// The host's end, at this address.
    pub fn new(address: Address, board: Board, rough: Rough) -> Self {
        let inner = Inner {
            board,
            rough,
            pulled: false,
            back: VecDeque::new(),
            start: Instant::now(),
            skipped: Duration::ZERO,
        };
        Self { address, inner: Arc::new(Mutex::new(inner)) }
    }

    /// Another end of the same wire, with an address of its own or with the same one. Answers come to whoever asks first.
    #[must_use]
    pub fn tap(&self, address: Address) -> Self {
        Self { address, inner: Arc::clone(&self.inner) }
    }

    /// Does something to the board.
    pub fn with_board<T>(&self, what: impl FnOnce(&mut Board) -> T) -> T {
        what(&mut self.lock().board)
    }

    /// Pulls the cable, or plugs it in.
    pub fn pull(&self, pulled: bool) {
        self.lock().pulled = pulled;
    }

    /// Changes what the wire does to frames.
    pub fn make(&self, faults: Faults) {
        self.lock().rough.faults = faults;
    }

    /// Frames that the wire has done something to.
    pub fn hit(&self) -> u64 {
        self.lock().rough.hit
    }

    /// Time passes for the board.
    pub fn skip(&self, time: Duration) {
        self.lock().skipped += time;
    }

    fn lock(&self) -> MutexGuard<'_, Inner> {
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Inner {
    fn now(&self) -> Duration {
        self.start.elapsed() + self.skipped
    }

    /// The board goes on for a while. Whether it has more to do.
    fn work(&mut self) -> bool {
        let now = self.now();
        let busy = self.board.work(now);
        while let Some(mut frame) = self.board.output() {
            let (times, whole) = self.rough.pass(&mut frame);
            if whole && !self.pulled {
                self.back.extend(std::iter::repeat_n(frame, times));
            }
        }
        busy
    }
}

impl Wire for Pair {
    fn address(&self) -> Address {
        self.address
    }

    fn send(&mut self, batch: &Batch) -> io::Result<()> {
        let mut inner = self.lock();
        for frame in batch.frames() {
            let mut frame = frame.to_vec();
            let (times, whole) = inner.rough.pass(&mut frame);
            for _ in 0..if inner.pulled { 0 } else { times } {
                let now = inner.now();
                match whole {
                    true => inner.board.input(&frame, now),
                    false => inner.board.broken(),
                }
            }
        }
        Ok(())
    }

    fn receive(&mut self, take: &mut dyn FnMut(&[u8])) -> io::Result<usize> {
        let mut inner = self.lock();
        inner.work();
        let frames = std::mem::take(&mut inner.back);
        drop(inner);
        frames.iter().for_each(|frame| take(frame));
        Ok(frames.len())
    }

    fn wait(&mut self, patience: Duration) -> io::Result<()> {
        let until = Instant::now() + patience;
        loop {
            let mut inner = self.lock();
            let busy = inner.work();
            let there = !inner.back.is_empty();
            drop(inner);
            let left = until.saturating_duration_since(Instant::now());
            if there || left.is_zero() {
                return Ok(());
            }
            if !busy {
                std::thread::sleep(left.min(Duration::from_micros(200)));
            }
        }
    }
}
