// SPDX-License-Identifier: Apache-2.0
//! IVs that a context of AES-GCM counts itself (EVP_CTRL_AEAD_SET_IV_FIXED, EVP_CTRL_GCM_IV_GEN,
//! EVP_CTRL_GCM_SET_IV_INV), as OpenSSH and protocols on OpenSSL use them, and tags of every length.

use std::collections::HashSet;

use crate::common::{Cipher, GET_TAG, IV_GEN, Openssl, SET_IV_FIXED, SET_IV_INV, SET_IV_LEN, SET_TAG};

const LEN_OF_ALL: usize = usize::MAX; // −1 as an int

fn both() -> Option<(Openssl, Openssl)> {
    let (ours, theirs) = (Openssl::load(true)?, Openssl::load(false)?);
    // Without intel-ipsec-mb there are no AEADs.
    let there = ours.cipher("AES-128-GCM").is_some();
    there.then_some((ours, theirs))
}

/// The next message, sealed as OpenSSH does: IV, associated data, text, tag. `last` bytes of the IV are asked for.
fn seal(cipher: &Cipher<'_>, last: usize, text: &[u8]) -> Option<(Vec<u8>, Vec<u8>, [u8; 16])> {
    let mut iv = vec![0; 64];
    let room = &mut iv[..];
    if cipher.control_len(IV_GEN, last, room) != 1 || !cipher.associate(b"len!") {
        return None;
    }
    let sealed = cipher.update(text)?;
    cipher.finish()?;
    let mut tag = [0; 16];
    (cipher.control(GET_TAG, &mut tag) == 1).then_some((iv, sealed, tag))
}

#[test]
fn ivs_are_counted_as_openssl_counts_them() {
    let Some((ours, theirs)) = both() else { return };
    for (name, key_len) in [("AES-128-GCM", 16), ("AES-256-GCM", 32)] {
        let key: Vec<u8> = (0..key_len).collect();
        for iv_len in [12usize, 16, 40] {
            // The count comes round within eight bytes and touches no more.
            let mut iv = vec![7; iv_len];
            iv[iv_len - 8..].fill(0xff);
            iv[iv_len - 1] = 0xfe;
            let sealers = [&ours, &theirs].map(|openssl| openssl.cipher(name).expect(name));
            let opener = ours.cipher(name).expect(name);
            for cipher in sealers.iter().chain([&opener]) {
                let encrypt = !std::ptr::eq(cipher, &raw const opener);
                // As OpenSSH: the IV, all of it fixed, and the key behind.
                assert!(cipher.begin(encrypt, None, None));
                assert_eq!(cipher.control_len(SET_IV_LEN, iv_len, &mut []), 1);
                assert_eq!(cipher.control_len(SET_IV_FIXED, LEN_OF_ALL, &mut iv.clone()), 1, "{name}");
                assert!(cipher.control_len(IV_GEN, 1, &mut [0; 16]) <= 0, "{name}: no key");
                assert!(cipher.begin(encrypt, Some(&key), None));
            }
            for (number, last) in [1usize, 1, 8, 0, 12, 99].into_iter().enumerate() {
                let text = vec![number as u8; 17 * number];
                let [our, their] = [0, 1].map(|at| seal(&sealers[at], last, &text).expect(name));
                assert_eq!(our, their, "{name} {iv_len} {number}");
                let mut told = [0; 40];
                assert_eq!(opener.control_len(IV_GEN, 1, &mut told), 1);
                assert_eq!(opener.control(SET_TAG, &mut our.2.clone()), 1);
                assert!(opener.associate(b"len!"));
                assert_eq!(opener.update(&our.1), Some(text), "{name} {iv_len} {number}");
                assert!(opener.finish().is_some(), "{name} {iv_len} {number}");
            }
        }
    }
}

/// A part that is fixed and a number in the packet.
#[test]
fn a_number_in_the_message_is_the_rest_of_the_iv() {
    let Some((ours, theirs)) = both() else { return };
    let (key, name) = ([9; 16], "AES-128-GCM");
    for (from, to) in [(&ours, &theirs), (&theirs, &ours), (&ours, &ours)] {
        let (sealer, opener) = (from.cipher(name).expect(name), to.cipher(name).expect(name));
        for (cipher, encrypt) in [(&sealer, true), (&opener, false)] {
            assert!(cipher.begin(encrypt, Some(&key), None));
            assert_eq!(cipher.control(SET_IV_FIXED, &mut [1, 2, 3, 4]), 1);
        }
        let mut ivs = HashSet::new();
        for number in 0..20u8 {
            let (iv, sealed, mut tag) = seal(&sealer, 8, &[number; 33]).expect(name);
            assert!(ivs.insert(iv.clone()), "an IV twice");
            assert_eq!(opener.control(SET_IV_INV, &mut iv[..8].to_vec()), 1);
            assert!(opener.associate(b"len!"));
            assert_eq!(opener.update(&sealed), Some(vec![number; 33]));
            assert_eq!(opener.control(SET_TAG, &mut tag), 1);
            assert!(opener.finish().is_some(), "{number}");
        }
        assert!(sealer.control(SET_IV_INV, &mut [0; 8]) <= 0, "only to decrypt");
    }
    // Whatever is called, no message has the IV of another one.
    let cipher = ours.cipher(name).expect(name);
    assert!(cipher.begin(true, Some(&key), None));
    assert_eq!(cipher.control_len(SET_IV_FIXED, LEN_OF_ALL, &mut [5; 12]), 1);
    assert!(cipher.update(&[0; 16]).is_some() && cipher.finish().is_some());
    let first = cipher.update(&[0; 16]);
    assert_eq!(first, None, "the IV was used");
    let (iv, ..) = seal(&cipher, 12, &[0; 16]).expect(name);
    assert_eq!(iv[..12], [5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 6]);
    // Parts that are too short or too long, and nothing that was fixed.
    for len in [1, 3, 5, 11, 13] {
        assert!(cipher.control(SET_IV_FIXED, &mut vec![0; len]) <= 0, "{len}");
    }
    assert_eq!(cipher.control_len(SET_IV_LEN, 4, &mut []), 1);
    assert!(cipher.control_len(SET_IV_FIXED, LEN_OF_ALL, &mut [5; 12]) <= 0, "no place to count");
    assert!(cipher.control_len(IV_GEN, 4, &mut [0; 16]) <= 0, "an IV of another length");
    let fresh = ours.cipher(name).expect(name);
    assert!(fresh.begin(true, Some(&key), Some(&[1; 12])));
    assert!(fresh.control_len(IV_GEN, 12, &mut [0; 16]) <= 0, "nothing was fixed");
}

#[test]
fn tags_have_1_to_16_bytes() {
    let Some((ours, theirs)) = both() else { return };
    for (name, key_len) in [("AES-128-GCM", 16), ("ChaCha20-Poly1305", 32)] {
        let (key, iv) = (vec![4; key_len], [5; 12]);
        for len in 1..=16 {
            let made = [&ours, &theirs].map(|openssl| {
                let cipher = openssl.cipher(name).expect(name);
                assert!(cipher.begin(true, Some(&key), Some(&iv)));
                let sealed = cipher.update(b"text").expect("text");
                assert!(cipher.finish().is_some());
                let mut tag = vec![0; len];
                assert_eq!(cipher.control(GET_TAG, &mut tag), 1, "{name} {len}");
                (sealed, tag)
            });
            assert_eq!(made[0], made[1], "{name} {len}");
            let opener = ours.cipher(name).expect(name);
            for bit in [None, Some(0), Some(8 * len - 1)] {
                let mut tag = made[0].1.clone();
                if let Some(bit) = bit {
                    tag[bit / 8] ^= 1 << (bit % 8);
                }
                assert!(opener.begin(false, Some(&key), Some(&iv)));
                assert_eq!(opener.control(SET_TAG, &mut tag), 1, "{name} {len}");
                assert!(opener.update(&made[0].0).is_some());
                assert_eq!(opener.finish().is_some(), bit.is_none(), "{name} {len} {bit:?}");
            }
        }
    }
}
