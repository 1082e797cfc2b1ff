// SPDX-License-Identifier: Apache-2.0
//! Landlord (GreedyDual-Size): what a configuration cost to load keeps it for a while, and being used renews that.
//!
//! What is needed first and not there is loaded over the idle slot with the lowest price; the price is that of a load on
//! top of the level when it was last used, and the level rises to the price of whatever has to go. Of k slots it loads
//! at most k/(k − h + 1) times as much as the best with h slots, if the order is kept (Young).

use super::view::{self, Need};
use crate::queue::ClassId;
use crate::queue::select::Which;
use crate::{Costs, Decision, Queue, SlotState};

pub(crate) fn decide(queue: &Queue, slots: &[SlotState], costs: &Costs) -> Decision {
    if let Some(work) = view::execute(queue, slots, None, Which::Any) {
        return work;
    }
    if queue.ports_busy(slots) {
        return Decision::Wait;
    }
    let needs = view::needs(queue, slots, costs);
    let may = |class: ClassId, slot: &usize| queue.may_load(slots, *slot, class, costs);
    let loads = |class: ClassId| (0..slots.len()).any(|slot| may(class, &slot));
    let missing = |n: &&Need| n.home.is_none() && queue.first(n.class).is_some() && loads(n.class);
    let Some(wanted) = needs.iter().find(missing) else { return Decision::Wait };
    let price = |slot: usize| match slots[slot] {
        SlotState::Empty => Some((0, 0)),
        // Only another bank keeps it from working.
        SlotState::Idle { blocked: true, .. } if needs.iter().any(|n| n.home == Some(slot)) => None,
        SlotState::Idle { configuration, last_used, .. } => {
            Some((1 + queue.price(configuration, costs), last_used))
        }
        _ => None,
    };
    let open = (0..slots.len()).filter(|slot| may(wanted.class, slot));
    let cheapest = open.filter_map(|slot| Some((price(slot)?, slot))).min();
    match cheapest {
        Some((_, slot)) => view::load(queue, slots, &needs, slot, wanted.class, costs),
        None => Decision::Wait,
    }
}
