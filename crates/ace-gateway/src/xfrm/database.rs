// SPDX-License-Identifier: Apache-2.0
//! SAs and policies as XFRM has them, and what of them is in the data plane.
//!
//! An outbound SA is installed for a rule that no packet matches, and each policy whose template it fits has a share in
//! it: policies come and go, and its sequence numbers go on. An inbound SA takes nothing until a policy fits it, whose
//! selector it gets.

use std::collections::{BTreeMap, HashMap};
use std::net::{IpAddr, Ipv4Addr};
use std::time::Duration;

use ace_engine::{Engine, Secret};
use ace_ipsec::{
    Direction, Grant, Inside, Rule, RuleId, SaId, SaMode, SaSpec, Selector, Shard, Treatment, Update,
};
use ipnet::IpNet;
use nix::libc::{EEXIST, EINVAL, ENOENT, ENOMEM, ENOSYS, EOPNOTSUPP, ESRCH};

use crate::keys::Keys;

use super::shapes::{self, Errno, PolicyKey, SaKey, Template};

/// Outbound, in policies.
pub const OUT: u8 = 1;
/// As many of each as are taken.
const MOST: usize = 1 << 20;

/// An SA.
pub struct State {
    pub info: [u8; shapes::USERSA],
    /// As they came, with keys; wiped with it.
    pub attributes: Secret,
    pub installed: Option<Installed>,
}

pub struct Installed {
    pub id: SaId,
    pub direction: Direction,
    pub local: IpAddr,
    pub remote: IpAddr,
    pub authenticates: bool,
    grant: Grant,
    mode: SaMode,
    /// Among all: of those that fit a policy the last one is used.
    born: u64,
    /// For policies.
    pub shares: Vec<(PolicyKey, SaId)>,
    /// The last number sent by those that are no more.
    pub sent: u64,
}

pub struct Policy {
    pub info: [u8; shapes::POLICY],
    pub attributes: Vec<u8>,
    pub templates: Vec<Template>,
    pub rule: Option<RuleId<Inside>>,
    selector: Selector,
}

#[derive(Default)]
pub struct Database {
    allow_legacy: bool,
    keys: Option<Keys>,
    pub states: BTreeMap<SaKey, State>,
    pub policies: HashMap<PolicyKey, Policy>,
    /// The order in which policies came.
    pub order: BTreeMap<u32, PolicyKey>,
    anchor: Option<RuleId<Inside>>,
    pub by_id: HashMap<SaId, SaKey>,
    index: u32,
    born: u64,
}

/// Nobody's packets.
fn nothing() -> Selector {
    let nobody = Some(IpNet::from(IpAddr::V4(Ipv4Addr::BROADCAST)));
    Selector { source: nobody, destination: nobody, protocol: Some(255), ..Selector::default() }
}

impl Database {
    pub fn new(allow_legacy: bool, keys: Option<Keys>) -> Self {
        Self { allow_legacy, keys, ..Self::default() }
    }

    /// An SA that may not be there yet, or (`update`) one that has only an SPI.
    pub fn add_state(
        &mut self,
        plane: &mut Shard,
        engine: &dyn Engine,
        now: Duration,
        (info, attributes): (&[u8], &[u8]),
        inbound: bool,
        update: bool,
    ) -> Result<SaKey, Errno> {
        let key = shapes::sa_key(info)?;
        match self.states.get(&key) {
            Some(_) if !update => return Err(EEXIST),
            None if update => return Err(ESRCH),
            Some(State { installed: Some(_), .. }) => return self.relimit(plane, now, key, info),
            _ => {}
        }
        if self.states.len() >= MOST {
            return Err(ENOMEM);
        }
        let spec = shapes::spec(info, attributes, inbound, self.allow_legacy)?;
        if spec.needs().iter().any(|need| !engine.capabilities().can(need)) {
            return Err(ENOSYS);
        }
        let state = State {
            info: info.get(..shapes::USERSA).and_then(|info| info.try_into().ok()).ok_or(EINVAL)?,
            attributes: Secret::new(attributes.to_vec()),
            installed: Some(self.install(plane, now, &spec)?),
        };
        if let Some(installed) = &state.installed {
            self.by_id.insert(installed.id, key);
        }
        self.states.insert(key, state);
        let keys: Vec<PolicyKey> =
            self.order.values().filter(|policy| self.fits(key, policy)).cloned().collect();
        for policy in keys {
            self.join(plane, now, key, &policy)?;
        }
        Ok(key)
    }

    fn install(&mut self, plane: &mut Shard, now: Duration, spec: &SaSpec) -> Result<Installed, Errno> {
        // Who negotiates never gives a key twice: one that was used for another SA is refused.
        let (first_sequence, grant) = match &self.keys {
            Some(keys) => keys.admit(spec).map_err(|_| EEXIST)?,
            None => (spec.first_sequence, Grant::default()),
        };
        let spec = &SaSpec { selector: nothing(), first_sequence, ..spec.clone() };
        let id = match spec.direction {
            Direction::In => plane.install_inbound_within(now, spec, grant.clone()),
            Direction::Out => {
                let rule = || Rule { selector: nothing(), treatment: Treatment::Protect, priority: u32::MAX };
                let anchor = *self.anchor.get_or_insert_with(|| plane.add_inside(rule()));
                plane.install_outbound_within(now, spec, anchor, grant.clone())
            }
        };
        if id.is_err() {
            self.release(&grant);
        }
        self.born += 1;
        Ok(Installed {
            born: self.born,
            id: id.map_err(|_| EEXIST)?,
            direction: spec.direction,
            local: spec.local,
            remote: spec.remote,
            authenticates: spec.authenticates(),
            grant,
            mode: spec.mode,
            shares: Vec::new(),
            sent: 0,
        })
    }

    /// Lifetimes are all that changes of an SA that is installed.
    fn relimit(&mut self, plane: &mut Shard, now: Duration, key: SaKey, info: &[u8]) -> Result<SaKey, Errno> {
        let lifetime = Some(shapes::lifetime(info)?);
        let state = self.states.get_mut(&key).ok_or(ESRCH)?;
        let id = state.installed.as_ref().ok_or(ESRCH)?.id;
        // One that policies share in cannot be changed.
        plane.update(now, id, Update { lifetime, selector: None, carried: None }).map_err(|_| EOPNOTSUPP)?;
        shapes::put_lifetime(&mut state.info, info);
        Ok(key)
    }

    /// An SPI that is taken, and has no keys yet.
    pub fn reserve(&mut self, key: SaKey, info: [u8; shapes::USERSA]) -> Result<(), Errno> {
        if self.states.len() >= MOST {
            return Err(ENOMEM);
        }
        if self.states.contains_key(&key) {
            return Err(EEXIST);
        }
        self.states.insert(key, State { info, attributes: Secret::new(Vec::new()), installed: None });
        Ok(())
    }

    pub fn remove_state(&mut self, plane: &mut Shard, key: SaKey) -> Result<State, Errno> {
        let state = self.states.remove(&key).ok_or(ESRCH)?;
        if let Some(installed) = &state.installed {
            for (_, id) in &installed.shares {
                plane.remove(*id);
                self.by_id.remove(id);
            }
            plane.remove(installed.id);
            self.by_id.remove(&installed.id);
            self.release(&installed.grant);
        }
        Ok(state)
    }

    fn release(&self, grant: &Grant) {
        if let Some(keys) = &self.keys {
            keys.release(grant);
        }
    }

    /// A policy that may not be there yet, or (`update`) takes the place of the one that is.
    pub fn add_policy(
        &mut self,
        plane: &mut Shard,
        now: Duration,
        info: &[u8],
        attributes: &[u8],
        update: bool,
    ) -> Result<PolicyKey, Errno> {
        let mut info: [u8; shapes::POLICY] =
            info.get(..shapes::POLICY).and_then(|info| info.try_into().ok()).ok_or(EINVAL)?;
        let (way, block) = (info[160], info[161]);
        if way > 2 || block > 1 {
            return Err(EINVAL);
        }
        let key = shapes::policy_key(way, &info).ok_or(EINVAL)?;
        if !update && self.policies.contains_key(&key) {
            return Err(EEXIST);
        }
        if self.policies.len() >= MOST {
            return Err(ENOMEM);
        }
        let selector = shapes::selector(&info)?;
        let templates = shapes::templates(attributes);
        // Nested policies are not there.
        if templates.len() > 1 || templates.iter().any(|template| template.mode > 1) {
            return Err(EOPNOTSUPP);
        }
        let index = self.policies.get(&key).map_or(0, Policy::index);
        if index != 0 {
            self.remove_policy(plane, &key)?;
        }
        let index = if index == 0 {
            self.index += 8;
            self.index + u32::from(way)
        } else {
            index
        };
        info[156..160].copy_from_slice(&index.to_ne_bytes());
        let priority = u32::from_ne_bytes([info[152], info[153], info[154], info[155]]);
        let treatment = match (block, templates.is_empty()) {
            (0, false) => Treatment::Protect,
            (0, true) => Treatment::Bypass,
            _ => Treatment::Discard,
        };
        let rule = (way == OUT).then(|| {
            plane.add_inside(Rule {
                selector: selector.clone(),
                treatment,
                priority: priority.min(u32::MAX - 1),
            })
        });
        let policy = Policy { info, attributes: attributes.to_vec(), templates, rule, selector };
        self.policies.insert(key.clone(), policy);
        self.order.insert(index, key.clone());
        let fitting = self.states.iter().filter(|(state, _)| self.fits(**state, &key));
        let mut fitting: Vec<(u64, SaKey)> =
            fitting.filter_map(|(key, state)| Some((state.installed.as_ref()?.born, *key))).collect();
        fitting.sort_unstable();
        for (_, state) in fitting {
            self.join(plane, now, state, &key)?;
        }
        Ok(key)
    }

    pub fn remove_policy(&mut self, plane: &mut Shard, key: &PolicyKey) -> Result<Policy, Errno> {
        let policy = self.policies.remove(key).ok_or(ENOENT)?;
        self.order.remove(&policy.index());
        let affected: Vec<SaKey> = self
            .states
            .iter()
            .filter(|(_, state)| {
                state.installed.as_ref().is_some_and(|one| one.shares.iter().any(|(of, _)| of == key))
            })
            .map(|(state, _)| *state)
            .collect();
        for state in &affected {
            let Some(installed) = self.states.get_mut(state).and_then(|state| state.installed.as_mut())
            else {
                continue;
            };
            let (gone, left) =
                std::mem::take(&mut installed.shares).into_iter().partition(|(of, _)| of == key);
            installed.shares = left;
            let gone: Vec<(PolicyKey, SaId)> = gone;
            if installed.direction == Direction::Out {
                gone.iter().for_each(|(_, id)| {
                    let last = plane.remove(*id).map_or(0, |status| status.sequence);
                    installed.sent = installed.sent.max(last);
                    self.by_id.remove(id);
                });
            } else if installed.shares.is_empty() {
                let none = Update { selector: Some(nothing()), lifetime: None, carried: None };
                let _ = plane.update(Duration::ZERO, installed.id, none);
            }
        }
        if let Some(rule) = policy.rule {
            plane.remove_inside(rule);
        }
        // Another one may fit what comes in.
        for state in affected.into_iter().filter(|_| key.way == 0) {
            if let Some(other) = self.order.values().find(|other| self.fits(state, other)).cloned() {
                self.join(plane, Duration::ZERO, state, &other)?;
            }
        }
        Ok(policy)
    }

    /// Whether a policy's template asks for an SA.
    fn fits(&self, key: SaKey, policy: &PolicyKey) -> bool {
        let (Some(state), Some(policy_entry)) = (self.states.get(&key), self.policies.get(policy)) else {
            return false;
        };
        let Some(installed) = &state.installed else { return false };
        let way = if installed.direction == Direction::Out { policy.way == OUT } else { policy.way == 0 };
        let (local, remote) = (installed.local, installed.remote);
        let (source, destination) =
            if installed.direction == Direction::Out { (local, remote) } else { (remote, local) };
        way && policy_entry.templates.iter().any(|template| {
            template.protocol == key.protocol
                && template.mode == u8::from(installed.mode == SaMode::Tunnel)
                && (template.reqid == 0 || template.reqid == shapes::sa_reqid(&state.info))
                && (template.spi == 0 || template.spi == key.spi)
                && template.destination.is_none_or(|wanted| wanted == destination)
                && template.source.is_none_or(|wanted| wanted == source)
        })
    }

    /// An SA begins to work for a policy.
    fn join(
        &mut self,
        plane: &mut Shard,
        now: Duration,
        key: SaKey,
        policy: &PolicyKey,
    ) -> Result<(), Errno> {
        let Some(entry) = self.policies.get(policy) else { return Ok(()) };
        let (rule, selector) = (entry.rule, entry.selector.clone());
        let Some(installed) = self.states.get_mut(&key).and_then(|state| state.installed.as_mut()) else {
            return Ok(());
        };
        match (installed.direction, rule) {
            (Direction::Out, Some(rule)) => {
                let Some(share) = plane.share(installed.id) else { return Ok(()) };
                let id = plane.install_share(now, share, rule).map_err(|_| EINVAL)?;
                installed.shares.push((policy.clone(), id));
                self.by_id.insert(id, key);
            }
            (Direction::In, _) if installed.shares.is_empty() => {
                plane
                    .update(
                        now,
                        installed.id,
                        Update { selector: Some(selector), lifetime: None, carried: None },
                    )
                    .map_err(|_| EINVAL)?;
                installed.shares.push((policy.clone(), installed.id));
            }
            // A second selector for what comes in would have to be a choice of both.
            _ => {}
        }
        Ok(())
    }
}

impl Policy {
    pub fn index(&self) -> u32 {
        u32::from_ne_bytes([self.info[156], self.info[157], self.info[158], self.info[159]])
    }
}
