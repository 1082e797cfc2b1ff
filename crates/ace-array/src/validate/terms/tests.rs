// SPDX-License-Identifier: Apache-2.0
//! Random programs: no rule makes a term of other values than the operation has, and what differs is not the same term.

use super::{FOREIGN, Term, Terms};
use crate::ir::domain::{Domain, Half, Table};
use crate::validate::draws::stream;

/// Constants at which rules turn.
const CONSTANTS: [u32; 8] = [0, u32::MAX, 1, 31, 0xFF, 0xFFFF, 0xAAAA_AAAA, 0x8000_0000];

fn program(seed: u64, steps: usize) -> Terms {
    let mut next = stream(seed);
    let mut terms = Terms::new();
    let mut words: Vec<Term> = (0..4).map(|word| terms.input(word)).collect();
    words.extend((0..2).map(|word| terms.key(word)));
    words.extend(CONSTANTS.map(|value| terms.constant(value)));
    let tables: Vec<Vec<u32>> =
        [256, 64].map(|count| (0..count).map(|_| next() & 0xFF00_00FF).collect()).to_vec();
    for _ in 0..steps {
        let [a, b, c] = [(); 3].map(|()| words[next() as usize % words.len()]);
        let (kind, with) = (next() % 13, next());
        let word = match kind {
            0..=2 => terms.logic(with as u8, [a, b, c]),
            3 => terms.sum(&[a, b, c], with & 3),
            4 => terms.flip(a, CONSTANTS[with as usize % 8]),
            5 => terms.mask(a, CONSTANTS[with as usize % 8].rotate_left(with >> 27)),
            6 => terms.rotate(a, with & 31),
            7 => terms.rotate_by(a, b, [31, 24, 7][with as usize % 3]),
            8 => terms.rotate_right_by(a, b),
            9 => terms.multiply(a, b),
            10 => terms.twice_and_one(a),
            11 => terms.carryless(a, b, Half::of_bits(1 + with % 3).unwrap()),
            _ => {
                let table = &tables[with as usize & 1];
                terms.look_up(Table::Source(table), a, with as usize >> 1 & 3, table.len() == 64)
            }
        };
        words.push(word);
    }
    terms
}

#[test]
fn no_rule_contradicts_the_numbers() {
    for seed in 0..200 {
        let terms = program(seed, 150);
        assert!(!terms.contradicted(), "program {seed}");
    }
}

#[test]
fn rules_say_what_is_the_same() {
    let mut terms = Terms::new();
    let (x, y, z) = (terms.input(0), terms.input(1), terms.key(0));
    let zero = terms.constant(0);
    // Sums in any order, with complements; x - y + y is x.
    let (no, more) = (terms.not(y), terms.sum(&[x, z], 0));
    let less = terms.sum(&[more, no], 1);
    assert_eq!(terms.sum(&[less, y], 0), more);
    // By the upper bits of an amount and then by its lower ones; to the right as to the left by less.
    let coarse = terms.rotate_by(x, y, 24);
    let both = terms.rotate_by(coarse, y, 7);
    assert_eq!(both, terms.rotate_by(x, y, 31));
    assert_ne!(both, terms.rotate_right_by(x, y));
    // A multiplexer as three bit functions.
    let chosen = terms.logic(0b1100_1010, [x, y, z]);
    let one = terms.logic(0b1000, [y, z, zero]);
    let other = terms.logic(0b0010, [x, z, zero]);
    assert_eq!(terms.logic(0b1110, [one, other, zero]), chosen);
    assert_eq!(terms.multiply(x, y), terms.multiply(y, x));
    // Products without carries: both halves together, and rotations by a known word.
    let halves = [Half::Low, Half::High].map(|half| terms.carryless(x, y, half));
    assert_eq!(terms.logic(0b0110, [halves[0], halves[1], zero]), terms.carryless(y, x, Half::Fold));
    let (by, turned) = (terms.constant(0b101), terms.rotate(x, 2));
    assert_eq!(terms.carryless(by, x, Half::Fold), terms.logic(0b0110, [x, turned, zero]));
    // What is another's stays that, and nothing is the same as it by chance.
    for word in
        [terms.sum(&[FOREIGN, x], 0), terms.mask(FOREIGN, 1), terms.logic(0b0110, [FOREIGN, FOREIGN, zero])]
    {
        assert_eq!(word, FOREIGN);
    }
    assert_eq!(terms.logic(0b1010_1010, [x, FOREIGN, FOREIGN]), x);
    assert_ne!(zero, FOREIGN);
    assert!(!terms.contradicted());
}
