// SPDX-License-Identifier: Apache-2.0
//! Published known answers on the CPU engine: the rows in `algorithms/`, and every row of a larger collection where
//! there is one (`ACE_VECTORS`, or `../shared/vectors` beside the workspace). And published answers that are
//! too long for a row on a simulated slot.

use std::path::{Path, PathBuf};

use cipher::{Array, BlockCipherDecrypt, BlockCipherEncrypt, KeyInit};

use ace_engine::Secret;
use ace_engine::kat::{Check, KnownAnswers, Report, Subject, run};
use ace_engine::software::CpuEngine;
use ace_engine::software::mars::Mars;

/// A file's subject, by its name: `hmac_sha1_96_invalid.csv` is of `hmac_sha1_96`.
fn subject(file: &Path) -> Option<Subject> {
    let mut name = file.file_stem()?.to_str()?;
    for end in ["_invalid", "_repeat", "_mct", "_nistorder", "_other_iv"] {
        name = name.strip_suffix(end).unwrap_or(name);
    }
    Subject::by_name(name)
}

/// Serpent's submission prints every value as one big number: backwards it is what everybody else prints.
fn reverse(check: &mut Check) {
    let Check::Cipher { key, iv, plaintext, ciphertext, .. } = check else { panic!("not a cipher") };
    let mut backwards = key.as_bytes().to_vec();
    backwards.reverse();
    *key = Secret::new(backwards);
    for value in [iv, plaintext, ciphertext] {
        value.reverse();
    }
}

fn csv_files(folder: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten().map(|entry| entry.path());
    let mut files: Vec<_> = entries.filter(|file| file.extension().is_some_and(|e| e == "csv")).collect();
    files.sort();
    files
}

fn run_file(file: &Path, subject: Subject) -> Report {
    let mut answers = KnownAnswers::read(subject, file).unwrap_or_else(|error| panic!("{error}"));
    if file.file_stem().is_some_and(|name| name == "serpent_nistorder") {
        answers.rows.iter_mut().for_each(|row| reverse(&mut row.check));
    }
    let report = run(&answers, &mut CpuEngine::new());
    let counted = report.passed + report.failed.len() + report.skipped.len();
    assert_eq!(counted, answers.rows.len(), "{}", file.display());
    report
}

#[test]
fn our_rows_pass() {
    let rooms = ace_algorithms::load(&ace_algorithms::folder()).unwrap();
    let files: Vec<(String, PathBuf)> = rooms.iter().flat_map(|room| room.known_answers().unwrap()).collect();
    assert!(files.len() >= 32);
    for (name, file) in files {
        let subject = subject(Path::new(&name)).unwrap_or_else(|| panic!("{}: of what?", file.display()));
        let report = run_file(&file, subject);
        assert!(report.is_success() && report.skipped.is_empty(), "{}: {report:#?}", file.display());
    }
}

#[test]
fn the_collection_passes() {
    let beside = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/vectors");
    let folder = std::env::var_os("ACE_VECTORS").map_or(beside, PathBuf::from);
    let mut files = 0;
    for file in csv_files(&folder) {
        let Some(subject) = subject(&file) else {
            let packets = file.file_stem().is_some_and(|name| name == "esp");
            assert!(
                packets,
                "{}: of what? (crates/ace-ipsec/tests/published.rs has esp.csv)",
                file.display()
            );
            continue;
        };
        let report = run_file(&file, subject);
        assert!(report.is_success() && report.skipped.is_empty(), "{}: {report:#?}", file.display());
        files += 1;
    }
    if folder.is_dir() {
        assert!(files > 0, "{} has nothing for us", folder.display());
    } else {
        eprintln!("no {}: only our own rows were run", folder.display());
    }
}

/// RFC 2144, B.2: a million times the halves of two words encrypt each other.
#[test]
#[cfg_attr(debug_assertions, ignore = "takes a minute without optimisation")]
fn cast128_maintenance_test() {
    let mut a = *b"\x01\x23\x45\x67\x12\x34\x56\x78\x23\x45\x67\x89\x34\x56\x78\x9a";
    let mut b = a;
    fn encrypt(key: &[u8; 16], data: &mut [u8; 16]) {
        let cipher = cast5::Cast5::new(&Array(*key));
        for half in data.chunks_exact_mut(8) {
            cipher.encrypt_block(half.try_into().expect("8 bytes"));
        }
    }
    for _ in 0..1_000_000 {
        encrypt(&b, &mut a);
        encrypt(&a, &mut b);
    }
    assert_eq!(hex::encode_upper(a), "EEA9D0A249FD3BA6B3436FB89D6DCA92");
    assert_eq!(hex::encode_upper(b), "B2C95EB00C31AD7180AC05B8E83D696E");
}

/// GB/T 32907, A.2: a million encryptions of one block.
#[test]
#[cfg_attr(debug_assertions, ignore = "slow without optimisation")]
fn sm4_a_million_times() {
    let mut block = *b"\x01\x23\x45\x67\x89\xab\xcd\xef\xfe\xdc\xba\x98\x76\x54\x32\x10";
    let cipher = sm4::Sm4::new(&Array(block));
    for _ in 0..1_000_000 {
        cipher.encrypt_block((&mut block).into());
    }
    assert_eq!(hex::encode_upper(block), "595298C7C6FD271F0402F804C33D3F66");
}

/// The Monte-Carlo tests of the AES candidates to their end, 400 keys and 10,000 blocks under each, as
/// Crypto++ publishes the last block for MARS (`TestVectors/mars.txt`).
#[test]
#[cfg_attr(debug_assertions, ignore = "takes minutes without optimisation")]
fn mars_monte_carlo_to_the_end() {
    if std::env::var_os("ACE_TESTS").is_none_or(|v| v != "all") {
        eprintln!("skipped: ACE_TESTS=all (make test-all) runs 24 million blocks");
        return;
    }
    let run = |key_len: usize, step: fn(&Mars, &mut [u8; 16])| {
        let (mut key, mut block) = (vec![0; key_len], [0; 16]);
        for _ in 0..400 {
            let cipher = Mars::new_from_slice(&key).expect("a key");
            let mut before = block;
            for _ in 0..10_000 {
                before = block;
                step(&cipher, &mut block);
            }
            // The last block changes the last 16 bytes of the key, the one before it what is left of it.
            let change = [&before[32 - key_len..], &block].concat();
            key.iter_mut().zip(change).for_each(|(byte, change)| *byte ^= change);
        }
        hex::encode_upper(block)
    };
    let encrypt = |key_len| run(key_len, |mars, block| mars.encrypt_block(block.into()));
    let decrypt = |key_len| run(key_len, |mars, block| mars.decrypt_block(block.into()));
    assert_eq!(encrypt(16), "3FE24DC09173D15F4616A849D396F7E3");
    assert_eq!(decrypt(16), "24BD3D2FC6FEE152D1D64545E2230584");
    assert_eq!(encrypt(24), "34EC834E2F30741ECB476DA7E9662BBD");
    assert_eq!(decrypt(24), "7F27C3397A8CEEF1BDF859459690FEA8");
    assert_eq!(encrypt(32), "EDE145C10E279501D921C5E3B04420A6");
    assert_eq!(decrypt(32), "95615ADB0DDF6613A5E84F849AC8C00D");
}
