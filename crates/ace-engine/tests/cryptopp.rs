// SPDX-License-Identifier: Apache-2.0
//! A second opinion on every cipher of the table, and the only one on our own MARS with keys above 32 bytes:
//! Crypto++, random keys of every length, both directions. A small program is compiled for it when Crypto++'s
//! headers are installed (Debian: libcrypto++-dev); with CI=1 their absence is a failure.

use std::io::Write;
use std::path::Path;
use std::process::{Command, Stdio};

use ace_engine::algorithm::ALGORITHMS;
use ace_engine::cpu::compute;
use ace_engine::{Algorithm, Direction, Kind, Mode, Operation, Pass, Secret};
use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha20Rng;

/// Keys and blocks for each algorithm and key length.
const BLOCKS: usize = 1000;

/// Compiles from standard input: whether Crypto++ is there.
fn has_cryptopp() -> bool {
    let compiler = Command::new("g++")
        .args(["-x", "c++", "-fsyntax-only", "-"])
        .stdin(Stdio::piped())
        .stderr(Stdio::null())
        .spawn();
    let Ok(mut compiler) = compiler else { return false };
    let mut stdin = compiler.stdin.take().expect("it is piped");
    let _ = stdin.write_all(b"#include <cryptopp/mars.h>\n");
    drop(stdin);
    compiler.wait().is_ok_and(|status| status.success())
}

fn one(algorithm: &'static Algorithm, direction: Direction, key: &[u8], block: &[u8]) -> String {
    let pass = Pass::Cipher {
        algorithm,
        mode: Mode::Ecb,
        direction,
        key: Secret::new(key.to_vec()),
        iv: Vec::new(),
    };
    hex::encode(compute(Operation { pass, data: block.to_vec() }).expect("one block"))
}

#[test]
fn every_cipher_agrees_with_cryptopp() {
    if !has_cryptopp() {
        assert!(std::env::var_os("CI").is_none(), "CI must install libcrypto++-dev");
        eprintln!("Crypto++ is not installed (Debian: libcrypto++-dev): nothing was compared");
        return;
    }
    let folder = tempfile::tempdir().expect("a temporary folder");
    let program = folder.path().join("ciphers");
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/cryptopp/ciphers.cpp");
    let compiled = Command::new("g++")
        .args(["-std=c++17", "-O1", "-o"])
        .args([&program, &source])
        .arg("-lcryptopp")
        .status()
        .expect("g++ has just run");
    assert!(compiled.success());

    let mut random = ChaCha20Rng::seed_from_u64(20);
    let (mut questions, mut answers) = (String::new(), Vec::new());
    for algorithm in ALGORITHMS.iter().copied() {
        let Kind::Cipher { block: block_len, keys } = algorithm.kind else { continue };
        // Crypto++ has GOST 28147-89 with the S-boxes of a test only.
        if ["magma", "gost-a"].contains(&algorithm.name) {
            continue;
        }
        for &key_len in keys {
            for _ in 0..BLOCKS {
                let (mut key, mut block) = (vec![0; key_len], vec![0; block_len]);
                random.fill_bytes(&mut key);
                random.fill_bytes(&mut block);
                questions += &format!("{algorithm} {} {}\n", hex::encode(&key), hex::encode(&block));
                let [made, undone] = [Direction::Encrypt, Direction::Decrypt]
                    .map(|direction| one(algorithm, direction, &key, &block));
                answers.push(format!("{made} {undone}"));
            }
        }
    }
    let asked = folder.path().join("questions");
    std::fs::write(&asked, &questions).expect("the temporary folder can be written");
    let output = Command::new(&program)
        .stdin(std::fs::File::open(&asked).expect("it was written"))
        .output()
        .expect("what g++ made runs");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let output = String::from_utf8(output.stdout).expect("hexadecimal");
    assert_eq!(output.lines().count(), answers.len());
    for ((question, theirs), ours) in questions.lines().zip(output.lines()).zip(&answers) {
        assert_eq!(theirs, ours, "{question}");
    }
    println!("{} blocks agree in both directions", answers.len());
}
