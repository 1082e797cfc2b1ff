// SPDX-License-Identifier: Apache-2.0

use std::collections::VecDeque;

use crate::algorithm::{AES, ALGORITHMS, DES, Kind, MD5, SHA1, TDES};
use crate::compute::{self, cipher};
use crate::engine::{Engine, Job, run_all};
use crate::error::{EngineError, Illegal};
use crate::key::{Keeper, Key};
use crate::need::{Aead, Direction, Mac, Mode, Need};
use crate::operation::{Action, Iv, Operation, Source, Suffix, Tag};
use crate::{Buffer, Inline, Span};

use super::CpuEngine;

#[test]
fn every_key_length_of_the_tables_has_software() {
    let missing: Vec<_> = Need::all().into_iter().filter(|need| !super::can(need)).collect();
    assert!(missing.is_empty(), "{missing:?}");
    for algorithm in ALGORITHMS {
        if let Kind::Hash { digest, .. } = algorithm.kind {
            assert_eq!(compute::digest(algorithm, b"").expect("a hash").len(), digest);
        }
    }
}

#[test]
fn modes_are_their_definitions() {
    let ciphers = ALGORITHMS.iter().copied().filter_map(|algorithm| match algorithm.kind {
        Kind::Cipher { block, keys } => Some(keys.iter().map(move |&len| (algorithm, len, block))),
        Kind::Hash { .. } => None,
    });
    for (algorithm, key_len, block) in ciphers.flatten() {
        let key: Vec<u8> = (0..key_len).map(|i| (i * 37 + 5) as u8).collect();
        // The counter wraps over the whole block within the data.
        let mut iv = vec![0xff; block];
        iv[block - 1] = 0xfe;
        let data: Vec<u8> = (0..block * 5).map(|i| (i * i) as u8).collect();
        let one = |direction, data: &[u8]| {
            cipher(algorithm, Mode::Ecb, direction, &key, &[], data).expect("one block")
        };

        let mut ecb = Vec::new();
        let mut cbc = Vec::new();
        let mut ctr = Vec::new();
        let mut cfb = Vec::new();
        let mut ofb = Vec::new();
        let (mut chain, mut count) = (iv.clone(), iv.clone());
        let (mut fed, mut stream) = (iv.clone(), iv.clone());
        let xor = |a: &[u8], b: &[u8]| a.iter().zip(b).map(|(a, b)| a ^ b).collect::<Vec<u8>>();
        for plain in data.chunks(block) {
            ecb.extend(one(Direction::Encrypt, plain));
            chain = one(Direction::Encrypt, &xor(plain, &chain));
            cbc.extend(&chain);
            ctr.extend(xor(&one(Direction::Encrypt, &count), plain));
            fed = xor(&one(Direction::Encrypt, &fed), plain);
            cfb.extend(&fed);
            stream = one(Direction::Encrypt, &stream);
            ofb.extend(xor(&stream, plain));
            for byte in count.iter_mut().rev() {
                *byte = byte.wrapping_add(1);
                if *byte != 0 {
                    break;
                }
            }
        }
        // 8-bit segments: one byte of every output, and the input moves up by the byte that came of it.
        let (mut cfb8, mut shifted) = (Vec::new(), iv.clone());
        for plain in &data {
            let byte = one(Direction::Encrypt, &shifted)[0] ^ plain;
            shifted = [&shifted[1..], &[byte]].concat();
            cfb8.push(byte);
        }
        for (mode, expected) in Mode::ALL.into_iter().zip([ecb, cbc, ctr, cfb, cfb8, ofb]) {
            let iv = if mode == Mode::Ecb { &[] } else { &iv[..] };
            // The data may end anywhere where the last segment may be short.
            for len in [data.len(), data.len() - 1, block + 1, 1, 0] {
                if mode.whole_blocks() && !len.is_multiple_of(block) {
                    continue;
                }
                let (data, expected) = (&data[..len], &expected[..len]);
                let run = |direction, data| cipher(algorithm, mode, direction, &key, iv, data);
                assert_eq!(run(Direction::Encrypt, data).as_deref(), Ok(expected), "{algorithm} {mode:?}");
                assert_eq!(run(Direction::Decrypt, expected).as_deref(), Ok(data), "{algorithm} {mode:?}");
            }
        }
    }
}

#[test]
fn weak_keys_and_any_parity_are_keys() {
    for key in [[1u8; 8], [0; 8], [0xfe; 8], [0xff; 8]] {
        assert!(cipher(&DES, Mode::Ecb, Direction::Encrypt, &key, &[], &[0; 8]).is_ok());
    }
    let (k1, k2) = ([3u8; 8], [4u8; 8]);
    let two = [k1, k2].concat();
    let three = [k1, k2, k1].concat();
    assert_eq!(
        cipher(&TDES, Mode::Ecb, Direction::Encrypt, &two, &[], &[9; 8]),
        cipher(&TDES, Mode::Ecb, Direction::Encrypt, &three, &[], &[9; 8])
    );
    assert_eq!(
        cipher(&TDES, Mode::Ecb, Direction::Encrypt, &[5; 24], &[], &[9; 8]),
        cipher(&DES, Mode::Ecb, Direction::Encrypt, &[5; 8], &[], &[9; 8])
    );
}

#[test]
fn lengths_that_do_not_fit_are_refused() {
    let bad = |r: Result<Vec<u8>, EngineError>| matches!(r, Err(EngineError::Illegal(_)));
    assert!(bad(cipher(&AES, Mode::Ecb, Direction::Encrypt, &[0; 15], &[], &[0; 16])));
    assert!(bad(cipher(&AES, Mode::Ecb, Direction::Encrypt, &[0; 16], &[0; 16], &[0; 16])));
    assert!(bad(cipher(&AES, Mode::Cbc, Direction::Decrypt, &[0; 16], &[0; 16], &[0; 17])));
    for mode in [Mode::Ctr, Mode::Cfb, Mode::Cfb8, Mode::Ofb] {
        assert!(bad(cipher(&AES, mode, Direction::Encrypt, &[0; 16], &[0; 8], &[0; 17])));
        assert!(bad(cipher(&AES, mode, Direction::Decrypt, &[0; 16], &[], &[0; 16])));
        assert!(bad(cipher(&AES, mode, Direction::Decrypt, &[0; 15], &[0; 16], &[0; 16])));
    }
    assert!(bad(cipher(&SHA1, Mode::Ecb, Direction::Encrypt, &[0; 16], &[], &[0; 16])));
    assert!(bad(cipher(&DES, Mode::Ecb, Direction::Encrypt, &[], &[], &[])));
    assert_eq!(cipher(&AES, Mode::Cbc, Direction::Encrypt, &[0; 16], &[0; 16], &[]), Ok(vec![]));
    let hmac = |algorithm, len| compute::mac(Mac::Hmac(algorithm), &[7; 200], &[1], len);
    assert!(bad(compute::digest(&AES, &[1])));
    assert!(bad(hmac(&MD5, 17)));
    assert!(bad(hmac(&MD5, 0)));
    assert!(bad(hmac(&AES, 12)));
    assert_eq!(hmac(&MD5, 12).map(|mac| mac.len()), Ok(12));
}

#[test]
fn jobs_complete_in_their_order() {
    let mut engine = CpuEngine::new();
    let mut done = Vec::new();
    assert_eq!((engine.wait(&mut done), done.len()), (0, 0));
    let job = |id: u64| {
        let operation = Operation::mac(Key::hash(&MD5).expect("a hash"), &[id as u8], 16);
        Job { id, flow: 0, packet: id, operation }
    };
    // More than its queue takes.
    let mut jobs: VecDeque<Job> = (0..1000).map(job).collect();
    engine.try_submit(&mut jobs);
    assert!(!jobs.is_empty(), "a queue has an end");
    assert_eq!(engine.drain(&mut done), 0);
    assert_eq!(done.len() + jobs.len(), 1000);
    let all = run_all(&mut CpuEngine::new(), (0..1000).map(job).collect());
    assert!(all.iter().map(|done| done.id).eq(0..1000));
}

/// A packet of a header, text and a place for a tag, under AES-CBC and HMAC-SHA-1 as ESP has them.
fn cipher_and_mac(direction: Direction, buffer: Buffer) -> Operation {
    let key = |byte| [byte; 16];
    let cipher = Key::cipher(&AES, Mode::Cbc, &key(1)).expect("a key");
    let mac = Key::mac(Mac::Hmac(&SHA1), &key(2)).expect("a key");
    let tag = Span::from(40..52);
    let action = Action::CipherMac {
        cipher,
        iv: Iv::from([3; 16]),
        direction,
        text: (8..40).into(),
        mac,
        over: (0..40).into(),
        suffix: Suffix::from([0, 0, 0, 9]),
        tag: if direction == Direction::Encrypt { Tag::Write(tag) } else { Tag::Check(tag) },
    };
    Operation { action, buffer }
}

#[test]
fn cipher_and_mac_are_the_two_one_after_the_other() {
    let clear: Vec<u8> = (0..52).collect();
    let sealed = compute::run(cipher_and_mac(Direction::Encrypt, Buffer::from_packet(&clear, 0, 0)));
    let sealed = sealed.expect("it is legal");
    let text = cipher(&AES, Mode::Cbc, Direction::Encrypt, &[1; 16], &[3; 16], &clear[8..40]).expect("legal");
    assert_eq!((&sealed[..8], &sealed[8..40]), (&clear[..8], &text[..]));
    let authentic = [&sealed[..40], &[0, 0, 0, 9]].concat();
    assert_eq!(compute::mac(Mac::Hmac(&SHA1), &[2; 16], &authentic, 12).as_deref(), Ok(&sealed[40..]));
    let opened = compute::run(cipher_and_mac(Direction::Decrypt, sealed.clone())).expect("it is authentic");
    assert_eq!(opened[..40], clear[..40]);
    // One wrong bit anywhere, and what came in is still there.
    for bit in 0..sealed.len() * 8 {
        let mut forged = sealed.clone();
        forged[bit / 8] ^= 1 << (bit % 8);
        let Operation { action, mut buffer } = cipher_and_mac(Direction::Decrypt, forged.clone());
        assert_eq!(super::execute(&action, &mut buffer), Err(EngineError::Mismatch));
        assert_eq!(buffer, forged);
    }
}

#[test]
fn places_that_are_not_there_are_refused() {
    let sound = cipher_and_mac(Direction::Encrypt, Buffer::with_room(0, 52, 0));
    assert_eq!(sound.check(), Ok(()));
    let illegal = |len: usize, change: &dyn Fn(&mut Action)| {
        let mut action = sound.action.clone();
        change(&mut action);
        match action.check(len) {
            Err(EngineError::Illegal(illegal)) => illegal,
            other => panic!("{other:?}"),
        }
    };
    assert_eq!(illegal(51, &|_| {}), Illegal::Range);
    fn set_text(action: &mut Action, span: Span) {
        let Action::CipherMac { text, .. } = action else { unreachable!() };
        *text = span;
    }
    assert_eq!(illegal(52, &|a| set_text(a, Span { start: 40, end: 8 })), Illegal::Range);
    assert_eq!(illegal(52, &|a| set_text(a, (9..40).into())), Illegal::NotWholeBlocks(31));
    assert_eq!(illegal(52, &|a| set_text(a, (9..41).into())), Illegal::Overlap);
    let turned = |a: &mut Action| {
        let Action::CipherMac { direction, .. } = a else { unreachable!() };
        *direction = Direction::Decrypt;
    };
    assert_eq!(illegal(52, &turned), Illegal::TagDirection);
    let swapped = |a: &mut Action| {
        let Action::CipherMac { cipher, mac, .. } = a else { unreachable!() };
        std::mem::swap(cipher, mac);
    };
    assert_eq!(illegal(52, &swapped), Illegal::KeyPurpose);
    let gcm = Key::aead(Aead::Gcm, &[1; 16]).expect("a key");
    for (nonce, tag, wrong) in [(0, 16, Illegal::NonceLength(0)), (12, 5, Illegal::TagLength(5))] {
        let operation = Operation::aead(gcm.clone(), &vec![0; nonce], &[], &[1, 2], tag);
        assert_eq!(operation.check(), Err(wrong.into()));
    }
    assert_eq!(Key::aead(Aead::ChaCha20Poly1305, &[0; 16]), Err(Illegal::KeyLength(16).into()));
    assert_eq!(Key::mac(Mac::Xcbc, &[0; 24]), Err(Illegal::KeyLength(24).into()));
}

#[test]
fn a_key_is_expanded_once_and_goes_with_its_last_handle() {
    struct Counted<'a>(&'a std::sync::atomic::AtomicU32);
    impl Drop for Counted<'_> {
        fn drop(&mut self) {
            self.0.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
        }
    }
    static DROPS: std::sync::atomic::AtomicU32 = std::sync::atomic::AtomicU32::new(0);
    let drops = || DROPS.load(std::sync::atomic::Ordering::Relaxed);
    let key = Key::cipher(&AES, Mode::Cbc, &[1; 16]).expect("a key");
    let other = key.clone();
    let first = key.cached(Keeper::Native, |_| Counted(&DROPS)).expect("it was made");
    let again = other.cached(Keeper::Native, |_| -> Counted<'static> { unreachable!() });
    assert!(again.is_some_and(|again| std::ptr::eq(first, again)));
    assert_ne!(key.id(), Key::cipher(&AES, Mode::Cbc, &[1; 16]).expect("a key").id());
    drop(key);
    assert_eq!(drops(), 0);
    drop(other);
    assert_eq!(drops(), 1);
}

/// RFC 3566, 4.6 and RFC 4493, 4, and the messages between them: whatever is cut in two gives the same.
#[test]
fn macs_of_aes_do_not_see_where_a_message_is_cut() {
    for mac in [Mac::Xcbc, Mac::Cmac, Mac::Hmac(&SHA1)] {
        let key = Key::mac(mac, &[5; 16]).expect("a key");
        for len in 4..70 {
            let message: Vec<u8> = (0..len).map(|i| i as u8 * 3).collect();
            let whole = compute::mac(mac, &[5; 16], &message, 16).expect("legal");
            let (over, suffix) = message.split_at(len - 4);
            let Operation { mut action, buffer } = Operation::mac(key.clone(), over, 16);
            if let Action::Mac { suffix: place, .. } = &mut action {
                *place = Suffix::new(suffix).expect("four bytes");
            }
            let cut = compute::run(Operation { action, buffer }).expect("legal");
            assert_eq!(cut[over.len()..], whole, "{mac:?} {len}");
        }
    }
}

/// RFC 4543: everything is associated data, in one piece, and the tag may go where zeros were authenticated (AH).
#[test]
fn gmac_needs_no_place_for_a_text() {
    let key = Key::aead(Aead::Gcm, &[1; 16]).expect("a key");
    let packet: Vec<u8> = (0..40).map(|i| if (12..28).contains(&i) { 0 } else { i }).collect();
    let expected = compute::seal(Aead::Gcm, &[1; 16], &[9; 12], &packet, &[], 16).expect("legal");
    for text in [0, 20, 40] {
        let action = Action::Aead {
            key: key.clone(),
            direction: Direction::Encrypt,
            nonce: Source::Inline(Inline::new(&[9; 12]).expect("short")),
            aad: Source::Range((0..40).into()),
            text: (text..text).into(),
            tag: (12..28).into(),
        };
        let operation = Operation { action, buffer: Buffer::from_packet(&packet, 0, 0) };
        let sealed = compute::run(operation).expect("legal");
        assert_eq!(sealed[12..28], expected);
        assert_eq!((&sealed[..12], &sealed[28..]), (&packet[..12], &packet[28..]));
    }
}

/// What is decrypted and does not verify must not be found in the buffer.
#[test]
fn a_forged_aead_leaves_no_plaintext() {
    for (aead, key_len) in [(Aead::Gcm, 16), (Aead::Ccm, 24), (Aead::ChaCha20Poly1305, 32)] {
        let (key, nonce, text) = (vec![7; key_len], [3; 12], [0x55; 40]);
        let sealed = compute::seal(aead, &key, &nonce, b"header", &text, 16).expect("legal");
        let (ciphertext, tag) = sealed.split_at(text.len());
        assert_eq!(compute::open(aead, &key, &nonce, b"header", ciphertext, tag).as_deref(), Ok(&text[..]));
        for bit in 0..tag.len() * 8 {
            let mut tag = tag.to_vec();
            tag[bit / 8] ^= 1 << (bit % 8);
            let key = Key::aead(aead, &key).expect("a key");
            let Operation { action, mut buffer } =
                Operation::check_aead(key, &nonce, b"header", ciphertext, &tag);
            assert_eq!(super::execute(&action, &mut buffer), Err(EngineError::Mismatch));
            let left = &buffer[..text.len()];
            assert!(left == ciphertext || left.iter().all(|byte| *byte == 0), "{aead:?}");
        }
    }
}
