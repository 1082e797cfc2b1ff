// SPDX-License-Identifier: Apache-2.0
//! ESP in UDP (RFC 3948): what a datagram is, and the IP header that it would have had without UDP.

use std::net::IpAddr;

use ace_engine::Buffer;
use ace_ipsec::packet::{ip::Outer, protocol};

/// RFC 3948, 2.3.
pub const KEEPALIVE: u8 = 0xff;

/// RFC 3948, 2.1 to 2.3.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Datagram {
    Keepalive,
    /// Four zeros in front.
    Ike,
    Esp {
        spi: u32,
        sequence: u32,
    },
    Malformed,
}

pub fn classify(payload: &[u8]) -> Datagram {
    match *payload {
        [KEEPALIVE] => Datagram::Keepalive,
        [0, 0, 0, 0, _, ..] => Datagram::Ike,
        [a, b, c, d, e, f, g, h, ..] => Datagram::Esp {
            spi: u32::from_be_bytes([a, b, c, d]),
            sequence: u32::from_be_bytes([e, f, g, h]),
        },
        _ => Datagram::Malformed,
    }
}

/// Puts the header in front that ESP would have had. Its addresses are those of the SA: behind a translator the ones
/// on the wire are others, and in transport mode the upper layer's checksum is over these. False if no packet is that
/// long.
pub fn put_header(buffer: &mut Buffer, local: IpAddr, remote: IpAddr, class: u8) -> bool {
    let len = buffer.len();
    let outer = Outer {
        source: &remote,
        destination: &local,
        traffic_class: class,
        flow_label: 0,
        dont_fragment: false,
        identification: 0,
        protocol: protocol::ESP,
    };
    let header = buffer.push_front(if local.is_ipv4() { 20 } else { 40 });
    outer.write(header, len).is_some()
}

#[cfg(test)]
mod tests {
    use ace_ipsec::packet::ip;

    use super::*;

    #[test]
    fn datagrams_are_told_apart() {
        assert_eq!(classify(&[0xff]), Datagram::Keepalive);
        assert_eq!(classify(&[0, 0, 0, 0, 9]), Datagram::Ike);
        assert_eq!(classify(&[0, 0, 1, 2, 0, 0, 0, 7]), Datagram::Esp { spi: 0x102, sequence: 7 });
        for short in [&[][..], &[1], &[0, 0, 0, 0], &[0xff; 7]] {
            assert_eq!(classify(short), Datagram::Malformed, "{short:?}");
        }
    }

    #[test]
    fn the_header_is_whole_in_both_families() {
        for (local, remote) in [("192.0.2.1", "192.0.2.2"), ("2001:db8::1", "2001:db8::2")] {
            let (local, remote) = (local.parse().unwrap(), remote.parse().unwrap());
            let mut buffer = Buffer::from_packet(&[7; 60], 48, 0);
            assert!(put_header(&mut buffer, local, remote, 0xbb));
            let parsed = ip::parse(&buffer).unwrap();
            assert_eq!((parsed.source, parsed.destination, parsed.traffic_class), (remote, local, 0xbb));
            assert_eq!((parsed.protocol, parsed.total_len), (Some(50), buffer.len()));
            if local.is_ipv4() {
                assert_eq!(ip::checksum(&buffer[..20]), 0);
            }
            let mut long = Buffer::from_packet(&[7; 0x10000], 48, 0);
            assert!(!put_header(&mut long, local, remote, 0));
        }
    }
}
