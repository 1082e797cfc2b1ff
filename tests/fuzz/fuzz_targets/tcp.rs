// SPDX-License-Identifier: Apache-2.0
//! ESP in TCP. Bit 0 of the first byte: segments of one stream, in any order and as often as the input says, each as
//! five bytes (place, length, flags); then the stream. What comes out are its messages, in their order and as far as no
//! byte is missing; a stream of which all came loses nothing. Else: any bytes as packets, each behind its length.
#![no_main]

use std::net::IpAddr;

use ace_pcap::tcp::Found;
use ace_pcap::{Segment, Streams};
use libfuzzer_sys::fuzz_target;

const START: u32 = 0xffff_fff0;

fn segment(sequence: u32, flags: u8, payload: &[u8]) -> Vec<u8> {
    let head = [0x45, 0, 0, 0, 0, 0, 0, 0, 64, 6, 0, 0, 10, 0, 0, 1, 10, 0, 0, 2, 0, 9, 0x11, 0x94];
    [&head[..], &sequence.to_be_bytes(), &[0; 4], &[0x50, flags], &[0; 6], payload].concat()
}

/// The messages of ESP in a stream, as far as they are whole, and whether all of it is well-formed.
fn messages(stream: &[u8]) -> (Vec<Vec<u8>>, bool) {
    let (mut rest, mut all) = (stream, Vec::new());
    while let [a, b, ..] = *rest {
        let len = usize::from(u16::from_be_bytes([a, b]));
        let Some(message) = rest.get(2..len) else { return (all, false) };
        match message {
            [0xff] | [0, 0, 0, 0, ..] => {}
            [_, _, _, _, ..] => all.push(message.to_vec()),
            _ => return (all, false),
        }
        rest = &rest[len..];
    }
    (all, rest.is_empty())
}

fn one_stream(input: &[u8]) {
    let Some((&count, input)) = input.split_first() else { return };
    let (orders, body) = input.split_at(input.len().min(5 * usize::from(count)));
    let stream = [b"IKETCP", body].concat();
    let (mut streams, mut found) = (Streams::default(), Found::default());
    let mut put = |sequence: u32, flags: u8, payload: &[u8]| {
        let packet = segment(sequence, flags, payload);
        streams.take(&Segment::of(&packet).expect("a segment"), |_: &IpAddr| true, &mut found);
    };
    put(START, 2, &[]);
    let mut came = vec![false; stream.len()];
    for order in orders.chunks_exact(5) {
        let from = usize::from(u16::from_be_bytes([order[0], order[1]])) % stream.len();
        let to = (from + usize::from(u16::from_be_bytes([order[2], order[3]]))).min(stream.len());
        came[from..to].fill(true);
        // No end and no reset: what follows one is another matter.
        put(START.wrapping_add(1 + from as u32), order[4] & !7, &stream[from..to]);
    }
    let whole = came.iter().take_while(|came| **came).count();
    streams.end(&mut found);
    let (wanted, _) = messages(stream[..whole].strip_prefix(b"IKETCP").unwrap_or_default());
    let bodies: Vec<&[u8]> = found.esp.iter().map(|packet| &packet[20..]).collect();
    // One that is too long for a packet is named.
    let mut fitting: Vec<&[u8]> = wanted.iter().map(Vec::as_slice).collect();
    fitting.retain(|message| message.len() <= 65_515);
    assert!(fitting.starts_with(&bodies) || bodies.len() >= fitting.len());
    if whole == stream.len() && messages(body).1 {
        assert_eq!(bodies, fitting);
        assert!(found.lost.is_empty(), "{:?}", found.lost);
    }
}

fuzz_target!(|input: &[u8]| {
    let Some((&kind, mut input)) = input.split_first() else { return };
    if kind & 1 != 0 {
        return one_stream(input);
    }
    let (mut streams, mut found) = (Streams::default(), Found::default());
    while let Some((&len, rest)) = input.split_first() {
        let (packet, rest) = rest.split_at(rest.len().min(usize::from(len)));
        input = rest;
        if let Some(segment) = Segment::of(packet) {
            // Some addresses are ends.
            streams.take(&segment, |end: &IpAddr| !end.to_string().len().is_multiple_of(3), &mut found);
        }
    }
    streams.end(&mut found);
    for packet in &found.esp {
        assert_eq!(ace_pcap::Extent::of(packet).len, packet.len());
    }
});
