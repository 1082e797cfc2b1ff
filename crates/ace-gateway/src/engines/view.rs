// SPDX-License-Identifier: Apache-2.0
//! What is shown of engines. Modelled time says so in its name; everything else is wall time.

use std::collections::VecDeque;
use std::time::Duration;

use ace_board::BoardReport;
use ace_board::trace::What;
use serde::{Deserialize, Serialize};

use super::cost::CostView;

/// Loads that are shown, the last ones.
const LOADS: usize = 64;
const PICOS: f64 = 1e12;

/// What computes.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct View {
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

#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct BoardView {
    pub library: Option<String>,
    pub policy: String,
    pub models: String,
    pub modelled_seconds: f64,
    pub loads: u64,
    pub refused_loads: u64,
    pub completed: u64,
    pub failed: u64,
    pub slots: Vec<SlotView>,
    /// Those that were loaded or refused.
    pub configurations: Vec<ConfigurationView>,
    /// The last loads, in their order.
    pub timeline: Vec<LoadView>,
}

#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct SlotView {
    /// `slot 0`, or of an array `slot 0, tile 1, bank 0`.
    pub name: String,
    pub resident: Option<String>,
    pub loads: u64,
    pub operations: u64,
    pub modelled_execute_seconds: f64,
    pub modelled_load_seconds: f64,
}

#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct ConfigurationView {
    pub name: String,
    pub loads: u64,
    pub operations: u64,
    pub data_bytes: u64,
    pub refused: Option<String>,
}

#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct LoadView {
    /// Wall time since the board was made, when it was noticed.
    pub seconds: f64,
    pub slot: usize,
    pub configuration: String,
    pub modelled_start_seconds: f64,
    pub modelled_load_seconds: f64,
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
    pub fn of(report: &BoardReport, timeline: &mut Timeline, now: Duration) -> Self {
        timeline.take(report, now);
        let name = |at: usize| report.configurations.get(at).map(|one| one.name.clone());
        let slots = report.slots.iter().enumerate().map(|(at, slot)| SlotView {
            name: report.slot_name(at).1,
            resident: slot.resident.and_then(name),
            loads: slot.loads,
            operations: slot.operations,
            modelled_execute_seconds: slot.execute as f64 / PICOS,
            modelled_load_seconds: slot.load as f64 / PICOS,
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
        }
    }
}
