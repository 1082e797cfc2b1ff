// SPDX-License-Identifier: Apache-2.0
//! Configurations from a library: the board loads the bits that were signed, and nothing else.

mod common;

use std::sync::Arc;

use ace_board::config::{Controller, Loads};
use ace_board::trace::What;
use ace_board::{Board, BoardConfig, Models, Policy, Store, StoreError};
use ace_engine::EngineError;
use ace_engine::algorithm::{AES, DES, MD5, SHA1};
use ace_engine::cpu::compute;
use ace_engine::engine::run_one;
use ace_library::codec::Dictionary;
use ace_library::{FileError, Library, Refusal, SecretKey};
use common::{Build, Random, memory};

/// A library with `aes` and `md5` of [`Build`], and another key.
fn library(build: &Build) -> (Controller, SecretKey) {
    let key = SecretKey::generate().unwrap();
    let memories = [("aes", memory("LFE5U-45F", 0)), ("md5", memory("LFE5U-45F", 2))];
    let mut library = Library::new(Dictionary::train(memories.iter().map(|(_, m)| m)));
    for (name, memory) in &memories {
        library.add(name, memory, b"{}", b"", &[]).unwrap();
    }
    library.version = 7;
    std::fs::write(build.at("a.lib"), library.to_bytes(Some(&key))).unwrap();
    std::fs::write(build.at("a.pub"), key.public().to_text()).unwrap();
    (Controller { library: "a.lib".into(), key: "a.pub".into(), ..Controller::default() }, key)
}

fn open(build: &Build, wanted: &Controller) -> Result<Option<Store>, StoreError> {
    Store::open(wanted, Some(&build.at("")))
}

fn board(build: &Build, wanted: &Controller) -> Board {
    let mut catalogue = build.catalogue();
    catalogue.store = open(build, wanted).unwrap().map(Arc::new);
    let config = BoardConfig { controller: wanted.clone(), ..BoardConfig::default() };
    let source = Box::new(build.software.clone());
    Board::with_source(config, catalogue, Policy::OnDemand, Models::Rtl, source).unwrap()
}

#[test]
fn the_bits_are_those_of_the_library() {
    let build = Build::new();
    let (wanted, _) = library(&build);
    // Nothing of the build's bitstreams is read of what the library holds.
    for name in ["aes", "md5", "des"] {
        std::fs::write(build.bit_file(name), b"spoiled").unwrap();
    }
    let mut board = board(&build, &wanted);
    let mut random = Random(5);
    for algorithm in [&AES, &MD5] {
        let operation = random.operation(algorithm, 300);
        assert_eq!(run_one(&mut board, operation.clone()).unwrap(), compute(operation).unwrap());
    }
    let des = random.operation(&DES, 64);
    assert!(matches!(run_one(&mut board, des), Err(EngineError::LoadFailed { .. })));
    let report = board.report();
    assert!(report.library.as_ref().is_some_and(|words| words.ends_with("a.lib, version 7")));
    let from: Vec<_> = report.configurations.iter().map(|c| (c.name.as_str(), c.from_library)).collect();
    assert_eq!(from, [("aes", true), ("des", false), ("md5", true), ("sha1", false)]);

    // The modelled time is that of the loader's clocks where the port is faster: at least a clock a row.
    let loads: Vec<_> = report
        .events
        .iter()
        .filter_map(|e| match &e.what {
            What::Load { bytes, refused: None, .. } => Some((*bytes, e.end - e.start)),
            _ => None,
        })
        .collect();
    assert_eq!(loads.len(), 2);
    let config = BoardConfig::default();
    for (bytes, time) in loads {
        let rows = 9470 * 72;
        assert!(bytes > 100_000 && time >= config.loading(bytes, rows), "{bytes} bytes, {time} ps");
        assert!(time < config.loading(bytes, 2 * rows) && time > config.load_time(bytes));
    }
}

/// aes, and des and sha1, which differ from it by a frame: the library stores them as that.
#[test]
fn a_part_of_an_image_is_loaded_where_the_slot_holds_the_rest() {
    let build = Build::new();
    let key = SecretKey::generate().unwrap();
    let mut base = memory("LFE5U-45F", 0);
    for number in 200..400 {
        assert!(base.set_frame(number, &[[0; 53], [number as u8; 53]].concat()));
    }
    let variant = |byte: u8| {
        let mut memory = base.clone();
        assert!(memory.set_frame(300, &[[0; 53], [byte; 53]].concat()));
        memory
    };
    let (des, sha1) = (variant(0x77), variant(0x33));
    let mut library = Library::new(Dictionary::train([&base, &des]));
    library.add("aes", &base, b"{}", b"", &[]).unwrap();
    for (name, memory) in [("des", &des), ("sha1", &sha1)] {
        library.add(name, memory, b"{}", b"", &["aes"]).unwrap();
        assert_eq!(library.get(name).unwrap().base(), Some("aes"));
    }
    std::fs::write(build.at("a.lib"), library.to_bytes(Some(&key))).unwrap();
    std::fs::write(build.at("a.pub"), key.public().to_text()).unwrap();
    for (name, memory) in [("aes", &base), ("des", &des), ("sha1", &sha1)] {
        build.write(name, &ace_ecp5::Emit::default().whole(memory), memory.digest(), 80.0);
    }
    let wanted =
        |load| Controller { library: "a.lib".into(), key: "a.pub".into(), load, ..Controller::default() };
    let loads = |load| {
        let mut catalogue = build.catalogue();
        catalogue.store = open(&build, &wanted(load)).unwrap().map(Arc::new);
        let config = BoardConfig { controller: wanted(load), slots: 1, ..BoardConfig::default() };
        let source = Box::new(build.software.clone());
        let mut board = Board::with_source(config, catalogue, Policy::OnDemand, Models::Rtl, source).unwrap();
        let mut random = Random(5);
        for algorithm in [&AES, &DES, &SHA1, &AES, &MD5, &DES] {
            let operation = random.operation(algorithm, 300);
            assert_eq!(run_one(&mut board, operation.clone()).unwrap(), compute(operation).unwrap());
        }
        let report = board.report();
        let load = |what: &What| match what {
            What::Load { bytes, refused: None, .. } => Some(*bytes),
            _ => None,
        };
        let loads = report.events.iter().filter_map(|e| Some((load(&e.what)?, e.end - e.start)));
        loads.collect::<Vec<_>>()
    };
    let (full, part) = (loads(Loads::Full), loads(Loads::Partial));
    assert_eq!((full.len(), part.len()), (6, 6));
    assert!(full.iter().all(|(bytes, _)| *bytes > 100_000));
    // des over aes is a frame, and so is sha1 over des, as both change the same one of aes. Nothing else is: the
    // library has no delta that makes aes of sha1.
    let config = BoardConfig::default();
    for at in 0..6 {
        if at == 1 || at == 2 {
            assert!(part[at].0 < 250 && part[at].1 < config.load_time(1000), "{part:?}");
        } else {
            assert_eq!(part[at], full[at]);
        }
    }
}

#[test]
fn a_build_that_differs_is_not_taken_from_the_library() {
    let build = Build::new();
    let (wanted, _) = library(&build);
    let other = memory("LFE5U-45F", 9);
    build.write("aes", &ace_ecp5::Emit::default().whole(&other), other.digest(), 80.0);
    let mut board = board(&build, &wanted);
    let operation = Random(8).operation(&AES, 100);
    assert_eq!(run_one(&mut board, operation.clone()).unwrap(), compute(operation).unwrap());
    let report = board.report();
    assert!(!report.configurations[0].from_library && report.configurations[0].loads == 1);
}

#[test]
fn what_is_not_trusted_is_refused() {
    let build = Build::new();
    let (wanted, _) = library(&build);
    let refusal = |wanted: &Controller| match open(&build, wanted) {
        Err(StoreError::File(FileError::Refused { refusal, .. })) => refusal,
        other => panic!("{other:?}"),
    };
    assert!(open(&build, &wanted).unwrap().is_some());
    let newer = Controller { require: 8, ..wanted.clone() };
    assert!(matches!(refusal(&newer), Refusal::Downgraded { found: 7, required: 8 }));

    let other = SecretKey::generate().unwrap().public().to_text();
    std::fs::write(build.at("b.pub"), other).unwrap();
    assert!(matches!(
        refusal(&Controller { key: "b.pub".into(), ..wanted.clone() }),
        Refusal::OtherKey { .. }
    ));
    let mut bytes = std::fs::read(build.at("a.lib")).unwrap();
    bytes[1500] ^= 1;
    std::fs::write(build.at("a.lib"), &bytes).unwrap();
    assert!(matches!(refusal(&wanted), Refusal::Altered));
    bytes.truncate(1400);
    std::fs::write(build.at("a.lib"), &bytes).unwrap();
    assert!(matches!(refusal(&wanted), Refusal::Truncated { .. }));

    // One that was asked for has to be there; so has the key.
    let says = |wanted: Controller| open(&build, &wanted).unwrap_err().to_string();
    assert!(says(Controller { library: "c.lib".into(), ..wanted.clone() }).contains("c.lib"));
    assert!(says(Controller { key: "c.pub".into(), ..wanted.clone() }).contains("c.pub"));
    std::fs::write(build.at("d.pub"), "no key").unwrap();
    assert!(says(Controller { key: "d.pub".into(), ..wanted.clone() }).contains("d.pub"));
    assert!(open(&build, &Controller { library: "".into(), ..wanted }).unwrap().is_none());
}
