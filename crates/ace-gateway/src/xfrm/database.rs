// SPDX-License-Identifier: Apache-2.0
//! SAs and policies as XFRM has them, and what of them is in the data plane.
//!
//! An SA is installed by itself and carries nothing until a policy's template fits it: outbound the policy's rule sends
//! packets through it, inbound the policy's selector lets them out of it. Any number of policies may fit one SA, whose
//! counter and window are one; policies come and go, and its numbers go on.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::net::IpAddr;
use std::time::Duration;

use ace_engine::Engine;
use ace_ipsec::{Direction, Grant, Inside, Outside, RuleId, SaId, SaMode, SaSpec, Selector, Shard, Update};
use nix::libc::{EEXIST, EINVAL, ENODEV, ENOMEM, ENOSYS, EOPNOTSUPP, ESRCH};
use tracing::warn;

use crate::keys::Keys;

use super::Made;
use super::links::{PolicyLinks, SaLinks};
use super::shapes::{self, Errno, PolicyKey, SaKey, Template};
use super::spec::{self, Extras};

/// Outbound, in policies.
pub const OUT: u8 = 1;
/// Inbound.
const IN: u8 = 0;
/// As many of each as are taken.
pub const MOST: usize = 1 << 20;

/// An SA.
pub struct State {
    pub info: [u8; shapes::USERSA],
    pub extras: Extras,
    pub installed: Option<Installed>,
    /// Bytes and packets that it had carried before it was here.
    pub before: (u64, u64),
    /// Seconds since 1970.
    pub added: u64,
}

pub struct Installed {
    pub id: SaId,
    pub direction: Direction,
    pub protocol: u8,
    pub mode: SaMode,
    pub local: IpAddr,
    pub remote: IpAddr,
    pub authenticates: bool,
    grant: Grant,
    /// Among all: of those that fit a policy the last one is used.
    pub(super) born: u64,
    /// By index.
    pub(super) policies: BTreeSet<u32>,
}

pub struct Policy {
    pub info: [u8; shapes::POLICY],
    /// `xfrm_user_tmpl`, or nothing.
    pub template: Vec<u8>,
    pub wants: Option<Template>,
    pub rule: Option<RuleId<Inside>>,
    pub if_id: u32,
    /// Of `in` and `fwd`: what comes in clear and is its is kept out.
    pub(super) outside: Option<RuleId<Outside>>,
    pub(super) selector: Selector,
    /// SAs that work for it.
    pub(super) users: BTreeSet<SaKey>,
}

pub struct Database {
    made: Made,
    keys: Option<Keys>,
    pub states: BTreeMap<SaKey, State>,
    pub policies: HashMap<PolicyKey, Policy>,
    /// The order in which policies came.
    pub order: BTreeMap<u32, PolicyKey>,
    /// Policies of each direction.
    pub counts: [usize; 3],
    pub by_id: HashMap<SaId, SaKey>,
    pub by_rule: HashMap<RuleId<Inside>, u32>,
    pub(super) sa_links: SaLinks,
    pub(super) policy_links: PolicyLinks,
    pub(super) index: u32,
    pub(super) born: u64,
}

impl Database {
    pub fn new(made: Made, keys: Option<Keys>) -> Self {
        Self {
            made,
            keys,
            states: BTreeMap::new(),
            policies: HashMap::new(),
            order: BTreeMap::new(),
            counts: [0; 3],
            by_id: HashMap::new(),
            by_rule: HashMap::new(),
            sa_links: SaLinks::default(),
            policy_links: PolicyLinks::default(),
            index: 0,
            born: 0,
        }
    }

    /// What a new SA would be.
    ///
    /// # Errors
    /// As [`spec::spec`]; ENODEV for a device that there is not, ENOSYS for what the engine cannot compute.
    pub fn spec(
        &self,
        engine: &dyn Engine,
        parts: (&[u8], &[u8]),
        inbound: bool,
    ) -> Result<(SaSpec, Extras), Errno> {
        self.interface(shapes::if_id(parts.1))?;
        let (spec, extras) = spec::spec(parts, inbound, &self.made)?;
        match spec.needs().iter().all(|need| engine.capabilities().can(need)) {
            true => Ok((spec, extras)),
            false => Err(ENOSYS),
        }
    }

    /// Whether there is a device inside with a number.
    ///
    /// # Errors
    /// ENODEV.
    pub fn interface(&self, if_id: u32) -> Result<(), Errno> {
        if self.made.can.interfaces.has(if_id) {
            return Ok(());
        }
        warn!(if_id, "refused: no device inside has this number; [[interface]] makes one, at a new start");
        Err(ENODEV)
    }

    /// An SA that may not be there yet, or (`update`) one that has only an SPI.
    pub fn add_state(
        &mut self,
        plane: &mut Shard,
        (now, added): (Duration, u64),
        key: SaKey,
        (info, attributes): (&[u8], &[u8]),
        (spec, extras): (SaSpec, Extras),
        update: bool,
    ) -> Result<(), Errno> {
        match self.states.get(&key) {
            Some(_) if !update => return Err(EEXIST),
            None if update => return Err(ESRCH),
            Some(State { installed: Some(_), .. }) => {
                return self.relimit(plane, now, key, (info, attributes), &extras);
            }
            _ => {}
        }
        if self.states.len() >= MOST {
            return Err(ENOMEM);
        }
        let info: [u8; shapes::USERSA] =
            info.get(..shapes::USERSA).and_then(|info| info.try_into().ok()).ok_or(EINVAL)?;
        let installed = self.install(plane, now, &spec)?;
        let before = spec::carried(attributes).unwrap_or_default();
        if before != (0, 0) {
            let _ = plane.update(now, installed.id, Update { carried: Some(before), ..Update::default() });
        }
        self.by_id.insert(installed.id, key);
        self.sa_links.add(key, shapes::sa_reqid(&info), ends(&installed));
        let wants = self.policy_links.of(way(&installed), shapes::sa_reqid(&info), ends(&installed));
        self.states.insert(key, State { info, extras, installed: Some(installed), before, added });
        for policy in wants {
            self.join(plane, key, policy);
        }
        Ok(())
    }

    fn install(&mut self, plane: &mut Shard, now: Duration, spec: &SaSpec) -> Result<Installed, Errno> {
        // Who negotiates never gives a key twice: one that was used for another SA is refused.
        let (first_sequence, grant) = match &self.keys {
            Some(keys) => keys.admit(spec).map_err(|_| EEXIST)?,
            None => (spec.first_sequence, Grant::default()),
        };
        let spec = &SaSpec { first_sequence, ..spec.clone() };
        let id = plane.install_apart(now, spec, grant.clone());
        if id.is_err() {
            self.release(&grant);
        }
        self.born += 1;
        Ok(Installed {
            born: self.born,
            id: id.map_err(|_| EEXIST)?,
            direction: spec.direction,
            protocol: spec.protocol.number(),
            mode: spec.mode,
            local: spec.local,
            remote: spec.remote,
            authenticates: spec.authenticates(),
            grant,
            policies: BTreeSet::new(),
        })
    }

    /// Lifetimes are all that changes of an SA that is installed.
    fn relimit(
        &mut self,
        plane: &mut Shard,
        now: Duration,
        key: SaKey,
        (info, attributes): (&[u8], &[u8]),
        extras: &Extras,
    ) -> Result<(), Errno> {
        let lifetime = Some(shapes::lifetime(info)?);
        let state = self.states.get_mut(&key).ok_or(ESRCH)?;
        let id = state.installed.as_ref().ok_or(ESRCH)?.id;
        let anew = spec::numbers(attributes)?.is_some_and(|numbers| numbers != spec::Numbers::default());
        if anew
            || spec::carried(attributes).is_some()
            || !state.extras.same(extras)
            || !shapes::same_sa(&state.info, info)
        {
            return Err(EOPNOTSUPP);
        }
        plane.update(now, id, Update { lifetime, ..Update::default() }).map_err(|_| EOPNOTSUPP)?;
        shapes::put_lifetime(&mut state.info, info);
        Ok(())
    }

    /// Puts an SA's numbers forward, and says what it has carried.
    pub fn advance(
        &mut self,
        plane: &mut Shard,
        now: Duration,
        key: SaKey,
        attributes: &[u8],
    ) -> Result<(), Errno> {
        let (numbers, carried) = (spec::numbers(attributes)?, spec::carried(attributes));
        if numbers.is_none() && carried.is_none() {
            return Err(EINVAL);
        }
        let state = self.states.get_mut(&key).ok_or(ESRCH)?;
        let installed = state.installed.as_ref().ok_or(ESRCH)?;
        let stands = plane.sa(installed.id).ok_or(ESRCH)?;
        if let Some(numbers) = numbers {
            let to = if installed.direction == Direction::Out { numbers.sent } else { numbers.seen };
            if to != stands.sequence {
                plane.advance(installed.id, to).map_err(|_| EINVAL)?;
            }
        }
        if let Some((bytes, packets)) = carried {
            let update = Update { carried: Some((bytes, packets)), ..Update::default() };
            plane.update(now, installed.id, update).map_err(|_| EINVAL)?;
            let here = stands.counters.forwarded;
            // What is told is what was carried before and here.
            state.before = (bytes.saturating_sub(here.bytes), packets.saturating_sub(here.packets));
        }
        Ok(())
    }

    /// An SPI that is taken, and has no keys yet.
    pub fn reserve(&mut self, key: SaKey, info: [u8; shapes::USERSA], added: u64) -> Result<(), Errno> {
        if self.states.len() >= MOST {
            return Err(ENOMEM);
        }
        if self.states.contains_key(&key) {
            return Err(EEXIST);
        }
        self.states
            .insert(key, State { info, extras: Extras::none(), installed: None, before: (0, 0), added });
        Ok(())
    }

    pub fn remove_state(&mut self, plane: &mut Shard, key: SaKey) -> Result<State, Errno> {
        let state = self.states.remove(&key).ok_or(ESRCH)?;
        if let Some(installed) = &state.installed {
            for index in &installed.policies {
                if let Some(policy) = self.order.get(index).and_then(|key| self.policies.get_mut(key)) {
                    policy.users.remove(&key);
                }
            }
            plane.remove(installed.id);
            self.by_id.remove(&installed.id);
            self.sa_links.remove(key, shapes::sa_reqid(&state.info), ends(installed));
            self.release(&installed.grant);
        }
        Ok(state)
    }

    fn release(&self, grant: &Grant) {
        if let Some(keys) = &self.keys {
            keys.release(grant);
        }
    }

    /// The policy of a rule.
    pub fn policy_of(&self, rule: RuleId<Inside>) -> Option<&Policy> {
        self.policies.get(self.order.get(self.by_rule.get(&rule)?)?)
    }

    /// An SA begins to work for a policy, if the template asks for it.
    pub(super) fn join(&mut self, plane: &mut Shard, key: SaKey, index: u32) {
        let Some(state) = self.states.get_mut(&key) else { return };
        let Some(policy) = self.order.get(&index).and_then(|key| self.policies.get_mut(key)) else { return };
        let reqid = shapes::sa_reqid(&state.info);
        let Some(installed) = &mut state.installed else { return };
        let (source, destination) = ends(installed);
        let way = way(installed);
        let fits = policy.info[160] == way
            && policy.if_id == state.extras.if_id
            && policy.wants.is_some_and(|wants| {
                wants.protocol == installed.protocol
                    && wants.mode == u8::from(installed.mode == SaMode::Tunnel)
                    && (wants.reqid == 0 || wants.reqid == reqid)
                    && (wants.spi == 0 || wants.spi == key.spi)
                    && wants.destination.is_none_or(|wanted| wanted == destination)
                    && wants.source.is_none_or(|wanted| wanted == source)
            });
        if !fits {
            return;
        }
        let joined = match policy.rule {
            Some(rule) => plane.join(installed.id, rule),
            None => plane.add_selector(installed.id, policy.selector.clone()),
        };
        if joined.is_ok() {
            installed.policies.insert(index);
            policy.users.insert(key);
        }
    }
}

/// Source and destination of an SA's packets.
fn ends(installed: &Installed) -> (IpAddr, IpAddr) {
    match installed.direction {
        Direction::Out => (installed.local, installed.remote),
        Direction::In => (installed.remote, installed.local),
    }
}

fn way(installed: &Installed) -> u8 {
    if installed.direction == Direction::Out { OUT } else { IN }
}

#[cfg(test)]
impl Database {
    /// The most SAs that are looked at for a policy, and the most policies for an SA.
    pub fn most_candidates(&self) -> (usize, usize) {
        let sas =
            self.policies.values().filter_map(|policy| Some(self.sa_links.of(policy.wants.as_ref()?).len()));
        let policies = self.states.values().filter_map(|state| {
            let installed = state.installed.as_ref()?;
            let reqid = shapes::sa_reqid(&state.info);
            Some(self.policy_links.of(way(installed), reqid, ends(installed)).len())
        });
        (sas.max().unwrap_or(0), policies.max().unwrap_or(0))
    }
}
