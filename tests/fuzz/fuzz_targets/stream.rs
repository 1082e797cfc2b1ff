// SPDX-License-Identifier: Apache-2.0
//! Any bytes as a library's stream, and streams of frames made from the bytes. The decompressor says what the
//! plain one of the tests says: the frames and what was counted, or the same refusal. Of small streams, what it makes
//! of any bytes it makes again of what the compressor makes of that.
#![no_main]

#[path = "../../../crates/ace-library/tests/it/reference/mod.rs"]
mod reference;

use std::sync::LazyLock;

use ace_ecp5::ConfigMemory;
use ace_ecp5::device::{DEVICES, Device, LFE5U_45F};
use ace_library::codec::{Contexts, DICTIONARY_BYTES, Dictionary, Tables, compress, decompress};
use libfuzzer_sys::fuzz_target;

static DICTIONARY: LazyLock<(Dictionary, Vec<u8>)> = LazyLock::new(|| {
    let bytes: Vec<u8> = (0..DICTIONARY_BYTES).map(|i| (i * i / 7) as u8 | 0x11).collect();
    (Dictionary::from_bytes(&bytes).expect("no row is zero"), bytes)
});

/// Tables of frames that look a little like a design.
static SMALL: LazyLock<Tables> = LazyLock::new(|| {
    let mut memory = ConfigMemory::new(&LFE5U_45F);
    for number in 0..3000 {
        let mut frame = vec![0; LFE5U_45F.frame_bytes()];
        for (at, byte) in
            frame.iter_mut().enumerate().skip(1).filter(|(at, _)| (at * 7 + number / 9) % 11 == 0)
        {
            *byte = (at * number) as u8 & (number / 13) as u8;
        }
        memory.set_frame(number, &frame);
    }
    let contexts = Some(Box::new(Contexts::train([&memory])));
    Tables { dictionary: DICTIONARY.0.clone(), contexts }
});

/// Small streams of frames at places from `first` on.
fn small(device: &Device, stream: Option<&[u8]>, first: usize, mut frames: Vec<u8>) {
    let len = device.frame_bytes();
    let count = frames.len() / len;
    let places = || first..first + count;
    let made = |frames: &[u8]| SMALL.compress(device, places().zip(frames.chunks_exact(len)));
    let again = match stream {
        Some(stream) => {
            let mut out = vec![0x55; frames.len()];
            if SMALL.decompress(device, stream, places(), &mut out).is_err() {
                return;
            }
            frames.copy_from_slice(&out);
            made(&out)
        }
        None => made(&frames),
    };
    let mut out = vec![0x55; frames.len()];
    assert!(SMALL.decompress(device, &again, places(), &mut out).is_ok() && out == frames);
}

/// Frames that are blank but for some bytes: each four bytes are how much further, in two, a mask and for how
/// many frames.
fn frames(device: &Device, count: usize, edits: &[u8]) -> Vec<u8> {
    let len = device.frame_bytes();
    let mut bytes = vec![0; count * len];
    let mut at = 0;
    for edit in edits.chunks_exact(4) {
        at += usize::from(edit[0]) << 8 | usize::from(edit[1]);
        for place in (at..bytes.len()).step_by(len).take(usize::from(edit[3] % 32)) {
            // The first byte of a frame may have bits that the device has not.
            bytes[place] ^=
                if place % len == 0 { edit[2] & (0xff >> (len * 8 - device.frame_bits)) } else { edit[2] };
        }
    }
    bytes
}

fuzz_target!(|data: &[u8]| {
    let [kind, count, rest @ ..] = data else { return };
    let device = DEVICES[usize::from(*kind) % DEVICES.len()];
    let count = usize::from(*count);
    let (dictionary, stored) = &*DICTIONARY;
    if kind & 0x40 != 0 {
        let first = rest.first().map_or(0, |byte| usize::from(*byte) * 37);
        return match kind & 0x80 {
            0 => small(device, Some(rest), first, vec![0; count * device.frame_bytes()]),
            _ => small(device, None, first, frames(device, count, rest)),
        };
    }
    let valid = (kind & 0x80 != 0).then(|| frames(device, count, rest));
    let stream = match &valid {
        Some(frames) => compress(dictionary, device, frames.chunks_exact(device.frame_bytes())),
        None => rest.to_vec(),
    };
    let mut out = vec![0x55; count * device.frame_bytes()];
    let mut expected = out.clone();
    let outcome = decompress(dictionary, device, &stream, &mut out);
    assert_eq!(outcome, reference::decompress(stored, device, &stream, &mut expected));
    if outcome.is_ok() {
        assert!(out == expected);
    }
    if let Some(frames) = valid {
        assert!(outcome.is_ok() && out == frames, "{outcome:?}");
    }
});
