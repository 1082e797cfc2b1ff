// SPDX-License-Identifier: Apache-2.0
//! Small streams: what goes in comes out, and neither bytes nor tables can break the decoder.

use ace_ecp5::ConfigMemory;
use ace_ecp5::device::{DEVICES, Device};
use ace_library::codec::{CONTEXTS_BYTES, Contexts, Dictionary, Tables};
use proptest::prelude::*;

/// A configuration that looks a little like a design: places that stay in use for some frames, and much that is empty.
fn image(device: &'static Device, seeds: &[(usize, usize, u16)]) -> ConfigMemory {
    let len = device.frame_bytes();
    let mut bytes = vec![0; device.frames * len];
    for (frame, bit, pattern) in seeds {
        for (i, at) in (frame % device.frames..device.frames).take(1 + usize::from(*pattern % 23)).enumerate()
        {
            for b in 0..12 {
                let place = (bit + b) % device.frame_bits;
                let set = pattern.rotate_left(i as u32) >> b & 1;
                bytes[at * len + len - 1 - place / 8] |= (set as u8) << (place % 8);
            }
        }
    }
    let mut memory = ConfigMemory::new(device);
    for (number, frame) in bytes.chunks_exact(len).enumerate() {
        memory.set_frame(number, frame);
    }
    memory
}

/// The frames of it that are used, some of them left out, with their places.
fn some(memory: &ConfigMemory, keep: usize) -> (Vec<usize>, Vec<u8>) {
    let used = memory.frames().enumerate().filter(|(_, frame)| frame.iter().any(|byte| *byte != 0));
    let used = used.filter(|(at, _)| keep == 0 || at % 16 < keep);
    let (places, frames): (Vec<usize>, Vec<&[u8]>) = used.unzip();
    (places, frames.concat())
}

fn small(contexts: Contexts) -> Tables {
    let dictionary = Dictionary::train(std::iter::empty());
    Tables { dictionary, contexts: Some(Box::new(contexts)) }
}

/// Tables of the right length in which every parent is one that can be.
fn tables(seed: &[u8]) -> Vec<u8> {
    let mut bytes: Vec<u8> =
        (0..CONTEXTS_BYTES).map(|at| seed[at % seed.len()].rotate_left(at as u32 / 97)).collect();
    for frame in bytes.chunks_exact_mut(CONTEXTS_BYTES / 106) {
        for (row, bit) in frame[..12 * 11].chunks_exact_mut(11).enumerate() {
            for parent in &mut bit[..3] {
                // A row before, or of its own row one that comes earlier; else none.
                *parent = if usize::from(*parent) < 84 + row { 83 - *parent % 84 } else { 127 };
            }
            bit[3..].iter_mut().for_each(|zero| *zero = (*zero).max(1));
        }
        frame[132..134].iter_mut().for_each(|pair| *pair = if *pair < 0x80 { *pair & 0x77 } else { 0xbf });
        frame[134..].iter_mut().for_each(|zero| *zero = (*zero).max(1));
    }
    bytes
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    #[test]
    fn what_goes_in_comes_out(
        device in 0usize..3,
        seeds in prop::collection::vec((any::<prop::sample::Index>(), 0usize..1136, any::<u16>()), 0..400),
        keep in 0usize..16,
    ) {
        let device = DEVICES[device];
        let seeds: Vec<_> = seeds.iter().map(|(at, bit, set)| (at.index(device.frames), *bit, *set)).collect();
        let memory = image(device, &seeds);
        let contexts = Contexts::train([&memory]);
        let again = Contexts::from_bytes(&contexts.to_bytes());
        prop_assert_eq!(again.as_ref(), Some(&contexts));
        let tables = small(contexts);
        let (places, frames) = some(&memory, keep);
        let stream = tables.compress(device, places.iter().copied().zip(frames.chunks_exact(device.frame_bytes())));
        let mut out = vec![0x55; frames.len()];
        let seen = tables.decompress(device, &stream, places.iter().copied(), &mut out).expect("its own stream");
        prop_assert!(out == frames);
        prop_assert!(seen.decisions >= seen.rows && seen.decisions <= 13 * seen.rows);
        // Longer than it is.
        let longer = [&stream[..], &[0]].concat();
        prop_assert!(tables.decompress(device, &longer, places.iter().copied(), &mut out).is_err());
        // Cut short it is refused, or what comes is something else: digests are there for that.
        for cut in 0..stream.len().min(4) {
            let short = &stream[..stream.len() - 1 - cut];
            let taken = tables.decompress(device, short, places.iter().copied(), &mut out);
            prop_assert!(taken.is_err() || out != frames);
        }
    }

    #[test]
    fn no_bytes_and_no_tables_break_the_decoder(
        device in 0usize..3,
        stream in prop::collection::vec(any::<u8>(), 0..4000),
        seed in prop::collection::vec(any::<u8>(), 1..300),
        count in 0usize..200,
        first in 0usize..7000,
    ) {
        let device = DEVICES[device];
        let Some(contexts) = Contexts::from_bytes(&tables(&seed)) else {
            return Err(TestCaseError::fail("these tables are right"));
        };
        let tables = small(contexts);
        let mut out = vec![0; count * device.frame_bytes()];
        let places = first..first + count;
        if tables.decompress(device, &stream, places.clone(), &mut out).is_ok() {
            // Whatever is accepted has the device's shape.
            let again = tables.compress(device, places.clone().zip(out.chunks_exact(device.frame_bytes())));
            let mut twice = vec![0; out.len()];
            prop_assert!(tables.decompress(device, &again, places, &mut twice).is_ok());
            prop_assert_eq!(twice, out);
        }
    }

    #[test]
    fn tables_of_any_bytes_are_taken_as_they_are_or_refused(bytes in prop::collection::vec(any::<u8>(), CONTEXTS_BYTES)) {
        if let Some(contexts) = Contexts::from_bytes(&bytes) {
            prop_assert_eq!(contexts.to_bytes(), bytes);
        }
    }
}

/// One wrong byte: a probability of zero, a parent that comes later, a length that is not the tables'.
#[test]
fn wrong_tables_are_refused() {
    let right = tables(&[3, 77, 200, 41, 9]);
    assert!(Contexts::from_bytes(&right).is_some());
    assert!(Contexts::from_bytes(&right[1..]).is_none());
    let wrong = |at: usize, value: u8| {
        let mut bytes = right.clone();
        bytes[at] = value;
        Contexts::from_bytes(&bytes).is_none()
    };
    // The highest bit of a row knows none of its row; bit 10 knows bit 11, which is the row's twelfth above the seven before.
    assert!(wrong(0, 84 + 11) && wrong(0, 84) && !wrong(11, 84 + 11) && wrong(11, 84 + 10));
    assert!(wrong(0, 96) && wrong(0, 126) && !wrong(0, 127) && !wrong(0, 83));
    assert!(wrong(3, 0) && wrong(10, 0) && wrong(134, 0));
    assert!(wrong(132, 0xcf) && wrong(132, 0x0e) && !wrong(132, 0xbf));
}
