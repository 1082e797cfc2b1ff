// SPDX-License-Identifier: Apache-2.0
//! Every kind of operation on the library and on the portable software, over random inputs: the same packets come
//! out, in the order in which they went in, and forgeries of all of them are refused.
#![cfg(feature = "native")]

use ace_engine::algorithm::{AES, DES, MD5, SHA1, SHA224, SHA256, SHA384, SHA512, TDES};
use ace_engine::engine::run_all;
use ace_engine::software::CpuEngine;
use ace_engine::{
    Action, Aead, Buffer, Completion, Direction, Engine, Inline, Iv, Job, Key, Mac, Mode, Operation, Source,
    Span, Suffix, Tag,
};
use ace_ipsec_mb::MbEngine;
use rand::{Rng, RngExt, SeedableRng};
use rand_chacha::ChaCha20Rng;

fn bytes(random: &mut ChaCha20Rng, len: usize) -> Vec<u8> {
    let mut bytes = vec![0; len];
    random.fill_bytes(&mut bytes);
    bytes
}

/// One of a few keys for each kind, so that keys are used again.
struct Keys {
    ciphers: Vec<(Key, usize)>,
    macs: Vec<Key>,
    aeads: Vec<Key>,
}

impl Keys {
    fn new(random: &mut ChaCha20Rng) -> Self {
        let mut ciphers = Vec::new();
        for (algorithm, block, lengths) in
            [(&AES, 16, &[16, 24, 32][..]), (&DES, 8, &[8]), (&TDES, 8, &[16, 24])]
        {
            for len in lengths {
                for mode in [Mode::Cbc, Mode::Ctr, Mode::Ecb] {
                    ciphers.push((Key::cipher(algorithm, mode, &bytes(random, *len)).unwrap(), block));
                }
            }
        }
        let mut macs = Vec::new();
        for hash in [&MD5, &SHA1, &SHA224, &SHA256, &SHA384, &SHA512] {
            for len in [0, 16, 20, 64, 128, 200] {
                macs.push(Key::mac(Mac::Hmac(hash), &bytes(random, len)).unwrap());
            }
        }
        macs.push(Key::mac(Mac::Xcbc, &bytes(random, 16)).unwrap());
        let mut aeads = Vec::new();
        for aead in Aead::ALL {
            for len in aead.keys() {
                aeads.push(Key::aead(aead, &bytes(random, *len)).unwrap());
            }
        }
        Self { ciphers, macs, aeads }
    }

    fn operation(&self, random: &mut ChaCha20Rng) -> Operation {
        let pick = |random: &mut ChaCha20Rng, len: usize| random.random_range(0..len);
        let text_len = match random.random_range(0..4) {
            0 => random.random_range(0..100),
            _ => random.random_range(0..1500),
        };
        let head = random.random_range(0..40);
        let suffix = if random.random_range(0..2) == 0 { &[][..] } else { &[1, 2, 3, 4] };
        let suffix = Suffix::new(suffix).unwrap();
        let kind = random.random_range(0..4);
        if kind == 0 {
            let key = self.aeads[pick(random, self.aeads.len())].clone();
            let ace_engine::Purpose::Aead(aead) = key.purpose() else { unreachable!() };
            let nonce_len = if aead == Aead::Ccm { 11 } else { 12 };
            let mut buffer = Buffer::from_packet(&bytes(random, head + text_len), 8, 16);
            buffer.push_back(16);
            let aad = match random.random_range(0..3) {
                0 => Source::Range((0..head).into()),
                1 => Source::EMPTY,
                _ => Source::Inline(Inline::new(&[7; 12]).unwrap()),
            };
            let nonce = Source::Inline(Inline::new(&bytes(random, nonce_len)).unwrap());
            let action = Action::Aead {
                key,
                direction: Direction::Encrypt,
                nonce,
                aad,
                text: (head..head + text_len).into(),
                tag: (head + text_len..head + text_len + 16).into(),
            };
            return Operation { action, buffer };
        }
        let (cipher, block) = self.ciphers[pick(random, self.ciphers.len())].clone();
        let mac = self.macs[pick(random, self.macs.len())].clone();
        let text_len = text_len / block * block;
        let text = Span::from(head..head + text_len);
        let iv = Iv::new(&bytes(random, cipher.iv_len())).unwrap();
        let tag_len = random.random_range(1..=mac.tag_len());
        let mut buffer = Buffer::from_packet(&bytes(random, head + text_len), 8, 64);
        buffer.push_back(tag_len);
        let over = Span::from(0..head + text_len);
        let tag = Tag::Write((head + text_len..head + text_len + tag_len).into());
        let direction = Direction::Encrypt;
        let action = match kind {
            1 => Action::Cipher { key: cipher, direction, iv, text },
            2 => Action::Mac { key: mac, over, suffix, tag },
            _ => Action::CipherMac { cipher, iv, direction, text, mac, over, suffix, tag },
        };
        Operation { action, buffer }
    }
}

/// The way back of a packet.
fn reversed(action: &Action, buffer: &Buffer) -> Operation {
    let mut action = action.clone();
    match &mut action {
        Action::Cipher { direction, .. } | Action::Aead { direction, .. } => *direction = Direction::Decrypt,
        Action::Mac { tag, .. } => *tag = Tag::Check(tag.span()),
        Action::CipherMac { direction, tag, .. } => {
            (*direction, *tag) = (Direction::Decrypt, Tag::Check(tag.span()));
        }
    }
    Operation { action, buffer: buffer.clone() }
}

fn jobs(operations: &[Operation]) -> Vec<Job> {
    let job = |(id, operation): (usize, &Operation)| Job {
        id: id as u64,
        flow: id as u32 % 7,
        packet: id as u64,
        operation: operation.clone(),
    };
    operations.iter().enumerate().map(job).collect()
}

/// What the library does at once is what it does with a job, and what it leaves is as it was.
fn at_once(engine: &mut MbEngine, operations: &[Operation], done: &[Completion]) -> usize {
    let mut count = 0;
    for (operation, done) in operations.iter().zip(done) {
        let Operation { action, mut buffer } = operation.clone();
        match engine.at_once(&action, &mut buffer) {
            None => assert_eq!(buffer, operation.buffer),
            Some(result) => {
                assert_eq!(result, done.result, "{action:?}");
                assert_eq!(buffer[..], done.buffer[..], "{action:?}");
                count += 1;
            }
        }
    }
    count
}

fn same(native: Vec<Completion>, portable: Vec<Completion>, operations: &[Operation]) {
    assert_eq!((native.len(), portable.len()), (operations.len(), operations.len()));
    for ((native, portable), operation) in native.iter().zip(&portable).zip(operations) {
        let what = &operation.action;
        assert_eq!((native.id, native.result), (portable.id, portable.result), "{what:?}");
        // After an error both have wiped or kept what came in.
        if native.result.is_ok() {
            assert_eq!(native.buffer[..], portable.buffer[..], "{what:?}");
        }
    }
}

#[test]
fn the_library_agrees_with_the_portable_software() {
    let mut random = ChaCha20Rng::seed_from_u64(13);
    let keys = Keys::new(&mut random);
    let mut native = MbEngine::new().expect("CI and the Makefile link it where it runs");
    let mut portable = CpuEngine::new();
    for _ in 0..8 {
        let mut operations: Vec<_> = (0..600).map(|_| keys.operation(&mut random)).collect();
        // Also some that make no sense.
        operations.iter_mut().step_by(50).for_each(|operation| operation.buffer.truncate(3));
        let sealed = run_all(&mut native, jobs(&operations));
        let back: Vec<_> = sealed
            .iter()
            .zip(&operations)
            .filter(|(sealed, _)| sealed.result.is_ok())
            .map(|(sealed, operation)| reversed(&operation.action, &sealed.buffer))
            .collect();
        assert!(at_once(&mut native, &operations, &sealed) > 0);
        same(sealed, run_all(&mut portable, jobs(&operations)), &operations);

        let opened = run_all(&mut native, jobs(&back));
        assert!(opened.iter().all(|done| done.result.is_ok()));
        assert!(at_once(&mut native, &back, &opened) > 0);
        same(opened, run_all(&mut portable, jobs(&back)), &back);

        let forge = |operation: &Operation| {
            let (mut action, mut buffer) = (operation.action.clone(), operation.buffer.clone());
            let place = match &mut action {
                Action::Cipher { .. } => return None,
                Action::Aead { tag, .. } => *tag,
                Action::Mac { tag, .. } | Action::CipherMac { tag, .. } => tag.span(),
            };
            buffer[place.range().start] ^= 0x40;
            Some(Operation { action, buffer })
        };
        let forged: Vec<_> = back.iter().filter_map(forge).collect();
        let refused = run_all(&mut native, jobs(&forged));
        assert!(at_once(&mut native, &forged, &refused) > 0);
        for (done, operation) in refused.iter().zip(&forged) {
            assert_eq!(done.result, Err(ace_engine::EngineError::Mismatch), "{:?}", operation.action);
            if let Action::CipherMac { text, .. } | Action::Aead { text, .. } = &operation.action {
                let (left, came) = (&done.buffer[text.range()], &operation.buffer[text.range()]);
                assert!(
                    left == came || left.iter().all(|byte| *byte == 0),
                    "plaintext that is not authentic"
                );
            }
        }
    }
}
