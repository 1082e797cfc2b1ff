// SPDX-License-Identifier: Apache-2.0
//! Configurations from a library: the board loads the bits that were signed, and nothing else.

use std::sync::Arc;

use crate::common::{Build, Random, compute, memory, record, run_one};
use ace_board::config::{Controller, Loads};
use ace_board::trace::{Picos, What};
use ace_board::{Board, BoardConfig, Models, Policy, Store, StoreError, Unsigned};
use ace_engine::algorithm::{AES, Algorithm, DES, MD5, SHA1};
use ace_engine::{Engine, EngineError};
use ace_library::codec::Dictionary;
use ace_library::file::Guard;
use ace_library::{FileError, KeySet, Library, Refusal, SecretKey, Seen, Trust};
use serde_json::{Value, json};

/// Who signs here.
struct Signer {
    key: SecretKey,
    state: tempfile::TempDir,
}

impl Signer {
    fn new() -> Self {
        Self { key: SecretKey::generate().unwrap(), state: tempfile::tempdir().unwrap() }
    }

    fn guard(&self) -> Guard {
        let trust = Trust::signed_by(self.key.public());
        Guard { trust, seen: Seen::at(self.state.path()), allow_older: false }
    }
}

/// A library with `aes` and `md5` of [`Build`], and who has signed it.
fn library(build: &Build) -> (Controller, Signer) {
    let signer = Signer::new();
    (library_of(build, &signer, |_, _, _| {}), signer)
}

/// The same, with manifests and records that are edited before somebody signs them.
fn library_of(build: &Build, signer: &Signer, edit: impl Fn(&str, &mut Value, &mut Value)) -> Controller {
    let memories = [("aes", memory("LFE5U-45F", 0)), ("md5", memory("LFE5U-45F", 2))];
    let mut library = Library::new(Dictionary::train(memories.iter().map(|(_, m)| m)));
    for (name, memory) in &memories {
        let mut manifest: Value = serde_json::from_str(&build.manifest(name)).unwrap();
        let mut record = record(memory.digest());
        edit(name, &mut manifest, &mut record);
        let record = if record.is_null() { String::new() } else { record.to_string() };
        library.add(name, memory, manifest.to_string().as_bytes(), record.as_bytes(), &[]).unwrap();
    }
    library.version = 7;
    std::fs::write(build.at("a.lib"), library.to_bytes(Some(&signer.key))).unwrap();
    Controller { library: "a.lib".into(), ..Controller::default() }
}

fn open(build: &Build, wanted: &Controller, signer: &Signer) -> Result<Option<Store>, StoreError> {
    Store::open(wanted, Some(&build.at("")), signer.guard())
}

fn board(build: &Build, wanted: &Controller, signer: &Signer) -> Board {
    board_with(build, wanted, signer, Unsigned::Unproven)
}

fn board_with(build: &Build, wanted: &Controller, signer: &Signer, unsigned: Unsigned) -> Board {
    let mut catalogue = build.catalogue();
    catalogue.store = open(build, wanted, signer).unwrap().map(Arc::new);
    catalogue.unsigned = unsigned;
    let config = BoardConfig { controller: wanted.clone(), ..BoardConfig::default() };
    let source = Box::new(build.software.clone());
    Board::with_source(config, catalogue, Policy::OnDemand, Models::Rtl, source).unwrap()
}

#[test]
fn the_bits_are_those_of_the_library() {
    let build = Build::new();
    let (wanted, signer) = library(&build);
    // Nothing of the build's bitstreams is read of what the library holds.
    for name in ["aes", "md5", "des"] {
        std::fs::write(build.bit_file(name), b"spoiled").unwrap();
    }
    let mut board = board(&build, &wanted, &signer);
    let mut random = Random(5);
    for algorithm in [&AES, &MD5] {
        let operation = random.operation(algorithm, 300);
        assert_eq!(run_one(&mut board, operation.clone()).unwrap(), compute(operation).unwrap());
    }
    let des = random.operation(&DES, 64);
    assert!(matches!(run_one(&mut board, des), Err(EngineError::LoadFailed { .. })));
    let report = board.report();
    assert!(report.library.as_ref().is_some_and(|words| {
        words.ends_with(&format!("a.lib, version 7, signed by {}", signer.key.public().fingerprint()))
    }));
    let from: Vec<_> = report.configurations.iter().map(|c| (c.name.as_str(), c.from_library)).collect();
    assert_eq!(from, [("aes", true), ("des", false), ("md5", true), ("sha1", false)]);

    // What goes through the port are the frames that are used, and the modelled time is that of the loader's clocks where
    // the port is faster.
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
    let stored = Library::from_bytes(&std::fs::read(build.at("a.lib")).unwrap(), &Trust::ANYBODY).unwrap();
    for ((bytes, time), name) in loads.into_iter().zip(["aes", "md5"]) {
        let (load, all) = (stored.whole(name).unwrap(), stored.whole_with_blank(name).unwrap());
        assert_eq!((bytes, time), (load.bitstream.len() as u64, config.loading(bytes, load.loader_clocks)));
        assert!(load.bitstream.len() < 1000 && all.bitstream.len() > 100_000, "{bytes} bytes, {time} ps");
        assert!(load.loader_clocks < 9470 && all.loader_clocks > 9470 * 39);
    }
}

/// What loads take with one slot that computes one algorithm after the other: bytes through the port and time. Of the
/// library `aes` is the base of `des` and `sha1`, in which these frames are others.
fn loads(frames: [&[usize]; 2], load: Loads, algorithms: &[&'static Algorithm]) -> Vec<(u64, Picos)> {
    let build = Build::new();
    let signer = Signer::new();
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
    for (name, memory) in [("aes", &base), ("des", &des), ("sha1", &sha1)] {
        build.write(name, &ace_ecp5::Emit::default().whole(memory), memory.digest(), 80.0);
        let (manifest, record) = (build.manifest(name), record(memory.digest()).to_string());
        library.add(name, memory, manifest.as_bytes(), record.as_bytes(), &["aes"]).unwrap();
        assert_eq!(library.get(name).unwrap().base(), Some("aes").filter(|_| name != "aes"));
    }
    std::fs::write(build.at("a.lib"), library.to_bytes(Some(&signer.key))).unwrap();
    let wanted = Controller { library: "a.lib".into(), load, ..Controller::default() };
    let mut catalogue = build.catalogue();
    catalogue.store = open(&build, &wanted, &signer).unwrap().map(Arc::new);
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
    assert!(full.iter().all(|(bytes, _)| *bytes > 9000));
    let config = BoardConfig::default();
    let is_part = |at: &usize| {
        let (bytes, time) = part[*at];
        // Each frame with CRC and a dummy byte; a millisecond is for more than 7 KB over SPI.
        if (count * 109..count * 109 + 150).contains(&bytes) {
            assert!(time >= config.port_time(bytes) && time < config.port_time(bytes + 1500), "{part:?}");
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
    let (wanted, signer) = library(&build);
    let other = memory("LFE5U-45F", 9);
    build.write("aes", &ace_ecp5::Emit::default().whole(&other), other.digest(), 80.0);
    let mut board = board(&build, &wanted, &signer);
    let operation = Random(8).operation(&AES, 100);
    assert_eq!(run_one(&mut board, operation.clone()).unwrap(), compute(operation).unwrap());
    let report = board.report();
    assert!(
        !report.configurations.as_slice()[0].from_library && report.configurations.as_slice()[0].loads == 1
    );
}

#[test]
fn what_is_not_trusted_is_refused() {
    let build = Build::new();
    let (wanted, signer) = library(&build);
    let refusal = |wanted: &Controller, signer: &Signer| match open(&build, wanted, signer) {
        Err(StoreError::File(FileError::Refused { refusal, .. })) => refusal,
        other => panic!("{other:?}"),
    };
    assert!(open(&build, &wanted, &signer).unwrap().is_some());
    let newer = Controller { require: 8, ..wanted.clone() };
    assert!(matches!(refusal(&newer, &signer), Refusal::Downgraded { found: 7, required: 8 }));
    let mut other = Signer::new();
    assert!(matches!(refusal(&wanted, &other), Refusal::OtherKey { .. }));
    // A newer one of the same key was here.
    let seen = Seen::at(signer.state.path());
    seen.note(&[signer.key.public()], 9).unwrap();
    assert_eq!(refusal(&wanted, &signer), Refusal::Older { found: 7, seen: 9 });
    let anyway = Guard { allow_older: true, ..signer.guard() };
    assert!(Store::open(&wanted, Some(&build.at("")), anyway).unwrap().is_some());
    // Two have to sign, and one has.
    let text = format!("{}{}", signer.key.public().to_text(), other.key.public().to_text());
    let both = Trust::signed_by(KeySet::parse(&text).unwrap());
    let both = Guard { trust: both, ..other.guard() };
    let one = Store::open(&wanted, Some(&build.at("")), both).unwrap_err();
    assert!(matches!(one, StoreError::File(FileError::Refused { refusal: Refusal::TooFew { .. }, .. })));

    other.key = signer.key;
    let signer = other;
    let mut bytes = std::fs::read(build.at("a.lib")).unwrap();
    bytes[1500] ^= 1;
    std::fs::write(build.at("a.lib"), &bytes).unwrap();
    assert!(matches!(refusal(&wanted, &signer), Refusal::Altered));
    bytes.truncate(1400);
    std::fs::write(build.at("a.lib"), &bytes).unwrap();
    assert!(matches!(refusal(&wanted, &signer), Refusal::Truncated { .. }));

    // One that was asked for has to be there.
    let gone = open(&build, &Controller { library: "c.lib".into(), ..wanted.clone() }, &signer);
    assert!(gone.unwrap_err().to_string().contains("c.lib"));
    let none = open(&build, &Controller { library: "".into(), ..wanted }, &signer);
    assert!(none.unwrap().is_none());
}

/// What becomes of an operation of AES.
fn aes(mut board: Board) -> Result<(), String> {
    let operation = Random(8).operation(&AES, 100);
    match run_one(&mut board, operation.clone()) {
        Ok(result) => {
            assert_eq!(result, compute(operation).unwrap());
            Ok(())
        }
        Err(error @ EngineError::LoadFailed { configuration }) => {
            let report = board.report();
            let refused = &report.configurations[configuration];
            assert_eq!(refused.name, "aes");
            let reason = refused.refused.clone().expect("it is not tried again");
            assert_eq!(board.explain(&error), format!("configuration `aes` was refused: {reason}"));
            assert!(report.configurations.as_slice()[0].operations == 0, "it computed something");
            Err(reason)
        }
        Err(other) => panic!("{other}"),
    }
}

#[test]
fn only_what_is_proven_and_signed_is_loaded() {
    let build = Build::new();
    let signer = Signer::new();
    let with = |edit: &dyn Fn(&mut Value, &mut Value)| {
        let edited = |name: &str, manifest: &mut Value, record: &mut Value| {
            if name == "aes" {
                edit(manifest, record);
            }
        };
        let wanted = library_of(&build, &signer, edited);
        // With or without the flag that takes what is proven in the build: there is no record there.
        let proven = aes(board_with(&build, &wanted, &signer, Unsigned::Proven));
        let refused = aes(board_with(&build, &wanted, &signer, Unsigned::Refused));
        assert_eq!(proven.is_ok(), refused.is_ok());
        refused.err().unwrap_or_default()
    };
    assert_eq!(with(&|_, _| {}), "");
    for (pointer, value, why) in [
        ("/result", json!("refuted"), "says `refuted`"),
        ("/format", json!(1), "has format 1"),
        ("/memory_sha256", json!("33".repeat(32)), "is of other bits"),
        ("/netlist_sha256", json!("33".repeat(32)), "another netlist"),
        ("/control/result", json!("proven"), "not refuted"),
        ("/control/points_refuted", json!(0), "not refuted"),
    ] {
        let message = with(&|_, record| *record.pointer_mut(pointer).unwrap() = value.clone());
        assert!(message.contains(why) && message.contains("a.lib holds it"), "{pointer}: {message}");
    }
    assert!(with(&|_, record| *record = Value::Null).contains("no record"));
    // A manifest of something else under this name, or none.
    for (key, value) in [("name", json!("des")), ("memory_sha256", json!("33".repeat(32)))] {
        assert!(with(&|manifest, _| manifest[key] = value.clone()).contains("of another configuration"));
    }
    assert!(with(&|manifest, _| *manifest = json!({})).contains("cannot be used"));
    assert!(with(&|manifest, _| manifest["netlist_sha256"] = Value::Null).contains("of which netlist"));
    // What the build says of the same bits is not more than what was signed.
    for (key, value, what) in [
        ("fmax_mhz", json!(60.0), "another clock"),
        ("in_flight", json!(4), "frames in flight"),
        ("kept", json!({ "u_lut": 7 }), "kept LUTs"),
        ("can", json!([]), "another algorithms"),
    ] {
        let message = with(&|manifest, _| manifest[key] = value.clone());
        assert!(message.contains(what.trim_start_matches("another ")), "{key}: {message}");
    }
}

#[test]
fn what_nobody_has_signed_is_loaded_only_where_that_is_asked_for() {
    let build = Build::new();
    let (signer, none) = (Signer::new(), Controller { library: "".into(), ..Controller::default() });
    let says = |unsigned| aes(board_with(&build, &none, &signer, unsigned)).err().unwrap_or_default();
    assert!(says(Unsigned::Refused).contains("signed by nobody (--unsigned"), "{}", says(Unsigned::Refused));
    assert!(says(Unsigned::Proven).contains("no record"));
    assert_eq!(says(Unsigned::Unproven), "");
    let own = memory("LFE5U-45F", 0).digest();
    build.prove("aes", &record(own));
    assert_eq!(says(Unsigned::Proven), "");
    assert!(says(Unsigned::Refused).contains("signed by nobody"));

    // The image of a control, which was refuted, under the manifest of the one that was proven: whatever of manifest
    // and record is edited, the record has to be of the bits that are in the memory.
    let control = memory("LFE5U-45F", 77);
    let bits = ace_ecp5::Emit::default().whole(&control);
    let mut refuted = record(own);
    refuted["control"]["memory_sha256"] = json!(crate::common::hex(&control.digest()));
    build.prove("aes", &refuted);
    build.write("aes", &bits, own, 80.0);
    assert!(says(Unsigned::Proven).contains("not those of any known configuration"));
    build.write("aes", &bits, control.digest(), 80.0);
    assert!(says(Unsigned::Proven).contains("is of other bits"), "{}", says(Unsigned::Proven));
    // A record of the control under its own name: it was refuted, and its control is itself.
    let mut forged = refuted.clone();
    forged["memory_sha256"] = json!(crate::common::hex(&control.digest()));
    build.prove("aes", &forged);
    assert!(says(Unsigned::Proven).contains("not of other bits"));
    let mut message = record(control.digest());
    message["result"] = json!("refuted");
    build.prove("aes", &message);
    assert!(says(Unsigned::Proven).contains("says `refuted`"));
    assert!(says(Unsigned::Refused).contains("signed by nobody"));
}
