// SPDX-License-Identifier: Apache-2.0
//! Words as terms in one form, so that equal forms are equal for all values of the block and the key.
//!
//! A word is an XOR of products: each of some leaves, bit by bit, under a mask. A leaf is an atom that is rotated; an atom is a
//! word of the block or the key, or what is no bit function: a sum, a product, a rotation by a word, an entry of a table. A
//! sum is one of terms with factors. Every form and every atom is there once, so that comparing is comparing numbers.
//!
//! What is another's is one word, [`FOREIGN`], and so is everything that is made of it.
//!
//! Each term has the values that it takes for some random blocks and keys. Whatever is computed is computed of these as well,
//! by [`Plain`], and has to agree: a rule that is wrong is found where it is used ([`Terms::contradicted`]).

use std::collections::{BTreeMap, HashMap};

mod rules;
#[cfg(test)]
mod tests;

use super::draws::{DRAWS, Draws, drawn};
use super::sweep::Made;

/// A word, by its number.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Term(u32);

/// What is another block's, another bank's or another set's, or was never written.
pub const FOREIGN: Term = Term(0);

/// Parts of a form at most that a product makes; what would be more is an atom.
const PARTS: usize = 64;

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
enum Atom {
    Input(usize),
    Key(usize),
    /// A form that is rotated as a whole.
    Whole(Term),
    /// Terms with factors, and what is added.
    Sum(Vec<(Term, u32)>, u32),
    Low(Term, Term),
    Cross(Term, Term),
    Product(Term, Term),
    Joined(Term, Term),
    /// A half of a product without carries: of the two the high one.
    Carryless(Term, Term, bool),
    RotateBy(Term, Term),
    /// A table of 256 words, the byte, and the word in which nothing but this byte counts.
    Entry(u32, u8, Term),
}

/// A product of leaves, by its number; the first one is of none.
type Product = u32;
const ONE: Product = 0;

struct Form {
    parts: Vec<(Product, u32)>,
    values: Draws,
}

/// A store of terms.
#[derive(Default)]
pub struct Terms {
    forms: Vec<Form>,
    form_of: HashMap<Vec<(Product, u32)>, Term>,
    /// Of a product its leaves, each 32 times its atom and its rotation.
    products: Vec<Vec<u32>>,
    product_of: HashMap<Vec<u32>, Product>,
    atoms: Vec<(Atom, Draws)>,
    atom_of: HashMap<Atom, u32>,
    tables: Vec<Vec<u32>>,
    table_of: HashMap<Vec<u32>, u32>,
    logic_of: HashMap<Made, Term>,
    /// By which bit function a term was made first.
    made: HashMap<Term, Made>,
    /// The first term of these values.
    valued: HashMap<Draws, Term>,
    solved: usize,
    wrong: bool,
}

impl Terms {
    /// A store with nothing but what is another's.
    pub fn new() -> Terms {
        let mut terms = Terms::default();
        // Nothing compares equal to it: the list of its parts is empty, and that of zero is known first.
        terms.forms.push(Form { parts: Vec::new(), values: [0; DRAWS] });
        terms.products.push(Vec::new());
        terms.product_of.insert(Vec::new(), ONE);
        terms
    }

    /// Terms that there are.
    pub fn count(&self) -> usize {
        self.forms.len()
    }

    /// Terms of another form that were found to be the same by trying all values.
    pub fn solved(&self) -> usize {
        self.solved
    }

    /// Whether a rule has made a term of which some value is another one.
    pub fn contradicted(&self) -> bool {
        self.wrong
    }

    /// The values that a term takes for the random blocks and keys.
    pub fn values(&self, term: Term) -> Draws {
        self.forms[term.0 as usize].values
    }

    /// A word of the block.
    pub fn input(&mut self, word: usize) -> Term {
        self.atom(Atom::Input(word), drawn(word as u64))
    }

    /// A word of the key.
    pub fn key(&mut self, word: usize) -> Term {
        self.atom(Atom::Key(word), drawn(1 << 32 | word as u64))
    }

    fn parts(&self, term: Term) -> &[(Product, u32)] {
        &self.forms[term.0 as usize].parts
    }

    fn form(&mut self, parts: Vec<(Product, u32)>) -> Term {
        if let Some(known) = self.form_of.get(&parts) {
            return *known;
        }
        let values = std::array::from_fn(|draw| {
            let part = |all, (product, mask): &(Product, u32)| {
                let leaves = self.products[*product as usize].iter();
                let leaf = |leaf: &u32| self.atoms[(leaf / 32) as usize].1[draw].rotate_left(leaf % 32);
                all ^ leaves.map(leaf).fold(*mask, |all, leaf| all & leaf)
            };
            parts.iter().fold(0, part)
        });
        let term = Term(self.forms.len() as u32);
        self.forms.push(Form { parts: parts.clone(), values });
        self.form_of.insert(parts, term);
        term
    }

    fn leaves(&self, product: Product) -> usize {
        self.products[product as usize].len()
    }

    fn product(&mut self, leaves: Vec<u32>) -> Product {
        if let Some(known) = self.product_of.get(&leaves) {
            return *known;
        }
        let product = self.products.len() as Product;
        self.products.push(leaves.clone());
        self.product_of.insert(leaves, product);
        product
    }

    fn atom(&mut self, atom: Atom, values: Draws) -> Term {
        let number = match self.atom_of.get(&atom) {
            Some(known) => *known,
            None => {
                self.atoms.push((atom.clone(), values));
                self.atom_of.insert(atom, self.atoms.len() as u32 - 1);
                self.atoms.len() as u32 - 1
            }
        };
        let product = self.product(vec![32 * number]);
        self.form(vec![(product, u32::MAX)])
    }

    /// The value of a term that is the same for all blocks and keys.
    pub fn known(&self, term: Term) -> Option<u32> {
        match self.parts(term) {
            _ if term == FOREIGN => None,
            [] => Some(0),
            [(ONE, value)] => Some(*value),
            _ => None,
        }
    }

    /// The atom that a term is, as it stands.
    fn is_atom(&self, term: Term) -> Option<&Atom> {
        let [(product, u32::MAX)] = self.parts(term) else { return None };
        match self.products[*product as usize].as_slice() {
            [leaf] if leaf % 32 == 0 => Some(&self.atoms[(leaf / 32) as usize].0),
            _ => None,
        }
    }

    /// Parts whose masks are XORed where they are of the same product.
    fn collected(&mut self, parts: impl IntoIterator<Item = (Product, u32)>) -> Term {
        let mut all: BTreeMap<Product, u32> = BTreeMap::new();
        for (product, mask) in parts {
            *all.entry(product).or_default() ^= mask;
        }
        let parts = all.into_iter().filter(|(_, mask)| *mask != 0).collect();
        self.form(parts)
    }

    fn and(&mut self, a: Term, b: Term) -> Term {
        if a == b {
            return a;
        }
        let parts = [a, b].map(|of| self.parts(of).len());
        if parts[0].min(parts[1]) > 1 && parts[0] * parts[1] > PARTS {
            let (a, b) = (self.whole(a), self.whole(b));
            return self.and(a, b);
        }
        let mut all = Vec::new();
        for (p, m) in self.parts(a).to_vec() {
            for (q, n) in self.parts(b).to_vec().into_iter().filter(|(_, n)| m & n != 0) {
                let mut leaves = [&self.products[p as usize][..], &self.products[q as usize]].concat();
                leaves.sort_unstable();
                leaves.dedup();
                all.push((self.product(leaves), m & n));
            }
        }
        self.collected(all)
    }

    /// The term as an atom of its own.
    fn whole(&mut self, term: Term) -> Term {
        match self.is_atom(term) {
            Some(_) => term,
            None => self.atom(Atom::Whole(term), self.values(term)),
        }
    }

    fn value(&self, term: Term, draw: usize) -> u32 {
        self.forms[term.0 as usize].values[draw]
    }

    fn table(&mut self, words: Vec<u32>) -> u32 {
        let next = self.tables.len() as u32;
        let number = *self.table_of.entry(words.clone()).or_insert(next);
        if number == next {
            self.tables.push(words);
        }
        number
    }
}
