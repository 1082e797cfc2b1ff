// SPDX-License-Identifier: Apache-2.0
//! The index and the cache against a walk over all rules.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use ipnet::IpNet;
use proptest::prelude::*;

use super::*;
use crate::packet::protocol::{has_ports, has_types};
use crate::side::Inside;

/// Few addresses and ports, so that rules and packets meet.
fn address() -> impl Strategy<Value = IpAddr> {
    (any::<bool>(), 0u8..4, 0u8..4).prop_map(|(v6, net, host)| match v6 {
        false => Ipv4Addr::new(10, 0, net, host).into(),
        true => Ipv6Addr::new(0xfd00, 0, 0, 0, 0, 0, net.into(), host.into()).into(),
    })
}

fn net() -> impl Strategy<Value = Option<IpNet>> {
    let of = |(address, len): (IpAddr, usize)| {
        let len = if address.is_ipv4() { [0, 16, 24, 32][len] } else { [0, 96, 112, 128][len] };
        IpNet::new(address, len).ok().map(|net| net.trunc())
    };
    prop_oneof![1 => Just(None), 3 => (address(), 0usize..4).prop_map(of)]
}

fn ports() -> impl Strategy<Value = Option<std::ops::RangeInclusive<u16>>> {
    prop_oneof![2 => Just(None), 1 => (0u16..4).prop_map(|p| Some(p..=p)), 1 => (0u16..3, 1u16..3).prop_map(|(p, n)| Some(p..=p + n))]
}

fn rule() -> impl Strategy<Value = Rule> {
    let protocol = prop_oneof![Just(None), Just(Some(17u8)), Just(Some(1)), Just(Some(47))];
    (net(), net(), protocol, ports(), ports(), (0u32..5, if_id())).prop_map(
        |(source, destination, protocol, source_ports, destination_ports, (priority, if_id))| Rule {
            selector: Selector { source, destination, protocol, source_ports, destination_ports },
            treatment: Treatment::Protect,
            priority,
            if_id,
        },
    )
}

/// Interfaces, of which two are alike in their low bits.
fn if_id() -> impl Strategy<Value = u32> {
    prop_oneof![3 => Just(0), 2 => Just(7), 1 => Just(0x1_0007)]
}

fn flow() -> impl Strategy<Value = (u32, Flow)> {
    let protocol = prop_oneof![Just(None), Just(Some(17u8)), Just(Some(6)), Just(Some(1)), Just(Some(47))];
    let ports = prop_oneof![1 => Just(None), 3 => (0u16..5, 0u16..5).prop_map(Some)];
    let flow =
        (address(), address(), protocol, ports).prop_map(|(source, destination, protocol, ports)| Flow {
            source,
            destination,
            protocol,
            ports: ports.filter(|_| protocol.is_some_and(|number| has_ports(number) || has_types(number))),
        });
    (if_id(), flow)
}

fn walk(rules: &[(Rule, u32)], (if_id, flow): &(u32, Flow)) -> Decision {
    let mut sorted: Vec<_> = rules.iter().filter(|(rule, _)| rule.if_id == *if_id).collect();
    sorted.sort_by_key(|(rule, _)| rule.priority);
    for (rule, slot) in sorted {
        match rule.selector.matches(flow) {
            Match::Yes => return Decision::Rule(*slot),
            Match::Unknown => return Decision::Unknown(*slot),
            Match::No => {}
        }
    }
    Decision::Default
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    #[test]
    fn first_match_is_first_match(
        rules in proptest::collection::vec(rule(), 0..25),
        flows in proptest::collection::vec(flow(), 30),
        moved in proptest::collection::vec((any::<prop::sample::Index>(), 0u32..8), 0..8),
        gone in proptest::collection::vec(any::<prop::sample::Index>(), 0..8),
    ) {
        let mut spd: Spd<Inside> = Spd::new(Policy::Discard);
        let mut there: Vec<(Rule, u32)> = Vec::new();
        let mut ids = Vec::new();
        for rule in rules {
            let id = spd.add(rule.clone());
            there.push((rule, id.slot));
            ids.push(id);
        }
        for flow in &flows {
            // A packet of two families is none.
            if flow.1.source.is_ipv4() != flow.1.destination.is_ipv4() { continue; }
            prop_assert_eq!(spd.decide(flow.0, &flow.1), walk(&there, flow));
            prop_assert_eq!(spd.decide(flow.0, &flow.1), walk(&there, flow), "again, from the cache");
        }
        for (place, priority) in moved {
            if ids.is_empty() { break; }
            let at = place.index(ids.len());
            prop_assert!(spd.reorder(ids[at], priority));
            // Among equals it is the last.
            let (mut rule, slot) = there.remove(at);
            rule.priority = priority;
            there.push((rule, slot));
            let id = ids.remove(at);
            ids.push(id);
            for flow in flows.iter().filter(|(_, flow)| flow.source.is_ipv4() == flow.destination.is_ipv4()) {
                prop_assert_eq!(spd.decide(flow.0, &flow.1), walk(&there, flow));
            }
        }
        for place in gone {
            if ids.is_empty() { break; }
            let at = place.index(ids.len());
            prop_assert!(spd.remove(ids[at]).is_some());
            prop_assert!(spd.remove(ids[at]).is_none(), "a handle dies with its rule");
            prop_assert!(!spd.reorder(ids[at], 1), "and cannot be moved");
            ids.remove(at);
            there.remove(at);
            for flow in flows.iter().filter(|(_, flow)| flow.source.is_ipv4() == flow.destination.is_ipv4()) {
                prop_assert_eq!(spd.decide(flow.0, &flow.1), walk(&there, flow));
            }
        }
        prop_assert_eq!(spd.len(), there.len());
    }
}

#[test]
fn changes_are_told_once_and_only_to_who_asks() {
    let (selector, treatment) = (Selector::default(), Treatment::Protect);
    let rule = |priority| Rule { selector: selector.clone(), treatment, priority, if_id: 0 };
    let mut spd: Spd<crate::Outside> = Spd::new(Policy::Discard);
    spd.add(rule(1));
    assert_eq!(spd.take_changes(), [], "nobody has asked");
    spd.record_changes();
    let (a, b) = (spd.add(rule(2)), spd.add(rule(3)));
    spd.reorder(a, 9);
    spd.remove(b);
    let changes = spd.take_changes();
    assert_eq!(changes.len(), 2);
    let of = |id| &changes.iter().find(|change| change.id == id).expect("it changed").now;
    assert_eq!((of(a).as_ref().map(|(rule, _)| rule.priority), of(b)), (Some(9), &None));
    assert_eq!(spd.take_changes(), []);
    let other = Selector { protocol: Some(6), ..Selector::default() };
    spd.reselect(a, other.clone());
    assert_eq!(spd.take_changes()[0].now.as_ref().map(|(rule, _)| rule.selector.clone()), Some(other));
    assert!(!spd.reorder(b, 1) && spd.take_changes().is_empty());
}
