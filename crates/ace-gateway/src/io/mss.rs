// SPDX-License-Identifier: Apache-2.0
//! What TCP's ends tell each other about their longest segments (MSS, RFC 9293, 3.7.1), made no more than what the inside
//! carries: for hosts that hear no ICMP.

const TCP: u8 = 6;
const SYN: u8 = 2;
const END: u8 = 0;
const NOTHING: u8 = 1;
const MSS: u8 = 2;

/// Makes the MSS of a SYN in a packet no more than what a packet of `mtu` bytes holds. True if it was more. What is
/// no whole TCP header is left alone.
pub fn clamp(packet: &mut [u8], mtu: u16) -> bool {
    let Some((at, value)) = find(packet) else { return false };
    let headers = if packet.first().is_some_and(|first| first >> 4 == 4) { 40 } else { 60 };
    let most = mtu.saturating_sub(headers);
    let Some((checksum, start)) = header(packet).map(|start| (start + 16, start)) else { return false };
    if value <= most {
        return false;
    }
    let half = |packet: &[u8], at: usize| {
        packet.get(at..at + 2).and_then(|half| half.first_chunk()).map(|half| u16::from_be_bytes(*half))
    };
    let Some(old_sum) = half(packet, checksum) else { return false };
    if let Some(place) = packet.get_mut(at..at + 2) {
        place.copy_from_slice(&most.to_be_bytes());
    }
    // RFC 1624, equation 3. Bytes at odd places count in the other half of their words.
    let turned = |value: u16| if (at - start) % 2 == 1 { value.swap_bytes() } else { value };
    let sum =
        [!old_sum, !turned(value), turned(most)].into_iter().fold(0u32, |sum, part| sum + u32::from(part));
    let folded = (sum & 0xffff) + (sum >> 16);
    let folded = (folded & 0xffff) + (folded >> 16);
    if let Some(place) = packet.get_mut(checksum..checksum + 2) {
        place.copy_from_slice(&(!(folded as u16)).to_be_bytes());
    }
    true
}

/// Whether there is an MSS at all: most packets are none of a beginning.
fn is_syn(packet: &[u8]) -> bool {
    header(packet).and_then(|at| packet.get(at + 13)).is_some_and(|flags| flags & SYN != 0)
}

/// Where the TCP header starts. Extension headers of IPv6 are not looked through: nobody puts them in front of a SYN.
fn header(packet: &[u8]) -> Option<usize> {
    match packet.first()? >> 4 {
        4 if packet.get(9) == Some(&TCP) => {
            let fragment = u16::from_be_bytes(*packet.get(6..8)?.first_chunk()?);
            let len = usize::from(packet.first()? & 15) * 4;
            (fragment & 0x1fff == 0 && len >= 20).then_some(len)
        }
        6 if packet.get(6) == Some(&TCP) => Some(40),
        _ => None,
    }
}

/// Where the value of a SYN's MSS stands, and the value.
fn find(packet: &[u8]) -> Option<(usize, u16)> {
    if !is_syn(packet) {
        return None;
    }
    let start = header(packet)?;
    let end = start + usize::from(packet.get(start + 12)? >> 4) * 4;
    let mut at = start + 20;
    while at < end {
        match *packet.get(at)? {
            END => return None,
            NOTHING => at += 1,
            kind => {
                let len = usize::from(*packet.get(at + 1)?);
                if kind == MSS && len == 4 && at + 4 <= end {
                    return Some((at + 2, u16::from_be_bytes(*packet.get(at + 2..at + 4)?.first_chunk()?)));
                }
                if len < 2 {
                    return None;
                }
                at += len;
            }
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use etherparse::{PacketBuilder, SlicedPacket, TcpOptionElement, TransportSlice};
    use proptest::prelude::*;

    use super::*;

    /// A SYN, or another segment, with an MSS behind some bytes of nothing.
    fn segment(v6: bool, syn: bool, before: usize, mss: Option<u16>) -> Vec<u8> {
        let mut options = vec![TcpOptionElement::Noop; before];
        options.extend(mss.map(TcpOptionElement::MaximumSegmentSize));
        let ip = if v6 {
            PacketBuilder::ipv6([1; 16], [2; 16], 64)
        } else {
            PacketBuilder::ipv4([10, 0, 1, 1], [10, 0, 2, 1], 64)
        };
        let tcp = ip.tcp(1, 2, 3, 4).options(&options).unwrap();
        let mut bytes = Vec::new();
        (if syn { tcp.syn() } else { tcp.ack(9) }).write(&mut bytes, b"data").unwrap();
        bytes
    }

    fn mss(packet: &[u8]) -> Option<u16> {
        let sliced = SlicedPacket::from_ip(packet).unwrap();
        let Some(TransportSlice::Tcp(tcp)) = sliced.transport else { panic!("TCP") };
        tcp.options_iterator().find_map(|option| match option.unwrap() {
            TcpOptionElement::MaximumSegmentSize(value) => Some(value),
            _ => None,
        })
    }

    proptest! {
        #[test]
        fn it_is_no_more_and_the_checksum_holds(
            v6: bool, syn: bool, before in 0..8usize, value in proptest::option::of(any::<u16>()), mtu in 576..9000u16,
        ) {
            let mut packet = segment(v6, syn, before, value);
            let was = packet.clone();
            let most = mtu - if v6 { 60 } else { 40 };
            let changes = syn && value.is_some_and(|value| value > most);
            prop_assert_eq!(clamp(&mut packet, mtu), changes);
            prop_assert_eq!(is_syn(&was), syn);
            if !changes {
                prop_assert_eq!(&packet, &was);
                return Ok(());
            }
            prop_assert_eq!(mss(&packet), Some(most));
            // As if it had been made so.
            prop_assert_eq!(packet, segment(v6, syn, before, Some(most)));
        }

        #[test]
        fn whatever_is_no_packet_stays_as_it_is_and_nothing_panics(bytes in proptest::collection::vec(any::<u8>(), 0..80), cut in 0..80usize) {
            let mut bytes = bytes;
            clamp(&mut bytes, 1400);
            let mut packet = segment(false, true, 3, Some(9000));
            packet.truncate(cut);
            clamp(&mut packet, 1400);
        }
    }
}
