// SPDX-License-Identifier: Apache-2.0
//! Configurations that do the same at another pace, one for many packets at once and one for few: which of them is loaded.
//!
//! That is one rule for all policies, which decide that something is loaded for a class, and where: to them the
//! configurations of a group are one. What is there is used, and changed for another one of its group when that would have
//! saved the time of the change (ski rental): so all changes together cost at most what they have been worth.

use std::collections::HashMap;
use std::ops::Range;

use super::operations::Queue;
use super::regret::{Equivalents, Regret};
use ace_engine::ConfigurationId;

use crate::{Costs, SlotState, Time};

impl Queue {
    /// Says which configurations do the same, and how many banks a tile has: it gets two of a group into none of them, as
    /// frames cannot tell them apart.
    pub fn set_equivalents(&mut self, groups: Vec<Vec<ConfigurationId>>, banks: usize) {
        self.equivalents = Equivalents { groups, banks, regrets: HashMap::new() };
    }

    /// Those that do what a configuration does, itself among them; none if it is the only one.
    pub(crate) fn equivalents(&self, configuration: ConfigurationId) -> &[ConfigurationId] {
        let group = self.equivalents.groups.iter().find(|group| group.contains(&configuration));
        group.map_or(&[], Vec::as_slice)
    }

    /// The banks of a tile, one of which this slot is.
    pub(crate) fn tile(&self, slot: usize) -> Range<usize> {
        let banks = self.equivalents.banks.max(1);
        let Some(behind) = slot.checked_sub(self.kinds.first) else { return slot..slot + 1 };
        let first = self.kinds.first + behind / banks * banks;
        first..first + banks
    }

    /// Whether a slot, in one of its banks, holds or awaits what does the same.
    pub(crate) fn holds_equivalent(
        &self,
        slots: &[SlotState],
        slot: usize,
        configuration: ConfigurationId,
    ) -> bool {
        let (group, tile) = (self.equivalents(configuration), self.tile(slot));
        let of_tile = slots.iter().skip(tile.start).take(tile.len());
        !group.is_empty() && of_tile.filter_map(SlotState::expected).any(|resident| group.contains(&resident))
    }

    /// Instead of a configuration the one of its group that is done first with the packets that wait or come, at most `most`
    /// at a time, its load into a slot that holds `over` included.
    pub(crate) fn cheapest_equivalent(
        &self,
        wanted: ConfigurationId,
        over: Option<ConfigurationId>,
        most: usize,
        costs: &Costs,
    ) -> ConfigurationId {
        let group = self.equivalents(wanted);
        let packets = if group.is_empty() { 0 } else { self.packets_for(wanted).min(most) };
        if packets == 0 {
            return wanted;
        }
        let done = |c: &ConfigurationId| Some((self.time_with(*c, packets)? + costs.of(over, *c) as f64, *c));
        let best = group.iter().filter_map(done).min_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
        best.map_or(wanted, |(_, c)| c)
    }

    /// Says that a slot that holds this configuration works on an operation, one of so many at a time: another one of the group
    /// might have saved some of its time.
    pub fn worked(&mut self, resident: ConfigurationId, op: u64, packets: usize) {
        let group = self.equivalents(resident);
        let Some(op) = self.op(op).filter(|_| !group.is_empty()) else { return };
        let (it, cost) = (&self.classes[op.class], op.cost);
        let time = |c: &ConfigurationId| {
            let at = it.candidates.iter().position(|known| known == c)?;
            Some((it.time_of(at, cost, packets), it.time_of(at, cost, 1), *c))
        };
        let others = group.iter().filter(|c| **c != resident).filter_map(time);
        let Some((own, best)) = time(&resident).zip(others.min_by(|a, b| a.0.total_cmp(&b.0))) else {
            return;
        };
        let known = self.equivalents.regrets.get(&resident).filter(|known| known.other == best.2);
        let saved = (known.map_or(0.0, |known| known.saved) + own.0 - best.0).max(0.0);
        self.equivalents.regrets.insert(resident, Regret { other: best.2, saved, drain: own.1 });
    }

    /// Forgets that of a group which is loaded anew.
    pub(crate) fn repent(&mut self, loaded: ConfigurationId) {
        for c in self.equivalents(loaded).to_vec() {
            self.equivalents.regrets.remove(&c);
        }
    }

    /// What takes the place of what a slot holds, if another one of its group has been missed for long enough, and the port
    /// is free.
    pub(crate) fn instead(&self, slots: &[SlotState], slot: usize, costs: &Costs) -> Option<ConfigurationId> {
        let resident = slots.get(slot)?.resident()?;
        let Regret { other, saved, drain } = *self.equivalents.regrets.get(&resident)?;
        let serves = !self.served_by(other).is_empty();
        (serves && !self.port_busy(slots, slot) && saved > costs.of(Some(resident), other) as f64 + drain)
            .then_some(other)
    }

    /// Packets that wait for a configuration or for those like it, or that are in the pass before.
    fn packets_for(&self, configuration: ConfigurationId) -> usize {
        let of = |class: &usize| {
            let before = self.classes.iter().filter(|c| c.then == Some(*class));
            self.classes[*class].waiting + before.map(|c| c.waiting + c.running).sum::<usize>()
        };
        self.served_by(configuration).iter().map(of).sum()
    }

    /// Slot time of a configuration for all of these packets; none if it does not serve them any more.
    fn time_with(&self, configuration: ConfigurationId, packets: usize) -> Option<f64> {
        let classes = self.served_by(configuration);
        let of = |class: &usize| {
            let it = &self.classes[*class];
            let at = it.candidates.iter().position(|c| *c == configuration)?;
            let before = self.classes.iter().filter(|c| c.then == Some(*class));
            let work = it.demand.work + before.map(|c| c.coming).sum::<Time>();
            Some(it.time_of(at, work, packets))
        };
        if classes.is_empty() { None } else { classes.iter().map(of).sum() }
    }
}

#[cfg(test)]
mod tests {
    use ace_engine::ConfigurationId;

    use crate::{Costs, Decision, Policy, Processor, Queue, QueuedOp, SlotState, Terms, Time};

    const LATENCY: Time = 50_000_000;
    /// Something else, and two that do the same: SHA-1's, with 112 and 148 clocks a block, and 1008 and 740 of one packet.
    const OTHER: ConfigurationId = ConfigurationId::from_index(0);
    const MANY: ConfigurationId = ConfigurationId::from_index(1);
    const FEW: ConfigurationId = ConfigurationId::from_index(2);
    const PACES: [(f64, f64); 2] = [(1.0, 9.0), (148.0 / 112.0, 5.0)];

    /// A queue with so many packets of so many flows that need either of them, behind a pass of `before` if that is said.
    fn queue(packets: u64, flows: u32, before: Option<ConfigurationId>) -> Queue {
        let mut queue = Queue::new(Terms::new(LATENCY, 10));
        queue.set_equivalents(vec![vec![MANY, FEW]], 2);
        let hash = queue.class(&[MANY, FEW], &[]);
        queue.set_paces(hash, PACES.to_vec());
        let class = before.map_or(hash, |c| queue.class(&[c], &[vec![MANY, FEW]]));
        for id in 0..packets {
            let next = if before.is_some() { 4000 } else { 0 };
            queue.push(QueuedOp { next, ..op(id, id as u32 % flows, class) });
        }
        queue
    }

    fn op(id: u64, flow: u32, class: usize) -> QueuedOp {
        let (cost, next, bytes) = (4000, 0, 1500);
        QueuedOp { id, flow, packet: id, arrived: 0, class, cost, next, cpu: None, aside: 0, host: 0, bytes }
    }

    fn idle(configuration: ConfigurationId) -> SlotState {
        SlotState::Idle { configuration, last_used: 0, since: 0, blocked: false }
    }

    fn costs() -> Costs {
        Costs::whole(vec![10, 9, 12])
    }

    #[test]
    fn every_policy_loads_what_is_done_first() {
        // 1 / 740 is more than 1 / 1008, 4 / 740 more than 4 / 1008, and 8 / 1008 more than 1 / 148.
        for (packets, wanted) in [(1, FEW), (4, FEW), (6, FEW), (7, MANY), (8, MANY), (16, MANY)] {
            for flows in [1, 16] {
                for policy in Policy::ALL {
                    let decision = policy.decide(&queue(packets, flows, None), &[SlotState::Empty], &costs());
                    // On-demand never runs two at once.
                    let wanted = if policy == Policy::OnDemand { FEW } else { wanted };
                    let load = Decision::Load { slot: 0, configuration: wanted };
                    assert_eq!(decision, load, "{policy}: {packets} packets of {flows} flows");
                }
            }
        }
        // So little waits that what is loaded sooner is done sooner.
        let dear = Costs::whole(vec![10, 9, 30_000]);
        for policy in Policy::ALL {
            let decision = policy.decide(&queue(1, 1, None), &[SlotState::Empty], &dear);
            assert_eq!(decision, Decision::Load { slot: 0, configuration: MANY }, "{policy}");
        }
    }

    /// Triple DES: a ring of eight, 603 Mb/s with as many packets, and a core of 200 Mb/s, which a packet alone ends sooner.
    /// Beside a processor as without.
    #[test]
    fn of_a_ring_and_a_core_that_is_loaded_which_ends_the_work_sooner() {
        for (packets, wanted) in [(1, FEW), (2, FEW), (3, MANY), (8, MANY), (20, MANY)] {
            let mut queue = queue(packets, 20, None);
            queue.set_paces(0, vec![(1.0, 8.0), (603.0 / 200.0, 1.0)]);
            let load = Decision::Load { slot: 0, configuration: wanted };
            let slots = [SlotState::Empty];
            assert_eq!(Policy::DoubleBuffer.decide(&queue, &slots, &costs()), load, "{packets} packets");
            let processor = Processor::default();
            let beside =
                Policy::DoubleBuffer.decide_with_coprocessor(&mut queue, &slots, &costs(), processor);
            assert_eq!(beside, load, "{packets} packets beside a processor");
        }
    }

    #[test]
    fn packets_in_the_pass_before_count() {
        for (packets, wanted) in [(1, FEW), (16, MANY)] {
            let mut queue = queue(packets, 16, Some(OTHER));
            for id in 0..packets {
                queue.start(id, 0);
            }
            let busy = SlotState::Busy { configuration: OTHER, since: 0, until: 4000, room: 0 };
            let decision = Policy::DoubleBuffer.decide(&queue, &[busy, SlotState::Empty], &costs());
            assert_eq!(decision, Decision::Load { slot: 1, configuration: wanted });
        }
    }

    #[test]
    fn what_is_there_is_used() {
        for (packets, resident) in [(1, MANY), (16, FEW)] {
            for policy in Policy::ALL {
                let decision = policy.decide(&queue(packets, 16, None), &[idle(resident)], &costs());
                assert_eq!(decision, Decision::Execute { slot: 0, op: 0 }, "{policy}: {packets} packets");
            }
        }
    }

    /// With so many operations at a time in a slot that holds one of them: after how many it is changed for the other one, of
    /// at most a hundred.
    fn changed(resident: ConfigurationId, at_once: u64) -> Option<u64> {
        let mut queue = queue(1, 1, None);
        let class = 0;
        queue.load(None, resident, &costs());
        let slots = [SlotState::Busy { configuration: resident, since: 0, until: 1, room: 20 }];
        for id in 0..100 {
            match Policy::DoubleBuffer.decide(&queue, &slots, &costs()) {
                Decision::Execute { op, .. } => assert_eq!(op, id),
                // It takes nothing more, and is loaded when it has done what it has.
                Decision::Wait => {
                    let other = if resident == MANY { FEW } else { MANY };
                    let load = Decision::Load { slot: 0, configuration: other };
                    let decide =
                        |queue: &Queue| Policy::DoubleBuffer.decide(queue, &[idle(resident)], &costs());
                    assert_eq!(decide(&queue), load);
                    // Not while something else is on its way.
                    let ready_at = 1;
                    let other = SlotState::Loading { configuration: OTHER, ready_at };
                    let decision = Policy::DoubleBuffer.decide(&queue, &[idle(resident), other], &costs());
                    assert_eq!(decision, Decision::Execute { slot: 0, op: id });
                    queue.load(Some(resident), resident, &costs());
                    assert_eq!(decide(&queue), Decision::Execute { slot: 0, op: id });
                    return Some(id);
                }
                decision => panic!("{decision:?}"),
            }
            queue.start(id, 0);
            queue.worked(resident, id, at_once as usize);
            queue.finish(id);
            queue.push(op(id + 1, id as u32, class));
        }
        None
    }

    #[test]
    fn what_is_there_is_changed_when_that_would_have_paid() {
        // The drain takes 26429 and the load 9. With 16 at a time an operation takes 4000 or 5286.
        assert_eq!(changed(FEW, 16), Some(21));
        assert_eq!(changed(MANY, 16), None);
        // Alone 36000 or 26429.
        assert_eq!(changed(MANY, 1), Some(4));
        assert_eq!(changed(FEW, 1), None);
    }

    #[test]
    fn what_is_refused_is_not_loaded() {
        for (packets, refused, left) in [(1, FEW, MANY), (16, MANY, FEW)] {
            let mut queue = queue(packets, 16, None);
            assert_eq!(queue.refuse(refused), Vec::<u64>::new());
            for policy in Policy::ALL {
                let decision = policy.decide(&queue, &[SlotState::Empty], &costs());
                assert_eq!(decision, Decision::Load { slot: 0, configuration: left }, "{policy}");
            }
        }
    }

    #[test]
    fn a_slot_has_no_two_of_them() {
        // More comes than one can do: adaptive wants another copy. It goes into the other slot, of whichever pace, and
        // neither into the bank beside nor over what does the same.
        let mut queue = Queue::new(Terms::new(LATENCY, 10));
        let class = queue.class(&[MANY, FEW], &[]);
        queue.set_paces(class, PACES.to_vec());
        for id in 0..20_000 {
            queue.push(QueuedOp { arrived: id * 2000, cost: 8000, ..op(id, id as u32, class) });
        }
        let busy = |c| SlotState::Busy { configuration: c, since: 1, until: 80_000_000, room: 0 };
        let decide = |queue: &Queue, slots: &[SlotState]| Policy::Adaptive.decide(queue, slots, &costs());
        let two = [busy(FEW), SlotState::Empty];
        assert_eq!(decide(&queue, &two), Decision::Load { slot: 1, configuration: MANY });
        queue.set_equivalents(vec![vec![MANY, FEW]], 2);
        assert!(!matches!(decide(&queue, &two), Decision::Load { .. }));
        assert!(!matches!(decide(&queue, &[busy(FEW), idle(OTHER)]), Decision::Load { .. }));
        let four = [busy(FEW), idle(OTHER), SlotState::Empty, SlotState::Empty];
        assert_eq!(decide(&queue, &four), Decision::Load { slot: 2, configuration: MANY });
    }
}
