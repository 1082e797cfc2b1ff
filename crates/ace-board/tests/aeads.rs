// SPDX-License-Identifier: Apache-2.0
//! AES-GCM in slots that hold the array: what a set's manifest says of it, frames both ways, tags that are wrong, lengths that
//! no slot has a frame for; and published answers in the slot's RTL, where that is built.

use std::collections::HashSet;

use ace_array::schedule::Effort;
use ace_array::shape::Shape;
use ace_array::{Named, algorithms, compile};
use ace_board::array::signed;
use ace_board::board::Board;
use ace_board::config::{SlotKind, SlotLimits};
use ace_board::frame::{self, Header, KeySection, Status, flag, op};
use ace_board::model::{Frame, Model, Options, SlotModel};
use ace_board::pass::{Pass, Task};
use ace_board::trace::What;
use ace_board::{Assembly, BoardConfig, Models, Policy, Unsigned};
use ace_ecp5::ConfigMemory;
use ace_ecp5::device::LFE5U_45F;
use ace_engine::algorithm::AES;
use ace_engine::kat::{self, KnownAnswers, Subject};
use ace_engine::{Aead, Direction, Engine, EngineError, Mode, Need, Secret};
use ace_library::codec::Dictionary;
use ace_library::file::Guard;
use ace_library::{Library, Seen, Trust};

use crate::common::{Build, Random, cases, compute, published, run_all, run_one};

/// A board whose one set serves AES-GCM alone, in slots that are software.
fn board(build: &Build, in_flight: usize) -> Board {
    let path = build.at("configurations").join("aes").join("manifest.json");
    let text = std::fs::read_to_string(&path).unwrap();
    let modes = r#""modes":["ecb","cbc","ctr","cfb","cfb8","ofb"]"#;
    let more = format!(r#""context_set":true,"in_flight":{in_flight}"#);
    let text = text.replace(modes, r#""aeads":["aes-gcm"]"#).replace(r#""unknown":1"#, &more);
    std::fs::write(&path, text).unwrap();
    let mut catalogue = build.catalogue();
    catalogue.configurations.retain(|c| c.context_set);
    let slot = SlotLimits { kind: SlotKind::Array, ..SlotLimits::default() };
    let config = BoardConfig { slots: 1, slot, ..BoardConfig::default() };
    let source = Box::new(build.software.clone());
    Board::with_source(config, catalogue, Policy::DoubleBuffer, Models::Rtl, source).unwrap()
}

/// A text to be encrypted, of lengths that a slot has frames for.
fn sealing(random: &mut Random, key: &[u8], longest: u64) -> Task {
    let (aad, text) = (random.below(256) as usize, random.below(longest + 1) as usize);
    let text = text.min(frame::AEAD_ROOM - aad.next_multiple_of(frame::AEAD_BLOCK));
    let pass = Pass::Aead {
        aead: Aead::Gcm,
        algorithm: &AES,
        direction: Direction::Encrypt,
        key: Secret::new(key.to_vec()),
        nonce: random.bytes(frame::AEAD_NONCE),
        aad: random.bytes(aad),
        tag_len: *random.pick(&frame::AEAD_TAGS),
    };
    Task { pass, data: random.bytes(text) }
}

/// The way back from what a task makes.
fn opening(task: &Task) -> Task {
    let mut pass = task.pass.clone();
    if let Pass::Aead { direction, .. } = &mut pass {
        *direction = Direction::Decrypt;
    }
    Task { pass, data: compute(task.clone()).unwrap() }
}

/// Tasks both ways under one key. Of every third that opens a bit is another one: of text, tag or AAD.
fn mixed(random: &mut Random, key: &[u8], count: usize, longest: u64) -> Vec<Task> {
    let mut tasks = Vec::new();
    for number in 0..count {
        let mut task = sealing(random, key, longest);
        if number % 2 == 1 {
            task = opening(&task);
        }
        if number % 6 == 5 {
            let bit = random.below(8 * task.data.len() as u64) as usize;
            match &mut task.pass {
                Pass::Aead { aad, .. } if bit.is_multiple_of(4) && !aad.is_empty() => aad[0] ^= 0x80,
                _ => task.data[bit / 8] ^= 1 << (bit % 8),
            }
        }
        tasks.push(task);
    }
    tasks
}

#[test]
fn both_ways_are_the_cpu_s_and_a_wrong_tag_is_its_own_packet_s_alone() {
    for in_flight in [1, 8] {
        let build = Build::new();
        let mut board = board(&build, in_flight);
        let mut random = Random(41);
        let tasks = mixed(&mut random, &[7; 16], 60, 1500);
        let wanted: Vec<_> = tasks.iter().map(|task| compute(task.clone())).collect();
        let wrong = wanted.iter().filter(|result| **result == Err(EngineError::Mismatch)).count();
        assert_eq!(wrong, 10);
        assert_eq!(run_all(&mut board, &tasks, 5), wanted);
        let report = board.report();
        assert_eq!(report.slots[0].loads, 1, "no slot was lost");
        // What a tag is wrong of has used the same key as all others: nothing is sent again.
        let ran: Vec<bool> = report
            .events
            .iter()
            .filter_map(|event| match &event.what {
                What::Execute { fresh_key, error, .. } => {
                    assert_eq!(*error, None);
                    Some(*fresh_key)
                }
                _ => None,
            })
            .collect();
        assert_eq!((ran.len(), ran.iter().filter(|fresh| **fresh).count()), (60, 1), "{in_flight} in flight");
    }
}

#[test]
fn a_text_whose_tag_is_wrong_leaves_the_packet_as_it_came() {
    let build = Build::new();
    let mut board = board(&build, 8);
    let mut random = Random(42);
    for _ in 0..20 {
        let mut task = opening(&sealing(&mut random, &[3; 32], 200));
        *task.data.last_mut().unwrap() ^= 1;
        let operation = task.operation().unwrap();
        let before = operation.buffer.clone();
        let job = ace_engine::Job { id: 0, flow: 0, packet: 0, operation };
        let done = ace_engine::engine::run_all(&mut board, vec![job]).pop().unwrap();
        assert_eq!((done.result, done.buffer), (Err(EngineError::Mismatch), before));
    }
}

#[test]
fn lengths_that_no_slot_has_a_frame_for_are_no_configuration_s() {
    let build = Build::new();
    let mut board = board(&build, 8);
    let mut random = Random(43);
    let key = [9; 16];
    let task = |nonce: usize, aad: usize, text: usize, tag: usize| {
        let mut task = sealing(&mut Random(44), &key, 0);
        if let Pass::Aead { nonce: n, aad: a, tag_len, .. } = &mut task.pass {
            (*n, *a, *tag_len) = (vec![1; nonce], vec![2; aad], tag);
        }
        Task { data: vec![3; text], ..task }
    };
    let need = Need::Aead { aead: Aead::Gcm, direction: Direction::Encrypt, key_len: 16 };
    for (nonce, aad, text, tag) in [
        (8, 0, 64, 16),
        (16, 0, 64, 16),
        (12, 0, 64, 4),
        (12, 0, 64, 13),
        (12, 256, 64, 16),
        (12, 0, 2033, 16),
        (12, 17, 2001, 16),
    ] {
        let task = task(nonce, aad, text, tag);
        let error = run_one(&mut board, task.clone()).unwrap_err();
        assert_eq!(error, EngineError::NoConfiguration { need }, "{nonce} {aad} {text} {tag}");
        let words = board.explain(&error);
        assert!(words.contains("AAD in whole blocks and text are at most 2032 bytes"), "{words}");
        assert!(compute(task).is_ok());
    }
    for (aad, text) in [(0, 2032), (17, 2000), (255, 1776), (0, 0)] {
        let task = task(12, aad, text, 16);
        assert_eq!(run_one(&mut board, task.clone()), compute(task));
    }
    // The cipher itself is not what the set serves.
    let iv = random.bytes(16);
    let key = Secret::new(key.to_vec());
    let pass = Pass::Cipher { algorithm: &AES, mode: Mode::Ctr, direction: Direction::Encrypt, key, iv };
    let error = run_one(&mut board, Task { pass, data: vec![1; 32] }).unwrap_err();
    assert!(matches!(error, EngineError::NoConfiguration { .. }));
    assert!(!board.explain(&error).contains("2032"));
}

#[test]
fn a_frame_has_its_sections_in_their_order() {
    let mut random = Random(45);
    for _ in 0..200 {
        let seal = sealing(&mut random, &[5; 24], 100);
        for task in [opening(&seal), seal] {
            let Pass::Aead { nonce, aad, tag_len, direction, key, .. } = &task.pass else { panic!() };
            let bytes = frame::request(&task, KeySection::Fresh(key.as_bytes()), 77);
            let header = Header::from_bytes(&bytes).unwrap();
            let decrypts = *direction == Direction::Decrypt;
            let text = task.data.len() - if decrypts { *tag_len } else { 0 };
            assert_eq!((header.algorithm, header.op, header.tag), (AES.code, op::AEAD, 77));
            assert_eq!(header.flags, flag::FRESH_KEY | if decrypts { flag::DECRYPT } else { 0 });
            let lengths = (header.iv_len, header.result_len, header.aad_len, header.payload_len);
            assert_eq!(lengths, (12, *tag_len as u8, aad.len() as u16, text as u32));
            let (text, tag) = task.data.split_at(text);
            let sections = [key.as_bytes(), nonce, aad, text, tag];
            let padded = |section: &[u8]| {
                [section, &vec![0; section.len().next_multiple_of(8) - section.len()]].concat()
            };
            assert_eq!(bytes[16..], sections.map(padded).concat()[..]);
        }
    }
}

/// The response to a text of 5 bytes with a tag of 12: the tag begins with a beat.
#[test]
fn a_tag_is_on_beats_of_its_own() {
    let trailer = |len: u8| [len, 0, 0, 0, 7, 0, 0, 0];
    let good = [&[1, 2, 3, 4, 5, 0, 0, 0][..], &[9; 12], &[0; 4], &trailer(17)].concat();
    let (response, tag) = frame::response_and(&good, 12).unwrap();
    assert_eq!((response.result, tag, response.status), (&[1, 2, 3, 4, 5][..], &[9; 12][..], Status::Ok));
    for at in [5, 7, 20, 23] {
        let mut bad = good.clone();
        bad[at] = 1;
        assert_eq!(frame::response_and(&bad, 12), Err(frame::ResponseError::Padding), "{at}");
    }
    assert!(frame::response(&good).is_err() && frame::response_and(&good, 18).is_err());
    assert!(frame::response_and(&good[8..], 12).is_err());
    let refused = [0, 0, 0, 0, 7, 0, 16, 0];
    assert_eq!(frame::response_and(&refused, 12).unwrap().0.status, Status::BadTag);
}

/// A board of the slot's RTL, where its sets and its model are built.
fn of_rtl() -> Option<Board> {
    let kind = SlotKind::Array;
    let slot = SlotLimits { kind, tiles: kind.tiles(), ..SlotLimits::default() };
    let mut config = BoardConfig { slots: 1, slot, ..BoardConfig::default() };
    config.controller.library = "".into();
    let assembly = Assembly {
        config,
        folder: None,
        configurations: None,
        guard: Guard { trust: Trust::ANYBODY, seen: Seen::of_user(), allow_older: true },
        unsigned: Unsigned::Proven,
        loadable: true,
    };
    let required = std::env::var_os("ACE_REQUIRE_BUILD").is_some_and(|v| v == "1");
    match ace_board::open(assembly, Policy::DoubleBuffer, Models::Rtl) {
        Ok(board) => Some(board),
        Err(error) => {
            assert!(!required, "{error}");
            eprintln!("skipped: {error}");
            None
        }
    }
}

#[test]
fn published_answers_on_the_rtl() {
    let Some(mut board) = of_rtl() else { return };
    let (_, file) = published().into_iter().find(|(name, _)| name == "aes_gcm").unwrap();
    let answers = KnownAnswers::read(Subject::Aead(Aead::Gcm), &file).unwrap();
    let forged = answers.rows.iter().filter(|row| matches!(row.check, kat::Check::Aead { valid: false, .. }));
    assert!(forged.count() > 0);
    let report = kat::run(&answers, &mut board);
    assert!(report.failed.is_empty(), "{:#?}", report.failed.first());
    let reasons: HashSet<&str> = report.skipped.iter().map(|skip| skip.reason.as_str()).collect();
    assert!(reasons.iter().all(|reason| reason.contains("nonces of 12 bytes")), "{reasons:?}");
    assert!(report.passed >= 8, "{} passed, {reasons:?}", report.passed);
}

#[test]
fn random_packets_on_the_rtl_equal_the_cpu() {
    let Some(mut board) = of_rtl() else { return };
    let mut random = Random(46);
    for key in [16, 24, 32] {
        let key = random.bytes(key);
        let tasks = mixed(&mut random, &key, cases(36, 600), 1900);
        let wanted: Vec<_> = tasks.iter().map(|task| compute(task.clone())).collect();
        assert!(wanted.contains(&Err(EngineError::Mismatch)));
        assert_eq!(run_all(&mut board, &tasks, 7), wanted);
    }
    assert_eq!(board.report().totals.failed, 0);
}

/// The set of a variant, and the words of a key for it.
fn made(name: &str, key: &[u8]) -> (Vec<u8>, Vec<u8>) {
    let named = Named::find(name).unwrap();
    let program = algorithms::program(named.served.file).unwrap();
    let mut compiled = compile(&program, name, &Shape::standard(), Effort::default()).unwrap();
    let words = program.expand(&mut compiled.built, key).unwrap();
    (compiled.set.to_bytes(), words.iter().flat_map(|word| word.to_le_bytes()).collect())
}

/// In one tile AES-GCM and AES in CBC, a bank each: neither answers the other one's frames or takes its key.
#[test]
fn a_cipher_and_its_aead_have_keys_of_their_own_on_the_rtl() {
    let Some(board) = of_rtl() else { return };
    let model = board.catalogue().configurations.iter().next().unwrap().model.clone();
    let mut slot = Model::open(&model, &[]).unwrap();
    let mut answer = |bytes: &[u8]| {
        let mut frames = [Frame::new(bytes.to_vec(), 4096)];
        slot.run(&mut frames, &Options::default()).unwrap();
        std::mem::take(&mut frames[0].response)
    };
    let mut random = Random(47);
    let [sealing_key, cipher_key] = [random.bytes(16), random.bytes(16)];
    let seal = |random: &mut Random| sealing(random, &sealing_key, 200);
    let encipher = |random: &mut Random| {
        let (iv, key) = (random.bytes(16), Secret::new(cipher_key.clone()));
        let (mode, direction) = (Mode::Cbc, Direction::Encrypt);
        Task { pass: Pass::Cipher { algorithm: &AES, mode, direction, key, iv }, data: random.bytes(96) }
    };
    let check = |task: Task, answer: &mut dyn FnMut(&[u8]) -> Vec<u8>| {
        let response = answer(&frame::request(&task, KeySection::Kept, 5));
        let (response, tag) = frame::response_and(&response, frame::behind(&task)).unwrap();
        assert_eq!((response.status, [response.result, tag].concat()), (Status::Ok, compute(task).unwrap()));
    };
    for (name, key) in [("aes128_gcm_encrypt", &sealing_key), ("aes128_encrypt", &cipher_key)] {
        let (set, words) = made(name, key);
        let load = Header { op: 0x51, result_len: 1, payload_len: set.len() as u32, ..Header::default() };
        let (count, bytes) = ((words.len() / 4) as u8, words.len() as u32);
        let of = Header {
            algorithm: AES.code,
            op: 0x52,
            result_len: count,
            payload_len: bytes,
            ..Header::default()
        };
        for request in [frame::assemble(load, &[&set]), frame::assemble(of, &[&words])] {
            assert_eq!(frame::response(&answer(&request)).unwrap().status, Status::Ok, "{name}");
        }
        // The set that came runs from its first frame on, and the next one goes to the other bank.
        let task = if name == "aes128_encrypt" { encipher(&mut random) } else { seal(&mut random) };
        check(task, &mut answer);
    }
    for _ in 0..10 {
        check(seal(&mut random), &mut answer);
        check(encipher(&mut random), &mut answer);
    }
}

/// What a library says of such a set is what a board reads beside it, and its set is its source.
#[test]
fn sets_of_an_aead_go_into_libraries() {
    let known = ace_board::array::digests().unwrap();
    let gcm: Vec<_> = known.keys().filter(|name| name.contains("_gcm_")).cloned().collect();
    assert_eq!(gcm.len(), 12, "of three lengths and both ways a set for throughput and one for latency");
    let folder = tempfile::tempdir().unwrap();
    let mut names = Vec::new();
    for named in Named::first().filter(|named| named.served.aead.is_some()) {
        for (named, compiled) in named.sets(&Shape::standard()).unwrap() {
            let name = &named.name;
            std::fs::create_dir(folder.path().join(name)).unwrap();
            let path = folder.path().join(name).join(format!("{name}.set"));
            std::fs::write(path, compiled.set.to_bytes()).unwrap();
            let can = signed::can(named.served, named.decrypt);
            let direction = if named.decrypt { Direction::Decrypt } else { Direction::Encrypt };
            let key_len = named.served.keys[0];
            assert!(
                can.iter().any(|can| can.serves(&Need::Aead { aead: Aead::Gcm, direction, key_len })),
                "{name}"
            );
            names.push(named.name);
        }
    }
    let mut library = Library::new(Dictionary::train([&ConfigMemory::new(&LFE5U_45F)]));
    for set in signed::sets(folder.path(), &names).unwrap() {
        let manifest: serde_json::Value = serde_json::from_slice(&set.manifest).unwrap();
        assert_eq!(manifest["can"][0]["aeads"], serde_json::json!(["aes-gcm"]));
        library.add_set(&set.name, &set.bytes, &set.manifest).unwrap();
    }
    assert_eq!(signed::verify_all(&library).unwrap(), 12);
}
