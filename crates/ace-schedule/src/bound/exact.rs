// SPDX-License-Identifier: Apache-2.0
//! The exact optimum of small traces, by dynamic programming forwards.
//!
//! Everything lies on a grid: a packet is one step of a slot, a load takes whole steps, and a packet counts if it is done
//! within `bound` steps of its arrival. One pass a packet, one port. Of a configuration the oldest packet that is in time
//! goes first, which loses nothing when all have the same bound. A state is what each slot holds or receives, the steps
//! that are left of the load, and how many packets of each configuration are gone (served or late); of equal states the
//! one that has served most is kept.

use std::collections::HashMap;
use std::collections::hash_map::Entry;

/// Packets on a grid.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Grid {
    pub configurations: usize,
    pub slots: usize,
    /// Steps of a load.
    pub load: usize,
    /// Steps from a packet's arrival to its end.
    pub bound: usize,
    /// Step and configuration of each packet, by step.
    pub packets: Vec<(usize, usize)>,
}

/// What may be loaded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Loads {
    /// Anything: the future is known.
    Clairvoyant,
    /// Only what has a packet waiting; which of it, is still chosen by who knows the future.
    Waiting,
}

/// States that are kept at a time; beyond that there is no answer.
const STATES: usize = 2_000_000;

/// What slots hold: configuration (or none) and steps left of its load, sorted, as slots are alike.
type Slots = Vec<(u8, u8)>;
const NONE: u8 = u8::MAX;

/// Packets that can be served in time at most, or None if there are too many states, or more of something than a state has
/// room for (255 configurations, steps of a load, 65,535 packets).
pub fn most_in_time(grid: &Grid, loads: Loads) -> Option<usize> {
    let last = grid.packets.last().map_or(0, |p| p.0);
    let steps = last + grid.bound + 1;
    if grid.configurations >= NONE as usize || grid.load > 255 || grid.packets.len() > 65_535 {
        return None;
    }
    // By configuration and step: packets that have arrived before it.
    let mut before = vec![vec![0u16; steps + 2]; grid.configurations];
    for &(step, c) in &grid.packets {
        before[c][step + 1] += 1;
    }
    for sums in &mut before {
        for step in 0..=steps {
            sums[step + 1] += sums[step];
        }
    }
    let all: Vec<u16> = before.iter().map(|sums| sums[steps]).collect();
    let mut states: HashMap<(Slots, Vec<u16>), u32, foldhash::fast::RandomState> = HashMap::default();
    states.insert((vec![(NONE, 0); grid.slots], vec![0; grid.configurations]), 0);
    for step in 0..steps {
        // To be done in this step, a packet has arrived at `step + 1 - bound` or later.
        let late = (step + 1).saturating_sub(grid.bound);
        let mut next =
            HashMap::with_capacity_and_hasher(states.len(), foldhash::fast::RandomState::default());
        for ((slots, mut gone), served) in states {
            for (gone, sums) in gone.iter_mut().zip(&before) {
                *gone = (*gone).max(sums[late]);
            }
            work(grid, &before, step, &slots, &gone, served, &mut next);
            if slots.iter().any(|s| s.1 > 0) {
                continue;
            }
            for slot in 0..grid.slots {
                if slot > 0 && slots[slot] == slots[slot - 1] {
                    continue;
                }
                for c in 0..grid.configurations {
                    let useless = all[c] <= gone[c] || slots[slot].0 == c as u8;
                    if useless || (loads == Loads::Waiting && gone[c] >= before[c][step + 1]) {
                        continue;
                    }
                    let mut slots = slots.clone();
                    slots[slot] = (c as u8, grid.load as u8);
                    work(grid, &before, step, &slots, &gone, served, &mut next);
                }
            }
        }
        if next.len() > STATES {
            return None;
        }
        states = next;
    }
    states.into_values().max().map(|served| served as usize)
}

/// A step of work, and where it leads.
fn work(
    grid: &Grid,
    before: &[Vec<u16>],
    step: usize,
    slots: &[(u8, u8)],
    gone: &[u16],
    mut served: u32,
    next: &mut HashMap<(Slots, Vec<u16>), u32, foldhash::fast::RandomState>,
) {
    let (mut slots, mut gone) = (slots.to_vec(), gone.to_vec());
    for (c, left) in &mut slots {
        let at = *c as usize;
        if *left > 0 {
            *left -= 1;
        } else if *c != NONE && gone[at] < before[at][step + 1] {
            gone[at] += 1;
            served += 1;
        }
    }
    slots.sort_unstable();
    // What will be late in the next step is gone: states that differ in that alone are one.
    let late =
        (step + 2).saturating_sub(grid.bound).min(before.first().map_or(0, Vec::len).saturating_sub(1));
    for (gone, sums) in gone.iter_mut().zip(before) {
        *gone = (*gone).max(sums[late]);
    }
    match next.entry((slots, gone)) {
        Entry::Vacant(free) => drop(free.insert(served)),
        Entry::Occupied(mut best) => *best.get_mut() = served.max(*best.get()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Every schedule there is: in each step the port may begin any load, and each slot serves any packet that waits.
    fn brute(
        grid: &Grid,
        step: usize,
        slots: &[(u8, usize)],
        open: &mut Vec<(usize, usize)>,
        waiting_only: bool,
    ) -> usize {
        if step > grid.packets.last().map_or(0, |p| p.0) + grid.bound {
            return 0;
        }
        let mut best = 0;
        let free = slots.iter().all(|s| s.1 == 0);
        let mut choices: Vec<Vec<(u8, usize)>> = vec![slots.to_vec()];
        if free {
            for slot in 0..grid.slots {
                for c in 0..grid.configurations {
                    let waits = open.iter().any(|p| p.1 == c && p.0 <= step && step < p.0 + grid.bound);
                    if waiting_only && !waits {
                        continue;
                    }
                    let mut slots = slots.to_vec();
                    slots[slot] = (c as u8, grid.load);
                    choices.push(slots);
                }
            }
        }
        for slots in choices {
            best = best.max(serve(grid, step, &slots, 0, open, waiting_only));
        }
        best
    }

    /// Slot `at` serves any packet or none; then the next slot, then the next step.
    fn serve(
        grid: &Grid,
        step: usize,
        slots: &[(u8, usize)],
        at: usize,
        open: &mut Vec<(usize, usize)>,
        waiting_only: bool,
    ) -> usize {
        if at == slots.len() {
            let slots: Vec<_> = slots.iter().map(|(c, left)| (*c, left.saturating_sub(1))).collect();
            return brute(grid, step + 1, &slots, open, waiting_only);
        }
        let mut best = serve(grid, step, slots, at + 1, open, waiting_only);
        let (c, left) = slots[at];
        for place in 0..open.len() {
            let (arrived, wanted) = open[place];
            if left == 0 && wanted == c as usize && arrived <= step && step < arrived + grid.bound {
                open.remove(place);
                best = best.max(1 + serve(grid, step, slots, at + 1, open, waiting_only));
                open.insert(place, (arrived, wanted));
            }
        }
        best
    }

    #[test]
    fn it_equals_a_brute_force_on_tiny_traces() {
        let mut state = 1u64;
        let mut below = |n: usize| {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (state >> 33) as usize % n
        };
        let mut cut = 0;
        for _ in 0..60 {
            let configurations = 1 + below(2);
            let mut packets: Vec<_> = (0..below(5)).map(|_| (below(3), below(configurations))).collect();
            packets.sort_unstable();
            let grid = Grid {
                configurations,
                slots: 1 + below(2),
                load: 1 + below(2),
                bound: 1 + below(3),
                packets,
            };
            let empty = vec![(NONE, 0); grid.slots];
            for (loads, waiting_only) in [(Loads::Clairvoyant, false), (Loads::Waiting, true)] {
                let best = brute(&grid, 0, &empty, &mut grid.packets.clone(), waiting_only);
                assert_eq!(most_in_time(&grid, loads), Some(best), "{grid:?} {loads:?}");
                cut += usize::from(best < grid.packets.len());
            }
        }
        assert!(cut > 10, "in {cut} of 120 something was late");
    }
}
