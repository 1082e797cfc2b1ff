// SPDX-License-Identifier: Apache-2.0
//! The provider beside OpenSSL's own, through OpenSSL: the same answers for random lengths, cut anywhere, and refusals
//! for what does not fit.

use crate::common::{Cipher, GET_TAG, HANDED_ON, Openssl, Param, SET_IV_FIXED, SET_IV_LEN, SET_TAG, TLS_AAD};
use rand::{Rng, RngExt, SeedableRng};
use rand_chacha::ChaCha20Rng;

/// OpenSSL's name, bytes of key and of IV.
const CIPHERS: [(&str, usize, usize); 13] = [
    ("AES-128-CBC", 16, 16),
    ("AES-192-CBC", 24, 16),
    ("AES-256-CBC", 32, 16),
    ("AES-128-CTR", 16, 16),
    ("AES-192-CTR", 24, 16),
    ("AES-256-CTR", 32, 16),
    ("DES-EDE3-CBC", 24, 8),
    ("CAST5-CBC", 16, 8),
    ("IDEA-CBC", 16, 8),
    ("CAMELLIA-128-CBC", 16, 16),
    ("CAMELLIA-192-CBC", 24, 16),
    ("CAMELLIA-256-CBC", 32, 16),
    ("SM4-CBC", 16, 16),
];

const AEADS: [(&str, usize); 4] =
    [("AES-128-GCM", 16), ("AES-192-GCM", 24), ("AES-256-GCM", 32), ("ChaCha20-Poly1305", 32)];

const DIGESTS: [&str; 6] = ["MD5", "SHA1", "SHA224", "SHA2-256", "SHA384", "SHA512"];

fn both() -> Option<(Openssl, Openssl)> {
    Some((Openssl::load(true)?, Openssl::load(false)?))
}

fn bytes(random: &mut ChaCha20Rng, len: usize) -> Vec<u8> {
    let mut bytes = vec![0; len];
    random.fill_bytes(&mut bytes);
    bytes
}

/// Short, long, and around the borders of blocks.
fn length(random: &mut ChaCha20Rng) -> usize {
    match random.random_range(0..4) {
        0 => random.random_range(0..70),
        1 => random.random_range(0..20) * 16,
        2 => random.random_range(0..3000),
        _ => random.random_range(0..40_000),
    }
}

fn cut<'a>(random: &mut ChaCha20Rng, mut text: &'a [u8]) -> Vec<&'a [u8]> {
    let mut pieces = Vec::new();
    let longest = [3, 40, 700, 50_000][random.random_range(0..4)];
    while !text.is_empty() {
        let (piece, rest) = text.split_at(random.random_range(0..=longest.min(text.len())));
        pieces.push(piece);
        text = rest;
    }
    pieces
}

/// What comes out of each call, and of the last one.
fn run(cipher: &mut Cipher<'_>, pieces: &[&[u8]], copy_at: usize) -> (Vec<Vec<u8>>, Option<Vec<u8>>) {
    let mut answers = Vec::new();
    for (at, piece) in pieces.iter().enumerate() {
        if at == copy_at {
            cipher.move_to_copy();
        }
        answers.push(cipher.update(piece).expect("a piece"));
    }
    (answers, cipher.finish())
}

#[test]
fn ciphers_answer_as_openssls_own() {
    let Some((ours, theirs)) = both() else { return };
    let mut random = ChaCha20Rng::seed_from_u64(1);
    for (name, key_len, iv_len) in CIPHERS {
        let mut our = ours.cipher(name).expect(name);
        // Debian's OpenSSL has no IDEA.
        let mut their = theirs.cipher(name);
        for round in 0..60 {
            let (key, mut iv) = (bytes(&mut random, key_len), bytes(&mut random, iv_len));
            if round % 8 == 0 {
                // Counters that come round.
                let ones = random.random_range(0..=iv_len);
                iv[iv_len - ones..].fill(0xff);
            }
            let text_len = length(&mut random);
            let mut text = bytes(&mut random, text_len);
            let pad = random.random::<bool>();
            let is_stream = name.ends_with("CTR");
            if !pad && !is_stream && random.random_range(0..8) != 0 {
                text.truncate(text.len() / iv_len * iv_len);
            }
            let copy_at = random.random_range(0..6);
            let pieces = cut(&mut random, &text);
            let encrypt = |cipher: &mut Cipher<'_>| {
                assert!(cipher.begin(true, Some(&key), Some(&iv)), "{name}");
                cipher.pad(pad);
                run(cipher, &pieces, copy_at)
            };
            let made = encrypt(&mut our);
            if let Some(their) = &mut their {
                assert_eq!(made, encrypt(their), "{name} {} {pad}", text.len());
            }
            let (made, Some(last)) = made else { continue };
            let sealed = [made.concat(), last].concat();
            let pieces = cut(&mut random, &sealed);
            let decrypt = |cipher: &mut Cipher<'_>| {
                // The key stays.
                assert!(cipher.begin(false, None, Some(&iv)), "{name}");
                cipher.pad(pad);
                run(cipher, &pieces, copy_at)
            };
            // OpenSSL keeps AES's schedule of one direction: it has to have the key again.
            let (opened, last) = {
                assert!(our.begin(false, Some(&key), Some(&iv)));
                decrypt(&mut our)
            };
            assert_eq!([opened.concat(), last.clone().expect(name)].concat(), text, "{name}");
            if let Some(their) = &mut their {
                assert!(their.begin(false, Some(&key), Some(&iv)));
                assert_eq!((opened, last), decrypt(their), "{name}");
            }
        }
    }
}

#[test]
fn a_message_is_sealed_in_its_own_place() {
    let Some((ours, theirs)) = both() else { return };
    let mut random = ChaCha20Rng::seed_from_u64(2);
    for (name, key_len, iv_len) in CIPHERS {
        let (key, iv) = (bytes(&mut random, key_len), bytes(&mut random, iv_len));
        let mut text = bytes(&mut random, 16 * 1000);
        let plain = text.clone();
        let our = ours.cipher(name).expect(name);
        assert!(our.begin(true, Some(&key), Some(&iv)));
        our.pad(false);
        assert_eq!(our.update_in_place(&mut text), Some(plain.len()));
        if let Some(their) = theirs.cipher(name) {
            assert!(their.begin(true, Some(&key), Some(&iv)));
            their.pad(false);
            assert_eq!(their.update(&plain).as_ref(), Some(&text), "{name}");
        }
        assert!(our.begin(false, None, None));
        our.pad(false);
        assert_eq!(our.update_in_place(&mut text), Some(plain.len()));
        assert_eq!(text, plain, "{name}");
    }
}

#[test]
fn cast_takes_keys_of_every_length() {
    let Some((ours, theirs)) = both() else { return };
    let mut random = ChaCha20Rng::seed_from_u64(3);
    let Some(their) = theirs.cipher("CAST5-CBC") else { return };
    let our = ours.cipher("CAST5-CBC").expect("CAST5-CBC");
    for len in 5..=16usize {
        let (key, text) = (bytes(&mut random, len), bytes(&mut random, 80));
        let mut keylen = len.to_ne_bytes();
        let sealed = [&our, &their].map(|cipher| {
            assert!(cipher.begin_with(
                true,
                None,
                None,
                &[Param::new(c"keylen", 2, &mut keylen), Param::END]
            ));
            assert!(cipher.begin(true, Some(&key), Some(&[7; 8])));
            (cipher.update(&text), cipher.finish())
        });
        assert_eq!(sealed[0], sealed[1], "{len}");
    }
    for len in [0, 4, 17, 1 << 40] {
        assert!(!our.set(&[Param::new(c"keylen", 2, &mut usize::to_ne_bytes(len)), Param::END]), "{len}");
    }
}

/// What the engine refuses, OpenSSL's own takes: so it is that which answers whoever does not ask for the engine.
#[test]
fn openssls_own_is_handed_on_where_it_is_faster() {
    let Some((ours, theirs)) = both() else { return };
    let takes_tls = |openssl: &Openssl, name: &str| {
        let cipher = openssl.cipher(name).expect(name);
        assert!(cipher.begin(true, None, None));
        let mut version = 0x0303u32.to_ne_bytes();
        cipher.set(&[Param::new(c"tls-version", 2, &mut version), Param::END])
    };
    assert!(!takes_tls(&ours, "AES-128-CBC") && takes_tls(&theirs, "AES-128-CBC"));
    assert!(ours.hmac("SHA3-256", &[1; 16], &[b"text"]).is_none());
    ours.prefer(c"provider=ace");
    assert!(takes_tls(&ours, "AES-128-CBC"));
    let mac = ours.hmac("SHA3-256", &[1; 16], &[b"text"]);
    assert!(mac.is_some() && mac == theirs.hmac("SHA3-256", &[1; 16], &[b"text"]));
    // Nothing is handed on of what the engine is faster with.
    ours.prefer(HANDED_ON);
    assert!(ours.cipher("AES-128-CBC").is_some() && ours.cipher("AES-128-GCM").is_none());
    // Contexts of one library go with it, and another one begins anew.
    drop((ours, theirs));
    let Some(again) = Openssl::load(true) else { return };
    again.prefer(c"provider=ace");
    assert!(takes_tls(&again, "CAMELLIA-128-CBC"));
}

fn aeads(ours: &Openssl) -> Vec<(&'static str, usize)> {
    // Without intel-ipsec-mb there are none.
    let there: Vec<_> = AEADS.into_iter().filter(|(name, _)| ours.cipher(name).is_some()).collect();
    assert!(there.len() == AEADS.len() || !cfg!(feature = "ipsec-mb"), "{there:?}");
    there
}

#[test]
fn aeads_answer_as_openssls_own_and_refuse_another_tag() {
    let Some((ours, theirs)) = both() else { return };
    let mut random = ChaCha20Rng::seed_from_u64(4);
    for (name, key_len) in aeads(&ours) {
        let (mut our, mut their) = (ours.cipher(name).expect(name), theirs.cipher(name).expect(name));
        for round in 0..60 {
            let is_gcm = name.ends_with("GCM");
            let iv_len = if is_gcm && round % 3 == 0 { random.random_range(1..=16) } else { 12 };
            let tag_len = if is_gcm && round % 4 == 0 { random.random_range(4..=16) } else { 16 };
            let (key, iv) = (bytes(&mut random, key_len), bytes(&mut random, iv_len));
            let (aad_len, text_len) = (random.random_range(0..300), length(&mut random));
            let (aad, text) = (bytes(&mut random, aad_len), bytes(&mut random, text_len));
            let (aad, pieces) = (cut(&mut random, &aad), cut(&mut random, &text));
            let copy_at = random.random_range(0..6);
            let begin = |cipher: &Cipher<'_>, encrypt| {
                assert!(cipher.begin(encrypt, None, None));
                assert_eq!(cipher.control_len(SET_IV_LEN, iv_len, &mut []), 1);
                assert!(cipher.begin(encrypt, Some(&key), Some(&iv)), "{name}");
                assert!(aad.iter().all(|piece| cipher.associate(piece)));
            };
            let seal = |cipher: &mut Cipher<'_>| {
                begin(cipher, true);
                let (made, last) = run(cipher, &pieces, copy_at);
                assert_eq!(last, Some(vec![]));
                let mut tag = vec![0; tag_len];
                assert_eq!(cipher.control(GET_TAG, &mut tag), 1);
                (made, tag)
            };
            let (made, tag) = seal(&mut our);
            assert_eq!((&made, &tag), (&seal(&mut their).0, &seal(&mut their).1), "{name} {text_len}");
            let sealed = made.concat();
            let pieces = cut(&mut random, &sealed);
            let mut open = |tag: &mut [u8]| {
                begin(&our, false);
                assert_eq!(our.control(SET_TAG, tag), 1);
                let (opened, last) = run(&mut our, &pieces, copy_at);
                last.map(|_| opened.concat())
            };
            let mut wrong = tag.clone();
            let bit = random.random_range(0..tag_len * 8);
            wrong[bit / 8] ^= 1 << (bit % 8);
            assert_eq!(open(&mut wrong), None, "{name}: another tag");
            assert_eq!(open(&mut tag.clone()), Some(text), "{name}");
        }
    }
}

/// Records of TLS 1.2: what one seals the other opens.
#[test]
fn records_of_tls_go_both_ways() {
    let Some((ours, theirs)) = both() else { return };
    let mut random = ChaCha20Rng::seed_from_u64(5);
    for (name, key_len) in aeads(&ours) {
        let explicit = if name.ends_with("GCM") { 8 } else { 0 };
        let key = bytes(&mut random, key_len);
        let fixed = bytes(&mut random, if explicit == 8 { 4 } else { 12 });
        for (from, to) in [(&ours, &theirs), (&theirs, &ours), (&ours, &ours)] {
            let (sealer, opener) = (from.cipher(name).expect(name), to.cipher(name).expect(name));
            for (cipher, encrypt) in [(&sealer, true), (&opener, false)] {
                // As libssl: what ChaCha20 counts from is its IV.
                if explicit == 0 {
                    assert!(cipher.begin(encrypt, Some(&key), Some(&fixed)));
                    continue;
                }
                assert!(cipher.begin(encrypt, Some(&key), None));
                assert_eq!(cipher.control(SET_IV_FIXED, &mut fixed.clone()), 1, "{name}");
            }
            for number in 0..20u64 {
                let text_len = random.random_range(0..3000);
                let text = bytes(&mut random, text_len);
                let header = |len: usize| {
                    let len = (len as u16).to_be_bytes();
                    [&number.to_be_bytes()[..], &[23, 3, 3], &len].concat()
                };
                let mut record = [&vec![0; explicit], &text[..], &[0; 16]].concat();
                let mut aad = header(explicit + text_len);
                assert_eq!(sealer.control(TLS_AAD, &mut aad), 16, "{name}");
                assert_eq!(sealer.update_in_place(&mut record), Some(record.len()));
                let mut forged = record.clone();
                let mut aad = header(record.len());
                assert_eq!(opener.control(TLS_AAD, &mut aad.clone()), 16);
                assert_eq!(opener.update_in_place(&mut record), Some(text_len), "{name} {number}");
                assert_eq!(record[explicit..explicit + text_len], text);
                // What is forged leaves no text behind.
                let bit = random.random_range(explicit * 8..forged.len() * 8);
                forged[bit / 8] ^= 1 << (bit % 8);
                assert_eq!(opener.control(TLS_AAD, &mut aad), 16);
                assert_eq!(opener.update_in_place(&mut forged), None);
                assert!(text_len < 16 || forged[explicit..explicit + text_len] != text);
            }
            for len in [0, 7, 23] {
                let mut short = vec![0; 11];
                short.extend_from_slice(&u16::to_be_bytes(len));
                assert!(explicit == 0 || opener.control(TLS_AAD, &mut short) <= 0, "{len}");
            }
            assert!(opener.control(TLS_AAD, &mut [0; 12]) <= 0);
        }
    }
}

#[test]
fn digests_and_hmac_answer_as_openssls_own() {
    let Some((ours, theirs)) = both() else { return };
    let mut random = ChaCha20Rng::seed_from_u64(6);
    for name in DIGESTS {
        for _ in 0..60 {
            let (text_len, key_len) = (length(&mut random), random.random_range(1..300));
            let (text, key) = (bytes(&mut random, text_len), bytes(&mut random, key_len));
            let pieces = cut(&mut random, &text);
            let digest = ours.digest(name, &pieces);
            assert!(digest.is_some(), "{name}");
            assert_eq!(digest, theirs.digest(name, &pieces), "{name}");
            let mac = ours.hmac(name, &key, &pieces);
            assert!(mac.is_some(), "{name}");
            assert_eq!(mac, theirs.hmac(name, &key, &pieces), "{name}");
        }
    }
    // Another one's digest is no reason to compute something.
    assert_eq!(ours.hmac("SHA3-256", &[1; 16], &[b"text"]), None);
    assert_eq!(ours.hmac("AES", &[1; 16], &[b"text"]), None);
}

#[test]
fn what_does_not_fit_is_refused() {
    let Some(ours) = Openssl::load(true) else { return };
    for (name, key_len, iv_len) in CIPHERS {
        let cipher = ours.cipher(name).expect(name);
        assert!(cipher.begin(true, None, Some(&vec![0; iv_len])));
        assert_eq!(cipher.update(&[0; 64]), None, "{name}: no key");
        assert_eq!(cipher.finish(), None, "{name}: no key");
        for (key, kind, len) in [(c"keylen", 2, 3), (c"keylen", 5, 8), (c"keylen", 1, 8), (c"padding", 2, 3)]
        {
            let mut value = vec![0xff; len];
            assert!(
                !cipher.set(&[Param::new(key, kind, &mut value), Param::END]),
                "{name} {key:?} {kind} {len}"
            );
        }
        // A length that is not that of the row; CAST-128 has several.
        let other = (key_len + 1).to_ne_bytes();
        assert!(!cipher.set(&[Param::new(c"keylen", 2, &mut other.clone()), Param::END]), "{name}");
        if name.ends_with("CBC") {
            let mut version = 0x0303u32.to_ne_bytes();
            assert!(!cipher.set(&[Param::new(c"tls-version", 2, &mut version), Param::END]), "{name}: TLS");
            // Not whole blocks, and padding that is none.
            assert!(cipher.begin(false, Some(&vec![5; key_len]), None));
            assert!(cipher.update(&[9; 21]).is_some());
            assert_eq!(cipher.finish(), None, "{name}");
            assert!(cipher.begin(false, None, None));
            assert!(cipher.update(&[9; 48]).is_some());
            assert_eq!(cipher.finish(), None, "{name}");
        }
    }
    for (name, key_len) in aeads(&ours) {
        let cipher = ours.cipher(name).expect(name);
        assert!(cipher.begin(false, None, None));
        for len in [0, 17, 1 << 20] {
            let mut tag = vec![0; len];
            assert!(!cipher.set(&[Param::new(c"tag", 5, &mut tag), Param::END]), "{name} {len}");
        }
        for len in [0, 129, 1 << 30] {
            assert!(cipher.control_len(SET_IV_LEN, len, &mut []) <= 0, "{name} {len}");
        }
        let key = vec![3; key_len];
        assert!(cipher.begin(false, Some(&key), None));
        assert_eq!(cipher.update(b"text"), None, "{name}: no IV");
        assert!(cipher.begin(false, None, Some(&[0; 12])));
        assert!(cipher.update(b"text").is_some());
        assert!(!cipher.associate(b"late"), "{name}");
        assert_eq!(cipher.finish(), None, "{name}: no tag");
        assert!(cipher.begin(true, None, Some(&[0; 12])));
        let mut tag = [0; 16];
        assert!(cipher.control(GET_TAG, &mut tag) <= 0, "{name}: not at the end");
        assert!(cipher.update(b"text").is_some() && cipher.finish().is_some());
        assert_eq!(cipher.control(GET_TAG, &mut tag), 1);
        // One IV is for one message.
        assert_eq!(cipher.update(b"text"), None, "{name}: an IV again");
        assert_eq!(cipher.finish(), None, "{name}");
    }
}

/// Looks for a key in everything that this process can write, without having it in one piece itself.
#[cfg(target_os = "linux")]
fn found(masked: &[u8]) -> usize {
    let maps = std::fs::read_to_string("/proc/self/maps").expect("Linux");
    let memory = std::fs::File::open("/proc/self/mem").expect("Linux");
    let mut count = 0;
    for line in maps.lines().filter(|line| line.contains(" rw") && !line.contains("[v")) {
        let (from, to) = line.split_once(' ').and_then(|(range, _)| range.split_once('-')).expect("a range");
        let [from, to] = [from, to].map(|text| u64::from_str_radix(text, 16).expect("a number"));
        let mut page = vec![0; 1 << 16];
        for at in (from..to).step_by(1 << 15) {
            let len = (to - at).min(1 << 16) as usize;
            if std::os::unix::fs::FileExt::read_exact_at(&memory, &mut page[..len], at).is_err() {
                break;
            }
            let is_it = |part: &[u8]| part.iter().zip(masked).all(|(byte, masked)| byte ^ 0x5a == *masked);
            count += page[..len].windows(masked.len()).filter(|part| is_it(part)).count();
            // Not to be found in this copy.
            page.fill(0);
        }
    }
    count
}

#[cfg(target_os = "linux")]
#[test]
fn no_key_is_left_behind() {
    let Some(ours) = Openssl::load(true) else { return };
    let mut random = ChaCha20Rng::seed_from_u64(7);
    for name in ["AES-128-CBC", "AES-128-CTR", "AES-128-GCM", "SM4-CBC", "CAMELLIA-128-CBC", "IDEA-CBC"] {
        let Some(cipher) = ours.cipher(name) else { continue };
        let masked = bytes(&mut random, 16);
        let mut key: Vec<u8> = masked.iter().map(|byte| byte ^ 0x5a).collect();
        assert!(cipher.begin(true, Some(&key), Some(&[1; 16])));
        for byte in &mut key {
            *byte = std::hint::black_box(0);
        }
        assert!(cipher.update(&[0; 1000]).is_some());
        assert!(found(&masked) > 0, "{name}: the search finds keys that are in use");
        drop(cipher);
        assert_eq!(found(&masked), 0, "{name}");
    }
}
