// SPDX-License-Identifier: Apache-2.0
//! Boards whose slots take no context sets: what they compute is found by asking, and nothing is asked of them that they have
//! not computed right.

use std::collections::VecDeque;

use ace_board::frame::{self, Header, Status};
use ace_board::model::{Frame, Model, Options, RunError, SlotModel, Stopped};
use ace_engine::algorithm::{AES, SHA1};
use ace_engine::engine::run_all;
use ace_engine::{Aead, Direction, Engine, Key, Mac, Mode, Operation};
use ace_link::LinkEngine;
use ace_link::engine::OpenError;
use ace_link::soft::{Board, Description, Faults, Pair, Rough};

use crate::common::{Array, Random, configuration};
use crate::computes::{HOST, jobs, known, right};

/// A slot that gives back what it gets, with a good trailer: an image for measurements has such.
#[derive(Default)]
struct Echo {
    clocks: u64,
    inside: VecDeque<(u64, Frame)>,
}

impl SlotModel for Echo {
    fn run(&mut self, _: &mut [Frame], _: &Options) -> Result<(), RunError> {
        Err(RunError::BadFrame)
    }

    fn join(&mut self, number: u64, mut frame: Frame) -> u64 {
        let header = Header::from_bytes(&frame.request).unwrap_or_default();
        let len = header.payload_len as usize;
        let mut response = frame.request[frame.request.len().saturating_sub(frame::padded(len))..].to_vec();
        response.extend_from_slice(&header.payload_len.to_le_bytes());
        response.extend_from_slice(&header.tag.to_le_bytes());
        response.extend_from_slice(&[Status::Ok as u8, 0]);
        frame.response = response;
        self.inside.push_back((number, frame));
        self.clocks
    }

    fn go(&mut self, until: u64, _: u64) -> Result<Option<(u64, Frame)>, Stopped> {
        self.clocks = until;
        Ok(self.inside.pop_front())
    }

    fn reset(&mut self) {
        self.inside.clear();
    }

    fn clocks(&self) -> u64 {
        self.clocks
    }
}

fn open(
    arrays: u8,
    slots: Vec<Box<dyn SlotModel>>,
    array: &Array,
    faults: Faults,
) -> Result<LinkEngine<Pair>, OpenError> {
    let board = Board::new(Description { arrays, ..Description::default() }, slots);
    LinkEngine::open(
        Pair::new(HOST, board, Rough::new(faults, 0x1234_5678_9abc_def1)),
        "memory",
        array.sets(),
    )
}

fn packets(count: usize, random: &mut Random) -> Vec<Operation> {
    let ciphers: Vec<Key> =
        [16, 24, 32].map(|len| Key::cipher(&AES, Mode::Cbc, &random.bytes(len)).expect("a key")).into();
    let macs: Vec<Key> =
        [20, 100].map(|len| Key::mac(Mac::Hmac(&SHA1), &random.bytes(len)).expect("a key")).into();
    let ccm = Key::aead(Aead::Ccm, &random.bytes(16)).expect("a key");
    let one = |at: usize| {
        let text = random.bytes(16 * (1 + at % 40));
        let way = Direction::BOTH[at / 4 % 2];
        match at % 4 {
            0 | 1 => {
                let key = ciphers[at % 3].clone();
                Operation::cipher(key, way, &random.bytes(16), &text).expect("a packet")
            }
            2 => Operation::mac(macs[at / 4 % 2].clone(), &text, 12),
            _ => Operation::aead(ccm.clone(), &random.bytes(11), &random.bytes(8), &text, 16),
        }
    };
    (0..count).map(one).collect()
}

#[test]
fn a_slot_computes_what_it_was_found_to_compute() {
    let (Some(array), Some(aes), Some(sha1)) =
        (Array::built("slot-1x8.so"), configuration("aes"), configuration("sha1"))
    else {
        return;
    };
    let mut engine = open(0, vec![aes, sha1], &array, Faults::default()).expect("a board");
    assert_eq!(engine.resident(), ["aes", "sha1"]);
    known(&mut engine, "aes", "aes/kat.csv", 24);
    known(&mut engine, "sha1", "sha1/kat.csv", 8);
    let operations = packets(120, &mut Random(0x1111_2222_3333_4445));
    right(&operations, run_all(&mut engine, jobs(&operations)));
    // A set of the same name goes nowhere.
    engine.only("sha1");
    known(&mut engine, "sha1", "sha1/kat.csv", 2);
    assert_eq!((engine.work().loads, engine.work().keys, engine.work().renewed), (0, 0, 0));
    // Of what none of them computes nothing goes out.
    let gcm = Key::aead(Aead::Gcm, &[1; 16]).expect("a key");
    let gcm = Operation::aead(gcm, &[2; 12], &[], &[3; 64], 16);
    assert!(!engine.capabilities().can(&ace_board::pass::needs(&gcm.action).0));
    let sent = engine.work().data;
    let done = run_all(&mut engine, jobs(&[gcm]));
    assert!(done[0].result.is_err());
    assert_eq!(engine.work().data, sent);
}

#[test]
fn two_alike_share_the_work_and_a_lossy_wire_changes_no_packet() {
    let (Some(array), Some(one), Some(two)) =
        (Array::built("slot-1x8.so"), configuration("aes"), configuration("aes"))
    else {
        return;
    };
    let faults = Faults { lost: 10_000, broken: 10_000, ..Faults::default() };
    let mut engine = open(0, vec![one, two], &array, faults).expect("a board");
    let operations: Vec<Operation> = packets(400, &mut Random(0x9999_2222_3333_4445))
        .into_iter()
        .enumerate()
        .filter(|(at, _)| at % 4 != 2)
        .map(|(_, operation)| operation)
        .collect();
    right(&operations, run_all(&mut engine, jobs(&operations)));
    assert!(engine.banks().iter().all(|bank| bank.done.operations > 20), "{:?}", engine.banks());
}

#[test]
fn beside_an_array_a_slot_needs_no_load() {
    let (Some(array), Some(aes)) = (Array::built("slot-1x8.so"), configuration("aes")) else { return };
    let model = Box::new(Model::open(&array.model, &[]).expect("a model"));
    let mut engine = open(0b10, vec![aes, model], &array, Faults::default()).expect("a board");
    known(&mut engine, "aes", "aes/kat.csv", 8);
    assert_eq!(engine.work().loads, 0);
    known(&mut engine, "aes-gcm", "aes/aes_gcm.csv", 8);
    assert!(engine.work().loads > 0);
}

#[test]
fn what_gives_back_what_it_gets_is_no_cipher() {
    let Some(array) = Array::built("slot-1x8.so") else { return };
    match open(0, vec![Box::new(Echo::default())], &array, Faults::default()) {
        Err(OpenError::Useless(_)) => {}
        other => panic!("{:?}", other.map(|engine| engine.work())),
    }
}
