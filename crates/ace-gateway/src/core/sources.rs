// SPDX-License-Identifier: Apache-2.0
//! What is known of packets that are under way.

use std::net::SocketAddr;
use std::time::Duration;

use crate::record::Seen;

/// What has to be known of a packet when it leaves.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Origin {
    /// Where its datagram came from, with its sequence number.
    pub source: Option<(SocketAddr, u32)>,
    pub at: Duration,
    /// Of a clear packet, where it is to be recorded.
    pub seen: Option<Seen>,
}

/// Origins of packets under way. Tokens begin at 1: of 0 nothing is known.
#[derive(Default)]
pub struct Sources {
    all: Vec<Origin>,
    free: Vec<u64>,
}

impl Sources {
    pub fn put(&mut self, origin: Origin) -> u64 {
        let token = self.free.pop().unwrap_or(self.all.len() as u64 + 1);
        match self.place(token).and_then(|at| self.all.get_mut(at)) {
            Some(place) => *place = origin,
            None => self.all.push(origin),
        }
        token
    }

    /// Every packet leaves once, and its token is free then.
    pub fn take(&mut self, token: u64) -> Option<Origin> {
        let origin = *self.all.get(self.place(token)?)?;
        self.free.push(token);
        Some(origin)
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
        let of = |source: &str, n| Origin {
            source: Some((source.parse().unwrap(), n)),
            at: Duration::from_secs(n.into()),
            seen: None,
        };
        let (a, b) = ("192.0.2.1:1", "192.0.2.2:2");
        let mut sources = Sources::default();
        assert_eq!((sources.put(of(a, 1)), sources.put(of(b, 2))), (1, 2));
        assert_eq!((sources.take(0), sources.take(3)), (None, None));
        assert_eq!(sources.take(1), Some(of(a, 1)));
        assert_eq!(sources.put(of(b, 3)), 1);
        assert_eq!((sources.take(1), sources.take(2)), (Some(of(b, 3)), Some(of(b, 2))));
        for n in 0..100 {
            let token = sources.put(of(a, n));
            assert!(token <= 2 && sources.take(token) == Some(of(a, n)));
        }
    }
}
