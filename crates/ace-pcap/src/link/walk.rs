// SPDX-License-Identifier: Apache-2.0
//! From the beginning of a frame to its IP packet, through whatever tags, labels and sessions are in between.

use super::{Content, Family, Length, LinkType, MAX_802_3, Place};

pub const IPV4: u16 = 0x0800;
pub const IPV6: u16 = 0x86dd;
pub const PPP_IPV4: u16 = 0x0021;
pub const PPP_IPV6: u16 = 0x0057;
pub const LINUX_IPV4: u8 = 2;
pub const LINUX_IPV6: u8 = 10;
/// The packet, among the fields of NFLOG (NFULA_PAYLOAD).
const NFLOG_PACKET: u16 = 9;
/// Bits of radiotap's flags: bytes between header and contents, and a check sequence at the end.
const PADDED: u8 = 0x20;
const CHECKED: u8 = 0x10;

/// Headers in a row that are looked through.
const MAX_DEPTH: usize = 16;

/// EtherTypes of which no packet of IP is carried: ARP, RARP, wake-on-LAN, AVTP, AppleTalk and its ARP, IPX, MAC control,
/// slow protocols (LACP), PPPoE discovery, EAPOL, PROFINET, ATA over Ethernet, EtherCAT, POWERLINK, HomePlug, LLDP,
/// SERCOS, MRP, time synchronisation, redundancy, connectivity faults, Fibre Channel and its initialisation, TTEthernet,
/// loopback tests.
const NOT_IP: [u16; 28] = [
    0x0806, 0x8035, 0x0842, 0x22f0, 0x809b, 0x80f3, 0x8137, 0x8808, 0x8809, 0x8863, 0x888e, 0x8892, 0x88a2,
    0x88a4, 0x88ab, 0x88e1, 0x88cc, 0x88cd, 0x88e3, 0x88f5, 0x88f6, 0x88f7, 0x88fb, 0x8902, 0x8906, 0x8914,
    0x891d, 0x9000,
];

struct Walk<'a> {
    frame: &'a [u8],
    lengths: [Option<Length>; 2],
    pads: bool,
    clears: Option<(usize, u8)>,
    depth: usize,
}

const SHORT: Content = Content::Opaque("ends in its link header");

pub fn frame(link: LinkType, frame: &[u8]) -> Content {
    let mut walk = Walk { frame, lengths: [None; 2], pads: false, clears: None, depth: 0 };
    let found = match link {
        LinkType::Raw => Some(walk.ip(0, Family::Packet)),
        LinkType::Ethernet => walk.ether_type(12),
        LinkType::Cooked => match walk.number(14) {
            // Numbers that are no EtherTypes: 802.3 without a type, and 802.2.
            Some(0x0001) => Some(Content::Opaque("802.3 without a type")),
            Some(0x0004) => walk.llc(16),
            _ => walk.ether_type(14),
        },
        LinkType::Cooked2 => walk.cooked2(),
        LinkType::Loopback => walk.loopback(),
        LinkType::Ppp | LinkType::PppHdlc => {
            let framed = frame.starts_with(&[0xff, 0x03]);
            walk.ppp(if framed { 2 } else { 0 })
        }
        LinkType::PppDirection => match frame.get(1) {
            Some(3) => walk.ppp(2),
            _ => walk.ppp(1),
        },
        LinkType::PppEther => walk.session(0),
        LinkType::CiscoHdlc => match (frame.first(), walk.number(2)) {
            (Some(0x0f | 0x8f), Some(0x2000)) => Some(Content::NotIp),
            (Some(0x0f | 0x8f), Some(kind)) if kind > MAX_802_3 => walk.ether_type(2),
            (Some(_), Some(_)) => Some(Content::Opaque("Cisco HDLC of a kind that is not known")),
            _ => None,
        },
        LinkType::Nflog => walk.nflog(),
        LinkType::Wireless => walk.wireless(0, false),
        LinkType::Radiotap => walk.radiotap(),
    };
    found.unwrap_or(SHORT)
}

impl Walk<'_> {
    fn number(&self, at: usize) -> Option<u16> {
        Some(u16::from_be_bytes([*self.frame.get(at)?, *self.frame.get(at + 1)?]))
    }

    fn ip(&self, at: usize, family: Family) -> Content {
        let Self { lengths, pads, clears, .. } = *self;
        Content::Ip(Place { at, family, lengths, pads, clears })
    }

    /// Remembers a field that holds the length of what follows it.
    fn length(&mut self, at: usize, longest: u16) -> Option<()> {
        *self.lengths.iter_mut().find(|place| place.is_none())? =
            Some(Length { at, from: at + 2, longest, little: false });
        Some(())
    }

    /// What a type at `at` says; `None` if the frame is too short or too deep.
    fn ether_type(&mut self, mut at: usize) -> Option<Content> {
        loop {
            self.depth += 1;
            if self.depth > MAX_DEPTH {
                return Some(Content::Opaque("too many headers, one in the other"));
            }
            at = match self.number(at)? {
                IPV4 | IPV6 => return Some(self.ip(at + 2, Family::EtherType(at))),
                // 802.1Q and 802.1ad tags and those from before 802.1ad.
                0x8100 | 0x88a8 | 0x9100 | 0x9200 | 0x9300 => at + 4,
                // 802.1BR and its forerunner.
                0x893f => at + 8,
                0x8926 => at + 6,
                // 802.1ah: a tag of 4 bytes and the addresses of a whole frame; a bridged frame.
                0x88e7 => at + 2 + 4 + 12,
                0x6558 => at + 2 + 12,
                0x8847 | 0x8848 => return self.labels(at + 2),
                0x8864 => return self.session(at + 2),
                0x880b => return self.ppp(at + 2),
                0x8870 => return self.llc(at + 2),
                length if length <= MAX_802_3 => {
                    return match self.length(at, MAX_802_3) {
                        Some(()) => self.llc(at + 2),
                        None => Some(Content::Opaque("too many lengths, one in the other")),
                    };
                }
                kind if NOT_IP.contains(&kind) => return Some(Content::NotIp),
                0x88e5 => return Some(Content::Opaque("MACsec")),
                _ => return Some(Content::Opaque("of a type that is not known")),
            };
        }
    }

    /// PPPoE: version and type, code, session, length (RFC 2516).
    fn session(&mut self, at: usize) -> Option<Content> {
        if self.frame.get(at) != Some(&0x11) {
            return Some(Content::Opaque("PPPoE of another version"));
        }
        match self.length(at + 4, u16::MAX) {
            Some(()) => self.ppp(at + 6),
            None => Some(Content::Opaque("too many lengths, one in the other")),
        }
    }

    /// Family, version, a number, then fields of length, type and value, in the byte order of whoever captured them.
    fn nflog(&mut self) -> Option<Content> {
        if self.frame.get(1) != Some(&0) {
            return Some(Content::Opaque("NFLOG of another version"));
        }
        let found = [true, false].into_iter().find_map(|little| {
            let number = |at| self.number(at).map(|n| if little { n.swap_bytes() } else { n });
            let mut at = 4;
            loop {
                let (len, kind) = (usize::from(number(at)?), number(at + 2)?);
                if len < 4 || at + len > self.frame.len() {
                    return None;
                }
                if kind == NFLOG_PACKET {
                    return Some((at, little));
                }
                at += len.next_multiple_of(4);
            }
        });
        let Some((at, little)) = found else { return Some(Content::Opaque("NFLOG without a packet")) };
        self.lengths = [Some(Length { at, from: at, longest: u16::MAX, little }), None];
        self.pads = true;
        Some(match *self.frame.first()? {
            LINUX_IPV4 | LINUX_IPV6 => self.ip(at + 4, Family::Linux(0)),
            _ => Content::Opaque("NFLOG of another family than IP"),
        })
    }

    /// What the radio says, as far as the flags (radiotap.org), then 802.11.
    fn radiotap(&mut self) -> Option<Content> {
        if *self.frame.first()? != 0 {
            return Some(Content::Opaque("radiotap of another version"));
        }
        let at = usize::from(self.number(2)?.swap_bytes());
        let present = *self.frame.get(4)?;
        let mut field = 8;
        while *self.frame.get(field - 1)? & 0x80 != 0 {
            field += 4;
        }
        if present & 1 != 0 {
            field = field.next_multiple_of(8) + 8;
        }
        let mut flags = 0;
        if present & 2 != 0 && field < at {
            flags = *self.frame.get(field)?;
            self.clears = Some((field, CHECKED));
        }
        self.wireless(at, flags & PADDED != 0)
    }

    /// IEEE 802.11, 9.2.
    fn wireless(&mut self, at: usize, padded: bool) -> Option<Content> {
        let (kind, how) = (*self.frame.get(at)?, *self.frame.get(at + 1)?);
        match (kind >> 2) & 3 {
            // Management and control; data without any.
            0 | 1 => return Some(Content::NotIp),
            2 if kind & 0x40 != 0 => return Some(Content::NotIp),
            2 => {}
            _ => return Some(Content::Opaque("802.11 of a kind that is not known")),
        }
        if how & 0x40 != 0 {
            return Some(Content::Opaque("enciphered 802.11"));
        }
        if how & 4 != 0 || *self.frame.get(at + 22)? & 15 != 0 {
            return Some(Content::Opaque("a fragment of 802.11"));
        }
        let mut len = if how & 3 == 3 { 30 } else { 24 };
        if kind & 0x80 != 0 {
            if *self.frame.get(at + len)? & 0x80 != 0 {
                return Some(Content::Opaque("several packets in one of 802.11"));
            }
            len += if how & 0x80 != 0 { 6 } else { 2 };
        }
        let len = if padded { len.next_multiple_of(4) } else { len };
        self.llc(at + len)
    }

    /// MPLS (RFC 3032): nothing says what follows the last label but what follows it.
    fn labels(&self, mut at: usize) -> Option<Content> {
        for _ in 0..MAX_DEPTH {
            let last = self.frame.get(at + 2)? & 1 == 1;
            let next = at + 4;
            if last {
                return Some(match self.frame.get(next)? >> 4 {
                    4 | 6 => self.ip(next, Family::Label(at)),
                    _ => Content::Opaque("MPLS with something else than IP in it"),
                });
            }
            at = next;
        }
        Some(Content::Opaque("too many labels"))
    }

    /// A PPP protocol number of two bytes, or of one where that is odd (RFC 1661, 6.5).
    fn ppp(&self, at: usize) -> Option<Content> {
        let (number, len) = match *self.frame.get(at)? {
            odd if odd & 1 == 1 => (u16::from(odd), 1),
            _ => (self.number(at)?, 2),
        };
        Some(match number {
            PPP_IPV4 | PPP_IPV6 => self.ip(at + len, Family::Ppp(at, len)),
            // Control protocols of networks and of links.
            0x8000..=0xffff => Content::NotIp,
            _ => Content::Opaque("PPP with something else than IP in it"),
        })
    }

    /// 802.2.
    fn llc(&mut self, at: usize) -> Option<Content> {
        let (destination, source) = (*self.frame.get(at)?, *self.frame.get(at + 1)?);
        let control = *self.frame.get(at + 2)?;
        // The lowest bits say group and response.
        Some(match (destination & 0xfe, source & 0xfe) {
            (0xaa, 0xaa) if control == 0x03 => {
                let organisation = self.frame.get(at + 3..at + 6)?;
                match (organisation, self.number(at + 6)?) {
                    ([0, 0, 0] | [0, 0, 0xf8], kind) if kind > MAX_802_3 => {
                        return self.ether_type(at + 6);
                    }
                    // Cisco's discovery and its like.
                    ([0, 0, 0x0c], 0x0104 | 0x010b | 0x0111 | 0x2000 | 0x2003 | 0x2004) => Content::NotIp,
                    _ => Content::Opaque("SNAP of an organisation that is not known"),
                }
            }
            (0x06, 0x06) if control == 0x03 => self.ip(at + 3, Family::V4),
            // Spanning tree, IPX, NetBIOS.
            (0x42, 0x42) | (0xe0, 0xe0) | (0xf0, 0xf0) => Content::NotIp,
            // ISO: by its first byte ES-IS, IS-IS or CLNP.
            (0xfe, 0xfe) if matches!(*self.frame.get(at + 3)?, 0x81..=0x83) => Content::NotIp,
            _ => Content::Opaque("802.2 of a kind that is not known"),
        })
    }

    fn cooked2(&mut self) -> Option<Content> {
        // The type stands in front of the header's other fields.
        let kind = self.number(0)?;
        self.frame.get(19)?;
        match kind {
            IPV4 | IPV6 => Some(self.ip(20, Family::EtherType(0))),
            0x0004 => self.llc(20),
            kind if NOT_IP.contains(&kind) => Some(Content::NotIp),
            0x8100 | 0x88a8 | 0x9100 => self.ether_type(22),
            0x8847 | 0x8848 => self.labels(20),
            0x8864 => Some(Content::Opaque("PPPoE in Linux cooked 2")),
            _ => Some(Content::Opaque("of a type that is not known")),
        }
    }

    fn loopback(&self) -> Option<Content> {
        let family: [u8; 4] = self.frame.get(..4)?.try_into().ok()?;
        let (little, big) = (u32::from_le_bytes(family), u32::from_be_bytes(family));
        Some(match little.min(big) {
            // IPv4; IPv6 of Linux, NetBSD and OpenBSD, FreeBSD, macOS.
            2 | 10 | 24 | 28 | 30 => self.ip(4, Family::Af(0)),
            _ => Content::Opaque("of a family that is not known"),
        })
    }
}
