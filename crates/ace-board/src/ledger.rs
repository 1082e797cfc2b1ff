// SPDX-License-Identifier: Apache-2.0
//! Sums up what happened.

use crate::trace::{ConfigurationReport, Event, Picos, SlotReport, Totals, What};

/// Totals, slots and configurations out of the events alone. `configurations` carries names, clocks, sizes
/// and refusals; the rest of it is filled in.
pub fn account(
    events: &[Event],
    slots: usize,
    mut configurations: Vec<ConfigurationReport>,
) -> (Totals, Vec<SlotReport>, Vec<ConfigurationReport>) {
    let mut totals = Totals { total: events.iter().map(|e| e.end).max().unwrap_or(0), ..Totals::default() };
    let mut reports = vec![SlotReport::default(); slots];
    // First executions after a load; the others found their configuration resident.
    let mut fresh = vec![false; slots];
    let mut skipped = 0;
    // Until when a slot's executions so far go: frames that overlap inside a slot are not counted twice.
    let mut busy = vec![0; slots];
    let mut by_start: Vec<&Event> = events.iter().collect();
    by_start.sort_by_key(|e| (e.start, e.end));
    for event in by_start {
        let time = event.end - event.start;
        let Some(slot) = reports.get_mut(event.slot) else { continue };
        let busy = &mut busy[event.slot];
        match &event.what {
            What::Load { configuration, refused, bytes } => {
                totals.load += time;
                slot.load += time;
                slot.resident = refused.is_none().then_some(*configuration);
                fresh[event.slot] = refused.is_none();
                if refused.is_none() {
                    totals.loads += 1;
                    slot.loads += 1;
                } else {
                    totals.refused_loads += 1;
                }
                if let Some(c) = configurations.get_mut(*configuration) {
                    c.load += time;
                    c.loads += u64::from(refused.is_none());
                    c.loaded_bytes += bytes;
                }
            }
            What::Execute { configuration, data_bytes, cycles, error, .. } => {
                let time = event.end.saturating_sub(event.start.max(*busy));
                *busy = event.end.max(*busy);
                totals.execution += time;
                slot.execute += time;
                slot.operations += 1;
                skipped += u64::from(!std::mem::take(&mut fresh[event.slot]));
                if error.is_none() {
                    totals.completed += 1;
                    totals.data_bytes += data_bytes;
                }
                if let Some(c) = configurations.get_mut(*configuration) {
                    c.operations += 1;
                    c.execute += time;
                    c.cycles += cycles;
                    c.data_bytes += data_bytes;
                }
            }
            What::Request { .. } | What::Response { .. } => totals.link += time,
            What::Reset => slot.resident = None,
        }
    }
    for slot in &mut reports {
        slot.idle = totals.total.saturating_sub(slot.load + slot.execute);
    }
    totals.skipped_loads = skipped;
    cover(events, &mut totals);
    totals.hidden_load = totals.load.saturating_sub(totals.exposed_load);
    totals.overhead = ratio(totals.exposed_load, totals.total);
    totals.retained = ratio(skipped, totals.loads + skipped);
    (totals, reports, configurations)
}

fn ratio(part: u64, whole: u64) -> f64 {
    if whole == 0 { 0.0 } else { part as f64 / whole as f64 }
}

/// Gives every instant to one cause: execution before transfer before load before nothing.
fn cover(events: &[Event], totals: &mut Totals) {
    let mut edges: Vec<(Picos, usize, i64)> = Vec::with_capacity(events.len() * 2);
    for event in events.iter().filter(|e| e.end > e.start) {
        let class = match event.what {
            What::Execute { .. } => 0,
            What::Request { .. } | What::Response { .. } => 1,
            What::Load { .. } => 2,
            What::Reset => continue,
        };
        edges.push((event.start, class, 1));
        edges.push((event.end, class, -1));
    }
    edges.sort_unstable_by_key(|e| e.0);
    let mut active = [0i64; 3];
    let mut last = 0;
    for (at, class, change) in edges {
        let span = at - last;
        match active.map(|n| n > 0) {
            [true, _, _] => totals.executing += span,
            [_, true, _] => totals.link_only += span,
            [_, _, true] => totals.exposed_load += span,
            _ => totals.idle += span,
        }
        last = at;
        active[class] += change;
    }
    totals.idle += totals.total - last;
}
