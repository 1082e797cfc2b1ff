// SPDX-License-Identifier: Apache-2.0
//! What a reading asks the bits, and what they say: kept, so that a memory of which few bits are others is read again by
//! asking only what looks at these bits.
//!
//! A reading sees the bits through these questions alone. So where all of them have the same answers, it is the same.

use std::cell::RefCell;
use std::collections::{HashMap, HashSet};

use super::database::Tile;
use super::error::NetlistError;
use super::wire::Wire;

/// A question to the bits. `Setting`, `SpreadSetting`, `Matches` and `Word` rest on the answer, and so does `Driver`.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Question {
    Driver(Wire),
    Choice(Tile, String),
    Setting(Tile, String),
    Spread(Vec<Tile>, String),
    SpreadSetting(Vec<Tile>, String),
    Matches(Tile, [String; 3]),
    Word(Tile, String),
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Answer<'a> {
    Driver(Result<Option<Wire>, NetlistError>),
    Text(Option<&'a str>),
    Flag(bool),
    Word(Option<Vec<Option<bool>>>),
}

impl<'a> Answer<'a> {
    pub fn driver(self) -> Result<Option<Wire>, NetlistError> {
        if let Self::Driver(driver) = self { driver } else { Ok(None) }
    }

    pub fn text(self) -> Option<&'a str> {
        if let Self::Text(text) = self { text } else { None }
    }

    pub fn flag(self) -> bool {
        self == Self::Flag(true)
    }

    pub fn word(self) -> Option<Vec<Option<bool>>> {
        if let Self::Word(word) = self { word } else { None }
    }
}

/// An answer, the bits that were looked at for it, and those that are explained by it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Known<'a> {
    pub answer: Answer<'a>,
    pub reads: Vec<u32>,
    pub writes: Vec<u32>,
}

pub(crate) type Answers<'a> = HashMap<Question, Known<'a>>;

/// What was asked so far.
#[derive(Clone, Debug, Default)]
pub(crate) struct QueryCache<'a> {
    /// Answers of another memory, and those of its questions that look at a bit that is another one here.
    before: Option<(&'a Answers<'a>, HashSet<Question>)>,
    answers: RefCell<Answers<'a>>,
    /// Of the questions that are being answered, the innermost last: what was read and written.
    open: RefCell<Vec<(Vec<u32>, Vec<u32>)>>,
}

impl<'a> QueryCache<'a> {
    /// For a memory that differs from another one only in bits that these questions look at.
    pub fn over(answers: &'a Answers<'a>, stale: HashSet<Question>) -> Self {
        Self { before: Some((answers, stale)), ..Self::default() }
    }

    /// What is made of an answer, if there is one that holds still: one of before, or one of this memory.
    pub fn known<T>(&self, question: &Question, then: impl FnOnce(&Known<'a>) -> T) -> Option<T> {
        if let Some((answers, stale)) = &self.before
            && let Some(known) = answers.get(question).filter(|_| !stale.contains(question))
        {
            return Some(then(known));
        }
        self.answers.borrow().get(question).map(then)
    }

    pub fn keep(&self, question: Question, known: Known<'a>) {
        self.answers.borrow_mut().insert(question, known);
    }

    pub fn reads(&self, places: &[u32]) {
        if let Some((reads, _)) = self.open.borrow_mut().last_mut() {
            reads.extend(places);
        }
    }

    pub fn writes(&self, place: u32) {
        if let Some((_, writes)) = self.open.borrow_mut().last_mut() {
            writes.push(place);
        }
    }

    pub fn into_answers(self) -> Answers<'a> {
        self.answers.into_inner()
    }

    /// Begins to note what is read and written, outside of a question.
    pub fn begin(&self) {
        self.open.borrow_mut().push(Default::default());
    }

    /// What was read and written since, each bit once; whoever asked has read it, too.
    pub fn end(&self) -> (Vec<u32>, Vec<u32>) {
        let mut open = self.open.borrow_mut();
        let (mut reads, mut writes) = open.pop().unwrap_or_default();
        for bits in [&mut reads, &mut writes] {
            bits.sort_unstable();
            bits.dedup();
        }
        if let Some((outer, _)) = open.last_mut() {
            outer.extend(&reads);
        }
        (reads, writes)
    }
}
