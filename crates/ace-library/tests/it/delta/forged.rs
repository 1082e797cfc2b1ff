// SPDX-License-Identifier: Apache-2.0
//! Files whose digest is right and whose deltas are not.

use std::sync::LazyLock;

use ace_ecp5::device::LFE5U_45F;
use ace_ecp5::{ConfigPort, Emit};
use ace_library::{ImageError, Library, Refusal};
use proptest::prelude::*;
use sha2::Digest;

use super::{ANYBODY, library};

/// Digest and number of signatures of a file that nobody has signed.
const TRAILER: usize = 40;

/// A file whose digest is right, whatever it holds.
pub fn resealed(mut bytes: Vec<u8>) -> Vec<u8> {
    let end = bytes.len() - TRAILER;
    let digest = sha2::Sha256::digest(&bytes[..end]);
    bytes[end..end + 32].copy_from_slice(&digest);
    bytes
}

/// The file of [`library`], and where its index begins. `a` comes first in the index and `skeleton` last.
static GOOD: LazyLock<(Vec<u8>, usize)> = LazyLock::new(|| {
    let (library, _) = library();
    let parts = library.parts();
    (library.to_bytes(None), parts.header + parts.dictionary + parts.contents)
});

fn own(at: usize) -> u32 {
    let good = &GOOD.0;
    u32::from_le_bytes([good[at], good[at + 1], good[at + 2], good[at + 3]])
}

/// The file with other words.
fn words(words: &[(usize, u32)]) -> Result<Library, Refusal> {
    let mut bytes = GOOD.0.clone();
    for (at, value) in words {
        bytes[*at..at + 4].copy_from_slice(&value.to_le_bytes());
    }
    Library::from_bytes(&resealed(bytes), &ANYBODY)
}

#[test]
fn forged_deltas_are_refused() {
    let index = GOOD.1;
    // Runs of `a` are the first of its data.
    let runs = index + 3 * 128;
    assert_eq!((own(index + 116), own(index + 120), own(index + 124), own(runs + 4)), (3, 2, 0, 16));
    assert_eq!(words(&[(index + 116, 3)]), Ok(library().0));
    // A base that is a delta, itself, or nowhere.
    for base in [1, 2, 4, u32::MAX] {
        let why = words(&[(index + 116, base)]);
        assert_eq!(why, Err(Refusal::Malformed { what: "base of a".into() }), "{base}");
    }
    // Runs without a base and their stream; another number of runs; a second stream; an address of no frame; runs that
    // overlap, end nowhere, are empty.
    for (at, value) in [
        (index + 116, 0),
        (index + 120, 1),
        (index + 120, u32::MAX),
        (index + 124, 1),
        (index + 124, u32::MAX),
        (runs, 127),
        (runs + 8, own(runs)),
        (runs + 12, 1 << 20),
        (runs + 4, 0),
    ] {
        assert!(matches!(words(&[(at, value)]), Err(Refusal::Malformed { .. })), "{at} {value}");
    }
    // One frame fewer or more than the stream holds, and the right number elsewhere.
    for (at, value) in [(runs + 4, 15), (runs + 4, 17), (runs, own(runs) + 1)] {
        let forged = words(&[(at, value)]).expect("it reads well");
        let why = forged.memory("a").expect_err("it is something else");
        assert!(matches!(why, ImageError::Stream { .. } | ImageError::Digest(_)), "{why}");
        assert_eq!(forged.partial("skeleton", "a").expect_err("it is something else"), why);
        assert!(forged.memory("b").is_ok() && forged.partial("b", "skeleton").is_ok_and(|p| p.is_some()));
    }
}

#[test]
fn files_of_other_formats_are_refused_by_their_number() {
    let good = &GOOD.0;
    assert_eq!(good[8], 7);
    // 5 and 6 were formats once; 16 more say that there are context sets.
    for format in [0, 4, 5, 6, 9, 16 + 5, 16 + 6, 16 + 9, 32 + 7] {
        let mut other = good.clone();
        other[8] = format;
        let why = Library::from_bytes(&resealed(other), &ANYBODY).expect_err("another format");
        assert!(matches!(why, Refusal::Format { found, .. } if found == u32::from(format)), "{why}");
        let why = why.to_string();
        assert!(why.contains(&format!("format {format} of")) && why.contains("7 and 8"), "{why}");
        assert!(why.contains("`ace library build` makes it anew"), "{why}");
    }
}

#[test]
fn frames_elsewhere_are_refused() {
    let (library, _) = library();
    let (good, index) = &*GOOD;
    // The runs of the frames that `skeleton` uses follow the two runs of its domain.
    let skeleton = index + 2 * 128;
    let at = own(skeleton + 40) as usize + 16;
    let edited = |edit: &dyn Fn(&mut Vec<u8>)| {
        let mut bytes = good.clone();
        edit(&mut bytes);
        Library::from_bytes(&resealed(bytes), &ANYBODY)
    };
    // One run of 3000 frames, behind 5470 others.
    assert_eq!(good[at..at + 5], [1, 0xde, 0x2a, 0xb7, 0x17]);
    // A run that is missing, or one more: the stream begins elsewhere then. Another place, a run that is longer or shorter.
    for place in 0..5 {
        for change in [1u8, 0xff, 0x80] {
            let forged = edited(&|bytes| bytes[at + place] = bytes[at + place].wrapping_add(change));
            let why = forged.map(|forged| {
                assert_eq!(forged.memory("skeleton").err(), forged.whole("skeleton").err());
                forged.memory("skeleton").map(|_| ())
            });
            match why {
                Err(Refusal::Malformed { .. }) => {}
                Ok(Err(why)) => {
                    assert!(matches!(why, ImageError::Stream { .. } | ImageError::Digest(_)), "{why}")
                }
                other => panic!("{place} {change}: {other:?}"),
            }
        }
    }
    let load = library.whole("skeleton").expect("all is well");
    let mut port = ConfigPort::new(&LFE5U_45F);
    port.push(&load.bitstream).expect("a good bitstream");
    let memory = library.memory("skeleton").expect("it is there");
    assert_eq!(port.finish().map(|resident| resident.digest()), Ok(memory.digest()));
    let all = Emit { compress: true, ..Emit::default() }.whole(&memory);
    assert!(load.frames < LFE5U_45F.frames && load.bitstream.len() < all.len());
}

#[test]
fn a_forged_way_back_is_refused() {
    let skeleton = GOOD.1 + 2 * 128;
    let runs = own(skeleton + 40) as usize;
    let (count, stream, home) = (own(skeleton + 120), own(skeleton + 60) as usize, own(skeleton + 124));
    assert_eq!((own(skeleton + 116), count, own(runs + 4)), (0, 2, 16));
    // Frames without a stream, a stream without frames, and both cut elsewhere.
    for (at, value) in [(120, 0), (124, 0), (124, u32::MAX), (120, u32::MAX), (124, home + 1)] {
        let why = words(&[(skeleton + at, value)]);
        assert!(matches!(why, Err(Refusal::Malformed { .. })), "{at} {value}");
    }
    for (at, value) in [(runs, 127), (runs + 8, own(runs)), (runs + 12, 1 << 20), (runs + 4, 0)] {
        assert!(matches!(words(&[(at, value)]), Err(Refusal::Malformed { .. })), "{at} {value}");
    }
    let spoilt = |forged: Library| {
        let why = forged.memory("skeleton").expect_err("it is something else");
        assert_eq!(forged.partial("a", "skeleton").expect_err("it is something else"), why);
        // Where the frames alone are not read, all is well.
        assert!(forged.memory("a").is_ok());
        why
    };
    // The right frames at other places, and others in their places: the whole does not have them there.
    let moved = words(&[(runs, own(runs) + 1)]).expect("it reads well");
    let why = spoilt(moved);
    assert_eq!(why, ImageError::Home("skeleton".into()));
    assert!(why.to_string().contains("are not its own"), "{why}");
    let moved = words(&[(runs + 4, 15)]).expect("it reads well");
    assert!(matches!(spoilt(moved), ImageError::Stream { .. }));
    let mut other = 0;
    for bit in (0..home as usize * 8).step_by(61) {
        let mut bytes = GOOD.0.clone();
        bytes[runs + 16 + stream + bit / 8] ^= 1 << (bit % 8);
        let why = spoilt(Library::from_bytes(&resealed(bytes), &ANYBODY).expect("it reads well"));
        other += usize::from(why == ImageError::Home("skeleton".into()));
        assert!(matches!(why, ImageError::Home(_) | ImageError::Stream { .. }), "{why}");
    }
    assert!(other > 0);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(128))]

    #[test]
    fn no_flipped_bit_behind_a_good_digest_goes_unseen(at in any::<prop::sample::Index>(), bit in 0..8u8, low in any::<bool>()) {
        let (good, index) = &*GOOD;
        let mut bytes = good.clone();
        // Anywhere, or in the index and the small streams, which come first.
        let end = if low { index + 3 * 128 + 1000 } else { good.len() - TRAILER };
        let at = index + at.index(end - index);
        bytes[at] ^= 1u8 << bit;
        // Names (if they are names) and texts may be others; what is taken out as `a` is what its digest says, and so is
        // what becomes of another one.
        if let Ok(library) = Library::from_bytes(&resealed(bytes), &ANYBODY) {
            let names = ["a", "b", "skeleton"];
            for name in names {
                if let (Ok(memory), Ok(image)) = (library.memory(name), library.get(name)) {
                    prop_assert_eq!(&memory.digest(), image.digest());
                }
            }
            for (from, to) in names.iter().zip(names.iter().cycle().skip(1)) {
                if let Ok(Some(partial)) = library.partial(from, to) {
                    let resident = library.memory(from).expect("it was read");
                    let mut port = ConfigPort::new(resident.device());
                    port.push(&Emit::default().whole(&resident)).expect("a whole bitstream");
                    port.rearm();
                    port.push(&partial.bitstream).expect("a partial bitstream");
                    let digest = port.finish().expect("it is complete").digest();
                    prop_assert_eq!(&digest, library.get(to).expect("it was read").digest());
                }
            }
        }
    }
}
