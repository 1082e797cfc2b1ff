// SPDX-License-Identifier: Apache-2.0
//! Fragments: any bytes as packets, each behind its length, or (bit 0 of the first byte) fragments of one packet of ESP,
//! each as three bytes: where it begins, how long it is, how much time has passed. Every frame is settled once, and
//! what becomes whole is that packet.
#![no_main]

use std::time::Duration;

use ace_pcap::fragments::destination;
use ace_pcap::{Extent, Fragments, Settled};
use libfuzzer_sys::fuzz_target;

/// A fragment of a packet whose payload is as long as this many times eight bytes.
const UNITS: usize = 32;

fn payload() -> Vec<u8> {
    (0..UNITS * 8).map(|at| ((at * 31) >> 3) as u8).collect()
}

fn fragment(v6: bool, from: usize, to: usize) -> Vec<u8> {
    let (part, more) = (&payload()[from * 8..to * 8], to < UNITS);
    if v6 {
        let len = (part.len() as u16 + 8).to_be_bytes();
        let word = ((from as u16 * 8) | u16::from(more)).to_be_bytes();
        let head = [&[0x60, 0, 0, 0], &len[..], &[44, 64], &[7; 32], &[50, 0], &word, &[0, 0, 0, 9]].concat();
        return [&head[..], part].concat();
    }
    let len = (part.len() as u16 + 20).to_be_bytes();
    let word = (from as u16 | if more { 0x2000 } else { 0 }).to_be_bytes();
    let head = [0x45, 0, len[0], len[1], 0, 9, word[0], word[1], 64, 50, 0, 0, 10, 0, 0, 1, 10, 0, 0, 2];
    [&head[..], part].concat()
}

/// Packets and the clock of the capture.
fn packets(kind: u8, mut input: &[u8]) -> Vec<(Duration, Vec<u8>)> {
    let (mut now, mut all) = (Duration::ZERO, Vec::new());
    if kind & 1 != 0 {
        for order in input.chunks_exact(3) {
            now += Duration::from_secs(u64::from(order[2] >> 3));
            let from = usize::from(order[0]) % UNITS;
            let to = (from + usize::from(order[1])).min(UNITS);
            all.push((now, fragment(kind & 2 != 0, from, to)));
        }
        return all;
    }
    while let Some((&len, rest)) = input.split_first() {
        let (packet, rest) = rest.split_at(rest.len().min(usize::from(len)));
        input = rest;
        now += Duration::from_secs(u64::from(len & 7));
        all.push((now, packet.to_vec()));
    }
    all
}

fuzz_target!(|input: &[u8]| {
    let Some((&kind, input)) = input.split_first() else { return };
    let (mut fragments, mut settled, mut count) = (Fragments::default(), Vec::new(), 0);
    for (now, packet) in packets(kind, input) {
        if destination(&packet).is_some() {
            fragments.take(now, &packet, count, &mut settled);
            count += 1;
        }
    }
    fragments.end(&mut settled);
    let mut frames = vec![false; count];
    let mut lost = 0;
    for settled in settled {
        match settled {
            Settled::Whole { packet, frames: these } => {
                assert_eq!(Extent::of(&packet).len, packet.len());
                if kind & 1 != 0 {
                    assert_eq!(packet[if kind & 2 != 0 { 40 } else { 20 }..], payload());
                }
                these.into_iter().for_each(|frame| assert!(!std::mem::replace(&mut frames[frame], true)));
            }
            Settled::NotEsp(these) | Settled::BesideEsp(these) => {
                these.into_iter().for_each(|frame| assert!(!std::mem::replace(&mut frames[frame], true)));
            }
            Settled::Again => lost += 1,
            Settled::Lost(_, these) => lost += these as usize,
        }
    }
    assert_eq!(frames.iter().filter(|seen| **seen).count() + lost, count);
});
