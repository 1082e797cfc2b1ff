// SPDX-License-Identifier: Apache-2.0
//! Wireshark's table of ESP SAs.

use std::fmt::{self, Write as _};
use std::str::FromStr;

use ace_ipsec::{Direction, Protocol, SaSpec};
use thiserror::Error;
use zeroize::Zeroizing;

use crate::sa_file::room;

/// A release of Wireshark: major and minor number.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Release(u32, u32);

/// The last one without extended sequence numbers, ChaCha20 and implicit IVs, as far as is known here: Debian 12 has it.
const OLD: Release = Release(4, 0);

impl fmt::Display for Release {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{}", self.0, self.1)
    }
}

/// Words that name no release.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
#[error("a release is two numbers, as in 4.0")]
pub struct NotARelease;

impl FromStr for Release {
    type Err = NotARelease;

    fn from_str(text: &str) -> Result<Self, NotARelease> {
        let mut numbers = text.split('.').map(str::parse);
        match (numbers.next(), numbers.next()) {
            (Some(Ok(major)), Some(Ok(minor))) => Ok(Self(major, minor)),
            _ => Err(NotARelease),
        }
    }
}

/// Wireshark's table of ESP SAs.
pub struct Table {
    /// One line for each SA, and a remark for each that is left out. The keys are in it.
    pub text: Zeroizing<String>,
    /// What is left out, and what that Wireshark cannot do.
    pub warnings: Vec<String>,
}

/// One line for each SA; what Wireshark, or that release, has no name for is left out, with a remark and a warning.
pub fn table(sas: &[SaSpec], release: Option<Release>) -> Table {
    let old = release.is_some_and(|release| release <= OLD);
    let mut out = Zeroizing::new(String::with_capacity(sas.iter().map(room).sum()));
    let mut warnings = Vec::new();
    for sa in sas {
        // What does not know the high half cannot check an ICV with it, but can decrypt. With AES-GCM, which allows no
        // other authentication beside it, it calls every ICV wrong.
        let unchecked = old && sa.esn;
        let names = match (sa.protocol, sa.cipher.names.wireshark, auth(sa, unchecked)) {
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
            warnings.push(format!("left out: {}", line.trim_start_matches("# ").trim_end()));
            out.push_str(&line);
            continue;
        };
        if unchecked {
            warnings.push(format!("{}: this Wireshark decrypts, but cannot check the ICV", what()));
        } else if release.is_none() && (recent(sa) || sa.esn) {
            warnings
                .push(format!("{}: needs a Wireshark newer than {OLD}; `--for {OLD}` does without", what()));
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
    Table { text: out, warnings }
}

/// Whether the old Wireshark does not know the cipher.
fn recent(sa: &SaSpec) -> bool {
    sa.cipher.names.wireshark_after.is_some_and(|(major, minor)| OLD <= Release(major, minor))
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

/// What authenticates, as packet-ipsec.c calls it. A combined mode does that itself.
fn auth(sa: &SaSpec, unchecked: bool) -> Option<&'static str> {
    match sa.auth.icv_len {
        12 if unchecked => Some("ANY 96 bit authentication [no checking]"),
        16 if unchecked => Some("ANY 128 bit authentication [no checking]"),
        24 if unchecked => Some("ANY 192 bit authentication [no checking]"),
        32 if unchecked => Some("ANY 256 bit authentication [no checking]"),
        _ => sa.auth.names.wireshark,
    }
}
