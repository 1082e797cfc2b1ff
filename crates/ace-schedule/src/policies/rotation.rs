// SPDX-License-Identifier: Apache-2.0
//! Deadline rotation: configurations take turns, the one whose packets are oldest next.
//!
//! A slot without work is loaded at once. A slot that has work is taken when the loads that are due, made in order of
//! age, would otherwise be late. So many configurations take turns as the rotation law allows ([`crate::bound::rotation`]); another
//! one has to starve first.

use ace_engine::ConfigurationId;

use super::view;
use crate::queue::ClassId;
use crate::queue::select::Which;
use crate::{Costs, Decision, Queue, SlotState, Time};

pub(crate) fn decide(queue: &Queue, slots: &[SlotState], costs: &Costs) -> Decision {
    if queue.ports_busy(slots) {
        return view::execute(queue, slots, None, Which::Any).unwrap_or(Decision::Wait);
    }
    let missing: Vec<ClassId> = (0..queue.classes.len())
        .filter(|c| queue.first(*c).is_some() && view::home(queue, slots, *c, costs).is_none())
        .filter(|c| !queue.classes[*c].held_back)
        .collect();
    let turns = turns(queue, slots, costs);
    let mut due: Vec<(Time, ClassId)> = missing
        .iter()
        .filter(|c| takes_turns(queue, slots, **c, turns, costs))
        .filter_map(|c| Some((queue.first(*c)?.op.arrived, *c)))
        .collect();
    due.sort_unstable();
    let mut draining = None;
    let mut again = None;
    let may = |class: ClassId, slot: &usize| queue.may_load(slots, *slot, class, costs);
    let loads = |class: ClassId| (0..slots.len()).any(|slot| may(class, &slot));
    if let Some(&(oldest, class)) = due.iter().find(|(_, class)| loads(*class)) {
        let needs = view::needs(queue, slots, costs);
        let (latest, _) = due.iter().fold((Time::MAX, 0), |(latest, loads), (arrived, c)| {
            let loads: Time = loads + cheapest(queue, costs, *c);
            let by = arrived.saturating_add(queue.terms.latency).saturating_sub(loads);
            (latest.min(by), loads)
        });
        let from = latest.saturating_sub(queue.clock.width);
        let must = queue.now() >= from;
        again = (!must).then_some(from);
        let left = |slot: usize| work(queue, slots[slot].resident());
        let rate = |slot: usize| {
            let classes = slots[slot].resident().map_or(&[][..], |c| queue.served_by(c));
            classes.iter().map(|c| queue.classes[*c].demand.rate(&queue.clock)).sum::<f64>()
        };
        let older = |slot: usize| {
            let classes = slots[slot].resident().map_or(&[][..], |c| queue.served_by(c));
            classes.iter().filter_map(|c| queue.first(*c)).any(|o| o.op.arrived <= oldest)
        };
        // What has work stays for as long as its load took.
        let stays = |since: Time, configuration| {
            queue.now().saturating_sub(since) < costs.of(None, configuration).max(1)
        };
        let rank = |slot: usize| match slots[slot] {
            SlotState::Empty => Some((0, 0, 0)),
            SlotState::Idle { .. } if left(slot) == 0 => Some((1, (rate(slot) * 1e9) as Time, 0)),
            SlotState::Idle { since, configuration, .. } | SlotState::Busy { since, configuration, .. }
                if !must || older(slot) || stays(since, configuration) =>
            {
                None
            }
            SlotState::Idle { .. } => Some((2, left(slot), 0)),
            SlotState::Busy { until, .. } => Some((2, left(slot), until)),
            SlotState::Loading { .. } | SlotState::Failed => None,
        };
        let open = (0..slots.len()).filter(|slot| may(class, slot));
        match open.filter_map(|slot| Some((rank(slot)?, slot))).min() {
            Some((_, slot)) if matches!(slots[slot], SlotState::Busy { .. }) => draining = Some(slot),
            Some((_, slot)) => return view::load(queue, slots, &needs, slot, class, costs),
            None => {}
        }
    }
    if let Some(work) = view::execute(queue, slots, draining, Which::Any) {
        return work;
    }
    // Nothing can go on before what is missing, of which the first packet comes first.
    if !queue.slots_run()
        && let Some(&class) =
            missing.iter().filter(|c| loads(**c)).min_by_key(|c| queue.first(**c).map(|o| o.key))
    {
        let needs = view::needs(queue, slots, costs);
        let free = |slot: usize| match slots[slot] {
            SlotState::Empty => Some((0, 0)),
            SlotState::Idle { last_used, .. } => Some((work(queue, slots[slot].resident()), last_used)),
            _ => None,
        };
        let open = (0..slots.len()).filter(|slot| may(class, slot));
        if let Some((_, slot)) = open.filter_map(|slot| Some((free(slot)?, slot))).min() {
            return view::load(queue, slots, &needs, slot, class, costs);
        }
    }
    again.filter(|at| *at > queue.now()).map_or(Decision::Wait, Decision::WaitUntil)
}

fn cheapest(queue: &Queue, costs: &Costs, class: ClassId) -> Time {
    queue.classes[class].candidates.iter().map(|c| costs.of(None, *c)).min().unwrap_or(0)
}

/// Slot time that waits for a configuration, or comes to it.
fn work(queue: &Queue, configuration: Option<ConfigurationId>) -> Time {
    let classes = configuration.map_or(&[][..], |c| queue.served_by(c));
    let waits: Time = classes.iter().map(|c| queue.classes[*c].demand.work).sum();
    let comes = queue.classes.iter().filter(|c| c.then.is_some_and(|t| classes.contains(&t)));
    waits + comes.map(|c| c.coming).sum::<Time>()
}

/// How many configurations can take turns.
fn turns(queue: &Queue, slots: &[SlotState], costs: &Costs) -> usize {
    let used = queue.classes.iter().enumerate().filter(|(_, c)| !c.candidates.is_empty());
    let (sum, count) = used.fold((0, 0), |(sum, n), (at, _)| (sum + cheapest(queue, costs, at), n + 1));
    let load = (sum / count.max(1)).max(1);
    slots.len() + usize::try_from((queue.terms.latency / load).saturating_sub(1)).unwrap_or(usize::MAX / 2)
}

/// Whether a class is among those that take turns: of those with the most work, with an advantage for what is there.
fn takes_turns(queue: &Queue, slots: &[SlotState], class: ClassId, turns: usize, costs: &Costs) -> bool {
    let rate = |c: ClassId| queue.classes[c].demand.rate(&queue.clock);
    let ahead = |c: &ClassId| {
        let there = view::home(queue, slots, *c, costs).is_some();
        *c != class && rate(*c) * if there { 1.3 } else { 1.0 } > rate(class)
    };
    turns >= queue.classes.len()
        || queue.age(class).is_some_and(|age| age >= queue.terms.starvation)
        || (0..queue.classes.len()).filter(ahead).count() < turns
}
