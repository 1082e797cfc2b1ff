// SPDX-License-Identifier: Apache-2.0
//! Sums up what happened while it happens: of what is summed up nothing is kept, but the events that were asked for.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use ace_engine::Table;

use crate::trace::{ConfigurationReport, Event, Picos, SlotReport, Totals, What};

/// Events are logged when they end, and counted in the order of their starts: so many wait until no earlier one can come.
const WAITING: usize = 4096;

/// Where the time of a board went.
#[derive(Clone, Debug)]
pub(crate) struct Ledger {
    totals: Totals,
    slots: Vec<Slot>,
    /// Without what a catalogue says of them.
    configurations: Table<ConfigurationReport>,
    waiting: Vec<Event>,
    /// Look at the waiting ones when there are so many.
    next_look: usize,
    /// Starts and ends of what is counted, from `covered` on.
    edges: BinaryHeap<Reverse<(Picos, usize, i64)>>,
    active: [i64; 5],
    covered: Picos,
    /// The events that are kept, and how many may be.
    retained: Vec<Event>,
    most: usize,
    left_out: u64,
}

#[derive(Clone, Debug, Default)]
struct Slot {
    report: SlotReport,
    /// The next execution is the first after a load; the others found their configuration resident.
    fresh: bool,
    /// Until when its executions so far go: frames that overlap inside a slot are not counted twice.
    busy: Picos,
}

/// A ledger that is closed.
pub(crate) struct Accounts {
    pub totals: Totals,
    pub slots: Vec<SlotReport>,
    pub configurations: Table<ConfigurationReport>,
    pub events: Vec<Event>,
    pub left_out: u64,
}

impl Ledger {
    pub fn new(slots: usize, configurations: usize) -> Self {
        Self {
            totals: Totals::default(),
            slots: vec![Slot::default(); slots],
            configurations: Table::filled(ConfigurationReport::default(), configurations),
            waiting: Vec::new(),
            next_look: WAITING,
            edges: BinaryHeap::new(),
            active: [0; 5],
            covered: 0,
            retained: Vec::new(),
            most: 0,
            left_out: 0,
        }
    }

    /// Keeps the first `most` events from now on.
    pub fn keep(&mut self, most: usize) {
        self.most = most;
        self.retained.truncate(most);
    }

    /// Takes an event; true when it is time to [`Ledger::settle`].
    pub fn log(&mut self, event: Event) -> bool {
        if self.retained.len() < self.most {
            self.retained.push(event.clone());
        } else {
            self.left_out += 1;
        }
        self.waiting.push(event);
        self.waiting.len() >= self.next_look
    }

    /// Counts what starts before `until`; no event that is still to come does.
    pub fn settle(&mut self, until: Picos) {
        // Of those that start together the one that ends first, and then the one that was logged first.
        self.waiting.sort_by_key(|e| (e.start, e.end));
        let settled = self.waiting.partition_point(|e| e.start < until);
        let settled: Vec<Event> = self.waiting.drain(..settled).collect();
        for event in &settled {
            self.count(event);
        }
        self.next_look = (2 * self.waiting.len()).max(WAITING);
        while let Some(Reverse((at, class, change))) = self.edges.peek().copied()
            && at < until
        {
            self.edges.pop();
            self.cover(at);
            self.active[class] += change;
        }
    }

    /// What it comes to, with everything that was logged.
    pub fn close(mut self) -> Accounts {
        self.settle(Picos::MAX);
        let Self { mut totals, slots, configurations, mut retained, covered, left_out, .. } = self;
        totals.idle += totals.total - covered;
        totals.hidden_load = totals.load.saturating_sub(totals.exposed_load);
        totals.overhead = ratio(totals.exposed_load, totals.total);
        totals.retained = ratio(totals.skipped_loads, totals.loads + totals.skipped_loads);
        let total = totals.total;
        let idle = |slot: Slot| SlotReport {
            idle: total.saturating_sub(slot.report.load + slot.report.execute),
            ..slot.report
        };
        retained.sort_by_key(|e| e.end);
        let slots = slots.into_iter().map(idle).collect();
        Accounts { totals, slots, configurations, events: retained, left_out }
    }

    fn count(&mut self, event: &Event) {
        let (time, totals) = (event.end - event.start, &mut self.totals);
        totals.total = totals.total.max(event.end);
        if event.end > event.start
            && let Some(class) = class(&event.what)
        {
            self.edges.push(Reverse((event.start, class, 1)));
            self.edges.push(Reverse((event.end, class, -1)));
        }
        if let What::Compute { data_bytes, .. } = event.what {
            totals.computation += time;
            totals.computed += 1;
            totals.completed += 1;
            totals.data_bytes += data_bytes;
        }
        let Some(Slot { report: slot, fresh, busy }) = self.slots.get_mut(event.slot) else { return };
        match &event.what {
            What::Load { configuration, refused, bytes } => {
                let done = u64::from(refused.is_none());
                totals.load += time;
                totals.loads += done;
                totals.refused_loads += 1 - done;
                slot.load += time;
                slot.loads += done;
                slot.resident = refused.is_none().then_some(*configuration);
                if refused.is_none() && !slot.loaded.contains(configuration) {
                    slot.loaded.push(*configuration);
                }
                *fresh = refused.is_none();
                if let Some(c) = self.configurations.get_mut(*configuration) {
                    c.load += time;
                    c.loads += done;
                    c.loaded_bytes += bytes;
                }
            }
            What::Execute { configuration, data_bytes, cycles, error, .. } => {
                let time = event.end.saturating_sub(event.start.max(*busy));
                *busy = event.end.max(*busy);
                totals.execution += time;
                totals.skipped_loads += u64::from(!std::mem::take(fresh));
                slot.execute += time;
                slot.operations += 1;
                if error.is_none() {
                    totals.completed += 1;
                    totals.data_bytes += data_bytes;
                }
                if let Some(c) = self.configurations.get_mut(*configuration) {
                    c.operations += 1;
                    c.execute += time;
                    c.cycles += cycles;
                    c.data_bytes += data_bytes;
                }
            }
            What::Request { .. } | What::Response { .. } => totals.link += time,
            What::Host { .. } => totals.host += time,
            What::Compute { .. } => {}
            What::Reset => slot.resident = None,
        }
    }

    /// Gives the time up to `at` to one cause: slots before the processor before transfers before the host before loads before nothing.
    fn cover(&mut self, at: Picos) {
        let (span, totals) = (at - self.covered, &mut self.totals);
        match self.active.map(|n| n > 0) {
            [true, ..] => totals.executing += span,
            [_, true, ..] => totals.computing += span,
            [_, _, true, ..] => totals.link_only += span,
            [_, _, _, true, _] => totals.host_only += span,
            [_, _, _, _, true] => totals.exposed_load += span,
            _ => totals.idle += span,
        }
        self.covered = at;
    }
}

fn class(what: &What) -> Option<usize> {
    match what {
        What::Execute { .. } => Some(0),
        What::Compute { .. } => Some(1),
        What::Request { .. } | What::Response { .. } => Some(2),
        What::Host { .. } => Some(3),
        What::Load { .. } => Some(4),
        What::Reset => None,
    }
}

fn ratio(part: u64, whole: u64) -> f64 {
    if whole == 0 { 0.0 } else { part as f64 / whole as f64 }
}

#[cfg(test)]
mod tests {
    use ace_engine::ConfigurationId;

    use super::*;

    /// Loads and executions of two slots that overlap at random; logged in the order of their ends.
    fn history(events: u64) -> Vec<Event> {
        let mut state = 1u64;
        let mut random = move |below: u64| {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (state >> 33) % below
        };
        let mut all: Vec<Event> = (0..events)
            .map(|job| {
                let start = job * 70 + random(40);
                let (slot, configuration) =
                    (random(2) as usize, ConfigurationId::from_index(random(3) as usize));
                let what = match random(8) {
                    0 => What::Load { configuration, bytes: 7, refused: None },
                    1 => What::Request { job, bytes: 9 },
                    2 => What::Host { job, sends: true },
                    3 => What::Compute { job, flow: 0, packet: job, operation: "".into(), data_bytes: 64 },
                    _ => What::Execute {
                        configuration,
                        job,
                        flow: 0,
                        packet: job,
                        operation: "".into(),
                        data_bytes: 64,
                        cycles: 3,
                        queued: start,
                        fresh_key: false,
                        error: None,
                    },
                };
                Event { start, end: start + random(200), slot, what }
            })
            .collect();
        all.sort_by_key(|e| e.end);
        all
    }

    #[test]
    fn counting_on_the_way_comes_to_the_same_and_keeps_nothing() {
        let events = history(100_000);
        let (mut on_the_way, mut at_the_end) = (Ledger::new(2, 3), Ledger::new(2, 3));
        on_the_way.keep(10);
        let mut most = 0;
        for event in &events {
            at_the_end.log(event.clone());
            // What is to come ends no earlier than this one, and none takes longer than 200.
            if on_the_way.log(event.clone()) {
                on_the_way.settle(event.end.saturating_sub(200));
            }
            most = most.max(on_the_way.waiting.len() + on_the_way.edges.len());
        }
        assert!(most <= 2 * WAITING, "{most} are kept");
        let (a, b) = (on_the_way.close(), at_the_end.close());
        assert_eq!((&a.totals, &a.slots, &a.configurations), (&b.totals, &b.slots, &b.configurations));
        assert_eq!((a.events.len(), a.left_out, b.left_out), (10, 99_990, 100_000));
        let t = &a.totals;
        assert_eq!(t.total, t.executing + t.computing + t.link_only + t.host_only + t.exposed_load + t.idle);
        assert!(t.host_only > 0 && t.exposed_load > 0 && t.link_only > 0 && t.completed > 0);
    }
}
