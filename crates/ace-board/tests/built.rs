// SPDX-License-Identifier: Apache-2.0
//! The board with the configurations that the flow has built: known answers, random operations against the CPU
//! engine, real bitstreams with something wrong, and the examples of docs/slot.md.

use std::path::PathBuf;
use std::sync::atomic::{AtomicUsize, Ordering};

use crate::common::{
    Random, algorithms, built, cases, compute, published, repository, run_all, run_one, with_netlists,
};
use ace_board::board::SharedObjects;
use ace_board::manifest::Configuration;
use ace_board::pass::{Pass, Task};
use ace_board::port::stream;
use ace_board::{Board, BoardConfig, Catalogue, ModelSource, Models, Policy, Unsigned, bench};
use ace_ecp5::Device;
use ace_engine::algorithm::AES;
use ace_engine::kat::{KnownAnswers, Subject, run};
use ace_engine::{Direction, EngineError, Mac, Mode, Secret};

fn board(catalogue: Catalogue, models: Models) -> Board {
    Board::new(BoardConfig::default(), catalogue, Policy::ALL[1], models).unwrap()
}

/// The subject of a file of known answers, by its name without its ending.
fn subject(file: &str) -> Option<Subject> {
    let mut name = file;
    for end in ["_invalid", "_repeat", "_mct"] {
        name = name.strip_suffix(end).unwrap_or(name);
    }
    Subject::by_name(name)
}

fn has_mode(configuration: &Configuration, mode: &str) -> bool {
    configuration.can.iter().any(|c| c.modes.iter().any(|m| m.name() == mode))
}

/// Runs every file whose algorithm has a configuration, on the board as it is and then on each
/// configuration that serves the algorithm alone, so that every shape answers; the number of rows that passed. Of the
/// rows one of `every` runs, others on each configuration.
fn known_answers(files: &[(String, PathBuf)], models: Models, every: usize) -> usize {
    let catalogue = if models == Models::Netlist { with_netlists() } else { built() };
    let serves = |c: &Configuration, s: &Subject| match s {
        Subject::Cipher(a) | Subject::Hash(a) | Subject::Mac(Mac::Hmac(a), _) => algorithms(c).contains(a),
        Subject::Mac(..) | Subject::Aead(_) => false,
    };
    // Rows, and the configuration that runs them alone.
    let mut work: Vec<(KnownAnswers, Option<Configuration>)> = Vec::new();
    for (name, file) in files {
        let Some(subject) = subject(name) else { continue };
        let able: Vec<&Configuration> =
            catalogue.configurations.iter().filter(|c| serves(c, &subject)).collect();
        if able.is_empty() {
            continue;
        }
        let read = |nth: usize| {
            let mut answers = KnownAnswers::read(subject, file).unwrap_or_else(|e| panic!("{e}"));
            let mut number = nth;
            answers.rows.retain(|_| {
                number += 1;
                number.is_multiple_of(every)
            });
            answers
        };
        work.push((read(0), None));
        work.extend(able.iter().enumerate().map(|(nth, c)| (read(nth + 1), Some((*c).clone()))));
        work.retain(|(answers, _)| !answers.rows.is_empty());
    }
    let complete = std::env::var_os("ACE_REQUIRE_BUILD").is_some()
        && catalogue.configurations.len() == built().configurations.len();
    let next = AtomicUsize::new(0);
    let passed = AtomicUsize::new(0);
    std::thread::scope(|scope| {
        for _ in 0..std::thread::available_parallelism().map_or(2, usize::from) {
            scope.spawn(|| {
                while let Some((answers, alone)) = work.get(next.fetch_add(1, Ordering::Relaxed)) {
                    let mut able = catalogue.clone();
                    if let Some(alone) = alone {
                        able.configurations.retain(|c| c.name == alone.name);
                    }
                    let report = run(answers, &mut board(able, models));
                    let what = alone.as_ref().map_or("the board", |c| &c.name);
                    assert!(report.failed.is_empty(), "{what}: {:#?}", report.failed.first());
                    // A configuration may have but some of the key lengths and directions; all of them together
                    // leave nothing out, if all are built, but modes that for this algorithm only rows of the study have.
                    let has = |mode: &str, reason: &str| {
                        catalogue.configurations.iter().any(|c| {
                            has_mode(c, mode)
                                && algorithms(c).iter().any(|a| reason.contains(&format!("for {}-", a.name)))
                        })
                    };
                    let of_study = |reason: &str| {
                        ["cfb", "cfb8", "ofb"]
                            .iter()
                            .any(|m| reason.contains(&format!("-{m} ")) && !has(m, reason))
                    };
                    let skipped = report.skipped.iter().find(|s| !of_study(&s.reason));
                    assert!(alone.is_some() || !complete || skipped.is_none(), "{what}: {skipped:#?}");
                    passed.fetch_add(report.passed, Ordering::Relaxed);
                }
            });
        }
    });
    let passed = passed.into_inner();
    assert!(passed > 0 || catalogue.configurations.is_empty());
    passed
}

#[test]
fn known_answers_on_the_rtl() {
    known_answers(&published(), Models::Rtl, 1);
}

#[test]
fn known_answers_on_the_netlist() {
    known_answers(&published(), Models::Netlist, 1);
}

/// The larger collection, where there is one (`ACE_VECTORS`, or `../shared/vectors` beside the workspace).
fn collection(models: Models) {
    let folder = std::env::var_os("ACE_VECTORS").map_or(repository("../shared/vectors"), PathBuf::from);
    if folder.is_dir() {
        let mut files: Vec<PathBuf> =
            std::fs::read_dir(&folder).unwrap().map(|entry| entry.unwrap().path()).collect();
        files.sort();
        let named = |path: PathBuf| Some((path.file_stem()?.to_str()?.to_owned(), path));
        let files: Vec<(String, PathBuf)> = files.into_iter().filter_map(named).collect();
        known_answers(&files, models, cases(20, 1));
    } else {
        eprintln!("skipped: no {}", folder.display());
    }
}

#[test]
fn the_collection_on_the_rtl() {
    collection(Models::Rtl);
}

#[test]
fn the_collection_on_the_netlist() {
    collection(Models::Netlist);
}

#[test]
fn random_operations_equal_the_cpu() {
    let mut random = Random(21);
    for (models, count, longest) in [(Models::Rtl, 200, 2000), (Models::Netlist, 40, 300)] {
        let catalogue = if models == Models::Netlist { with_netlists() } else { built() };
        let all: Vec<_> = catalogue.configurations.iter().flat_map(algorithms).collect();
        if all.is_empty() {
            continue;
        }
        let mut operations = Vec::new();
        while operations.len() < count {
            let algorithm = *random.pick(&all);
            let operation = random.operation(algorithm, longest);
            if catalogue.configurations.iter().any(|c| c.serves(&operation.pass.need())) {
                operations.push(operation);
            }
        }
        let mut times = Vec::new();
        for _ in 0..2 {
            let mut board = board(catalogue.clone(), models);
            let results = run_all(&mut board, &operations, 5);
            for (operation, result) in operations.iter().zip(results) {
                assert_eq!(
                    result.unwrap(),
                    compute(operation.clone()).unwrap(),
                    "{:?}",
                    operation.pass.need()
                );
            }
            times.push(board.report());
        }
        // Threads or not: the same times.
        assert_eq!(times[0], times[1]);
    }
}

/// A configuration's folder, copied, so that its files can be spoiled.
fn copy(configuration: &Configuration) -> (tempfile::TempDir, Configuration) {
    let folder = tempfile::TempDir::new().unwrap();
    let mut copy = configuration.clone();
    copy.bitstream.path = folder.path().join("copy.bit");
    std::fs::copy(&configuration.bitstream.path, &copy.bitstream.path).unwrap();
    (folder, copy)
}

#[test]
fn spoiled_bitstreams_leave_the_slot_unconfigured() {
    let mut random = Random(22);
    let of_domains = |c: &&Configuration| cases(c.variant_of.is_none(), true);
    for original in built().configurations.iter().filter(of_domains) {
        let (_folder, configuration) = copy(original);
        let good = std::fs::read(&configuration.bitstream.path).unwrap();
        let operation = {
            let algorithm = algorithms(&configuration)[0];
            loop {
                let operation = random.operation(algorithm, 100);
                if configuration.serves(&operation.pass.need()) {
                    break operation;
                }
            }
        };
        let only = |c: &Configuration| Catalogue {
            configurations: [c.clone()].into(),
            unsigned: Unsigned::Unproven,
            ..Catalogue::default()
        };
        let spoiled = |bytes: &[u8]| {
            std::fs::write(&configuration.bitstream.path, bytes).unwrap();
            let mut board = board(only(&configuration), Models::Rtl);
            let result = run_one(&mut board, operation.clone());
            assert!(matches!(result, Err(EngineError::LoadFailed { .. })), "{result:?}");
            assert!(board.report().slots.iter().all(|s| s.resident.is_none()));
        };
        for _ in 0..8 {
            let mut bad = good.clone();
            let bit = random.below(good.len() as u64 * 8) as usize;
            bad[bit / 8] ^= 1 << (bit % 8);
            spoiled(&bad);
        }
        spoiled(&good[..random.below(good.len() as u64) as usize]);
        spoiled(&[&good[..], &[0xff]].concat());
        std::fs::write(&configuration.bitstream.path, &good).unwrap();
        let mut whole = board(only(&configuration), Models::Rtl);
        assert_eq!(run_one(&mut whole, operation.clone()).unwrap(), compute(operation.clone()).unwrap());

        // Past the digest of the file: the port itself refuses, or nothing that configures has changed.
        let device = Device::by_name(&configuration.device).unwrap();
        for _ in 0..8 {
            let mut bad = good.clone();
            let bit = random.below(good.len() as u64 * 8) as usize;
            bad[bit / 8] ^= 1 << (bit % 8);
            if let Ok(written) = stream(&bad, device) {
                assert_eq!(written.memory, configuration.memory_sha256, "bit {bit}");
            }
        }
        for name in ["LFE5U-25F", "LFE5U-85F"] {
            let refused = stream(&good, Device::by_name(name).unwrap()).unwrap_err();
            assert!(refused.reason.contains("made for LFE5U-45F"), "{}", refused.reason);
        }
    }
}

#[test]
fn a_model_that_is_not_the_one_in_the_manifest_is_not_opened() {
    for configuration in built().configurations.iter().take(1) {
        let mut changed = configuration.clone();
        changed.model.sha256[0] ^= 1;
        let error = SharedObjects.open(&changed, Models::Rtl).err().unwrap().to_string();
        assert!(error.contains("not the one in the manifest"), "{error}");
        changed.netlist_model = None;
        let error = SharedObjects.open(&changed, Models::Netlist).err().unwrap().to_string();
        assert!(error.contains("no netlist model"), "{error}");
    }
}

#[test]
fn simulation_speed_can_be_measured() {
    let pass = Pass::Cipher {
        algorithm: &AES,
        mode: Mode::Cbc,
        direction: Direction::Encrypt,
        key: Secret::new(vec![1; 16]),
        iv: vec![2; 16],
    };
    let operation = Task { pass, data: vec![3; 1424] };
    let catalogue = built();
    if !catalogue.configurations.iter().any(|c| algorithms(c).contains(&&AES)) {
        return;
    }
    let time = std::time::Duration::from_millis(50);
    let speed = bench::speed(&catalogue, "LFE5U-45F", &operation, Models::Rtl, time).unwrap();
    assert!(speed.frames > 0 && speed.mb_per_second > 0.0 && speed.modelled_mbps > 1.0, "{speed:?}");
    eprintln!("{speed:?}");
}
