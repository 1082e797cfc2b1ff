// SPDX-License-Identifier: Apache-2.0
//! One SA of the kernel.

use std::net::IpAddr;

use ace_ipsec::model::{AuthSuite, CIPHERS, CipherSuite, Headers, KeyUse, Lifetime};
use ace_ipsec::{Direction, Protocol, SaMode, SaSpec, Selector};
use ipnet::IpNet;
use zeroize::Zeroizing;

use super::policy::{self, Demand, Policies};
use super::printed::{Block, number};
use super::{Beside, Collected, Ends, Found, Untranslatable, bytes, no, way};
use crate::kernel;
use crate::sa_file::check::{LONGEST_PADDING, MOST_CORES};
use crate::sa_file::suites;

/// Smaller windows are none (RFC 4303, 3.4.3), larger ones the engine has not.
const WINDOWS: std::ops::RangeInclusive<u64> = 32..=ace_ipsec::model::MAX_WINDOW as u64;

/// Cipher and MAC with their keys.
struct Protection {
    cipher: &'static CipherSuite,
    key: Zeroizing<Vec<u8>>,
    auth: &'static AuthSuite,
    auth_key: Zeroizing<Vec<u8>>,
}

/// Takes one, or says why not.
pub fn state(
    file: &str,
    number: usize,
    block: &Block<'_>,
    beside: &Beside<'_>,
    policies: &Policies,
    into: &mut Collected,
) {
    let of = |word| block.get("head", word).unwrap_or("?");
    let spi = spi(block);
    let named = spi.map_or(String::new(), |spi| format!(", SPI {spi:#010x}"));
    let at = |line| format!("{file}:{line}: {} to {}{named}", of("src"), of("dst"));
    into.spis.extend(spi);
    // Even if it has no place: the policy that leads to it leads somewhere.
    let demand = ends(block).and_then(|ends| policies.lead_to(ends, block, stated(block)));
    if !block.refused.is_empty() {
        into.left_out.extend(block.refused.iter().map(|(line, what)| format!("{}: {what}", at(*line))));
        return;
    }
    let place = at(block.line);
    match demand.and_then(|demand| association(number, block, beside, policies, demand)) {
        Ok((sa, priority, words)) => {
            let before = into.found.len();
            let warning = (sa.first_sequence > 1 && !beside.from_start)
                .then(|| format!("{place}: goes on with number {}", sa.first_sequence));
            into.take(Found { sa, priority, place });
            if into.found.len() > before {
                let own = block.left_out.iter().map(|(line, what)| format!("{}: {what}", at(*line)));
                into.left_out.extend(own.chain(words));
                into.warnings.extend(warning);
            }
        }
        Err(why) => into.left_out.push(format!("{place}: {why}")),
    }
}

fn spi(block: &Block<'_>) -> Option<u32> {
    u32::try_from(block.number("proto", "spi")?).ok()
}

fn ends(block: &Block<'_>) -> Result<Ends, Untranslatable> {
    let address = |word| {
        let text = block.get("head", word).unwrap_or_default();
        text.parse::<IpAddr>().map_err(|_| no(format!("`{word} {text}` is no address")))
    };
    let (source, destination) = (address("src")?, address("dst")?);
    let spi = spi(block).ok_or_else(|| no("it has no SPI"))?;
    Ok(Ends { source, destination, spi, tunnel: block.get("proto", "mode") == Some("tunnel") })
}

/// Which way, where the kernel says it.
fn stated(block: &Block<'_>) -> Option<bool> {
    block.get("line", "dir").map(|dir| dir == "out")
}

fn association(
    number: usize,
    block: &Block<'_>,
    beside: &Beside<'_>,
    policies: &Policies,
    demand: Option<Demand>,
) -> Result<(SaSpec, u64, Vec<String>), Untranslatable> {
    let ends = ends(block)?;
    let Ends { source, destination, spi, tunnel } = ends;
    if !policies.is_empty() && demand.is_none() {
        return Err(no("no policy leads to it"));
    }
    let protocol = match block.get("proto", "proto") {
        Some("esp") => Protocol::Esp,
        Some("ah") => Protocol::Ah,
        _ => return Err(no("it has no protocol")),
    };
    let mode = if tunnel { SaMode::Tunnel } else { SaMode::Transport };
    if block.flag("align4") && source.is_ipv6() && protocol == Protocol::Ah {
        return Err(no("`align4` of IPv6 is not as RFC 4302 has it"));
    }
    let stated = stated(block).or_else(|| demand.as_ref().map(|demand| demand.outbound));
    let (outbound, known) = way(ends, stated, beside)?;
    let (direction, local, remote) = match outbound {
        true => (Direction::Out, source, destination),
        false => (Direction::In, destination, source),
    };
    let way = if outbound { "out" } else { "in" };
    let own = own_selector(block, ends)?;
    let (priority, mut words) =
        demand.as_ref().map_or((0, Vec::new()), |demand| (demand.priority, demand.left_out.clone()));
    // Each may say less than the other; what they say together must be one of them.
    let mut selector = own;
    let others = [demand.map(|demand| demand.selector), known.as_ref().map(|known| known.selector.clone())];
    for other in others.into_iter().flatten() {
        let other = if tunnel { other } else { of_hosts(other, ends)? };
        selector = narrower(selector, other)?;
    }
    let if_id = match (if_id(block)?, known.as_ref().map_or(0, |known| known.if_id)) {
        (one, other) if one != 0 && other != 0 && one != other => {
            return Err(no(format!("`if_id {one:#x}`, and strongSwan has {other:#x}")));
        }
        (one, other) => one | other,
    };
    let output_mark = output_mark(block)?;
    if output_mark != 0 && !outbound {
        words
            .push(format!("`output-mark {output_mark:#x}`: what comes in goes to the inside without a mark"));
    }
    let name = known.map_or_else(|| format!("{way}-{spi:#010x}-{number}"), |known| known.name);
    let Protection { cipher, key, auth, auth_key } = protection(block, protocol)?;
    let esn = block.flag("esn");
    let first_sequence = first(block, outbound, esn, beside.from_start)?;
    Ok((
        SaSpec {
            name,
            spi,
            direction,
            protocol,
            mode,
            local,
            remote,
            selector,
            cipher,
            auth,
            key: key.into(),
            auth_key: auth_key.into(),
            key_use: KeyUse::Reused,
            esn,
            replay_window: window(block, outbound, esn)?,
            first_sequence,
            core: core(block)?,
            if_id,
            output_mark: if outbound { output_mark } else { 0 },
            headers: headers(block, outbound, tunnel)?,
            lifetime: lifetime(block, beside.from_start)?,
        },
        priority,
        words,
    ))
}

/// Windows wider than 32 stand with the numbers, with or without ESN.
fn window(block: &Block<'_>, outbound: bool, esn: bool) -> Result<u32, Untranslatable> {
    let wide = block.number("context", "replay_window").unwrap_or(0);
    let narrow = block.number("replay-window", "replay-window").unwrap_or(0);
    let window = match wide.max(narrow) {
        // Outbound SAs do not use it.
        0 if esn && outbound => 64,
        0 => 0,
        window if window > *WINDOWS.end() => {
            return Err(no(format!("a replay window of {window}: {} is the widest", WINDOWS.end())));
        }
        window => window.max(*WINDOWS.start()),
    };
    u32::try_from(window).map_err(|_| no("a replay window of no size"))
}

/// The number behind the last one.
fn first(block: &Block<'_>, outbound: bool, esn: bool, from_start: bool) -> Result<u64, Untranslatable> {
    let [low, high] = if outbound { ["oseq", "oseq-hi"] } else { ["seq", "seq-hi"] };
    let number = |word| match block.get("context", word) {
        None => Ok(0),
        Some(written) => number(written).ok_or_else(|| no(format!("`{word} {written}` is no number"))),
    };
    let (low, high) = (number(low)?, number(high)?);
    if high != 0 && !esn {
        return Err(no("its numbers have a high half, and the flag `esn` is not there"));
    }
    let at = (high << 32) | if from_start { 0 } else { low };
    at.checked_add(1)
        .filter(|at| esn || *at <= u64::from(u32::MAX))
        .ok_or_else(|| no("its numbers are used up"))
}

/// What a tunnel does with fields of headers, and how long its packets are. In transport mode flags about a second header
/// say nothing.
fn headers(block: &Block<'_>, outbound: bool, tunnel: bool) -> Result<Headers, Untranslatable> {
    let mut headers = Headers::of(if outbound { Direction::Out } else { Direction::In });
    if !tunnel {
        return Ok(headers);
    }
    headers.ecn = !block.flag("noecn");
    if outbound {
        headers.dscp = !block.flag("dont-encap-dscp");
        headers.dont_fragment = !block.flag("nopmtudisc");
        if let Some(padding) = block.get("line", "tfcpad") {
            let length = number(padding).ok_or_else(|| no(format!("`tfcpad {padding}` is no number")))?;
            headers.tfc_padding = u16::try_from(length.min(LONGEST_PADDING)).unwrap_or(u16::MAX);
        }
    } else {
        headers.dscp = block.flag("decap-dscp");
    }
    Ok(headers)
}

/// The core that it is for (RFC 9611).
fn core(block: &Block<'_>) -> Result<Option<u16>, Untranslatable> {
    let Some(written) = block.get("line", "pcpu-num") else { return Ok(None) };
    let core = number(written).filter(|core| *core < MOST_CORES).and_then(|core| u16::try_from(core).ok());
    core.map(Some).ok_or_else(|| no(format!("`pcpu-num {written}` is no core of 0 to {}", MOST_CORES - 1)))
}

/// The XFRM interface that it is for; 0: none.
fn if_id(block: &Block<'_>) -> Result<u32, Untranslatable> {
    let Some(written) = block.get("line", "if_id") else { return Ok(0) };
    let id = number(written).and_then(|id| u32::try_from(id).ok());
    id.ok_or_else(|| no(format!("`if_id {written}` is no number of an interface")))
}

/// The mark of its packets, as far as the mask goes: a device inside gives none for the rest.
fn output_mark(block: &Block<'_>) -> Result<u32, Untranslatable> {
    let Some(written) = block.get("line", "output-mark") else { return Ok(0) };
    let (mark, mask) = written.split_once('/').unwrap_or((written, "0xffffffff"));
    let bits = |written| number(written).and_then(|bits| u32::try_from(bits).ok());
    let marked = bits(mark).zip(bits(mask)).map(|(mark, mask)| mark & mask);
    marked.ok_or_else(|| no(format!("`output-mark {written}` is no mark")))
}

/// Limits, without what was used up. Times count anew.
fn lifetime(block: &Block<'_>, from_start: bool) -> Result<Lifetime, Untranslatable> {
    let current = block.all("lifetime", "current").unwrap_or_default();
    let used = |at: usize| match from_start {
        true => 0,
        false => current.get(at).copied().and_then(number).unwrap_or(0),
    };
    let limits = |word: &str| {
        let unit = |unit: &str| {
            let written =
                block.every("lifetime", word).find(|limit| limit.trim_end_matches(',').ends_with(unit));
            // 0 seconds are no limit; (INF) is no number.
            written.and_then(number).filter(|limit| *limit != 0)
        };
        let left = |limit: Option<u64>, used: u64| match limit {
            Some(limit) if word == "hard" && limit <= used => Err(no("its lifetime is over")),
            limit => Ok(limit.map(|limit| limit.saturating_sub(used).max(1))),
        };
        Ok::<_, Untranslatable>((
            left(unit("(bytes)"), used(0))?,
            left(unit("(packets)"), used(1))?,
            unit("(sec)"),
        ))
    };
    let (soft, hard) = (limits("soft")?, limits("hard")?);
    let seconds = |word: &str| {
        let written = block.get("lifetime", word);
        written.and_then(number).filter(|limit| *limit != 0)
    };
    // A soft limit behind the hard one is never met.
    let before =
        |soft: Option<u64>, hard: Option<u64>| soft.filter(|soft| hard.is_none_or(|hard| *soft <= hard));
    let (soft_use, hard_use) = (seconds("soft use"), seconds("hard use"));
    Ok(Lifetime {
        soft_bytes: before(soft.0, hard.0),
        hard_bytes: hard.0,
        soft_packets: before(soft.1, hard.1),
        hard_packets: hard.1,
        soft_seconds: before(soft.2, hard.2),
        hard_seconds: hard.2,
        soft_use_seconds: before(soft_use, hard_use),
        hard_use_seconds: hard_use,
    })
}

/// What the SA itself selects.
fn own_selector(block: &Block<'_>, ends: Ends) -> Result<Selector, Untranslatable> {
    let mut selector = policy::selector(block)?;
    let any = |net: &Option<IpNet>| net.is_none_or(|net| net.prefix_len() == 0);
    if any(&selector.source) && any(&selector.destination) && (block.flag("af-unspec") || !ends.tunnel) {
        (selector.source, selector.destination) = (None, None);
    }
    if ends.tunnel { Ok(selector) } else { of_hosts(selector, ends) }
}

/// In transport mode the addresses are those of the SA; what is wider is narrowed to them by the kernel as well.
fn of_hosts(selector: Selector, ends: Ends) -> Result<Selector, Untranslatable> {
    for (net, host) in [(selector.source, ends.source), (selector.destination, ends.destination)] {
        if let Some(net) = net.filter(|net| !net.contains(&host)) {
            return Err(no(format!(
                "transport mode between hosts of which {host} is not in its selector {net}"
            )));
        }
    }
    Ok(Selector { source: None, destination: None, ..selector })
}

/// The narrower of two selectors.
fn narrower(one: Selector, other: Selector) -> Result<Selector, Untranslatable> {
    let two = |what: &str| no(format!("the SA and its policy, or strongSwan, select different {what}"));
    let net = |one: Option<IpNet>, other: Option<IpNet>| match (one, other) {
        (Some(one), Some(other)) if one.contains(&other) => Ok(Some(other)),
        (Some(one), Some(other)) if other.contains(&one) => Ok(Some(one)),
        (Some(_), Some(_)) => Err(two("addresses")),
        (one, other) => Ok(one.or(other)),
    };
    fn same<T: PartialEq>(
        one: Option<T>,
        other: Option<T>,
        two: Untranslatable,
    ) -> Result<Option<T>, Untranslatable> {
        match (one, other) {
            (Some(one), Some(other)) if one != other => Err(two),
            (one, other) => Ok(one.or(other)),
        }
    }
    Ok(Selector {
        source: net(one.source, other.source)?,
        destination: net(one.destination, other.destination)?,
        protocol: same(one.protocol, other.protocol, two("protocols"))?,
        source_ports: same(one.source_ports, other.source_ports, two("ports"))?,
        destination_ports: same(one.destination_ports, other.destination_ports, two("ports"))?,
    })
}

fn protection(block: &Block<'_>, protocol: Protocol) -> Result<Protection, Untranslatable> {
    let none = || suites::auth("none").ok_or_else(|| no("no suite for no authentication"));
    let line = |word| block.all("line", word);
    if let Some([name, key, .., icv]) = line("aead") {
        if line("enc").is_some() || line("auth").is_some() || line("auth-trunc").is_some() {
            return Err(no("a combined mode, and other algorithms beside it"));
        }
        let key = bytes(key)?;
        let suite = kernel::aead(name, key.len() * 8, icv.parse().unwrap_or(0));
        let cipher = suite.ok_or_else(|| no(format!("no suite for {name} with an ICV of {icv} bits")))?;
        return Ok(Protection { cipher, key, auth: none()?, auth_key: Zeroizing::default() });
    }
    let (cipher, key) = match line("enc") {
        Some([name, rest @ ..]) => {
            let key = bytes(rest.first().filter(|key| !key.starts_with('(')).unwrap_or(&""))?;
            let suite = kernel::cipher(name, key.len() * 8);
            (
                suite
                    .ok_or_else(|| no(format!("no suite for {name} with a key of {} bits", key.len() * 8)))?,
                key,
            )
        }
        _ if protocol == Protocol::Ah => {
            let null = CIPHERS.iter().find(|suite| !suite.encrypts() && !suite.combined());
            (null.ok_or_else(|| no("no suite without a cipher"))?, Zeroizing::default())
        }
        _ => return Err(no("no cipher; keys are shown to root alone")),
    };
    let (auth, bits) = match (line("auth-trunc"), line("auth")) {
        (Some(auth), _) => (auth, auth.last().and_then(|bits| bits.parse().ok())),
        (None, Some(auth)) => (auth, auth.first().map(|name| kernel::default_icv_bits(name))),
        (None, None) => {
            return Ok(Protection { cipher, key, auth: none()?, auth_key: Zeroizing::default() });
        }
    };
    let [name, rest @ ..] = auth else { return Err(no("an authentication without a name")) };
    let key_written = rest.first().filter(|key| key.starts_with("0x") || key.starts_with('<')).unwrap_or(&"");
    let bits = bits.ok_or_else(|| no(format!("{name} does not say how long its ICV is")))?;
    let suite = kernel::auth(name, bits);
    let auth = suite.ok_or_else(|| no(format!("no suite for {name} of {bits} bits")))?;
    Ok(Protection { cipher, key, auth, auth_key: bytes(key_written)? })
}
