// SPDX-License-Identifier: Apache-2.0
//! A SAT solver with what the encoding says often: one of several, at most one of several, until a time.

use std::time::Instant;

use batsat::{BasicSolver, Lit, SolverInterface, lbool};

/// As many literals, and at most one of them, as are said pair by pair.
const PAIRWISE: usize = 6;

pub(super) struct Clauses {
    solver: BasicSolver,
    /// A literal that is true.
    pub(super) yes: Lit,
}

impl Clauses {
    pub(super) fn new(until: Instant) -> Clauses {
        let mut solver = BasicSolver::default();
        solver.cb_mut().set_stop(move || Instant::now() >= until);
        let yes = Lit::new(solver.new_var_default(), true);
        solver.add_clause_reuse(&mut vec![yes]);
        Clauses { solver, yes }
    }

    pub(super) fn literal(&mut self) -> Lit {
        Lit::new(self.solver.new_var_default(), true)
    }

    pub(super) fn literals(&mut self, count: usize) -> Vec<Lit> {
        (0..count).map(|_| self.literal()).collect()
    }

    pub(super) fn add(&mut self, clause: &[Lit]) {
        self.solver.add_clause_reuse(&mut clause.to_vec());
    }

    /// A literal that is true if all of some are.
    pub(super) fn all(&mut self, of: &[Lit]) -> Lit {
        let all = self.literal();
        self.implies(of, &[all]);
        all
    }

    /// If all of some are true, one of others is.
    pub(super) fn implies(&mut self, all: &[Lit], one: &[Lit]) {
        let clause: Vec<Lit> = all.iter().map(|lit| !*lit).chain(one.iter().copied()).collect();
        self.add(&clause);
    }

    /// Those in front exclude each other and a literal that is true if one of the others is.
    pub(super) fn at_most_one(&mut self, of: &[Lit]) {
        let mut of = of.to_vec();
        while of.len() > PAIRWISE {
            let rest = of.split_off(PAIRWISE - 1);
            let later = self.literal();
            of.push(later);
            self.exclude(&of);
            of = [vec![!later], rest].concat();
        }
        self.exclude(&of);
    }

    fn exclude(&mut self, of: &[Lit]) {
        for (at, one) in of.iter().enumerate() {
            for other in &of[..at] {
                self.add(&[!*one, !*other]);
            }
        }
    }

    /// As many new literals, of which exactly one is true; the one that is if there is no choice.
    pub(super) fn one_of(&mut self, count: usize) -> Vec<Lit> {
        if count == 1 {
            return vec![self.yes];
        }
        let all = self.literals(count);
        self.add(&all);
        self.at_most_one(&all);
        all
    }

    /// Whether all clauses can be true; `None` when the time is over.
    pub(super) fn solve(&mut self) -> Option<bool> {
        match self.solver.solve_limited(&[]) {
            answer if answer == lbool::TRUE => Some(true),
            answer if answer == lbool::FALSE => Some(false),
            _ => None,
        }
    }

    /// What a literal is in the solution.
    pub(super) fn is(&self, literal: Lit) -> bool {
        self.solver.value_lit(literal) == lbool::TRUE
    }

    /// The one of several that is true in the solution.
    pub(super) fn which(&self, of: &[Lit]) -> usize {
        of.iter().position(|literal| self.is(*literal)).unwrap_or(0)
    }
}
