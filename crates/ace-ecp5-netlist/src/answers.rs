// SPDX-License-Identifier: Apache-2.0
//! Answers to questions: from the cache where one holds still, and otherwise from the bits.

use super::fabric::Fabric;
use super::query_cache::{Answer, Known, QueryCache, Question};
use super::tiles::NameKind;

impl<'a> Fabric<'a> {
    /// An answer, from before if there is one.
    pub fn ask(&self, question: Question) -> Answer<'a> {
        let Some(cache) = &self.cache else { return self.answer(&question) };
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
            cache.reads(&known.reads);
            if let Question::Driver(wire) = &question
                && let NameKind::Feed(number) = self.database.kind_of(wire.name)
            {
                self.feeds.borrow_mut().insert(number);
            }
            known.answer.clone()
        };
        if let Some(answer) = cache.known(&question, known) {
            return answer;
        }
        let fresh = self.fresh(&question);
        let answer = fresh.answer.clone();
        cache.keep(question, fresh);
        answer
    }

    /// An answer from the bits as they are, and what it looks at.
    pub fn fresh(&self, question: &Question) -> Known<'a> {
        if let Some(cache) = &self.cache {
            cache.begin();
        }
        let answer = self.answer(question);
        let (reads, writes) = self.cache.as_ref().map(QueryCache::end).unwrap_or_default();
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
