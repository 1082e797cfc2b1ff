// SPDX-License-Identifier: Apache-2.0
//! A packet's cipher and HMAC as one task over two tiles of a slot that holds the array: packets are the CPU engine's, what is
//! refused leaves its packet as it came, and what no such frame holds takes two passes. With the slot's RTL, where it is built.

use std::sync::atomic::Ordering;

use crate::common::Random;
use crate::key_setup::{Rtl, board, sets};
use ace_board::BoardConfig;
use ace_board::config::{SlotKind, SlotLimits};
use ace_board::frame::Status;
use ace_engine::algorithm::{AES, Algorithm, DES, MD5, SHA1, SHA256};
use ace_engine::{
    Action, Buffer, Direction, EngineError, Iv, Job, Key, Mac, Mode, Operation, Span, Suffix, Tag, compute,
    engine,
};

fn config() -> BoardConfig {
    let slot = SlotLimits { kind: SlotKind::Array, tiles: 2, joint: true, ..SlotLimits::default() };
    BoardConfig { slots: 1, slot, ..BoardConfig::default() }
}

fn span(start: usize, end: usize) -> Span {
    Span { start: start as u32, end: end as u32 }
}

/// ESP's order: header, IV, text, tag.
fn packet(
    random: &mut Random,
    (cipher, mode, block, key): (&'static Algorithm, Mode, usize, usize),
    hash: &'static Algorithm,
    len: usize,
    suffix: &[u8],
) -> Operation {
    let iv = random.bytes(block);
    let shown = if mode == Mode::Cbc { iv.clone() } else { random.bytes(8) };
    let front = [random.bytes(8), shown].concat();
    let (start, end) = (front.len(), front.len() + len);
    let buffer = [front, random.bytes(len), vec![0; 12]].concat();
    let action = Action::CipherMac {
        cipher: Key::cipher(cipher, mode, &random.bytes(key)).unwrap(),
        iv: Iv::new(if mode == Mode::Ecb { &[] } else { &iv }).unwrap(),
        direction: Direction::Encrypt,
        text: span(start, end),
        mac: Key::mac(Mac::Hmac(hash), &random.bytes(20)).unwrap(),
        over: span(0, end),
        suffix: Suffix::new(suffix).unwrap(),
        tag: Tag::Write(span(end, end + 12)),
    };
    Operation { action, buffer: Buffer::from_packet(&buffer, 0, 0) }
}

/// One packet after the other; what comes of each.
fn answers(
    source: &Rtl,
    operations: &[Operation],
    together: usize,
) -> Vec<(Result<(), EngineError>, Vec<u8>)> {
    let catalogue = sets().unwrap();
    let mut board = board(&catalogue, config(), source);
    let mut out = Vec::new();
    for (round, some) in operations.chunks(together).enumerate() {
        let job = |(at, operation): (usize, &Operation)| {
            let id = (round * together + at) as u64;
            Job { id, flow: at as u32, packet: id, operation: operation.clone() }
        };
        let mut done = engine::run_all(&mut board, some.iter().enumerate().map(job).collect());
        done.sort_by_key(|done| done.id);
        out.extend(done.into_iter().map(|done| (done.result, done.buffer.to_vec())));
    }
    out
}

#[test]
fn packets_are_those_of_the_cpu_engine() {
    if sets().is_none() {
        return;
    }
    let mut random = Random(21);
    let ciphers = [
        (&AES, Mode::Cbc, 16, 16),
        (&AES, Mode::Ctr, 16, 16),
        (&AES, Mode::Ecb, 16, 32),
        (&DES, Mode::Cbc, 8, 8),
    ];
    for (cipher, hash) in ciphers.into_iter().zip([&SHA1, &MD5, &SHA256, &SHA1]) {
        // Keys change from packet to packet. The longest that a frame holds, and one block more.
        let longest =
            (2031 - 16 - if cipher.1 == Mode::Cbc { 8 + cipher.2 } else { 16 }) / cipher.2 * cipher.2;
        let lengths = [64, 64, 480, cipher.2, longest, longest + cipher.2, 1440, 96];
        let operations: Vec<_> =
            lengths.iter().map(|len| packet(&mut random, cipher, hash, *len, &[])).collect();
        for together in [1, 4] {
            let source = Rtl::default();
            for ((result, buffer), operation) in
                answers(&source, &operations, together).iter().zip(&operations)
            {
                assert_eq!(*result, Ok(()));
                assert_eq!(*buffer, compute::run(operation.clone()).unwrap().to_vec());
            }
            let joint = source.joint.load(Ordering::Relaxed);
            // The first one comes before the hash's set, and one is too long.
            assert!(joint > 0 && (together > 1 || joint == lengths.len() - 2), "{joint} of {together}");
        }
    }
}

#[test]
fn what_covers_more_than_the_ciphertext_takes_two_passes() {
    if sets().is_none() {
        return;
    }
    let mut random = Random(22);
    let operations: Vec<_> =
        (0..4).map(|_| packet(&mut random, (&AES, Mode::Cbc, 16, 16), &SHA1, 64, &[0, 0, 0, 1])).collect();
    let source = Rtl::default();
    for ((result, buffer), operation) in answers(&source, &operations, 1).iter().zip(&operations) {
        assert_eq!((*result, buffer), (Ok(()), &compute::run(operation.clone()).unwrap().to_vec()));
    }
    assert_eq!(source.joint.load(Ordering::Relaxed), 0);
}

#[test]
fn a_result_that_no_tile_takes_leaves_its_packet_as_it_came() {
    if sets().is_none() {
        return;
    }
    let mut random = Random(23);
    let operations: Vec<_> =
        (0..8).map(|_| packet(&mut random, (&AES, Mode::Cbc, 16, 16), &SHA1, 480, &[])).collect();
    let source = Rtl::parting([2, 3]);
    let mut refused = 0;
    for ((result, buffer), operation) in answers(&source, &operations, 1).iter().zip(&operations) {
        match result {
            Ok(()) => assert_eq!(*buffer, compute::run(operation.clone()).unwrap().to_vec()),
            Err(EngineError::SlotStatus { status, .. }) => {
                assert_eq!(*status, Status::NoTile as u8);
                assert_eq!(*buffer, operation.buffer.to_vec(), "nothing of it is changed");
                refused += 1;
            }
            Err(other) => panic!("{other}"),
        }
    }
    assert_eq!(refused, 2);
}
