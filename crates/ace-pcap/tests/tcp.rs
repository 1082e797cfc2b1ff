// SPDX-License-Identifier: Apache-2.0
//! ESP in TCP: in whatever segments the stream comes, its messages come out, and what cannot is named.

use std::net::{IpAddr, Ipv4Addr};

use ace_pcap::tcp::{Found, MOST_STREAM, MOST_STREAMS, Segment, Streams, Verdict, Why};
use proptest::prelude::*;

const SYN: u8 = 2;
const ACK: u8 = 16;
const FIN: u8 = 1;
const RST: u8 = 4;
const START: u32 = 0xffff_ff00;

/// A segment between 10.0.0.1 and 10.0.0.2, or the same in IPv6.
fn segment(v6: bool, ends: [u8; 2], ports: [u16; 2], sequence: u32, flags: u8, payload: &[u8]) -> Vec<u8> {
    let ports = [ports[0].to_be_bytes(), ports[1].to_be_bytes()].concat();
    let tcp =
        [&ports[..], &sequence.to_be_bytes(), &[0; 4], &[0x60, flags], &[0; 6], &[1; 4], payload].concat();
    let [from, to] = ends;
    if v6 {
        let len = (tcp.len() as u16).to_be_bytes();
        let head = [&[0x60, 0x30, 0, 0][..], &len, &[6, 64], &[0; 15], &[from], &[0; 15], &[to]].concat();
        return [head, tcp].concat();
    }
    let len = (tcp.len() as u16 + 20).to_be_bytes();
    let head = [0x45, 3, len[0], len[1], 0, 0, 0x40, 0, 64, 6, 0, 0, 10, 0, 0, from, 10, 0, 0, to];
    [&head[..], &tcp].concat()
}

fn message(body: &[u8]) -> Vec<u8> {
    [&(body.len() as u16 + 2).to_be_bytes()[..], body].concat()
}

/// A connection to 10.0.0.2, of which that is an end.
struct Connection {
    streams: Streams,
    found: Found,
    v6: bool,
    ports: [u16; 2],
}

impl Connection {
    fn new() -> Self {
        Self { streams: Streams::default(), found: Found::default(), v6: false, ports: [1000, 4500] }
    }

    fn put(&mut self, back: bool, sequence: u32, flags: u8, payload: &[u8]) -> Verdict {
        let ([a, b], [c, d]) = (self.ports, [1, 2]);
        let (ports, ends) = if back { ([b, a], [d, c]) } else { ([a, b], [c, d]) };
        let packet = segment(self.v6, ends, ports, sequence, flags, payload);
        self.packet(&packet)
    }

    fn packet(&mut self, packet: &[u8]) -> Verdict {
        let segment = Segment::of(packet).expect("a segment");
        let is_end = |end: &IpAddr| match end {
            IpAddr::V4(end) => *end == Ipv4Addr::new(10, 0, 0, 2),
            IpAddr::V6(end) => end.octets()[15] == 2,
        };
        self.streams.take(&segment, is_end, &mut self.found)
    }

    /// From the handshake on.
    fn open(&mut self) -> &mut Self {
        assert_eq!(self.put(false, START, SYN, &[]), Verdict::Beside);
        assert_eq!(self.data(0, b"IKETCP"), Verdict::Beside);
        self
    }

    /// Bytes at a place of the stream.
    fn data(&mut self, at: usize, payload: &[u8]) -> Verdict {
        self.put(false, START.wrapping_add(1 + at as u32), ACK, payload)
    }

    fn lost(&mut self) -> Vec<(Why, u64)> {
        self.streams.end(&mut self.found);
        std::mem::take(&mut self.found.lost)
    }

    /// What came out behind the IP headers.
    fn esp(&self) -> Vec<Vec<u8>> {
        let at = if self.v6 { 40 } else { 20 };
        self.found.esp.iter().map(|packet| packet[at..].to_vec()).collect()
    }
}

proptest! {
    #[test]
    fn in_whatever_segments_it_comes_every_message_comes_out(
        v6: bool, at_port: bool, bodies in prop::collection::vec((0u8..4, 0usize..300), 1..12),
        cuts in prop::collection::vec(0usize..4000, 0..30), seed: u64,
    ) {
        let bodies: Vec<Vec<u8>> = bodies
            .into_iter()
            .map(|(kind, len)| match kind {
                0 => vec![0xff],
                1 => vec![0; len + 4],
                _ => (0..len + 4).map(|at| (at * 7 + len) as u8 | 1).collect(),
            })
            .collect();
        let stream = bodies.iter().fold(b"IKETCP".to_vec(), |all, body| [all, message(body)].concat());
        let mut cuts: Vec<usize> = cuts.into_iter().filter(|cut| *cut < stream.len()).collect();
        cuts.extend([0, stream.len()]);
        cuts.sort_unstable();
        cuts.dedup();
        let mut parts: Vec<(usize, usize)> = cuts.windows(2).map(|ends| (ends[0], ends[1])).collect();
        // Some twice, some in one with their neighbour, and out of order: at another port not in front of the prefix.
        let count = parts.len();
        parts.push((cuts[seed as usize % count], stream.len()));
        parts.push((cuts[0], cuts[1 + seed as usize % count]));
        for at in (1..parts.len()).rev() {
            parts.swap(at, (seed >> (at % 60)) as usize % (at + 1));
        }
        let mut it = Connection { v6, ports: [4000, if at_port { 4500 } else { 443 }], ..Connection::new() };
        it.put(false, START, SYN, &[]);
        for (from, to) in parts {
            it.data(from, &stream[from..to]);
        }
        it.put(false, START.wrapping_add(1 + stream.len() as u32), FIN | ACK, &[]);
        prop_assert_eq!(it.lost(), vec![]);
        let wanted: Vec<Vec<u8>> = bodies.into_iter().filter(|body| !matches!(body[..], [0xff] | [0, 0, 0, 0, ..])).collect();
        prop_assert_eq!(it.esp(), wanted);
    }

    #[test]
    fn nothing_panics(steps in prop::collection::vec((any::<bool>(), 0u32..40, any::<u8>(), prop::collection::vec(0u8..3, 0..12)), 0..80), port in prop::sample::select(vec![4500u16, 443])) {
        let mut it = Connection { ports: [1000, port], ..Connection::new() };
        it.put(false, START, SYN, &[]);
        it.data(0, b"IKETCP");
        for (back, at, flags, payload) in steps {
            it.put(back, START.wrapping_add(at), flags, &payload);
        }
        it.lost();
    }
}

#[test]
fn a_packet_has_the_segments_addresses_and_a_header_of_its_own() {
    let esp = [0, 0, 16, 1, 0, 0, 0, 1, 9, 9];
    let mut it = Connection::new();
    it.open();
    assert_eq!(it.data(6, &message(&esp)), Verdict::Taken);
    // Not congested, whatever the segment was: it is another packet.
    let head = [0x45, 0, 0, 30, 0, 0, 0, 0, 64, 50];
    assert_eq!(it.found.esp[0][..10], head);
    assert_eq!(it.found.esp[0][12..], [&[10, 0, 0, 1, 10, 0, 0, 2][..], &esp].concat());
    assert_eq!(ace_pcap::Extent::of(&it.found.esp[0]).offloaded, ace_pcap::Offloaded::default());
    let mut it = Connection { v6: true, ..Connection::new() };
    it.open();
    it.data(6, &message(&esp));
    assert_eq!(it.found.esp[0][..8], [0x60, 0, 0, 0, 0, 10, 50, 64]);
    let longest = message(&[1; 65_533]);
    let mut it = Connection::new();
    it.open();
    for (number, part) in longest.chunks(30_000).enumerate() {
        it.data(6 + number * 30_000, part);
    }
    assert_eq!(it.lost(), [(Why::Long, 1)]);
}

#[test]
fn the_other_direction_says_no_prefix() {
    let esp = [1; 8];
    let back = |it: &mut Connection, flags, at: u32, payload: &[u8]| {
        let packet = segment(false, [1, 2], [it.ports[1], it.ports[0]], 50 + at, flags, payload);
        it.packet(&packet)
    };
    for port in [4500, 443] {
        // Ours has opened it: 10.0.0.2 to 10.0.0.1.
        let mut it = Connection { ports: [1000, port], ..Connection::new() };
        let first = segment(false, [2, 1], it.ports, 7, SYN, &[]);
        assert_eq!(it.packet(&first), Verdict::Ordinary, "no end of ours");
        back(&mut it, SYN | ACK, 0, &[]);
        it.packet(&segment(false, [2, 1], it.ports, 8, ACK, b"IKETCP"));
        assert_eq!(back(&mut it, ACK, 1, &message(&esp)), Verdict::Taken, "{port}");
        assert_eq!((it.esp(), it.lost()), (vec![esp.to_vec()], vec![]));
        // What it opened was something else.
        let mut it = Connection { ports: [1000, port], ..Connection::new() };
        it.packet(&first);
        back(&mut it, SYN | ACK, 0, &[]);
        it.packet(&segment(false, [2, 1], it.ports, 8, ACK, b"GET / "));
        assert_eq!(back(&mut it, ACK, 1, &message(&esp)), Verdict::Ordinary, "{port}");
        assert_eq!((it.esp().len(), it.lost().len()), (0, 0));
    }
}

#[test]
fn what_is_no_esp_is_told() {
    let mut it = Connection::new();
    it.open();
    assert_eq!(it.data(6, &message(&[0; 30])), Verdict::Beside, "IKE");
    assert_eq!(it.data(38, &message(&[0xff])), Verdict::Beside, "a keepalive");
    assert_eq!(it.data(40, &[0]), Verdict::Beside, "one of TCP");
    assert_eq!(it.data(41, &[]), Verdict::Beside);
    assert_eq!((it.esp().len(), it.lost()), (0, vec![]));
    for port in [4500, 443] {
        let mut it = Connection { ports: [1000, port], ..Connection::new() };
        it.put(false, START, SYN, &[]);
        assert_eq!(it.data(0, b"SSH-2.0"), Verdict::Ordinary);
        assert_eq!(it.data(100, b"and more"), Verdict::Ordinary);
        assert_eq!(it.lost(), []);
    }
    let mut it = Connection { ports: [1000, 443], ..Connection::new() };
    assert_eq!(it.data(0, b"some"), Verdict::Ordinary, "whoever speaks at another port");
}

#[test]
fn what_is_lost_is_named() {
    let text = message(&[3; 40]);
    let mut it = Connection::new();
    assert_eq!(it.data(6, &text), Verdict::Taken);
    it.data(48, &text);
    assert_eq!(it.lost(), [(Why::Beheaded, 1), (Why::Beheaded, 1)]);
    // One is missing, and three wait for it.
    it = Connection::new();
    it.open().data(6, &text);
    for at in 2..5 {
        assert_eq!(it.data(6 + at * 42, &text), Verdict::Taken);
    }
    assert_eq!((it.esp().len(), it.lost()), (1, vec![(Why::Missing, 3)]));
    for (name, sequence, flags) in [("a reset", START, RST), ("another connection", 99, SYN)] {
        it = Connection::new();
        it.open().data(60, &text);
        it.put(false, sequence, flags, &[]);
        assert_eq!(it.found.lost, [(Why::Missing, 1)], "{name}");
    }
    // Other bytes at a place that was taken, and at one that waits.
    for at in [6, 90] {
        it = Connection::new();
        it.open().data(at, &text);
        let mut other = text.clone();
        other[20] ^= 1;
        assert_eq!(it.data(at, &other), Verdict::Taken);
        it.data(at + 42, &text);
        let count = if at == 6 { 1 } else { 2 };
        assert_eq!(it.lost(), [(Why::Differs, count), (Why::Differs, 1)], "{at}");
    }
    for length in [0, 1] {
        it = Connection::new();
        it.open().data(6, &[0, length]);
        assert_eq!(it.lost(), [(Why::Length, 1)]);
    }
    it = Connection::new();
    it.open().data(6, &message(&[1, 2, 3]));
    it.data(11, &message(&[]));
    assert_eq!(it.lost(), [(Why::Short, 1), (Why::Short, 1)]);
    it = Connection::new();
    it.open().data(6, &text[..41]);
    assert_eq!(it.lost(), [(Why::Cut, 1)]);
    it = Connection::new();
    it.open().data(6, &message(&[0; 40])[..30]);
    assert_eq!(it.lost(), [], "a part of IKE");
    // More than may wait.
    it = Connection::new();
    it.open();
    let big = vec![1; 60_000];
    for number in 0..=MOST_STREAM / big.len() {
        it.data(1000 + number * big.len(), &big);
    }
    let lost = it.lost();
    assert!(matches!(lost[..], [(Why::Many, 60..)]), "{lost:?}");
    // More streams than are remembered: the one that was used last stays.
    it = Connection::new();
    it.open().data(100, &text);
    for port in 0..MOST_STREAMS as u16 {
        it.packet(&segment(false, [1, 2], [2000 + port, 4500], 1, SYN, &[]));
    }
    assert_eq!(it.lost(), [(Why::Streams, 1)]);
}

#[test]
fn streams_take_a_bounded_place() {
    let mut it = Connection::new();
    let big = vec![1; 60_000];
    for port in 0..100 {
        it.ports[0] = 2000 + port;
        it.open();
        for number in 0..60 {
            it.data(1000 + number * big.len(), &big);
        }
    }
    let lost = it.lost();
    assert!(lost.iter().any(|(name, _)| *name == Why::Many), "of all together");
    assert!(lost.iter().filter(|(name, _)| *name == Why::Missing).count() <= 17, "64 MiB");
}
