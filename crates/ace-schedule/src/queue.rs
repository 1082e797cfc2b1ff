// SPDX-License-Identifier: Apache-2.0
//! The packet buffer as the policies see it: what waits, what runs, and who overtook whom.

use std::collections::BTreeMap;

use crate::{ConfigurationId, Time};

/// An operation that waits for a slot.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct QueuedOp {
    /// Unique among the operations in the queue.
    pub id: u64,
    /// The security association.
    pub lane: u32,
    /// The packet; smaller is earlier.
    pub packet: u64,
    /// Configurations that can serve it, the preferred one first.
    pub candidates: Vec<ConfigurationId>,
    /// What the same packet will need next, in order: a set of candidates each.
    pub then: Vec<Vec<ConfigurationId>>,
    /// Estimate of its time in a slot.
    pub cost: Time,
}

/// An operation that was handed to a slot and has not ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Running {
    pub slot: usize,
    pub op: QueuedOp,
    pub(crate) arrival: u64,
    overtaken: u32,
}

#[derive(Clone, Debug)]
pub(crate) struct Waiting {
    pub op: QueuedOp,
    pub arrival: u64,
    /// Later operations that started while this one was in the window.
    pub overtaken: u32,
}

/// Operations by packet and then by arrival, of which a policy sees those of the first `look_ahead` packets.
///
/// Of two operations of one lane the one that arrived first goes first, unless it belongs to a later packet.
#[derive(Clone, Debug)]
pub struct Queue {
    look_ahead: usize,
    arrivals: u64,
    waiting: BTreeMap<(u64, u64), Waiting>,
    running: Vec<Running>,
}

impl Queue {
    /// `look_ahead`: size of the packet buffer in packets; 0 counts as 1.
    pub fn new(look_ahead: usize) -> Self {
        Self { look_ahead: look_ahead.max(1), arrivals: 0, waiting: BTreeMap::new(), running: Vec::new() }
    }

    pub fn push(&mut self, op: QueuedOp) {
        let arrival = self.arrivals;
        self.arrivals += 1;
        self.waiting.insert((op.packet, arrival), Waiting { op, arrival, overtaken: 0 });
    }

    /// Operations that wait, in order of packet and arrival.
    pub fn waiting(&self) -> impl Iterator<Item = &QueuedOp> {
        self.waiting.values().map(|w| &w.op)
    }

    /// Operations that were handed to slots, in the order in which that happened.
    pub fn running(&self) -> &[Running] {
        &self.running
    }

    pub fn is_empty(&self) -> bool {
        self.waiting.is_empty() && self.running.is_empty()
    }

    /// Changes every waiting operation, for instance when a configuration turns out to be unusable.
    pub fn for_each_waiting(&mut self, mut change: impl FnMut(&mut QueuedOp)) {
        self.waiting.values_mut().for_each(|w| change(&mut w.op));
    }

    /// What the packet buffer shows.
    pub(crate) fn window(&self) -> impl Iterator<Item = &Waiting> {
        let mut packets = 0;
        let mut last = None;
        self.waiting.values().take_while(move |w| {
            if last != Some(w.op.packet) {
                packets += 1;
                last = Some(w.op.packet);
            }
            packets <= self.look_ahead
        })
    }

    /// Hands a waiting operation to a slot. Earlier ones of the window have been overtaken once more.
    pub fn start(&mut self, id: u64, slot: usize) -> Option<&QueuedOp> {
        let (&key, _) = self.waiting.iter().find(|(_, w)| w.op.id == id)?;
        let Waiting { op, arrival, overtaken } = self.waiting.remove(&key)?;
        let visible = self.window().count();
        self.waiting.range_mut(..key).take(visible).for_each(|(_, w)| w.overtaken += 1);
        self.running.push(Running { slot, op, arrival, overtaken });
        self.running.last().map(|r| &r.op)
    }

    /// Forgets an operation that ended.
    pub fn finish(&mut self, id: u64) -> Option<QueuedOp> {
        let at = self.running.iter().position(|r| r.op.id == id)?;
        Some(self.running.remove(at).op)
    }

    /// Takes an operation back from its slot, to the place it had.
    pub fn put_back(&mut self, id: u64) -> bool {
        let Some(at) = self.running.iter().position(|r| r.op.id == id) else { return false };
        let Running { op, arrival, overtaken, .. } = self.running.remove(at);
        self.waiting.insert((op.packet, arrival), Waiting { op, arrival, overtaken });
        true
    }

    /// Takes a waiting operation out for good.
    pub fn remove(&mut self, id: u64) -> Option<QueuedOp> {
        let (&key, _) = self.waiting.iter().find(|(_, w)| w.op.id == id)?;
        self.waiting.remove(&key).map(|w| w.op)
    }
}
