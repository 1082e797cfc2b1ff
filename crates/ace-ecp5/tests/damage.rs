// SPDX-License-Identifier: Apache-2.0
//! Damaged bitstreams: whatever single bit is wrong and wherever the stream ends, the device does not start,
//! or it starts with the very same memory.

use crate::common::{fixture, load};
use ace_ecp5::{ConfigMemory, ConfigPort};
use proptest::prelude::*;

/// Where the preamble starts.
fn preamble(bytes: &[u8]) -> usize {
    bytes.windows(4).position(|w| w == [0xff, 0xff, 0xbd, 0xb3]).expect("a preamble")
}

/// Ports that have taken the stream up to multiples of this many bytes.
const CHECKPOINT: usize = 1 << 16;

struct Flips {
    bytes: Vec<u8>,
    digest: [u8; 32],
    checkpoints: Vec<ConfigPort>,
}

impl Flips {
    fn of(bytes: Vec<u8>) -> Self {
        let mut port = ConfigPort::for_any_device();
        let mut checkpoints = Vec::new();
        for chunk in bytes.chunks(CHECKPOINT) {
            checkpoints.push(port.clone());
            port.push(chunk).expect("a good bitstream");
        }
        let digest = port.finish().expect("a good bitstream").digest();
        Self { bytes, digest, checkpoints }
    }

    /// Whether the device starts when the bit is wrong; its memory must then be the same.
    fn starts(&self, at: usize, bit: u32) -> bool {
        let mut port = self.checkpoints[at / CHECKPOINT].clone();
        port.push(&self.bytes[at / CHECKPOINT * CHECKPOINT..at]).expect("not damaged yet");
        let refused = port.push(&[self.bytes[at] ^ 1 << bit]).is_err()
            || self.bytes[at + 1..].chunks(1024).any(|chunk| port.push(chunk).is_err());
        match port.finish() {
            Ok(memory) => {
                assert!(!refused);
                assert_eq!(memory.digest(), self.digest, "byte {at} bit {bit} changes the memory unseen");
                true
            }
            Err(_) => false,
        }
    }
}

#[test]
fn no_single_bit_error_is_taken_for_a_configuration() {
    for (name, head, tail) in [("25f", 400, 2400), ("25f_compressed", 300, 2400), ("25f_options", 100, 100)] {
        let flips = Flips::of(fixture(name));
        let len = flips.bytes.len();
        let comment = preamble(&flips.bytes);
        // The flash mode is for the port's own clocking of a flash; any value that is sent is one.
        let mode = flips.bytes[comment + 8..].first().filter(|byte| **byte == 0x79).map(|_| comment + 9);
        // All of the header and the first frames; a block RAM, DONE and the end; every 211th byte between.
        let places = (0..head).chain((head..len - tail).step_by(211)).chain(len - tail..len);
        for at in places {
            let between = (head..len - tail).contains(&at);
            for bit in (0..8).filter(|bit| !between || at as u32 % 8 == *bit) {
                let starts = flips.starts(at, bit);
                let ignored = at < comment || Some(at) == mode;
                assert_eq!(starts, ignored, "{name}: byte {at} bit {bit}");
            }
        }
    }
}

#[test]
fn no_truncated_stream_is_taken_for_a_configuration() {
    for name in ["25f", "25f_compressed", "25f_options", "45f_delta"] {
        let bytes = fixture(name);
        let mut port = ConfigPort::for_any_device();
        for (len, byte) in bytes.iter().enumerate() {
            let error = port.finish().expect_err("not complete");
            assert_eq!(error.offset, len as u64, "{name}: {error}");
            port.push(&[*byte]).expect("a good bitstream");
        }
        // Byte by byte or at once: the same.
        assert_eq!(port.finish(), load(&bytes).as_ref().map_err(Clone::clone), "{name}");
    }
}

#[test]
fn missing_and_repeated_bytes_are_refused() {
    for name in ["25f", "25f_compressed"] {
        let bytes = fixture(name);
        let good = load(&bytes).expect("good").digest();
        let start = preamble(&bytes);
        for at in (start..start + 200).chain((start + 200..bytes.len() - 3).step_by(4999)) {
            for damaged in [[&bytes[..at], &bytes[at + 1..]], [&bytes[..=at], &bytes[at..]]] {
                let loaded = load(&damaged.concat());
                // There may be more or less of the padding between commands, and more before the preamble.
                let padding = bytes[at] == 0xff;
                assert!(loaded.is_err() || padding, "{name}: byte {at}");
                assert!(
                    loaded.is_err() || loaded.is_ok_and(|memory| memory.digest() == good),
                    "{name}: byte {at}"
                );
            }
        }
    }
}

/// Pieces of bitstreams, so that random ones come further than the preamble.
fn fragment() -> impl Strategy<Value = Vec<u8>> {
    let command = prop::sample::select(vec![
        0x02u8, 0x22, 0x3b, 0x46, 0x5e, 0x79, 0x7e, 0x82, 0xa2, 0xb2, 0xb4, 0xb8, 0xc2, 0xce, 0xe2, 0xf6,
        0xff,
    ]);
    prop_oneof![
        1 => Just(vec![0xff, 0xff, 0xbd, 0xb3]),
        2 => Just(vec![0xe2, 0, 0, 0, 0x41, 0x11, 0x10, 0x43]),
        2 => Just(vec![0xe2, 0, 0, 0, 0x41, 0x11, 0x20, 0x43]),
        1 => Just(vec![0x3b, 0, 0, 0]),
        2 => Just(vec![0x46, 0, 0, 0]),
        2 => Just([[0x02, 0, 0, 0].as_slice(), &[7, 3, 5, 6, 9, 10, 12, 11]].concat()),
        2 => (any::<u8>(), 0u16..5).prop_map(|(o, n)| vec![0x82, o & 0x5f, (n >> 8) as u8, n as u8]),
        2 => (any::<u8>(), 0u16..5).prop_map(|(o, n)| vec![0xb8, o & 0x5f, (n >> 8) as u8, n as u8]),
        2 => (any::<u32>()).prop_map(|a| [&[0xb4, 0, 0, 0], &(a % 0x6000).to_be_bytes()[..]].concat()),
        2 => (any::<u32>()).prop_map(|a| [&[0xf6, 0, 0, 0], &(a & 0xffff8).to_be_bytes()[..]].concat()),
        1 => (any::<u16>()).prop_map(|n| vec![0xb2, 0xd0, (n >> 8) as u8, n as u8]),
        3 => (command, any::<[u8; 3]>()).prop_map(|(c, i)| vec![c, i[0], i[1], i[2]]),
        2 => prop::collection::vec(any::<u8>(), 0..300),
        2 => (0usize..300).prop_map(|n| vec![0xff; n]),
        2 => (0usize..300).prop_map(|n| vec![0; n]),
    ]
}

/// Everything that can be asked of a port.
fn outcome(port: &ConfigPort) -> (Result<ConfigMemory, ace_ecp5::BitstreamError>, Vec<u8>) {
    (port.finish().cloned(), port.comment().to_vec())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    #[test]
    fn any_bytes_in_any_pieces(
        fragments in prop::collection::vec(fragment(), 0..30),
        preamble in prop::bool::weighted(0.9),
        size in 1usize..400,
    ) {
        let start: &[u8] = if preamble { &[0xff, 0xff, 0xbd, 0xb3, 0xe2, 0, 0, 0, 0x41, 0x11, 0x20, 0x43] } else { &[] };
        let bytes = [start, &fragments.concat()].concat();
        let mut whole = ConfigPort::for_any_device();
        let mut pieces = ConfigPort::for_any_device();
        let at_once = whole.push(&bytes);
        let mut in_pieces = Ok(());
        for piece in bytes.chunks(size) {
            in_pieces = in_pieces.and(pieces.push(piece));
        }
        prop_assert_eq!(at_once, in_pieces);
        prop_assert_eq!(outcome(&whole), outcome(&pieces));
    }
}
