// SPDX-License-Identifier: Apache-2.0
//! Partial loads of a library: the loader writes the very bytes that [`Library::partial`] says, and the device holds
//! the other configuration afterwards.

use ace_ecp5::device::LFE5U_45F;
use ace_ecp5::{ConfigMemory, ConfigPort, Emit};
use ace_library::Library;
use ace_library::codec::Dictionary;
use ace_library::load::{Delta, Run};
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha20Rng;

use super::{begin, built, each, image, loader, push, registers, run, variant_of};

/// Loads each member of the domains of a library over each other one; how many loads that were.
fn switches(library: &Library) -> usize {
    let names: Vec<&str> = library.images().iter().map(|image| image.name()).collect();
    let pairs = names.iter().flat_map(|from| names.iter().map(move |to| (*from, *to)));
    let partial = |(from, to)| Some((from, to, library.partial(from, to).expect("all is well")?));
    let loads: Vec<_> = pairs.filter_map(partial).collect();
    each(loads.len(), |number| {
        let (from, to, partial) = &loads[number];
        let image = library.get(to).expect("it is there");
        let runs: Vec<Run> = image
            .runs()
            .iter()
            .map(|run| Run { address: run.address, frames: run.frames as usize })
            .collect();
        let (mut memory, take) = begin(library.dictionary());
        let stream = push(&mut memory, image.run_stream());
        let [resident, wanted] = [*from, *to].map(|name| library.memory(name).expect("it is there"));
        let same = registers(&resident) == registers(&wanted) && !runs.is_empty();
        let sent = (!same).then(|| registers(&wanted));
        let list =
            memory.partial(&LFE5U_45F, sent, Delta { runs: &runs, stream }, &[]).expect("there is room");
        let (bits, code, clocks) = run(&memory, &[take, list], 0, number as u64);
        assert_eq!((code, bits == partial.bitstream), (0, true), "{from} to {to}");
        let computed = partial.loader_clocks;
        eprintln!("{from} to {to}: {} bytes, {clocks} clocks, {computed} computed", bits.len());
        assert!(clocks.abs_diff(computed) * 500 < clocks);
        let mut port = ConfigPort::new(&LFE5U_45F);
        port.push(&Emit::default().whole(&resident)).expect("a bitstream");
        port.rearm();
        port.push(&bits).expect("a partial bitstream");
        assert_eq!(port.finish().expect("it is complete").digest(), *image.digest(), "{from} to {to}");
    });
    loads.len()
}

/// A skeleton, three variants that change different frames and one of which only the registers are others.
#[test]
fn every_member_is_loaded_over_every_other_one() {
    if loader().is_none() {
        return;
    }
    let mut rng = ChaCha20Rng::seed_from_u64(3);
    let skeleton = image(&mut rng);
    let dictionary = Dictionary::train([&skeleton]);
    let mut library = Library::new(dictionary);
    library.add("skeleton", &skeleton, b"", b"", &[]).expect("it fits");
    for (name, first) in [("a", 3000), ("b", 3008), ("c", 7700)] {
        let mut variant = skeleton.clone();
        for number in first..first + 16 {
            let mut frame = vec![0; LFE5U_45F.frame_bytes()];
            frame[rng.random_range(1..40)] = rng.random_range(1..=255);
            frame[rng.random_range(60..106)] = rng.random_range(1..=255);
            assert!(variant.set_frame(number, &frame));
        }
        library.add(name, &variant, b"", b"", &["skeleton"]).expect("it fits");
    }
    let mut registers = skeleton.clone();
    registers.set_usercode(!skeleton.usercode());
    registers.set_control0(!skeleton.control0());
    library.add("registers", &registers, b"", b"", &["skeleton"]).expect("it fits");
    assert_eq!(switches(&library), 5 * 4);
}

/// The variants that are built, and their skeletons.
#[test]
fn built_members_are_loaded_over_one_another() {
    if loader().is_none() {
        return;
    }
    let images = built();
    let of = |name: &str| variant_of(name).filter(|base| images.iter().any(|(name, _)| name == base));
    let domains: Vec<(&(String, ConfigMemory), String)> =
        images.iter().filter_map(|image| Some((image, of(&image.0)?))).collect();
    assert!(!domains.is_empty() || std::env::var_os("ACE_REQUIRE_BUILD").is_none());
    let skeletons: Vec<_> =
        images.iter().filter(|(name, _)| domains.iter().any(|(_, base)| base == name)).collect();
    let mut library = Library::new(Dictionary::train(skeletons.iter().map(|(_, image)| image)));
    for (name, image) in skeletons {
        library.add(name, image, b"", b"", &[]).expect("it fits");
    }
    for ((name, image), base) in &domains {
        library.add(name, image, b"", b"", &[base]).expect("it fits");
    }
    // From each skeleton at least.
    assert!(switches(&library) >= domains.len());
}
