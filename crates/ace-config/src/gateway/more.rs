// SPDX-License-Identifier: Apache-2.0
//! Sections that need not be there: what computes, and the page for people and Prometheus.

use std::net::{IpAddr, SocketAddr};
use std::path::{Path, PathBuf};

use super::{Check, Encapsulation, Inside, Outside, PEER, Peer, endpoint, list, required};
use crate::sa_file::check::MOST_CORES;
use crate::sa_file::fields::{Fields, Report};

/// What computes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum EngineKind {
    /// This processor.
    #[default]
    Cpu,
    /// The board, and nobody else.
    Board,
    /// Whoever costs less wall time now.
    Auto,
}

/// What computes ciphers and hashes; all of it can be left out.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Engine {
    /// Whether this processor, the board or both.
    pub kind: EngineKind,
    /// With `cpu`: threads, each with a share of the SAs; `None`: one.
    pub cores: Option<usize>,
    /// The board's description; `None`: the default one.
    pub board: Option<PathBuf>,
    /// Folder of the built configurations.
    pub configurations: Option<PathBuf>,
    /// The network interface behind which the board is; `None`: it is simulated.
    pub link: Option<String>,
    /// Public keys of who may sign libraries; `None`: those that are compiled in.
    pub library_key: Option<PathBuf>,
    /// The scheduling policy by name.
    pub policy: Option<String>,
    /// With `auto`: algorithms that the board computes whatever it costs.
    pub on_board: Vec<String>,
}

/// Status for people and metrics, over HTTP.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Page {
    /// An address of this machine alone.
    pub listen: SocketAddr,
}

/// What is written down of the traffic, to be played again.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Record {
    /// Where the recording goes; the file is written anew at each start.
    pub file: PathBuf,
    /// The first ones.
    pub packets: u64,
}

/// The other gateway of a pair, of which one is the other's standby.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Standby {
    /// Where this one hears the other one, while this one is the standby.
    pub listen: SocketAddr,
    /// Where the other one does.
    pub peer: SocketAddr,
    /// The key that both have.
    pub key: PathBuf,
    /// Without a standby nothing is used that it does not have; else this one goes on alone, and the standby never takes over
    /// because it hears nothing.
    pub stop_alone: bool,
    /// Seconds of silence before the standby takes over.
    pub wait: u16,
}

const ENGINE: &[&str] =
    &["kind", "cores", "board", "configurations", "link", "library_key", "policy", "on_board"];
const PAGE: &[&str] = &["listen"];
const STANDBY: &[&str] = &["listen", "peer", "key", "alone", "wait"];
/// Seconds of silence before the standby takes over: a gateway that is restarted is there again.
const WAIT: u16 = 5;
const RECORD: &[&str] = &["file", "packets"];
/// Seconds from one ping of a peer to the next.
const CHECK: u16 = 10;
/// A recording of about 10 MB.
const PACKETS: u64 = 200_000;

pub(super) fn engine(report: &mut Report<'_>, fields: &Fields<'_>, folder: &Path) -> Engine {
    fields.refuse_unknown_keys(report, ENGINE);
    let kinds = [("cpu", EngineKind::Cpu), ("board", EngineKind::Board), ("auto", EngineKind::Auto)];
    let kind = fields.choice(report, "kind", &kinds).unwrap_or_default();
    let only = |report: &mut Report<'_>, key: &str, kind: &str| {
        if fields.get(key).is_some() {
            fields.error(report, fields.at_key(key), format!("`{key}` is for kind = {kind} alone"));
        }
    };
    if kind == EngineKind::Cpu {
        for key in ["board", "configurations", "link", "library_key", "policy"] {
            only(report, key, "\"board\" or \"auto\"");
        }
    }
    if kind != EngineKind::Auto {
        only(report, "on_board", "\"auto\"");
    }
    if kind != EngineKind::Cpu {
        only(report, "cores", "\"cpu\"");
    }
    // A board behind a cable takes context sets of its library alone, and this program decides itself what it loads when.
    for key in ["configurations", "policy"].into_iter().filter(|_| fields.get("link").is_some()) {
        if fields.get(key).is_some() {
            let why = format!("`{key}` is for a board that is simulated; leave out it or `link`");
            fields.error(report, fields.at_key(key), why);
        }
    }
    let link =
        fields.string(report, "link", "the network interface of a board, like \"eth1\"").map(str::to_owned);
    let cores = fields.integer(report, "cores", 1..=MOST_CORES);
    let cores = cores.and_then(|cores| usize::try_from(cores).ok());
    let mut path = |key: &str, allowed| fields.string(report, key, allowed).map(|path| folder.join(path));
    let board = path("board", "a description of a board, as board.toml");
    let configurations = path("configurations", "a folder of built configurations");
    let library_key = path("library_key", "a file of public keys, as `ace library keygen` writes them");
    let policy = fields.string(report, "policy", "a policy of docs/scheduling.md").map(str::to_owned);
    let on_board = list(report, fields, "on_board", "algorithms like \"3des\"", |text| Some(text.to_owned()));
    Engine { kind, cores, board, configurations, link, library_key, policy, on_board }
}

pub(super) fn page(report: &mut Report<'_>, fields: &Fields<'_>) -> Page {
    const ALLOWED: &str =
        "an address of this machine alone and a port, like \"127.0.0.1:9450\" or \"[::1]:9450\"";
    fields.refuse_unknown_keys(report, PAGE);
    let default = SocketAddr::from(([127, 0, 0, 1], 9450));
    let Some(written) = fields.string(report, "listen", ALLOWED) else { return Page { listen: default } };
    let found = written.parse::<SocketAddr>().ok().filter(|at| at.ip().is_loopback());
    if found.is_none() {
        fields.wrong(report, "listen", "is no such address: the page asks nobody who they are", ALLOWED);
    }
    Page { listen: found.unwrap_or(default) }
}

/// `None` only behind an error.
pub(super) fn record(report: &mut Report<'_>, fields: &Fields<'_>, folder: &Path) -> Option<Record> {
    fields.refuse_unknown_keys(report, RECORD);
    let file = required(report, fields, "file", "the name of a file, which is written anew at each start");
    let packets = fields.integer(report, "packets", 1..=100_000_000).unwrap_or(PACKETS);
    Some(Record { file: folder.join(file?), packets })
}

/// `None` only behind an error.
pub(super) fn standby(report: &mut Report<'_>, fields: &Fields<'_>, folder: &Path) -> Option<Standby> {
    fields.refuse_unknown_keys(report, STANDBY);
    const PLACE: &str = "an address and a port, like \"192.168.7.1:4600\"";
    for key in ["listen", "peer"].into_iter().filter(|key| fields.get(key).is_none()) {
        fields.missing(report, key, PLACE);
    }
    let listen = endpoint(report, fields, "listen", false);
    let peer = endpoint(report, fields, "peer", true);
    let key = required(
        report,
        fields,
        "key",
        "the name of a file with 64 hexadecimal digits, the same on both ends",
    );
    let alone = fields.choice(report, "alone", &[("stop", true), ("go-on", false)]).unwrap_or(true);
    let wait = fields.integer(report, "wait", 2..=600).and_then(|s| u16::try_from(s).ok()).unwrap_or(WAIT);
    Some(Standby { listen: listen?, peer: peer?, key: folder.join(key?), stop_alone: alone, wait })
}

pub(super) fn peers(
    report: &mut Report<'_>,
    top: &Fields<'_>,
    outside: Option<&Outside>,
    devices: &[(u32, &Inside)],
) -> Vec<Peer> {
    let Some(value) = top.get("peer") else { return Vec::new() };
    let Some(tables) = value.get_ref().as_array() else {
        top.wrong(report, "peer", "is not a list of tables", "[[peer]]");
        return Vec::new();
    };
    let in_udp = outside.is_none_or(|outside| outside.encapsulation == Encapsulation::Udp);
    let mut peers: Vec<Peer> = Vec::new();
    for table in tables.iter() {
        let at = table.span().start;
        let Some(inner) = table.get_ref().as_table() else {
            report.error(at, "`peer` holds something that is not a table; allowed: [[peer]]");
            continue;
        };
        let fields = Fields::new(inner, at, "peer: ".to_owned());
        fields.refuse_unknown_keys(report, PEER);
        let allowed = "`remote` of the SAs with this peer, like \"192.0.2.2\"";
        let Some(written) = required(report, &fields, "address", allowed) else { continue };
        let Ok(address) = written.parse::<IpAddr>() else {
            fields.wrong(report, "address", "is not an address", allowed);
            continue;
        };
        if peers.iter().any(|peer| peer.address == address) {
            fields.wrong(report, "address", "has a [[peer]] already", "one for each address");
            continue;
        }
        if !in_udp
            && (fields.get("check").is_none()
                || ["endpoint", "roaming"].iter().any(|key| fields.get(key).is_some()))
        {
            report.error(
                at,
                "[[peer]] is for encapsulation = \"udp\" alone, but for `check` and `check_interval`",
            );
        }
        let endpoint = endpoint(report, &fields, "endpoint", true);
        let endpoint = endpoint.unwrap_or_else(|| SocketAddr::new(address, 4500));
        // Whoever says where a peer is means it.
        let roaming = fields.boolean(report, "roaming").unwrap_or(fields.get("endpoint").is_none());
        let check = check(report, &fields, devices);
        peers.push(Peer { address, endpoint, roaming, check });
    }
    peers
}

fn check(report: &mut Report<'_>, fields: &Fields<'_>, devices: &[(u32, &Inside)]) -> Option<Check> {
    const ALLOWED: &str = "an address inside that answers pings, like \"10.0.2.1\"";
    let interval = fields.integer(report, "check_interval", 1..=3600).and_then(|s| u16::try_from(s).ok());
    let if_id = fields.integer(report, "check_if_id", 0..=u32::MAX.into()).unwrap_or(0);
    if fields.get("check").is_none()
        && ["check_interval", "check_if_id"].iter().any(|key| fields.get(key).is_some())
    {
        fields.missing(report, "check", ALLOWED);
    }
    let Ok(to) = fields.string(report, "check", ALLOWED)?.parse::<IpAddr>() else {
        fields.wrong(report, "check", "is not an address", ALLOWED);
        return None;
    };
    let device = devices.iter().find(|(number, _)| u64::from(*number) == if_id);
    let Some((if_id, inside)) = device else {
        fields.wrong(report, "check_if_id", "is no [[interface]]'s", "`if_id` of one, or 0 for [inside]");
        return None;
    };
    let mut ours = inside.addresses.iter().map(|net| net.addr());
    if ours.clone().any(|ours| ours == to) {
        fields.wrong(report, "check", "is our own", ALLOWED);
        return None;
    }
    let Some(from) = ours.find(|ours| ours.is_ipv4() == to.is_ipv4()) else {
        fields.wrong(report, "check", "is of a family of which the device inside has no `address`", ALLOWED);
        return None;
    };
    Some(Check { to, from, if_id: *if_id, interval: interval.unwrap_or(CHECK) })
}
