// SPDX-License-Identifier: Apache-2.0
//! The replay window (RFC 4303, 3.4.3), kept as RFC 6479 does: a ring of words, nothing is ever shifted; and
//! the high half of extended sequence numbers (RFC 4303, appendix A).

use crate::counters::Cause;
use crate::model::MAX_WINDOW;

/// Which numbers were received.
#[derive(Debug)]
pub struct ReplayWindow {
    /// In packets; 0: replays are not looked for.
    size: u32,
    /// The highest number received, 0 before the first.
    top: u64,
    /// Bit `n % (64 * words.len())` is number n. One word more than the window, so that a word can be cleared
    /// as a whole when the window enters it; and so many that they are a power of two.
    words: Vec<u64>,
}

impl ReplayWindow {
    /// `first` is the lowest number that will be taken: whatever is below counts as received. At most
    /// [`MAX_WINDOW`] packets wide; 0 switches the window off.
    pub fn new(size: u32, first: u64) -> Self {
        Self::behind(size, first.saturating_sub(1))
    }

    /// All numbers up to `top` count as received.
    fn behind(size: u32, top: u64) -> Self {
        let size = size.min(MAX_WINDOW);
        let count = (size.div_ceil(64) as usize + 1).next_power_of_two();
        let mut words = vec![u64::MAX; count];
        // What is above the top has not come yet; words further up are cleared when they are entered.
        words[(top / 64) as usize & (count - 1)] = u64::MAX >> (63 - top % 64);
        Self { size, top, words }
    }

    /// The highest number received.
    pub fn top(&self) -> u64 {
        self.top
    }

    /// In packets; 0 when off.
    pub fn size(&self) -> u32 {
        self.size
    }

    /// Whether this number may still come. Changes nothing.
    pub fn check(&self, sequence: u64) -> Result<(), Cause> {
        if self.size == 0 || sequence > self.top {
            return Ok(());
        }
        if sequence == 0 {
            return Err(Cause::SequenceZero);
        }
        if self.top - sequence >= u64::from(self.size) {
            return Err(Cause::TooOld);
        }
        let (word, bit) = self.place(sequence);
        if self.words[word] & bit != 0 { Err(Cause::Replayed) } else { Ok(()) }
    }

    /// Takes this number, which an ICV has vouched for.
    pub fn take(&mut self, sequence: u64) -> Result<(), Cause> {
        self.check(sequence)?;
        if self.size != 0 && sequence > self.top {
            let entered = (sequence / 64 - self.top / 64).min(self.words.len() as u64);
            for step in 0..entered {
                let word = self.word(sequence / 64 - step);
                self.words[word] = 0;
            }
        }
        self.top = self.top.max(sequence);
        if self.size != 0 {
            let (word, bit) = self.place(sequence);
            self.words[word] |= bit;
        }
        Ok(())
    }

    /// All numbers up to this one count as received. It never goes back.
    pub fn advance(&mut self, sequence: u64) {
        if sequence > self.top {
            *self = Self::behind(self.size, sequence);
        } else {
            self.words.iter_mut().for_each(|word| *word = u64::MAX);
            let word = self.word(self.top / 64);
            self.words[word] = u64::MAX >> (63 - self.top % 64);
        }
    }

    fn place(&self, sequence: u64) -> (usize, u64) {
        (self.word(sequence / 64), 1 << (sequence % 64))
    }

    fn word(&self, number: u64) -> usize {
        number as usize & (self.words.len() - 1)
    }

    /// The whole extended sequence number to which the low half on the wire belongs (RFC 4303, A2.2). `None`
    /// when it would lie before the first or behind the last number there is.
    pub fn extend(&self, low: u32) -> Option<u64> {
        let (top_high, top_low) = ((self.top >> 32) as u32, self.top as u32);
        let window = self.size.max(1);
        // The lowest number in the window, modulo 2^32.
        let bottom = top_low.wrapping_sub(window - 1);
        let high = if top_low >= window - 1 {
            // The window lies within one subspace.
            if low >= bottom { top_high } else { top_high.checked_add(1)? }
        } else if low >= bottom {
            // The window spans two subspaces, and this is in the lower one.
            top_high.checked_sub(1)?
        } else {
            top_high
        };
        Some(u64::from(high) << 32 | u64::from(low))
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use proptest::prelude::*;

    use super::*;

    #[test]
    fn reorder_replay_and_age() {
        let mut window = ReplayWindow::new(64, 1);
        assert_eq!(window.check(0), Err(Cause::SequenceZero));
        for n in [1, 3, 2, 100, 37] {
            assert_eq!(window.take(n), Ok(()), "{n}");
            assert_eq!(window.take(n), Err(Cause::Replayed), "{n}");
        }
        assert_eq!(window.check(36), Err(Cause::TooOld));
        assert_eq!(window.check(38), Ok(()));
        assert_eq!(window.top(), 100);
    }

    #[test]
    fn checking_takes_nothing() {
        let mut window = ReplayWindow::new(32, 1);
        assert_eq!(window.check(5), Ok(()));
        assert_eq!(window.check(5), Ok(()));
        assert_eq!(window.take(5), Ok(()));
        assert_eq!(window.check(5), Err(Cause::Replayed));
    }

    #[test]
    fn off_takes_everything() {
        let mut window = ReplayWindow::new(0, 1);
        for n in [0, 5, 5, 1, u64::MAX, 1] {
            assert_eq!(window.take(n), Ok(()));
        }
    }

    #[test]
    fn what_was_received_before_the_start_stays_received() {
        let mut window = ReplayWindow::new(128, 1000);
        for n in 872..1000 {
            assert_eq!(window.check(n), Err(Cause::Replayed), "{n}");
        }
        for n in 1000..2000 {
            assert_eq!(window.take(n), Ok(()), "{n}");
        }
    }

    #[test]
    fn the_last_number_of_all() {
        let mut window = ReplayWindow::new(64, u64::MAX - 1);
        assert_eq!(window.take(u64::MAX), Ok(()));
        assert_eq!(window.take(u64::MAX), Err(Cause::Replayed));
        assert_eq!(window.take(u64::MAX - 1), Ok(()));
        assert_eq!(window.extend(0), None);
    }

    #[test]
    fn the_high_half_is_inferred() {
        const G4: u64 = 1 << 32;
        let at = |top: u64, low: u32| ReplayWindow::new(64, top + 1).extend(low);
        // Window inside one subspace (case A).
        assert_eq!(at(100, 101), Some(101));
        assert_eq!(at(100, 37), Some(37));
        assert_eq!(at(100, 36), Some(G4 + 36), "left of the window: taken for the next subspace");
        assert_eq!(at(5 * G4 + 1000, 1), Some(6 * G4 + 1));
        assert_eq!(at(G4 - 1, 0), Some(G4));
        // Window across two subspaces (case B).
        assert_eq!(at(G4 + 3, 2), Some(G4 + 2));
        assert_eq!(at(G4 + 3, u32::MAX), Some(G4 - 1));
        assert_eq!(at(G4 + 3, u32::MAX - 59), Some(G4 - 60));
        assert_eq!(at(G4 + 3, u32::MAX - 60), Some(2 * G4 - 61));
        assert_eq!(at(0, u32::MAX), None, "before the first number");
    }

    proptest! {
        /// The ring against the set of all numbers received.
        #[test]
        fn agrees_with_a_set(
            size in prop_oneof![32u32..200, Just(4096)],
            first in prop_oneof![Just(1u64), 1u64..5000, (1u64 << 32) - 300..(1 << 32) + 300],
            steps in proptest::collection::vec((-300i64..400, 0u8..30), 1..400),
        ) {
            let mut window = ReplayWindow::new(size, first);
            let mut seen = HashSet::new();
            let mut top = first - 1;
            for (step, leap) in steps {
                let step = if leap == 0 { step * 50 } else { step };
                let n = (top as i64 + step).max(0) as u64;
                let expected = if n > top { Ok(()) }
                    else if n == 0 { Err(Cause::SequenceZero) }
                    else if top - n >= u64::from(size) { Err(Cause::TooOld) }
                    else if n < first || seen.contains(&n) { Err(Cause::Replayed) }
                    else { Ok(()) };
                prop_assert_eq!(window.check(n), expected);
                prop_assert_eq!(window.take(n), expected);
                if expected.is_ok() { seen.insert(n); top = top.max(n); }
            }
        }

        /// Every number that the window would take or that lies less than 2^32 - window ahead is inferred right.
        #[test]
        fn extension_finds_the_number(top in 4096u64..1 << 40, size in 32u32..=4096, ahead in -4095i64..1 << 32) {
            prop_assume!(ahead > -i64::from(size) && ahead <= (1 << 32) - i64::from(size));
            let n = (top as i64 + ahead) as u64;
            prop_assert_eq!(ReplayWindow::new(size, top + 1).extend(n as u32), Some(n));
        }
    }
}
