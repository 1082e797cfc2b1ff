// SPDX-License-Identifier: Apache-2.0
//! A board made of nothing but times: runs a trace of packets through a policy.

use std::collections::VecDeque;

use crate::{ConfigurationId, Costs, Decision, Policy, Queue, QueuedOp, SlotState, Time};

/// One pass over a packet.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Task {
    /// Configurations that can serve it, the preferred one first. A task without any is skipped.
    pub candidates: Vec<ConfigurationId>,
    /// Time in a slot.
    pub cost: Time,
}

/// A packet and the passes it needs, one after the other.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Packet {
    pub lane: u32,
    pub tasks: Vec<Task>,
}

/// When and where one task ran.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Start {
    /// Index into the trace.
    pub packet: usize,
    /// Index into the packet's tasks.
    pub task: usize,
    pub slot: usize,
    pub configuration: ConfigurationId,
    pub start: Time,
    pub end: Time,
}

/// What became of a trace.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Outcome {
    /// When the last thing ended.
    pub total: Time,
    /// Sum of all loads.
    pub load: Time,
    /// The part of `load` during which no slot worked.
    pub exposed_load: Time,
    /// Slot, configuration, start and end of each load.
    pub loads: Vec<(usize, ConfigurationId, Time, Time)>,
    /// In the order in which they started.
    pub starts: Vec<Start>,
    /// Tasks that never ran (every slot lost, or no candidates).
    pub unserved: usize,
}

struct Busy {
    end: Time,
    slot: usize,
    op: u64,
}

/// Runs `trace` on `slots` empty slots. At most `buffer` packets are in the packet buffer at a time: a packet
/// enters when an earlier one has left, and its next task when the one before is done. Nothing but loads and
/// executions takes time. An operation runs alone in its slot.
pub fn simulate(trace: &[Packet], buffer: usize, slots: usize, costs: &Costs, policy: Policy) -> Outcome {
    let mut out = Outcome::default();
    let mut queue = Queue::new(buffer);
    let mut states = vec![SlotState::Empty; slots];
    let mut busy: Vec<Busy> = Vec::new();
    let mut ops: Vec<(usize, usize)> = Vec::new();
    let mut incoming: VecDeque<usize> = (0..trace.len()).collect();
    let mut inside = 0;
    let mut now: Time = 0;
    loop {
        while inside < buffer.max(1)
            && let Some(packet) = incoming.pop_front()
        {
            inside += usize::from(submit(&mut queue, &mut ops, trace, packet, 0));
        }
        loop {
            match policy.decide(&queue, &states, costs) {
                Decision::Wait => break,
                Decision::Load { slot, configuration } => {
                    let ready_at = now + costs.of(states[slot].resident(), configuration);
                    states[slot] = SlotState::Loading { configuration, ready_at };
                    out.loads.push((slot, configuration, now, ready_at));
                }
                Decision::Execute { slot, op } => {
                    let (packet, task) = ops[op as usize];
                    let end = now + trace[packet].tasks[task].cost;
                    let Some(configuration) = states[slot].resident() else { break };
                    queue.start(op, slot);
                    states[slot] = SlotState::Busy { configuration, until: end, room: 0 };
                    out.starts.push(Start { packet, task, slot, configuration, start: now, end });
                    busy.push(Busy { end, slot, op });
                }
            }
        }
        let loads = states.iter().filter_map(|s| match s {
            SlotState::Loading { ready_at, .. } => Some(*ready_at),
            _ => None,
        });
        let Some(next) = busy.iter().map(|b| b.end).chain(loads).min() else { break };
        now = next;
        for state in &mut states {
            if let SlotState::Loading { configuration, ready_at } = *state
                && ready_at == now
            {
                *state = SlotState::Idle { configuration, last_used: now };
            }
        }
        let (ended, still): (Vec<_>, Vec<_>) = busy.into_iter().partition(|b| b.end == now);
        busy = still;
        for Busy { slot, op, .. } in ended {
            queue.finish(op);
            if let Some(configuration) = states[slot].resident() {
                states[slot] = SlotState::Idle { configuration, last_used: now };
            }
            let (packet, task) = ops[op as usize];
            inside -= usize::from(!submit(&mut queue, &mut ops, trace, packet, task + 1));
        }
    }
    out.total = now;
    out.unserved = trace.iter().map(|p| p.tasks.len()).sum::<usize>() - out.starts.len();
    account(&mut out);
    out
}

/// Queues task `task` of a packet, or the first one behind it that has candidates.
fn submit(
    queue: &mut Queue,
    ops: &mut Vec<(usize, usize)>,
    trace: &[Packet],
    packet: usize,
    task: usize,
) -> bool {
    let Packet { lane, tasks } = &trace[packet];
    let Some(at) = (task..tasks.len()).find(|t| !tasks[*t].candidates.is_empty()) else { return false };
    queue.push(QueuedOp {
        id: ops.len() as u64,
        lane: *lane,
        packet: packet as u64,
        candidates: tasks[at].candidates.clone(),
        then: tasks[at + 1..].iter().map(|t| t.candidates.clone()).collect(),
        cost: tasks[at].cost,
    });
    ops.push((packet, at));
    true
}

fn account(out: &mut Outcome) {
    out.load = out.loads.iter().map(|(_, _, start, end)| end - start).sum();
    let mut work: Vec<(Time, Time)> = out.starts.iter().map(|s| (s.start, s.end)).collect();
    work.sort_unstable();
    let mut hidden = 0;
    for &(_, _, start, end) in &out.loads {
        let mut at = start;
        for &(from, to) in &work {
            if from >= end {
                break;
            }
            let (from, to) = (from.max(at), to.min(end));
            if to > from {
                hidden += to - from;
                at = to;
            }
        }
    }
    out.exposed_load = out.load - hidden;
}

/// The fewest loads that serve `sequence` in order with `slots` slots: Belady's rule, which replaces what is
/// needed again last. A policy that reorders may need fewer, one that keeps the order never does.
pub fn fewest_loads_in_order(sequence: &[ConfigurationId], slots: usize) -> usize {
    let mut held: Vec<ConfigurationId> = Vec::new();
    let mut loads = 0;
    for (at, wanted) in sequence.iter().enumerate() {
        if held.contains(wanted) {
            continue;
        }
        loads += 1;
        if held.len() >= slots.max(1) {
            let next = |c: &ConfigurationId| sequence[at..].iter().position(|s| s == c).unwrap_or(usize::MAX);
            if let Some(last) = (0..held.len()).max_by_key(|i| next(&held[*i])) {
                held.swap_remove(last);
            }
        }
        held.push(*wanted);
    }
    loads
}
