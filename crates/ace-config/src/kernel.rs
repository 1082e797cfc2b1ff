// SPDX-License-Identifier: Apache-2.0
//! Algorithms as Linux calls them, in `ip xfrm` and in XFRM messages.

use ace_ipsec::model::{AuthSuite, CipherSuite};

use crate::sa_file::suites;

/// A combined mode: its name, bits of its key with the nonce, and bits of its ICV.
pub fn aead(name: &str, key_bits: usize, icv_bits: usize) -> Option<&'static CipherSuite> {
    let icv = icv_bits / 8;
    let suite = match name {
        "rfc4106(gcm(aes))" => format!("aes-{}-gcm-{icv}", key_bits.checked_sub(32)?),
        "rfc4309(ccm(aes))" => format!("aes-{}-ccm-{icv}", key_bits.checked_sub(24)?),
        "rfc4543(gcm(aes))" => format!("aes-{}-gmac", key_bits.checked_sub(32)?),
        "rfc7539esp(chacha20,poly1305)" => "chacha20-poly1305".to_owned(),
        _ => return None,
    };
    suites::cipher(&suite).filter(|found| found.icv_len == icv)
}

/// A cipher without authentication: its name, long or short, and bits of its key with the nonce.
pub fn cipher(name: &str, key_bits: usize) -> Option<&'static CipherSuite> {
    let suite = match name {
        "ecb(cipher_null)" | "cipher_null" => "null".to_owned(),
        "cbc(des3_ede)" | "des3_ede" => "3des-cbc".to_owned(),
        "cbc(des)" | "des" => "des-cbc".to_owned(),
        "cbc(cast5)" | "cast5" => "cast128-cbc".to_owned(),
        "cbc(aes)" | "cbc(camellia)" | "cbc(serpent)" | "cbc(twofish)" => {
            format!("{}-{key_bits}-cbc", name.get(4..name.len() - 1)?)
        }
        "aes" | "camellia" | "serpent" | "twofish" => format!("{name}-{key_bits}-cbc"),
        "cbc(sm4)" => "sm4-cbc".to_owned(),
        "rfc3686(ctr(aes))" => format!("aes-{}-ctr", key_bits.checked_sub(32)?),
        _ => return None,
    };
    suites::cipher(&suite)
}

/// A MAC: its name, long or short, and bits of its ICV.
pub fn auth(name: &str, icv_bits: usize) -> Option<&'static AuthSuite> {
    let suite = match (name, icv_bits) {
        ("hmac(sha1)" | "sha1", 96) => "hmac-sha1-96",
        ("hmac(md5)" | "md5", 96) => "hmac-md5-96",
        ("hmac(sha256)" | "sha256", 128) => "hmac-sha256-128",
        ("hmac(sha384)" | "sha384", 192) => "hmac-sha384-192",
        ("hmac(sha512)" | "sha512", 256) => "hmac-sha512-256",
        ("xcbc(aes)", 96) => "aes-xcbc-96",
        ("cmac(aes)", 96) => "aes-cmac-96",
        ("digest_null" | "hmac(digest_null)", _) => "none",
        _ => return None,
    };
    suites::auth(suite)
}

/// Bits of the ICV where nothing is said of them: what Linux takes.
pub fn default_icv_bits(auth: &str) -> usize {
    match auth {
        "hmac(sha384)" | "sha384" => 192,
        "hmac(sha512)" | "sha512" => 256,
        _ => 96,
    }
}
