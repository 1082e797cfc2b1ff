// SPDX-License-Identifier: Apache-2.0
//! Two gateways without devices: what one sends the other gets.

use ace_config::gateway::Peer;
use ace_engine::software::CpuEngine;
use ace_ipsec::packet::ip::Outer;
use ace_ipsec::{Cause, OsIvs};

use super::*;

const A: &str = "198.51.100.1:4500";
const B: &str = "198.51.100.2:4500";
const T0: Duration = Duration::ZERO;

/// `ours`: which of both ends. `keys`: one digit for each SA of a direction.
fn sas(ours: char, keys: &str) -> Wanted {
    let mut text = String::new();
    for (n, digit) in keys.chars().enumerate() {
        for (from, to) in [('1', '2'), ('2', '1')] {
            let (direction, other) = if from == ours { ("out", to) } else { ("in", from) };
            text += &format!(
                "[[sa]]\nname = \"{from}-{n}-{digit}\"\nspi = 0x{from}0{n}0\ndirection = \"{direction}\"\n\
                 mode = \"tunnel\"\nlocal = \"192.0.2.{ours}\"\nremote = \"192.0.2.{other}\"\n\
                 selector = {{ src = \"10.{n}.{from}.0/24\", dst = \"10.{n}.{to}.0/24\" }}\n\
                 cipher = \"aes-128-gcm-16\"\nkey = \"{}\"\n",
                format!("{from}{digit}").repeat(20)
            );
        }
    }
    Wanted::of(&text)
}

fn settings(encapsulation: Encapsulation) -> Settings {
    let peer = |n: u8, at: &str| Peer {
        address: IpAddr::from([192, 0, 2, n]),
        endpoint: at.parse().unwrap(),
        roaming: true,
        check: None,
    };
    let keepalive = Some(Duration::from_secs(20));
    Settings {
        encapsulation,
        peers: vec![peer(1, A), peer(2, B)],
        mtu: 1400,
        interfaces: Interfaces::default(),
        marks: false,
        port: 4500,
        keepalive,
        xfrm: None,
        keys: None,
    }
}

fn core(ours: char, keys: &str, encapsulation: Encapsulation) -> Core {
    let mut core = Core::new(settings(encapsulation), Box::new(CpuEngine::new()), Box::new(OsIvs::default()));
    core.load(T0, &sas(ours, keys)).unwrap();
    core
}

/// A clear packet of the pair of nets `n`, from the side of `from`.
fn clear(core: &mut Core, n: u8, from: u8) -> Buffer {
    let mut buffer = core.buffer();
    let outer = Outer {
        source: &IpAddr::from([10, n, from, 9]),
        destination: &IpAddr::from([10, n, 3 - from, 9]),
        traffic_class: 2,
        flow_label: 0,
        dont_fragment: true,
        identification: 0,
        protocol: 1,
    };
    outer.write(buffer.push_back(20), 30).unwrap();
    buffer.extend_from_slice(&[b'x'; 30]);
    buffer
}

/// Sends one packet and gives what goes out in its place.
fn protect(core: &mut Core, n: u8, from: u8) -> Option<Outgoing> {
    let buffer = clear(core, n, from);
    core.from_inside(T0, 0, buffer);
    core.work(T0);
    core.poll()
}

/// As [`protect`], and it has to go to `to`.
fn datagram(core: &mut Core, n: u8, from: u8, to: &str) -> Buffer {
    match protect(core, n, from) {
        Some(Outgoing::Udp { to: found, class: 2, payload, .. }) if found == to.parse().unwrap() => payload,
        other => panic!("{other:?} is no datagram for {to}"),
    }
}

fn arrive(core: &mut Core, from: &str, payload: &[u8]) -> Option<Outgoing> {
    let mut buffer = core.buffer();
    buffer.extend_from_slice(payload);
    core.from_udp(T0, from.parse().unwrap(), 0, buffer);
    core.work(T0);
    core.poll()
}

#[test]
fn packets_cross_in_udp_both_ways() {
    let (mut a, mut b) = (core('1', "1", Encapsulation::Udp), core('2', "1", Encapsulation::Udp));
    let payload = datagram(&mut a, 0, 1, B);
    assert!(!payload.windows(8).any(|bytes| bytes == [b'x'; 8]), "in clear");
    assert_eq!(arrive(&mut b, A, &payload), Some(Outgoing::Inside { if_id: 0, packet: clear(&mut a, 0, 1) }));
    let payload = datagram(&mut b, 0, 2, A);
    assert_eq!(arrive(&mut a, B, &payload), Some(Outgoing::Inside { if_id: 0, packet: clear(&mut b, 0, 2) }));
    // Again: a replay.
    assert_eq!(arrive(&mut a, B, &payload), None);
    assert_eq!(a.packets().dropped.get(Cause::Replayed), 1);
}

#[test]
fn packets_cross_as_they_are() {
    let (mut a, mut b) = (core('1', "1", Encapsulation::None), core('2', "1", Encapsulation::None));
    let Some(Outgoing::Raw { to, packet, .. }) = protect(&mut a, 0, 1) else { panic!("nothing left") };
    assert_eq!(to, IpAddr::from([192, 0, 2, 2]));
    b.from_raw(T0, packet);
    b.work(T0);
    assert_eq!(b.poll(), Some(Outgoing::Inside { if_id: 0, packet: clear(&mut a, 0, 1) }));
}

#[test]
fn what_is_not_protected_goes_nowhere() {
    let mut a = core('1', "1", Encapsulation::Udp);
    // No selector is for these nets.
    assert_eq!(protect(&mut a, 7, 1), None);
    assert_eq!(a.packets().dropped.get(Cause::PolicyDiscard), 1);
    // A packet in clear that came in UDP is not even looked at.
    let packet = clear(&mut a, 0, 2);
    assert_eq!(arrive(&mut a, B, &packet), None);
    assert_eq!(a.counters().datagrams_unknown_spi, 1);
    for (payload, counted) in [(&[0xff][..], 0), (&[0; 9], 1), (&[1; 3], 2)] {
        assert_eq!(arrive(&mut a, B, payload), None);
        let c = a.counters();
        assert_eq!([c.keepalives_received, c.ike_ignored, c.datagrams_malformed][counted], 1);
    }
    let error = a.load(T0, &Wanted::of("default_policy = \"bypass\"")).unwrap_err();
    assert_eq!(error, CoreError::Bypass);
    assert_eq!(a.sa_count(), 2, "and nothing has changed");
}

#[test]
fn another_key_opens_nothing() {
    let (mut a, mut b) = (core('1', "1", Encapsulation::Udp), core('2', "2", Encapsulation::Udp));
    let payload = datagram(&mut a, 0, 1, B);
    assert_eq!(arrive(&mut b, A, &payload), None);
    assert_eq!(b.packets().dropped.get(Cause::IcvMismatch), 1);
}

const C: &str = "203.0.113.9:1025";
const D: &str = "203.0.113.10:1025";

/// Where a packet for the peer goes, and how often it has moved.
fn endpoint(core: &mut Core, from: u8) -> (SocketAddr, u64) {
    let Some(Outgoing::Udp { to, .. }) = protect(core, 0, from) else { panic!("nothing left") };
    assert_eq!(core.peers()[0].endpoint, to);
    (to, core.counters().endpoint_moves)
}

fn at(address: &str) -> SocketAddr {
    address.parse().unwrap()
}

#[test]
fn an_endpoint_moves_behind_two_authentic_packets_alone() {
    let (mut a, mut b) = (core('1', "1", Encapsulation::Udp), core('2', "1", Encapsulation::Udp));
    let sent: Vec<Buffer> = (0..4).map(|_| datagram(&mut a, 0, 1, B)).collect();
    for _ in 0..2 {
        let mut forged = sent[3].to_vec();
        forged[20] ^= 1;
        assert_eq!(arrive(&mut b, C, &forged), None);
    }
    assert_eq!(endpoint(&mut b, 2), (at(A), 0));
    assert!(arrive(&mut b, C, &sent[1]).is_some());
    assert_eq!(endpoint(&mut b, 2), (at(A), 0));
    // Neither a replay nor one that was overtaken is a second one.
    assert_eq!(arrive(&mut b, C, &sent[1]), None);
    assert!(arrive(&mut b, C, &sent[0]).is_some());
    assert_eq!(endpoint(&mut b, 2), (at(A), 0));
    assert!(arrive(&mut b, C, &sent[2]).is_some());
    assert_eq!(endpoint(&mut b, 2), (at(C), 1));
    // A new file leaves peers where they are.
    b.load(T0, &sas('2', "11")).unwrap();
    assert_eq!(endpoint(&mut b, 2), (at(C), 1));
}

#[test]
fn one_packet_that_was_held_back_takes_no_endpoint() {
    let (mut a, mut b) = (core('1', "1", Encapsulation::Udp), core('2', "1", Encapsulation::Udp));
    for round in 0..10 {
        // The newest, first from somebody else, again and again; the peer goes on where it is.
        let [held, next] = [0, 1].map(|_| datagram(&mut a, 0, 1, B));
        assert!(arrive(&mut b, [C, D][round % 2], &held).is_some());
        assert_eq!(endpoint(&mut b, 2), (at(A), 0), "round {round}");
        assert!(arrive(&mut b, A, &next).is_some());
    }
    // Addresses that alternate are no place to move to.
    for round in 0..10 {
        let payload = datagram(&mut a, 0, 1, B);
        assert!(arrive(&mut b, [C, D][round % 2], &payload).is_some());
        assert_eq!(endpoint(&mut b, 2), (at(A), 0), "round {round}");
    }
    // And one that stays is.
    for _ in 0..2 {
        let payload = datagram(&mut a, 0, 1, B);
        assert!(arrive(&mut b, C, &payload).is_some());
    }
    assert_eq!(endpoint(&mut b, 2), (at(C), 1));
}

#[test]
fn a_peer_that_does_not_roam_stays_whatever_arrives() {
    let mut a = core('1', "1", Encapsulation::Udp);
    let mut fixed = settings(Encapsulation::Udp);
    fixed.peers[0].roaming = false;
    let mut b = Core::new(fixed, Box::new(CpuEngine::new()), Box::new(OsIvs::default()));
    b.load(T0, &sas('2', "1")).unwrap();
    for _ in 0..5 {
        let payload = datagram(&mut a, 0, 1, B);
        assert!(arrive(&mut b, C, &payload).is_some());
    }
    b.moved(IpAddr::from([192, 0, 2, 1]), at(C));
    assert_eq!(endpoint(&mut b, 2), (at(A), 0));
}

#[test]
fn a_changed_file_changes_what_changed() {
    let (mut a, mut b) = (core('1', "12", Encapsulation::Udp), core('2', "12", Encapsulation::Udp));
    for _ in 0..3 {
        let payload = datagram(&mut a, 0, 1, B);
        assert!(arrive(&mut b, A, &payload).is_some());
    }
    let before = a.sas()[0].status.sequence;
    // The second pair has other keys under its SPIs; a third one is new.
    let counts = (a.load(T0, &sas('1', "134")), b.load(T0, &sas('2', "134")));
    let wanted = Ok(Reloaded { kept: 2, edited: 0, added: 4, removed: 2 });
    assert_eq!(counts, (wanted.clone(), wanted));
    assert_eq!((before, a.sas()[0].status.sequence), (3, 3));
    for n in [0, 1, 2] {
        let payload = datagram(&mut a, n, 1, B);
        assert!(arrive(&mut b, A, &payload).is_some(), "pair {n}");
    }
    // The window went on: what was received before is a replay still.
    assert_eq!(b.sas()[0].status.sequence, 4);
    // A file without SAs: nothing flows.
    assert_eq!(a.load(T0, &sas('1', "")).map(|reloaded| reloaded.removed), Ok(6));
    assert_eq!(protect(&mut a, 0, 1), None);
}

/// Each new SA stands before the one that it replaces: sooner or later there is no number left between them.
#[test]
fn there_may_be_new_keys_without_end() {
    let file = |generations: &[u32]| {
        let one = |n: &u32| {
            format!(
                "[[sa]]\nname = \"{n}\"\nspi = {n}\ndirection = \"out\"\nmode = \"tunnel\"\nlocal = \"192.0.2.1\"\n\
                 remote = \"192.0.2.2\"\nselector = {{ src = \"10.0.1.0/24\", dst = \"10.0.2.0/24\" }}\n\
                 cipher = \"aes-128-gcm-16\"\nkey = \"{n:040x}\"\n"
            )
        };
        Wanted::of(&generations.iter().map(one).collect::<String>())
    };
    let mut a = core('1', "", Encapsulation::Udp);
    let sent_by = |a: &mut Core| {
        let packet = datagram(a, 0, 1, B);
        u32::from_be_bytes(packet[..4].try_into().unwrap())
    };
    a.load(T0, &file(&[1000])).unwrap();
    for n in 1001..1100 {
        assert_eq!(sent_by(&mut a), n - 1);
        assert_eq!(a.load(T0, &file(&[n, n - 1])), Ok(Reloaded { kept: 1, edited: 0, added: 1, removed: 0 }));
        assert_eq!(sent_by(&mut a), n);
        // The other order, which takes the old one back, and this one again.
        assert_eq!(a.load(T0, &file(&[n - 1, n])), Ok(Reloaded { kept: 2, edited: 0, added: 0, removed: 0 }));
        assert_eq!(sent_by(&mut a), n - 1);
        a.load(T0, &file(&[n, n - 1])).unwrap();
        assert_eq!(a.load(T0, &file(&[n])), Ok(Reloaded { kept: 1, edited: 0, added: 0, removed: 1 }));
        assert_eq!(a.sas()[0].status.sequence, 1);
    }
}

#[test]
fn silence_is_broken_by_keepalives() {
    let mut a = core('1', "11", Encapsulation::Udp);
    let at = a.poll_timeout().unwrap();
    assert_eq!(at, Duration::from_secs(20));
    a.tick(at - Duration::from_millis(1));
    assert_eq!(a.poll(), None);
    a.tick(at);
    let Some(Outgoing::Udp { to, payload, .. }) = a.poll() else { panic!("nothing was sent") };
    assert_eq!((to, &payload[..]), (B.parse().unwrap(), &[0xff][..]));
    assert_eq!((a.poll(), a.poll_timeout()), (None, Some(at * 2)));
    // Traffic is as good.
    let packet = clear(&mut a, 0, 1);
    a.from_inside(at + Duration::from_secs(5), 0, packet);
    a.work(at + Duration::from_secs(5));
    assert!(matches!(a.poll(), Some(Outgoing::Udp { .. })));
    // It looks again when one would have been due, and sends none.
    a.tick(at * 2);
    assert_eq!((a.poll(), a.poll_timeout()), (None, Some(at * 2 + Duration::from_secs(5))));
}

#[test]
fn what_a_gateway_does_not_do_is_named() {
    let file = |protocol: &str, address: &str| {
        let text = format!(
            "[[sa]]\nname = \"x\"\nspi = 0x1000\ndirection = \"out\"\nmode = \"tunnel\"\nlocal = \"{address}1\"\n\
             remote = \"{address}2\"\nprotocol = \"{protocol}\"\nauth = \"hmac-sha256-128\"\nauth_key = \"{}\"\n{}",
            "11".repeat(32),
            if protocol == "esp" { "cipher = \"null\"" } else { "" }
        );
        Wanted::of(&text)
    };
    let udp = core('1', "", Encapsulation::Udp).load(T0, &file("ah", "192.0.2."));
    assert_eq!(udp, Err(CoreError::AhInUdp("x".to_owned())));
    let raw = core('1', "", Encapsulation::None).load(T0, &file("esp", "2001:db8::"));
    assert_eq!(raw, Err(CoreError::RawIpv6("x".to_owned())));
}

#[test]
fn a_recording_has_sas_sizes_and_headers_and_neither_keys_nor_plaintext() {
    use crate::record::{Line, Packet as Recorded, Recorder};
    let mut ends = [core('1', "7", Encapsulation::Udp), core('2', "7", Encapsulation::Udp)];
    for end in &mut ends {
        end.record(Recorder::new(3));
    }
    let at = Duration::from_millis(5);
    for _ in 0..5 {
        let [a, b] = &mut ends;
        let packet = clear(a, 0, 1);
        a.from_inside(at, 0, packet);
        a.work(at);
        let Some(Outgoing::Udp { payload, .. }) = a.poll() else { panic!("not sent") };
        let later = at + Duration::from_millis(1);
        b.from_udp(later, A.parse().unwrap(), 0, payload);
        b.work(later);
        assert!(matches!(b.poll(), Some(Outgoing::Inside { .. })));
    }
    for (end, name, out, nanos) in [(0, "1-0-7", true, 5_000_000), (1, "1-0-7", false, 6_000_000)] {
        let recorder = ends[end].recorder().as_mut().unwrap();
        assert!(recorder.is_full());
        let text = String::from_utf8(recorder.take()).unwrap();
        let lines: Vec<Line> = text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
        let [Line::Recording(1), Line::Sa(sa), Line::Flow(flow), packets @ .., Line::Full(3)] = &lines[..]
        else {
            panic!("{text}")
        };
        assert_eq!((sa.name.as_str(), sa.out, sa.cipher.as_str()), (name, out, "aes-128-gcm-16"));
        assert_eq!((flow.protocol, flow.source.to_string()), (1, "10.0.1.9:0".to_owned()));
        // Header, data; what the data and the key are is nowhere.
        assert_eq!(packets, vec![Line::Packet(Recorded(nanos, 0, 0, 50, 30, 0, 0)); 3]);
    }
}

/// An SA is replaced; what its end had sent and received goes on, and the end is without SA when the last one goes.
#[test]
fn totals_of_an_end_outlive_its_sas() {
    let (mut a, mut b) = (core('1', "1", Encapsulation::Udp), core('2', "1", Encapsulation::Udp));
    let at = Duration::from_secs(7);
    let payload = datagram(&mut a, 0, 1, B);
    b.tick(at);
    arrive(&mut b, A, &payload);
    arrive(&mut b, A, &payload);
    let of_b = |b: &Core| b.remotes().0.remove(&IpAddr::from([192, 0, 2, 1])).unwrap();
    let before = of_b(&b);
    assert_eq!((before.received.packets, before.dropped.get(Cause::Replayed)), (1, 1));
    assert_eq!((before.outbound, before.inbound, before.authenticated), (1, 1, Some(at)));
    b.load(at, &sas('2', "2")).unwrap();
    assert_eq!(of_b(&b), before);
    b.load(at, &sas('2', "")).unwrap();
    assert_eq!(of_b(&b), Remote { outbound: 0, inbound: 0, ..before });
}

mod tenants;
