// SPDX-License-Identifier: Apache-2.0
//! Requests of XFRM, good ones from the fuzz target's seed and anything that is like them.

use ace_engine::software::CpuEngine;
use ace_ipsec::{OsIvs, Policy};
use nix::libc::EEXIST;
use proptest::prelude::*;

use super::*;
use crate::core::Interfaces;

const OURS: [u8; 4] = [192, 0, 2, 1];
const NOW: Duration = Duration::ZERO;

/// One datagram a request, each behind its length, behind one byte.
const SEED: &[u8] = include_bytes!("../../../../tests/fuzz/seeds/xfrm/udp");

fn seed() -> Vec<Vec<u8>> {
    let (mut rest, mut all) = (&SEED[1..], Vec::new());
    while let Some((len, tail)) = rest.split_first_chunk() {
        let (datagram, tail) = tail.split_at(usize::from(u16::from_le_bytes(*len)));
        all.push(datagram.to_vec());
        rest = tail;
    }
    all
}

struct Gateway {
    plane: Shard,
    engine: CpuEngine,
    xfrm: Xfrm,
}

impl Gateway {
    fn new() -> Self {
        Self::made(true)
    }

    fn made(udp: bool) -> Self {
        let plane = Shard::new(Policy::Discard, Box::new(OsIvs::default()));
        let can = Can { udp, interfaces: Interfaces::numbered(&[7, 8]), marks: true };
        let made = Made { allow_legacy: true, mtu: 1400, can };
        let mut gateway = Self { plane, engine: CpuEngine::new(), xfrm: Xfrm::new(made, None) };
        gateway.xfrm.notices.listened(u32::MAX);
        gateway
    }

    fn answers(&mut self, datagram: &[u8]) -> Vec<Messages> {
        let Self { plane, engine, xfrm } = self;
        let is_local = |address: IpAddr| address == IpAddr::from(OURS);
        let taken = |_| false;
        let mut on = On { plane, engine, now: NOW, wall: 1_000, is_local: &is_local, taken: &taken };
        xfrm.handle(&mut on, datagram)
    }

    /// Types of the messages that answer, and the errno of each that ends something.
    fn ask(&mut self, datagram: &[u8]) -> Vec<(u16, i32)> {
        let answers = self.answers(datagram);
        let all = answers.iter().flat_map(|answer| {
            assert_eq!(wire::messages(answer).map(|one| one.body.len() + 16).sum::<usize>(), answer.len());
            wire::messages(answer)
        });
        all.map(|one| match one.kind {
            wire::NLMSG_ERROR => (one.kind, -(u32_at(one.body, 0).unwrap() as i32)),
            kind => (kind, 0),
        })
        .collect()
    }

    /// The errno of one request; 0: it was done.
    fn errno(&mut self, datagram: &[u8]) -> i32 {
        self.ask(datagram).last().map_or(0, |(_, errno)| *errno)
    }

    /// The body of the only answer.
    fn body(&mut self, datagram: &[u8]) -> Vec<u8> {
        let answers = self.answers(datagram);
        wire::messages(&answers[0]).next().unwrap().body.to_vec()
    }
}

#[test]
fn good_requests_are_answered() {
    let mut gateway = Gateway::new();
    let replies: Vec<_> = seed().iter().map(|datagram| gateway.ask(datagram)).collect();
    let done = (wire::NLMSG_ERROR, 0);
    let end = (wire::NLMSG_DONE, 0);
    let wanted = [
        vec![done],
        vec![done],
        vec![done],
        vec![(kind::NEWSA, 0), (kind::NEWSA, 0), end],
        vec![(kind::NEWPOLICY, 0), end],
        vec![(kind::NEWSA, 0), done],
        vec![(kind::NEWSADINFO, 0), done],
        vec![(kind::NEWSPDINFO, 0), done],
        vec![done],
        vec![done],
    ];
    assert_eq!(replies, wanted);
    // The inbound SA and the SPI that was given out are left.
    assert_eq!((gateway.xfrm.len(), gateway.xfrm.remotes().count()), (2, 0));
    assert_eq!(gateway.xfrm.changes().len(), 2);
    assert!(gateway.xfrm.ends(0x1002).is_some() && gateway.xfrm.ends(0x1001).is_none());
    // Again: what is there is there, what is gone is gone.
    let again: Vec<_> = [1, 8].map(|at: usize| gateway.ask(&seed()[at])).into();
    assert_eq!(again, [[(wire::NLMSG_ERROR, EEXIST)], [(wire::NLMSG_ERROR, ESRCH)]]);
    // A message that this does not know, and one that it knows and does not do.
    for (kind, errno) in [(0x21, EOPNOTSUPP), (0x99, EINVAL)] {
        assert_eq!(gateway.ask(&Reply::new(kind, F_ACK, 1, &[]).done()), [(wire::NLMSG_ERROR, errno)]);
    }
}

#[test]
fn an_sa_that_is_asked_where_it_stands_goes_on_there_when_it_is_made_anew() {
    let mut gateway = Gateway::new();
    // An SA that says itself where it begins, as the seed's first one with 40 packets behind it.
    let old = &seed()[0];
    let state = [40_u32, 40, 0].map(u32::to_ne_bytes).concat();
    let mut anew = Reply::new(0, 0, 0, &[]).attributes(&old[16..]).attribute(10, &state).done();
    anew[4..16].copy_from_slice(&old[4..16]);
    assert_eq!(gateway.ask(&anew), [(wire::NLMSG_ERROR, 0)]);
    let key = *gateway.xfrm.database.states.keys().next().unwrap();
    let IpAddr::V4(destination) = key.destination else { panic!("the seed is IPv4") };
    let mut id = [0; told::AEVENT_ID];
    id[..4].copy_from_slice(&destination.octets());
    id[16..20].copy_from_slice(&key.spi.to_be_bytes());
    (id[20], id[22]) = (2, key.protocol);
    let replies = gateway.answers(&Reply::new(kind::GETAE, 0, 5, &id).done());
    let message = wire::messages(&replies[0]).next().unwrap();
    assert_eq!((replies.len(), message.kind, message.sequence), (1, kind::NEWAE, 5));
    let inbound = key.destination == IpAddr::from([192, 0, 2, 1]);
    assert_eq!(spec::first_sequence(&message.body[told::AEVENT_ID..], inbound), Ok(41));
    // Half a request, and an SA that is not there.
    assert_eq!(gateway.ask(&Reply::new(kind::GETAE, 0, 1, &id[..40]).done()), [(wire::NLMSG_ERROR, EINVAL)]);
    id[16] ^= 1;
    assert_eq!(gateway.ask(&Reply::new(kind::GETAE, 0, 1, &id).done()), [(wire::NLMSG_ERROR, ESRCH)]);
}

/// Where several SAs fit a policy the newest is used, also behind a change of the policy: what the other end has deleted
/// meanwhile is an old one.
#[test]
fn a_policy_that_changes_goes_on_with_the_newest_sa() {
    let mut gateway = Gateway::new();
    let done = [(wire::NLMSG_ERROR, 0)];
    for spi in [0x9001_u32, 0x1001, 0x5001] {
        let mut sa = seed()[0].clone();
        sa[16 + 72..16 + 76].copy_from_slice(&spi.to_be_bytes());
        assert_eq!(gateway.ask(&sa), done);
    }
    let mut policy = seed()[2].clone();
    for kind in [kind::NEWPOLICY, kind::UPDPOLICY] {
        policy[4..6].copy_from_slice(&kind.to_ne_bytes());
        assert_eq!(gateway.ask(&policy), done);
        // From and to the first addresses that the policy is for.
        let (to, from) = (&policy[16..20], &policy[32..36]);
        let head =
            [&[0x45, 0, 0, 28, 0, 0, 0, 0, 64, 17, 0, 0][..], from, to, &[0, 9, 0, 9, 0, 8, 0, 0]].concat();
        let packet = ace_ipsec::Packet { token: 0, buffer: ace_engine::Buffer::from_packet(&head, 128, 64) };
        gateway.plane.ingest(Duration::ZERO, ace_ipsec::Inside, [packet]);
        let used = gateway.plane.sas().filter(|sa| sa.counters.accepted.packets > 0).map(|sa| sa.spi);
        assert_eq!(used.collect::<Vec<_>>(), [0x5001]);
        while gateway.plane.jobs().pop_front().is_some() {}
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    #[test]
    fn anything_like_a_request_is_answered_or_not(
        steps in prop::collection::vec((0..10_usize, prop::collection::vec((any::<u16>(), any::<u8>()), 0..4), any::<bool>()), 1..12),
    ) {
        let (mut gateway, seed) = (Gateway::new(), seed());
        for (at, edits, cut) in steps {
            let mut datagram = seed[at].clone();
            for (place, value) in edits {
                let place = usize::from(place) % datagram.len();
                datagram[place] = value;
                if cut {
                    datagram.truncate(place);
                    break;
                }
            }
            gateway.ask(&datagram);
        }
        gateway.ask(&Reply::new(kind::FLUSHSA, 1, 1, &[0; 4]).done());
        prop_assert_eq!(gateway.xfrm.len(), 0);
        prop_assert_eq!((gateway.xfrm.remotes().count(), gateway.xfrm.spis.len()), (0, 0));
        prop_assert_eq!(gateway.plane.sas().count(), 0);
    }
}

mod names_sent;
mod requests;
mod states;
