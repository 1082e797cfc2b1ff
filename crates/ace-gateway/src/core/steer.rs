// SPDX-License-Identifier: Apache-2.0
//! Which of several cores a packet is for. An SA has one core: its numbers and its window have one owner, and its
//! packets stay in order.

use ace_ipsec::packet::ip;
use ace_ipsec::spd::{Decision, Spd};
use ace_ipsec::{Direction, Inside, Policy, Rule, Treatment};

use super::Wanted;

/// The core of an SA. Nothing but its SPI decides, so that no SA ever goes from one core to another, where its sequence
/// numbers would begin again; the kernel divides what comes from outside in the same way.
pub fn by_spi(spi: u32, cores: usize) -> usize {
    spi as usize % cores.max(1)
}

/// The rules of all cores for what comes from inside, and whose they are.
pub struct Steer {
    rules: Spd<Inside>,
    /// By place of the rule.
    owners: Vec<usize>,
}

impl Default for Steer {
    /// Nobody's packets.
    fn default() -> Self {
        Self { rules: Spd::new(Policy::Discard), owners: Vec::new() }
    }
}

impl Steer {
    pub fn new(wanted: &Wanted, cores: usize) -> Self {
        let mut steer = Self::default();
        for sa in wanted.specs().filter(|sa| sa.direction == Direction::Out) {
            let selector = sa.selector.clone();
            // Of two that are for a packet the first in the file has it, as in the table of each core.
            steer.rules.add(Rule { selector, treatment: Treatment::Protect, priority: 0 });
            steer.owners.push(by_spi(sa.spi, cores));
        }
        steer
    }

    /// The core of a clear packet; `None` where no SA is for it.
    #[inline]
    pub fn inside(&mut self, packet: &[u8]) -> Option<usize> {
        let parsed = ip::parse(packet)?;
        match self.rules.decide(&parsed.flow(packet)) {
            Decision::Rule(rule) | Decision::Unknown(rule) => self.owners.get(rule as usize).copied(),
            Decision::Default => None,
        }
    }
}
