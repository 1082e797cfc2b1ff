// SPDX-License-Identifier: Apache-2.0
//! The SAs that a file wants, made ready by whoever reads it, so that the thread with the packets compares alone.

use std::collections::HashSet;
use std::net::IpAddr;
use std::sync::Arc;

use ace_config::SaFile;
use ace_engine::Secret;
use ace_ipsec::{Direction, Policy, Protocol, SaSpec};

use super::prints::{Prints, Salt};
use super::{Can, CoreError};

/// SAs as they are to be.
#[derive(Debug)]
pub struct Wanted {
    /// What becomes of packets for which there is no SA.
    pub policy: Policy,
    /// In the order of the file.
    pub sas: Vec<WantedSa>,
    /// The other ends of what leaves, each once, in the order of the file.
    pub remotes: Vec<IpAddr>,
}

/// One of them.
#[derive(Debug)]
pub struct WantedSa {
    /// All but its keys.
    pub known: Arc<Known>,
    /// With its keys, unless it is in the file as it was before.
    pub spec: Option<Box<SaSpec>>,
    /// Those of `known`: ten thousand are compared one behind the other.
    pub(super) prints: Prints,
}

/// What is remembered of an SA of a file.
#[derive(Debug)]
pub struct Known {
    /// Without keys.
    pub spec: SaSpec,
    pub(crate) prints: Prints,
}

impl WantedSa {
    /// One whose keys are at hand.
    pub fn new(salt: &Salt, spec: SaSpec) -> Self {
        let prints = Prints::of(salt, &spec);
        let keyless = SaSpec {
            key: Secret::default(),
            auth_key: Secret::default(),
            name: spec.name.clone(),
            selector: spec.selector.clone(),
            ..spec
        };
        Self { prints, spec: Some(Box::new(spec)), known: Arc::new(Known { spec: keyless, prints }) }
    }

    /// One that is in the file as it was before.
    pub fn again(known: &Arc<Known>) -> Self {
        Self { known: Arc::clone(known), spec: None, prints: known.prints }
    }
}

impl Wanted {
    /// Everything that is in a file.
    pub fn new(salt: &Salt, file: SaFile) -> Self {
        let policy = file.default_policy();
        Self::of_all(policy, file.into_sas().into_iter().map(|sa| WantedSa::new(salt, sa)).collect())
    }

    /// These.
    pub fn of_all(policy: Policy, sas: Vec<WantedSa>) -> Self {
        let mut seen = HashSet::new();
        let outbound = sas.iter().map(|sa| &sa.known.spec).filter(|sa| sa.direction == Direction::Out);
        let remotes = outbound.map(|sa| sa.remote).filter(|remote| seen.insert(*remote)).collect();
        Self { policy, sas, remotes }
    }

    /// Without their keys.
    pub fn specs(&self) -> impl Iterator<Item = &SaSpec> {
        self.sas.iter().map(|sa| &sa.known.spec)
    }

    /// What a gateway can do.
    ///
    /// # Errors
    /// [`CoreError`], of the first that cannot be.
    pub fn check(&self, can: &Can) -> Result<(), CoreError> {
        if self.policy == Policy::Bypass {
            return Err(CoreError::Bypass);
        }
        let Can { udp, interfaces, marks } = can;
        let udp = *udp;
        let mut spis = HashSet::new();
        for sa in self.specs() {
            let name = || sa.name.clone();
            if udp && sa.protocol == Protocol::Ah {
                return Err(CoreError::AhInUdp(name()));
            }
            if !udp && sa.local.is_ipv6() {
                return Err(CoreError::RawIpv6(name()));
            }
            if !interfaces.has(sa.if_id) {
                return Err(CoreError::NoInterface { name: name(), if_id: sa.if_id });
            }
            if sa.output_mark != 0 && !marks {
                return Err(CoreError::Marks(name()));
            }
            if udp && sa.direction == Direction::In && !spis.insert(sa.spi) {
                return Err(CoreError::SameSpi { name: name(), spi: sa.spi });
            }
        }
        Ok(())
    }
}

#[cfg(test)]
impl Wanted {
    /// Of a file's text, as one reader would have it each time.
    pub fn of(text: &str) -> Self {
        use std::sync::LazyLock;
        static SALT: LazyLock<Salt> = LazyLock::new(|| Salt::new().unwrap());
        Self::new(&SALT, SaFile::parse("sas.toml", text).unwrap())
    }
}
