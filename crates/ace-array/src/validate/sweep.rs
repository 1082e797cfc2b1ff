// SPDX-License-Identifier: Apache-2.0
//! Two words of different forms and the same values: whether what bit functions make of them is the same for all values of
//! some words behind both.
//!
//! From the two words one goes back through bit functions, the latest first. Whenever few words are left, both are computed of
//! all values of one bit of each: as bit functions know no other bit, that is all of them.

use std::collections::{BTreeMap, BTreeSet};

use super::terms::{Term, Terms};
use crate::ir::domain::{Domain, Plain};

/// Words of which all values are tried, at most.
const MOST: usize = 12;
/// Bit functions to go back through, at most.
const STEPS: usize = 60;

/// A bit function: its truth table, and of what.
pub type Made = (u8, [Term; 3]);

/// Whether both are the same for all values; `made` says by which bit function a word was made.
pub fn same(terms: &Terms, made: impl Fn(Term) -> Option<Made>, a: Term, b: Term) -> bool {
    let mut open = BTreeSet::from([a, b]);
    let mut leaves = BTreeSet::new();
    let mut functions: Vec<(Term, Made)> = Vec::new();
    while let Some(last) = open.pop_last() {
        match made(last) {
            Some((truth, args)) if functions.len() < STEPS => {
                functions.push((last, (truth, args)));
                open.extend(args.iter().filter(|arg| every_bit(terms, **arg).is_none()));
            }
            _ => {
                leaves.insert(last);
            }
        }
        let of: Vec<Term> = leaves.union(&open).copied().collect();
        if of.len() <= MOST && agree(terms, &functions, &of, a, b) {
            return true;
        }
        if leaves.len() > MOST {
            return false;
        }
    }
    false
}

/// A known word whose bits are all the same. Of any other one a bit may be either, as of a word that is not known.
fn every_bit(terms: &Terms, word: Term) -> Option<u32> {
    terms.known(word).filter(|value| [0, u32::MAX].contains(value))
}

/// Whether both are the same function of these words.
fn agree(terms: &Terms, functions: &[(Term, Made)], of: &[Term], a: Term, b: Term) -> bool {
    let rows = 1usize << of.len();
    for block in 0..rows.div_ceil(32) {
        let mut values: BTreeMap<Term, u32> = BTreeMap::new();
        for (place, word) in of.iter().enumerate() {
            // Of the first five words the values alternate within 32 rows.
            let within = [0xAAAA_AAAA, 0xCCCC_CCCC, 0xF0F0_F0F0, 0xFF00_FF00, 0xFFFF_0000];
            let every = if block << 5 >> place & 1 == 1 { u32::MAX } else { 0 };
            values.insert(*word, within.get(place).copied().unwrap_or(every));
        }
        for (term, (truth, args)) in functions.iter().rev() {
            let value = |arg: &Term| values.get(arg).copied().or_else(|| every_bit(terms, *arg));
            let [Some(x), Some(y), Some(z)] = args.each_ref().map(value) else { return false };
            values.insert(*term, Plain.logic(*truth, [x, y, z]));
        }
        if values.get(&a) != values.get(&b) {
            return false;
        }
    }
    true
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bits_of_a_known_word_are_either() {
        let mut terms = Terms::new();
        let (x, y, zero) = (terms.input(0), terms.input(1), terms.constant(0));
        // Words that look as one whose values are tried would.
        for pattern in [0xAAAA_AAAA, 0xCCCC_CCCC, 0xF0F0_F0F0, 0xFF00_FF00, 0xFFFF_0000] {
            let known = terms.constant(pattern);
            let both = terms.logic(0b1000, [x, known, zero]);
            let other = terms.logic(0b1000, [y, known, zero]);
            let made = |term: Term| match term {
                _ if term == both => Some((0b1000, [x, known, zero])),
                _ if term == other => Some((0b1000, [y, known, zero])),
                _ => None,
            };
            assert!(!same(&terms, made, both, x) && !same(&terms, made, both, known));
            assert!(!same(&terms, made, both, other) && same(&terms, made, both, both));
        }
    }

    #[test]
    fn functions_of_many_words_are_compared_in_all_rows() {
        let mut terms = Terms::new();
        let words: Vec<Term> = (0..12).map(|word| terms.input(word)).collect();
        let zero = terms.constant(0);
        let mut made = std::collections::HashMap::new();
        // The AND of all, from either end; and one without the last word.
        let mut chain = |words: &[Term], mut all: Term, number: &mut usize| {
            for word in words {
                *number += 1;
                let term = terms.input(100 + *number);
                made.insert(term, (0b1000, [all, *word, zero]));
                all = term;
            }
            all
        };
        let mut number = 0;
        let one = chain(&words[1..], words[0], &mut number);
        let back: Vec<Term> = words.iter().rev().copied().collect();
        let other = chain(&back[1..], back[0], &mut number);
        let less = chain(&words[1..11], words[0], &mut number);
        let of = |term: Term| made.get(&term).copied();
        assert!(same(&terms, of, one, other) && !same(&terms, of, one, less));
    }
}
