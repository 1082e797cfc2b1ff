// SPDX-License-Identifier: Apache-2.0
//! What makes a security association legal.

use std::net::IpAddr;
use std::sync::Arc;

use ace_engine::{Mode, Secret};
use ipnet::IpNet;
use toml::de::DeValue;
use zeroize::Zeroizing;

use super::fields::{Fields, Report};
use super::value;
use super::{Direction, Sa, SaMode};
use crate::lifetime::Lifetime;
use crate::packet::Transform;
use crate::replay::MAX_WINDOW;
use crate::suite::{AUTHS, AuthSuite, CIPHERS, CipherSuite, legacy_reasons};

const SA_KEYS: &[&str] = &[
    "name",
    "spi",
    "direction",
    "mode",
    "local",
    "remote",
    "selector",
    "cipher",
    "key",
    "auth",
    "auth_key",
    "esn",
    "replay_window",
    "first_sequence",
    "lifetime",
];
const LIFETIME_KEYS: &[&str] = &["soft_bytes", "hard_bytes", "soft_packets", "hard_packets"];

/// RFC 4303, 2.1: 0 never goes on the wire, 1 to 255 are reserved.
const FIRST_SPI: u64 = 256;
/// RFC 4303, 3.4.3: at least 32.
const SMALLEST_WINDOW: u64 = 32;
const DEFAULT_WINDOW: u64 = 64;

/// A legal SA, where it stands, and its cipher key (with nonce) for comparisons.
struct Found {
    sa: Sa,
    at: usize,
    keymat: Zeroizing<Vec<u8>>,
}

/// Every `[[sa]]` of the file.
pub fn associations(report: &mut Report<'_>, root: &Fields<'_>, allow_legacy: bool) -> Vec<Sa> {
    let mut found: Vec<Found> = Vec::new();
    match root.get("sa").map(|value| (value.get_ref(), value.span().start)) {
        None => report.warning(0, "no [[sa]]: every packet follows the default policy"),
        Some((DeValue::Array(tables), _)) => {
            for (index, table) in tables.iter().enumerate() {
                let at = table.span().start;
                let Some(table) = table.get_ref().as_table() else {
                    report.error(at, "an entry of `sa` is not a table; allowed: [[sa]] and its keys");
                    continue;
                };
                let name = table.iter().find(|(key, _)| key.get_ref() == "name").map(|(_, value)| value);
                let who = match name.and_then(|value| value.get_ref().as_str()) {
                    Some(name) => format!("sa `{}`: ", name.chars().take(40).collect::<String>()),
                    None => format!("sa number {}: ", index + 1),
                };
                let fields = Fields::new(table, at, who);
                if let Some(next) = association(report, &fields, allow_legacy) {
                    compare(report, &fields, &found, &next);
                    found.push(next);
                }
            }
        }
        Some((_, at)) => report.error(at, "`sa` is not a list of tables; allowed: [[sa]] and its keys"),
    }
    found.into_iter().map(|found| found.sa).collect()
}

fn association(report: &mut Report<'_>, fields: &Fields<'_>, allow_legacy: bool) -> Option<Found> {
    fields.refuse_unknown_keys(report, SA_KEYS);
    let name = name(report, fields);
    let spi = spi(report, fields);
    let directions = [("out", Direction::Out), ("in", Direction::In)];
    let direction = fields.required_choice(report, "direction", &directions);
    let modes = [("tunnel", SaMode::Tunnel), ("transport", SaMode::Transport)];
    let mode = fields.required_choice(report, "mode", &modes);
    let local = value::address(report, fields, "local");
    let remote = value::address(report, fields, "remote");
    if let (Some(local), Some(remote)) = (local, remote)
        && local.is_ipv4() != remote.is_ipv4()
    {
        let what = format!("and `local` {local} are of different families");
        fields.wrong(report, "remote", &what, "an address of the same family");
    }
    let mut selector = value::selector(report, fields);
    if let (Some(SaMode::Transport), Some(direction), Some(local), Some(remote)) =
        (mode, direction, local, remote)
    {
        let (source, destination) =
            if direction == Direction::Out { (local, remote) } else { (remote, local) };
        only_host(report, fields, "src", &mut selector.source, source);
        only_host(report, fields, "dst", &mut selector.destination, destination);
    }
    let ciphers: Vec<_> = CIPHERS.iter().map(|suite| (suite.name, suite)).collect();
    let cipher = fields.required_choice(report, "cipher", &ciphers);
    let auths: Vec<_> = AUTHS.iter().map(|suite| (suite.name, suite)).collect();
    let auth = fields.required_choice(report, "auth", &auths);
    let keymat = cipher.and_then(|suite| cipher_key(report, fields, suite, allow_legacy));
    let auth_key = auth
        .and_then(|suite: &AuthSuite| value::key(report, fields, "auth_key", suite.name, suite.key_len, ""));
    if let (Some(cipher), Some(auth), false) = (cipher, auth, allow_legacy) {
        refuse_legacy(report, fields, cipher, auth);
    }
    let numbers = numbers(report, fields, direction, auth);
    let lifetime = lifetime(report, fields);

    let (cipher, auth, keymat) = (cipher?, auth?, keymat?);
    let auth_key = Secret::new(auth_key?.to_vec());
    let transform = Transform::new(cipher, keymat.to_vec(), auth, auth_key, auth.icv_len).ok()?;
    let sa = Sa {
        name: name?,
        spi: spi?,
        direction: direction?,
        mode: mode?,
        local: local?,
        remote: remote?,
        selector,
        cipher,
        auth,
        transform: Arc::new(transform),
        esn: numbers.esn,
        replay_window: numbers.replay_window,
        first_sequence: numbers.first_sequence,
        lifetime,
    };
    Some(Found { sa, at: fields.at, keymat })
}

fn name(report: &mut Report<'_>, fields: &Fields<'_>) -> Option<String> {
    const ALLOWED: &str = "a word of your choice, different for each SA";
    if fields.get("name").is_none() {
        fields.missing(report, "name", ALLOWED);
    }
    let name = fields.string(report, "name", ALLOWED)?;
    if name.trim().is_empty() {
        fields.wrong(report, "name", "is empty", ALLOWED);
        return None;
    }
    Some(name.to_owned())
}

fn spi(report: &mut Report<'_>, fields: &Fields<'_>) -> Option<u32> {
    let range = FIRST_SPI..=u64::from(u32::MAX);
    if fields.get("spi").is_none() {
        fields.missing(report, "spi", "0x100 to 0xffffffff");
    }
    fields.integer(report, "spi", range).and_then(|spi| u32::try_from(spi).ok())
}

/// In transport mode the addresses of the packet are those of the SA; nothing else could be sent or found.
fn only_host(
    report: &mut Report<'_>,
    fields: &Fields<'_>,
    key: &str,
    selected: &mut Option<IpNet>,
    host: IpAddr,
) {
    let host = IpNet::from(host);
    if let Some(wrong) = selected.filter(|&net| net != host) {
        let message = format!(
            "selector: `{key}`: `{wrong}` is not the SA's own host; allowed in transport mode: \"{host}\""
        );
        fields.error(report, fields.at_key("selector"), message);
    }
    *selected = Some(host);
}

fn cipher_key(
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

struct Numbers {
    esn: bool,
    replay_window: u32,
    first_sequence: u64,
}

/// What has to do with sequence numbers. Without authentication they prove nothing.
fn numbers(
    report: &mut Report<'_>,
    fields: &Fields<'_>,
    direction: Option<Direction>,
    auth: Option<&AuthSuite>,
) -> Numbers {
    let esn = fields.boolean(report, "esn").unwrap_or(false);
    let largest = u64::from(MAX_WINDOW);
    let mut window = fields.integer(report, "replay_window", 0..=largest).unwrap_or(DEFAULT_WINDOW);
    let allowed = format!("{SMALLEST_WINDOW} to {largest}, or 0 for no replay protection");
    if (1..SMALLEST_WINDOW).contains(&window) {
        fields.wrong(report, "replay_window", "is too small (RFC 4303, 3.4.3)", &allowed);
    }
    let unauthenticated = auth.is_some_and(|suite| suite.hash.is_none());
    if esn && unauthenticated {
        let what = "extends a number that `auth = \"none\"` does not protect (RFC 4303, 2.2.1)";
        fields.wrong(report, "esn", what, "false");
    }
    if esn && window == 0 && direction == Some(Direction::In) {
        let what = "leaves nothing to infer the extended sequence number from (RFC 4303, 3.4.3)";
        fields.wrong(
            report,
            "replay_window",
            what,
            &format!("{SMALLEST_WINDOW} to {largest}, or esn = false"),
        );
    }
    if unauthenticated && direction == Some(Direction::In) && window != 0 {
        if fields.get("replay_window").is_some() {
            let message = "`replay_window` has no effect: without authentication sequence numbers prove \
                           nothing (RFC 4303, 3.4.3)";
            report.warning(fields.at_key("replay_window"), fields.say(message));
        }
        window = 0;
    }
    let last = if esn { u64::MAX } else { u64::from(u32::MAX) };
    let first_sequence = fields.integer(report, "first_sequence", 1..=last).unwrap_or(1);
    Numbers { esn, replay_window: u32::try_from(window).unwrap_or(MAX_WINDOW), first_sequence }
}

fn lifetime(report: &mut Report<'_>, fields: &Fields<'_>) -> Lifetime {
    let Some(fields) = fields.table(report, "lifetime") else { return Lifetime::default() };
    fields.refuse_unknown_keys(report, LIFETIME_KEYS);
    let mut get = |key| fields.integer(report, key, 1..=u64::MAX);
    let lifetime = Lifetime {
        soft_bytes: get("soft_bytes"),
        hard_bytes: get("hard_bytes"),
        soft_packets: get("soft_packets"),
        hard_packets: get("hard_packets"),
    };
    let pairs = [
        ("soft_bytes", lifetime.soft_bytes, "hard_bytes", lifetime.hard_bytes),
        ("soft_packets", lifetime.soft_packets, "hard_packets", lifetime.hard_packets),
    ];
    for (soft_key, soft, hard_key, hard) in pairs {
        if let (Some(soft), Some(hard)) = (soft, hard)
            && soft > hard
        {
            let what = format!("is more than `{hard_key}` {hard}");
            fields.wrong(report, soft_key, &what, &format!("1 to {hard}"));
        }
    }
    lifetime
}

/// What no two SAs may have in common, and what they should not.
fn compare(report: &mut Report<'_>, fields: &Fields<'_>, earlier: &[Found], next: &Found) {
    let sa = &next.sa;
    for Found { sa: other, at, keymat } in earlier {
        let line = report.line(*at);
        if other.name == sa.name {
            let what = format!("is the name of the SA in line {line} too");
            fields.wrong(report, "name", &what, "a name of its own");
        }
        if other.direction != sa.direction {
            continue;
        }
        let (end, destination, other_destination) = match sa.direction {
            Direction::In => ("local", sa.local, other.local),
            Direction::Out => ("remote", sa.remote, other.remote),
        };
        if other.spi == sa.spi && destination == other_destination {
            let what = format!("and `{end}` {destination} are those of `{}` in line {line} too", other.name);
            fields.wrong(report, "spi", &what, "each pair of SPI and destination once");
        }
        if sa.direction == Direction::Out {
            let counter = matches!(sa.cipher.pass, Some((_, Mode::Ctr)));
            if counter && keymat.as_slice() == next.keymat.as_slice() {
                let message = format!(
                    "`key` is that of `{}` too: two senders must not share a counter-mode key (RFC 3686, 7)",
                    other.name
                );
                report.warning(fields.at_key("key"), fields.say(message));
            }
            if other.selector == sa.selector {
                let message = format!("never used: `{}` in line {line} has the same selector", other.name);
                report.warning(next.at, fields.say(message));
            }
        }
    }
}
