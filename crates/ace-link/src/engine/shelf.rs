// SPDX-License-Identifier: Apache-2.0
//! Which sets the board's store has (`docs/link.md`, "The store"). What was loaded first stays until the session ends; what
//! does not fit goes over the cable.

use std::collections::{HashMap, VecDeque};
use std::ops::Range;

use crate::wire::{BEAT, STORED, Span};

/// A set's place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Place {
    /// So many words of it are known to be there.
    Comes {
        span: Span,
        there: u16,
    },
    There(Span),
    /// The board did not have it, or something else.
    Unknown,
}

/// The store of a session.
#[derive(Debug, Default)]
pub struct Shelf {
    room: usize,
    /// Words that are there or have a place.
    end: usize,
    places: HashMap<usize, Place>,
    /// Sets that are to be written, in the order of their places.
    comes: VecDeque<usize>,
}

impl Shelf {
    /// An empty one, with room for so many words.
    pub fn new(words: u16) -> Self {
        Self { room: usize::from(words), ..Self::default() }
    }

    /// A slot has taken a set of so many words: it gets a place, if it has none and there is room.
    pub fn loaded(&mut self, set: usize, words: usize) {
        let (Ok(place), Ok(count)) = (u16::try_from(self.end), u16::try_from(words)) else { return };
        let span = Span { place, words: count };
        if count > 0 && span.end() <= self.room && !self.places.contains_key(&set) {
            self.places.insert(set, Place::Comes { span, there: 0 });
            self.comes.push_back(set);
            self.end = span.end();
        }
    }

    /// What is to be written next: of which set, where, and which bytes of its words: they are a load's frame behind its header, which
    /// has what differs from load to load.
    pub fn next(&self) -> Option<(usize, u16, Range<usize>)> {
        let set = *self.comes.front()?;
        let Some(Place::Comes { span, there }) = self.places.get(&set).copied() else { return None };
        let (from, all) = (usize::from(there), usize::from(span.words));
        Some((set, span.place + there, BEAT * from..BEAT * all.min(from + STORED)))
    }

    /// The board has written that, or has not: then nothing more is written, as the store takes no gaps.
    pub fn stored(&mut self, taken: bool) {
        let next = self.next();
        if let Some((set, _, bytes)) = next.filter(|_| taken)
            && let Some(place) = self.places.get_mut(&set)
            && let Place::Comes { span, there } = place
        {
            *there += (bytes.len() / BEAT) as u16;
            if *there == span.words {
                *place = Place::There(*span);
                self.comes.pop_front();
            }
        } else if !taken {
            self.comes.clear();
            self.places.retain(|_, place| !matches!(place, Place::Comes { .. }));
            (self.room, self.end) =
                (0, self.sets().last().map_or(0, |set| self.find(*set).map_or(0, Span::end)));
        }
    }

    /// Where a set is.
    pub fn find(&self, set: usize) -> Option<Span> {
        match self.places.get(&set) {
            Some(Place::There(span)) => Some(*span),
            _ => None,
        }
    }

    /// A set was not where it is thought to be.
    pub fn lost(&mut self, set: usize) {
        self.places.insert(set, Place::Unknown);
    }

    /// Words that are there or have a place.
    pub fn filled(&self) -> usize {
        self.end
    }

    /// The sets that are there, in the order of their places.
    pub fn sets(&self) -> Vec<usize> {
        let mut all: Vec<(u16, usize)> =
            self.places.keys().filter_map(|set| Some((self.find(*set)?.place, *set))).collect();
        all.sort_unstable();
        all.into_iter().map(|(_, set)| set).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Writes all that is to be written: where, and how many words.
    fn write(shelf: &mut Shelf) -> Vec<(u16, usize)> {
        std::iter::from_fn(|| {
            let (_, place, bytes) = shelf.next()?;
            shelf.stored(true);
            Some((place, bytes.len() / BEAT))
        })
        .collect()
    }

    #[test]
    fn a_set_has_a_place_when_all_of_it_is_there_and_the_first_ones_stay() {
        let mut shelf = Shelf::new(500);
        shelf.loaded(7, 400);
        shelf.loaded(8, 101);
        shelf.loaded(9, 100);
        shelf.loaded(7, 400);
        assert_eq!(shelf.find(7), None);
        assert_eq!(write(&mut shelf), [(0, 183), (183, 183), (366, 34), (400, 100)]);
        assert_eq!(shelf.find(7), Some(Span { place: 0, words: 400 }));
        assert_eq!((shelf.find(8), shelf.find(9).map(Span::end)), (None, Some(500)));
        assert_eq!((shelf.sets(), shelf.filled()), (vec![7, 9], 500));
        // What was not where it is thought to be is not asked for again, and has no other place.
        shelf.lost(7);
        shelf.loaded(7, 400);
        assert_eq!((shelf.find(7), shelf.next(), shelf.sets()), (None, None, vec![9]));
    }

    #[test]
    fn nothing_is_written_behind_what_the_board_did_not_take() {
        let mut shelf = Shelf::new(u16::MAX);
        shelf.loaded(1, 200);
        write(&mut shelf);
        shelf.loaded(2, 200);
        shelf.loaded(3, 1);
        shelf.stored(true);
        shelf.stored(false);
        assert_eq!((shelf.next(), shelf.sets(), shelf.filled()), (None, vec![1], 200));
        shelf.loaded(2, 200);
        assert_eq!(shelf.next(), None);
        // Without a store there is no place.
        let mut none = Shelf::new(0);
        none.loaded(1, 1);
        none.loaded(2, 0);
        none.stored(true);
        assert_eq!((none.next(), none.find(1)), (None, None));
    }
}
