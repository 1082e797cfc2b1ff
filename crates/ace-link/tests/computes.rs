// SPDX-License-Identifier: Apache-2.0
//! The engine, the link, a board in software and the array's slot as its RTL is: answers are those of the CPU.

use std::collections::VecDeque;
use std::path::Path;
use std::time::{Duration, Instant};

use ace_engine::algorithm::{AES, DES, SHA1};
use ace_engine::engine::run_all;
use ace_engine::kat::{self, KnownAnswers, Subject};
use ace_engine::{
    Action, Aead, Algorithm, Buffer, Completion, Direction, Engine, EngineError, Iv, Job, Key, Mac, Mode,
    Operation, SlotFailure, Suffix, Tag, compute,
};
use ace_link::engine::{BankReport, Done, OpenError};
use ace_link::soft::{Description, Faults, Pair, Rough};
use ace_link::{LinkEngine, Loss};

use crate::common::{Array, Random};

pub const HOST: [u8; 6] = [2, 0, 0, 0, 0, 7];

fn link(array: &Array, faults: Faults) -> (LinkEngine<Pair>, Pair) {
    let pair =
        Pair::new(HOST, array.board(Description::default()), Rough::new(faults, 0x9876_5432_1234_5677));
    let other = pair.tap(HOST);
    (LinkEngine::open(pair, "memory", array.sets()).expect("a board"), other)
}

/// Runs so many rows of a file, and none of the chains of thousands.
pub fn known(engine: &mut LinkEngine<Pair>, algorithm: &str, file: &str, rows: usize) {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../algorithms").join(file);
    let text = std::fs::read_to_string(file).expect("a file");
    let (header, text) = text.split_once('\n').expect("a header");
    let short = text.lines().filter(|row| !row.contains("MCT") && !row.contains("_m,") && row.len() < 2000);
    let text: Vec<&str> = std::iter::once(header).chain(short.take(rows)).collect();
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("kat.csv");
    std::fs::write(&path, text.join("\n")).expect("it is ours");
    let subject = Subject::by_name(algorithm).expect("a name");
    let answers = KnownAnswers::read(subject, &path).expect("a file");
    let report = kat::run(&answers, engine);
    assert!(report.failed.is_empty(), "{algorithm}: {:?}", report.failed);
    assert!(
        report.passed + 2 >= rows.min(text.len() - 1),
        "{algorithm}: {}, {:?}",
        report.passed,
        report.skipped
    );
}

#[test]
fn known_answers_come_through_the_link() {
    for model in ["slot.so", "slot-1x8.so"] {
        let Some(array) = Array::built(model) else { return };
        let (mut engine, _) = link(&array, Faults::default());
        known(&mut engine, "aes", "aes/kat.csv", 24);
        known(&mut engine, "sha1", "sha1/kat.csv", 8);
        known(&mut engine, "aes-gcm", "aes/aes_gcm.csv", 12);
        println!("{model}: {:?}, {:?}, {:?}", engine.work(), engine.counts(), engine.resident());
        assert_eq!(engine.work().renewed, 0, "{:?}", engine.work());
    }
}

/// Packets of several SAs: AES in CBC and HMAC-SHA-1 as ESP has them, AES-GCM and DES.
pub fn packets(count: usize, random: &mut Random) -> Vec<Operation> {
    let ciphers: [(&'static Algorithm, usize); 2] = [(&AES, 16), (&DES, 8)];
    let keys: Vec<(Key, Key)> = (0..6)
        .map(|at| {
            let (algorithm, len) = ciphers[usize::from(at == 5)];
            let cipher = Key::cipher(algorithm, Mode::Cbc, &random.bytes(len)).expect("a key");
            // Longer than a block, too.
            let mac =
                Key::mac(Mac::Hmac(&SHA1), &random.bytes(if at == 0 { 100 } else { 20 })).expect("a key");
            (cipher, mac)
        })
        .collect();
    let gcm = Key::aead(Aead::Gcm, &random.bytes(16)).expect("a key");
    let mut all = Vec::new();
    for at in 0..count {
        let (cipher, mac) = keys[at % keys.len()].clone();
        let len = 16 * (1 + random.below(20) as usize);
        let text = random.bytes(len);
        if at % 7 == 6 {
            all.push(Operation::aead(gcm.clone(), &random.bytes(12), &random.bytes(8), &text, 16));
            continue;
        }
        let iv = random.bytes(cipher.iv_len());
        let head = 8 + iv.len();
        let mut packet = [vec![0; 8], iv.clone(), text].concat();
        packet.extend_from_slice(&[0; 12]);
        let (end, tag) = (packet.len() - 12, packet.len());
        let encrypt = Operation {
            action: Action::CipherMac {
                cipher,
                iv: Iv::new(&iv).expect("an IV"),
                direction: Direction::Encrypt,
                text: (head..end).into(),
                mac,
                over: (0..end).into(),
                suffix: Suffix::EMPTY,
                tag: Tag::Write((end..tag).into()),
            },
            buffer: Buffer::from_packet(&packet, 0, 0),
        };
        // Every third one comes in, and of these some are forged.
        if at % 3 == 0 {
            let mut buffer = compute::run(encrypt.clone()).expect("it computes");
            let Action::CipherMac { cipher, iv, text, mac, over, suffix, .. } = encrypt.action else {
                continue;
            };
            if at % 9 == 0 {
                buffer[end] ^= 1;
            }
            let (direction, tag) = (Direction::Decrypt, Tag::Check((end..tag).into()));
            let action = Action::CipherMac { cipher, iv, direction, text, mac, over, suffix, tag };
            all.push(Operation { action, buffer });
        } else {
            all.push(encrypt);
        }
    }
    all
}

pub fn jobs(operations: &[Operation]) -> Vec<Job> {
    let job = |(id, operation): (usize, &Operation)| Job {
        id: id as u64,
        flow: id as u32 % 6,
        packet: id as u64,
        operation: operation.clone(),
    };
    operations.iter().enumerate().map(job).collect()
}

pub fn right(operations: &[Operation], mut done: Vec<Completion>) {
    let mut last = [None; 6];
    for Completion { id, .. } in &done {
        let last = &mut last[*id as usize % 6];
        assert!(*last < Some(*id), "a flow is in order");
        *last = Some(*id);
    }
    done.sort_by_key(|done| done.id);
    assert!(done.iter().map(|done| done.id).eq(0..operations.len() as u64), "each is answered once");
    for (operation, Completion { id, buffer, result }) in operations.iter().zip(done) {
        match compute::run(operation.clone()) {
            Ok(wanted) => assert_eq!((result, buffer), (Ok(()), wanted), "{id}"),
            Err(error) => assert_eq!((result, buffer), (Err(error), operation.buffer.clone()), "{id}"),
        }
    }
}

#[test]
fn packets_of_several_associations_are_those_of_the_cpu() {
    for model in ["slot.so", "slot-1x8.so"] {
        let Some(array) = Array::built(model) else { return };
        let (mut engine, _) = link(&array, Faults::default());
        let operations = packets(90, &mut Random(0xabcd_ef01_2345_6789));
        let since = Instant::now();
        right(&operations, run_all(&mut engine, jobs(&operations)));
        println!("{model}: {:?}, {:?}, {:?}", engine.work(), engine.counts(), since.elapsed());
        assert_eq!(engine.work().renewed, 0);
    }
}

#[test]
fn a_wire_that_loses_frames_changes_no_packet() {
    let Some(array) = Array::built("slot.so") else { return };
    let each = |percent: u32| percent * 65536 / 100;
    let faults = Faults { lost: each(3), broken: each(3), doubled: each(2), altered: 0 };
    let (mut engine, wire) = link(&array, faults);
    let operations = packets(60, &mut Random(0x1bcd_ef01_2345_6789));
    right(&operations, run_all(&mut engine, jobs(&operations)));
    println!("{:?}, {:?}, {} frames hit", engine.work(), engine.counts(), wire.hit());
    assert!(engine.counts().resent > 0);
}

/// Hands jobs over, does something, and collects what becomes of them.
fn in_the_middle(
    engine: &mut LinkEngine<Pair>,
    operations: &[Operation],
    act: impl FnOnce(),
) -> Vec<Completion> {
    let (mut waiting, mut done) = (VecDeque::from(jobs(operations)), Vec::new());
    engine.try_submit(&mut waiting);
    while done.len() < 3 {
        engine.wait(&mut done);
    }
    act();
    while engine.wait(&mut done) > 0 {}
    assert!(waiting.is_empty());
    done
}

#[test]
fn what_was_under_way_fails_by_name_and_the_next_session_computes() {
    let Some(array) = Array::built("slot.so") else { return };
    let (mut engine, wire) = link(&array, Faults::default());
    let operations = packets(60, &mut Random(0x1bcd_ef01_2345_6789));
    for lost in 1..4 {
        let done = in_the_middle(&mut engine, &operations, || wire.with_board(|board| board.reset()));
        assert_eq!(done.len(), 60, "each is answered once");
        let mut failed = 0;
        for Completion { id, buffer, result } in done {
            match result {
                Err(EngineError::SlotFailed { failure: SlotFailure::Lost, .. }) => failed += 1,
                result => {
                    let wanted = compute::run(operations[id as usize].clone());
                    assert_eq!(result, wanted.as_ref().map(drop).map_err(|error| *error));
                    if let Ok(wanted) = wanted {
                        assert_eq!(buffer, wanted);
                    }
                }
            }
        }
        assert!(failed > 10, "{failed}");
        assert_eq!(engine.work().lost, lost);
        if lost == 1 {
            right(&operations, run_all(&mut engine, jobs(&operations)));
        }
    }
    // Some more times within a moment: whoever does that is left alone for a while.
    for _ in 0..4 {
        in_the_middle(&mut engine, &operations[..12], || wire.with_board(|board| board.reset()));
    }
    let done = run_all(&mut engine, jobs(&operations[..1]));
    assert_eq!(done[0].result, Err(EngineError::NoSlot));
    assert!(
        engine.explain(&EngineError::NoSlot).contains("reset"),
        "{}",
        engine.explain(&EngineError::NoSlot)
    );
}

/// Banks and sets say what was done, also behind a new session, which empties them.
#[test]
fn banks_show_their_sets_loads_and_operations_over_sessions() {
    let Some(array) = Array::built("slot-1x8.so") else { return };
    let (mut engine, wire) = link(&array, Faults::default());
    assert!(engine.banks().iter().all(|bank| bank.resident.is_none() && bank.done == Done::default()));
    assert_eq!(engine.banks().len(), 2, "every slot has a tile, and that two banks");
    let gcm = Key::aead(Aead::Gcm, &[7; 16]).expect("a key");
    let seal = |at: u8| Operation::aead(gcm.clone(), &[at; 12], &[at; 8], &[at; 64], 16);
    let open = |at: u8| {
        let sealed = compute::run(seal(at)).expect("it computes");
        let mut open = seal(at);
        open.buffer = sealed;
        let Action::Aead { direction, .. } = &mut open.action else { panic!("an AEAD") };
        *direction = Direction::Decrypt;
        open
    };
    let packets: Vec<Operation> = (0..10).flat_map(|at| [seal(at), open(at)]).collect();
    right(&packets, run_all(&mut engine, jobs(&packets)));
    let first = engine.banks();
    let sums = |banks: &[BankReport<'_>]| {
        let sum = |of: fn(&Done) -> u64| banks.iter().map(|bank| of(&bank.done)).sum::<u64>();
        (sum(|done| done.loads), sum(|done| done.operations), sum(|done| done.data_bytes))
    };
    assert_eq!(sums(&first), (2, 20, 20 * 64), "{first:?}");
    for bank in &first {
        assert_eq!((bank.done.operations, bank.loaded.len()), (10, 1), "{first:?}");
        assert_eq!(bank.resident, bank.loaded.first().copied(), "{first:?}");
    }
    let used: Vec<(&str, Done)> = engine.used().collect();
    assert!(
        used.len() == 2 && used.iter().all(|(_, done)| (done.loads, done.operations) == (1, 10)),
        "{used:?}"
    );
    // What is under way then is lost; what was done is not.
    let before = sums(&engine.banks());
    wire.with_board(|board| board.reset());
    run_all(&mut engine, jobs(&packets[..1]));
    engine.idle();
    assert_eq!((engine.work().lost, sums(&engine.banks())), (1, before));
    assert!(engine.resident().is_empty(), "a board that was reset holds nothing: {:?}", engine.banks());
    right(&packets[..1], run_all(&mut engine, jobs(&packets[..1])));
    assert_eq!(sums(&engine.banks()), (before.0 + 1, before.1 + 1, before.2 + 64));
    assert_eq!(engine.resident().len(), 1, "{:?}", engine.banks());
}

#[test]
fn a_slot_that_has_lost_its_sets_is_filled_again_and_no_packet_shows_it() {
    for model in ["slot.so", "slot-1x8.so"] {
        let Some(array) = Array::built(model) else { return };
        let (mut engine, wire) = link(&array, Faults::default());
        let operations = packets(40, &mut Random(0x55cd_ef01_2345_6789));
        right(&operations, run_all(&mut engine, jobs(&operations)));
        for renewed in 1..4 {
            wire.with_board(|board| board.forget());
            right(&operations, run_all(&mut engine, jobs(&operations)));
            let work = engine.work();
            assert_eq!((work.lost, work.renewed), (0, renewed), "{model}: {work:?}, {:?}", engine.counts());
        }
    }
}

#[test]
fn a_cable_that_is_pulled_fails_all_at_once_until_it_is_back() {
    let Some(array) = Array::built("slot.so") else { return };
    let (mut engine, wire) = link(&array, Faults::default());
    let operations = packets(12, &mut Random(0x77cd_ef01_2345_6789));
    let silent = |done: &Completion| {
        matches!(done.result, Err(EngineError::SlotFailed { failure: SlotFailure::Silent, .. }))
    };
    let done = in_the_middle(&mut engine, &operations, || wire.pull(true));
    assert!(done.len() == 12 && done.iter().any(silent));
    assert_eq!(engine.loss(), Some(Loss::Silent));
    let since = Instant::now();
    assert!(
        run_all(&mut engine, jobs(&operations)).iter().all(|done| done.result == Err(EngineError::NoSlot))
    );
    assert!(since.elapsed() < Duration::from_millis(100), "nobody waits for it");
    wire.pull(false);
    let since = Instant::now();
    while engine.loss().is_some() {
        assert!(since.elapsed() < Duration::from_secs(10), "{:?}", engine.loss());
        engine.idle();
        std::thread::sleep(Duration::from_millis(10));
    }
    right(&operations, run_all(&mut engine, jobs(&operations)));
}

#[test]
fn a_session_that_another_program_has_taken_is_lost_and_no_board_is_an_error() {
    let Some(array) = Array::built("slot.so") else { return };
    let (mut engine, wire) = link(&array, Faults::default());
    let operations = packets(12, &mut Random(0x77cd_ef01_2345_6789));
    let mut other = None;
    let done = in_the_middle(&mut engine, &operations, || {
        other = Some(LinkEngine::open(wire.tap(HOST), "other", array.sets()).expect("a board"));
    });
    let lost = |done: &Completion| {
        matches!(done.result, Err(EngineError::SlotFailed { failure: SlotFailure::Lost, .. }))
    };
    assert!(done.len() == 12 && done.iter().any(lost));
    // Another host is told so.
    match LinkEngine::open(wire.tap([2; 6]), "other", array.sets()).err() {
        Some(OpenError::Lost { loss: Loss::OtherHost, .. }) => {}
        other => panic!("{other:?}"),
    }
    wire.pull(true);
    match LinkEngine::open(wire.tap(HOST), "other", array.sets()).err() {
        Some(error @ OpenError::Lost { loss: Loss::Silent, .. }) => {
            assert!(error.to_string().contains("does not answer"), "{error}");
        }
        other => panic!("{other:?}"),
    }
}
