// SPDX-License-Identifier: Apache-2.0
//! Every name that OpenSSL's headers have for a parameter or a control is done or refused, as the tables of
//! `ace_provider::names` say.

use std::ffi::{CStr, CString};
use std::fs;

use ace_provider::names::{self, CIPHERS, CONTROLS, DIGESTS, Fate, MACS};

use crate::common::{Cipher, Openssl, Param};

fn c(name: &str) -> &'static CStr {
    Box::leak(CString::new(name).expect("a name").into_boxed_c_str())
}

/// The constants of a header that begin like that, and what they are.
fn defined(header: &str, prefix: &str) -> Vec<(String, String)> {
    let joined = header.replace("\\\n", " ");
    let lines =
        joined.lines().filter_map(|line| line.trim().strip_prefix('#')?.trim().strip_prefix("define "));
    let words = lines.filter_map(|line| line.trim().split_once(char::is_whitespace));
    let named = words
        .filter_map(|(name, value)| Some((name.strip_prefix(prefix)?.to_owned(), value.trim().to_owned())));
    named.collect()
}

#[test]
fn the_tables_have_every_name_of_the_headers() {
    let folder = std::path::Path::new("/usr/include/openssl");
    let Ok(names) = fs::read_to_string(folder.join("core_names.h")) else {
        eprintln!("no headers of OpenSSL on this machine (libssl-dev): nothing was checked");
        return;
    };
    let mut count = 0;
    for (prefix, has) in [
        ("OSSL_CIPHER_PARAM_", (|name| CIPHERS.iter().any(|row| row.name == name)) as fn(&str) -> bool),
        ("OSSL_DIGEST_PARAM_", |name| DIGESTS.iter().any(|row| row.name == name)),
        ("OSSL_MAC_PARAM_", |name| MACS.iter().any(|row| row.name == name)),
    ] {
        for (constant, mut value) in defined(&names, prefix) {
            // Names of other names: `OSSL_ALG_PARAM_DIGEST`.
            for _ in 0..3 {
                let word = value.split_whitespace().next().unwrap_or_default().to_owned();
                if let Some((_, of)) = defined(&names, "").into_iter().find(|(name, _)| *name == word) {
                    value = of;
                }
            }
            let name = value.split('"').nth(1).unwrap_or_else(|| panic!("{prefix}{constant}: {value}"));
            assert!(has(name), "{prefix}{constant} \"{name}\" is in no table");
            count += 1;
        }
    }
    assert!(count > 50, "{count}");
    let evp = fs::read_to_string(folder.join("evp.h")).expect("evp.h");
    for (control, _) in defined(&evp, "EVP_CTRL_") {
        assert!(CONTROLS.iter().any(|(name, _)| *name == control), "EVP_CTRL_{control} is in no table");
    }
    for (control, of) in CONTROLS {
        let known = of.is_empty()
            || CIPHERS.iter().any(|row| row.name == *of)
            || DIGESTS.iter().any(|row| row.name == *of);
        assert!(known, "{control} {of}");
    }
}

#[test]
fn the_documentation_has_the_tables() {
    let documented = include_str!("../../../docs/provider.md");
    assert!(documented.contains(&names::page()), "docs/provider.md has others; they are:\n{}", names::page());
}

/// Values that a parameter may have: numbers that mean something and that mean nothing, bytes, texts.
fn values() -> Vec<(u32, Vec<u8>)> {
    let number = |of: u32| (2, of.to_ne_bytes().to_vec());
    let numbers = [0, 1, 2, 5, 12, 16, 32, 128, 7777, u32::MAX].map(number);
    let sizes = [0, 12, 16, 7777].map(|of: usize| (2, of.to_ne_bytes().to_vec()));
    let signed = [0, 1].map(|of: i32| (1, of.to_ne_bytes().to_vec()));
    let bytes = [1, 4, 8, 12, 13, 16, 64].map(|len| (5, vec![23; len]));
    let texts = ["CS1", "SHA256", "no", "provider=default", "provider=ace", "?fips=yes"]
        .map(|of| (4, of.as_bytes().to_vec()));
    numbers.into_iter().chain(sizes).chain(signed).chain(bytes).chain(texts).collect()
}

/// Which of all values were taken.
fn taken(mut set: impl FnMut(&[Param]) -> bool, name: &'static CStr) -> Vec<(u32, Vec<u8>)> {
    let all = values().into_iter();
    all.filter(|(kind, value)| set(&[Param::new(name, *kind, &mut value.clone()), Param::END])).collect()
}

/// What a table says, and what was seen: whether anything was taken, and whether all that could be.
fn check(what: &str, fate: Fate, taken: &[(u32, Vec<u8>)]) {
    match fate {
        Fate::Refused => assert!(taken.is_empty(), "{what} is refused, and takes {taken:?}"),
        Fate::Done => assert!(!taken.is_empty(), "{what} is done, and takes nothing"),
        Fate::Only(_) => {
            let odd = |(kind, value): &(u32, Vec<u8>)| *kind == 2 && *value == 7777u32.to_ne_bytes();
            assert!(!taken.is_empty(), "{what} takes nothing");
            // A version of TLS may be any; what else is a number is not.
            assert!(what.ends_with("tls-version") || !taken.iter().any(odd), "{what} takes 7777");
        }
    }
}

fn ready<'o>(openssl: &'o Openssl, name: &str, encrypt: bool) -> Option<Cipher<'o>> {
    let cipher = openssl.cipher(name)?;
    let (key, iv) = (
        vec![1; if name.starts_with("ChaCha") { 32 } else { 16 }],
        vec![2; if name.contains("C") && name.ends_with("BC") || name.ends_with("TR") { 16 } else { 12 }],
    );
    assert!(cipher.begin(encrypt, Some(&key), Some(&iv)), "{name}");
    if name.ends_with("GCM") {
        assert_eq!(cipher.control(crate::common::SET_IV_FIXED, &mut [3; 4]), 1);
    }
    Some(cipher)
}

#[test]
fn ciphers_do_or_refuse_every_parameter() {
    let Some(ours) = Openssl::load(true) else { return };
    for (kind, name) in [(0, "AES-128-GCM"), (1, "ChaCha20-Poly1305"), (2, "AES-128-CBC"), (2, "AES-128-CTR")]
    {
        if ours.cipher(name).is_none() {
            assert!(kind < 2 && !cfg!(feature = "ipsec-mb"), "{name}");
            continue;
        }
        let rows = CIPHERS.iter().map(|row| (row.name, row.set[kind], row.get[kind]));
        // And one that no header has.
        for (param, set, get) in rows.chain([("frobnicate", Fate::Refused, Fate::Refused)]) {
            let what = format!("{name}: {param}");
            let given = c(param);
            // Some are for one direction.
            let mut seen = Vec::new();
            for encrypt in [true, false] {
                let set =
                    |params: &[Param]| ready(&ours, name, encrypt).is_some_and(|cipher| cipher.set(params));
                seen.extend(taken(set, given));
            }
            check(&what, set, &seen);
            let mut seen = Vec::new();
            for (kind, mut value) in values() {
                let cipher = ready(&ours, name, true).expect(name);
                // A message that is over, and a header of a record.
                assert!(cipher.update(&[0; 16]).is_some() && cipher.finish().is_some());
                let mut params = [Param::new(given, kind, &mut value), Param::END];
                if cipher.ask(&mut params) {
                    assert!(params[0].answered(), "{what}: asked for, and neither answered nor refused");
                    seen.push((kind, value.clone()));
                }
            }
            match get {
                Fate::Refused => assert!(seen.is_empty(), "{what} is refused, and answers"),
                _ => assert!(!seen.is_empty(), "{what} does not answer"),
            }
        }
    }
}

#[test]
fn controls_are_done_or_refused() {
    let Some(ours) = Openssl::load(true) else { return };
    let Ok(evp) = fs::read_to_string("/usr/include/openssl/evp.h") else { return };
    let refused = |of: &str, kind: usize| {
        let row = CIPHERS.iter().find(|row| row.name == of);
        row.is_none_or(|row| row.set[kind] == Fate::Refused && row.get[kind] == Fate::Refused)
    };
    for (kind, name) in [(0, "AES-128-GCM"), (1, "ChaCha20-Poly1305"), (2, "AES-128-CBC")] {
        for (control, value) in defined(&evp, "EVP_CTRL_") {
            let Some(number) = value.strip_prefix("0x").and_then(|n| i32::from_str_radix(n.trim(), 16).ok())
            else {
                continue;
            };
            let of = CONTROLS.iter().find(|(name, _)| *name == control).map_or("", |(_, of)| of);
            // OpenSSL itself says 1, to whatever cipher.
            if control == "INIT" || !refused(of, kind) {
                continue;
            }
            for len in [0, 1, 8, 16] {
                let Some(cipher) = ready(&ours, name, true) else { continue };
                let answer = cipher.control_len(number, len, &mut [0; 64]);
                assert!(answer <= 0, "{name}: EVP_CTRL_{control} of {len}: {answer}");
            }
        }
    }
}

#[test]
fn digests_and_hmac_do_or_refuse_every_parameter() {
    let Some(ours) = Openssl::load(true) else { return };
    for row in DIGESTS {
        let given = c(row.name);
        for name in [c"MD5", c"SHA1", c"SHA2-256", c"SHA512"] {
            let what = format!("{name:?}: {}", row.name);
            let set = |params: &[Param]| ours.digest_takes(name, params, &mut [Param::END]).0;
            check(&what, row.set, &taken(set, given));
            let mut place = [0; 8];
            let mut asked = [Param::new(given, 2, &mut place), Param::END];
            let told = ours.digest_takes(name, &[Param::END], &mut asked).1 && asked[0].answered();
            assert_eq!(told, row.get == Fate::Done, "{what}");
        }
    }
    // What is not a digest's passes by: signatures hand on what they were given.
    let mut text = *b"pss";
    let foreign = [Param::new(c"pad-mode", 4, &mut text), Param::END];
    assert!(ours.digest_takes(c"SHA2-256", &foreign, &mut [Param::END]).0);
    for row in MACS.iter().map(|row| (row.name, row.set, row.get)).chain([(
        "frobnicate",
        Fate::Refused,
        Fate::Refused,
    )]) {
        let (name, set, get) = row;
        let given = c(name);
        let seen = taken(|params| ours.hmac_takes(params, &mut [Param::END]).0, given);
        check(name, set, &seen);
        if name == "properties" {
            let texts: Vec<_> =
                seen.iter().map(|(_, text)| String::from_utf8_lossy(text).into_owned()).collect();
            assert_eq!(texts, ["provider=ace", "?fips=yes"], "what is not ours is refused");
        }
        let mut place = [0; 8];
        let mut asked = [Param::new(given, 2, &mut place), Param::END];
        let told = ours.hmac_takes(&[Param::END], &mut asked).1 && asked[0].answered();
        assert_eq!(told, get == Fate::Done, "{name}");
    }
}
