// SPDX-License-Identifier: Apache-2.0
//! Wireshark's table of ESP SAs.

use std::fmt::Write;
use std::str::FromStr;

use ace_ipsec::model::IvKind;
use ace_ipsec::{Direction, Protocol, SaSpec};
use zeroize::Zeroizing;

use super::text::room;

/// A release of Wireshark: major and minor number.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Release(u32, u32);

/// The last one without extended sequence numbers, ChaCha20 and implicit IVs, as far as is known here: Debian 12 has it.
const OLD: Release = Release(4, 0);

impl FromStr for Release {
    type Err = &'static str;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let mut numbers = text.split('.').map(str::parse);
        match (numbers.next(), numbers.next()) {
            (Some(Ok(major)), Some(Ok(minor))) => Ok(Self(major, minor)),
            _ => Err("a release is two numbers, as in 4.0"),
        }
    }
}

/// One line for each SA; what Wireshark, or that release, has no name for is left out, with a remark and a warning.
pub fn table(sas: &[SaSpec], release: Option<Release>) -> Zeroizing<String> {
    let old = release.is_some_and(|release| release <= OLD);
    let mut out = Zeroizing::new(String::with_capacity(sas.iter().map(room).sum()));
    for sa in sas {
        // What does not know the high half cannot check an ICV with it, but can decrypt. With AES-GCM, which allows no
        // other authentication beside it, it calls every ICV wrong.
        let unchecked = old && sa.esn;
        let names = match (sa.protocol, cipher(sa), auth(sa, unchecked)) {
            (Protocol::Esp, Some(cipher), Some(auth)) if !(old && recent(sa)) => Some((cipher, auth)),
            _ => None,
        };
        let what = || {
            let protocol = if sa.protocol == Protocol::Ah { "AH" } else { "ESP" };
            let esn = if sa.esn { ", extended sequence numbers" } else { "" };
            format!("{:?}: {protocol}, {} + {}{esn}", sa.name, sa.cipher.name, sa.auth.name)
        };
        let Some((cipher, auth)) = names else {
            let line = format!("# {}: not for this Wireshark\n", what());
            eprint!("ace: warning: left out: {}", line.trim_start_matches("# "));
            out.push_str(&line);
            continue;
        };
        if unchecked {
            eprintln!("ace: warning: {}: this Wireshark decrypts, but cannot check the ICV", what());
        } else if release.is_none() && (recent(sa) || sa.esn) {
            eprintln!("ace: warning: {}: needs a Wireshark newer than 4.0; `--for 4.0` does without", what());
        }
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
        match sa.esn && !unchecked {
            false => out.push_str("\"\n"),
            true => {
                let _ = writeln!(out, "\",\"64-bit\",\"{:x}\"", sa.first_sequence >> 32);
            }
        }
    }
    out
}

/// Whether Wireshark 4.0 does not know the cipher.
fn recent(sa: &SaSpec) -> bool {
    sa.cipher.name.starts_with("chacha20") || sa.cipher.iv == IvKind::Implicit
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
        "chacha20-poly1305-iiv" => "ChaCha20 with Poly1305 and IIV [RFC7634 & RFC8750]",
        _ if is("aes-", "-gcm-16-iiv") => "AES-GCM with IIV and 16 octet ICV [RFC4106 & RFC8750]",
        _ if is("aes-", "-gcm-16") => "AES-GCM with 16 octet ICV [RFC4106]",
        _ if is("aes-", "-gcm-12") => "AES-GCM with 12 octet ICV [RFC4106]",
        _ if is("aes-", "-gcm-8") => "AES-GCM with 8 octet ICV [RFC4106]",
        _ if is("aes-", "-cbc") => "AES-CBC [RFC3602]",
        _ if is("aes-", "-ctr") => "AES-CTR [RFC3686]",
        // Of 192 bits it has none.
        "twofish-128-cbc" | "twofish-256-cbc" => "TWOFISH-CBC",
        _ => return None,
    })
}

/// The same of what authenticates. A combined mode does that itself.
fn auth(sa: &SaSpec, unchecked: bool) -> Option<&'static str> {
    Some(match (sa.auth.name, sa.auth.icv_len) {
        (_, 12) if unchecked => "ANY 96 bit authentication [no checking]",
        (_, 16) if unchecked => "ANY 128 bit authentication [no checking]",
        (_, 24) if unchecked => "ANY 192 bit authentication [no checking]",
        (_, 32) if unchecked => "ANY 256 bit authentication [no checking]",
        ("none", _) => "NULL",
        ("hmac-sha1-96", _) => "HMAC-SHA-1-96 [RFC2404]",
        ("hmac-md5-96", _) => "HMAC-MD5-96 [RFC2403]",
        ("hmac-sha256-128", _) => "HMAC-SHA-256-128 [RFC4868]",
        ("hmac-sha384-192", _) => "HMAC-SHA-384-192 [RFC4868]",
        ("hmac-sha512-256", _) => "HMAC-SHA-512-256 [RFC4868]",
        ("aes-xcbc-96" | "aes-cmac-96", _) => "ANY 96 bit authentication [no checking]",
        _ => return None,
    })
}
