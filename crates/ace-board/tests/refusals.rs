// SPDX-License-Identifier: Apache-2.0
//! Bitstreams that are not what they should be, and slots that do not do what they should.

use crate::common::{Build, Random, compute, memory, run_all, run_one};
use ace_board::pass::Task;
use ace_board::trace::What;
use ace_board::{BoardConfig, Policy};
use ace_ecp5::Emit;
use ace_engine::algorithm::{AES, MD5};
use ace_engine::{Engine, EngineError};

fn operation(seed: u64, hash: bool) -> Task {
    let mut random = Random(seed);
    random.operation(if hash { &MD5 } else { &AES }, 200)
}

/// AES jobs fail with a message that contains `reason`, the hashes between them go on, and nothing is tried again.
fn refused(build: &Build, reason: &str) {
    for policy in Policy::ALL {
        let mut board = build.board(policy);
        let operations: Vec<_> = (0..12).map(|i| operation(1 + i, i % 2 == 0)).collect();
        for (at, done) in run_all(&mut board, &operations, 3).into_iter().enumerate() {
            match done {
                Ok(result) if at % 2 == 0 => assert_eq!(result, compute(operations[at].clone()).unwrap()),
                Err(error @ EngineError::LoadFailed { .. }) if at % 2 == 1 => {
                    let found = board.explain(&error);
                    assert!(found.contains("`aes`") && found.contains(reason), "{found}");
                }
                other => panic!("job {at}: {other:?}"),
            }
        }
        let report = board.report();
        assert_eq!((report.totals.loads, report.totals.refused_loads), (1, 1));
        assert!(report.slots.iter().any(|s| s.resident.is_none()), "the slot holds nothing");
        assert!(report.configurations.as_slice()[0].refused.as_ref().is_some_and(|r| r.contains(reason)));
        // Later jobs are refused at once.
        let now = board.now();
        assert!(matches!(run_one(&mut board, operation(99, false)), Err(EngineError::LoadFailed { .. })));
        assert_eq!(board.now(), now);
    }
}

#[test]
fn any_flipped_bit_is_refused_before_a_byte_is_sent() {
    let build = Build::new();
    let good = build.bits("aes");
    let mut random = Random(17);
    // In the comment, in the preamble, in a dummy byte at the end, and anywhere.
    let mut places = vec![3 * 8, 9 * 8 + 1, good.len() * 8 - 1];
    places.extend((0..5).map(|_| random.below(good.len() as u64 * 8) as usize));
    for bit in places {
        let mut bad = good.clone();
        bad[bit / 8] ^= 1 << (bit % 8);
        std::fs::write(build.bit_file("aes"), &bad).unwrap();
        refused(&build, "is not the file in the manifest");
    }
    std::fs::write(build.bit_file("aes"), &good[..good.len() - 1]).unwrap();
    refused(&build, "is not the file in the manifest");
    std::fs::remove_file(build.bit_file("aes")).unwrap();
    refused(&build, "No such file");
}

#[test]
fn the_port_refuses_what_the_manifest_vouches_for() {
    let build = Build::new();
    let good = build.bits("aes");
    let digest = memory("LFE5U-45F", 0).digest();
    // A bit in the middle of the frames.
    let mut bad = good.clone();
    bad[good.len() / 2] ^= 4;
    build.write("aes", &bad, digest, 80.0);
    refused(&build, "CRC mismatch");
    build.write("aes", &good[..good.len() / 2], digest, 80.0);
    refused(&build, "the bitstream ends");
    build.write("aes", &[], digest, 80.0);
    refused(&build, "no preamble");
    let other = memory("LFE5U-85F", 0);
    build.write("aes", &Emit::default().whole(&other), other.digest(), 80.0);
    refused(&build, "made for LFE5U-85F");
}

#[test]
fn bits_decide_what_a_slot_is() {
    let build = Build::new();
    let unknown = memory("LFE5U-45F", 77);
    build.write("aes", &Emit::default().whole(&unknown), [7; 32], 80.0);
    refused(&build, "not those of any known configuration");
    let des = build.bits("des");
    build.write("aes", &des, memory("LFE5U-45F", 0).digest(), 80.0);
    refused(&build, "the bits are those of `des`");
}

#[test]
fn a_file_that_changes_is_read_again() {
    let build = Build::new();
    let mut board = build.board_of(BoardConfig { slots: 1, ..BoardConfig::default() }, Policy::OnDemand);
    run_one(&mut board, operation(1, false)).unwrap();
    let mut bad = build.bits("aes");
    bad[5000] ^= 1;
    std::fs::write(build.bit_file("aes"), bad).unwrap();
    run_one(&mut board, operation(2, true)).unwrap();
    let error = run_one(&mut board, operation(3, false)).unwrap_err();
    assert!(matches!(error, EngineError::LoadFailed { .. }), "{error}");
}

#[test]
fn loads_cost_what_was_sent_and_end_in_time() {
    let build = Build::new();
    let bits = build.bits("aes");
    let config = BoardConfig::default();
    let load = |config: &BoardConfig| {
        let mut board = build.board_of(config.clone(), Policy::ALL[1]);
        let error = run_one(&mut board, operation(1, false)).unwrap_err();
        let error = board.explain(&error);
        (board.report().totals.load, error)
    };
    // Cut in half: the port waits for DONE until its time is over.
    let half = bits[..bits.len() / 2].to_vec();
    build.write("aes", &half, memory("LFE5U-45F", 0).digest(), 80.0);
    assert_eq!(load(&config).0, config.port_time(half.len() as u64) + config.load_timeout());
    build.write("aes", &bits, memory("LFE5U-45F", 0).digest(), 80.0);
    let mut slow = config;
    slow.configuration_port.timeout_ms = 1.0;
    let (time, error) = load(&slow);
    assert_eq!(time, slow.load_timeout());
    assert!(error.contains("more than the 1.0 ms allowed"), "{error}");
}

#[test]
fn a_frame_that_fails_does_not_harm_those_behind_it() {
    for failing in [0, 3, 7] {
        let build = Build::new();
        build.mischief("aes", |m| m.status = vec![failing]);
        let mut board = build.board(Policy::ALL[1]);
        // Two keys that alternate, so that frames without a key depend on those before.
        let mut operations: Vec<_> = (0..20).map(|i| operation(1 + i / 4 % 2, false)).collect();
        for (at, operation) in operations.iter_mut().enumerate() {
            operation.data.truncate(operation.data.len() / 16 * 16);
            operation.data.extend([at as u8; 16]);
        }
        let done = run_all(&mut board, &operations, 2);
        let failed: Vec<_> = done.iter().filter_map(|done| done.as_ref().err()).collect();
        assert_eq!(failed.len(), 1);
        assert!(board.explain(failed[0]).contains("bad IV length"));
        for (operation, done) in operations.iter().zip(&done).filter(|(_, d)| d.is_ok()) {
            assert_eq!(done.as_ref().unwrap(), &compute(operation.clone()).unwrap());
        }
    }
}

#[test]
fn a_silent_slot_is_reset_and_its_other_jobs_are_tried_again() {
    for garbage in [false, true] {
        for policy in Policy::ALL {
            let build = Build::new();
            build.mischief("aes", |m| if garbage { m.garbage = vec![4] } else { m.silent = vec![4] });
            let mut board = build.board(policy);
            let operations: Vec<_> = (0..16).map(|i| operation(1 + i, i % 4 == 0)).collect();
            let done = run_all(&mut board, &operations, 2);
            let failed: Vec<_> = done.iter().filter_map(|done| done.as_ref().err()).collect();
            assert!(matches!(failed[..], [EngineError::SlotFailed { .. }]), "{failed:?}");
            for (operation, done) in operations.iter().zip(&done).filter(|(_, d)| d.is_ok()) {
                assert_eq!(done.as_ref().unwrap(), &compute(operation.clone()).unwrap());
            }
            let report = board.report();
            assert_eq!(report.events.iter().filter(|e| e.what == What::Reset).count(), 1);
            let aes = &report.configurations.as_slice()[0];
            assert!(aes.loads >= 2 && aes.refused.is_none(), "loaded again after the reset");
            let wait = BoardConfig::default().slot_timeout();
            assert!(garbage || report.totals.total > wait, "the time-out takes modelled time");
        }
    }
}

#[test]
fn a_configuration_that_never_answers_is_given_up() {
    for policy in Policy::ALL {
        let build = Build::new();
        build.mischief("aes", |m| m.silent = (0..1000).collect());
        let mut board = build.board(policy);
        let operations: Vec<_> = (0..30).map(|i| operation(1 + i, i % 2 == 0)).collect();
        for (at, done) in run_all(&mut board, &operations, 4).into_iter().enumerate() {
            assert_eq!(done.is_ok(), at % 2 == 0, "job {at}: {done:?}");
        }
        let report = board.report();
        assert_eq!(report.configurations.as_slice()[0].loads, 2);
        assert!(report.configurations.as_slice()[0].refused.as_ref().unwrap().contains("2 times in a row"));
    }
}

#[test]
fn no_slot_left_means_an_answer_for_everyone() {
    let build = Build::new();
    for name in ["aes", "des", "md5", "sha1"] {
        build.mischief(name, |m| m.silent = (0..1000).collect());
    }
    let mut board = build.board_of(BoardConfig { slots: 1, ..BoardConfig::default() }, Policy::ALL[1]);
    let operations: Vec<_> = (0..20).map(|i| operation(1 + i, i % 2 == 0)).collect();
    let done = run_all(&mut board, &operations, 4);
    assert!(done.iter().all(Result::is_err));
    assert!(done.contains(&Err(EngineError::NoSlot)));
}
