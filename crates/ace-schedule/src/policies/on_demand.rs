// SPDX-License-Identifier: Apache-2.0
//! Load when needed, and wait.

use crate::{Costs, Decision, Queue, SlotState};

pub(crate) fn decide(queue: &Queue, slots: &[SlotState], costs: &Costs) -> Decision {
    let loading = slots.iter().any(|s| matches!(s, SlotState::Loading { .. }));
    if loading || queue.running().len() > 0 {
        return Decision::Wait;
    }
    let first = (0..queue.classes.len()).filter_map(|c| queue.first(c)).min_by_key(|o| o.key);
    let Some(first) = first else { return Decision::Wait };
    let class = first.op.class;
    let candidates = &queue.classes[class].candidates;
    let holder = |slot: usize| {
        let resident = slots[slot].resident().filter(|_| slots[slot].takes());
        let at = candidates.iter().position(|c| resident == Some(*c))?;
        Some((queue.done_in(slots, slot, class, first.op.cost), at, slot))
    };
    if let Some((.., slot)) = (0..slots.len()).filter_map(holder).min() {
        return Decision::Execute { slot, op: first.op.id };
    }
    // An empty slot first, then the one that was used longest ago.
    let age = |s: &SlotState| match *s {
        SlotState::Empty => Some((false, 0)),
        SlotState::Idle { last_used, .. } => Some((true, last_used)),
        _ => None,
    };
    // Of two kinds the one that has been paid for, else the one that is done first.
    let open = (0..slots.len()).filter(|slot| queue.may_load(slots, *slot, class, costs));
    let paid = |slot: usize| !queue.paid(class, queue.kind(slot), costs);
    let oldest = open.filter_map(|slot| Some((paid(slot), age(&slots[slot])?, slot))).min();
    let best = oldest.and_then(|(.., slot)| Some((slot, queue.of_kind(class, queue.kind(slot)).next()?.1)));
    match best {
        Some((slot, configuration)) => Decision::Load { slot, configuration },
        None => Decision::Wait,
    }
}
