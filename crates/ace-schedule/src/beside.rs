// SPDX-License-Identifier: Apache-2.0
//! A processor beside the slots: who does an operation, and when a load pays.
//!
//! An operation goes where it is done earlier, both queues and the load under way included. So while a configuration is
//! being loaded its operations are done by the processor whenever that is earlier. A load begins when it is repaid by what
//! waits and by what the processor has done for its class since it was last held (ski rental): where the processor is as
//! fast as a slot, never.

use crate::class::Which;
use crate::queue::ClassId;
use crate::{Costs, Decision, Policy, Queue, SlotState, Time, view};

impl Policy {
    /// As [`Policy::decide`], with a processor that does one operation at a time. In the queue it is the slot behind the
    /// last one; `idle`: it has nothing to do.
    pub fn decide_beside(
        &self,
        queue: &mut Queue,
        slots: &[SlotState],
        costs: &Costs,
        idle: bool,
    ) -> Decision {
        for class in 0..queue.classes.len() {
            queue.classes[class].held_back = held_back(queue, slots, costs, class);
        }
        let decision = match self.decide(queue, slots, costs) {
            Decision::Load { configuration, .. } if !repaid(queue, configuration) => {
                view::execute(queue, slots, None, Which::Any).unwrap_or(Decision::Wait)
            }
            decision => decision,
        };
        let waits = matches!(decision, Decision::Wait | Decision::WaitUntil(_));
        match taken(queue, slots, costs).filter(|_| idle && waits) {
            Some(op) => Decision::Compute { op },
            None => decision,
        }
    }
}

/// Whether some class that a configuration serves has repaid its load.
fn repaid(queue: &Queue, configuration: usize) -> bool {
    queue.served_by(configuration).iter().any(|c| !queue.classes[*c].held_back)
}

/// Whether a class is the processor's until a load is repaid: it can do all that waits, and has not spent as much more than
/// a slot would have as a load costs.
fn held_back(queue: &Queue, slots: &[SlotState], costs: &Costs, class: ClassId) -> bool {
    let it = &queue.classes[class];
    if it.uncomputable > 0 || view::home(queue, slots, class).is_some() {
        return false;
    }
    let over = slots.iter().map(SlotState::resident);
    let load = over.flat_map(|over| it.candidates.iter().map(move |c| costs.of(over, *c))).min();
    load.is_some_and(|load| it.saved + it.rent_now(queue.now(), queue.terms.memory) < load as f64)
}

/// The operation that the processor does next, if there is one that it would have done earlier than a slot: of the class
/// for which slots are worst beside it.
fn taken(queue: &Queue, slots: &[SlotState], costs: &Costs) -> Option<u64> {
    let ours = slots.len();
    let mut best: Option<(f64, u64)> = None;
    for class in 0..queue.classes.len() {
        if queue.startable(class, ours, Which::Any).is_none() {
            continue;
        }
        let mut in_a_slot = free(queue, slots, costs, class);
        // In the order in which a slot would serve them.
        for op in queue.heads_for(class, ours) {
            in_a_slot = in_a_slot.saturating_add(op.op.cost);
            let Some(time) = op.op.cpu else { continue };
            if queue.now().saturating_add(time) < in_a_slot {
                let ratio = op.op.cost as f64 / time.max(1) as f64;
                if best.is_none_or(|(of, _)| ratio > of) {
                    best = Some((ratio, op.op.id));
                }
                break;
            }
        }
    }
    best.map(|(_, op)| op)
}

/// When a slot would begin with the operations of a class, as far as is known.
fn free(queue: &Queue, slots: &[SlotState], costs: &Costs, class: ClassId) -> Time {
    let it = &queue.classes[class];
    let now = queue.now();
    let at = |slot: &SlotState| {
        let serves = slot.expected().is_some_and(|c| it.candidates.contains(&c));
        serves.then_some(match *slot {
            SlotState::Loading { ready_at, .. } => ready_at,
            SlotState::Busy { until, .. } => until,
            _ => now,
        })
    };
    if let Some(free) = slots.iter().filter_map(at).min() {
        return free;
    }
    if it.held_back {
        return Time::MAX;
    }
    // It is missing, and its load can begin when the port is free, behind those of classes that have waited for longer.
    let port = slots.iter().filter_map(|s| match *s {
        SlotState::Loading { ready_at, .. } => Some(ready_at),
        _ => None,
    });
    let load = |class: ClassId| {
        let candidates = queue.classes[class].candidates.iter();
        candidates.map(|c| costs.of(None, *c)).min().unwrap_or(Time::MAX)
    };
    let older = |c: &ClassId| {
        *c != class
            && !queue.classes[*c].held_back
            && queue.first(*c).is_some_and(|o| queue.first(class).is_none_or(|own| o.key < own.key))
            && view::home(queue, slots, *c).is_none()
    };
    let before: Time = (0..queue.classes.len()).filter(older).map(load).fold(0, Time::saturating_add);
    let room = slots.iter().map(|s| if let SlotState::Busy { until, .. } = *s { until } else { now });
    let from = port.chain(room.min()).max().unwrap_or(now);
    from.saturating_add(before).saturating_add(load(class))
}
