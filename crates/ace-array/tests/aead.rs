// SPDX-License-Identifier: Apache-2.0
//! Sets of AEADs in the simulated tile against published answers, whole packets, many of them side by side.

use ace_array::aead::Packet;
use ace_array::frontend::{Order, Program};
use ace_array::host::{Block, Runner, to_bytes, to_words};
use ace_array::schedule::Effort;
use ace_array::set::Set;
use ace_array::shape::Shape;
use ace_array::{algorithms, compile};

use crate::common;

struct Row {
    key: Vec<u8>,
    nonce: Vec<u8>,
    aad: Vec<u8>,
    plain: Vec<u8>,
    cipher: Vec<u8>,
    tag: Vec<u8>,
    valid: bool,
}

fn rows(name: &str) -> Vec<Row> {
    let read = |record: &csv::StringRecord| {
        let field = |at: usize| hex::decode(&record[at]).unwrap();
        let valid = record.get(7).is_none_or(|result| result != "invalid");
        Row {
            key: field(1),
            nonce: field(2),
            aad: field(3),
            plain: field(4),
            cipher: field(5),
            tag: field(6),
            valid,
        }
    };
    common::rows_of("aes/aes_gcm.csv", name).iter().map(read).collect()
}

/// Packets of one set, the next block of each beside those of the others.
fn check(variant: &str, key_bytes: usize, name: &str) {
    let shape = Shape::standard();
    let program = algorithms::program("aes_gcm.ace").unwrap_or_else(|error| panic!("{error}"));
    let compiled =
        compile(&program, variant, &shape, Effort::default()).unwrap_or_else(|error| panic!("{error}"));
    let (mut built, set) = (compiled.built, Set::from_bytes(&compiled.set.to_bytes(), &shape).unwrap());
    let decrypt = set.decrypt;
    let all = rows(name);
    let mine: Vec<&Row> = all.iter().filter(|row| row.key.len() == key_bytes).collect();
    let (mut good, mut bad) = (0, 0);
    let room = Runner::new(&shape, &set).key_room();
    for some in mine.chunks(room) {
        let mut runner = Runner::new(&shape, &set);
        let mut packets = Vec::new();
        for row in some {
            let text = if decrypt { &row.cipher } else { &row.plain };
            let Ok(packet) = Packet::new(&row.nonce, &row.aad, text) else {
                assert!(!row.valid, "{variant}: tag {} has no nonce", hex::encode(&row.tag));
                bad += 1;
                continue;
            };
            let key = runner.key(&program.expand(&mut built, &row.key).unwrap()).unwrap();
            packets.push((key, packet, *row));
        }
        loop {
            let open: Vec<usize> = (0..packets.len()).filter(|at| packets[*at].1.block().is_some()).collect();
            if open.is_empty() {
                break;
            }
            let block = |at: &usize| Block { words: packets[*at].1.block().unwrap(), key: packets[*at].0 };
            let blocks: Vec<Block> = open.iter().map(block).collect();
            for (at, answer) in open.into_iter().zip(runner.run(&blocks).unwrap().results) {
                packets[at].1.take(&answer);
            }
        }
        for (_, packet, row) in &packets {
            let (out, tag) = packet.done().expect("all blocks are answered");
            let same = tag[..row.tag.len()] == row.tag[..];
            // Of a row that is refused the ciphertext or the tag is another's.
            let wanted = if decrypt { &row.plain } else { &row.cipher };
            match row.valid {
                true => assert!(same && out == wanted, "{variant}: tag {}", hex::encode(&row.tag)),
                false if decrypt => assert!(!same, "{variant}: tag {} is taken", hex::encode(&row.tag)),
                false => {}
            }
            if row.valid { good += 1 } else { bad += 1 }
        }
    }
    println!("{variant}: {good} packets of {name}, and {bad} that are refused");
    assert!(good > 0 || mine.is_empty(), "no packet of {name} for {variant}");
}

macro_rules! packets {
    ($($name:ident: $key_bytes:literal;)*) => {
        $(#[test]
        fn $name() {
            check(stringify!($name), $key_bytes, "aes_gcm");
            check(stringify!($name), $key_bytes, "aes_gcm_other_iv");
        })*
    };
}

packets! {
    aes128_gcm_encrypt: 16;
    aes128_gcm_decrypt: 16;
    aes192_gcm_encrypt: 24;
    aes192_gcm_decrypt: 24;
    aes256_gcm_encrypt: 32;
    aes256_gcm_decrypt: 32;
}

/// ChaCha20-Poly1305 (RFC 8439, 2.8) of two sets: half of ChaCha20's rounds, which a block passes twice, and a step of
/// Poly1305. What is left to the host is the last sum's reduction (2.5.1).
#[test]
fn chacha20_poly1305() {
    let shape = Shape::standard();
    let made = |file: &str, variant: &str| {
        let program = algorithms::program(file).unwrap_or_else(|error| panic!("{error}"));
        let compiled =
            compile(&program, variant, &shape, Effort::default()).unwrap_or_else(|error| panic!("{error}"));
        println!("{variant}: {} contexts, latency {}", compiled.set.ii(), compiled.set.latency);
        (program, compiled)
    };
    let (_, chacha) = made("chacha20.ace", "chacha20_half");
    let (poly_program, mut poly) = made("poly1305.ace", "poly1305");
    let words = |bytes: &[u8]| to_words(Order::Little, bytes);
    let mut runner = Runner::new(&shape, &chacha.set);
    let mut stream = |key: &[u8], nonce: &[u8], blocks: usize| -> Vec<u8> {
        let state = |counter: u32| {
            let fixed = words(b"expand 32-byte k");
            [fixed, words(key), vec![counter], words(nonce)].concat()
        };
        let states: Vec<Vec<u32>> = (0..blocks as u32).map(state).collect();
        let mut pass = |from: &[Vec<u32>], add: &[Vec<u32>]| -> Vec<Vec<u32>> {
            let block = |(from, add): (&Vec<u32>, &Vec<u32>)| Block {
                words: [from.clone(), add.clone()].concat(),
                key: 0,
            };
            let blocks: Vec<Block> = from.iter().zip(add).map(block).collect();
            runner.run(&blocks).unwrap().results
        };
        let half = pass(&states, &vec![vec![0; 16]; blocks]);
        pass(&half, &states).iter().flat_map(|words| to_bytes(Order::Little, words)).collect()
    };
    let (mut good, mut bad) = (0, 0);
    for record in common::rows_of("chacha20poly1305/kat.csv", "chacha20poly1305") {
        let field = |at: usize| hex::decode(&record[at]).unwrap();
        let (key, nonce, aad, plain, cipher, tag) =
            (field(1), field(2), field(3), field(4), field(5), field(6));
        if nonce.len() != 12 || tag.len() != 16 || aad.len() + cipher.len() > 400 {
            continue;
        }
        let valid = &record[7] != "invalid";
        let keys = stream(&key, &nonce, 1 + cipher.len().div_ceil(64));
        let found: Vec<u8> = cipher.iter().zip(&keys[64..]).map(|(a, b)| a ^ b).collect();
        let mut text = Vec::new();
        for part in [&aad, &cipher] {
            text.extend(part);
            text.resize(text.len().next_multiple_of(16), 0);
        }
        text.extend((aad.len() as u64).to_le_bytes());
        text.extend((cipher.len() as u64).to_le_bytes());
        let mut runner = Runner::new(&shape, &poly.set);
        let key = runner.key(&poly_program.expand(&mut poly.built, &keys[..16]).unwrap()).unwrap();
        let mut sum = vec![0; 10];
        for block in text.chunks(16) {
            let words = [sum, words(block)].concat();
            sum = runner.run(&[Block { words, key }]).unwrap().results.remove(0);
        }
        let same = reduced(&sum, &keys[16..32]) == tag;
        assert_eq!(same, valid, "{}", &record[0]);
        assert!(!valid || found == plain, "{}", &record[0]);
        if valid { good += 1 } else { bad += 1 }
    }
    println!("ChaCha20-Poly1305: {good} packets, and {bad} that are refused");
    assert!(good > 0 && bad > 0);
}

#[test]
fn a_packet_without_a_nonce_is_refused() {
    assert!(Packet::new(&[], b"", b"").is_err());
    assert!(Packet::new(&[0], b"", b"").is_ok());
}

/// The AEAD of docs/array-language.md, as it is printed there, both ways: RFC 8998, A.1.
#[test]
fn the_new_aead_of_the_guide() {
    let guide = include_str!("../../../docs/array-language.md");
    let from = guide.find("algorithm sm4_gcm").expect("the guide has an AEAD");
    let text = &guide[from..from + guide[from..].find("```").expect("it ends")];
    let shape = Shape::standard();
    let beside = |name: &str| algorithms::file(name).map(str::to_owned);
    let program = Program::parse("sm4_gcm.ace", text, &beside).unwrap_or_else(|error| panic!("{error}"));
    let bytes = |hex: &str| hex::decode(hex).unwrap();
    let plain = bytes(&["aa", "bb", "cc", "dd", "ee", "ff", "ee", "aa"].map(|byte| byte.repeat(8)).concat());
    let cipher = bytes(
        "17f399f08c67d5ee19d0dc9969c4bb7d5fd46fd3756489069157b282bb200735\
         d82710ca5c22f0ccfa7cbf93d496ac15a56834cbcf98c397b4024a2691233b8d",
    );
    let (nonce, aad) = (bytes("00001234567800000000abcd"), bytes("feedfacedeadbeeffeedfacedeadbeefabaddad2"));
    for (variant, from, to) in [("sm4_gcm_encrypt", &plain, &cipher), ("sm4_gcm_decrypt", &cipher, &plain)] {
        let mut compiled = compile(&program, variant, &shape, Effort::default()).unwrap();
        assert!(
            guide.contains(&format!("{variant}: {} contexts", compiled.set.ii())),
            "{}",
            compiled.set.ii()
        );
        let set = Set::from_bytes(&compiled.set.to_bytes(), &shape).unwrap();
        let mut runner = Runner::new(&shape, &set);
        let secret = bytes("0123456789abcdeffedcba9876543210");
        let key = runner.key(&program.expand(&mut compiled.built, &secret).unwrap()).unwrap();
        let mut packet = Packet::new(&nonce, &aad, from).unwrap();
        while let Some(words) = packet.block() {
            packet.take(&runner.run(&[Block { words, key }]).unwrap().results[0]);
        }
        let (out, tag) = packet.done().unwrap();
        assert_eq!(
            (out, hex::encode(tag)),
            (to.as_slice(), "83de3541e4c2b58177e065a9bf7b62ec".into()),
            "{variant}"
        );
    }
}

/// A sum of ten limbs modulo 2^130 - 5, and s, modulo 2^128.
fn reduced(limbs: &[u32], s: &[u8]) -> Vec<u8> {
    // Limbs of 13 bits once more, twice round, as the first may carry up to the last one.
    let mut limbs: Vec<u64> = limbs.iter().map(|limb| u64::from(*limb)).collect();
    for _ in 0..2 {
        let mut carry = 0;
        for limb in &mut limbs {
            *limb += carry;
            carry = *limb >> 13;
            *limb &= 0x1FFF;
        }
        limbs[0] += 5 * carry;
    }
    // Two numbers of 65 bits.
    let half = |part: &[u64]| part.iter().rev().fold(0u128, |all, limb| (all << 13) + u128::from(*limb));
    let (low, high) = (half(&limbs[..5]), half(&limbs[5..]));
    let all_ones = (1u128 << 65) - 1;
    let (low, high) = match high == all_ones && low >= all_ones - 4 {
        true => (low - (all_ones - 4), 0),
        false => (low, high),
    };
    let number = low.wrapping_add(high << 65);
    let s = u128::from_le_bytes(s.try_into().unwrap());
    number.wrapping_add(s).to_le_bytes().to_vec()
}
