// SPDX-License-Identifier: Apache-2.0
//! The decoder of small streams in simulation: it makes the frames that the software makes, in the clocks that are
//! said, and refuses what that refuses.

use std::path::PathBuf;
use std::process::Command;

use ace_ecp5::device::{LFE5U_25F, LFE5U_45F};
use ace_ecp5::{ConfigMemory, Device};
use ace_library::codec::{Contexts, Dictionary, Tables};
use ace_library::file::read;
use ace_library::{Image, Trust};
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha20Rng;

/// Clocks until the first frame and behind the last one.
const BEGIN: u64 = 19;

/// Frames that are a column.
const COLUMN: usize = 106;

fn simulation(device: &Device) -> Option<PathBuf> {
    let name = if device == &LFE5U_45F { "contexts".to_owned() } else { format!("contexts-{}", device.name) };
    let path = super::build().join("controller").join(name);
    if path.exists() {
        return Some(path);
    }
    assert!(std::env::var_os("ACE_REQUIRE_BUILD").is_none(), "{} is not built", path.display());
    eprintln!("{} is not built; nothing was checked", path.display());
    None
}

/// The frames that come, whether all is well, and the clocks.
fn run(device: &Device, tables: &[u8], stream: &[u8], places: &[usize], stall: u32) -> (Vec<u8>, bool, u64) {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let mut next = None;
    let line = |place: &usize| {
        let gap = next.map_or(7, |next: usize| (place - next).min(7));
        next = Some(place + 1);
        format!("{} {gap}\n", place % COLUMN)
    };
    let lines: String = places.iter().map(line).collect();
    for (name, bytes) in [("tables", tables), ("stream", stream), ("frames", lines.as_bytes())] {
        std::fs::write(folder.path().join(name), bytes).expect("it is written");
    }
    let mut command = Command::new(simulation(device).expect("it was there"));
    command.args(["tables", "stream", "frames"].map(|name| folder.path().join(name)));
    let output = command.args(["7".to_owned(), stall.to_string()]).output().expect("the simulation runs");
    let answer = String::from_utf8_lossy(&output.stderr);
    let code = output.status.code().expect("it exits");
    assert!(code <= super::REFUSED, "{code}: {answer}");
    (output.stdout, code == 0, answer.trim().parse().expect("a number of clocks"))
}

/// Frames in use in runs, and what is probable in them.
fn image(device: &'static Device, seed: u64) -> ConfigMemory {
    let mut rng = ChaCha20Rng::seed_from_u64(seed);
    let mut memory = ConfigMemory::new(device);
    let mut number = 0;
    while number < 1500 {
        for _ in 0..rng.random_range(1..30) {
            let mut frame = vec![0; device.frame_bytes()];
            for _ in 0..12 {
                let at = rng.random_range(1..frame.len());
                frame[at] = rng.random::<u8>() & (number / 16) as u8;
            }
            memory.set_frame(number, &frame);
            number += 1;
        }
        number += rng.random_range(0..12);
    }
    memory
}

fn used(memory: &ConfigMemory) -> (Vec<usize>, Vec<u8>) {
    let used = memory.frames().enumerate().filter(|(_, frame)| frame.iter().any(|byte| *byte != 0));
    let (places, frames): (Vec<usize>, Vec<&[u8]>) = used.unzip();
    (places, frames.concat())
}

fn tables(contexts: Contexts) -> Tables {
    Tables { dictionary: Dictionary::train(std::iter::empty()), contexts: Some(Box::new(contexts)) }
}

#[test]
fn decodes_as_the_software_does() {
    for device in [&LFE5U_45F, &LFE5U_25F] {
        if simulation(device).is_none() {
            return;
        }
        let memory = image(device, 3);
        let contexts = Contexts::train([&memory]);
        let (bytes, tables) = (contexts.to_bytes(), tables(contexts));
        let (places, frames) = used(&memory);
        let pairs = places.iter().copied().zip(frames.chunks_exact(device.frame_bytes()));
        let stream = tables.compress(device, pairs);
        let mut out = vec![0; frames.len()];
        let seen =
            tables.decompress(device, &stream, places.iter().copied(), &mut out).expect("its own stream");
        let (made, well, clocks) = run(device, &bytes, &stream, &places, 0);
        assert!(well && made == frames, "{}", device.name);
        assert_eq!(clocks, BEGIN + seen.clocks(), "{}", device.name);
        let (made, well, stalled) = run(device, &bytes, &stream, &places, 20_000);
        assert!(well && made == frames && stalled > clocks);
    }
}

/// Streams that are cut, longer or other than they were: where the software refuses, so does the hardware, and where
/// not, both make the same of them.
#[test]
fn damaged_streams_and_tables() {
    if simulation(&LFE5U_45F).is_none() {
        return;
    }
    let memory = image(&LFE5U_45F, 5);
    let contexts = Contexts::train([&memory]);
    let (bytes, tables) = (contexts.to_bytes(), tables(contexts));
    let (places, frames) = used(&memory);
    let (places, frames) = (&places[..40], &frames[..40 * 106]);
    let good = tables.compress(&LFE5U_45F, places.iter().copied().zip(frames.chunks_exact(106)));
    let mut rng = ChaCha20Rng::seed_from_u64(9);
    let mut refused = 0;
    for number in 0..60 {
        let mut stream = good.clone();
        match number % 3 {
            0 => stream.truncate(rng.random_range(0..stream.len())),
            1 => stream.extend(vec![rng.random::<u8>(); rng.random_range(1..4)]),
            _ => {
                let at = rng.random_range(0..stream.len());
                stream[at] ^= 1 << rng.random_range(0..8);
            }
        }
        let mut out = vec![0; frames.len()];
        let answer = tables.decompress(&LFE5U_45F, &stream, places.iter().copied(), &mut out);
        let (made, well, _) = run(&LFE5U_45F, &bytes, &stream, places, 0);
        assert_eq!(well, answer.is_ok(), "{number}: {answer:?}");
        assert!(!well || made == out, "{number}");
        refused += u32::from(!well);
    }
    assert!(refused >= 40, "{refused} of 60 refused");
    // Tables, each wrong in one byte or taken as they are.
    let mut wrong = 0;
    for number in 0..60 {
        let mut other = bytes.clone();
        // Mostly the first set, whose parents are easily hit.
        let at = if number % 2 == 0 { rng.random_range(0..150) } else { rng.random_range(0..other.len()) };
        other[at] = [0, 1, 83, 84, 95, 96, 127, 0xff, 0xcf, rng.random()][rng.random_range(0..10)];
        let right = Contexts::from_bytes(&other).is_some();
        let (_, well, _) = run(&LFE5U_45F, &other, &good, &[], 0);
        assert_eq!(well, right, "byte {at}: {:#x}", other[at]);
        wrong += u32::from(!right);
    }
    assert!((5..60).contains(&wrong), "{wrong} of 60 wrong");
    assert!(!run(&LFE5U_45F, &bytes[..bytes.len() - 1], &good, &[], 0).1);
}

/// The configurations of the library, the fewest frames first.
#[test]
fn the_library_in_small_streams() {
    let path = PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/../../library/ace.lib"));
    if simulation(&LFE5U_45F).is_none() || !path.exists() {
        return;
    }
    let library = read(&path, &Trust::ANYBODY).expect("it is read").library;
    let whole = |image: &&Image| image.base().is_none();
    let memory = |image: &Image| library.memory(image.name()).expect("it is there");
    let all: Vec<ConfigMemory> = library.images().iter().filter(whole).map(memory).collect();
    let contexts = Contexts::train(&all);
    let (bytes, tables) = (contexts.to_bytes(), tables(contexts));
    for name in ["des", "magma", "idea"] {
        let memory = library.memory(name).expect("it is there");
        let (places, frames) = used(&memory);
        let pairs = places.iter().copied().zip(frames.chunks_exact(106));
        let stream = tables.compress(&LFE5U_45F, pairs);
        let mut out = vec![0; frames.len()];
        let seen = tables.decompress(&LFE5U_45F, &stream, places.iter().copied(), &mut out).expect("its own");
        let (made, well, clocks) = run(&LFE5U_45F, &bytes, &stream, &places, 0);
        assert!(well && made == frames, "{name}");
        assert_eq!(clocks, BEGIN + seen.clocks(), "{name}");
        println!(
            "{name}: {} frames from {} bytes in {clocks} clocks, {:.2} clocks a byte of frames",
            places.len(),
            stream.len(),
            clocks as f64 / frames.len() as f64
        );
    }
}
