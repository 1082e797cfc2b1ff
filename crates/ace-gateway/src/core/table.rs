// SPDX-License-Identifier: Apache-2.0
//! Which SAs of a file are installed, and what a changed file changes.

use std::collections::{HashMap, HashSet};
use std::net::IpAddr;
use std::time::Duration;

use ace_config::gateway::Encapsulation;
use ace_engine::{Engine, EngineError};
use ace_ipsec::{
    Direction, Inside, Outside, Policy, Protocol, Rule, RuleId, SaId, SaSpec, SaStatus, SadError, Shard,
    Treatment,
};
use serde::Serialize;
use sha2::{Digest, Sha256};
use thiserror::Error;

/// Between priorities of rules, so that later ones find a place.
const STRIDE: u32 = 1 << 12;

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
    /// The operating system gave none for the comparison of keys.
    #[error("no randomness from the operating system")]
    Randomness,
}

/// What a load did.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Reloaded {
    /// SAs that were there, and are in the file as they were.
    pub kept: usize,
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

/// Tells whether an SA is the same as before without keeping its keys: a digest over everything that is in the file,
/// with a number of this process in front so that it says nothing about a key.
type Print = [u8; 32];

pub struct Table {
    encapsulation: Encapsulation,
    salt: Option<[u8; 32]>,
    /// In the order of the file.
    installed: Vec<Installed>,
    by_id: HashMap<SaId, usize>,
    /// Inbound ESP.
    by_spi: HashMap<u32, (IpAddr, IpAddr)>,
}

impl Table {
    pub fn new(encapsulation: Encapsulation) -> Self {
        Self {
            encapsulation,
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
        let prints: Vec<Print> = sas.iter().map(|sa| print(&salt, sa)).collect();
        let old: HashMap<Print, usize> =
            self.installed.iter().enumerate().map(|(at, sa)| (sa.print, at)).collect();
        let kept: Vec<Option<usize>> = prints.iter().map(|print| old.get(print).copied()).collect();
        let priorities =
            priorities(&kept.iter().map(|at| at.map(|at| self.installed[at].priority)).collect::<Vec<_>>());
        let stays: Vec<bool> = {
            let mut stays = vec![false; self.installed.len()];
            kept.iter().flatten().for_each(|&at| stays[at] = true);
            stays
        };
        // An SPI whose old SA goes has to be free first. Nothing is under way, so that no packet sees the time between.
        let new = || sas.iter().zip(&prints).zip(&priorities).zip(&kept).filter(|(_, kept)| kept.is_none());
        let going: HashSet<_> = (self.installed.iter().zip(&stays))
            .filter(|(old, stays)| !**stays && matches!(old.rule, Place::Outside(_)))
            .map(|(old, _)| (old.spi, old.protocol, old.local))
            .collect();
        let goes_first =
            |sa: &SaSpec| sa.direction == Direction::In && going.contains(&(sa.spi, sa.protocol, sa.local));
        let mut added: HashMap<Print, Installed> = HashMap::new();
        let mut late = Vec::new();
        for (((sa, print), priority), _) in new() {
            if goes_first(sa) {
                late.push((sa, *print, *priority));
                continue;
            }
            match install(plane, now, sa, *print, *priority) {
                Ok(installed) => {
                    added.insert(*print, installed);
                }
                Err(error) => {
                    added.values().for_each(|installed| remove(plane, installed));
                    return Err(error);
                }
            }
        }
        let removed = stays.iter().filter(|stays| !**stays).count();
        let mut left: HashMap<Print, Installed> = HashMap::new();
        for (sa, stays) in std::mem::take(&mut self.installed).into_iter().zip(stays) {
            if stays {
                left.insert(sa.print, sa);
            } else {
                remove(plane, &sa);
            }
        }
        let mut failed = None;
        for (sa, print, priority) in late {
            match install(plane, now, sa, print, priority) {
                Ok(installed) => {
                    added.insert(print, installed);
                }
                Err(error) => failed = Some(error),
            }
        }
        let reloaded = Reloaded { kept: left.len(), added: added.len(), removed };
        let both = prints.iter().zip(&priorities).filter_map(|(print, priority)| {
            let mut sa = left.remove(print).or_else(|| added.remove(print))?;
            if sa.priority != *priority {
                match sa.rule {
                    Place::Inside(rule) => plane.reorder_inside(rule, *priority),
                    Place::Outside(rule) => plane.reorder_outside(rule, *priority),
                };
                sa.priority = *priority;
            }
            Some(sa)
        });
        self.installed = both.collect();
        self.index();
        failed.map_or(Ok(reloaded), Err)
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
            let udp_in = self.encapsulation == Encapsulation::Udp && sa.direction == Direction::In;
            if udp_in && spis.insert(sa.spi, ()).is_some() {
                return Err(CoreError::SameSpi { name: name(), spi: sa.spi });
            }
            if let Some(need) = sa.needs().into_iter().find(|need| !engine.capabilities().can(need)) {
                let why = engine.explain(&EngineError::NoConfiguration { need });
                return Err(CoreError::Engine { name: name(), why });
            }
            sa.check().map_err(|why| CoreError::Install { name: name(), why: why.into() })?;
        }
        Ok(())
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

fn install(
    plane: &mut Shard,
    now: Duration,
    sa: &SaSpec,
    print: Print,
    priority: u32,
) -> Result<Installed, CoreError> {
    let rule = Rule { selector: sa.selector.clone(), treatment: Treatment::Protect, priority };
    let (rule, id) = match sa.direction {
        Direction::Out => {
            let rule = plane.add_inside(rule);
            let id = plane.install_outbound(now, sa, rule).inspect_err(|_| {
                plane.remove_inside(rule);
            });
            (Place::Inside(rule), id)
        }
        Direction::In => {
            let rule = plane.add_outside(rule);
            let id = plane.install_inbound(now, sa).inspect_err(|_| {
                plane.remove_outside(rule);
            });
            (Place::Outside(rule), id)
        }
    };
    let id = id.map_err(|why| CoreError::Install { name: sa.name.clone(), why })?;
    Ok(Installed {
        id,
        rule,
        priority,
        name: sa.name.clone(),
        print,
        spi: sa.spi,
        protocol: sa.protocol,
        local: sa.local,
        remote: sa.remote,
        selector: sa.selector.to_string(),
        authenticates: sa.authenticates(),
    })
}

fn remove(plane: &mut Shard, sa: &Installed) {
    plane.remove(sa.id);
    match sa.rule {
        Place::Inside(rule) => {
            plane.remove_inside(rule);
        }
        Place::Outside(rule) => {
            plane.remove_outside(rule);
        }
    }
}

fn print(salt: &[u8; 32], sa: &SaSpec) -> Print {
    let mut hash = Sha256::new();
    hash.update(salt);
    // Each with its length, so that no two SAs read the same. `Debug` of a secret shows nothing of it.
    let said = format!(
        "{:?}",
        (
            (&sa.name, sa.spi, sa.direction, sa.protocol, sa.mode, sa.local, sa.remote, &sa.selector),
            (
                sa.cipher.name,
                sa.auth.name,
                sa.key_use,
                sa.esn,
                sa.replay_window,
                sa.first_sequence,
                &sa.lifetime
            ),
        )
    );
    for part in [said.as_bytes(), sa.key.as_bytes(), sa.auth_key.as_bytes()] {
        hash.update((part.len() as u64).to_le_bytes());
        hash.update(part);
    }
    hash.finalize().into()
}

/// Priorities for rules in order, of which some have theirs. These stay as they are, unless they are in another order
/// or there is no room left between them: then all are new.
fn priorities(kept: &[Option<u32>]) -> Vec<u32> {
    between(kept).unwrap_or_else(|| {
        // Of more rules than numbers the last ones are equal; memory is full before.
        let count = u32::try_from(kept.len()).unwrap_or(u32::MAX);
        let stride = STRIDE.min(u32::MAX / count.max(1));
        (1..=kept.len()).map(|at| u32::try_from(at).unwrap_or(u32::MAX).saturating_mul(stride)).collect()
    })
}

fn between(kept: &[Option<u32>]) -> Option<Vec<u32>> {
    let mut all = Vec::with_capacity(kept.len());
    let mut last = 0_u32;
    let mut at = 0;
    while let Some(first) = kept.get(at) {
        if let Some(priority) = first {
            if *priority <= last {
                return None;
            }
            (last, at) = (*priority, at + 1);
            all.push(last);
            continue;
        }
        let count = kept[at..].iter().take_while(|priority| priority.is_none()).count();
        let next = kept.get(at + count).copied().flatten();
        let step = match next {
            Some(next) => next.checked_sub(last)? / u32::try_from(count + 1).ok()?,
            None => STRIDE,
        };
        if step == 0 {
            return None;
        }
        for _ in 0..count {
            last = last.checked_add(step)?;
            all.push(last);
        }
        at += count;
    }
    Some(all)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn priorities_rise_and_those_there_are_stay_while_there_is_room() {
        assert_eq!(priorities(&[None, None]), [STRIDE, 2 * STRIDE]);
        assert_eq!(priorities(&[Some(8), None, None, Some(20)]), [8, 12, 16, 20]);
        assert_eq!(priorities(&[None, Some(4), None]), [2, 4, 4 + STRIDE]);
        assert_eq!(priorities(&[Some(8), Some(4)]), [STRIDE, 2 * STRIDE]);
        assert_eq!(priorities(&[Some(8), None, Some(9)]), [STRIDE, 2 * STRIDE, 3 * STRIDE]);
        assert_eq!(priorities(&[Some(u32::MAX), None]), [STRIDE, 2 * STRIDE]);
        assert!(priorities(&[]).is_empty());
    }
}
