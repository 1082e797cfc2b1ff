// SPDX-License-Identifier: Apache-2.0
//! Bytes of a whole that come in pieces, in any order and more than once.

use std::collections::BTreeMap;

/// What a piece takes beside its bytes.
const ENTRY: usize = 64;

/// Another piece has other bytes at the same place.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Differs;

/// Pieces that do not overlap, by where they begin.
#[derive(Debug, Default)]
pub(crate) struct Pieces {
    pieces: BTreeMap<u64, Vec<u8>>,
    size: usize,
}

impl Pieces {
    /// Memory that they take, in bytes.
    pub fn size(&self) -> usize {
        self.size
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        self.pieces.len()
    }

    pub fn is_empty(&self) -> bool {
        self.pieces.is_empty()
    }

    /// The one that begins at `at`.
    pub fn get(&self, at: u64) -> Option<&[u8]> {
        self.pieces.get(&at).map(Vec::as_slice)
    }

    /// Whether any of the bytes from `from` on, up to `to`, are there.
    pub fn meets(&self, from: u64, to: u64) -> bool {
        let before = self.pieces.range(..to).next_back();
        from < to && before.is_some_and(|(start, piece)| start + piece.len() as u64 > from)
    }

    /// Each, and where it begins.
    pub fn iter(&self) -> impl Iterator<Item = (u64, &[u8])> {
        self.pieces.iter().map(|(at, piece)| (*at, piece.as_slice()))
    }

    /// Adds what is not there yet.
    pub fn put(&mut self, at: u64, bytes: &[u8]) -> Result<(), Differs> {
        let end = at + bytes.len() as u64;
        let part = |from: u64, to: u64| bytes.get((from - at) as usize..(to - at) as usize);
        let from = self.pieces.range(..=at).next_back().map_or(at, |(start, _)| *start);
        let (mut holes, mut next) = (Vec::new(), at);
        for (&start, piece) in self.pieces.range(from..end.max(from)) {
            let (a, b) = (start.max(at), (start + piece.len() as u64).min(end));
            if a >= b {
                continue;
            }
            if part(a, b) != piece.get((a - start) as usize..(b - start) as usize) {
                return Err(Differs);
            }
            if next < a {
                holes.push((next, a));
            }
            next = b;
        }
        if next < end {
            holes.push((next, end));
        }
        for (a, b) in holes {
            let piece = part(a, b).unwrap_or_default().to_vec();
            self.size += piece.len() + ENTRY;
            self.pieces.insert(a, piece);
        }
        Ok(())
    }

    /// Takes out the piece that begins at `at`.
    pub fn take(&mut self, at: u64) -> Option<Vec<u8>> {
        let piece = self.pieces.remove(&at)?;
        self.size -= piece.len() + ENTRY;
        Some(piece)
    }

    /// All of them, one behind the other, if they are `len` bytes from 0 on.
    pub fn whole(&self, len: u64) -> Option<Vec<u8>> {
        let mut all = Vec::new();
        for (&start, piece) in &self.pieces {
            if start != all.len() as u64 {
                return None;
            }
            all.extend_from_slice(piece);
        }
        (all.len() as u64 == len).then_some(all)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn holes_are_filled_and_what_differs_is_found() {
        let text: Vec<u8> = (0..100).collect();
        let mut pieces = Pieces::default();
        for (from, to) in [(40, 60), (70, 80), (30, 90), (0, 10), (0, 10), (5, 5), (5, 31), (90, 100)] {
            assert_eq!(pieces.put(from as u64, &text[from..to]), Ok(()), "{from} to {to}");
        }
        assert_eq!((pieces.whole(100), pieces.whole(99)), (Some(text.clone()), None));
        assert!(pieces.meets(99, 200) && !pieces.meets(100, 200) && !pieces.meets(50, 50));
        for at in 0..100 {
            assert_eq!(pieces.put(at, &[100]), Err(Differs), "{at}");
        }
        let mut starts: Vec<u64> = pieces.pieces.keys().copied().collect();
        starts.drain(..).for_each(|start| drop(pieces.take(start)));
        assert_eq!((pieces.size(), pieces.len()), (0, 0));
    }
}
