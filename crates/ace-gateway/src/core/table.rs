// SPDX-License-Identifier: Apache-2.0
//! Which SAs of a file are installed, and what a changed file changes.

use std::collections::{HashMap, HashSet};
use std::net::IpAddr;
use std::time::Duration;

use ace_config::gateway::Encapsulation;
use ace_engine::{Engine, EngineError};
use ace_ipsec::{
    Direction, Edit, Grant, Inside, Outside, Policy, Protocol, Rule, RuleId, SaId, SaSpec, SaStatus,
    SadError, Shard, Treatment,
};
use serde::Serialize;
use thiserror::Error;

use super::prints::{Print, Prints};
use super::priorities::priorities;
use crate::keys::{KeyError, Keys};

/// Why SAs cannot be those of a file.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
pub enum CoreError {
    #[error(
        "default_policy = \"bypass\" would let packets out in clear; a gateway takes default_policy = \"discard\" \
         alone, and what is not to be protected is not routed into it"
    )]
    /// The file's default policy is `bypass`.
    Bypass,
    /// An AH SA and `encapsulation = "udp"` do not go together; the SA's name is given here.
    #[error("SA {0}: AH cannot be encapsulated in UDP (RFC 3948, 1); encapsulation = \"none\" carries it")]
    AhInUdp(String),
    /// An SA over IPv6 and `encapsulation = "none"` do not go together; the SA's name is given here.
    #[error("SA {0}: raw ESP and AH over IPv6 are not there; encapsulation = \"udp\" carries ESP over IPv6")]
    RawIpv6(String),
    /// What a socket of UDP does not do for one SA alone.
    #[error("SA {name}: {what} is not to be had in UDP; encapsulation = \"none\" has it")]
    InUdp {
        /// The SA's name.
        name: String,
        /// The key of the SA file.
        what: &'static str,
    },
    /// Two inbound SAs cannot be told apart.
    #[error("SA {name}: SPI {spi:#x} is another inbound SA's; in UDP the SPI alone tells them apart")]
    SameSpi {
        /// Name of the later one.
        name: String,
        /// The SPI of both.
        spi: u32,
    },
    /// Nothing computes the SA's suite.
    #[error("SA {name}: {why}")]
    Engine {
        /// The SA's name.
        name: String,
        /// What the engine says.
        why: String,
    },
    /// The data plane refuses the SA.
    #[error("SA {name}: {why}")]
    Install {
        /// The SA's name.
        name: String,
        /// What the data plane says.
        why: SadError,
    },
    /// The SA's key was used before.
    #[error("SA {name}: {why}")]
    Key {
        /// The SA's name.
        name: String,
        /// What is remembered of it.
        why: KeyError,
    },
    /// The operating system gave none for the comparison of keys.
    #[error("no randomness from the operating system")]
    Randomness,
}

/// What a load did.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Reloaded {
    /// SAs that were there, and are in the file as they were.
    pub kept: usize,
    /// SAs that go on under another name, selector or lifetime.
    pub edited: usize,
    /// SAs that are new, or changed so that they had to be installed anew.
    pub added: usize,
    /// SAs that are no longer in the file, or were replaced.
    pub removed: usize,
}

/// One SA as it stands.
#[derive(Clone, Debug, Serialize)]
pub struct SaView {
    /// What the data plane says of it.
    #[serde(flatten)]
    pub status: SaStatus,
    /// Our end.
    pub local: IpAddr,
    /// The other end.
    pub remote: IpAddr,
    /// What the SA protects, as people write it; `by policies` if it came by XFRM.
    pub selector: String,
}

/// What was installed of an SA. Its keys are with the data plane alone.
struct Installed {
    id: SaId,
    rule: Place,
    priority: u32,
    name: String,
    print: Print,
    /// Of what makes it this SA.
    core: Print,
    key: Print,
    grant: Grant,
    spi: u32,
    protocol: Protocol,
    local: IpAddr,
    remote: IpAddr,
    selector: String,
    authenticates: bool,
}

#[derive(Clone, Copy)]
enum Place {
    Inside(RuleId<Inside>),
    Outside(RuleId<Outside>),
}

pub struct Table {
    encapsulation: Encapsulation,
    keys: Option<Keys>,
    salt: Option<[u8; 32]>,
    /// In the order of the file.
    installed: Vec<Installed>,
    by_id: HashMap<SaId, usize>,
    /// Inbound ESP.
    by_spi: HashMap<u32, (IpAddr, IpAddr)>,
}

impl Table {
    pub fn new(encapsulation: Encapsulation, keys: Option<Keys>) -> Self {
        Self {
            encapsulation,
            keys,
            salt: None,
            installed: Vec::new(),
            by_id: HashMap::new(),
            by_spi: HashMap::new(),
        }
    }

    /// On an error nothing has changed, unless it is about an SA that takes over another one's SPI.
    pub fn load(
        &mut self,
        plane: &mut Shard,
        engine: &dyn Engine,
        now: Duration,
        policy: Policy,
        sas: &[&SaSpec],
    ) -> Result<Reloaded, CoreError> {
        self.check(policy, sas, engine)?;
        let salt = self.salt()?;
        let prints: Vec<Prints> = sas.iter().map(|sa| Prints::of(&salt, sa)).collect();
        let found = self.found(&prints);
        let at: Vec<Option<u32>> = found.iter().map(|at| at.map(|at| self.installed[at].priority)).collect();
        let priorities = priorities(&at);
        let mut stays = vec![false; self.installed.len()];
        found.iter().flatten().for_each(|&at| stays[at] = true);
        // An SPI or a key whose old SA goes has to be free first. Nothing is under way, so that no packet sees the time
        // between.
        let gone = || self.installed.iter().zip(&stays).filter(|(_, stays)| !**stays).map(|(old, _)| old);
        let inbound = gone().filter(|old| matches!(old.rule, Place::Outside(_)));
        let spis: HashSet<_> = inbound.map(|old| (old.spi, old.protocol, old.local)).collect();
        let keys: HashSet<_> = gone().map(|old| old.key).collect();
        let goes_first = |sa: &SaSpec, prints: &Prints| {
            let spi = sa.direction == Direction::In && spis.contains(&(sa.spi, sa.protocol, sa.local));
            spi || keys.contains(&prints.key)
        };
        let mut added: HashMap<Print, Installed> = HashMap::new();
        let mut late = Vec::new();
        let new = sas.iter().zip(&prints).zip(&priorities).zip(&found).filter(|(_, found)| found.is_none());
        for (((sa, prints), priority), _) in new {
            if goes_first(sa, prints) {
                late.push((sa, *prints, *priority));
                continue;
            }
            match self.install(plane, now, sa, *prints, *priority) {
                Ok(installed) => {
                    added.insert(prints.all, installed);
                }
                Err(error) => {
                    added.values().for_each(|installed| self.remove(plane, installed));
                    return Err(error);
                }
            }
        }
        let removed = stays.iter().filter(|stays| !**stays).count();
        let mut left: HashMap<usize, Installed> = HashMap::new();
        for (at, (sa, stays)) in std::mem::take(&mut self.installed).into_iter().zip(stays).enumerate() {
            if stays {
                left.insert(at, sa);
            } else {
                self.remove(plane, &sa);
            }
        }
        let mut failed = None;
        for (sa, prints, priority) in late {
            match self.install(plane, now, sa, prints, priority) {
                Ok(installed) => {
                    added.insert(prints.all, installed);
                }
                Err(error) => failed = Some(error),
            }
        }
        let mut reloaded = Reloaded { kept: 0, edited: 0, added: added.len(), removed };
        for (((sa, prints), priority), found) in sas.iter().zip(&prints).zip(&priorities).zip(&found) {
            let old = found.and_then(|at| left.remove(&at));
            let Some(mut installed) = old.or_else(|| added.remove(&prints.all)) else { continue };
            if installed.print != prints.all {
                match edit(plane, now, &mut installed, sa, prints.all) {
                    Ok(()) => reloaded.edited += 1,
                    Err(error) => failed = Some(error),
                }
            } else if found.is_some() {
                reloaded.kept += 1;
            }
            if installed.priority != *priority {
                match installed.rule {
                    Place::Inside(rule) => plane.reorder_inside(rule, *priority),
                    Place::Outside(rule) => plane.reorder_outside(rule, *priority),
                };
                installed.priority = *priority;
            }
            self.installed.push(installed);
        }
        self.index();
        failed.map_or(Ok(reloaded), Err)
    }

    /// Where the SAs of a file stand among those that are installed: as they were, or edited.
    fn found(&self, prints: &[Prints]) -> Vec<Option<usize>> {
        let all = || self.installed.iter().enumerate();
        let same: HashMap<Print, usize> = all().map(|(at, sa)| (sa.print, at)).collect();
        let mut edited: HashMap<Print, usize> = all().map(|(at, sa)| (sa.core, at)).collect();
        for prints in prints.iter().filter(|prints| same.contains_key(&prints.all)) {
            edited.remove(&prints.core);
        }
        let mut found =
            |prints: &Prints| same.get(&prints.all).copied().or_else(|| edited.remove(&prints.core));
        prints.iter().map(&mut found).collect()
    }

    /// What the gateway and its engine can do.
    pub fn check(&self, policy: Policy, sas: &[&SaSpec], engine: &dyn Engine) -> Result<(), CoreError> {
        if policy == Policy::Bypass {
            return Err(CoreError::Bypass);
        }
        let mut spis = HashMap::new();
        for sa in sas {
            let name = || sa.name.clone();
            match self.encapsulation {
                Encapsulation::Udp if sa.protocol == Protocol::Ah => return Err(CoreError::AhInUdp(name())),
                Encapsulation::None if sa.local.is_ipv6() => return Err(CoreError::RawIpv6(name())),
                _ => {}
            }
            if self.encapsulation == Encapsulation::Udp
                && let Some(what) = super::encap::cannot(sa)
            {
                return Err(CoreError::InUdp { name: name(), what });
            }
            let udp_in = self.encapsulation == Encapsulation::Udp && sa.direction == Direction::In;
            if udp_in && spis.insert(sa.spi, ()).is_some() {
                return Err(CoreError::SameSpi { name: name(), spi: sa.spi });
            }
            if let Some(need) = sa.needs().into_iter().find(|need| !engine.capabilities().can(need)) {
                let why = engine.explain(&EngineError::NoConfiguration { need });
                return Err(CoreError::Engine { name: name(), why });
            }
            sa.check().map_err(|why| CoreError::Install { name: name(), why: why.into() })?;
            if let Some(keys) = &self.keys {
                keys.check(sa).map_err(|why| CoreError::Key { name: name(), why })?;
            }
        }
        Ok(())
    }

    fn install(
        &self,
        plane: &mut Shard,
        now: Duration,
        sa: &SaSpec,
        prints: Prints,
        priority: u32,
    ) -> Result<Installed, CoreError> {
        let (first_sequence, grant) = match &self.keys {
            Some(keys) => keys.admit(sa).map_err(|why| CoreError::Key { name: sa.name.clone(), why })?,
            None => (sa.first_sequence, Grant::default()),
        };
        let spec = &SaSpec { first_sequence, ..sa.clone() };
        let rule = Rule { selector: sa.selector.clone(), treatment: Treatment::Protect, priority };
        let (rule, id) = match sa.direction {
            Direction::Out => {
                let rule = plane.add_inside(rule);
                let id = plane.install_outbound_within(now, spec, rule, grant.clone()).inspect_err(|_| {
                    plane.remove_inside(rule);
                });
                (Place::Inside(rule), id)
            }
            Direction::In => {
                let rule = plane.add_outside(rule);
                let id = plane.install_inbound_within(now, spec, grant.clone()).inspect_err(|_| {
                    plane.remove_outside(rule);
                });
                (Place::Outside(rule), id)
            }
        };
        let id = id.map_err(|why| {
            self.release(&grant);
            CoreError::Install { name: sa.name.clone(), why }
        })?;
        Ok(Installed {
            id,
            rule,
            priority,
            name: sa.name.clone(),
            print: prints.all,
            core: prints.core,
            key: prints.key,
            grant,
            spi: sa.spi,
            protocol: sa.protocol,
            local: sa.local,
            remote: sa.remote,
            selector: sa.selector.to_string(),
            authenticates: sa.authenticates(),
        })
    }

    fn remove(&self, plane: &mut Shard, sa: &Installed) {
        plane.remove(sa.id);
        match sa.rule {
            Place::Inside(rule) => {
                plane.remove_inside(rule);
            }
            Place::Outside(rule) => {
                plane.remove_outside(rule);
            }
        }
        self.release(&sa.grant);
    }

    fn release(&self, grant: &Grant) {
        if let Some(keys) = &self.keys {
            keys.release(grant);
        }
    }

    fn salt(&mut self) -> Result<[u8; 32], CoreError> {
        if let Some(salt) = self.salt {
            return Ok(salt);
        }
        let mut salt = [0; 32];
        getrandom::fill(&mut salt).map_err(|_| CoreError::Randomness)?;
        self.salt = Some(salt);
        Ok(salt)
    }

    fn index(&mut self) {
        self.by_id = self.installed.iter().enumerate().map(|(at, sa)| (sa.id, at)).collect();
        let inbound = |sa: &&Installed| matches!(sa.rule, Place::Outside(_)) && sa.protocol == Protocol::Esp;
        self.by_spi =
            self.installed.iter().filter(inbound).map(|sa| (sa.spi, (sa.local, sa.remote))).collect();
    }

    fn get(&self, id: SaId) -> Option<&Installed> {
        self.installed.get(*self.by_id.get(&id)?)
    }

    /// Both ends of the inbound ESP SA with an SPI.
    pub fn ends(&self, spi: u32) -> Option<(IpAddr, IpAddr)> {
        self.by_spi.get(&spi).copied()
    }

    /// The remote end of an SA, if it authenticates.
    pub fn authentic(&self, id: SaId) -> Option<IpAddr> {
        self.get(id).filter(|sa| sa.authenticates).map(|sa| sa.remote)
    }

    pub fn name(&self, id: SaId) -> &str {
        self.get(id).map_or("that was removed", |sa| &sa.name)
    }

    pub fn len(&self) -> usize {
        self.installed.len()
    }

    pub fn outbound_remotes(&self) -> impl Iterator<Item = IpAddr> {
        self.installed.iter().filter(|sa| matches!(sa.rule, Place::Inside(_))).map(|sa| sa.remote)
    }

    pub fn view(&self, plane: &Shard) -> Vec<SaView> {
        let one = |sa: &Installed| {
            let status = plane.sa(sa.id)?;
            Some(SaView { status, local: sa.local, remote: sa.remote, selector: sa.selector.clone() })
        };
        self.installed.iter().filter_map(one).collect()
    }
}

/// Gives an SA that goes on another name, selector or lifetime.
fn edit(
    plane: &mut Shard,
    now: Duration,
    installed: &mut Installed,
    sa: &SaSpec,
    print: Print,
) -> Result<(), CoreError> {
    let (name, selector) = (sa.name.clone(), sa.selector.clone());
    let edit = Edit { name: name.clone(), selector: selector.clone(), lifetime: sa.lifetime };
    plane.edit(now, installed.id, edit).map_err(|why| CoreError::Install { name: name.clone(), why })?;
    if let Place::Outside(rule) = installed.rule {
        plane.reselect_outside(rule, selector);
    }
    installed.selector = sa.selector.to_string();
    (installed.name, installed.print) = (name, print);
    Ok(())
}
