// SPDX-License-Identifier: Apache-2.0
//! The packet buffer as the policies see it: what waits, what runs, how old it is, what comes next.
//!
//! It is kept by classes of operations that the same configurations serve, so that a decision costs as much as there
//! are classes and slots, however many flows and packets wait.

use std::collections::HashMap;

use super::class::{Class, Op, Place};
use super::demand::{Clock, Yield};
use super::estimate::{Doer, Estimates, Known};
use super::flow::{At, Flow, Turn};
use super::kinds::Kinds;
use super::op::{ClassId, QueuedOp, Terms};
use super::regret::Equivalents;
use super::spent::Work;
use ace_engine::{ConfigurationId, Table};

use crate::{Costs, Time};

/// Operations by class, in the order of packets; see `flow.rs` for the order within an association.
#[derive(Clone, Debug)]
pub struct Queue {
    pub(crate) terms: Terms,
    pub(crate) clock: Clock,
    pub(crate) classes: Vec<Class>,
    pub(crate) equivalents: Equivalents,
    pub(crate) kinds: Kinds,
    known: HashMap<(Vec<ConfigurationId>, Option<ClassId>), ClassId>,
    /// The classes that each configuration serves.
    serves: Table<Vec<ClassId>>,
    pub(crate) ops: Vec<Op>,
    free: Vec<At>,
    places: HashMap<u64, At, foldhash::fast::RandomState>,
    flows: HashMap<u32, Flow, foldhash::fast::RandomState>,
    spare: Vec<Flow>,
    arrivals: u64,
    /// Of all classes.
    yields: Yield,
    pub(super) running: Vec<At>,
    /// Until then the first one of each class that is in time stays so.
    in_time_until: Time,
    /// The processor's time for all that waits and that it can do.
    pub(crate) computable: Time,
    /// What only the host's processor can do, and what time went to lately.
    pub(crate) work: Work,
    /// What operations really take, where that is asked.
    pub(super) estimates: Option<Estimates>,
    /// What landlord charges: the price of the last one that had to go, and of each one when it was last used.
    rent: (u64, Table<u64>),
}

impl Queue {
    /// A queue without operations, slots and classes, at time 0.
    pub fn new(terms: Terms) -> Self {
        Self {
            terms,
            clock: Clock::new(terms.latency, terms.memory),
            classes: Vec::new(),
            equivalents: Equivalents::default(),
            kinds: Kinds::default(),
            known: HashMap::new(),
            serves: Table::default(),
            ops: Vec::new(),
            free: Vec::new(),
            places: HashMap::default(),
            flows: HashMap::default(),
            spare: Vec::new(),
            arrivals: 0,
            yields: Yield::default(),
            running: Vec::new(),
            in_time_until: Time::MAX,
            computable: 0,
            work: Work::default(),
            estimates: None,
            rent: (0, Table::default()),
        }
    }

    /// The class of operations that `candidates` serve, the preferred one first, and behind which the packet needs
    /// `then`, a set of candidates for each pass.
    pub fn class(&mut self, candidates: &[ConfigurationId], then: &[Vec<ConfigurationId>]) -> ClassId {
        let next = then.split_first().map(|(first, rest)| self.class(first, rest));
        let key = (candidates.to_vec(), next);
        if let Some(&class) = self.known.get(&key) {
            return class;
        }
        let class = self.classes.len();
        for &c in candidates {
            let serves = self.serves.entry(c);
            if !serves.contains(&class) {
                serves.push(class);
            }
        }
        let candidates = key.0.clone();
        self.known.insert(key, class);
        self.classes.push(Class { candidates, then: next, behind: then.len(), ..Class::default() });
        class
    }

    /// Says how fast the candidates of a class are: the slot time of each over that of the preferred one, and on how many
    /// operations it works at once to be so fast.
    pub fn set_paces(&mut self, class: ClassId, paces: Vec<(f64, f64)>) {
        if let Some(class) = self.classes.get_mut(class) {
            class.paces = paces;
        }
    }

    /// The classes that a configuration serves.
    pub(crate) fn served_by(&self, configuration: ConfigurationId) -> &[ClassId] {
        self.serves.get(configuration).map_or(&[], Vec::as_slice)
    }

    /// Operations that run and behind which comes one of these classes.
    pub(crate) fn runs_before(&self, classes: &[ClassId]) -> usize {
        let before = |it: &&Class| it.then.is_some_and(|then| classes.contains(&then));
        self.classes.iter().filter(before).map(|it| it.running).sum()
    }

    /// What a unit of a class's slot time brings, in bytes, over what it brings on the whole.
    pub(crate) fn weight(&self, class: ClassId) -> f64 {
        let (own, all) = (self.classes[class].yields.rate(), self.yields.rate());
        if own > 0.0 && all > 0.0 { own / all } else { 1.0 }
    }

    /// The clock goes on, never back. Every decision is taken at this time.
    pub fn advance(&mut self, now: Time) {
        if now <= self.clock.now {
            return;
        }
        self.clock.now = now;
        self.clock.bin = now / self.clock.width;
        if now <= self.in_time_until {
            return;
        }
        let mut until = Time::MAX;
        for class in &mut self.classes {
            while let Some(at) = class.ready.first() {
                let op = &mut self.ops[at as usize];
                if self.clock.in_time(op.op.arrived, op.op.cost) {
                    until = until.min(self.clock.last_start(op.op.arrived, op.op.cost));
                    break;
                }
                op.place = Place::Late;
                if let Some((key, at)) = class.ready.pop_first() {
                    class.late.insert(key, at);
                }
            }
        }
        self.in_time_until = until;
    }

    /// The time that the queue was told last, in the caller's unit.
    pub fn now(&self) -> Time {
        self.clock.now
    }

    /// From now on what operations take is learnt ([`Queue::took`]). In the queue the processor is slot `ours`.
    pub fn learn(&mut self, ours: usize) {
        self.estimates = Some(Estimates::new(ours, self.terms.probe));
    }

    /// Says for how long an operation, which still runs, has kept its slot or the processor.
    pub fn took(&mut self, id: u64, time: Time) {
        let Some(estimates) = &mut self.estimates else { return };
        let Some(Op { op, place: Place::Runs(slot), expected, .. }) =
            self.places.get(&id).map(|at| &self.ops[*at as usize])
        else {
            return;
        };
        let (doer, expected) = match (*slot == estimates.ours, *expected) {
            (false, (slot, _)) => (Doer::Slot, slot),
            (true, (_, processor)) => (Doer::Processor, processor),
        };
        estimates.observe((op.flow, op.class, op.bytes), doer, expected, time);
    }

    /// Makes an operation wait.
    pub fn push(&mut self, mut op: QueuedOp) {
        self.advance(op.arrived);
        let expected = (op.cost, op.cpu.unwrap_or(0));
        let known = match &mut self.estimates {
            Some(all) => all.correct((op.flow, op.class, op.bytes), &mut op.cost, &mut op.cpu),
            None => Known::default(),
        };
        let key = (op.packet, self.arrivals);
        self.arrivals += 1;
        self.comes(&op);
        let (id, flow) = (op.id, op.flow);
        let it = Op { op, key, place: Place::Blocked, expected, known };
        let at = match self.free.pop() {
            Some(at) => {
                self.ops[at as usize] = it;
                at
            }
            None => {
                self.ops.push(it);
                (self.ops.len() - 1) as At
            }
        };
        self.places.insert(id, at);
        self.enter(at, true);
        self.settle(flow);
    }

    /// Counts an operation as waiting, and gives it its place in its flow.
    fn enter(&mut self, at: At, fresh: bool) {
        let Op { op, .. } = &self.ops[at as usize];
        let class = &mut self.classes[op.class];
        class.waiting += 1;
        class.weigh(op, true);
        self.computable = self.computable.saturating_add(op.cpu.unwrap_or(0));
        class.demand.add(&self.clock, op.arrived, op.cost, fresh);
        if fresh {
            class.coming += op.next;
            class.yields.add(op.bytes, op.cost + op.next);
            self.yields.add(op.bytes, op.cost + op.next);
        }
        let spare = &mut self.spare;
        let flow = self.flows.entry(op.flow).or_insert_with(|| spare.pop().unwrap_or_default());
        if let Some(displaced) = flow.wait(class.behind, op.packet, at) {
            self.detach(displaced);
        }
    }

    /// Gives the first ones of a flow the places that they have now.
    fn settle(&mut self, flow: u32) {
        let Self { flows, ops, classes, clock, in_time_until, .. } = self;
        let Some(it) = flows.get(&flow) else { return };
        if it.is_empty() {
            self.spare.extend(flows.remove(&flow));
            return;
        }
        for (at, turn) in it.heads() {
            let Op { op, key, place, .. } = &mut ops[at as usize];
            let new = match turn {
                Turn::NotYet => Place::Blocked,
                Turn::Behind(slot) => Place::Follows(slot),
                Turn::Anywhere if clock.in_time(op.arrived, op.cost) => Place::Ready,
                Turn::Anywhere => Place::Late,
            };
            if *place != new {
                let class = &mut classes[op.class];
                let was = std::mem::replace(place, new);
                class.detach(was, *key, at);
                class.attach(new, *key, at);
                let first = if was == Place::Ready { class.ready.first() } else { None };
                for at in first.into_iter().chain((new == Place::Ready).then_some(at)) {
                    let op = &ops[at as usize].op;
                    *in_time_until = (*in_time_until).min(clock.last_start(op.arrived, op.cost));
                }
            }
        }
    }

    fn detach(&mut self, at: At) {
        let Op { op, key, place, .. } = &mut self.ops[at as usize];
        let class = &mut self.classes[op.class];
        class.detach(*place, *key, at);
        *place = Place::Blocked;
        // Who comes after it may have less time.
        if let Some(next) = class.ready.first() {
            let op = &self.ops[next as usize].op;
            self.in_time_until = self.in_time_until.min(self.clock.last_start(op.arrived, op.cost));
        }
    }

    /// Operations that wait, in order of packet and arrival.
    pub fn waiting(&self) -> Vec<&QueuedOp> {
        let mut all: Vec<&Op> =
            self.places.values().map(|at| &self.ops[*at as usize]).filter(|o| !o.runs()).collect();
        all.sort_unstable_by_key(|o| o.key);
        all.into_iter().map(|o| &o.op).collect()
    }

    /// Operations that were handed to slots, in the order in which that happened.
    pub fn running(&self) -> impl ExactSizeIterator<Item = &QueuedOp> {
        self.running.iter().map(|at| &self.ops[*at as usize].op)
    }

    /// Whether the queue has no operation, neither one that waits nor one that runs.
    pub fn is_empty(&self) -> bool {
        self.places.is_empty()
    }

    /// Hands a waiting operation to a slot.
    pub fn start(&mut self, id: u64, slot: usize) -> Option<&QueuedOp> {
        let at = self.waits(id)?;
        self.detach(at);
        let Op { op, place, .. } = &mut self.ops[at as usize];
        *place = Place::Runs(slot);
        let (flow, packet) = (op.flow, op.packet);
        let class = &mut self.classes[op.class];
        class.waiting -= 1;
        class.weigh(op, false);
        self.computable = self.computable.saturating_sub(op.cpu.unwrap_or(0));
        class.running += 1;
        class.demand.take(&self.clock, op.arrived, op.cost);
        if let Some(it) = self.flows.get_mut(&flow) {
            it.start(class.behind, packet, at, slot);
        }
        self.running.push(at);
        self.settle(flow);
        self.begins(at, slot);
        Some(&self.ops[at as usize].op)
    }

    /// Hands a waiting operation to the processor, which in the queue is slot `ours`.
    pub fn compute(&mut self, id: u64, ours: usize) -> Option<&QueuedOp> {
        let (now, memory) = (self.clock.now, self.terms.memory);
        let at = self.waits(id)?;
        let (class, saves) = {
            let op = &self.ops[at as usize].op;
            (op.class, op.saves())
        };
        let class = &mut self.classes[class];
        class.rent = (class.rent_now(now, memory) + saves, now);
        self.start(id, ours)
    }

    /// Forgets an operation that ended.
    pub fn finish(&mut self, id: u64) -> Option<QueuedOp> {
        let at = self.stop(id)?;
        self.places.remove(&id);
        self.free.push(at);
        let op = self.ops[at as usize].op.clone();
        self.work.hosted = self.work.hosted.saturating_sub(op.hosted());
        let class = &mut self.classes[op.class];
        class.coming = class.coming.saturating_sub(op.next);
        self.settle(op.flow);
        Some(op)
    }

    /// Takes an operation back from its slot, to the place it had.
    pub fn put_back(&mut self, id: u64) -> bool {
        let Some(at) = self.stop(id) else { return false };
        let flow = self.ops[at as usize].op.flow;
        self.enter(at, false);
        self.settle(flow);
        true
    }

    /// It runs no longer.
    fn stop(&mut self, id: u64) -> Option<At> {
        let at = *self.places.get(&id)?;
        let Op { op, place, .. } = &mut self.ops[at as usize];
        let Place::Runs(_) = *place else { return None };
        *place = Place::Blocked;
        let class = &mut self.classes[op.class];
        class.running -= 1;
        if let Some(flow) = self.flows.get_mut(&op.flow) {
            flow.end(class.behind, at);
        }
        self.running.retain(|r| *r != at);
        Some(at)
    }

    /// Takes a waiting operation out for good.
    pub fn remove(&mut self, id: u64) -> Option<QueuedOp> {
        let at = self.waits(id)?;
        self.detach(at);
        self.places.remove(&id);
        self.free.push(at);
        let op = self.ops[at as usize].op.clone();
        self.work.hosted = self.work.hosted.saturating_sub(op.hosted());
        let class = &mut self.classes[op.class];
        class.waiting -= 1;
        class.weigh(&op, false);
        self.computable = self.computable.saturating_sub(op.cpu.unwrap_or(0));
        class.coming = class.coming.saturating_sub(op.next);
        class.demand.take(&self.clock, op.arrived, op.cost);
        if let Some(flow) = self.flows.get_mut(&op.flow) {
            flow.leave(class.behind, at);
        }
        self.settle(op.flow);
        Some(op)
    }

    fn waits(&self, id: u64) -> Option<At> {
        self.places.get(&id).copied().filter(|at| !self.ops[*at as usize].runs())
    }

    /// An operation that is late and whose turn it is, for callers that drop those. None if there is none.
    pub fn late(&self) -> Option<&QueuedOp> {
        let first = self.classes.iter().find_map(|class| class.late.first());
        first.map(|at| &self.ops[at as usize].op)
    }

    /// A configuration cannot be used any more. Returns the waiting operations that nothing serves now, which are
    /// out of the queue.
    pub fn refuse(&mut self, configuration: ConfigurationId) -> Vec<u64> {
        self.known.clear();
        for class in &mut self.classes {
            while let Some(at) = class.candidates.iter().position(|c| *c == configuration) {
                class.candidates.remove(at);
                if at < class.paces.len() {
                    class.paces.remove(at);
                }
            }
        }
        if let Some(serves) = self.serves.get_mut(configuration) {
            serves.clear();
        }
        let lost = |op: &&QueuedOp| self.classes[op.class].candidates.is_empty() && op.cpu.is_none();
        let lost: Vec<u64> = self.waiting().into_iter().filter(lost).map(|op| op.id).collect();
        for id in &lost {
            self.remove(*id);
        }
        lost
    }

    pub(crate) fn op(&self, id: u64) -> Option<&QueuedOp> {
        self.places.get(&id).map(|at| &self.ops[*at as usize].op)
    }

    pub(crate) fn class_of(&self, id: u64) -> Option<ClassId> {
        self.op(id).map(|op| op.class)
    }

    /// Says that a load begins, and what it makes way for. Landlord keeps its accounts of that.
    pub fn load(&mut self, evicted: Option<ConfigurationId>, configuration: ConfigurationId, costs: &Costs) {
        for &class in self.serves.get(configuration).map_or(&[][..], Vec::as_slice) {
            self.classes[class].rent = (0.0, 0);
        }
        let cost = costs.of(evicted, configuration);
        self.spent().slots += cost as f64;
        self.pays(configuration, cost);
        if let Some(evicted) = evicted {
            self.rent.0 = self.rent.0.max(self.price(evicted, costs));
        }
        self.repent(configuration);
        self.used(configuration);
    }

    /// Says that an operation was handed to a slot that holds this configuration.
    pub fn used(&mut self, configuration: ConfigurationId) {
        let (level, of) = &mut self.rent;
        *of.entry(configuration) = *level;
    }

    /// Landlord's price of a configuration: what it costs to load it, on top of the level when it was last used.
    pub(crate) fn price(&self, configuration: ConfigurationId, costs: &Costs) -> u64 {
        self.rent.1.get(configuration).copied().unwrap_or(0).saturating_add(costs.of(None, configuration))
    }
}
