// SPDX-License-Identifier: Apache-2.0
//! Answers are how things stand; SAs and policies that share; notices.

use super::requests::{Policy, Sa, words};
use super::*;
use crate::xfrm::notices::{GROUP_ACQUIRE, GROUP_AEVENTS, GROUP_MAPPING, GROUP_POLICY};

/// A clear packet from 10.0.1.1 to a net's first host, and whether it left.
fn leaves(gateway: &mut Gateway, net: u8) -> Option<Vec<u8>> {
    let packet = [
        &[0x45, 0, 0, 28, 0, 0, 0, 0, 64, 17, 0, 0, 10, 0, 1, 1, 10, 0, net, 1][..],
        &[0, 9, 0, 9, 0, 8, 0, 0],
    ]
    .concat();
    let buffer = ace_engine::Buffer::from_packet(&packet, 128, 64);
    gateway.plane.ingest(NOW, ace_ipsec::Inside, [ace_ipsec::Packet { token: 0, buffer }]);
    finish(gateway)
}

fn finish(gateway: &mut Gateway) -> Option<Vec<u8>> {
    let mut done = Vec::new();
    gateway.engine.try_submit(gateway.plane.jobs());
    gateway.engine.wait(&mut done);
    gateway.plane.complete(NOW, &mut done);
    let exit = gateway.plane.poll_exit()?;
    matches!(exit.fate, ace_ipsec::Fate::ToOutside(_) | ace_ipsec::Fate::ToInside(_))
        .then(|| exit.buffer.to_vec())
}

/// What arrives from the other end comes out.
fn comes(gateway: &mut Gateway, packet: &[u8]) -> bool {
    let buffer = ace_engine::Buffer::from_packet(packet, 128, 64);
    gateway.plane.ingest(NOW, ace_ipsec::Outside, [ace_ipsec::Packet { token: 0, buffer }]);
    finish(gateway).is_some()
}

/// An attribute of an answer that names an SA.
fn told_of(gateway: &mut Gateway, sa: &Sa, kind: u16) -> Option<Vec<u8>> {
    let body = gateway.body(&sa.named(kind::GETSA, &[]));
    wire::attribute(&body[shapes::USERSA..], kind).map(<[u8]>::to_vec)
}

#[test]
fn a_state_of_numbers_is_as_long_as_it_says() {
    let mut gateway = Gateway::made(false);
    // As `ip xfrm ... replay-window 4096 flag esn` says it: the fixed part alone.
    let bare = words(&[128, 0, 0, 0, 0, 4096]);
    let sa = Sa { flags: 128, ..Sa::new(0x1005, false) }.with(attr::REPLAY_ESN_VAL, bare);
    let other = Sa::new(0x1006, false);
    assert_eq!((gateway.errno(&sa.add()), gateway.errno(&other.add())), (0, 0));
    let state = told_of(&mut gateway, &sa, attr::REPLAY_ESN_VAL).unwrap();
    assert_eq!(state.len(), 24 + 4 * 128);
    assert_eq!(told_of(&mut gateway, &other, attr::REPLAY_VAL).map(|state| state.len()), Some(12));
    assert_eq!(told_of(&mut gateway, &other, attr::REPLAY_ESN_VAL), None);
    // Whatever is behind the end of an algorithm's key is not told.
    let long = Sa::new(0x1007, false);
    let mut request = long.add().to_vec();
    let at = request.len() - 92 - 4;
    request.extend([0xee; 8]);
    request[at..at + 2].copy_from_slice(&(96_u16 + 8).to_ne_bytes());
    let len = request.len() as u32;
    request[..4].copy_from_slice(&len.to_ne_bytes());
    assert_eq!(gateway.errno(&request), 0);
    assert_eq!(told_of(&mut gateway, &long, attr::ALG_AEAD).map(|value| value.len()), Some(92));
    // Every attribute of every answer ends where it says, and is whole.
    for answer in gateway.answers(&Reply::new(kind::GETSA, F_DUMP, 1, &[]).done()) {
        for message in wire::messages(&answer).filter(|message| message.kind == kind::NEWSA) {
            let attributes = &message.body[shapes::USERSA..];
            let lengths =
                wire::attributes(attributes).map(|(_, value)| (value.len() + 4).next_multiple_of(4));
            assert_eq!(lengths.sum::<usize>(), attributes.len());
        }
    }
}

#[test]
fn policies_share_an_sa_and_its_numbers() {
    let (mut a, mut b) = (Gateway::made(false), Gateway::made(false));
    let (out, into) = (Sa::new(0x1001, false), Sa { window: 32, ..Sa::new(0x1001, true) });
    assert_eq!((a.errno(&out.add()), b.errno(&into.add())), (0, 0));
    for net in [2, 3] {
        assert_eq!(a.errno(&Policy::new(1, net).add()), 0);
    }
    // At the other end the same packets come in: its addresses are the other way round.
    let from_a = |net| {
        let mut policy = Policy::new(0, net);
        let selector = Policy::new(1, net).selector();
        policy.edits.push((0, selector));
        policy
    };
    assert_eq!((b.errno(&from_a(2).add()), b.errno(&from_a(3).add())), (0, 0));
    let outer = |packet: &[u8]| {
        // From the other end, as it is here.
        let mut packet = packet.to_vec();
        packet[12..20].rotate_left(4);
        packet
    };
    for n in 0..60_u32 {
        let net = if n % 20 == 19 { 3 } else { 2 };
        let packet = leaves(&mut a, net).unwrap();
        assert_eq!(u32::from_be_bytes(packet[24..28].try_into().unwrap()), n + 1, "one after the other");
        assert!(comes(&mut b, &outer(&packet)), "packet {n}");
    }
    let state = told_of(&mut a, &out, attr::REPLAY_VAL).unwrap();
    assert_eq!(u32_at(&state, 0), Some(60));
    let state = told_of(&mut b, &into, attr::REPLAY_VAL).unwrap();
    assert_eq!(
        (u32_at(&state, 4), u32_at(&state, 8)),
        (Some(60), Some(u32::MAX)),
        "all that its window shows"
    );
    // A policy that goes takes its packets along, and nothing else.
    let gone = b.xfrm.database.order.values().next().unwrap().clone();
    b.xfrm.database.remove_policy(&mut b.plane, &gone).unwrap();
    let (second, third) = (leaves(&mut a, 2).unwrap(), leaves(&mut a, 3).unwrap());
    assert_eq!((comes(&mut b, &outer(&second)), comes(&mut b, &outer(&third))), (false, true));
    assert_eq!(a.errno(&Policy::new(1, 2).named(kind::DELPOLICY, &[])), 0);
    assert_eq!((leaves(&mut a, 2), leaves(&mut a, 3).is_some()), (None, true));
    // Lifetimes change while policies use it, and nothing else does.
    assert_eq!(a.errno(&out.message(kind::UPDSA)), 0);
    let other = Sa { key: 99, ..Sa::new(0x1001, false) };
    assert_eq!(a.errno(&other.message(kind::UPDSA)), EOPNOTSUPP, "another key");
    assert_eq!(a.errno(&Sa { reqid: 8, ..Sa::new(0x1001, false) }.message(kind::UPDSA)), EOPNOTSUPP);
}

#[test]
fn an_sas_own_selector_holds_besides() {
    let mut gateway = Gateway::made(false);
    let mut narrow = Sa::new(0x1001, false).add().to_vec();
    // Its own: TCP alone.
    narrow[16 + 44] = 6;
    assert_eq!(gateway.errno(&narrow), 0);
    assert_eq!(gateway.errno(&Policy::new(1, 2).add()), 0);
    assert_eq!(leaves(&mut gateway, 2), None);
    assert_eq!(gateway.errno(&Sa::new(0x1002, false).add()), 0);
    assert!(leaves(&mut gateway, 2).is_some());
}

#[test]
fn numbers_and_use_are_put_forward() {
    let mut gateway = Gateway::made(false);
    let (out, into) = (Sa::new(0x1001, false), Sa::new(0x2001, true));
    assert_eq!((gateway.errno(&out.add()), gateway.errno(&into.add())), (0, 0));
    assert_eq!(gateway.errno(&Policy::new(1, 2).add()), 0);
    let state = |sent, seen| vec![(attr::REPLAY_VAL, words(&[sent, seen, 0]))];
    assert_eq!(gateway.errno(&out.named(kind::NEWAE, &state(100, 0))), 0);
    assert_eq!(gateway.errno(&into.named(kind::NEWAE, &state(0, 50))), 0);
    assert_eq!(u32::from_be_bytes(leaves(&mut gateway, 2).unwrap()[24..28].try_into().unwrap()), 101);
    assert_eq!(gateway.errno(&out.named(kind::NEWAE, &state(99, 0))), EINVAL, "no number comes twice");
    assert_eq!(u32_at(&told_of(&mut gateway, &into, attr::REPLAY_VAL).unwrap(), 4), Some(50));
    // What it has carried, before it was here and since.
    let carried = [1_000_u64, 10, 0, 0].map(u64::to_ne_bytes).concat();
    assert_eq!(gateway.errno(&out.named(kind::NEWAE, &[(attr::LTIME_VAL, carried.clone())])), 0);
    leaves(&mut gateway, 2).unwrap();
    let body = gateway.body(&out.named(kind::GETSA, &[]));
    assert_eq!((wire::u64_at(&body, 168), wire::u64_at(&body, 176)), (Some(11), Some(1_000)));
    // Without NLM_F_REPLACE, without anything to say, of an SA that is not there.
    let mut plain = out.named(kind::NEWAE, &state(200, 0)).to_vec();
    plain[6..8].copy_from_slice(&F_ACK.to_ne_bytes());
    assert_eq!(gateway.errno(&plain), EINVAL);
    assert_eq!(gateway.errno(&out.named(kind::NEWAE, &[])), EINVAL);
    assert_eq!(gateway.errno(&Sa::new(9, false).named(kind::NEWAE, &state(1, 1))), ESRCH);
    // A limit counts it.
    let mut limited = Sa::new(0x1002, false).with(attr::LTIME_VAL, carried).add().to_vec();
    limited[16 + 96 + 24..][..8].copy_from_slice(&11_u64.to_ne_bytes());
    assert_eq!(gateway.errno(&limited), 0);
    assert!(leaves(&mut gateway, 2).is_some(), "the eleventh of eleven");
    assert_eq!(leaves(&mut gateway, 2), None);
}

#[test]
fn what_is_asked_for_is_found_by_protocol_ends_and_source() {
    let mut gateway = Gateway::made(false);
    let (out, into) = (Sa::new(0x1001, false), Sa::new(0x2001, true));
    let ah = Sa { protocol: 51, ..Sa::new(0x3001, false) };
    for sa in [&out, &into, &ah] {
        assert_eq!(gateway.errno(&sa.add()), 0);
    }
    let count = |gateway: &mut Gateway, kind: u16, value: &[u8]| {
        let request = Reply::new(kind::GETSA, F_DUMP, 1, &[]).attribute(kind, value).done();
        gateway.ask(&request).iter().filter(|(kind, _)| *kind == kind::NEWSA).count()
    };
    assert_eq!((count(&mut gateway, attr::PROTO, &[50]), count(&mut gateway, attr::PROTO, &[51])), (2, 1));
    let filter = |source: [u8; 4], len: u8| [&source[..], &[0; 28], &2_u16.to_ne_bytes(), &[len, 0]].concat();
    assert_eq!(count(&mut gateway, attr::ADDRESS_FILTER, &filter(OURS, 32)), 2);
    assert_eq!(count(&mut gateway, attr::ADDRESS_FILTER, &filter([192, 0, 2, 0], 24)), 3);
    let from = |source: [u8; 4]| vec![(attr::SRCADDR, [&source[..], &[0; 12]].concat())];
    assert_eq!(gateway.errno(&out.named(kind::DELSA, &from([9, 9, 9, 9]))), ESRCH);
    assert_eq!(gateway.errno(&out.named(kind::DELSA, &from(OURS))), 0);
}

/// Kinds of notices for a group.
fn noticed(gateway: &mut Gateway, group: u32) -> Vec<u16> {
    let all = std::iter::from_fn(|| gateway.xfrm.notice()).collect::<Vec<_>>();
    let kind = |message: &Messages| wire::messages(message).next().unwrap().kind;
    all.iter().filter(|(of, _)| *of == group).map(|(_, message)| kind(message)).collect()
}

#[test]
fn changes_are_told_to_those_who_listen() {
    let mut gateway = Gateway::made(false);
    let (sa, policy) = (Sa::new(0x1001, false), Policy::new(1, 2));
    let change = |gateway: &mut Gateway| {
        gateway.ask(&sa.add());
        gateway.ask(&sa.message(kind::UPDSA));
        gateway.ask(&policy.add());
        gateway.ask(&policy.message(kind::UPDPOLICY));
        gateway.ask(&sa.named(kind::NEWAE, &[(attr::REPLAY_VAL, words(&[5, 0, 0]))]));
        gateway.ask(&policy.named(kind::DELPOLICY, &[]));
        gateway.ask(&sa.named(kind::DELSA, &[]));
        gateway.ask(&Reply::new(kind::FLUSHSA, 0, 1, &[0; 4]).done());
        gateway.ask(&Reply::new(kind::FLUSHPOLICY, 0, 1, &[]).done());
    };
    let groups = [
        (GROUP_SA, vec![kind::NEWSA, kind::UPDSA, kind::DELSA, kind::FLUSHSA]),
        (GROUP_POLICY, vec![kind::NEWPOLICY, kind::UPDPOLICY, kind::DELPOLICY, kind::FLUSHPOLICY]),
        (GROUP_AEVENTS, vec![kind::NEWAE]),
    ];
    for (group, wanted) in groups {
        gateway.ask(&Reply::new(LISTENED, 0, 0, &group.to_ne_bytes()).done());
        change(&mut gateway);
        assert_eq!(noticed(&mut gateway, group), wanted);
        change(&mut gateway);
        assert_eq!(noticed(&mut gateway, !group), [0; 0], "nothing is made for nobody");
    }
}

#[test]
fn a_packet_without_an_sa_asks_for_one_and_again_later() {
    let mut gateway = Gateway::made(false);
    let policy = Policy::new(1, 2);
    assert_eq!(gateway.errno(&policy.add()), 0);
    let acquired = |gateway: &mut Gateway, at: u64| {
        let now = Duration::from_secs(at);
        gateway.xfrm.tick(now, &mut gateway.plane);
        assert_eq!(leaves(gateway, 2), None);
        while let Some(event) = gateway.plane.poll_event() {
            let ace_ipsec::Event::Acquire { rule, flow } = event else { panic!("{event:?}") };
            assert!(gateway.xfrm.acquire(now, rule, &flow));
        }
        let notices: Vec<_> = std::iter::from_fn(|| gateway.xfrm.notice()).collect();
        notices
            .into_iter()
            .filter(|(group, _)| *group == GROUP_ACQUIRE)
            .map(|(_, one)| one)
            .collect::<Vec<_>>()
    };
    let asked = acquired(&mut gateway, 0);
    let message = wire::messages(&asked[0]).next().unwrap();
    assert_eq!((asked.len(), message.kind), (1, kind::ACQUIRE));
    let body = message.body;
    // Who it is for, from and to; the packet; the policy; its template with the request id.
    assert_eq!((&body[..4], body[20], &body[24..28]), (&requests::THEIRS[..], 50, &OURS[..]));
    assert_eq!(
        (&body[40..44], &body[56..60], body[82], body[83]),
        (&[10, 0, 2, 1][..], &[10, 0, 1, 1][..], 32, 32)
    );
    assert_eq!(u32_at(body, 96 + 156).map(|index| index % 8), Some(1));
    let template = wire::attribute(&body[96 + 168 + 16..], attr::TMPL).unwrap();
    assert_eq!(template, policy.template());
    assert!(acquired(&mut gateway, 1).is_empty() && acquired(&mut gateway, 29).is_empty());
    assert_eq!((acquired(&mut gateway, 31).len(), acquired(&mut gateway, 32).len()), (1, 0));
    // With an SA nothing is asked, and when it is gone at once.
    let sa = Sa::new(0x1001, false);
    assert_eq!(gateway.errno(&sa.add()), 0);
    assert!(leaves(&mut gateway, 2).is_some());
    assert_eq!(gateway.errno(&sa.named(kind::DELSA, &[])), 0);
    assert_eq!(acquired(&mut gateway, 33).len(), 1);
}

#[test]
fn an_endpoint_that_moves_is_told() {
    let mut gateway = Gateway::new();
    assert_eq!(gateway.errno(&Sa::new(0x1001, true).add()), 0);
    let id = *gateway.xfrm.database.by_id.keys().next().unwrap();
    noticed(&mut gateway, 0);
    let (old, new) = ("198.51.100.7:4500", "203.0.113.9:1024");
    gateway.xfrm.moved(id, old.parse().unwrap(), new.parse().unwrap());
    let (group, message) = gateway.xfrm.notice().unwrap();
    let message = wire::messages(&message).next().unwrap();
    let body = message.body;
    assert_eq!((group, message.kind, body.len()), (GROUP_MAPPING, kind::MAPPING, 64));
    assert_eq!((&body[16..20], u32_at(body, 24)), (&0x1001_u32.to_be_bytes()[..], Some(7)));
    assert_eq!((&body[28..32], &body[44..48]), (&[198, 51, 100, 7][..], &[203, 0, 113, 9][..]));
    assert_eq!(&body[60..], [4500_u16.to_be_bytes(), 1024_u16.to_be_bytes()].concat());
}

/// Requests do not cost more where there are more SAs: walks over all of them were the gateway's longest pauses. What is
/// counted are candidates, not seconds.
#[test]
fn nobody_walks_over_all() {
    let mut gateway = Gateway::made(false);
    for n in 0..2_000_u32 {
        let reqid = n + 1;
        let policy = Policy { reqid, edits: vec![(0, [&[10, 1, 0, 0][..]].concat())], ..Policy::new(1, 2) };
        let mut policy = policy;
        policy.edits = vec![(0, vec![10, 1 + (n >> 8) as u8, n as u8, 0])];
        assert_eq!(gateway.errno(&policy.add()), 0);
        assert_eq!(gateway.errno(&Sa { reqid, ..Sa::new(0x1000 + n, false) }.add()), 0);
    }
    let (most_sas, most_policies) = gateway.xfrm.database.most_candidates();
    assert_eq!((most_sas, most_policies), (1, 1));
}

/// A trap waits for its first packet, a shunt wants no SA: neither is missing one. A packet that finds none says so, until
/// an SA comes.
#[test]
fn only_a_policy_whose_packets_find_no_sa_is_without_one() {
    let mut gateway = Gateway::new();
    let trap = Policy::new(1, 2);
    let shunt = Reply::new(kind::NEWPOLICY, F_ACK, 1, &Policy::new(1, 3).info()).done();
    for policy in [trap.add(), Policy::new(0, 2).add(), shunt] {
        assert_eq!(gateway.errno(&policy), 0);
    }
    let without = |gateway: &Gateway| (gateway.plane.unserved(), gateway.xfrm.wanted(&gateway.plane).count());
    assert_eq!(without(&gateway), (0, 0), "they wait");
    leaves(&mut gateway, 3);
    assert_eq!(without(&gateway), (0, 0), "a shunt");
    assert_eq!(leaves(&mut gateway, 2), None);
    assert_eq!(without(&gateway), (1, 1), "it has asked");
    // It may ask again, and stays without one.
    gateway.xfrm.acquire(
        NOW,
        gateway.xfrm.database.by_rule.keys().copied().next().unwrap(),
        &ace_ipsec::Flow { source: OURS.into(), destination: OURS.into(), protocol: None, ports: None },
    );
    gateway.xfrm.tick(Duration::from_secs(40), &mut gateway.plane);
    assert_eq!(without(&gateway), (1, 1));
    let sa = Sa::new(0x1001, false);
    assert_eq!(gateway.errno(&sa.add()), 0);
    assert_eq!(without(&gateway), (0, 0));
    // Its SA goes, as that of a child that was idle: the trap waits again.
    assert_eq!(gateway.errno(&sa.named(kind::DELSA, &[])), 0);
    assert_eq!(without(&gateway), (0, 0));
}

/// Two tenants with the same nets, and the ways of Linux to name them.
#[test]
fn sas_and_policies_pair_on_one_device_alone() {
    let mut gateway = Gateway::new();
    let of = |if_id: u32| (attr::IF_ID, words(&[if_id]));
    let policy = |if_id: u32| Policy { more: vec![of(if_id)], ..Policy::new(1, 2) };
    for if_id in [0, 7, 8] {
        assert_eq!(gateway.errno(&policy(if_id).add()), 0, "the same selector on {if_id}");
        assert_eq!(gateway.errno(&policy(if_id).add()), EEXIST);
    }
    let sa = Sa::new(0x1007, false).with(attr::IF_ID, words(&[7]));
    assert_eq!(gateway.errno(&sa.add()), 0);
    let leaves = |gateway: &mut Gateway, if_id| {
        let head =
            [0x45, 0, 0, 28, 0, 0, 0, 0, 64, 17, 0, 0, 10, 0, 1, 1, 10, 0, 2, 1, 0, 9, 0, 9, 0, 8, 0, 0];
        let buffer = ace_engine::Buffer::from_packet(&head, 128, 64);
        gateway.plane.ingest_from(NOW, if_id, [ace_ipsec::Packet { token: 0, buffer }], |_, _| None);
        finish(gateway).map(|packet| packet[20..24].to_vec())
    };
    assert_eq!(leaves(&mut gateway, 7), Some(vec![0, 0, 0x10, 0x07]));
    assert_eq!(
        (leaves(&mut gateway, 0), leaves(&mut gateway, 8), leaves(&mut gateway, 9)),
        (None, None, None)
    );
    // It is told, of SAs, policies and what is asked for.
    assert_eq!(told_of(&mut gateway, &sa, attr::IF_ID), Some(words(&[7])));
    let body = gateway.body(&policy(8).named(kind::GETPOLICY, &[of(8)]));
    assert_eq!(wire::attribute(&body[shapes::POLICY..], attr::IF_ID), Some(&words(&[8])[..]));
    // Another number is another policy.
    assert_eq!(gateway.errno(&policy(8).named(kind::DELPOLICY, &[of(8)])), 0);
    assert_eq!(gateway.errno(&policy(8).named(kind::DELPOLICY, &[of(8)])), ENOENT);
    assert_eq!(gateway.errno(&policy(0).named(kind::GETPOLICY, &[])), 0);
    // A device that there is not, and one that is another's now.
    for request in [Sa::new(0x1009, false).with(attr::IF_ID, words(&[9])).add(), policy(9).add()] {
        assert_eq!(gateway.errno(&request), nix::libc::ENODEV);
    }
    let other = Sa::new(0x1007, false).with(attr::IF_ID, words(&[8])).message(kind::UPDSA);
    assert_eq!(gateway.errno(&other), EOPNOTSUPP);
    assert_eq!(gateway.errno(&sa.message(kind::UPDSA)), 0);
}

/// `output-mark 5/0xf` of what leaves; what comes in has none.
#[test]
fn marks_are_told_as_they_came() {
    let mut gateway = Gateway::new();
    let marked = |inbound| {
        let sa = Sa::new(0x1001, inbound).with(attr::SET_MARK, words(&[0x15]));
        sa.with(attr::SET_MARK_MASK, words(&[0xf]))
    };
    assert_eq!(gateway.errno(&marked(true).add()), EOPNOTSUPP);
    assert_eq!(gateway.errno(&marked(false).add()), 0);
    for (kind, wanted) in [(attr::SET_MARK, 0x15), (attr::SET_MARK_MASK, 0xf)] {
        assert_eq!(told_of(&mut gateway, &marked(false), kind), Some(words(&[wanted])));
    }
}
