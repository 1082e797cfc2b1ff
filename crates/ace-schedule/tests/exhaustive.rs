// SPDX-License-Identifier: Apache-2.0
//! Small systems in every order in which things can end: nothing stands still, nothing is loaded for ever, and the order
//! within an association is kept, under every policy, with and without a processor beside the slots.

use ace_schedule::{ClassId, Costs, Decision, Policy, Processor, Queue, QueuedOp, SlotState, Terms, Time};

use crate::c;

/// Configurations of the passes of a packet, one after the other.
const SUITES: [&[usize]; 4] = [&[0], &[1], &[0, 1], &[2, 0]];
const LOAD: Time = 30;
const COST: Time = 10;
/// No system here is in need of more.
const LOADS: usize = 24;

#[derive(Clone, Copy, Debug)]
struct System {
    policy: Policy,
    slots: usize,
    buffer: usize,
    /// Time of a pass on the processor, if there is one.
    processor: Option<Time>,
    latency: Time,
    /// Each event is so much later than the one before.
    pace: Time,
}

/// Flow and suite.
type Packet = (u32, usize);

#[derive(Clone)]
struct World {
    queue: Queue,
    slots: Vec<SlotState>,
    now: Time,
    /// Slot (the processor's is one more than the last) and operation.
    running: Vec<(usize, u64)>,
    load: Option<usize>,
    /// By operation: packet and pass.
    ops: Vec<(usize, usize)>,
    incoming: usize,
    inside: usize,
    loads: usize,
    /// Operations that ended, packet and pass.
    ended: Vec<(usize, usize)>,
}

#[derive(Clone, Copy)]
enum Event {
    Ends(usize),
    Loaded,
}

struct Search<'a> {
    system: System,
    packets: &'a [Packet],
    costs: Costs,
    worlds: usize,
}

impl Search<'_> {
    fn class(&self, queue: &mut Queue, suite: usize, pass: usize) -> ClassId {
        let passes = SUITES[suite];
        let then: Vec<_> = passes[pass + 1..].iter().map(|pass| vec![c(*pass)]).collect();
        queue.class(&[c(passes[pass])], &then)
    }

    fn push(&self, world: &mut World, packet: usize, pass: usize, arrived: Time) {
        let (flow, suite) = self.packets[packet];
        let class = self.class(&mut world.queue, suite, pass);
        let id = world.ops.len() as u64;
        world.ops.push((packet, pass));
        let next = if pass + 1 < SUITES[suite].len() { COST } else { 0 };
        world.queue.push(QueuedOp {
            id,
            flow,
            packet: packet as u64,
            arrived,
            class,
            cost: COST,
            next,
            cpu: self.system.processor,
            aside: 0,
            host: 0,
            bytes: 100,
        });
    }

    fn fill(&self, world: &mut World) {
        while world.inside < self.system.buffer && world.incoming < self.packets.len() {
            self.push(world, world.incoming, 0, world.now);
            world.incoming += 1;
            world.inside += 1;
        }
    }

    fn fail(&self, world: &World, what: &str) -> ! {
        panic!(
            "{what}: {:?}, packets {:?}, slots {:?}, runs {:?}, ended {:?}",
            self.system, self.packets, world.slots, world.running, world.ended
        );
    }

    /// Decides until there is nothing more to decide; when to ask again.
    fn decide(&self, world: &mut World) -> Option<Time> {
        let ours = self.system.slots;
        for _ in 0..64 {
            let busy = world.running.iter().any(|r| r.0 == ours).then_some(world.now + 1);
            let decision = match self.system.processor {
                Some(_) => self.system.policy.decide_with_coprocessor(
                    &mut world.queue,
                    &world.slots,
                    &self.costs,
                    Processor { busy, ..Processor::default() },
                ),
                None => self.system.policy.decide(&world.queue, &world.slots, &self.costs),
            };
            match decision {
                Decision::Wait => return None,
                Decision::WaitUntil(at) => return Some(at.max(world.now + 1)),
                Decision::Load { slot, configuration } => {
                    if world.load.is_some() || matches!(world.slots[slot], SlotState::Busy { .. }) {
                        self.fail(world, "a load that cannot be");
                    }
                    world.queue.load(world.slots[slot].resident(), configuration, &self.costs);
                    world.slots[slot] = SlotState::Loading { configuration, ready_at: world.now + LOAD };
                    world.load = Some(slot);
                    world.loads += 1;
                    if world.loads > LOADS {
                        self.fail(world, "loads without end");
                    }
                }
                Decision::Execute { slot, op } => {
                    let SlotState::Idle { configuration, since, .. } = world.slots[slot] else {
                        self.fail(world, "an operation for a slot that takes none")
                    };
                    let (packet, pass) = world.ops[op as usize];
                    assert_eq!(c(SUITES[self.packets[packet].1][pass]), configuration);
                    world.queue.start(op, slot);
                    let until = world.now + COST;
                    world.slots[slot] = SlotState::Busy { configuration, since, until, room: 0 };
                    world.running.push((slot, op));
                }
                Decision::Compute { op } => {
                    if busy.is_some() {
                        self.fail(world, "the processor does one thing at a time");
                    }
                    world.queue.compute(op, ours);
                    world.running.push((ours, op));
                }
            }
        }
        self.fail(world, "decisions without end")
    }

    fn happen(&self, world: &mut World, event: Event) {
        world.now += self.system.pace;
        world.queue.advance(world.now);
        match event {
            Event::Loaded => {
                let Some(slot) = world.load.take() else { return };
                if let SlotState::Loading { configuration, .. } = world.slots[slot] {
                    let now = world.now;
                    world.slots[slot] =
                        SlotState::Idle { configuration, last_used: now, since: now, blocked: false };
                }
            }
            Event::Ends(at) => {
                let (slot, op) = world.running.remove(at);
                if let Some(SlotState::Busy { configuration, since, .. }) = world.slots.get(slot).copied() {
                    world.slots[slot] =
                        SlotState::Idle { configuration, last_used: world.now, since, blocked: false };
                }
                world.queue.took(op, self.system.pace);
                let Some(done) = world.queue.finish(op) else { self.fail(world, "what ended did not run") };
                let (packet, pass) = world.ops[op as usize];
                let (flow, suite) = self.packets[packet];
                // The same pass of an earlier packet of its association has ended, if it has as many behind it.
                let behind = SUITES[suite].len() - pass;
                for earlier in 0..packet {
                    let (other, of) = self.packets[earlier];
                    let same = SUITES[of].len().checked_sub(behind);
                    let waits = same.is_some_and(|pass| !world.ended.contains(&(earlier, pass)));
                    if other == flow && waits {
                        self.fail(world, "an operation before an earlier one of its association");
                    }
                }
                world.ended.push((packet, pass));
                match pass + 1 < SUITES[suite].len() {
                    true => self.push(world, packet, pass + 1, done.arrived),
                    false => world.inside -= 1,
                }
            }
        }
    }

    fn explore(&mut self, mut world: World) {
        self.worlds += 1;
        self.fill(&mut world);
        let mut looks = 0;
        loop {
            let look = self.decide(&mut world);
            if !world.running.is_empty() || world.load.is_some() {
                break;
            }
            let Some(at) = look else {
                if !world.queue.is_empty() || world.incoming < self.packets.len() {
                    self.fail(&world, "all stands still");
                }
                return;
            };
            // Nothing but time can help; it has to in the end.
            looks += 1;
            if looks > 10_000 {
                self.fail(&world, "it is asked again and again");
            }
            world.now = at;
            world.queue.advance(at);
        }
        for at in 0..world.running.len() {
            let mut next = world.clone();
            self.happen(&mut next, Event::Ends(at));
            self.explore(next);
        }
        if world.load.is_some() {
            self.happen(&mut world, Event::Loaded);
            self.explore(world);
        }
    }
}

fn search(system: System, packets: &[Packet]) -> usize {
    let costs = Costs::whole(vec![LOAD; 3]);
    let mut queue = Queue::new(Terms::new(system.latency, LOAD));
    if system.processor.is_some() {
        queue.learn(system.slots);
    }
    let slots = vec![SlotState::Empty; system.slots];
    let world = World {
        queue,
        slots,
        now: 0,
        running: Vec::new(),
        load: None,
        ops: Vec::new(),
        incoming: 0,
        inside: 0,
        loads: 0,
        ended: Vec::new(),
    };
    let mut search = Search { system, packets, costs, worlds: 0 };
    search.explore(world);
    search.worlds
}

/// All traffic of `count` packets in two flows whose suites may differ from packet to packet.
fn traffic(count: u32) -> impl Iterator<Item = Vec<Packet>> {
    let kinds = 2 * SUITES.len();
    (0..kinds.pow(count)).map(move |mut number| {
        let mut packet = || {
            let kind = number % kinds;
            number /= kinds;
            ((kind % 2) as u32, kind / 2)
        };
        (0..count).map(|_| packet()).collect()
    })
}

fn systems(policy: Policy) -> Vec<System> {
    let mut all = Vec::new();
    for slots in [1, 2] {
        for buffer in [1, 3] {
            for processor in [None, Some(4), Some(40)] {
                for (latency, pace) in [(1000, 1), (60, 25)] {
                    all.push(System { policy, slots, buffer, processor, latency, pace });
                }
            }
        }
    }
    all
}

#[test]
fn nothing_stands_still_in_any_order_of_events() {
    let count = if cfg!(debug_assertions) { 2 } else { 3 };
    let mut worlds = 0;
    for policy in Policy::ALL {
        for system in systems(policy) {
            worlds += traffic(count).map(|packets| search(system, &packets)).sum::<usize>();
        }
    }
    println!("{worlds} states");
    assert!(worlds > 100_000, "{worlds}");
}
