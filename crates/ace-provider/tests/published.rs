// SPDX-License-Identifier: Apache-2.0
//! Published answers through OpenSSL's EVP functions, by the engine and by what is handed on: the files of
//! `algorithms/`, each row in one piece, byte by byte, and back. OpenSSL's own `evp_test` has its answers
//! from the same standards.

use crate::common::{Cipher, ENGINE, GET_TAG, HANDED_ON, Openssl, SET_IV_LEN, SET_TAG};

/// The rows of a file: column by name.
fn rows(file: &str) -> Vec<impl Fn(&str) -> String + use<>> {
    let rooms = ace_algorithms::load(&ace_algorithms::folder()).expect("algorithms");
    let mut known = rooms.iter().flat_map(|room| room.known_answers().expect("answers"));
    let (_, path) = known.find(|(name, _)| name == file).expect(file);
    let mut reader = csv::Reader::from_path(&path).expect("a file of answers");
    let names = reader.headers().expect("names of columns").clone();
    let all: Vec<_> = reader
        .records()
        .map(|row| {
            let (row, names) = (row.expect("a row"), names.clone());
            move |name: &str| {
                let at = names.iter().position(|known| known == name).expect(name);
                row.get(at).expect("as many columns as names").to_owned()
            }
        })
        .collect();
    assert!(!all.is_empty(), "{file}");
    all
}

fn bytes(text: &str) -> Vec<u8> {
    hex::decode(text).expect("hexadecimal")
}

/// OpenSSL with our provider and these properties.
fn openssls() -> Vec<(Openssl, &'static str)> {
    let one = |properties, name| {
        let openssl = Openssl::load(true)?;
        openssl.prefer(properties);
        Some((openssl, name))
    };
    [one(ENGINE, "engine"), one(HANDED_ON, "handed on")].into_iter().flatten().collect()
}

fn through(cipher: &Cipher<'_>, text: &[u8], piece: usize) -> Option<Vec<u8>> {
    let mut out = Vec::new();
    for piece in text.chunks(piece) {
        out.extend(cipher.update(piece)?);
    }
    out.extend(cipher.finish()?);
    Some(out)
}

/// Both ways, in one piece and byte by byte.
fn check(openssl: &Openssl, name: &str, key: &[u8], iv: &[u8], plain: &[u8], sealed: &[u8]) -> bool {
    let Some(cipher) = openssl.cipher(name) else { return false };
    for (encrypt, from, to) in [(true, plain, sealed), (false, sealed, plain)] {
        for piece in [from.len().max(1), 1] {
            assert!(cipher.begin(encrypt, Some(key), Some(iv)), "{name}");
            cipher.pad(false);
            assert_eq!(through(&cipher, from, piece).as_deref(), Some(to), "{name} {encrypt} {piece}");
        }
    }
    true
}

#[test]
fn ciphers_have_the_published_answers() {
    for (openssl, by) in openssls() {
        for (file, name) in [
            ("aes", "AES"),
            ("3des", "DES-EDE3"),
            ("cast128", "CAST5"),
            ("idea", "IDEA"),
            ("camellia", "CAMELLIA"),
            ("sm4", "SM4"),
        ] {
            let mut count = 0;
            for row in rows(file) {
                let (mode, key) = (row("mode"), bytes(&row("key_hex")));
                let (plain, sealed) = (bytes(&row("plaintext_hex")), bytes(&row("ciphertext_hex")));
                let sized = if ["AES", "CAMELLIA"].contains(&name) {
                    format!("{name}-{}", key.len() * 8)
                } else {
                    name.to_owned()
                };
                // Of CAST-128 other lengths have to be said first, and of 3DES there is one.
                if [("CAST5", 16), ("DES-EDE3", 24)].iter().any(|(of, len)| *of == name && key.len() != *len)
                {
                    continue;
                }
                count += usize::from(match &*mode {
                    "CBC" | "CTR" => {
                        let name = format!("{sized}-{mode}");
                        check(&openssl, &name, &key, &bytes(&row("iv_hex")), &plain, &sealed)
                    }
                    // A block alone is the first one of CBC behind an IV of zeros.
                    "ECB" => {
                        let block = if ["AES", "CAMELLIA", "SM4"].contains(&name) { 16 } else { 8 };
                        let blocks = plain.chunks(block).zip(sealed.chunks(block));
                        blocks.fold(true, |good, (plain, sealed)| {
                            let (name, iv) = (format!("{sized}-CBC"), vec![0; block]);
                            good & check(&openssl, &name, &key, &iv, plain, sealed)
                        })
                    }
                    _ => false,
                });
            }
            eprintln!("{name}: {count} published answers, {by}");
            // Debian's OpenSSL has no IDEA, and CAST-128 is in a module that may not be installed.
            assert!(count > 1 || by == "handed on" && ["IDEA", "CAST5"].contains(&name), "{name}: {by}");
        }
    }
}

#[test]
fn aeads_have_the_published_answers() {
    for (openssl, by) in openssls() {
        for (file, name) in [("aes_gcm", "AES"), ("chacha20poly1305", "ChaCha20-Poly1305")] {
            for row in rows(file) {
                let column = |name: &str| bytes(&row(&format!("{name}_hex")));
                let (key, iv, mut tag) = (column("key"), column("iv"), column("tag"));
                let sized =
                    if name == "AES" { format!("AES-{}-GCM", key.len() * 8) } else { name.to_owned() };
                let Some(cipher) = openssl.cipher(&sized) else {
                    // The engine has AEADs with intel-ipsec-mb alone; of AES-GCM nothing is handed on.
                    assert!(
                        !cfg!(feature = "ipsec-mb") || (by, name) == ("handed on", "AES"),
                        "{sized}: {by}"
                    );
                    continue;
                };
                let (aad, plain, sealed) = (column("aad"), column("plaintext"), column("ciphertext"));
                let valid = row("result") == "valid";
                let begin = |encrypt| {
                    cipher.begin(encrypt, None, None)
                        && cipher.control_len(SET_IV_LEN, iv.len(), &mut []) == 1
                        && cipher.begin(encrypt, Some(&key), Some(&iv))
                        && (aad.is_empty() || cipher.associate(&aad))
                };
                for piece in [plain.len().max(1), 1] {
                    if valid {
                        assert!(begin(true), "{}", row("source"));
                        assert_eq!(
                            through(&cipher, &plain, piece).as_ref(),
                            Some(&sealed),
                            "{}",
                            row("source")
                        );
                        let mut made = vec![0; tag.len()];
                        assert_eq!(cipher.control(GET_TAG, &mut made), 1);
                        assert_eq!(made, tag, "{}", row("source"));
                    }
                    let opened = (begin(false) && cipher.control(SET_TAG, &mut tag) == 1)
                        .then(|| through(&cipher, &sealed, piece))
                        .flatten();
                    assert_eq!(opened, valid.then(|| plain.clone()), "{}", row("source"));
                }
            }
        }
    }
}

#[test]
fn digests_and_hmac_have_the_published_answers() {
    for (openssl, _) in openssls() {
        for name in ["md5", "sha1", "sha224", "sha256", "sha384", "sha512"] {
            for row in rows(name) {
                let (text, wanted) = (bytes(&row("message_hex")), bytes(&row("digest_hex")));
                let single: Vec<&[u8]> = text.chunks(1).collect();
                for pieces in [&[&text[..]][..], &single] {
                    assert_eq!(openssl.digest(name, pieces).as_ref(), Some(&wanted), "{}", row("source"));
                }
            }
            for row in rows(&format!("hmac_{name}")) {
                let (key, text) = (bytes(&row("key_hex")), bytes(&row("message_hex")));
                let made = openssl.hmac(name, &key, &[&text]).expect(name);
                // Some are published cut short.
                let wanted = bytes(&row("digest_hex"));
                assert_eq!(made.get(..wanted.len()), Some(&wanted[..]), "{}", row("source"));
            }
        }
    }
}
