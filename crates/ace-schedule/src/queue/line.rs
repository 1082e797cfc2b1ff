// SPDX-License-Identifier: Apache-2.0
//! Operations in their order, of which nearly all come at the end and go at the front: a ring buffer that is kept sorted.

use std::collections::VecDeque;

use super::flow::At;

/// Order of operations: by packet, then as they came.
pub(crate) type Key = (u64, u64);

#[derive(Clone, Debug, Default)]
pub(crate) struct Line(VecDeque<(Key, At)>);

impl Line {
    pub fn insert(&mut self, key: Key, at: At) {
        match self.0.back() {
            Some((last, _)) if *last > key => {
                let place = self.0.partition_point(|(other, _)| *other < key);
                self.0.insert(place, (key, at));
            }
            _ => self.0.push_back((key, at)),
        }
    }

    pub fn remove(&mut self, key: Key) {
        if self.0.front().is_some_and(|(first, _)| *first == key) {
            self.0.pop_front();
        } else if let Ok(place) = self.0.binary_search_by_key(&key, |(other, _)| *other) {
            self.0.remove(place);
        }
    }

    pub fn first(&self) -> Option<At> {
        self.0.front().map(|(_, at)| *at)
    }

    pub fn pop_first(&mut self) -> Option<(Key, At)> {
        self.0.pop_front()
    }

    pub fn iter(&self) -> impl Iterator<Item = &At> {
        self.0.iter().map(|(_, at)| at)
    }

    pub fn len(&self) -> usize {
        self.0.len()
    }

    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeMap;

    #[test]
    fn it_is_a_map_by_key() {
        let (mut line, mut map) = (Line::default(), BTreeMap::new());
        let mut state = 1u64;
        for step in 0..5000u32 {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            let key = ((state >> 33) % 200, u64::from(step % 3));
            if state >> 63 == 0 && !map.contains_key(&key) {
                line.insert(key, step);
                map.insert(key, step);
            } else if step % 7 == 0 {
                assert_eq!(line.pop_first(), map.pop_first());
            } else {
                line.remove(key);
                map.remove(&key);
            }
            assert_eq!(line.first(), map.values().next().copied());
            assert!(line.iter().eq(map.values()) && line.len() == map.len());
            assert_eq!(line.is_empty(), map.is_empty());
        }
    }
}
