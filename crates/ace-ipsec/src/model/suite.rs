// SPDX-License-Identifier: Apache-2.0
//! The table of suites, generated from suites.toml. A cipher of the algorithm table is here without another word; all
//! that is known of a suite, with every name that others have for it, is one row there.

use std::sync::LazyLock;

use ace_engine::algorithm::ALGORITHMS;
use ace_engine::{Aead, Algorithm, Direction, Kind, Mac, Mode, Need};

/// What encrypts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CipherKind {
    /// The payload travels in clear (RFC 2410).
    Null,
    /// A block cipher in a mode without authentication.
    Block(&'static Algorithm, Mode),
    /// Encryption and authentication in one (RFC 4303, 3.2).
    Aead(Aead),
    /// AES-GMAC: authentication only, by the rules of a combined mode (RFC 4543).
    Gmac,
}

/// Where the bytes of an IV come from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum IvKind {
    /// There is none: the suite `null`.
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
    /// What the suite computes.
    pub kind: CipherKind,
    /// Bytes of cipher key.
    pub key_len: usize,
    /// Bytes of nonce, which follow the key.
    pub nonce_len: usize,
    /// Where its IVs come from.
    pub iv: IvKind,
    /// Bytes of IV in the packet.
    pub iv_len: usize,
    /// The encrypted part is a multiple of so many bytes, and of 4 (RFC 4303, 2.4).
    pub block: usize,
    /// Bytes of ICV of a combined mode, else 0.
    pub icv_len: usize,
    /// What defines it for ESP.
    pub rfc: Option<&'static str>,
    /// Why this needs `allow_legacy`.
    pub legacy: Option<&'static str>,
    /// What others call it.
    pub names: ForeignNames,
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
    /// What defines it for ESP and AH.
    pub rfc: &'static str,
    /// Why this needs `allow_legacy`.
    pub legacy: Option<&'static str>,
    /// Bytes of ICV that Linux takes of this MAC where nothing is said.
    pub kernel_icv_len: usize,
    /// What others call it.
    pub names: ForeignNames,
}

/// What others call a suite (suites.toml).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ForeignNames {
    /// In SA files besides its own name, without `-`, `_`, `/` and spaces.
    pub aliases: &'static [&'static str],
    /// In IANA's registry of IKEv2 transforms.
    pub iana: Option<&'static str>,
    /// In Linux's XFRM, the long name first.
    pub kernel: &'static [&'static str],
    /// In Wireshark's table of ESP SAs.
    pub wireshark: Option<&'static str>,
    /// The last release of Wireshark that does not know it.
    pub wireshark_after: Option<(u32, u32)>,
}

struct Row {
    name: &'static str,
    kind: RowKind,
    key_len: usize,
    nonce_len: usize,
    icv_len: usize,
    implicit: bool,
    rfc: Option<&'static str>,
    legacy: Option<&'static str>,
    names: ForeignNames,
}

/// Block ciphers by their names in the algorithm table.
#[derive(PartialEq)]
enum RowKind {
    Null,
    Cbc(&'static str),
    Ctr(&'static str),
    Aead(Aead),
    Gmac,
}

struct AuthRow {
    name: &'static str,
    mac: RowMac,
    key_len: usize,
    icv_len: usize,
    rfc: &'static str,
    legacy: Option<&'static str>,
    kernel_icv: usize,
    names: ForeignNames,
}

enum RowMac {
    None,
    Hmac(&'static str),
    Xcbc,
    Cmac,
}

include!(concat!(env!("OUT_DIR"), "/suites.rs"));

const UNDEFINED: &str = "no RFC defines this cipher for ESP";

/// Every cipher, in the order of listings: those of the algorithm table, then what else there is. A cipher without a
/// row in suites.toml is a suite in CBC mode that nothing defines, but for those that are to be none.
pub static CIPHERS: LazyLock<Vec<CipherSuite>> = LazyLock::new(|| {
    let mut suites = Vec::new();
    for algorithm in ALGORITHMS.iter().copied().filter(|a| !NO_SUITES.contains(&a.name)) {
        let before = suites.len();
        for mode in [RowKind::Cbc(algorithm.name), RowKind::Ctr(algorithm.name)] {
            let mut rows: Vec<_> = ROWS.iter().filter(|row| row.kind == mode).collect();
            rows.sort_by_key(|row| row.key_len);
            suites.extend(rows.into_iter().filter_map(|row| of_block(row, algorithm)));
        }
        if suites.len() == before {
            suites.extend(undefined(algorithm));
        }
    }
    suites.extend(ROWS.iter().filter_map(of_itself));
    suites
});

/// Every way to authenticate, in the order of suites.toml.
pub static AUTHS: LazyLock<Vec<AuthSuite>> = LazyLock::new(|| {
    let hash = |name: &str| ALGORITHMS.iter().copied().find(|algorithm| algorithm.name == name);
    let suite = |row: &AuthRow| {
        let mac = match row.mac {
            RowMac::None => None,
            RowMac::Hmac(name) => Some(Mac::Hmac(hash(name)?)),
            RowMac::Xcbc => Some(Mac::Xcbc),
            RowMac::Cmac => Some(Mac::Cmac),
        };
        Some(AuthSuite {
            name: row.name,
            mac,
            key_len: row.key_len,
            icv_len: row.icv_len,
            rfc: row.rfc,
            legacy: row.legacy,
            kernel_icv_len: row.kernel_icv,
            names: row.names,
        })
    };
    AUTH_ROWS.iter().filter_map(suite).collect()
});

/// The suite of a row of a block cipher: CBC with an explicit IV as long as a block (RFC 2451, 3602, 4312), or counter
/// mode with a nonce (RFC 3686, 5529).
fn of_block(row: &Row, algorithm: &'static Algorithm) -> Option<CipherSuite> {
    let Kind::Cipher { block, .. } = algorithm.kind else { return None };
    let (mode, iv, iv_len, nonce_len, block) = match row.kind {
        RowKind::Cbc(_) => (Mode::Cbc, IvKind::Random, block, 0, block),
        _ => (Mode::Ctr, IvKind::Counter, 8, 4, 1),
    };
    Some(CipherSuite {
        name: row.name,
        kind: CipherKind::Block(algorithm, mode),
        key_len: row.key_len,
        nonce_len,
        iv,
        iv_len,
        block,
        icv_len: 0,
        rfc: row.rfc,
        legacy: row.legacy.or(if row.rfc.is_none() { Some(UNDEFINED) } else { None }),
        names: row.names,
    })
}

/// With 64-bit blocks the longest key makes the suite (RFC 2451, 2.1), with 128-bit blocks each of 128, 192 and 256 bits
/// makes one.
fn undefined(algorithm: &'static Algorithm) -> Vec<CipherSuite> {
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
        rfc: None,
        legacy: Some(UNDEFINED),
        names: ForeignNames::default(),
    };
    keys.iter().map(suite).collect()
}

/// The suite of a row that is no block cipher's: a combined mode (RFC 4106, 4309, 4543, 7634, 8750), or none.
fn of_itself(row: &Row) -> Option<CipherSuite> {
    let (kind, iv, iv_len) = match row.kind {
        RowKind::Cbc(_) | RowKind::Ctr(_) => return None,
        RowKind::Null => (CipherKind::Null, IvKind::None, 0),
        RowKind::Aead(aead) if row.implicit => (CipherKind::Aead(aead), IvKind::Implicit, 0),
        RowKind::Aead(aead) => (CipherKind::Aead(aead), IvKind::Counter, 8),
        RowKind::Gmac => (CipherKind::Gmac, IvKind::Counter, 8),
    };
    Some(CipherSuite {
        name: row.name,
        kind,
        key_len: row.key_len,
        nonce_len: row.nonce_len,
        iv,
        iv_len,
        block: 1,
        icv_len: row.icv_len,
        rfc: row.rfc,
        legacy: row.legacy,
        names: row.names,
    })
}

impl CipherSuite {
    /// By the name in SA files: `aes-128-cbc`.
    pub fn by_name(name: &str) -> Option<&'static CipherSuite> {
        CIPHERS.iter().find(|suite| suite.name == name)
    }

    /// What an engine has to be able to do for its packets; nothing if they travel in clear.
    pub fn need(&self, direction: Direction) -> Option<Need> {
        let key_len = self.key_len;
        match self.kind {
            CipherKind::Null => None,
            CipherKind::Block(algorithm, mode) => Some(Need::Cipher { algorithm, mode, direction, key_len }),
            CipherKind::Aead(aead) => Some(Need::Aead { aead, direction, key_len }),
            CipherKind::Gmac => Some(Need::Gmac { direction, key_len }),
        }
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
    /// By the name in SA files: `hmac-sha1-96`.
    pub fn by_name(name: &str) -> Option<&'static AuthSuite> {
        AUTHS.iter().find(|suite| suite.name == name)
    }

    /// What an engine has to be able to do for its packets; nothing if they are not authenticated.
    pub fn need(&self) -> Option<Need> {
        Some(match self.mac? {
            Mac::Hmac(algorithm) => Need::Hmac { algorithm },
            Mac::Xcbc => Need::Xcbc,
            Mac::Cmac => Need::Cmac { key_len: self.key_len },
        })
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
