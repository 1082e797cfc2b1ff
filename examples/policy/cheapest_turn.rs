// SPDX-License-Identifier: Apache-2.0
//! Loads what most operations wait for, for each unit of time that the load takes.

use super::view;
use crate::queue::select::Which;
use crate::{Costs, Decision, Queue, SlotState};

pub(crate) fn decide(queue: &Queue, slots: &[SlotState], costs: &Costs) -> Decision {
    // Work for what is loaded goes first.
    if let Some(work) = view::execute(queue, slots, None, Which::Any) {
        return work;
    }
    // Each kind of slot has one port.
    if queue.ports_busy(slots) {
        return Decision::Wait;
    }
    let needs = view::needs(queue, slots, costs);
    let mut best: Option<(f64, Decision)> = None;
    // What could not start would be loaded again and again, for nothing.
    for need in needs.iter().filter(|need| need.home.is_none() && queue.could_start(need.class)) {
        for (slot, state) in slots.iter().enumerate() {
            // A blocked one waits for another bank of its tile, and works then.
            let free = matches!(state, SlotState::Empty | SlotState::Idle { blocked: false, .. });
            if !free || !queue.may_load(slots, slot, need.class, costs) {
                continue;
            }
            let load = view::load(queue, slots, &needs, slot, need.class, costs);
            let Decision::Load { configuration, .. } = load else { continue };
            // What is resident already shortens the load of its like.
            let time = costs.of(state.resident(), configuration).max(1);
            let worth = queue.classes[need.class].waiting as f64 / time as f64;
            if best.as_ref().is_none_or(|(most, _)| worth > *most) {
                best = Some((worth, load));
            }
        }
    }
    best.map_or(Decision::Wait, |(_, load)| load)
}
