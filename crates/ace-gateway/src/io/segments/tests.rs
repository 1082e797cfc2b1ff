// SPDX-License-Identifier: Apache-2.0

use ace_ipsec::packet::ip;
use etherparse::{PacketBuilder, PacketHeaders};
use proptest::prelude::*;

use super::*;

/// linux/virtio_net.h.
const TCP4: u8 = 1;
const TCP6: u8 = 4;

/// What the kernel would hand over: header, and the packet with the checksum of its pseudo-header alone.
fn frame(six: bool, tcp: bool, payload: &[u8], size: u16) -> (Vec<u8>, usize) {
    let builder = match six {
        true => PacketBuilder::ipv6([1; 16], [2; 16], 9),
        false => PacketBuilder::ipv4([10, 0, 1, 1], [10, 0, 2, 1], 9),
    };
    let mut packet = Vec::new();
    match tcp {
        true => builder.tcp(1000, 2000, 77, 500).ack(5).write(&mut packet, payload).unwrap(),
        false => builder.udp(1000, 2000).write(&mut packet, payload).unwrap(),
    }
    let start = if six { 40 } else { 20 };
    let (kind, offset, transport) = match (tcp, six) {
        (true, false) => (TCP4, 16, 20),
        (true, true) => (TCP6, 16, 20),
        (false, _) => (DATAGRAMS, 6, 8),
    };
    // The kernel states a checksum that is to be finished: what is there is the sum of the pseudo-header.
    let mut pseudo: Vec<u8> = match six {
        true => [[1; 16], [2; 16]].concat(),
        false => vec![10, 0, 1, 1, 10, 0, 2, 1],
    };
    pseudo.extend_from_slice(&((packet.len() - start) as u32).to_be_bytes());
    pseudo.extend_from_slice(&[0, 0, 0, if tcp { 6 } else { 17 }]);
    let sum = checksum(&pseudo, 0);
    packet[start + offset..start + offset + 2].copy_from_slice(&sum.to_be_bytes());
    let one = payload.len() <= usize::from(size);
    let header = VirtioNetHdr {
        flags: NEEDS_CHECKSUM,
        gso_type: if one { ONE } else { kind },
        hdr_len: if one { 0 } else { (start + transport) as u16 },
        gso_size: if one { 0 } else { size },
        csum_start: start as u16,
        csum_offset: offset as u16,
    };
    let mut frame = vec![0; VIRTIO_NET_HDR_LEN];
    header.encode(&mut frame).unwrap();
    frame.extend_from_slice(&packet);
    (frame, start + transport)
}

fn cut(segments: &mut Segments, frame: &mut [u8]) -> io::Result<Vec<Buffer>> {
    let mut all = Vec::new();
    let count = segments.cut(frame, |packet| {
        assert!(packet.headroom() >= HEADROOM, "room for headers");
        all.push(packet);
        Buffer::default()
    })?;
    assert_eq!(count, all.len());
    Ok(all)
}

/// Whether lengths and checksums of a packet are right.
fn check(packet: &[u8]) {
    let parsed = ip::parse(packet).unwrap();
    assert_eq!(parsed.total_len, packet.len());
    let headers = PacketHeaders::from_ip_slice(packet).unwrap();
    let payload = headers.payload.slice();
    match (headers.net.unwrap(), headers.transport.unwrap()) {
        (etherparse::NetHeaders::Ipv4(ip, _), transport) => {
            assert_eq!(ip.header_checksum, ip.calc_header_checksum());
            let mut right = transport.clone();
            right.update_checksum_ipv4(&ip, payload).unwrap();
            assert_eq!(transport, right);
        }
        (etherparse::NetHeaders::Ipv6(ip, _), transport) => {
            let mut right = transport.clone();
            right.update_checksum_ipv6(&ip, payload).unwrap();
            assert_eq!(transport, right);
        }
        other => panic!("{other:?}"),
    }
}

proptest! {
    #[test]
    fn pieces_become_packets_with_right_lengths_and_checksums(
        six: bool, tcp: bool, len in 1usize..20_000, size in 1u16..3000,
    ) {
        let payload: Vec<u8> = (0..len).map(|at| (at * 31 + at / 256) as u8).collect();
        let size = size.max((len / 1000) as u16 + 1);
        let (mut frame, headers) = frame(six, tcp, &payload, size);
        let mut segments = Segments::new(true);
        // The same memory again: a longer one before leaves nothing.
        for round in 0..2 {
            let mut again = frame.clone();
            let packets = cut(&mut segments, if round == 0 { &mut again } else { &mut frame }).unwrap();
            prop_assert_eq!(packets.len(), len.div_ceil(size.into()));
            let mut together = Vec::new();
            for (n, packet) in packets.iter().enumerate() {
                check(packet);
                let carried = &packet[headers..];
                let last = n + 1 == packets.len();
                prop_assert!(carried.len() == usize::from(size) || last && carried.len() <= usize::from(size));
                if tcp {
                    let at = headers - 20 + 4;
                    let number = u32::from_be_bytes(packet[at..at + 4].try_into().unwrap());
                    prop_assert_eq!(number as usize, 77 + n * usize::from(size));
                }
                together.extend_from_slice(carried);
            }
            prop_assert_eq!(&together, &payload);
        }
    }

    #[test]
    fn whatever_a_device_gives_panics_nothing(bytes in prop::collection::vec(any::<u8>(), 0..200), headed: bool) {
        let mut frame = bytes;
        let _ = Segments::new(headed).cut(&mut frame, |_| Buffer::default());
    }

    #[test]
    fn a_header_that_lies_panics_nothing(
        kind in prop::sample::select(vec![ONE, TCP4, TCP6, DATAGRAMS, 0x81, 0x85, 3, 9]),
        flags: u8, hdr_len: u16, gso_size in 0u16..2000, csum_start in 0u16..120, csum_offset in 0u16..30,
        six: bool, tcp: bool, len in 0usize..300,
    ) {
        let (mut frame, _) = frame(six, tcp, &vec![7; len], u16::MAX);
        VirtioNetHdr { flags, gso_type: kind, hdr_len, gso_size, csum_start, csum_offset }.encode(&mut frame).unwrap();
        let _ = Segments::new(true).cut(&mut frame, |_| Buffer::default());
    }
}

#[test]
fn without_offload_a_frame_is_a_packet() {
    let (frame, _) = frame(false, false, b"payload", 1000);
    let mut packet = frame[VIRTIO_NET_HDR_LEN..].to_vec();
    let whole = packet.clone();
    let packets = cut(&mut Segments::new(false), &mut packet).unwrap();
    assert_eq!(packets.iter().map(|one| one.to_vec()).collect::<Vec<_>>(), [whole]);
}

#[test]
fn a_datagram_whose_checksum_would_be_nothing_has_one() {
    // The payload's words make the sum 0xffff, which becomes 0.
    let (mut frame, _) = frame(false, false, &[0, 0], 1000);
    let mut segments = Segments::new(true);
    let sum = |packet: &[u8]| u16::from_be_bytes([packet[26], packet[27]]);
    let before = sum(&cut(&mut segments, &mut frame.clone()).unwrap()[0]);
    let end = frame.len();
    frame[end - 2..].copy_from_slice(&before.to_be_bytes());
    let packet = &cut(&mut segments, &mut frame).unwrap()[0];
    assert_eq!(sum(packet), 0xffff);
}
