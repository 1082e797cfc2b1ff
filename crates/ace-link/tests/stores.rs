// SPDX-License-Identifier: Apache-2.0
//! Sets that the board's store has: they are loaded by name, and whatever the store does, packets are those of the CPU.

use std::io;
use std::time::{Duration, Instant};

use ace_engine::algorithm::{AES, DES, SHA1};
use ace_engine::engine::run_all;
use ace_engine::{Aead, Direction, Key, Mac, Mode, Operation};
use ace_link::engine::{Shelved, Work};
use ace_link::soft::{Description, Faults, Pair, Rough};
use ace_link::wire::{Address, Frame, Kind, Refusal};
use ace_link::{Batch, LinkEngine, Wire};

use crate::common::{Array, Random};
use crate::computes::{HOST, jobs, packets, right};

type Pass = fn(&mut [u8]) -> bool;

/// A wire that does something to frames, each way, or does not let them through.
struct Between {
    pair: Pair,
    to_board: Pass,
    from_board: Pass,
}

fn all(_: &mut [u8]) -> bool {
    true
}

fn kind(frame: &[u8]) -> Option<Kind> {
    Frame::parse(frame).ok().map(|frame| frame.header.kind)
}

/// Makes an answer of the link one that refuses.
fn refuses(frame: &mut [u8]) {
    frame[14] = Kind::Refused as u8;
    (frame[21], frame[24]) = (1, Refusal::Store as u8);
}

impl Wire for Between {
    fn address(&self) -> Address {
        self.pair.address()
    }

    fn send(&mut self, batch: &Batch) -> io::Result<()> {
        let mut passed = Batch::default();
        for frame in batch.frames() {
            let mut frame = frame.to_vec();
            if (self.to_board)(&mut frame) {
                passed.add(|out| out.extend_from_slice(&frame));
            }
        }
        self.pair.send(&passed)
    }

    fn receive(&mut self, take: &mut dyn FnMut(&[u8])) -> io::Result<usize> {
        let from_board = self.from_board;
        self.pair.receive(&mut |frame| {
            let mut frame = frame.to_vec();
            if from_board(&mut frame) {
                take(&frame);
            }
        })
    }

    fn wait(&mut self, patience: Duration) -> io::Result<()> {
        self.pair.wait(patience)
    }
}

fn pair(array: &Array, store_words: u16, faults: Faults) -> Pair {
    let is = Description { store_words, ..Description::default() };
    Pair::new(HOST, array.board(is), Rough::new(faults, 0x9876_5432_1234_5677))
}

fn open<W: Wire>(wire: W, array: &Array) -> LinkEngine<W> {
    LinkEngine::open(wire, "memory", array.sets()).expect("a board")
}

/// Computes packets, and then does nothing until no set is to be written any more. What was done.
fn computes<W: Wire>(engine: &mut LinkEngine<W>, seed: u64) -> Work {
    let before = engine.work();
    let operations = packets(45, &mut Random(seed));
    right(&operations, run_all(engine, jobs(&operations)));
    let since = Instant::now();
    while engine.shelved().is_writing {
        assert!(since.elapsed() < Duration::from_secs(60), "{:?}", engine.shelved());
        engine.idle();
        std::thread::sleep(Duration::from_micros(200));
    }
    let after = engine.work();
    assert_eq!((after.lost, after.renewed), (before.lost, before.renewed));
    Work {
        loads: after.loads - before.loads,
        recalls: after.recalls - before.recalls,
        refused_recalls: after.refused_recalls - before.refused_recalls,
        ..after
    }
}

/// An operation of each of five sets.
fn five(random: &mut Random) -> Vec<Operation> {
    let mut key = |algorithm, len| Key::cipher(algorithm, Mode::Cbc, &random.bytes(len)).expect("a key");
    let (aes, des) = (key(&AES, 16), key(&DES, 8));
    let cipher = |key: &Key, way| Operation::cipher(key.clone(), way, &vec![1; key.iv_len()], &[2; 64]);
    let mac = Key::mac(Mac::Hmac(&SHA1), &[3; 20]).expect("a key");
    let gcm = Key::aead(Aead::Gcm, &[4; 16]).expect("a key");
    let mut all: Vec<Operation> =
        [(&aes, Direction::Encrypt), (&aes, Direction::Decrypt), (&des, Direction::Encrypt)]
            .map(|(key, way)| cipher(key, way).expect("whole blocks"))
            .into();
    all.push(Operation::mac(mac, &[5; 100], 12));
    all.push(Operation::aead(gcm, &[6; 12], &[7; 8], &[8; 64], 16));
    all
}

#[test]
fn sets_are_loaded_by_name_once_the_store_has_them() {
    for (model, tiles) in [("slot.so", 2), ("slot-1x8.so", 1)] {
        let Some(array) = Array::built(model) else { return };
        let mut engine = open(pair(&array, 8192, Faults::default()), &array);
        assert_eq!(engine.shelved(), Shelved { words: 8192, ..Shelved::default() });
        computes(&mut engine, 5);
        let filled = engine.shelved().filled;
        // Five sets in turn, in four or two banks: some have gone when they are asked again.
        let five = five(&mut Random(6));
        let before = engine.work();
        for operation in five.iter().cycle().take(30) {
            right(
                std::slice::from_ref(operation),
                run_all(&mut engine, jobs(std::slice::from_ref(operation))),
            );
        }
        let (loads, recalls) = (engine.work().loads - before.loads, engine.work().recalls - before.recalls);
        assert!(loads >= 8 && recalls == loads && engine.work().refused_recalls == 0, "{:?}", engine.work());
        println!("{model}: {:?}, {:?}", engine.work(), engine.shelved());
        assert_eq!((engine.shelved().sets.len(), engine.shelved().filled), (5, filled));
        let sets: u64 = engine.used().map(|(_, done)| done.by_name).sum();
        assert_eq!(sets, engine.banks().iter().map(|bank| bank.done.by_name).sum::<u64>());
        for tile in 0..tiles {
            let own = |bank: &&ace_link::engine::BankReport<'_>| bank.tile == tile && bank.done.by_name > 0;
            assert!(
                engine.banks().iter().any(|bank| own(&bank)),
                "{model}, tile {tile}: {:?}",
                engine.banks()
            );
        }
    }
}

#[test]
fn without_a_store_and_in_a_full_one_sets_go_over_the_cable() {
    let Some(array) = Array::built("slot-1x8.so") else { return };
    let mut engine = open(pair(&array, 0, Faults::default()), &array);
    for _ in 0..2 {
        let work = computes(&mut engine, 7);
        assert!(work.loads > 2 && work.recalls == 0, "{work:?}");
    }
    assert_eq!(engine.shelved(), Shelved::default());
    drop(engine);
    // Room for some of the five.
    let mut engine = open(pair(&array, 1000, Faults::default()), &array);
    computes(&mut engine, 7);
    let first: Vec<String> = engine.shelved().sets.iter().map(|set| (*set).to_owned()).collect();
    let work = computes(&mut engine, 9);
    assert!(work.recalls > 0 && work.recalls < work.loads && work.refused_recalls == 0, "{work:?}");
    assert!((1..5).contains(&first.len()) && engine.shelved().filled <= 1000, "{first:?}");
    assert_eq!(engine.shelved().sets, first, "the first ones stay");
    for (name, done) in engine.used() {
        assert!(done.by_name == 0 || first.iter().any(|set| set == name), "{name}: {done:?}");
    }
}

#[test]
fn a_lossy_wire_and_a_session_that_is_taken_change_no_packet() {
    let Some(array) = Array::built("slot-1x8.so") else { return };
    let each = |percent: u32| percent * 65536 / 100;
    let faults = Faults { lost: each(3), broken: each(3), doubled: each(2), altered: 0 };
    let wire = pair(&array, 8192, faults);
    let other = wire.tap(HOST);
    let mut engine = open(wire, &array);
    computes(&mut engine, 11);
    let work = computes(&mut engine, 13);
    assert!(work.recalls > 0 && work.refused_recalls == 0, "{work:?}");
    // The next session finds an empty store.
    other.make(Faults::default());
    drop(LinkEngine::open(other.tap(HOST), "other", array.sets()).expect("a board"));
    let operations = packets(6, &mut Random(15));
    let lost = run_all(&mut engine, jobs(&operations));
    assert!(lost.iter().any(|done| done.result.is_err()), "{:?}", engine.work());
    while engine.loss().is_some() {
        engine.idle();
    }
    assert_eq!(engine.shelved().sets, [""; 0]);
    let work = computes(&mut engine, 17);
    assert!(work.refused_recalls == 0 && work.recalls < work.loads, "{work:?}");
    let work = computes(&mut engine, 17);
    assert!(work.recalls > 0 && work.refused_recalls == 0, "{work:?}");
}

#[test]
fn a_store_that_has_something_else_is_left_alone() {
    let Some(array) = Array::built("slot-1x8.so") else { return };
    for empty in [true, false] {
        let wire = pair(&array, 8192, Faults::default());
        let other = wire.tap(HOST);
        let mut engine = open(wire, &array);
        computes(&mut engine, 19);
        other.with_board(|board| board.spoil_store(empty));
        let work = computes(&mut engine, 19);
        println!("{work:?}, {:?}", engine.shelved());
        assert!(work.recalls > 0 && (work.refused_recalls > 0) == empty, "{work:?}");
        assert_eq!(engine.refused().count(), 0, "no set is to blame");
        let work = computes(&mut engine, 19);
        assert!(work.loads > 0 && work.recalls < work.loads, "{work:?}");
    }
}

#[test]
fn a_board_that_lies_about_its_store_changes_no_packet() {
    let Some(array) = Array::built("slot-1x8.so") else { return };
    // What it takes of a load by name, and what its store has in the end.
    let lies: [(&str, Pass, Pass, bool); 5] = [
        (
            "it refuses all words",
            all,
            |frame| {
                if kind(frame) == Some(Kind::Stored) {
                    refuses(frame);
                }
                true
            },
            false,
        ),
        (
            "it has taken what did not come",
            |frame| {
                if kind(frame) == Some(Kind::Store) && frame.len() < 1000 {
                    // An LED is as good as a word.
                    (frame[14], frame[21]) = (Kind::Register as u8, 1);
                    frame[24..32].copy_from_slice(&2_u64.to_le_bytes());
                }
                true
            },
            |frame| {
                if kind(frame) == Some(Kind::Value) {
                    (frame[14], frame[21]) = (Kind::Stored as u8, 0);
                }
                true
            },
            true,
        ),
        (
            "it writes something else",
            |frame| {
                if kind(frame) == Some(Kind::Store) {
                    frame[60] ^= 1;
                }
                true
            },
            all,
            true,
        ),
        ("it says nothing", all, |frame| kind(frame) != Some(Kind::Stored), false),
        (
            "it has nothing of what it took",
            |frame| {
                if kind(frame) == Some(Kind::Recall) {
                    // A place that no store of these has.
                    frame[25] = 0xff;
                }
                true
            },
            all,
            true,
        ),
    ];
    for (lie, to_board, from_board, recalls) in lies {
        let pair = pair(&array, 8192, Faults::default());
        let mut engine = open(Between { pair, to_board, from_board }, &array);
        let mut all = Work::default();
        for seed in 21..24 {
            let work = computes(&mut engine, seed);
            all.recalls += work.recalls;
            all.refused_recalls += work.refused_recalls;
        }
        println!("{lie}: {all:?}, {:?}", engine.shelved());
        assert_eq!(all.recalls > 0, recalls, "{lie}: {all:?}");
        assert_eq!(engine.refused().count(), 0, "{lie}: no set is to blame");
    }
}
