// SPDX-License-Identifier: Apache-2.0
//! Slots that hold the array: context sets are loaded over the host link in microseconds, and only those that somebody
//! vouches for.

mod common;

use ace_board::trace::What;
use ace_board::{Board, BoardConfig, Catalogue, Models, Policy, Unsigned};
use ace_engine::Engine;
use common::{Build, Random, compute, run_one};
use sha2::{Digest, Sha256};

/// A set is whatever its manifest says; the slots here are software.
fn sets(build: &Build) -> Catalogue {
    let path = build.at("configurations").join("aes").join("manifest.json");
    let text = std::fs::read_to_string(&path).unwrap();
    std::fs::write(&path, text.replace(r#""unknown":1"#, r#""context_set":true"#)).unwrap();
    let mut catalogue = build.catalogue();
    catalogue.unsigned = Unsigned::Refused;
    catalogue.configurations.retain(|c| c.context_set);
    assert_eq!(catalogue.configurations.len(), 1);
    catalogue
}

fn board(build: &Build, catalogue: Catalogue) -> Board {
    let source = Box::new(build.software.clone());
    Board::with_source(BoardConfig::default(), catalogue, Policy::ALL[1], Models::Rtl, source).unwrap()
}

#[test]
fn a_set_that_nobody_vouches_for_is_not_loaded() {
    let build = Build::new();
    let mut board = board(&build, sets(&build));
    let task = Random(1).operation(&ace_engine::algorithm::AES, 64);
    let error = run_one(&mut board, task).unwrap_err();
    assert!(
        board.explain(&error).contains("nobody vouches for the context set"),
        "{}",
        board.explain(&error)
    );
    assert!(board.report().events.iter().all(|e| !matches!(e.what, What::Load { refused: None, .. })));
}

#[test]
fn a_set_that_is_known_is_loaded_over_the_link() {
    let build = Build::new();
    let mut catalogue = sets(&build);
    catalogue.sets.insert(Sha256::digest(build.bits("aes")).into());
    let mut board = board(&build, catalogue);
    let mut random = Random(2);
    for _ in 0..20 {
        let task = random.operation(&ace_engine::algorithm::AES, 640);
        let wanted = compute(task.clone()).unwrap();
        assert_eq!(run_one(&mut board, task).unwrap(), wanted);
    }
    let report = board.report();
    let loads: Vec<u64> = report
        .events
        .iter()
        .filter(|e| matches!(e.what, What::Load { .. }))
        .map(|e| e.end - e.start)
        .collect();
    let config = BoardConfig::default();
    let bytes = build.bits("aes").len() as u64;
    assert_eq!(loads, [config.send_time(bytes) + config.link_time(bytes + 16)]);
    assert!(loads[0] < config.load_time(bytes), "a load over the port takes longer");
}

#[test]
fn a_set_that_was_changed_is_refused() {
    let build = Build::new();
    let mut catalogue = sets(&build);
    let mut bits = build.bits("aes");
    catalogue.sets.insert(Sha256::digest(&bits).into());
    bits[9] ^= 1;
    std::fs::write(build.bit_file("aes"), bits).unwrap();
    let mut board = board(&build, catalogue);
    let error = run_one(&mut board, Random(3).operation(&ace_engine::algorithm::AES, 64)).unwrap_err();
    assert!(board.explain(&error).contains("is not the file in the manifest"), "{}", board.explain(&error));
}
