// SPDX-License-Identifier: Apache-2.0
//! What makes a security association legal.

use std::net::IpAddr;

use ace_ipsec::model::{Headers, MAX_WINDOW, Protocol};
use ace_ipsec::{Direction, Lifetime, SaMode, SaSpec};
use ipnet::IpNet;
use toml::de::DeValue;

use super::compare::Earlier;
use super::fields::{Fields, Report};
use super::protection::{Protection, protection};
use super::value;

const SA_KEYS: &[&str] = &[
    "name",
    "spi",
    "direction",
    "protocol",
    "mode",
    "local",
    "remote",
    "selector",
    "cipher",
    "key",
    "fresh_key",
    "auth",
    "auth_key",
    "esn",
    "replay_window",
    "first_sequence",
    "core",
    "if_id",
    "output_mark",
    "lifetime",
    "ecn",
    "copy_dscp",
    "copy_df",
    "tfc_padding",
];
/// What an SA has none of: it is a word of a gateway's configuration.
const ENCAPSULATION: &str = "encapsulation";
const LIFETIME_KEYS: &[&str] = &[
    "soft_bytes",
    "hard_bytes",
    "soft_packets",
    "hard_packets",
    "soft_seconds",
    "hard_seconds",
    "soft_use_seconds",
    "hard_use_seconds",
];

/// RFC 4303, 2.1: 0 never goes on the wire, 1 to 255 are reserved.
const FIRST_SPI: u64 = 256;
/// Cores of a gateway: as many as a device has queues.
pub const MOST_CORES: u64 = 256;
/// RFC 4303, 3.4.3: at least 32.
const SMALLEST_WINDOW: u64 = 32;
const DEFAULT_WINDOW: u64 = 64;
/// An IPv4 packet with headers, IV, trailer and ICV has 65,535 bytes.
pub const LONGEST_PADDING: u64 = 65_000;

/// Every `[[sa]]` of the file.
pub fn associations(report: &mut Report<'_>, root: &Fields<'_>, allow_legacy: bool) -> Vec<SaSpec> {
    let mut earlier = Earlier::default();
    match root.get("sa").map(|value| (value.get_ref(), value.span().start)) {
        None => report.warning(0, "no [[sa]]: every packet follows the default policy"),
        Some((DeValue::Array(tables), _)) => {
            for (index, table) in tables.iter().enumerate() {
                let at = table.span().start;
                let Some(table) = table.get_ref().as_table() else {
                    report.error(at, "an entry of `sa` is not a table; allowed: [[sa]] and its keys");
                    continue;
                };
                let who = match table.get("name").and_then(|value| value.get_ref().as_str()) {
                    Some(name) => format!("sa `{}`: ", name.chars().take(40).collect::<String>()),
                    None => format!("sa number {}: ", index + 1),
                };
                let fields = Fields::new(table, at, who);
                if let Some(next) = association(report, &fields, allow_legacy) {
                    earlier.take(report, &fields, next);
                }
            }
        }
        Some((_, at)) => report.error(at, "`sa` is not a list of tables; allowed: [[sa]] and its keys"),
    }
    earlier.sas.into_iter().map(|(sa, _)| sa).collect()
}

fn association(report: &mut Report<'_>, fields: &Fields<'_>, allow_legacy: bool) -> Option<SaSpec> {
    let told = fields.get(ENCAPSULATION).map(|_| ENCAPSULATION);
    let known: Vec<&str> = SA_KEYS.iter().copied().chain(told).collect();
    fields.refuse_unknown_keys(report, &known);
    if told.is_some() {
        let what = "`encapsulation` is none of an SA's keys; captures find ESP in UDP and in TCP by themselves and \
             are written without either, and a gateway has it in [outside], as \"udp\" or \"none\"";
        fields.error(report, fields.at_key(ENCAPSULATION), what);
    }
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
    let protection = protection(report, fields, direction, allow_legacy);
    let authenticated = protection.as_ref().is_none_or(Protection::authenticates);
    let numbers = numbers(report, fields, direction, authenticated);
    let lifetime = lifetime(report, fields);
    let core = fields.integer(report, "core", 0..=MOST_CORES - 1).and_then(|core| u16::try_from(core).ok());
    let mut number =
        |key| fields.integer(report, key, 0..=u32::MAX.into()).and_then(|it| u32::try_from(it).ok());
    let (if_id, output_mark) = (number("if_id").unwrap_or(0), number("output_mark").unwrap_or(0));
    if output_mark != 0 && direction == Some(Direction::In) {
        fields.wrong(report, "output_mark", "is for packets that leave", "0");
    }
    let headers = headers(report, fields, direction, mode, protection.as_ref());

    let Protection { protocol, cipher, auth, key, auth_key, key_use } = protection?;
    Some(SaSpec {
        name: name?,
        spi: spi?,
        direction: direction?,
        protocol,
        mode: mode?,
        local: local?,
        remote: remote?,
        selector,
        cipher,
        auth,
        key: key.into(),
        auth_key: auth_key.into(),
        key_use,
        esn: numbers.esn,
        replay_window: numbers.replay_window,
        first_sequence: numbers.first_sequence,
        core,
        if_id,
        output_mark,
        headers,
        lifetime,
    })
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
    authenticated: bool,
) -> Numbers {
    let esn = fields.boolean(report, "esn").unwrap_or(false);
    let largest = u64::from(MAX_WINDOW);
    let mut window = fields.integer(report, "replay_window", 0..=largest).unwrap_or(DEFAULT_WINDOW);
    let allowed = format!("{SMALLEST_WINDOW} to {largest}, or 0 for no replay protection");
    if (1..SMALLEST_WINDOW).contains(&window) {
        fields.wrong(report, "replay_window", "is too small (RFC 4303, 3.4.3)", &allowed);
    }
    if esn && !authenticated {
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
    if !authenticated && direction == Some(Direction::In) && window != 0 {
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

/// What a tunnel does with headers.
fn headers(
    report: &mut Report<'_>,
    fields: &Fields<'_>,
    direction: Option<Direction>,
    mode: Option<SaMode>,
    protection: Option<&Protection>,
) -> Headers {
    let direction = direction.unwrap_or(Direction::Out);
    let mut headers = Headers::of(direction);
    let given = [
        ("ecn", &mut headers.ecn),
        ("copy_dscp", &mut headers.dscp),
        ("copy_df", &mut headers.dont_fragment),
    ];
    for (key, place) in given {
        let Some(wanted) = fields.boolean(report, key) else { continue };
        *place = wanted;
        if mode == Some(SaMode::Transport) {
            fields.wrong(report, key, "is a tunnel's: transport mode has one header", "no such key");
        } else if key == "copy_df" && direction == Direction::In {
            fields.wrong(report, key, "is for packets that leave", "no such key for direction = \"in\"");
        }
    }
    let padding = fields.integer(report, "tfc_padding", 0..=LONGEST_PADDING).unwrap_or(0);
    headers.tfc_padding = u16::try_from(padding).unwrap_or(0);
    let esp = protection.is_none_or(|protection| protection.protocol == Protocol::Esp);
    if padding != 0 && (mode == Some(SaMode::Transport) || direction == Direction::In || !esp) {
        let what =
            "is for tunnels of ESP that leave: what comes in says itself how long it is (RFC 4303, 2.7)";
        fields.wrong(report, "tfc_padding", what, "0");
    }
    headers
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
        soft_seconds: get("soft_seconds"),
        hard_seconds: get("hard_seconds"),
        soft_use_seconds: get("soft_use_seconds"),
        hard_use_seconds: get("hard_use_seconds"),
    };
    let pairs = [
        ("soft_bytes", lifetime.soft_bytes, "hard_bytes", lifetime.hard_bytes),
        ("soft_packets", lifetime.soft_packets, "hard_packets", lifetime.hard_packets),
        ("soft_seconds", lifetime.soft_seconds, "hard_seconds", lifetime.hard_seconds),
        ("soft_use_seconds", lifetime.soft_use_seconds, "hard_use_seconds", lifetime.hard_use_seconds),
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
