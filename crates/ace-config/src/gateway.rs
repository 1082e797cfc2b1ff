// SPDX-License-Identifier: Apache-2.0
//! The configuration of `ace gateway`, in TOML. docs/gateway-configuration.md explains every key. Keys of SAs are in the SA
//! file that it names, never here.

mod interfaces;
mod more;

use std::net::{IpAddr, SocketAddr};
use std::path::{Path, PathBuf};

use ipnet::IpNet;
use toml::Spanned;
use toml::de::{DeTable, DeValue};

use crate::SaFileErrors;
use crate::sa_file::fields::{Fields, Report};

pub use interfaces::{Device, Interface, Table};
pub use more::{Engine, EngineKind, Page, Record, Standby};

/// A checked configuration.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GatewayConfig {
    /// The SA file; with `xfrm` there need not be one.
    pub sas: Option<PathBuf>,
    /// With it the gateway takes SAs and policies from an IKE daemon; `None`: the SA file is all.
    pub xfrm: Option<Xfrm>,
    /// The socket on which the gateway answers.
    pub control: PathBuf,
    /// Takes key files that others may read. No key of the file: whoever starts the gateway says it.
    pub open_keys: bool,
    /// Where it remembers which keys were used, and how far; `None`: where the caller keeps such things.
    pub state: Option<PathBuf>,
    /// Who the gateway becomes when everything is open; `None`: it stays who it is.
    pub user: Option<String>,
    /// The TUN device.
    pub inside: Inside,
    /// Devices inside with numbers.
    pub interfaces: Vec<Interface>,
    /// How ESP and AH travel.
    pub outside: Outside,
    /// With UDP: where the other ends of SAs are at first, one row an address at most.
    pub peers: Vec<Peer>,
    /// What computes ciphers and hashes.
    pub engine: Engine,
    /// `None`: there is none.
    pub page: Option<Page>,
    /// `None`: nothing is recorded.
    pub record: Option<Record>,
    /// The other gateway of a pair; `None`: there is none.
    pub standby: Option<Standby>,
}

/// The side on which packets travel in clear.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Inside {
    /// Name of the TUN device.
    pub tun: String,
    /// Our addresses on it, each with its prefix length.
    pub addresses: Vec<IpNet>,
    /// What is sent into it.
    pub routes: Vec<IpNet>,
    /// The device's MTU: 576 to 9000 bytes.
    pub mtu: u16,
    /// Let the kernel hand over and take TCP in large pieces.
    pub offload: bool,
    /// Make the MSS of TCP no more than what a packet of `mtu` bytes holds, both ways.
    pub clamp_mss: bool,
    /// Network devices of the inside: what comes by them need not have been protected.
    pub interfaces: Vec<String>,
}

/// Takes SAs and policies as the kernel does.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Xfrm {
    /// Where the preload library connects to.
    pub socket: PathBuf,
    /// Takes suites too that an SA file needs `allow_legacy` for.
    pub allow_legacy: bool,
}

/// What carries ESP.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Encapsulation {
    /// RFC 3948.
    Udp,
    /// IP protocols 50 and 51.
    None,
}

/// The side on which packets travel as ESP or AH.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Outside {
    /// What ESP and AH are carried by.
    pub encapsulation: Encapsulation,
    /// With UDP: where it listens. Port 0 takes any.
    pub listen: SocketAddr,
    /// With UDP: seconds of silence before a keepalive; 0: none.
    pub keepalive: u16,
    /// What the gateway's own packets carry for the kernel's routing, and the table of the routes into the device, which
    /// they do not see.
    pub mark: Option<u32>,
    /// Drop clear packets that a rule covers where they come in (RFC 4301, 5.2), by nftables.
    pub firewall: bool,
}

/// With UDP: where the other end of SAs is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Peer {
    /// `remote` of its SAs.
    pub address: IpAddr,
    /// Where its packets go to begin with.
    pub endpoint: SocketAddr,
    /// Whether authentic packets from elsewhere move the endpoint. Not said: only where no endpoint is named.
    pub roaming: bool,
    /// Looks whether it answers; `None`: nobody looks.
    pub check: Option<Check>,
}

/// How it is looked whether a peer answers, and how long packets to it may be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Check {
    /// An address inside that answers pings.
    pub to: IpAddr,
    /// Ours inside, of the same family.
    pub from: IpAddr,
    /// The device inside that pings are of; 0: that of `[inside]`.
    pub if_id: u32,
    /// Seconds from one ping to the next.
    pub interval: u16,
}

const TOP: &[&str] = &[
    "sas",
    "control",
    "state",
    "user",
    "inside",
    "interface",
    "outside",
    "peer",
    "xfrm",
    "engine",
    "page",
    "record",
    "standby",
];
const INSIDE: &[&str] = &["tun", "address", "routes", "mtu", "offload", "clamp_mss", "interfaces"];
const OUTSIDE: &[&str] = &["encapsulation", "listen", "keepalive", "mark", "firewall"];
const XFRM: &[&str] = &["socket", "allow_legacy"];
const PEER: &[&str] = &["address", "endpoint", "roaming", "check", "check_interval", "check_if_id"];
const NAME: &str = "the name of a network device: 1 to 15 letters, digits, `-`, `_`, `.`";
/// IFNAMSIZ less the zero behind the name.
const LONGEST_NAME: usize = 15;
/// Of a Unix socket (`sun_path` less the zero).
const LONGEST_SOCKET: usize = 107;

impl GatewayConfig {
    /// Parses and checks. `file` is the name that errors carry, and its folder is where a relative `sas` is looked for.
    ///
    /// # Errors
    /// Everything that is wrong, at once, each as `file:line: what is wrong; what is allowed`.
    pub fn parse(file: &str, text: &str) -> Result<Self, SaFileErrors> {
        let mut report = Report::new(file, text);
        let root = match DeTable::parse(text) {
            Ok(root) => root,
            Err(error) => {
                report.error(error.span().map_or(0, |span| span.start), error.message());
                return Err(SaFileErrors(report.errors()));
            }
        };
        let top = Fields::new(root.get_ref(), root.span().start, String::new());
        let config = config(&mut report, &top, Path::new(file));
        match (report.errors(), config) {
            (errors, Some(config)) if errors.is_empty() => Ok(config),
            (errors, _) => Err(SaFileErrors(errors)),
        }
    }
}

/// `None` only behind an error.
fn config(report: &mut Report<'_>, top: &Fields<'_>, file: &Path) -> Option<GatewayConfig> {
    let folder = file.parent().unwrap_or(Path::new(""));
    top.refuse_unknown_keys(report, TOP);
    const FILE: &str = "the name of an SA file (docs/sa-file.md)";
    let xfrm = top.table(report, "xfrm").map(|fields| xfrm(report, &fields, folder));
    let sas = match xfrm {
        Some(_) => top.string(report, "sas", FILE),
        None => Some(required(report, top, "sas", FILE)?),
    };
    let control = socket(report, top, "control", "/run/ace/gateway.sock", folder);
    const STATE: &str = "the name of a file that the gateway may write, its own";
    let state = match top.string(report, "state", STATE) {
        Some("") => {
            top.wrong(report, "state", "is empty", STATE);
            return None;
        }
        state => state.map(|state| folder.join(state)),
    };
    let user = top.string(report, "user", "the name of a user").map(str::to_owned);
    let inside = section(report, top, "inside").and_then(|fields| inside(report, &fields));
    let outside = section(report, top, "outside").and_then(|fields| outside(report, &fields));
    let interfaces = interfaces::interfaces(report, top, inside.as_ref());
    let devices =
        || inside.iter().map(|it| (0, it)).chain(interfaces.iter().map(|it| (it.if_id, &it.inside)));
    let peers = more::peers(report, top, outside.as_ref(), &devices().collect::<Vec<_>>());
    let engine = top.table(report, "engine").map(|fields| more::engine(report, &fields, folder));
    let page = top.table(report, "page").map(|fields| more::page(report, &fields));
    let record = match top.table(report, "record") {
        Some(fields) => Some(more::record(report, &fields, folder)?),
        None => None,
    };
    let standby = match top.table(report, "standby") {
        Some(fields) => Some(more::standby(report, &fields, folder)?),
        None => None,
    };
    if standby.is_some() && xfrm.is_some() {
        top.error(
            report,
            top.at_key("standby"),
            "[standby] is for SAs of an SA file: what [xfrm] brings is the IKE daemon's, and the standby has none of it; leave out \
             one of the two",
        );
    }
    let (sas, engine) = (sas.map(|sas| folder.join(sas)), engine.unwrap_or_default());
    if engine.cores.is_some_and(|cores| cores > 1) {
        if peers.iter().any(|peer| peer.check.is_some()) {
            top.error(
                report,
                top.at_key("peer"),
                "`check` of [[peer]] is for one core; leave out `cores` of [engine]",
            );
        }
        for key in ["xfrm", "record"] {
            if top.get(key).is_some() {
                top.error(
                    report,
                    top.at_key(key),
                    format!("[{key}] is for one core; leave out `cores` of [engine]"),
                );
            }
        }
    }
    let (inside, outside) = (inside?, outside?);
    let open_keys = false;
    Some(GatewayConfig {
        sas,
        xfrm,
        control,
        open_keys,
        state,
        user,
        inside,
        interfaces,
        outside,
        peers,
        engine,
        page,
        record,
        standby,
    })
}

fn xfrm(report: &mut Report<'_>, fields: &Fields<'_>, folder: &Path) -> Xfrm {
    fields.refuse_unknown_keys(report, XFRM);
    Xfrm {
        socket: socket(report, fields, "socket", "/run/ace/xfrm.sock", folder),
        allow_legacy: fields.boolean(report, "allow_legacy").unwrap_or(false),
    }
}

fn socket(report: &mut Report<'_>, fields: &Fields<'_>, key: &str, default: &str, folder: &Path) -> PathBuf {
    let path = fields.string(report, key, "the path of a socket").unwrap_or(default);
    if path.is_empty() || path.len() > LONGEST_SOCKET {
        fields.wrong(report, key, "is no path of a socket", &format!("1 to {LONGEST_SOCKET} bytes"));
    }
    folder.join(path)
}

fn section<'a>(report: &mut Report<'_>, top: &Fields<'a>, key: &str) -> Option<Fields<'a>> {
    if top.get(key).is_none() {
        top.error(report, top.at, format!("the section [{key}] is missing"));
    }
    top.table(report, key)
}

fn required<'a>(report: &mut Report<'_>, fields: &Fields<'a>, key: &str, allowed: &str) -> Option<&'a str> {
    if fields.get(key).is_none() {
        fields.missing(report, key, allowed);
    }
    let text = fields.string(report, key, allowed)?;
    if text.is_empty() {
        fields.wrong(report, key, "is empty", allowed);
        return None;
    }
    Some(text)
}

fn inside(report: &mut Report<'_>, fields: &Fields<'_>) -> Option<Inside> {
    fields.refuse_unknown_keys(report, INSIDE);
    let interfaces =
        list(report, fields, "interfaces", NAME, |text| is_device(text).then(|| text.to_owned()));
    Some(Inside { interfaces, ..device(report, fields, "tun", (1400, true, false))? })
}

/// What every device inside has; MTU, offload and clamping where nothing is said of them.
fn device(
    report: &mut Report<'_>,
    fields: &Fields<'_>,
    name: &str,
    (mtu, offload, clamp_mss): (u16, bool, bool),
) -> Option<Inside> {
    let tun = fields.string(report, name, NAME).unwrap_or("ace0");
    if !is_device(tun) {
        fields.wrong(report, name, "is not a name", NAME);
        return None;
    }
    let addresses = list(report, fields, "address", "addresses like \"10.0.1.1/24\"", |text| {
        text.parse::<IpNet>().ok().or_else(|| text.parse::<IpAddr>().ok().map(IpNet::from))
    });
    let routes = list(report, fields, "routes", "prefixes like \"10.0.2.0/24\"", |text| {
        text.parse::<IpNet>().ok().filter(|net| *net == net.trunc())
    });
    let given = fields.integer(report, "mtu", 576..=9000).and_then(|mtu| u16::try_from(mtu).ok());
    let offload = fields.boolean(report, "offload").unwrap_or(offload);
    let clamp_mss = fields.boolean(report, "clamp_mss").unwrap_or(clamp_mss);
    let (tun, mtu) = (tun.to_owned(), given.unwrap_or(mtu));
    Some(Inside { tun, addresses, routes, mtu, offload, clamp_mss, interfaces: Vec::new() })
}

fn is_device(name: &str) -> bool {
    let fits = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.');
    (1..=LONGEST_NAME).contains(&name.len()) && name.chars().all(fits) && !name.starts_with(['-', '.'])
}

fn outside(report: &mut Report<'_>, fields: &Fields<'_>) -> Option<Outside> {
    fields.refuse_unknown_keys(report, OUTSIDE);
    let kinds = [("udp", Encapsulation::Udp), ("none", Encapsulation::None)];
    if fields.get("encapsulation").and_then(|value| value.get_ref().as_str()) == Some("tcp") {
        let what = "is ESP in TCP (RFC 9329), which no gateway here does";
        fields.wrong(report, "encapsulation", what, "udp, none");
        return None;
    }
    let encapsulation = fields.required_choice(report, "encapsulation", &kinds)?;
    if encapsulation == Encapsulation::None {
        for key in ["listen", "keepalive"].into_iter().filter(|key| fields.get(key).is_some()) {
            fields.error(report, fields.at_key(key), format!("`{key}` is for encapsulation = \"udp\" alone"));
        }
    }
    let listen = endpoint(report, fields, "listen", false);
    let any = SocketAddr::from(([0, 0, 0, 0], 4500));
    let keepalive = fields.integer(report, "keepalive", 0..=3600).and_then(|s| u16::try_from(s).ok());
    // Tables up to 255 are the system's own, or have names.
    let mark = fields.integer(report, "mark", 256..=0x7fff_ffff).and_then(|mark| u32::try_from(mark).ok());
    let firewall = fields.boolean(report, "firewall").unwrap_or(true);
    let (listen, keepalive) = (listen.unwrap_or(any), keepalive.unwrap_or(20));
    Some(Outside { encapsulation, listen, keepalive, mark, firewall })
}

fn endpoint(report: &mut Report<'_>, fields: &Fields<'_>, key: &str, remote: bool) -> Option<SocketAddr> {
    let allowed = "an address and a port, like \"192.0.2.2:4500\" or \"[2001:db8::2]:4500\"";
    let found = fields.string(report, key, allowed)?.parse::<SocketAddr>().ok();
    let found = found.filter(|found| !remote || (!found.ip().is_unspecified() && found.port() != 0));
    if found.is_none() {
        fields.wrong(report, key, "is no place to send to or to listen at", allowed);
    }
    found
}

fn list<T>(
    report: &mut Report<'_>,
    fields: &Fields<'_>,
    key: &str,
    allowed: &str,
    parse: impl Fn(&str) -> Option<T>,
) -> Vec<T> {
    let Some(value) = fields.get(key) else { return Vec::new() };
    let one = |item: &Spanned<DeValue<'_>>| item.get_ref().as_str().and_then(&parse);
    let found: Option<Vec<T>> =
        value.get_ref().as_array().and_then(|items| items.iter().map(one).collect::<Option<_>>());
    if found.is_none() {
        fields.wrong(report, key, "is not right", &format!("a list of {allowed}"));
    }
    found.unwrap_or_default()
}
