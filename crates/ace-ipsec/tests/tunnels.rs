// SPDX-License-Identifier: Apache-2.0
//! What a tunnel does with fields of headers (RFC 4301, 5.1.2; RFC 6040), and traffic flow confidentiality (RFC 4303, 2.7).

use crate::common::{End, NOW, SaText, clear, finish, packet, pair, plane, send};
use ace_ipsec::packet::ip;
use ace_ipsec::{Cause, Inside, Outside};

/// A packet with a traffic class and perhaps "don't fragment".
fn with(class: u8, dont_fragment: bool) -> Vec<u8> {
    let mut packet = clear(b"payload");
    packet[6] = u8::from(dont_fragment) << 6;
    packet[10..12].fill(0);
    let sum = ip::checksum(&packet[..20]);
    packet[10..12].copy_from_slice(&sum.to_be_bytes());
    ip::set_traffic_class(&mut packet, ip::Version::V4, class);
    packet
}

fn out(more: &str) -> SaText {
    SaText::new("out").suites("aes-128-gcm-16", "none").more(more)
}

/// What leaves, and what the other end, which has other lines, gives out of it when its class has become `class`.
fn through(ours: &str, theirs: &str, inner: &[u8], class: Option<u8>) -> (Vec<u8>, End) {
    let mut a = out(ours).plane();
    let (_, mut b) = pair(&out(theirs));
    let sent = send(&mut a, inner).packet();
    let mut arrives = sent.clone();
    if let Some(class) = class {
        ip::set_traffic_class(&mut arrives, ip::Version::V4, class);
    }
    (sent, send(&mut b, &arrives))
}

#[test]
fn fields_are_copied_as_they_are_to_be() {
    let fields = |packet: &[u8]| {
        let ip = ip::parse(packet).unwrap();
        assert_eq!(ip::checksum(&packet[..20]), 0);
        (ip.traffic_class, ip.dont_fragment)
    };
    // Our end's lines, and what the outer header has when the inner one has AF41 with ECT(0) and "don't fragment".
    let rows = [
        ("", (0x8a, true)),
        ("ecn = false", (0x88, true)),
        ("copy_dscp = false", (0x02, true)),
        ("copy_df = false", (0x8a, false)),
        ("ecn = false\ncopy_dscp = false\ncopy_df = false", (0x00, false)),
    ];
    for (ours, outer) in rows {
        let (sent, end) = through(ours, "", &with(0x8a, true), None);
        assert_eq!(fields(&sent), outer, "{ours}");
        assert_eq!(end.packet(), with(0x8a, true), "{ours}: the inner header is as it was");
    }
    assert_eq!(fields(&through("", "", &with(0x8a, false), None).0), (0x8a, false));
}

#[test]
fn fields_come_back_as_they_are_to() {
    // The receiver's lines, the outer class under way, the inner class in, and out.
    let rows = [
        ("", 0xbb, 0x8a, Some(0x8b)),
        ("", 0xbb, 0x88, None),
        ("ecn = false", 0xbb, 0x8a, Some(0x8a)),
        ("ecn = false", 0xbb, 0x88, Some(0x88)),
        ("copy_dscp = true", 0xbb, 0x8a, Some(0xbb)),
        ("copy_dscp = true", 0x00, 0x8a, Some(0x02)),
        ("ecn = false\ncopy_dscp = true", 0xbb, 0x8a, Some(0xba)),
    ];
    for (theirs, outer, inner, wanted) in rows {
        let (_, end) = through("", theirs, &with(inner, true), Some(outer));
        match wanted {
            Some(class) => assert_eq!(end.packet(), with(class, true), "{theirs}"),
            None => assert_eq!(end, End::Dropped(Cause::Congestion), "{theirs}"),
        }
    }
}

#[test]
fn the_same_over_and_in_ipv6() {
    let six = |text: SaText| text.ends("2001:db8::1", "2001:db8::2");
    let inner = crate::common::udp6([0xfd; 16], [0xfe; 16], (1, 2), b"payload");
    let mut classed = inner.clone();
    ip::set_traffic_class(&mut classed, ip::Version::V6, 0x8a);
    let mut a = six(out("copy_dscp = false")).plane();
    let (_, mut b) = pair(&six(out("copy_dscp = true")));
    let mut sent = send(&mut a, &classed).packet();
    assert_eq!(ip::parse(&sent).unwrap().traffic_class, 0x02);
    ip::set_traffic_class(&mut sent, ip::Version::V6, 0xb9);
    ip::set_traffic_class(&mut classed, ip::Version::V6, 0xb9);
    assert_eq!(send(&mut b, &sent).packet(), classed);
}

#[test]
fn short_packets_are_as_long_as_padded_ones_and_come_out_as_they_were() {
    for suite in [("aes-128-gcm-16", "none"), ("aes-128-cbc", "hmac-sha256-128"), ("null", "hmac-sha1-96")] {
        let text = SaText::new("out").suites(suite.0, suite.1).more("tfc_padding = 600");
        // The other end need not know of it.
        let (mut a, mut b) = (text.plane(), pair(&SaText::new("out").suites(suite.0, suite.1)).1);
        let mut lengths = Vec::new();
        for len in [0, 1, 17, 300, 572] {
            let inner = clear(&vec![7; len]);
            let sent = send(&mut a, &inner).packet();
            lengths.push(sent.len());
            assert_eq!(send(&mut b, &sent).packet(), inner, "{len} bytes under {suite:?}");
        }
        lengths.dedup();
        assert_eq!(lengths.len(), 1, "nobody sees how long they were: {lengths:?}");
        // What is longer stays as it is.
        let long = clear(&[7; 1000]);
        let sent = send(&mut a, &long).packet();
        assert!(sent.len() > lengths[0] && send(&mut b, &sent).packet() == long);
    }
}

#[test]
fn padding_never_makes_a_packet_that_none_can_be() {
    let mut a = out("tfc_padding = 65000").plane();
    let sent = send(&mut a, &clear(b"x")).packet();
    assert_eq!(ip::parse(&sent).map(|ip| ip.total_len), Some(sent.len()));
    // Bytes of earlier packets are never in it.
    let cipher = out("").suites("null", "hmac-sha1-96").more("tfc_padding = 200");
    let mut gate = cipher.plane();
    for inner in [clear(&[0xaa; 400]), clear(b"x")] {
        gate.ingest(NOW, Inside, [packet(&inner)]);
        let sent = finish(&mut gate).remove(0).packet();
        if inner.len() < 200 {
            assert!(sent[28 + inner.len()..28 + 200].iter().all(|byte| *byte == 0));
        }
    }
}

/// ICMP and ICMPv6 messages by type and code, both ways.
#[test]
fn messages_of_icmp_are_told_apart() {
    let icmp = |kind: u8, code: u8| {
        let mut packet = clear(b"");
        packet[9] = 1;
        packet[20..22].copy_from_slice(&[kind, code]);
        packet[10..12].fill(0);
        let sum = ip::checksum(&packet[..20]);
        packet[10..12].copy_from_slice(&sum.to_be_bytes());
        packet
    };
    let rows = [
        ("icmp_type = 8", [(8, 0, true), (8, 3, true), (0, 0, false), (3, 0, false)]),
        ("icmp_type = 3, icmp_code = \"0-4\"", [(3, 0, true), (3, 4, true), (3, 5, false), (8, 0, false)]),
        ("icmp_code = 4", [(3, 4, true), (8, 4, true), (3, 0, false), (0, 0, false)]),
    ];
    for (words, messages) in rows {
        let text = out(&format!("selector = {{ protocol = \"icmp\", {words} }}"));
        let mut everything = out("").plane();
        let (mut a, mut b) = pair(&text);
        for (kind, code, fits) in messages {
            let protected = send(&mut a, &icmp(kind, code));
            assert_eq!(matches!(protected, End::Forwarded(..)), fits, "{words}: {kind}/{code}");
            // The receiver checks again what a sender without scruples has put inside.
            let forged = send(&mut everything, &icmp(kind, code)).packet();
            b.ingest(NOW, Outside, [packet(&forged)]);
            let end = finish(&mut b).remove(0);
            assert_eq!(end != End::Dropped(Cause::SelectorMismatch), fits, "{words}: {kind}/{code}, inbound");
        }
        // A port of that number is none.
        assert!(matches!(send(&mut a, &clear(b"x")), End::Dropped(_)), "{words}");
    }
    // And an echo is no port 8.
    let ports = format!("default_policy = \"discard\"\n{}", out("selector = { src_port = 8 }").toml());
    assert_eq!(send(&mut plane(&ports), &icmp(8, 0)), End::Dropped(Cause::PolicyDiscard));
    // A fragment behind the first shows neither: it may be one of the selector's.
    let mut later = icmp(8, 0);
    later[7] = 9;
    let text = out("selector = { protocol = \"icmp\", icmp_type = 8 }");
    assert_eq!(send(&mut text.plane(), &later), End::Dropped(Cause::PortsUnknown));
}
