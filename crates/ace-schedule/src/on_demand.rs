// SPDX-License-Identifier: Apache-2.0
//! Load when needed, and wait.

use crate::{Decision, Queue, SlotState};

pub(crate) fn decide(queue: &Queue, slots: &[SlotState]) -> Decision {
    let loading = slots.iter().any(|s| matches!(s, SlotState::Loading { .. }));
    if loading || !queue.running().is_empty() {
        return Decision::Wait;
    }
    let Some(first) = queue.waiting().next() else { return Decision::Wait };
    let holder = |c: &usize| slots.iter().position(|s| s.takes() && s.resident() == Some(*c));
    if let Some(slot) = first.candidates.iter().find_map(holder) {
        return Decision::Execute { slot, op: first.id };
    }
    let Some(&configuration) = first.candidates.first() else { return Decision::Wait };
    // An empty slot first, then the one that was used longest ago.
    let age = |s: &SlotState| match *s {
        SlotState::Empty => Some((false, 0)),
        SlotState::Idle { last_used, .. } => Some((true, last_used)),
        _ => None,
    };
    let oldest = slots.iter().enumerate().filter_map(|(i, s)| Some((age(s)?, i))).min();
    match oldest {
        Some((_, slot)) => Decision::Load { slot, configuration },
        None => Decision::Wait,
    }
}
