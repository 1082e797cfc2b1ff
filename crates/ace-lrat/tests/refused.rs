// SPDX-License-Identifier: Apache-2.0
//! What holds, and what has to be refused.

use ace_lrat::{Checked, Clauses, LratError};

/// All eight signs of three variables: `n` is 1 where bit n of a number is clear.
fn all_signs() -> String {
    let clause = |signs: i32| {
        let word = |n: i32| if signs >> n & 1 == 0 { n + 1 } else { -n - 1 };
        format!("{} {} {} 0\n", word(0), word(1), word(2))
    };
    format!("c eight\np cnf 3 8\n{}", (0..8).map(clause).collect::<String>())
}

/// Clauses 1 to 8 are halved on the first variable, then on the second, then on the third.
const PROOF: &str = "\
9 2 3 0 1 2 0
10 -2 3 0 3 4 0
10 d 1 2 3 4 0
11 2 -3 0 5 6 0
12 -2 -3 0 7 8 0
13 3 0 9 10 0
14 -3 0 11 12 0
15 0 13 14 0
";

fn verdict(clauses: &str, proof: &str) -> Result<Checked, LratError> {
    Clauses::parse(clauses)?.refuted_by(proof)
}

#[test]
fn a_proof_that_holds_is_taken() {
    assert_eq!(verdict(&all_signs(), PROOF), Ok(Checked { clauses: 8, steps: 7, hints: 14 }));
    assert_eq!(
        verdict("p cnf 1 2\n1 0\n-1 0\n", "3 0 1 2 0"),
        Ok(Checked { clauses: 2, steps: 1, hints: 2 })
    );
    // An empty clause that was given is false as it is.
    assert!(verdict("p cnf 0 1\n0\n", "2 0 1 0").is_ok());
}

#[test]
fn no_clause_can_be_left_out_or_turned() {
    let clauses = all_signs();
    for (number, line) in clauses.lines().enumerate().skip(2) {
        let weakened = |(at, line): (usize, &str)| {
            if at == number { "1 -1 0\n".to_owned() } else { format!("{line}\n") }
        };
        let weaker: String = clauses.lines().enumerate().map(weakened).collect();
        assert!(verdict(&weaker, PROOF).is_err(), "without {line}");
    }
}

#[test]
fn every_changed_number_of_a_step_is_refused_or_makes_another_proof_that_holds() {
    let clauses = all_signs();
    let steps: Vec<&str> = PROOF.lines().collect();
    let (mut refused, mut taken) = (0, Vec::new());
    for (at, step) in steps.iter().enumerate() {
        let words: Vec<&str> = step.split(' ').collect();
        for place in 0..words.len() {
            for other in ["", "0", "1", "-1", "2", "-3", "7", "16", "99", "d", "x", "4294967297"] {
                let mut changed = words.clone();
                changed[place] = other;
                let mut all = steps.clone();
                let changed = changed.join(" ");
                all[at] = &changed;
                match verdict(&clauses, &all.join("\n")) {
                    Ok(_) => taken.push(changed),
                    Err(_) => refused += 1,
                }
            }
        }
    }
    // What is left over: the same words, a number of a step that stays in order, a line of deletion that deletes others.
    taken.retain(|step| !steps.contains(&step.as_str()) && !step.contains('d'));
    for step in &taken {
        let same = |one: &&str| {
            one.split_once(' ').map(|(_, rest)| rest) == step.split_once(' ').map(|(_, rest)| rest)
        };
        assert!(steps.iter().any(same), "{step} was taken");
    }
    assert!(refused > 300, "{refused}");
}

#[test]
fn what_is_no_proof_says_why() {
    let clauses = all_signs();
    let without_end = PROOF.rsplit_once("15").expect("it is there").0;
    for (proof, why) in [
        ("", LratError::NoEmptyClause),
        (without_end, LratError::NoEmptyClause),
        ("9 0 0", LratError::NoConflict { line: 1 }),
        ("9 0 1 0", LratError::Idle { line: 1, id: 1 }),
        ("9 2 3 0 1 0", LratError::NoConflict { line: 1 }),
        ("9 2 3 0 1 1 0", LratError::Idle { line: 1, id: 1 }),
        ("9 2 3 0 1 3 0", LratError::Idle { line: 1, id: 3 }),
        ("9 2 3 0 1 9 0", LratError::Absent { line: 1, id: 9 }),
        ("8 2 3 0 1 2 0", LratError::Step { line: 1, what: "numbers of clauses have to grow" }),
        ("9 d 1 1 0", LratError::Absent { line: 1, id: 1 }),
        ("9 d 1 0\n9 2 3 0 1 2 0", LratError::Absent { line: 2, id: 1 }),
    ] {
        assert_eq!(verdict(&clauses, proof), Err(why), "{proof}");
    }
    for proof in [
        "9 4 0 1 0",
        "9 2 3 0 -1 2 0",
        "9 2 3 0 1 2",
        "9 2 3",
        "9",
        "x",
        "9 2 3 0 1 2 0 5",
        "\n",
        "9 d",
        "9 d 1",
    ] {
        assert!(matches!(verdict(&clauses, proof), Err(LratError::Step { line: 1, .. })), "{proof}");
    }
}

#[test]
fn what_are_no_clauses_says_why() {
    for text in [
        "",
        "1 0\n",
        "p cnf 1\n",
        "p cnf -1 0\n",
        "p dnf 1 0\n",
        "p cnf 1 1\n2 0\n",
        "p cnf 1 1\n1\n",
        "p cnf 1 1\n1 0 1 0\n",
        "p cnf 1 1\n-2147483648 0\n",
        "p cnf 2147483648 1\n1 0\n",
    ] {
        assert!(matches!(Clauses::parse(text), Err(LratError::Clauses { .. })), "{text}");
    }
    for text in ["p cnf 1 2\n1 0\n", "p cnf 1 0\n1 0\n"] {
        assert!(matches!(Clauses::parse(text), Err(LratError::Count { .. })), "{text}");
    }
}
