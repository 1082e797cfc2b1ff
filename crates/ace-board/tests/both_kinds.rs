// SPDX-License-Identifier: Apache-2.0
//! Boards with slots of both kinds: what only one of them has goes there, what both have where it is sooner done, and what
//! comes out is what the CPU computes.

use ace_board::config::SlotKind;
use ace_board::frame;
use ace_board::pass::{Pass, Task};
use ace_board::trace::What;
use ace_board::{Board, BoardConfig, BoardReport, Models, Policy};
use ace_engine::algorithm::{AES, DES, MD5, SHA1, TDES};
use ace_engine::{Aead, Direction, EngineError, Mode, Need, Secret};

use crate::common::{Build, Random, compute, run_all, run_one};

const MODES: &str = r#""modes":["ecb","cbc","ctr","cfb","cfb8","ofb"]"#;

/// A context set that does what a configuration does in these modes or AEADs, at so many Mb/s.
fn set(build: &Build, of: &str, name: &str, modes: &str, mbps: f64) {
    let folder = build.at("configurations").join(name);
    std::fs::create_dir_all(&folder).unwrap();
    // A set is a few KB.
    let bits = vec![name.len() as u8; 3000];
    std::fs::write(folder.join(format!("{name}.bit")), &bits).unwrap();
    let text = build.manifest(of);
    let mut manifest: serde_json::Value = serde_json::from_str(&text.replace(MODES, modes)).unwrap();
    let digest = hex::encode(<sha2::Sha256 as sha2::Digest>::digest(&bits));
    manifest["name"] = name.into();
    manifest["context_set"] = true.into();
    manifest["in_flight"] = 4.into();
    manifest["memory_sha256"] = digest.clone().into();
    manifest["files"]["bitstream"] =
        serde_json::json!({"path": format!("{name}.bit"), "bytes": bits.len(), "sha256": digest});
    manifest["throughput_mbps"] = serde_json::json!([{"algorithm": of, "mbps": mbps}]);
    std::fs::write(folder.join("manifest.json"), manifest.to_string()).unwrap();
}

/// Fabric has AES, DES with 3DES, MD5 and SHA-1; the array has AES, SHA-1 and AES-GCM.
fn build() -> Build {
    let build = Build::new();
    set(&build, "aes", "aes_set", r#""modes":["ecb","cbc","ctr"]"#, 100.0);
    set(&build, "aes", "gcm_set", r#""aeads":["aes-gcm"]"#, 100.0);
    set(&build, "sha1", "sha1_set", MODES, 100.0);
    build
}

fn board(build: &Build, (fabric, array): (usize, usize), banks: usize, policy: Policy) -> Board {
    let mut config = BoardConfig::default();
    config.set_slots(fabric, array);
    config.slot.banks = banks;
    config.check().unwrap();
    let source = Box::new(build.software.clone());
    Board::with_source(config, build.catalogue(), policy, Models::Rtl, source).unwrap()
}

fn cbc(n: u8, len: usize) -> Task {
    let (key, iv) = (Secret::new(vec![n; 16]), vec![n; 16]);
    let pass = Pass::Cipher { algorithm: &AES, mode: Mode::Cbc, direction: Direction::Encrypt, key, iv };
    Task { pass, data: vec![n; len] }
}

fn hmac(n: u8, len: usize) -> Task {
    let pass = Pass::Hmac { algorithm: &SHA1, key: Secret::new(vec![n; 20]), output_len: 12 };
    Task { pass, data: vec![n; len] }
}

fn gcm(random: &mut Random) -> Task {
    let pass = Pass::Aead {
        aead: Aead::Gcm,
        algorithm: &AES,
        direction: Direction::Encrypt,
        key: Secret::new(random.bytes(16)),
        nonce: random.bytes(frame::AEAD_NONCE),
        aad: random.bytes(8),
        tag_len: 16,
    };
    let len = random.below(1400) as usize;
    Task { pass, data: random.bytes(len) }
}

/// Traffic of everything that the board has.
fn tasks(count: usize) -> Vec<Task> {
    let mut random = Random(11);
    let task = |n: usize| match n % 6 {
        5 => gcm(&mut random),
        at => random.operation([&AES, &TDES, &SHA1, &MD5, &DES][at], 1400),
    };
    (0..count).map(task).collect()
}

/// The names of what was loaded into slots, in order.
fn loads(report: &BoardReport) -> Vec<&str> {
    let load = |event: &ace_board::trace::Event| match event.what {
        What::Load { configuration, .. } => Some(configuration),
        _ => None,
    };
    report.events.iter().filter_map(load).map(|at| report.configurations[at].name.as_str()).collect()
}

#[test]
fn every_policy_computes_what_the_cpu_does_in_the_same_times() {
    let tasks = tasks(300);
    let wanted: Vec<_> = tasks.iter().map(|task| compute(task.clone())).collect();
    for policy in Policy::ALL {
        for (slots, banks) in [((1, 1), 1), ((2, 1), 2)] {
            let run = || {
                let build = build();
                let mut board = board(&build, slots, banks, policy);
                assert_eq!(run_all(&mut board, &tasks, 7), wanted, "{policy}");
                board.report()
            };
            let report = run();
            assert_eq!(report, run(), "{policy}: modelled times are always the same");
            assert_eq!((report.totals.failed, report.totals.completed), (0, 300), "{policy}");
            let mut both = [0; 2];
            for event in &report.events {
                let (What::Load { configuration, .. } | What::Execute { configuration, .. }) = event.what
                else {
                    continue;
                };
                let array = report.slots[event.slot].kind == SlotKind::Array;
                let name = &report.configurations[configuration].name;
                assert_eq!(name.ends_with("_set"), array, "{policy}: {name} in slot {}", event.slot);
                both[usize::from(array)] += 1;
            }
            assert!(both[0] > 100 && both[1] > 50, "{policy}: {both:?}");
            // What a slot held is all that was loaded into it.
            for (at, slot) in report.slots.iter().enumerate() {
                let own = |event: &&ace_board::trace::Event| event.slot == at;
                for event in report.events.iter().filter(own) {
                    if let What::Load { configuration, .. } = event.what {
                        assert!(slot.loaded.contains(&configuration));
                    }
                }
                assert_eq!(slot.loaded.is_empty(), slot.loads == 0);
            }
        }
    }
}

#[test]
fn what_both_can_do_goes_where_it_is_sooner_done() {
    for policy in Policy::ALL {
        // A set is there in microseconds.
        let build = build();
        let mut few = board(&build, (2, 1), 1, policy);
        assert_eq!(run_one(&mut few, cbc(1, 512)).unwrap(), compute(cbc(1, 512)).unwrap());
        assert_eq!(loads(&few.report()), ["aes_set"], "{policy}");
        // Nobody has signed or proven what is made up here.
        let report = few.report();
        assert_eq!(report.unproven().map(|one| one.name.as_str()).collect::<Vec<_>>(), ["aes_set"]);
        // Not where the array takes longer for what waits than fabric does, its load included.
        let slow = Build::new();
        set(&slow, "aes", "aes_set", r#""modes":["ecb","cbc","ctr"]"#, 0.01);
        let mut many = board(&slow, (2, 1), 1, policy);
        let tasks: Vec<_> = (0..32).map(|n| cbc(n, 1408)).collect();
        let wanted: Vec<_> = tasks.iter().map(|task| compute(task.clone())).collect();
        assert_eq!(run_all(&mut many, &tasks, 32), wanted, "{policy}");
        assert_eq!(loads(&many.report()), ["aes"], "{policy}");
    }
}

#[test]
fn a_set_is_loaded_while_the_port_is_busy_with_a_bitstream() {
    let build = build();
    for policy in [Policy::DoubleBuffer, Policy::Landlord, Policy::Rotation, Policy::Adaptive] {
        let mut board = board(&build, (1, 1), 1, policy);
        let mut random = Random(3);
        let tasks: Vec<_> = (0..40)
            .map(|n| if n % 2 == 0 { random.operation(&MD5, 900) } else { gcm(&mut random) })
            .collect();
        let wanted: Vec<_> = tasks.iter().map(|task| compute(task.clone())).collect();
        assert_eq!(run_all(&mut board, &tasks, 8), wanted, "{policy}");
        let report = board.report();
        let of = |name: &str| {
            let load = |event: &&ace_board::trace::Event| match event.what {
                What::Load { configuration, .. } => report.configurations[configuration].name == name,
                _ => false,
            };
            let event = report.events.iter().find(load).unwrap();
            (event.start, event.end)
        };
        let (bits, set) = (of("md5"), of("gcm_set"));
        assert!(set.1 < bits.1, "{policy}: {set:?} {bits:?}");
    }
}

#[test]
fn loads_of_sets_that_would_have_paid_one_of_bits_are_followed_by_that() {
    let build = build();
    // One place in the array, for which a cipher and a hash take turns.
    let mut config = BoardConfig::default();
    config.set_slots(1, 1);
    config.slot.tiles = 1;
    let source = Box::new(build.software.clone());
    let mut board =
        Board::with_source(config, build.catalogue(), Policy::OnDemand, Models::Rtl, source).unwrap();
    let time = |name: &str| {
        let catalogue = build.catalogue();
        let one = catalogue.configurations.iter().find(|one| one.name == name).unwrap();
        catalogue.load_time(board.config(), one)
    };
    let rounds = time("aes") / time("aes_set") + 20;
    for n in (0..rounds).map(|n| n as u8) {
        for task in [cbc(n, 64), hmac(n, 64)] {
            assert_eq!(run_one(&mut board, task.clone()).unwrap(), compute(task).unwrap());
        }
    }
    let report = board.report();
    let one = |name: &str| report.configurations.iter().find(|one| one.name == name).unwrap();
    let bits = ["aes", "sha1"].map(|name| one(name).loads);
    assert_eq!(bits.iter().sum::<u64>(), 1, "{bits:?}");
    // What it has cost before is about what it cost then, and no load follows.
    let name = if bits[0] > 0 { "aes" } else { "sha1" };
    let (sets, bits) = (one(&format!("{name}_set")), one(name));
    assert!(sets.load >= bits.load * 9 / 10 && sets.load < 2 * bits.load, "{} {}", sets.load, bits.load);
    let all = loads(&report);
    let since = all.iter().position(|load| *load == name).unwrap();
    assert!(all.len() - since <= 2, "{:?}", &all[since..]);
}

#[test]
fn a_slot_that_fails_leaves_the_others() {
    for policy in Policy::ALL {
        let build = build();
        let mut board = board(&build, (1, 1), 1, policy);
        build.mischief("aes_set", |it| it.silent = (0..100).collect());
        build.mischief("sha1_set", |it| it.silent = (0..100).collect());
        build.mischief("gcm_set", |it| it.silent = (0..100).collect());
        let mut failed = 0;
        for n in 0..40 {
            for task in [cbc(n, 256), hmac(n, 256)] {
                match run_one(&mut board, task.clone()) {
                    Ok(result) => assert_eq!(result, compute(task).unwrap()),
                    Err(_) => failed += 1,
                }
            }
        }
        // Two of each set at the most, behind which fabric does both.
        assert!((1..=4).contains(&failed), "{policy}: {failed}");
        let task = Random(9).operation(&MD5, 300);
        assert_eq!(run_one(&mut board, task.clone()).unwrap(), compute(task).unwrap(), "{policy}");
    }
}

#[test]
fn what_only_slots_that_failed_could_do_is_answered_and_keeps_nobody() {
    let build = build();
    let mut config = BoardConfig::default();
    config.set_slots(1, 1);
    (config.slot.tiles, config.packet_buffer) = (1, 4);
    let source = Box::new(build.software.clone());
    let mut board =
        Board::with_source(config, build.catalogue(), Policy::DoubleBuffer, Models::Rtl, source).unwrap();
    for name in ["aes_set", "sha1_set"] {
        build.mischief(name, |it| it.silent = (0..100).collect());
    }
    for n in 0..4 {
        let _ = run_one(&mut board, cbc(n, 64));
        let _ = run_one(&mut board, hmac(n, 64));
    }
    // The one place of the array is out of order. More packets that need it than the buffer holds stop nobody.
    let mut random = Random(5);
    let mut tasks: Vec<_> = (0..10).map(|_| gcm(&mut random)).collect();
    tasks.extend((0..10).map(|n| cbc(n, 64)));
    let answers = run_all(&mut board, &tasks, 20);
    for (at, (answer, task)) in answers.into_iter().zip(&tasks).enumerate() {
        match at {
            0..10 => assert!(matches!(answer, Err(EngineError::LoadFailed { .. })), "{answer:?}"),
            _ => assert_eq!(answer.unwrap(), compute(task.clone()).unwrap()),
        }
    }
}

#[test]
fn what_neither_has_is_said_of_both() {
    let build = build();
    let mut board = board(&build, (1, 1), 1, Policy::DoubleBuffer);
    let mut other = cbc(1, 64);
    let Pass::Cipher { algorithm, .. } = &mut other.pass else { panic!() };
    *algorithm = &ace_engine::algorithm::TWOFISH;
    let error = run_one(&mut board, other).unwrap_err();
    assert!(matches!(error, EngineError::NoConfiguration { need: Need::Cipher { .. } }));
    let report = board.report();
    assert_eq!(
        report.slots.iter().map(|slot| slot.kind.name()).collect::<Vec<_>>(),
        ["fabric", "array", "array"]
    );
    assert_eq!(
        (0..3).map(|at| report.slot_name(at)).collect::<Vec<_>>(),
        [
            (0, "slot 0, fabric".to_owned()),
            (1, "slot 1, array, tile 0".to_owned()),
            (1, "slot 1, array, tile 1".to_owned()),
        ]
    );
}
