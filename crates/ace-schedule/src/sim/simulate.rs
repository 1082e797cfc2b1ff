// SPDX-License-Identifier: Apache-2.0
//! A board made of nothing but times: runs a trace of packets through a policy.

mod types;

use std::collections::VecDeque;

pub use types::{Core, Late, NEVER, Outcome, PASSES, Packet, Really, Setup, Start, Trace};

use ace_engine::ConfigurationId;

use crate::{ClassId, Decision, Policy, Processor, Queue, QueuedOp, SlotState, Time};

struct Run<'a> {
    trace: &'a Trace,
    setup: &'a Setup<'a>,
    queue: Queue,
    /// By suite: index and class of each pass that is not skipped.
    classes: Vec<Vec<(usize, ClassId)>>,
    /// By operation in the queue: packet, place in `classes`, and when it began. Operations number themselves.
    ops: VecDeque<(usize, usize, Time)>,
    first_op: u64,
    ended: VecDeque<bool>,
    inside: usize,
    now: Time,
    /// When the processor that is also the host's has done what it was given.
    core_free: Time,
    /// A packet that it takes, and when it will have.
    taken: Option<(Time, usize)>,
    /// Operations of which a slot has answered, and when the host will have taken that.
    noticed: VecDeque<(Time, u64)>,
    out: Outcome,
}

/// Runs a trace on empty slots. Nothing but loads and executions takes time, and an operation runs alone in its slot.
pub fn simulate(trace: &Trace, setup: &Setup<'_>, policy: Policy) -> Outcome {
    let mut queue = Queue::new(setup.terms);
    queue.set_equivalents(Vec::new(), setup.banks);
    if setup.cpu.is_some() {
        queue.learn(setup.slots);
    }
    let classes = trace.suites.iter().map(|suite| classes(&mut queue, suite)).collect();
    let left = vec![NEVER; trace.packets.len()];
    Run {
        trace,
        setup,
        queue,
        classes,
        ops: VecDeque::new(),
        first_op: 0,
        ended: VecDeque::new(),
        inside: 0,
        now: 0,
        core_free: 0,
        taken: None,
        noticed: VecDeque::new(),
        out: Outcome { left, ..Outcome::default() },
    }
    .run(policy)
}

fn classes(queue: &mut Queue, suite: &[Vec<ConfigurationId>]) -> Vec<(usize, ClassId)> {
    let there: Vec<usize> = (0..suite.len()).filter(|pass| !suite[*pass].is_empty()).collect();
    let class = |at: usize| {
        let then: Vec<_> = there[at + 1..].iter().map(|pass| suite[*pass].clone()).collect();
        (there[at], queue.class(&suite[there[at]], &then))
    };
    (0..there.len()).map(class).collect()
}

impl Run<'_> {
    fn run(mut self, policy: Policy) -> Outcome {
        let Setup { slots, banks, costs, .. } = *self.setup;
        let banks = banks.max(1);
        let mut states = vec![SlotState::Empty; slots];
        // What runs in each slot, and whether its load has served anything yet.
        let mut busy: Vec<Option<(Time, u64)>> = vec![None; slots];
        let (mut fresh, mut loaded) = (vec![false; slots], vec![false; slots]);
        let mut load: Option<(Time, usize)> = None;
        // When the processor is done, with what, and when it was said to be.
        let mut cpu: Option<(Time, u64, Time)> = None;
        let mut incoming = 0;
        let mut back: VecDeque<(Time, usize)> = VecDeque::new();
        loop {
            if let Some((_, packet)) = self.taken.take_if(|taken| taken.0 <= self.now) {
                self.enter(packet);
            }
            while self.setup.core.is_none()
                && let Some(packet) = self.due(&mut incoming, &mut back)
            {
                self.enter(packet);
            }
            let look_again = loop {
                self.drop_late(&mut back);
                if banks > 1 {
                    for (of_slot, runs) in states.chunks_mut(banks).zip(busy.chunks(banks)) {
                        let works = runs.iter().any(Option::is_some);
                        for state in of_slot {
                            if let SlotState::Idle { blocked, .. } = state {
                                *blocked = works;
                            }
                        }
                    }
                }
                self.out.decisions += 1;
                let decision = match self.setup.cpu {
                    Some(_) => {
                        let host = Some(self.core_free).filter(|until| *until > self.now);
                        let busy = cpu.map(|(_, _, until)| until).into_iter().chain(host).max();
                        let core = self.setup.core.unwrap_or_default();
                        let packets =
                            if self.setup.core.is_some() { self.outside(incoming, &back) } else { 0 };
                        let processor = Processor { busy, packets, packet: core.packet };
                        policy.decide_with_coprocessor(&mut self.queue, &states, costs, processor)
                    }
                    None => policy.decide(&self.queue, &states, costs),
                };
                match decision {
                    Decision::Compute { op } => {
                        let (end, estimate) = self.compute(op, slots);
                        cpu = Some((end, op, estimate));
                    }
                    Decision::Wait => break NEVER,
                    Decision::WaitUntil(at) => break at.max(self.now + 1),
                    Decision::Load { slot, configuration } => {
                        let resident = states[slot].resident();
                        let ready_at = self.now + costs.of(resident, configuration);
                        self.queue.load(resident, configuration, costs);
                        states[slot] = SlotState::Loading { configuration, ready_at };
                        load = Some((ready_at, slot));
                        self.out.load_count += 1;
                        self.out.load += ready_at - self.now;
                        if self.setup.log {
                            self.out.loads.push((slot, configuration, self.now, ready_at));
                        }
                    }
                    Decision::Execute { slot, op } => {
                        let Some(configuration) = states[slot].resident() else { break NEVER };
                        let SlotState::Idle { since, .. } = states[slot] else { break NEVER };
                        let (end, until) = self.start(slot, configuration, op);
                        self.out.reused += usize::from(!std::mem::take(&mut fresh[slot]));
                        states[slot] = SlotState::Busy { configuration, since, until, room: 0 };
                        busy[slot] = Some((end, op));
                    }
                }
            };
            if let Some(core) = self.setup.core
                && self.taken.is_none()
                && self.core_free <= self.now
                && let Some(packet) = self.due(&mut incoming, &mut back)
            {
                self.taken = Some((self.serve(core.packet), packet));
            }
            let ends = busy.iter().flatten().map(|b| b.0).chain(load.map(|l| l.0)).chain(cpu.map(|c| c.0));
            let host = self.taken.iter().map(|t| t.0).chain(self.noticed.front().map(|n| n.0));
            let free = Some(self.core_free).filter(|free| *free > self.now);
            let mut next = ends.chain(host).chain(free).min().unwrap_or(NEVER);
            if self.taken.is_none()
                && self.inside < self.setup.buffer.max(1)
                && (self.setup.core.is_none() || self.core_free <= self.now)
            {
                let arrival = self.trace.packets.get(incoming).map_or(NEVER, |p| p.arrival);
                next = next.min(arrival).min(back.front().map_or(NEVER, |b| b.0)).max(self.now);
            }
            next = next.min(look_again);
            if next == NEVER || next > self.setup.stop {
                break;
            }
            if let Some((_, slot)) = load
                && cpu.is_none()
                && self.core_free <= self.now
                && busy.iter().all(Option::is_none)
            {
                self.out.exposed_load += next - self.now;
                self.out.exposed_first += if loaded[slot] { 0 } else { next - self.now };
            }
            self.now = next;
            self.queue.advance(next);
            if let Some((_, slot)) = load.take_if(|l| l.0 == next)
                && let SlotState::Loading { configuration, .. } = states[slot]
            {
                (fresh[slot], loaded[slot]) = (true, true);
                states[slot] =
                    SlotState::Idle { configuration, last_used: next, since: next, blocked: false };
            }
            if let Some((_, op, _)) = cpu.take_if(|c| c.0 == next) {
                self.took(op);
                self.end(op, &mut back);
            }
            while let Some((_, op)) = self.noticed.pop_front_if(|noticed| noticed.0 <= next) {
                self.end(op, &mut back);
            }
            for slot in 0..slots {
                if let Some((_, op)) = busy[slot].take_if(|b| b.0 == next)
                    && let SlotState::Busy { configuration, since, .. } = states[slot]
                {
                    states[slot] = SlotState::Idle { configuration, last_used: next, since, blocked: false };
                    self.took(op);
                    match self.setup.core {
                        Some(core) => {
                            let noticed = self.serve(core.host / 2);
                            self.noticed.push_back((noticed, op));
                        }
                        None => self.end(op, &mut back),
                    }
                }
            }
        }
        self.out.total = self.now;
        let wanted: usize = self.trace.packets.iter().map(|p| self.classes[p.suite as usize].len()).sum();
        let followed = self.out.followed.iter();
        let more: usize = followed.map(|f| self.classes[self.trace.packets[f.0].suite as usize].len()).sum();
        self.out.unserved = wanted + more - self.out.start_count;
        self.out
    }

    /// The packet of the trace that this one is, or is like.
    fn packet(&self, packet: usize) -> &Packet {
        &self.trace.packets[self.like(packet)]
    }

    /// The place of that packet in the trace.
    fn like(&self, packet: usize) -> usize {
        packet.checked_sub(self.trace.packets.len()).map_or(packet, |at| self.out.followed[at].0)
    }

    /// The next packet that is there and has room in the buffer, into which it goes.
    fn due(&mut self, incoming: &mut usize, back: &mut VecDeque<(Time, usize)>) -> Option<usize> {
        if self.inside >= self.setup.buffer.max(1) {
            return None;
        }
        if let Some((at, like)) = back.pop_front_if(|back| back.0 <= self.now) {
            self.out.followed.push((like, at));
            self.out.left.push(NEVER);
            self.inside += 1;
            return Some(self.out.left.len() - 1);
        }
        self.trace.packets.get(*incoming).filter(|packet| packet.arrival <= self.now)?;
        *incoming += 1;
        self.inside += 1;
        Some(*incoming - 1)
    }

    /// Packets that are there and not in the buffer.
    fn outside(&self, incoming: usize, back: &VecDeque<(Time, usize)>) -> usize {
        let rest = self.trace.packets.get(incoming..).unwrap_or_default();
        let there = rest.partition_point(|packet| packet.arrival <= self.now);
        there + back.partition_point(|back| back.0 <= self.now)
    }

    /// The processor that is also the host's does something for so long, when it has done what it was given before. When it
    /// is done.
    fn serve(&mut self, time: Time) -> Time {
        self.core_free = self.core_free.max(self.now).saturating_add(time);
        self.core_free
    }

    fn enter(&mut self, packet: usize) {
        self.queue.advance(self.now);
        if !self.submit(packet, 0, self.now) {
            self.inside -= 1;
            self.out.left[packet] = self.now;
        }
    }

    /// Queues a pass of a packet, if there is one more.
    fn submit(&mut self, packet: usize, at: usize, arrived: Time) -> bool {
        let Packet { flow, suite, bytes, costs, .. } = *self.packet(packet);
        let passes = &self.classes[suite as usize];
        let Some(&(pass, class)) = passes.get(at) else { return false };
        let next = passes.get(at + 1).map_or(0, |(pass, _)| costs[*pass]);
        let id = self.first_op + self.ops.len() as u64;
        self.ops.push_back((packet, at, NEVER));
        self.ended.push_back(false);
        let cpu = self
            .setup
            .cpu
            .and_then(|cpu| cpu.get(self.like(packet)))
            .map(|of| of[pass])
            .filter(|t| *t != NEVER);
        let cost = costs[pass];
        let (packet, host) = (packet as u64, self.setup.core.unwrap_or_default().host);
        let aside = self.setup.aside + host;
        let op = QueuedOp { id, flow, packet, arrived, class, cost, next, cpu, aside, host, bytes };
        self.queue.push(op);
        true
    }

    fn begin(&mut self, op: u64, start: Time) -> (usize, usize) {
        let (packet, at, began) = &mut self.ops[(op - self.first_op) as usize];
        *began = start;
        (*packet, *at)
    }

    /// A slot begins an operation; when it is done, and when it is said to be.
    fn start(&mut self, slot: usize, configuration: ConfigurationId, op: u64) -> (Time, Time) {
        let begin = self.setup.core.map_or(self.now, |core| self.serve(core.host - core.host / 2));
        let (packet, at) = self.begin(op, begin);
        let of = self.packet(packet);
        let pass = self.classes[of.suite as usize][at].0;
        let time = self.setup.really.map_or(of.costs[pass], |really| really.0[self.like(packet)][pass]);
        let estimate = self.queue.start(op, slot).map_or(time, |op| op.cost);
        let end = begin.saturating_add(time);
        self.queue.used(configuration);
        self.queue.worked(configuration, op, 1);
        self.out.start_count += 1;
        if self.setup.log {
            self.out.starts.push(Start {
                packet,
                pass,
                slot,
                configuration: Some(configuration),
                start: begin,
                end,
            });
        }
        (end, begin.saturating_add(estimate))
    }

    /// The processor begins an operation; when it is done, and when it is said to be.
    fn compute(&mut self, op: u64, ours: usize) -> (Time, Time) {
        let (packet, at) = self.begin(op, self.now);
        let pass = self.classes[self.packet(packet).suite as usize][at].0;
        let estimate = self.queue.compute(op, ours).and_then(|op| op.cpu).unwrap_or(0);
        let time = self.setup.really.map_or(estimate, |really| really.1[self.like(packet)][pass]);
        self.out.computed += 1;
        self.out.start_count += 1;
        let end = self.now.saturating_add(time);
        if self.setup.core.is_some() {
            self.core_free = end;
        }
        if self.setup.log {
            let start = self.now;
            self.out.starts.push(Start { packet, pass, slot: ours, configuration: None, start, end });
        }
        (end, self.now.saturating_add(estimate))
    }

    /// Says what an operation took of whoever did it.
    fn took(&mut self, op: u64) {
        let began = self.ops[(op - self.first_op) as usize].2;
        self.queue.took(op, self.now - began);
    }

    /// An operation has ended: its packet goes on or leaves.
    fn end(&mut self, op: u64, back: &mut VecDeque<(Time, usize)>) {
        let (packet, at) = self.forget(op);
        let Some(QueuedOp { arrived, .. }) = self.queue.finish(op) else { return };
        if !self.submit(packet, at + 1, arrived) {
            self.leave(packet, back);
            self.out.left[packet] = self.now;
        }
    }

    fn leave(&mut self, packet: usize, back: &mut VecDeque<(Time, usize)>) {
        self.inside -= 1;
        if let Some(again) = self.setup.again {
            back.push_back((self.now + again, self.like(packet)));
        }
    }

    fn drop_late(&mut self, back: &mut VecDeque<(Time, usize)>) {
        while self.setup.late == Late::Dropped
            && let Some(id) = self.queue.late().map(|op| op.id)
        {
            self.queue.remove(id);
            let (packet, _) = self.forget(id);
            self.out.dropped += 1;
            self.leave(packet, back);
        }
    }

    /// Operations end about in the order in which they came: what is before the first open one is forgotten.
    fn forget(&mut self, op: u64) -> (usize, usize) {
        let place = (op - self.first_op) as usize;
        let (packet, at, _) = self.ops[place];
        self.ended[place] = true;
        while self.ended.front() == Some(&true) {
            self.ended.pop_front();
            self.ops.pop_front();
            self.first_op += 1;
        }
        (packet, at)
    }
}
