// SPDX-License-Identifier: Apache-2.0
//! One SA for several rules and several selectors (RFC 4301, 4.4.1.1; RFC 7296, 2.9): one counter, one window.

use std::collections::BTreeSet;

use crate::common::{End, NOW, SaText, file, finish, packet, udp4};
use ace_ipsec::{
    Cause, Grant, Inside, Outside, Policy, Rule, RuleId, SaId, SaSpec, SadError, SeededIvs, Selector, Shard,
    Treatment,
};

fn spec(direction: &'static str) -> SaSpec {
    let text = SaText::new(direction).suites("aes-128-gcm-16", "none");
    SaSpec { selector: Selector::default(), ..file(&text.toml()).sas()[0].clone() }
}

fn shard() -> Shard {
    Shard::new(Policy::Discard, Box::new(SeededIvs::new(1)))
}

/// Whatever goes to a net.
fn to(net: u8) -> Selector {
    Selector { destination: Some(format!("10.0.{net}.0/24").parse().unwrap()), ..Selector::default() }
}

fn rule(gate: &mut Shard, net: u8) -> RuleId<Inside> {
    gate.add_inside(Rule { selector: to(net), treatment: Treatment::Protect, priority: 0, if_id: 0 })
}

fn inside(gate: &mut Shard, net: u8) -> End {
    gate.ingest(NOW, Inside, [packet(&udp4([10, 0, 1, 1], [10, 0, net, 1], (1, 2), b"x"))]);
    finish(gate).remove(0)
}

fn outside(gate: &mut Shard, bytes: &[u8]) -> End {
    gate.ingest(NOW, Outside, [packet(bytes)]);
    finish(gate).remove(0)
}

fn apart(gate: &mut Shard, spec: &SaSpec) -> SaId {
    gate.install_apart(NOW, spec, Grant::default()).unwrap()
}

fn sequence(packet: &[u8]) -> u32 {
    u32::from_be_bytes(packet[24..28].try_into().unwrap())
}

#[test]
fn rules_share_one_counter_and_selectors_one_window() {
    let (mut a, mut b) = (shard(), shard());
    let out = apart(&mut a, &spec("out"));
    let into = apart(&mut b, &spec("in"));
    let rules = [2, 3, 4].map(|net| rule(&mut a, net));
    assert_eq!(inside(&mut a, 2), End::Dropped(Cause::NoSa));
    for (net, rule) in [2, 3, 4].into_iter().zip(rules) {
        a.join(out, rule).unwrap();
        assert_eq!(a.join(out, rule), Err(SadError::Rule), "once");
        b.add_selector(into, to(net)).unwrap();
    }
    let mut numbers = BTreeSet::new();
    for n in 0..90_u8 {
        // Long silences of one rule while others send: no number is left behind.
        let net = [2, 2, 2, 3, 2, 2, 2, 4, 4][usize::from(n) % 9];
        let sent = inside(&mut a, net).packet();
        numbers.insert(sequence(&sent));
        outside(&mut b, &sent).packet();
    }
    assert!(numbers.into_iter().eq(1..=90), "one after the other");
    assert_eq!((a.sas().count(), a.sa(out).unwrap().counters.forwarded.packets), (1, 90));
    // Without its selector nothing of a net comes out; what leaves for the others goes on.
    assert!(b.remove_selector(into, &to(3)) && !b.remove_selector(into, &to(3)));
    let (third, second) = (inside(&mut a, 3).packet(), inside(&mut a, 2).packet());
    assert_eq!(outside(&mut b, &third), End::Dropped(Cause::SelectorMismatch));
    outside(&mut b, &second).packet();
    // Without its rule nothing of a net leaves.
    assert!(a.part_from(out, rules[1]) && !a.part_from(out, rules[1]));
    assert_eq!(inside(&mut a, 3), End::Dropped(Cause::NoSa));
    assert_eq!(sequence(&inside(&mut a, 2).packet()), 93);
    // A rule that goes takes an SA along only if it was its last one.
    assert!(a.remove_inside(rules[0]) && a.sa(out).is_some());
    assert!(a.remove_inside(rules[2]) && a.sa(out).is_none());
}

#[test]
fn of_several_the_newest_that_fits_its_own_selector_is_taken() {
    let mut gate = shard();
    let wide = apart(&mut gate, &spec("out"));
    let own = Selector { protocol: Some(6), ..Selector::default() };
    let narrow = apart(&mut gate, &SaSpec { spi: 0x2002, selector: own.clone(), ..spec("out") });
    let rule = rule(&mut gate, 2);
    gate.join(wide, rule).unwrap();
    gate.join(narrow, rule).unwrap();
    let spi = |end: End| u32::from_be_bytes(end.packet()[20..24].try_into().unwrap());
    assert_eq!(spi(inside(&mut gate, 2)), 0x1001, "UDP is not the narrow one's");
    assert!(gate.part_from(wide, rule));
    assert_eq!(inside(&mut gate, 2), End::Dropped(Cause::NoSa));
    // Inbound both have to fit.
    let (mut a, mut b) = (shard(), shard());
    let out = apart(&mut a, &spec("out"));
    let there = self::rule(&mut a, 2);
    a.join(out, there).unwrap();
    let into = apart(&mut b, &SaSpec { selector: own, ..spec("in") });
    b.add_selector(into, to(2)).unwrap();
    let sent = inside(&mut a, 2).packet();
    assert_eq!(outside(&mut b, &sent), End::Dropped(Cause::SelectorMismatch));
}

#[test]
fn numbers_are_put_forward_and_never_back() {
    let (mut a, mut b) = (shard(), shard());
    let (out, into) = (apart(&mut a, &spec("out")), apart(&mut b, &spec("in")));
    let rule = rule(&mut a, 2);
    a.join(out, rule).unwrap();
    b.add_selector(into, to(2)).unwrap();
    let first = inside(&mut a, 2).packet();
    for (number, next) in [(1, 2), (5, 6), (40, 41)] {
        a.advance(out, number).unwrap();
        assert_eq!(sequence(&inside(&mut a, 2).packet()), next);
    }
    assert_eq!(a.advance(out, 40), Err(SadError::Sequence));
    assert_eq!(a.advance(out, 1 << 32), Err(SadError::Sequence), "without extended numbers there is none");
    b.advance(into, 41).unwrap();
    assert_eq!(b.advance(into, 40), Err(SadError::Sequence));
    assert!(b.was_received(into, 41) && b.was_received(into, 1) && !b.was_received(into, 42));
    assert!(matches!(outside(&mut b, &first), End::Dropped(Cause::Replayed | Cause::TooOld)));
    outside(&mut b, &inside(&mut a, 2).packet()).packet();
    // Those of one direction have no rules, those of the other no selectors that matter.
    assert_eq!(b.join(into, rule), Err(SadError::Rule));
}
