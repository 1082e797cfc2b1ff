// SPDX-License-Identifier: Apache-2.0
//! Configurations stored as what they change of another one.

use ace_ecp5::device::{LFE5U_25F, LFE5U_45F};
use ace_ecp5::memory::EBR_BYTES;
use ace_ecp5::{ConfigMemory, ConfigPort, Device, Emit};
use ace_library::codec::Dictionary;
use ace_library::{ImageError, Library, Refusal, Trust};
use proptest::prelude::*;
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha20Rng;
use sha2::Digest;

const ANYBODY: Trust = Trust { key: None, required_version: 0, device: None };

fn scatter(memory: &mut ConfigMemory, frames: impl IntoIterator<Item = usize>, rng: &mut ChaCha20Rng) {
    for number in frames {
        let mut frame = memory.frame(number).expect("it is there").to_vec();
        for _ in 0..6 {
            let at = rng.random_range(1..frame.len());
            frame[at] = rng.random::<u8>() & rng.random::<u8>();
        }
        assert!(memory.set_frame(number, &frame));
    }
}

fn base(device: &'static Device) -> ConfigMemory {
    let mut rng = ChaCha20Rng::seed_from_u64(1);
    let mut memory = ConfigMemory::new(device);
    scatter(&mut memory, 1000..4000, &mut rng);
    for (id, byte) in [(1, 7), (2, 0)] {
        memory.set_ebr(id, &[byte; EBR_BYTES]);
    }
    memory
}

/// The base with two runs of frames changed.
fn variant(of: &ConfigMemory, seed: u64) -> ConfigMemory {
    let mut rng = ChaCha20Rng::seed_from_u64(seed);
    let mut memory = of.clone();
    scatter(&mut memory, (2000..2016).chain(3000..3016), &mut rng);
    memory.set_usercode(seed as u32);
    memory
}

fn library() -> (Library, [ConfigMemory; 3]) {
    let base = base(&LFE5U_45F);
    let images = [variant(&base, 2), variant(&base, 3), base];
    let mut library = Library::new(Dictionary::train(&images));
    library.add("skeleton", &images[2], b"{}", b"", &[]).expect("it fits");
    library.add("a", &images[0], b"{}", b"", &["skeleton"]).expect("it fits");
    library.add("b", &images[1], b"{}", b"", &["a", "nobody", "skeleton"]).expect("it fits");
    (library, images)
}

/// A file whose digest is right, whatever it holds.
fn resealed(mut bytes: Vec<u8>) -> Vec<u8> {
    let end = bytes.len() - 96;
    let digest = sha2::Sha256::digest(&bytes[..end]);
    bytes[end..end + 32].copy_from_slice(&digest);
    bytes
}

#[test]
fn what_is_merged_is_what_went_in() {
    let (library, images) = library();
    let library = Library::from_bytes(&library.to_bytes(None), &ANYBODY).expect("it is good");
    for (name, image) in ["a", "b", "skeleton"].into_iter().zip(&images) {
        assert_eq!(library.memory(name).expect("it is there"), *image);
    }
    let a = library.get("a").expect("it is there");
    assert_eq!((a.base(), a.frame_count(), a.runs().len(), a.blocks()), (Some("skeleton"), 32, 2, (0, 0)));
    assert_eq!(a.runs().iter().map(|run| run.frames).collect::<Vec<_>>(), [16, 16]);
    // The first frame that is sent is the highest.
    let first = LFE5U_45F.position(a.runs()[0].address).expect("an address");
    assert_eq!(LFE5U_45F.frames - 1 - first, 3015);
    let whole = library.get("skeleton").expect("it is there").frames().len();
    assert!(a.stored_frame_bytes() * 20 < whole, "{} of {whole}", a.stored_frame_bytes());
    // A decompressor takes the base first: a row and a run a clock.
    let clocks = |name: &str| library.memory_in(name).expect("it is there").1;
    assert!((clocks("skeleton") + 1..clocks("skeleton") + 32 * 72 * 2).contains(&clocks("a")));
    // A delta is over what is stored whole, never over another delta.
    assert_eq!(library.get("b").expect("it is there").base(), Some("skeleton"));
    assert_eq!(library.get("skeleton").expect("it is there").base(), None);
}

#[test]
fn the_changed_frames_alone_make_one_of_the_other() {
    let (library, images) = library();
    let mut port = ConfigPort::new(&LFE5U_45F);
    let whole = Emit::default().whole(&images[2]);
    let mut load = |bits: &[u8]| {
        port.rearm();
        port.push(bits).expect("it is taken");
        port.finish().expect("it is whole").digest()
    };
    assert_eq!(load(&whole), images[2].digest());
    for (from, to, image) in [("skeleton", "a", 0), ("a", "b", 1), ("b", "skeleton", 2)] {
        let part = library.partial(from, to).expect("they are there").expect("they differ in frames alone");
        assert!(part.len() < 32 * 109 + 120, "{}", part.len());
        assert_eq!(load(&part), images[image].digest(), "{from} to {to}");
    }
    assert!(matches!(library.partial("a", "c"), Err(ImageError::Unknown(_))));
}

#[test]
fn no_delta_where_none_can_be() {
    let (mut library, [_, other, base]) = library();
    let mut add = |name: &str, image: &ConfigMemory, bases: &[&str]| {
        library.add(name, image, b"", b"", bases).expect("it fits");
        assert_eq!(&library.memory(name).expect("it is there"), image);
        library.get(name).expect("it is there").base().map(str::to_owned)
    };
    // Nothing in common: half of the whole would not be saved.
    let mut far = ConfigMemory::new(&LFE5U_45F);
    scatter(&mut far, 5000..8000, &mut ChaCha20Rng::seed_from_u64(9));
    assert_eq!(add("far", &far, &["skeleton"]), None);
    // Nobody has documented the addresses of this device's frames.
    let small = self::base(&LFE5U_25F);
    assert_eq!(add("small", &small, &[]), None);
    assert_eq!(add("small-a", &variant(&small, 5), &["small", "skeleton"]), None);
    // One block RAM more or another one: over the base. One less: not.
    let mut more = other.clone();
    more.set_ebr(1, &[9; EBR_BYTES]);
    more.set_ebr(7, &[3; EBR_BYTES]);
    assert_eq!(add("more", &more, &["skeleton"]), Some("skeleton".to_owned()));
    let mut less = ConfigMemory::new(&LFE5U_45F);
    for number in 0..LFE5U_45F.frames {
        less.set_frame(number, other.frame(number).expect("it is there"));
    }
    assert_eq!(add("less", &less, &["skeleton"]), None);
    // The same once more: no frames at all.
    assert_eq!(add("same", &base, &["skeleton"]), Some("skeleton".to_owned()));
    assert_eq!(library.get("same").expect("it is there").frame_count(), 0);
    assert_eq!(library.get("more").expect("it is there").blocks(), (2, 2));
    assert_eq!(library.partial("more", "skeleton").expect("they are there"), None);
    let bytes = library.to_bytes(None);
    assert_eq!(bytes.len(), library.parts().total());
    assert_eq!(Library::from_bytes(&bytes, &ANYBODY).expect("it is good"), library);
}

#[test]
fn a_base_is_not_taken_away() {
    let (mut library, [a, b, base]) = library();
    let refused = library.remove("skeleton").expect_err("two stand on it");
    assert_eq!(refused, ImageError::Needed { name: "skeleton".into(), by: "a, b".into() });
    assert!(refused.to_string().contains("a, b are stored"), "{refused}");
    // Another one in its place: those above are taken over, as deltas of the new one if they can be.
    let near = variant(&base, 4);
    library.add("skeleton", &near, b"", b"", &["a"]).expect("it fits");
    for (name, image) in [("a", &a), ("b", &b), ("skeleton", &near)] {
        assert_eq!(&library.memory(name).expect("it is there"), image);
    }
    assert_eq!(library.get("a").expect("it is there").base(), Some("skeleton"));
    let mut far = ConfigMemory::new(&LFE5U_45F);
    scatter(&mut far, 5000..8000, &mut ChaCha20Rng::seed_from_u64(9));
    library.add("skeleton", &far, b"", b"", &[]).expect("it fits");
    assert_eq!(library.get("a").expect("it is there").base(), None);
    assert_eq!((library.memory("a"), library.memory("b")), (Ok(a), Ok(b)));
    library.remove("skeleton").expect("nobody stands on it any more");
}

#[test]
fn forged_deltas_are_refused() {
    let (library, _) = library();
    let good = library.to_bytes(None);
    let parts = library.parts();
    let index = parts.header + parts.dictionary + parts.contents;
    // `a` comes first in the index and `skeleton` last; runs of `a` are the first of its data.
    let runs = index + parts.index;
    let word = |at: usize, value: u32| {
        let mut bytes = good.clone();
        bytes[at..at + 4].copy_from_slice(&value.to_le_bytes());
        Library::from_bytes(&resealed(bytes), &ANYBODY)
    };
    let own = |at: usize| u32::from_le_bytes([good[at], good[at + 1], good[at + 2], good[at + 3]]);
    assert_eq!((own(index + 116), own(index + 120), own(runs + 4)), (3, 2, 16));
    assert_eq!(word(index + 116, 3).as_ref(), Ok(&library));
    // A base that is a delta, itself, or nowhere.
    for base in [1, 2, 4, u32::MAX] {
        assert_eq!(word(index + 116, base), Err(Refusal::Malformed { what: "base of a".into() }), "{base}");
    }
    // Runs without a base; another number of runs; an address of no frame; runs that overlap, end nowhere, are empty.
    for (at, value) in [
        (index + 116, 0),
        (index + 120, 1),
        (index + 120, u32::MAX),
        (index + 124, 1),
        (runs, 127),
        (runs + 8, own(runs)),
        (runs + 12, 1 << 20),
        (runs + 4, 0),
    ] {
        assert!(matches!(word(at, value), Err(Refusal::Malformed { .. })), "{at} {value}");
    }
    // One frame fewer or more than the stream holds, and the right number elsewhere.
    for (at, value) in [(runs + 4, 15), (runs + 4, 17), (runs, own(runs) + 1)] {
        let forged = word(at, value).expect("it reads well");
        let why = forged.memory("a").expect_err("it is something else");
        assert!(matches!(why, ImageError::Stream { .. } | ImageError::Digest(_)), "{why}");
        assert!(forged.memory("b").is_ok());
    }
}

proptest! {
    #[test]
    fn no_flipped_bit_behind_a_good_digest_goes_unseen(at in any::<prop::sample::Index>(), bit in 0..8u8) {
        use std::sync::LazyLock;
        static GOOD: LazyLock<(Vec<u8>, usize)> = LazyLock::new(|| {
            let (library, _) = library();
            let parts = library.parts();
            (library.to_bytes(None), parts.header + parts.dictionary + parts.contents)
        });
        let (good, index) = &*GOOD;
        let mut bytes = good.clone();
        let at = index + at.index(good.len() - 96 - index);
        bytes[at] ^= 1u8 << bit;
        // Names, registers and texts may be others; what is taken out as `a` is what its digest says.
        if let Ok(library) = Library::from_bytes(&resealed(bytes), &ANYBODY) {
            for name in ["a", "b", "skeleton"] {
                if let (Ok(memory), Ok(image)) = (library.memory(name), library.get(name)) {
                    prop_assert_eq!(&memory.digest(), image.digest());
                }
            }
        }
    }
}
