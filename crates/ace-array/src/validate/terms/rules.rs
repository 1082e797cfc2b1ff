// SPDX-License-Identifier: Apache-2.0
//! What operations make of terms.

use std::collections::BTreeMap;

use super::{Atom, FOREIGN, ONE, PARTS, Product, Term, Terms};
use crate::ir::domain::{Domain, Half, Plain, Table};
use crate::validate::draws::Draws;
use crate::validate::sweep::{Made, same};

/// Leaves at most of an XOR that is rotated leaf by leaf.
const LINEAR: usize = 32;

impl Terms {
    /// A term that was made, if its values are those that the operation has.
    fn agreed(&mut self, term: Term, value: impl Fn(usize) -> u32) -> Term {
        if term != FOREIGN {
            self.wrong |= self.values(term) != std::array::from_fn(value);
        }
        term
    }

    /// Adds a term so many times to terms with factors, and gives what is known of it.
    fn add(&self, to: &mut BTreeMap<Term, u32>, term: Term, factor: u32, turned: &[(Term, Term)]) -> u32 {
        if let Some(value) = self.known(term) {
            return factor.wrapping_mul(value);
        }
        if let Some((_, inner)) = turned.iter().find(|(of, _)| *of == term) {
            // ~x is -x - 1.
            let minus = factor.wrapping_neg();
            return minus.wrapping_add(self.add(to, *inner, minus, turned));
        }
        if let Some(Atom::Sum(terms, plus)) = self.is_atom(term) {
            for (inner, times) in terms {
                let of = to.entry(*inner).or_default();
                *of = of.wrapping_add(times.wrapping_mul(factor));
            }
            return plus.wrapping_mul(factor);
        }
        let of = to.entry(term).or_default();
        *of = of.wrapping_add(factor);
        0
    }

    fn sum_term(&mut self, words: &[Term], plus: u32) -> Term {
        // Complements, and what they are complements of.
        let mut turned = Vec::new();
        for word in words {
            if self.known(*word).is_none() && self.parts(*word).first() == Some(&(ONE, u32::MAX)) {
                let inner = self.form(self.parts(*word)[1..].to_vec());
                turned.push((*word, inner));
            }
        }
        let mut all = BTreeMap::new();
        let known =
            words.iter().fold(plus, |sum, word| sum.wrapping_add(self.add(&mut all, *word, 1, &turned)));
        let terms: Vec<(Term, u32)> = all.into_iter().filter(|(_, factor)| *factor != 0).collect();
        match (terms.as_slice(), known) {
            ([], known) => self.constant(known),
            ([(term, 1)], 0) => *term,
            ([(term, u32::MAX)], u32::MAX) => self.not(*term),
            _ => {
                let values = std::array::from_fn(|draw| {
                    let term = |(term, factor): &(Term, u32)| factor.wrapping_mul(self.value(*term, draw));
                    terms.iter().map(term).fold(known, u32::wrapping_add)
                });
                self.atom(Atom::Sum(terms, known), values)
            }
        }
    }

    fn rotate_term(&mut self, word: Term, by: u32) -> Term {
        let parts = self.parts(word).to_vec();
        if parts.len() > LINEAR || parts.iter().any(|(product, _)| self.leaves(*product) > 1) {
            // What is known of it apart, so that a complement is one still.
            let known = parts.first().filter(|(product, _)| *product == ONE).map_or(0, |(_, mask)| *mask);
            let rest = self.collected(parts.into_iter().chain([(ONE, known)]));
            let whole = self.whole(rest);
            let (product, _) = self.parts(whole)[0];
            let turned = self.products[product as usize][0] + by;
            let turned = self.product(vec![turned]);
            return self.collected([(turned, u32::MAX), (ONE, known.rotate_left(by))]);
        }
        let mut all = Vec::new();
        for (product, mask) in parts {
            let mask = mask.rotate_left(by);
            let Some(leaf) = self.products[product as usize].first().copied() else {
                all.push((ONE, mask));
                continue;
            };
            let (atom, turned) = (leaf / 32, (leaf + by) % 32);
            match self.atoms[atom as usize].0 {
                Atom::Whole(form) if turned == 0 => {
                    all.extend(self.parts(form).iter().map(|(product, of)| (*product, of & mask)));
                }
                _ => all.push((self.product(vec![32 * atom + turned]), mask)),
            }
        }
        self.collected(all)
    }

    fn rotate_by_term(&mut self, word: Term, amount: Term, mask: u32) -> Term {
        let amount = self.mask(amount, mask & 31);
        if let Some(by) = self.known(amount) {
            return self.rotate(word, by);
        }
        let bits = |of: Term| self.parts(of).iter().fold(0, |all, (_, mask)| all | mask);
        // Rotated by some bits of an amount before, and now by others: by both.
        let (word, amount) = match self.is_atom(word) {
            Some(Atom::RotateBy(inner, before)) if bits(*before) & bits(amount) == 0 => {
                let (inner, before) = (*inner, *before);
                let both = [self.parts(before), self.parts(amount)].concat();
                (inner, self.collected(both))
            }
            _ => (word, amount),
        };
        let values = std::array::from_fn(|at| self.value(word, at).rotate_left(self.value(amount, at)));
        self.atom(Atom::RotateBy(word, amount), values)
    }

    /// A term that a bit function has made, or the one before it that is the same.
    fn swept(&mut self, term: Term, made: Made) -> Term {
        // Only of earlier terms, so that nothing goes in circles.
        if made.1.iter().all(|arg| *arg < term) {
            self.made.entry(term).or_insert(made);
        }
        let first = *self.valued.entry(self.values(term)).or_insert(term);
        if first == term || !same(self, |of| self.made.get(&of).copied(), first, term) {
            return term;
        }
        self.solved += 1;
        first
    }
}

impl Domain for Terms {
    type Word = Term;

    fn constant(&mut self, value: u32) -> Term {
        let parts = if value == 0 { Vec::new() } else { vec![(ONE, value)] };
        self.form(parts)
    }

    fn logic(&mut self, truth: u8, args: [Term; 3]) -> Term {
        let hangs_on = |at: usize| (0..8).any(|row| truth >> row & 1 != truth >> (row ^ 1 << at) & 1);
        if (0..3).any(|at| args[at] == FOREIGN && hangs_on(at)) {
            return FOREIGN;
        }
        if let Some(known) = self.logic_of.get(&(truth, args)) {
            return *known;
        }
        let mut all: Vec<(Product, u32)> = Vec::new();
        for set in 0..8u8 {
            // What the product of these arguments is XORed with: all rows that have none but them.
            let rows = (0..8).filter(|row| row & !set == 0);
            if rows.fold(0, |sum, row| sum ^ truth >> row & 1) == 1 {
                let of = (0..3).filter(|at| set >> at & 1 == 1).map(|at| args[at]);
                let one = self.constant(u32::MAX);
                let product = of.fold(one, |all, arg| self.and(all, arg));
                all.extend_from_slice(self.parts(product));
            }
        }
        let mut term = self.collected(all);
        if self.parts(term).len() > PARTS
            && self.parts(term).iter().any(|(product, _)| self.leaves(*product) > 1)
        {
            term = self.whole(term);
        }
        let values = args.map(|arg| self.values(arg));
        let term = self.agreed(term, |draw| Plain.logic(truth, values.map(|of| of[draw])));
        let term = self.swept(term, (truth, args));
        self.logic_of.insert((truth, args), term);
        term
    }

    fn sum(&mut self, words: &[Term], plus: u32) -> Term {
        if words.contains(&FOREIGN) {
            return FOREIGN;
        }
        let term = self.sum_term(words, plus);
        let values: Vec<Draws> = words.iter().map(|word| self.values(*word)).collect();
        self.agreed(term, |draw| values.iter().fold(plus, |sum, of| sum.wrapping_add(of[draw])))
    }

    fn flip(&mut self, word: Term, by: u32) -> Term {
        if word == FOREIGN {
            return FOREIGN;
        }
        let parts = self.parts(word).to_vec();
        let term = self.collected(parts.into_iter().chain([(ONE, by)]));
        let values = self.values(word);
        self.agreed(term, |draw| Plain.flip(values[draw], by))
    }

    fn mask(&mut self, word: Term, by: u32) -> Term {
        match (word, by) {
            (_, 0) => return self.constant(0),
            (FOREIGN, _) | (_, u32::MAX) => return word,
            _ => {}
        }
        let masked = self.parts(word).iter().map(|(product, mask)| (*product, mask & by));
        let term = self.form(masked.filter(|(_, mask)| *mask != 0).collect());
        let values = self.values(word);
        self.agreed(term, |draw| Plain.mask(values[draw], by))
    }

    fn rotate(&mut self, word: Term, by: u32) -> Term {
        if word == FOREIGN || by == 0 {
            return word;
        }
        let term = self.rotate_term(word, by);
        let values = self.values(word);
        self.agreed(term, |draw| Plain.rotate(values[draw], by))
    }

    fn rotate_by(&mut self, word: Term, amount: Term, mask: u32) -> Term {
        if word == FOREIGN || amount == FOREIGN {
            return FOREIGN;
        }
        let term = self.rotate_by_term(word, amount, mask);
        let (values, by) = (self.values(word), self.values(amount));
        self.agreed(term, |draw| Plain.rotate_by(values[draw], by[draw], mask))
    }

    fn twice_and_one(&mut self, word: Term) -> Term {
        let term = self.sum(&[word, word], 1);
        let values = self.values(word);
        self.agreed(term, |draw| Plain.twice_and_one(values[draw]))
    }

    fn low_product(&mut self, a: Term, b: Term) -> Term {
        if a == FOREIGN || b == FOREIGN {
            return FOREIGN;
        }
        let values: Draws = std::array::from_fn(|at| Plain.low_product(self.value(a, at), self.value(b, at)));
        match self.known(a).zip(self.known(b)) {
            Some(_) => self.constant(values[0]),
            None => self.atom(Atom::Low(a.min(b), a.max(b)), values),
        }
    }

    fn cross_product(&mut self, a: Term, b: Term) -> Term {
        if a == FOREIGN || b == FOREIGN {
            return FOREIGN;
        }
        let values: Draws =
            std::array::from_fn(|at| Plain.cross_product(self.value(a, at), self.value(b, at)));
        match self.known(a).zip(self.known(b)) {
            Some(_) => self.constant(values[0]),
            None => self.atom(Atom::Cross(a.min(b), a.max(b)), values),
        }
    }

    fn joined_product(&mut self, low: Term, cross: Term) -> Term {
        if low == FOREIGN || cross == FOREIGN {
            return FOREIGN;
        }
        let values: Draws =
            std::array::from_fn(|at| Plain.joined_product(self.value(low, at), self.value(cross, at)));
        let atom = match (self.is_atom(low), self.is_atom(cross)) {
            (Some(Atom::Low(a, b)), Some(Atom::Cross(c, d))) if (a, b) == (c, d) => {
                let whole: Draws =
                    std::array::from_fn(|at| self.value(*a, at).wrapping_mul(self.value(*b, at)));
                let atom = Atom::Product(*a, *b);
                self.wrong |= whole != values;
                atom
            }
            _ if self.known(low).is_some() && self.known(cross).is_some() => return self.constant(values[0]),
            _ => Atom::Joined(low, cross),
        };
        self.atom(atom, values)
    }

    fn carryless(&mut self, a: Term, b: Term, half: Half) -> Term {
        if a == FOREIGN || b == FOREIGN {
            return FOREIGN;
        }
        let (low, high) = half.has();
        let (word, by) = if self.known(a).is_some() { (b, a) } else { (a, b) };
        let mut all = Vec::new();
        if let Some(by) = self.known(by) {
            // Copies that are rotated, less what has left the half.
            for at in (0..32).filter(|at| by >> at & 1 == 1) {
                let below = (1 << at) - 1;
                let turned = self.rotate(word, at);
                let turned = self.mask(turned, (u32::from(low) * !below) | (u32::from(high) * below));
                all.extend_from_slice(self.parts(turned));
            }
        } else {
            for (is_high, half) in [(low, (false, Half::Low)), (high, (true, Half::High))]
                .into_iter()
                .filter_map(|(wanted, half)| wanted.then_some(half))
            {
                let values =
                    std::array::from_fn(|at| Plain.carryless(self.value(a, at), self.value(b, at), half));
                let atom = self.atom(Atom::Carryless(a.min(b), a.max(b), is_high), values);
                all.extend_from_slice(self.parts(atom));
            }
        }
        let term = self.collected(all);
        let values = [a, b].map(|of| self.values(of));
        self.agreed(term, |draw| Plain.carryless(values[0][draw], values[1][draw], half))
    }

    fn look_up(&mut self, table: Table<'_, Term>, word: Term, lane: usize, six: bool) -> Term {
        if word == FOREIGN {
            return FOREIGN;
        }
        let counts = if six { 0xFC } else { 0xFF };
        let entry = |byte: usize| match table {
            Table::Memory(words) => self.known(words[byte & counts]),
            Table::Source(words) if words.len() == 64 => Some(words[(byte & counts) >> 2]),
            Table::Source(words) => Some(words[byte & counts]),
        };
        let Some(words) = (0..256).map(entry).collect::<Option<Vec<u32>>>() else { return FOREIGN };
        let (arg, values) = (self.mask(word, (counts as u32) << (8 * lane)), self.values(word));
        let values: Draws = std::array::from_fn(|at| words[(values[at] >> (8 * lane)) as usize & 0xFF]);
        match self.known(arg) {
            Some(byte) => self.constant(words[(byte >> (8 * lane)) as usize & 0xFF]),
            None if words.iter().all(|word| *word == words[0]) => self.constant(words[0]),
            None => {
                let table = self.table(words);
                self.atom(Atom::Entry(table, lane as u8, arg), values)
            }
        }
    }

    fn collided(&mut self, _: Term) -> Term {
        FOREIGN
    }
}
