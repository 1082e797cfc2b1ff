// SPDX-License-Identifier: Apache-2.0
//! The gateway's table in nftables: a chain where packets come in, and a chain with its sets for each layer of rules.

use std::collections::{BTreeMap, HashSet};

use ace_ipsec::packet::protocol::{AH, ESP, ICMP, ICMPV6, UDP};
use nix::libc::{NLM_F_ACK, NLM_F_APPEND, NLM_F_CREATE};
use serde::{Deserialize, Serialize};

use super::cover::{Cover, Range};
use super::expression::{Compare, Header, Meta, Rule, Then};
use super::layers::{Changes, Element, Layers, Verdict};
use super::message::{Attributes, Command, Messages};

const IKE: u16 = 500;
const IKE_BEHIND_NAT: u16 = 4500;

/// Where packets come in, before the raw table and before addresses are translated: as they were on the wire.
const ENTRY: &str = "clear";
const PRIORITY: i32 = -310;
/// What becomes of packets that a rule covers, and the counter of those.
const COVERED: &str = "covered";
/// Of one attribute; its length is 16 bits.
const LONGEST: usize = 60_000;

/// What does not change while the gateway runs.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Setup {
    /// Its name in nftables.
    pub table: String,
    /// The number of the device that packets come out of when they were protected.
    pub device: u32,
    /// Devices of the inside, from which nothing has to be protected.
    pub interfaces: Vec<String>,
    /// Where ESP in UDP comes.
    pub port: Option<u16>,
}

/// The table's name.
pub fn name(tun: &str) -> String {
    format!("ace-{tun}")
}

/// A set of a layer: fields that its elements have.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
struct Set {
    layer: usize,
    verdict: Verdict,
    v6: bool,
    protocol: bool,
    ports: bool,
}

impl Set {
    fn of(element: &Element) -> Self {
        let Element { layer, verdict, cover } = element;
        let protocol = cover.protocol.is_some();
        Self {
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
        format!("{verdict}-{}-{fields}-{}", self.layer, if self.v6 { 6 } else { 4 })
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
    /// How many chains of layers there are.
    layers: usize,
    ids: u32,
}

impl Table {
    pub fn new(setup: Setup) -> Self {
        Self { setup, sets: HashSet::new(), layers: 0, ids: 0 }
    }

    pub fn name(&self) -> &str {
        &self.setup.table
    }

    /// Everything, in the place of whatever has its name.
    pub fn anew(&mut self, layers: &Layers, sequence: u32) -> (Vec<u8>, u32) {
        (self.sets, self.layers) = (HashSet::new(), 0);
        let mut batch = Messages::begin(sequence);
        remove(&mut batch, &self.setup.table);
        batch.message(Command::NewTable, NLM_F_CREATE, |it| {
            it.text(1, &self.setup.table);
        });
        batch.message(Command::NewObject, NLM_F_CREATE, |it| {
            const COUNTER: u32 = 1;
            it.text(1, &self.setup.table).text(2, COVERED).number(3, COUNTER).nest(4, |_| {});
        });
        self.chain(&mut batch, COVERED, false);
        self.chain(&mut batch, ENTRY, true);
        self.rule(&mut batch, COVERED, Rule::default().count(COVERED).then(Then::Drop));
        for rule in self.exempt() {
            self.rule(&mut batch, ENTRY, rule.then(Then::Accept));
        }
        self.elements(&mut batch, layers.elements().collect(), Command::NewElements);
        batch.end(|batch| self.last(batch))
    }

    pub fn change(&mut self, changes: Changes, sequence: u32) -> (Vec<u8>, u32) {
        let mut batch = Messages::begin(sequence);
        self.elements(&mut batch, changes.gone, Command::DelElements);
        self.elements(&mut batch, changes.new, Command::NewElements);
        batch.end(|batch| self.last(batch))
    }

    /// Says when it is done; it changes nothing.
    fn last(&self, batch: &mut Messages) {
        batch.message(Command::NewTable, NLM_F_CREATE | NLM_F_ACK, |it| {
            it.text(1, &self.setup.table);
        });
    }

    /// What is never covered: the inside, ESP and AH and IKE to this machine, ICMP errors about those, and what IPv6 needs
    /// on a link.
    fn exempt(&self) -> Vec<Rule> {
        const IPV4: &[u8] = &[2];
        const IPV6: &[u8] = &[10];
        let rule = Rule::default;
        let mut ports = vec![IKE, IKE_BEHIND_NAT];
        ports.extend(self.setup.port);
        ports.sort_unstable();
        ports.dedup();
        let mut all = vec![
            rule().meta(Meta::InputIndex, &self.setup.device.to_ne_bytes()),
            rule().device("lo"),
            rule().protocol(ESP).ours(),
            rule().protocol(AH).ours(),
        ];
        all.extend(self.setup.interfaces.iter().map(|name| rule().device(name)));
        let port = |port: &u16| {
            rule().protocol(UDP).bytes(Header::Transport, 2, Compare::Equal, &port.to_be_bytes()).ours()
        };
        all.extend(ports.iter().map(port));
        // They are of no use without the first one, which is looked at.
        all.push(rule().meta(Meta::Family, IPV4).protocol(UDP).later_fragment().ours());
        all.push(rule().meta(Meta::Family, IPV6).protocol(UDP).later_fragment_v6().ours());
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
                inner(UDP).bytes(Header::Transport, 8 + header, Compare::Equal, &port.to_be_bytes()).ours()
            });
            [inner(ESP).ours(), inner(AH).ours()].into_iter().chain(ports)
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

    fn chain(&self, batch: &mut Messages, name: &str, hooked: bool) {
        batch.message(Command::NewChain, NLM_F_CREATE, |it| {
            it.text(1, &self.setup.table).text(3, name);
            if hooked {
                const PREROUTING: u32 = 0;
                const ACCEPT: u32 = 1;
                it.nest(4, |hook| {
                    hook.number(1, PREROUTING).put(2, &PRIORITY.to_be_bytes());
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

    fn elements(&mut self, batch: &mut Messages, elements: Vec<Element>, command: Command) {
        let mut by_set: BTreeMap<Set, Vec<Cover>> = BTreeMap::new();
        for element in elements {
            by_set.entry(Set::of(&element)).or_default().push(element.cover);
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
        while self.layers <= set.layer {
            let name = layer(self.layers);
            self.chain(batch, &name, false);
            self.rule(batch, ENTRY, Rule::default().then(Then::Jump(&name)));
            self.layers += 1;
        }
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
        self.rule(batch, &layer(set.layer), rule.then(verdict));
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

fn layer(number: usize) -> String {
    format!("layer-{number}")
}

fn put(element: &mut Attributes, set: &Set, cover: &Cover) {
    let [first, last] = set.key(cover);
    for (kind, key) in [(1, first), (10, last)] {
        element.nest(kind, |data| {
            data.put(1, &key);
        });
    }
}
