// SPDX-License-Identifier: Apache-2.0
//! Suites by name, in any spelling: `AES_128_GCM`, `aes128gcm16`, `ENCR_AES_GCM_16-128` and `aes-128-gcm-16` are one.

use std::collections::HashMap;
use std::sync::LazyLock;

use ace_ipsec::model::{AUTHS, AuthSuite, CIPHERS, CipherSuite, ForeignNames};

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

fn by_name<T>(rows: impl Iterator<Item = (&'static str, ForeignNames, &'static T)> + Clone) -> Names<T> {
    let mut found: Names<T> = rows.clone().map(|(name, _, row)| (plain(name), row)).collect();
    for (_, names, row) in rows.clone() {
        for alias in names.aliases {
            found.entry((*alias).to_owned()).or_insert(row);
        }
        // IANA has one name for every length of a key.
        let same = |other: &ForeignNames| other.iana == names.iana;
        if let Some(iana) =
            names.iana.filter(|_| rows.clone().filter(|(_, other, _)| same(other)).count() == 1)
        {
            found.entry(plain(bare(iana))).or_insert(row);
        }
    }
    found.extend(rows.map(|(name, _, row)| (in_parts(name), row)));
    found
}

fn find<T>(names: &Names<T>, name: &str) -> Option<&'static T> {
    names.get(&plain(bare(name))).or_else(|| names.get(&in_parts(bare(name)))).copied()
}

/// What IANA calls a transform, without the word for its kind.
fn bare(name: &str) -> &str {
    ["ENCR_", "AUTH_"].iter().find_map(|prefix| name.strip_prefix(prefix)).unwrap_or(name)
}

/// A cipher.
pub fn cipher(name: &str) -> Option<&'static CipherSuite> {
    static NAMES: LazyLock<Names<CipherSuite>> =
        LazyLock::new(|| by_name(CIPHERS.iter().map(|suite| (suite.name, suite.names, suite))));
    find(&NAMES, name)
}

/// A way to authenticate.
pub fn auth(name: &str) -> Option<&'static AuthSuite> {
    static NAMES: LazyLock<Names<AuthSuite>> =
        LazyLock::new(|| by_name(AUTHS.iter().map(|suite| (suite.name, suite.names, suite))));
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
        for suite in AUTHS.iter() {
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
        let ciphers = CIPHERS.iter().map(|suite| (suite.name, suite.names));
        for (name, names) in ciphers.chain(AUTHS.iter().map(|suite| (suite.name, suite.names))) {
            for written in names.aliases.iter().copied().chain(names.iana.filter(|iana| *iana != "NONE")) {
                let found = cipher(written).map(|row| row.name).or(auth(written).map(|row| row.name));
                let lengths = written.contains("AES") || written.contains("CAMELLIA");
                assert!(
                    found == Some(name) || found.is_none() && lengths,
                    "{written}: {found:?}, {name} wanted"
                );
            }
        }
    }
}
