// SPDX-License-Identifier: Apache-2.0
//! The table of suites. A cipher of the algorithm table is here without another word; a combined mode or a MAC is
//! one more row.

use std::sync::LazyLock;

use ace_engine::algorithm::{
    AES, ALGORITHMS, CAMELLIA, CAST128, DES, IDEA, MD5, SHA1, SHA256, SHA384, SHA512, TDES,
};
use ace_engine::{Aead, Algorithm, Kind, Mac, Mode};

/// What encrypts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CipherKind {
    /// The payload travels in clear (RFC 2410).
    Null,
    Block(&'static Algorithm, Mode),
    /// Encryption and authentication in one (RFC 4303, 3.2).
    Aead(Aead),
    /// AES-GMAC: authentication only, by the rules of a combined mode (RFC 4543).
    Gmac,
}

/// Where the bytes of an IV come from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum IvKind {
    None,
    /// Unpredictable, in the packet.
    Random,
    /// Never the same twice under a key, in the packet.
    Counter,
    /// The sequence number; not in the packet (RFC 8750).
    Implicit,
}

/// One cipher in one mode with one key length.
#[derive(Debug)]
pub struct CipherSuite {
    /// As in SA files.
    pub name: &'static str,
    pub kind: CipherKind,
    /// Bytes of cipher key.
    pub key_len: usize,
    /// Bytes of nonce, which follow the key.
    pub nonce_len: usize,
    pub iv: IvKind,
    /// Bytes of IV in the packet.
    pub iv_len: usize,
    /// The encrypted part is a multiple of so many bytes, and of 4 (RFC 4303, 2.4).
    pub block: usize,
    /// Bytes of ICV of a combined mode, else 0.
    pub icv_len: usize,
    /// Why this needs `allow_legacy`.
    pub legacy: Option<&'static str>,
}

/// One way to authenticate.
#[derive(Debug)]
pub struct AuthSuite {
    /// As in SA files.
    pub name: &'static str,
    /// `None`: packets are not authenticated, or by the cipher's combined mode.
    pub mac: Option<Mac>,
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
    (&CAMELLIA, Some("RFC 8221 recommends no ENCR_CAMELLIA")),
];

const UNDEFINED: &str = "no RFC defines this cipher for ESP";

/// Every cipher, in the order of listings: those of the algorithm table in CBC mode, and what else there is.
pub static CIPHERS: LazyLock<Vec<CipherSuite>> = LazyLock::new(|| {
    let mut suites: Vec<_> = ALGORITHMS.iter().copied().flat_map(cbc).collect();
    for algorithm in [&AES, &CAMELLIA] {
        let behind = suites.iter().rposition(|suite| suite.is_of(algorithm)).map_or(0, |at| at + 1);
        suites.splice(behind..behind, [16, 24, 32].map(|key_len| ctr(algorithm, key_len)));
    }
    suites.extend(combined());
    suites.push(CipherSuite {
        name: "null",
        kind: CipherKind::Null,
        key_len: 0,
        nonce_len: 0,
        iv: IvKind::None,
        iv_len: 0,
        block: 1,
        icv_len: 0,
        legacy: None,
    });
    suites
});

fn standing(algorithm: &Algorithm) -> Option<&'static str> {
    let row = STANDING.iter().find(|(listed, _)| *listed == algorithm);
    row.map_or(Some(UNDEFINED), |(_, reason)| *reason)
}

/// CBC with an explicit IV as long as a block (RFC 2451, 3602, 4312). With 64-bit blocks the longest key makes
/// the suite (RFC 2451, 2.1), with 128-bit blocks each of 128, 192 and 256 bits makes one.
fn cbc(algorithm: &'static Algorithm) -> Vec<CipherSuite> {
    let Kind::Cipher { block, keys } = algorithm.kind else { return Vec::new() };
    let keys: Vec<_> = match block {
        8 => keys.iter().max().copied().into_iter().collect(),
        _ => keys.iter().copied().filter(|len| [16, 24, 32].contains(len)).collect(),
    };
    let name = |key_len: usize| match keys.len() {
        1 => format!("{algorithm}-cbc"),
        _ => format!("{algorithm}-{}-cbc", key_len * 8),
    };
    let suite = |&key_len: &usize| CipherSuite {
        // Made once, for as long as the program runs.
        name: name(key_len).leak(),
        kind: CipherKind::Block(algorithm, Mode::Cbc),
        key_len,
        nonce_len: 0,
        iv: IvKind::Random,
        iv_len: block,
        block,
        icv_len: 0,
        legacy: standing(algorithm),
    };
    keys.iter().map(suite).collect()
}

/// RFC 3686, 5529.
fn ctr(algorithm: &'static Algorithm, key_len: usize) -> CipherSuite {
    CipherSuite {
        name: format!("{algorithm}-{}-ctr", key_len * 8).leak(),
        kind: CipherKind::Block(algorithm, Mode::Ctr),
        key_len,
        nonce_len: 4,
        iv: IvKind::Counter,
        iv_len: 8,
        block: 1,
        icv_len: 0,
        legacy: standing(algorithm),
    }
}

/// RFC 4106, 4309, 4543, 7634, 8750.
fn combined() -> Vec<CipherSuite> {
    let suite = |name: String, kind, key_len, nonce_len, icv_len, iv| CipherSuite {
        name: name.leak(),
        kind,
        key_len,
        nonce_len,
        iv,
        iv_len: if iv == IvKind::Implicit { 0 } else { 8 },
        block: 1,
        icv_len,
        legacy: None,
    };
    let aes = |mode: &str, kind, nonce_len, icvs: &[usize], implicit: usize| -> Vec<CipherSuite> {
        let each = |&icv_len: &usize| {
            [16, 24, 32].into_iter().flat_map(move |key_len| {
                let name = format!("aes-{}-{mode}-{icv_len}", key_len * 8);
                let explicit = (name.clone(), IvKind::Counter);
                let implicit = (icv_len == implicit).then(|| (name + "-iiv", IvKind::Implicit));
                [Some(explicit), implicit].into_iter().flatten().map(move |row| (row, key_len, icv_len))
            })
        };
        let rows = icvs.iter().flat_map(each);
        rows.map(|((name, iv), key_len, icv_len)| suite(name, kind, key_len, nonce_len, icv_len, iv))
            .collect()
    };
    let mut suites = aes("gcm", CipherKind::Aead(Aead::Gcm), 4, &[16, 12, 8], 16);
    suites.extend(aes("ccm", CipherKind::Aead(Aead::Ccm), 3, &[16, 12, 8], 8));
    suites.extend([16, 24, 32].map(|key_len| {
        suite(format!("aes-{}-gmac", key_len * 8), CipherKind::Gmac, key_len, 4, 16, IvKind::Counter)
    }));
    for (name, iv) in [("chacha20-poly1305", IvKind::Counter), ("chacha20-poly1305-iiv", IvKind::Implicit)] {
        suites.push(suite(name.into(), CipherKind::Aead(Aead::ChaCha20Poly1305), 32, 4, 16, iv));
    }
    suites
}

const fn auth(name: &'static str, mac: Option<Mac>, key_len: usize, icv_len: usize) -> AuthSuite {
    AuthSuite { name, mac, key_len, icv_len, legacy: None }
}

/// Every way to authenticate, in the order of listings (RFC 2403, 2404, 3566, 4494, 4868).
pub static AUTHS: &[AuthSuite] = &[
    auth("hmac-sha1-96", Some(Mac::Hmac(&SHA1)), 20, 12),
    auth("hmac-sha256-128", Some(Mac::Hmac(&SHA256)), 32, 16),
    auth("hmac-sha384-192", Some(Mac::Hmac(&SHA384)), 48, 24),
    auth("hmac-sha512-256", Some(Mac::Hmac(&SHA512)), 64, 32),
    auth("aes-xcbc-96", Some(Mac::Xcbc), 16, 12),
    auth("aes-cmac-96", Some(Mac::Cmac), 16, 12),
    AuthSuite {
        legacy: Some("RFC 8221, 6: AUTH_HMAC_MD5_96 is MUST NOT"),
        ..auth("hmac-md5-96", Some(Mac::Hmac(&MD5)), 16, 12)
    },
    auth("none", None, 0, 0),
];

impl CipherSuite {
    pub fn by_name(name: &str) -> Option<&'static CipherSuite> {
        CIPHERS.iter().find(|suite| suite.name == name)
    }

    fn is_of(&self, algorithm: &Algorithm) -> bool {
        matches!(self.kind, CipherKind::Block(of, _) if of == algorithm)
    }

    /// Whether the cipher authenticates as well.
    pub fn combined(&self) -> bool {
        matches!(self.kind, CipherKind::Aead(_) | CipherKind::Gmac)
    }

    /// Whether the payload is hidden.
    pub fn encrypts(&self) -> bool {
        matches!(self.kind, CipherKind::Block(..) | CipherKind::Aead(_))
    }

    /// Whether a counter that came twice under one key would break it.
    pub fn counts(&self) -> bool {
        matches!(self.iv, IvKind::Counter | IvKind::Implicit)
    }

    /// The encrypted part is a multiple of so many bytes: a power of two.
    pub fn alignment(&self) -> usize {
        self.block.max(4)
    }

    /// Bytes of key and nonce.
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
    match (cipher.kind, auth.mac) {
        (_, Some(_)) | (CipherKind::Aead(_) | CipherKind::Gmac, None) => {}
        (CipherKind::Null, None) => {
            reasons.push("RFC 4303, 3.2: cipher and authentication must not both be absent");
        }
        (CipherKind::Block(_, Mode::Ctr), None) => {
            reasons.push("RFC 3686, 7: counter mode without authentication is trivially forged");
        }
        (CipherKind::Block(..), None) => reasons.push("RFC 8221, 4: encryption must be authenticated"),
    }
    reasons
}

#[cfg(test)]
#[path = "suite_tests.rs"]
mod tests;
