// SPDX-License-Identifier: Apache-2.0
//! Link headers: where the IP packet of a frame starts, and the frame of another IP packet in its place.
//!
//! What holds no IP packet is told from what may hold one that is not seen: whoever lets the second kind pass lets
//! packets pass that have to be protected.

mod walk;

use pcap_file::DataLink;
use thiserror::Error;

/// A link type whose frames can be taken apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LinkType {
    /// Ethernet II or 802.3, with VLAN tags (`LINKTYPE_ETHERNET`, 1).
    Ethernet,
    /// Linux "cooked" capture.
    Cooked,
    /// Its second version.
    Cooked2,
    /// An IP packet and nothing in front of it (`LINKTYPE_RAW`, 101; IPv4 and IPv6 alone, 228 and 229).
    Raw,
    /// BSD loopback: a protocol family in the byte order of whoever captured it, or big-endian.
    Loopback,
    /// PPP, with the protocol at the start (`LINKTYPE_PPP`, 9).
    Ppp,
    /// PPP with address and control, or without.
    PppHdlc,
    /// PPP behind a byte that says the direction (`LINKTYPE_PPP_PPPD`, 166).
    PppDirection,
    /// A session of PPPoE, without Ethernet (`LINKTYPE_PPP_ETHER`, 51).
    PppEther,
    /// Cisco's HDLC (`LINKTYPE_C_HDLC`, 104).
    CiscoHdlc,
    /// What Linux' netfilter logs (`LINKTYPE_NFLOG`, 239).
    Nflog,
    /// 802.11 and nothing in front of it (`LINKTYPE_IEEE802_11`, 105).
    Wireless,
    /// 802.11 behind what the radio says (`LINKTYPE_IEEE802_11_RADIOTAP`, 127).
    Radiotap,
}

/// What a frame carries.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Content {
    /// An IP packet, or what should be one.
    Ip(Place),
    /// Something of which it is known that it carries none: ARP, spanning tree, …
    NotIp,
    /// Something that cannot be looked through.
    Opaque(&'static str),
}

/// Where an IP packet is in its frame, and what of the header in front of it depends on the packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Place {
    /// Length of the header.
    pub at: usize,
    family: Family,
    lengths: [Option<Length>; 2],
    /// Whether frames end on a multiple of four bytes.
    pads: bool,
    /// Bits of the header that hold of the other frame alone: where, and which.
    clears: Option<(usize, u8)>,
}

/// A field of 16 bits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Length {
    at: usize,
    /// Where that begins of which it is the length.
    from: usize,
    longest: u16,
    little: bool,
}

/// What says whether a packet is IPv4 or IPv6.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Family {
    /// The packet alone.
    Packet,
    /// Only IPv4 has a place here.
    V4,
    EtherType(usize),
    /// One byte or two.
    Ppp(usize, usize),
    /// 4 bytes in either order.
    Af(usize),
    /// A byte, as Linux numbers families.
    Linux(usize),
    /// The label in front of it, where that is an explicit null (RFC 3032, 2.1).
    Label(usize),
}

/// Why a packet has no place in the frame of another one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub enum WrapError {
    /// A length field of the header has too few bits, or one that the packet is too long for.
    #[error("the link header cannot say how long the packet is")]
    Length,
    /// The packet is IPv6 and the header has no number for it.
    #[error("the link header cannot carry IPv6")]
    Family,
}

/// The longest 802.3 length; higher numbers are types.
const MAX_802_3: u16 = 1500;

impl LinkType {
    /// The link type of a number in a capture; `None` if its frames cannot be taken apart.
    pub fn of(link: DataLink) -> Option<Self> {
        Some(match u32::from(link) {
            1 => LinkType::Ethernet,
            113 => LinkType::Cooked,
            276 => LinkType::Cooked2,
            // 12 and 14: what some systems call raw IP in their files.
            12 | 14 | 101 | 228 | 229 => LinkType::Raw,
            0 | 108 => LinkType::Loopback,
            9 => LinkType::Ppp,
            50 => LinkType::PppHdlc,
            51 => LinkType::PppEther,
            104 => LinkType::CiscoHdlc,
            105 => LinkType::Wireless,
            127 => LinkType::Radiotap,
            166 => LinkType::PppDirection,
            239 => LinkType::Nflog,
            _ => return None,
        })
    }

    /// The names of all, for messages.
    pub const NAMES: &'static str = "Ethernet, Linux cooked (SLL, SLL2), raw IP, BSD loopback, PPP, Cisco HDLC, NFLOG and 802.11, also with radiotap";

    /// What a frame of this link type carries.
    pub fn content(self, frame: &[u8]) -> Content {
        walk::frame(self, frame)
    }
}

impl Place {
    /// Puts the frame that carries `packet` behind `header`, the first [`Place::at`] bytes of another frame, into
    /// `frame`.
    ///
    /// # Errors
    /// When the header cannot say what it has to; `frame` is then of no use.
    pub fn wrap(&self, header: &[u8], packet: &[u8], frame: &mut Vec<u8>) -> Result<(), WrapError> {
        frame.clear();
        frame.extend_from_slice(header);
        frame.extend_from_slice(packet);
        let v6 = packet.first().is_some_and(|b| b >> 4 == 6);
        let mut put = |at: usize, bytes: &[u8]| {
            if let Some(field) = frame.get_mut(at..at + bytes.len()) {
                field.copy_from_slice(bytes);
            }
        };
        match self.family {
            Family::Packet => {}
            Family::V4 if v6 => return Err(WrapError::Family),
            Family::V4 => {}
            Family::EtherType(at) => put(at, &if v6 { walk::IPV6 } else { walk::IPV4 }.to_be_bytes()),
            Family::Ppp(at, len) => {
                put(at + len - 1, &[if v6 { walk::PPP_IPV6 } else { walk::PPP_IPV4 } as u8]);
            }
            Family::Linux(at) => put(at, &[if v6 { walk::LINUX_IPV6 } else { walk::LINUX_IPV4 }]),
            Family::Af(at) => {
                // 2 is IPv4 everywhere; of the numbers of IPv6 all are read that any system has.
                let old = header.get(at..at + 4).unwrap_or_default();
                let (big, is_v4) = (old.first() == Some(&0), old.contains(&2));
                if v6 == is_v4 {
                    let family: u32 = if v6 { 30 } else { 2 };
                    put(at, &if big { family.to_be_bytes() } else { family.to_le_bytes() });
                }
            }
            Family::Label(at) => {
                // 20 bits of label: 0 is IPv4's explicit null, 2 is IPv6's.
                if let Some([0, 0, rest @ (0x00..=0x0f | 0x20..=0x2f)]) = header.get(at..at + 3) {
                    put(at + 2, &[(rest & 0x0f) | if v6 { 0x20 } else { 0 }]);
                }
            }
        }
        if let Some((at, bits)) = self.clears
            && let Some(byte) = frame.get_mut(at)
        {
            *byte &= !bits;
        }
        for Length { at, from, longest, little } in self.lengths.into_iter().flatten() {
            let len = u16::try_from(frame.len().saturating_sub(from)).ok().filter(|len| *len <= longest);
            let len = len.ok_or(WrapError::Length)?;
            if let Some(field) = frame.get_mut(at..at + 2) {
                field.copy_from_slice(&if little { len.to_le_bytes() } else { len.to_be_bytes() });
            }
        }
        if self.pads {
            frame.resize(frame.len().next_multiple_of(4), 0);
        }
        Ok(())
    }
}
