// SPDX-License-Identifier: Apache-2.0
//! Slots modulo the interval to slots: the earliest ones that keep all distances, or a circle of distances that no slots
//! keep.

use batsat::Lit;

/// Something that happens in a slot that is known modulo the interval, because a literal is true.
pub(super) struct Event {
    pub(super) slot: i64,
    pub(super) why: Lit,
}

/// One event is at least so many slots behind another one, because literals are true.
pub(super) struct Distance {
    pub(super) from: usize,
    pub(super) to: usize,
    pub(super) least: i64,
    pub(super) why: Vec<Lit>,
}

/// The slots, or literals that are not all true of any schedule.
pub(super) fn slots(ii: i64, events: &[Event], distances: &[Distance]) -> Result<Vec<i64>, Vec<Lit>> {
    let mut slots: Vec<i64> = events.iter().map(|event| event.slot).collect();
    // The distance that moved an event last.
    let mut by: Vec<Option<usize>> = vec![None; events.len()];
    for _ in 0..=events.len() {
        let mut moved = None;
        for (at, distance) in distances.iter().enumerate() {
            let least = slots[distance.from] + distance.least;
            let slot = &mut slots[distance.to];
            if *slot < least {
                *slot = least + (events[distance.to].slot - least).rem_euclid(ii);
                by[distance.to] = Some(at);
                moved = Some(distance.to);
            }
        }
        let Some(mut at) = moved else { return Ok(slots) };
        // What is moved as often as there are events moves itself: back to where that is so.
        let mut seen = vec![false; events.len()];
        while let Some(one) = by[at].filter(|_| !std::mem::replace(&mut seen[at], true)) {
            at = distances[one].from;
        }
        if let Some(circle) = circle(distances, &by, at) {
            return Err(reason(ii, events, distances, &circle));
        }
    }
    Ok(slots)
}

/// The distances of a circle through an event, the last one first.
fn circle(distances: &[Distance], by: &[Option<usize>], start: usize) -> Option<Vec<usize>> {
    let mut out = Vec::new();
    let mut at = start;
    loop {
        let one = by[at]?;
        out.push(one);
        at = distances[one].from;
        if at == start {
            return Some(out);
        }
    }
}

/// Why a circle of distances cannot be kept, with as few of the events' slots as do.
fn reason(ii: i64, events: &[Event], distances: &[Distance], circle: &[usize]) -> Vec<Lit> {
    let path: Vec<&Distance> = circle.iter().rev().map(|at| &distances[*at]).collect();
    // By how much an event would be behind itself, if only these events' slots are known.
    let behind = |known: &[bool]| {
        let Some(first) = known.iter().position(|known| *known) else {
            return path.iter().map(|distance| distance.least).sum::<i64>();
        };
        let start = events[path[first].from].slot;
        let mut slot = start;
        for step in 0..path.len() {
            let distance = path[(first + step) % path.len()];
            slot += distance.least;
            if known[(first + step + 1) % path.len()] {
                slot += (events[distance.to].slot - slot).rem_euclid(ii);
            }
        }
        slot - start
    };
    // By distance of the path, whether the slot of where it begins counts.
    let mut known = vec![true; path.len()];
    for at in 0..path.len() {
        known[at] = false;
        known[at] = behind(&known) <= 0;
    }
    let slots =
        path.iter().zip(&known).filter(|(_, known)| **known).map(|(distance, _)| events[distance.from].why);
    let mut out: Vec<Lit> =
        path.iter().flat_map(|distance| distance.why.iter().copied()).chain(slots).collect();
    out.sort_unstable();
    out.dedup();
    out
}
