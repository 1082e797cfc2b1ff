// SPDX-License-Identifier: Apache-2.0
//! Packets that lie in several frames: fragments of ESP, and ESP in TCP.

use std::collections::BTreeMap;
use std::fmt::Display;
use std::time::Duration;

use ace_pcap::tcp::Found;
use ace_pcap::{Carries, DataLink, Extent, Frame, NatTraversal, Place, Segment, Settled, Verdict, fragments};
use anyhow::Result;

use super::pump::{Origin, Pump};

/// A frame that waits for others.
pub struct Waiting {
    number: u64,
    time: Duration,
    link: DataLink,
    bytes: Vec<u8>,
    wire_len: u32,
    content: Place,
}

impl Waiting {
    fn new(frame: Frame, content: Place) -> Self {
        let Frame { number, time, link, bytes, wire_len } = frame;
        Self { number, time, link, bytes: bytes.to_vec(), wire_len, content }
    }

    fn frame(&self) -> Frame<'_> {
        let Self { number, time, link, ref bytes, wire_len, .. } = *self;
        Frame { number, time, link, bytes, wire_len }
    }
}

/// Where what comes of a frame goes.
fn origin(frame: Frame, content: Place) -> Origin {
    let Frame { number, time, link, .. } = frame;
    let header = frame.bytes.get(..content.at).unwrap_or_default().to_vec();
    Origin { number, time, link, header, content }
}

impl Pump {
    /// Takes a frame that holds an IP packet.
    pub(super) fn take_ip(&mut self, frame: Frame, content: Place) -> Result<()> {
        let packet = frame.bytes.get(content.at..).unwrap_or_default();
        let packet = packet.get(..Extent::of(packet).len).unwrap_or_default();
        self.clock(frame.time);
        if fragments::destination(packet).is_some_and(|end| self.plane.is_end(&end)) {
            let mut settled = Vec::new();
            self.fragments.take(self.now, packet, Waiting::new(frame, content), &mut settled);
            return self.joined(settled);
        }
        let Some(segment) = Segment::of(packet) else { return self.take_whole(frame, content) };
        let mut found = Found::default();
        let verdict = self.streams.take(&segment, |end| self.plane.is_end(end), &mut found);
        self.streams_lost(&found);
        if verdict == Verdict::Taken {
            self.summary.tcp_segments += 1;
        }
        for esp in &found.esp {
            self.summary.esp_in_tcp += 1;
            self.ingest(origin(frame, content), esp)?;
        }
        match verdict {
            Verdict::Ordinary => self.take_whole(frame, content),
            Verdict::Beside => self.beside(frame),
            Verdict::Taken => Ok(()),
        }
    }

    /// Nothing more comes: what waits for it is lost.
    pub(super) fn end_joined(&mut self) -> Result<()> {
        let (mut settled, mut found) = (Vec::new(), Found::default());
        self.fragments.end(&mut settled);
        self.streams.end(&mut found);
        self.streams_lost(&found);
        self.joined(settled)
    }

    /// Whether a segment, of which a capture has the beginning, carried ESP in TCP.
    pub(super) fn is_esp_in_tcp(&self, packet: &[u8]) -> bool {
        Segment::of(packet).is_some_and(|it| self.streams.concerns(&it, |end| self.plane.is_end(end)))
    }

    /// Passes what is no ESP, beside ESP for one of our ends.
    pub(super) fn beside(&mut self, frame: Frame) -> Result<()> {
        self.summary.beside_esp += 1;
        if self.bypass { self.pass(frame) } else { Ok(()) }
    }

    fn joined(&mut self, settled: Vec<Settled<Waiting>>) -> Result<()> {
        for settled in settled {
            match settled {
                Settled::Whole { mut packet, frames } => {
                    self.summary.reassembled += 1;
                    self.summary.fragments += frames.len() as u64;
                    if let Some(esp) = NatTraversal::of(&packet).filter(|it| it.carries == Carries::Esp) {
                        self.summary.esp_in_udp += 1;
                        let len = esp.strip(&mut packet);
                        packet.truncate(len);
                    }
                    if let Some(last) = frames.last() {
                        self.ingest(origin(last.frame(), last.content), &packet)?;
                    }
                }
                Settled::NotEsp(frames) => {
                    frames
                        .iter()
                        .try_for_each(|waiting| self.take_whole(waiting.frame(), waiting.content))?;
                }
                Settled::BesideEsp(frames) => {
                    frames.iter().try_for_each(|waiting| self.beside(waiting.frame()))?;
                }
                Settled::Again => self.summary.fragments += 1,
                Settled::Lost(why, fragments) => {
                    lost(&mut self.summary.unassembled, why, fragments, self.summary.frames, self.quiet);
                }
            }
        }
        Ok(())
    }

    fn streams_lost(&mut self, found: &Found) {
        for (why, count) in &found.lost {
            lost(&mut self.summary.lost_in_tcp, why, *count, self.summary.frames, self.quiet);
        }
    }
}

/// Counts, and says so of the first one of a kind.
fn lost(map: &mut BTreeMap<String, u64>, why: impl Display, count: u64, number: u64, quiet: bool) {
    let why = why.to_string();
    if !quiet && !map.contains_key(&why) {
        eprintln!("ace: packet {number} or before it, lost: {why} (the first one of these)");
    }
    *map.entry(why).or_default() += count;
}
