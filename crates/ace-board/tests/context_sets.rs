// SPDX-License-Identifier: Apache-2.0
//! Slots that hold the array: context sets are loaded over the host link in microseconds, and only those that a signed
//! library names.

use std::sync::Arc;

use crate::common::{Build, Random, compute, run_all, run_one};
use ace_array::set::Set;
use ace_array::shape::Shape;
use ace_array::{Named, algorithms, compile};
use ace_board::array::{ArrayError, ArraySlot, signed};
use ace_board::capability::Capability;
use ace_board::config::{Controller, SlotKind, SlotLimits};
use ace_board::model::{Frame, Options, RunError, SlotModel, Stopped};
use ace_board::pass::{Pass, Task};
use ace_board::store::StoreError;
use ace_board::trace::What;
use ace_board::{Board, BoardConfig, Catalogue, Models, Policy, Store, Unsigned};
use ace_ecp5::ConfigMemory;
use ace_ecp5::device::LFE5U_45F;
use ace_engine::algorithm::{AES, SHA1};
use ace_engine::{Direction, Engine, Mode, Need, Secret};
use ace_library::codec::Dictionary;
use ace_library::file::Guard;
use ace_library::{FileError, Library, Refusal, SecretKey, Seen, Trust};
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

/// A library with one context set, and who has signed it.
struct Signed<'a> {
    build: &'a Build,
    key: SecretKey,
}

impl<'a> Signed<'a> {
    fn new(build: &'a Build) -> Self {
        Self { build, key: SecretKey::generate().unwrap() }
    }

    /// Signs a library with these bytes as the set of `aes`, and the manifest that they are said to have.
    fn sign(&self, bytes: &[u8], manifest: &str, version: u64) {
        let mut library = Library::new(Dictionary::train([&ConfigMemory::new(&LFE5U_45F)]));
        library.add_set("aes", bytes, manifest.as_bytes()).unwrap();
        library.version = version;
        std::fs::write(self.build.at("a.lib"), library.to_bytes(Some(&self.key))).unwrap();
    }

    fn open(&self, key: &SecretKey) -> Result<Arc<Store>, StoreError> {
        let seen = Seen::at(&self.build.at("seen"));
        let guard = Guard { trust: Trust::signed_by(key.public()), seen, allow_older: false };
        let wanted = Controller { library: "a.lib".into(), ..Controller::default() };
        Store::open(&wanted, Some(&self.build.at("")), guard).map(|store| Arc::new(store.unwrap()))
    }

    fn refused(&self, key: &SecretKey) -> Refusal {
        match self.open(key).unwrap_err() {
            StoreError::File(FileError::Refused { refusal, .. }) => refusal,
            other => panic!("{other}"),
        }
    }
}

fn board(build: &Build, catalogue: Catalogue) -> Board {
    let source = Box::new(build.software.clone());
    Board::with_source(BoardConfig::default(), catalogue, Policy::ALL[1], Models::Rtl, source).unwrap()
}

/// Why a board loads none of the sets of a catalogue.
fn refusal(build: &Build, catalogue: Catalogue) -> String {
    let mut board = board(build, catalogue);
    let error = run_one(&mut board, Random(1).operation(&AES, 64)).unwrap_err();
    assert!(board.report().events.iter().all(|e| !matches!(e.what, What::Load { refused: None, .. })));
    board.explain(&error)
}

#[test]
fn a_set_that_no_signed_library_names_is_not_loaded() {
    let build = Build::new();
    let why = refusal(&build, sets(&build));
    assert!(why.contains("there is no signed library"), "{why}");
    let signed = Signed::new(&build);
    let manifest = build.manifest("aes");
    // Another set of that name; one of less; one whose manifest says nothing.
    for (bytes, manifest, text) in [
        (&b"other"[..], manifest.as_str(), "holds another context set of that name"),
        (&build.bits("aes"), r#"{"can":[]}"#, "other algorithms than the one signed"),
        (&build.bits("aes"), "[]", "cannot be used"),
    ] {
        signed.sign(bytes, manifest, 1);
        let mut catalogue = sets(&build);
        catalogue.store = Some(signed.open(&signed.key).unwrap());
        let why = refusal(&build, catalogue);
        assert!(why.contains("no signed library names the context set") && why.contains(text), "{why}");
    }
}

#[test]
fn a_set_that_was_changed_after_somebody_signed_it_is_refused() {
    let build = Build::new();
    let signed = Signed::new(&build);
    let set = build.bits("aes");
    signed.sign(&set, &build.manifest("aes"), 7);
    let file = build.at("a.lib");
    let good = std::fs::read(&file).unwrap();
    let at = good.windows(set.len()).position(|bytes| bytes == set).unwrap();
    let write = |bytes: &[u8]| std::fs::write(&file, bytes).unwrap();
    let mut flipped = good.clone();
    flipped[at + 9] ^= 1;
    write(&flipped);
    assert_eq!(signed.refused(&signed.key), Refusal::Altered);
    write(&good[..at + 9]);
    assert!(matches!(signed.refused(&signed.key), Refusal::Truncated { .. }));
    write(&good);
    let stranger = SecretKey::generate().unwrap();
    assert!(matches!(signed.refused(&stranger), Refusal::OtherKey { .. }));
    signed.open(&signed.key).unwrap();
    signed.sign(&set, &build.manifest("aes"), 6);
    assert_eq!(signed.refused(&signed.key), Refusal::Older { found: 6, seen: 7 });
}

/// What a set that sets keys up says that it can, no board believes.
#[test]
fn a_set_that_sets_keys_up_is_no_configuration() {
    let build = Build::new();
    let all = build.catalogue().configurations.len();
    let path = build.at("configurations").join("aes").join("manifest.json");
    let text = std::fs::read_to_string(&path).unwrap();
    let stated = r#""context_set":true,"sets_up":"aes128_encrypt""#;
    std::fs::write(&path, text.replace(r#""unknown":1"#, stated)).unwrap();
    let catalogue = build.catalogue();
    assert_eq!((catalogue.configurations.len(), catalogue.problems.len()), (all - 1, 0));
    assert!(catalogue.configurations.iter().all(|one| one.name != "aes" && one.sets_up.is_none()));
}

#[test]
fn a_set_of_the_library_is_loaded_over_the_link() {
    let build = Build::new();
    let signed = Signed::new(&build);
    let bytes = build.bits("aes").len() as u64;
    signed.sign(&build.bits("aes"), &build.manifest("aes"), 1);
    let mut catalogue = sets(&build);
    catalogue.store = Some(signed.open(&signed.key).unwrap());
    // Nothing of the build folder's file is read.
    std::fs::write(build.bit_file("aes"), b"spoiled").unwrap();
    let mut board = board(&build, catalogue);
    let mut random = Random(2);
    for _ in 0..20 {
        let task = random.operation(&AES, 640);
        let wanted = compute(task.clone()).unwrap();
        assert_eq!(run_one(&mut board, task).unwrap(), wanted);
    }
    let report = board.report();
    assert!(report.configurations.iter().all(|c| c.from_library));
    let loads: Vec<u64> = report
        .events
        .iter()
        .filter(|e| matches!(e.what, What::Load { .. }))
        .map(|e| e.end - e.start)
        .collect();
    let config = BoardConfig::default();
    assert_eq!(loads, [config.send_time(bytes) + config.link_time(bytes + 16)]);
    assert!(loads[0] < config.port_time(bytes), "a load over the port takes longer");
}

#[test]
fn a_set_that_nobody_signed_is_loaded_on_request_if_it_is_known() {
    let build = Build::new();
    let mut catalogue = sets(&build);
    catalogue.unsigned = Unsigned::Proven;
    let why = refusal(&build, catalogue.clone());
    assert!(why.contains("no signed library names"), "{why}");
    let mut bits = build.bits("aes");
    catalogue.sets.insert(Sha256::digest(&bits).into());
    let task = Random(3).operation(&AES, 64);
    assert_eq!(run_one(&mut board(&build, catalogue.clone()), task.clone()).unwrap(), compute(task).unwrap());
    // Its file is compared with the manifest.
    bits[9] ^= 1;
    std::fs::write(build.bit_file("aes"), bits).unwrap();
    let why = refusal(&build, catalogue);
    assert!(why.contains("is not the file in the manifest"), "{why}");
}

/// A slot that nobody is to send anything.
struct Silent;

impl SlotModel for Silent {
    fn run(&mut self, _: &mut [Frame], _: &Options) -> Result<(), RunError> {
        panic!("a frame was sent");
    }

    fn join(&mut self, _: u64, _: Frame) -> u64 {
        panic!("a frame was sent");
    }

    fn go(&mut self, _: u64, _: u64) -> Result<Option<(u64, Frame)>, Stopped> {
        panic!("a frame was sent");
    }

    fn reset(&mut self) {}

    fn clocks(&self) -> u64 {
        0
    }
}

/// Whatever a slot would compute with it: a set that puts out less than its result, or that reads another block.
#[test]
fn a_set_that_reaches_beyond_its_block_comes_to_no_slot_and_no_library() {
    let named = Named::find("aes128_encrypt").unwrap();
    let shape = Shape::standard();
    let program = algorithms::program(named.served.file).unwrap();
    let good = compile(&program, &named.variant, &shape, ace_array::schedule::Effort::default()).unwrap().set;
    let mut early = good.clone();
    early.latency -= 1;
    // All contexts one later: the block's first words are another's.
    let mut turned = good.clone();
    turned.contexts.rotate_right(1);
    for set in [early, turned] {
        let bytes = set.to_bytes();
        assert!(Set::from_bytes(&bytes, &shape).is_err());
        let slot = ArraySlot::loaded(Box::new(Silent), &named.name, bytes.clone()).err().unwrap();
        let library = signed::SetManifest::of(&named.name, &bytes).unwrap_err();
        for error in [slot, library] {
            let text = error.to_string();
            assert!(matches!(error, ArrayError::Set { error: ace_array::Error::Bounds(_), .. }), "{text}");
            assert!(text.starts_with("aes128_encrypt: ") && text.contains("context"), "{text}");
            assert!(text.contains("address") || text.contains("word"), "{text}");
        }
    }
    signed::SetManifest::of(&named.name, &good.to_bytes()).unwrap();
}

/// The library of the repository, as it was signed.
#[test]
fn every_set_of_the_library_keeps_to_its_own() {
    let file = concat!(env!("CARGO_MANIFEST_DIR"), "/../../library/ace.lib");
    let library = Library::from_bytes(&std::fs::read(file).unwrap(), &Trust::ANYBODY).unwrap();
    let known = ace_board::array::digests().unwrap().len();
    assert_eq!((signed::verify_all(&library).unwrap(), library.sets().len()), (known, known));
}

/// What one tile did.
#[derive(Default)]
struct Done {
    /// From when to when.
    loads: Vec<(u64, u64)>,
    /// The bank, and from when to when.
    runs: Vec<(usize, u64, u64)>,
    end: u64,
}

/// What a tile of so many banks does with operations that alternate between two sets.
fn alternating(banks: usize) -> Done {
    let build = Build::new();
    let mut catalogue = build.catalogue();
    for configuration in &mut catalogue.configurations {
        configuration.context_set = true;
    }
    let slot = SlotLimits { kind: SlotKind::Array, banks, ..SlotLimits::default() };
    let config = BoardConfig { slots: 1, slot, ..BoardConfig::default() };
    config.check().unwrap();
    let source = Box::new(build.software.clone());
    let mut board = Board::with_source(config, catalogue, Policy::DoubleBuffer, Models::Rtl, source).unwrap();
    let mut random = Random(4);
    let tasks: Vec<_> = (0..40).map(|n| random.operation([&AES, &SHA1][n / 2 % 2], 9000)).collect();
    let wanted: Vec<_> = tasks.iter().map(|task| compute(task.clone())).collect();
    assert_eq!(run_all(&mut board, &tasks, 1), wanted);
    let report = board.report();
    assert_eq!(report.slots.len(), banks);
    let mut done = Done { end: report.totals.total, ..Done::default() };
    for event in &report.events {
        match event.what {
            What::Load { refused: None, .. } => done.loads.push((event.start, event.end)),
            What::Execute { .. } => done.runs.push((event.slot, event.start, event.end)),
            _ => {}
        }
    }
    done
}

#[test]
fn one_bank_runs_while_the_other_one_is_loaded() {
    let Done { loads, mut runs, end } = alternating(2);
    // One tile: nothing runs beside anything else.
    runs.sort_by_key(|run| run.1);
    assert!(runs.windows(2).all(|two| two[0].2 <= two[1].1), "{runs:?}");
    assert!(runs.iter().any(|run| run.0 == 0) && runs.iter().any(|run| run.0 == 1));
    let beside = |load: &(u64, u64)| runs.iter().any(|run| run.1 < load.1 && load.0 < run.2);
    assert!(loads.iter().any(beside), "{loads:?} {runs:?}");
    let one = alternating(1);
    assert!(one.loads.len() > loads.len() && one.runs.len() == runs.len());
    assert!(end < one.end, "{end} {}", one.end);
}

#[test]
fn only_the_array_has_two_banks() {
    let slot = SlotLimits { banks: 2, ..SlotLimits::default() };
    let (key, why) = BoardConfig { slot, ..BoardConfig::default() }.check().unwrap_err();
    assert_eq!((key, why.as_str()), ("slot.banks", "`slot.banks` must be 1 to 1, not 2"));
}

/// Whether passes brought their keys, of operations on two places, in so many slots, tiles and banks, that are given them one
/// at a time. A place's set is for keys of so many bytes and for one direction.
fn keys([slots, tiles, banks]: [usize; 3], sets: [(usize, Direction); 2], order: &[usize]) -> Vec<bool> {
    let build = Build::new();
    let text = build.manifest("aes");
    let other = build.at("configurations").join("des").join("manifest.json");
    let own = build.at("configurations").join("aes").join("manifest.json");
    std::fs::copy(build.bit_file("aes"), other.with_file_name("aes.bit")).unwrap();
    for (file, (name, (bytes, way))) in [own, other].iter().zip(["aes", "des"].into_iter().zip(sets)) {
        let text = text.replace("[16, 24, 32]", &format!("[{bytes}]"));
        let text = text.replace(r#"["encrypt","decrypt"]"#, &format!(r#"["{}"]"#, way.name()));
        let text = text.replace(r#""name":"aes""#, &format!(r#""name":"{name}""#));
        std::fs::write(file, text.replace(r#""unknown":1"#, r#""context_set":true"#)).unwrap();
    }
    let slot = SlotLimits { kind: SlotKind::Array, tiles, banks, ..SlotLimits::default() };
    let config = BoardConfig { slots, slot, ..BoardConfig::default() };
    let source = Box::new(build.software.clone());
    let mut board =
        Board::with_source(config, build.catalogue(), Policy::DoubleBuffer, Models::Rtl, source).unwrap();
    for set in order {
        let (bytes, direction) = sets[*set];
        let key = Secret::new(vec![bytes as u8; bytes]);
        let pass = Pass::Cipher { algorithm: &AES, mode: Mode::Cbc, direction, key, iv: vec![1; 16] };
        let task = Task { pass, data: vec![2; 64] };
        assert_eq!(run_one(&mut board, task.clone()).unwrap(), compute(task).unwrap());
    }
    let report = board.report();
    assert_eq!(report.slots.iter().map(|slot| slot.loads).collect::<Vec<_>>(), [1, 1], "a set in each place");
    let fresh = |event: &ace_board::trace::Event| match event.what {
        What::Execute { fresh_key, .. } => Some(fresh_key),
        _ => None,
    };
    report.events.iter().filter_map(fresh).collect()
}

#[test]
fn a_place_whose_frames_another_one_of_the_slot_answers_gets_its_key_again() {
    use Direction::{Decrypt, Encrypt};
    let order = [0, 1, 0, 0, 1, 1];
    let both = [(16, Encrypt), (32, Encrypt)];
    let expected = [true, true, false, false, false, false];
    // A slot knows the last key for AES that encrypts, whatever its length, in both banks of a tile and in both tiles.
    for shape in [[1, 1, 2], [1, 2, 1]] {
        assert_eq!(keys(shape, both, &order), [true, true, true, false, true, false], "{shape:?}");
        assert_eq!(keys(shape, [(16, Encrypt), (32, Decrypt)], &order), expected, "{shape:?}");
    }
    assert_eq!(keys([2, 1, 1], both, &order), expected);
}

/// What encrypts decrypts as well in CFB and OFB, and is no set for the frames of the one that decrypts.
#[test]
fn a_set_that_encrypts_does_both_directions_of_cfb_and_ofb() {
    let served = algorithms::Served::find(AES.code, 16).unwrap();
    let (on, back) = (signed::can(served, false), signed::can(served, true));
    let serves = |can: &[Capability], mode, direction| {
        let need = Need::Cipher { algorithm: &AES, mode, direction, key_len: 16 };
        can.iter().any(|one| one.serves(&need))
    };
    for direction in Direction::BOTH {
        for mode in [Mode::Ctr, Mode::Cfb, Mode::Ofb] {
            assert!(
                serves(&on, mode, direction) && !serves(&back, mode, direction),
                "{mode:?} {direction:?}"
            );
        }
        for mode in [Mode::Ecb, Mode::Cbc] {
            let encrypts = direction == Direction::Encrypt;
            assert!(serves(&on, mode, direction) == encrypts, "{mode:?} {direction:?}");
            assert!(serves(&back, mode, direction) != encrypts, "{mode:?} {direction:?}");
        }
        assert!(!serves(&on, Mode::Cfb8, direction) && !serves(&back, Mode::Cfb8, direction));
    }
    let alike = |a: &[Capability], b: &[Capability]| a.iter().any(|a| b.iter().any(|b| a.answers_like(b)));
    assert!(alike(&on, &on) && alike(&back, &back) && !alike(&on, &back) && !alike(&back, &on));
}
