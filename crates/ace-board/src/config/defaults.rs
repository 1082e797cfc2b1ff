// SPDX-License-Identifier: Apache-2.0
//! What a key has that `board.toml` leaves out: the committed file's value.

use super::{
    BoardConfig, Controller, DEFAULT_LIBRARY, Host, KeySetup, Link, LinkKind, Loads, PolicyLimits, Port,
    PortKind, SlotKind, SlotLimits,
};

/// Of the board alone, at its pins: from the last byte of a frame's FCS to the first one of its answer's preamble, without the
/// slot (`python -m ace_flow board-pins`).
const ROUND_TRIP_NS: f64 = 360.0;

impl Default for BoardConfig {
    fn default() -> Self {
        Self {
            device: "LFE5U-45F".into(),
            slots: 2,
            array_slots: 0,
            packet_buffer: 64,
            frame_buffers: 4,
            controller: Controller::default(),
            configuration_port: Port::default(),
            host_link: Link::default(),
            host: Host::default(),
            slot: SlotLimits::default(),
            policy: PolicyLimits::default(),
        }
    }
}

impl Default for Controller {
    fn default() -> Self {
        Self { library: DEFAULT_LIBRARY.into(), require: 0, clock_mhz: 90.0, load: Loads::Full }
    }
}

impl Default for Port {
    fn default() -> Self {
        Self { kind: PortKind::Parallel, width: 8, clock_mhz: 50.0, timeout_ms: 1000.0 }
    }
}

impl Default for Link {
    fn default() -> Self {
        Self { kind: LinkKind::Bus, width: 64, clock_mhz: 100.0, mbps: 1000.0, round_trip_ns: ROUND_TRIP_NS }
    }
}

impl Default for Host {
    fn default() -> Self {
        Self { send_ns: 950.0, notice_ns: 950.0, polled: false, block_words: 0 }
    }
}

impl Default for SlotLimits {
    fn default() -> Self {
        Self {
            kind: SlotKind::Fabric,
            tiles: 1,
            banks: 1,
            key_setup: KeySetup::Host,
            joint: false,
            timeout_ms: 10.0,
        }
    }
}

/// `[slot]` as a file has it.
#[derive(serde::Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(super) struct WrittenSlot {
    kind: SlotKind,
    tiles: Option<usize>,
    banks: usize,
    key_setup: KeySetup,
    joint: bool,
    timeout_ms: f64,
}

impl Default for WrittenSlot {
    fn default() -> Self {
        let SlotLimits { kind, banks, key_setup, joint, timeout_ms, .. } = SlotLimits::default();
        Self { kind, tiles: None, banks, key_setup, joint, timeout_ms }
    }
}

impl From<WrittenSlot> for SlotLimits {
    fn from(WrittenSlot { kind, tiles, banks, key_setup, joint, timeout_ms }: WrittenSlot) -> Self {
        Self { kind, tiles: tiles.unwrap_or_else(|| kind.tiles()), banks, key_setup, joint, timeout_ms }
    }
}

impl Default for PolicyLimits {
    fn default() -> Self {
        Self { latency_ms: 50.0, starvation_ms: 100.0, batch_us: 100.0 }
    }
}
