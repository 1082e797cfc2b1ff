// SPDX-License-Identifier: Apache-2.0
//! Policy, replay, extended sequence numbers, lifetimes, failures, counters.

use crate::common::{
    End, NOW, SaText, clear, complete, ends, execute, finish, fix_checksum, packet, pair, plane, seal, send,
    udp4, udp6,
};
use ace_engine::EngineError;
use ace_engine::{Action, Completion, ConfigurationId, Direction, Illegal, Job, Mac};
use ace_ipsec::{Cause, How, Inside, Outside, Shard, packet as wire};

const SELECTOR: &str = "selector = { src = \"10.0.0.1/32\", dst = \"10.0.0.2/32\" }";
const BACK: &str = "selector = { src = \"10.0.0.2/32\", dst = \"10.0.0.1/32\" }";

fn other(payload: &[u8]) -> Vec<u8> {
    udp4([10, 9, 9, 9], [10, 8, 8, 8], (1, 2), payload)
}

/// The only job that there is.
fn job(plane: &mut Shard) -> Job {
    assert_eq!(plane.jobs().len(), 1);
    plane.jobs().pop_front().unwrap()
}

#[test]
fn what_matches_nothing_follows_the_policy() {
    let sa = SaText::new("out").more(SELECTOR).toml();
    let mut discard = plane(&sa);
    assert_eq!(send(&mut discard, &other(b"x")), End::Dropped(Cause::PolicyDiscard));
    let mut bypass = plane(&format!("default_policy = \"bypass\"\n{sa}"));
    assert_eq!(send(&mut bypass, &other(b"x")), End::Forwarded(How::Bypassed, other(b"x")));
    assert!(matches!(send(&mut bypass, &clear(b"x")), End::Forwarded(How::Protected, _)));
    for nonsense in [&b""[..], &[0x45], &[0; 60], &clear(b"x")[..27]] {
        assert_eq!(send(&mut bypass, nonsense), End::Dropped(Cause::MalformedPacket));
    }
    let mut padded = other(b"x");
    padded.extend([0; 17]);
    assert_eq!(
        send(&mut bypass, &padded).packet(),
        other(b"x"),
        "what is behind the packet is no part of it"
    );
}

#[test]
fn the_first_selector_in_the_file_wins() {
    let narrow = SaText { name: "narrow", spi: 0x2001, ..SaText::new("out") }
        .more("selector = { src = \"10.0.0.0/24\", protocol = \"udp\", dst_port = 2000 }");
    let wide = SaText { name: "wide", spi: 0x2002, ..SaText::new("out") }
        .more("selector = { src = \"10.0.0.0/8\" }");
    let spi_of = |packet: Vec<u8>| u32::from_be_bytes(packet[20..24].try_into().unwrap());
    let mut both = plane(&(narrow.toml() + &wide.toml()));
    assert_eq!(spi_of(send(&mut both, &clear(b"x")).packet()), 0x2001);
    assert_eq!(spi_of(send(&mut both, &other(b"x")).packet()), 0x2002);
    let mut other_way = plane(&(wide.toml() + &narrow.toml()));
    assert_eq!(spi_of(send(&mut other_way, &clear(b"x")).packet()), 0x2002);
}

#[test]
fn hidden_ports_are_never_let_by() {
    let ports = SaText::new("out").more("selector = { protocol = \"udp\", dst_port = \"2000-2999\" }").toml();
    let mut gate = plane(&format!("default_policy = \"bypass\"\n{ports}"));
    let mut fragment = clear(b"x");
    fragment[6..8].copy_from_slice(&0x0003u16.to_be_bytes());
    assert_eq!(send(&mut gate, &fragment), End::Dropped(Cause::PortsUnknown));
    let mut short = clear(b"x");
    short.truncate(22);
    short[3] = 22;
    assert_eq!(send(&mut gate, &short), End::Dropped(Cause::PortsUnknown));
    assert!(matches!(send(&mut gate, &clear(b"x")), End::Forwarded(How::Protected, _)));
    let elsewhere = udp4([10, 0, 0, 1], [10, 0, 0, 2], (2000, 3000), b"x");
    assert!(matches!(send(&mut gate, &elsewhere), End::Forwarded(How::Bypassed, _)));
    let mut tcp = fragment;
    tcp[9] = 6;
    assert!(matches!(send(&mut gate, &tcp), End::Forwarded(How::Bypassed, _)), "another protocol altogether");
}

#[test]
fn a_gateway_with_both_directions() {
    let out = SaText::new("out").ends("192.0.2.1", "192.0.2.2").more(SELECTOR);
    let back = SaText::new("in").ends("192.0.2.1", "192.0.2.2").more(BACK);
    let mut gate = plane(&format!("default_policy = \"bypass\"\n{}{}", back.toml(), out.toml()));
    assert!(matches!(send(&mut gate, &clear(b"x")), End::Forwarded(How::Protected, _)));
    let reply = udp4([10, 0, 0, 2], [10, 0, 0, 1], (2000, 1000), b"y");
    assert_eq!(send(&mut gate, &reply), End::Dropped(Cause::Unprotected), "in clear, though an SA covers it");
    let mut far_end = SaText::new("out").ends("192.0.2.2", "192.0.2.1").more(BACK).plane();
    let sealed = send(&mut far_end, &reply).packet();
    assert_eq!(send(&mut gate, &sealed), End::Forwarded(How::Decapsulated, reply));
    let counters = gate.counters();
    assert_eq!((counters.protected.packets, counters.decapsulated.packets), (1, 1));
    assert_eq!(counters.dropped.get(Cause::Unprotected), 1);
    assert_eq!(counters.dropped.total(), 1);
}

#[test]
fn esp_that_is_not_for_us() {
    let mut out = SaText { spi: 0x9999, ..SaText::new("out") }.plane();
    let sealed = seal(&mut out, 1).remove(0);
    let into = SaText::new("in").toml();
    let mut gate = plane(&format!("default_policy = \"bypass\"\n{into}"));
    assert_eq!(send(&mut gate, &sealed), End::Dropped(Cause::UnknownSpi));
    let mut fragment = sealed.clone();
    fragment[6] |= 0x20;
    assert_eq!(send(&mut gate, &fragment), End::Dropped(Cause::EspFragment));
    let mut short = sealed[..27].to_vec();
    short[2..4].copy_from_slice(&27u16.to_be_bytes());
    assert_eq!(send(&mut gate, &short), End::Dropped(Cause::EspTooShort));
    // To another host it is a packet like any other.
    let narrow = SaText::new("in").more(SELECTOR).toml();
    let mut gate = plane(&format!("default_policy = \"bypass\"\n{narrow}"));
    let mut elsewhere = sealed;
    elsewhere[19] = 77;
    assert!(matches!(send(&mut gate, &elsewhere), End::Forwarded(How::Bypassed, _)));
}

#[test]
fn selectors_are_checked_again_after_decryption() {
    let mut out = SaText::new("out").plane();
    let mut into = SaText::new("in").more(SELECTOR).plane();
    let good = send(&mut out, &clear(b"x")).packet();
    let bad = send(&mut out, &other(b"x")).packet();
    let bad6 = send(&mut out, &udp6([1; 16], [2; 16], (1, 2), b"x")).packet();
    assert!(matches!(send(&mut into, &good), End::Forwarded(..)));
    for sealed in [bad, bad6] {
        assert_eq!(send(&mut into, &sealed), End::Dropped(Cause::SelectorMismatch));
    }
    assert_eq!(into.sas().next().unwrap().sequence, 3, "they were authentic");
}

#[test]
fn replayed_and_reordered() {
    let (mut out, mut into) = pair(&SaText::new("out").more("replay_window = 32"));
    let sealed = seal(&mut out, 100);
    for n in [5, 3, 4, 60, 40] {
        assert!(matches!(send(&mut into, &sealed[n]), End::Forwarded(..)), "{n}");
        assert_eq!(send(&mut into, &sealed[n]), End::Dropped(Cause::Replayed), "{n}");
    }
    assert_eq!(send(&mut into, &sealed[28]), End::Dropped(Cause::TooOld));
    assert!(matches!(send(&mut into, &sealed[29]), End::Forwarded(..)));
    let status = into.sas().next().unwrap();
    assert_eq!((status.sequence, status.replay_window), (61, 32));
    assert_eq!(status.counters.dropped.get(Cause::Replayed), 5);
    assert_eq!(status.counters.dropped.get(Cause::TooOld), 1);

    let (mut out, mut into) = pair(&SaText::new("out").more("replay_window = 0"));
    let twice = &seal(&mut out, 1)[0];
    for _ in 0..2 {
        assert!(matches!(send(&mut into, twice), End::Forwarded(..)), "the window is off");
    }
}

#[test]
fn of_two_copies_in_flight_one_gets_through() {
    let (mut out, mut into) = pair(&SaText::new("out"));
    let sealed = seal(&mut out, 1).remove(0);
    into.ingest(NOW, Outside, (0..3).map(|_| packet(&sealed)));
    assert_eq!(into.in_flight(), 3);
    let ends = finish(&mut into);
    assert!(matches!(ends[0], End::Forwarded(..)));
    assert_eq!(ends[1..], [End::Dropped(Cause::Replayed), End::Dropped(Cause::Replayed)]);
}

#[test]
fn packets_of_one_sa_leave_in_the_order_in_which_they_came() {
    let (mut out, mut into) = pair(&SaText::new("out"));
    let inner: Vec<_> = (0..20u8).map(|n| clear(&[n])).collect();
    out.ingest(NOW, Inside, inner.iter().map(|bytes| packet(bytes)));
    let mut done = execute(&mut out);
    done.reverse();
    let last = done.split_off(19);
    assert_eq!(complete(&mut out, done), [], "they wait for the first");
    let sealed: Vec<_> = complete(&mut out, last).into_iter().map(End::packet).collect();
    let numbers: Vec<_> = sealed.iter().map(|packet| packet[27]).collect();
    assert!(numbers.iter().copied().eq(1..=20));
    into.ingest(NOW, Outside, sealed.iter().map(|bytes| packet(bytes)));
    let mut done = execute(&mut into);
    done.rotate_left(7);
    let found: Vec<_> = complete(&mut into, done).into_iter().map(End::packet).collect();
    assert_eq!(found, inner);
}

#[test]
fn one_operation_a_packet_and_the_icv_comes_before_decryption() {
    let (mut out, mut into) = pair(&SaText::new("out"));
    out.ingest(NOW, Inside, [packet(&clear(b"x"))]);
    let sealing = job(&mut out);
    assert!(matches!(sealing.operation.action, Action::CipherMac { direction: Direction::Encrypt, .. }));
    out.jobs().push_back(sealing);
    let sealed = finish(&mut out).remove(0).packet();
    into.ingest(NOW, Outside, [packet(&sealed)]);
    let opening = job(&mut into);
    assert!(matches!(opening.operation.action, Action::CipherMac { direction: Direction::Decrypt, .. }));
    assert!(matches!(opening.operation.action.needs(), (ace_engine::Need::Hmac { .. }, Some(_))));
}

#[test]
fn a_failed_operation_drops_the_packet() {
    let configuration = ConfigurationId::from_index(3);
    let mut out = SaText::new("out").plane();
    out.ingest(NOW, Inside, [packet(&clear(b"x"))]);
    let (need, _) = job(&mut out).operation.action.needs();
    let errors = [
        (EngineError::Illegal(Illegal::Range), Cause::EngineFailed),
        (EngineError::NoConfiguration { need }, Cause::NoConfiguration),
        (EngineError::LoadFailed { configuration }, Cause::LoadFailed),
        (EngineError::SlotStatus { slot: 0, configuration, status: 1 }, Cause::EngineFailed),
        (EngineError::Mismatch, Cause::IcvMismatch),
    ];
    let (mut out, mut into) = pair(&SaText::new("out"));
    for (error, expected) in errors {
        let sealed = seal(&mut out, 1).remove(0);
        for (plane, bytes) in [(&mut out, &clear(b"x")), (&mut into, &sealed)] {
            plane.ingest_seen(NOW, packet(bytes));
            let Job { id, operation, .. } = job(plane);
            let buffer = operation.buffer;
            let failed = || Completion { id, buffer: buffer.clone(), result: Err(error) };
            assert_eq!(complete(plane, vec![failed()]), [End::Dropped(expected)]);
            assert_eq!(complete(plane, vec![failed()]), [], "there is no such job any more");
        }
    }
    assert_eq!(into.sas().next().unwrap().sequence, 0);
    assert_eq!((out.in_flight(), into.in_flight()), (0, 0));
}

/// Outside means outside, whatever the packet matches (RFC 4301, 5.2).
#[test]
fn a_clear_packet_from_outside_is_never_protected() {
    let out = SaText::new("out").more(SELECTOR);
    for (policy, expected) in [
        ("discard", End::Dropped(Cause::PolicyDiscard)),
        ("bypass", End::Forwarded(How::Bypassed, clear(b"x"))),
    ] {
        let mut gate = plane(&format!("default_policy = \"{policy}\"\n{}", out.toml()));
        gate.ingest(NOW, Outside, [packet(&clear(b"x"))]);
        assert_eq!(finish(&mut gate), std::slice::from_ref(&expected));
        gate.ingest(NOW, Inside, [packet(&clear(b"x"))]);
        assert!(matches!(finish(&mut gate)[..], [End::Forwarded(How::Protected, _)]));
    }
    let back = SaText::new("in").more(BACK);
    let mut gate = plane(&format!("default_policy = \"bypass\"\n{}", back.toml()));
    let reply = udp4([10, 0, 0, 2], [10, 0, 0, 1], (2000, 1000), b"y");
    gate.ingest(NOW, Outside, [packet(&reply)]);
    assert_eq!(ends(&mut gate), [End::Dropped(Cause::Unprotected)]);
    gate.ingest(NOW, Inside, [packet(&reply)]);
    assert!(matches!(ends(&mut gate)[..], [End::Forwarded(How::Bypassed, _)]), "inside it is another matter");
}

/// An ESP packet with neither cipher nor authentication, so that its inside can be written freely.
fn bare(inside: &[u8], outer6: bool) -> Vec<u8> {
    let mut packet = if outer6 {
        udp6([0x20; 16], [0x21; 16], (0, 0), &[])[..40].to_vec()
    } else {
        udp4([192, 0, 2, 1], [192, 0, 2, 2], (0, 0), &[])[..20].to_vec()
    };
    packet.extend([0, 0, 0x10, 1, 0, 0, 0, 1]);
    packet.extend(inside);
    if outer6 {
        let length = (packet.len() - 40) as u16;
        packet[4..6].copy_from_slice(&length.to_be_bytes());
        packet[6] = 50;
    } else {
        let length = packet.len() as u16;
        packet[2..4].copy_from_slice(&length.to_be_bytes());
        packet[9] = 50;
        fix_checksum(&mut packet);
    }
    packet
}

/// Payload, padding to a boundary, next header.
fn inside(payload: &[u8], next_header: u8) -> Vec<u8> {
    let mut bytes = payload.to_vec();
    let pad_len = (4 - (payload.len() + 2) % 4) % 4;
    bytes.resize(payload.len() + pad_len + wire::trailer::TRAILER_LEN, 0);
    wire::trailer::write_trailer(&mut bytes[payload.len()..], next_header);
    bytes
}

#[test]
fn what_is_inside_is_checked() {
    let sa = SaText::new("in").suites("null", "none");
    let mut gate = sa.plane();
    let inner = clear(b"inner!");
    let mut send_inside = |bytes: &[u8]| send(&mut gate, &bare(bytes, false));
    assert_eq!(send_inside(&inside(&inner, 4)).packet(), inner);
    let mut hidden_length = inner.clone();
    hidden_length.extend([0xaa; 30]);
    assert_eq!(send_inside(&inside(&hidden_length, 4)).packet(), inner, "RFC 4303, 2.7");
    assert_eq!(send_inside(&inside(b"whatever", 59)), End::Dropped(Cause::Dummy));
    assert_eq!(send_inside(&inside(&inner, 41)), End::Dropped(Cause::BadInnerPacket), "IPv4 named IPv6");
    assert_eq!(send_inside(&inside(&inner, 17)), End::Dropped(Cause::WrongNextHeader));
    assert_eq!(send_inside(&inside(&inner[..30], 4)), End::Dropped(Cause::BadInnerPacket));
    assert_eq!(send_inside(&inside(b"", 4)), End::Dropped(Cause::BadInnerPacket));
    assert_eq!(send_inside(&[1, 2, 9, 9, 9, 3, 3, 4]), End::Dropped(Cause::BadPadding));
    assert_eq!(send_inside(&[1, 2, 200, 4]), End::Dropped(Cause::BadPadding));
    assert_eq!(send_inside(&[0, 4]), End::Dropped(Cause::BadLength));
    assert_eq!(send_inside(&[4]), End::Dropped(Cause::EspTooShort));
    let dropped = &gate.counters().dropped;
    assert_eq!(serde_json::to_value(dropped).unwrap()["dummy"], 1);

    let mut host = SaText { mode: "transport", ..sa }.plane();
    assert_eq!(send(&mut host, &bare(&inside(b"whatever", 59), false)), End::Dropped(Cause::Dummy));
    let udp = &clear(b"inner!")[20..];
    let found = send(&mut host, &bare(&inside(udp, 17), false)).packet();
    let expected = udp4([192, 0, 2, 1], [192, 0, 2, 2], (1000, 2000), b"inner!");
    assert_eq!(found[20..24], expected[20..24]);
    assert_eq!(wire::ip::checksum(&found[..20]), 0);
    // A chain of extension headers that ends nowhere.
    let (a, b) = ("2020:2020:2020:2020:2020:2020:2020:2020", "2121:2121:2121:2121:2121:2121:2121:2121");
    let mut host6 = SaText::new("in").suites("null", "none").transport().ends(b, a).plane();
    let broken = bare(&inside(&[0, 9, 0, 0, 0, 0, 0, 0], 60), true);
    assert_eq!(send(&mut host6, &broken), End::Dropped(Cause::BadInnerPacket));
}

#[test]
fn bad_padding_under_a_good_icv_takes_the_number() {
    let sa = SaText::new("in").suites("null", "hmac-sha1-96");
    let mut packet = bare(&[1, 2, 9, 9, 9, 3, 3, 4], false);
    let key = hex::decode(crate::common::key(20, 2)).unwrap();
    let mac = Mac::Hmac(&ace_engine::algorithm::SHA1);
    packet.extend(ace_engine::compute::mac(mac, &key, &packet[20..], 12).unwrap());
    packet[3] += 12;
    fix_checksum(&mut packet);
    let mut gate = sa.plane();
    assert_eq!(send(&mut gate, &packet), End::Dropped(Cause::BadPadding));
    assert_eq!(send(&mut gate, &packet), End::Dropped(Cause::Replayed));
}

#[test]
fn counters_as_json() {
    let mut out = SaText::new("out").more(SELECTOR).plane();
    seal(&mut out, 2);
    send(&mut out, &other(b"x"));
    let json = serde_json::to_value(out.counters()).unwrap();
    assert_eq!(json["accepted"]["packets"], 3);
    assert_eq!(json["dropped"], serde_json::json!({ "policy_discard": 1 }));
    let status = serde_json::to_value(out.sas().next().unwrap()).unwrap();
    assert_eq!(status["direction"], "out");
    assert_eq!(status["counters"]["forwarded"]["packets"], 2);
    let names: std::collections::HashSet<_> = Cause::ALL.iter().map(|cause| cause.name()).collect();
    assert_eq!(names.len(), Cause::ALL.len());
    for cause in Cause::ALL {
        assert!(cause.name().chars().all(|c| c.is_ascii_lowercase() || c == '_'));
        assert!(!cause.to_string().is_empty());
    }
}
