// SPDX-License-Identifier: Apache-2.0
//! The order of an SA's packets, restored on exit: operations of one SA may be executed by several engines, and
//! come back as these finish.

use std::collections::VecDeque;

/// Packets of one SA between their entry and their exit.
#[derive(Debug)]
pub struct Restorer<T> {
    /// The number of the first in `waiting`.
    first: u64,
    /// `None`: still under way.
    waiting: VecDeque<Option<T>>,
}

impl<T> Default for Restorer<T> {
    fn default() -> Self {
        Self { first: 0, waiting: VecDeque::new() }
    }
}

impl<T> Restorer<T> {
    /// A place for a packet that comes in.
    pub fn enter(&mut self) -> u64 {
        self.waiting.push_back(None);
        self.first + self.waiting.len() as u64 - 1
    }

    /// The packet at this place is finished. Gives out all that need not wait any longer.
    pub fn leave(&mut self, place: u64, packet: T, mut exit: impl FnMut(T)) {
        let index = place.checked_sub(self.first).and_then(|index| usize::try_from(index).ok());
        if let Some(slot) = index.and_then(|index| self.waiting.get_mut(index)) {
            *slot = Some(packet);
        }
        while let Some(Some(_)) = self.waiting.front() {
            self.first += 1;
            if let Some(Some(packet)) = self.waiting.pop_front() {
                exit(packet);
            }
        }
    }

    /// Whether nothing is under way.
    pub fn is_empty(&self) -> bool {
        self.waiting.is_empty()
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        /// Whatever order packets finish in, they leave in the order in which they came, each once and as soon as
        /// it may.
        #[test]
        fn any_order_comes_out_in_order(
            order in Just((0u64..50).collect::<Vec<_>>()).prop_shuffle(),
            early in 0usize..50,
        ) {
            let mut restorer = Restorer::default();
            let mut out = Vec::new();
            let mut finished = std::collections::BTreeSet::new();
            for _ in 0..50 { restorer.enter(); }
            for (step, &place) in order.iter().enumerate() {
                restorer.leave(place, place, |place| out.push(place));
                finished.insert(place);
                let ready = (0..50).take_while(|place| finished.contains(place)).count();
                prop_assert_eq!(out.len(), ready);
                if step == early { prop_assert!(out.is_sorted()); }
            }
            prop_assert!(out.into_iter().eq(0..50));
            prop_assert!(restorer.is_empty());
            prop_assert_eq!(restorer.enter(), 50);
        }
    }
}
