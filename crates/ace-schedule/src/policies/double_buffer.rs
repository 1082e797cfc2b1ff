// SPDX-License-Identifier: Apache-2.0
//! Work in batches, and load the idle slot while the other one works.

use std::cmp::Reverse;

use super::view::{self, Need};
use crate::queue::ClassId;
use crate::queue::select::Which;
use crate::{Costs, Decision, Queue, SlotState};

pub(crate) fn decide(queue: &Queue, slots: &[SlotState], costs: &Costs) -> Decision {
    if queue.ports_busy(slots) {
        // Nothing but work can begin.
        return view::execute(queue, slots, None, Which::Any).unwrap_or(Decision::Wait);
    }
    let needs = view::needs(queue, slots, costs);
    let missing = |class: ClassId| needs.iter().any(|n| n.class == class && n.home.is_none());

    // Whoever has waited for too long gets a slot, if need be one that still has work.
    let starved = |class: ClassId| queue.age(class).is_some_and(|age| age >= queue.terms.starvation);
    let mut draining = None;
    let loads = |class: ClassId| (0..slots.len()).any(|slot| queue.may_load(slots, slot, class, costs));
    if let Some(class) = first(queue, |c| missing(c) && starved(c) && queue.could_start(c) && loads(c))
        && let Some(slot) = victim(queue, slots, &needs, class, true, costs)
    {
        if !matches!(slots[slot], SlotState::Busy { .. }) {
            return view::load(queue, slots, &needs, slot, class, costs);
        }
        draining = Some(slot);
    }

    if let Some(work) = view::execute(queue, slots, draining, Which::Any) {
        return work;
    }
    if draining.is_some() {
        return Decision::Wait;
    }

    // A slot without work is loaded with what is needed first and not there.
    if needs.iter().all(|n| n.home.is_some()) {
        return Decision::Wait;
    }
    let spare = |n: &Need| Some((view::spare(queue, slots, &needs, n.class, costs)?, n.class));
    if let Some((slot, class)) = needs.iter().filter(|n| n.home.is_none()).find_map(spare) {
        return view::load(queue, slots, &needs, slot, class, costs);
    }

    // Every slot has work, but none of it can go on before an operation that lacks its configuration.
    if !queue.slots_run()
        && let Some(class) = first(queue, |c| missing(c) && queue.could_start(c) && loads(c))
        && let Some(slot) = victim(queue, slots, &needs, class, false, costs)
    {
        return view::load(queue, slots, &needs, slot, class, costs);
    }
    Decision::Wait
}

/// Of the classes that `wants` asks for, the one with the first operation.
fn first(queue: &Queue, wants: impl Fn(ClassId) -> bool) -> Option<ClassId> {
    let classes = (0..queue.classes.len()).filter(|c| wants(*c));
    classes.filter_map(|c| Some((queue.first(c)?.key, c))).min().map(|(_, class)| class)
}

/// The slot to give up for the first operation of a class: if that has starved, never one that an older operation needs that
/// has waited for too long as well; else the one that is needed again last.
fn victim(
    queue: &Queue,
    slots: &[SlotState],
    needs: &[Need],
    class: ClassId,
    starved: bool,
    costs: &Costs,
) -> Option<usize> {
    let before = if starved { queue.first(class) } else { None };
    let owed = |slot: usize| {
        needs.iter().any(|n| {
            let first = queue.first(n.class);
            n.home == Some(slot)
                && before.zip(first).is_some_and(|(b, f)| f.key < b.key)
                && queue.age(n.class).is_some_and(|age| age >= queue.terms.starvation)
        })
    };
    let next_use = |slot: usize| needs.iter().find(|n| n.home == Some(slot)).map_or(u64::MAX, |n| n.packet);
    let rank = |slot: usize| match slots[slot] {
        SlotState::Empty => Some((Reverse(u64::MAX), 0, 0)),
        SlotState::Idle { last_used, .. } if !owed(slot) => Some((Reverse(next_use(slot)), 1, last_used)),
        SlotState::Busy { until, .. } if !owed(slot) => Some((Reverse(next_use(slot)), 2, until)),
        _ => None,
    };
    let open = (0..slots.len()).filter(|slot| queue.may_load(slots, *slot, class, costs));
    open.filter_map(|slot| Some((rank(slot)?, slot))).min().map(|(_, slot)| slot)
}
