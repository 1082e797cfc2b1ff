// SPDX-License-Identifier: Apache-2.0
//! What the policies that work in batches read off the queue and the slots before they decide.

use crate::queue::select::Which;
use crate::queue::{ClassId, Queue};
use ace_engine::ConfigurationId;

use crate::{Costs, Decision, SlotState};

/// Something that packets need: operations that wait, and what comes behind those that wait or run.
pub(crate) struct Need {
    /// The first packet that needs it, and how many passes from now.
    pub packet: u64,
    pub passes: usize,
    pub class: ClassId,
    /// The slot that holds or awaits a configuration for it, the best candidate first.
    pub home: Option<usize>,
}

/// What the packets in the queue need, the first packet first.
pub(crate) fn needs(queue: &Queue, slots: &[SlotState], costs: &Costs) -> Vec<Need> {
    let mut needs: Vec<Need> = Vec::with_capacity(queue.classes.len());
    for (at, it) in queue.classes.iter().enumerate() {
        let waiting = queue.first(at).map(|o| o.op.packet);
        let mut note = |packet: Option<u64>, passes: usize, class: ClassId| {
            let Some(packet) = packet.filter(|_| !queue.classes[class].candidates.is_empty()) else { return };
            match needs.iter_mut().find(|n| n.class == class) {
                Some(need) => (need.packet, need.passes) = (need.packet, need.passes).min((packet, passes)),
                None => {
                    let home = home(queue, slots, class, costs);
                    // What the processor does needs no load.
                    if home.is_some() || !queue.classes[class].held_back {
                        needs.push(Need { packet, passes, class, home });
                    }
                }
            }
        };
        note(waiting, 0, at);
        let first = [waiting, queue.first_running(at)].into_iter().flatten().min();
        let (mut next, mut passes) = (it.then, 1);
        while let Some(class) = next {
            note(first, passes, class);
            (next, passes) = (queue.classes[class].then, passes + 1);
        }
    }
    needs.sort_unstable_by_key(|n| (n.packet, n.passes));
    needs
}

/// The slot that holds or awaits a configuration for a class.
pub(crate) fn home(queue: &Queue, slots: &[SlotState], class: ClassId, costs: &Costs) -> Option<usize> {
    let awaits = |slot: &usize| queue.awaits(slots, *slot, class, costs);
    let at = |c: &ConfigurationId| {
        let mut all = (0..slots.len()).filter(|slot| slots[*slot].expected() == Some(*c));
        all.find(awaits)
    };
    queue.classes[class].candidates.iter().find_map(at)
}

/// The first operation in the order of packets that may start, and where: an idle slot before a busy one. `draining`
/// takes no more.
pub(crate) fn execute(
    queue: &Queue,
    slots: &[SlotState],
    draining: Option<usize>,
    which: Which,
) -> Option<Decision> {
    let busy = |slot: usize| matches!(slots[slot], SlotState::Busy { .. });
    let found = (0..slots.len())
        .filter(|slot| draining != Some(*slot))
        .filter_map(|slot| Some((queue.next_for(slots, slot, which)?, slot)))
        .min_by_key(|(op, slot)| {
            // Of two slots that serve it, the one that is done first where they are of two kinds, else the one with the
            // preferred configuration.
            let candidates = &queue.classes[op.op.class].candidates;
            (
                op.key,
                queue.done_in(slots, *slot, op.op.class, op.op.cost),
                candidates.iter().position(|c| slots[*slot].resident() == Some(*c)),
                busy(*slot),
            )
        });
    found.map(|(op, slot)| Decision::Execute { slot, op: op.op.id })
}

/// Loads what serves `class`: of several configurations the one that serves most of what is missing; then the cheapest
/// to load; then the preferred one.
pub(crate) fn load(
    queue: &Queue,
    slots: &[SlotState],
    needs: &[Need],
    slot: usize,
    class: ClassId,
    costs: &Costs,
) -> Decision {
    let cost = |c: ConfigurationId| costs.of(slots[slot].resident(), c);
    let serves = |c: ConfigurationId| {
        let missing = needs.iter().filter(|n| n.home.is_none());
        missing
            .filter(|n| queue.served_by(c).contains(&n.class))
            .map(|n| queue.classes[n.class].waiting + 1)
            .sum()
    };
    let best = queue.of_kind(class, queue.kind(slot)).min_by_key(|(at, c)| {
        let served: usize = serves(*c);
        (std::cmp::Reverse(served), cost(*c), *at)
    });
    match best {
        Some((_, configuration)) => Decision::Load { slot, configuration },
        None => Decision::Wait,
    }
}

/// A slot that can be loaded for a class at no loss: empty, or idle and not needed; of two kinds that which is done first. Of
/// several banks that of the tile whose other banks are needed least, as they take turns; then the one that was used longest
/// ago.
pub(crate) fn spare(
    queue: &Queue,
    slots: &[SlotState],
    needs: &[Need],
    class: ClassId,
    costs: &Costs,
) -> Option<usize> {
    let needed = |slot: usize| needs.iter().any(|n| n.home == Some(slot));
    let beside = |slot: usize| queue.tile(slot).filter(|bank| *bank != slot && needed(*bank)).count();
    let age = |slot: usize| match slots[slot] {
        SlotState::Empty => Some((false, beside(slot), 0)),
        SlotState::Idle { last_used, .. } if !needed(slot) => Some((true, beside(slot), last_used)),
        _ => None,
    };
    let bid = |slot: usize| match queue.mixed() {
        true => queue.bid(slots, class, queue.kind(slot), costs) as u64,
        false => 0,
    };
    let may = |slot: &usize| queue.may_load(slots, *slot, class, costs);
    let open = (0..slots.len()).filter_map(|slot| Some((age(slot)?, slot))).filter(|(_, slot)| may(slot));
    open.min_by_key(|(age, slot)| (bid(*slot), *age, *slot)).map(|(_, slot)| slot)
}
