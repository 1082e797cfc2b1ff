// SPDX-License-Identifier: Apache-2.0
//! Slots of two kinds: what is made for one cannot be loaded into the other, and each has a port of its own.
//!
//! That is one rule for all policies. What both kinds can do is loaded where it is done sooner, as things stand: when a slot
//! of the kind has done what it has, what the load takes, and the time for what waits. The other kind gets it, too, when
//! loads in this one have cost as much as one there (ski rental): so all loads together cost at most twice the better of the
//! two. Where there is one kind, nothing of this decides anything.

use ace_engine::{ConfigurationId, Table};

use super::class::Class;
use super::op::ClassId;
use super::operations::Queue;
use crate::{Costs, SlotState, Time};

/// Which slots and configurations are of which kind. Without any slot of the first kind there is one kind alone.
#[derive(Clone, Debug, Default)]
pub(crate) struct Kinds {
    /// The first so many slots are of the first kind.
    pub first: usize,
    /// Whether a configuration is of the second one.
    second: Table<bool>,
}

/// Of both kinds, by number.
const BOTH: [usize; 2] = [0, 1];

impl Queue {
    /// Says that the first so many slots are of another kind than those behind them, and which configurations are made for
    /// the latter. What is loaded into slots of one kind does not keep the other kind from loads.
    pub fn set_kinds(&mut self, first: usize, second: Table<bool>) {
        self.kinds = Kinds { first, second };
    }

    /// Whether there are slots of two kinds.
    pub(crate) fn mixed(&self) -> bool {
        self.kinds.first > 0
    }

    /// The kind of a slot: of one kind alone, 0.
    pub(crate) fn kind(&self, slot: usize) -> usize {
        usize::from(self.mixed() && slot >= self.kinds.first)
    }

    fn kind_of(&self, configuration: ConfigurationId) -> usize {
        usize::from(self.mixed() && self.kinds.second.get(configuration).copied().unwrap_or(false))
    }

    /// Candidates of a class for slots of a kind, and their places among all of them.
    pub(crate) fn of_kind(
        &self,
        class: ClassId,
        kind: usize,
    ) -> impl Iterator<Item = (usize, ConfigurationId)> {
        let all = self.classes[class].candidates.iter().copied().enumerate();
        all.filter(move |(_, c)| self.kind_of(*c) == kind)
    }

    /// Whether slots of the kind of this one cannot be loaded now.
    pub(crate) fn port_busy(&self, slots: &[SlotState], slot: usize) -> bool {
        self.loading(slots, self.kind(slot)).is_some()
    }

    /// Whether no slot at all can be loaded now.
    pub(crate) fn ports_busy(&self, slots: &[SlotState]) -> bool {
        let kinds = if self.mixed() { &BOTH[..] } else { &BOTH[..1] };
        kinds.iter().all(|kind| self.loading(slots, *kind).is_some())
    }

    /// When the load under way in a slot of a kind is to end.
    fn loading(&self, slots: &[SlotState], kind: usize) -> Option<Time> {
        let ready = |(slot, state): (usize, &SlotState)| match *state {
            SlotState::Loading { ready_at, .. } if self.kind(slot) == kind => Some(ready_at),
            _ => None,
        };
        slots.iter().enumerate().filter_map(ready).max()
    }

    /// When a load for a class could begin, if no slot can be loaded with any of its candidates now.
    pub(crate) fn port_free(&self, slots: &[SlotState], class: ClassId) -> Option<Time> {
        let of = |kind: &usize| self.of_kind(class, *kind).next().map(|_| self.loading(slots, *kind));
        BOTH.iter().filter_map(of).min().flatten()
    }

    /// Whether a slot may be loaded for a class: something is made for it, no other one of its kind is being loaded, and the
    /// other kind would not be done sooner, or has been paid for often enough.
    pub(crate) fn may_load(&self, slots: &[SlotState], slot: usize, class: ClassId, costs: &Costs) -> bool {
        let kind = self.kind(slot);
        if self.port_busy(slots, slot) || self.of_kind(class, kind).next().is_none() {
            return false;
        }
        let other = 1 - kind;
        if self.of_kind(class, other).next().is_none() {
            return true;
        }
        self.paid(class, kind, costs)
            || self.bid(slots, class, kind, costs) <= self.bid(slots, class, other, costs)
    }

    /// Whether loads of a class in the other kind have cost as much as one in this kind does.
    pub(crate) fn paid(&self, class: ClassId, kind: usize, costs: &Costs) -> bool {
        let load = self.of_kind(class, kind).map(|(_, c)| costs.of(None, c)).min().unwrap_or(0);
        self.classes[class].rented[kind] >= load.max(1)
    }

    /// The time after which all that waits of a class is done in slots of a kind: where one has what it needs or is being
    /// loaded with it, or in the one that is done with its own first, behind a load.
    pub(crate) fn bid(&self, slots: &[SlotState], class: ClassId, kind: usize, costs: &Costs) -> f64 {
        let it = &self.classes[class];
        let done = |at: usize| it.time_on(at, it.demand.work);
        let best = |cost: &dyn Fn(ConfigurationId) -> f64| {
            let all = self.of_kind(class, kind).map(|(at, c)| cost(c) + done(at));
            all.fold(f64::INFINITY, f64::min)
        };
        let load = best(&|c| costs.of(None, c) as f64);
        let port = self.loading(slots, kind).map_or(0, |at| at.saturating_sub(self.clock.now)) as f64;
        let of = |slot: usize| {
            let there = slots[slot].expected();
            let own = there.and_then(|c| it.candidates.iter().position(|known| *known == c));
            match own {
                Some(at) => self.left(slots, slot) + done(at),
                None => (self.left(slots, slot) + self.behind(slots, slot)).max(port) + load,
            }
        };
        let own = (0..slots.len()).filter(|slot| self.kind(*slot) == kind);
        own.map(of).fold(f64::INFINITY, f64::min)
    }

    /// The time until a slot has done, or holds, what it was given.
    fn left(&self, slots: &[SlotState], slot: usize) -> f64 {
        let until = |at: Time| at.saturating_sub(self.clock.now) as f64;
        match slots[slot] {
            SlotState::Failed => f64::INFINITY,
            SlotState::Busy { until: at, .. } | SlotState::Loading { ready_at: at, .. } => until(at),
            SlotState::Empty | SlotState::Idle { .. } => 0.0,
        }
    }

    /// The time for what waits for what a slot holds, or its part of it.
    fn behind(&self, slots: &[SlotState], slot: usize) -> f64 {
        let Some(resident) = slots[slot].expected() else { return 0.0 };
        let of = |class: &ClassId| {
            let it = &self.classes[*class];
            let serves = |slot: &&SlotState| slot.expected().is_some_and(|c| it.candidates.contains(&c));
            let copies = slots.iter().filter(serves).count().max(1);
            let at = it.candidates.iter().position(|c| *c == resident);
            at.map_or(0.0, |at| it.time_on(at, it.demand.work) / copies as f64)
        };
        self.served_by(resident).iter().map(of).sum()
    }

    /// Whether a slot holds a configuration for a class, or awaits one and no slot of the other kind would be done before
    /// that is there.
    pub(crate) fn awaits(&self, slots: &[SlotState], slot: usize, class: ClassId, costs: &Costs) -> bool {
        let expected = slots[slot].expected();
        let position = expected.and_then(|c| self.classes[class].candidates.iter().position(|it| *it == c));
        let (Some(at), SlotState::Loading { ready_at, .. }) = (position, slots[slot]) else {
            return position.is_some();
        };
        let other = 1 - self.kind(slot);
        if !self.mixed() || self.of_kind(class, other).next().is_none() {
            return true;
        }
        let it = &self.classes[class];
        let here = ready_at.saturating_sub(self.clock.now) as f64 + it.time_on(at, it.demand.work);
        here <= self.bid(slots, class, other, costs)
    }

    /// When an operation of a class would be done in a slot that holds what it needs, from now. Of one kind alone that is not
    /// asked: the preferred candidate has it.
    pub(crate) fn done_in(&self, slots: &[SlotState], slot: usize, class: ClassId, cost: Time) -> u64 {
        let it = &self.classes[class];
        let resident = slots[slot].resident();
        let at = it.candidates.iter().position(|c| resident == Some(*c));
        let (Some(at), true) = (at, self.mixed()) else { return 0 };
        // Beside others it takes its share of the slot; alone it waits for each of its own blocks.
        let beside = if matches!(slots[slot], SlotState::Busy { .. }) { usize::MAX } else { 1 };
        (self.left(slots, slot) + it.time_of(at, cost, beside)) as u64
    }

    /// Counts a load: what it has cost is paid towards one of the other kind.
    pub(super) fn pays(&mut self, configuration: ConfigurationId, cost: Time) {
        if !self.mixed() {
            return;
        }
        let kind = self.kind_of(configuration);
        for class in self.served_by(configuration).to_vec() {
            let Class { rented, .. } = &mut self.classes[class];
            rented[kind] = 0;
            rented[1 - kind] = rented[1 - kind].saturating_add(cost);
        }
    }
}

#[cfg(test)]
mod tests {
    use ace_engine::ConfigurationId;

    use crate::{Costs, Decision, Policy, Queue, QueuedOp, SlotState, Terms, Time};

    const BITS: ConfigurationId = ConfigurationId::from_index(0);
    /// Does the same as the bits, in the other kind of slot, and is loaded in a hundredth of the time.
    const SET: ConfigurationId = ConfigurationId::from_index(1);
    const OTHER_SET: ConfigurationId = ConfigurationId::from_index(2);
    const OTHER_BITS: ConfigurationId = ConfigurationId::from_index(3);
    const LOAD: Time = 10_000;
    const LATENCY: Time = 50_000_000;

    /// One packet for what both kinds can do, in front of one for each of these.
    fn queue(others: &[ConfigurationId]) -> Queue {
        let mut queue = Queue::new(Terms::new(LATENCY, LOAD));
        queue.set_kinds(1, vec![false, true, true, false].into());
        let classes = [&[BITS, SET][..]].into_iter().chain(others.chunks(1));
        let classes: Vec<_> = classes.map(|candidates| queue.class(candidates, &[])).collect();
        for (id, class) in classes.into_iter().enumerate() {
            let (cost, next, bytes) = (100, 0, 1500);
            let (flow, id) = (id as u32, id as u64);
            let op = QueuedOp {
                id,
                flow,
                packet: id,
                arrived: 0,
                class,
                cost,
                next,
                cpu: None,
                aside: 0,
                host: 0,
                bytes,
            };
            queue.push(op);
        }
        queue
    }

    fn costs() -> Costs {
        Costs::whole(vec![LOAD, LOAD / 100, LOAD / 100, LOAD])
    }

    /// What each policy does with a slot of either kind.
    fn decisions(queue: &Queue, slots: [SlotState; 2]) -> Vec<Decision> {
        Policy::ALL.iter().map(|policy| policy.decide(queue, &slots, &costs())).collect()
    }

    fn load(slot: usize, configuration: ConfigurationId) -> Vec<Decision> {
        vec![Decision::Load { slot, configuration }; Policy::ALL.len()]
    }

    const fn busy(configuration: ConfigurationId, until: Time) -> SlotState {
        SlotState::Busy { configuration, since: 0, until, room: 0 }
    }

    #[test]
    fn what_both_can_do_goes_where_it_is_done_first() {
        use SlotState::{Empty, Failed};
        assert_eq!(decisions(&queue(&[]), [Empty, Empty]), load(1, SET));
        assert_eq!(decisions(&queue(&[]), [Empty, Failed]), load(0, BITS));
        // Soon it is worth waiting for, and later the other kind is sooner.
        for (until, wanted) in [(LOAD / 2, None), (2 * LOAD, Some(BITS))] {
            // On-demand waits for whatever runs.
            for policy in Policy::ALL.into_iter().filter(|policy| *policy != Policy::OnDemand) {
                let mut queue = queue(&[OTHER_SET]);
                queue.start(1, 1);
                let decision = policy.decide(&queue, &[Empty, busy(OTHER_SET, until)], &costs());
                match (decision, wanted) {
                    (Decision::Load { slot: 0, configuration }, Some(wanted)) => {
                        assert_eq!(configuration, wanted, "{policy}");
                    }
                    (Decision::Wait | Decision::WaitUntil(_), None) => {}
                    (decision, wanted) => panic!("{policy}: {decision:?}, not {wanted:?}"),
                }
            }
        }
    }

    #[test]
    fn what_one_kind_alone_can_do_goes_there() {
        for (configuration, slot) in [(OTHER_BITS, 0), (OTHER_SET, 1)] {
            let mut queue = queue(&[configuration]);
            queue.remove(0);
            assert_eq!(decisions(&queue, [SlotState::Empty; 2]), load(slot, configuration));
        }
    }

    #[test]
    fn a_load_of_one_kind_keeps_no_slot_of_the_other_one_from_its_own() {
        let loading = SlotState::Loading { configuration: OTHER_BITS, ready_at: LOAD };
        for policy in Policy::ALL.into_iter().filter(|policy| *policy != Policy::OnDemand) {
            let decide = |slots: [SlotState; 2]| policy.decide(&queue(&[OTHER_BITS]), &slots, &costs());
            assert_eq!(decide([loading, SlotState::Empty]), Decision::Load { slot: 1, configuration: SET });
            // Nor is what the packet could have in a long time what it needs.
            let own = SlotState::Loading { configuration: BITS, ready_at: LOAD };
            assert_eq!(decide([own, SlotState::Empty]), Decision::Load { slot: 1, configuration: SET });
            // Two of one kind are not loaded at once.
            let set = SlotState::Loading { configuration: OTHER_SET, ready_at: 10 };
            let decision = decide([SlotState::Empty, set]);
            assert_eq!(decision, Decision::Load { slot: 0, configuration: OTHER_BITS }, "{policy}");
        }
    }

    #[test]
    fn loads_of_sets_that_cost_as_much_pay_for_bits() {
        let mut queue = queue(&[]);
        let slots = [SlotState::Empty; 2];
        for _ in 0..99 {
            queue.load(None, SET, &costs());
        }
        assert!(!queue.may_load(&slots, 0, 0, &costs()));
        queue.load(None, SET, &costs());
        assert!(queue.may_load(&slots, 0, 0, &costs()) && queue.may_load(&slots, 1, 0, &costs()));
        queue.load(None, BITS, &costs());
        assert!(!queue.may_load(&slots, 0, 0, &costs()));
    }
}
