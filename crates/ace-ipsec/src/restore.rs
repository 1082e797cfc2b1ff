// SPDX-License-Identifier: Apache-2.0
//! The order of an SA's packets, restored on exit: operations of one SA may be executed by several engines, and
//! come back as these finish.

use std::collections::VecDeque;

/// Packets of one SA between their entry and their exit.
#[derive(Debug)]
pub struct Restorer<T> {
    /// The number of the first packet that has not left.
    first: u64,
    /// That of the next packet to enter.
    next: u64,
    /// What finished too early, the first packet's place in front; `None`: still under way. Empty as long as packets
    /// finish in order.
    waiting: VecDeque<Option<T>>,
}

impl<T> Default for Restorer<T> {
    fn default() -> Self {
        Self { first: 0, next: 0, waiting: VecDeque::new() }
    }
}

impl<T> Restorer<T> {
    /// A place for a packet that comes in.
    pub fn enter(&mut self) -> u64 {
        self.next += 1;
        self.next - 1
    }

    /// The packet at this place is finished. Gives out all that need not wait any longer.
    #[inline]
    pub fn leave(&mut self, place: u64, packet: T, mut exit: impl FnMut(T)) {
        if place == self.first && place < self.next {
            self.first += 1;
            exit(packet);
            self.waiting.pop_front();
            while let Some(Some(packet)) = self.waiting.pop_front_if(|packet| packet.is_some()) {
                self.first += 1;
                exit(packet);
            }
        } else if (self.first..self.next).contains(&place) {
            // No more than packets are under way.
            let index = (place - self.first) as usize;
            if self.waiting.len() <= index {
                self.waiting.resize_with(index + 1, || None);
            }
            if let Some(slot) = self.waiting.get_mut(index) {
                *slot = Some(packet);
            }
        }
    }

    /// Whether nothing is under way.
    pub fn is_empty(&self) -> bool {
        self.first == self.next
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
