// SPDX-License-Identifier: Apache-2.0
//! Packets whose headers a network card would have filled in.

use ace_pcap::offload::{Extent, Offloaded, fill};
use proptest::prelude::*;

const NOTHING: Offloaded = Offloaded { length: false, jumbogram: false, checksum: false };

/// An IPv4 packet of `len` bytes that says `stated`.
fn v4(protocol: u8, len: usize, stated: u16) -> Vec<u8> {
    let [a, b] = stated.to_be_bytes();
    let mut packet = vec![0x45, 0, a, b, 0, 0, 0, 0, 64, protocol, 0, 0, 10, 0, 0, 1, 10, 0, 0, 2];
    packet.resize(len, 1);
    packet
}

fn v6(next: u8, len: usize, stated: u16) -> Vec<u8> {
    let mut packet = vec![0; 40];
    packet[0] = 0x60;
    packet[4..6].copy_from_slice(&stated.to_be_bytes());
    packet[6] = next;
    packet.resize(len, 1);
    packet
}

#[test]
fn what_the_link_layer_padded_is_cut_off() {
    assert_eq!(Extent::of(&v4(17, 46, 20)), Extent { len: 20, offloaded: NOTHING });
    // A length that cannot be right is for the data plane to judge.
    assert_eq!(Extent::of(&v4(17, 46, 200)).len, 46);
    assert_eq!(Extent::of(&v4(17, 46, 19)).len, 46);
    assert_eq!(Extent::of(&v6(17, 60, 8)).len, 48);
    // Nothing follows, and the header says so.
    assert_eq!(Extent::of(&v6(59, 46, 0)), Extent { len: 40, offloaded: NOTHING });
    assert_eq!(Extent::of(&v6(6, 40, 0)), Extent { len: 40, offloaded: NOTHING });
}

#[test]
fn a_packet_without_a_length_has_the_frames() {
    let length = Offloaded { length: true, ..NOTHING };
    for (mut packet, at, stated) in [
        (v4(6, 9000, 0), 2, 9000),
        (v6(6, 9000, 0), 4, 8960),
        (v4(6, 80_054, 0), 2, 65_535),
        (v6(6, 80_054, 0), 4, 65_535),
    ] {
        let extent = Extent::of(&packet);
        assert_eq!(extent, Extent { len: packet.len(), offloaded: length });
        assert_eq!(extent.is_sayable(&packet), packet.len() == 9000);
        let len = fill(&mut packet, &extent);
        assert_eq!(u16::from_be_bytes([packet[at], packet[at + 1]]), stated);
        assert_eq!(
            Extent::of(&packet[..len]),
            Extent { len, offloaded: NOTHING },
            "nothing is left to fill in"
        );
    }
    let mut jumbogram = v6(0, 80_054, 0);
    jumbogram[40..48].copy_from_slice(&[6, 0, 0xc2, 4, 0, 1, 0x38, 0x8e]);
    let extent = Extent::of(&jumbogram);
    assert_eq!(extent, Extent { len: 80_054, offloaded: Offloaded { jumbogram: true, ..NOTHING } });
}

#[test]
fn a_checksum_that_is_left_out_is_filled_in_before_esp_and_ah_alone() {
    for (protocol, left_out) in [(50, true), (51, true), (17, false)] {
        let mut packet = v4(protocol, 100, 100);
        let extent = Extent::of(&packet);
        assert_eq!(extent.offloaded, Offloaded { checksum: left_out, ..NOTHING });
        fill(&mut packet, &extent);
        assert_eq!(packet[10..12] == [0, 0], !left_out);
        // One that is wrong stays wrong.
        packet[11] ^= 1;
        assert_eq!(Extent::of(&packet).offloaded, NOTHING);
    }
}

proptest! {
    #[test]
    fn no_packet_is_too_odd(mut bytes in prop::collection::vec(any::<u8>(), 0..90), first in 0u8..16) {
        if let Some(version) = bytes.first_mut() {
            *version = (first << 4) | (*version & 15);
        }
        let extent = Extent::of(&bytes);
        prop_assert!(extent.len <= bytes.len());
        bytes.truncate(extent.len);
        prop_assert!(fill(&mut bytes, &extent) <= bytes.len());
    }
}
