// SPDX-License-Identifier: Apache-2.0
//! Any bytes as a library, or edits to a good one under a digest that is right. Whatever is read as a library is written
//! again as it was; what is taken out of it has the digest that it says, and so has what is made of another
//! configuration; a change of it leaves it whole or as it was.
#![no_main]

use std::sync::LazyLock;

use ace_ecp5::ConfigMemory;
use ace_ecp5::device::LFE5U_45F;
use ace_ecp5::memory::EBR_BYTES;
use ace_library::codec::Dictionary;
use ace_library::{Library, Trust};
use libfuzzer_sys::fuzz_target;
use sha2::{Digest, Sha256};

const ANYBODY: Trust = Trust { key: None, required_version: 0, device: None };
const TRAILER: usize = 96;

/// A base, three variants, one of them with too many frames, and where the index of their file begins.
static GOOD: LazyLock<(Vec<u8>, usize)> = LazyLock::new(|| {
    let mut base = ConfigMemory::new(&LFE5U_45F);
    let set = |memory: &mut ConfigMemory, numbers: std::ops::Range<usize>, byte: u8| {
        for number in numbers {
            let mut frame = vec![0; LFE5U_45F.frame_bytes()];
            frame[60..64].copy_from_slice(&[byte, number as u8, 0, byte]);
            assert!(memory.set_frame(number, &frame));
        }
    };
    set(&mut base, 2000..2100, 3);
    base.set_ebr(5, &[1; EBR_BYTES]);
    let variant = |numbers, byte| {
        let mut memory = base.clone();
        set(&mut memory, numbers, byte);
        memory
    };
    let variants =
        [("a", variant(2000..2004, 7)), ("b", variant(2002..2008, 9)), ("c", variant(2010..2080, 5))];
    let mut library = Library::new(Dictionary::train([&base]));
    library.add("z", &base, b"{}", b"", &[]).expect("it fits");
    for (name, memory) in &variants {
        library.add(name, memory, b"{}", b"", &["z"]).expect("it fits");
    }
    let parts = library.parts();
    (library.to_bytes(None), parts.header + parts.dictionary + parts.contents)
});

fuzz_target!(|data: &[u8]| {
    let [kind, rest @ ..] = data else { return };
    let (good, index) = &*GOOD;
    let mut bytes = if kind & 1 == 0 { rest.to_vec() } else { good.clone() };
    if kind & 1 == 1 {
        // Each four bytes: where behind the contents of block RAMs, in two, what comes there, and whether instead.
        for edit in rest.chunks_exact(4) {
            let at =
                index + (usize::from(edit[0]) << 8 | usize::from(edit[1])) % (bytes.len() - index - TRAILER);
            bytes[at] = if edit[3] % 2 == 0 { edit[2] } else { bytes[at] ^ edit[2] };
        }
    }
    if let Some(end) = bytes.len().checked_sub(TRAILER) {
        let digest = Sha256::digest(&bytes[..end]);
        bytes[end..end + 32].copy_from_slice(&digest);
    }
    let Ok(mut library) = Library::from_bytes(&bytes, &ANYBODY) else { return };
    assert_eq!(Library::from_bytes(&library.to_bytes(None), &ANYBODY).as_ref(), Ok(&library));
    let names: Vec<String> = library.images().iter().take(4).map(|image| image.name().to_owned()).collect();
    for (from, to) in names.iter().zip(names.iter().cycle().skip(1)) {
        let image = library.get(to).expect("it is there");
        let _ = (image.manifest(), image.proof());
        if let Ok(memory) = library.memory(to) {
            assert_eq!(memory.digest(), *image.digest());
            if let Ok(Some(partial)) = library.partial(from, to) {
                assert!(partial.frames <= LFE5U_45F.frames && !partial.bitstream.is_empty());
            }
        }
    }
    let before = library.clone();
    if let Some(name) = names.get(usize::from(kind >> 1) % names.len().max(1)) {
        match library.remove(name) {
            Ok(()) => assert!(Library::from_bytes(&library.to_bytes(None), &ANYBODY).is_ok()),
            Err(_) => assert_eq!(library, before),
        }
    }
});
