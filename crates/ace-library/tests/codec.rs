// SPDX-License-Identifier: Apache-2.0
//! The codec: what goes in comes out, and no bytes can break it.

use ace_ecp5::device::{DEVICES, Device, LFE5U_45F};
use ace_library::codec::{DICTIONARY_BYTES, Dictionary, StreamError, compress, decompress};
use proptest::prelude::*;

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
    // A run of none, the literal 20h in the highest row, which has five bits, a zero, and a run of 70.
    let refused = decompress(&dictionary, &LFE5U_45F, &[0x0f, 0x02, 0x03, 0x0e], &mut out[..106]);
    assert_eq!(refused, Err(StreamError::Outside { frame: 0 }));
    // The same with a zero.
    let refused = decompress(&dictionary, &LFE5U_45F, &[0x0f, 0x00, 0x0f, 0xff], &mut out[..106]);
    assert_eq!(refused, Err(StreamError::Zero { frame: 0 }));
}
