// SPDX-License-Identifier: Apache-2.0
//! Why a gateway does not begin or does not go on.

use std::path::PathBuf;

use ace_config::SaFileErrors;
use thiserror::Error;

use crate::core::CoreError;
use crate::firewall::FirewallError;
use crate::io::broken::Broken;
use crate::io::setup::SetupError;
use crate::keys::StorageError;
use crate::standby::PairError;

/// Why a gateway does not begin or go on, with what to do about it.
#[derive(Debug, Error)]
pub enum GatewayError {
    /// A file cannot be read.
    #[error("cannot read {path}: {why}")]
    Read {
        /// The file.
        path: PathBuf,
        /// What the system says.
        why: std::io::Error,
    },
    /// The keys in a file are no secret.
    #[error(
        "others may read or write the keys in {path} (mode {mode:03o}); `chmod o=,g-w {path}` mends that, and new keys if \
         somebody did; --allow-open-keys takes them as they are"
    )]
    OpenKeys {
        /// The file.
        path: PathBuf,
        /// Its permissions.
        mode: u32,
    },
    /// The configuration or the SA file is wrong; the message names file and line.
    #[error(transparent)]
    Text(#[from] SaFileErrors),
    /// The SA file is right, and this gateway cannot carry its SAs.
    #[error("{path}: {why}")]
    Sas {
        /// The SA file.
        path: PathBuf,
        /// Which SA, and why not.
        why: CoreError,
    },
    #[error(
        "the route {route} leads into the gateway and {end}, where its own packets go, is within it: they would go \
         round in circles; leave {end} out of `routes`"
    )]
    /// The gateway's own packets would be routed into it.
    Circle {
        /// The entry of `routes`.
        route: String,
        /// The address that the entry must leave out.
        end: std::net::IpAddr,
    },
    /// The system refuses a device, a socket or a port.
    #[error("cannot open {what}: {why}{remedy}")]
    Open {
        /// What was to be opened, in words.
        what: String,
        /// What the system says.
        why: std::io::Error,
        /// What to do about it, as the end of the sentence; may be empty.
        remedy: &'static str,
    },
    /// What comes in clear and is covered by a rule would reach the inside.
    #[error(
        "clear packets that rules cover cannot be kept out: {0}; this needs CAP_NET_ADMIN and a kernel with nf_tables; \
         `firewall = false` in [outside] goes without, and then the host's own rules have to drop them"
    )]
    Firewall(FirewallError),
    /// The memory of keys is not to be had.
    #[error(transparent)]
    State(#[from] StorageError),
    /// The other gateway of a pair.
    #[error(transparent)]
    Pair(#[from] PairError),
    /// The system refuses something else that has to be done first.
    #[error(transparent)]
    Setup(#[from] SetupError),
    /// Packets would leave in clear.
    #[error("a gateway answers at {0}; stop it first")]
    Runs(PathBuf),
    /// A device or a socket is gone, or fails for good, while packets flow.
    #[error(transparent)]
    Broken(#[from] Broken),
    /// What keeps clear packets from coming in does not work any more, while packets flow.
    #[error("{0}; its rules stay; start the gateway anew")]
    Unwalled(FirewallError),
    /// What keeps packets from leaving in clear was taken away while packets flow.
    #[error(
        "somebody took away what keeps packets from leaving in clear: {missing}; it is not put back: {why}; start the \
         gateway anew, which makes all of it again"
    )]
    Unguarded {
        /// Devices, routes and rules.
        missing: String,
        /// Why the gateway does not put it back.
        why: String,
    },
}

impl GatewayError {
    /// Whether this one of a pair was to begin, and has to wait instead.
    pub fn has_to_wait(&self) -> bool {
        matches!(self, Self::Pair(why) if why.has_to_wait())
    }

    /// Whether packets flowed before: the gateway began, and something ended it.
    pub fn is_later(&self) -> bool {
        match self {
            Self::Broken(_) | Self::Unwalled(_) | Self::Unguarded { .. } => true,
            Self::Pair(why) => why.is_later(),
            _ => false,
        }
    }
}
