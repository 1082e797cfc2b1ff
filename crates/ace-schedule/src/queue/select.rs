// SPDX-License-Identifier: Apache-2.0
//! What policies ask of the queue.

use super::class::{Op, Place};
use super::flow::At;
use super::line::Line;
use super::op::ClassId;
use super::operations::Queue;
use crate::types::{SlotState, Time};

/// Which operations a slot may be given.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Which {
    Any,
    InTime,
    Late,
}

impl Queue {
    fn first_of(&self, line: &Line) -> Option<&Op> {
        line.first().map(|at| &self.ops[at as usize])
    }

    /// The first operation of a class.
    pub(crate) fn first(&self, class: ClassId) -> Option<&Op> {
        let it = &self.classes[class];
        if it.waiting == 0 {
            return None;
        }
        let follows = it.follows.iter().map(|at| &self.ops[*at as usize]);
        let rest = [self.first_of(&it.late), self.first_of(&it.ready)].into_iter().flatten();
        rest.chain(follows).min_by_key(|o| o.key)
    }

    /// Operations of a class that may start in `slot` now, the late ones first.
    pub(crate) fn heads_for(&self, class: ClassId, slot: usize) -> impl Iterator<Item = &Op> {
        let it = &self.classes[class];
        let all = it.late.iter().chain(it.ready.iter()).chain(&it.follows);
        let may = move |o: &&Op| !matches!(o.place, Place::Follows(other) if other != slot);
        all.map(|at| &self.ops[*at as usize]).filter(may)
    }

    /// Whether an operation of a class could start now in a slot that was loaded for it: what follows one that the processor
    /// does, could when that has ended, and a load takes longer.
    pub(crate) fn could_start(&self, class: ClassId) -> bool {
        let it = &self.classes[class];
        it.ready.len() + it.late.len() > 0 || self.follows_processor(class)
    }

    /// Whether an operation of a class waits for nothing but one that the processor does.
    pub(crate) fn follows_processor(&self, class: ClassId) -> bool {
        let place = |at: &At| self.ops[*at as usize].place;
        self.classes[class]
            .follows
            .iter()
            .any(|at| matches!(place(at), Place::Follows(slot) if self.is_ours(slot)))
    }

    /// The first operation of a class that may start in `slot` now.
    pub(crate) fn startable(&self, class: ClassId, slot: usize, which: Which) -> Option<&Op> {
        let it = &self.classes[class];
        if it.waiting == 0 {
            return None;
        }
        let late = if which == Which::InTime { None } else { self.first_of(&it.late) };
        let ready = if which == Which::Late { None } else { self.first_of(&it.ready) };
        let behind = it.follows.iter().map(|at| &self.ops[*at as usize]).filter(|o| {
            let in_time = || self.clock.in_time(o.op.arrived, o.op.cost);
            o.place == Place::Follows(slot)
                && match which {
                    Which::Any => true,
                    Which::InTime => in_time(),
                    Which::Late => !in_time(),
                }
        });
        late.into_iter().chain(ready).chain(behind).min_by_key(|o| o.key)
    }

    /// The first operation that `slot` may be given now, if it takes any.
    pub(crate) fn next_for(&self, slots: &[SlotState], slot: usize, which: Which) -> Option<&Op> {
        let state = &slots[slot];
        if !state.takes() {
            return None;
        }
        let classes = self.served_by(state.resident()?);
        classes.iter().filter_map(|c| self.startable(*c, slot, which)).min_by_key(|o| o.key)
    }

    /// The first packet of a class that runs.
    pub(crate) fn first_running(&self, class: ClassId) -> Option<u64> {
        if self.classes[class].running == 0 {
            return None;
        }
        self.running().filter(|op| op.class == class).map(|op| op.packet).min()
    }

    /// Age of the oldest operation of a class that waits, by its first one.
    pub(crate) fn age(&self, class: ClassId) -> Option<Time> {
        self.first(class).map(|o| self.clock.now.saturating_sub(o.op.arrived))
    }
}
