// SPDX-License-Identifier: Apache-2.0
//! Checks that clauses cannot all be true: a solver says so, and its proof says why.
//!
//! Clauses come as DIMACS, proofs as LRAT (Cruz-Filipe, Heule, Hunt, Kaufmann, Schneider-Kamp: Efficient Certified RAT
//! Verification, CADE 2017), both as text. A step of a proof adds a clause and names, in order, the clauses from which it
//! follows by unit propagation: if all its literals are false, each named clause forces one literal more, until one is false
//! as a whole. So there is no search here, and the solver need not be trusted. Steps that resolve on one literal
//! (RAT, negative hints) are refused: nothing here needs them.

use std::collections::HashMap;

use thiserror::Error;

/// What is wrong with clauses or with a proof. Lines count from 1.
#[derive(Debug, Error, PartialEq, Eq)]
pub enum LratError {
    /// The file of clauses is no DIMACS.
    #[error("line {line} of the clauses: {what}")]
    Clauses {
        /// The line.
        line: usize,
        /// What is wrong with it.
        what: &'static str,
    },
    /// There are more or fewer clauses than the head says.
    #[error("the clauses' head says {stated} clauses, and {found} follow")]
    Count {
        /// By the head.
        stated: usize,
        /// In the file.
        found: usize,
    },
    /// A line of the proof is no step of LRAT.
    #[error("line {line} of the proof: {what}")]
    Step {
        /// The line.
        line: usize,
        /// What is wrong with it.
        what: &'static str,
    },
    /// A step names a clause that is not there (any more).
    #[error("line {line} of the proof: there is no clause {id}")]
    Absent {
        /// The line.
        line: usize,
        /// The clause.
        id: u64,
    },
    /// A hint leaves more than one literal open, or is true already.
    #[error("line {line} of the proof: clause {id} forces nothing")]
    Idle {
        /// The line.
        line: usize,
        /// The clause.
        id: u64,
    },
    /// The hints of a step end before a clause is false.
    #[error("line {line} of the proof: its clause does not follow from its hints")]
    NoConflict {
        /// The line.
        line: usize,
    },
    /// The proof ends before the empty clause.
    #[error("the proof has no empty clause: it proves nothing")]
    NoEmptyClause,
}

/// Clauses of which at least one is false, whatever its variables are: if a proof says so.
#[derive(Debug)]
pub struct Clauses {
    variables: usize,
    clauses: Vec<Box<[i32]>>,
}

/// What a proof had that holds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Checked {
    /// Clauses that were given.
    pub clauses: usize,
    /// Clauses that the proof adds.
    pub steps: usize,
    /// Clauses that it names for them.
    pub hints: usize,
}

/// The next number of a line.
fn number<T: std::str::FromStr>(words: &mut std::str::SplitAsciiWhitespace<'_>) -> Option<T> {
    words.next()?.parse().ok()
}

/// Literals up to the 0 behind them.
fn literals(
    words: &mut std::str::SplitAsciiWhitespace<'_>,
    variables: usize,
    wrong: impl Fn(&'static str) -> LratError,
) -> Result<Box<[i32]>, LratError> {
    let mut found = Vec::new();
    loop {
        match number::<i32>(words) {
            Some(0) => return Ok(found.into_boxed_slice()),
            Some(literal) if literal.unsigned_abs() as usize <= variables => found.push(literal),
            Some(_) => return Err(wrong("a variable beyond those of the clauses' head")),
            None => return Err(wrong("literals with a 0 behind them are wanted")),
        }
    }
}

impl Clauses {
    /// Reads DIMACS: `c` and words, `p cnf VARIABLES CLAUSES`, then a clause a line.
    ///
    /// # Errors
    /// The first line that is none of these, or another number of clauses than stated.
    pub fn parse(text: &str) -> Result<Self, LratError> {
        let mut head: Option<(usize, usize)> = None;
        let mut clauses = Vec::new();
        for (number_of_line, line) in text.lines().enumerate() {
            let wrong = |what| LratError::Clauses { line: number_of_line + 1, what };
            if line.starts_with('c') {
                continue;
            }
            let mut words = line.split_ascii_whitespace();
            let Some((variables, _)) = head else {
                let wanted = "`p cnf VARIABLES CLAUSES` is wanted";
                if (words.next(), words.next()) != (Some("p"), Some("cnf")) {
                    return Err(wrong(wanted));
                }
                let numbers = number(&mut words).zip(number(&mut words));
                let (variables, count): (i32, usize) = numbers.ok_or_else(|| wrong(wanted))?;
                // Numbers of literals and their negations are 32-bit.
                head = Some((usize::try_from(variables).map_err(|_| wrong(wanted))?, count));
                continue;
            };
            clauses.push(literals(&mut words, variables, wrong)?);
            if words.next().is_some() {
                return Err(wrong("something behind a clause"));
            }
        }
        let (variables, stated) =
            head.ok_or(LratError::Clauses { line: 1, what: "there is no `p cnf VARIABLES CLAUSES`" })?;
        if clauses.len() != stated {
            return Err(LratError::Count { stated, found: clauses.len() });
        }
        Ok(Self { variables, clauses })
    }

    /// Follows a proof that they cannot all be true; what comes behind the empty clause is not read.
    ///
    /// # Errors
    /// The first step that does not follow, or that there is no empty clause.
    pub fn refuted_by(&self, proof: &str) -> Result<Checked, LratError> {
        let mut known: HashMap<u64, Box<[i32]>> = (1..).zip(self.clauses.iter().cloned()).collect();
        let mut values = Values::default();
        let mut checked = Checked { clauses: self.clauses.len(), ..Checked::default() };
        let mut last = self.clauses.len() as u64;
        for (at, text) in proof.lines().enumerate() {
            let line = at + 1;
            let wrong = |what| LratError::Step { line, what };
            let mut words = text.split_ascii_whitespace();
            let id: u64 = number(&mut words).ok_or_else(|| wrong("a step begins with a number"))?;
            if words.clone().next() == Some("d") {
                words.next();
                for gone in ids(&mut words, wrong)? {
                    known.remove(&gone).ok_or(LratError::Absent { line, id: gone })?;
                }
                continue;
            }
            if id <= last {
                return Err(wrong("numbers of clauses have to grow"));
            }
            last = id;
            let clause = literals(&mut words, self.variables, wrong)?;
            let hints = ids(&mut words, wrong)?;
            values.forget();
            for &literal in &clause {
                values.set(-literal);
            }
            values.conflict(&hints, &known, line)?;
            checked.steps += 1;
            checked.hints += hints.len();
            if clause.is_empty() {
                return Ok(checked);
            }
            known.insert(id, clause);
        }
        Err(LratError::NoEmptyClause)
    }
}

/// Numbers of clauses up to the 0 behind them, with which a line ends.
fn ids(
    words: &mut std::str::SplitAsciiWhitespace<'_>,
    wrong: impl Fn(&'static str) -> LratError,
) -> Result<Vec<u64>, LratError> {
    let mut found = Vec::new();
    loop {
        match number::<u64>(words) {
            Some(0) if words.next().is_none() => return Ok(found),
            Some(0) => return Err(wrong("something behind a step")),
            Some(id) => found.push(id),
            None => {
                return Err(wrong("numbers of clauses with a 0 behind them are wanted (RAT is not taken)"));
            }
        }
    }
}

/// Which literals are true in one step.
#[derive(Default)]
struct Values {
    /// By variable: whether its positive literal is true, or nothing is known of it.
    of: HashMap<u32, bool>,
}

impl Values {
    fn forget(&mut self) {
        self.of.clear();
    }

    fn set(&mut self, literal: i32) {
        self.of.insert(literal.unsigned_abs(), literal > 0);
    }

    fn is(&self, literal: i32) -> Option<bool> {
        self.of.get(&literal.unsigned_abs()).map(|&value| value == (literal > 0))
    }

    /// Lets each hint force its literal; the last one has to be false.
    fn conflict(
        &mut self,
        hints: &[u64],
        known: &HashMap<u64, Box<[i32]>>,
        line: usize,
    ) -> Result<(), LratError> {
        for &id in hints {
            let clause = known.get(&id).ok_or(LratError::Absent { line, id })?;
            let mut open = None;
            for &literal in clause {
                match self.is(literal) {
                    Some(false) => {}
                    None if open.is_none_or(|one| one == literal) => open = Some(literal),
                    _ => return Err(LratError::Idle { line, id }),
                }
            }
            match open {
                Some(literal) => self.set(literal),
                None => return Ok(()),
            }
        }
        Err(LratError::NoConflict { line })
    }
}
