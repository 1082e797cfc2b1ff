// SPDX-License-Identifier: Apache-2.0
//! Link headers: where the IP packet of a frame starts, and the frame of another IP packet in its place.

use anyhow::{Result, bail};
use pcap_file::DataLink;

const IPV4: u16 = 0x0800;
const IPV6: u16 = 0x86dd;

/// A link type whose frames this tool can take apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Link {
    Ethernet,
    /// Linux "cooked" capture, version 1.
    Cooked,
    Raw,
}

impl Link {
    pub fn of(link: DataLink) -> Result<Self> {
        Ok(match link {
            DataLink::ETHERNET => Link::Ethernet,
            DataLink::LINUX_SLL => Link::Cooked,
            DataLink::RAW | DataLink::IPV4 | DataLink::IPV6 => Link::Raw,
            other => {
                bail!("link type {other:?} is not supported; Ethernet, Linux cooked (SLL) and raw IP are")
            }
        })
    }

    /// Length in bytes of the link header in front of an IP packet; `None` if the frame holds something else.
    pub fn header_len(self, frame: &[u8]) -> Option<usize> {
        let ethertype = |at: usize| Some(u16::from_be_bytes([*frame.get(at)?, *frame.get(at + 1)?]));
        let at = match self {
            Link::Raw => 0,
            Link::Cooked => match ethertype(14)? {
                IPV4 | IPV6 => 16,
                _ => return None,
            },
            Link::Ethernet => {
                let mut at = 12;
                // 802.1Q and 802.1ad tags.
                while matches!(ethertype(at)?, 0x8100 | 0x88a8) {
                    at += 4;
                }
                match ethertype(at)? {
                    IPV4 | IPV6 => at + 2,
                    _ => return None,
                }
            }
        };
        matches!(frame.get(at)? >> 4, 4 | 6).then_some(at)
    }

    /// The frame that carries `packet` behind the link header of another frame.
    pub fn wrap(self, header: &[u8], packet: &[u8]) -> Vec<u8> {
        let mut frame = [header, packet].concat();
        if self != Link::Raw && header.len() >= 2 {
            let kind = if packet.first().is_some_and(|b| b >> 4 == 6) { IPV6 } else { IPV4 };
            frame[header.len() - 2..header.len()].copy_from_slice(&kind.to_be_bytes());
        }
        frame
    }
}

/// The IP packet without what the link layer padded it with (Ethernet frames have at least 60 bytes).
pub fn unpadded(packet: &[u8]) -> &[u8] {
    let length = match packet {
        [first, _, a, b, ..] if first >> 4 == 4 => usize::from(u16::from_be_bytes([*a, *b])),
        [first, _, _, _, a, b, ..] if first >> 4 == 6 => 40 + usize::from(u16::from_be_bytes([*a, *b])),
        _ => packet.len(),
    };
    // A length that is zero or beyond the packet is for the data plane to judge.
    if (20..packet.len()).contains(&length) { &packet[..length] } else { packet }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn vlan_tags_are_skipped_and_the_family_follows_the_packet() {
        let mut frame = vec![0; 12];
        frame.extend([0x81, 0x00, 0x00, 0x05, 0x08, 0x00, 0x45]);
        assert_eq!(Link::Ethernet.header_len(&frame), Some(18));
        let out = Link::Ethernet.wrap(&frame[..18], &[0x60, 1, 2]);
        assert_eq!(out[16..], [0x86, 0xdd, 0x60, 1, 2]);
    }

    #[test]
    fn arp_short_and_odd_frames_are_not_ip() {
        let mut arp = vec![0; 12];
        arp.extend([0x08, 0x06, 0x45, 0]);
        assert_eq!(Link::Ethernet.header_len(&arp), None);
        for cut in 0..14 {
            assert_eq!(Link::Ethernet.header_len(&arp[..cut]), None);
        }
        assert_eq!(Link::Raw.header_len(&[0x15]), None);
        assert_eq!(Link::Raw.header_len(&[]), None);
    }

    #[test]
    fn ethernet_padding_is_cut_off() {
        let mut packet = vec![0x45, 0, 0, 20];
        packet.resize(46, 0);
        assert_eq!(unpadded(&packet).len(), 20);
        packet[3] = 200;
        assert_eq!(unpadded(&packet).len(), 46);
    }
}
