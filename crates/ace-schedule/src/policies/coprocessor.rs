// SPDX-License-Identifier: Apache-2.0
//! A processor beside the slots: who does an operation, and when a load pays.
//!
//! An operation goes where it is done earlier, both queues and the load under way included. So while a configuration is
//! being loaded its operations are done by the processor whenever that is earlier. A load begins when it is repaid by what
//! waits and by what the processor has done for its class since it was last held (ski rental), what it throws out included;
//! or, if that is needed by nobody, when the processor has more to do than the load and an operation behind it take.
//!
//! Where the processor is the host's as well, it has work that nobody else can do: packets that it takes, and its part in
//! what goes through slots. Then an operation is the processor's only if all of the work is not done later for it
//! ([`Bottleneck`]): earlier for one packet is no gain when it keeps the others from the slots.

use ace_engine::ConfigurationId;

use super::view;
use crate::queue::ClassId;
use crate::queue::class::{Class, Op, Place};
use crate::queue::estimate::Doer;
use crate::queue::select::Which;
use crate::queue::spent::Spent;
use crate::{Costs, Decision, Policy, Processor, Queue, QueuedOp, SlotState, Time};

/// The processor's part of an operation's slot time by which it has to be earlier to take the operation from the engine
/// that did the last one like it, where nobody waits for a load.
const HYSTERESIS: Time = 16;
/// A probe may take so many times as long as where it belongs.
const DEAREST_PROBE: Time = 4;

impl Policy {
    /// As [`Policy::decide`], with a processor that does one operation at a time. In the queue it is the slot behind the
    /// last one.
    pub fn decide_with_coprocessor(
        &self,
        queue: &mut Queue,
        slots: &[SlotState],
        costs: &Costs,
        processor: Processor,
    ) -> Decision {
        let busy = processor.busy;
        let bound = Bottleneck::of(queue, slots, costs, processor);
        for class in 0..queue.classes.len() {
            queue.classes[class].held_back = held_back(queue, slots, costs, class, &bound);
        }
        // As the policy sees them: those that wait for better are hidden from it.
        let mut seen: Option<Vec<SlotState>> = None;
        let mut look: Option<Time> = None;
        let decision = loop {
            let states = seen.as_deref().unwrap_or(slots);
            let decision = match self.decide(queue, states, costs) {
                Decision::Load { slot, configuration }
                    if !repaid(queue, configuration) || goes_on(queue, slots, slot) =>
                {
                    view::execute(queue, states, None, Which::Any).unwrap_or(Decision::Wait)
                }
                decision => decision,
            };
            let Decision::Execute { slot, op } = decision else { break decision };
            match place(queue, slots, slot, op, &bound) {
                Goes::There(op) => return Decision::Execute { slot, op },
                Goes::Beside(op) => return Decision::Compute { op },
                Goes::Later(at) => look = [look, at].into_iter().flatten().min(),
            }
            seen.get_or_insert_with(|| slots.to_vec())[slot] = slots[slot].hidden();
        };
        let look_at = match decision {
            Decision::Wait => look,
            Decision::WaitUntil(at) => Some(look.map_or(at, |look| look.min(at))),
            decision => return decision,
        };
        match taken(queue, slots, costs, &bound).filter(|_| busy.is_none()) {
            Some(op) => Decision::Compute { op },
            None => look_at.map_or(Decision::Wait, Decision::WaitUntil),
        }
    }
}

/// Who is done last with what there is: the processor with what only it can do, or the slots with all that waits.
struct Bottleneck {
    busy: Option<Time>,
    /// Of the processor, where it is also the host's: what it has begun, packets that wait for it, and its part in what
    /// goes through slots.
    own: Time,
    /// Of the slots, each with its share: what they have begun, all that waits or comes with the packets that wait, and the
    /// loads for it.
    slots: Time,
    /// What each slot holds and has in hand: it waits for the host when it is done with that, if it has more to do.
    in_hand: Vec<(ConfigurationId, Time)>,
    /// What both were given lately.
    spent: Spent,
    usable: f64,
    /// The configuration whose slot is done last, where that is later than with work for all of them alike.
    longest: Option<ConfigurationId>,
    /// What the processor takes for one of the packets that wait for it, if any does.
    outside: Option<Time>,
}

impl Bottleneck {
    fn of(queue: &mut Queue, all: &[SlotState], costs: &Costs, processor: Processor) -> Self {
        let now = queue.now();
        let left = |until: Time| until.saturating_sub(now);
        queue.set_packet(processor.packet);
        let spent = *queue.spent();
        let packets = processor.packets as Time;
        let (cost, host) = queue.of_a_packet();
        let only =
            packets.saturating_mul(processor.packet.saturating_add(host)).saturating_add(queue.work.hosted);
        let usable = all.iter().filter(|slot| **slot != SlotState::Failed).count() as Time;
        let own =
            if only > 0 && usable > 0 { only.saturating_add(processor.busy.map_or(0, left)) } else { 0 };
        let begun = all.iter().map(|slot| match *slot {
            SlotState::Busy { until, .. } => left(until),
            SlotState::Loading { ready_at, .. } => left(ready_at),
            _ => 0,
        });
        let missing = queue
            .classes
            .iter()
            .enumerate()
            .filter(|(c, it)| it.waiting > 0 && view::home(queue, all, *c, costs).is_none());
        let load = |(_, it): (usize, &Class)| it.candidates.iter().map(|c| costs.of(None, *c)).min();
        let loads = missing.filter_map(load).fold(0, Time::saturating_add);
        let rates: Vec<f64> = queue.classes.iter().map(|it| it.demand.rate(&queue.clock)).collect();
        let rate = rates.iter().sum::<f64>();
        // Of each configuration there is one, as a rule: what each has to do, the packets that wait outside being like those
        // before.
        let mut works: Vec<(ConfigurationId, Time)> = Vec::new();
        for (it, own) in queue.classes.iter().zip(&rates) {
            let Some(&c) = it.candidates.first() else { continue };
            let comes = if rate > 0.0 { packets.saturating_mul(cost) as f64 * own / rate } else { 0.0 };
            let work = it.demand.work.saturating_add(comes as Time);
            match works.iter_mut().find(|of| of.0 == c) {
                Some(of) => of.1 = of.1.saturating_add(work),
                None if work > 0 || *own > 0.0 || it.running > 0 => works.push((c, work)),
                None => {}
            }
        }
        let work: Time = works.iter().map(|of| of.1).fold(0, Time::saturating_add);
        let longest = works.iter().max_by_key(|of| of.1).copied();
        let usable = usable.min(works.len() as Time).max(1);
        let mean = begun.sum::<Time>().saturating_add(work).saturating_add(loads) / usable;
        let longest = longest.filter(|of| of.1 > mean);
        let slots = longest.map_or(mean, |of| of.1);
        let longest = longest.map(|of| of.0);
        let hand = |slot: &SlotState| {
            let begun = if let SlotState::Busy { until, .. } = *slot { left(until) } else { 0 };
            slot.resident().map(|c| (c, begun))
        };
        let in_hand = if own > 0 { all.iter().filter_map(hand).collect() } else { Vec::new() };
        let outside = (packets > 0).then_some(processor.packet);
        Self { busy: processor.busy, own, slots, in_hand, spent, usable: usable as f64, longest, outside }
    }

    /// Whether all is done later with this one on the processor than with it in a slot.
    ///
    /// * Of what there is now: the processor is done last with it, or slots stand still for longer than they are relieved,
    ///   as the host serves none of them meanwhile.
    /// * Of what came lately, where the processor was never idle and could not do all of it sooner than the slots: each side
    ///   counts with its load, so what is added to the longer one has to relieve the other one of as much more.
    fn lengthened_by(&self, queue: &Queue, op: &QueuedOp) -> bool {
        let more = op.cpu.unwrap_or(Time::MAX).saturating_sub(op.host);
        if self.own == 0 || more == 0 || queue.classes[op.class].candidates.is_empty() {
            return false;
        }
        let more_for = |resident: ConfigurationId| {
            let classes = queue.served_by(resident);
            let heads: usize = classes.iter().map(|c| queue.classes[*c].heads()).sum();
            heads + queue.runs_before(classes) > usize::from(classes.contains(&op.class))
        };
        let starves = || self.in_hand.iter().filter(|it| more_for(it.0));
        let idle: Time = starves().map(|it| more.saturating_sub(it.1)).sum();
        // What relieves another slot is worth nothing to the one that is done last.
        let last = starves()
            .find(|it| Some(it.0) == self.longest && !queue.classes[op.class].candidates.contains(&it.0));
        let worst = last.is_some_and(|it| more > it.1);
        if self.own.saturating_add(more) > self.slots || idle > op.cost || worst {
            return true;
        }
        let Spent { processor, computed, everything, moved, slots, .. } = self.spent;
        let without = (slots - moved) / self.usable;
        self.spent.never_idle()
            && processor + everything > slots / self.usable
            && (processor + computed) * more as f64 > without * op.cost as f64
    }
}

impl Bottleneck {
    /// Whether an idle slot, done with this one in `there`, is to have it, as the processor has packets to take meanwhile: slots
    /// get nothing while it computes, and it would not be done with all any sooner than the slot is with this one.
    fn feeds(&self, op: &QueuedOp, there: Time) -> bool {
        self.outside.is_some_and(|packet| {
            op.cpu.is_some_and(|cpu| cpu > op.host && there <= cpu.saturating_add(packet))
        })
    }
}

/// Where an operation goes that a slot could take.
enum Goes {
    There(u64),
    Beside(u64),
    /// Nothing goes there now: the processor is earlier with all of them, or others are on their way. Until when at most.
    Later(Option<Time>),
}

/// Of the operations that a slot could take, from `first` on, the first that it has done earlier than the processor, which
/// does those before it. One whose flow is in the slot can go to the processor when the slot has answered: if that is
/// earlier still, the flow waits for it, or a slot that once had a flow would keep it.
fn place(queue: &mut Queue, slots: &[SlotState], slot: usize, first: u64, bound: &Bottleneck) -> Goes {
    let busy = bound.busy;
    let now = queue.now();
    let (free, idle) = match slots[slot] {
        SlotState::Busy { until, .. } => (until.max(now), false),
        _ => (now, true),
    };
    let Some(class) = queue.class_of(first) else { return Goes::There(first) };
    let mut promised = busy.map_or(0, |until| until.saturating_sub(now));
    let pace = pace(queue, slots, slot, class);
    let mut found = None;
    let mut drains = None;
    for (nth, o) in queue.heads_for(class, slot).skip_while(|o| o.op.id != first).enumerate() {
        let Some(time) = o.op.cpu else {
            found = Some(o.op.id);
            break;
        };
        let cost = if o.known.seen { o.op.cost } else { (o.op.cost as f64 * pace) as Time };
        // The host sends it when it has done what it has.
        let from = if o.op.host > 0 { free.max(now.saturating_add(promised)) } else { free };
        let there = from.saturating_add(cost).saturating_add(o.op.aside);
        let mut here = now.saturating_add(promised).saturating_add(time);
        let follows = matches!(o.place, Place::Follows(_));
        if follows {
            here = here.max(free.saturating_add(o.op.aside).saturating_add(time));
        }
        let free_processor = busy.is_none() && nth == 0 && !follows;
        let fed = idle && bound.feeds(&o.op, there.saturating_sub(now));
        if earlier(o, here, there) && !fed && !bound.lengthened_by(queue, &o.op) {
            if o.known.probe && idle && cost <= time.saturating_mul(DEAREST_PROBE) {
                found = Some(o.op.id);
                break;
            }
            if free_processor {
                return Goes::Beside(o.op.id);
            }
            if follows {
                drains = Some(free);
            }
            promised = promised.saturating_add(time);
        } else {
            if o.known.probe
                && free_processor
                && time <= cost.saturating_mul(DEAREST_PROBE)
                && !bound.lengthened_by(queue, &o.op)
            {
                return Goes::Beside(o.op.id);
            }
            found = Some(o.op.id);
            break;
        }
    }
    match found {
        Some(op) if idle => match gathers(queue, slots, slot, class) {
            Some(until) => Goes::Later(Some(until)),
            None => Goes::There(op),
        },
        Some(op) => Goes::There(op),
        None => Goes::Later(drains.filter(|at| *at > now)),
    }
}

/// How much longer than the first candidate of a class what is in a slot takes for an operation.
fn pace(queue: &Queue, slots: &[SlotState], slot: usize, class: ClassId) -> f64 {
    let it = &queue.classes[class];
    let at = it.candidates.iter().position(|c| slots[slot].resident() == Some(*c));
    at.and_then(|at| it.paces.get(at)).map_or(1.0, |pace| pace.0)
}

/// Whether the processor, done at `here`, is earlier than the slot, done at `there`: by a margin, if it is not the one that
/// did the last of these.
fn earlier(o: &Op, here: Time, there: Time) -> bool {
    let margin = o.op.cost / HYSTERESIS;
    match o.known.last {
        Some(Doer::Slot) => here.saturating_add(margin) < there,
        Some(Doer::Processor) => here < there.saturating_add(margin),
        None => here < there,
    }
}

/// Until when a slot that works on several operations at a time waits for those whose pass before runs now.
fn gathers(queue: &mut Queue, slots: &[SlotState], slot: usize, class: ClassId) -> Option<Time> {
    let (now, batch) = (queue.now(), queue.terms.batch);
    let it = &queue.classes[class];
    let at = it.candidates.iter().position(|c| slots[slot].resident() == Some(*c));
    let at_once = at.and_then(|at| it.paces.get(at)).map_or(1.0, |pace| pace.1);
    let comes =
        at_once > it.heads() as f64 && queue.classes.iter().any(|c| c.then == Some(class) && c.running > 0);
    let it = &mut queue.classes[class];
    let until = it.gathers.unwrap_or(now).saturating_add(batch);
    let waits = at_once > 1.0 && comes && now < until;
    it.gathers = waits.then_some(it.gathers.unwrap_or(now));
    waits.then_some(until)
}

/// Whether some class that a configuration serves has repaid its load.
fn repaid(queue: &Queue, configuration: ConfigurationId) -> bool {
    queue.served_by(configuration).iter().any(|c| !queue.classes[*c].held_back)
}

/// Whether what a slot holds is needed as soon as the processor is done.
fn goes_on(queue: &Queue, slots: &[SlotState], slot: usize) -> bool {
    let served = slots[slot].resident().map_or(&[][..], |c| queue.served_by(c));
    served.iter().any(|class| queue.follows_processor(*class))
}

/// Whether a class is the processor's until a load is repaid: it can do all that waits, has not spent as much more than
/// a slot would have as a load and what it throws out cost, and, where nothing needed is thrown out, has no more to do than
/// the load and an operation behind it take.
fn held_back(queue: &Queue, slots: &[SlotState], costs: &Costs, class: ClassId, bound: &Bottleneck) -> bool {
    let it = &queue.classes[class];
    if it.uncomputable > 0 || view::home(queue, slots, class, costs).is_some() {
        return false;
    }
    let Some(dearest) = it.candidates.iter().map(|c| costs.of(None, *c)).min() else { return false };
    if queue.first(class).is_some_and(|o| bound.lengthened_by(queue, &o.op)) {
        return false;
    }
    // What a load takes away from others is loaded again: its price, for the slot where that is least.
    let back = |(at, slot): (usize, &SlotState)| {
        let resident = slot.resident();
        let load = queue.of_kind(class, queue.kind(at)).map(|(_, c)| costs.of(resident, c)).min()?;
        let needed = resident.is_some_and(|c| queue.served_by(c).iter().any(|c| queue.classes[*c].needed()));
        let back = if needed { resident.map_or(0, |c| costs.of(None, c)) } else { 0 };
        let open = !matches!(slot, SlotState::Failed | SlotState::Loading { .. });
        open.then_some((back, load))
    };
    let (back, load) = slots.iter().enumerate().filter_map(back).min().unwrap_or((0, dearest));
    let repaid = it.saved + it.rent_now(queue.now(), queue.terms.memory) >= load.saturating_add(back) as f64;
    let busy = bound.busy.map_or(0, |until| until.saturating_sub(queue.now()));
    let empty = slots.contains(&SlotState::Empty);
    let backlog = queue.computable.saturating_add(if empty { busy.max(bound.own) } else { busy });
    let enough =
        back == 0 && it.waiting > 0 && backlog > load.saturating_add(it.demand.work / it.waiting as Time);
    let free = empty && it.saved > 0.0;
    !(repaid || enough || free)
}

/// The operation that the processor does next, if there is one that it would have done earlier than a slot: of the class
/// for which slots are worst beside it.
fn taken(queue: &Queue, slots: &[SlotState], costs: &Costs, bound: &Bottleneck) -> Option<u64> {
    let ours = slots.len();
    let mut best: Option<(f64, u64)> = None;
    for class in 0..queue.classes.len() {
        if queue.startable(class, ours, Which::Any).is_none() {
            continue;
        }
        let (mut in_a_slot, resident) = free(queue, slots, costs, class);
        // In the order in which a slot would serve them.
        for op in queue.heads_for(class, ours) {
            in_a_slot = in_a_slot.saturating_add(op.op.cost);
            let Some(time) = op.op.cpu else { continue };
            let (here, there) = (queue.now().saturating_add(time), in_a_slot.saturating_add(op.op.aside));
            let wins = if resident { earlier(op, here, there) } else { here < there };
            if wins && !bound.lengthened_by(queue, &op.op) {
                let ratio = op.op.cost as f64 / time.max(1) as f64;
                if best.is_none_or(|(of, _)| ratio > of) {
                    best = Some((ratio, op.op.id));
                }
                break;
            }
        }
    }
    best.map(|(_, op)| op)
}

/// When a slot would begin with the operations of a class, as far as is known, and whether it needs no load for that.
fn free(queue: &Queue, slots: &[SlotState], costs: &Costs, class: ClassId) -> (Time, bool) {
    let it = &queue.classes[class];
    let now = queue.now();
    let at = |slot: &SlotState| {
        let serves = slot.expected().is_some_and(|c| it.candidates.contains(&c));
        serves.then_some(match *slot {
            SlotState::Loading { ready_at, .. } => (ready_at, false),
            SlotState::Busy { until, .. } => (until.max(now), true),
            _ => (now, true),
        })
    };
    if let Some(free) = slots.iter().filter_map(at).min() {
        return free;
    }
    if it.held_back {
        return (Time::MAX, false);
    }
    // It is missing, and its load can begin when the port is free, behind those of classes that have waited for longer.
    let port = queue.port_free(slots, class);
    let load = |class: ClassId| {
        let candidates = queue.classes[class].candidates.iter();
        candidates.map(|c| costs.of(None, *c)).min().unwrap_or(Time::MAX)
    };
    let older = |c: &ClassId| {
        *c != class
            && !queue.classes[*c].held_back
            && queue.first(*c).is_some_and(|o| queue.first(class).is_none_or(|own| o.key < own.key))
            && view::home(queue, slots, *c, costs).is_none()
    };
    let before: Time = (0..queue.classes.len()).filter(older).map(load).fold(0, Time::saturating_add);
    let room = slots.iter().map(|s| if let SlotState::Busy { until, .. } = *s { until } else { now });
    let from = port.into_iter().chain(room.min()).max().unwrap_or(now);
    (from.saturating_add(before).saturating_add(load(class)), false)
}
