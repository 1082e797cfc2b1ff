// SPDX-License-Identifier: Apache-2.0
//! Any bytes as a library, or edits to a good one under a digest that is right, signed by the key that is trusted.
//! Whatever is read as a library is written again as it was, and has names for names; what is taken out of it has the
//! digest that it says, context sets too, and so has what is made of another configuration; a change of it leaves it whole or as it was.
#![no_main]

use std::sync::LazyLock;

use ace_ecp5::ConfigMemory;
use ace_ecp5::device::LFE5U_45F;
use ace_ecp5::memory::EBR_BYTES;
use ace_library::codec::{Contexts, Dictionary, Tables};
use ace_library::file::is_name;
use ace_library::{Library, PublicKey, Trust};
use ed25519_dalek::{Signer, SigningKey};
use libfuzzer_sys::fuzz_target;
use sha2::{Digest, Sha256};

/// Digest, number of signatures, one key and its signature.
const TRAILER: usize = 32 + 8 + 96;
const DIGEST: usize = 32;

/// Who signs whatever there is.
static SIGNER: LazyLock<(SigningKey, Trust)> = LazyLock::new(|| {
    let key = SigningKey::from_bytes(&[7; 32]);
    let text = format!("ace-library-public-key-1 {}", hex(key.verifying_key().as_bytes()));
    (key, Trust::signed_by(PublicKey::parse(&text).expect("a key")))
});

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// A file of these contents, digest and signature right.
fn signed(contents: &[u8]) -> Vec<u8> {
    let (key, _) = &*SIGNER;
    let mut bytes = contents.to_vec();
    bytes.extend(Sha256::digest(contents));
    let signature = key.sign(&bytes).to_bytes();
    bytes.extend([1, 0, 0, 0, 0, 0, 0, 0]);
    bytes.extend(key.verifying_key().as_bytes());
    bytes.extend(signature);
    bytes
}

/// What is signed of a file that nobody has signed.
fn contents(unsigned: &[u8]) -> &[u8] {
    &unsigned[..unsigned.len() - DIGEST - 8]
}

/// A base, three variants, one of them with too many frames, and where what comes behind the dictionary and the
/// tables begins: with streams of rows, and with small ones.
static GOOD: LazyLock<[(Vec<u8>, usize); 2]> = LazyLock::new(|| {
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
    for name in ["a", "set"] {
        library.add_set(name, &[7; 20], b"{}").expect("it fits");
    }
    let tables = Some(Box::new(Contexts::train([&base])));
    let tables = Tables { dictionary: library.dictionary().clone(), contexts: tables };
    let small = library.recoded(tables).expect("all is well");
    [library, small].map(|library| {
        let parts = library.parts();
        let index = parts.header + parts.dictionary + parts.contexts + parts.contents;
        (contents(&library.to_bytes(None)).to_vec(), index)
    })
});

fuzz_target!(|data: &[u8]| {
    let [kind, rest @ ..] = data else { return };
    let (good, index) = &GOOD[usize::from(kind >> 2 & 1)];
    let mut bytes = if kind & 1 == 0 { rest.to_vec() } else { good.clone() };
    if kind & 1 == 1 {
        // Each four bytes: where behind the contents of block RAMs, in two, what comes there, and whether instead.
        for edit in rest.chunks_exact(4) {
            let at = index + (usize::from(edit[0]) << 8 | usize::from(edit[1])) % (bytes.len() - index);
            bytes[at] = if edit[3] % 2 == 0 { edit[2] } else { bytes[at] ^ edit[2] };
        }
    } else if let Some(length) = bytes.get_mut(24..32) {
        // Or what is signed is not all there is.
        if kind & 2 == 0 {
            length.copy_from_slice(&((rest.len() + DIGEST) as u64).to_le_bytes());
        }
    }
    let bytes = signed(&bytes);
    assert!(bytes.len() >= TRAILER);
    let Ok(mut library) = Library::from_bytes(&bytes, &SIGNER.1) else { return };
    assert!(library.images().iter().all(|image| is_name(image.name())));
    for set in library.sets() {
        assert!(is_name(set.name()) && Sha256::digest(set.bytes())[..] == set.digest()[..]);
        let _ = set.manifest();
    }
    let again = signed(contents(&library.to_bytes(None)));
    assert_eq!(Library::from_bytes(&again, &SIGNER.1).as_ref(), Ok(&library));
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
            Ok(()) => assert!(Library::from_bytes(&library.to_bytes(None), &Trust::ANYBODY).is_ok()),
            Err(_) => assert_eq!(library, before),
        }
    }
});
