// SPDX-License-Identifier: Apache-2.0
//! The board's memory for sets (`docs/link.md`, "The store").

use crate::wire::{BEAT, Span};

/// Words without gaps, from place 0 on.
pub struct Store {
    bytes: Vec<u8>,
    room: usize,
}

impl Store {
    /// An empty one, with room for so many words.
    pub fn new(words: u16) -> Self {
        Self { bytes: Vec::new(), room: usize::from(words) }
    }

    pub fn clear(&mut self) {
        self.bytes.clear();
    }

    /// Words have other bits.
    pub fn spoil(&mut self) {
        self.bytes.iter_mut().step_by(97).for_each(|byte| *byte ^= 0x10);
    }

    /// Writes words where some were written, or directly behind the last one. False if it does not.
    pub fn put(&mut self, span: Span, words: &[u8]) -> bool {
        let (from, to) = (BEAT * usize::from(span.place), BEAT * span.end());
        if from > self.bytes.len() || span.end() > self.room {
            return false;
        }
        if self.bytes.len() < to {
            self.bytes.resize(to, 0);
        }
        self.bytes.get_mut(from..to).is_some_and(|place| {
            place.copy_from_slice(words);
            true
        })
    }

    /// The words, at least one, if they were written.
    pub fn get(&self, span: Span) -> Option<&[u8]> {
        let bytes = BEAT * usize::from(span.place)..BEAT * span.end();
        self.bytes.get(bytes).filter(|words| !words.is_empty())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_go_where_some_are_or_directly_behind_them() {
        let mut store = Store::new(6);
        let mut put = |place: u16, words: u16, byte: u8| {
            store.put(Span { place, words }, &vec![byte; 8 * usize::from(words)])
        };
        assert!(!put(1, 1, 1), "a gap");
        assert!(put(0, 3, 1) && put(3, 2, 2) && put(1, 1, 3) && put(4, 2, 4));
        assert!(!put(6, 1, 5) && !put(5, 2, 5), "there is no room");
        let all: Vec<u8> = [1, 3, 1, 2, 4, 4].iter().flat_map(|byte| [*byte; 8]).collect();
        assert_eq!(store.get(Span { place: 0, words: 6 }), Some(all.as_slice()));
        for (place, words) in [(0, 7), (6, 1), (2, 0), (u16::MAX, u16::MAX)] {
            assert_eq!(store.get(Span { place, words }), None);
        }
        store.clear();
        assert_eq!(store.get(Span { place: 0, words: 1 }), None);
    }
}
