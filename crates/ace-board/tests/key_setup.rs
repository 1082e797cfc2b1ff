// SPDX-License-Identifier: Apache-2.0
//! Slots that hold the array and expand keys themselves: results are the CPU engine's under every cipher and length of a key,
//! and an expansion that is refused is the matter of its own operation. With the slot's RTL, where it is built.

use std::collections::HashSet;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use crate::common::{Random, compute, repository, run_all, run_one};
use ace_array::algorithms::{SETUPS, Served};
use ace_board::array::{ArraySlot, KeySet, catalogue};
use ace_board::config::{KeySetup, SlotKind, SlotLimits};
use ace_board::frame::Status;
use ace_board::model::{Frame, KeyFrames, Model, ModelError, Options, RunError, SlotModel, Stopped};
use ace_board::pass::{Pass, Task};
use ace_board::trace::KeysExpanded;
use ace_board::{Board, BoardConfig, Catalogue, Configuration, ModelSource, Models, Policy, Unsigned};
use ace_engine::algorithm::{AES, ALGORITHMS, Algorithm};
use ace_engine::{Direction, EngineError, Kind, Mode, Secret};

/// Byte 1 of the frame of a key that the slot expands.
const EXPAND: u8 = 0x53;

/// The sets that are built.
pub fn sets() -> Option<Catalogue> {
    let folder = repository("build/array/sets");
    if !folder.is_dir() {
        assert!(std::env::var_os("ACE_REQUIRE_BUILD").is_none(), "`ace array build` makes the sets");
        eprintln!("context sets are not built; nothing was checked");
        return None;
    }
    let mut catalogue = catalogue(Some(&folder), None, Unsigned::Proven).unwrap();
    catalogue.unsigned = Unsigned::Proven;
    Some(catalogue)
}

fn config(key_setup: KeySetup) -> BoardConfig {
    let slot = SlotLimits { kind: SlotKind::Array, key_setup, ..SlotLimits::default() };
    let config = BoardConfig { slots: 1, slot, ..BoardConfig::default() };
    config.check().unwrap();
    config
}

/// Slots of the RTL with all key sets, in front of which these frames that expand keys (counted over all slots) are made such
/// as no tile takes.
#[derive(Clone, Default)]
pub struct Rtl {
    setups: Vec<Configuration>,
    hashes: Vec<Configuration>,
    refused: HashSet<usize>,
    /// The same of ciphers' frames whose result is a hash's.
    parted: HashSet<usize>,
    count: Arc<AtomicUsize>,
    pub joint: Arc<AtomicUsize>,
    /// What has gone to the slots: byte 1 of every frame, and its bytes.
    sent: Arc<Mutex<Vec<(u8, usize)>>>,
}

impl Rtl {
    /// Slots in which these results come to no tile.
    pub fn parting<const N: usize>(parted: [usize; N]) -> Self {
        Self { parted: HashSet::from(parted), ..Self::default() }
    }
}

struct Meddler {
    inner: Model,
    with: Rtl,
}

impl ModelSource for Rtl {
    fn runs(&self, _: SlotKind) -> bool {
        true
    }

    fn open(&self, set: &Configuration, _: Models) -> Result<Box<dyn SlotModel>, ModelError> {
        let inner = Model::open(&set.model, &[])?;
        let bytes = std::fs::read(&set.bitstream.path).unwrap();
        let slot = ArraySlot::loaded(Box::new(Meddler { inner, with: self.clone() }), &set.name, bytes);
        let variant = set.name.strip_suffix("_latency").unwrap_or(&set.name);
        let own = self.setups.iter().filter(|one| one.sets_up.as_deref() == Some(variant));
        let read = |one: &Configuration| std::fs::read(&one.bitstream.path).unwrap();
        let key_set = |one: &Configuration| KeySet::new(&one.name, read(one)).unwrap();
        let slot = slot.unwrap().expanding(own.map(key_set).collect());
        Ok(Box::new(slot.joining(self.hashes.iter().map(|one| (one.name.clone(), read(one))).collect())))
    }
}

impl SlotModel for Meddler {
    fn run(&mut self, frames: &mut [Frame], options: &Options) -> Result<(), RunError> {
        self.inner.run(frames, options)
    }

    fn join(&mut self, number: u64, mut frame: Frame) -> u64 {
        self.with.sent.lock().unwrap().push((frame.request[1], frame.request.len()));
        if frame.request[1] == EXPAND
            && self.with.refused.contains(&self.with.count.fetch_add(1, Ordering::Relaxed))
        {
            // A message and no key.
            frame.request[16 + 1] = 0x31;
        }
        let cipher = (0x11..=0x13).contains(&frame.request[1]);
        if cipher && frame.request[7] != 0 {
            let number = self.with.joint.fetch_add(1, Ordering::Relaxed);
            let sections = 16 + usize::from(frame.request[6]);
            if self.with.parted.contains(&number) {
                // No hash's frame.
                frame.request[sections + 1] = 0x12;
            }
        }
        self.inner.join(number, frame)
    }

    fn go(&mut self, until: u64, max_clocks: u64) -> Result<Option<(u64, Frame)>, Stopped> {
        self.inner.go(until, max_clocks)
    }

    fn reset(&mut self) {
        self.inner.reset();
    }

    fn clocks(&self) -> u64 {
        self.inner.clocks()
    }

    fn keys(&self) -> KeyFrames {
        self.inner.keys()
    }
}

pub fn board(catalogue: &Catalogue, config: BoardConfig, source: &Rtl) -> Board {
    let (setups, hashes) = (catalogue.key_sets(&config), catalogue.hash_sets(&config));
    let source = Rtl { setups, hashes, ..source.clone() };
    Board::with_source(config, catalogue.clone(), Policy::DoubleBuffer, Models::Rtl, Box::new(source))
        .unwrap()
}

fn cipher(
    random: &mut Random,
    algorithm: &'static Algorithm,
    mode: Mode,
    way: Direction,
    key: usize,
) -> Task {
    let Kind::Cipher { block, .. } = algorithm.kind else { panic!("{} is no cipher", algorithm.name) };
    let iv = if mode == Mode::Ecb { Vec::new() } else { random.bytes(block) };
    let key = Secret::new(random.bytes(key));
    let len = block * (1 + random.below(8) as usize);
    Task { pass: Pass::Cipher { algorithm, mode, direction: way, key, iv }, data: random.bytes(len) }
}

#[test]
fn every_cipher_has_the_results_of_the_cpu_engine_whoever_expands_its_keys() {
    let Some(catalogue) = sets() else { return };
    for key_setup in [KeySetup::Host, KeySetup::Slot] {
        let mut random = Random(11);
        let mut board = board(&catalogue, config(key_setup), &Rtl::default());
        let mut wanted = KeysExpanded::default();
        for algorithm in ALGORITHMS {
            let Kind::Cipher { keys, .. } = algorithm.kind else { continue };
            let served = |key: &usize| {
                let set = |one: &Configuration| {
                    one.can.iter().any(|can| can.code == algorithm.code && can.key_bytes.contains(key))
                };
                catalogue.configurations.iter().any(set)
            };
            // DES and 3DES have one code, and 3DES has no set.
            let setup = |key: &usize| {
                let own = |of: &Served| of.code == algorithm.code && of.keys.contains(key);
                SETUPS.iter().any(|one| one.served().is_some_and(own))
            };
            for key in keys.iter().filter(|key| served(key)) {
                for way in Direction::BOTH {
                    for mode in [Mode::Cbc, Mode::Ecb] {
                        let task = cipher(&mut random, algorithm, mode, way, *key);
                        let name = format!("{} {} {key} {mode:?} {way:?}", key_setup as u8, algorithm.name);
                        assert_eq!(run_one(&mut board, task.clone()), compute(task), "{name}");
                        let by = key_setup == KeySetup::Slot && setup(key);
                        *(if by { &mut wanted.slots } else { &mut wanted.host }) += 1;
                    }
                }
            }
        }
        assert_eq!(board.report().array.unwrap().keys, wanted);
        assert!(wanted.host > 0 && (wanted.slots > 0) == (key_setup == KeySetup::Slot));
    }
}

#[test]
fn keys_change_between_frames_in_order_and_no_words_go_to_the_slot() {
    let Some(catalogue) = sets() else { return };
    let source = Rtl::default();
    let mut board = board(&catalogue, config(KeySetup::Slot), &source);
    let mut random = Random(12);
    let keys: Vec<Vec<u8>> = (0..5).map(|_| random.bytes(16)).collect();
    let task = |random: &mut Random| {
        let mut task = cipher(random, &AES, Mode::Cbc, Direction::Encrypt, 16);
        if let Pass::Cipher { key, .. } = &mut task.pass {
            *key = Secret::new(random.pick(&keys).clone());
        }
        task
    };
    let tasks: Vec<Task> = (0..60).map(|_| task(&mut random)).collect();
    let wanted: Vec<_> = tasks.iter().map(|task| compute(task.clone())).collect();
    assert_eq!(run_all(&mut board, &tasks, 7), wanted);
    let sent = source.sent.lock().unwrap();
    let count = |op: u8| sent.iter().filter(|(of, _)| *of == op).count();
    let expanded = board.report().array.unwrap().keys.slots;
    assert!(expanded > 20 && count(EXPAND) as u64 == expanded, "{expanded}");
    // One load of the set that expands, behind that of the cipher's, which goes alone.
    assert_eq!((count(0x51), count(0x52)), (1, 0));
    assert!(sent.iter().filter(|(op, _)| *op == EXPAND).all(|(_, bytes)| *bytes == 48));
}

#[test]
fn an_expansion_that_is_refused_is_its_own_operations_matter() {
    let Some(catalogue) = sets() else { return };
    let source = Rtl { refused: HashSet::from([0, 3, 4]), ..Rtl::default() };
    let mut board = board(&catalogue, config(KeySetup::Slot), &source);
    let mut random = Random(13);
    let tasks: Vec<Task> =
        (0..24).map(|_| cipher(&mut random, &AES, Mode::Cbc, Direction::Encrypt, 16)).collect();
    let answers = run_all(&mut board, &tasks, 24);
    let refused = |answer: &Result<Vec<u8>, EngineError>| matches!(answer, Err(EngineError::SlotStatus { status, .. }) if *status == Status::NoTile as u8);
    let mut wrong = 0;
    for (task, answer) in tasks.iter().zip(answers) {
        if refused(&answer) {
            wrong += 1;
        } else {
            assert_eq!(answer, compute(task.clone()));
        }
    }
    // Those behind a refusal are sent again, and may be refused again.
    assert!((1..=3).contains(&wrong), "{wrong}");
    assert_eq!(board.report().totals.failed, wrong);
}

/// The load of the set and the frame of the key are on the link: the same work takes more of it, by what they have.
#[test]
fn what_an_expansion_takes_is_in_the_modelled_times() {
    let Some(catalogue) = sets() else { return };
    let mut random = Random(14);
    let tasks: Vec<Task> =
        (0..2).map(|_| cipher(&mut random, &AES, Mode::Cbc, Direction::Encrypt, 16)).collect();
    let spent = |key_setup: KeySetup| {
        let mut board = board(&catalogue, config(key_setup), &Rtl::default());
        for task in &tasks {
            assert_eq!(run_one(&mut board, task.clone()), compute(task.clone()));
        }
        let report = board.report();
        (report.totals.link, report.totals.execution)
    };
    let (host, slot) = (spent(KeySetup::Host), spent(KeySetup::Slot));
    let set = catalogue.setups.iter().find(|one| one.name == "aes128_encrypt_keys").unwrap().bitstream.bytes;
    let link = |bytes: u64| BoardConfig::default().link_time(bytes);
    // 44 words and a trailer; a key of two blocks of 16 bytes and two trailers; a frame that lets the cipher's bank run, the
    // load, and their trailers.
    assert_eq!(slot.0 + 2 * link(16 + 176 + 8), host.0 + 2 * link(48 + 16) + link(32 + set + 16));
    assert!(slot.1 > host.1, "a load and two expansions take clocks");
}

#[test]
fn a_set_that_expands_has_the_second_bank() {
    let slot = SlotLimits { kind: SlotKind::Array, banks: 2, ..SlotLimits::default() };
    let two =
        BoardConfig { slot: SlotLimits { key_setup: KeySetup::Slot, ..slot }, ..BoardConfig::default() };
    let (key, reason) = two.check().unwrap_err();
    assert!(key == "slot.key_setup" && reason.contains("second bank"), "{key}: {reason}");
    assert!(KeySet::new("aes128_encrypt", vec![0; 64]).is_err());
}
