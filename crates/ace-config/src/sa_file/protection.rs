// SPDX-License-Identifier: Apache-2.0
//! What protects the packets of an SA: protocol, suites and keys.

use ace_ipsec::Direction;
use ace_ipsec::model::{
    AUTHS, AuthSuite, CIPHERS, CipherKind, CipherSuite, IvKind, KeyUse, Protocol, legacy_reasons,
};
use zeroize::Zeroizing;

use super::fields::{Fields, Report};
use super::{keys, suites, value};

/// Suites that fit each other, and keys that fit them.
pub struct Protection {
    pub protocol: Protocol,
    pub cipher: &'static CipherSuite,
    pub auth: &'static AuthSuite,
    pub key: Zeroizing<Vec<u8>>,
    pub auth_key: Zeroizing<Vec<u8>>,
    pub key_use: KeyUse,
}

impl Protection {
    /// Whether packets carry an ICV.
    pub fn authenticates(&self) -> bool {
        self.auth.mac.is_some() || self.cipher.combined()
    }
}

/// `None`, and errors, if anything does not fit.
pub fn protection(
    report: &mut Report<'_>,
    fields: &Fields<'_>,
    direction: Option<Direction>,
    allow_legacy: bool,
) -> Option<Protection> {
    let protocols = [("esp", Protocol::Esp), ("ah", Protocol::Ah)];
    let protocol = fields.choice(report, "protocol", &protocols).unwrap_or(Protocol::Esp);
    let cipher = cipher(report, fields, protocol);
    let auth = auth(report, fields, protocol, cipher);
    let key = cipher.and_then(|suite| keys::cipher_key(report, fields, suite, allow_legacy));
    let auth_key =
        auth.and_then(|suite| value::key(report, fields, "auth_key", suite.name, suite.key_len, ""));
    let (cipher, auth) = (cipher?, auth?);
    if !allow_legacy {
        refuse_legacy(report, fields, cipher, auth);
    }
    let fresh = fields.boolean(report, "fresh_key").unwrap_or(false);
    if cipher.iv == IvKind::Implicit && !fresh && direction == Some(Direction::Out) {
        let what = "has the sequence number for its IV, which starts again with every run (RFC 8750)";
        fields.wrong(report, "cipher", what, "fresh_key = true, with a key that no other run uses");
    }
    let key_use = if fresh { KeyUse::Fresh } else { KeyUse::Reused };
    Some(Protection { protocol, cipher, auth, key: key?, auth_key: auth_key?, key_use })
}

fn cipher(report: &mut Report<'_>, fields: &Fields<'_>, protocol: Protocol) -> Option<&'static CipherSuite> {
    let names = || CIPHERS.iter().map(|suite| suite.name).collect::<Vec<_>>();
    match (protocol, fields.get("cipher")) {
        (Protocol::Ah, None) => suites::cipher("null"),
        (Protocol::Esp, None) => {
            fields.missing(report, "cipher", &names().join(", "));
            None
        }
        (protocol, Some(_)) => {
            let found = fields.word(report, "cipher", names, suites::cipher)?;
            if protocol == Protocol::Ah && found.kind != CipherKind::Null {
                fields.wrong(
                    report,
                    "cipher",
                    "encrypts, and AH does not (RFC 4302)",
                    "null, or no `cipher`",
                );
                return None;
            }
            Some(found)
        }
    }
}

fn auth(
    report: &mut Report<'_>,
    fields: &Fields<'_>,
    protocol: Protocol,
    cipher: Option<&'static CipherSuite>,
) -> Option<&'static AuthSuite> {
    let names = || AUTHS.iter().map(|suite| suite.name).collect::<Vec<_>>();
    let combined = cipher.is_some_and(CipherSuite::combined);
    if fields.get("auth").is_none() {
        if combined {
            return suites::auth("none");
        }
        fields.missing(report, "auth", &names().join(", "));
        return None;
    }
    let found = fields.word(report, "auth", names, suites::auth)?;
    if combined && found.mac.is_some() {
        let what = "and a cipher that authenticates are one too many (RFC 4303, 3.2)";
        fields.wrong(report, "auth", what, "none, or no `auth`");
        return None;
    }
    if protocol == Protocol::Ah && found.mac.is_none() {
        let allowed = names().into_iter().filter(|&name| name != "none").collect::<Vec<_>>().join(", ");
        fields.wrong(report, "auth", "leaves AH without a purpose (RFC 4302)", &allowed);
        return None;
    }
    Some(found)
}

fn refuse_legacy(report: &mut Report<'_>, fields: &Fields<'_>, cipher: &CipherSuite, auth: &AuthSuite) {
    let reasons = legacy_reasons(cipher, auth);
    if reasons.is_empty() {
        return;
    }
    let key = if cipher.legacy.is_some() { "cipher" } else { "auth" };
    let modern = |names: Vec<&'static str>| {
        names.into_iter().filter(|&name| name != "none").collect::<Vec<_>>().join(", ")
    };
    let allowed = if key == "cipher" {
        modern(CIPHERS.iter().filter(|suite| suite.legacy.is_none()).map(|suite| suite.name).collect())
    } else {
        modern(AUTHS.iter().filter(|suite| suite.legacy.is_none()).map(|suite| suite.name).collect())
    };
    let what =
        format!("(`{}` with `{}`) is not for use today: {}", cipher.name, auth.name, reasons.join("; "));
    fields.wrong(report, key, &what, &format!("{allowed}; or allow_legacy = true at the top of the file"));
}
