// SPDX-License-Identifier: Apache-2.0
//! SAs as the text of an SA file.

use std::fmt::Write;

use ace_ipsec::model::{Headers, KeyUse, protocol};
use ace_ipsec::{Direction, Policy, Protocol, SaMode, SaSpec};
use zeroize::Zeroizing;

use super::{SaFile, SaFileErrors};

/// An SA file with these SAs, which reads as they are. The keys are in it.
///
/// # Errors
/// What no SA file may say.
pub fn write(policy: Policy, sas: &[SaSpec]) -> Result<Zeroizing<String>, SaFileErrors> {
    // Room for the whole, so that no key stays behind in a buffer that became too small.
    let mut body = Zeroizing::new(String::with_capacity(sas.iter().map(room).sum()));
    for sa in sas {
        // A String takes all that is written.
        let _ = association(&mut body, sa);
    }
    let policy = if policy == Policy::Bypass { "bypass" } else { "discard" };
    // Suites that need the word have it; no others are asked for it.
    let with =
        |legacy: &str| Zeroizing::new(format!("default_policy = \"{policy}\"\n{legacy}{}", body.as_str()));
    let text = with("");
    if SaFile::parse("SAs", &text).is_ok() {
        return Ok(text);
    }
    let text = with("allow_legacy = true\n");
    SaFile::parse("SAs", &text)?;
    Ok(text)
}

/// A basic string of TOML.
fn quoted(text: &str) -> String {
    let mut out = String::with_capacity(2 + 6 * text.len());
    out.push('"');
    for c in text.chars() {
        match c {
            '"' | '\\' => out.extend(['\\', c]),
            c if c.is_control() => {
                let _ = write!(out, "\\u{:04X}", u32::from(c));
            }
            c => out.push(c),
        }
    }
    out.push('"');
    out
}

/// More bytes than the text of an SA, in an SA file or in Wireshark's table, can have.
pub fn room(sa: &SaSpec) -> usize {
    // Of a name each byte may be escaped.
    2048 + 10 * sa.name.len()
}

fn association(out: &mut String, sa: &SaSpec) -> std::fmt::Result {
    let direction = if sa.direction == Direction::Out { "out" } else { "in" };
    let mode = if sa.mode == SaMode::Tunnel { "tunnel" } else { "transport" };
    writeln!(out, "\n[[sa]]\nname = {}\nspi = {:#x}\ndirection = \"{direction}\"", quoted(&sa.name), sa.spi)?;
    if sa.protocol == Protocol::Ah {
        writeln!(out, "protocol = \"ah\"")?;
    }
    writeln!(out, "mode = \"{mode}\"\nlocal = \"{}\"\nremote = \"{}\"", sa.local, sa.remote)?;
    selector(out, sa)?;
    writeln!(out, "cipher = \"{}\"", sa.cipher.name)?;
    for (name, key) in [("key", &sa.key), ("auth_key", &sa.auth_key)] {
        if name == "auth_key" {
            writeln!(out, "auth = \"{}\"", sa.auth.name)?;
        }
        if !key.is_empty() {
            write!(out, "{name} = \"")?;
            key.as_bytes().iter().try_for_each(|byte| write!(out, "{byte:02x}"))?;
            writeln!(out, "\"")?;
        }
    }
    if sa.key_use == KeyUse::Fresh {
        writeln!(out, "fresh_key = true")?;
    }
    let (esn, window, first) = (sa.esn, sa.replay_window, sa.first_sequence);
    writeln!(out, "esn = {esn}\nreplay_window = {window}\nfirst_sequence = {first}")?;
    if let Some(core) = sa.core {
        writeln!(out, "core = {core}")?;
    }
    for (name, number) in [("if_id", sa.if_id), ("output_mark", sa.output_mark)] {
        if number != 0 {
            writeln!(out, "{name} = {number}")?;
        }
    }
    let (h, usual) = (&sa.headers, Headers::of(sa.direction));
    let words = [
        ("ecn", h.ecn, usual.ecn),
        ("copy_dscp", h.dscp, usual.dscp),
        ("copy_df", h.dont_fragment, usual.dont_fragment),
    ];
    for (name, is, _) in words.into_iter().filter(|(_, is, usual)| is != usual) {
        writeln!(out, "{name} = {is}")?;
    }
    if h.tfc_padding != 0 {
        writeln!(out, "tfc_padding = {}", h.tfc_padding)?;
    }
    let l = &sa.lifetime;
    let limits = [
        ("soft_bytes", l.soft_bytes),
        ("hard_bytes", l.hard_bytes),
        ("soft_packets", l.soft_packets),
        ("hard_packets", l.hard_packets),
        ("soft_seconds", l.soft_seconds),
        ("hard_seconds", l.hard_seconds),
        ("soft_use_seconds", l.soft_use_seconds),
        ("hard_use_seconds", l.hard_use_seconds),
    ];
    let limits = limits.iter().filter_map(|(name, limit)| Some(format!("{name} = {}", (*limit)?)));
    let limits: Vec<String> = limits.collect();
    if !limits.is_empty() {
        writeln!(out, "lifetime = {{ {} }}", limits.join(", "))?;
    }
    Ok(())
}

fn selector(out: &mut String, sa: &SaSpec) -> std::fmt::Result {
    let s = &sa.selector;
    let range = |range: &std::ops::RangeInclusive<u16>| format!("\"{}-{}\"", range.start(), range.end());
    let (from, to) = match s.protocol.is_some_and(protocol::has_types) {
        true => ("icmp_type", "icmp_code"),
        false => ("src_port", "dst_port"),
    };
    let parts: Vec<String> = [
        s.source.map(|net| format!("src = \"{net}\"")),
        s.destination.map(|net| format!("dst = \"{net}\"")),
        s.protocol.map(|number| format!("protocol = {number}")),
        s.source_ports.as_ref().map(|ports| format!("{from} = {}", range(ports))),
        s.destination_ports.as_ref().map(|ports| format!("{to} = {}", range(ports))),
    ]
    .into_iter()
    .flatten()
    .collect();
    if !parts.is_empty() {
        writeln!(out, "selector = {{ {} }}", parts.join(", "))?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn there_is_room_for_the_longest_sa() {
        let limits = "soft_bytes = N, hard_bytes = N, soft_packets = N, hard_packets = N, soft_seconds = N, \
             hard_seconds = N, soft_use_seconds = N, hard_use_seconds = N";
        let address = |last| format!("2001:db8:1111:2222:3333:4444:5555:{last}");
        let text = format!(
            "[[sa]]\nname = \"{}\"\nspi = 0xffffffff\ndirection = \"out\"\nmode = \"transport\"\nlocal = \"{}\"\n\
             remote = \"{}\"\nselector = {{ protocol = \"sctp\", src = \"{}\", dst = \"{}\", \
             src_port = \"10000-20000\", dst_port = \"30000-40000\" }}\ncipher = \"aes-256-ctr\"\nkey = \"{}\"\n\
             auth = \"hmac-sha512-256\"\nauth_key = \"{}\"\nesn = true\nreplay_window = 4096\n\
             first_sequence = {limit}\nlifetime = {{ {} }}\n",
            "\\u0001".repeat(100),
            address(6666),
            address(7777),
            address(6666),
            address(7777),
            "ab".repeat(36),
            "cd".repeat(64),
            limits.replace('N', &i64::MAX.to_string()),
            limit = i64::MAX,
        );
        let file = SaFile::parse("SAs", &text).unwrap_or_else(|errors| panic!("{errors}"));
        let mut out = String::new();
        association(&mut out, &file.sas()[0]).expect("a String takes all");
        assert!(out.len() < room(&file.sas()[0]), "{} bytes", out.len());
        assert!(crate::wireshark::table(file.sas(), None).text.len() < room(&file.sas()[0]));
    }
}
