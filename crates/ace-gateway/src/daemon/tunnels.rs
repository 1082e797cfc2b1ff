// SPDX-License-Identifier: Apache-2.0
//! How it stands with each other end, and what the clock on the wall says.

use std::collections::BTreeMap;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use ace_ipsec::Remote;

use super::{Daemon, load};
use crate::core::PeerStatus;
use crate::status::{Clock, Peer};

/// A clock on the wall that is put forward or back by less than that leaves what was said of times as it is.
const STEP: f64 = 1.0;

impl Daemon {
    /// The other ends with all that is known of them, and how many rules have no SA.
    pub(super) fn peers(&self, now: Duration, endpoints: &[PeerStatus]) -> (Vec<Peer>, usize) {
        let clock = self.clock(now);
        let (remotes, wanted, unserved) = self.front.remotes();
        let of = |(address, remote): (_, &Remote)| (address, Peer::of(address, remote, clock));
        let mut all: BTreeMap<_, Peer> =
            remotes.iter().map(|(address, remote)| of((*address, remote))).collect();
        let named = self.config.peers.iter().map(|peer| peer.address);
        let with_endpoint = endpoints.iter().map(|peer| peer.address);
        for address in named.chain(wanted).chain(with_endpoint) {
            all.entry(address).or_insert_with(|| of((address, &Remote::default())).1);
        }
        for PeerStatus { address, endpoint, roaming } in endpoints {
            if let Some(peer) = all.get_mut(address) {
                (peer.endpoint, peer.roaming) = (Some(*endpoint), *roaming);
            }
        }
        for (address, check) in self.front.checks() {
            if let Some(peer) = all.get_mut(&address) {
                peer.check = Some(check.on(clock));
            }
        }
        (all.into_values().collect(), unserved)
    }

    /// The gateway's clock and that on the wall. The latter may be put right while the gateway runs.
    pub(super) fn clock(&self, now: Duration) -> Clock {
        let wall = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        let began = Clock(wall.as_secs_f64() - now.as_secs_f64());
        if (began.0 - self.began.get().0).abs() > STEP {
            self.began.set(Clock(began.at(Duration::ZERO)));
        }
        self.began.get()
    }

    /// Whether others may read or write the keys now.
    pub(super) fn open_keys(&self) -> Option<String> {
        let path = self.config.sas.as_ref()?;
        let mode = load::open_mode(&std::fs::metadata(path).ok()?)?;
        Some(format!("{} (mode {mode:03o})", path.display()))
    }
}
