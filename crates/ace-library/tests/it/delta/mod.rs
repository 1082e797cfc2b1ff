// SPDX-License-Identifier: Apache-2.0
//! Configurations stored as what they change of another one.

mod forged;
mod members;

use ace_ecp5::device::{LFE5U_25F, LFE5U_45F};
use ace_ecp5::memory::EBR_BYTES;
use ace_ecp5::{ConfigMemory, Device};
use ace_library::codec::{CONTEXTS_BYTES, Contexts, Dictionary, Tables};
use ace_library::{ImageError, Library, Trust};
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha20Rng;

const ANYBODY: Trust = Trust::ANYBODY;

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
    // The base has the same runs, and a stream of them that is no longer.
    let skeleton = library.get("skeleton").expect("it is there");
    let used = images[2].frames().filter(|frame| frame.iter().any(|byte| *byte != 0)).count();
    assert_eq!((skeleton.runs(), skeleton.run_frames(), skeleton.frame_count()), (a.runs(), 32, used));
    assert!((1..=a.frames().len()).contains(&skeleton.run_stream().len()));
    // And which frames it uses.
    let where_they_are = skeleton.stored_frame_bytes() - whole - skeleton.stored_run_bytes();
    assert!((1..used).contains(&where_they_are), "{where_they_are}");
    // A delta is over what is stored whole, never over another delta.
    assert_eq!(library.get("b").expect("it is there").base(), Some("skeleton"));
    assert_eq!(library.get("skeleton").expect("it is there").base(), None);
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
    // The same once more: the frames of the others, to be written over them.
    assert_eq!(add("same", &base, &["skeleton"]), Some("skeleton".to_owned()));
    assert_eq!(library.get("same").expect("it is there").frame_count(), 32);
    assert_eq!(library.get("more").expect("it is there").blocks(), (2, 2));
    // Block RAMs are in no partial bitstream.
    assert_eq!(library.partial("more", "skeleton").expect("they are there"), None);
    assert_eq!(library.partial("skeleton", "more").expect("they are there"), None);
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

/// Small streams hold the same, and the loader is given the same rows: what is loaded, and how long that takes, is what it
/// is with streams of rows. Home streams, and variants that stand on a base, are among them.
#[test]
fn small_streams_hold_the_same() {
    let (fast, images) = library();
    let contexts = Some(Box::new(Contexts::train(&images)));
    let small =
        fast.recoded(Tables { dictionary: fast.dictionary().clone(), contexts }).expect("all is well");
    let bytes = small.to_bytes(None);
    assert_eq!((bytes[8], small.parts().contexts), (8, CONTEXTS_BYTES));
    assert_eq!(bytes.len(), small.parts().total());
    let back = Library::from_bytes(&bytes, &ANYBODY).expect("it is good");
    assert_eq!(back, small);
    assert!(small.parts().frames < fast.parts().frames, "{:?}", small.parts());
    let mut out = Vec::new();
    for (name, image) in ["a", "b", "skeleton"].into_iter().zip(&images) {
        assert_eq!(back.memory(name).as_ref(), Ok(image));
        assert_eq!(back.whole(name), fast.whole(name));
        assert_eq!(back.whole_with_blank(name), fast.whole_with_blank(name));
        let decoded = back.decode(back.get(name).expect("it is there"), &mut out).expect("its own stream");
        assert!(decoded.decisions > decoded.rows && decoded.values > 0);
    }
    for (from, to) in [("a", "b"), ("b", "skeleton"), ("skeleton", "a")] {
        assert_eq!(back.partial(from, to), fast.partial(from, to));
    }
    // And back again, bit for bit.
    assert_eq!(
        back.recoded(fast.dictionary().clone()).expect("all is well").to_bytes(None),
        fast.to_bytes(None)
    );
    // A dictionary that is none, or tables that are none, whatever seals them.
    let tables = small.parts().header + small.parts().dictionary;
    for (at, what) in [(tables - 1, "dictionary"), (tables + 3, "tables of small streams")] {
        let mut wrong = bytes.clone();
        wrong[at] = 0;
        wrong[at & !1] = 0;
        let why = Library::from_bytes(&forged::resealed(wrong), &ANYBODY).expect_err("it is to be refused");
        assert!(why.to_string().contains(what), "{why}");
    }
}
