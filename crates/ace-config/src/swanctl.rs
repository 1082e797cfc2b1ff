// SPDX-License-Identifier: Apache-2.0
//! What strongSwan says of its SAs (`swanctl --list-sas --raw` or `--pretty`): names, directions and traffic selectors,
//! which the kernel's states lack. It never prints keys.

use std::net::IpAddr;
use std::ops::RangeInclusive;

use ace_ipsec::Selector;
use ipnet::IpNet;

use crate::import::Untranslatable;
use crate::sa_file::{protocol_number, range};

type Result<T> = std::result::Result<T, Untranslatable>;

/// One CHILD_SA: two SAs, one in each direction.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Child {
    /// The name in swanctl.conf, which connections may share.
    pub name: String,
    local: Option<IpAddr>,
    remote: Option<IpAddr>,
    spi_in: Option<u32>,
    spi_out: Option<u32>,
    if_id_in: u32,
    if_id_out: u32,
    local_ts: Vec<String>,
    remote_ts: Vec<String>,
}

/// What an SA of a child is called, and what it protects.
#[derive(Debug, PartialEq, Eq)]
pub struct Known {
    /// Whether the SA goes from this machine to the other one.
    pub outbound: bool,
    /// The child's name, the direction and the SPI: `net-out-c1234567`.
    pub name: String,
    /// What the SA protects, as the packet in clear stands; addresses only if it is a tunnel.
    pub selector: Selector,
    /// The XFRM interface that it is for; 0: none.
    pub if_id: u32,
}

/// Whether a text is of swanctl.
pub fn is_swanctl(text: &str) -> bool {
    text.contains("list-sa event {")
}

/// The CHILD_SAs of all messages.
pub fn children(text: &str) -> Vec<Child> {
    // `--pretty` puts spaces around `=`.
    let text = text.replace(" = ", "=");
    let text = text.replace('{', " { ").replace('}', " } ").replace("=[", "=[ ").replace(']', " ] ");
    // Within a selector the brackets are part of the word; they were taken apart above, and come together below.
    let (mut found, mut depth, mut list): (Vec<Child>, u32, Option<&str>) = (Vec::new(), 0, None);
    let (mut hosts, mut child) = ((None, None), Child::default());
    for word in text.split_whitespace() {
        if let Some(name) = list {
            let words = if name == "local-ts" { &mut child.local_ts } else { &mut child.remote_ts };
            match word {
                "]" if words.last().is_some_and(|last| last.contains('[') && !last.ends_with(']')) => {
                    words.last_mut().into_iter().for_each(|last| last.push(']'));
                }
                "]" => list = None,
                word => words.push(word.to_owned()),
            }
            continue;
        }
        match word {
            "{" => {
                depth += 1;
                match depth {
                    2 => hosts = (None, None),
                    4 => child = Child { local: hosts.0, remote: hosts.1, ..Child::default() },
                    _ => {}
                }
            }
            "}" => {
                if depth == 4 {
                    found.push(std::mem::take(&mut child));
                }
                depth = depth.saturating_sub(1);
            }
            word => {
                let Some((key, value)) = word.split_once('=') else { continue };
                match (depth, key) {
                    (2, "local-host") => hosts.0 = value.parse().ok(),
                    (2, "remote-host") => hosts.1 = value.parse().ok(),
                    (4, "name") => value.clone_into(&mut child.name),
                    (4, "spi-in") => child.spi_in = u32::from_str_radix(value, 16).ok(),
                    (4, "spi-out") => child.spi_out = u32::from_str_radix(value, 16).ok(),
                    (4, "if-id-in") => child.if_id_in = u32::from_str_radix(value, 16).unwrap_or(0),
                    (4, "if-id-out") => child.if_id_out = u32::from_str_radix(value, 16).unwrap_or(0),
                    (4, "local-ts" | "remote-ts") => list = Some(key),
                    _ => {}
                }
            }
        }
    }
    found
}

impl Child {
    /// Whether a state of the kernel is one of this one's SAs: its destination and SPI say so.
    pub fn knows(&self, destination: IpAddr, spi: u32, tunnel: bool) -> Result<Option<Known>> {
        let outbound = match (self.spi_in, self.spi_out) {
            (Some(own), _) if own == spi && self.local.is_none_or(|local| local == destination) => false,
            (_, Some(other)) if other == spi && self.remote.is_none_or(|remote| remote == destination) => {
                true
            }
            _ => return Ok(None),
        };
        let (Some(local), Some(remote)) = (one(&self.local_ts)?, one(&self.remote_ts)?) else {
            return Err(Untranslatable(format!("{} has no traffic selectors", self.name)));
        };
        let (source, destination) = if outbound { (local, remote) } else { (remote, local) };
        if source.protocol != destination.protocol {
            return Err(Untranslatable(format!("{} has traffic selectors of two protocols", self.name)));
        }
        let mut selector = Selector {
            protocol: source.protocol,
            source_ports: source.ports,
            destination_ports: destination.ports,
            ..Selector::default()
        };
        if tunnel && !(source.net.is_none() && destination.net.is_none()) {
            (selector.source, selector.destination) = (source.net, destination.net);
        }
        let direction = if outbound { "out" } else { "in" };
        let name = format!("{}-{direction}-{spi:08x}", self.name);
        let if_id = if outbound { self.if_id_out } else { self.if_id_in };
        Ok(Some(Known { outbound, name, selector, if_id }))
    }

    /// The SPIs that it has.
    pub fn spis(&self) -> impl Iterator<Item = u32> {
        self.spi_in.into_iter().chain(self.spi_out)
    }
}

struct TrafficSelector {
    /// `None`: any address.
    net: Option<IpNet>,
    protocol: Option<u8>,
    ports: Option<RangeInclusive<u16>>,
}

/// The only selector of a list: `10.1.0.0/16`, or with protocol and ports `10.1.0.0/16[tcp/8080]`.
fn one(list: &[String]) -> Result<Option<TrafficSelector>> {
    let [written] = list else {
        if list.is_empty() {
            return Ok(None);
        }
        let all = list.join(" and ");
        return Err(Untranslatable(format!("an SA file has one selector for an SA, and there are {all}")));
    };
    let no_place = || Untranslatable(format!("the traffic selector {written} has no place in an SA file"));
    let (net, rest) = written.split_once('[').unwrap_or((written, ""));
    let (protocol, ports) = match rest.trim_end_matches(']') {
        "" => (None, None),
        rest => match rest.split_once('/') {
            Some((protocol, ports)) => (Some(protocol), Some(ports)),
            None => (Some(rest), None),
        },
    };
    let net = match net {
        "0.0.0.0/0" | "::/0" | "dynamic" => None,
        net => Some(net.parse().map_err(|_| no_place())?),
    };
    let protocol = protocol.map(|word| protocol_number(word).ok_or_else(no_place)).transpose()?;
    let ports = ports.map(|word| range(word).ok_or_else(no_place)).transpose()?;
    Ok(Some(TrafficSelector { net, protocol, ports }))
}

#[cfg(test)]
mod tests {
    use super::*;

    const RAW: &str = "list-sa event {gw {uniqueid=1 version=2 state=ESTABLISHED local-host=192.0.2.1 \
        local-id=C=CH, O=ACE, CN=a remote-host=192.0.2.2 encr-alg=AES_CBC child-sas {net-1 {name=net uniqueid=1 \
        reqid=1 state=INSTALLED mode=TUNNEL protocol=ESP spi-in=c0ffee02 spi-out=c0ffee01 if-id-in=00000007 if-id-out=0000000a encr-alg=AES_CBC \
        local-ts=[10.1.0.0/16] remote-ts=[10.2.0.0/16]} web-2 {name=web spi-in=00000102 spi-out=00000101 \
        local-ts=[10.1.0.0/16[tcp]] remote-ts=[10.2.0.9/32[tcp/8080]]} two-3 {name=two spi-in=00000202 \
        spi-out=00000201 local-ts=[10.1.0.0/16 10.3.0.0/16] remote-ts=[10.2.0.0/16]}}}}\nlist-sas reply {}\n";

    #[test]
    fn children_of_swanctl() {
        let found = children(RAW);
        assert_eq!(found.iter().map(|c| c.name.as_str()).collect::<Vec<_>>(), ["net", "web", "two"]);
        let address = |text: &str| text.parse().expect("an address");
        let (ours, theirs) = (address("192.0.2.1"), address("192.0.2.2"));
        let known = found[0].knows(theirs, 0xc0ff_ee01, true).expect("selectors").expect("known");
        assert_eq!((known.outbound, known.name.as_str(), known.if_id), (true, "net-out-c0ffee01", 10));
        let net = |text: &str| text.parse().ok();
        let nets = |source, destination| Selector {
            source: net(source),
            destination: net(destination),
            ..Selector::default()
        };
        assert_eq!(known.selector, nets("10.1.0.0/16", "10.2.0.0/16"));
        let known = found[0].knows(ours, 0xc0ff_ee02, true).expect("selectors").expect("known");
        assert_eq!(
            (known.outbound, known.if_id, known.selector),
            (false, 7, nets("10.2.0.0/16", "10.1.0.0/16"))
        );
        assert_eq!(found[0].knows(ours, 0xc0ff_ee01, true).expect("no error"), None, "the other end's SPI");
        let known = found[1].knows(theirs, 0x101, true).expect("selectors").expect("known");
        let wanted = Selector {
            protocol: Some(6),
            destination_ports: Some(8080..=8080),
            ..nets("10.1.0.0/16", "10.2.0.9/32")
        };
        assert_eq!(known.selector, wanted);
        assert!(found[2].knows(theirs, 0x201, true).is_err(), "two selectors");
        let pretty = RAW.replace('=', " = ").replace('{', "{\n").replace(" local-ts", "\n local-ts");
        assert_eq!(children(&pretty), found);
        for cut in 0..RAW.len() {
            let _ = children(&RAW[..cut]);
        }
    }
}
