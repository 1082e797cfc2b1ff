// SPDX-License-Identifier: Apache-2.0
//! Things leave in the order in which they came, however they are settled in between.

use std::collections::VecDeque;

/// What waits until everything before it is settled. Bounded by whoever fills it: no more go in while it
/// [`Order::is_full`], and then only the first one that is not settled can make room.
#[derive(Debug)]
pub struct Order<T> {
    /// The number of the front.
    first: u64,
    waiting: VecDeque<Waiting<T>>,
    /// Bytes of what is settled and waits.
    bytes: usize,
    most: usize,
    most_bytes: usize,
}

#[derive(Debug)]
enum Waiting<T> {
    Open,
    /// `None`: it does not leave.
    Settled(Option<(T, usize)>),
}

impl<T> Order<T> {
    /// Holds about `most` things of `most_bytes` bytes together.
    pub fn new(most: usize, most_bytes: usize) -> Self {
        Self { first: 0, waiting: VecDeque::new(), bytes: 0, most, most_bytes }
    }

    /// Whether nothing waits.
    pub fn is_empty(&self) -> bool {
        self.waiting.is_empty()
    }

    /// Whether what waits has reached one of both limits; then nothing more should go in.
    pub fn is_full(&self) -> bool {
        self.waiting.len() >= self.most || self.bytes >= self.most_bytes
    }

    /// The place of the next one, to be settled later.
    pub fn enter(&mut self) -> u64 {
        self.waiting.push_back(Waiting::Open);
        self.first + self.waiting.len() as u64 - 1
    }

    /// Says what becomes of a place: `thing`, which takes so many bytes, leaves, or nothing does.
    pub fn settle(&mut self, place: u64, thing: Option<(T, usize)>) {
        let at = place.checked_sub(self.first).and_then(|at| usize::try_from(at).ok());
        if let Some(waiting @ Waiting::Open) = at.and_then(|at| self.waiting.get_mut(at)) {
            self.bytes += thing.as_ref().map_or(0, |(_, bytes)| *bytes);
            *waiting = Waiting::Settled(thing);
        }
    }

    /// The next thing that leaves, when all before it are settled.
    pub fn leave(&mut self) -> Option<T> {
        while let Some(Waiting::Settled(_)) = self.waiting.front() {
            self.first += 1;
            if let Some(Waiting::Settled(Some((thing, bytes)))) = self.waiting.pop_front() {
                self.bytes -= bytes;
                return Some(thing);
            }
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_came_first_leaves_first_and_what_is_dropped_not_at_all() {
        let mut order = Order::new(4, 100);
        let places: Vec<u64> = (0..4).map(|_| order.enter()).collect();
        assert!(order.is_full());
        order.settle(places[2], Some(("c", 1)));
        order.settle(places[1], None);
        assert_eq!(order.leave(), None);
        order.settle(places[0], Some(("a", 1)));
        // Once is enough.
        order.settle(places[0], None);
        assert_eq!((order.leave(), order.leave(), order.leave()), (Some("a"), Some("c"), None));
        assert!(!order.is_full());
        order.settle(places[3], Some(("d", 100)));
        assert!(order.is_full());
        assert_eq!(order.leave(), Some("d"));
        assert!(order.is_empty() && order.bytes == 0);
    }
}
