// SPDX-License-Identifier: Apache-2.0
//! A board that is another engine on the thread: one that takes time, fails, dies and has libraries.

use std::time::Duration;

use ace_engine::algorithm::{AES, DES, SM4};
use ace_engine::software::{self, CpuEngine};
use ace_engine::{Direction, Key, Mode, Operation};

use super::*;

/// The software, with fewer abilities and other manners.
struct Fake {
    cpu: CpuEngine,
    can: Capabilities,
    version: u64,
    slow: Duration,
    manner: Manner,
}

#[derive(Clone, Copy, PartialEq)]
enum Manner {
    Works,
    /// No load ever succeeds.
    Fails,
    Dies,
}

impl Engine for Fake {
    fn name(&self) -> &'static str {
        "fake"
    }

    fn capabilities(&self) -> &Capabilities {
        &self.can
    }

    fn try_submit(&mut self, jobs: &mut VecDeque<Job>) {
        assert!(self.manner != Manner::Dies, "this board dies");
        self.cpu.try_submit(jobs);
    }

    fn drain(&mut self, done: &mut Vec<Completion>) -> usize {
        std::thread::sleep(self.slow);
        let from = done.len();
        let left = self.cpu.drain(done);
        if self.manner == Manner::Fails {
            done.iter_mut().skip(from).for_each(|done| done.result = Err(EngineError::NoSlot));
        }
        left
    }

    fn wait(&mut self, done: &mut Vec<Completion>) -> usize {
        self.drain(done)
    }
}

impl Slots for Fake {
    fn most(&self) -> usize {
        8
    }

    fn library(&self) -> Option<(u64, String)> {
        Some((self.version, format!("version {}", self.version)))
    }

    fn look(&mut self, _: &mut Timeline, _: Duration) -> BoardView {
        BoardView { library: Some(format!("version {}", self.version)), ..BoardView::default() }
    }
}

fn names(of: &'static [&'static str]) -> Capabilities {
    Capabilities::of(|need| {
        software::can(need) && matches!(need, Need::Cipher { algorithm, .. } if of.contains(&algorithm.name))
    })
}

/// A library `PATH` has the version that is its name, from 5 on with SM4.
fn open(cpu: bool, manner: Manner, slow: Duration, on_board: &[&str]) -> (Live, Remote) {
    try_open(cpu, manner, slow, on_board).expect("a board")
}

fn try_open(cpu: bool, manner: Manner, slow: Duration, on_board: &[&str]) -> Result<(Live, Remote), NoBoard> {
    let maker: OpenBoard = Box::new(move |library| {
        let version = match library {
            None => 3,
            Some(path) => {
                path.to_string_lossy().parse().map_err(|_| NoBoard::Open("this is no library".to_owned()))?
            }
        };
        let can = names(if version >= 5 { &["aes", "sm4"] } else { &["aes"] });
        Ok(Box::new(Fake { cpu: CpuEngine::new(), can, version, slow, manner }) as Box<dyn Slots>)
    });
    let cpu = cpu.then(|| Box::new(CpuEngine::new()) as Box<dyn Engine + Send>);
    Live::open(cpu, maker, on_board.iter().map(|name| (*name).to_owned()).collect())
}

fn job(id: u64, flow: u32, algorithm: &'static ace_engine::Algorithm) -> Job {
    let key = Key::cipher(algorithm, Mode::Cbc, &[7; 24][..if algorithm == &DES { 8 } else { 16 }]);
    let iv = &[2; 16][..if algorithm == &DES { 8 } else { 16 }];
    let operation = Operation::cipher(key.expect("a key"), Direction::Encrypt, iv, &[id as u8; 64])
        .expect("an operation");
    Job { id, flow, packet: id, operation }
}

/// All answers, by id; each is what the software says.
fn all(live: &mut Live, jobs: impl IntoIterator<Item = Job>) -> Vec<Result<(), EngineError>> {
    let jobs: Vec<Job> = jobs.into_iter().collect();
    let wanted: Vec<_> = jobs.iter().map(|job| (job.id, job.operation.clone())).collect();
    let mut done = Vec::new();
    live.try_submit(&mut jobs.into());
    while live.wait(&mut done) > 0 {}
    done.sort_by_key(|done| done.id);
    assert!(done.iter().map(|done| done.id).eq(wanted.iter().map(|(id, _)| *id)), "each has one answer");
    for (done, (id, operation)) in done.iter().zip(wanted) {
        if done.result.is_ok() {
            assert_eq!(Ok(&done.buffer), ace_engine::compute::run(operation).as_ref(), "{id}");
        }
    }
    done.into_iter().map(|done| done.result).collect()
}

#[test]
fn the_board_alone_computes_what_it_can_and_drops_what_is_too_much() {
    let (mut live, remote) = open(false, Manner::Works, Duration::from_millis(1), &[]);
    assert_eq!(live.name(), "board");
    assert!(all(&mut live, (0..8).map(|id| job(id, 0, &AES))).iter().all(Result::is_ok));
    let shown = remote.view();
    assert_eq!((shown.costs[0].at, shown.costs[0].by_board, shown.board_fails), (Place::Board, 8, None));
    assert!(matches!(all(&mut live, [job(9, 0, &DES)])[..], [Err(EngineError::NoConfiguration { .. })]));
    // One flow floods; another one finds room.
    let flood = (0..100).map(|id| job(id, 1, &AES)).chain([job(100, 2, &AES)]);
    let results = all(&mut live, flood);
    let refused = results.iter().filter(|result| **result == Err(EngineError::Overloaded)).count();
    assert!(refused > 80 && results[0].is_ok() && results[100].is_ok(), "{refused}");
    assert_eq!(remote.view().refused, refused as u64);
}

#[test]
fn what_the_board_is_given_it_has_to_be_able_to_do() {
    let of = |names: &[&str]| try_open(true, Manner::Works, Duration::ZERO, names);
    let why = of(&["aes", "sm4"]).err().expect("it has no SM4").to_string();
    assert!(why.contains("`on_board` of [engine] names `sm4`") && why.contains("(it can do aes)"), "{why}");
    assert!(of(&["aes"]).is_ok());
}

#[test]
fn what_costs_less_computes_and_nobody_waits_for_the_board() {
    let (mut live, remote) = open(true, Manner::Works, Duration::from_millis(20), &[]);
    let mut done = Vec::new();
    let since = Instant::now();
    for id in 0..100 {
        live.try_submit(&mut VecDeque::from([job(id, 0, &AES)]));
        live.drain(&mut done);
    }
    assert!(done.len() == 100 && since.elapsed() < Duration::from_millis(20), "{:?}", since.elapsed());
    while live.wait(&mut done) > 0 {}
    let view = remote.view();
    assert_eq!((view.costs[0].by_cpu, view.costs[0].by_board), (100, 0));
    assert!(view.costs[0].board_ns >= Some(20e6), "a copy was measured: {:?}", view.costs[0]);
}

#[test]
fn a_board_that_fails_or_dies_loses_nothing_where_there_is_a_processor() {
    for manner in [Manner::Fails, Manner::Dies] {
        let (mut live, remote) = open(true, manner, Duration::ZERO, &["aes"]);
        for _ in 0..3 {
            assert!(all(&mut live, (0..10).map(|id| job(id, 0, &AES))).iter().all(Result::is_ok));
        }
        let view = remote.view();
        assert!(view.taken_over > 0);
        assert_eq!(view.board_lost, manner == Manner::Dies);
        // It is not hidden: once in the log, and as long as it is so in the status.
        let event = remote.poll_event();
        assert_eq!(event.is_some(), manner == Manner::Fails, "{event:?}");
        assert!(event.is_none_or(|event| event.contains("every operation on the board has failed so far")));
        assert_eq!((view.board_fails.is_some(), remote.poll_event()), (manner == Manner::Fails, None));
        assert!(view.costs[0].barred || manner == Manner::Dies, "{:?}", view.costs);
        let (mut live, _remote) = open(false, manner, Duration::ZERO, &[]);
        let results = all(&mut live, (0..10).map(|id| job(id, 0, &AES)));
        // One that dies early is no board any more for those that come later: nothing does them.
        let none = |result: &Result<(), EngineError>| match result {
            Err(EngineError::NoSlot) => true,
            Err(EngineError::NoConfiguration { .. }) => manner == Manner::Dies,
            _ => false,
        };
        assert!(results.iter().all(none), "{results:?}");
    }
}

#[test]
fn a_newer_library_is_taken_and_nothing_else() {
    let (mut live, remote) = open(false, Manner::Works, Duration::ZERO, &[]);
    let sm4 = Need::Cipher { algorithm: &SM4, mode: Mode::Cbc, direction: Direction::Encrypt, key_len: 16 };
    let hand = |live: &mut Live, path: &str| {
        remote.take_library(path.into());
        let since = Instant::now();
        loop {
            live.drain(&mut Vec::new());
            if let Some(outcome) = remote.outcome() {
                return outcome;
            }
            assert!(since.elapsed() < Duration::from_secs(10));
        }
    };
    for wrong in ["2", "3", "damaged"] {
        assert!(hand(&mut live, wrong).is_err(), "{wrong}");
        assert!(!live.capabilities().can(&sm4));
        assert!(all(&mut live, [job(1, 0, &AES)])[0].is_ok());
        assert!(matches!(all(&mut live, [job(1, 0, &SM4)])[..], [Err(EngineError::NoConfiguration { .. })]));
    }
    assert_eq!(hand(&mut live, "5"), Ok("version 5".to_owned()));
    assert!(live.capabilities().can(&sm4));
    assert!(all(&mut live, (0..8).map(|id| job(id, 0, &SM4))).iter().all(Result::is_ok));
    assert!(hand(&mut live, "4").is_err());
    assert!(live.capabilities().can(&sm4));
    assert_eq!(remote.view().switched, 1);
}

#[test]
fn who_waits_for_a_first_load_of_more_than_a_second_is_answered() {
    let (mut live, remote) = open(false, Manner::Works, Duration::from_millis(1100), &[]);
    let mut done = Vec::new();
    let since = Instant::now();
    // As pings come: one after the other, while the first one still waits.
    for id in 0..12 {
        live.try_submit(&mut VecDeque::from([job(id, 0, &AES)]));
        live.drain(&mut done);
        std::thread::sleep(Duration::from_millis(80));
    }
    while live.wait(&mut done) > 0 {}
    assert!(since.elapsed() > Duration::from_millis(1100), "nobody has waited");
    assert!(done.iter().map(|done| done.id).eq(0..12) && done.iter().all(|done| done.result.is_ok()));
    assert_eq!(remote.view().refused, 0);
}
