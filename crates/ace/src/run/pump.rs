// SPDX-License-Identifier: Apache-2.0
//! Frames out of a capture, packets through data plane and engine, frames into a capture.

use std::collections::{BTreeMap, HashMap};
use std::fmt::Display;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use ace_engine::{Buffer, Engine, EngineError};
use ace_fs::Output;
use ace_ipsec::{Exit, Fate, HEADROOM, How, Packet, Shard};
use ace_pcap::read::MAX_BLOCK;
use ace_pcap::{
    Capture, CaptureWriter, Carries, Content, DataLink, Extent, Fragments, Frame, Item, LinkType,
    NatTraversal, Order, Place, Streams, WriteError, offload,
};
use ace_report::Summary;
use anyhow::{Result, bail};
use indicatif::ProgressBar;

use super::joined::Waiting;
use crate::engines::AnyEngine;

/// So many frames wait for a packet in front of them that the engine has not finished, or so many bytes: then no more
/// are read until it has.
const MOST_WAITING: usize = 1 << 16;
const MOST_WAITING_BYTES: usize = 16 << 20;

/// Where a packet came from: what is needed to put it back into a capture.
pub(super) struct Origin {
    pub number: u64,
    pub time: Duration,
    pub link: DataLink,
    pub header: Vec<u8>,
    pub content: Place,
}

/// A frame that waits for earlier ones.
struct Settled {
    number: u64,
    time: Duration,
    link: DataLink,
    bytes: Vec<u8>,
}

pub struct Pump {
    pub plane: Shard,
    pub engine: AnyEngine,
    pub(super) bypass: bool,
    /// Fragments of what may be ESP for one of our ends.
    pub(super) fragments: Fragments<Waiting>,
    /// Connections that may carry it.
    pub(super) streams: Streams,
    pub output: CaptureWriter<Output>,
    /// Of packets in the data plane, by token, which is their place.
    origins: HashMap<u64, Origin>,
    order: Order<Settled>,
    /// The time of the first packet, and how long ago that was: the data plane's clock.
    started: Option<Duration>,
    pub(super) now: Duration,
    /// Buffers to be used again.
    spare: Vec<Buffer>,
    pub summary: Summary,
    /// Says nothing of single packets: another run of the same capture does.
    pub quiet: bool,
}

impl Pump {
    pub fn new(
        plane: Shard,
        engine: AnyEngine,
        bypass: bool,
        output: CaptureWriter<Output>,
        summary: Summary,
    ) -> Self {
        Self {
            plane,
            engine,
            bypass,
            fragments: Fragments::default(),
            streams: Streams::default(),
            output,
            origins: HashMap::new(),
            order: Order::new(MOST_WAITING, MOST_WAITING_BYTES),
            started: None,
            now: Duration::ZERO,
            spare: Vec::new(),
            summary,
            quiet: false,
        }
    }

    /// Works until the capture ends or somebody interrupts; what is in flight then is finished.
    pub fn pump(
        &mut self,
        mut capture: Capture,
        interrupted: &AtomicBool,
        progress: &ProgressBar,
    ) -> Result<()> {
        let window = self.engine.packet_buffer();
        let start = Instant::now();
        let mut done = Vec::new();
        let mut more = true;
        loop {
            while more
                && self.plane.in_flight() < window
                && !self.order.is_full()
                && !interrupted.load(Ordering::Relaxed)
            {
                match capture.next_item() {
                    Some(Ok(Item::Frame(frame))) => self.take(frame)?,
                    Some(Ok(Item::Unreadable { number, why })) => {
                        self.summary.frames += 1;
                        count(&mut self.summary.unreadable, why, number, "cannot be read", self.quiet);
                    }
                    Some(Err(damage)) => {
                        self.summary.damage = Some(damage.to_string());
                        more = false;
                        self.end_joined()?;
                    }
                    None => {
                        more = false;
                        self.end_joined()?;
                    }
                }
                let packets = self.summary.frames;
                if packets.is_multiple_of(1 << 10) {
                    let rate = packets as f64 / start.elapsed().as_secs_f64().max(1e-3);
                    progress.set_message(format!("{packets} packets, {rate:.0}/s"));
                    progress.set_position(capture.position());
                }
            }
            if self.plane.in_flight() == 0 {
                return Ok(());
            }
            let waiting = self.plane.jobs().len();
            self.engine.try_submit(self.plane.jobs());
            self.engine.wait(&mut done);
            if done.is_empty() && waiting == self.plane.jobs().len() {
                bail!("the engine gave up {} packets without a word", self.plane.in_flight());
            }
            for error in done.iter().filter_map(|completion| completion.result.as_ref().err()) {
                // A wrong ICV is the sender's doing, not the engine's.
                if *error != EngineError::Mismatch {
                    *self.summary.engine_errors.entry(self.engine.explain(error)).or_default() += 1;
                }
            }
            self.plane.complete(self.now, &mut done);
            self.settle(None)?;
        }
    }

    fn take(&mut self, frame: Frame) -> Result<()> {
        self.summary.frames += 1;
        if frame.is_cut() {
            self.summary.cut_short += 1;
            self.summary.cut_short_missing += u64::from(self.misses(frame));
            return Ok(());
        }
        if !self.output.takes(frame.link) {
            let why = ace_pcap::Lost::OtherLink.to_string();
            count(&mut self.summary.unwritable, why, frame.number, "dropped", self.quiet);
            return Ok(());
        }
        let content = match LinkType::of(frame.link) {
            Some(link) => link.content(frame.bytes),
            None => Content::Opaque("of a link type that is not known"),
        };
        let forwarded = match content {
            Content::Ip(content) => return self.take_ip(frame, content),
            Content::NotIp => {
                self.summary.not_ip += 1;
                self.bypass
            }
            Content::Opaque(what) => {
                *self.summary.opaque.entry(what).or_default() += 1;
                self.bypass && self.summary.bypass_opaque
            }
        };
        if forwarded { self.pass(frame) } else { Ok(()) }
    }

    /// Lets a frame leave as it came.
    pub(super) fn pass(&mut self, frame: Frame) -> Result<()> {
        let Frame { number, time, link, bytes, .. } = frame;
        if self.order.is_empty() {
            return self.write(number, link, time, bytes);
        }
        let place = self.order.enter();
        self.finish(place, Some(Settled { number, time, link, bytes: bytes.to_vec() }))
    }

    /// The data plane's clock is that of the capture, and does not go back.
    pub(super) fn clock(&mut self, time: Duration) {
        let started = *self.started.get_or_insert(time);
        self.now = time.saturating_sub(started).max(self.now);
    }

    /// A packet that lies in one frame.
    pub(super) fn take_whole(&mut self, frame: Frame, content: Place) -> Result<()> {
        if self.is_beside_esp(frame.bytes.get(content.at..).unwrap_or_default()) {
            return self.beside(frame);
        }
        let (header, packet) = frame.bytes.split_at(content.at);
        let extent = Extent::of(packet);
        let Frame { number, time, link, .. } = frame;
        let place = self.enter(Origin { number, time, link, header: header.to_vec(), content });
        let mut buffer = self.buffer(packet.get(..extent.len).unwrap_or_default());
        let mut len = offload::fill(&mut buffer, &extent);
        buffer.truncate(len);
        let unstripped = len;
        if extent.len == len
            && let Some(esp) = self.esp_in_udp(&buffer)
        {
            self.summary.esp_in_udp += 1;
            len = esp.strip(&mut buffer);
            buffer.truncate(len);
        }
        self.summary.offloaded.count(extent.offloaded);
        // Of a packet longer than a length field says, the data plane sees the beginning.
        let unseen = (extent.len - unstripped) as u64;
        self.summary.packets.accepted.bytes += unseen;
        let bypassed = self.plane.counters().bypassed.packets;
        self.plane.ingest_seen(self.now, Packet { token: place, buffer });
        if self.plane.counters().bypassed.packets > bypassed {
            self.summary.packets.bypassed.bytes += unseen;
        }
        self.settle(Some((place, frame.bytes)))
    }

    /// A packet that was made of frames.
    pub(super) fn ingest(&mut self, origin: Origin, packet: &[u8]) -> Result<()> {
        let token = self.enter(origin);
        let buffer = self.buffer(packet);
        self.plane.ingest_seen(self.now, Packet { token, buffer });
        self.settle(None)
    }

    fn enter(&mut self, origin: Origin) -> u64 {
        let place = self.order.enter();
        self.origins.insert(place, origin);
        place
    }

    fn buffer(&mut self, packet: &[u8]) -> Buffer {
        let mut buffer = self.spare.pop().unwrap_or_default();
        buffer.reset(HEADROOM);
        buffer.extend_from_slice(packet);
        buffer
    }

    /// Whether a frame of which the capture kept the beginning should have been protected or come out of ESP.
    fn misses(&mut self, frame: Frame) -> bool {
        let Some(Content::Ip(content)) = LinkType::of(frame.link).map(|link| link.content(frame.bytes))
        else {
            return false;
        };
        let mut packet = frame.bytes.get(content.at..).unwrap_or_default().to_vec();
        packet.resize((frame.wire_len as usize).min(MAX_BLOCK).saturating_sub(content.at), 0);
        let extent = Extent::of(&packet);
        offload::fill(&mut packet, &extent);
        self.esp_in_udp(&packet).is_some() || self.is_esp_in_tcp(&packet) || self.plane.concerns(&packet)
    }

    /// A datagram for one of our ends that carries ESP.
    fn esp_in_udp(&self, packet: &[u8]) -> Option<NatTraversal> {
        let found = NatTraversal::of(packet).filter(|found| found.carries == Carries::Esp)?;
        self.plane.is_end(&found.destination).then_some(found)
    }

    /// A datagram for one of our ends at the port of ESP in UDP, with something else in it.
    fn is_beside_esp(&self, packet: &[u8]) -> bool {
        let Some(found) = NatTraversal::of(packet.get(..Extent::of(packet).len).unwrap_or_default()) else {
            return false;
        };
        found.carries != Carries::Esp && self.plane.is_end(&found.destination)
    }

    /// Takes what the data plane is done with. What leaves as it came is the frame that just came, with whatever is
    /// behind the packet in it.
    fn settle(&mut self, came: Option<(u64, &[u8])>) -> Result<()> {
        while let Some(Exit { token: place, buffer, fate, .. }) = self.plane.poll_exit() {
            let Some(origin) = self.origins.remove(&place) else { continue };
            let settled = match (fate, came) {
                (Fate::ToInside(How::Bypassed) | Fate::ToOutside(How::Bypassed), Some((same, bytes)))
                    if same == place =>
                {
                    let Origin { number, time, link, .. } = origin;
                    Some(Settled { number, time, link, bytes: bytes.to_vec() })
                }
                (Fate::ToInside(_) | Fate::ToOutside(_), _) => self.frame(origin, &buffer),
                (Fate::Dropped(_), _) => None,
            };
            self.spare.push(buffer);
            self.finish(place, settled)?;
        }
        Ok(())
    }

    /// A packet in the frame in which it came.
    fn frame(&mut self, origin: Origin, packet: &[u8]) -> Option<Settled> {
        let Origin { number, time, link, header, content } = origin;
        let mut bytes = Vec::with_capacity(header.len() + packet.len());
        match content.wrap(&header, packet, &mut bytes) {
            Ok(()) => Some(Settled { number, time, link, bytes }),
            Err(error) => {
                count(&mut self.summary.unwritable, error.to_string(), number, "dropped", self.quiet);
                None
            }
        }
    }

    /// Writes every frame whose predecessors are settled.
    fn finish(&mut self, place: u64, frame: Option<Settled>) -> Result<()> {
        let len = frame.as_ref().map_or(0, |frame| frame.bytes.len());
        self.order.settle(place, frame.map(|frame| (frame, len)));
        while let Some(Settled { number, time, link, bytes }) = self.order.leave() {
            self.write(number, link, time, &bytes)?;
        }
        Ok(())
    }

    fn write(&mut self, number: u64, link: DataLink, time: Duration, bytes: &[u8]) -> Result<()> {
        match self.output.write(link, time, bytes) {
            Ok(()) => self.summary.written += 1,
            Err(WriteError::Frame(lost)) => {
                count(&mut self.summary.unwritable, lost.to_string(), number, "dropped", self.quiet);
            }
            Err(WriteError::Io(error)) => return Err(error.into()),
        }
        Ok(())
    }
}

/// Counts, and says so of the first one of a kind.
fn count<K: Ord + Clone + Display>(map: &mut BTreeMap<K, u64>, why: K, number: u64, what: &str, quiet: bool) {
    let count = map.entry(why.clone()).or_default();
    *count += 1;
    if *count == 1 && !quiet {
        eprintln!("ace: packet {number}, {what}: {why} (the first one of these)");
    }
}
