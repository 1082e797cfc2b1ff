// SPDX-License-Identifier: Apache-2.0
//! Lifetimes of an SA in bytes and packets (RFC 4301, 4.4.2.1).

/// Limits; `None`: unlimited. Bytes are bytes of ESP payload: what the algorithms work on, without padding.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Lifetime {
    pub soft_bytes: Option<u64>,
    pub hard_bytes: Option<u64>,
    pub soft_packets: Option<u64>,
    pub hard_packets: Option<u64>,
}

/// What was used of a lifetime.
#[derive(Debug, Default)]
pub struct Usage {
    limit: Lifetime,
    bytes: u64,
    packets: u64,
    /// Each is reported once.
    soft_over: bool,
    hard_over: bool,
}

/// What a packet did to the lifetime.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Charge {
    Within,
    /// Still carried; the first one at or beyond a soft limit.
    SoftReached,
    /// Not carried: it would go beyond a hard limit. `first` of its kind.
    Refused {
        first: bool,
    },
}

impl Usage {
    pub fn new(limit: Lifetime) -> Self {
        Self { limit, ..Self::default() }
    }

    /// Whether a packet of so many bytes would still be carried.
    pub fn fits(&self, bytes: usize) -> bool {
        let over = |used: u64, more: u64, limit: Option<u64>| {
            limit.is_some_and(|limit| used.checked_add(more).is_none_or(|sum| sum > limit))
        };
        !over(self.bytes, bytes as u64, self.limit.hard_bytes)
            && !over(self.packets, 1, self.limit.hard_packets)
    }

    /// Counts a packet, unless it goes beyond a hard limit.
    pub fn charge(&mut self, bytes: usize) -> Charge {
        if !self.fits(bytes) {
            return Charge::Refused { first: !std::mem::replace(&mut self.hard_over, true) };
        }
        self.bytes = self.bytes.saturating_add(bytes as u64);
        self.packets = self.packets.saturating_add(1);
        let reached = |used: u64, limit: Option<u64>| limit.is_some_and(|limit| used >= limit);
        if (reached(self.bytes, self.limit.soft_bytes) || reached(self.packets, self.limit.soft_packets))
            && !std::mem::replace(&mut self.soft_over, true)
        {
            return Charge::SoftReached;
        }
        Charge::Within
    }

    pub fn soft_over(&self) -> bool {
        self.soft_over
    }

    /// True from the first packet that was refused.
    pub fn hard_over(&self) -> bool {
        self.hard_over
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn packets() {
        let limit = Lifetime { soft_packets: Some(2), hard_packets: Some(3), ..Lifetime::default() };
        let mut usage = Usage::new(limit);
        let charges: Vec<_> = (0..5).map(|_| usage.charge(1000)).collect();
        assert_eq!(
            charges,
            [
                Charge::Within,
                Charge::SoftReached,
                Charge::Within,
                Charge::Refused { first: true },
                Charge::Refused { first: false },
            ]
        );
    }

    #[test]
    fn bytes_count_to_the_last() {
        let limit = Lifetime { soft_bytes: Some(10), hard_bytes: Some(20), ..Lifetime::default() };
        let mut usage = Usage::new(limit);
        assert_eq!(usage.charge(9), Charge::Within);
        assert_eq!(usage.charge(12), Charge::Refused { first: true });
        assert_eq!(usage.charge(11), Charge::SoftReached, "20 bytes are allowed");
        assert_eq!(usage.charge(0), Charge::Within);
        assert_eq!(usage.charge(1), Charge::Refused { first: false });
    }
}
