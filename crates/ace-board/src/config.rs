// SPDX-License-Identifier: Apache-2.0
//! `board.toml`: what the board is made of.

mod array;
mod defaults;
mod link;
mod slots;

use std::path::{Path, PathBuf};

use ace_ecp5::Device;
use serde::{Deserialize, Serialize};
use thiserror::Error;

pub use self::array::KeySetup;
pub use self::link::{Link, LinkKind};
use crate::frame::HEADER;
use crate::trace::Picos;

pub use slots::SlotKind;

/// A second on the virtual clock.
pub const PICOS_PER_SECOND: u128 = 1_000_000_000_000;

/// A board. [`BoardConfig::default`] is the committed `board.toml`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct BoardConfig {
    /// Part in every slot, `LFE5U-45F`.
    pub device: String,
    /// How many slots of [`SlotLimits::kind`] there are; today each one is a whole part.
    pub slots: usize,
    /// How many slots that hold the array there are beside those of fabric.
    pub array_slots: usize,
    /// Look-ahead of the controller in packets.
    pub packet_buffer: usize,
    /// Frames a slot may hold at a time.
    pub frame_buffers: usize,
    /// What reads the library.
    pub controller: Controller,
    /// The one configuration port, which all slots share.
    pub configuration_port: Port,
    /// The link to the host, which all slots share.
    pub host_link: Link,
    /// What operations cost the host.
    pub host: Host,
    /// What the slots are, and how long one may keep silent.
    pub slot: SlotLimits,
    /// What the policies promise a packet.
    pub policy: PolicyLimits,
}

/// The library that is looked for when a board names no other one.
pub const DEFAULT_LIBRARY: &str = "library/ace.lib";

/// What reads the library and writes the configuration port.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Controller {
    /// Empty: none; bitstreams are loaded as the flow has built them.
    pub library: PathBuf,
    /// The oldest version of it that is taken.
    pub require: u64,
    /// Its clock; `ace_library::load` counts the clocks of a load.
    pub clock_mhz: f64,
    /// What it writes into a slot that holds something.
    pub load: Loads,
}

/// What a load writes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Loads {
    /// Always a whole image.
    Full,
    /// Only a few frames, where the slot holds another configuration of the same domain.
    Partial,
}

/// What kind of configuration port the board has.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum PortKind {
    /// The slave parallel port, 8 bits a clock.
    Parallel,
    /// Slave SPI, 1 bit a clock; LFE5U parts take 60 MHz at most.
    Spi,
    /// JTAG, 1 bit a clock.
    Jtag,
}

/// The port through which bitstreams reach the slots, one slot at a time.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Port {
    /// How the port is wired.
    pub kind: PortKind,
    /// Bits a clock.
    pub width: u32,
    /// The port's clock in MHz.
    pub clock_mhz: f64,
    /// A load that takes longer is given up, in milliseconds; so is one behind which DONE does not come within this
    /// time.
    pub timeout_ms: f64,
}

/// What an operation costs the host, whose one thread serves the board.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Host {
    /// To build a frame and start its transfer.
    pub send_ns: f64,
    /// To notice that a response is there and take it.
    pub notice_ns: f64,
    /// The thread itself moves every word and does nothing else meanwhile.
    pub polled: bool,
    /// A transfer is made, and paid for, in blocks of so many words of the link; 0: a frame is one block.
    pub block_words: u64,
}

/// The slots, as the controller sees them.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(from = "defaults::WrittenSlot")]
pub struct SlotLimits {
    /// What every slot is, but for [`BoardConfig::array_slots`].
    pub kind: SlotKind,
    /// Tiles of the array; left out, all that the slot has. Each is simulated by itself: what they share, an entrance and an
    /// exit of a beat a clock, is never what they wait for behind a host link that is slower.
    pub tiles: usize,
    /// Banks of a tile of the array that are used: with two, one runs while the other one is loaded. Policies and reports
    /// have each as a slot of its own. When the lanes have come to their ends, a change of bank takes no time that
    /// `python -m ace_flow array-slot` could measure in the RTL.
    pub banks: usize,
    /// Who expands the keys of the array's ciphers, where there is a set for it.
    pub key_setup: KeySetup,
    /// A packet's cipher and HMAC are one task of an array with two tiles and a bank each, where they can be.
    pub joint: bool,
    /// A slot that neither takes nor gives a beat for so long is reset and loses its configuration, in milliseconds.
    pub timeout_ms: f64,
}

/// What the policies promise a packet.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct PolicyLimits {
    /// From its arrival to its end.
    pub latency_ms: f64,
    /// What cannot be in time any more comes first after so long.
    pub starvation_ms: f64,
    /// Beside a processor: so long a slot that works on several frames at a time waits for those on their way to it.
    pub batch_us: f64,
}

/// Why there is no board.
#[derive(Debug, Error)]
pub enum ConfigError {
    /// The file cannot be read.
    #[error("{}: {error}", file.display())]
    Io {
        /// The file that was named.
        file: PathBuf,
        /// Why the system could not read it.
        error: std::io::Error,
    },
    /// The file is no TOML, or has a key that boards have not.
    #[error("{}:{line}: {reason}", file.display())]
    Syntax {
        /// The file with the mistake.
        file: PathBuf,
        /// The line with the mistake; the first is 1.
        line: usize,
        /// What is wrong with it.
        reason: String,
    },
    /// A value is outside of what it may be, or two values contradict each other.
    #[error("{reason}")]
    Value {
        /// Which value, and what it may be.
        reason: String,
    },
}

impl BoardConfig {
    /// Reads and checks `file`.
    pub fn from_file(file: &Path) -> Result<Self, ConfigError> {
        let text = ace_fs::read_text(file).map_err(|error| ConfigError::Io { file: file.into(), error })?;
        Self::from_text(&text, file)
    }

    /// Reads and checks `text`; `file` is for messages.
    pub fn from_text(text: &str, file: &Path) -> Result<Self, ConfigError> {
        let at = |line: usize, reason: String| ConfigError::Syntax { file: file.into(), line, reason };
        let mut config: Self = toml::from_str(text).map_err(|e| {
            let line = e.span().map_or(1, |s| line_of(text, s.start));
            at(line, e.message().to_string())
        })?;
        // What is left out are all tiles of a slot that holds the array, whatever stands beside it.
        if config.array_slots > 0 && line_of_key(text, "slot.tiles").is_none() {
            config.slot.tiles = SlotKind::Array.tiles();
        }
        for key in config.host_link.kind.others() {
            if let Some(line) = line_of_key(text, key) {
                return Err(at(line, config.host_link.kind.not_its(key)));
            }
        }
        config.check().map_err(|(key, reason)| at(line_of_key(text, key).unwrap_or(1), reason))?;
        Ok(config)
    }

    /// Every figure within sensible bounds. The error is the key and what is wrong with it.
    pub fn check(&self) -> Result<(), (&'static str, String)> {
        let port = &self.configuration_port;
        if Device::by_name(&self.device).is_none() {
            let allowed = DEVICES.join(", ");
            return Err(("device", format!("unknown device `{}` (allowed: {allowed})", self.device)));
        }
        self.check_slots()?;
        if self.slot.key_setup == KeySetup::Slot
            && (self.slots_of(SlotKind::Array) == 0 || self.slot.banks != 1)
        {
            let reason = "\"slot\" wants slots that hold the array and banks = 1: the set that expands keys has the second bank";
            return Err(("slot.key_setup", reason.into()));
        }
        whole("packet_buffer", self.packet_buffer, 1, 1 << 20)?;
        whole("frame_buffers", self.frame_buffers, 1, 1024)?;
        let widths: &[u32] = match port.kind {
            PortKind::Parallel => &[8],
            PortKind::Spi => &[1, 2, 4],
            PortKind::Jtag => &[1],
        };
        if !widths.contains(&port.width) {
            let kind = format!("{:?}", port.kind).to_lowercase();
            return Err((
                "configuration_port.width",
                format!("a port of kind `{kind}` is {widths:?} bits wide, not {}", port.width),
            ));
        }
        real("controller.clock_mhz", self.controller.clock_mhz, 0.001, 10_000.0)?;
        real("configuration_port.clock_mhz", port.clock_mhz, 0.001, 10_000.0)?;
        real("configuration_port.timeout_ms", port.timeout_ms, 0.001, 1e6)?;
        self.host_link.check()?;
        self.check_host()?;
        real("host.send_ns", self.host.send_ns, 0.0, 1e9)?;
        real("host.notice_ns", self.host.notice_ns, 0.0, 1e9)?;
        real("slot.timeout_ms", self.slot.timeout_ms, 0.001, 1e6)?;
        real("policy.latency_ms", self.policy.latency_ms, 0.001, 1e6)?;
        real("policy.starvation_ms", self.policy.starvation_ms, 0.001, 1e6)?;
        real("policy.batch_us", self.policy.batch_us, 0.0, 1e6)
    }

    /// Time on the configuration port for `bytes`. What a load takes says [`crate::Catalogue::load_time`].
    pub fn port_time(&self, bytes: u64) -> Picos {
        let port = &self.configuration_port;
        clocks_time((bytes.saturating_mul(8)).div_ceil(u64::from(port.width.max(1))), hz(port.clock_mhz))
    }

    /// Time of a load: the port and the loader in front of it work at once, and the slower one counts.
    pub fn loading(&self, bytes: u64, loader_clocks: u64) -> Picos {
        self.port_time(bytes).max(clocks_time(loader_clocks, hz(self.controller.clock_mhz)))
    }

    /// The host's part in sending `bytes` to a slot.
    pub fn send_time(&self, bytes: u64) -> Picos {
        self.blocks(bytes).saturating_mul(nanos(self.host.send_ns))
    }

    /// The host's part in a response of `bytes`.
    pub fn notice_time(&self, bytes: u64) -> Picos {
        self.blocks(bytes).saturating_mul(nanos(self.host.notice_ns))
    }

    fn blocks(&self, bytes: u64) -> u64 {
        match self.host.block_words {
            0 => 1,
            words => bytes.div_ceil(self.host_link.word()).div_ceil(words).max(1),
        }
    }

    /// What a context set of `bytes` takes on its way into a slot of this clock, if nobody else has host and link: the host
    /// sends its frame, and then link and slot work at once, the slot for `load_clocks`.
    pub fn set_time(&self, bytes: u64, load_clocks: u64, slot_hz: u64) -> Picos {
        let slot = clocks_time(load_clocks, slot_hz);
        let bytes_on_link = bytes + HEADER as u64;
        let slot = self.link_first(bytes_on_link).saturating_add(slot);
        self.send_time(bytes).saturating_add(self.link_time(bytes_on_link).max(slot))
    }

    /// The longest a load may take.
    pub fn load_timeout(&self) -> Picos {
        millis(self.configuration_port.timeout_ms)
    }

    /// The latency bound and the starvation limit.
    pub fn bounds(&self) -> (Picos, Picos) {
        (millis(self.policy.latency_ms), millis(self.policy.starvation_ms))
    }

    /// How long a slot waits for frames that are on their way to it.
    pub fn batch(&self) -> Picos {
        nanos(self.policy.batch_us * 1e3)
    }

    /// The longest a slot may be silent.
    pub fn slot_timeout(&self) -> Picos {
        millis(self.slot.timeout_ms)
    }

    /// `8 bits at 50 MHz, parallel`.
    pub fn port_words(&self) -> String {
        let port = &self.configuration_port;
        let kind = format!("{:?}", port.kind).to_lowercase();
        format!("{} bits at {} MHz, {kind}", port.width, port.clock_mhz)
    }

    /// `950 ns to send a frame, 950 ns to take a response`.
    pub fn host_words(&self) -> String {
        let Host { send_ns, notice_ns, polled, block_words } = self.host;
        let what = if block_words > 0 { format!("a block of {block_words} words") } else { "a frame".into() };
        let polled = if polled { ", and the transfers themselves" } else { "" };
        format!("{send_ns} ns to send {what}, {notice_ns} ns to take one{polled}")
    }
}

/// Parts whose configuration memory is known, for messages.
const DEVICES: [&str; 3] = ["LFE5U-25F", "LFE5U-45F", "LFE5U-85F"];

/// `clocks` periods of a clock of `hz`, rounded up to a picosecond.
pub fn clocks_time(clocks: u64, hz: u64) -> Picos {
    let time = (u128::from(clocks) * PICOS_PER_SECOND).div_ceil(u128::from(hz.max(1)));
    Picos::try_from(time).unwrap_or(Picos::MAX)
}

/// Hertz of a clock given in MHz, at least 1.
pub fn hz(mhz: f64) -> u64 {
    ((mhz * 1e6).round() as u64).max(1)
}

fn nanos(ns: f64) -> Picos {
    (ns * 1e3).round() as Picos
}

fn millis(ms: f64) -> Picos {
    (ms * 1e9).round() as Picos
}

fn whole(key: &'static str, value: usize, low: usize, high: usize) -> Result<(), (&'static str, String)> {
    if (low..=high).contains(&value) {
        return Ok(());
    }
    Err((key, format!("`{key}` must be {low} to {high}, not {value}")))
}

fn real(key: &'static str, value: f64, low: f64, high: f64) -> Result<(), (&'static str, String)> {
    if (low..=high).contains(&value) {
        return Ok(());
    }
    Err((key, format!("`{key}` must be {low} to {high}, not {value}")))
}

fn line_of(text: &str, offset: usize) -> usize {
    text.as_bytes().iter().take(offset).filter(|b| **b == b'\n').count() + 1
}

/// The line on which a key such as `host_link.width` is set, if it is.
fn line_of_key(text: &str, key: &str) -> Option<usize> {
    let (table, name) = key.rsplit_once('.').unwrap_or(("", key));
    let mut current = String::new();
    for (at, line) in text.lines().enumerate() {
        let line = line.trim();
        if let Some(header) = line.strip_prefix('[') {
            current = header.trim_end_matches(']').trim().to_string();
        } else if let Some((left, _)) = line.split_once('=')
            && !line.starts_with('#')
        {
            let left = left.trim();
            if (current == table && left == name) || (current.is_empty() && left == key) {
                return Some(at + 1);
            }
        }
    }
    None
}

#[cfg(test)]
mod tests;
