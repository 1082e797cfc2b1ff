// SPDX-License-Identifier: Apache-2.0
//! The table of suites: what an SA file may name. A cipher of the algorithm table is here without another word;
//! a hash is one more row.

use std::sync::LazyLock;

use ace_engine::algorithm::{AES, ALGORITHMS, CAMELLIA, CAST128, DES, IDEA, MD5, SHA1, TDES};
use ace_engine::{Algorithm, Kind, Mode};

/// One cipher in one mode with one key length.
#[derive(Debug)]
pub struct CipherSuite {
    /// As in SA files.
    pub name: &'static str,
    /// `None`: the payload travels in clear (RFC 2410).
    pub pass: Option<(&'static Algorithm, Mode)>,
    /// Bytes of cipher key.
    pub key_len: usize,
    /// Bytes of nonce, which follow the key.
    pub nonce_len: usize,
    /// Bytes of IV in the packet.
    pub iv_len: usize,
    /// The encrypted part is a multiple of so many bytes, and of 4 (RFC 4303, 2.4).
    pub block: usize,
    /// Why this needs `allow_legacy`.
    pub legacy: Option<&'static str>,
}

/// One way to authenticate.
#[derive(Debug)]
pub struct AuthSuite {
    /// As in SA files.
    pub name: &'static str,
    /// The hash of the HMAC; `None`: packets are not authenticated.
    pub hash: Option<&'static Algorithm>,
    /// Bytes of key.
    pub key_len: usize,
    /// Bytes of ICV in the packet.
    pub icv_len: usize,
    /// Why this needs `allow_legacy`.
    pub legacy: Option<&'static str>,
}

/// Ciphers whose place in ESP is written down somewhere, and why those that need it need `allow_legacy`. Every
/// other cipher needs it because nothing defines it for ESP. 3DES is `SHOULD NOT` in RFC 8221 and therefore not
/// legacy here.
static STANDING: &[(&Algorithm, Option<&str>)] = &[
    (&AES, None),
    (&TDES, None),
    (&DES, Some("RFC 8221, 5: ENCR_DES is MUST NOT")),
    (&CAST128, Some("RFC 9395: ENCR_CAST is deprecated")),
    (&IDEA, Some("RFC 9395: ENCR_IDEA is deprecated")),
    (&CAMELLIA, Some("RFC 8221 recommends no ENCR_CAMELLIA_CBC")),
];

const UNDEFINED: &str = "no RFC defines this cipher for ESP";

/// Every cipher, in the order of listings: those of the algorithm table in CBC mode, and what else there is.
pub static CIPHERS: LazyLock<Vec<CipherSuite>> = LazyLock::new(|| {
    let mut suites: Vec<_> = ALGORITHMS.iter().copied().flat_map(cbc).collect();
    let after_aes = suites.iter().filter(|suite| suite.is_of(&AES)).count();
    suites.splice(
        after_aes..after_aes,
        [("aes-128-ctr", 16), ("aes-192-ctr", 24), ("aes-256-ctr", 32)].map(aes_ctr),
    );
    suites.push(CipherSuite {
        name: "null",
        pass: None,
        key_len: 0,
        nonce_len: 0,
        iv_len: 0,
        block: 1,
        legacy: None,
    });
    suites
});

/// CBC with an explicit IV as long as a block (RFC 2451, 3602, 4312). With 64-bit blocks the longest key makes
/// the suite (RFC 2451, 2.1), with 128-bit blocks each of 128, 192 and 256 bits makes one.
fn cbc(algorithm: &'static Algorithm) -> Vec<CipherSuite> {
    let Kind::Cipher { block, keys } = algorithm.kind else { return Vec::new() };
    let keys: Vec<_> = match block {
        8 => keys.iter().max().copied().into_iter().collect(),
        _ => keys.iter().copied().filter(|len| [16, 24, 32].contains(len)).collect(),
    };
    let standing = STANDING.iter().find(|(listed, _)| *listed == algorithm);
    let legacy = standing.map_or(Some(UNDEFINED), |(_, reason)| *reason);
    let name = |key_len: usize| match keys.len() {
        1 => format!("{algorithm}-cbc"),
        _ => format!("{algorithm}-{}-cbc", key_len * 8),
    };
    let suite = |&key_len: &usize| CipherSuite {
        // Made once, for as long as the program runs.
        name: name(key_len).leak(),
        pass: Some((algorithm, Mode::Cbc)),
        key_len,
        nonce_len: 0,
        iv_len: block,
        block,
        legacy,
    };
    keys.iter().map(suite).collect()
}

/// RFC 3686.
fn aes_ctr((name, key_len): (&'static str, usize)) -> CipherSuite {
    CipherSuite {
        name,
        pass: Some((&AES, Mode::Ctr)),
        key_len,
        nonce_len: 4,
        iv_len: 8,
        block: 1,
        legacy: None,
    }
}

/// Every way to authenticate, in the order of listings.
pub static AUTHS: &[AuthSuite] = &[
    AuthSuite { name: "hmac-sha1-96", hash: Some(&SHA1), key_len: 20, icv_len: 12, legacy: None },
    AuthSuite {
        name: "hmac-md5-96",
        hash: Some(&MD5),
        key_len: 16,
        icv_len: 12,
        legacy: Some("RFC 8221, 6: AUTH_HMAC_MD5_96 is MUST NOT"),
    },
    AuthSuite { name: "none", hash: None, key_len: 0, icv_len: 0, legacy: None },
];

impl CipherSuite {
    pub fn by_name(name: &str) -> Option<&'static CipherSuite> {
        CIPHERS.iter().find(|suite| suite.name == name)
    }

    fn is_of(&self, algorithm: &Algorithm) -> bool {
        self.pass.is_some_and(|(of, _)| of == algorithm)
    }

    /// The encrypted part is a multiple of so many bytes.
    pub fn alignment(&self) -> usize {
        self.block.max(4)
    }

    /// Bytes of the SA file's `key`.
    pub fn keymat_len(&self) -> usize {
        self.key_len + self.nonce_len
    }
}

impl AuthSuite {
    pub fn by_name(name: &str) -> Option<&'static AuthSuite> {
        AUTHS.iter().find(|suite| suite.name == name)
    }
}

/// Every reason why this pair needs `allow_legacy`; empty when it does not.
pub fn legacy_reasons(cipher: &CipherSuite, auth: &AuthSuite) -> Vec<&'static str> {
    let mut reasons: Vec<_> = cipher.legacy.into_iter().chain(auth.legacy).collect();
    match (&cipher.pass, auth.hash) {
        (None, None) => reasons.push("RFC 4303, 3.2: cipher and authentication must not both be absent"),
        (Some((_, Mode::Ctr)), None) => {
            reasons.push("RFC 3686, 7: counter mode without authentication is trivially forged");
        }
        (Some(_), None) => reasons.push("RFC 8221, 4: encryption must be authenticated"),
        (_, Some(_)) => {}
    }
    reasons
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_agree_with_the_algorithms() {
        for suite in CIPHERS.iter() {
            let Some((algorithm, mode)) = suite.pass else { continue };
            let Kind::Cipher { block, keys } = &algorithm.kind else { panic!("{} is no cipher", suite.name) };
            assert!(keys.contains(&suite.key_len), "{}", suite.name);
            match mode {
                Mode::Cbc => assert_eq!((suite.iv_len, suite.block), (*block, *block), "{}", suite.name),
                Mode::Ctr => assert_eq!(suite.nonce_len + suite.iv_len + 4, *block, "{}", suite.name),
                Mode::Ecb => panic!("{}: ECB protects nothing", suite.name),
                Mode::Cfb | Mode::Cfb8 | Mode::Ofb => panic!("{}: ESP has CBC and CTR", suite.name),
            }
        }
        for suite in AUTHS {
            let Some(hash) = suite.hash else { continue };
            let Kind::Hash { digest, .. } = hash.kind else { panic!("{} is no hash", suite.name) };
            assert_eq!(suite.key_len, digest, "RFC 2403 and 2404, 3: {}", suite.name);
            assert!(suite.icv_len <= digest);
        }
    }

    #[test]
    fn every_suite_has_its_name_and_place() {
        let names: Vec<_> = CIPHERS.iter().map(|suite| suite.name).collect();
        let expected = "aes-128-cbc aes-192-cbc aes-256-cbc aes-128-ctr aes-192-ctr aes-256-ctr des-cbc 3des-cbc \
            mars-128-cbc mars-192-cbc mars-256-cbc rc6-128-cbc rc6-192-cbc rc6-256-cbc serpent-128-cbc \
            serpent-192-cbc serpent-256-cbc twofish-128-cbc twofish-192-cbc twofish-256-cbc cast128-cbc \
            cast256-128-cbc cast256-192-cbc cast256-256-cbc idea-cbc camellia-128-cbc camellia-192-cbc \
            camellia-256-cbc sm4-cbc magma-cbc gost-a-cbc null";
        assert_eq!(names.join(" "), expected);
    }

    #[test]
    fn legacy_pairs() {
        let is_legacy = |cipher, auth| {
            let (cipher, auth) = (CipherSuite::by_name(cipher).unwrap(), AuthSuite::by_name(auth).unwrap());
            !legacy_reasons(cipher, auth).is_empty()
        };
        for suite in CIPHERS.iter() {
            let current = suite.name.starts_with("aes-") || ["3des-cbc", "null"].contains(&suite.name);
            assert_eq!(is_legacy(suite.name, "hmac-sha1-96"), !current, "{}", suite.name);
            assert!(is_legacy(suite.name, "hmac-md5-96"));
            assert!(is_legacy(suite.name, "none"));
        }
    }
}
