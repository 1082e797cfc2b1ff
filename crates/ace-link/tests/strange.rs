// SPDX-License-Identifier: Apache-2.0
//! Bytes that no board and no host would send: nothing panics, and nothing comes out that was not asked for.

use std::time::Duration;

use ace_link::session::{Event, Session};
use ace_link::soft::{Board, Description};
use ace_link::wire::{self, Frame, Header, Kind, Span};
use ace_link::{Batch, Identity};
use proptest::prelude::*;

use crate::common::{KEY, LOAD, Quick, Random, request};

const HOST: [u8; 6] = [2, 0, 0, 0, 0, 7];
/// In place of an operation: a load by name.
const RECALL: u8 = 0;

fn open() -> (Session, Board) {
    let mut session = Session::new(HOST, wire::BOARD, 77, Duration::ZERO);
    let mut board = Board::new(Description::default(), vec![Box::new(Quick::default())]);
    exchange(&mut session, &mut board, Duration::ZERO);
    assert!(session.is_open());
    (session, board)
}

fn exchange(session: &mut Session, board: &mut Board, now: Duration) {
    let mut batch = Batch::default();
    session.output(&mut batch, now);
    batch.frames().for_each(|frame| board.input(frame, now));
    board.work(now);
    while let Some(frame) = board.output() {
        session.input(&frame, now);
    }
}

#[test]
fn what_the_session_before_was_answered_ends_no_other_one() {
    let (mut before, mut board) = open();
    before.close();
    let mut batch = Batch::default();
    before.output(&mut batch, Duration::ZERO);
    batch.frames().for_each(|frame| board.input(frame, Duration::ZERO));
    let mut late = Vec::from_iter(std::iter::from_fn(|| board.output()));
    batch.frames().for_each(|frame| board.input(frame, Duration::ZERO));
    late.extend(std::iter::from_fn(|| board.output()));
    assert_eq!(late.len(), 2, "the board has no session, and then it refuses");
    let mut session = Session::new(HOST, wire::BOARD, 78, Duration::ZERO);
    session.output(&mut batch, Duration::ZERO);
    late.iter().for_each(|frame| session.input(frame, Duration::ZERO));
    exchange(&mut session, &mut board, Duration::from_secs(1));
    assert!(session.is_open(), "{:?}", session.event());
}

#[test]
fn words_for_the_store_wait_for_packets() {
    let (mut session, mut board) = open();
    let mut now = Duration::from_millis(1);
    assert!(session.can_store());
    for ticket in 0..24 {
        session.data(0, ticket, request(0x12, &[3; 1400]), ace_link::session::ANY, now);
    }
    assert!(!session.can_store(), "frames wait");
    session.store(0, &[5; 8 * wire::STORED], now);
    let (mut sent, mut stored) = (Vec::new(), 0);
    for _ in 0..200 {
        now += Duration::from_micros(100);
        let mut batch = Batch::default();
        session.output(&mut batch, now);
        for frame in batch.frames() {
            sent.push(Frame::parse(frame).expect("it is whole").header.kind);
            board.input(frame, now);
        }
        board.work(now);
        while let Some(frame) = board.output() {
            session.input(&frame, now);
        }
        while let Some(event) = session.event() {
            stored += usize::from(matches!(event, Event::Stored { place: 0, taken: true }));
        }
    }
    let kinds = |kind: Kind| sent.iter().filter(move |own| **own == kind).count();
    assert_eq!((kinds(Kind::Data), kinds(Kind::Store), stored), (24, 1, 1), "{sent:?}");
    assert!(
        sent.iter().position(|kind| *kind == Kind::Store) > sent.iter().rposition(|kind| *kind == Kind::Data)
    );
}

proptest! {
    #[test]
    fn views_take_any_bytes(bytes in proptest::collection::vec(any::<u8>(), 0..2000)) {
        if let Ok(frame) = Frame::parse(&bytes) {
            let mut again = Vec::new();
            frame.header.write(frame.beats, &mut again);
            prop_assert_eq!(Frame::parse(&again), Ok(frame));
            let _ = (frame.refusal(), frame.register(), frame.span(), Identity::from_beats(frame.beats));
        }
    }

    #[test]
    fn an_identity_is_what_its_beats_say(beats in proptest::collection::vec(any::<u8>(), 64)) {
        let identity = Identity::from_beats(&beats).expect("eight beats");
        let again = Identity::from_beats(&identity.to_beats()).expect("eight beats");
        prop_assert_eq!(identity, again);
    }
}

/// A frame that is nearly one: a kind, a few small numbers, any beats.
fn nearly(random: &mut Random, from_board: bool) -> Vec<u8> {
    let kinds = [0x81, 0x82, 0x83, 0x84, 0x85, 0x86, 0x87, 1, 2, 3, 4, 5, 6, 7, 8];
    let (to, from) = if from_board { (HOST, wire::BOARD) } else { (wire::BOARD, HOST) };
    let kind = Kind::from_code(kinds[random.below(kinds.len() as u64) as usize]).expect("a kind");
    let most = if random.below(4) == 0 { 200 } else { 12 };
    let beats = random.below(most) as usize * 8;
    let mut header = Header {
        to,
        from,
        kind,
        flags: random.below(4) as u8,
        number: random.below(24) as u16,
        sets: random.below(3) as u8,
        keys: random.below(3) as u8,
        slot: random.below(2) as u8,
        session: 77,
    };
    if random.below(16) == 0 {
        header.session = random.below(1 << 16) as u16;
    }
    // Mostly small numbers, so that they mean something.
    let mut bytes = random.bytes(beats);
    bytes.iter_mut().for_each(|byte| *byte = if *byte < 200 { *byte % 6 } else { *byte });
    let mut frame = Vec::new();
    header.write(&bytes, &mut frame);
    match random.below(12) {
        0 => frame.truncate(random.below(frame.len() as u64) as usize),
        1 => {
            let at = random.below(frame.len() as u64) as usize;
            frame[at] ^= 1 << random.below(8);
        }
        _ => {}
    }
    frame
}

#[test]
fn a_session_survives_a_board_that_lies() {
    let mut lost = 0;
    for seed in 1..400_u64 {
        let (mut session, mut board) = open();
        while session.event().is_some() {}
        let mut random = Random(0x9e37_79b9_7f4a_7c15_u64.wrapping_mul(seed));
        let mut now = Duration::from_millis(1);
        let (mut asked, mut stores) = ([0; 40], 0);
        let frames = [LOAD, KEY, 0x12, RECALL, KEY, 0x12, 0x12, KEY, 0x12];
        for (ticket, frame) in frames.into_iter().enumerate() {
            match frame {
                RECALL => {
                    let span = Span { place: random.below(3) as u16, words: 1 + random.below(370) as u16 };
                    session.recall(0, ticket, span, request(LOAD, &[1; 3000]).into(), now);
                }
                LOAD => session.change(0, ticket, Kind::Load, request(LOAD, &[1; 3000]).into(), now),
                KEY => session.change(0, ticket, Kind::Key, request(KEY, &[2; 16]).into(), now),
                op => session.data(0, ticket, request(op, &[3; 64]), 72, now),
            }
            asked[ticket] = 1;
        }
        for _ in 0..300 {
            now += Duration::from_micros(200);
            session.input(&nearly(&mut random, true), now);
            if session.can_store() {
                stores += 1;
                session.store(random.below(3) as u16, &[7; 80], now);
            }
            if random.below(3) == 0 {
                // Half of what the board says gets lost, so that something is under way when it lies.
                let mut batch = Batch::default();
                session.output(&mut batch, now);
                batch.frames().for_each(|frame| board.input(frame, now));
                board.work(now);
                while let Some(frame) = board.output() {
                    if random.below(2) == 0 {
                        session.input(&frame, now);
                    }
                }
            }
            while let Some(event) = session.event() {
                match event {
                    Event::Answer { ticket, .. } | Event::Again { ticket, .. } => {
                        assert_ne!(std::mem::take(&mut asked[ticket]), 0, "answered once");
                    }
                    Event::Unstored { ticket, .. } => {
                        assert_eq!((frames[ticket], asked[ticket]), (RECALL, 1), "its answer is to come");
                        asked[ticket] += 1;
                    }
                    Event::Stored { .. } => {
                        stores -= 1;
                        assert!(stores >= 0, "answered once");
                    }
                    Event::Lost(_) => lost += 1,
                    _ => {}
                }
            }
        }
    }
    assert!(lost > 0, "some of it ends a session");
}

#[test]
fn a_board_survives_a_host_that_lies() {
    let (_, mut board) = open();
    let mut random = Random(0x1234_5678_9abc_def1);
    for at in 0..100_000 {
        let now = Duration::from_micros(50 * at);
        board.input(&nearly(&mut random, false), now);
        board.work(now);
        while let Some(frame) = board.output() {
            Frame::parse(&frame).expect("what it sends is a frame");
        }
    }
    let counters = board.counters();
    assert!(counters.dropped > 1000 && counters.sent > 1000, "{counters:?}");
}
