// SPDX-License-Identifier: Apache-2.0
//! What the loader and the maker of its lists refuse.

use std::sync::atomic::{AtomicUsize, Ordering};

use ace_ecp5::device::LFE5U_45F;
use ace_ecp5::emit::patterns;
use ace_ecp5::{ConfigMemory, Emit};
use ace_library::codec::{Dictionary, decompress};
use ace_library::load::{Block, Delta, LoadError, Memory, Place, Run, Whole};
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha20Rng;

use super::{REFUSED, begin, change, changes, each, loader, push, registers, run, runs, stream_of, whole};

#[test]
fn what_the_decoder_refuses_is_refused() {
    if loader().is_none() {
        return;
    }
    let refused = AtomicUsize::new(0);
    each(300, |number| {
        let mut rng = ChaCha20Rng::seed_from_u64(1000 + number as u64);
        let mut from = ConfigMemory::new(&LFE5U_45F);
        change(&mut from, &mut rng, 3);
        let dictionary = Dictionary::train([&from]);
        let positions = changes(&ConfigMemory::new(&LFE5U_45F), &from);
        let mut stream = stream_of(&dictionary, &from, &positions);
        let runs = runs(&positions);
        let at = rng.random_range(0..stream.len());
        match number % 6 {
            0 => stream.truncate(at),
            1 => stream.push(if number % 12 == 1 { 0 } else { rng.random() }),
            2 => stream[at] ^= 1 << rng.random_range(0..8),
            // Whatever is there.
            3 => rng.fill(&mut stream[at..]),
            // Literals, that is ones.
            4 => stream[at..].fill(0xff),
            _ => stream.truncate(stream.len() - 1),
        }
        let mut out = vec![0; positions.len() * LFE5U_45F.frame_bytes()];
        let good = decompress(&dictionary, &LFE5U_45F, &stream, &mut out).is_ok();
        let (mut memory, take) = begin(&dictionary);
        let stream = push(&mut memory, &stream);
        let delta = Delta { runs: &runs, stream };
        let list = memory.partial(&LFE5U_45F, None, delta, &[]).expect("there is room");
        let (bits, code, _) = run(&memory, &[take, list], 9000 * (number as u32 % 2), number as u64);
        assert_eq!(code == 0, good, "{number}");
        if !good {
            refused.fetch_add(1, Ordering::Relaxed);
            return;
        }
        let mut to = ConfigMemory::new(&LFE5U_45F);
        let numbers: Vec<usize> = positions.iter().map(|position| LFE5U_45F.frames - 1 - position).collect();
        for (number, frame) in numbers.iter().zip(out.chunks_exact(LFE5U_45F.frame_bytes())) {
            to.set_frame(*number, frame);
        }
        assert!(bits == Emit::default().frames(&to, &numbers).expect("addresses are known"), "{number}");
    });
    assert!(refused.into_inner() > 200);
}

#[test]
fn lists_that_cannot_be_are_refused() {
    if loader().is_none() {
        return;
    }
    let mut rng = ChaCha20Rng::seed_from_u64(7);
    let mut to = ConfigMemory::new(&LFE5U_45F);
    change(&mut to, &mut rng, 2);
    let dictionary = Dictionary::train([&to]);
    let positions = changes(&ConfigMemory::new(&LFE5U_45F), &to);
    let stream = stream_of(&dictionary, &to, &positions);
    let right = runs(&positions);
    let load = |runs: &[Run], spoil: &dyn Fn(&mut Vec<u8>, u32)| {
        let (mut memory, take) = begin(&dictionary);
        let stream = push(&mut memory, &stream);
        let list = memory.partial(&LFE5U_45F, None, Delta { runs, stream }, &[]).expect("there is room");
        let mut bytes = memory.bytes().to_vec();
        spoil(&mut bytes, list);
        let (bits, code, _) = run(&Memory::new(bytes), &[take, list], 500, 5);
        // DONE is written only at the end.
        (code, bits.ends_with(&[0x5e, 0, 0, 0, 0xff, 0xff, 0xff, 0xff]))
    };
    assert_eq!(load(&right, &|_, _| {}), (0, true));
    // One frame more or less than the stream has.
    for more in [1, -1isize] {
        let mut wrong = right.clone();
        let last = wrong.last_mut().expect("there are frames");
        last.frames = last.frames.checked_add_signed(more).expect("more than one frame");
        assert_eq!(load(&wrong, &|_, _| {}), (REFUSED, false), "{more}");
    }
    // Bits of a step that mean nothing, or an address that the loader has not: of the first step and of the third.
    for (at, bit) in [(1, 0), (3, 6), (7, 0), (11, 7), (25, 2), (27, 7)] {
        let spoil = |bytes: &mut Vec<u8>, list: u32| bytes[list as usize + at] ^= 1 << bit;
        assert_eq!(load(&right, &spoil), (REFUSED, false), "byte {at} bit {bit}");
    }
}

#[test]
fn packed_frames_that_cannot_be_are_refused() {
    if loader().is_none() {
        return;
    }
    let refused = AtomicUsize::new(0);
    each(200, |number| {
        let mut rng = ChaCha20Rng::seed_from_u64(2000 + number as u64);
        let mut from = ConfigMemory::new(&LFE5U_45F);
        change(&mut from, &mut rng, 40);
        let first = rng.random_range(0..LFE5U_45F.frames - 60);
        let count = rng.random_range(2..60);
        let dictionary = Dictionary::train([&from]);
        let mut stream = stream_of(&dictionary, &from, &(first..first + count).collect::<Vec<_>>());
        if number % 3 == 1 {
            let at = rng.random_range(0..stream.len());
            stream[at] ^= 1 << rng.random_range(0..8);
        }
        let mut out = vec![0; count * LFE5U_45F.frame_bytes()];
        let good = decompress(&dictionary, &LFE5U_45F, &stream, &mut out).is_ok();
        // The list of a whole device, told that there are fewer frames; every third one more or less than there are.
        let listed = if number % 3 == 2 { count + 1 - number % 2 * 2 } else { count };
        let (mut memory, take) = begin(&dictionary);
        let stream = push(&mut memory, &stream);
        let frames =
            Whole { stream, used: None, patterns: Some(patterns(out.chunks_exact(LFE5U_45F.frame_bytes()))) };
        let list = memory.whole(registers(&from), frames, &[]).expect("there is room");
        let mut bytes = memory.bytes().to_vec();
        for step in bytes[list as usize..].chunks_exact_mut(12) {
            match step[0] % 4 {
                2 => step[2..4].copy_from_slice(&(count as u16 - 1).to_le_bytes()),
                3 => step[2..4].copy_from_slice(&(listed as u16 - 1).to_le_bytes()),
                _ => {}
            }
        }
        let (bits, code, _) =
            run(&Memory::new(bytes), &[take, list], 9000 * (number as u32 % 2), number as u64);
        let well = good && listed == count;
        assert_eq!(code == 0, well, "{number}");
        assert_eq!(bits.ends_with(&[0x5e, 0, 0, 0, 0xff, 0xff, 0xff, 0xff]), well, "{number}");
        if !well {
            refused.fetch_add(1, Ordering::Relaxed);
        }
    });
    assert!(refused.into_inner() > 80);
}

#[test]
fn what_does_not_fit_has_no_list() {
    let mut memory = Memory::default();
    let delta = |runs| Delta { runs, stream: Place::default() };
    let none = memory.partial(&LFE5U_45F, None, delta(&[Run { address: 0, frames: 0 }]), &[]);
    assert_eq!(none, Err(LoadError::Frames(0)));
    let many = memory.partial(&LFE5U_45F, None, delta(&[Run { address: 0, frames: 16385 }]), &[]);
    assert_eq!(many, Err(LoadError::Frames(16385)));
    let short = Block { id: 1, contents: Some(Place { address: 0, length: 2303 }) };
    assert_eq!(memory.partial(&LFE5U_45F, None, delta(&[]), &[short]), Err(LoadError::Block(2303)));
    let blank = ConfigMemory::new(&LFE5U_45F);
    let mut memory = Memory::new(vec![0; (1 << 24) - 100]);
    assert_eq!(memory.push(&[0; 100]), Err(LoadError::Full));
    assert_eq!(
        memory.whole(registers(&blank), whole(Place::default(), &blank, true), &[]),
        Err(LoadError::Full)
    );
}
