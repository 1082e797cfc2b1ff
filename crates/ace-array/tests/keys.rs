// SPDX-License-Identifier: Apache-2.0
//! Keys that the array sets up: word by word what the cipher's own `setup` makes of them on the host.

use ace_array::algorithms::{self, KeySetup, SETUPS};
use ace_array::frontend::{Order, Program};
use ace_array::host::{Block, Runner, to_bytes, to_words};
use ace_array::schedule::Effort;
use ace_array::set::Set;
use ace_array::shape::Shape;
use ace_array::{Error, compile};

/// SplitMix64.
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut x = self.0;
        x = (x ^ x >> 30).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        x = (x ^ x >> 27).wrapping_mul(0x94D0_49BB_1331_11EB);
        x ^ x >> 31
    }
}

/// Keys of each variant.
const KEYS: usize = 250;

/// Keys that are all zeros, all ones and one bit are among them; subkeys that are zero are IDEA's own case.
fn secret(number: usize, bytes: usize, random: &mut Random) -> Vec<u8> {
    let mut key: Vec<u8> = (0..bytes).map(|_| random.next() as u8).collect();
    match number {
        0 => key.fill(0),
        1 => key.fill(0xFF),
        2..20 => {
            key.fill(0);
            let bit = random.next() as usize % (8 * bytes);
            key[bit / 8] = 1 << (bit % 8);
        }
        _ => {}
    }
    key
}

/// The set of a set-up's direction, read from its bytes, and what the tile makes of keys.
fn expanded(shape: &Shape, setup: &KeySetup, decrypt: bool, keys: &[Vec<u8>]) -> (Set, Vec<Vec<u32>>) {
    let name = setup.variant(decrypt);
    let program = algorithms::program(setup.file).unwrap_or_else(|error| panic!("{error}"));
    let compiled =
        compile(&program, &name, shape, Effort::default()).unwrap_or_else(|e| panic!("{name}: {e}"));
    let bytes = compiled.set.to_bytes();
    let set = Set::from_bytes(&bytes, shape).unwrap();
    println!(
        "{name}: {:?}, bound {:?}, {} contexts, latency {} (least {}), {} bytes",
        compiled.counts(),
        compiled.bound(shape),
        set.ii(),
        set.latency,
        compiled.latency_bound(),
        bytes.len()
    );
    let blocks: Vec<Block> =
        keys.iter().map(|key| Block { words: to_words(set.input, key), key: 0 }).collect();
    let ran = Runner::new(shape, &set).run(&blocks).unwrap();
    (set, ran.results)
}

#[test]
fn the_tile_makes_what_the_host_makes() {
    let (shape, mut random) = (Shape::standard(), Random(71));
    let only = std::env::var("ACE_KEYS").unwrap_or_default();
    for setup in SETUPS.iter().filter(|setup| setup.stem.starts_with(&only)) {
        let served = setup.served().unwrap();
        let cipher = algorithms::program(served.file).unwrap();
        for decrypt in [false, true] {
            let keys: Vec<Vec<u8>> = (0..KEYS).map(|n| secret(n, setup.bytes, &mut random)).collect();
            let (set, found) = expanded(&shape, setup, decrypt, &keys);
            let mut built = cipher.build(&served.variant(decrypt)).unwrap();
            let stated = (set.keys, set.algorithm, set.decrypt, set.key_words, set.output);
            assert_eq!(stated, (true, served.code, decrypt, 0, Order::Little));
            assert_eq!(usize::from(set.output_words), built.graph.keys);
            for (key, found) in keys.iter().zip(&found) {
                let wanted = cipher.expand(&mut built, key).unwrap();
                assert_eq!(found, &wanted, "{}, key {key:02x?}", setup.variant(decrypt));
            }
        }
    }
}

/// Keys that are shorter than the set's come with what the cipher puts behind them.
#[test]
fn shorter_keys_are_set_up_with_what_stands_behind_them() {
    let (shape, mut random) = (Shape::standard(), Random(72));
    let padded = |key: &[u8]| {
        let mut all = key.to_vec();
        all.resize(16, 0);
        all
    };
    for (stem, bytes) in [("cast128_short", 5), ("cast128", 11)] {
        let setup = SETUPS.iter().find(|setup| setup.stem == stem).unwrap();
        let served = setup.served().unwrap();
        let cipher = algorithms::program(served.file).unwrap();
        let mut built = cipher.build(&served.variant(true)).unwrap();
        let keys: Vec<Vec<u8>> = (0..20).map(|_| secret(99, bytes, &mut random)).collect();
        let whole: Vec<Vec<u8>> = keys.iter().map(|key| padded(key)).collect();
        let (_, found) = expanded(&shape, setup, true, &whole);
        for (key, found) in keys.iter().zip(&found) {
            assert_eq!(found, &cipher.expand(&mut built, key).unwrap(), "{stem}, key {key:02x?}");
        }
    }
}

/// FIPS 197, A.1: the words of the first and of the last round of one key.
#[test]
fn aes_has_the_words_of_its_specification() {
    let key = hex::decode("2b7e151628aed2a6abf7158809cf4f3c").unwrap();
    let setup = SETUPS.iter().find(|setup| setup.stem == "aes128").unwrap();
    let (set, found) = expanded(&Shape::standard(), setup, false, &[key]);
    let bytes = hex::encode(to_bytes(set.output, &found[0]));
    assert_eq!(&bytes[32..64], "a0fafe1788542cb123a339392a6c7605");
    assert_eq!(&bytes[320..], "d014f9a8c9ee2589e13f0cc8b6630ca6");
}

fn wrong(text: &str, variant: &str) -> String {
    let built = Program::parse("a.ace", text, &|_| None).and_then(|program| program.build(variant));
    match built {
        Ok(_) => panic!("{variant} is built"),
        Err(Error::Source(diagnostic)) => diagnostic.to_string(),
        Err(other) => panic!("{other}"),
    }
}

const BOTH: &str = "algorithm a = 1;\nvariant v { words = 0, keys = 0 }\nvariant v_keys { words = 32, keys = 1 }\n\
    input x: word[4] little;\nkey k: word[32];\nsetup(s) { return [for i in 0..32 : s[i]]; }\n\
    fn made() -> word[] { if keys == 0 { return [x[0] ^ k[0]]; } return [for i in 0..words : x[i % 4] + i]; }\n\
    run -> word[words + 1 - keys] little { return made(); }\n";

#[test]
fn a_set_up_that_does_not_fit_its_cipher_is_refused_with_its_place() {
    let program = Program::parse("a.ace", BOTH, &|_| None).unwrap();
    let compiled = compile(&program, "v_keys", &Shape::standard(), Effort::default()).unwrap();
    assert!(compiled.set.keys && compiled.set.key_words == 0 && compiled.set.ii() >= 40);
    assert!(!program.build("v").unwrap().keys);
    let with = |from: &str, to: &str| BOTH.replace(from, to);
    let stated = wrong(&with("words = 32", "words = 31"), "v_keys");
    assert_eq!(stated, "a.ace:8:13: `v_keys` makes 31 words, `v` takes 32");
    let stated = wrong(&with("v_keys", "w"), "w");
    assert!(stated.starts_with("a.ace:8:13: `w` sets keys up, and its name does not say"), "{stated}");
    let stated = wrong(&with("- keys] little", "- keys] big"), "v_keys");
    assert!(stated.starts_with("a.ace:8:13: the words of an expanded key are `little`"), "{stated}");
    for input in ["word[5] little", "word[4] des", "word[10] big"] {
        let stated = wrong(&with("word[4] little", input), "v_keys");
        assert!(stated.starts_with("a.ace:8:13: a raw key is an input of 2, 4, 6 or 8 words"), "{stated}");
    }
}

/// A set with a field of its header changed, under a CRC that is right.
fn changed(bytes: &[u8], word: usize, flip: u64) -> Result<Set, Error> {
    let mut bytes = bytes.to_vec();
    let at = 8 * word..8 * word + 8;
    let old = u64::from_le_bytes(bytes[at.clone()].try_into().unwrap());
    bytes[at].copy_from_slice(&(old ^ flip).to_le_bytes());
    let end = bytes.len() - 8;
    let crc = u64::from(crc32fast::hash(&bytes[..end]));
    bytes[end..].copy_from_slice(&crc.to_le_bytes());
    Set::from_bytes(&bytes, &Shape::standard())
}

#[test]
fn a_set_that_sets_keys_up_and_wants_one_is_refused() {
    let shape = Shape::standard();
    let set = |file: &str, variant: &str| {
        let program = algorithms::program(file).unwrap();
        compile(&program, variant, &shape, Effort::default()).unwrap().set.to_bytes()
    };
    let refused = |bytes: &[u8], word: usize, flip: u64, why: &str| {
        let error = changed(bytes, word, flip).unwrap_err().to_string();
        assert!(error.contains(why), "{error}");
    };
    refused(&set("aes.ace", "aes128_encrypt"), 4, 1 << 25, "wants 44 words of one itself");
    let keys = set("aes_keys.ace", "aes128_encrypt_keys");
    assert!(changed(&keys, 4, 0).unwrap().keys);
    refused(&keys, 3, 44 << 16, "wants 44 words of one itself");
    refused(&keys, 3, 1, "a raw key of 5 words");
    refused(&keys, 3, (44 ^ 120) << 8, "120 words of a key are fetched in 128 clocks");
    refused(&keys, 2, 1 << 40, "in an order of bytes that no key has");
    refused(&keys, 2, 0xF000 << 16, "of 4000 at most");
}
