// SPDX-License-Identifier: Apache-2.0
//! The table of suites: what an SA file may name. A new cipher or hash is one more row.

use ace_engine::algorithm::{AES, DES, MD5, SHA1, TDES};
use ace_engine::{Algorithm, Mode};

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

const fn cbc(
    name: &'static str,
    algorithm: &'static Algorithm,
    key_len: usize,
    block: usize,
    legacy: Option<&'static str>,
) -> CipherSuite {
    CipherSuite {
        name,
        pass: Some((algorithm, Mode::Cbc)),
        key_len,
        nonce_len: 0,
        iv_len: block,
        block,
        legacy,
    }
}

const fn aes_ctr(name: &'static str, key_len: usize) -> CipherSuite {
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

/// Every cipher, in the order of listings. 3DES is `SHOULD NOT` in RFC 8221 and therefore not legacy here.
pub static CIPHERS: &[CipherSuite] = &[
    cbc("aes-128-cbc", &AES, 16, 16, None),
    cbc("aes-192-cbc", &AES, 24, 16, None),
    cbc("aes-256-cbc", &AES, 32, 16, None),
    aes_ctr("aes-128-ctr", 16),
    aes_ctr("aes-192-ctr", 24),
    aes_ctr("aes-256-ctr", 32),
    cbc("3des-cbc", &TDES, 24, 8, None),
    cbc("des-cbc", &DES, 8, 8, Some("RFC 8221, 5: ENCR_DES is MUST NOT")),
    CipherSuite { name: "null", pass: None, key_len: 0, nonce_len: 0, iv_len: 0, block: 1, legacy: None },
];

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
    use ace_engine::Kind;

    use super::*;

    #[test]
    fn rows_agree_with_the_algorithms() {
        for suite in CIPHERS {
            let Some((algorithm, mode)) = suite.pass else { continue };
            let Kind::Cipher { block, keys } = &algorithm.kind else { panic!("{} is no cipher", suite.name) };
            assert!(keys.contains(&suite.key_len), "{}", suite.name);
            match mode {
                Mode::Cbc => assert_eq!((suite.iv_len, suite.block), (*block, *block), "{}", suite.name),
                Mode::Ctr => assert_eq!(suite.nonce_len + suite.iv_len + 4, *block, "{}", suite.name),
                Mode::Ecb => panic!("{}: ECB protects nothing", suite.name),
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
    fn legacy_pairs() {
        let is_legacy = |cipher, auth| {
            let (cipher, auth) = (CipherSuite::by_name(cipher).unwrap(), AuthSuite::by_name(auth).unwrap());
            !legacy_reasons(cipher, auth).is_empty()
        };
        for suite in CIPHERS {
            assert_eq!(is_legacy(suite.name, "hmac-sha1-96"), suite.name == "des-cbc");
            assert!(is_legacy(suite.name, "hmac-md5-96"));
            assert!(is_legacy(suite.name, "none"));
        }
    }
}
