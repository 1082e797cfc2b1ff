// SPDX-License-Identifier: Apache-2.0
//! When keys were dropped, neither the library's manager nor anything else that this process can write to holds one.
//!
//! A program of one test: other threads would have memory of their own.
#![cfg(all(feature = "native", target_os = "linux"))]

#[path = "../../ace-config/tests/marked/mod.rs"]
mod marked;

use ace_engine::algorithm::{AES, DES, MD5, SHA1, SHA256, SHA384, SHA512, TDES};
use ace_engine::engine::run_all;
use ace_engine::{
    Action, Aead, Buffer, Direction, Iv, Job, Key, Mac, Mode, Operation, Source, Span, Suffix, Tag,
};
use ace_ipsec_mb::MbEngine;
use marked::{copies, marker};
use zeroize::Zeroizing;

fn bytes(len: usize) -> Zeroizing<Vec<u8>> {
    Zeroizing::new((0..len).map(marker).collect())
}

/// Operations with every kind of key, in both directions; those that check a tag fail, which is as good.
fn operations() -> Vec<Operation> {
    let mut actions = Vec::new();
    let macs =
        [&MD5, &SHA1, &SHA256, &SHA384, &SHA512].map(|hash| Key::mac(Mac::Hmac(hash), &bytes(64)).unwrap());
    let macs = macs.into_iter().chain([Key::mac(Mac::Xcbc, &bytes(16)).unwrap()]);
    let macs: Vec<Key> = macs.chain([Key::mac(Mac::Cmac, &bytes(16)).unwrap()]).collect();
    let (text, tag) = (Span::from(16..80), Span::from(80..92));
    for direction in [Direction::Encrypt, Direction::Decrypt] {
        for (algorithm, block, lengths) in [(&AES, 16, &[16, 24, 32][..]), (&DES, 8, &[8]), (&TDES, 8, &[24])]
        {
            for (len, mode) in lengths.iter().flat_map(|len| [(len, Mode::Cbc), (len, Mode::Ctr)]) {
                let cipher = Key::cipher(algorithm, mode, &bytes(*len)).unwrap();
                let iv = Iv::new(&[7; 16][..block]).unwrap();
                for mac in &macs {
                    let tag = match direction {
                        Direction::Encrypt => Tag::Write(tag),
                        Direction::Decrypt => Tag::Check(tag),
                    };
                    actions.push(Action::CipherMac {
                        cipher: cipher.clone(),
                        iv,
                        direction,
                        text,
                        mac: mac.clone(),
                        over: Span::from(0..80),
                        suffix: Suffix::EMPTY,
                        tag,
                    });
                }
                actions.push(Action::Cipher { key: cipher, direction, iv, text });
            }
        }
        for aead in Aead::ALL {
            for len in aead.keys() {
                let nonce = if aead == Aead::Ccm { 11 } else { 12 };
                actions.push(Action::Aead {
                    key: Key::aead(aead, &bytes(*len)).unwrap(),
                    direction,
                    nonce: Source::Range(Span::from(0..nonce)),
                    aad: Source::EMPTY,
                    text,
                    tag: Span::from(80..96),
                });
            }
        }
    }
    let buffer = || Buffer::from_packet(&[1; 96], 0, 0);
    actions.into_iter().map(|action| Operation { action, buffer: buffer() }).collect()
}

#[test]
fn neither_the_library_nor_its_engine_keeps_a_key() {
    let Some(mut engine) = MbEngine::new() else {
        return eprintln!("the library has no code for this machine");
    };
    assert_eq!(copies(), Vec::<String>::new(), "the test itself");
    let operations = operations();
    assert!(copies().len() > 10, "the search finds keys that are there");
    let count = operations.len();
    let job = |(id, operation)| Job { id: id as u64, flow: id as u32, packet: id as u64, operation };
    let done = run_all(&mut engine, operations.into_iter().enumerate().map(job).collect());
    assert_eq!(done.len(), count);
    assert!(done.iter().filter(|done| done.result.is_ok()).count() >= count / 2, "encryption works");
    assert_eq!(copies(), Vec::<String>::new(), "while the engine waits for other keys");
    drop(engine);
    assert_eq!(copies(), Vec::<String>::new(), "after the engine was dropped");
}
