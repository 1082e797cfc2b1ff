// SPDX-License-Identifier: Apache-2.0
//! First match without looking at every rule (tuple space search): rules with the same prefix lengths and the same
//! exact fields are one hash table, and a packet is looked up once in each.

use std::collections::HashMap;
use std::net::IpAddr;
use std::ops::RangeInclusive;

use ipnet::IpNet;

use super::Decision;
use crate::model::{Flow, Match, Selector, protocol};

/// Which bits of a packet a table looks at.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Shape {
    v6: bool,
    source: u8,
    destination: u8,
    protocol: bool,
    source_port: bool,
    destination_port: bool,
}

/// These bits of a packet or a rule; what the shape does not look at is 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
struct Key {
    source: u128,
    destination: u128,
    rest: u64,
    if_id: u32,
}

/// A rule in a table.
#[derive(Clone, Copy, Debug)]
struct Item {
    order: u64,
    slot: u32,
    /// The key says it all: whatever has it matches.
    exact: bool,
}

#[derive(Debug)]
struct Table {
    shape: Shape,
    /// The smallest order of all rules in it.
    first: u64,
    /// By order.
    rules: HashMap<Key, Vec<Item>, foldhash::fast::RandomState>,
}

#[derive(Debug, Default)]
pub struct Index {
    /// By `first`.
    tables: Vec<Table>,
    /// The same rules by addresses alone, for packets that hide the rest.
    addresses: Vec<Table>,
}

impl Index {
    pub fn add(&mut self, selector: &Selector, if_id: u32, order: u64, slot: u32) {
        for v6 in families(selector) {
            let full = Shape::of(selector, v6);
            let exact = full.says_all(selector);
            insert(&mut self.tables, full, (selector, if_id), Item { order, slot, exact });
            let item = Item { order, slot, exact: false };
            insert(&mut self.addresses, full.addresses(), (selector, if_id), item);
        }
    }

    pub fn remove(&mut self, selector: &Selector, if_id: u32, order: u64) {
        for v6 in families(selector) {
            let full = Shape::of(selector, v6);
            remove(&mut self.tables, full, (selector, if_id), order);
            remove(&mut self.addresses, full.addresses(), (selector, if_id), order);
        }
    }

    /// The first rule by order that matches or may match. `matches` compares what a key does not say.
    pub fn find(&self, if_id: u32, flow: &Flow, matches: impl Fn(u32) -> Match) -> Decision {
        let v6 = flow.source.is_ipv6();
        if v6 != flow.destination.is_ipv6() {
            return Decision::Default;
        }
        let mut best = (u64::MAX, Decision::Default);
        let tables = if flow.hides() { &self.addresses } else { &self.tables };
        for table in tables {
            // What follows has nothing earlier.
            if table.first > best.0 {
                break;
            }
            let Some(key) = (table.shape.v6 == v6).then(|| table.shape.key_of(if_id, flow)).flatten() else {
                continue;
            };
            let Some(items) = table.rules.get(&key) else { continue };
            for item in items.iter().take_while(|item| item.order < best.0) {
                let found = if item.exact { Match::Yes } else { matches(item.slot) };
                match found {
                    Match::No => continue,
                    Match::Yes => best = (item.order, Decision::Rule(item.slot)),
                    Match::Unknown => best = (item.order, Decision::Unknown(item.slot)),
                }
                break;
            }
        }
        best.1
    }
}

/// Families in which a selector can match anything.
fn families(selector: &Selector) -> impl Iterator<Item = bool> {
    let nets = [selector.source, selector.destination];
    [false, true].into_iter().filter(move |v6| nets.iter().flatten().all(|net| net.addr().is_ipv6() == *v6))
}

/// The packets of a rule, and the interface that they come by.
type Of<'a> = (&'a Selector, u32);

fn insert(tables: &mut Vec<Table>, shape: Shape, of: Of<'_>, item: Item) {
    let at = tables.iter().position(|table| table.shape == shape).unwrap_or_else(|| {
        tables.push(Table { shape, first: u64::MAX, rules: HashMap::default() });
        tables.len() - 1
    });
    let Some(table) = tables.get_mut(at) else { return };
    let items = table.rules.entry(shape.key_of_rule(of)).or_default();
    let place = items.partition_point(|other| other.order < item.order);
    items.insert(place, item);
    if item.order < table.first {
        table.first = item.order;
        tables.sort_by_key(|table| table.first);
    }
}

fn remove(tables: &mut Vec<Table>, shape: Shape, of: Of<'_>, order: u64) {
    let Some(at) = tables.iter().position(|table| table.shape == shape) else { return };
    let Some(table) = tables.get_mut(at) else { return };
    let key = shape.key_of_rule(of);
    if let Some(items) = table.rules.get_mut(&key) {
        items.retain(|item| item.order != order);
        if items.is_empty() {
            table.rules.remove(&key);
        }
    }
    // `first` may stay too small, which costs a look-up and hides nothing.
    if table.rules.is_empty() {
        tables.remove(at);
    }
}

impl Shape {
    fn of(selector: &Selector, v6: bool) -> Self {
        let len = |net: Option<IpNet>| net.map_or(0, |net| net.prefix_len());
        Self {
            v6,
            source: len(selector.source),
            destination: len(selector.destination),
            protocol: selector.protocol.is_some(),
            source_port: single(&selector.source_ports).is_some(),
            destination_port: single(&selector.destination_ports).is_some(),
        }
    }

    /// Whether no more than this shape is selected.
    fn says_all(self, selector: &Selector) -> bool {
        selector.source_ports.is_some() == self.source_port
            && selector.destination_ports.is_some() == self.destination_port
    }

    fn addresses(self) -> Self {
        Self { protocol: false, source_port: false, destination_port: false, ..self }
    }

    /// `None` if the packet has no ports and the shape looks at them. What has types has ports for rules of its own protocol
    /// alone.
    fn key_of(self, if_id: u32, flow: &Flow) -> Option<Key> {
        let wants_ports = self.source_port || self.destination_port;
        if wants_ports && !self.protocol && flow.protocol.is_some_and(protocol::has_types) {
            return None;
        }
        let (source, destination) = match flow.ports {
            Some(ports) => ports,
            None if wants_ports => return None,
            None => (0, 0),
        };
        let protocol = if self.protocol { flow.protocol? } else { 0 };
        Some(Key {
            source: self.mask(flow.source, self.source),
            destination: self.mask(flow.destination, self.destination),
            rest: rest(
                protocol,
                if self.source_port { source } else { 0 },
                if self.destination_port { destination } else { 0 },
            ),
            if_id,
        })
    }

    fn key_of_rule(self, (selector, if_id): Of<'_>) -> Key {
        let net = |net: Option<IpNet>, len| net.map_or(0, |net| self.mask(net.addr(), len));
        Key {
            source: net(selector.source, self.source),
            destination: net(selector.destination, self.destination),
            rest: rest(
                if self.protocol { selector.protocol.unwrap_or(0) } else { 0 },
                if self.source_port { single(&selector.source_ports).unwrap_or(0) } else { 0 },
                if self.destination_port { single(&selector.destination_ports).unwrap_or(0) } else { 0 },
            ),
            if_id,
        }
    }

    fn mask(self, address: IpAddr, len: u8) -> u128 {
        let (bits, width) = match address {
            IpAddr::V4(address) => (u128::from(u32::from(address)), 32),
            IpAddr::V6(address) => (u128::from(address), 128),
        };
        // A prefix of no bits leaves none.
        let dropped = width - u32::from(len);
        bits.checked_shr(dropped).and_then(|prefix| prefix.checked_shl(dropped)).unwrap_or(0)
    }
}

fn rest(protocol: u8, source: u16, destination: u16) -> u64 {
    u64::from(protocol) << 32 | u64::from(source) << 16 | u64::from(destination)
}

fn single(range: &Option<RangeInclusive<u16>>) -> Option<u16> {
    range.as_ref().filter(|range| range.start() == range.end()).map(|range| *range.start())
}
