// SPDX-License-Identifier: Apache-2.0
//! What is shown of engines. Modelled time says so in its name; everything else is wall time.

use std::collections::VecDeque;
use std::time::Duration;

use ace_board::BoardReport;
use ace_board::trace::What;
use ace_engine::ConfigurationId;
use serde::{Deserialize, Serialize};

use super::cost::CostView;

/// Loads that are shown, the last ones.
const LOADS: usize = 64;
const PICOS: f64 = 1e12;

/// What computes.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct View {
    /// `None`: there is no board.
    pub board: Option<BoardView>,
    /// By what packets need and how long they are; empty where nothing is chosen.
    pub costs: Vec<CostView>,
    /// Packets that the board failed and this processor computed.
    pub taken_over: u64,
    /// Packets that this processor computed because the board's queue was full.
    pub spilled: u64,
    /// Packets that were dropped because the board's queue was full and nobody else can compute them.
    pub refused: u64,
    /// Libraries that were taken since the start.
    pub switched: u64,
    /// The board's thread is gone.
    pub board_lost: bool,
    /// Why operations on the board fail, as long as it has answered none.
    pub board_fails: Option<String>,
}

/// A board, as its last report has it.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct BoardView {
    /// The library that its controller reads configurations from; `None`: a folder.
    pub library: Option<String>,
    /// Name of the scheduling policy: `adaptive`.
    pub policy: String,
    /// What stands in the slots: `rtl`, or `netlist` for models made from the synthesised design.
    pub models: String,
    /// Modelled time since the board was made, in seconds.
    pub modelled_seconds: f64,
    /// Configurations and context sets that were loaded.
    pub loads: u64,
    /// Loads that the configuration port or a slot refused.
    pub refused_loads: u64,
    /// Operations with a result.
    pub completed: u64,
    /// Operations without one.
    pub failed: u64,
    /// The slots in order; with an array, the banks of its tiles.
    pub slots: Vec<SlotView>,
    /// Those that were loaded or refused.
    pub configurations: Vec<ConfigurationView>,
    /// The last loads, in their order.
    pub timeline: Vec<LoadView>,
    /// The cable; `None`: the board is simulated, and its times are modelled.
    pub link: Option<LinkView>,
}

/// The way to a board that is behind a cable (`docs/link.md`). All times are wall time.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct LinkView {
    /// The network interface.
    pub interface: String,
    /// Why there is no session; `None`: there is one.
    pub loss: Option<String>,
    /// Sessions that were lost: the board was reset, somebody else had it, or the cable was out.
    pub sessions_lost: u64,
    /// Sessions that were begun anew because a slot did not hold what it was thought to hold.
    pub sessions_renewed: u64,
    /// Loads that went over the cable.
    pub loads_by_cable: u64,
    /// Loads by name: the board's store had the set.
    pub loads_by_name: u64,
    /// Loads by name that the board refused, so that they went over the cable.
    pub refused_recalls: u64,
    /// Words of 8 bytes that the board's store has.
    pub store_words: u64,
    /// Words of it that sets have.
    pub store_filled: u64,
    /// Keys that were sent.
    pub keys: u64,
    /// Slots' frames that were sent, once each: loads, keys and data.
    pub frames: u64,
    /// Those that were sent once more.
    pub resent: u64,
    /// Data that came back uncomputed, as the slot had other sets or keys by then.
    pub stale: u64,
    /// Frames that came and belonged to nothing.
    pub strange: u64,
    /// The round trip of a frame, smoothed; `None`: none was measured.
    pub round_trip_seconds: Option<f64>,
}

/// A slot, or a bank of a tile.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct SlotView {
    /// `slot 0`, or of an array `slot 0, tile 1, bank 0`.
    pub name: String,
    /// What it is, as `[slot] kind` has it: `fabric` or `array`.
    pub kind: String,
    /// The configuration or context set in it; `None`: it is empty.
    pub resident: Option<String>,
    /// All that it has held, in the order of the first loads.
    pub loaded: Vec<String>,
    /// Times that something was loaded into it.
    pub loads: u64,
    /// Those for which the set came from the store of a board behind a cable.
    pub loads_by_name: u64,
    /// Operations that it executed.
    pub operations: u64,
    /// Seconds of modelled time that it computed.
    pub modelled_execute_seconds: f64,
    /// Seconds of modelled time that it was being loaded.
    pub modelled_load_seconds: f64,
}

/// A configuration, or a context set.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct ConfigurationView {
    /// As listings have it: `aes-iterative`.
    pub name: String,
    /// Times that it was loaded, into any slot.
    pub loads: u64,
    /// Operations that it executed.
    pub operations: u64,
    /// Bytes of data in these operations.
    pub data_bytes: u64,
    /// Why the board does not load it any more; `None`: it does.
    pub refused: Option<String>,
}

/// One load of a slot.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct LoadView {
    /// Wall time since the board was made, when it was noticed.
    pub seconds: f64,
    /// Number of the slot, from 0, in [`BoardView::slots`].
    pub slot: usize,
    /// The configuration or context set that was loaded.
    pub configuration: String,
    /// When the load began, in seconds of modelled time since the board was made.
    pub modelled_start_seconds: f64,
    /// How long the load took, in seconds of modelled time.
    pub modelled_load_seconds: f64,
    /// The load failed, and left the slot without a function.
    pub refused: bool,
}

/// The last loads.
#[derive(Debug, Default)]
pub struct Timeline {
    loads: VecDeque<LoadView>,
    /// Modelled time up to which loads are known.
    until: u64,
}

impl Timeline {
    /// The virtual clock stands at its beginning again.
    pub fn begin_anew(&mut self) {
        self.until = 0;
    }

    fn take(&mut self, report: &BoardReport, now: Duration) {
        for event in &report.events {
            let What::Load { configuration, refused, .. } = &event.what else { continue };
            if event.end <= self.until {
                continue;
            }
            self.until = event.end;
            let name = report.configurations.get(*configuration).map(|one| one.name.clone());
            self.loads.push_back(LoadView {
                seconds: now.as_secs_f64(),
                slot: event.slot,
                configuration: name.unwrap_or_default(),
                modelled_start_seconds: event.start as f64 / PICOS,
                modelled_load_seconds: event.end.saturating_sub(event.start) as f64 / PICOS,
                refused: refused.is_some(),
            });
        }
        let over = self.loads.len().saturating_sub(LOADS);
        self.loads.drain(..over);
    }
}

impl BoardView {
    pub(crate) fn of(report: &BoardReport, timeline: &mut Timeline, now: Duration) -> Self {
        timeline.take(report, now);
        let name = |id: ConfigurationId| report.configurations.get(id).map(|one| one.name.clone());
        let slots = report.slots.iter().enumerate().map(|(at, slot)| SlotView {
            name: report.slot_name(at).1,
            kind: slot.kind.name().to_owned(),
            loaded: slot.loaded.iter().filter_map(|at| name(*at)).collect(),
            resident: slot.resident.and_then(name),
            loads: slot.loads,
            operations: slot.operations,
            modelled_execute_seconds: slot.execute as f64 / PICOS,
            modelled_load_seconds: slot.load as f64 / PICOS,
            ..SlotView::default()
        });
        let used = report.configurations.iter().filter(|one| one.loads > 0 || one.refused.is_some());
        let configurations = used.map(|one| ConfigurationView {
            name: one.name.clone(),
            loads: one.loads,
            operations: one.operations,
            data_bytes: one.data_bytes,
            refused: one.refused.clone(),
        });
        let totals = &report.totals;
        Self {
            library: report.library.clone(),
            policy: report.policy.clone(),
            models: report.models.clone(),
            modelled_seconds: totals.total as f64 / PICOS,
            loads: totals.loads,
            refused_loads: totals.refused_loads,
            completed: totals.completed,
            failed: totals.failed,
            slots: slots.collect(),
            configurations: configurations.collect(),
            timeline: timeline.loads.iter().cloned().collect(),
            link: None,
        }
    }
}
