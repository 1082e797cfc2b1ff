// SPDX-License-Identifier: Apache-2.0
//! Which devices inside there are. A packet, a rule and an SA are of one of them each, by its number.

use ace_config::gateway::GatewayConfig;
use ace_ipsec::{Inside, Outside, RuleChange, Treatment};

use super::Core;

/// A device with a number.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Interface {
    /// Never 0, which is the device without a number.
    pub if_id: u32,
    /// The longest packet inside.
    pub mtu: u16,
    /// Addresses on the wire do not say that a packet is its: others have the same nets.
    pub apart: bool,
}

/// Devices with numbers.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Interfaces(Vec<Interface>);

impl Interfaces {
    /// Those of a configuration.
    pub fn of(config: &GatewayConfig) -> Self {
        let numbered = config.devices().filter(|device| device.if_id != 0);
        let one = |device: ace_config::gateway::Device<'_>| Interface {
            if_id: device.if_id,
            mtu: device.inside.mtu,
            apart: device.is_apart(),
        };
        numbered.map(one).collect()
    }

    fn get(&self, if_id: u32) -> Option<&Interface> {
        self.0.iter().find(|one| one.if_id == if_id)
    }

    /// Whether there is one with this number; one without always is.
    pub fn has(&self, if_id: u32) -> bool {
        if_id == 0 || self.get(if_id).is_some()
    }

    /// The longest packet inside, if it has a number.
    pub fn mtu(&self, if_id: u32) -> Option<u16> {
        self.get(if_id).map(|one| one.mtu)
    }

    /// As the wire sees a rule. Where others may have the same nets it does not; and what one lets pass in clear would
    /// be another's as well.
    pub fn on_wire<S>(&self, change: RuleChange<S>) -> RuleChange<S> {
        let seen = change.now.as_ref().is_none_or(|(rule, _)| match self.get(rule.if_id) {
            Some(one) => !one.apart && rule.treatment != Treatment::Bypass,
            None => rule.if_id == 0,
        });
        if seen { change } else { RuleChange { now: None, ..change } }
    }
}

impl Core {
    /// From now on [`Core::rule_changes`] says what becomes of the rules.
    pub fn record_rules(&mut self) {
        self.plane.record_rule_changes();
    }

    /// Whether there are policies by XFRM.
    pub fn has_policies(&self) -> bool {
        self.xfrm.as_ref().is_some_and(|xfrm| !xfrm.is_without_policies())
    }

    /// Those that came, changed or went since this was asked last, as the wire sees them: for what comes in clear from
    /// outside, and for what comes from inside.
    pub fn rule_changes(&mut self) -> (Vec<RuleChange<Outside>>, Vec<RuleChange<Inside>>) {
        let (outside, inside) = self.plane.rule_changes();
        let interfaces = &self.can.interfaces;
        (
            outside.into_iter().map(|change| interfaces.on_wire(change)).collect(),
            inside.into_iter().map(|change| interfaces.on_wire(change)).collect(),
        )
    }
}

impl FromIterator<Interface> for Interfaces {
    fn from_iter<I: IntoIterator<Item = Interface>>(all: I) -> Self {
        Self(all.into_iter().collect())
    }
}

#[cfg(test)]
impl Interfaces {
    /// Devices with these numbers, of which every second one is apart.
    pub fn numbered(all: &[u32]) -> Self {
        let one = |(at, if_id): (usize, &u32)| Interface { if_id: *if_id, mtu: 1300, apart: at % 2 == 1 };
        all.iter().enumerate().map(one).collect()
    }
}
