// SPDX-License-Identifier: Apache-2.0
//! One packet in one piece of memory, with room before and behind it; and what is said about places in it.

use std::ops::{Deref, DerefMut, Range};

/// Bytes `start..end` of a buffer's packet. `Copy`, as `Range` is not.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Span {
    /// Offset of the first byte from the start of the packet.
    pub start: u32,
    /// Offset behind the last byte.
    pub end: u32,
}

impl Span {
    /// As indices.
    #[inline]
    pub fn range(self) -> Range<usize> {
        self.start as usize..self.end as usize
    }

    /// In bytes; 0 for a span that is the wrong way round.
    #[inline]
    pub fn len(self) -> usize {
        self.end.saturating_sub(self.start) as usize
    }

    /// Whether no byte lies in it; so also for a span that is the wrong way round.
    #[inline]
    pub fn is_empty(self) -> bool {
        self.len() == 0
    }

    /// Whether a byte belongs to both.
    #[inline]
    pub fn overlaps(self, other: Span) -> bool {
        !self.is_empty() && !other.is_empty() && self.start < other.end && other.start < self.end
    }

    /// Whether it is in a packet of so many bytes.
    #[inline]
    pub fn is_within(self, len: usize) -> bool {
        self.start <= self.end && self.end as usize <= len
    }
}

/// What does not fit into 32 bits becomes a span that no packet has.
impl From<Range<usize>> for Span {
    #[inline]
    fn from(range: Range<usize>) -> Self {
        match (u32::try_from(range.start), u32::try_from(range.end)) {
            (Ok(start), Ok(end)) => Self { start, end },
            _ => Self { start: u32::MAX, end: 0 },
        }
    }
}

/// At most `N` bytes that are part of an operation itself: an IV, a nonce, a few bytes of associated data.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Inline<const N: usize> {
    bytes: [u8; N],
    len: u8,
}

impl<const N: usize> Inline<N> {
    /// No bytes: the IV of ECB, or associated data that there is none of.
    pub const EMPTY: Self = Self { bytes: [0; N], len: 0 };

    /// `None` if there are more than `N`.
    #[inline]
    pub fn new(bytes: &[u8]) -> Option<Self> {
        let mut it = Self { bytes: [0; N], len: u8::try_from(bytes.len()).ok()? };
        it.bytes.get_mut(..bytes.len())?.copy_from_slice(bytes);
        Some(it)
    }

    /// The first `len` of these; `None` if there are not so many.
    #[inline]
    pub fn first(bytes: [u8; N], len: usize) -> Option<Self> {
        // No operation has anything inline that is longer than 16 bytes.
        (len <= N).then_some(Self { bytes, len: len as u8 })
    }
}

impl<const N: usize> Default for Inline<N> {
    fn default() -> Self {
        Self::EMPTY
    }
}

impl<const N: usize> From<[u8; N]> for Inline<N> {
    #[inline]
    fn from(bytes: [u8; N]) -> Self {
        // No operation has anything inline that is longer than 16 bytes.
        Self { bytes, len: N as u8 }
    }
}

impl<const N: usize> Deref for Inline<N> {
    type Target = [u8];

    #[inline]
    fn deref(&self) -> &[u8] {
        &self.bytes[..usize::from(self.len).min(N)]
    }
}

impl<const N: usize> std::fmt::Debug for Inline<N> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Inline({:02x?})", &**self)
    }
}

/// One packet, owned, with head- and tailroom. It allocates only when the room is too small, so that a buffer that
/// goes round never allocates again. Packets are no secrets of ours: it is not wiped.
#[derive(Clone, Default)]
pub struct Buffer {
    /// All of it is initialised; the packet is `start..end`.
    bytes: Vec<u8>,
    start: usize,
    end: usize,
}

impl Buffer {
    /// A packet of `len` zeros with room for `head` bytes before it and `tail` behind it.
    pub fn with_room(head: usize, len: usize, tail: usize) -> Self {
        Self { bytes: vec![0; head + len + tail], start: head, end: head + len }
    }

    /// A copy of `packet` with room.
    pub fn from_packet(packet: &[u8], head: usize, tail: usize) -> Self {
        let mut buffer = Self::with_room(head, packet.len(), tail);
        buffer.copy_from_slice(packet);
        buffer
    }

    /// Makes it empty, with `head` bytes of room before what comes; keeps the memory.
    pub fn reset(&mut self, head: usize) {
        if self.bytes.len() < head {
            self.bytes.resize(head, 0);
        }
        (self.start, self.end) = (head, head);
    }

    /// Bytes that [`Buffer::push_front`] can take without moving anything.
    #[inline]
    pub fn headroom(&self) -> usize {
        self.start
    }

    /// Bytes that [`Buffer::push_back`] can take without allocating.
    #[inline]
    pub fn tailroom(&self) -> usize {
        self.bytes.len() - self.end
    }

    /// Puts `n` bytes in front of the packet, whatever they hold, and gives them out.
    #[inline]
    pub fn push_front(&mut self, n: usize) -> &mut [u8] {
        if n > self.start {
            // Room for as much again, so that a packet with many headers does not move for each.
            let more = n - self.start + n;
            self.bytes.splice(..0, std::iter::repeat_n(0, more));
            self.start += more;
            self.end += more;
        }
        self.start -= n;
        &mut self.bytes[self.start..self.start + n]
    }

    /// Puts `n` bytes behind the packet, whatever they hold, and gives them out.
    #[inline]
    pub fn push_back(&mut self, n: usize) -> &mut [u8] {
        let at = self.end;
        self.end += n;
        if self.bytes.len() < self.end {
            self.bytes.resize(self.end, 0);
        }
        &mut self.bytes[at..self.end]
    }

    /// Takes `n` bytes from the front; all there are, if there are fewer.
    #[inline]
    pub fn pop_front(&mut self, n: usize) {
        self.start += n.min(self.len());
    }

    /// Shortens the packet to `len` bytes, if it is longer.
    #[inline]
    pub fn truncate(&mut self, len: usize) {
        self.end = self.end.min(self.start.saturating_add(len));
    }

    /// Copies `bytes` behind the packet; allocates only if the tailroom is too small.
    #[inline]
    pub fn extend_from_slice(&mut self, bytes: &[u8]) {
        self.push_back(bytes.len()).copy_from_slice(bytes);
    }
}

impl Deref for Buffer {
    type Target = [u8];

    #[inline]
    fn deref(&self) -> &[u8] {
        &self.bytes[self.start..self.end]
    }
}

impl DerefMut for Buffer {
    #[inline]
    fn deref_mut(&mut self) -> &mut [u8] {
        &mut self.bytes[self.start..self.end]
    }
}

/// Two buffers are equal if their packets are.
impl PartialEq for Buffer {
    fn eq(&self, other: &Self) -> bool {
        **self == **other
    }
}

impl Eq for Buffer {}

impl std::fmt::Debug for Buffer {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Buffer({} bytes)", self.len())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_packet_grows_at_both_ends_and_keeps_its_bytes() {
        let mut buffer = Buffer::from_packet(&[5, 6], 2, 1);
        buffer.push_front(2).copy_from_slice(&[3, 4]);
        buffer.extend_from_slice(&[7]);
        assert_eq!((buffer.headroom(), buffer.tailroom(), &buffer[..]), (0, 0, &[3, 4, 5, 6, 7][..]));
        // Beyond the room.
        buffer.push_front(3).copy_from_slice(&[0, 1, 2]);
        buffer.extend_from_slice(&[8, 9]);
        assert_eq!(&buffer[..], [0, 1, 2, 3, 4, 5, 6, 7, 8, 9]);
        buffer.pop_front(4);
        buffer.truncate(3);
        assert_eq!(&buffer[..], [4, 5, 6]);
        buffer.truncate(9);
        buffer.pop_front(9);
        assert!(buffer.is_empty());
        let room = (buffer.headroom(), buffer.tailroom());
        buffer.reset(1);
        assert_eq!((buffer.headroom() + buffer.tailroom(), buffer.headroom()), (room.0 + room.1, 1));
    }

    #[test]
    fn spans_are_ranges() {
        let span = Span::from(2..5);
        assert_eq!((span.len(), span.range()), (3, 2..5));
        assert!(span.is_within(5) && !span.is_within(4));
        assert!(span.overlaps(Span::from(4..9)) && !span.overlaps(Span::from(5..9)));
        assert!(!span.overlaps(Span::from(3..3)));
        for wrong in [Span { start: 5, end: 2 }, Span::from(0..usize::MAX), Span::from(1 << 40..1 << 41)] {
            assert!(!wrong.is_within(usize::MAX) && wrong.is_empty(), "{wrong:?}");
        }
        assert_eq!(&*Inline::<4>::new(&[1, 2]).unwrap(), [1, 2]);
        assert_eq!(Inline::<4>::new(&[0; 5]), None);
        assert!(Inline::<4>::EMPTY.is_empty());
    }
}
