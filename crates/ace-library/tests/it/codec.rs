// SPDX-License-Identifier: Apache-2.0
//! The codec: what goes in comes out, and no bytes can break it.

use ace_ecp5::device::{DEVICES, Device, LFE5U_45F};
use ace_library::codec::{DICTIONARY_BYTES, Dictionary, StreamError, compress, decompress};
use proptest::prelude::*;

use super::reference;

/// Frames that look a little like a design: places that stay in use for some frames, and much that is empty.
fn frames(device: &'static Device, seeds: &[(usize, usize, u16)], count: usize) -> Vec<u8> {
    let len = device.frame_bytes();
    let mut bytes = vec![0; count * len];
    for (frame, bit, pattern) in seeds {
        for (i, at) in (frame % count..count).take(1 + usize::from(*pattern % 23)).enumerate() {
            for b in 0..12 {
                let place = (bit + b) % device.frame_bits;
                let set = pattern.rotate_left(i as u32) >> b & 1;
                bytes[at * len + len - 1 - place / 8] |= (set as u8) << (place % 8);
            }
        }
    }
    bytes
}

/// Both decoders must say the same: the frames and what was counted, or why the stream is refused.
fn agree(
    dictionary: &Dictionary,
    device: &'static Device,
    stream: &[u8],
    frames: usize,
) -> Result<(), TestCaseError> {
    let mut out = vec![0x55; frames * device.frame_bytes()];
    let mut expected = out.clone();
    let outcome = decompress(dictionary, device, stream, &mut out);
    let wanted = reference::decompress(&dictionary.to_bytes(), device, stream, &mut expected);
    prop_assert_eq!(&outcome, &wanted);
    if outcome.is_ok() {
        prop_assert!(out == expected);
    }
    Ok(())
}

fn dictionary() -> Dictionary {
    let bytes: Vec<u8> = (0..DICTIONARY_BYTES).map(|i| (i * i / 7) as u8 | 0x11).collect();
    Dictionary::from_bytes(&bytes).expect("the length is right")
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn what_goes_in_comes_out(
        device in 0usize..3,
        seeds in prop::collection::vec((0usize..900, 0usize..1136, any::<u16>()), 0..200),
        count in 1usize..900,
    ) {
        let device = DEVICES[device];
        let (dictionary, bytes) = (dictionary(), frames(device, &seeds, count));
        let stream = compress(&dictionary, device, bytes.chunks_exact(device.frame_bytes()));
        let mut out = vec![0x55; bytes.len()];
        let decoded = decompress(&dictionary, device, &stream, &mut out).expect("its own stream");
        prop_assert_eq!(&out, &bytes);
        // A run is read at most for every second row.
        prop_assert!(decoded.clocks() <= decoded.rows * 3 / 2);
        // Neither shorter nor longer.
        for wrong in [&stream[..stream.len() - 1], &[&stream[..], &[0]].concat()] {
            prop_assert!(decompress(&dictionary, device, wrong, &mut out).is_err());
        }
        let mut longer = vec![0; bytes.len() + device.frame_bytes()];
        prop_assert!(decompress(&dictionary, device, &stream, &mut longer).is_err());
    }

    #[test]
    fn decodes_as_the_reference_does(
        device in 0usize..3,
        seeds in prop::collection::vec((0usize..900, 0usize..1136, any::<u16>()), 0..200),
        count in 1usize..900,
        edits in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 0..4),
        cut in prop::option::of(any::<prop::sample::Index>()),
        more in prop::collection::vec(prop::sample::select(vec![0u8, 0, 0, 1, 0x80, 0xff]), 0..12),
    ) {
        let device = DEVICES[device];
        let (dictionary, bytes) = (dictionary(), frames(device, &seeds, count));
        let mut stream = compress(&dictionary, device, bytes.chunks_exact(device.frame_bytes()));
        agree(&dictionary, device, &stream, count)?;
        for (place, change) in edits {
            let place = place.index(stream.len());
            stream[place] ^= change;
        }
        if let Some(cut) = cut {
            stream.truncate(cut.index(stream.len() + 1));
        }
        stream.extend(more);
        agree(&dictionary, device, &stream, count)?;
    }

    #[test]
    fn takes_any_bytes_as_the_reference_does(
        device in 0usize..3,
        // Bytes with few ones have runs and blank rows.
        stream in prop::collection::vec((any::<u8>(), any::<u8>()), 0..4000),
        few in any::<bool>(),
        table in prop::collection::vec(any::<u8>(), DICTIONARY_BYTES),
        count in 0usize..200,
    ) {
        let table: Vec<u8> = table.iter().map(|byte| byte | 0x11).collect();
        let dictionary = Dictionary::from_bytes(&table).expect("the length is right");
        let stream: Vec<u8> = stream.iter().map(|(a, b)| if few { a & b } else { *a }).collect();
        agree(&dictionary, DEVICES[device], &stream, count)?;
    }

    #[test]
    fn no_bytes_break_the_decoder(
        device in 0usize..3,
        stream in prop::collection::vec(any::<u8>(), 0..4000),
        table in prop::collection::vec(any::<u8>(), DICTIONARY_BYTES),
        count in 0usize..200,
    ) {
        let device = DEVICES[device];
        let table: Vec<u8> = table.iter().map(|byte| byte | 0x11).collect();
        let dictionary = Dictionary::from_bytes(&table).expect("the length is right");
        let mut out = vec![0; count * device.frame_bytes()];
        if decompress(&dictionary, device, &stream, &mut out).is_ok() {
            // Whatever is accepted has the device's shape.
            let again = compress(&dictionary, device, out.chunks_exact(device.frame_bytes()));
            let mut twice = vec![0; out.len()];
            prop_assert!(decompress(&dictionary, device, &again, &mut twice).is_ok());
            prop_assert_eq!(twice, out);
        }
    }
}

#[test]
fn a_blank_device_is_a_few_bytes() {
    let blank = vec![0; LFE5U_45F.frames * LFE5U_45F.frame_bytes()];
    let stream = compress(&dictionary(), &LFE5U_45F, blank.chunks_exact(106));
    assert_eq!(stream.len(), 13);
    let mut out = vec![1; blank.len()];
    decompress(&dictionary(), &LFE5U_45F, &stream, &mut out).expect("its own stream");
    assert_eq!(out, blank);
}

#[test]
fn refusals_say_why() {
    let dictionary = dictionary();
    let mut out = vec![0; 107];
    let refused = decompress(&dictionary, &LFE5U_45F, &[], &mut out);
    assert_eq!(refused, Err(StreamError::Length { bytes: 107, frame_bytes: 106 }));
    let refused = decompress(&dictionary, &LFE5U_45F, &[], &mut out[..106]);
    assert_eq!(refused, Err(StreamError::Truncated { frame: 0, frames: 1 }));
    // A run of none, the literal 20h in the highest row, which has one bit, a zero, and a run of 72.
    let refused = decompress(&dictionary, &LFE5U_45F, &[0x0f, 0x02, 0x03, 0x12], &mut out[..106]);
    assert_eq!(refused, Err(StreamError::Outside { frame: 0 }));
    // The same with a zero.
    let refused = decompress(&dictionary, &LFE5U_45F, &[0x0f, 0x00, 0x0f, 0xff], &mut out[..106]);
    assert_eq!(refused, Err(StreamError::Zero { frame: 0 }));
}
