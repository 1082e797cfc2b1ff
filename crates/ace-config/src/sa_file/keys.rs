// SPDX-License-Identifier: Apache-2.0
//! Cipher keys of SA files, and those that make a cipher weaker than its name.

use ace_ipsec::model::CipherSuite;
use zeroize::Zeroizing;

use super::fields::{Fields, Report};
use super::value;

/// Key and nonce, as long as the suite wants them.
pub fn cipher_key(
    report: &mut Report<'_>,
    fields: &Fields<'_>,
    suite: &CipherSuite,
    allow_legacy: bool,
) -> Option<Zeroizing<Vec<u8>>> {
    let parts = match suite.nonce_len {
        0 => String::new(),
        nonce => format!(": {} of key, then {nonce} of nonce", suite.key_len),
    };
    let keymat = value::key(report, fields, "key", suite.name, suite.keymat_len(), &parts)?;
    let at = fields.at_key("key");
    if let Some((weakness, severe)) = weakness(suite, &keymat) {
        if severe && !allow_legacy {
            fields.error(report, at, format!("`key`: {weakness}; allowed with allow_legacy = true"));
        } else {
            report.warning(at, fields.say(format!("`key`: {weakness}")));
        }
    }
    Some(keymat)
}

/// Keys that make a cipher weaker than its name: the sentence, and whether it breaks a MUST.
fn weakness(suite: &CipherSuite, key: &[u8]) -> Option<(&'static str, bool)> {
    // Parity bits do not count.
    let same = |a: &[u8], b: &[u8]| a.iter().zip(b).all(|(a, b)| a & 0xfe == b & 0xfe);
    match suite.name {
        "3des-cbc" => {
            let (k1, rest) = key.split_at_checked(8)?;
            let (k2, k3) = rest.split_at_checked(8)?;
            let sentence = "two adjacent DES keys are equal, so this is single DES (RFC 2451, 2.3)";
            (same(k1, k2) || same(k2, k3)).then_some((sentence, true))
        }
        "des-cbc" => {
            // The four weak keys: each half of the permuted key is all zeros or all ones.
            let halves = [[0x00, 0x00], [0xfe, 0xfe], [0xe0, 0xf0], [0x1e, 0x0e]];
            let weak = halves.iter().any(|[a, b]| same(key, &[*a, *a, *a, *a, *b, *b, *b, *b]));
            weak.then_some(("a weak DES key: encrypting twice gives the plaintext (RFC 2405)", false))
        }
        "idea-cbc" => {
            // In hexadecimal 0000 0000 0x00 0000 0000 000x xxxx x000, with any digits for x.
            let forced = [255, 255, 255, 255, 0xf0, 255, 255, 255, 255, 255, 255, 0xf0, 0, 0, 0x0f, 255];
            let weak = key.len() == forced.len() && key.iter().zip(forced).all(|(key, bits)| key & bits == 0);
            weak.then_some(("a weak IDEA key (RFC 2451, 2.3)", false))
        }
        _ => None,
    }
}
