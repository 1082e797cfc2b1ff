// SPDX-License-Identifier: Apache-2.0
//! Suites by name, in any spelling: `AES_128_GCM`, `aes128gcm16`, `ENCR_AES_GCM_16-128` and `aes-128-gcm-16` are one.

use std::collections::HashMap;
use std::sync::LazyLock;

use ace_ipsec::model::{AUTHS, AuthSuite, CIPHERS, CipherSuite};

/// What other programs call them, in plain spelling, and what they are called here.
const ALIASES: &[(&str, &str)] = &[
    ("aes128", "aes-128-cbc"),
    ("aes192", "aes-192-cbc"),
    ("aes256", "aes-256-cbc"),
    ("aes128gcm", "aes-128-gcm-16"),
    ("aes192gcm", "aes-192-gcm-16"),
    ("aes256gcm", "aes-256-gcm-16"),
    ("aes128ccm", "aes-128-ccm-16"),
    ("aes192ccm", "aes-192-ccm-16"),
    ("aes256ccm", "aes-256-ccm-16"),
    ("3des", "3des-cbc"),
    ("des", "des-cbc"),
    ("md5", "hmac-md5-96"),
    ("hmacmd5", "hmac-md5-96"),
    ("sha1", "hmac-sha1-96"),
    ("hmacsha1", "hmac-sha1-96"),
    ("sha256", "hmac-sha256-128"),
    ("hmacsha256", "hmac-sha256-128"),
    ("hmacsha2256128", "hmac-sha256-128"),
    ("sha384", "hmac-sha384-192"),
    ("hmacsha384", "hmac-sha384-192"),
    ("hmacsha2384192", "hmac-sha384-192"),
    ("sha512", "hmac-sha512-256"),
    ("hmacsha512", "hmac-sha512-256"),
    ("hmacsha2512256", "hmac-sha512-256"),
    ("aesxcbc", "aes-xcbc-96"),
    ("aescmac", "aes-cmac-96"),
];

/// Without case, `-`, `_`, `/` and spaces.
fn plain(name: &str) -> String {
    name.chars().filter(|c| !"-_/ ".contains(*c)).map(|c| c.to_ascii_lowercase()).collect()
}

/// Its words and numbers in one order, whatever they are written in: other programs have `AES_CBC_128`.
fn in_parts(name: &str) -> String {
    let mut parts: Vec<String> = Vec::new();
    let mut before = ' ';
    for c in name.chars().map(|c| c.to_ascii_lowercase()) {
        let goes_on = c.is_ascii_digit() == before.is_ascii_digit() && before.is_ascii_alphanumeric();
        match parts.last_mut() {
            Some(part) if goes_on && c.is_ascii_alphanumeric() => part.push(c),
            _ if c.is_ascii_alphanumeric() => parts.push(c.to_string()),
            _ => {}
        }
        before = c;
    }
    parts.sort_unstable();
    parts.join(" ")
}

/// Suites by their spellings: plain ones, and by parts, which have spaces between them.
type Names<T> = HashMap<String, &'static T>;

fn by_name<T>(rows: impl Iterator<Item = (&'static str, &'static T)> + Clone) -> Names<T> {
    let mut found: Names<T> = rows.clone().map(|(name, row)| (plain(name), row)).collect();
    for (alias, name) in ALIASES {
        if let Some(row) = found.get(&plain(name)).copied() {
            found.entry((*alias).to_owned()).or_insert(row);
        }
    }
    found.extend(rows.map(|(name, row)| (in_parts(name), row)));
    found
}

fn find<T>(names: &Names<T>, name: &str) -> Option<&'static T> {
    // As IANA calls them.
    let bare = ["ENCR_", "AUTH_"].iter().find_map(|prefix| name.strip_prefix(prefix)).unwrap_or(name);
    names.get(&plain(bare)).or_else(|| names.get(&in_parts(bare))).copied()
}

/// A cipher.
pub fn cipher(name: &str) -> Option<&'static CipherSuite> {
    static NAMES: LazyLock<Names<CipherSuite>> =
        LazyLock::new(|| by_name(CIPHERS.iter().map(|suite| (suite.name, suite))));
    find(&NAMES, name)
}

/// A way to authenticate.
pub fn auth(name: &str) -> Option<&'static AuthSuite> {
    static NAMES: LazyLock<Names<AuthSuite>> =
        LazyLock::new(|| by_name(AUTHS.iter().map(|suite| (suite.name, suite))));
    find(&NAMES, name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_suite_by_every_spelling() {
        for suite in CIPHERS.iter() {
            for name in
                [suite.name.to_owned(), suite.name.to_uppercase().replace('-', "_"), plain(suite.name)]
            {
                assert_eq!(cipher(&name).map(|found| found.name), Some(suite.name), "{name}");
            }
        }
        for suite in AUTHS {
            for name in
                [suite.name.to_owned(), suite.name.to_uppercase().replace('-', "_"), plain(suite.name)]
            {
                assert_eq!(auth(&name).map(|found| found.name), Some(suite.name), "{name}");
            }
        }
        assert_eq!(cipher("aes128gcm").unwrap().name, "aes-128-gcm-16");
        for (written, name) in [
            ("AES_CBC_128", "aes-128-cbc"),
            ("ENCR_AES_GCM_16-256", "aes-256-gcm-16"),
            ("CAMELLIA_CBC/192", "camellia-192-cbc"),
            ("ENCR_CHACHA20_POLY1305", "chacha20-poly1305"),
            ("cbc 3des", "3des-cbc"),
        ] {
            assert_eq!(cipher(written).map(|found| found.name), Some(name), "{written}");
        }
        assert_eq!(auth("AUTH_HMAC_SHA2_256_128").unwrap().name, "hmac-sha256-128");
        // No two suites are the same in parts.
        let mut parts: Vec<String> = CIPHERS.iter().map(|suite| in_parts(suite.name)).collect();
        parts.sort_unstable();
        parts.dedup();
        assert_eq!(parts.len(), CIPHERS.len());
        assert_eq!(auth("HMAC_SHA2_256_128").unwrap().name, "hmac-sha256-128");
        assert!(cipher("rot13").is_none() && auth("crc32").is_none() && cipher("").is_none());
        for (alias, name) in ALIASES {
            let found = cipher(alias).map(|row| row.name).or(auth(alias).map(|row| row.name));
            assert_eq!(found, Some(*name), "an alias of nothing: {alias}");
        }
    }
}
