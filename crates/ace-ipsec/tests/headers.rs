// SPDX-License-Identifier: Apache-2.0
//! Headers: reading any bytes, and what tunnel and transport mode make of them. The other judge is etherparse.

use std::net::IpAddr;

use crate::common::{End, SaText, clear, fix_checksum, pair, send, udp4, udp6};
use ace_ipsec::packet::ip::{self, Fragment, Link, Version};
use ace_ipsec::packet::{ecn, protocol, trailer};
use ace_ipsec::{Cause, How};
use etherparse::{Ipv4Slice, Ipv6Slice};
use proptest::prelude::*;

const A6: [u8; 16] = [0x20, 1, 0xd, 0xb8, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1];
const B6: [u8; 16] = [0x20, 1, 0xd, 0xb8, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 2];
const EXTENSIONS: [u8; 4] =
    [protocol::HOP_BY_HOP, protocol::ROUTING, protocol::FRAGMENT, protocol::DESTINATION_OPTIONS];

/// An IPv6 packet with these extension headers (8 bytes each) in front of UDP.
fn with_extensions(headers: &[u8], fragment_word: u16) -> Vec<u8> {
    let mut packet = udp6(A6, B6, (1000, 2000), b"extended");
    let udp = packet.split_off(40);
    let mut named_by = 6;
    for &header in headers {
        let at = packet.len();
        packet[named_by] = header;
        packet.extend([0; 8]);
        if header == protocol::FRAGMENT {
            packet[at + 2..at + 4].copy_from_slice(&fragment_word.to_be_bytes());
        }
        named_by = at;
    }
    packet[named_by] = protocol::UDP;
    packet.extend(udp);
    let length = (packet.len() - 40) as u16;
    packet[4..6].copy_from_slice(&length.to_be_bytes());
    packet
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2000))]

    /// Any bytes: no panic, and every offset lies inside.
    #[test]
    fn any_bytes(mut bytes in proptest::collection::vec(any::<u8>(), 0..200), version in 0u8..8) {
        if let Some(first) = bytes.first_mut() {
            *first = match version { 0..=2 => 0x45, 3..=5 => 0x60, 6 => 0x46 , _ => *first };
        }
        if version < 3 && bytes.len() > 3 {
            let len = bytes.len() as u16;
            bytes[2..4].copy_from_slice(&len.to_be_bytes());
        }
        if (3..6).contains(&version) && bytes.len() > 60 {
            let len = bytes.len() as u16 - 40;
            bytes[4..6].copy_from_slice(&len.to_be_bytes());
            bytes[6] = EXTENSIONS[usize::from(bytes[6] % 4)];
            bytes[40] = EXTENSIONS[usize::from(bytes[40] % 4)];
            bytes[41] %= 3;
        }
        if let Some(ip) = ip::parse(&bytes) {
            prop_assert!(ip.total_len <= bytes.len());
            for Link { at, named_by } in [ip.upper, ip.insertion] {
                prop_assert!(at <= ip.total_len && named_by < at);
            }
            if ip.fragment != Fragment::Later {
                prop_assert_eq!(ip.protocol, Some(bytes[ip.upper.named_by]));
            }
            ip.ports(&bytes);
        }
        trailer::EspHeader::parse(&bytes);
        trailer::split_trailer(&bytes);
        ip::set_traffic_class(&mut bytes, Version::V4, 3);
        ip::set_traffic_class(&mut bytes, Version::V6, 3);
    }

    /// IPv4 as etherparse reads it.
    #[test]
    fn ipv4_agrees(bytes in proptest::collection::vec(any::<u8>(), 20..80), header_len in 5u8..8) {
        let mut bytes = bytes;
        bytes[0] = 0x40 | header_len;
        // Etherparse does not keep the reserved flag, over which the checksum goes too.
        bytes[6] &= 0x7f;
        let len = bytes.len() as u16;
        bytes[2..4].copy_from_slice(&len.to_be_bytes());
        let ours = ip::parse(&bytes);
        if let Ok(theirs) = Ipv4Slice::from_slice(&bytes) {
            let header = theirs.header();
            let ours = ours.unwrap();
            prop_assert_eq!(ours.source, IpAddr::from(header.source()));
            prop_assert_eq!(ours.destination, IpAddr::from(header.destination()));
            prop_assert_eq!(ours.total_len, usize::from(header.total_len()));
            prop_assert_eq!(ours.upper.at, usize::from(header.ihl()) * 4);
            prop_assert_eq!(ours.protocol, Some(header.protocol().0));
            prop_assert_eq!(ours.dont_fragment, header.dont_fragment());
            prop_assert_eq!(ours.fragment != Fragment::Whole, header.is_fragmenting_payload());
            prop_assert_eq!(ours.traffic_class >> 2, header.dcp().value());
            fix_checksum(&mut bytes);
            let header = Ipv4Slice::from_slice(&bytes).unwrap().header().to_header();
            prop_assert_eq!(header.calc_header_checksum(), u16::from_be_bytes([bytes[10], bytes[11]]));
        }
    }

    /// Setting marks keeps a right checksum right and a wrong one wrong.
    #[test]
    fn class_and_checksum(mut header in proptest::collection::vec(any::<u8>(), 20), class: u8, right: bool) {
        header[0] = 0x45;
        fix_checksum(&mut header);
        if !right { header[10] ^= 1; }
        ip::set_traffic_class(&mut header, Version::V4, class);
        prop_assert_eq!(header[1], class);
        prop_assert_eq!(ip::checksum(&header) == 0, right);
    }
}

#[test]
fn extension_headers_are_walked() {
    use protocol::{DESTINATION_OPTIONS as DST, FRAGMENT as FRAG, HOP_BY_HOP as HOP, ROUTING as RT};
    // Headers, where the upper layer begins, where ESP goes.
    let cases: [(&[u8], usize, usize); 7] = [
        (&[], 40, 40),
        (&[HOP], 48, 48),
        (&[DST], 48, 40),
        (&[HOP, DST], 56, 48),
        (&[HOP, DST, RT], 64, 64),
        (&[HOP, RT, FRAG, DST], 72, 64),
        (&[DST, RT, DST, DST], 72, 56),
    ];
    for (headers, upper, insertion) in cases {
        let packet = with_extensions(headers, 0);
        let ip = ip::parse(&packet).unwrap();
        assert_eq!((ip.upper.at, ip.insertion.at), (upper, insertion), "{headers:?}");
        assert_eq!(ip.protocol, Some(protocol::UDP));
        assert_eq!(ip.ports(&packet), Some((1000, 2000)));
        assert_eq!(ip.fragment, Fragment::Whole);
        let theirs = Ipv6Slice::from_slice(&packet).unwrap();
        assert_eq!(theirs.payload().ip_number.0, protocol::UDP);
        assert_eq!(packet.len() - theirs.payload().payload.len(), upper);
        // Cut off anywhere it is not a packet, nor with a length that says so.
        for len in 0..packet.len() {
            assert_eq!(ip::parse(&packet[..len]), None);
            let mut short = packet[..len].to_vec();
            if len >= 40 && len < upper {
                short[4..6].copy_from_slice(&((len - 40) as u16).to_be_bytes());
                assert_eq!(ip::parse(&short), None, "{headers:?} cut to {len}");
            }
        }
    }
    assert_eq!(ip::parse(&with_extensions(&[DST, HOP], 0)), None, "hop-by-hop is first or not at all");
}

#[test]
fn later_fragments_show_no_ports() {
    use protocol::{DESTINATION_OPTIONS as DST, FRAGMENT as FRAG};
    let first = with_extensions(&[FRAG], 1);
    assert_eq!(ip::parse(&first).unwrap().fragment, Fragment::First);
    assert_eq!(ip::parse(&first).unwrap().ports(&first), Some((1000, 2000)));
    let later = with_extensions(&[FRAG], 8 << 3);
    let ip = ip::parse(&later).unwrap();
    assert_eq!((ip.fragment, ip.protocol), (Fragment::Later, Some(protocol::UDP)));
    assert_eq!(ip.ports(&later), None);
    let hidden = ip::parse(&with_extensions(&[FRAG, DST], 8 << 3)).unwrap();
    assert_eq!((hidden.fragment, hidden.protocol), (Fragment::Later, None), "the upper layer is not shown");
}

#[test]
fn two_fragment_headers_hide_nothing() {
    use protocol::FRAGMENT as FRAG;
    // The first says "first fragment", the second "whole"; and the other way round.
    let mut twice = with_extensions(&[FRAG, FRAG], 1);
    twice[50..52].copy_from_slice(&[0, 0]);
    assert_eq!(ip::parse(&twice).unwrap().fragment, Fragment::First);
    twice[42..44].copy_from_slice(&[0, 0]);
    twice[50..52].copy_from_slice(&[0, 1]);
    assert_eq!(ip::parse(&twice).unwrap().fragment, Fragment::First);
    twice[50..52].copy_from_slice(&[0, 0]);
    assert_eq!(ip::parse(&twice).unwrap().fragment, Fragment::Whole);
    // ESP behind them is a fragment of ESP.
    let (mut out, mut into) = pair(&SaText::new("out").ends("2001:db8::1", "2001:db8::2"));
    let sealed = send(&mut out, &clear(b"x")).packet();
    let mut hidden = sealed[..40].to_vec();
    hidden[6] = FRAG;
    hidden.extend([FRAG, 0, 0, 1, 0, 0, 0, 7, protocol::ESP, 0, 0, 0, 0, 0, 0, 7]);
    hidden.extend(&sealed[40..]);
    let length = (hidden.len() - 40) as u16;
    hidden[4..6].copy_from_slice(&length.to_be_bytes());
    assert_eq!(send(&mut into, &hidden), End::Dropped(Cause::EspFragment));
}

#[test]
fn transport_puts_esp_in_its_place() {
    use protocol::{DESTINATION_OPTIONS as DST, HOP_BY_HOP as HOP, ROUTING as RT};
    for (headers, at) in [(&[HOP, RT, DST][..], 56), (&[DST][..], 40), (&[HOP][..], 48)] {
        let packet = with_extensions(headers, 0);
        let (mut out, mut into) = pair(&SaText::new("out").transport().ends("2001:db8::1", "2001:db8::2"));
        let sealed = send(&mut out, &packet).packet();
        let ip = ip::parse(&sealed).unwrap();
        assert_eq!((ip.protocol, ip.upper.at), (Some(protocol::ESP), at), "{headers:?}");
        assert_eq!(ip.total_len, sealed.len());
        assert_eq!(send(&mut into, &sealed), End::Forwarded(How::Decapsulated, packet));
    }
}

#[test]
fn transport_refuses_fragments() {
    let mut out = SaText::new("out").transport().ends("10.0.0.1", "10.0.0.2").plane();
    for flags in [0x2000u16, 0x0001, 0x2010] {
        let mut packet = clear(b"fragment");
        packet[6..8].copy_from_slice(&flags.to_be_bytes());
        assert_eq!(send(&mut out, &packet), End::Dropped(Cause::Fragment));
    }
    let mut out6 = SaText::new("out").transport().ends("2001:db8::1", "2001:db8::2").plane();
    let fragment = with_extensions(&[protocol::FRAGMENT], 1);
    assert_eq!(send(&mut out6, &fragment), End::Dropped(Cause::Fragment));
    // A tunnel carries them.
    let (mut out, mut into) = pair(&SaText::new("out"));
    let mut packet = clear(b"fragment");
    packet[6..8].copy_from_slice(&0x2001u16.to_be_bytes());
    let sealed = send(&mut out, &packet).packet();
    assert_eq!(send(&mut into, &sealed).packet(), packet);
}

#[test]
fn outer_headers_take_after_inner_ones() {
    let mut inner = clear(b"x");
    inner[1] = 0xb8 | 0b10;
    inner[6] = 0x40;
    let mut out = SaText::new("out").plane();
    let first = send(&mut out, &inner).packet();
    let header = Ipv4Slice::from_slice(&first).unwrap().header().to_header();
    assert_eq!(header.calc_header_checksum(), header.header_checksum);
    assert_eq!((header.time_to_live, header.dont_fragment), (64, true));
    assert_eq!(first[1], inner[1]);
    inner[6] = 0;
    let second = Ipv4Slice::from_slice(&send(&mut out, &inner).packet()).unwrap().header().to_header();
    assert!(!second.dont_fragment);
    assert_ne!(header.identification, second.identification);
    // A raw socket of Linux replaces 0, and AH vouches for what it was.
    assert_ne!(header.identification, 0);

    let mut out6 = SaText::new("out").ends("2001:db8::f", "2001:db8::e").plane();
    let mut inner6 = udp6(A6, B6, (1, 2), b"x");
    inner6[..4].copy_from_slice(&0x6b81_2345u32.to_be_bytes());
    let sealed = send(&mut out6, &inner6).packet();
    assert_eq!(sealed[..4], inner6[..4], "version, traffic class and flow label");
    let sealed4 = send(&mut out6, &inner).packet();
    let ip = ip::parse(&sealed4).unwrap();
    assert_eq!((ip.traffic_class, ip.flow_label), (inner[1], 0));
}

#[test]
fn congestion_marks_come_through() {
    let (mut out, mut into) = pair(&SaText::new("out"));
    for (inner, outer, expected) in [(0b10, 0b11, Some(0b11)), (0b10, 0b01, Some(0b01)), (0b00, 0b11, None)] {
        let mut packet = udp4([10, 0, 0, 1], [10, 0, 0, 2], (1, 2), b"ecn");
        packet[1] = inner;
        fix_checksum(&mut packet);
        let mut sealed = send(&mut out, &packet).packet();
        sealed[1] = sealed[1] & !ecn::MASK | outer;
        fix_checksum(&mut sealed);
        let end = send(&mut into, &sealed);
        match expected {
            None => assert_eq!(end, End::Dropped(Cause::Congestion)),
            Some(mark) => {
                packet[1] = mark;
                fix_checksum(&mut packet);
                assert_eq!(end.packet(), packet);
            }
        }
    }
}

#[test]
fn the_longest_packet() {
    // ESP: header 8, IV 16, trailer 2, ICV 12; the encrypted part is whole blocks.
    let mut out = SaText::new("out").plane();
    let fits = (65535 - 20 - 8 - 16 - 12) / 16 * 16 - 2 - 28;
    assert!(matches!(send(&mut out, &clear(&vec![0; fits])), End::Forwarded(How::Protected, _)));
    assert_eq!(send(&mut out, &clear(&vec![0; fits + 1])), End::Dropped(Cause::TooBig));
}

#[test]
fn a_bad_outer_checksum_is_seen() {
    let (mut out, mut into) = pair(&SaText::new("out"));
    let mut sealed = send(&mut out, &clear(b"x")).packet();
    sealed[8] -= 1;
    assert_eq!(send(&mut into, &sealed), End::Dropped(Cause::BadIpChecksum));
    fix_checksum(&mut sealed);
    assert!(matches!(send(&mut into, &sealed), End::Forwarded(..)));
}
