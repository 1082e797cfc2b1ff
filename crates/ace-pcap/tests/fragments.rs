// SPDX-License-Identifier: Apache-2.0
//! Fragments of ESP: in any order they make the packet, and what is no datagram is named.

use std::time::Duration;

use ace_pcap::fragments::{Fragments, LIFETIME, MOST_BYTES, MOST_DATAGRAMS, Settled, Why, destination};
use proptest::prelude::*;

const ESP: u8 = 50;
const UDP: u8 = 17;
const ICMP: u8 = 1;

/// A packet of a protocol, with a hop-by-hop header in IPv6.
fn packet(v6: bool, protocol: u8, payload: &[u8]) -> Vec<u8> {
    if v6 {
        let len = (payload.len() as u16 + 8).to_be_bytes();
        let header = [&[0x60, 0, 0, 0], &len[..], &[0, 64], &[1; 16], &[2; 16]].concat();
        return [&header[..], &[protocol, 0, 1, 4, 0, 0, 0, 0], payload].concat();
    }
    let len = (payload.len() as u16 + 24).to_be_bytes();
    let header =
        [0x46, 0, len[0], len[1], 0, 7, 0, 0, 64, protocol, 0, 0, 10, 0, 0, 1, 10, 0, 0, 2, 1, 1, 1, 0];
    let mut packet = [&header[..], payload].concat();
    sum(&mut packet);
    packet
}

fn sum(packet: &mut [u8]) {
    packet[10..12].fill(0);
    let words = packet[..24].chunks(2).map(|pair| u32::from(u16::from_be_bytes([pair[0], pair[1]])));
    let total: u32 = words.sum();
    let sum = !((total & 0xffff) + (total >> 16)) as u16;
    packet[10..12].copy_from_slice(&sum.to_be_bytes());
}

/// The fragment from `from` to `to` of a packet's payload.
fn fragment(packet: &[u8], id: u8, from: usize, to: usize, more: bool) -> Vec<u8> {
    let v6 = packet[0] >> 4 == 6;
    let at = if v6 { 48 } else { 24 };
    let part = &packet[at + from..at + to];
    if v6 {
        let mut header = packet[..at].to_vec();
        let len = (part.len() as u16 + 16).to_be_bytes();
        header[4..6].copy_from_slice(&len);
        let protocol = std::mem::replace(&mut header[40], 44);
        let word = (from as u16 | u16::from(more)).to_be_bytes();
        return [&header[..], &[protocol, 0, word[0], word[1], 0, 0, 0, id], part].concat();
    }
    let mut made = [&packet[..at], part].concat();
    let len = (made.len() as u16).to_be_bytes();
    made[2..4].copy_from_slice(&len);
    made[5] = id;
    let word = ((from as u16 / 8) | if more { 0x2000 } else { 0 }).to_be_bytes();
    made[6..8].copy_from_slice(&word);
    sum(&mut made);
    made
}

fn settled(fragments: &[Vec<u8>]) -> Vec<Settled<usize>> {
    let (mut all, mut out) = (Fragments::default(), Vec::new());
    for (number, fragment) in fragments.iter().enumerate() {
        assert!(destination(fragment).is_some(), "{fragment:02x?}");
        all.take(Duration::ZERO, fragment, number, &mut out);
    }
    all.end(&mut out);
    out
}

/// What was lost of fragments, by why.
fn lost(fragments: &[Vec<u8>]) -> (Option<Why>, u64) {
    let (mut found, mut count) = (None, 0);
    for settled in settled(fragments) {
        match settled {
            Settled::Lost(why, fragments) => {
                assert!(found.is_none_or(|found| found == why));
                (found, count) = (Some(why), count + fragments);
            }
            Settled::Again => {}
            other => panic!("{other:?}"),
        }
    }
    (found, count)
}

proptest! {
    #[test]
    fn in_any_order_and_twice_they_make_the_packet(
        v6: bool, udp: bool, len in 9usize..3000, cuts in prop::collection::vec(1usize..370, 1..12), seed: u64,
    ) {
        let payload: Vec<u8> = (0..len).map(|at| (at * at) as u8 | 1).collect();
        let payload = if udp { [&[0x11, 0x94, 0, 9, 0, 0, 0, 0][..], &payload].concat() } else { payload };
        let whole = packet(v6, if udp { UDP } else { ESP }, &payload);
        let mut cuts: Vec<usize> = cuts.into_iter().map(|cut| cut * 8).filter(|cut| *cut < payload.len()).collect();
        cuts.extend([0, payload.len()]);
        cuts.sort_unstable();
        cuts.dedup();
        prop_assume!(cuts.len() > 2);
        let mut parts: Vec<Vec<u8>> = cuts
            .windows(2)
            .map(|ends| fragment(&whole, 7, ends[0], ends[1], ends[1] < payload.len()))
            .collect();
        let count = parts.len();
        let again = parts[seed as usize % count].clone();
        for at in (1..count).rev() {
            parts.swap(at, (seed >> (at % 60)) as usize % (at + 1));
        }
        parts.insert(count - 1, again);
        let mut packets = 0;
        let (mut frames, mut twice) = (0, 0);
        for settled in settled(&parts) {
            match settled {
                Settled::Whole { packet, frames: of } => {
                    prop_assert_eq!(&packet, &whole);
                    prop_assert!(of.last() >= Some(&(parts.len() - 2)), "the one that made it whole");
                    (packets, frames) = (packets + 1, of.len());
                }
                Settled::Again => twice += 1,
                other => prop_assert!(false, "{:?}", other),
            }
        }
        prop_assert_eq!((packets, frames + twice), (1, parts.len()));
    }

    #[test]
    fn nothing_panics_and_every_fragment_is_settled_once(input in prop::collection::vec((any::<bool>(), 0u8..3, 0usize..9, 0usize..9, any::<bool>(), 0u64..40), 0..60)) {
        let payload: Vec<u8> = (0..64).map(|at| at as u8).collect();
        let (mut all, mut out, mut now) = (Fragments::default(), Vec::new(), Duration::ZERO);
        for (number, (v6, id, from, len, more, pause)) in input.iter().enumerate() {
            now += Duration::from_secs(*pause);
            let udp = [&[0x11, 0x94, 0, 9, 0, 0, 0, 0][..], &payload[8..]].concat();
            let whole = if id % 2 == 0 { packet(*v6, ESP, &payload) } else { packet(*v6, UDP, &udp) };
            let part = fragment(&whole, *id, from * 8, (from * 8 + len * 3).min(64).max(from * 8), *more);
            all.take(now, &part, number, &mut out);
        }
        all.end(&mut out);
        let count = |settled: &Settled<usize>| match settled {
            Settled::Whole { frames, .. } | Settled::NotEsp(frames) | Settled::BesideEsp(frames) => frames.len(),
            Settled::Again => 1,
            Settled::Lost(_, count) => *count as usize,
        };
        prop_assert_eq!(out.iter().map(count).sum::<usize>(), input.len());
    }
}

#[test]
fn what_makes_no_datagram_is_named() {
    for v6 in [false, true] {
        let payload: Vec<u8> = (0..100).collect();
        let whole = packet(v6, ESP, &payload);
        let part = |from, to, more| fragment(&whole, 9, from, to, more);
        let first = part(0, 48, true);
        assert_eq!(lost(std::slice::from_ref(&first)), (Some(Why::Incomplete), 1));
        assert_eq!(lost(&[part(48, 100, false)]), (Some(Why::Incomplete), 1));
        assert_eq!(lost(&[first.clone(), first.clone()]), (Some(Why::Incomplete), 1), "the same again");
        // The same bytes at other places are refused as well, and all that follows.
        let overlap = [first.clone(), part(40, 100, false), part(48, 100, false)];
        assert_eq!(lost(&overlap), (Some(Why::Overlap), 3));
        let mut other = first.clone();
        *other.last_mut().unwrap() ^= 1;
        assert_eq!(lost(&[first.clone(), other]), (Some(Why::Overlap), 2));
        assert_eq!(lost(&[part(48, 100, false), part(96, 100, false)]), (Some(Why::Overlap), 2));
        assert_eq!(lost(&[part(48, 56, false), part(56, 64, true)]), (Some(Why::End), 2));
        assert_eq!(lost(&[part(56, 64, true), part(48, 56, false)]), (Some(Why::End), 2));
        assert_eq!(lost(&[part(0, 47, true)]), (Some(Why::Size), 1));
        assert_eq!(lost(&[part(48, 48, true)]), (Some(Why::Size), 1));
        let far = packet(v6, ESP, &[0; 65_000]);
        let mut far = fragment(&far, 9, 64_000, 65_000, false);
        let at = if v6 { 50 } else { 6 };
        far[at..at + 2].copy_from_slice(&(0xfff8u16 >> if v6 { 0 } else { 3 }).to_be_bytes());
        if !v6 {
            sum(&mut far);
        }
        assert_eq!(lost(&[far]), (Some(Why::Size), 1));
        // So small that there are more of them than of any datagram.
        let many = packet(v6, ESP, &[7; 20_000]);
        let small: Vec<_> = (0..2100).map(|at| fragment(&many, 9, at * 8, at * 8 + 8, true)).collect();
        assert_eq!(lost(&small), (Some(Why::Many), 2100));
    }
}

#[test]
fn what_is_no_esp_is_given_back() {
    for v6 in [false, true] {
        let other = packet(v6, UDP, &[&[0, 9, 0, 9][..], &[0; 60]].concat());
        let ike = packet(v6, UDP, &[&[0x11, 0x94, 0x11, 0x94][..], &[0; 60]].concat());
        let parts = |whole: &[u8]| [fragment(whole, 1, 32, 64, false), fragment(whole, 1, 0, 32, true)];
        let out = settled(&parts(&other));
        assert!(matches!(&out[..], [Settled::NotEsp(frames)] if frames == &[0, 1]), "{out:?}");
        let [later, first] = parts(&other);
        let out = settled(&[first, later.clone()]);
        assert!(matches!(&out[..], [Settled::NotEsp(_), Settled::NotEsp(_)]), "{out:?}");
        let out = settled(&[later]);
        assert!(matches!(&out[..], [Settled::NotEsp(_)]), "nobody knows what it is: {out:?}");
        let out = settled(&parts(&ike));
        assert!(matches!(&out[..], [Settled::BesideEsp(frames)] if frames == &[0, 1]), "{out:?}");
        let out = settled(&parts(&ike)[1..]);
        assert!(matches!(&out[..], [Settled::BesideEsp(_)]), "{out:?}");
        let icmp = packet(v6, ICMP, &[0; 64]);
        assert_eq!(destination(&parts(&icmp)[0]), None);
        assert_eq!(destination(&packet(v6, ESP, &[0; 64])), None, "no fragment");
    }
}

#[test]
fn time_datagrams_and_bytes_have_their_bounds() {
    let whole = packet(false, ESP, &[1; 64]);
    let first = fragment(&whole, 1, 0, 32, true);
    let (mut all, mut out) = (Fragments::default(), Vec::new());
    all.take(Duration::ZERO, &first, 0, &mut out);
    all.take(LIFETIME + Duration::from_secs(1), &fragment(&whole, 1, 32, 64, false), 1, &mut out);
    assert!(matches!(out[..], [Settled::Lost(Why::Incomplete, 1)]), "{out:?}");
    // Two of one number, of which the first is over: the second has a time of its own.
    all.take(LIFETIME + Duration::from_secs(2), &first, 2, &mut out);
    assert!(matches!(out[..], [_, Settled::Whole { .. }]), "{out:?}");
    // Once more the same, and then others under the same number.
    all.take(LIFETIME + Duration::from_secs(2), &first, 3, &mut out);
    assert!(matches!(out[..], [_, _, Settled::Again]), "{out:?}");
    let others = packet(false, ESP, &[2; 64]);
    for (from, to) in [(0, 32), (32, 64)] {
        all.take(LIFETIME + Duration::from_secs(3), &fragment(&others, 1, from, to, to < 64), 4, &mut out);
    }
    assert!(matches!(out[..], [_, _, _, Settled::Whole { .. }]), "{out:?}");
    let (mut all, mut out) = (Fragments::default(), Vec::new());
    for number in 0..MOST_DATAGRAMS + 5 {
        let mut first = first.clone();
        first[16..18].copy_from_slice(&(number as u16).to_be_bytes());
        sum(&mut first);
        all.take(Duration::ZERO, &first, number, &mut out);
    }
    assert_eq!(out.len(), 5);
    assert!(out.iter().all(|lost| matches!(lost, Settled::Lost(Why::Many, 1))), "{out:?}");
    let long = packet(true, ESP, &[1; 60_000]);
    let mut out = Vec::new();
    let mut all = Fragments::default();
    let rounds = 2 * MOST_BYTES / 59_992;
    for number in 0..rounds {
        let mut first = fragment(&long, 1, 0, 59_992, true);
        first[52..54].copy_from_slice(&(number as u16).to_be_bytes());
        all.take(Duration::ZERO, &first, number, &mut out);
    }
    let few = rounds / 2 - 2..rounds / 2 + 2;
    assert!(few.contains(&out.len()), "{} of {rounds}", out.len());
}

/// RFC 3168, 5.3: a mark on one of them is a mark on the packet, if its sender understands marks.
#[test]
fn a_mark_of_congestion_is_for_the_whole() {
    for (v6, ect) in [(false, 2u8), (true, 2), (false, 0), (true, 0)] {
        let mut whole = packet(v6, ESP, &[1; 64]);
        whole[1] |= if v6 { ect << 4 } else { ect };
        if !v6 {
            sum(&mut whole);
        }
        let mut last = fragment(&whole, 1, 32, 64, false);
        last[1] |= if v6 { 0x30 } else { 3 };
        if !v6 {
            sum(&mut last);
        }
        let out = settled(&[fragment(&whole, 1, 0, 32, true), last]);
        let [Settled::Whole { packet, .. }] = &out[..] else { panic!("{out:?}") };
        let found = if v6 { packet[1] >> 4 & 3 } else { packet[1] & 3 };
        assert_eq!(found, if ect == 0 { 0 } else { 3 });
    }
}
