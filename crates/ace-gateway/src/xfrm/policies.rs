// SPDX-License-Identifier: Apache-2.0
//! Policies that come and go.

use std::collections::BTreeSet;

use ace_ipsec::{Rule, Shard, Treatment};
use nix::libc::{EEXIST, EINVAL, ENOENT, ENOMEM, EOPNOTSUPP};

use super::database::{Database, MOST, OUT, Policy};
use super::names::{self, ACTIONS, POLICY_FLAGS, WAYS};
use super::shapes::{self, Errno, PolicyKey, SaKey, attr};
use super::wire::{attribute, u32_at};

impl Database {
    /// A policy that may not be there yet, or (`update`) takes the place of the one that is.
    pub fn add_policy(
        &mut self,
        plane: &mut Shard,
        (info, attributes): (&[u8], &[u8]),
        update: bool,
    ) -> Result<PolicyKey, Errno> {
        let mut info: [u8; shapes::POLICY] =
            info.get(..shapes::POLICY).and_then(|info| info.try_into().ok()).ok_or(EINVAL)?;
        let [way, action, flags, share] = [info[160], info[161], info[162], info[163]];
        names::value(WAYS, way.into(), EINVAL)?;
        names::value(ACTIONS, action.into(), EINVAL)?;
        names::bits(POLICY_FLAGS, flags.into())?;
        shapes::endless(&info)?;
        if share != 0 {
            return Err(if share > 3 { EINVAL } else { EOPNOTSUPP });
        }
        let if_id = shapes::if_id(attributes);
        let key = shapes::policy_key(way, if_id, &info).ok_or(EINVAL)?;
        self.interface(if_id)?;
        if !update && self.policies.contains_key(&key) {
            return Err(EEXIST);
        }
        if self.policies.len() >= MOST {
            return Err(ENOMEM);
        }
        let selector = shapes::selector(&info)?;
        let wants = shapes::template(attributes)?;
        let asked = u32_at(&info, 156).ok_or(EINVAL)?;
        if asked != 0 && asked % 8 != u32::from(way) {
            return Err(EINVAL);
        }
        let there = self.policies.get(&key).map_or(0, Policy::index);
        if there != 0 {
            self.remove_policy(plane, &key)?;
        }
        let index = if there != 0 { there } else { self.free_index(asked, way) };
        info[156..160].copy_from_slice(&index.to_ne_bytes());
        let priority = u32_at(&info, 152).ok_or(EINVAL)?;
        let treatment = match (action, &wants) {
            (0, Some(_)) => Treatment::Protect,
            (0, None) => Treatment::Bypass,
            _ => Treatment::Discard,
        };
        let stands = Rule { selector: selector.clone(), treatment, priority, if_id };
        let (rule, outside) = match way {
            OUT => (Some(plane.add_inside(stands)), None),
            _ => (None, Some(plane.add_outside(stands))),
        };
        if let Some(rule) = rule {
            self.by_rule.insert(rule, index);
        }
        let template = attribute(attributes, attr::TMPL).and_then(|bytes| bytes.get(..shapes::TEMPLATE));
        let template = template.unwrap_or_default().to_vec();
        let fitting = match &wants {
            Some(wants) if action == 0 && way <= OUT => {
                self.policy_links.add(index, way, wants);
                self.sa_links.of(wants)
            }
            _ => Vec::new(),
        };
        let users = BTreeSet::new();
        let policy = Policy { info, template, wants, rule, if_id, outside, selector, users };
        self.policies.insert(key.clone(), policy);
        self.order.insert(index, key.clone());
        self.counts[usize::from(way)] += 1;
        let born = |key: &SaKey| self.states.get(key).and_then(|state| Some(state.installed.as_ref()?.born));
        let mut fitting: Vec<(u64, SaKey)> =
            fitting.into_iter().filter_map(|key| Some((born(&key)?, key))).collect();
        fitting.sort_unstable();
        for (_, state) in fitting {
            self.join(plane, state, index);
        }
        Ok(key)
    }

    /// The index that is asked for, or another one: direction in the low bits, as Linux has it.
    fn free_index(&mut self, asked: u32, way: u8) -> u32 {
        if asked != 0 && !self.order.contains_key(&asked) {
            return asked;
        }
        loop {
            self.index = self.index.wrapping_add(8);
            let index = self.index + u32::from(way);
            // There are far fewer policies than indices.
            if self.index != 0 && !self.order.contains_key(&index) {
                return index;
            }
        }
    }

    pub fn remove_policy(&mut self, plane: &mut Shard, key: &PolicyKey) -> Result<Policy, Errno> {
        let policy = self.policies.remove(key).ok_or(ENOENT)?;
        let index = policy.index();
        self.order.remove(&index);
        self.counts[usize::from(key.way)] -= 1;
        for state in &policy.users {
            let Some(installed) = self.states.get_mut(state).and_then(|state| state.installed.as_mut())
            else {
                continue;
            };
            installed.policies.remove(&index);
            match policy.rule {
                Some(rule) => plane.part_from(installed.id, rule),
                None => plane.remove_selector(installed.id, &policy.selector),
            };
        }
        if let Some(wants) = &policy.wants {
            self.policy_links.remove(index, key.way, wants);
        }
        if let Some(rule) = policy.outside {
            plane.remove_outside(rule);
        }
        if let Some(rule) = policy.rule {
            self.by_rule.remove(&rule);
            plane.remove_inside(rule);
        }
        Ok(policy)
    }
}

impl Policy {
    pub fn index(&self) -> u32 {
        u32::from_ne_bytes([self.info[156], self.info[157], self.info[158], self.info[159]])
    }
}
