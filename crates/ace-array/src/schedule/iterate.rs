// SPDX-License-Identifier: Apache-2.0
//! Which intervals are tried, how often, and what of it is taken.

use super::search;
use super::types::{Schedule, bound, dependent_interval};
use crate::error::Misfit;
use crate::ir::goal::Goal;
use crate::ir::graph::Graph;
use crate::ir::shape::Shape;
use crate::passes::arrivals;

/// How hard the scheduler tries, and what for.
#[derive(Clone, Copy, Debug)]
pub struct Effort {
    /// What is preferred among schedules.
    pub goal: Goal,
    /// Attempts at one interval before the next one.
    pub tries: u64,
    /// Places that are looked at: what ends big graphs' attempts, the same on every machine.
    pub looks: u64,
}

impl Default for Effort {
    fn default() -> Effort {
        Effort { goal: Goal::Throughput, tries: 48, looks: 16_000_000 }
    }
}

impl Effort {
    /// As hard as by default, for this goal.
    pub fn of(goal: Goal) -> Effort {
        Effort { goal, ..Effort::default() }
    }
}

/// Looks with which it is no use to begin.
const LEAST: u64 = 10_000;
/// Of how many schedules with one interval the best is taken.
const OF: usize = 4;

/// Schedules a legal graph for a goal. The same graph has the same schedule.
pub fn schedule(graph: &Graph, shape: &Shape, effort: Effort) -> Result<Schedule, Misfit> {
    let (least, by) = bound(graph, shape);
    if least > shape.contexts {
        let what = format!("its {}s alone take {least} contexts of {}", by.name(), shape.contexts);
        return Err(Misfit::of_all(what));
    }
    let least = least.max(graph.least_contexts());
    let forced = vec![0; graph.nodes.len()];
    let left = effort.looks;
    let mut iteration = Iteration { graph, shape, effort, left, forced, misfit: None, sharing: false };
    let mut found = iteration.found(least);
    // Values that share addresses are fewer words a block, so that they are there for more blocks; and what is put out
    // together is there for fewer.
    if found.is_none() && iteration.misfit.is_some() {
        (iteration.left, iteration.sharing) = (left, true);
        found = iteration.found(least);
    }
    found.ok_or_else(|| iteration.misfit())
}

struct Iteration<'a> {
    graph: &'a Graph,
    shape: &'a Shape,
    effort: Effort,
    /// Looks that are left.
    left: u64,
    /// By operation: how often there was no free place for it.
    forced: Vec<usize>,
    /// What the last schedule that had all routes asked for beyond what there is.
    misfit: Option<Misfit>,
    /// Whether stored values may share addresses.
    sharing: bool,
}

impl Iteration<'_> {
    fn found(&mut self, least: usize) -> Option<Schedule> {
        match self.effort.goal {
            Goal::Throughput => self.least_interval(least),
            Goal::Latency => self.least_latency(least),
        }
    }

    /// Why nothing was found.
    fn misfit(self) -> Misfit {
        let contexts = self.shape.contexts;
        let often =
            self.forced.iter().enumerate().max_by_key(|(id, times)| (**times, std::cmp::Reverse(*id)));
        match (self.misfit, often) {
            (Some(Misfit { what, node }), _) => {
                Misfit { what: format!("{what}, in {contexts} contexts as in fewer"), node }
            }
            (None, Some((id, times))) if *times > 0 => Misfit::of(
                id,
                format!("routes are not found in {contexts} contexts; most often this had no free place"),
            ),
            _ => Misfit::of_all(format!("routes are not found in {contexts} contexts")),
        }
    }

    /// The best of several schedules with an interval, for so many looks at most.
    fn at(&mut self, ii: usize, most: u64) -> Option<Schedule> {
        let mut looks = most;
        let mut found = Vec::new();
        for seed in 0..self.effort.tries {
            if looks == 0 || found.len() == OF {
                break;
            }
            let before = looks;
            let one =
                search::search(self.graph, self.shape, ii, seed, self.sharing, &mut looks, &mut self.forced);
            self.left = self.left.saturating_sub(before - looks);
            let Some(one) = one.map(|one| one.normal(self.graph)) else { continue };
            match one.fits(self.graph, self.shape) {
                Ok(()) => found.push(one),
                Err(misfit) if !self.sharing => self.misfit = Some(misfit),
                Err(misfit) => match one.sharing(self.graph, self.shape) {
                    sharing if sharing.fits(self.graph, self.shape).is_ok() => found.push(sharing),
                    _ => self.misfit = Some(misfit),
                },
            }
        }
        found.into_iter().min_by_key(|one| self.time(one))
    }

    /// Of a block alone, and an interval for what else there is; and what is better of two that are as long.
    fn time(&self, one: &Schedule) -> (usize, usize, usize) {
        (one.dependent_interval(self.graph) + one.ii, one.latency(self.graph), one.ii)
    }

    /// In growing strides to the first interval that is found, and halving what lies between it and the last that is
    /// not: an interval that is found has longer ones that are, as a rule.
    fn least_interval(&mut self, least: usize) -> Option<Schedule> {
        let (mut low, mut ii, mut stride) = (least - 1, least, 1);
        while ii <= self.shape.contexts {
            if let Some(mut best) = self.at(ii, self.effort.looks / 10) {
                while low + 1 < best.ii && self.left > LEAST {
                    let middle = (low + best.ii) / 2;
                    match self.at(middle, self.left / 2) {
                        Some(found) => best = found,
                        None => low = middle,
                    }
                }
                return Some(best);
            }
            low = ii;
            ii = if ii == self.shape.contexts { ii + 1 } else { (ii + stride).min(self.shape.contexts) };
            stride *= 2;
        }
        None
    }

    /// The shortest time of a block alone. Longer intervals have less in each other's way and shorter latencies, and a
    /// block waits longer for its start; how much longer counts, as a packet is seldom alone.
    fn least_latency(&mut self, least: usize) -> Option<Schedule> {
        let soonest = arrivals(self.graph).into_iter().max().unwrap_or(0);
        let mut best: Option<Schedule> = None;
        let mut ii = least;
        while ii <= self.shape.contexts && (self.left > 0 || best.is_none()) {
            let most = best.as_ref().map_or(usize::MAX, |best| self.time(best).0);
            let time = |ii| ii + dependent_interval(ii, soonest, self.graph.inputs, self.graph.outputs.len());
            if soonest + ii >= most {
                break;
            }
            if time(ii) < most
                && let Some(found) = self.at(ii, self.effort.looks / 40)
                && best.as_ref().is_none_or(|best| self.time(&found) < self.time(best))
            {
                best = Some(found);
            }
            ii += 1 + ii / 32;
        }
        best
    }
}
