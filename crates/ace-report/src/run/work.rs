// SPDX-License-Identifier: Apache-2.0
//! Who did what for each association, and what a load cost whom.

use std::collections::BTreeMap;
use std::fmt::Write;

use ace_board::trace::{BoardReport, Event, Picos, What};
use ace_engine::ConfigurationId;

use super::figures::{duration, escape};
use super::summary::Summary;
use super::tables::{Cell, Column, table};

/// Passes and their time.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Sum {
    count: u64,
    time: Picos,
    longest: Picos,
}

impl Sum {
    fn add(&mut self, time: Picos) {
        self.count += 1;
        self.time += time;
        self.longest = self.longest.max(time);
    }
}

/// By association: in slots, and on the processor.
fn doers(events: &[Event]) -> BTreeMap<u32, (Sum, Sum)> {
    let mut all: BTreeMap<u32, (Sum, Sum)> = BTreeMap::new();
    for event in events {
        let took = event.end - event.start;
        match event.what {
            What::Execute { flow, .. } => all.entry(flow).or_default().0.add(took),
            What::Compute { flow, .. } => all.entry(flow).or_default().1.add(took),
            _ => {}
        }
    }
    all
}

/// By configuration and association: passes that were there before a load of their configuration was over, and what of
/// that load they waited for.
fn waits(events: &[Event]) -> BTreeMap<(ConfigurationId, u32), Sum> {
    let mut order: Vec<&Event> = events.iter().collect();
    order.sort_by_key(|event| (event.start, event.end));
    // By slot, the load that it has what it holds from.
    let mut loads: BTreeMap<usize, (Picos, Picos)> = BTreeMap::new();
    let mut all: BTreeMap<(ConfigurationId, u32), Sum> = BTreeMap::new();
    for event in order {
        match event.what {
            What::Load { refused: None, .. } => drop(loads.insert(event.slot, (event.start, event.end))),
            What::Execute { configuration, flow, queued, .. } => {
                let Some((start, end)) = loads.get(&event.slot).copied() else { continue };
                if queued < end {
                    all.entry((configuration, flow)).or_default().add(end - queued.max(start));
                }
            }
            _ => {}
        }
    }
    all
}

pub(super) fn write(
    page: &mut String,
    board: &BoardReport,
    summary: &Summary,
    several: bool,
) -> std::fmt::Result {
    let of = if several { format!(", {}", board.policy) } else { String::new() };
    let name = |flow: u32| summary.sas.get(flow as usize).map_or("?", |sa| sa.name.as_str());
    let doers = doers(&board.events);
    let beside = board.processor.is_some();
    writeln!(page, "<h2>Who did what{}</h2>", escape(&of))?;
    let slots = board.slots.len() as u64;
    let whole = board.totals.total.saturating_mul(slots);
    writeln!(
        page,
        "<p class=\"note\">Slots work at once: the run has {} on the clock, and its {slots} slots {} of slot time together. \
         The share is that of all slot time.</p>",
        duration(board.totals.total),
        duration(whole)
    )?;
    if let Some(processor) = &board.processor {
        writeln!(page, "<p class=\"note\">The processor beside the slots: {}.</p>", escape(processor))?;
    }
    let mut columns = vec![
        Column::Words("SA"),
        Column::Figures("passes in slots"),
        Column::Figures("slot time"),
        Column::Figures("share of slot time"),
    ];
    if beside {
        columns.extend([
            Column::Figures("passes on the processor"),
            Column::Figures("processor time"),
            Column::Figures("share of the run"),
        ]);
    }
    let rows = doers.iter().map(|(flow, (slots, processor))| {
        let mut row = vec![Cell::text(name(*flow)), Cell::count(slots.count), Cell::time(slots.time)];
        row.push(Cell::share(slots.time, whole));
        if beside {
            row.extend([Cell::count(processor.count), Cell::time(processor.time)]);
            row.push(Cell::share(processor.time, board.totals.total));
        }
        row
    });
    table(page, &format!("Who did what{of}"), &columns, rows, true)?;
    writeln!(
        page,
        "<h2>What loads cost whom{}</h2><p class=\"note\">Passes that were there before the load of their configuration \
         was over, and how much of that load they waited for. Passes wait at once: their waits together may be longer than \
         the run.</p>",
        escape(&of)
    )?;
    let columns = [
        Column::Words("configuration"),
        Column::Words("SA"),
        Column::Figures("passes that waited"),
        Column::Figures("their waits together"),
        Column::Figures("the longest"),
    ];
    let rows = waits(&board.events).into_iter().map(|((configuration, flow), sum)| {
        let configuration = board.configurations.get(configuration).map_or("?".into(), |c| board.title(c));
        vec![
            Cell::text(configuration),
            Cell::text(name(flow)),
            Cell::count(sum.count),
            Cell::time(sum.time),
            Cell::time(sum.longest),
        ]
    });
    table(page, &format!("What loads cost whom{of}"), &columns, rows, true)?;
    if board.events_left_out > 0 {
        writeln!(page, "<p class=\"note\">Of the events that are drawn.</p>")?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn execute(slot: usize, flow: u32, queued: Picos, start: Picos) -> Event {
        let what = What::Execute {
            configuration: ConfigurationId::from_index(3),
            job: 0,
            flow,
            packet: 0,
            operation: String::new(),
            data_bytes: 1,
            cycles: 1,
            queued,
            fresh_key: false,
            error: None,
        };
        Event { start, end: start + 5, slot, what }
    }

    #[test]
    fn a_load_costs_those_who_were_there_before_it_was_over() {
        let load = What::Load { configuration: ConfigurationId::from_index(3), bytes: 1, refused: None };
        let compute = What::Compute { job: 0, flow: 1, packet: 0, operation: String::new(), data_bytes: 1 };
        let events = [
            Event { start: 100, end: 200, slot: 0, what: load },
            // One was there before the load began, one came while it went on, one after it; another slot has no load.
            execute(0, 1, 50, 200),
            execute(0, 1, 170, 206),
            execute(0, 2, 210, 212),
            execute(1, 2, 50, 212),
            Event { start: 120, end: 127, slot: 2, what: compute },
        ];
        let waits = waits(&events);
        assert_eq!(waits.len(), 1);
        assert_eq!(waits[&(ConfigurationId::from_index(3), 1)], Sum { count: 2, time: 130, longest: 100 });
        let doers = doers(&events);
        assert_eq!(
            (doers[&1].0.count, doers[&1].1, doers[&2].0.count),
            (2, Sum { count: 1, time: 7, longest: 7 }, 2)
        );
    }
}
