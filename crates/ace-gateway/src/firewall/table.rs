// SPDX-License-Identifier: Apache-2.0
//! The gateway's table in nftables: a chain where packets come in and one where they leave, and a chain with its sets for
//! each layer of rules of either.

use std::collections::{BTreeMap, HashSet};

use ace_ipsec::packet::protocol::{AH, ESP, ICMP, ICMPV6, UDP};
use ipnet::IpNet;
use nix::libc::{NLM_F_ACK, NLM_F_APPEND, NLM_F_CREATE, NLM_F_EXCL};
use serde::{Deserialize, Serialize};

use super::cover::{Cover, Range};
use super::expression::{Compare, Header, Meta, Rule, Then};
use super::layers::{Changes, Element, Layers, Verdict, Way};
use super::message::{Attributes, Command, Messages};

const IKE: u16 = 500;
const IKE_BEHIND_NAT: u16 = 4500;

/// Where packets come in, before the raw table and before addresses are translated: as they were on the wire. And where
/// they leave, before their source is another one.
const ENTRIES: [(Way, &str); 2] = [(Way::In, "clear"), (Way::Out, "leaving")];
const PRIORITY: i32 = -310;
/// NFT_TABLE_F_OWNER and NFT_TABLE_F_PERSIST: others neither change nor flush it while its owner is there, and it outlives
/// the owner. Linux has both since 6.9.
const OWNED: u32 = 2 | 4;
/// What becomes of packets that a rule covers, and the counter of those.
const COVERED: &str = "covered";
/// Of one attribute; its length is 16 bits.
const LONGEST: usize = 60_000;

/// What does not change while the gateway runs.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Setup {
    /// Its name in nftables.
    pub table: String,
    /// The numbers of the devices that packets come out of when they were protected, and go into to be so.
    pub devices: Vec<u32>,
    /// Devices of the inside, from and to which nothing has to be protected.
    pub interfaces: Vec<String>,
    /// What is routed into those devices: whatever it is from, it leaves by one of them or not at all.
    pub routes: Vec<IpNet>,
    /// Where ESP in UDP comes.
    pub port: Option<u16>,
}

/// The table's name.
pub fn name(tun: &str) -> String {
    format!("ace-{tun}")
}

/// The name of what holds while a table is made anew.
pub fn stand_in(table: &str) -> String {
    format!("{table}-anew")
}

/// A set of a layer: fields that its elements have.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
struct Set {
    way: Way,
    layer: usize,
    verdict: Verdict,
    v6: bool,
    protocol: bool,
    ports: bool,
}

impl Set {
    fn of(way: Way, element: &Element) -> Self {
        let Element { layer, verdict, cover } = element;
        let protocol = cover.protocol.is_some();
        Self {
            way,
            layer: *layer,
            verdict: *verdict,
            v6: cover.v6,
            protocol,
            ports: protocol && cover.ports.is_some(),
        }
    }

    fn name(&self) -> String {
        let verdict = if self.verdict == Verdict::Drop { "covered" } else { "bypassed" };
        let fields = match (self.protocol, self.ports) {
            (false, _) => "nets",
            (true, false) => "protocols",
            (true, true) => "ports",
        };
        let family = if self.v6 { 6 } else { 4 };
        format!("{}{verdict}-{}-{fields}-{family}", prefix(self.way), self.layer)
    }

    /// Bytes of each field.
    fn fields(&self) -> Vec<u32> {
        let address = if self.v6 { 16 } else { 4 };
        let mut fields = vec![address, address];
        fields.extend(self.protocol.then_some(1));
        fields.extend(self.ports.then_some([2, 2]).into_iter().flatten());
        fields
    }

    /// What `nft list` shows a key as: its types of datatype.h, six bits each.
    fn key_type(&self) -> u32 {
        const IPV4: u32 = 7;
        const IPV6: u32 = 8;
        const PROTOCOL: u32 = 12;
        const SERVICE: u32 = 13;
        let address = if self.v6 { IPV6 } else { IPV4 };
        let kinds = [address, address, PROTOCOL, SERVICE, SERVICE];
        self.fields().iter().zip(kinds).fold(0, |key, (_, kind)| key << 6 | kind)
    }

    /// Both ends of an element, each field padded to four bytes.
    fn key(&self, cover: &Cover) -> [Vec<u8>; 2] {
        [false, true].map(|end| {
            let mut key = Vec::new();
            for range in [cover.source, cover.destination] {
                key.extend(address(range, end, self.v6));
            }
            if let (true, Some(protocol)) = (self.protocol, cover.protocol) {
                key.extend([protocol, 0, 0, 0]);
            }
            for (first, last) in cover.ports.filter(|_| self.ports).into_iter().flatten() {
                let [high, low] = (if end { last } else { first }).to_be_bytes();
                key.extend([high, low, 0, 0]);
            }
            key
        })
    }
}

fn address(range: Range, end: bool, v6: bool) -> Vec<u8> {
    let bits = if end { range.1 } else { range.0 };
    match v6 {
        true => bits.to_be_bytes().to_vec(),
        false => (bits as u32).to_be_bytes().to_vec(),
    }
}

/// As it stands in the kernel.
pub struct Table {
    setup: Setup,
    sets: HashSet<Set>,
    /// How many chains of layers there are, of what comes and of what leaves.
    layers: [usize; 2],
    ids: u32,
    owned: bool,
}

impl Table {
    pub fn new(setup: Setup) -> Self {
        Self { setup, sets: HashSet::new(), layers: [0; 2], ids: 0, owned: true }
    }

    pub fn name(&self) -> &str {
        &self.setup.table
    }

    /// One that an earlier gateway has left, which nobody owns any more, has an owner again.
    pub fn adopt(&self, sequence: u32) -> (Vec<u8>, u32) {
        Messages::begin(sequence).end(|batch| {
            batch.message(Command::NewTable, NLM_F_CREATE | NLM_F_ACK, |it| {
                it.text(1, self.name()).number(2, OWNED);
            });
        })
    }

    /// What holds while this one is made anew.
    pub fn stand_in(&self) -> Self {
        Self::new(Setup { table: stand_in(self.name()), ..self.setup.clone() })
    }

    /// The kernel knows no tables that have an owner and outlive it. False if that was known.
    pub fn disown(&mut self) -> bool {
        std::mem::replace(&mut self.owned, false)
    }

    /// Everything; `replaces` whatever has its name, or else wants that there is nothing of it.
    pub fn anew(&mut self, layers: [&Layers; 2], replaces: bool, sequence: u32) -> (Vec<u8>, u32) {
        (self.sets, self.layers) = (HashSet::new(), [0; 2]);
        let mut batch = Messages::begin(sequence);
        if replaces {
            remove(&mut batch, &self.setup.table);
        }
        batch.message(Command::NewTable, NLM_F_CREATE | NLM_F_EXCL, |it| {
            it.text(1, &self.setup.table);
            if self.owned {
                it.number(2, OWNED);
            }
        });
        batch.message(Command::NewObject, NLM_F_CREATE, |it| {
            const COUNTER: u32 = 1;
            it.text(1, &self.setup.table).text(2, COVERED).number(3, COUNTER).nest(4, |_| {});
        });
        self.chain(&mut batch, COVERED, None);
        self.rule(&mut batch, COVERED, Rule::default().count(COVERED).then(Then::Drop));
        for ((way, entry), layers) in ENTRIES.into_iter().zip(layers) {
            self.chain(&mut batch, entry, Some(way));
            for rule in self.exempt(way) {
                self.rule(&mut batch, entry, rule.then(Then::Accept));
            }
            self.elements(&mut batch, way, layers.elements().collect(), Command::NewElements);
        }
        batch.end(|batch| self.last(batch))
    }

    pub fn change(&mut self, changes: [Changes; 2], sequence: u32) -> (Vec<u8>, u32) {
        let mut batch = Messages::begin(sequence);
        for ((way, _), Changes { gone, new, .. }) in ENTRIES.into_iter().zip(changes) {
            self.elements(&mut batch, way, gone, Command::DelElements);
            self.elements(&mut batch, way, new, Command::NewElements);
        }
        batch.end(|batch| self.last(batch))
    }

    /// Says when it is done; it changes nothing.
    fn last(&self, batch: &mut Messages) {
        batch.message(Command::NewTable, NLM_F_CREATE | NLM_F_ACK, |it| {
            it.text(1, &self.setup.table);
        });
    }

    /// What is never covered: the inside, ESP and AH and IKE to or of this machine, ICMP errors about those, and what IPv6
    /// needs on a link.
    fn exempt(&self, way: Way) -> Vec<Rule> {
        const IPV4: &[u8] = &[2];
        const IPV6: &[u8] = &[10];
        let rule = Rule::default;
        // Of the ports this machine's: that which a packet goes to, or that which it comes from.
        let (index, end) = match way {
            Way::In => (Meta::InputIndex, 2),
            Way::Out => (Meta::OutputIndex, 0),
        };
        let mut ports = vec![IKE, IKE_BEHIND_NAT];
        ports.extend(self.setup.port);
        ports.sort_unstable();
        ports.dedup();
        let mut all: Vec<Rule> =
            self.setup.devices.iter().map(|device| rule().meta(index, &device.to_ne_bytes())).collect();
        all.extend([rule().device(way, "lo"), rule().protocol(ESP).ours(way), rule().protocol(AH).ours(way)]);
        all.extend(self.setup.interfaces.iter().map(|name| rule().device(way, name)));
        let port = |port: &u16| {
            rule().protocol(UDP).bytes(Header::Transport, end, Compare::Equal, &port.to_be_bytes()).ours(way)
        };
        all.extend(ports.iter().map(port));
        // They are of no use without the first one, which is looked at.
        all.push(rule().meta(Meta::Family, IPV4).protocol(UDP).later_fragment().ours(way));
        all.push(rule().meta(Meta::Family, IPV6).protocol(UDP).later_fragment_v6().ours(way));
        // The packet that an error is about begins behind 8 bytes; its protocol is at 9 of IPv4 and at 6 of IPv6.
        let about = |family, protocol, kind: u8, at: u32| {
            let error = move || {
                let error = rule().meta(Meta::Family, family).protocol(protocol);
                error.bytes(Header::Transport, 0, Compare::Equal, &[kind])
            };
            let inner =
                move |protocol: u8| error().bytes(Header::Transport, 8 + at, Compare::Equal, &[protocol]);
            let ports = ports.clone().into_iter().map(move |port| {
                let header = if at == 6 { 40 } else { 20 };
                let at = 8 + header + (2 - end);
                inner(UDP).bytes(Header::Transport, at, Compare::Equal, &port.to_be_bytes()).ours(way)
            });
            [inner(ESP).ours(way), inner(AH).ours(way)].into_iter().chain(ports)
        };
        const UNREACHABLE: u8 = 3;
        const UNREACHABLE_V6: u8 = 1;
        const TOO_BIG: u8 = 2;
        all.extend(about(IPV4, ICMP, UNREACHABLE, 9));
        all.extend(about(IPV6, ICMPV6, UNREACHABLE_V6, 6));
        all.extend(about(IPV6, ICMPV6, TOO_BIG, 6));
        // RFC 2710, RFC 3810, RFC 4861: listeners, routers and neighbours.
        for (first, last) in [(130, 137), (143, 143)] {
            all.push(
                rule()
                    .meta(Meta::Family, IPV6)
                    .protocol(ICMPV6)
                    .bytes(Header::Transport, 0, Compare::AtLeast, &[first])
                    .bytes(Header::Transport, 0, Compare::AtMost, &[last]),
            );
        }
        all
    }

    fn chain(&self, batch: &mut Messages, name: &str, hooked: Option<Way>) {
        batch.message(Command::NewChain, NLM_F_CREATE, |it| {
            it.text(1, &self.setup.table).text(3, name);
            if let Some(way) = hooked {
                const PREROUTING: u32 = 0;
                const POSTROUTING: u32 = 4;
                const ACCEPT: u32 = 1;
                it.nest(4, |hook| {
                    hook.number(1, if way == Way::In { PREROUTING } else { POSTROUTING })
                        .put(2, &PRIORITY.to_be_bytes());
                });
                it.number(5, ACCEPT).text(7, "filter");
            }
        });
    }

    fn rule(&self, batch: &mut Messages, chain: &str, rule: Rule) {
        batch.message(Command::NewRule, NLM_F_CREATE | NLM_F_APPEND, |it| {
            it.text(1, &self.setup.table).text(2, chain).nest(4, |expressions| *expressions = rule.0);
        });
    }

    fn elements(&mut self, batch: &mut Messages, way: Way, elements: Vec<Element>, command: Command) {
        let mut by_set: BTreeMap<Set, Vec<Cover>> = BTreeMap::new();
        for element in elements {
            by_set.entry(Set::of(way, &element)).or_default().push(element.cover);
        }
        for (set, covers) in by_set {
            self.make(batch, set);
            let name = set.name();
            // Each is less than 128 bytes.
            for covers in covers.chunks(LONGEST / 128) {
                batch.message(
                    command,
                    if command == Command::NewElements { NLM_F_CREATE } else { 0 },
                    |it| {
                        it.text(1, &self.setup.table).text(2, &name).nest(3, |list| {
                            for cover in covers {
                                list.nest(1, |element| put(element, &set, cover));
                            }
                        });
                    },
                );
            }
        }
    }

    /// The set's chain, the set, and the rule that looks into it.
    fn make(&mut self, batch: &mut Messages, set: Set) {
        let [(_, clear), (_, leaving)] = ENTRIES;
        let [coming, going] = self.layers;
        let (entry, there) = if set.way == Way::In { (clear, coming) } else { (leaving, going) };
        for number in there..=set.layer {
            let name = layer(set.way, number);
            self.chain(batch, &name, None);
            self.rule(batch, entry, Rule::default().then(Then::Jump(&name)));
        }
        let there = there.max(set.layer + 1);
        self.layers = if set.way == Way::In { [there, going] } else { [coming, there] };
        if !self.sets.insert(set) {
            return;
        }
        let name = set.name();
        self.ids += 1;
        batch.message(Command::NewSet, NLM_F_CREATE, |it| {
            const RANGES_OF_FIELDS: u32 = 0x84;
            let fields = set.fields();
            let len = fields.iter().map(|field| field.next_multiple_of(4)).sum();
            it.text(1, &self.setup.table).text(2, &name).number(3, RANGES_OF_FIELDS);
            it.number(4, set.key_type()).number(5, len).number(10, self.ids);
            it.nest(9, |description| {
                description.nest(2, |concatenation| {
                    for field in fields {
                        concatenation.nest(1, |it| {
                            it.number(1, field);
                        });
                    }
                });
            });
        });
        let family = if set.v6 { 10 } else { 2 };
        let rule =
            Rule::default().meta(Meta::Family, &[family]).look_up(&name, set.v6, set.protocol, set.ports);
        let verdict = if set.verdict == Verdict::Drop { Then::Goto(COVERED) } else { Then::Accept };
        self.rule(batch, &layer(set.way, set.layer), rule.then(verdict));
    }

    /// How many packets it has dropped, as a question.
    pub fn ask_dropped(&self, sequence: u32) -> Vec<u8> {
        let question = Messages::question(sequence, Command::GetObject, 0, |it| {
            const COUNTER: u32 = 1;
            it.text(1, &self.setup.table).text(2, COVERED).number(3, COUNTER);
        });
        question.bytes
    }
}

/// Takes a table out, whether or not it is there.
pub fn remove(batch: &mut Messages, table: &str) {
    batch.message(Command::NewTable, NLM_F_CREATE, |it| {
        it.text(1, table);
    });
    batch.message(Command::DelTable, NLM_F_ACK, |it| {
        it.text(1, table);
    });
}

fn prefix(way: Way) -> &'static str {
    if way == Way::In { "" } else { "leaving-" }
}

fn layer(way: Way, number: usize) -> String {
    format!("{}layer-{number}", prefix(way))
}

fn put(element: &mut Attributes, set: &Set, cover: &Cover) {
    let [first, last] = set.key(cover);
    for (kind, key) in [(1, first), (10, last)] {
        element.nest(kind, |data| {
            data.put(1, &key);
        });
    }
}
