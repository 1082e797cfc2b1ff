// SPDX-License-Identifier: Apache-2.0
//! Configurations from a library: the board loads the bits that were signed, and nothing else.

mod common;

use std::sync::Arc;

use ace_board::config::{Controller, Loads};
use ace_board::trace::{Picos, What};
use ace_board::{Board, BoardConfig, Models, Policy, Store, StoreError};
use ace_engine::EngineError;
use ace_engine::algorithm::{AES, Algorithm, DES, MD5, SHA1};
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

/// What loads take with one slot that computes one algorithm after the other: bytes through the port and time. Of the
/// library `aes` is the base of `des` and `sha1`, in which these frames are others.
fn loads(frames: [&[usize]; 2], load: Loads, algorithms: &[&'static Algorithm]) -> Vec<(u64, Picos)> {
    let build = Build::new();
    let key = SecretKey::generate().unwrap();
    let mut base = memory("LFE5U-45F", 0);
    for number in 200..400 {
        assert!(base.set_frame(number, &[[0; 53], [number as u8; 53]].concat()));
    }
    let variant = |frames: &[usize], byte: u8| {
        let mut memory = base.clone();
        assert!(frames.iter().all(|number| memory.set_frame(*number, &[[0; 53], [byte; 53]].concat())));
        memory
    };
    let (des, sha1) = (variant(frames[0], 0x77), variant(frames[1], 0x33));
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
    let wanted = Controller { library: "a.lib".into(), key: "a.pub".into(), load, ..Controller::default() };
    let mut catalogue = build.catalogue();
    catalogue.store = open(&build, &wanted).unwrap().map(Arc::new);
    let config = BoardConfig { controller: wanted, slots: 1, ..BoardConfig::default() };
    let source = Box::new(build.software.clone());
    let mut board = Board::with_source(config, catalogue, Policy::OnDemand, Models::Rtl, source).unwrap();
    let mut random = Random(5);
    for algorithm in algorithms {
        let operation = random.operation(algorithm, 300);
        assert_eq!(run_one(&mut board, operation.clone()).unwrap(), compute(operation).unwrap());
    }
    let report = board.report();
    let load = |what: &What| match what {
        What::Load { bytes, refused: None, .. } => Some(*bytes),
        _ => None,
    };
    report.events.iter().filter_map(|e| Some((load(&e.what)?, e.end - e.start))).collect()
}

/// The numbers of those loads that write so many frames; the others are whole, as with `load = "full"`.
fn partial(frames: [&[usize]; 2], count: u64, algorithms: &[&'static Algorithm]) -> Vec<usize> {
    let (full, part) = (loads(frames, Loads::Full, algorithms), loads(frames, Loads::Partial, algorithms));
    assert_eq!((full.len(), part.len()), (algorithms.len(), algorithms.len()));
    assert!(full.iter().all(|(bytes, _)| *bytes > 100_000));
    let config = BoardConfig::default();
    let is_part = |at: &usize| {
        let (bytes, time) = part[*at];
        // Each frame with CRC and a dummy byte; a millisecond is for more than 7 KB over SPI.
        if (count * 109..count * 109 + 150).contains(&bytes) {
            assert!(time >= config.load_time(bytes) && time < config.load_time(bytes + 1500), "{part:?}");
            return true;
        }
        assert_eq!(part[*at], full[*at]);
        false
    };
    (0..part.len()).filter(is_part).collect()
}

#[test]
fn a_part_of_an_image_is_loaded_where_the_slot_holds_the_rest() {
    let algorithms = [&AES, &DES, &SHA1, &AES, &SHA1, &DES, &AES, &MD5, &DES, &AES];
    // Of a skeleton, of another variant, and back again; not of nothing, not of md5, and not md5.
    assert_eq!(partial([&[300], &[300]], 1, &algorithms), [1, 2, 3, 4, 5, 6, 9]);
    // The same where the variants change different frames: both of them are written then.
    assert_eq!(partial([&[300, 301], &[310]], 3, &algorithms), [1, 2, 3, 4, 5, 6, 9]);
}

#[test]
fn what_has_no_way_back_is_loaded_whole() {
    let wide: Vec<usize> = (200..270).collect();
    // sha1 changes 70 frames: they are written over aes, but aes and des are not made of it by so few.
    assert_eq!(partial([&[300], &wide], 1, &[&AES, &DES, &AES, &DES]), [1, 2, 3]);
    let algorithms = [&AES, &SHA1, &AES, &SHA1, &DES, &SHA1];
    assert_eq!(partial([&[300], &wide], 70, &algorithms), [1, 3]);
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
