// SPDX-License-Identifier: Apache-2.0
//! Where the time of the slots and of the host's processor went lately.

use super::class::Place;
use super::flow::At;
use super::op::QueuedOp;
use super::operations::Queue;
use crate::Time;

/// A processor that was busy for so much of the time has none to spare.
const BUSY: f64 = 0.7;

/// Sums that fade: what was given to the processor and to the slots, of how much time.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Spent {
    of: Time,
    /// Time that has passed, faded like the rest: a processor that was never idle has spent as much.
    pub time: f64,
    /// What came for the processor if slots did all operations: packets, and its part in what goes through slots.
    pub processor: f64,
    /// What it had to do besides, as it computed some.
    pub computed: f64,
    /// What it would have to do besides if it computed everything.
    pub everything: f64,
    /// Of the slots' time, what the processor has done instead.
    pub moved: f64,
    /// What came for the slots, all together, if they did all operations; and the loads.
    pub slots: f64,
}

impl Spent {
    /// Whether the processor had no time left.
    pub fn never_idle(&self) -> bool {
        self.processor + self.computed > BUSY * self.time
    }

    /// The same as of now.
    #[must_use]
    pub fn at(mut self, now: Time, memory: Time) -> Self {
        let passed = now.saturating_sub(self.of) as f64;
        if passed > 0.0 {
            let memory = memory.max(1) as f64;
            let fade = 0.5_f64.powf(passed / memory);
            self.time = self.time * fade + memory / std::f64::consts::LN_2 * (1.0 - fade);
            self.processor *= fade;
            self.computed *= fade;
            self.everything *= fade;
            self.moved *= fade;
            self.slots *= fade;
            self.of = now;
        }
        self
    }
}

/// What packets ask for, over the last thousand operations or two.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Asked {
    newest: Option<u64>,
    packets: f64,
    cost: f64,
    host: f64,
    count: u32,
}

impl Asked {
    /// Whether a packet came with this operation.
    pub fn add(&mut self, op: &QueuedOp) -> bool {
        // A packet's first operation comes when those of the packets before it have come.
        let new = self.newest.is_none_or(|newest| newest < op.packet);
        if new {
            self.newest = Some(op.packet);
            self.packets += 1.0;
        }
        self.cost += op.cost as f64;
        self.host += op.hosted() as f64;
        self.count += 1;
        if self.count >= 2048 {
            let Self { newest, packets, cost, host, count } = *self;
            *self =
                Self { newest, packets: packets / 2.0, cost: cost / 2.0, host: host / 2.0, count: count / 2 };
        }
        new
    }

    /// Slot time and the host's, for a packet.
    pub fn mean(&self) -> (Time, Time) {
        let packets = self.packets.max(1.0);
        ((self.cost / packets) as Time, (self.host / packets) as Time)
    }
}

/// What only the host's processor can do, and what time went to lately.
#[derive(Clone, Debug, Default)]
pub(crate) struct Work {
    /// The processor's time for all that waits or runs and goes through slots.
    pub hosted: Time,
    asked: Asked,
    spent: Spent,
    /// What it takes for a packet, before its first operation comes.
    packet: Time,
}

impl Queue {
    /// What a packet asks of slots and of the host's processor for them, in the mean of the last ones.
    pub(crate) fn of_a_packet(&self) -> (Time, Time) {
        self.work.asked.mean()
    }

    /// Says what the host's processor takes for a packet.
    pub(crate) fn set_packet(&mut self, packet: Time) {
        self.work.packet = packet;
    }

    /// Where time went lately, as of now.
    pub(crate) fn spent(&mut self) -> &mut Spent {
        self.work.spent = self.work.spent.at(self.clock.now, self.terms.memory);
        &mut self.work.spent
    }

    pub(super) fn is_ours(&self, slot: usize) -> bool {
        self.estimates.as_ref().is_some_and(|estimates| estimates.ours == slot)
    }

    /// Whether a slot works on something; what the processor beside them does is nothing that one waits for.
    pub(crate) fn slots_run(&self) -> bool {
        let slot = |at: &At| matches!(self.ops[*at as usize].place, Place::Runs(slot) if !self.is_ours(slot));
        self.running.iter().any(slot)
    }

    /// Counts an operation that comes.
    pub(super) fn comes(&mut self, op: &QueuedOp) {
        self.work.hosted = self.work.hosted.saturating_add(op.hosted());
        let packet = if self.work.asked.add(op) { self.work.packet } else { 0 };
        let spent = self.spent();
        spent.processor += (packet + op.host) as f64;
        spent.slots += op.cost as f64;
        spent.everything += op.cpu.map_or(op.cost as f64, |cpu| cpu as f64 - op.host as f64);
    }

    /// Counts an operation that somebody begins: the processor, if the slot's number is its own.
    pub(super) fn begins(&mut self, at: At, slot: usize) {
        let QueuedOp { cost, cpu, host, .. } = self.ops[at as usize].op;
        if self.is_ours(slot) {
            let spent = self.spent();
            spent.computed += cpu.unwrap_or(0) as f64 - host as f64;
            spent.moved += cost as f64;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_never_idle_spends_as_much_as_passes() {
        let mut spent = Spent::default();
        for now in 0..5000 {
            spent = spent.at(now * 10, 2000);
            spent.processor += 10.0;
            spent.slots += 5.0;
        }
        let spent = spent.at(50_000, 2000);
        assert!((spent.processor / spent.time - 1.0).abs() < 0.01, "{spent:?}");
        assert!((spent.slots / spent.time - 0.5).abs() < 0.01, "{spent:?}");
        // Long ago counts no more.
        let later = spent.at(150_000, 2000);
        assert!(later.processor < 1e-6 && (later.time / spent.time - 1.0).abs() < 0.01, "{later:?}");
    }
}
