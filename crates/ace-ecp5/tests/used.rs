// SPDX-License-Identifier: Apache-2.0
//! Bitstreams of the frames alone that are not blank, for a device that PROGRAMN has cleared: they make the same memory,
//! and one with runs that are missing, elsewhere, cut short or twice there does not pass for it.

use ace_ecp5::device::{LFE5U_25F, LFE5U_45F};
use ace_ecp5::memory::EBR_BYTES;
use ace_ecp5::{BitstreamError, ConfigMemory, ConfigPort, Emit, Reason};
use proptest::prelude::*;

/// A few runs of frames, a block RAM with contents and one of zeros.
fn memory(runs: &[(usize, usize, u8)]) -> ConfigMemory {
    let mut memory = ConfigMemory::new(&LFE5U_45F);
    for (first, count, byte) in runs {
        for number in *first..(first + count).min(LFE5U_45F.frames) {
            let mut frame = vec![0; LFE5U_45F.frame_bytes()];
            frame[1 + number % 100] = *byte;
            frame[105] = 0x40;
            memory.set_frame(number, &frame);
        }
    }
    memory.set_ebr(3, &[0; EBR_BYTES]);
    memory.set_ebr(4, &[7; EBR_BYTES]);
    memory.set_control0(0x4000_0000);
    memory.set_usercode(5);
    memory
}

fn written(bits: &[u8]) -> Result<[u8; 32], BitstreamError> {
    let mut port = ConfigPort::new(&LFE5U_45F);
    port.push(bits)?;
    port.finish().map(ConfigMemory::digest)
}

/// Where the runs of a stream that is not compressed begin, each with its address and how many bytes it has.
fn runs(bits: &[u8], frames: &[usize]) -> Vec<(usize, usize)> {
    let mut runs = Vec::new();
    let mut from = 0;
    for count in frames {
        let head = |w: &[u8]| w[..4] == [0xb4, 0, 0, 0] && w[8..10] == [0x82, 0x91];
        let at = from + bits[from..].windows(12).position(head).expect("there is a run");
        runs.push((at, 12 + count * (106 + 3)));
        from = at + 12 + count * 109;
    }
    runs
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    #[test]
    fn used_frames_make_the_same_memory(
        runs in prop::collection::vec((0..9470usize, 1..200usize, 1..=255u8), 0..12),
        compress: bool,
    ) {
        let memory = memory(&runs);
        let emit = Emit { compress, ..Emit::default() };
        let used = emit.used(&memory).expect("addresses are known");
        prop_assert!(used.len() < emit.whole(&memory).len());
        prop_assert_eq!(written(&used), Ok(memory.digest()));
        // Over anything else it makes something else: what it leaves out is as it was.
        let mut port = ConfigPort::new(&LFE5U_45F);
        let other = self::memory(&[(9000, 400, 3), (0, 400, 3), (4000, 400, 3)]);
        port.push(&emit.whole(&other)).expect("a whole bitstream");
        port.rearm();
        port.push(&used).expect("a good bitstream");
        prop_assert_ne!(port.finish().map(ConfigMemory::digest), Ok(memory.digest()));
        // Not so if PROGRAMN clears it before.
        port.reset();
        port.push(&used).expect("a good bitstream");
        prop_assert_eq!(port.finish().map(ConfigMemory::digest), Ok(memory.digest()));
    }
}

#[test]
fn other_runs_are_refused_or_make_another_memory() {
    let memory = memory(&[(100, 3, 9), (5000, 2, 6), (9000, 1, 12)]);
    let bits = Emit::default().used(&memory).expect("addresses are known");
    assert_eq!(written(&bits), Ok(memory.digest()));
    // The highest frame comes first.
    let runs = runs(&bits, &[1, 2, 3]);
    for (at, len) in &runs {
        // A run is missing. The first one's CRC covers what stands in front of it; that of any other begins behind a
        // run, and only the memory shows it.
        let missing = written(&[&bits[..*at], &bits[at + len..]].concat());
        match missing {
            Err(why) => assert!(*at == runs[0].0 && matches!(why.reason, Reason::Crc { .. }), "{why}"),
            Ok(digest) => assert!(*at != runs[0].0 && digest != memory.digest()),
        }
        // It has one frame fewer than it says, or says that it has fewer or none.
        let short = [&bits[..at + len - 109], &bits[at + len..]].concat();
        assert!(written(&short).is_err());
        for (count, place) in [(-1i8, 11), (1, 11)] {
            let mut other = bits.clone();
            other[at + place] = other[at + place].wrapping_add_signed(count);
            assert!(written(&other).is_err(), "{at} {count}");
        }
        // It is elsewhere: the CRC of its first frame covers the address.
        for bit in 0..32 {
            let mut other = bits.clone();
            other[at + 4 + bit / 8] ^= 1 << (bit % 8);
            let why = written(&other).expect_err("another address");
            assert!(matches!(why.reason, Reason::Crc { .. } | Reason::FrameAddress { .. }), "{why}");
        }
        // Its end is missing, and all that follows.
        let why = written(&bits[..at + len - 50]).expect_err("it ends early");
        assert!(matches!(why.reason, Reason::Truncated(_)), "{why}");
    }
    // Elsewhere with good CRCs: one column, one frame further; where no frame is.
    let moved = |number: usize| {
        let mut other = memory.clone();
        let frame = memory.frame(9000).expect("it is there").to_vec();
        other.set_frame(9000, &[0; 106]);
        other.set_frame(number, &frame);
        Emit::default().used(&other).expect("addresses are known")
    };
    for number in [8999, 9001, 9106, 0] {
        assert_eq!(written(&moved(number)).map(|digest| digest == memory.digest()), Ok(false));
    }
    // Twice there: the last one counts, whatever it says.
    let behind = runs[2].0 + runs[2].1;
    let (start, length) = runs[0];
    let again = |change: u8| {
        // Behind a frame the CRC begins with its dummy byte, as it does where the run stood before.
        let mut twice = [&bits[..behind], &bits[start..start + length], &bits[behind..]].concat();
        let frame = behind + 12;
        twice[frame + 50] ^= change;
        let crc = crc(&[&[0xff][..], &twice[behind..frame + 106]].concat());
        twice[frame + 106..frame + 108].copy_from_slice(&crc.to_be_bytes());
        written(&twice)
    };
    assert_eq!(again(0), Ok(memory.digest()));
    assert_eq!(again(1).map(|digest| digest == memory.digest()), Ok(false));
    // A device whose addresses are not known takes whole images alone.
    assert_eq!(Emit::default().used(&ConfigMemory::new(&LFE5U_25F)), None);
}

/// CRC-16 of polynomial 8005h, bit by bit.
fn crc(bytes: &[u8]) -> u16 {
    bytes.iter().fold(0, |crc, byte| {
        (0..8).rev().fold(crc, |crc: u16, bit| {
            let top = (crc >> 15) ^ u16::from(byte >> bit & 1);
            crc << 1 ^ if top == 1 { 0x8005 } else { 0 }
        })
    })
}
