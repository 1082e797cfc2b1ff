// SPDX-License-Identifier: Apache-2.0
//! A second gateway that has a copy of the state file and takes over (docs/gateway-operation.md, "A standby").
//!
//! What is written ahead is written twice: what a gateway may use, its standby has, on its disk, before it is used
//! ([`mirror`]). Whoever takes over gives the other one no leave any more ([`replica`]) and begins behind all that it gave. So
//! two that both believe that they count use no number twice.

mod active;
mod channel;
mod message;
mod mirror;
mod replica;
mod waiting;

use std::net::SocketAddr;
use std::path::Path;
use std::time::Duration;

use ace_config::gateway::{GatewayConfig, Standby};
use thiserror::Error;

use crate::keys::StorageError;
use crate::keys::state::State;

pub use active::Active;
use channel::{Caller, KeyFileError, Server, SharedKey};
pub(crate) use mirror::Mirror;
pub use mirror::NotAttached;
pub use waiting::{Waited, wait};
#[cfg(test)]
pub(crate) use {
    message::{Reply, Request},
    mirror::Link,
    replica::Replica,
};

/// Why a gateway with a standby, or a standby, does not begin or does not go on.
#[derive(Debug, Error)]
pub enum PairError {
    /// There is no [standby].
    #[error("the configuration {0} has no section [standby]; docs/gateway-operation.md, \"A standby\"")]
    None(String),
    /// The key of both.
    #[error(transparent)]
    Key(#[from] KeyFileError),
    /// Our own state file.
    #[error(transparent)]
    State(#[from] StorageError),
    /// Somebody else listens, or the address is another machine's.
    #[error(
        "cannot listen at {at} for the other gateway: {why}; another program may, or `listen` of [standby] is no address of this \
         machine"
    )]
    Listen {
        /// Where.
        at: SocketAddr,
        /// What the system says.
        why: std::io::Error,
    },
    /// The other one has taken over.
    #[error(
        "the gateway at {peer} has taken over (number {term}) and counts under these keys: this one would use numbers again; \
         `ace gateway standby CONFIG` makes it the other one's standby"
    )]
    TakenOver {
        /// Where it is.
        peer: SocketAddr,
        /// How often that was done.
        term: u64,
        /// This one counted until it heard of it.
        later: bool,
    },
    /// Neither of two is the other one's standby.
    #[error(
        "the gateway at {peer} counts under the same keys (take-over number {term}), and so would this one: stop it and start it \
         with `ace gateway standby CONFIG`, or this one"
    )]
    Both {
        /// Where it is.
        peer: SocketAddr,
        /// How often its keys were taken over.
        term: u64,
    },
    /// It would be one more gateway, and none of a pair.
    #[error(
        "the state file is new, and the standby at {peer} is not attached: {why}; begin with `ace gateway standby CONFIG` there"
    )]
    First {
        /// Where it is.
        peer: SocketAddr,
        /// Why it is not.
        why: NotAttached,
    },
    /// It does not want to be this one's.
    #[error("the standby at {peer}: {why}")]
    Unfit {
        /// Where it is.
        peer: SocketAddr,
        /// Why not.
        why: NotAttached,
    },
}

impl PairError {
    /// Whether packets flowed before.
    pub fn is_later(&self) -> bool {
        matches!(self, Self::TakenOver { later: true, .. })
    }

    /// Whether this one was to begin, and has to wait instead.
    pub fn has_to_wait(&self) -> bool {
        matches!(self, Self::TakenOver { later: false, .. })
    }
}

/// An answer, and being reached, may take so long.
fn patience(of: &Standby) -> Duration {
    Duration::from_secs(of.wait.into()) / 2
}

fn call(of: &Standby, key: &SharedKey) -> Result<Box<Caller>, NotAttached> {
    Ok(Box::new(Caller::connect(of.peer, key, patience(of))?))
}

fn listen(of: &Standby, key: &SharedKey) -> Result<Server, PairError> {
    Server::bind(of.listen, key.clone()).map_err(|why| PairError::Listen { at: of.listen, why })
}

fn section<'a>(config: &'a GatewayConfig, name: &Path) -> Result<&'a Standby, PairError> {
    config.standby.as_ref().ok_or_else(|| PairError::None(name.display().to_string()))
}

/// Gives the keys of a gateway that is stopped to its standby, which takes over.
///
/// # Errors
/// [`PairError`]: this one may be ended all the same, and it can be said again.
pub fn hand_over(config: &GatewayConfig, name: &Path) -> Result<(), PairError> {
    let of = section(config, name)?;
    let key = SharedKey::read(&of.key)?;
    let state = State::open(config.state.as_deref().unwrap_or(Path::new("gateway.state")))?;
    if matches!(state.role.phase, crate::keys::role::Phase::Standby { .. }) {
        state.may_count()?;
    }
    let (mirror, _) = Mirror::new(state);
    let done = call(of, &key).and_then(|link| mirror.hand_over(link));
    done.map_err(|why| PairError::Unfit { peer: of.peer, why })
}

#[cfg(test)]
mod tests;
