// SPDX-License-Identifier: Apache-2.0
//! What travels at UDP port 4500 (RFC 3948): ESP, IKE and keepalives.

use std::net::IpAddr;

use crate::headers::{ESP, Header, UDP};
use crate::offload::{has_checksum, set_checksum};

pub(crate) const PORT: u16 = 4500;
const UDP_LEN: usize = 8;

/// What a datagram holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Carries {
    /// ESP, whose SPI is not 0.
    Esp,
    /// IKE, behind four bytes of 0 (RFC 3948, 2.2).
    Ike,
    /// One byte that refreshes a NAT's mapping (RFC 3948, 2.3).
    Keepalive,
}

/// A whole datagram from or to port 4500.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NatTraversal {
    /// What it holds.
    pub carries: Carries,
    /// The end that it is for.
    pub destination: IpAddr,
    /// Where the UDP header starts.
    at: usize,
    /// The byte that says that it is one.
    named_by: usize,
}

impl NatTraversal {
    /// Of an IP packet that says its length. `None`: it is another one, or a fragment.
    pub fn of(packet: &[u8]) -> Option<Self> {
        let short = |at: usize| Some(u16::from_be_bytes(*packet.get(at..at + 2)?.first_chunk()?));
        let (at, destination, named_by) = match *packet.first()? >> 4 {
            4 if packet.get(9) == Some(&UDP) && short(6)? & 0x3fff == 0 => {
                let to: [u8; 4] = *packet.get(16..20)?.first_chunk()?;
                (usize::from(packet.first()? & 15) * 4, IpAddr::from(to), 9)
            }
            // Also behind extension headers.
            6 => {
                let header = Header::of(packet).filter(|it| it.protocol == UDP && it.fragment.is_none())?;
                (header.at, header.destination, header.named_by)
            }
            _ => return None,
        };
        if at < 20 || (short(at)? != PORT && short(at + 2)? != PORT) {
            return None;
        }
        let carries = match packet.get(at + UDP_LEN..)? {
            [0xff] => Carries::Keepalive,
            [0, 0, 0, 0, ..] => Carries::Ike,
            [_, _, _, _, ..] => Carries::Esp,
            _ => return None,
        };
        Some(Self { carries, destination, at, named_by })
    }

    /// Takes the UDP header out, so that ESP follows the IP header. What is left is so long.
    pub fn strip(&self, packet: &mut [u8]) -> usize {
        let len = packet.len().saturating_sub(UDP_LEN);
        if self.at + UDP_LEN > packet.len() {
            return packet.len();
        }
        // One that was wrong stays so.
        let mends = self.destination.is_ipv4() && has_checksum(packet);
        packet.copy_within(self.at + UDP_LEN.., self.at);
        let v4 = self.destination.is_ipv4();
        let (field, counted) = if v4 { (2, len) } else { (4, len.saturating_sub(40)) };
        // It was longer by 8 and said so in 16 bits.
        let counted = u16::try_from(counted).unwrap_or(u16::MAX).to_be_bytes();
        if let Some(field) = packet.get_mut(field..field + 2) {
            field.copy_from_slice(&counted);
        }
        if let Some(protocol) = packet.get_mut(self.named_by) {
            *protocol = ESP;
        }
        if mends {
            set_checksum(packet.get_mut(..len).unwrap_or_default());
        }
        len
    }
}

/// What a datagram holds of which this is the beginning, if it is one from or to the port.
pub(crate) fn starts(udp: &[u8]) -> Option<Carries> {
    let port = |at: usize| Some(u16::from_be_bytes(*udp.get(at..)?.first_chunk()?));
    if port(0)? != PORT && port(2)? != PORT {
        return None;
    }
    Some(match udp.get(UDP_LEN..)? {
        [0, 0, 0, 0, ..] => Carries::Ike,
        [0xff] => Carries::Keepalive,
        _ => Carries::Esp,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn datagram(v6: bool, ports: [u16; 2], payload: &[u8]) -> Vec<u8> {
        let len = (8 + payload.len()) as u16;
        let mut packet = if v6 {
            let mut header = vec![0x60, 0, 0, 0];
            header.extend(len.to_be_bytes());
            header.extend([UDP, 64]);
            header.extend([1; 16]);
            header.extend([2; 16]);
            header
        } else {
            let mut header = vec![0x45, 0];
            header.extend((len + 20).to_be_bytes());
            header.extend([0, 0, 0x40, 0, 64, UDP, 0, 0, 192, 0, 2, 1, 192, 0, 2, 2]);
            header
        };
        ports.iter().for_each(|port| packet.extend(port.to_be_bytes()));
        packet.extend(len.to_be_bytes());
        packet.extend([0, 0]);
        packet.extend(payload);
        packet
    }

    #[test]
    fn each_kind_is_told_and_esp_follows_the_ip_header() {
        let of = |ports, payload: &[u8]| {
            let both =
                [false, true].map(|v6| NatTraversal::of(&datagram(v6, ports, payload)).map(|it| it.carries));
            assert_eq!(both[0], both[1]);
            both[0]
        };
        assert_eq!(of([4500, 4500], &[0xff]), Some(Carries::Keepalive));
        assert_eq!(of([4500, 9], &[0, 0, 0, 0, 1]), Some(Carries::Ike));
        assert_eq!(of([9, 4500], &[0, 0, 0, 1, 1]), Some(Carries::Esp));
        assert_eq!((of([9, 10], &[0, 0, 0, 1, 1]), of([4500, 4500], &[1, 2])), (None, None));
        for v6 in [false, true] {
            let mut packet = datagram(v6, [4500, 4500], &[0, 0, 16, 1, 7, 7, 7, 7]);
            for len in 0..packet.len() {
                let _ = NatTraversal::of(&packet[..len]);
            }
            let it = NatTraversal::of(&packet).unwrap();
            let len = it.strip(&mut packet);
            packet.truncate(len);
            let header = if v6 { 40 } else { 20 };
            assert_eq!(packet[header..], [0, 0, 16, 1, 7, 7, 7, 7]);
            assert_eq!(packet[if v6 { 6 } else { 9 }], ESP);
            let stated = u16::from_be_bytes(*packet[if v6 { 4 } else { 2 }..].first_chunk().unwrap());
            assert_eq!(usize::from(stated), if v6 { 8 } else { 28 });
        }
        // Behind a header of options, and behind one that makes a fragment of a whole datagram (RFC 6946).
        for (kind, options) in [(60, [UDP, 0, 1, 4, 0, 0, 0, 0]), (44, [UDP, 0, 0, 0, 0, 0, 0, 9])] {
            let mut packet = datagram(true, [4500, 4500], &[0, 0, 16, 1, 7, 7, 7, 7]);
            packet.splice(40..40, options);
            (packet[5], packet[6]) = (packet[5] + 8, kind);
            let it = NatTraversal::of(&packet).unwrap();
            let len = it.strip(&mut packet);
            assert_eq!((packet[4..7].to_vec(), packet[40]), (vec![0, 16, kind], ESP));
            assert_eq!(packet[48..len], [0, 0, 16, 1, 7, 7, 7, 7]);
        }
        let mut fragment = datagram(false, [4500, 4500], &[0, 0, 16, 1]);
        fragment[6] = 0x20;
        assert_eq!(NatTraversal::of(&fragment), None);
    }
}
