// SPDX-License-Identifier: Apache-2.0
//! Path MTU (RFC 4301, 8.2): routers say that a packet was too long, the SA's packets become shorter, and whoever sends
//! longer ones inside hears of it.

use std::net::{IpAddr, SocketAddr};
use std::time::Duration;

use ace_ipsec::packet::ip::{self, Fragment, Ip, Version};
use ace_ipsec::{Protocol, SaId};
use etherparse::icmpv4::DestUnreachableHeader;
use etherparse::{Icmpv4Type, Icmpv6Type, PacketBuilder};

use super::{Core, Outgoing};
use ace_config::gateway::Encapsulation;

/// How long an answer is believed (RFC 1191, 6.3): then a longer packet is tried again.
pub(super) const BELIEVED: Duration = Duration::from_secs(600);
/// What every way takes (RFC 791; RFC 8200, 5). Nobody makes packets shorter than that.
pub(super) const SHORTEST: u16 = 576;
pub(super) const SHORTEST_V6: u16 = 1280;
/// How far back the packet may be that an answer is about: whoever has not seen it does not guess its number.
const RECENT: u32 = 1 << 16;
/// Answers to the inside that are sent at once, and in a second.
const BURST: f64 = 64.0;
const RATE: f64 = 200.0;
/// Lengths that ways have, for routers that do not say theirs (RFC 1191, 7.1).
const PLATEAUS: [u16; 6] = [4352, 2002, 1492, 1280, 1006, 576];

/// A packet of ours was too long for its way.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TooBig {
    /// Of its SA.
    pub spi: u32,
    /// What its SA makes.
    pub protocol: Protocol,
    /// Low half of its sequence number. `None`: our own kernel says it, which may be believed.
    pub sequence: Option<u32>,
    /// Where it went. Without UDP the port says nothing.
    pub to: SocketAddr,
    /// What would have gone, in bytes from the IP header.
    pub mtu: u16,
}

impl TooBig {
    /// Of an ICMP message behind its IP header, about UDP from a port or about ESP and AH.
    pub fn parse(v6: bool, icmp: &[u8], port: Option<u16>) -> Option<Self> {
        let (kind, code) = (*icmp.first()?, *icmp.get(1)?);
        let said = u32::from_be_bytes(*icmp.get(4..8)?.first_chunk()?);
        let quoted = icmp.get(8..)?;
        let half = |at: usize| Some(u16::from_be_bytes(*quoted.get(at..at + 2)?.first_chunk()?));
        let word = |at: usize| Some(u32::from_be_bytes(*quoted.get(at..at + 4)?.first_chunk()?));
        let (upper, protocol, to, total, said) = if v6 {
            if kind != 2 {
                return None;
            }
            let to: [u8; 16] = *quoted.get(24..40)?.first_chunk()?;
            (
                40,
                *quoted.get(6)?,
                IpAddr::from(to),
                usize::from(half(4)?) + 40,
                said.min(u32::from(u16::MAX)) as u16,
            )
        } else {
            if (kind, code) != (3, 4) {
                return None;
            }
            let to: [u8; 4] = *quoted.get(16..20)?.first_chunk()?;
            (
                usize::from(*quoted.first()? & 15) * 4,
                *quoted.get(9)?,
                IpAddr::from(to),
                usize::from(half(2)?),
                said as u16,
            )
        };
        let (protocol, to, at) = match (protocol, port) {
            (17, Some(port)) if half(upper)? == port => {
                (Protocol::Esp, SocketAddr::new(to, half(upper + 2)?), upper + 8)
            }
            (50, None) => (Protocol::Esp, SocketAddr::new(to, 0), upper),
            (51, None) => (Protocol::Ah, SocketAddr::new(to, 0), upper + 4),
            _ => return None,
        };
        let mtu = match said {
            0 => PLATEAUS.into_iter().find(|plateau| usize::from(*plateau) < total)?,
            said => said,
        };
        // A packet that would have gone was not too long.
        if usize::from(mtu) >= total {
            return None;
        }
        Some(Self { spi: word(at)?, protocol, sequence: Some(word(at + 4)?), to, mtu })
    }
}

/// How many answers the inside gets.
pub struct Answers {
    left: f64,
    at: Duration,
}

impl Default for Answers {
    fn default() -> Self {
        Self { left: BURST, at: Duration::ZERO }
    }
}

impl Answers {
    fn may(&mut self, now: Duration) -> bool {
        self.left = (self.left + now.saturating_sub(self.at).as_secs_f64() * RATE).min(BURST);
        self.at = now;
        let may = self.left >= 1.0;
        if may {
            self.left -= 1.0;
        }
        may
    }
}

impl Core {
    /// Takes it that a packet was too long for its way. What does not fit an SA that sent it is counted and nothing else.
    pub fn too_big(&mut self, now: Duration, about: TooBig) {
        self.now = self.now.max(now);
        let mut lowered = false;
        for (id, remote, sent) in self.plane.outbound(about.spi, about.protocol) {
            let here = match self.encapsulation {
                Encapsulation::Udp => self.peers.endpoint(remote) == Some(about.to),
                Encapsulation::None => remote == about.to.ip(),
            };
            let recent = |sequence: u32| (sent as u32).wrapping_sub(sequence) < RECENT && sent > 0;
            if !here || !about.sequence.is_none_or(recent) {
                continue;
            }
            let header = |address: IpAddr| if address.is_ipv6() { 40 } else { 20 };
            let shortest = if about.to.is_ipv6() { SHORTEST_V6 } else { SHORTEST };
            let wire = about.mtu.max(shortest);
            // The plane's packets have an IP header in the place of IP and UDP.
            let most = match self.encapsulation {
                Encapsulation::Udp => wire - (header(about.to.ip()) + 8) + header(remote),
                Encapsulation::None => wire,
            };
            lowered |= self.plane.narrow(id, most, self.now + BELIEVED);
        }
        match lowered {
            true => self.counters.path_mtu_lowered += 1,
            false => self.counters.path_mtu_ignored += 1,
        }
    }

    /// Tells the sender of a packet how long it may be.
    pub(super) fn answer_too_big(&mut self, sa: SaId, if_id: u32, packet: &[u8]) {
        let Some(longest) = self.plane.longest_inside(sa, packet) else { return };
        let Some(answer) = too_big(packet, longest).filter(|_| self.answers.may(self.now)) else { return };
        self.counters.too_big_answered += 1;
        let mut buffer = self.buffer();
        buffer.extend_from_slice(&answer);
        self.outgoing.push_back(Outgoing::Inside { if_id, packet: buffer });
    }
}

/// An ICMP error about a clear packet, to its sender and in the name of whom it was sent to: the kernel takes nothing from
/// the inside in its own name.
fn too_big(packet: &[u8], longest: u16) -> Option<Vec<u8>> {
    let ip = ip::parse(packet)?;
    if !is_answered(&ip, packet) {
        return None;
    }
    let mut answer = Vec::new();
    let done = match (ip.version, ip.source, ip.destination) {
        (Version::V4, IpAddr::V4(source), IpAddr::V4(destination)) => {
            let about = packet.get(..packet.len().min(usize::from(SHORTEST) - 28))?;
            let unreachable = DestUnreachableHeader::FragmentationNeeded { next_hop_mtu: longest };
            PacketBuilder::ipv4(destination.octets(), source.octets(), 64)
                .icmpv4(Icmpv4Type::DestinationUnreachable(unreachable))
                .write(&mut answer, about)
        }
        (Version::V6, IpAddr::V6(source), IpAddr::V6(destination)) => {
            let about = packet.get(..packet.len().min(usize::from(SHORTEST_V6) - 48))?;
            // What goes through is never less (RFC 8200, 5); what is longer than the way is divided there.
            let mtu = u32::from(longest.max(SHORTEST_V6));
            PacketBuilder::ipv6(destination.octets(), source.octets(), 64)
                .icmpv6(Icmpv6Type::PacketTooBig { mtu })
                .write(&mut answer, about)
        }
        _ => return None,
    };
    done.ok().map(|()| answer)
}

/// RFC 1122, 3.2.2, and RFC 4443, 2.4: nothing is said about errors, later fragments, and to nobody in particular.
fn is_answered(ip: &Ip, packet: &[u8]) -> bool {
    let kind = packet.get(ip.upper.at);
    let error = match ip.protocol {
        Some(1) => kind.is_none_or(|kind| !matches!(kind, 0 | 8 | 13..=18)),
        Some(58) => kind.is_none_or(|kind| *kind < 128),
        _ => false,
    };
    let somebody = match ip.source {
        IpAddr::V4(source) => !source.is_unspecified() && !source.is_multicast() && !source.is_broadcast(),
        IpAddr::V6(source) => !source.is_unspecified() && !source.is_multicast(),
    };
    ip.fragment != Fragment::Later && !error && somebody
}

#[cfg(test)]
mod tests {
    use super::*;

    /// An error about a datagram to port 4501 of 192.0.2.2 with a length, whose UDP payload begins with words.
    fn error(mtu: u16, total: u16, port: u16, words: &[u32]) -> Vec<u8> {
        let mut icmp = vec![3, 4, 0, 0, 0, 0];
        icmp.extend(mtu.to_be_bytes());
        icmp.extend([0x45, 0]);
        icmp.extend(total.to_be_bytes());
        icmp.extend([0, 0, 0x40, 0, 64, 17, 0, 0, 192, 0, 2, 1, 192, 0, 2, 2]);
        icmp.extend(port.to_be_bytes());
        icmp.extend(4501u16.to_be_bytes());
        icmp.extend([0; 4]);
        words.iter().for_each(|word| icmp.extend(word.to_be_bytes()));
        icmp
    }

    #[test]
    fn errors_are_read_as_far_as_they_are_about_us() {
        let parse = |icmp: &[u8]| TooBig::parse(false, icmp, Some(4500));
        let to = "192.0.2.2:4501".parse().unwrap();
        let told = TooBig { spi: 0x1001, protocol: Protocol::Esp, sequence: Some(7), to, mtu: 1280 };
        let whole = error(1280, 1400, 4500, &[0x1001, 7]);
        assert_eq!(parse(&whole), Some(told));
        for len in 0..whole.len() {
            assert_eq!(parse(&whole[..len]), None, "{len}");
        }
        assert_eq!(parse(&error(1280, 1280, 4500, &[0x1001, 7])), None, "that would have gone");
        assert_eq!(parse(&error(1280, 1400, 4499, &[0x1001, 7])), None, "not from here");
        assert_eq!(TooBig::parse(false, &whole, None), None, "not ESP as it is");
        assert_eq!(parse(&error(0, 1400, 4500, &[0x1001, 7])).map(|told| told.mtu), Some(1280), "a plateau");
        let mut other = whole;
        other[1] = 3;
        assert_eq!(parse(&other), None, "another error");
    }

    #[test]
    fn answers_are_bounded() {
        let mut answers = Answers::default();
        let count =
            |answers: &mut Answers, at| (0..1000).filter(|_| answers.may(Duration::from_secs(at))).count();
        assert_eq!((count(&mut answers, 0), count(&mut answers, 0), count(&mut answers, 9)), (64, 0, 64));
    }

    #[test]
    fn nobody_hears_of_errors_and_fragments() {
        let mut plain = Vec::new();
        let builder = PacketBuilder::ipv4([10, 0, 1, 1], [10, 0, 2, 1], 64);
        builder.udp(1, 2).write(&mut plain, &[0; 1300]).unwrap();
        let answer = too_big(&plain, 1234).unwrap();
        let ip = ip::parse(&answer).unwrap();
        assert_eq!((ip.source, ip.destination), ([10, 0, 2, 1].into(), [10, 0, 1, 1].into()));
        assert_eq!(answer[20..22], [3, 4]);
        assert_eq!(answer[26..28], 1234u16.to_be_bytes());
        assert_eq!((answer.len(), &answer[28..48]), (576, &plain[..20]));
        let mut later = plain.clone();
        later[7] = 9;
        assert_eq!(too_big(&later, 1234), None);
        let mut errors = Vec::new();
        let unreachable = Icmpv4Type::DestinationUnreachable(DestUnreachableHeader::Host);
        PacketBuilder::ipv4([10, 0, 1, 1], [10, 0, 2, 1], 64)
            .icmpv4(unreachable)
            .write(&mut errors, &[0; 99])
            .unwrap();
        assert_eq!(too_big(&errors, 1234), None);
        let mut six = Vec::new();
        PacketBuilder::ipv6([1; 16], [2; 16], 64).udp(1, 2).write(&mut six, &[0; 1400]).unwrap();
        let answer = too_big(&six, 1300).unwrap();
        assert_eq!((answer.len(), answer[40], &answer[44..48]), (1280, 2, &1300u32.to_be_bytes()[..]));
    }
}
