// SPDX-License-Identifier: Apache-2.0
//! What double buffering reads off the queue and the slots before it decides.

use std::collections::BTreeMap;

use crate::queue::Queue;
use crate::{ConfigurationId, SlotState};

/// Where a waiting operation may start now, as far as the order of its lane goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Turn {
    /// An earlier operation of the lane waits, or earlier ones run in different slots.
    NotYet,
    /// An earlier operation of the lane is in this slot, which answers in order.
    Behind(usize),
    Anywhere,
}

/// A waiting operation of the window.
pub(crate) struct Seen<'a> {
    pub id: u64,
    pub candidates: &'a [ConfigurationId],
    pub overtaken: u32,
    pub turn: Turn,
    /// The slot that holds or awaits a configuration for it, the best candidate first.
    pub home: Option<usize>,
}

/// Something that the packets of the window need: waiting operations and what comes behind them.
pub(crate) struct Need<'a> {
    packet: u64,
    pub candidates: &'a [ConfigurationId],
    pub home: Option<usize>,
    /// It waits for an operation whose configuration is not there.
    pub stuck: bool,
}

pub(crate) struct View<'a> {
    /// In order of packet and arrival.
    pub ops: Vec<Seen<'a>>,
    /// In order of packet.
    pub needs: Vec<Need<'a>>,
}

impl<'a> View<'a> {
    pub fn new(queue: &'a Queue, slots: &[SlotState]) -> Self {
        let home = |candidates: &[ConfigurationId]| {
            candidates.iter().find_map(|c| slots.iter().position(|s| s.expected() == Some(*c)))
        };
        let mut needs = Vec::new();
        for running in queue.running() {
            for candidates in &running.op.then {
                needs.push(Need {
                    packet: running.op.packet,
                    candidates,
                    home: home(candidates),
                    stuck: false,
                });
            }
        }
        let mut ops = Vec::new();
        // By lane: the first arrival that waits, and the first that waits for a configuration.
        let mut waits: BTreeMap<u32, u64> = BTreeMap::new();
        let mut lacks: BTreeMap<u32, u64> = BTreeMap::new();
        for waiting in queue.window() {
            let (op, arrival) = (&waiting.op, waiting.arrival);
            let earlier = |map: &BTreeMap<u32, u64>| map.get(&op.lane).is_some_and(|a| *a < arrival);
            let turn = if earlier(&waits) { Turn::NotYet } else { turn(queue, op.lane, op.packet, arrival) };
            let stuck = earlier(&lacks);
            let at = home(&op.candidates);
            let note = |map: &mut BTreeMap<u32, u64>| {
                let first = map.entry(op.lane).or_insert(arrival);
                *first = arrival.min(*first);
            };
            note(&mut waits);
            if at.is_none() {
                note(&mut lacks);
            }
            ops.push(Seen {
                id: op.id,
                candidates: &op.candidates,
                overtaken: waiting.overtaken,
                turn,
                home: at,
            });
            needs.push(Need { packet: op.packet, candidates: &op.candidates, home: at, stuck });
            let stuck = stuck || at.is_none();
            for candidates in &op.then {
                needs.push(Need { packet: op.packet, candidates, home: home(candidates), stuck });
            }
        }
        needs.sort_by_key(|n| n.packet);
        Self { ops, needs }
    }

    /// Whether anything that can go on needs this slot's configuration.
    pub fn has_work(&self, slot: usize) -> bool {
        self.needs.iter().any(|n| n.home == Some(slot) && !n.stuck)
    }

    /// How far ahead this slot's configuration is needed next; nothing beats never.
    pub fn next_use(&self, slot: usize) -> usize {
        self.needs.iter().position(|n| n.home == Some(slot)).unwrap_or(usize::MAX)
    }
}

fn turn(queue: &Queue, lane: u32, packet: u64, arrival: u64) -> Turn {
    let mut turn = Turn::Anywhere;
    for r in
        queue.running().iter().filter(|r| r.op.lane == lane && r.op.packet <= packet && r.arrival < arrival)
    {
        turn = match turn {
            Turn::Anywhere => Turn::Behind(r.slot),
            Turn::Behind(slot) if slot == r.slot => turn,
            _ => return Turn::NotYet,
        };
    }
    turn
}
