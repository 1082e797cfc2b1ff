// SPDX-License-Identifier: Apache-2.0
//! The rooms of this repository, and every mistake with its place and remedy.

use std::fs;
use std::path::Path;

use ace_algorithms::{Kind, folder, load};

const GOOD: &str = r#"title = "Rot 13"
aliases = ["rot-13"]
code = 0x3f
kind = "cipher"
block_bytes = 8
key_bytes = [8, 16]
cpu = ["Rot"]
source = "nobody"
about = "An example."

[[configuration]]
name = "rot13"
sets = ["library"]

[[array.variant]]
file = "rot.ace"
stem = "rot"
key_bytes = [16]

[[array.keys]]
file = "rot.ace"
stem = "rot"
key_bytes = 16

[[array.aead]]
name = "rot-gcm"
file = "rot.ace"
stem = "rot_gcm"
key_bytes = [8]
"#;

fn put(root: &Path, name: &str, text: &str) {
    let room = root.join(name);
    fs::create_dir_all(room.join("array")).unwrap();
    fs::write(room.join("algorithm.toml"), text).unwrap();
    fs::write(room.join("array").join("rot.ace"), "algorithm rot").unwrap();
    fs::write(room.join("kat.csv"), "source").unwrap();
    fs::write(room.join("hmac_rot.csv"), "source").unwrap();
}

fn refused(text: &str) -> String {
    let root = tempfile::tempdir().unwrap();
    put(root.path(), "rot13", text);
    load(root.path()).unwrap_err().to_string()
}

#[test]
fn ours_can_be_read_and_stand_in_the_order_of_codes() {
    let all = load(&folder()).unwrap();
    let names: Vec<&str> = all.iter().map(|a| a.name.as_str()).collect();
    assert_eq!(names[..4], ["aes", "des", "3des", "mars"]);
    assert!(all.is_sorted_by_key(|a| a.code().map_or(256, u16::from)));
    for algorithm in &all {
        let answers = algorithm.known_answers().unwrap();
        assert!(answers.iter().any(|(name, _)| *name == algorithm.name), "{}: no kat.csv", algorithm.name);
        assert!(
            algorithm.hardware || !algorithm.folder.join("rtl").exists(),
            "{}: RTL of no row",
            algorithm.name
        );
    }
}

#[test]
fn a_room_is_read_as_it_is() {
    let root = tempfile::tempdir().unwrap();
    put(root.path(), "rot13", GOOD);
    fs::create_dir(root.path().join("no-room")).unwrap();
    let all = load(root.path()).unwrap();
    let [rot] = &all[..] else { panic!("{all:?}") };
    assert_eq!((rot.name.as_str(), rot.identifier.as_str(), rot.code()), ("rot13", "ROT13", Some(0x3f)));
    assert_eq!(rot.kind, Kind::Cipher { code: 0x3f, block: 8, keys: vec![8, 16] });
    assert!(rot.hardware && rot.variants[0].keys == [16] && rot.setups[0].bytes == 16);
    let served: Vec<_> =
        rot.served().map(|v| (v.stem.as_str(), v.aead.as_deref(), v.keys.as_slice())).collect();
    assert_eq!(served, [("rot", None, &[16][..]), ("rot_gcm", Some("rot-gcm"), &[8])]);
    let names: Vec<String> = rot.known_answers().unwrap().into_iter().map(|(name, _)| name).collect();
    assert_eq!(names, ["hmac_rot", "rot13"]);
}

#[test]
fn a_mistake_is_said_with_file_line_and_remedy() {
    for (old, new, line, message) in [
        ("code = 0x3f", "code = 0x41", 3, "0x01 to 0x3f are for a cipher"),
        ("code = 0x3f\n", "", 3, "`code` is missing"),
        ("kind = \"cipher\"", "kind = \"mac\"", 4, "cipher, hash or aead"),
        ("block_bytes = 8", "block_bytes = 9", 5, "allowed: 8, 16"),
        ("block_bytes = 8", "block_byte = 8", 5, "unknown field `block_byte`"),
        ("key_bytes = [8, 16]", "key_bytes = [16, 8]", 6, "the shortest first"),
        ("key_bytes = [8, 16]", "key_bytes = 8", 6, "docs/adding-an-algorithm.md has all keys"),
        ("cpu = [\"Rot\"]", "cpu = [\"A\", \"B\", \"C\"]", 7, "one for each length of key"),
        ("source = \"nobody\"", "source = nobody", 8, "docs/adding-an-algorithm.md"),
        ("aliases = [\"rot-13\"]", "aliases = [\"rot13\"]", 2, "leave it out"),
        ("aliases = [\"rot-13\"]", "identifier = \"rot\"", 2, "no name for a static in Rust"),
        ("key_bytes = [16]\n", "key_bytes = [24]\n", 15, "some of the cipher's"),
        ("file = \"rot.ace\"", "file = \"array/rot.ace\"", 16, "without a folder"),
        (
            "stem = \"rot\"\nkey_bytes = 16\n",
            "stem = \"other\"\nkey_bytes = 16\n",
            17,
            "add [[array.variant]]",
        ),
        ("key_bytes = [8]\n", "key_bytes = [24]\n", 25, "array AEAD `rot_gcm`: `key_bytes` must be some"),
        ("stem = \"rot_gcm\"", "stem = \"rot\"", 17, "two array variants are called `rot`"),
        ("name = \"rot-gcm\"\n", "", 25, "missing field `name`"),
    ] {
        assert!(GOOD.contains(old), "{old}");
        let error = refused(&GOOD.replacen(old, new, 1));
        assert!(
            error.contains(&format!("algorithm.toml:{line}: ")) && error.contains(message),
            "{new}: {error}"
        );
    }
    let root = tempfile::tempdir().unwrap();
    put(root.path(), "Rot", GOOD);
    assert!(load(root.path()).unwrap_err().to_string().contains("small letters"));
}

#[test]
fn two_may_share_a_code_only_if_their_keys_tell_them_apart() {
    let root = tempfile::tempdir().unwrap();
    let plain = |keys: &str| {
        format!(
            "title = \"x\"\ncode = 2\nkind = \"cipher\"\nblock_bytes = 8\nkey_bytes = {keys}\nsource = \"x\"\nabout = \"x\"\n"
        )
    };
    for (name, keys) in [("one", "[8]"), ("two", "[16, 24]")] {
        fs::create_dir(root.path().join(name)).unwrap();
        fs::write(root.path().join(name).join("algorithm.toml"), plain(keys)).unwrap();
    }
    assert_eq!(load(root.path()).unwrap().len(), 2);
    fs::write(root.path().join("two").join("algorithm.toml"), plain("[8, 16]")).unwrap();
    let error = load(root.path()).unwrap_err().to_string();
    assert!(error.contains("algorithm.toml:2: `code` is that of one, too"), "{error}");
}
