// SPDX-License-Identifier: Apache-2.0
//! Which SAs of a file are installed, and what a changed file changes.

use std::collections::{HashMap, HashSet};
use std::net::IpAddr;
use std::time::Duration;

use ace_engine::{Engine, EngineError};
use ace_ipsec::{
    Direction, Edit, Grant, Inside, Outside, Protocol, Rule, RuleId, SaId, SaSpec, SaStatus, SadError, Shard,
    Treatment,
};
use serde::Serialize;
use thiserror::Error;

use super::prints::{Print, Prints};
use super::priorities::priorities;
use super::wanted::{Known, WantedSa};
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
    /// An SA is for a device inside that there is not.
    #[error(
        "SA {name}: no device inside has its `if_id`; [[interface]] with if_id = {if_id} makes one, at a new start"
    )]
    NoInterface {
        /// The SA's name.
        name: String,
        /// What it names.
        if_id: u32,
    },
    /// The gateway cannot give an SA's packets their mark; the SA's name is given here.
    #[error(
        "SA {0}: `output_mark` takes CAP_NET_ADMIN for each packet, and one mark for all leaves no other; leave out `user`, \
         and `mark` of [outside]"
    )]
    Marks(String),
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
    /// An SA of the file is as it was before, and is not installed.
    #[error("SA {0} is not installed, and its keys were not read again")]
    Unknown(String),
    /// An SA is for a core that there is not.
    #[error(
        "SA {name}: `core` is {core}, and the gateway has {count}; allowed: 0 to {last}, or another `cores` of [engine]",
        last = count - 1
    )]
    NoCore {
        /// The SA's name.
        name: String,
        /// What it names.
        core: usize,
        /// How many there are, one or more.
        count: usize,
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
    prints: Prints,
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

/// Ten thousand entries are made anew between two packets.
type FastMap<K, V> = HashMap<K, V, foldhash::fast::RandomState>;

pub struct Table {
    keys: Option<Keys>,
    /// In the order of the file.
    installed: Vec<Installed>,
    by_id: FastMap<SaId, usize>,
    /// Inbound ESP.
    by_spi: FastMap<u32, (IpAddr, IpAddr)>,
}

impl Table {
    pub fn new(keys: Option<Keys>) -> Self {
        Self { keys, installed: Vec::new(), by_id: FastMap::default(), by_spi: FastMap::default() }
    }

    /// On an error nothing has changed, unless it is about an SA that takes over another one's SPI.
    pub fn load(
        &mut self,
        plane: &mut Shard,
        engine: &dyn Engine,
        now: Duration,
        sas: &[&WantedSa],
    ) -> Result<Reloaded, CoreError> {
        let found = self.check(sas, engine)?;
        let at: Vec<Option<u32>> = found.iter().map(|at| at.map(|at| self.installed[at].priority)).collect();
        let priorities = priorities(&at);
        let mut stays = vec![false; self.installed.len()];
        found.iter().flatten().for_each(|&at| stays[at] = true);
        // An SPI or a key whose old SA goes has to be free first. Nothing is under way, so that no packet sees the time
        // between.
        let gone = || self.installed.iter().zip(&stays).filter(|(_, stays)| !**stays).map(|(old, _)| old);
        let inbound = gone().filter(|old| matches!(old.rule, Place::Outside(_)));
        let spis: HashSet<_> = inbound.map(|old| (old.spi, old.protocol, old.local)).collect();
        let keys: HashSet<_> = gone().map(|old| old.prints.key).collect();
        let goes_first = |sa: &SaSpec, prints: &Prints| {
            let spi = sa.direction == Direction::In && spis.contains(&(sa.spi, sa.protocol, sa.local));
            spi || keys.contains(&prints.key)
        };
        let mut added: HashMap<usize, Installed> = HashMap::new();
        let mut late = Vec::new();
        for (at, (sa, priority)) in sas.iter().zip(&priorities).enumerate() {
            let (None, Some(spec), prints) = (found[at], &sa.spec, sa.prints) else { continue };
            if goes_first(spec, &prints) {
                late.push((at, spec, prints, *priority));
                continue;
            }
            match self.install(plane, now, spec, prints, *priority) {
                Ok(installed) => {
                    added.insert(at, installed);
                }
                Err(error) => {
                    added.values().for_each(|installed| self.remove(plane, installed));
                    return Err(error);
                }
            }
        }
        let removed = stays.iter().filter(|stays| !**stays).count();
        let mut left: Vec<Option<Installed>> = Vec::with_capacity(stays.len());
        for (sa, stays) in std::mem::take(&mut self.installed).into_iter().zip(stays) {
            if !stays {
                self.remove(plane, &sa);
            }
            left.push(Some(sa).filter(|_| stays));
        }
        let mut failed = None;
        for (at, sa, prints, priority) in late {
            match self.install(plane, now, sa, prints, priority) {
                Ok(installed) => {
                    added.insert(at, installed);
                }
                Err(error) => failed = Some(error),
            }
        }
        let mut reloaded = Reloaded { kept: 0, edited: 0, added: added.len(), removed };
        self.installed.reserve(sas.len());
        for (at, (sa, priority)) in sas.iter().zip(&priorities).enumerate() {
            let old = found[at].and_then(|at| left[at].take());
            let Some(mut installed) = old.or_else(|| added.remove(&at)) else { continue };
            if installed.prints.all != sa.prints.all {
                match edit(plane, now, &mut installed, &sa.known) {
                    Ok(()) => reloaded.edited += 1,
                    Err(error) => failed = Some(error),
                }
            } else if found[at].is_some() {
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
    fn found(&self, sas: &[&WantedSa]) -> Vec<Option<usize>> {
        let is_same = |(sa, old): &(&&WantedSa, &Installed)| sa.prints.all == old.prints.all;
        let mut found: Vec<Option<usize>> = vec![None; sas.len()];
        // Most files differ in one place from those before.
        let head = sas.iter().zip(&self.installed).take_while(is_same).count();
        let (new, old) = (&sas[head..], &self.installed[head..]);
        let tail = new.iter().rev().zip(old.iter().rev()).take_while(is_same).count();
        (0..head).for_each(|at| found[at] = Some(at));
        (1..=tail).for_each(|back| found[sas.len() - back] = Some(self.installed.len() - back));
        let all = || self.installed.iter().enumerate();
        let middle = all().take(self.installed.len() - tail).skip(head);
        let same: FastMap<Print, usize> = middle.map(|(at, sa)| (sa.prints.all, at)).collect();
        for (sa, found) in sas.iter().zip(&mut found).take(sas.len() - tail).skip(head) {
            *found = same.get(&sa.prints.all).copied();
        }
        if found.iter().any(Option::is_none) {
            let mut free = vec![true; self.installed.len()];
            found.iter().flatten().for_each(|&at| free[at] = false);
            let free = all().filter(|(at, _)| free[*at]);
            let mut edited: HashMap<Print, usize> = free.map(|(at, sa)| (sa.prints.core, at)).collect();
            for (sa, found) in sas.iter().zip(&mut found).filter(|(_, found)| found.is_none()) {
                *found = edited.remove(&sa.prints.core);
            }
        }
        found
    }

    /// Where those of a file are, and whether what is new can be installed, as far as that can be told without doing it.
    pub fn check(&self, sas: &[&WantedSa], engine: &dyn Engine) -> Result<Vec<Option<usize>>, CoreError> {
        let found = self.found(sas);
        for (wanted, _) in sas.iter().zip(&found).filter(|(_, found)| found.is_none()) {
            let name = || wanted.known.spec.name.clone();
            let Some(sa) = &wanted.spec else { return Err(CoreError::Unknown(name())) };
            if let Some(need) = sa.needs().into_iter().find(|need| !engine.capabilities().can(need)) {
                let why = engine.explain(&EngineError::NoConfiguration { need });
                return Err(CoreError::Engine { name: name(), why });
            }
            sa.check().map_err(|why| CoreError::Install { name: name(), why: why.into() })?;
            if let Some(keys) = &self.keys {
                keys.check(sa).map_err(|why| CoreError::Key { name: name(), why })?;
            }
        }
        Ok(found)
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
        let (selector, treatment) = (sa.selector.clone(), Treatment::Protect);
        let rule = Rule { selector, treatment, priority, if_id: sa.if_id };
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
            prints,
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
fn edit(plane: &mut Shard, now: Duration, installed: &mut Installed, known: &Known) -> Result<(), CoreError> {
    let sa = &known.spec;
    let (name, selector) = (sa.name.clone(), sa.selector.clone());
    let edit = Edit { name: name.clone(), selector: selector.clone(), lifetime: sa.lifetime };
    plane.edit(now, installed.id, edit).map_err(|why| CoreError::Install { name: name.clone(), why })?;
    if let Place::Outside(rule) = installed.rule {
        plane.reselect_outside(rule, selector);
    }
    installed.selector = sa.selector.to_string();
    (installed.name, installed.prints) = (name, known.prints);
    Ok(())
}
