// SPDX-License-Identifier: Apache-2.0
//! What a board tells of itself.

use ace_schedule::Decision;

use super::Board;
use crate::config::SlotKind;
use crate::decision::{DecisionRecord, Step};
use crate::ledger::Accounts;
use crate::store::Store;
use crate::trace::{ArrayReport, BoardReport, ConfigurationReport, Event, Picos, What};

impl Board {
    /// Keeps the first `most` events from now on for [`Board::report`]. The sums have all of them, whatever is kept.
    pub fn keep_events(&mut self, most: usize) {
        self.ledger.keep(most);
    }

    /// Keeps every decision from now on.
    pub fn keep_decisions(&mut self) {
        self.decisions = Some(Vec::new());
    }

    /// Those that were kept.
    pub fn decisions(&self) -> &[DecisionRecord] {
        self.decisions.as_deref().unwrap_or_default()
    }

    pub(super) fn note(&mut self, decision: Decision) {
        let Some(decisions) = &mut self.decisions else { return };
        let pass = |op: &u64| {
            let pending = self.jobs.get(op)?;
            Some(Step::Pass { packet: pending.job.packet, second: pending.second })
        };
        let (slot, what) = match &decision {
            Decision::Load { slot, configuration } => (*slot, Some(Step::Load(*configuration))),
            Decision::Execute { slot, op } => (*slot, pass(op)),
            Decision::Compute { op } => (self.slots.len(), pass(op)),
            Decision::Wait | Decision::WaitUntil(_) => return,
        };
        decisions.extend(what.map(|what| DecisionRecord { at: self.agenda.now, slot, what }));
    }

    /// What happened so far. Operations that are still in a slot are not in it.
    pub fn report(&self) -> BoardReport {
        let Accounts { mut totals, mut slots, mut configurations, events, left_out } =
            self.ledger.clone().close();
        for (report, (at, c)) in configurations.iter_mut().zip(self.catalogue.configurations.pairs()) {
            *report = ConfigurationReport {
                name: c.name.clone(),
                clock_hz: c.clock_hz,
                bitstream_bytes: c.bitstream.bytes,
                context_set: c.context_set,
                from_library: self.catalogue.stored(c).is_some(),
                unproven: self.catalogue.unproven(c),
                refused: self.port.refused.get(&at).cloned(),
                ..std::mem::take(report)
            };
        }
        for (at, slot) in slots.iter_mut().enumerate() {
            slot.kind = self.config.kind(at);
        }
        totals.failed = self.failed;
        BoardReport {
            device: self.config.device.clone(),
            policy: self.policy.name().into(),
            models: self.port.models.name().into(),
            configuration_port: self.config.port_words(),
            host_link: self.config.link_words(),
            host: self.config.host_words(),
            processor: self
                .coprocessor
                .as_ref()
                .map(|b| format!("{} ({})", b.processor.name, b.processor.source)),
            library: self.catalogue.store.as_deref().map(Store::words),
            array: (self.config.slots_of(SlotKind::Array) > 0).then_some(ArrayReport {
                tiles: self.config.slot.tiles,
                banks: self.config.slot.banks,
                fabric: self.config.of_fabric(),
                keys: self.keys,
            }),
            totals,
            slots,
            configurations,
            events,
            events_left_out: left_out,
        }
    }

    pub(crate) fn log(&mut self, start: Picos, end: Picos, slot: usize, what: What) {
        if self.ledger.log(Event { start, end, slot, what }) {
            // What is not logged yet started with a load or an execution that is going on, or starts from now on.
            let loads = self.port.loads.values().map(|load| load.start);
            let executions = self.slots.executions.values().map(|execution| execution.start);
            let batches = self.slots.iter().filter_map(|slot| slot.batch.as_ref()?.oldest());
            let until =
                loads.chain(executions).chain(batches).min().unwrap_or(self.agenda.now).min(self.agenda.now);
            self.ledger.settle(until);
        }
    }
}
