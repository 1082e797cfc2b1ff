// SPDX-License-Identifier: Apache-2.0
//! The exact optimum of small traces, by dynamic programming forwards.
//!
//! Everything lies on a grid: a packet is one step of a slot, a load takes whole steps, and a packet counts if it is done
//! within `bound` steps of its arrival. One pass a packet, one port. Of a configuration the oldest packet that is in time
//! goes first, which loses nothing when all have the same bound. A state is what each slot holds or receives, the steps
//! that are left of the load, and how many packets of each configuration are gone (served or late); of equal states the
//! one that has served most is kept.

use std::cmp::Reverse;
use std::collections::HashMap;
use std::collections::hash_map::Entry;

/// Packets on a grid.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Grid {
    /// Configurations that packets may ask for; they are numbered from 0.
    pub configurations: usize,
    /// Slots of the board.
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
const STATES: usize = 20_000_000;
/// States that are kept to find out what can be reached.
const BEAM: usize = 1000;

/// What a state is, in one number: for each slot the configuration (or none) and the steps left of its load, sorted, as slots
/// are alike; then for each configuration the packets that are gone.
type State = u128;
/// Bits of a configuration, of the steps of a load, and of a count of packets.
const CONFIGURATION: u32 = 4;
const LEFT: u32 = 6;
const SLOT: u32 = CONFIGURATION + LEFT;
const COUNT: u32 = 8;
const NONE: u8 = (1 << CONFIGURATION) - 1;
/// The most of each that fits.
const SLOTS: usize = 4;
const CONFIGURATIONS: usize = 8;

type States = HashMap<State, u32, foldhash::fast::RandomState>;

/// A state, unpacked.
#[derive(Clone, Copy)]
struct Open {
    slots: [(u8, u8); SLOTS],
    gone: [u8; CONFIGURATIONS],
}

/// A grid, made ready.
struct Tables<'a> {
    grid: &'a Grid,
    /// By configuration and step: packets that have arrived before it.
    before: Vec<Vec<u8>>,
    all: [u8; CONFIGURATIONS],
}

/// Packets that can be served in time at most, or None if there are too many states, or more of something than a state has
/// room for (4 slots, 8 configurations, 63 steps of a load, 255 packets of a configuration).
pub fn most_in_time(grid: &Grid, loads: Loads) -> Option<usize> {
    let last = grid.packets.last().map_or(0, |p| p.0);
    let steps = last + grid.bound + 1;
    let tables = Tables::new(grid, steps)?;
    // A few of the best states lead to something that can be reached: what has lost too much for that is not looked at.
    let reached = tables.best(steps, loads, Some(BEAM), u32::MAX)?;
    let spare = u32::try_from(grid.packets.len()).ok()?.saturating_sub(reached);
    tables.best(steps, loads, None, spare).map(|served| served as usize)
}

impl<'a> Tables<'a> {
    fn new(grid: &'a Grid, steps: usize) -> Option<Self> {
        if grid.slots > SLOTS || grid.configurations > CONFIGURATIONS || grid.load >= 1 << LEFT {
            return None;
        }
        let mut sums = vec![vec![0usize; steps + 2]; grid.configurations];
        for &(step, c) in &grid.packets {
            sums[c][step + 1] += 1;
        }
        let mut all = [0; CONFIGURATIONS];
        let mut before = Vec::new();
        for (sums, all) in sums.iter_mut().zip(&mut all) {
            for step in 0..=steps {
                sums[step + 1] += sums[step];
            }
            *all = u8::try_from(sums[steps]).ok()?;
            before.push(sums.iter().map(|s| *s as u8).collect());
        }
        Some(Self { grid, before, all })
    }

    fn pack(&self, open: &Open) -> State {
        let mut state = 0;
        for (c, left) in &open.slots[..self.grid.slots] {
            state = state << SLOT | State::from(*c) << LEFT | State::from(*left);
        }
        for gone in &open.gone[..self.grid.configurations] {
            state = state << COUNT | State::from(*gone);
        }
        state
    }

    fn unpack(&self, mut state: State) -> Open {
        let mut open = Open { slots: [(NONE, 0); SLOTS], gone: [0; CONFIGURATIONS] };
        for gone in open.gone[..self.grid.configurations].iter_mut().rev() {
            *gone = (state & ((1 << COUNT) - 1)) as u8;
            state >>= COUNT;
        }
        for slot in open.slots[..self.grid.slots].iter_mut().rev() {
            let of = (state & ((1 << SLOT) - 1)) as u16;
            *slot = ((of >> LEFT) as u8, (of & ((1 << LEFT) - 1)) as u8);
            state >>= SLOT;
        }
        open
    }

    /// The most that is served in time. `keep`: of so many of the best states of each step alone. `spare`: by states that have
    /// lost no more packets.
    fn best(&self, steps: usize, loads: Loads, keep: Option<usize>, spare: u32) -> Option<u32> {
        let grid = self.grid;
        let mut states = States::default();
        states.insert(self.pack(&Open { slots: [(NONE, 0); SLOTS], gone: [0; CONFIGURATIONS] }), 0);
        for step in 0..steps {
            let mut next =
                States::with_capacity_and_hasher(states.len(), foldhash::fast::RandomState::default());
            for (state, served) in states {
                let open = self.unpack(state);
                self.work(step, open, served, spare, &mut next);
                let slots = &open.slots[..grid.slots];
                if slots.iter().any(|s| s.1 > 0) {
                    continue;
                }
                for slot in 0..grid.slots {
                    if slot > 0 && slots[slot] == slots[slot - 1] {
                        continue;
                    }
                    for c in 0..grid.configurations {
                        let useless = self.all[c] <= open.gone[c] || slots[slot].0 == c as u8;
                        let waits = open.gone[c] < self.before[c][step + 1];
                        if useless || (loads == Loads::Waiting && !waits) {
                            continue;
                        }
                        let mut open = open;
                        open.slots[slot] = (c as u8, grid.load as u8);
                        self.work(step, open, served, spare, &mut next);
                    }
                }
            }
            if let Some(keep) = keep.filter(|keep| next.len() > *keep) {
                let mut all: Vec<(State, u32)> = next.drain().collect();
                all.select_nth_unstable_by_key(keep, |(state, served)| (Reverse(*served), *state));
                next.extend(all.drain(..keep));
            }
            if next.len() > STATES {
                return None;
            }
            states = next;
        }
        states.into_values().max()
    }

    /// A step of work, and where it leads.
    fn work(&self, step: usize, mut open: Open, mut served: u32, spare: u32, next: &mut States) {
        let slots = &mut open.slots[..self.grid.slots];
        for (c, left) in slots.iter_mut() {
            let at = usize::from(*c);
            if *left > 0 {
                *left -= 1;
            } else if *c != NONE && open.gone[at] < self.before[at][step + 1] {
                open.gone[at] += 1;
                served += 1;
            }
        }
        slots.sort_unstable();
        // To be done in the next step, a packet has arrived at `step + 2 - bound` or later. What will be late is gone: states
        // that differ in that alone are one.
        let late = (step + 2).saturating_sub(self.grid.bound);
        for (gone, sums) in open.gone.iter_mut().zip(&self.before) {
            *gone = (*gone).max(sums[late.min(sums.len() - 1)]);
        }
        let gone: u32 = open.gone.iter().map(|gone| u32::from(*gone)).sum();
        if gone - served > spare {
            return;
        }
        match next.entry(self.pack(&open)) {
            Entry::Vacant(free) => drop(free.insert(served)),
            Entry::Occupied(mut best) => *best.get_mut() = served.max(*best.get()),
        }
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
