// SPDX-License-Identifier: Apache-2.0
//! Context sets in a library: nothing is lost, and what is damaged is refused, whoever has signed it.

use ace_ecp5::ConfigMemory;
use ace_ecp5::device::LFE5U_45F;
use ace_library::codec::{Contexts, Dictionary, Tables};
use ace_library::file::{SET_ENTRY_BYTES, SET_MAX, SIGNATURE_BYTES};
use ace_library::{ImageError, Library, Refusal, SecretKey, Trust};
use sha2::{Digest, Sha256};

const SETS: [(&str, &[u8]); 3] = [("aes128_encrypt", &[1; 40]), ("des", &[2; 80]), ("md5", b"ACESET")];

fn memory() -> ConfigMemory {
    let mut memory = ConfigMemory::new(&LFE5U_45F);
    let mut frame = vec![0; LFE5U_45F.frame_bytes()];
    frame[40] = 3;
    assert!(memory.set_frame(7, &frame));
    memory
}

/// One configuration, and context sets of which one has its name.
fn library() -> Library {
    let memory = memory();
    let mut library = Library::new(Dictionary::train([&memory]));
    library.add("md5", &memory, b"{}", b"proof", &[]).expect("it fits");
    for (name, bytes) in SETS.iter().rev() {
        library.add_set(name, bytes, format!("{{\"name\":\"{name}\"}}").as_bytes()).expect("it fits");
    }
    library.version = 3;
    library
}

/// An unsigned file after an edit, its digest right.
fn edited(edit: impl Fn(&mut Vec<u8>)) -> Result<Library, Refusal> {
    let mut bytes = library().to_bytes(None);
    let end = bytes.len() - 40;
    edit(&mut bytes);
    let digest = Sha256::digest(&bytes[..end]);
    bytes[end..end + 32].copy_from_slice(&digest);
    Library::from_bytes(&bytes, &Trust::ANYBODY)
}

/// Where the index of the sets begins in an unsigned file.
fn index() -> usize {
    let mut without = library();
    for (name, _) in SETS {
        without.remove_set(name).expect("it is there");
    }
    without.to_bytes(None).len() - 40
}

#[test]
fn sets_come_out_as_they_went_in() {
    let (library, key) = (library(), SecretKey::generate().expect("random numbers"));
    let bytes = library.to_bytes(Some(&key));
    assert_eq!(bytes.len(), library.parts().total() + SIGNATURE_BYTES);
    let back = Library::from_bytes(&bytes, &Trust::signed_by(key.public())).expect("it is good");
    assert_eq!(back, library);
    assert_eq!(back.sets().iter().map(|set| set.name()).collect::<Vec<_>>(), SETS.map(|(name, _)| name));
    for (name, bytes) in SETS {
        let set = back.set(name).expect("it is there");
        assert_eq!((set.bytes(), &set.digest()[..]), (bytes, &Sha256::digest(bytes)[..]));
        assert_eq!(set.manifest().expect("text"), format!("{{\"name\":\"{name}\"}}").as_bytes());
    }
    assert_eq!(back.memory("md5").expect("it is there"), memory());
    assert!(matches!(back.set("rc6"), Err(ImageError::UnknownSet(_))));
}

#[test]
fn without_sets_a_library_is_what_it_was() {
    let mut library = library();
    assert_eq!(library.to_bytes(None)[8], 7 + 16);
    // Whether streams are small or not.
    let contexts = Some(Box::new(Contexts::train([&memory()])));
    let small = Tables { dictionary: library.dictionary().clone(), contexts };
    let small = library.recoded(small).expect("all is well");
    assert_eq!((small.sets(), small.to_bytes(None)[8]), (library.sets(), 8 + 16));
    assert_eq!(Library::from_bytes(&small.to_bytes(None), &Trust::ANYBODY), Ok(small));
    for (name, _) in SETS {
        library.remove_set(name).expect("it is there");
        assert!(library.remove_set(name).is_err());
    }
    let bytes = library.to_bytes(None);
    assert_eq!((bytes[8], &bytes[36..40]), (7, &[0; 4][..]));
    assert_eq!(library.parts().sets, 0);
}

#[test]
fn a_set_takes_the_place_of_the_one_before() {
    let mut library = library();
    library.add_set("des", b"other", b"{}").expect("it fits");
    assert_eq!((library.set("des").expect("it is there").bytes(), library.sets().len()), (&b"other"[..], 3));
    for name in ["", "DES", "../des", "a/b"] {
        assert!(matches!(library.add_set(name, b"x", b"{}"), Err(ImageError::Name(_))));
    }
    for bytes in [&[][..], &vec![0; SET_MAX + 1]] {
        assert!(matches!(library.add_set("x", bytes, b"{}"), Err(ImageError::SetLength(_))));
    }
    assert_eq!(library.sets().len(), 3);
}

#[test]
fn what_was_changed_is_refused_even_under_a_good_digest() {
    assert_eq!(edited(|_| {}), Ok(library()));
    let (index, data) = (index(), index() + SETS.len() * SET_ENTRY_BYTES);
    let malformed = |edit: &dyn Fn(&mut Vec<u8>), what: &str| {
        let why = edited(edit).expect_err(what);
        assert_eq!(why, Refusal::Malformed { what: what.to_owned() });
    };
    // Every byte of the first set and of its entry in the index: name, place, lengths, zero, digest.
    for at in (data..data + 40).chain(index + 40..index + 52).chain(index + 60..index + 96) {
        malformed(&|bytes| bytes[at] ^= 0x11, "context set 0");
    }
    malformed(&|bytes| bytes[index] = b'/', "context set 0");
    malformed(&|bytes| bytes[index] = b'z', "order at context set des");
    // The number of sets, and a format that says something else of them.
    malformed(&|bytes| bytes[36] = 2, "context set 0");
    malformed(&|bytes| bytes[39] = 0xff, "index of context sets");
    malformed(&|bytes| bytes[36] = 0, "header");
    malformed(&|bytes| bytes[8] = 7, "header");
}

#[test]
fn of_a_signed_library_no_bit_is_changed_and_none_is_missing() {
    let key = SecretKey::generate().expect("random numbers");
    let (bytes, trust) = (library().to_bytes(Some(&key)), Trust::signed_by(key.public()));
    for bit in (index() * 8..bytes.len() * 8).step_by(7) {
        let mut flipped = bytes.clone();
        flipped[bit / 8] ^= 1 << (bit % 8);
        Library::from_bytes(&flipped, &trust).expect_err("it is to be refused");
    }
    for len in index()..bytes.len() {
        let why = Library::from_bytes(&bytes[..len], &trust).expect_err("it is to be refused");
        assert!(matches!(why, Refusal::Truncated { .. }), "{len}: {why}");
    }
    let other = SecretKey::generate().expect("random numbers");
    let why = Library::from_bytes(&bytes, &Trust::signed_by(other.public())).expect_err("of somebody else");
    assert!(matches!(why, Refusal::OtherKey { .. }));
    let newer = Trust { required_version: 4, ..trust };
    let why = Library::from_bytes(&bytes, &newer).expect_err("older");
    assert_eq!(why, Refusal::Downgraded { found: 3, required: 4 });
}
