// SPDX-License-Identifier: Apache-2.0
//! Load when needed, and wait.

use ace_engine::ConfigurationId;

use crate::{Costs, Decision, Queue, SlotState};

pub(crate) fn decide(queue: &Queue, slots: &[SlotState], _: &Costs) -> Decision {
    let loading = slots.iter().any(|s| matches!(s, SlotState::Loading { .. }));
    if loading || queue.running().len() > 0 {
        return Decision::Wait;
    }
    let first = (0..queue.classes.len()).filter_map(|c| queue.first(c)).min_by_key(|o| o.key);
    let Some(first) = first else { return Decision::Wait };
    let candidates = &queue.classes[first.op.class].candidates;
    let holder = |c: &ConfigurationId| slots.iter().position(|s| s.takes() && s.resident() == Some(*c));
    if let Some(slot) = candidates.iter().find_map(holder) {
        return Decision::Execute { slot, op: first.op.id };
    }
    let Some(&configuration) = candidates.first() else { return Decision::Wait };
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
