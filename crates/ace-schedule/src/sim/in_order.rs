// SPDX-License-Identifier: Apache-2.0
//! Tasks strictly in order on one unit with groups of contexts: the machine of the 2006 paper.
//!
//! While a task runs, the next one whose configuration is not held is loaded, if that is asked for, over the group that is
//! needed again last (Belady), never over the one that runs or one that comes before it. The sequence is known, as the paper
//! supposes that its packet buffer is large enough.

/// What became of a sequence. Times in the unit of the tasks'.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct InOrder {
    /// Time from the first load to the end of the last task.
    pub total: f64,
    /// Sum of the times of all tasks.
    pub executing: f64,
    /// Loads that were made.
    pub loads: usize,
    /// Time of all loads.
    pub loading: f64,
    /// Of the time in which all waits, what belongs to the first load of each group.
    pub first: f64,
}

impl InOrder {
    /// Time in which all waits for a configuration.
    pub fn exposed(&self) -> f64 {
        self.total - self.executing
    }

    /// The same over the total.
    pub fn overhead(&self) -> f64 {
        if self.total > 0.0 { self.exposed() / self.total } else { 0.0 }
    }
}

#[derive(Clone, Copy)]
struct Group {
    holds: Option<usize>,
    ready: f64,
    /// The task that needs it next.
    next: usize,
    /// It holds its first configuration, which nothing has used yet.
    fresh: bool,
}

/// Runs tasks, each a number and a time, on `groups` groups; `load` is what each number takes to be loaded.
pub fn in_order(tasks: &[(usize, f64)], load: &[f64], groups: usize, ahead: bool) -> InOrder {
    in_order_by(tasks, load.len(), |c| load[c], groups, ahead)
}

/// The same, of so many `kinds`; what a load takes may hang on those before it.
pub fn in_order_by(
    tasks: &[(usize, f64)],
    kinds: usize,
    mut load: impl FnMut(usize) -> f64,
    groups: usize,
    ahead: bool,
) -> InOrder {
    // From the end: where each one is needed next.
    let mut again = vec![usize::MAX; kinds];
    let next: Vec<usize> =
        tasks.iter().enumerate().rev().map(|(i, t)| std::mem::replace(&mut again[t.0], i)).collect();
    let next = |task: usize| next[tasks.len() - 1 - task];
    let mut occupied = vec![Group { holds: None, ready: 0.0, next: usize::MAX, fresh: false }; groups.max(1)];
    let (mut now, mut port) = (0.0_f64, 0.0_f64);
    let mut out = InOrder::default();
    let mut fetch = |group: &mut Group, wanted: usize, needed: usize, from: f64| {
        let time = load(wanted);
        port = from.max(port) + time;
        let fresh = group.holds.is_none();
        *group = Group { holds: Some(wanted), ready: port, next: needed, fresh };
        out.loads += 1;
        out.loading += time;
        port
    };
    let (mut executing, mut first) = (0.0, 0.0);
    for (i, &(wanted, time)) in tasks.iter().enumerate() {
        let at = occupied.iter().position(|g| g.holds == Some(wanted)).unwrap_or_else(|| {
            let last =
                (0..occupied.len()).max_by_key(|g| (occupied[*g].next, std::cmp::Reverse(*g))).unwrap_or(0);
            fetch(&mut occupied[last], wanted, i, now);
            last
        });
        occupied[at].next = next(i);
        let start = now.max(occupied[at].ready);
        if std::mem::take(&mut occupied[at].fresh) {
            first += start - now;
        }
        let end = start + time;
        let mut from = start;
        for (j, &(coming, _)) in tasks.iter().enumerate().take(i + 1 + 4 * occupied.len()).skip(i + 1) {
            if !ahead || from >= end {
                break;
            }
            if occupied.iter().any(|g| g.holds == Some(coming)) {
                continue;
            }
            // Only over what is needed after this one, and not over what runs.
            let over = (0..occupied.len())
                .filter(|g| *g != at && occupied[*g].next > j)
                .max_by_key(|g| occupied[*g].next);
            let Some(over) = over else { break };
            from = fetch(&mut occupied[over], coming, j, from);
        }
        (now, executing) = (end, executing + time);
    }
    InOrder { total: now, executing, first, ..out }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn by_hand() {
        // Four tasks of 10 that alternate, loads of 4.
        let tasks = [(0, 10.0), (1, 10.0), (0, 10.0), (2, 10.0)];
        let load = [4.0, 4.0, 14.0];
        let run = |groups, ahead| in_order(&tasks, &load, groups, ahead);
        let loading = 26.0;
        assert_eq!(run(1, false), InOrder { total: 66.0, executing: 40.0, loads: 4, loading, first: 4.0 });
        // The second is loaded behind the first, and is there for the third: only the fourth, which may begin when
        // the second has ended, is seen, and the very first.
        let loading = 22.0;
        assert_eq!(run(2, true), InOrder { total: 48.0, executing: 40.0, loads: 3, loading, first: 4.0 });
        assert_eq!(run(3, true), InOrder { total: 44.0, executing: 40.0, loads: 3, loading, first: 4.0 });
        // A second level holds what was loaded before.
        let mut known = Vec::new();
        let cached = |c: usize| {
            if known.contains(&c) {
                1.0
            } else {
                known.push(c);
                load[c]
            }
        };
        assert_eq!(in_order_by(&tasks, 3, cached, 1, false).loading, 23.0);
        assert!((run(2, true).overhead() - 8.0 / 48.0).abs() < 1e-12);
        assert_eq!(in_order(&[], &load, 2, true).overhead(), 0.0);
    }
}
