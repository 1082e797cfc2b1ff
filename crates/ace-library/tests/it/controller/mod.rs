// SPDX-License-Identifier: Apache-2.0
//! The loader of rtl/loader in simulation (`python -m ace_flow loader model`) against the software: it writes
//! the bytes that [`Emit`] writes, and refuses what the decoder refuses. Where it is not built, these tests say so and
//! pass, unless ACE_REQUIRE_BUILD is set.

mod contexts;
mod members;
mod refused;

use std::path::PathBuf;
use std::process::Command;
use std::sync::atomic::{AtomicUsize, Ordering};

use ace_ecp5::device::LFE5U_45F;
use ace_ecp5::emit::patterns;
use ace_ecp5::memory::EBR_BYTES;
use ace_ecp5::{ConfigMemory, ConfigPort, Emit};
use ace_library::codec::{Dictionary, compress};
use ace_library::file::read;
use ace_library::load::{Block, Delta, Memory, Place, Registers, Run, Whole};
use ace_library::{Library, Trust};
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha20Rng;

const REFUSED: i32 = 1;

fn build() -> PathBuf {
    let root = PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/../.."));
    std::env::var_os("ACE_BUILD").map_or(root.join("build"), PathBuf::from)
}

/// The simulation, if it is built.
fn loader() -> Option<PathBuf> {
    let path = build().join("controller/loader");
    if path.exists() {
        return Some(path);
    }
    assert!(std::env::var_os("ACE_REQUIRE_BUILD").is_none(), "{} is not built", path.display());
    eprintln!("{} is not built; nothing was checked", path.display());
    None
}

/// What the port is given, the exit code and the clocks.
fn run(memory: &Memory, lists: &[u32], stall: u32, seed: u64) -> (Vec<u8>, i32, u64) {
    let mut file = tempfile::NamedTempFile::new().expect("a temporary file");
    std::io::Write::write_all(&mut file, memory.bytes()).expect("it is written");
    let mut command = Command::new(loader().expect("it was there"));
    command.arg(file.path()).args([seed.to_string(), stall.to_string()]);
    command.args(lists.iter().map(u32::to_string));
    let output = command.output().expect("the simulation runs");
    let stderr = String::from_utf8_lossy(&output.stderr);
    let code = output.status.code().expect("it exits");
    assert!(code <= REFUSED, "{code}: {stderr}");
    (output.stdout, code, stderr.trim().parse().expect("a number of clocks"))
}

/// Stores the block RAMs of an image that `keep` wants.
fn blocks(memory: &mut Memory, image: &ConfigMemory, keep: impl Fn(u16, &[u8]) -> bool) -> Vec<Block> {
    let wanted = image.ebr().filter(|(id, bytes)| keep(*id, bytes));
    let place = |memory: &mut Memory, bytes: &[u8]| {
        bytes.iter().any(|byte| *byte != 0).then(|| memory.push(bytes).expect("there is room"))
    };
    wanted.map(|(id, bytes)| Block { id, contents: place(memory, bytes) }).collect()
}

fn registers(image: &ConfigMemory) -> Registers {
    Registers { device: image.device(), control0: image.control0(), usercode: image.usercode() }
}

/// Bytes at an address that is not a multiple of anything, most of the time.
fn push(memory: &mut Memory, bytes: &[u8]) -> Place {
    memory.push(&[0x5a]).expect("there is room");
    memory.push(bytes).expect("there is room")
}

/// A memory with the dictionary, and the list that takes it.
fn begin(dictionary: &Dictionary) -> (Memory, u32) {
    let mut memory = Memory::default();
    let place = push(&mut memory, &dictionary.to_bytes());
    let list = memory.dictionary(place).expect("there is room");
    (memory, list)
}

/// All frames of an image, whose stream this is.
fn whole(stream: Place, image: &ConfigMemory, packed: bool) -> Whole<'static> {
    Whole { stream, used: None, patterns: packed.then(|| patterns(image.frames())) }
}

/// The runs of the frames at these places in the order of transmission.
fn runs(positions: &[usize]) -> Vec<Run> {
    let address = |position: usize| LFE5U_45F.address(position).expect("it is in the device");
    positions
        .chunk_by(|a, b| a + 1 == *b)
        .map(|run| Run { address: address(run[0]), frames: run.len() })
        .collect()
}

/// Places at which the frames of two images differ.
fn changes(from: &ConfigMemory, to: &ConfigMemory) -> Vec<usize> {
    let pairs = from.frames().zip(to.frames()).enumerate();
    pairs.filter(|(_, (a, b))| a != b).map(|(position, _)| position).collect()
}

fn stream_of(dictionary: &Dictionary, image: &ConfigMemory, positions: &[usize]) -> Vec<u8> {
    let all: Vec<&[u8]> = image.frames().collect();
    compress(dictionary, image.device(), positions.iter().map(|position| all[*position]))
}

/// An image that looks a little like a design.
fn image(rng: &mut ChaCha20Rng) -> ConfigMemory {
    let mut memory = ConfigMemory::new(&LFE5U_45F);
    change(&mut memory, rng, 60);
    memory.set_control0(rng.random());
    memory.set_usercode(rng.random());
    memory
}

/// Changes patches of some tiles, and some block RAMs.
fn change(memory: &mut ConfigMemory, rng: &mut ChaCha20Rng, patches: usize) {
    for _ in 0..patches {
        let (first, count) = (rng.random_range(0..9400), rng.random_range(1..60));
        let (row, dense) = (rng.random_range(1..95), rng.random_range(0..4) == 0);
        for number in first..first + count {
            let mut frame = memory.frame(number).expect("it is in the device").to_vec();
            for byte in &mut frame[row..row + 10] {
                *byte = rng.random::<u8>() & if dense { 0xff } else { 0x11 << (number % 3) };
            }
            memory.set_frame(number, &frame);
        }
    }
    for _ in 0..patches / 20 {
        let (id, blank) = (rng.random_range(0..512), rng.random_range(0..3) == 0);
        let block: Vec<u8> = (0..EBR_BYTES).map(|_| if blank { 0 } else { rng.random() }).collect();
        memory.set_ebr(id, &block);
    }
}

/// The configurations that the repository's library holds, whoever signed it.
fn built() -> Vec<(String, ConfigMemory)> {
    let library = committed();
    let memory = |name: &str| library.memory(name).expect("what is stored was stored");
    library.images().iter().map(|image| (image.name().to_owned(), memory(image.name()))).collect()
}

fn committed() -> Library {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../library/ace.lib");
    read(path.as_ref(), &Trust::ANYBODY).expect("the library").library
}

/// Every how many of the built images a simulation of the loader is spent on: with `ACE_TESTS=all` on each.
fn every(nth: usize) -> usize {
    if std::env::var_os("ACE_TESTS").is_some_and(|v| v == "all") { 1 } else { nth }
}

/// What the manifest of a configuration says it is a variant of.
fn variant_of(name: &str) -> Option<String> {
    let manifest = committed().get(name).expect("it is there").manifest().expect("a manifest");
    let manifest: serde_json::Value = serde_json::from_slice(&manifest).expect("JSON");
    Some(manifest["variant_of"].as_str()?.to_owned())
}

/// Does the work in as many threads as there are processors.
fn each(count: usize, work: impl Fn(usize) + Sync) {
    let next = AtomicUsize::new(0);
    std::thread::scope(|scope| {
        for _ in 0..std::thread::available_parallelism().map_or(2, usize::from) {
            scope.spawn(|| {
                loop {
                    let number = next.fetch_add(1, Ordering::Relaxed);
                    if number >= count {
                        break;
                    }
                    work(number);
                }
            });
        }
    });
}

#[test]
fn every_configuration_is_loaded_to_the_byte() {
    if loader().is_none() {
        return;
    }
    let mut images: Vec<_> = built().into_iter().step_by(every(5)).collect();
    assert!(!images.is_empty() || std::env::var_os("ACE_REQUIRE_BUILD").is_none());
    let mut rng = ChaCha20Rng::seed_from_u64(1);
    images.push(("random".to_owned(), image(&mut rng)));
    let dictionary = Dictionary::train(images.iter().map(|(_, image)| image));
    each(images.len(), |number| {
        let (name, image) = &images[number];
        let (mut memory, take) = begin(&dictionary);
        let stream = push(&mut memory, &compress(&dictionary, image.device(), image.frames()));
        // The frames alone that are not blank.
        let used = changes(&ConfigMemory::new(image.device()), image);
        let runs = runs(&used);
        let short = push(&mut memory, &stream_of(&dictionary, image, &used));
        let blocks = blocks(&mut memory, image, |_, _| true);
        for (compress, all) in [(false, true), (true, true), (false, false), (true, false)] {
            let mut frames = whole(stream, image, compress);
            if !all {
                frames = Whole { stream: short, used: Some(&runs), ..frames };
            }
            let list = memory.whole(registers(image), frames, &blocks).expect("there is room");
            let emit = Emit { compress, ..Emit::default() };
            let want = if all { Some(emit.whole(image)) } else { emit.used(image) };
            let want = want.expect("addresses are known");
            // Every third one with stalls besides.
            for stall in if number % 3 == 2 { &[0, 3000][..] } else { &[0] } {
                let (bits, code, clocks) = run(&memory, &[take, list], *stall, number as u64);
                assert_eq!(code, 0, "{name}");
                assert!(bits == want, "{name}: {} bytes, {} wanted", bits.len(), want.len());
                if *stall == 0 {
                    let computed = memory.clocks(list, image.device(), &dictionary).expect("it is a list");
                    let rate = |bytes: usize| bytes as f64 / clocks as f64;
                    let (written, whole) = (rate(bits.len()), rate(Emit::default().whole(image).len()));
                    let kind = if compress { "packed" } else { "plain" };
                    let which = if all { "all" } else { "used" };
                    eprintln!(
                        "{name}, {kind}, {which}: {clocks} clocks, {computed} computed, {written:.3} bytes a clock, \
                         {whole:.3} of the image as it is"
                    );
                    assert!(written >= 0.5 || all, "{name}: slower than a port of half the clock");
                    assert!(clocks == computed, "{name}: {clocks} clocks, not {computed}");
                }
            }
        }
    });
}

#[test]
fn deltas_are_loaded_over_their_skeletons() {
    if loader().is_none() {
        return;
    }
    each(6, |number| {
        let mut rng = ChaCha20Rng::seed_from_u64(number as u64);
        let from = image(&mut rng);
        let mut to = from.clone();
        change(&mut to, &mut rng, 1 + 9 * number);
        if number % 3 == 1 {
            to.set_control0(rng.random());
            to.set_usercode(rng.random());
        }
        over_its_skeleton(number, &from, &to);
    });
}

/// The variants that are built: what comes out of the loader is the image that the flow built for each.
#[test]
fn built_variants_are_loaded_over_their_skeletons() {
    if loader().is_none() {
        return;
    }
    let images = built();
    let skeleton = |name: &str| {
        let base = variant_of(name)?;
        images.iter().find(|(name, _)| *name == base).map(|(_, image)| image)
    };
    let variants = images.iter().filter_map(|(name, to)| Some((skeleton(name)?, to)));
    let variants: Vec<_> = variants.step_by(every(4)).collect();
    assert!(!variants.is_empty() || std::env::var_os("ACE_REQUIRE_BUILD").is_none());
    // Odd numbers are merged as well.
    each(variants.len(), |number| over_its_skeleton(2 * number + 1, variants[number].0, variants[number].1));
}

/// Loads `to` over `from`; if `number` is odd, both merged on a blank device as well.
fn over_its_skeleton(number: usize, from: &ConfigMemory, to: &ConfigMemory) {
    let dictionary = Dictionary::train([from, to]);
    let positions = changes(from, to);
    let (mut memory, take) = begin(&dictionary);
    let runs = runs(&positions);
    let stream = push(&mut memory, &stream_of(&dictionary, to, &positions));
    let delta = Delta { runs: &runs, stream };

    // The frames alone are the partial bitstream that the software writes.
    let sent = (registers(from) != registers(to)).then(|| registers(to));
    let list = memory.partial(&LFE5U_45F, sent, delta, &[]).expect("there is room");
    let numbers: Vec<usize> = positions.iter().map(|position| LFE5U_45F.frames - 1 - position).collect();
    let emit = Emit::default();
    let want = if sent.is_some() { emit.over(to, &numbers) } else { emit.frames(to, &numbers) };
    let want = want.expect("addresses are known");
    let stall = 9000 * (number as u32 % 3);
    let (bits, code, clocks) = run(&memory, &[take, list], stall, 1);
    if stall == 0 {
        let computed = memory.clocks(list, &LFE5U_45F, &dictionary).expect("it is a list");
        eprintln!("delta {number}, {} runs: {clocks} clocks, {computed} computed", runs.len());
        assert_eq!(clocks, computed);
    }
    assert_eq!((code, bits == want), (0, true), "{number}: {} frames", positions.len());

    // With the block RAMs that differ, over what the device holds.
    let same = |id: u16, bytes: &[u8]| from.ebr().any(|(i, b)| i == id && b == bytes);
    let different = blocks(&mut memory, to, |id, bytes| !same(id, bytes));
    let list = memory.partial(&LFE5U_45F, sent, delta, &different).expect("there is room");
    let (bits, code, _) = run(&memory, &[take, list], stall, 2);
    assert_eq!(code, 0);
    let mut port = ConfigPort::new(&LFE5U_45F);
    port.push(&Emit::default().whole(from)).expect("a whole bitstream");
    port.rearm();
    port.push(&bits).expect("a partial bitstream");
    assert_eq!(port.finish().expect("it is complete").digest(), to.digest());

    // On a blank device: the skeleton's stream and the delta.
    if number % 2 == 1 {
        let skeleton = compress(&dictionary, &LFE5U_45F, from.frames());
        let skeleton = push(&mut memory, &skeleton);
        let all = blocks(&mut memory, to, |_, _| true);
        for packed in [false, true] {
            let skeleton = whole(skeleton, from, packed);
            let list = memory.merged(registers(to), skeleton, delta, &all).expect("there is room");
            let (bits, code, _) = run(&memory, &[take, list], stall / 3, 3);
            assert_eq!(code, 0);
            let mut port = ConfigPort::new(&LFE5U_45F);
            port.push(&bits).expect("a whole bitstream");
            assert_eq!(port.finish().expect("it is complete"), to);
            // All frames of the skeleton, none of the delta.
            let compressed = if packed { LFE5U_45F.frames } else { 0 };
            assert_eq!(port.seen().compressed_frames, compressed);
        }
    }
}
