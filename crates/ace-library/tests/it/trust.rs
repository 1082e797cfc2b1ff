// SPDX-License-Identifier: Apache-2.0
//! Whose libraries are taken: other keys, too few of several, old versions, and what is wrong in spite of a good signature.

use std::fs;
use std::path::Path;
use std::sync::LazyLock;

use ace_ecp5::ConfigMemory;
use ace_ecp5::device::LFE5U_45F;
use ace_library::codec::Dictionary;
use ace_library::file::{Guard, INDEX_ENTRY_BYTES, countersign, is_name};
use ace_library::{FileError, KeySet, Library, PublicKey, Refusal, SecretKey, Seen, SeenError, Trust};
use ed25519_dalek::{Signer, SigningKey};
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha20Rng;
use sha2::{Digest, Sha256};

fn key() -> SecretKey {
    SecretKey::generate().expect("random numbers")
}

/// Whatever is to be signed is signed.
fn any(_: &Library) -> Result<(), FileError> {
    Ok(())
}

fn library(version: u64) -> Library {
    let memory = ConfigMemory::new(&LFE5U_45F);
    let mut library = Library::new(Dictionary::train([&memory]));
    for name in ["aes", "des"] {
        library.add(name, &memory, b"{}", b"{}", &[]).expect("it fits");
    }
    library.version = version;
    library
}

fn set(keys: &[&SecretKey], threshold: usize) -> KeySet {
    let lines: String = keys.iter().map(|key| key.public().to_text()).collect();
    KeySet::parse(&format!("threshold {threshold}\n{lines}")).expect("a set")
}

fn refusal(bytes: &[u8], trust: &Trust) -> Refusal {
    Library::from_bytes(bytes, trust).expect_err("it is to be refused")
}

/// The same file with these signatures, whatever they are.
fn with_signatures(bytes: &[u8], signatures: &[&[u8]]) -> Vec<u8> {
    let end = u64::from_le_bytes(bytes[24..32].try_into().expect("eight")) as usize;
    let count = (signatures.len() as u32).to_le_bytes();
    [&bytes[..end], &count, &[0; 4], &signatures.concat()].concat()
}

fn signature(bytes: &[u8], at: usize) -> &[u8] {
    let end = u64::from_le_bytes(bytes[24..32].try_into().expect("eight")) as usize + 8;
    &bytes[end + 96 * at..end + 96 * (at + 1)]
}

/// A file with other contents, its digest right, signed by somebody who does not care what.
fn resigned(mut bytes: Vec<u8>, key: &SecretKey) -> Vec<u8> {
    let text = key.to_text();
    let mut seed = [0; 32];
    let digits = text.trim_end().rsplit(' ').next().expect("the number");
    hex::decode_to_slice(digits, &mut seed).expect("a number");
    let end = bytes.len() - 136;
    let digest = Sha256::digest(&bytes[..end]);
    bytes[end..end + 32].copy_from_slice(&digest);
    let signature = SigningKey::from_bytes(&seed).sign(&bytes[..end + 32]).to_bytes();
    let at = bytes.len() - 64;
    bytes[at..].copy_from_slice(&signature);
    bytes
}

#[test]
fn a_library_of_another_key_is_refused() {
    let (ours, theirs) = (key(), key());
    let trust = Trust::signed_by(ours.public());
    let bytes = library(9).to_bytes(Some(&theirs));
    let why = refusal(&bytes, &trust);
    assert!(matches!(why, Refusal::OtherKey { .. }));
    for text in [ours.public().fingerprint(), theirs.public().fingerprint(), "--key FILE".to_owned()] {
        assert!(why.to_string().contains(&text), "{why}");
    }
    // Their signature under our name.
    let good = library(9).to_bytes(Some(&ours));
    let forged = [&ours.public().to_bytes()[..], &signature(&bytes, 0)[32..]].concat();
    assert!(matches!(refusal(&with_signatures(&bytes, &[&forged]), &trust), Refusal::Signature { .. }));
    // Our signature of something else.
    let other = library(8).to_bytes(Some(&ours));
    assert!(matches!(
        refusal(&with_signatures(&good, &[signature(&other, 0)]), &trust),
        Refusal::Signature { .. }
    ));
    assert_eq!(refusal(&with_signatures(&good, &[]), &trust), Refusal::Unsigned);
    assert_eq!(refusal(&library(9).to_bytes(None), &trust), Refusal::Unsigned);
}

#[test]
fn as_many_different_keys_as_are_wanted_have_to_sign() {
    let keys = [key(), key(), key(), key()];
    let [a, b, c, stranger] = &keys;
    let trust = Trust::signed_by(set(&[a, b, c], 2));
    let one = library(9).to_bytes(Some(a));
    assert!(matches!(refusal(&one, &trust), Refusal::TooFew { .. }));
    let anybody = Trust::signed_by(set(&[a, b, c], 1));
    let two = countersign(&one, &anybody, c).expect("it is signed");
    let (_, signers) = Library::signed(&two, &trust).expect("two have signed");
    let by = |key: &SecretKey| signers.contains(&key.public());
    assert!(by(a) && by(c) && !by(b) && signers.len() == 2);
    // What is signed is as it was, and a second signature of the same key is no other one.
    assert_eq!(two[..one.len() - 104], one[..one.len() - 104]);
    assert_eq!(countersign(&two, &trust, a).expect("it is signed"), two);
    assert_eq!(countersign(&one, &anybody, a).expect("it is signed"), one);
    // Twice the same, by whatever means.
    let own = signature(&one, 0);
    let why = refusal(&with_signatures(&one, &[own, own]), &trust);
    assert_eq!(why, Refusal::Malformed { what: "list of signatures".into() });
    let swapped = with_signatures(&two, &[signature(&two, 1), signature(&two, 0)]);
    assert!(matches!(refusal(&swapped, &trust), Refusal::Malformed { .. }));
    // Somebody else does not count, and does no harm with a good signature.
    let with_stranger = countersign(&one, &anybody, stranger).expect("it is signed");
    assert!(matches!(refusal(&with_stranger, &trust), Refusal::TooFew { .. }));
    let three = countersign(&two, &trust, stranger).expect("it is signed");
    assert_eq!(Library::signed(&three, &trust).expect("two have signed").1.len(), 2);
    // No signature may be wrong, whosever it is.
    for at in 0..3 {
        let mut spoilt = three.clone();
        let from = spoilt.len() - 96 * at - 1;
        spoilt[from] ^= 1;
        assert!(matches!(refusal(&spoilt, &trust), Refusal::Signature { .. }), "{at}");
    }
    // Numbers that are none.
    for count in [0u32, 2, 4, 17, u32::MAX] {
        let mut spoilt = three.clone();
        let from = spoilt.len() - 3 * 96 - 8;
        spoilt[from..from + 4].copy_from_slice(&count.to_le_bytes());
        let why = refusal(&spoilt, &trust);
        assert!(matches!(why, Refusal::Truncated { .. } | Refusal::Trailing { .. }), "{count}: {why}");
    }
    let crowd: Vec<Vec<u8>> = (0..17u8).map(|n| [n; 96].to_vec()).collect();
    let crowd: Vec<&[u8]> = crowd.iter().map(Vec::as_slice).collect();
    assert!(matches!(refusal(&with_signatures(&one, &crowd), &trust), Refusal::Malformed { .. }));
}

struct Place {
    folder: tempfile::TempDir,
    key: SecretKey,
}

impl Place {
    fn new() -> Self {
        Self { folder: tempfile::tempdir().expect("a folder"), key: key() }
    }

    fn guard(&self, seen: &Path) -> Guard {
        let trust = Trust::signed_by(self.key.public());
        Guard { trust, seen: Seen::at(seen), allow_older: false }
    }

    fn put(&self, version: u64, key: &SecretKey) -> std::path::PathBuf {
        let path = self.folder.path().join("a.lib");
        fs::write(&path, library(version).to_bytes(Some(key))).expect("it can be written");
        path
    }
}

fn older(opened: Result<ace_library::file::Opened, FileError>) -> (u64, u64) {
    match opened {
        Err(FileError::Refused { refusal: Refusal::Older { found, seen }, .. }) => (found, seen),
        other => panic!("{other:?}"),
    }
}

#[test]
fn an_old_version_does_not_come_back() {
    let place = Place::new();
    let seen = place.folder.path().join("state/versions");
    let guard = place.guard(&seen);
    let open = |version: u64| guard.open(&place.put(version, &place.key));
    assert!(open(5).is_ok_and(|opened| opened.unkept.is_none() && opened.signers.len() == 1));
    assert!(open(7).is_ok() && open(7).is_ok());
    assert_eq!(older(open(6)), (6, 7));
    assert_eq!(older(open(0)), (0, 7));
    // Nor is anything made of it.
    let change = guard.update::<FileError>(&place.put(6, &place.key), &place.key, |_| Ok(()));
    assert_eq!(older(change), (6, 7));
    assert_eq!(older(guard.sign(&place.put(6, &place.key), &place.key, any)), (6, 7));
    // Nor does the key sign it, whoever has done so before.
    let anybody = Guard { trust: Trust::ANYBODY, ..guard.clone() };
    assert_eq!(older(anybody.sign(&place.put(6, &key()), &place.key, any)), (6, 7));
    let unsigned = place.put(6, &place.key);
    fs::write(&unsigned, library(6).to_bytes(None)).expect("it can be written");
    assert_eq!(older(anybody.sign(&unsigned, &place.key, any)), (6, 7));
    // Whoever wants it has it, and what was seen stays seen.
    let anyway = Guard { allow_older: true, ..guard.clone() };
    assert!(anyway.open(&place.put(6, &place.key)).is_ok());
    assert_eq!(older(open(6)), (6, 7));
    // What is made anew is newer than all that was seen, whatever lies there.
    assert_eq!(guard.next_version(Path::new("a"), 2).expect("there is one"), 8);
    assert!(matches!(guard.next_version(Path::new("a"), u64::MAX), Err(FileError::LastVersion { .. })));
    let made = guard.update::<FileError>(&place.put(7, &place.key), &place.key, |_| Ok(()));
    assert_eq!(made.expect("it works").library.version, 8);
    assert_eq!(older(open(7)), (7, 8));

    // Another key has versions of its own, and of several keys the highest counts, whoever of them signs.
    let other = key();
    let of = |keys| Guard { trust: Trust::signed_by(keys), ..guard.clone() };
    assert!(of(KeySet::of(other.public())).open(&place.put(3, &other)).is_ok());
    assert_eq!(older(of(set(&[&other, &place.key], 1)).open(&place.put(4, &other))), (4, 8));
    // What is refused is not seen.
    let stranger = key();
    assert!(guard.open(&place.put(99, &stranger)).is_err());
    assert!(open(8).is_ok());
}

#[test]
fn a_state_directory_that_cannot_be_used_is_said() {
    let place = Place::new();
    let path = place.put(5, &place.key);
    // Below a file there is no folder. Where nothing can be read, nothing was seen.
    let blocked = place.folder.path().join("blocked");
    fs::write(&blocked, b"").expect("it can be written");
    let opened = place.guard(&blocked.join("versions")).open(&path);
    let unkept = match opened {
        Ok(opened) => opened.unkept.expect("it cannot be kept").to_string(),
        Err(error) => error.to_string(),
    };
    assert!(unkept.contains("blocked/versions"), "{unkept}");
    // What was kept and is none any more is not passed over.
    let seen = place.folder.path().join("versions");
    let guard = place.guard(&seen);
    assert!(guard.open(&path).is_ok());
    let file = fs::read_dir(&seen).expect("it is there").next().expect("one").expect("it is there").path();
    for text in ["", "five", "-1", "99999999999999999999999"] {
        fs::write(&file, text).expect("it can be written");
        let error = guard.open(&path).expect_err("it holds no version");
        assert!(matches!(error, FileError::Seen(SeenError::NoVersion { .. })), "{error}");
        assert!(error.to_string().contains("--allow-older"), "{error}");
    }
    assert!(Guard { allow_older: true, ..guard }.open(&path).is_ok());
}

#[test]
fn names_are_names_whoever_signs() {
    let key = key();
    let trust = Trust::signed_by(key.public());
    let library = library(1);
    let (bytes, parts) = (library.to_bytes(Some(&key)), library.parts());
    let index = parts.header + parts.dictionary + parts.contents;
    assert!(Library::from_bytes(&resigned(bytes.clone(), &key), &trust).is_ok());
    // The second one of the index, so that they stay in order where that matters.
    for name in [
        "../../../x",
        "..",
        ".",
        "/etc/x",
        "a/b",
        "a\\b",
        ".des",
        "-rf",
        "_x",
        "Des",
        "d es",
        "d\n",
        "dé",
        "",
        "d\0s",
        "d:s",
        "d.bit",
    ] {
        assert!(!is_name(name), "{name:?}");
        for entry in [0, 1] {
            let mut forged = bytes.clone();
            let at = index + entry * INDEX_ENTRY_BYTES;
            forged[at..at + 40].fill(0);
            forged[at..at + name.len()].copy_from_slice(name.as_bytes());
            let why = refusal(&resigned(forged, &key), &trust);
            assert_eq!(why, Refusal::Malformed { what: format!("index entry {entry}") }, "{name:?}");
        }
    }
    // All 40 bytes, and twice the same.
    for (name, good) in [("e".repeat(40), true), ("aes".to_owned(), false), ("3des".to_owned(), false)] {
        let mut other = bytes.clone();
        let at = index + INDEX_ENTRY_BYTES;
        other[at..at + 40].fill(0);
        other[at..at + name.len()].copy_from_slice(name.as_bytes());
        assert_eq!(Library::from_bytes(&resigned(other, &key), &trust).is_ok(), good, "{name}");
    }
}

/// A small library of one key, and its bytes.
static GOOD: LazyLock<(SecretKey, Vec<u8>)> = LazyLock::new(|| {
    let key = key();
    let bytes = library(1).to_bytes(Some(&key));
    (key, bytes)
});

#[test]
fn mutants_that_are_signed_again() {
    // Signing takes a while where nothing is optimised.
    let cases = if cfg!(debug_assertions) { 1_000 } else { 10_000 };
    let (key, good) = &*GOOD;
    let (trust, mut rng) = (Trust::signed_by(key.public()), ChaCha20Rng::seed_from_u64(12));
    let (end, dictionary) = (good.len() - 136, 40..1312);
    let (mut read, mut whole) = (0, 0);
    for _ in 0..cases {
        let mut bytes = good.clone();
        for _ in 0..rng.random_range(1..4) {
            // The dictionary is most of it, and any will do.
            let at = rng.random_range(0..end);
            let at = if dictionary.contains(&at) && rng.random_bool(0.9) {
                rng.random_range(1312..end)
            } else {
                at
            };
            bytes[at] = if rng.random() { rng.random() } else { bytes[at] ^ (1 << rng.random_range(0..8)) };
        }
        let Ok(library) = Library::from_bytes(&resigned(bytes, key), &trust) else { continue };
        read += 1;
        for image in library.images() {
            assert!(is_name(image.name()));
            let _ = (image.manifest(), image.proof());
            // Decompressing takes a while.
            if read % 8 == 1
                && let Ok(memory) = library.memory(image.name())
            {
                assert_eq!(memory.digest(), *image.digest());
                whole += 1;
            }
        }
    }
    eprintln!("{read} of {cases} were read, {whole} configurations of them whole");
    assert!(read > cases / 100 && whole > 3, "{read} {whole}");
}

#[test]
fn fingerprints_tell_keys_apart() {
    let (a, b) = (key().public(), key().public());
    assert_ne!(a.fingerprint(), b.fingerprint());
    assert_eq!(a.fingerprint().len(), 32);
    assert_eq!(PublicKey::parse(&a.to_text()).map(|key| key.fingerprint()), Ok(a.fingerprint()));
    let both = KeySet::parse(&format!("{}{}", a.to_text(), b.to_text())).expect("a set").to_string();
    assert!(both.starts_with("2 of ") && both.contains(&a.fingerprint()), "{both}");
}
