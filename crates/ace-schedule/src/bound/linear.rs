// SPDX-License-Identifier: Apache-2.0
//! A bound for large traces, by a linear programme: bytes that leave in time under any schedule, even a clairvoyant one.
//!
//! Time goes in steps. For configuration c and step s: `held` slots hold it, `begun` loads begin, `work` slot time is
//! worked, `open` is what has arrived, was accepted and is not done. For suite u and step s, `taken` is the part of what
//! arrives that leaves in time.
//!
//! * residence: held(s) ≤ held(s−1) + begun(s−l), l whole steps of a load; Σ held ≤ slots;
//! * work(s) ≤ held(s) + held(s−1) + begun(s−l), as a residence may begin and end within a step;
//! * slots: in windows of several lengths, work and the loads that lie in the window wholly fit into the slots;
//! * port: in the same windows, loads that begin in them fit, but for one;
//! * in time: what is accepted is done d steps later, d = ⌊D ÷ step⌋ + 1;
//! * cover: taken(u, s) ≤ held(s−1) + loads of c that end in s…s+d, for every pass c of u: what is away and does not come
//!   back in time loses all of it. Without this the programme sees no cost of a load.
//!
//! Every schedule gives a point that meets all of these, its loads counted in the step in which they begin; so the optimum
//! bounds every schedule. Not seen are the order within an association, the order of passes, and whole packets.

use ace_engine::{ConfigurationId, Table};
use good_lp::{
    Expression, ProblemVariables, Solution, SolverModel, Variable, clarabel, constraint, variable,
};

use crate::Time;
use crate::sim::simulate::Trace;

/// Steps of a latency bound, where few configurations take turns and where many do: a programme with many is larger.
const STEPS: usize = 10;
const STEPS_OF_MANY: usize = 5;
const MANY: usize = 6;
/// The solver is given so long; what it has not solved by then has no bound.
const SECONDS: f64 = 60.0;

/// What the slots are.
#[derive(Clone, Debug)]
pub struct Slots<'a> {
    /// How many slots the board has; all are alike.
    pub count: usize,
    /// What a load of each configuration takes.
    pub load: &'a Table<Time>,
    /// Time from a packet's arrival within which it has to leave, in the unit of the trace.
    pub latency: Time,
}

/// Part of a trace's bytes that leaves in time at most, 0 to 1; None if the programme was not solved. A pass with several
/// candidates counts as one of the first.
pub fn most_in_time(trace: &Trace, slots: &Slots<'_>) -> Option<f64> {
    let bytes: f64 = trace.packets.iter().map(|p| f64::from(p.bytes)).sum();
    if bytes <= 0.0 {
        return Some(1.0);
    }
    let mut programme = Programme::new(trace, slots);
    programme.residence();
    programme.windows();
    programme.in_time();
    let value = programme.solve()? / bytes;
    // The solver stops within 1e-8 of the optimum.
    Some((value + 1e-6).min(1.0))
}

struct Programme<'a> {
    slots: &'a Slots<'a>,
    steps: usize,
    /// By suite: the configurations of its passes.
    passes: Vec<Vec<ConfigurationId>>,
    used: Vec<ConfigurationId>,
    /// Loads in steps, and whole steps of them.
    load: Table<f64>,
    whole: Table<usize>,
    /// Steps within which what arrives in one is done.
    due: usize,
    /// Bytes by suite and step; slot time by suite, configuration and step.
    bytes: Vec<Vec<f64>>,
    asked: Vec<Table<Vec<f64>>>,
    variables: ProblemVariables,
    occupied: Table<Vec<Variable>>,
    begun: Table<Vec<Variable>>,
    work: Table<Vec<Variable>>,
    open: Table<Vec<Variable>>,
    taken: Vec<Vec<Variable>>,
    constraints: Vec<good_lp::Constraint>,
}

impl<'a> Programme<'a> {
    fn new(trace: &Trace, slots: &'a Slots<'a>) -> Self {
        let many = slots.load.len() > MANY;
        let in_bound = if many { STEPS_OF_MANY } else { STEPS };
        let step = slots.latency as f64 / in_bound as f64;
        let last = trace.packets.iter().map(|p| p.arrival).max().unwrap_or(0);
        let steps = ((last + 1 + slots.latency) as f64 / step).ceil() as usize + 1;
        let configurations = slots.load.len();
        let of =
            |suite: &Vec<Vec<ConfigurationId>>| suite.iter().filter_map(|p| p.first().copied()).collect();
        let passes: Vec<Vec<ConfigurationId>> = trace.suites.iter().map(of).collect();
        let mut used: Vec<ConfigurationId> = passes.iter().flatten().copied().collect();
        used.sort_unstable();
        used.dedup();
        let mut bytes = vec![vec![0.0; steps]; passes.len()];
        let mut asked = vec![Table::filled(vec![0.0; steps], configurations); passes.len()];
        for packet in &trace.packets {
            let (suite, at) = (packet.suite as usize, (packet.arrival as f64 / step) as usize);
            bytes[suite][at] += f64::from(packet.bytes);
            let there = trace.suites[suite].iter().zip(packet.costs).filter(|(pass, _)| !pass.is_empty());
            for (pass, cost) in there {
                asked[suite][pass[0]][at] += cost as f64 / step;
            }
        }
        let load: Table<f64> = slots.load.iter().map(|l| *l as f64 / step).collect();
        let whole = load.iter().map(|l| (l + 1e-9).floor() as usize).collect();
        let mut variables = ProblemVariables::new();
        let mut grid = |rows: usize, most: Option<f64>| -> Vec<Vec<Variable>> {
            let one = || most.map_or(variable().min(0.0), |most| variable().min(0.0).max(most));
            (0..rows).map(|_| (0..steps).map(|_| variables.add(one())).collect()).collect()
        };
        Self {
            steps,
            due: in_bound + 1,
            occupied: grid(configurations, Some(slots.count as f64)).into(),
            begun: grid(configurations, None).into(),
            work: grid(configurations, None).into(),
            open: grid(configurations, None).into(),
            taken: grid(passes.len(), Some(1.0)),
            slots,
            passes,
            used,
            load,
            whole,
            bytes,
            asked,
            variables,
            constraints: Vec::new(),
        }
    }

    /// The load of `c` that ends in step `s`.
    fn ends(&self, c: ConfigurationId, s: usize) -> Option<Variable> {
        s.checked_sub(self.whole[c]).and_then(|began| self.begun[c].get(began).copied())
    }

    fn residence(&mut self) {
        let count = self.slots.count as f64;
        for s in 0..self.steps {
            let occupied: Expression = self.used.iter().map(|c| self.occupied[*c][s]).sum();
            let work: Expression = self.used.iter().map(|c| self.work[*c][s]).sum();
            self.constraints.push(constraint!(occupied <= count));
            self.constraints.push(constraint!(work <= count));
            for &c in &self.used {
                let mut there = Expression::from(0.0);
                if s > 0 {
                    there += self.occupied[c][s - 1];
                }
                if let Some(load) = self.ends(c, s) {
                    there += load;
                }
                self.constraints.push(constraint!(self.occupied[c][s] <= there.clone()));
                self.constraints.push(constraint!(self.work[c][s] <= there + self.occupied[c][s]));
            }
        }
    }

    fn windows(&mut self) {
        let (steps, count) = (self.steps, self.slots.count as f64);
        let most = self.used.iter().map(|c| self.whole[*c]).max().unwrap_or(0);
        let longest = self.used.iter().map(|c| self.load[*c]).fold(0.0, f64::max);
        let mut lengths = vec![1 + most, 4 * (most + 2), 12 * (most + 2), steps];
        lengths.dedup();
        for length in lengths.into_iter().filter(|length| *length <= steps) {
            for from in (0..=steps - length).step_by((length / 2).max(1)) {
                let to = (from + length).min(steps);
                let mut slots = Expression::from(0.0);
                let mut port = Expression::from(0.0);
                for &c in &self.used {
                    (from..to).for_each(|s| slots += self.work[c][s]);
                    (from..to).for_each(|s| port += self.load[c] * self.begun[c][s]);
                    let inside = if to < steps { to.saturating_sub(self.whole[c] + 1) } else { to };
                    (from..inside.max(from)).for_each(|s| slots += self.load[c] * self.begun[c][s]);
                }
                // What begins near the end of all may end behind it.
                let room = if to == steps { count * (most + 1) as f64 } else { 0.0 };
                self.constraints.push(constraint!(slots <= count * (to - from) as f64 + room));
                self.constraints.push(constraint!(port <= (to - from) as f64 + longest));
            }
        }
    }

    fn in_time(&mut self) {
        for s in 0..self.steps {
            for (u, passes) in self.passes.iter().enumerate() {
                if self.bytes[u][s] <= 0.0 {
                    continue;
                }
                for &c in passes {
                    let mut there = Expression::from(0.0);
                    if s > 0 {
                        there += self.occupied[c][s - 1];
                    }
                    (s..=s + self.due).filter_map(|end| self.ends(c, end)).for_each(|load| there += load);
                    self.constraints.push(constraint!(self.taken[u][s] <= there));
                }
            }
            for &c in &self.used {
                let asked = |s: usize| {
                    let of = |u: usize| {
                        (self.asked[u][c][s] > 0.0).then(|| self.asked[u][c][s] * self.taken[u][s])
                    };
                    (0..self.passes.len()).filter_map(of).sum::<Expression>()
                };
                let mut came = asked(s);
                if s > 0 {
                    came += self.open[c][s - 1];
                }
                self.constraints.push(constraint!(self.open[c][s] + self.work[c][s] == came));
                let young: Expression = (s.saturating_sub(self.due - 1)..=s).map(asked).sum();
                self.constraints.push(constraint!(self.open[c][s] <= young));
            }
        }
    }

    fn solve(self) -> Option<f64> {
        let Self { variables, constraints, taken, bytes, .. } = self;
        let all: f64 = bytes.iter().flatten().sum();
        // Scaled, so that tolerances mean the same for every trace.
        let goal = |u: usize, s: usize| bytes[u][s] / all * taken[u][s];
        let sum: Expression = (0..taken.len())
            .flat_map(|u| (0..taken[u].len()).map(move |s| (u, s)))
            .map(|(u, s)| goal(u, s))
            .sum();
        let mut model = variables.maximise(sum.clone()).using(clarabel);
        model.settings().verbose(false).time_limit(SECONDS);
        for constraint in constraints {
            model.add_constraint(constraint);
        }
        let solution = model.solve().ok()?;
        Some(solution.eval(&sum) * all)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sim::simulate::{PASSES, Packet};

    /// Two configurations on one slot, all packets there at once: only what one load and the work behind it leave room for.
    #[test]
    fn a_load_costs_what_it_keeps_from_being_done() {
        let packet = |suite: u32| Packet { arrival: 0, flow: suite, suite, bytes: 100, costs: [10; PASSES] };
        let packets: Vec<Packet> = (0..60).map(|at| packet(at % 2)).collect();
        let trace =
            Trace { suites: [0, 1].map(|c| vec![vec![ConfigurationId::from_index(c)]]).to_vec(), packets };
        let bound = |slots: usize, load: u64, latency: u64| {
            most_in_time(&trace, &Slots { count: slots, load: &Table::filled(load, 2), latency })
                .expect("solved")
        };
        // 600 of work; a load of 40 and 300 of work in each slot.
        assert!(bound(2, 40, 1000) > 0.999);
        // Nothing can be loaded in time.
        assert!(bound(2, 400, 100) < 0.01);
        // In 200, one slot does 160 behind one load, which is served; the programme sees a little more of the edges.
        let one = bound(1, 40, 200);
        assert!((160.0 / 600.0..0.5).contains(&one), "{one}");
        assert!(bound(1, 40, 400) >= one);
    }
}
