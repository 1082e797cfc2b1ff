// SPDX-License-Identifier: Apache-2.0
//! The link between host and slots, and what a transfer over it takes.

use serde::{Deserialize, Serialize};

use super::{BoardConfig, clocks_time, hz, nanos, real};
use crate::trace::Picos;

/// Bytes of a beat of the slot boundary.
const BEAT: u64 = 8;
/// Beats of a segment at most (docs/link.md, "Segments").
const SEGMENT: u64 = 184;
/// Bytes of a frame in front of its beats: addresses, type, and the link's own (docs/link.md, "A frame").
const HEADER: u64 = 24;
/// IEEE 802.3: the shortest frame without its FCS; preamble and delimiter, FCS, the gap behind it.
const SHORTEST: u64 = 60;
const PREAMBLE: u64 = 8;
const FCS: u64 = 4;
const GAP: u64 = 12;

/// What kind of link the board has.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum LinkKind {
    /// Words of some bits a clock and nothing else, one transfer at a time in either direction.
    #[default]
    Bus,
    /// Frames of docs/link.md on a cable, one transfer at a time in each direction.
    Ethernet,
}

/// The link between host and slots.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default, into = "WrittenLink")]
pub struct Link {
    /// What it is.
    pub kind: LinkKind,
    /// Bits a clock, of a bus.
    pub width: u32,
    /// A bus's clock in MHz.
    pub clock_mhz: f64,
    /// Megabits a second each way, of Ethernet.
    pub mbps: f64,
    /// Of Ethernet what a round trip takes besides frames and slots, in nanoseconds: PHYs, MACs, queues, the host's adapter.
    pub round_trip_ns: f64,
}

/// `[host_link]` as a file has it: keys of its kind alone.
#[derive(Serialize)]
struct WrittenLink {
    kind: LinkKind,
    #[serde(flatten)]
    figures: Figures,
}

#[derive(Serialize)]
#[serde(untagged)]
enum Figures {
    Bus { width: u32, clock_mhz: f64 },
    Ethernet { mbps: f64, round_trip_ns: f64 },
}

impl From<Link> for WrittenLink {
    fn from(Link { kind, width, clock_mhz, mbps, round_trip_ns }: Link) -> Self {
        let figures = match kind {
            LinkKind::Bus => Figures::Bus { width, clock_mhz },
            LinkKind::Ethernet => Figures::Ethernet { mbps, round_trip_ns },
        };
        Self { kind, figures }
    }
}

impl LinkKind {
    /// Every kind.
    pub const ALL: [LinkKind; 2] = [LinkKind::Bus, LinkKind::Ethernet];

    /// As `board.toml` has it.
    pub fn name(self) -> &'static str {
        match self {
            Self::Bus => "bus",
            Self::Ethernet => "ethernet",
        }
    }

    /// Keys that a link of the other kind has.
    pub(super) fn others(self) -> [&'static str; 2] {
        match self {
            Self::Bus => ["host_link.mbps", "host_link.round_trip_ns"],
            Self::Ethernet => ["host_link.width", "host_link.clock_mhz"],
        }
    }

    /// What is wrong with such a key.
    pub(super) fn not_its(self, key: &str) -> String {
        let other = if self == Self::Bus { Self::Ethernet } else { Self::Bus };
        format!(
            "`{key}` is of a link of kind \"{}\", and this one is of kind \"{}\"",
            other.name(),
            self.name()
        )
    }
}

impl Link {
    /// A cable of 1 Gb/s, as the image's board has it.
    pub fn ethernet() -> Self {
        Self { kind: LinkKind::Ethernet, ..Self::default() }
    }

    /// Every figure within sensible bounds.
    pub(super) fn check(&self) -> Result<(), (&'static str, String)> {
        if !(8..=4096).contains(&self.width) || !self.width.is_multiple_of(8) {
            return Err(("host_link.width", "must be whole bytes, 8 to 4096 bits".into()));
        }
        real("host_link.clock_mhz", self.clock_mhz, 0.001, 10_000.0)?;
        real("host_link.mbps", self.mbps, 1.0, 1e6)?;
        real("host_link.round_trip_ns", self.round_trip_ns, 0.0, 1e9)
    }

    /// Bytes of a word, in which a host that moves them itself counts.
    pub(super) fn word(&self) -> u64 {
        u64::from((self.width / 8).max(1))
    }

    /// Bytes that a slot's frame of `bytes` takes of a cable: those of its segments, from preamble to gap.
    pub fn wire_bytes(bytes: u64) -> u64 {
        let beats = bytes.div_ceil(BEAT);
        let (full, last) = (beats.saturating_sub(1) / SEGMENT, 1 + beats.saturating_sub(1) % SEGMENT);
        let frame = |beats: u64| (HEADER + BEAT * beats).max(SHORTEST) + PREAMBLE + FCS + GAP;
        frame(SEGMENT).saturating_mul(full).saturating_add(frame(last.min(beats)))
    }

    /// For how long a transfer of `bytes` keeps others of its direction waiting.
    fn busy(&self, bytes: u64) -> Picos {
        match self.kind {
            LinkKind::Bus => clocks_time(bytes.div_ceil(self.word()), hz(self.clock_mhz)),
            LinkKind::Ethernet => clocks_time(Self::wire_bytes(bytes).saturating_mul(8), hz(self.mbps)),
        }
    }

    /// What it takes besides until all of it is there.
    fn way(&self) -> Picos {
        match self.kind {
            LinkKind::Bus => 0,
            LinkKind::Ethernet => nanos(self.round_trip_ns / 2.0),
        }
    }
}

impl BoardConfig {
    /// A host that moves words itself has a bus.
    pub(super) fn check_host(&self) -> Result<(), (&'static str, String)> {
        let why = |what: &str| {
            format!("{what} on a link of kind \"ethernet\": its network adapter moves whole frames")
        };
        match self.host_link.kind {
            LinkKind::Ethernet if self.host.polled => {
                Err(("host.polled", why("a host moves no word itself")))
            }
            LinkKind::Ethernet if self.host.block_words > 0 => {
                Err(("host.block_words", why("there are no blocks of words")))
            }
            _ => Ok(()),
        }
    }

    /// From the beginning of a transfer of `bytes` over the host link until all of it is there.
    pub fn link_time(&self, bytes: u64) -> Picos {
        self.host_link.busy(bytes).saturating_add(self.host_link.way())
    }

    /// From the beginning of a transfer of `bytes` until its slot has the first of it: on Ethernet a whole segment.
    pub fn link_first(&self, bytes: u64) -> Picos {
        match self.host_link.kind {
            LinkKind::Bus => 0,
            LinkKind::Ethernet => self.link_time(bytes.min(SEGMENT * BEAT)),
        }
    }

    /// For how long a transfer of `bytes` keeps others waiting: on Ethernet those of its direction.
    pub fn link_busy(&self, bytes: u64) -> Picos {
        self.host_link.busy(bytes)
    }

    /// `64 bits at 100 MHz`.
    pub fn link_words(&self) -> String {
        let Link { kind, width, clock_mhz, mbps, round_trip_ns } = &self.host_link;
        match kind {
            LinkKind::Bus => format!("{width} bits at {clock_mhz} MHz"),
            LinkKind::Ethernet => {
                format!("Ethernet, {mbps} Mb/s each way, {round_trip_ns} ns there and back")
            }
        }
    }
}
