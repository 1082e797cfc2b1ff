// SPDX-License-Identifier: Apache-2.0
//! Work in batches, and load the idle slot while the other one works.

use std::cmp::Reverse;

use crate::view::{Seen, Turn, View};
use crate::{ConfigurationId, Costs, Decision, Queue, SlotState};

pub(crate) fn decide(queue: &Queue, slots: &[SlotState], costs: &Costs, patience: u32) -> Decision {
    let view = View::new(queue, slots);
    let port_free = !slots.iter().any(|s| matches!(s, SlotState::Loading { .. }));

    // Whoever was overtaken too often gets a slot, if need be one that still has work.
    let mut draining = None;
    if port_free
        && let Some((at, starved)) = view.ops.iter().enumerate().find(|(_, o)| waits_for_load(o, patience))
        && let Some(slot) = victim(&view, slots, at, patience)
    {
        if !matches!(slots[slot], SlotState::Busy { .. }) {
            return load(&view, slots, slot, starved.candidates, costs);
        }
        draining = Some(slot);
    }

    if let Some((slot, op)) = next_operation(&view, slots, draining) {
        return Decision::Execute { slot, op };
    }
    if !port_free || draining.is_some() {
        return Decision::Wait;
    }

    // A slot without work is loaded with what is needed first and not there.
    let Some(wanted) = view.needs.iter().find(|n| n.home.is_none() && !n.candidates.is_empty()) else {
        return Decision::Wait;
    };
    if let Some(slot) = spare(&view, slots) {
        return load(&view, slots, slot, wanted.candidates, costs);
    }

    // Every slot has work, but none of it can go on before an operation that lacks its configuration.
    if queue.running().is_empty()
        && let Some((at, first)) = view.ops.iter().enumerate().find(|(_, o)| waits_for_load(o, 0))
        && let Some(slot) = victim(&view, slots, at, u32::MAX)
    {
        return load(&view, slots, slot, first.candidates, costs);
    }
    Decision::Wait
}

fn waits_for_load(op: &Seen<'_>, patience: u32) -> bool {
    op.home.is_none() && op.overtaken >= patience && !op.candidates.is_empty()
}

/// The first operation in the order of packets that may start, and where: an idle slot before a busy one.
fn next_operation(view: &View<'_>, slots: &[SlotState], draining: Option<usize>) -> Option<(usize, u64)> {
    view.ops.iter().find_map(|op| {
        let fits = |slot: usize, c: ConfigurationId| {
            draining != Some(slot)
                && slots[slot].takes()
                && slots[slot].resident() == Some(c)
                && match op.turn {
                    Turn::Anywhere => true,
                    Turn::Behind(at) => at == slot,
                    Turn::NotYet => false,
                }
        };
        let found = op.candidates.iter().find_map(|c| {
            let busy = |slot: usize| matches!(slots[slot], SlotState::Busy { .. });
            (0..slots.len()).filter(|slot| fits(*slot, *c)).min_by_key(|slot| busy(*slot))
        });
        found.map(|slot| (slot, op.id))
    })
}

/// A slot that can be loaded at no loss: empty, or idle and not needed by anything in the window. The one that
/// was used longest ago.
fn spare(view: &View<'_>, slots: &[SlotState]) -> Option<usize> {
    let age = |slot: usize| match slots[slot] {
        SlotState::Empty => Some((false, 0)),
        SlotState::Idle { last_used, .. } if !view.has_work(slot) => Some((true, last_used)),
        _ => None,
    };
    (0..slots.len()).filter_map(|slot| Some((age(slot)?, slot))).min().map(|(_, slot)| slot)
}

/// The slot to give up for the waiting operation at place `at`: never one that an older operation needs that
/// has lost its patience too; else the one that is needed again last.
fn victim(view: &View<'_>, slots: &[SlotState], at: usize, patience: u32) -> Option<usize> {
    let owed = |slot: usize| view.ops[..at].iter().any(|o| o.home == Some(slot) && o.overtaken >= patience);
    let rank = |slot: usize| match slots[slot] {
        SlotState::Empty => Some((Reverse(usize::MAX), 0, 0)),
        SlotState::Idle { last_used, .. } if !owed(slot) => {
            Some((Reverse(view.next_use(slot)), 1, last_used))
        }
        SlotState::Busy { until, .. } if !owed(slot) => Some((Reverse(view.next_use(slot)), 2, until)),
        _ => None,
    };
    (0..slots.len()).filter_map(|slot| Some((rank(slot)?, slot))).min().map(|(_, slot)| slot)
}

/// Of several configurations that serve, the one that serves most of what is missing; then the cheapest to load;
/// then the preferred one.
fn load(
    view: &View<'_>,
    slots: &[SlotState],
    slot: usize,
    candidates: &[ConfigurationId],
    costs: &Costs,
) -> Decision {
    let cost = |c: ConfigurationId| costs.of(slots[slot].resident(), c);
    let serves = |c: ConfigurationId| {
        view.needs.iter().filter(|n| n.home.is_none() && n.candidates.contains(&c)).count()
    };
    let best = candidates.iter().enumerate().min_by_key(|(at, c)| (Reverse(serves(**c)), cost(**c), *at));
    match best {
        Some((_, &configuration)) => Decision::Load { slot, configuration },
        None => Decision::Wait,
    }
}
