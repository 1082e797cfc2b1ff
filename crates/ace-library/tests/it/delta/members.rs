// SPDX-License-Identifier: Apache-2.0
//! A base and its variants: each is made of each other one by few frames.

use std::ops::Range;

use ace_ecp5::device::LFE5U_45F;
use ace_ecp5::memory::EBR_BYTES;
use ace_ecp5::{ConfigMemory, ConfigPort, Emit};
use ace_library::codec::Dictionary;
use ace_library::file::{COMMON_FRAMES, COMMON_PORT_BYTES, COMMON_STORED_BYTES, Load};
use ace_library::{ImageError, Library};
use proptest::prelude::*;

use super::{ANYBODY, base};

/// The base with a bit of these frames changed, another one for every seed.
fn member(base: &ConfigMemory, frames: impl IntoIterator<Item = usize>, seed: u8) -> ConfigMemory {
    let mut memory = base.clone();
    for number in frames {
        let mut frame = memory.frame(number).expect("it is in the device").to_vec();
        frame[50 + usize::from(seed / 8)] ^= 1 << (seed % 8);
        assert!(memory.set_frame(number, &frame));
    }
    memory.set_usercode(seed.into());
    memory
}

/// A library with a base, `skeleton`, and another configuration that nothing stands on.
fn alone(base: &ConfigMemory) -> Library {
    let mut library = Library::new(Dictionary::train([base]));
    library.add("skeleton", base, b"{}", b"", &[]).expect("it fits");
    library.add("other", &member(base, 5000..5100, 0), b"{}", b"", &[]).expect("it fits");
    library
}

fn add(library: &mut Library, name: &str, memory: &ConfigMemory) {
    library.add(name, memory, b"", b"", &["skeleton"]).expect("it fits");
    assert_eq!(library.get(name).expect("it is there").base(), Some("skeleton"));
}

/// What makes one of the other; what a device that holds the one then holds is the other.
fn switch(library: &Library, from: &str, to: &str) -> Option<Load> {
    let partial = library.partial(from, to).expect("they are there")?;
    let mut port = ConfigPort::new(&LFE5U_45F);
    let resident = library.memory(from).expect("it is there");
    port.push(&Emit { compress: true, ..Emit::default() }.whole(&resident)).expect("a whole bitstream");
    port.rearm();
    port.push(&partial.bitstream).expect("a partial bitstream");
    let memory = port.finish().expect("it is complete");
    assert_eq!(memory.digest(), library.memory(to).expect("it is there").digest(), "{from} to {to}");
    let frames = (partial.bitstream.len() - 40) / 109;
    assert!((partial.frames..=partial.frames + 10).contains(&frames), "{from} to {to}: {frames}");
    assert!(partial.loader_clocks > partial.frames as u64 * 72, "{from} to {to}");
    assert_eq!(memory, &library.memory(to).expect("it is there"), "{from} to {to}");
    Some(partial)
}

fn frames(library: &Library, name: &str) -> usize {
    library.get(name).expect("it is there").run_frames()
}

#[test]
fn every_member_is_written_over_every_other_one() {
    let base = base(&LFE5U_45F);
    let mut library = alone(&base);
    let parts: [(&str, [Range<usize>; 2], usize); 4] = [
        ("a", [2000..2016, 0..0], 16),
        ("b", [2000..2016, 0..0], 16),
        // Half of the same frames, and others: the domain grows.
        ("c", [2008..2024, 3000..3016], 40),
        ("d", [2016..2020, 0..0], 40),
    ];
    for (number, (name, ranges, union)) in parts.iter().enumerate() {
        let (skeleton, other) = (library.get("skeleton").cloned(), library.get("other").cloned());
        add(&mut library, name, &member(&base, ranges.iter().cloned().flatten(), 1 + number as u8));
        // All have the same frames, and nothing else has changed.
        let mut names = vec!["skeleton"];
        names.extend(parts[..=number].iter().map(|(name, ..)| *name));
        for from in &names {
            assert_eq!(frames(&library, from), *union, "{from}");
            for to in names.iter().filter(|to| *to != from) {
                let partial = switch(&library, from, to).expect("few frames make it");
                assert_eq!(partial.frames, *union);
                assert!(partial.bitstream.len() <= COMMON_PORT_BYTES);
                // A byte a clock at 50 MHz, and the loader at 100 MHz, in 0.2 ms.
                assert!(partial.bitstream.len() <= 10_000 && partial.loader_clocks <= 20_000);
            }
            let stored = library.get(from).expect("it is there").stored_run_bytes();
            assert!(stored <= COMMON_STORED_BYTES, "{from}: {stored}");
            assert_eq!(switch(&library, from, from), None);
            assert_eq!(switch(&library, from, "other"), None);
        }
        assert_eq!(library.get("other").cloned(), other);
        let now = library.get("skeleton").map(|image| image.frames().to_vec());
        assert_eq!(now, skeleton.map(|image| image.frames().to_vec()));
        let bytes = library.to_bytes(None);
        assert_eq!(bytes.len(), library.parts().total());
        assert_eq!(Library::from_bytes(&bytes, &ANYBODY).as_ref(), Ok(&library));
    }
    // The frames of one that is gone are, too; without any, the base has none by themselves.
    for (name, left) in [("c", 20), ("d", 16), ("b", 16), ("a", 0)] {
        library.remove(name).expect("it is there");
        assert_eq!(frames(&library, "skeleton"), left, "{name}");
    }
    assert_eq!(library, alone(&base));
    assert!(matches!(library.partial("a", "skeleton"), Err(ImageError::Unknown(_))));
}

#[test]
fn members_may_differ_in_their_registers_alone() {
    let base = base(&LFE5U_45F);
    let mut library = alone(&base);
    for (name, code, control) in [("a", 1, 0x4000_0000), ("b", 2, 0x4000_0000), ("c", 2, 0x4000_0008)] {
        let mut memory = base.clone();
        memory.set_usercode(code);
        memory.set_control0(control);
        add(&mut library, name, &memory);
    }
    // One with frames of its own: then all have those.
    for frames in [0..0, 2000..2004] {
        add(&mut library, "d", &member(&base, frames.clone(), 9));
        let names = ["skeleton", "a", "b", "c", "d"];
        for (from, to) in names.iter().flat_map(|from| names.iter().map(move |to| (*from, *to))) {
            let partial = switch(&library, from, to);
            assert_eq!(partial.map(|partial| partial.frames), (from != to).then_some(frames.len()));
        }
    }
}

#[test]
fn a_member_that_has_no_room_keeps_its_own_frames() {
    let base = base(&LFE5U_45F);
    let mut library = alone(&base);
    add(&mut library, "a", &member(&base, 2000..2040, 1));
    add(&mut library, "b", &member(&base, 3000..3040, 2));
    // `a` comes first; with both it would be 80 frames.
    assert_eq!(["a", "b", "skeleton"].map(|name| frames(&library, name)), [40, 40, 40]);
    assert!(switch(&library, "skeleton", "a").is_some() && switch(&library, "a", "skeleton").is_some());
    assert!(switch(&library, "skeleton", "b").is_some());
    for (from, to) in [("b", "skeleton"), ("b", "a"), ("a", "b")] {
        assert_eq!(switch(&library, from, to), None, "{from} to {to}");
    }
    // Fewer frames come before the name, and what fits beside them is in.
    add(&mut library, "c", &member(&base, 3000..3020, 3));
    assert_eq!(["a", "b", "c", "skeleton"].map(|name| frames(&library, name)), [60, 40, 60, 60]);
    assert!(switch(&library, "c", "a").is_some() && switch(&library, "a", "skeleton").is_some());
    // What `c` changes is among what `b` has, so that `b` is made of `c`.
    assert_eq!(switch(&library, "c", "b").map(|partial| partial.frames), Some(40));
    assert_eq!(switch(&library, "b", "c"), None);
    library.remove("a").expect("it is there");
    assert_eq!(["b", "c", "skeleton"].map(|name| frames(&library, name)), [40, 40, 40]);
    assert!(switch(&library, "b", "skeleton").is_some() && switch(&library, "b", "c").is_some());
    // Alone too many: nobody has them by themselves but the one.
    add(&mut library, "wide", &member(&base, 1000..1000 + COMMON_FRAMES + 1, 4));
    assert_eq!(["b", "wide", "skeleton"].map(|name| frames(&library, name)), [40, 65, 40]);
    assert!(switch(&library, "skeleton", "wide").is_some());
    assert_eq!(switch(&library, "wide", "skeleton"), None);
    // Few frames whose runs take too many bytes at the port, or which take too many in the library.
    let scattered = (0..COMMON_FRAMES).map(|at| 1000 + 3 * at);
    add(&mut library, "scattered", &member(&base, scattered.clone(), 5));
    let partial = switch(&library, "skeleton", "scattered").expect("it has its own");
    assert!(partial.frames == COMMON_FRAMES && partial.bitstream.len() > COMMON_PORT_BYTES);
    assert_eq!(switch(&library, "scattered", "skeleton"), None);
    let mut dense = base.clone();
    for number in 1500..1520 {
        let bytes = |at: usize| (at * 37 + number * 11) as u8 ^ ((at * at * number) >> 3) as u8;
        assert!(
            dense.set_frame(
                number,
                &(0..106).map(|at| if at == 0 { 0 } else { bytes(at) }).collect::<Vec<_>>()
            )
        );
    }
    add(&mut library, "dense", &dense);
    assert!(library.get("dense").is_ok_and(|image| image.stored_run_bytes() > COMMON_STORED_BYTES));
    assert_eq!((frames(&library, "dense"), frames(&library, "skeleton")), (20, 40));
    // Other contents of block RAMs.
    let mut blocks = member(&base, 3000..3004, 6);
    blocks.set_ebr(1, &[9; EBR_BYTES]);
    add(&mut library, "blocks", &blocks);
    assert_eq!((frames(&library, "blocks"), frames(&library, "skeleton")), (4, 40));
    assert_eq!(
        (switch(&library, "skeleton", "blocks"), switch(&library, "blocks", "skeleton")),
        (None, None)
    );
    let bytes = library.to_bytes(None);
    assert_eq!(Library::from_bytes(&bytes, &ANYBODY), Ok(library));
}

#[test]
fn another_base_or_another_member_in_its_place() {
    let base = base(&LFE5U_45F);
    let mut library = alone(&base);
    add(&mut library, "a", &member(&base, 2000..2016, 1));
    add(&mut library, "b", &member(&base, 2016..2020, 2));
    // The base with other frames: both are made of it, now with these.
    let new = member(&base, 2030..2034, 3);
    library.add("skeleton", &new, b"", b"", &[]).expect("it fits");
    for (from, to) in [("a", "b"), ("b", "skeleton"), ("skeleton", "a"), ("a", "skeleton")] {
        assert_eq!(switch(&library, from, to).map(|partial| partial.frames), Some(24), "{from} to {to}");
    }
    // A member over another base: both domains are settled.
    let second = member(&base, 6000..6100, 4);
    library.add("second", &second, b"", b"", &[]).expect("it fits");
    library.add("b", &member(&second, 6000..6002, 5), b"", b"", &["second"]).expect("it fits");
    assert_eq!(library.get("b").expect("it is there").base(), Some("second"));
    assert_eq!(["a", "skeleton", "b", "second"].map(|name| frames(&library, name)), [20, 20, 2, 2]);
    assert_eq!(switch(&library, "a", "b"), None);
    // One that stands alone now.
    library.add("a", &member(&base, 2000..2016, 1), b"", b"", &[]).expect("it fits");
    assert_eq!(["a", "skeleton"].map(|name| frames(&library, name)), [0, 0]);
}

/// A few frames out of some that lie close together and some that do not.
/// None at all, too: then members differ in their registers alone.
fn places() -> impl Strategy<Value = Vec<usize>> {
    let near = prop::collection::btree_set(2000usize..2030, 0..20);
    let far = prop::collection::btree_set(2000usize..6000, 0..25);
    (near, far).prop_map(|(near, far)| near.union(&far).copied().collect())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(12))]

    /// Whatever came and went before, what is there is stored as if it had come in order; the limits are kept where
    /// there is a way back, and whatever is said to make one of the other does.
    #[test]
    fn a_domain_depends_on_its_members_alone(
        changes in prop::collection::vec((0..4usize, prop::option::weighted(0.8, places())), 1..8)
    ) {
        let base = base(&LFE5U_45F);
        let names = ["m0", "m1", "m2", "zz"];
        let mut library = alone(&base);
        let other = library.get("other").cloned();
        let mut members: [Option<ConfigMemory>; 4] = Default::default();
        for (at, change) in changes {
            match change {
                Some(places) => {
                    let memory = member(&base, places, 1 + at as u8);
                    add(&mut library, names[at], &memory);
                    members[at] = Some(memory);
                }
                None => prop_assert_eq!(library.remove(names[at]).is_ok(), members[at].take().is_some()),
            }
        }
        prop_assert_eq!(library.get("other").cloned(), other);
        let mut fresh = alone(&base);
        for (name, memory) in names.iter().zip(&members) {
            if let Some(memory) = memory {
                add(&mut fresh, name, memory);
            }
        }
        prop_assert_eq!(&library, &fresh);
        let bytes = library.to_bytes(None);
        prop_assert_eq!(&Library::from_bytes(&bytes, &ANYBODY), &Ok(fresh));
        let common = library.get("skeleton").expect("it is there");
        prop_assert!(common.run_frames() <= COMMON_FRAMES && common.stored_run_bytes() <= COMMON_STORED_BYTES);
        for (name, memory) in names.iter().zip(&members) {
            let Some(memory) = memory else { continue };
            prop_assert_eq!(&library.memory(name).expect("it is there"), memory);
            prop_assert!(switch(&library, "skeleton", name).is_some());
            let back = switch(&library, name, "skeleton");
            prop_assert!(back.is_none_or(|partial| partial.bitstream.len() <= COMMON_PORT_BYTES));
            let same = library.get(name).expect("it is there").runs() == common.runs();
            for (from, _) in names.iter().zip(&members).filter(|(from, m)| *from != name && m.is_some()) {
                let shares = library.get(from).expect("it is there").runs() == common.runs();
                prop_assert!(switch(&library, from, name).is_some() || !same || !shares);
            }
        }
    }
}
