// SPDX-License-Identifier: Apache-2.0
//! The board as an engine, with slots in software: results, order, time.

use std::collections::VecDeque;
use std::path::Path;

use crate::common::{Build, Random, run_all, run_one};
use ace_board::config::clocks_time;
use ace_board::pass::{Pass, Task};
use ace_board::trace::{BoardReport, What};
use ace_board::{Board, BoardConfig, Policy};
use ace_engine::algorithm::{AES, DES, MD5, SHA1, TDES};
use ace_engine::{
    Action, Algorithm, Buffer, Direction, Engine, EngineError, Illegal, Iv, Job, Key, Mac, Mode, Need,
    Operation, Secret, Suffix, Tag, compute, engine,
};

/// A packet: its flow and its operations.
type Packet = (u32, Vec<Operation>);

/// The buffers behind a packet's operations.
type Results = Vec<Buffer>;

/// Runs packets as a data plane does: at most `buffer` at a time, a packet's next operation when the one before is
/// done. Returns the results by packet and operation, and the order of completions.
fn run(board: &mut Board, packets: &[Packet], buffer: usize) -> (Vec<Results>, Vec<(usize, usize)>) {
    let mut results = vec![Vec::new(); packets.len()];
    let mut order = Vec::new();
    let mut incoming: VecDeque<usize> = (0..packets.len()).collect();
    let mut inside = 0;
    let (mut jobs, mut done) = (VecDeque::new(), Vec::new());
    let job = |packet: usize, at: usize| -> Option<Job> {
        let (flow, operations) = &packets[packet];
        let operation = operations.get(at)?.clone();
        Some(Job { id: (packet * 16 + at) as u64, flow: *flow, packet: packet as u64, operation })
    };
    loop {
        while inside < buffer
            && let Some(packet) = incoming.pop_front()
        {
            jobs.extend(job(packet, 0));
            inside += 1;
        }
        board.try_submit(&mut jobs);
        assert!(jobs.is_empty(), "the board takes as many as its packet buffer");
        let left = board.wait(&mut done);
        if done.is_empty() {
            assert_eq!((left, inside), (0, 0), "lost");
            return (results, order);
        }
        for completion in done.drain(..) {
            let (packet, at) = (completion.id as usize / 16, completion.id as usize % 16);
            order.push((packet, at));
            completion.result.expect("a result");
            results[packet].push(completion.buffer);
            match job(packet, at + 1) {
                Some(next) => jobs.push_back(next),
                None => inside -= 1,
            }
        }
    }
}

fn cbc(random: &mut Random, algorithm: &'static Algorithm, key: &[u8], len: usize) -> Task {
    let iv = random.bytes(if algorithm.name == "aes" { 16 } else { 8 });
    let pass = Pass::Cipher {
        algorithm,
        mode: Mode::Cbc,
        direction: Direction::Encrypt,
        key: Secret::new(key.into()),
        iv,
    };
    Task { pass, data: random.bytes(len) }
}

fn hmac(random: &mut Random, algorithm: &'static Algorithm, key: &[u8], len: usize) -> Task {
    let pass = Pass::Hmac { algorithm, key: Secret::new(key.into()), output_len: 12 };
    Task { pass, data: random.bytes(len) }
}

/// The traffic of the 2006 paper: two associations, interleaved at random, each packet encrypted and then
/// authenticated.
fn two_associations(count: usize) -> Vec<Packet> {
    let mut random = Random(99);
    let cipher = |algorithm, key: &[u8]| Key::cipher(algorithm, Mode::Cbc, key).unwrap();
    let hmac = |hash, key: &[u8]| Key::mac(Mac::Hmac(hash), key).unwrap();
    let associations = [
        (cipher(&AES, &[1; 16]), hmac(&MD5, &[2; 16]), 16),
        (cipher(&TDES, &[3; 24]), hmac(&SHA1, &[4; 20]), 8),
    ];
    let mut packet = |_| {
        let flow = random.below(2) as usize;
        let (cipher, mac, block) = &associations[flow];
        let len = (8 * (1 + random.below(180)) as usize).next_multiple_of(*block);
        let action = Action::CipherMac {
            cipher: cipher.clone(),
            iv: Iv::new(&random.bytes(*block)).unwrap(),
            direction: Direction::Encrypt,
            text: (0..len).into(),
            mac: mac.clone(),
            over: (0..len).into(),
            suffix: Suffix::EMPTY,
            tag: Tag::Write((len..len + 12).into()),
        };
        let mut buffer = Buffer::from_packet(&random.bytes(len), 0, 12);
        buffer.push_back(12);
        (flow as u32, vec![Operation { action, buffer }])
    };
    (0..count).map(&mut packet).collect()
}

fn check_sums(report: &BoardReport) {
    let t = &report.totals;
    assert_eq!(t.total, t.executing + t.computing + t.link_only + t.host_only + t.exposed_load + t.idle);
    assert_eq!(t.load, t.hidden_load + t.exposed_load);
    for slot in &report.slots {
        assert_eq!(slot.load + slot.execute + slot.idle, t.total);
    }
    assert_eq!(report.configurations.iter().map(|c| c.load).sum::<u64>(), t.load);
    assert_eq!(report.configurations.iter().map(|c| c.execute).sum::<u64>(), t.execution);
    // Two things at a time: neither on the port, nor on the link, nor in one slot.
    let spans = |class: &dyn Fn(&What) -> bool, slot: Option<usize>| {
        let mut spans: Vec<_> = report
            .events
            .iter()
            .filter(|e| class(&e.what) && slot.is_none_or(|s| s == e.slot))
            .map(|e| (e.start, e.end))
            .collect();
        spans.sort_unstable();
        assert!(spans.windows(2).all(|w| w[0].1 <= w[1].0));
    };
    spans(&|w| matches!(w, What::Load { .. }), None);
    spans(&|w| matches!(w, What::Request { .. } | What::Response { .. }), None);
    spans(&|w| matches!(w, What::Host { .. }), None);
    for slot in 0..report.slots.len() {
        spans(&|w| matches!(w, What::Load { .. } | What::Execute { .. }), Some(slot));
    }
}

#[test]
fn every_operation_equals_the_cpu() {
    let build = Build::new();
    let mut random = Random(7);
    let packets: Vec<Packet> = (0..400)
        .map(|_| {
            let passes = random.below(3) as usize + 1;
            let passes = (0..passes).map(|_| {
                let algorithm = *random.pick(&[&AES, &DES, &TDES, &MD5, &SHA1]);
                random.operation(algorithm, 2000).operation().unwrap()
            });
            let passes = passes.collect();
            (random.below(5) as u32, passes)
        })
        .collect();
    for policy in Policy::ALL {
        for (slots, frame_buffers) in [(1, 1), (2, 4), (3, 2)] {
            let config = BoardConfig { slots, frame_buffers, ..BoardConfig::default() };
            let mut board = build.board_of(config, policy);
            let (results, order) = run(&mut board, &packets, 64);
            for ((_, passes), results) in packets.iter().zip(&results) {
                let expected: Vec<_> = passes.iter().map(|o| compute::run(o.clone()).unwrap()).collect();
                assert_eq!(&expected, results);
            }
            if policy == Policy::OnDemand {
                assert!(order.is_sorted(), "on-demand keeps the order of packets");
            }
            let report = board.report();
            check_sums(&report);
            assert_eq!(report.totals.completed as usize, order.len());
            assert_eq!(report.totals.failed, 0);
        }
    }
}

#[test]
fn looking_ahead_saves_loads_and_keeps_flows_in_order() {
    let build = Build::new();
    let packets = two_associations(300);
    let mut totals = Vec::new();
    for policy in Policy::ALL {
        let mut board = build.board(policy);
        let (results, order) = run(&mut board, &packets, 64);
        for ((_, operations), results) in packets.iter().zip(&results) {
            assert_eq!(compute::run(operations[0].clone()).as_ref(), Ok(&results[0]));
        }
        for flow in 0..2 {
            let of_flow = order.iter().filter(|(p, _)| packets[*p].0 == flow);
            assert!(of_flow.map(|(p, _)| *p).is_sorted(), "{policy}: flow {flow}");
        }
        let report = board.report();
        check_sums(&report);
        totals.push(report.totals);
    }
    let [on_demand, others @ ..] = &totals[..] else { panic!() };
    assert_eq!(on_demand.hidden_load, 0);
    for (policy, other) in Policy::ALL[1..].iter().zip(others) {
        assert!(other.total * 5 < on_demand.total, "{policy}: {} {}", other.total, on_demand.total);
        assert!(other.loads * 5 < on_demand.loads, "{policy}: {} {}", other.loads, on_demand.loads);
        assert!(other.hidden_load > 0 && other.retained > 0.9, "{policy}");
    }
}

#[test]
fn a_board_decrypts_what_is_authentic_and_nothing_else() {
    let build = Build::new();
    for policy in Policy::ALL {
        let mut board = build.board(policy);
        for (_, mut operations) in two_associations(10) {
            let clear = operations.pop().unwrap();
            let mut sealed = clear.clone();
            sealed.buffer = compute::run(clear.clone()).unwrap();
            if let Action::CipherMac { direction, tag, .. } = &mut sealed.action {
                (*direction, *tag) = (Direction::Decrypt, Tag::Check(tag.span()));
            }
            let opened = engine::run_one(&mut board, sealed.clone()).unwrap();
            let text = clear.buffer.len() - 12;
            assert_eq!(opened[..text], clear.buffer[..text]);
            let executed = board.report().totals.completed;
            sealed.buffer[text / 2] ^= 4;
            let job = Job { id: 1, flow: 0, packet: 1, operation: sealed.clone() };
            let done = engine::run_all(&mut board, vec![job]).pop().unwrap();
            assert_eq!((done.result, &done.buffer), (Err(EngineError::Mismatch), &sealed.buffer));
            assert_eq!(board.report().totals.completed, executed + 1, "no cipher pass after a wrong tag");
        }
    }
}

#[test]
fn the_same_input_gives_the_same_times() {
    let build = Build::new();
    let packets = two_associations(60);
    for policy in Policy::ALL {
        let report = || {
            let mut board = build.board(policy);
            run(&mut board, &packets, 16);
            board.report()
        };
        assert_eq!(report(), report());
    }
}

#[test]
fn one_operation_costs_what_the_formula_says() {
    let build = Build::new();
    let config = BoardConfig::default();
    for (policy, key) in [(Policy::OnDemand, 16), (Policy::ALL[1], 32)] {
        let mut board = build.board(policy);
        let operation = cbc(&mut Random(1), &AES, &vec![5; key], 160);
        run_one(&mut board, operation).unwrap();
        let bytes = build.bits("aes").len() as u64;
        let request = 16 + key as u64 + 16 + 160;
        let cycles = request / 8 + request / 16 * 11 + 1;
        let expected = bytes * 20_000 // 8 bits at 50 MHz
            + request / 8 * 10_000 // 64 bits at 100 MHz
            + clocks_time(cycles, 80_000_000)
            + 168 / 8 * 10_000
            + 2 * 950_000; // the host
        assert_eq!(board.now(), expected);
        let totals = board.report().totals;
        assert_eq!((totals.host, totals.host_only), (2 * 950_000, 2 * 950_000));
        assert_eq!(totals.total, expected);
        assert_eq!(totals.exposed_load, config.port_time(bytes));
        assert_eq!(totals.overhead, config.port_time(bytes) as f64 / expected as f64);
    }
}

/// A host that polls moves the words itself: nothing else of it happens meanwhile, and it pays for each block.
#[test]
fn a_host_that_polls_does_one_thing_at_a_time() {
    let build = Build::new();
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../studies/pilchard-2002/board.toml");
    let polled = BoardConfig::from_file(&file).unwrap();
    assert!(polled.host.polled && polled.host.block_words == 248);
    let packets = two_associations(60);
    let report = |config: BoardConfig| {
        let mut board = build.board_of(config, Policy::DoubleBuffer);
        run(&mut board, &packets, 64);
        board.report()
    };
    let (with, without) = (report(polled.clone()), report(BoardConfig::default()));
    check_sums(&with);
    // Frames of 1400 bytes fit into a block of 1984; the sum is the same, and nothing is faster.
    assert_eq!(with.totals.host, without.totals.host);
    assert!(with.totals.total >= without.totals.total);
    let mut spans: Vec<(u64, u64)> = with
        .events
        .iter()
        .filter(|e| matches!(e.what, What::Request { .. } | What::Response { .. } | What::Host { .. }))
        .map(|e| (e.start, e.end))
        .collect();
    spans.sort_unstable();
    assert!(spans.windows(2).all(|pair| pair[0].1 <= pair[1].0));
    // Blocks of 16 words: each that is begun costs, both ways.
    let host = ace_board::config::Host { block_words: 16, ..polled.host.clone() };
    let small = report(BoardConfig { host, ..polled });
    let blocks = small.events.iter().map(|event| match event.what {
        What::Request { bytes, .. } | What::Response { bytes, .. } => bytes.div_ceil(16 * 8),
        _ => 0,
    });
    assert_eq!(small.totals.host, blocks.sum::<u64>() * 950_000);
    assert!(small.totals.host > 3 * without.totals.host);
}

#[test]
fn a_key_travels_only_when_the_slot_has_another() {
    let build = Build::new();
    let mut board = build.board(Policy::OnDemand);
    let mut random = Random(3);
    let keys: [&[u8]; 7] = [&[1; 16], &[1; 16], &[2; 16], &[2; 16], &[2; 32], &[2; 32], &[1; 16]];
    for key in keys {
        run_one(&mut board, cbc(&mut random, &AES, key, 32)).unwrap();
    }
    // A hash between two HMACs leaves the key alone, the other hash is in another slot.
    let long = [7; 100];
    run_one(&mut board, hmac(&mut random, &MD5, &long, 10)).unwrap();
    run_one(&mut board, Task { pass: Pass::Hash { algorithm: &MD5 }, data: vec![1; 9] }).unwrap();
    run_one(&mut board, hmac(&mut random, &MD5, &long, 11)).unwrap();
    let fresh: Vec<bool> = board
        .report()
        .events
        .iter()
        .filter_map(|e| match e.what {
            What::Execute { fresh_key, .. } => Some(fresh_key),
            _ => None,
        })
        .collect();
    assert_eq!(fresh, [true, false, true, false, true, false, true, true, false, false]);
}

#[test]
fn illegal_and_unserved_operations_are_answered() {
    let build = Build::new();
    std::fs::remove_dir_all(build.folder.path().join("configurations/md5")).unwrap();
    let mut board = build.board(Policy::ALL[1]);
    let mut random = Random(5);
    let bad = cbc(&mut random, &AES, &[0; 15], 32);
    assert!(run_one(&mut board, bad).unwrap_err().to_string().contains("no key of 15 bytes"));
    // What does not fit is answered like anything else that fails.
    let mut operation = cbc(&mut random, &AES, &[0; 16], 32).operation().unwrap();
    operation.buffer.truncate(31);
    assert_eq!(engine::run_one(&mut board, operation), Err(Illegal::Range.into()));
    let error = run_one(&mut board, hmac(&mut random, &MD5, &[1], 8)).unwrap_err();
    assert!(!board.capabilities().can(&Need::Hmac { algorithm: &MD5 }));
    assert!(board.capabilities().can(&Need::Hmac { algorithm: &SHA1 }));
    let error = board.explain(&error);
    assert!(error.contains("no configuration for hmac-md5") && error.contains("make models"), "{error}");
    assert_eq!(board.wait(&mut Vec::new()), 0);
    assert_eq!(board.report().totals.failed, 2);

    let empty = ace_board::Catalogue::read(&build.folder.path().join("nothing"));
    let mut board =
        Board::new(BoardConfig::default(), empty, Policy::ALL[1], ace_board::Models::Rtl).unwrap();
    let error = run_one(&mut board, cbc(&mut random, &AES, &[0; 16], 32)).unwrap_err();
    let error = board.explain(&error);
    assert!(error.contains("nothing; build them with `make models`"), "{error}");
}

#[test]
fn a_slot_that_works_on_several_frames_is_given_several() {
    let mut random = Random(5);
    let packets: Vec<Packet> = (0..200)
        .map(|at| {
            let key = [at as u8 % 7; 16];
            // Short ones overtake long ones.
            let len = 16 * (1 + random.below(90) as usize);
            (random.below(6) as u32, vec![cbc(&mut random, &AES, &key, len).operation().unwrap()])
        })
        .collect();
    let mut totals = Vec::new();
    for in_flight in [1, 4, 16] {
        let build = Build::new();
        build.interleave("aes", in_flight);
        let config = BoardConfig { slots: 1, ..BoardConfig::default() };
        let mut board = build.board_of(config, Policy::ALL[1]);
        let (results, order) = run(&mut board, &packets, 64);
        for ((_, passes), results) in packets.iter().zip(&results) {
            assert_eq!(compute::run(passes[0].clone()).as_ref(), Ok(&results[0]));
        }
        for flow in 0..6 {
            let of_flow = order.iter().filter(|(p, _)| packets[*p].0 == flow);
            assert!(of_flow.map(|(p, _)| *p).is_sorted(), "{in_flight} in flight: flow {flow}");
        }
        let report = board.report();
        let t = &report.totals;
        assert_eq!(t.total, t.executing + t.computing + t.link_only + t.host_only + t.exposed_load + t.idle);
        totals.push(t.executing);
    }
    assert!(totals[1] * 2 < totals[0] && totals[2] < totals[1], "{totals:?}");
}

#[test]
fn a_failure_among_several_frames_costs_no_other_packet() {
    let mut random = Random(6);
    let tasks: Vec<Task> = (0..40).map(|at| cbc(&mut random, &AES, &[at as u8 / 5; 16], 160)).collect();
    let build = Build::new();
    build.interleave("aes", 8);
    build.mischief("aes", |m| m.status = vec![3, 19]);
    let mut board = build.board_of(BoardConfig { slots: 1, ..BoardConfig::default() }, Policy::ALL[1]);
    let mut failed = 0;
    for (task, result) in tasks.iter().zip(run_all(&mut board, &tasks, 40)) {
        match result {
            Ok(result) => assert_eq!(result, crate::common::compute(task.clone()).unwrap()),
            Err(_) => failed += 1,
        }
    }
    assert_eq!(failed, 2);
}
