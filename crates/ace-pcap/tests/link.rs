// SPDX-License-Identifier: Apache-2.0
//! What frames carry, through what lies around it.

use ace_pcap::DataLink;
use ace_pcap::link::{Content, LinkType, Place, WrapError};
use proptest::prelude::*;

const V4: [u8; 20] = [0x45, 0, 0, 20, 0, 0, 0, 0, 64, 17, 0, 0, 10, 0, 0, 1, 10, 0, 0, 2];

/// An Ethernet frame with these bytes behind its addresses.
fn ethernet(parts: &[&[u8]]) -> Vec<u8> {
    [&[2u8; 12][..]].iter().chain(parts).flat_map(|part| part.iter().copied()).collect()
}

fn place(link: LinkType, frame: &[u8]) -> Place {
    match link.content(frame) {
        Content::Ip(place) => place,
        other => panic!("{other:?} in {frame:02x?}"),
    }
}

/// Headers of Ethernet frames in front of an IPv4 packet, and of the same with an IPv6 packet of 45 bytes.
fn headers() -> Vec<(&'static str, Vec<u8>, Vec<u8>)> {
    let pair = |name, v4: &[u8], v6: &[u8]| (name, v4.to_vec(), v6.to_vec());
    vec![
        pair("plain", &[8, 0], &[0x86, 0xdd]),
        pair("802.1Q", &[0x81, 0, 0, 5, 8, 0], &[0x81, 0, 0, 5, 0x86, 0xdd]),
        pair(
            "802.1ad",
            &[0x88, 0xa8, 0, 5, 0x81, 0, 0, 6, 8, 0],
            &[0x88, 0xa8, 0, 5, 0x81, 0, 0, 6, 0x86, 0xdd],
        ),
        pair("0x9100", &[0x91, 0, 0, 5, 0x81, 0, 0, 6, 8, 0], &[0x91, 0, 0, 5, 0x81, 0, 0, 6, 0x86, 0xdd]),
        pair(
            "PPPoE",
            &[0x88, 0x64, 0x11, 0, 0, 1, 0, 22, 0, 0x21],
            &[0x88, 0x64, 0x11, 0, 0, 1, 0, 47, 0, 0x57],
        ),
        pair(
            "PPPoE, short protocol",
            &[0x81, 0, 0, 5, 0x88, 0x64, 0x11, 0, 0, 1, 0, 21, 0x21],
            &[0x81, 0, 0, 5, 0x88, 0x64, 0x11, 0, 0, 1, 0, 46, 0x57],
        ),
        pair("MPLS", &[0x88, 0x47, 0, 1, 0, 64, 0, 2, 1, 64], &[0x88, 0x47, 0, 1, 0, 64, 0, 2, 1, 64]),
        pair("MPLS, explicit null", &[0x88, 0x47, 0, 0, 1, 64], &[0x88, 0x47, 0, 0, 0x21, 64]),
        pair(
            "LLC/SNAP",
            &[0, 28, 0xaa, 0xaa, 3, 0, 0, 0, 8, 0],
            &[0, 53, 0xaa, 0xaa, 3, 0, 0, 0, 0x86, 0xdd],
        ),
        pair(
            "802.1ah",
            &[0x88, 0xe7, 0, 0, 0, 1, 1, 1, 1, 1, 1, 1, 2, 2, 2, 2, 2, 2, 8, 0],
            &[0x88, 0xe7, 0, 0, 0, 1, 1, 1, 1, 1, 1, 1, 2, 2, 2, 2, 2, 2, 0x86, 0xdd],
        ),
    ]
}

#[test]
fn what_is_around_a_packet_is_looked_through_and_fits_another_packet() {
    let v6 = [&[0x60u8, 0, 0, 0, 0, 5][..], &[0; 39]].concat();
    for (name, header, with_v6) in headers() {
        let frame = ethernet(&[&header, &V4]);
        let place = place(LinkType::Ethernet, &frame);
        assert_eq!(&frame[place.at..], V4, "{name}");
        let mut out = Vec::new();
        place.wrap(&frame[..place.at], &V4, &mut out).expect("it fits");
        assert_eq!(out, frame, "{name}: the same packet makes the same frame");
        place.wrap(&frame[..place.at], &v6, &mut out).expect("it fits");
        assert_eq!(out, ethernet(&[&with_v6, &v6]), "{name}");
    }
}

#[test]
fn a_header_that_cannot_say_what_it_has_to_is_an_error() {
    let mut out = Vec::new();
    let frame = ethernet(&[&[0, 28, 0xaa, 0xaa, 3, 0, 0, 0, 8, 0], &V4]);
    let snap = place(LinkType::Ethernet, &frame);
    assert!(snap.wrap(&frame[..snap.at], &[0x45; 1492], &mut out).is_ok());
    assert_eq!(snap.wrap(&frame[..snap.at], &[0x45; 1493], &mut out), Err(WrapError::Length));
    let frame = ethernet(&[&[0, 23, 6, 6, 3], &V4]);
    let llc = place(LinkType::Ethernet, &frame);
    assert_eq!(llc.wrap(&frame[..llc.at], &[0x60; 40], &mut out), Err(WrapError::Family));
    let frame = ethernet(&[&[0x88, 0x64, 0x11, 0, 0, 1, 0, 22, 0, 0x21], &V4]);
    let pppoe = place(LinkType::Ethernet, &frame);
    assert!(pppoe.wrap(&frame[..pppoe.at], &[0x45; 1500], &mut out).is_ok());
    assert_eq!(pppoe.wrap(&frame[..pppoe.at], &[0x45; 65_534], &mut out), Err(WrapError::Length));
}

#[test]
fn the_other_link_types() {
    let cooked = [&[0u8; 14][..], &[8, 0], &V4].concat();
    assert_eq!(place(LinkType::Cooked, &cooked).at, 16);
    let cooked2 = [&[8u8, 0][..], &[0; 18], &V4].concat();
    assert_eq!(place(LinkType::Cooked2, &cooked2).at, 20);
    assert_eq!(place(LinkType::Raw, &V4).at, 0);
    for (family, other) in [([2, 0, 0, 0], [30, 0, 0, 0]), ([0, 0, 0, 2], [0, 0, 0, 30])] {
        let frame = [&family[..], &V4].concat();
        let place = place(LinkType::Loopback, &frame);
        let mut out = Vec::new();
        place.wrap(&family, &V4, &mut out).expect("it fits");
        assert_eq!(out, frame);
        place.wrap(&family, &[0x60; 40], &mut out).expect("it fits");
        assert_eq!(out[..4], other);
    }
    assert_eq!(place(LinkType::Ppp, &[&[0xff, 3, 0, 0x21][..], &V4].concat()).at, 4);
    for (number, link) in [(1, LinkType::Ethernet), (113, LinkType::Cooked), (276, LinkType::Cooked2)] {
        assert_eq!(LinkType::of(DataLink::from(number)), Some(link));
    }
    assert_eq!(LinkType::of(DataLink::from(147)), None, "for private use");
}

/// 802.11 data with SNAP behind radiotap's flags.
fn wireless(flags: u8, kind: u8, how: u8, qos: &[u8]) -> Vec<u8> {
    let radio = [0, 0, 9, 0, 2, 0, 0, 0, flags];
    [&radio[..], &[kind, how], &[0; 22], qos, &[0xaa, 0xaa, 3, 0, 0, 0, 8, 0], &V4].concat()
}

#[test]
fn what_modems_logs_and_radios_put_in_front_is_looked_through() {
    let v6 = [&[0x60u8, 0, 0, 0, 0, 5][..], &[0; 39]].concat();
    let nflog = |family: u8, len: [u8; 2], kind: [u8; 2]| [&[family, 0, 0, 0][..], &len, &kind].concat();
    for (link, v4_header, v6_header) in [
        (166, vec![0, 3, 0, 0x21], vec![0, 3, 0, 0x57]),
        (51, vec![0x11, 0, 0, 1, 0, 22, 0, 0x21], vec![0x11, 0, 0, 1, 0, 47, 0, 0x57]),
        (104, vec![0x0f, 0, 8, 0], vec![0x0f, 0, 0x86, 0xdd]),
        (239, nflog(2, [24, 0], [9, 0]), nflog(10, [49, 0], [9, 0])),
        (239, nflog(2, [0, 24], [0, 9]), nflog(10, [0, 49], [0, 9])),
    ] {
        let link_type = LinkType::of(DataLink::from(link)).expect("it is known");
        let frame = [&v4_header[..], &V4].concat();
        let place = place(link_type, &frame);
        assert_eq!(&frame[place.at..], V4, "{link}");
        let mut out = Vec::new();
        place.wrap(&frame[..place.at], &V4, &mut out).expect("it fits");
        assert_eq!(out, frame, "{link}: the same packet makes the same frame");
        place.wrap(&frame[..place.at], &v6, &mut out).expect("it fits");
        let wanted = [&v6_header[..], &v6].concat();
        assert_eq!(&out[..wanted.len()], wanted, "{link}");
        assert!(link != 239 || out.len().is_multiple_of(4));
    }
    for (frame, at) in [(wireless(0, 8, 0, &[]), 41), (wireless(0x20, 0x88, 1, &[0, 0, 9, 9]), 45)] {
        assert_eq!(place(LinkType::Radiotap, &frame).at, at);
    }
    // A check sequence is behind it, and is none of another packet's.
    let frame = [wireless(0x10, 8, 0, &[]), vec![1, 2, 3, 4]].concat();
    let checked = place(LinkType::Radiotap, &frame);
    let mut out = Vec::new();
    checked.wrap(&frame[..checked.at], &V4, &mut out).expect("it fits");
    assert_eq!(out, wireless(0, 8, 0, &[]));
}

/// 802.11 alone and behind radiotap: the same frames, and the same said of them.
#[test]
fn frames_of_radios_are_looked_through_or_named() {
    let wireless_type = LinkType::of(DataLink::from(105)).expect("it is known");
    let content = |kind, how, qos: &[u8]| {
        let frame = wireless(0, kind, how, qos);
        let (tapped, bare) = (LinkType::Radiotap.content(&frame), wireless_type.content(&frame[9..]));
        match (tapped, bare) {
            (Content::Ip(tapped), Content::Ip(bare)) => {
                assert_eq!((tapped.at, &frame[tapped.at..]), (bare.at + 9, &V4[..]));
                let mut out = Vec::new();
                bare.wrap(&frame[9..tapped.at], &V4, &mut out).expect("it fits");
                assert_eq!(out, frame[9..], "the same packet makes the same frame");
            }
            _ => assert_eq!(tapped, bare),
        }
        tapped
    };
    // To an access point, from one, between two, which have four addresses; with quality of service and its field for
    // high throughput.
    for (kind, how, more) in
        [(8, 1, 0), (8, 2, 0), (8, 3, 6), (0x88, 1, 2), (0x88, 3, 8), (0x88, 0x81, 6), (0x88, 0x83, 12)]
    {
        assert!(matches!(content(kind, how, &[0; 12][..more]), Content::Ip(_)), "{kind:x} {how:x}");
    }
    assert_eq!(content(0x80, 0, &[]), Content::NotIp, "a beacon");
    assert_eq!(content(0xb4, 0, &[]), Content::NotIp, "a request to send");
    assert_eq!(content(0x48, 0, &[]), Content::NotIp, "no data");
    for (kind, how, qos, name) in [
        (8, 0x41, &[][..], "enciphered"),
        (8, 5, &[], "a fragment"),
        (0x88, 1, &[0x80, 0], "several packets in one"),
        (0x0c, 1, &[], "a kind that is not known"),
    ] {
        let Content::Opaque(why) = content(kind, how, qos) else { panic!("{name}") };
        assert!(why.contains(name), "{why}");
    }
}

#[test]
fn what_carries_no_packet_is_told_from_what_may() {
    for (frame, name) in [
        (ethernet(&[&[0x08, 0x06], &[0; 28]]), "ARP"),
        (ethernet(&[&[0x81, 0, 0, 1, 0x08, 0x06], &[0; 28]]), "ARP behind a tag"),
        (ethernet(&[&[0x88, 0xcc], &[0; 28]]), "LLDP"),
        (ethernet(&[&[0, 38, 0x42, 0x42, 3], &[0; 35]]), "spanning tree"),
        (ethernet(&[&[0x88, 0x63, 0x11, 9], &[0; 28]]), "PPPoE discovery"),
        (ethernet(&[&[0x88, 0x64, 0x11, 0, 0, 1, 0, 22, 0xc0, 0x21], &[0; 20]]), "LCP"),
    ] {
        assert_eq!(LinkType::Ethernet.content(&frame), Content::NotIp, "{name}");
    }
    for (frame, name) in [
        (ethernet(&[&[0x88, 0xe5], &[0; 40]]), "MACsec"),
        (ethernet(&[&[0x12, 0x34], &V4]), "an unknown type"),
        (ethernet(&[&[0x88, 0x47, 0, 1, 1, 64, 0, 0, 0, 0], &V4]), "a pseudowire"),
        (ethernet(&[&[0x88, 0x47, 0, 1, 0, 64]]), "labels without an end"),
        (ethernet(&[&[0x81, 0, 0, 1].repeat(20), &[8, 0], &V4]), "twenty tags"),
        (ethernet(&[&[0, 28, 0xaa, 0xaa, 3, 9, 9, 9, 8, 0], &V4]), "SNAP of somebody"),
        (ethernet(&[&[0x88, 0x64, 0x11, 0, 0, 1, 0, 22, 0, 0xfd], &V4]), "compressed PPP"),
    ] {
        assert!(matches!(LinkType::Ethernet.content(&frame), Content::Opaque(_)), "{name}");
    }
    // Nothing but an IP packet is of no use to the data plane, and that is for it to say.
    assert!(matches!(LinkType::Ethernet.content(&ethernet(&[&[8, 0, 0x15]])), Content::Ip(_)));
    assert!(matches!(LinkType::Raw.content(&[]), Content::Ip(_)));
}

proptest! {
    #[test]
    fn no_frame_is_too_odd(link in 0u32..300, header in 0usize..10, bytes in prop::collection::vec(any::<u8>(), 0..80)) {
        let frame = ethernet(&[&headers()[header].1, &bytes]);
        for frame in [&frame, &bytes] {
            if let Some(Content::Ip(place)) = LinkType::of(DataLink::from(link)).map(|l| l.content(frame)) {
                prop_assert!(place.at <= frame.len());
                let _ = place.wrap(&frame[..place.at], &V4, &mut Vec::new());
            }
        }
    }
}
