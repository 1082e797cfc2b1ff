// SPDX-License-Identifier: Apache-2.0
//! Wireshark's table of ESP SAs.

use std::fmt::Write;

use ace_esp::{Direction, Protocol, SaSpec};
use zeroize::Zeroizing;

/// One line for each SA; what Wireshark has no name for is left out, with a remark and a warning.
pub fn table(sas: &[SaSpec]) -> Zeroizing<String> {
    let mut out = Zeroizing::new(String::with_capacity(512 * (sas.len() + 1)));
    for sa in sas {
        let (Protocol::Esp, Some(cipher), Some(auth)) = (sa.protocol, cipher(sa), auth(sa)) else {
            let line =
                format!("# {:?}: Wireshark decrypts no {} + {}\n", sa.name, sa.cipher.name, sa.auth.name);
            eprint!("ace: warning: {}", line.trim_start_matches("# "));
            out.push_str(&line);
            continue;
        };
        let (from, to) = match sa.direction {
            Direction::Out => (sa.local, sa.remote),
            Direction::In => (sa.remote, sa.local),
        };
        let version = if from.is_ipv4() { "IPv4" } else { "IPv6" };
        let _ = write!(out, "\"{version}\",\"{from}\",\"{to}\",\"{:#010x}\",\"{cipher}\",\"", sa.spi);
        hex(&mut out, sa.key.as_bytes());
        let _ = write!(out, "\",\"{auth}\",\"");
        hex(&mut out, sa.auth_key.as_bytes());
        // Extended sequence numbers, with the high half that they begin with.
        match sa.esn {
            false => out.push_str("\"\n"),
            true => {
                let _ = writeln!(out, "\",\"64-bit\",\"{:#x}\"", sa.first_sequence >> 32);
            }
        }
    }
    out
}

fn hex(out: &mut String, key: &[u8]) {
    if !key.is_empty() {
        out.push_str("0x");
        for byte in key {
            // A String takes all that is written.
            let _ = write!(out, "{byte:02x}");
        }
    }
}

/// As packet-ipsec.c calls it.
fn cipher(sa: &SaSpec) -> Option<&'static str> {
    let name = sa.cipher.name;
    let is = |prefix: &str, suffix: &str| name.starts_with(prefix) && name.ends_with(suffix);
    Some(match name {
        "null" => "NULL",
        "3des-cbc" => "TripleDES-CBC [RFC2451]",
        "des-cbc" => "DES-CBC [RFC2405]",
        "cast128-cbc" => "CAST5-CBC [RFC2144]",
        "chacha20-poly1305" => "ChaCha20 with Poly1305 [RFC7634]",
        _ if is("aes-", "-cbc") => "AES-CBC [RFC3602]",
        _ if is("aes-", "-ctr") => "AES-CTR [RFC3686]",
        _ if is("twofish-", "-cbc") => "TWOFISH-CBC",
        _ if is("aes-", "-gcm-16") || is("aes-", "-gcm-12") || is("aes-", "-gcm-8") => "AES-GCM [RFC4106]",
        _ => return None,
    })
}

/// The same of what authenticates; of a combined mode the length of its ICV.
fn auth(sa: &SaSpec) -> Option<&'static str> {
    Some(match (sa.auth.name, sa.cipher.icv_len) {
        ("none", 0) => "NULL",
        ("none", 8) => "ANY 64 bit authentication [no checking]",
        ("none", 12) => "ANY 96 bit authentication [no checking]",
        ("none", 16) => "ANY 128 bit authentication [no checking]",
        ("hmac-sha1-96", _) => "HMAC-SHA-1-96 [RFC2404]",
        ("hmac-md5-96", _) => "HMAC-MD5-96 [RFC2403]",
        ("hmac-sha256-128", _) => "HMAC-SHA-256-128 [RFC4868]",
        ("hmac-sha384-192", _) => "HMAC-SHA-384-192 [RFC4868]",
        ("hmac-sha512-256", _) => "HMAC-SHA-512-256 [RFC4868]",
        ("aes-xcbc-96" | "aes-cmac-96", _) => "ANY 96 bit authentication [no checking]",
        _ => return None,
    })
}
