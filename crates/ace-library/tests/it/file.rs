// SPDX-License-Identifier: Apache-2.0
//! The library file: what is refused and why, and that nothing is lost.

use std::path::Path;

use ace_ecp5::device::LFE5U_45F;
use ace_ecp5::memory::EBR_BYTES;
use ace_ecp5::{ConfigMemory, Device};
use ace_library::codec::Dictionary;
use ace_library::file::{Guard, SIGNATURE_BYTES, publish_secret, read};
use ace_library::{FileError, ImageError, Library, Refusal, SecretKey, Seen, Trust};
use proptest::prelude::*;
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha20Rng;

fn memory(device: &'static Device, seed: u64) -> ConfigMemory {
    let mut rng = ChaCha20Rng::seed_from_u64(seed);
    let mut memory = ConfigMemory::new(device);
    for _ in 0..400 {
        let number = rng.random_range(0..device.frames);
        let mut frame = vec![0; device.frame_bytes()];
        for _ in 0..6 {
            let at = rng.random_range(1..frame.len());
            frame[at] = rng.random::<u8>() & rng.random::<u8>();
        }
        memory.set_frame(number, &frame);
    }
    // One block that all have, one blank, one of its own.
    for (id, byte) in [(1, 7), (2, 0), (3, seed as u8 | 1)] {
        memory.set_ebr(id, &vec![byte; EBR_BYTES]);
    }
    memory.set_usercode(seed as u32);
    memory.set_control0(0x4000_0000);
    memory
}

fn library(names: &[&str]) -> Library {
    let images: Vec<ConfigMemory> = (0..names.len()).map(|i| memory(&LFE5U_45F, i as u64)).collect();
    let mut library = Library::new(Dictionary::train(&images));
    for (name, image) in names.iter().zip(&images) {
        library.add(name, image, format!("{{\"name\":\"{name}\"}}").as_bytes(), b"", &[]).expect("it fits");
    }
    library.version = 5;
    library
}

fn refused(bytes: &[u8], trust: &Trust) -> Refusal {
    Library::from_bytes(bytes, trust).expect_err("it is to be refused")
}

#[test]
fn what_goes_in_comes_out() {
    let (library, key) = (library(&["aes", "des", "md5"]), SecretKey::generate().expect("random numbers"));
    let bytes = library.to_bytes(Some(&key));
    assert_eq!(bytes.len(), library.parts().total() + SIGNATURE_BYTES);
    let back = Library::from_bytes(&bytes, &Trust::signed_by(key.public())).expect("it is good");
    assert_eq!(back, library);
    for (seed, name) in ["aes", "des", "md5"].iter().enumerate() {
        assert_eq!(back.memory(name).expect("it is there"), memory(&LFE5U_45F, seed as u64));
        let image = back.get(name).expect("it is there");
        assert_eq!(image.manifest().expect("text"), format!("{{\"name\":\"{name}\"}}").as_bytes());
        assert_eq!((image.proof().expect("text"), image.blocks()), (vec![], (3, 2)));
    }
    assert_eq!(back.contents(), 3);
    assert!(matches!(back.memory("rc6"), Err(ImageError::Unknown(_))));
    // The same again, bit for bit.
    assert_eq!(back.to_bytes(Some(&key)), bytes);
}

#[test]
fn any_flipped_bit_is_refused() {
    let key = SecretKey::generate().expect("random numbers");
    let bytes = library(&["aes", "des"]).to_bytes(Some(&key));
    let trust = Trust::signed_by(key.public());
    let mut rng = ChaCha20Rng::seed_from_u64(1);
    let everywhere = (0..1000).map(|_| rng.random_range(0..bytes.len() * 8)).collect::<Vec<_>>();
    // Header, digest and signature as well, bit by bit.
    let ends = (0..40 * 8).chain((bytes.len() - 136) * 8..bytes.len() * 8);
    for bit in everywhere.into_iter().chain(ends) {
        let mut flipped = bytes.clone();
        flipped[bit / 8] ^= 1 << (bit % 8);
        refused(&flipped, &trust);
    }
}

#[test]
fn refusals_give_the_reason() {
    let (key, other) = (SecretKey::generate(), SecretKey::generate());
    let (key, other) = (key.expect("random numbers"), other.expect("random numbers"));
    let library = library(&["aes", "des"]);
    let (bytes, unsigned) = (library.to_bytes(Some(&key)), library.to_bytes(None));
    let trust = Trust::signed_by(key.public());
    assert_eq!(refused(&unsigned, &trust), Refusal::Unsigned);
    assert!(Library::from_bytes(&unsigned, &Trust::ANYBODY).is_ok());
    assert!(matches!(refused(&bytes, &Trust::signed_by(other.public())), Refusal::OtherKey { .. }));
    let newer = |required_version| Trust { required_version, ..trust.clone() };
    assert_eq!(refused(&bytes, &newer(6)), Refusal::Downgraded { found: 5, required: 6 });
    assert!(Library::from_bytes(&bytes, &newer(5)).is_ok());
    assert_eq!(refused(&[&bytes[..], b"x"].concat(), &trust), Refusal::Trailing { more: 1 });
    for len in (0..bytes.len()).step_by(97) {
        let why = refused(&bytes[..len], &trust);
        let (found, whole) = (len as u64, bytes.len() as u64);
        assert!(
            why == Refusal::NoLibrary && len == 0
                || matches!(why, Refusal::Truncated { found: f, wanted } if f == found && (len < bytes.len() - 96 || wanted == whole)),
            "{len}: {why}"
        );
    }
    // Signed by nobody, but with a good key and a good digest.
    let mut forged = bytes.clone();
    let at = forged.len() - 1;
    forged[at] ^= 1;
    assert!(matches!(refused(&forged, &trust), Refusal::Signature { .. }));
    assert_eq!(refused(b"PK\x03\x04 something else", &trust), Refusal::NoLibrary);
    // Formats that are no longer read, and one that is not known yet.
    for format in [3, 4, 9, 21, 25] {
        let mut other = bytes.clone();
        other[8] = format;
        let why = refused(&other, &trust);
        assert!(
            matches!(why, Refusal::Format { found, version: 5, .. } if found == u32::from(format)),
            "{why}"
        );
        assert!(why.to_string().contains("`ace library build`"), "{why}");
    }
}

#[test]
fn a_change_leaves_the_others_alone() {
    let mut changed = library(&["aes", "des", "md5"]);
    let before = changed.clone();
    changed.add("rc6", &memory(&LFE5U_45F, 77), b"{}", b"proof", &[]).expect("it fits");
    changed.remove("des").expect("it is there");
    changed.add("md5", &memory(&LFE5U_45F, 78), b"{}", b"", &[]).expect("it fits");
    assert_eq!(changed.images().iter().map(|i| i.name()).collect::<Vec<_>>(), ["aes", "md5", "rc6"]);
    let frames = |library: &Library| library.get("aes").map(|i| i.frames().to_vec());
    assert_eq!(frames(&changed), frames(&before));
    for (name, seed) in [("aes", 0), ("rc6", 77), ("md5", 78)] {
        assert_eq!(changed.memory(name).expect("it is there"), memory(&LFE5U_45F, seed));
    }
    // What all have, and one of each: what `des` and the old `md5` had is gone.
    assert_eq!(changed.contents(), 4);
    assert!(changed.remove("des").is_err());
    for name in ["", "AES", "a/b", "x\0", "..", ".aes", "-o", "_", "../aes", &"a".repeat(41)] {
        assert!(matches!(changed.add(name, &memory(&LFE5U_45F, 0), b"", b"", &[]), Err(ImageError::Name(_))));
    }
}

fn save(path: &Path, library: &Library, key: &SecretKey) {
    std::fs::write(path, library.to_bytes(Some(key))).expect("it can be written");
}

#[test]
fn changes_are_made_whole_or_not_at_all() {
    let folder = tempfile::tempdir().expect("a folder");
    let (path, key) = (folder.path().join("a.lib"), SecretKey::generate().expect("random numbers"));
    save(&path, &library(&["aes", "des"]), &key);
    let (trust, seen) = (Trust::signed_by(key.public()), Seen::at(&folder.path().join("seen")));
    let guard = Guard { trust: trust.clone(), seen, allow_older: false };
    let before = std::fs::read(&path).expect("it is there");
    let failed = guard.update(&path, &key, |library| {
        library.remove("aes").map_err(|_| None)?;
        Err::<(), Option<FileError>>(None)
    });
    assert!(failed.is_err());
    assert_eq!(std::fs::read(&path).expect("it is there"), before);

    // Eight at once: each one's change is there in the end.
    std::thread::scope(|scope| {
        for number in 0..8 {
            let (path, guard, key) = (&path, &guard, &key);
            scope.spawn(move || {
                let change = |library: &mut Library| {
                    let added =
                        library.add(&format!("x{number}"), &memory(&LFE5U_45F, number), b"", b"", &[]);
                    added.map_err(|_| None)
                };
                guard.update::<Option<FileError>>(path, key, change).map(|_| ()).expect("it works");
            });
        }
    });
    let after = read(&path, &Trust { required_version: 13, ..trust }).expect("it is good").library;
    assert_eq!((after.images().len(), after.version), (10, 13));
    let left = std::fs::read_dir(folder.path()).expect("it can be listed").count();
    assert_eq!(left, 2, "no temporary files are left");
}

#[test]
fn secrets_are_not_overwritten() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("key");
    publish_secret(&path, b"one").expect("it works");
    assert!(publish_secret(&path, b"two").is_err());
    assert_eq!(std::fs::read(&path).expect("it is there"), b"one");
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        let mode = std::fs::metadata(&path).expect("it is there").permissions().mode();
        assert_eq!(mode & 0o777, 0o600);
    }
    let key = SecretKey::generate().expect("random numbers");
    let again = SecretKey::parse(&key.to_text()).expect("its own text");
    assert_eq!(again.public(), key.public());
    assert!(SecretKey::parse(&key.public().to_text()).is_err());
    assert!(ace_library::PublicKey::parse("ace-library-public-key-1 00").is_err());
}

proptest! {
    #[test]
    fn no_bytes_break_the_reader(
        mut bytes in prop::collection::vec(any::<u8>(), 0..3000), whole in any::<bool>(), magic in any::<bool>(), sets in any::<bool>()
    ) {
        if magic && bytes.len() > 180 {
            // As if signed by nobody: everything behind the header is read.
            let len = bytes.len();
            bytes[..8].copy_from_slice(b"ACELIB\r\n");
            bytes[8..12].copy_from_slice(&(if sets { 23u32 } else { 5 }).to_le_bytes());
            bytes[24..32].copy_from_slice(&(len as u64 - 8).to_le_bytes());
            bytes[len - 8..].fill(0);
            if whole {
                use sha2::Digest;
                let digest = sha2::Sha256::digest(&bytes[..len - 40]);
                bytes[len - 40..len - 8].copy_from_slice(&digest);
            }
        }
        let _ = Library::from_bytes(&bytes, &Trust::ANYBODY);
    }
}
