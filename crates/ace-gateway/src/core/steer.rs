// SPDX-License-Identifier: Apache-2.0
//! Which of several cores a packet is for. An SA has one core: its numbers and its window have one owner, and its
//! packets stay in order.

use std::collections::HashSet;

use ace_ipsec::packet::ip;
use ace_ipsec::spd::{Decision, Spd};
use ace_ipsec::{Direction, Inside, Policy, Rule, Selector, Treatment};

use super::{Division, Wanted};

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
    /// What a core knows. Of SAs that are for the same packets, each for a core of its own, it takes its own, else the first.
    pub fn new(wanted: &Wanted, division: &Division, me: usize) -> Self {
        let mut steer = Self::default();
        let outbound =
            || wanted.specs().zip(&division.cores).filter(|(sa, _)| sa.direction == Direction::Out);
        let mine = outbound().filter(|(sa, core)| sa.core.is_some() && **core == me);
        let mine: HashSet<(u32, &Selector)> = mine.map(|(sa, _)| (sa.if_id, &sa.selector)).collect();
        for (sa, core) in outbound() {
            let selector = sa.selector.clone();
            // Of two that are for a packet the first in the file has it, as in the table of each core.
            steer.owners.push(if mine.contains(&(sa.if_id, &selector)) { me } else { *core });
            steer.rules.add(Rule { selector, treatment: Treatment::Protect, priority: 0, if_id: sa.if_id });
        }
        steer
    }

    /// The core of a clear packet by a device; `None` where no SA is for it.
    #[inline]
    pub fn inside(&mut self, if_id: u32, packet: &[u8]) -> Option<usize> {
        let parsed = ip::parse(packet)?;
        match self.rules.decide(if_id, &parsed.flow(packet)) {
            Decision::Rule(rule) | Decision::Unknown(rule) => self.owners.get(rule as usize).copied(),
            Decision::Default => None,
        }
    }
}
