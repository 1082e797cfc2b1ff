// SPDX-License-Identifier: Apache-2.0
//! Frames that join a slot while it works on others: the answers are those of any other order, the clocks those of the RTL,
//! and a board lets every frame in when it has arrived, never before.

use std::collections::HashMap;

use crate::common::{Build, Random, algorithms, built, cases, compute, run_all, run_one};
use ace_board::board::SharedObjects;
use ace_board::config::{Host, Link, SlotKind, SlotLimits};
use ace_board::frame::{self, KeySection, Status};
use ace_board::model::{Frame, Options, SlotModel};
use ace_board::pass::Pass;
use ace_board::trace::{Event, Picos, What};
use ace_board::{BoardConfig, Configuration, ModelSource, Models, Policy};
use ace_engine::algorithm::{AES, DES};

/// Requests that bring their keys, of any length up to more than a lane's buffer.
fn requests(random: &mut Random, configuration: &Configuration, count: u16) -> Vec<Vec<u8>> {
    let mut all = Vec::new();
    while all.len() < usize::from(count) {
        let longest = *random.pick(&[16, 300, 1500, 3000]);
        let algorithm = *random.pick(&algorithms(configuration));
        let task = random.operation(algorithm, longest);
        let long = matches!(&task.pass, Pass::Hmac { key, .. } if key.len() > frame::HMAC_KEY_MAX);
        if long || !configuration.serves(&task.pass.need()) {
            continue;
        }
        let key = task.pass.key().map_or(KeySection::Kept, |key| KeySection::Fresh(key.as_bytes()));
        all.push(frame::request(&task, key, all.len() as u16).to_vec());
    }
    all
}

fn fresh(request: &[u8]) -> Frame {
    Frame::new(request.to_vec(), request.len() + 64)
}

/// The answers to requests that join so many clocks after each other, by number, in steps of so many clocks.
fn joined(model: &mut dyn SlotModel, requests: &[Vec<u8>], pauses: &[u64], step: u64) -> Vec<Frame> {
    model.reset();
    let mut answers: HashMap<u64, Frame> = HashMap::new();
    for number in 0..=requests.len() {
        let until = pauses.get(number).map_or(u64::MAX, |pause| model.clocks() + pause);
        // A slot that has answered all stands still.
        while model.clocks() < until && answers.len() < number {
            let to = until.min(model.clocks().saturating_add(step));
            if let Some((number, frame)) = model.go(to, 1 << 20).unwrap() {
                assert!(frame.last_out < to && answers.insert(number, frame).is_none());
            }
        }
        if let Some(request) = requests.get(number) {
            model.join(number as u64, fresh(request));
        }
    }
    let mut all: Vec<(u64, Frame)> = answers.into_iter().collect();
    all.sort_by_key(|(number, _)| *number);
    assert!(all.iter().map(|(number, _)| *number).eq(0..requests.len() as u64), "each is answered once");
    all.into_iter().map(|(_, frame)| frame).collect()
}

/// When they came and went, from the first beat on.
fn clocks(frames: &[Frame]) -> Vec<(u64, u64, u64)> {
    let start = frames[0].first_in;
    frames.iter().map(|f| (f.first_in - start, f.first_out - start, f.last_out - start)).collect()
}

#[test]
fn frames_that_join_are_answered_as_those_that_come_together() {
    for configuration in built().configurations.iter().filter(|c| c.in_flight > 1) {
        let name = &configuration.name;
        let mut random = Random(41);
        let requests = requests(&mut random, configuration, cases(24, 100));
        let mut model = SharedObjects.open(configuration, Models::Rtl).unwrap();
        let mut together: Vec<Frame> = requests.iter().map(|r| fresh(r)).collect();
        model.reset();
        model.run(&mut together, &Options::default()).unwrap();
        assert!(
            together.iter().all(|f| frame::response(&f.response).unwrap().status == Status::Ok),
            "{name}"
        );
        // All at once, to the clock.
        let at_once = joined(model.as_mut(), &requests, &vec![0; requests.len()], u64::MAX);
        assert_eq!(clocks(&at_once), clocks(&together), "{name}");
        // One after the other, the slot being full, or empty in between: how often it is looked at changes nothing.
        let pauses: Vec<u64> = requests.iter().map(|_| *random.pick(&[0, 40, 400, 4000])).collect();
        let one_by_one = joined(model.as_mut(), &requests, &pauses, u64::MAX);
        assert_eq!(clocks(&joined(model.as_mut(), &requests, &pauses, 7)), clocks(&one_by_one), "{name}");
        for (a, b) in together.iter().zip(&one_by_one).chain(together.iter().zip(&at_once)) {
            assert_eq!(a.response, b.response, "{name}");
        }
        let mut side_by_side = 0;
        for (n, frame) in one_by_one.iter().enumerate() {
            side_by_side += one_by_one[..n].iter().filter(|other| other.last_out > frame.first_in).count();
        }
        assert!(side_by_side > 0, "{name}: no frame has ever joined another");
    }
}

/// A frame in a slot: when it had arrived, its beats, and its execution.
struct Stay {
    arrived: Picos,
    beats: u64,
    slot: usize,
    start: Picos,
    end: Picos,
}

/// By the start of their executions.
fn stays(events: &[Event]) -> Vec<Stay> {
    let request = |e: &Event| match e.what {
        What::Request { job, bytes } => Some((job, (e.end, bytes / 8))),
        _ => None,
    };
    let requests: HashMap<u64, (Picos, u64)> = events.iter().filter_map(request).collect();
    let stay = |e: &Event| match e.what {
        What::Execute { job, .. } => {
            let (arrived, beats) = requests[&job];
            Some(Stay { arrived, beats, slot: e.slot, start: e.start, end: e.end })
        }
        _ => None,
    };
    let mut all: Vec<Stay> = events.iter().filter_map(stay).collect();
    all.sort_by_key(|stay| stay.start);
    all
}

#[test]
fn a_board_lets_frames_join_when_they_have_arrived() {
    const ROOM: usize = 4;
    const CLOCK: Picos = 12_500;
    // Few packets on the board: what one slot answers is all that makes a frame come to another one.
    for (slots, kind, tiles, banks, packet_buffer) in [
        (1, SlotKind::Fabric, 1, 1, 64),
        (2, SlotKind::Fabric, 1, 1, 64),
        (2, SlotKind::Fabric, 1, 1, 5),
        (1, SlotKind::Array, 1, 2, 64),
        (1, SlotKind::Array, 2, 2, 64),
    ] {
        let build = Build::new();
        for name in ["aes", "des"] {
            build.interleave(name, ROOM);
            let file = build.at("configurations").join(name).join("manifest.json");
            let mut text = build.manifest(name).replace(r#""fmax_mhz":81.0"#, r#""fmax_mhz":80.0"#);
            if kind == SlotKind::Array {
                text = text.replace(r#""schema":1"#, r#""schema":1,"context_set":true"#);
            }
            std::fs::write(file, text).unwrap();
        }
        let slot = SlotLimits { kind, tiles, banks, ..SlotLimits::default() };
        // A link as slow as the slots, so that frames come one after the other all the time, or a fast one.
        let host_link =
            Link { width: 64, clock_mhz: if packet_buffer == 5 { 1000.0 } else { 20.0 }, ..Link::default() };
        let host = Host { send_ns: 100.0, notice_ns: 0.0, ..Host::default() };
        let config = BoardConfig { slots, slot, host_link, host, packet_buffer, ..BoardConfig::default() };
        let mut random = Random(9);
        let tasks: Vec<_> =
            (0..300).map(|n| random.operation(if n % 2 == 0 { &AES } else { &DES }, 1500)).collect();
        let wanted: Vec<_> = tasks.iter().map(|task| compute(task.clone())).collect();
        let run = || {
            let mut board = build.board_of(config.clone(), Policy::DoubleBuffer);
            assert_eq!(run_all(&mut board, &tasks, 300), wanted);
            board.report()
        };
        let report = run();
        assert_eq!(report, run(), "the same input, other times");
        let all = stays(&report.events);
        assert_eq!(all.len(), tasks.len());
        let (mut joined, mut both_tiles) = (0, 0);
        for (n, one) in all.iter().enumerate() {
            let earlier = || all[..n].iter().filter(|other| other.slot == one.slot);
            // When it has arrived, the one before it is in, and there is room.
            let mut ends: Vec<Picos> = earlier().map(|other| other.end).collect();
            ends.sort_unstable();
            let room = ends.len().checked_sub(ROOM).map_or(0, |over| ends[over]);
            let before = earlier().next_back().map_or(0, |other| other.start + other.beats * CLOCK);
            let ready = one.arrived.max(room).max(before);
            assert!(one.start >= ready, "{} before {ready}", one.start);
            if banks == 1 {
                assert!(one.start < ready + CLOCK, "{} long after {ready}", one.start);
            }
            let beside = || all[..n].iter().filter(|other| other.end > one.start);
            let tile = |stay: &Stay| stay.slot / banks;
            let in_tile = || beside().filter(|other| tile(other) == tile(one));
            assert!(banks == 1 || in_tile().all(|other| other.slot == one.slot), "both banks run");
            both_tiles += beside().filter(|other| tile(other) != tile(one)).count();
            joined += beside().filter(|o| o.slot == one.slot && o.start < one.arrived).count();
        }
        assert!(joined > 50, "{slots} slots, {banks} banks: only {joined} joined others");
        assert_eq!(
            both_tiles > 50,
            slots * tiles > 1,
            "{slots} slots, {tiles} tiles: {both_tiles} beside others"
        );
    }
}

#[test]
fn a_failure_among_frames_that_join_costs_no_other_packet() {
    let mut random = Random(8);
    let tasks: Vec<_> = (0..120).map(|_| random.operation(&AES, 1500)).collect();
    for flows in [1, 6, 120] {
        let build = Build::new();
        build.interleave("aes", 8);
        build.mischief("aes", |m| {
            m.status = vec![3, 19, 20];
            m.garbage = vec![40];
            m.silent = vec![70];
        });
        let mut board =
            build.board_of(BoardConfig { slots: 1, ..BoardConfig::default() }, Policy::DoubleBuffer);
        let mut failed = 0;
        for (task, result) in tasks.iter().zip(run_all(&mut board, &tasks, flows)) {
            match result {
                Ok(result) => assert_eq!(result, compute(task.clone()).unwrap()),
                Err(_) => failed += 1,
            }
        }
        // One that fails behind another one is tried again.
        assert!((3..=11).contains(&failed), "{flows} flows: {failed}");
        // The slot is empty again: another configuration can be loaded over this one.
        let other = random.operation(&DES, 100);
        assert_eq!(run_one(&mut board, other.clone()), compute(other));
        // Whatever had left before is not done again.
        assert_eq!(stays(&board.report().events).len(), tasks.len() + 1, "{flows} flows");
    }
}
