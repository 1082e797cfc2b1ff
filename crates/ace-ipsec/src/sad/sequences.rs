// SPDX-License-Identifier: Apache-2.0
//! Sequence numbers of an outbound SA, given out in blocks so that several cores can work on it.

use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

/// Used up. No number is 0 (RFC 4303, 2.2).
const NONE: u64 = 0;

/// Numbers that nobody has yet.
#[derive(Debug)]
pub struct Sequences {
    next: AtomicU64,
    last: u64,
}

/// Numbers that one core has.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Block {
    /// 0: the block is used up.
    next: u64,
    last: u64,
}

/// What came of asking for numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Claim {
    Block(Block),
    /// There are none any more.
    UsedUp,
    /// They are not covered.
    Withheld,
}

impl Sequences {
    /// `first` and all up to `last`.
    pub fn new(first: u64, last: u64) -> Self {
        Self { next: AtomicU64::new(if first > last { NONE } else { first }), last }
    }

    /// All numbers up to this one are given out. They never go back: false if some behind it are given out already.
    pub fn advance(&self, number: u64) -> bool {
        let after = if number >= self.last { NONE } else { number + 1 };
        let step = |next: u64| (next != NONE && next <= number.saturating_add(1)).then_some(after);
        self.next.fetch_update(Relaxed, Relaxed, step).is_ok()
    }

    /// The next `count` numbers, or as many as there are, if all up to their last one are covered.
    pub fn claim(&self, count: u64, mut covered: impl FnMut(u64) -> bool) -> Claim {
        let end = |next: u64| next.saturating_add(count.max(1) - 1).min(self.last);
        let mut withheld = false;
        let step = |next: u64| match next {
            NONE => None,
            next if !covered(end(next)) => {
                withheld = true;
                None
            }
            next if end(next) == self.last => Some(NONE),
            next => Some(end(next) + 1),
        };
        match self.next.fetch_update(Relaxed, Relaxed, step) {
            Ok(next) => Claim::Block(Block { next, last: end(next) }),
            Err(_) if withheld => Claim::Withheld,
            Err(_) => Claim::UsedUp,
        }
    }
}

impl Block {
    /// The number that [`Block::take`] will give.
    pub fn peek(&self) -> Option<u64> {
        (self.next != NONE).then_some(self.next)
    }

    /// Gives up all numbers up to this one. True if that was all there was to do: it was one of the block's.
    pub fn skip(&mut self, number: u64) -> bool {
        let Some(next) = self.peek() else { return false };
        let within = number.saturating_add(1) >= next && number <= self.last;
        if within {
            self.next = if number == self.last { NONE } else { number + 1 };
        } else if number > self.last {
            self.next = NONE;
        }
        within
    }

    pub fn take(&mut self) -> Option<u64> {
        let number = self.peek()?;
        self.next = if number == self.last { NONE } else { number + 1 };
        Some(number)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn all(mut block: Block) -> Vec<u64> {
        std::iter::from_fn(|| block.take()).collect()
    }

    fn claim(numbers: &Sequences, count: u64) -> Option<Vec<u64>> {
        match numbers.claim(count, |_| true) {
            Claim::Block(block) => Some(all(block)),
            Claim::UsedUp | Claim::Withheld => None,
        }
    }

    #[test]
    fn blocks_follow_one_another_and_end() {
        let numbers = Sequences::new(5, 11);
        assert_eq!(claim(&numbers, 3), Some(vec![5, 6, 7]));
        assert_eq!(claim(&numbers, 1), Some(vec![8]));
        assert_eq!(claim(&numbers, 16), Some(vec![9, 10, 11]));
        assert_eq!(numbers.claim(1, |_| true), Claim::UsedUp);
        assert_eq!(claim(&Sequences::new(3, 2), 1), None);
    }

    #[test]
    fn the_last_number_of_all() {
        let numbers = Sequences::new(u64::MAX - 1, u64::MAX);
        assert_eq!(claim(&numbers, 64), Some(vec![u64::MAX - 1, u64::MAX]));
        assert_eq!(claim(&numbers, 64), None);
    }

    #[test]
    fn numbers_go_forward_alone() {
        let numbers = Sequences::new(1, 100);
        assert_eq!(claim(&numbers, 4), Some(vec![1, 2, 3, 4]));
        assert!(!numbers.advance(3) && numbers.advance(4) && numbers.advance(50));
        assert_eq!(claim(&numbers, 2), Some(vec![51, 52]));
        assert!(!numbers.advance(50) && numbers.advance(100) && !numbers.advance(100));
        assert_eq!(claim(&numbers, 1), None);
    }

    #[test]
    fn what_is_not_covered_is_left_for_later() {
        let numbers = Sequences::new(1, 100);
        assert_eq!(numbers.claim(16, |last| last < 16), Claim::Withheld);
        assert_eq!(claim(&numbers, 4), Some(vec![1, 2, 3, 4]));
    }

    #[test]
    fn no_number_goes_to_two_cores() {
        let numbers = Sequences::new(1, 40_000);
        let mut given: Vec<u64> = std::thread::scope(|scope| {
            let work = || std::iter::from_fn(|| claim(&numbers, 16)).flatten().collect::<Vec<_>>();
            let threads: Vec<_> = (0..4).map(|_| scope.spawn(work)).collect();
            threads.into_iter().flat_map(|thread| thread.join().unwrap()).collect()
        });
        given.sort_unstable();
        assert!(given.into_iter().eq(1..=40_000));
    }
}
