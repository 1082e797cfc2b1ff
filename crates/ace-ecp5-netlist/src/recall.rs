// SPDX-License-Identifier: Apache-2.0
//! What a reading asks the bits, and what they say: kept, so that a memory of which few bits are others is read again by
//! asking only what looks at these bits.
//!
//! A reading sees the bits through these questions alone. So where all of them have the same answers, it is the same.

use std::cell::RefCell;
use std::collections::{HashMap, HashSet};

use super::database::Tile;
use super::error::NetlistError;
use super::fabric::{Fabric, Wire};
use super::tiles::NameKind;

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
pub(crate) struct Recall<'a> {
    /// Answers of another memory, and those of its questions that look at a bit that is another one here.
    before: Option<(&'a Answers<'a>, HashSet<Question>)>,
    answers: RefCell<Answers<'a>>,
    /// Of the questions that are being answered, the innermost last: what was read and written.
    open: RefCell<Vec<(Vec<u32>, Vec<u32>)>>,
}

impl<'a> Recall<'a> {
    /// For a memory that differs from another one only in bits that these questions look at.
    pub fn over(answers: &'a Answers<'a>, stale: HashSet<Question>) -> Self {
        Self { before: Some((answers, stale)), ..Self::default() }
    }

    pub fn reads(&self, place: u32) {
        if let Some((reads, _)) = self.open.borrow_mut().last_mut() {
            reads.push(place);
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

impl<'a> Fabric<'a> {
    /// An answer, from before if there is one.
    pub fn ask(&self, question: Question) -> Answer<'a> {
        let Some(recall) = &self.recall else { return self.answer(&question) };
        // Nothing that was known holds for the other value of a bit.
        if self.flipped.get().is_some() {
            return self.fresh(&question).answer;
        }
        let known = |known: &Known<'a>| {
            let mut written = self.written.borrow_mut();
            let bits = self.memory.device().frame_bits;
            for place in &known.writes {
                let place = *place as usize;
                written.set_bit(place / bits, place % bits, true);
            }
            if let Some((reads, _)) = recall.open.borrow_mut().last_mut() {
                reads.extend(&known.reads);
            }
            if let Question::Driver(wire) = &question
                && let NameKind::Feed(number) = self.database.kind_of(wire.name)
            {
                self.feeds.borrow_mut().insert(number);
            }
            known.answer.clone()
        };
        if let Some((answers, stale)) = &recall.before
            && let Some(answer) = answers.get(&question).filter(|_| !stale.contains(&question))
        {
            return known(answer);
        }
        if let Some(answer) = recall.answers.borrow().get(&question) {
            return known(answer);
        }
        let fresh = self.fresh(&question);
        let answer = fresh.answer.clone();
        recall.answers.borrow_mut().insert(question, fresh);
        answer
    }

    /// An answer from the bits as they are, and what it looks at.
    pub fn fresh(&self, question: &Question) -> Known<'a> {
        if let Some(recall) = &self.recall {
            recall.begin();
        }
        let answer = self.answer(question);
        let (reads, writes) = self.recall.as_ref().map(Recall::end).unwrap_or_default();
        Known { answer, reads, writes }
    }

    fn answer(&self, question: &Question) -> Answer<'a> {
        match question {
            Question::Driver(wire) => Answer::Driver(self.find_driver(*wire)),
            Question::Choice(tile, name) => Answer::Text(self.find_choice(tile, name)),
            Question::Setting(tile, name) => Answer::Text(self.find_setting(tile, name)),
            Question::Spread(tiles, name) => Answer::Text(self.find_spread(tiles, name)),
            Question::SpreadSetting(tiles, name) => Answer::Text(self.find_spread_setting(tiles, name)),
            Question::Matches(tile, [name, value, prefix]) => {
                Answer::Flag(self.find_match(tile, [name, value, prefix]))
            }
            Question::Word(tile, name) => Answer::Word(self.find_word(tile, name)),
        }
    }
}
