// SPDX-License-Identifier: Apache-2.0
//! Policies of the kernel, and the SAs that they lead to. What an SA protects stands with them.

use std::cell::Cell;
use std::net::IpAddr;

use ace_ipsec::Selector;
use ace_ipsec::packet::protocol::{has_ports, has_types};

use super::printed::{Block, Printed, number};
use super::{Ends, Untranslatable, no};
use crate::sa_file::protocol_number;

/// Names of /etc/protocols, with which `ip` prints protocols, where SA files have others.
const PROTOCOLS: &[(&str, u8)] = &[
    ("hopopt", 0),
    ("igmp", 2),
    ("ipencap", 4),
    ("egp", 8),
    ("igp", 9),
    ("ipv6-route", 43),
    ("ipv6-frag", 44),
    ("rsvp", 46),
    ("ipv6-icmp", 58),
    ("ipv6-nonxt", 59),
    ("ipv6-opts", 60),
    ("eigrp", 88),
    ("ospfigp", 89),
    ("ipip", 94),
    ("etherip", 97),
    ("encap", 98),
    ("pim", 103),
    ("ipcomp", 108),
    ("vrrp", 112),
    ("l2tp", 115),
    ("isis", 124),
    ("mobility-header", 135),
    ("ipv6-mh", 135),
    ("mpls-in-ip", 137),
    ("hip", 139),
    ("shim6", 140),
    ("wesp", 141),
    ("rohc", 142),
    ("ethernet", 143),
];

/// The selector of a line: of an SA (`sel`) or of a policy. Addresses of any kind stay with their family.
pub fn selector(block: &Block<'_>) -> Result<Selector, Untranslatable> {
    let net = |word| {
        let net = block.get("sel", word);
        net.map(|net| {
            // A policy's line leaves the length out nowhere, but tools that print like `ip` do.
            let parsed = net.parse().or_else(|_| net.parse::<IpAddr>().map(Into::into));
            parsed.map_err(|_| no(format!("`{word} {net}` is no prefix")))
        })
    };
    let port = |word| {
        let port = block.get("sel", word);
        port.map(|port| {
            port.parse().map(|p: u16| p..=p).map_err(|_| no(format!("`{word} {port}` is no port")))
        })
    };
    let protocol = block.get("sel", "proto").map(|word| {
        let named = PROTOCOLS.iter().find(|(name, _)| *name == word).map(|&(_, number)| number);
        named.or_else(|| protocol_number(word)).ok_or_else(|| no(format!("`proto {word}` is not known here")))
    });
    let selector = Selector {
        source: net("src").transpose()?,
        destination: net("dst").transpose()?,
        protocol: protocol.transpose()?,
        // One or the other is printed, by the protocol.
        source_ports: port("sport").or_else(|| port("type")).transpose()?,
        destination_ports: port("dport").or_else(|| port("code")).transpose()?,
    };
    if (selector.source_ports.is_some() || selector.destination_ports.is_some())
        && !selector.protocol.is_some_and(|protocol| has_ports(protocol) || has_types(protocol))
    {
        return Err(no("it selects ports of a protocol without ports"));
    }
    if block.get("sel", "uid").is_some_and(|uid| number(uid) != Some(0)) {
        return Err(no("`uid`: selectors here have no users"));
    }
    Ok(selector)
}

/// One policy.
struct Rule {
    /// File and line.
    place: String,
    outbound: bool,
    priority: u64,
    /// Why it cannot be done, or which packets it is for.
    selector: Result<Selector, Untranslatable>,
    /// `None`: packets pass.
    to: Option<Template>,
    left_out: Vec<String>,
    /// Whether an SA was found that it leads to.
    used: Cell<bool>,
}

struct Template {
    source: Option<IpAddr>,
    destination: Option<IpAddr>,
    protocol: String,
    mode: String,
    reqid: u64,
    spi: u64,
    if_id: u64,
}

/// All of a machine.
#[derive(Default)]
pub struct Policies {
    rules: Vec<Rule>,
}

/// What policies say of one SA.
pub struct Demand {
    pub outbound: bool,
    pub selector: Selector,
    pub priority: u64,
    /// Words of the policy that are left out.
    pub left_out: Vec<String>,
}

impl Policies {
    /// Those of a text.
    pub fn take(&mut self, name: &str, printed: &Printed<'_>) {
        for block in printed.blocks.iter().filter(|block| block.policy && !block.socket) {
            let place = format!("{name}:{}: policy", block.line);
            let refused = block.refused.iter().map(|(line, what)| format!("{what} (line {line})"));
            let refused: Vec<_> = refused.collect();
            let templates = block.every("template", "src").count();
            let selector = match refused.is_empty() {
                true if templates > 1 => Err(no("it asks for several SAs, one in another")),
                true => selector(block),
                false => Err(no(refused.join("; "))),
            };
            let address = |word| {
                let address: Option<IpAddr> = block.get("template", word).and_then(|a| a.parse().ok());
                address.filter(|address| !address.is_unspecified())
            };
            let word = |word| block.get("template", word).unwrap_or_default().to_owned();
            let number = |word| block.number("template", word).unwrap_or(0);
            let to = block.has("line", "tmpl").then(|| Template {
                source: address("src"),
                destination: address("dst"),
                protocol: word("proto"),
                mode: word("mode"),
                reqid: number("reqid"),
                spi: number("spi"),
                if_id: block.number("line", "if_id").unwrap_or(0),
            });
            self.rules.push(Rule {
                place,
                outbound: block.get("policy", "dir") == Some("out"),
                priority: block.number("policy", "priority").unwrap_or(0),
                selector,
                to,
                left_out: block
                    .left_out
                    .iter()
                    .map(|(line, what)| format!("{name}:{line}: {what}"))
                    .collect(),
                used: Cell::new(false),
            });
        }
    }

    /// Whether there are any.
    pub fn is_empty(&self) -> bool {
        self.rules.is_empty()
    }

    /// What leads to an SA. `None` if nothing does.
    pub fn lead_to(
        &self,
        ends: Ends,
        state: &Block<'_>,
        outbound: Option<bool>,
    ) -> Result<Option<Demand>, Untranslatable> {
        let word = |word| state.get("proto", word).unwrap_or_default();
        let reqid = state.number("proto", "reqid").unwrap_or(0);
        let if_id = state.number("line", "if_id").unwrap_or(0);
        let leads = |to: &Template| {
            to.source.is_none_or(|source| source == ends.source)
                && to.destination.is_none_or(|destination| destination == ends.destination)
                && to.protocol == word("proto")
                && to.mode == word("mode")
                && (to.reqid == 0 || to.reqid == reqid)
                && (to.spi == 0 || to.spi == u64::from(ends.spi))
                && to.if_id == if_id
        };
        let fits = |rule: &&Rule| {
            outbound.is_none_or(|outbound| rule.outbound == outbound) && rule.to.as_ref().is_some_and(leads)
        };
        let mut demand: Option<Demand> = None;
        for rule in self.rules.iter().filter(fits) {
            rule.used.set(true);
            let selector = match &rule.selector {
                Ok(selector) => selector.clone(),
                Err(why) => {
                    return Err(no(format!(
                        "the policy that leads to it ({}) has no place: {why}",
                        rule.place
                    )));
                }
            };
            match &mut demand {
                None => {
                    let (outbound, priority) = (rule.outbound, rule.priority);
                    demand = Some(Demand { outbound, selector, priority, left_out: rule.left_out.clone() });
                }
                Some(demand) if demand.outbound != rule.outbound => {
                    return Err(no(
                        "policies of both directions lead to it: --local says which addresses are this \
                                   machine's",
                    ));
                }
                // `in` and `fwd` are one rule here.
                Some(demand) if demand.selector == selector => {
                    demand.priority = demand.priority.min(rule.priority);
                    demand.left_out.extend(rule.left_out.iter().cloned());
                }
                Some(_) => {
                    return Err(no(
                        "an SA file has one selector for an SA, and policies with several lead to it",
                    ));
                }
            }
        }
        Ok(demand)
    }

    /// Policies that lead to no SA.
    pub fn rest(&self) -> impl Iterator<Item = String> {
        self.rules.iter().filter(|rule| !rule.used.get()).map(|rule| {
            let why = match (&rule.selector, &rule.to) {
                (Err(why), _) => why.to_string(),
                (_, None) => {
                    "it lets packets pass, and an SA file has no such rules but `default_policy`".to_owned()
                }
                (Ok(_), Some(_)) => "no SA that it leads to".to_owned(),
            };
            format!("{}: {why}", rule.place)
        })
    }
}
