// SPDX-License-Identifier: Apache-2.0
//! Where datagrams came from that are under way.

use std::net::SocketAddr;

/// Where datagrams under way came from, with their sequence numbers. Tokens begin at 1: 0 has no source.
#[derive(Default)]
pub struct Sources {
    all: Vec<(SocketAddr, u32)>,
    free: Vec<u64>,
}

impl Sources {
    pub fn put(&mut self, source: SocketAddr, sequence: u32) -> u64 {
        let token = self.free.pop().unwrap_or(self.all.len() as u64 + 1);
        match self.place(token).and_then(|at| self.all.get_mut(at)) {
            Some(place) => *place = (source, sequence),
            None => self.all.push((source, sequence)),
        }
        token
    }

    /// Every packet leaves once, and its token is free then.
    pub fn take(&mut self, token: u64) -> Option<(SocketAddr, u32)> {
        let source = *self.all.get(self.place(token)?)?;
        self.free.push(token);
        Some(source)
    }

    fn place(&self, token: u64) -> Option<usize> {
        usize::try_from(token).ok()?.checked_sub(1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tokens_are_used_again_when_their_packets_have_left() {
        let (a, b) = ("192.0.2.1:1".parse().unwrap(), "192.0.2.2:2".parse().unwrap());
        let mut sources = Sources::default();
        assert_eq!((sources.put(a, 1), sources.put(b, 2)), (1, 2));
        assert_eq!((sources.take(0), sources.take(3)), (None, None));
        assert_eq!(sources.take(1), Some((a, 1)));
        assert_eq!(sources.put(b, 3), 1);
        assert_eq!((sources.take(1), sources.take(2)), (Some((b, 3)), Some((b, 2))));
        for n in 0..100 {
            let token = sources.put(a, n);
            assert!(token <= 2 && sources.take(token) == Some((a, n)));
        }
    }
}
