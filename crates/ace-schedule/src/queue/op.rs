// SPDX-License-Identifier: Apache-2.0
//! Operations as they are queued, and what their packets are promised.

use crate::types::Time;

/// A class of operations, by its place in the queue's table.
pub type ClassId = usize;

/// What a packet is promised.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Terms {
    /// From its arrival to its end. A packet for which that is no longer possible is *late*.
    pub latency: Time,
    /// A late packet that is not dropped comes before those in time when it has waited for so long. Under
    /// `double-buffer`: an operation that has waited for so long comes first.
    pub starvation: Time,
    /// Half-life of the rates at which operations come.
    pub memory: Time,
    /// Beside a processor: so long a slot that works on several operations at a time waits for those that are on their way
    /// to it.
    pub batch: Time,
    /// Beside a processor: one operation in so many goes where its like do not go, to see what that takes; 0: none.
    pub probe: u32,
}

impl Terms {
    /// Starvation after twice the bound; rates over the bound, or two loads and a half where that is longer; batches for
    /// a five-hundredth of the bound, of 50 ms 100 µs.
    pub fn new(latency: Time, longest_load: Time) -> Self {
        let memory = latency.max(longest_load.saturating_mul(5) / 2).max(1);
        Self { latency, starvation: latency.saturating_mul(2), memory, batch: latency / 500, probe: 64 }
    }
}

/// An operation that waits for a slot.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct QueuedOp {
    /// Unique among the operations in the queue.
    pub id: u64,
    /// The security association.
    pub flow: u32,
    /// The packet; smaller is earlier.
    pub packet: u64,
    /// When the packet came.
    pub arrived: Time,
    /// What serves it, see [`crate::Queue::class`].
    pub class: ClassId,
    /// Estimate of its time in a slot of the preferred configuration.
    pub cost: Time,
    /// The same of the pass behind it; 0 if there is none.
    pub next: Time,
    /// Its time on a processor beside the slots, if there is one that can do it.
    pub cpu: Option<Time>,
    /// What it takes through a slot besides, while the slot works on others: host and link.
    pub aside: Time,
    /// Of the processor's time, what it takes through a slot all the same, where that is also the host's.
    pub host: Time,
    /// Bytes that leave when all of its packet is done.
    pub bytes: u32,
}

impl QueuedOp {
    /// Of the processor's time, what it takes at least.
    pub(crate) fn hosted(&self) -> Time {
        self.cpu.map_or(self.host, |cpu| cpu.min(self.host))
    }

    /// What a slot saves of a processor's time.
    pub(crate) fn saves(&self) -> f64 {
        self.cpu.map_or(0.0, |cpu| cpu.saturating_sub(self.cost.max(self.host)) as f64)
    }
}
