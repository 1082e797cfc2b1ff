// SPDX-License-Identifier: Apache-2.0
//! What is served in time decides: a load is worth the slot time that it brings into time, less what it costs others.
//!
//! See `docs/scheduling.md` for the rule in words. All times are in the caller's unit.

use std::cmp::Reverse;

use super::view;
use super::view::Need;
use crate::queue::ClassId;
use crate::queue::demand::in_time;
use crate::queue::select::Which;
use ace_engine::ConfigurationId;

use crate::{Costs, Decision, Queue, SlotState, Time};

/// What a unit of age is worth in slot time. 0 would let ties go by number and starve; 5 is oldest first.
const AGE: f64 = 0.01;
/// What a unit of slot time is worth behind a first pass that is still to be done.
const COMING: f64 = 0.25;
/// A class needs another copy when its slots are busy for this part of the time.
const FULL: f64 = 0.92;

pub(crate) fn decide(queue: &Queue, slots: &[SlotState], costs: &Costs) -> Decision {
    let port_free = !queue.ports_busy(slots);
    let mut draining = None;
    let mut unserved = false;
    if port_free {
        let scene = Scene::new(queue, slots, costs);
        unserved = scene.unserved();
        match if unserved { scene.best_load() } else { None } {
            Some((slot, _)) if matches!(slots[slot], SlotState::Busy { .. }) => draining = Some(slot),
            Some((slot, configuration)) => return Decision::Load { slot, configuration },
            None => {}
        }
    }
    let starved =
        queue.classes.iter().enumerate().any(|(c, it)| {
            !it.late.is_empty() && queue.age(c).is_some_and(|age| age >= queue.terms.starvation)
        });
    let order = if starved { [Which::Any, Which::Late] } else { [Which::InTime, Which::Late] };
    if let Some(work) = order.into_iter().find_map(|which| view::execute(queue, slots, draining, which)) {
        return work;
    }
    if unserved && slots.iter().any(|s| *s != SlotState::Failed) {
        return Decision::WaitUntil(queue.now() + tick(queue, costs));
    }
    Decision::Wait
}

/// What waits and is not served is looked at again after so long, if nothing happens before.
fn tick(queue: &Queue, costs: &Costs) -> Time {
    let load = costs.load.iter().copied().filter(|l| *l > 0).min().unwrap_or(Time::MAX);
    (queue.terms.latency / 100).min(load / 2).max(1)
}

/// How good a load is: what it does, how well, and how late the slot's configuration is needed again. Compared in this
/// order.
type Score = (u8, f64, u64);
const EMPTY: u8 = 5;
const IDLE: u8 = 4;
/// Nothing can go on; what the slot holds is needed again.
const STUCK: u8 = 3;
const BUSY: u8 = 2;
const LATE: u8 = 1;
const STARVED: u8 = 0;

struct Scene<'a> {
    queue: &'a Queue,
    slots: &'a [SlotState],
    costs: &'a Costs,
    /// By class: slots that hold or await a configuration for it.
    copies: Vec<u32>,
    /// By class: slot time of second passes whose first one can be served.
    comes: Vec<Time>,
    /// By class: slot time of second passes whose first one waits for a configuration that is missing.
    stuck_work: Vec<Time>,
    /// Nothing runs and nothing could start: what packets need.
    stuck: Option<Vec<Need>>,
}

/// A load for a class, before it is said where.
struct Wish {
    class: ClassId,
    configuration: ConfigurationId,
    age: f64,
    /// Its first packet, if one waits.
    first: u64,
}

impl<'a> Scene<'a> {
    fn new(queue: &'a Queue, slots: &'a [SlotState], costs: &'a Costs) -> Self {
        let mut copies = vec![0; queue.classes.len()];
        for (slot, state) in slots.iter().enumerate() {
            let served = state.expected().map_or(&[][..], |c| queue.served_by(c)).iter();
            let awaited = served.filter(|c| queue.awaits(slots, slot, **c, costs));
            awaited.for_each(|c| copies[*c] += 1);
        }
        let (mut comes, mut stuck_work) = (vec![0; queue.classes.len()], vec![0; queue.classes.len()]);
        for (class, it) in queue.classes.iter().enumerate() {
            let Some(then) = it.then else { continue };
            match copies[class] > 0 && it.heads() + it.running > 0 {
                true => comes[then] += it.coming,
                false => stuck_work[then] += it.coming,
            }
        }
        let stuck = !queue.slots_run()
            && (0..slots.len()).all(|slot| queue.next_for(slots, slot, Which::Any).is_none());
        let stuck = stuck.then(|| view::needs(queue, slots, costs));
        Self { queue, slots, costs, copies, comes, stuck_work, stuck }
    }

    /// Whether a load could be of use.
    fn unserved(&self) -> bool {
        (0..self.copies.len()).any(|c| self.wants(c))
    }

    fn waits(&self, class: ClassId) -> bool {
        self.queue.classes[class].heads() > 0 || self.comes[class] > 0
    }

    /// Whether a class lacks a configuration, or needs another copy of one: more comes than its slots can do, two loads'
    /// worth waits for each of them, and in more flows than there are slots.
    fn wants(&self, class: ClassId) -> bool {
        let (it, copies) = (&self.queue.classes[class], self.copies[class]);
        if it.candidates.is_empty() || it.held_back || !self.waits(class) {
            return false;
        }
        let load = || it.candidates.iter().map(|c| self.costs.of(None, *c)).min().unwrap_or(0);
        copies == 0
            || ((copies as usize) < (0..self.slots.len()).filter(|slot| self.fits(class, *slot)).count()
                && it.heads() > copies as usize
                && it.demand.rate(&self.queue.clock) > FULL * f64::from(copies)
                && it.demand.work > 2 * load() * Time::from(copies))
    }

    /// Whether something is made for a slot that serves a class.
    fn fits(&self, class: ClassId, slot: usize) -> bool {
        self.queue.of_kind(class, self.queue.kind(slot)).next().is_some()
    }

    /// Classes that a load of `configuration` would serve besides `class`: those that have none yet.
    fn value(&self, wish: &Wish, start: Time) -> f64 {
        let (queue, class) = (self.queue, wish.class);
        let served = queue.served_by(wish.configuration).iter();
        let demands = served
            .filter(|c| **c == class || (self.copies[class] == 0 && self.copies[**c] == 0))
            .map(|c| &queue.classes[*c].demand);
        in_time(&queue.clock, demands, start) as f64 / f64::from(self.copies[class] + 1)
    }

    /// Slot time in time of what a slot serves, if it goes on at `start`.
    fn value_in_time(&self, configuration: ConfigurationId, start: Time) -> f64 {
        let of = |c: &ClassId| {
            let value = in_time(&self.queue.clock, [&self.queue.classes[*c].demand].into_iter(), start);
            self.queue.weight(*c) * value as f64 / f64::from(self.copies[*c].max(1))
        };
        self.queue.served_by(configuration).iter().map(of).sum()
    }

    /// What a slot's time is worth while it holds a configuration: that of its best class.
    fn worth(&self, configuration: ConfigurationId) -> f64 {
        self.queue.served_by(configuration).iter().map(|c| self.queue.weight(*c)).fold(0.0, f64::max)
    }

    /// Slot time that waits for a slot or comes to it.
    fn work(&self, configuration: ConfigurationId) -> f64 {
        let of = |c: &ClassId| {
            (self.queue.classes[*c].demand.work + self.comes[*c]) as f64 / f64::from(self.copies[*c].max(1))
        };
        self.queue.served_by(configuration).iter().map(of).sum()
    }

    /// Whether a slot has work that can go on and is in time, or comes.
    fn has_work(&self, slot: usize) -> bool {
        if matches!(self.slots[slot], SlotState::Busy { .. }) {
            return true;
        }
        let classes = self.slots[slot].resident().map_or(&[][..], |c| self.queue.served_by(c));
        self.stuck.is_none()
            && classes.iter().any(|c| self.comes[*c] > 0 || self.queue.classes[*c].heads() > 0)
    }

    /// Slot time of packets that a slot will serve when something else has been loaded: giving it up would only mean to
    /// load it again.
    fn owed(&self, slot: usize) -> f64 {
        let classes = self.slots[slot].resident().map_or(&[][..], |c| self.queue.served_by(c));
        let of = |c: &ClassId| {
            let it = &self.queue.classes[*c];
            let blocked = if it.heads() == 0 { it.demand.work } else { 0 };
            (self.stuck_work[*c] + blocked) as f64 / f64::from(self.copies[*c].max(1))
        };
        classes.iter().map(of).sum()
    }

    /// The first packet that needs what a slot holds, where nothing can go on.
    fn next_use(&self, slot: usize) -> u64 {
        let mut needs = self.stuck.iter().flatten();
        needs.find(|n| n.home == Some(slot)).map_or(u64::MAX, |n| n.packet)
    }

    /// The part of a slot that a configuration's operations take.
    fn rate(&self, configuration: ConfigurationId) -> f64 {
        let of = |c: &ClassId| {
            self.queue.classes[*c].demand.rate(&self.queue.clock) / f64::from(self.copies[*c].max(1))
        };
        self.queue.served_by(configuration).iter().map(of).sum()
    }

    /// The least time until a slot of a kind has nothing left to do; but for one of them.
    fn wait(&self, kind: usize, but: Option<usize>) -> f64 {
        let now = self.queue.now();
        let left = |slot: usize| {
            let running = match self.slots[slot] {
                SlotState::Failed => return f64::INFINITY,
                SlotState::Busy { until, .. } => until.saturating_sub(now) as f64,
                _ => 0.0,
            };
            let Some(configuration) = self.slots[slot].resident() else { return 0.0 };
            self.work(configuration) / (1.0 - self.rate(configuration).min(0.9)) + running
        };
        let all = (0..self.slots.len()).filter(|slot| self.queue.kind(*slot) == kind && but != Some(*slot));
        all.map(left).fold(f64::INFINITY, f64::min)
    }

    /// Of the configurations for a kind of slot that serve a class, the one that is done with its queue first.
    fn wish(&self, class: ClassId, kind: usize) -> Option<Wish> {
        let it = &self.queue.classes[class];
        let first = self.queue.age(class).or_else(|| {
            let before = |c: &ClassId| self.queue.classes[*c].then == Some(class) && self.copies[*c] > 0;
            (0..self.copies.len()).filter(before).filter_map(|c| self.queue.age(c)).max()
        });
        let done = |at: usize, c: ConfigurationId| {
            self.costs.of(None, c) as f64 + it.time_on(at, it.demand.work + self.comes[class])
        };
        let candidates = self.queue.of_kind(class, kind);
        let best = candidates.min_by(|a, b| done(a.0, a.1).total_cmp(&done(b.0, b.1)))?;
        let packet = self.queue.first(class).map_or(u64::MAX, |o| o.op.packet);
        Some(Wish { class, configuration: best.1, age: first.unwrap_or(0) as f64, first: packet })
    }

    fn best_load(&self) -> Option<(usize, ConfigurationId)> {
        let wait = [0, 1].map(|kind| self.wait(kind, None));
        let mut best: Option<((Score, Reverse<u64>), usize, ConfigurationId)> = None;
        for class in (0..self.copies.len()).filter(|c| self.wants(*c)) {
            let wishes = [0, 1].map(|kind| self.wish(class, kind));
            for slot in 0..self.slots.len() {
                let kind = self.queue.kind(slot);
                let Some(wish) = wishes[kind].as_ref().filter(|wish| self.may(wish, slot)) else { continue };
                let Some(score) = self.score(wish, slot, wait[kind]) else { continue };
                // Ties go by age, and packets of one age by their order.
                let key = (score, Reverse(wish.first));
                if best.is_none_or(|(b, ..)| key > b) {
                    best = Some((key, slot, wish.configuration));
                }
            }
        }
        best.map(|(_, slot, configuration)| (slot, configuration))
    }

    /// Whether a slot may be loaded for a wish. Another copy goes to whatever kind brings more into time.
    fn may(&self, wish: &Wish, slot: usize) -> bool {
        match self.copies[wish.class] {
            0 => self.queue.may_load(self.slots, slot, wish.class, self.costs),
            _ => !self.queue.port_busy(self.slots, slot),
        }
    }

    /// What the load of a wish into a slot is worth, if anything.
    fn score(&self, wish: &Wish, slot: usize, wait: f64) -> Option<Score> {
        let (queue, state) = (self.queue, &self.slots[slot]);
        let (there, since) = match *state {
            SlotState::Empty => (None, 0),
            SlotState::Idle { configuration, since, .. } | SlotState::Busy { configuration, since, .. } => {
                (Some(configuration), since)
            }
            SlotState::Loading { .. } | SlotState::Failed => return None,
        };
        if there == Some(wish.configuration) || queue.holds_equivalent(self.slots, slot, wish.configuration) {
            return None;
        }
        let now = queue.now();
        let load = self.costs.of(there, wish.configuration);
        let held_for = now.saturating_sub(since);
        let mut gain = self.value(wish, now.saturating_add(load));
        if self.copies[wish.class] == 0 {
            gain += COMING * self.comes[wish.class] as f64;
        }
        let idle = there.is_none() || !self.has_work(slot);
        let owed = self.owed(slot);
        let next_use = self.next_use(slot);
        if gain <= 0.0 {
            // All of it is late. It takes what is free, or after the limit the slot that loses least.
            if self.copies[wish.class] > 0 {
                return None;
            }
            if idle && (owed == 0.0 || self.stuck.is_some()) {
                return Some((LATE, wish.age, next_use));
            }
            let long = held_for >= (2 * load).max(1);
            let starved = wish.age >= queue.terms.starvation as f64;
            return there.filter(|_| starved && long).map(|x| (STARVED, -self.value_in_time(x, now), 0));
        }
        let at = |delay: f64| now.saturating_add(delay.min(1e18) as Time);
        let load = load as f64;
        let weight = queue.weight(wish.class);
        let urgency = weight * (gain - self.value(wish, at(2.0 * load + wait + gain))) + AGE * wish.age;
        let Some(x) = there else { return Some((EMPTY, urgency, 0)) };
        let back = self.costs.of(Some(wish.configuration), x) as f64;
        let away = load + gain + back;
        let rate = self.rate(x);
        if idle {
            // Giving up what is owed costs another load, which a batch repays that takes longer, or work of the others that
            // goes on for longer: the port has the time.
            if owed == 0.0 || gain >= back || self.wait(queue.kind(slot), Some(slot)) >= back {
                return Some((IDLE, urgency - 1e-3 * rate * away, 0));
            }
            return self.stuck.is_some().then_some((STUCK, urgency, next_use));
        }
        if held_for == 0 {
            // It has not done anything yet.
            return None;
        }
        let lost = weight * (gain - self.value(wish, at(load + wait)));
        let alone = queue.served_by(x).iter().any(|c| self.copies[*c] < 2);
        let missed = if alone { rate * (away - queue.terms.latency as f64).max(0.0) } else { 0.0 };
        let price = self.value_in_time(x, now) - self.value_in_time(x, at(away)) + self.worth(x) * missed;
        let worth = lost - price - 2.0 * (load + back) - queue.clock.width as f64;
        (worth > 0.0).then_some((BUSY, worth, 0))
    }
}
