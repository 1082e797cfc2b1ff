// SPDX-License-Identifier: Apache-2.0
//! Values of SA files: addresses, prefixes, protocols, ports, keys.

use std::net::IpAddr;
use std::ops::RangeInclusive;

use ace_ipsec::Selector;
use ace_ipsec::packet::protocol;
use ipnet::IpNet;
use toml::de::DeValue;
use zeroize::Zeroizing;

use super::fields::{Fields, Report};

const SELECTOR_KEYS: &[&str] = &["src", "dst", "protocol", "src_port", "dst_port", "icmp_type", "icmp_code"];
const PORTS_ALLOWED: &str = "a number from 0 to 65535, or a range like \"1024-65535\"";

/// Names for protocol numbers (IANA).
const PROTOCOLS: &[(&str, u8)] = &[
    ("icmp", protocol::ICMP),
    ("ipv4", protocol::IPV4),
    ("tcp", protocol::TCP),
    ("udp", protocol::UDP),
    ("dccp", protocol::DCCP),
    ("ipv6", protocol::IPV6),
    ("gre", 47),
    ("esp", protocol::ESP),
    ("ah", protocol::AH),
    ("icmpv6", protocol::ICMPV6),
    ("ospf", 89),
    ("sctp", protocol::SCTP),
    ("udplite", protocol::UDP_LITE),
];

/// A protocol by name or number.
pub fn protocol_number(word: &str) -> Option<u8> {
    let named = PROTOCOLS.iter().find(|&&(name, _)| name == word).map(|&(_, number)| number);
    named.or_else(|| word.parse().ok())
}

/// A port, or a range of ports.
pub fn range(written: &str) -> Option<RangeInclusive<u16>> {
    let (low, high) = written.split_once('-').unwrap_or((written, written));
    match (low.trim().parse::<u16>(), high.trim().parse::<u16>()) {
        (Ok(low), Ok(high)) if low <= high => Some(low..=high),
        _ => None,
    }
}

/// One address that a host can have.
pub fn address(report: &mut Report<'_>, fields: &Fields<'_>, key: &str) -> Option<IpAddr> {
    const ALLOWED: &str = "one IPv4 or IPv6 address, like \"192.0.2.1\" or \"2001:db8::1\"";
    if fields.get(key).is_none() {
        fields.missing(report, key, ALLOWED);
    }
    let address = match fields.string(report, key, ALLOWED)?.parse::<IpAddr>() {
        Ok(address) => address,
        Err(_) => {
            fields.wrong(report, key, "is not an address", ALLOWED);
            return None;
        }
    };
    if address.is_unspecified() || address.is_multicast() {
        fields.wrong(report, key, "is not the address of one host", ALLOWED);
        return None;
    }
    Some(address)
}

/// The selector as written; without one, everything.
pub fn selector(report: &mut Report<'_>, sa: &Fields<'_>) -> Selector {
    let Some(fields) = sa.table(report, "selector") else { return Selector::default() };
    fields.refuse_unknown_keys(report, SELECTOR_KEYS);
    let mut selector = Selector {
        source: prefix(report, &fields, "src"),
        destination: prefix(report, &fields, "dst"),
        protocol: protocol(report, &fields),
        source_ports: ports(report, &fields, "src_port"),
        destination_ports: ports(report, &fields, "dst_port"),
    };
    if let (Some(source), Some(destination)) = (selector.source, selector.destination)
        && source.addr().is_ipv4() != destination.addr().is_ipv4()
    {
        fields.wrong(report, "dst", &format!("and `src` {source} are of different families"), "one family");
    }
    let has_ports = selector.source_ports.is_some() || selector.destination_ports.is_some();
    if has_ports && selector.protocol.is_some_and(|number| !protocol::has_ports(number)) {
        let allowed = "tcp, udp, dccp, sctp, udplite, or no `protocol`";
        fields.wrong(report, "protocol", "has no ports, and ports are selected", allowed);
    }
    let messages = [types(report, &fields, "icmp_type"), types(report, &fields, "icmp_code")];
    for (key, found) in ["icmp_type", "icmp_code"].into_iter().zip(&messages) {
        if found.is_some() && !selector.protocol.is_some_and(protocol::has_types) {
            fields.wrong(
                report,
                key,
                "tells messages of ICMP apart",
                "it with protocol = \"icmp\" or \"icmpv6\"",
            );
        }
    }
    if selector.protocol.is_some_and(protocol::has_types) {
        [selector.source_ports, selector.destination_ports] = messages;
    }
    selector
}

/// A type or code of ICMP, or a range of them.
fn types(report: &mut Report<'_>, fields: &Fields<'_>, key: &str) -> Option<RangeInclusive<u16>> {
    let range = ports(report, fields, key)?;
    if *range.end() > 255 {
        fields.wrong(report, key, "is no type or code", "a number from 0 to 255, or a range like \"3-4\"");
        return None;
    }
    Some(range)
}

fn prefix(report: &mut Report<'_>, fields: &Fields<'_>, key: &str) -> Option<IpNet> {
    const ALLOWED: &str = "a prefix like \"10.0.0.0/24\" or \"2001:db8::/64\", one address, or \"any\"";
    let written = fields.string(report, key, ALLOWED)?;
    if written == "any" {
        return None;
    }
    let parsed = written.parse::<IpNet>().or_else(|_| written.parse::<IpAddr>().map(IpNet::from));
    match parsed {
        Ok(net) if net == net.trunc() => Some(net),
        Ok(net) => {
            let allowed = format!("\"{}\", or one address", net.trunc());
            fields.wrong(report, key, "has bits behind its prefix length", &allowed);
            None
        }
        Err(_) => {
            fields.wrong(report, key, "is not a prefix", ALLOWED);
            None
        }
    }
}

fn protocol(report: &mut Report<'_>, fields: &Fields<'_>) -> Option<u8> {
    let value = fields.get("protocol")?;
    if value.get_ref().is_integer() {
        return fields.integer(report, "protocol", 0..=255).and_then(|number| u8::try_from(number).ok());
    }
    let names = || {
        let names = PROTOCOLS.iter().map(|&(name, _)| name);
        ["a number from 0 to 255", "any"].into_iter().chain(names).collect()
    };
    let find = |word: &str| {
        if word == "any" {
            return Some(None);
        }
        PROTOCOLS.iter().find(|&&(name, _)| name == word).map(|&(_, number)| Some(number))
    };
    fields.word(report, "protocol", names, find).flatten()
}

fn ports(report: &mut Report<'_>, fields: &Fields<'_>, key: &str) -> Option<RangeInclusive<u16>> {
    match fields.get(key)?.get_ref() {
        DeValue::String(written) => {
            let range = range(written);
            if range.is_none() {
                fields.wrong(report, key, "is not a port or range of ports", PORTS_ALLOWED);
            }
            range
        }
        DeValue::Integer(_) => {
            let port = fields.integer(report, key, 0..=65535)?;
            u16::try_from(port).ok().map(|port| port..=port)
        }
        _ => {
            fields.wrong(report, key, "is not a port or range of ports", PORTS_ALLOWED);
            None
        }
    }
}

/// A key of exactly `len` bytes; 0: there must be none. The error tells lengths, never the key.
pub fn key(
    report: &mut Report<'_>,
    fields: &Fields<'_>,
    key: &str,
    suite: &str,
    len: usize,
    parts: &str,
) -> Option<Zeroizing<Vec<u8>>> {
    let allowed = match len {
        0 => format!("no key for {suite}"),
        _ => format!("{} hex digits ({len} bytes{parts}) for {suite}", 2 * len),
    };
    if fields.get(key).is_none() && len > 0 {
        fields.missing(report, key, &allowed);
        return None;
    }
    let written = if fields.get(key).is_some() { fields.secret(report, key)? } else { "" };
    let digits = written.strip_prefix("0x").unwrap_or(written);
    let at = fields.at_key(key);
    let digit_count = digits.chars().count();
    if let Some(place) = digits.chars().position(|c| !c.is_ascii_hexdigit()) {
        let message = format!("`{key}`: character {} is not a hex digit; allowed: {allowed}", place + 1);
        fields.error(report, at, message);
        return None;
    }
    if digit_count != 2 * len {
        let message = format!(
            "`{key}`: {digit_count} hex digits ({} bytes) are the wrong length; allowed: {allowed}",
            {
                let whole = digit_count / 2;
                if digit_count % 2 == 0 { whole.to_string() } else { format!("{whole}½") }
            }
        );
        fields.error(report, at, message);
        return None;
    }
    // In its place at once: what a growing buffer leaves behind nobody wipes.
    let mut bytes = Zeroizing::new(vec![0; len]);
    hex::decode_to_slice(digits, &mut bytes).ok()?;
    Some(bytes)
}
