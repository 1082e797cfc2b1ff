// SPDX-License-Identifier: Apache-2.0
//! The order within a security association.
//!
//! Packets of a flow leave in their order. Of two operations with as many passes behind them, that of the earlier
//! packet goes first, or the later one queues up behind it in the same slot, which answers in order. One with fewer
//! passes behind it waits for earlier packets that have more. So the HMAC of packet 1 may go before the cipher pass
//! of packet 2, and need not.

use std::collections::VecDeque;

/// An operation's place in the queue's table.
pub(crate) type At = u32;

/// Where a waiting operation may start now, as far as its flow goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Turn {
    NotYet,
    /// An earlier one of the flow is in this slot, which answers in order.
    Behind(usize),
    Anywhere,
}

/// Operations of a flow that have as many passes behind them.
#[derive(Clone, Debug, Default)]
struct Stage {
    behind: usize,
    /// By packet.
    waiting: VecDeque<(u64, At)>,
    running: VecDeque<(u64, At)>,
    slot: usize,
}

#[derive(Clone, Debug, Default)]
pub(crate) struct Flow {
    stages: Vec<Stage>,
}

impl Flow {
    fn stage(&mut self, behind: usize) -> &mut Stage {
        let at = match self.stages.iter().position(|s| s.behind == behind) {
            Some(at) => at,
            None => {
                self.stages.push(Stage { behind, ..Stage::default() });
                self.stages.len() - 1
            }
        };
        &mut self.stages[at]
    }

    /// The one that is no longer the first of its stage, if there is one.
    pub fn wait(&mut self, behind: usize, packet: u64, op: At) -> Option<At> {
        let waiting = &mut self.stage(behind).waiting;
        let place = waiting.partition_point(|w| *w < (packet, op));
        let displaced = waiting.front().filter(|_| place == 0).map(|w| w.1);
        waiting.insert(place, (packet, op));
        displaced
    }

    /// It waits no longer.
    pub fn leave(&mut self, behind: usize, op: At) {
        let waiting = &mut self.stage(behind).waiting;
        if let Some(place) = waiting.iter().position(|w| w.1 == op) {
            waiting.remove(place);
        }
    }

    pub fn start(&mut self, behind: usize, packet: u64, op: At, slot: usize) {
        self.leave(behind, op);
        let stage = self.stage(behind);
        stage.running.push_back((packet, op));
        stage.slot = slot;
    }

    pub fn end(&mut self, behind: usize, op: At) {
        let running = &mut self.stage(behind).running;
        if let Some(place) = running.iter().position(|r| r.1 == op) {
            running.remove(place);
        }
    }

    pub fn is_empty(&self) -> bool {
        self.stages.iter().all(|s| s.waiting.is_empty() && s.running.is_empty())
    }

    /// The first one of each stage, whose turn is next.
    pub fn heads(&self) -> impl Iterator<Item = (At, Turn)> {
        self.stages.iter().filter_map(|stage| {
            let &(packet, op) = stage.waiting.front()?;
            let earlier = |ops: &VecDeque<(u64, At)>| ops.front().is_some_and(|(first, _)| *first < packet);
            let resident = self
                .stages
                .iter()
                .any(|s| s.behind > stage.behind && (earlier(&s.waiting) || earlier(&s.running)));
            let turn = match (resident, stage.running.is_empty()) {
                (true, _) => Turn::NotYet,
                (false, true) => Turn::Anywhere,
                (false, false) => Turn::Behind(stage.slot),
            };
            Some((op, turn))
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn heads(flow: &Flow) -> Vec<(At, Turn)> {
        let mut heads: Vec<_> = flow.heads().collect();
        heads.sort_by_key(|h| h.0);
        heads
    }

    #[test]
    fn passes_of_different_packets_go_side_by_side_and_the_same_pass_in_order() {
        let mut flow = Flow::default();
        (1..4).for_each(|packet| assert_eq!(flow.wait(1, packet, packet as At), None));
        assert_eq!(heads(&flow), [(1, Turn::Anywhere)]);
        flow.start(1, 1, 1, 7);
        assert_eq!(heads(&flow), [(2, Turn::Behind(7))]);
        flow.end(1, 1);
        // The second pass of packet 1, and the first one of packet 2.
        flow.wait(0, 1, 11);
        assert_eq!(heads(&flow), [(2, Turn::Anywhere), (11, Turn::Anywhere)]);
        // A later packet that has no first pass does not overtake packet 2.
        flow.start(0, 1, 11, 3);
        flow.end(0, 11);
        flow.wait(0, 5, 15);
        assert_eq!(heads(&flow), [(2, Turn::Anywhere), (15, Turn::NotYet)]);
        flow.start(1, 2, 2, 0);
        flow.start(1, 3, 3, 0);
        assert_eq!(heads(&flow), [(15, Turn::NotYet)]);
        flow.end(1, 2);
        flow.end(1, 3);
        assert_eq!(heads(&flow), [(15, Turn::Anywhere)]);
        // Taken back, it has its place again.
        assert_eq!(flow.wait(0, 4, 14), Some(15));
        assert_eq!(heads(&flow), [(14, Turn::Anywhere)]);
        flow.leave(0, 14);
        flow.leave(0, 15);
        assert!(flow.is_empty());
    }
}
