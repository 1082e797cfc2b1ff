// SPDX-License-Identifier: Apache-2.0
//! Compiled sets, as bytes, in the simulated tile against published answers.

use ace_array::frontend::Program;
use ace_array::host::{Block, Runner, to_bytes, to_words};
use ace_array::schedule::Effort;
use ace_array::set::Set;
use ace_array::shape::Shape;
use ace_array::{Compiled, algorithms, compile};

use crate::common;

/// What the bytes of a variant's set are, loaded again.
fn loaded(file: &str, variant: &str) -> (ace_array::frontend::Program, Compiled, Set, Shape) {
    let shape = Shape::standard();
    let program = algorithms::program(file).unwrap_or_else(|error| panic!("{error}"));
    let compiled =
        compile(&program, variant, &shape, Effort::default()).unwrap_or_else(|error| panic!("{error}"));
    let set = Set::from_bytes(&compiled.set.to_bytes(), &shape).unwrap();
    assert_eq!(set, compiled.set);
    (program, compiled, set, shape)
}

fn check_cipher(file: &str, variant: &str, vectors: &str, takes: impl Fn(usize) -> bool) {
    let (program, mut compiled, set, shape) = loaded(file, variant);
    let decrypt = variant.ends_with("decrypt");
    let size = 4 * usize::from(set.input_words);
    let rows = common::cipher_rows(vectors, size);
    let rows: Vec<_> = rows.into_iter().filter(|row| takes(row.key.len())).collect();
    let mut runner = Runner::new(&shape, &set);
    let room = runner.key_room();
    let mut checked = 0;
    for some in rows.chunks(room) {
        let mut runner_now = std::mem::replace(&mut runner, Runner::new(&shape, &set));
        let (mut blocks, mut wanted) = (Vec::new(), Vec::new());
        for row in some {
            let words = program.expand(&mut compiled.built, &row.key).unwrap();
            let key = runner_now.key(&words).unwrap();
            for (plain, cipher) in &row.blocks {
                let (from, to) = if decrypt { (cipher, plain) } else { (plain, cipher) };
                blocks.push(Block { words: to_words(set.input, from), key });
                wanted.push(to);
            }
        }
        let ran = runner_now.run(&blocks).unwrap();
        for (at, (result, wanted)) in ran.results.iter().zip(wanted).enumerate() {
            assert_eq!(
                hex::encode(to_bytes(set.output, result)),
                hex::encode(wanted),
                "{variant}, block {at}"
            );
            checked += 1;
        }
    }
    assert!(checked > 0, "no block of {vectors}");
}

macro_rules! ciphers {
    ($($name:ident: $file:literal, $variant:literal, $vectors:literal, $takes:expr;)*) => {
        $(#[test]
        fn $name() {
            check_cipher($file, $variant, $vectors, $takes);
        })*
    };
}

ciphers! {
    aes128_encrypt: "aes.ace", "aes128_encrypt", "aes", |key| key == 16;
    aes128_decrypt: "aes.ace", "aes128_decrypt", "aes", |key| key == 16;
    aes256_encrypt: "aes.ace", "aes256_encrypt", "aes", |key| key == 32;
    aes256_decrypt: "aes.ace", "aes256_decrypt", "aes", |key| key == 32;
    rc6_encrypt: "rc6.ace", "rc6_encrypt", "rc6", |_| true;
    rc6_decrypt: "rc6.ace", "rc6_decrypt", "rc6", |_| true;
    aes192_encrypt: "aes.ace", "aes192_encrypt", "aes", |key| key == 24;
    des_encrypt: "des.ace", "des_encrypt", "des", |_| true;
    des_decrypt: "des.ace", "des_decrypt", "des", |_| true;
    tdes_encrypt: "des.ace", "tdes_encrypt", "tdes", |_| true;
    tdes_decrypt: "des.ace", "tdes_decrypt", "tdes", |_| true;
    cast256_encrypt: "cast256.ace", "cast256_encrypt", "cast256", |_| true;
    cast256_decrypt: "cast256.ace", "cast256_decrypt", "cast256", |_| true;
    idea_encrypt: "idea.ace", "idea_encrypt", "idea", |_| true;
    idea_decrypt: "idea.ace", "idea_decrypt", "idea", |_| true;
    mars_encrypt: "mars.ace", "mars_encrypt", "mars", |_| true;
    mars_decrypt: "mars.ace", "mars_decrypt", "mars", |_| true;
    serpent_encrypt: "serpent.ace", "serpent_encrypt", "serpent", |_| true;
    serpent_decrypt: "serpent.ace", "serpent_decrypt", "serpent", |_| true;
    twofish128_encrypt: "twofish.ace", "twofish128_encrypt", "twofish", |key| key == 16;
    twofish128_decrypt: "twofish.ace", "twofish128_decrypt", "twofish", |key| key == 16;
    twofish192_encrypt: "twofish.ace", "twofish192_encrypt", "twofish", |key| key == 24;
    twofish192_decrypt: "twofish.ace", "twofish192_decrypt", "twofish", |key| key == 24;
    twofish256_encrypt: "twofish.ace", "twofish256_encrypt", "twofish", |key| key == 32;
    twofish256_decrypt: "twofish.ace", "twofish256_decrypt", "twofish", |key| key == 32;
    sm4_encrypt: "sm4.ace", "sm4_encrypt", "sm4", |_| true;
    sm4_decrypt: "sm4.ace", "sm4_decrypt", "sm4", |_| true;
    cast128_short_encrypt: "cast128.ace", "cast128_short_encrypt", "cast128", |key| key <= 10;
    cast128_encrypt: "cast128.ace", "cast128_encrypt", "cast128", |key| key > 10;
    cast128_decrypt: "cast128.ace", "cast128_decrypt", "cast128", |key| key > 10;
}

/// The message with its padding: blocks of 64 bytes, the length in bits at the end.
fn padded(message: &[u8], big: bool) -> Vec<u8> {
    let mut out = message.to_vec();
    out.push(0x80);
    out.resize((out.len() + 8).next_multiple_of(64) - 8, 0);
    let bits = 8 * message.len() as u64;
    out.extend(if big { bits.to_be_bytes() } else { bits.to_le_bytes() });
    out
}

/// Messages side by side: the blocks that are first in each, then those that are second, and so on.
fn check_hash(file: &str, variant: &str, vectors: &str, big: bool) {
    let (_, _, set, shape) = loaded(file, variant);
    let rows = common::records(vectors)
        .into_iter()
        .filter(|record| record[1].is_empty())
        .map(|record| (padded(&hex::decode(&record[2]).unwrap(), big), record[3].to_lowercase()));
    // Long messages say nothing more, and take their time one block after the other.
    let rows: Vec<(Vec<u8>, String)> = rows.filter(|(message, _)| message.len() <= 640).collect();
    assert!(rows.len() > 2, "{} rows of {vectors}", rows.len());
    let mut states = vec![set.chain.clone(); rows.len()];
    let mut runner = Runner::new(&shape, &set);
    for at in 0..10 {
        let open: Vec<usize> = (0..rows.len()).filter(|row| rows[*row].0.len() > 64 * at).collect();
        let block = |row: &usize| {
            let bytes = &rows[*row].0[64 * at..64 * (at + 1)];
            Block { words: [states[*row].clone(), to_words(set.input, bytes)].concat(), key: 0 }
        };
        let blocks: Vec<Block> = open.iter().map(block).collect();
        for (row, state) in open.into_iter().zip(runner.run(&blocks).unwrap().results) {
            states[row] = state;
        }
    }
    for ((_, wanted), state) in rows.iter().zip(states) {
        assert_eq!(&hex::encode(to_bytes(set.output, &state)), wanted, "{variant}");
    }
}

#[test]
fn md5() {
    check_hash("md5.ace", "md5", "md5", false);
}

#[test]
fn sha1() {
    check_hash("sha1.ace", "sha1", "sha1", true);
}

#[test]
fn sha256() {
    check_hash("sha256.ace", "sha256", "sha256", true);
}

/// The cipher of docs/array-language.md, as it is printed there, both ways.
#[test]
fn the_new_cipher_of_the_guide() {
    let guide = include_str!("../../../docs/array-language.md");
    let from = guide.find("algorithm xtea").expect("the guide has a cipher");
    let text = &guide[from..from + guide[from..].find("```").expect("it ends")];
    let shape = Shape::standard();
    let program = Program::parse("xtea.ace", text, &|_| None).unwrap_or_else(|error| panic!("{error}"));
    let (plain, cipher) =
        (hex::decode("4142434445464748").unwrap(), hex::decode("497df3d072612cb5").unwrap());
    for (variant, from, to) in [("xtea_encrypt", &plain, &cipher), ("xtea_decrypt", &cipher, &plain)] {
        let mut compiled = compile(&program, variant, &shape, Effort::default()).unwrap();
        assert!(guide.contains(&format!("{variant}: {} contexts", compiled.set.ii())));
        let mut runner = Runner::new(&shape, &compiled.set);
        let secret: Vec<u8> = (0..16).collect();
        let key = runner.key(&program.expand(&mut compiled.built, &secret).unwrap()).unwrap();
        let ran = runner.run(&[Block { words: to_words(compiled.set.input, from), key }]).unwrap();
        assert_eq!(&to_bytes(compiled.set.output, &ran.results[0]), to, "{variant}");
    }
}

/// One block alone is there after the latency.
#[test]
fn one_block_takes_the_latency() {
    let (program, mut compiled, set, shape) = loaded("sm4.ace", "sm4_encrypt");
    let mut runner = Runner::new(&shape, &set);
    let key = runner.key(&program.expand(&mut compiled.built, &[0; 16]).unwrap()).unwrap();
    let ran = runner.run(&[Block { words: vec![0; 4], key }]).unwrap();
    assert_eq!(ran.clocks, usize::from(set.latency) + 1);
}

/// Blocks of different keys side by side, many more than are in flight: every one has its own result, and a block
/// leaves in every interval.
#[test]
fn blocks_of_several_keys_are_in_flight_at_once() {
    let (program, mut compiled, set, shape) = loaded("aes.ace", "aes128_encrypt");
    let mut runner = Runner::new(&shape, &set);
    let words: Vec<Vec<u32>> =
        (0..8u8).map(|key| program.expand(&mut compiled.built, &[key; 16]).unwrap()).collect();
    let keys: Vec<usize> = words.iter().map(|words| runner.key(words).unwrap()).collect();
    assert!(runner.key(&words[0]).is_err(), "a ninth key has no room");
    let blocks: Vec<Block> =
        (0..300u32).map(|at| Block { words: vec![at, 1, 2, 3], key: keys[at as usize % 8] }).collect();
    let ran = runner.run(&blocks).unwrap();
    for (at, (block, result)) in blocks.iter().zip(&ran.results).enumerate() {
        assert_eq!(result, &compiled.built.graph.evaluate(&block.words, &words[at % 8]), "block {at}");
    }
    assert_eq!(ran.clocks, 299 * set.ii() + usize::from(set.latency) + 1);
}
