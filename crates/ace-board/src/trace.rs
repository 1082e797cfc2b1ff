// SPDX-License-Identifier: Apache-2.0
//! What happened on the board, on its virtual clock: the raw material of summaries, pictures and traces.
//!
//! All times are picoseconds of modelled time since the board was made. None of them is wall time.

use std::borrow::Cow;

use ace_engine::{ConfigurationId, Table};
use serde::Serialize;

use crate::config::SlotKind;
use crate::slot::Expander;

/// Picoseconds on the virtual clock (u64 reaches 213 days).
pub type Picos = u64;

/// One thing that took time. Events are listed in the order of their `end`, then as they were found.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Event {
    /// When it began.
    pub start: Picos,
    /// When it ended.
    pub end: Picos,
    /// The slot this was done for.
    pub slot: usize,
    /// What was done.
    #[serde(flatten)]
    pub what: What,
}

/// What an [`Event`] was. `configuration` is one of [`BoardReport::configurations`].
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(tag = "kind", rename_all = "kebab-case")]
pub enum What {
    /// The configuration port wrote a bitstream into the slot.
    Load {
        /// What was loaded.
        configuration: ConfigurationId,
        /// Bytes that went through the port.
        bytes: u64,
        /// Why the slot holds nothing behind it; none for a load that succeeded.
        refused: Option<String>,
    },
    /// The host link carried a request to the slot.
    Request {
        /// The board's number of the operation.
        job: u64,
        /// Bytes of the request frame.
        bytes: u64,
    },
    /// The slot worked.
    Execute {
        /// What the slot held.
        configuration: ConfigurationId,
        /// The board's number of the operation.
        job: u64,
        /// The security association.
        flow: u32,
        /// The packet, by the caller's number.
        packet: u64,
        /// For people: `aes-128-cbc encrypt`, `hmac-md5`.
        operation: String,
        /// Bytes of data that the operation was given.
        data_bytes: u64,
        /// Clocks from the first request beat to the last response beat, counted in the simulation.
        cycles: u64,
        /// When the pass began to wait for a slot.
        queued: Picos,
        /// The key went with this frame.
        fresh_key: bool,
        /// Why there was no result, for people.
        error: Option<String>,
    },
    /// The host link carried a response back.
    Response {
        /// The board's number of the operation.
        job: u64,
        /// Bytes of the response frame.
        bytes: u64,
    },
    /// The host's thread built a frame and started its transfer, or took a response.
    Host {
        /// The board's number of the operation.
        job: u64,
        /// Whether it built a request; otherwise it took a response.
        sends: bool,
    },
    /// The processor beside the slots did a pass; `slot` is one more than the last one.
    Compute {
        /// The board's number of the operation.
        job: u64,
        /// The security association.
        flow: u32,
        /// The packet, by the caller's number.
        packet: u64,
        /// For people, as in [`What::Execute`].
        operation: String,
        /// Bytes of data that the pass was given.
        data_bytes: u64,
    },
    /// The slot was reset because it did not answer.
    Reset,
}

/// Everything a summary, a picture or a comparison of policies needs.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct BoardReport {
    /// Device of every slot, as in `board.toml`.
    pub device: String,
    /// Name of the policy: `on-demand`, `adaptive`.
    pub policy: String,
    /// `rtl` or `netlist`: which models the slots ran.
    pub models: String,
    /// The port and link in words, for captions.
    pub configuration_port: String,
    /// The host link in words, for captions.
    pub host_link: String,
    /// What an operation costs the host, in words.
    pub host: String,
    /// The processor beside the slots, if one is stated: its name and where its figures come from.
    pub processor: Option<String>,
    /// The library that the controller reads, if there is one.
    pub library: Option<String>,
    /// What slots hold for all the time, if that is the array: then [`BoardReport::slots`] are its banks, behind slots of
    /// fabric if there are any.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub array: Option<ArrayReport>,
    /// Sums over all of the time.
    pub totals: Totals,
    /// The slots in their order; for the array the banks of its tiles.
    pub slots: Vec<SlotReport>,
    /// Every configuration of the catalogue, used or not.
    pub configurations: Table<ConfigurationReport>,
    /// The first ones, as many as were asked for.
    pub events: Vec<Event>,
    /// Events that came after those, or were not asked for. The sums have them all.
    pub events_left_out: u64,
}

/// An array, which is a slot's one configuration: the banks of each of its tiles are loaded with context sets.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct ArrayReport {
    /// Tiles of a slot.
    pub tiles: usize,
    /// Banks of a tile that are used.
    pub banks: usize,
    /// Slots of fabric in front of those that hold it.
    #[serde(skip_serializing_if = "none")]
    pub fabric: usize,
    /// Keys of ciphers that were expanded, each time that one came to a tile.
    pub keys: KeysExpanded,
}

fn none(count: &usize) -> bool {
    *count == 0
}

/// Who has expanded keys of ciphers, and how many.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct KeysExpanded {
    /// The host, which sent their words.
    pub host: u64,
    /// The slots, of raw keys.
    pub slots: u64,
}

impl KeysExpanded {
    pub(crate) fn count(&mut self, by: Option<Expander>) {
        match by {
            Some(Expander::Host) => self.host += 1,
            Some(Expander::Slot) => self.slots += 1,
            None => {}
        }
    }
}

impl BoardReport {
    /// The device that a slot of the report belongs to, and the name of the slot.
    #[must_use]
    pub fn slot_name(&self, at: usize) -> (usize, String) {
        let Some(ArrayReport { tiles, banks, fabric, .. }) = self.array else {
            return (at, format!("slot {at}"));
        };
        let Some(at) = at.checked_sub(fabric) else { return (at, format!("slot {at}, fabric")) };
        let (device, tile, bank) = (fabric + at / (tiles * banks), at / banks % tiles, at % banks);
        let kind = if fabric > 0 { ", array" } else { "" };
        let tile = if tiles > 1 { format!(", tile {tile}") } else { String::new() };
        let bank = if banks > 1 { format!(", bank {bank}") } else { String::new() };
        (device, format!("slot {device}{kind}{tile}{bank}"))
    }

    /// Whether a slot of the report is a bank of one that holds the array.
    #[must_use]
    pub fn of_array(&self, at: usize) -> bool {
        self.array.is_some_and(|array| at >= array.fabric)
    }

    /// The name of a configuration, on a board with slots of both kinds with the word for a context set behind it.
    #[must_use]
    pub fn title<'a>(&self, configuration: &'a ConfigurationReport) -> Cow<'a, str> {
        match self.array.is_some_and(|array| array.fabric > 0) && configuration.context_set {
            true => Cow::Owned(format!("{}, set", configuration.name)),
            false => Cow::Borrowed(&configuration.name),
        }
    }

    /// What slots have held that nobody has signed or proven: it ran because that was asked for.
    pub fn unproven(&self) -> impl Iterator<Item = &ConfigurationReport> {
        self.configurations.iter().filter(|one| one.unproven && one.loads > 0)
    }
}

/// Where the modelled time went. Every instant between 0 and `total` is counted once:
/// `total = executing + computing + link_only + host_only + exposed_load + idle`.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Totals {
    /// From time 0 to the last event.
    pub total: Picos,
    /// At least one slot executed.
    pub executing: Picos,
    /// No slot executed, the processor beside the slots did.
    pub computing: Picos,
    /// Neither of these, the host link was busy.
    pub link_only: Picos,
    /// None of these; the host's thread worked for the board.
    pub host_only: Picos,
    /// A load was in progress and neither a slot nor the processor nor the host link nor the host worked: the
    /// reconfiguration overhead.
    pub exposed_load: Picos,
    /// Nothing happened.
    pub idle: Picos,
    /// Sum of all loads, refused ones too.
    pub load: Picos,
    /// Loads behind other work: `load - exposed_load`.
    pub hidden_load: Picos,
    /// Sum over the slots of their executions (more than `executing` when slots work at once).
    pub execution: Picos,
    /// Time of the processor beside the slots.
    pub computation: Picos,
    /// Passes that it did.
    pub computed: u64,
    /// Sum of all transfers over the host link.
    pub link: Picos,
    /// Time of the host's thread for the board.
    pub host: Picos,
    /// Loads that configured a slot.
    pub loads: u64,
    /// Loads behind which the slot holds nothing.
    pub refused_loads: u64,
    /// Operations that found their configuration resident: executions that are not the first after a load.
    pub skipped_loads: u64,
    /// Operations answered with a result.
    pub completed: u64,
    /// Operations answered with an error, whatever the reason.
    pub failed: u64,
    /// Bytes of data that completed operations were given.
    pub data_bytes: u64,
    /// `exposed_load / total`, the reconfiguration overhead as the 2006 paper defines it (0 to 1).
    pub overhead: f64,
    /// `skipped_loads / (loads + skipped_loads)`: how often a load was saved.
    pub retained: f64,
}

/// One slot: `load + execute + idle = total`.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct SlotReport {
    /// What the slot is.
    pub kind: SlotKind,
    /// Time of loads into the slot, refused ones too.
    pub load: Picos,
    /// Time in which the slot worked.
    pub execute: Picos,
    /// The rest of the time.
    pub idle: Picos,
    /// Loads that configured the slot.
    pub loads: u64,
    /// Executions in the slot.
    pub operations: u64,
    /// What the slot holds at the end, one of [`BoardReport::configurations`].
    pub resident: Option<ConfigurationId>,
    /// All that it has held, in the order of the first loads.
    pub loaded: Vec<ConfigurationId>,
}

/// One configuration of the catalogue.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct ConfigurationReport {
    /// The configuration's name.
    pub name: String,
    /// The clock of the placed and routed design, Hz.
    pub clock_hz: u64,
    /// Bytes of a whole image in the device's own compression.
    pub bitstream_bytes: u64,
    /// Whether it is a context set, for slots that hold the array. One may have the name of a configuration of fabric.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub context_set: bool,
    /// Whether its bits come from the library.
    pub from_library: bool,
    /// Whether nobody has signed it and no record says that it is proven: it may be loaded because that was asked for.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub unproven: bool,
    /// Loads of it that configured a slot.
    pub loads: u64,
    /// Bytes that its loads sent through the configuration port.
    pub loaded_bytes: u64,
    /// Sum of the times of its loads.
    pub load: Picos,
    /// Executions while a slot held it.
    pub operations: u64,
    /// Sum of the times of these.
    pub execute: Picos,
    /// Clocks of these, counted in the simulation.
    pub cycles: u64,
    /// Bytes of data that they were given.
    pub data_bytes: u64,
    /// Why the board no longer tries to load it.
    pub refused: Option<String>,
}
