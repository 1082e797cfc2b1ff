// SPDX-License-Identifier: Apache-2.0
//! Each name of the table is sent: what it says is done is done, and nothing else answers success.

use super::names::{ATTRIBUTES, Attribute, EXTRA_FLAGS, Fate, MODES, POLICY_FLAGS, SA_FLAGS};
use super::requests::{Policy, Sa, words};
use super::*;
use crate::xfrm::spec::Replay;
use nix::libc::ERANGE;

/// What an attribute may say; not zeros, and what a kernel would take.
fn value(row: &Attribute) -> Vec<u8> {
    match row.name {
        "XFRMA_ALG_AUTH" | "XFRMA_ALG_AUTH_TRUNC" | "XFRMA_ALG_CRYPT" | "XFRMA_ALG_COMP" => {
            let with_number = row.name.ends_with("TRUNC");
            let (name, key) = match row.name {
                "XFRMA_ALG_CRYPT" => ("cbc(aes)", 16),
                "XFRMA_ALG_AUTH" => ("hmac(sha1)", 20),
                _ => ("hmac(sha256)", 32),
            };
            let mut value = vec![0; 64];
            wire::put(&mut value, 0, name.as_bytes());
            value.extend(words(&[8 * key]));
            if with_number {
                value.extend(words(&[128]));
            }
            value.extend(vec![9; key as usize]);
            value
        }
        "XFRMA_ENCAP" => {
            let mut value = vec![0; 24];
            wire::put(&mut value, 0, &2_u16.to_ne_bytes());
            wire::put(&mut value, 2, &[0x11, 0x94, 0x11, 0x94]);
            value
        }
        "XFRMA_TMPL" => Policy::new(1, 2).template(),
        "XFRMA_REPLAY_ESN_VAL" => words(&[2, 0, 0, 0, 0, 64, 0, 0]),
        "XFRMA_REPLAY_VAL" => words(&[0, 0, 0]),
        "XFRMA_LTIME_VAL" => vec![0; 32],
        "XFRMA_POLICY_TYPE" => vec![0; 6],
        "XFRMA_SA_EXTRA_FLAGS" | "XFRMA_TFCPAD" => words(&[1]),
        "XFRMA_SRCADDR" => [&OURS[..], &[0; 12]].concat(),
        "XFRMA_ADDRESS_FILTER" => [&[0; 32][..], &2_u16.to_ne_bytes(), &[0, 0]].concat(),
        "XFRMA_PROTO" => vec![50],
        "XFRMA_IF_ID" => words(&[7]),
        _ => vec![1; row.least.max(4)],
    }
}

/// A gateway with one outbound SA and one policy, and a request of a group with an attribute.
fn sent(group: Group, kind: u16, value: Vec<u8>) -> i32 {
    let mut gateway = Gateway::new();
    let (sa, mut policy) = (Sa::new(0x1001, false), Policy::new(1, 2));
    // A policy is found by its device as well.
    if (group, kind) == (Group::PolicyId, attr::IF_ID) && value == words(&[7]) {
        policy.more = vec![(kind, value.clone())];
    }
    assert_eq!((gateway.errno(&sa.add()), gateway.errno(&policy.add())), (0, 0));
    let more = [(kind, value)];
    let request = match group {
        Group::Sa => {
            let mut sa = Sa::new(0x1002, false);
            sa.more = more.to_vec();
            // Ciphers apart from combined modes.
            match kind {
                attr::ALG_AUTH | attr::ALG_AUTH_TRUNC | attr::ALG_CRYPT => {
                    let reply = Reply::new(kind::NEWSA, F_ACK, 1, &sa.info()).attribute(kind, &more[0].1);
                    reply.done()
                }
                // The last one counts.
                attr::ALG_AEAD => Sa::new(0x1002, false).add(),
                _ => sa.add(),
            }
        }
        Group::SaId => sa.named(kind::GETSA, &more),
        Group::SaDump => Reply::new(kind::GETSA, F_DUMP, 1, &[]).attribute(kind, &more[0].1).done(),
        Group::Spi => {
            let mut body = Sa::new(0, true).info();
            body.extend(words(&[0x2000, 0x2fff]));
            Reply::new(kind::ALLOCSPI, F_ACK, 1, &body).attribute(kind, &more[0].1).done()
        }
        Group::Policy => {
            let mut policy = Policy::new(1, 3);
            policy.more = more.to_vec();
            // It has one.
            if kind == attr::TMPL {
                policy.more.clear();
            }
            policy.add()
        }
        Group::PolicyId => policy.named(kind::GETPOLICY, &more),
        Group::PolicyAll => Reply::new(kind::FLUSHPOLICY, F_ACK, 1, &[]).attribute(kind, &more[0].1).done(),
        Group::Event => sa.named(kind::NEWAE, &more),
    };
    gateway.errno(&request)
}

const GROUPS: [Group; 8] = [
    Group::Sa,
    Group::SaId,
    Group::SaDump,
    Group::Spi,
    Group::Policy,
    Group::PolicyId,
    Group::PolicyAll,
    Group::Event,
];

#[test]
fn every_attribute_is_done_or_refused_in_every_request() {
    for row in ATTRIBUTES {
        for group in GROUPS {
            let done = row.on.contains(&group);
            let wanted = if done { 0 } else { row.errno };
            assert_eq!(sent(group, row.number, value(row)), wanted, "{} in {group:?}", row.name);
            if row.least > 0 && row.number != attr::ALG_AEAD && row.number != attr::TMPL {
                let short = value(row)[..row.least - 1].to_vec();
                assert_eq!(sent(group, row.number, short), ERANGE, "{} in {group:?}, too short", row.name);
            }
            if row.zero {
                // NEWAE that says nothing is malformed.
                let nothing = if group == Group::Event { EINVAL } else { 0 };
                assert_eq!(sent(group, row.number, vec![0; row.least]), nothing, "{} of zeros", row.name);
            }
        }
    }
    for group in GROUPS {
        assert_eq!(sent(group, 33, vec![1; 64]), EOPNOTSUPP, "one that is newer than the table");
    }
}

#[test]
fn every_message_is_done_or_refused() {
    for word in MESSAGES {
        // Without a body a message that is done is malformed, or empty.
        let errno = Gateway::new().errno(&Reply::new(word.number as u16, F_ACK, 1, &[0; 4]).done());
        match word.fate {
            Fate::Done => assert!(![EOPNOTSUPP].contains(&errno), "{}: {errno}", word.name),
            Fate::Refused(refused) => assert_eq!(errno, refused, "{}", word.name),
        }
    }
    for unknown in [0x29, 0x2a, 0x99] {
        assert_eq!(Gateway::new().errno(&Reply::new(unknown, F_ACK, 1, &[0; 300]).done()), EINVAL);
    }
}

/// What the table says, whatever the direction, without UDP.
fn wanted(fate: Fate) -> i32 {
    match fate {
        Fate::Done => 0,
        Fate::Refused(errno) => errno,
    }
}

#[test]
fn every_flag_and_mode_is_done_or_refused() {
    for inbound in [false, true] {
        let sa = || Sa::new(0x1001, inbound);
        let esn = |sa: Sa| sa.with(attr::REPLAY_ESN_VAL, words(&[2, 0, 0, 0, 0, 64]));
        for word in SA_FLAGS {
            let flagged = Sa { flags: word.number as u8, ..sa() };
            let flagged = if word.number == 128 { esn(flagged) } else { flagged };
            let errno = Gateway::made(false).errno(&flagged.add());
            assert_eq!(errno, wanted(word.fate), "{}, inbound: {inbound}", word.name);
        }
        for word in EXTRA_FLAGS {
            let flagged = sa().with(attr::SA_EXTRA_FLAGS, words(&[word.number]));
            assert_eq!(Gateway::made(false).errno(&flagged.add()), wanted(word.fate), "{}", word.name);
        }
        let unknown = sa().with(attr::SA_EXTRA_FLAGS, words(&[1 << 7]));
        assert_eq!(Gateway::made(false).errno(&unknown.add()), EOPNOTSUPP);
        for word in MODES {
            let errno = Gateway::made(false).errno(&Sa { mode: word.number as u8, ..sa() }.add());
            assert_eq!(errno, wanted(word.fate), "{}", word.name);
        }
        assert_eq!(Gateway::made(false).errno(&Sa { mode: 5, ..sa() }.add()), EINVAL);
        // A long number needs its state, and there are no two windows.
        assert_eq!(Gateway::made(false).errno(&Sa { flags: 128, ..sa() }.add()), EINVAL);
    }
    for word in POLICY_FLAGS {
        let mut policy = Policy::new(1, 2);
        policy.edits.push((162, vec![word.number as u8]));
        assert_eq!(Gateway::new().errno(&policy.add()), wanted(word.fate), "{}", word.name);
    }
}

#[test]
fn flags_of_headers_are_done_with_and_without_udp() {
    let flagged = |inbound, flags| Sa { flags, ..Sa::new(0x1001, inbound) }.add();
    for (inbound, flags) in [false, true].into_iter().flat_map(|inbound| [1, 2, 4].map(|bit| (inbound, bit)))
    {
        for udp in [true, false] {
            let errno = Gateway::made(udp).errno(&flagged(inbound, flags));
            assert_eq!(errno, 0, "flags {flags}, inbound: {inbound}, UDP: {udp}");
        }
    }
}

#[test]
fn fixed_fields_that_are_not_carried_out_are_refused() {
    // Of a policy: device and user of its selector, lifetimes, share, type, an index of another direction.
    let rows: [(usize, Vec<u8>, i32); 9] = [
        (48, words(&[3]), EOPNOTSUPP),
        (52, words(&[3]), EOPNOTSUPP),
        (56, words(&[9, 0]), EOPNOTSUPP),
        (96, words(&[9, 0]), EOPNOTSUPP),
        (163, vec![1], EOPNOTSUPP),
        (163, vec![4], EINVAL),
        (160, vec![3], EINVAL),
        (161, vec![2], EINVAL),
        (156, words(&[8]), EINVAL),
    ];
    for (at, bytes, errno) in rows {
        let mut policy = Policy::new(1, 2);
        policy.edits.push((at, bytes));
        assert_eq!(Gateway::new().errno(&policy.add()), errno, "byte {at} of a policy");
    }
    // Of a template: mode, share, optional, masks of algorithms; and a second template.
    for (at, byte, errno) in
        [(48, 4, EOPNOTSUPP), (48, 9, EINVAL), (49, 1, EOPNOTSUPP), (50, 1, EOPNOTSUPP), (52, 0, EOPNOTSUPP)]
    {
        let policy = Policy::new(1, 2);
        let mut template = policy.template();
        template[at] = byte;
        let request = Reply::new(kind::NEWPOLICY, F_ACK, 1, &policy.info()).attribute(attr::TMPL, &template);
        assert_eq!(Gateway::new().errno(&request.done()), errno, "byte {at} of a template");
    }
    let two = [Policy::new(1, 2).template(), Policy::new(1, 2).template()].concat();
    let request =
        Reply::new(kind::NEWPOLICY, F_ACK, 1, &Policy::new(1, 2).info()).attribute(attr::TMPL, &two);
    assert_eq!(Gateway::new().errno(&request.done()), EOPNOTSUPP);
    // Ports of a protocol that shows none; those of ICMP are type and code.
    for (protocol, errno) in [(6, 0), (1, 0), (58, 0), (47, EOPNOTSUPP), (135, EOPNOTSUPP), (89, EOPNOTSUPP)]
    {
        let mut policy = Policy::new(1, 2);
        policy.edits = vec![(44, vec![protocol]), (36, vec![0, 8, 0xff, 0xff])];
        assert_eq!(Gateway::new().errno(&policy.add()), errno, "type or port of protocol {protocol}");
    }
}

#[test]
fn padding_is_for_tunnels_of_esp() {
    let padded = |sa: Sa| sa.with(attr::TFCPAD, words(&[600]));
    assert_eq!(Gateway::made(false).errno(&padded(Sa::new(0x1001, false)).add()), 0);
    let transport = Sa { mode: 0, ..Sa::new(0x1001, false) };
    assert_eq!(Gateway::made(false).errno(&padded(transport).add()), EINVAL);
    let ah = Sa { protocol: 51, ..Sa::new(0x1001, false) };
    assert_eq!(Gateway::made(false).errno(&padded(ah).add()), EINVAL);
    assert_eq!(Replay::default(), Replay::Short);
}
