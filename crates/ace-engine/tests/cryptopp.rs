// SPDX-License-Identifier: Apache-2.0
//! A second opinion on every cipher of the table, and the only one on our own MARS with keys above 32 bytes:
//! Crypto++, random keys of every length, both directions, single blocks and the feedback modes. A small program is compiled for it when Crypto++'s
//! headers are installed (Debian: libcrypto++-dev); with CI=1 their absence is a failure.

use std::io::Write;
use std::path::Path;
use std::process::{Command, Stdio};

use ace_engine::algorithm::ALGORITHMS;
use ace_engine::{Algorithm, Direction, Kind, Mode, compute};
use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha20Rng;

/// Keys and blocks for each algorithm and key length.
const BLOCKS: usize = 1000;
/// Keys and messages for each algorithm, key length and feedback mode.
const MESSAGES: usize = 20;
/// Bytes of a message, at most.
const LONGEST: usize = 70;

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

/// A question and our answer to it: the data encrypted, and decrypted.
fn ask(
    algorithm: &'static Algorithm,
    mode: Mode,
    random: &mut ChaCha20Rng,
    [key_len, iv_len, data_len]: [usize; 3],
) -> (String, String) {
    let [key, iv, data] = [key_len, iv_len, data_len].map(|len| {
        let mut bytes = vec![0; len];
        random.fill_bytes(&mut bytes);
        bytes
    });
    let [made, undone] = Direction::BOTH.map(|direction| {
        hex::encode(compute::cipher(algorithm, mode, direction, &key, &iv, &data).expect("legal lengths"))
    });
    // A word for no bytes.
    let iv = if iv.is_empty() { "-".into() } else { hex::encode(iv) };
    let question = format!("{algorithm} {} {} {iv} {}\n", mode.name(), hex::encode(&key), hex::encode(&data));
    (question, format!("{made} {undone}"))
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

    // It has not every cipher of the table; GOST 28147-89, say, with the S-boxes of a test only.
    let names = Command::new(&program).arg("--names").output().expect("what g++ made runs").stdout;
    let names = String::from_utf8(names).expect("names");
    let known: Vec<&str> = names.lines().collect();
    assert!(known.iter().all(|name| Algorithm::by_name(name).is_some()) && known.len() >= 12, "{known:?}");

    let mut random = ChaCha20Rng::seed_from_u64(20);
    let (mut questions, mut answers) = (String::new(), Vec::new());
    for algorithm in ALGORITHMS.iter().copied() {
        let Kind::Cipher { block: block_len, keys } = algorithm.kind else { continue };
        if !known.contains(&algorithm.name) {
            continue;
        }
        for &key_len in keys {
            let blocks = std::iter::repeat_n((Mode::Ecb, [key_len, 0, block_len]), BLOCKS);
            let messages = [Mode::Cfb, Mode::Cfb8, Mode::Ofb].into_iter().flat_map(|mode| {
                (0..MESSAGES)
                    .map(move |n| (mode, [key_len, block_len, 1 + n * (LONGEST - 1) / (MESSAGES - 1)]))
            });
            for (mode, lengths) in blocks.chain(messages) {
                let (question, answer) = ask(algorithm, mode, &mut random, lengths);
                questions += &question;
                answers.push(answer);
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
    println!("{} blocks and messages agree in both directions", answers.len());
}
