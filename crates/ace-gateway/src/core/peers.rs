// SPDX-License-Identifier: Apache-2.0
//! Where the other ends of SAs are, with UDP: endpoints that move, and keepalives.

use std::collections::BTreeMap;
use std::net::{IpAddr, SocketAddr};
use std::time::Duration;

use ace_config::gateway::Peer;
use serde::{Deserialize, Serialize};

use super::boundary::Settings;

#[derive(Clone, Copy, Debug)]
struct State {
    endpoint: SocketAddr,
    roaming: bool,
    /// Where the last authentic packet with the highest number came from, if that is elsewhere.
    heard: Option<SocketAddr>,
    /// Something was sent there last.
    last: Duration,
}

pub struct Peers {
    named: Vec<Peer>,
    port: u16,
    keepalive: Option<Duration>,
    states: BTreeMap<IpAddr, State>,
    /// Before this no keepalive is due: whoever sends only puts it off. There may be ten thousand peers, and every turn
    /// of the gateway asks.
    next: Option<Duration>,
}

/// One peer as it stands.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PeerStatus {
    /// `remote` of the SAs with this peer.
    pub address: IpAddr,
    /// Where packets for it go now.
    pub endpoint: SocketAddr,
    /// Whether authentic packets from elsewhere move the endpoint: two in a row, each the newest of its SA.
    pub roaming: bool,
}

impl Peers {
    pub fn new(settings: Settings) -> Self {
        let Settings { peers: named, port, keepalive, .. } = settings;
        Self { named, port, keepalive, states: BTreeMap::new(), next: None }
    }

    /// Peers are the remote ends of outbound SAs; those that were there before stay where they are.
    pub fn keep(&mut self, remotes: impl Iterator<Item = IpAddr>, now: Duration) {
        let mut old = std::mem::take(&mut self.states);
        for remote in remotes {
            let state = old.remove(&remote).unwrap_or_else(|| self.at_first(remote, None, now));
            self.states.entry(remote).or_insert(state);
        }
        self.next = self.earliest();
    }

    /// When the first keepalive is due, were nothing sent until then.
    fn earliest(&self) -> Option<Duration> {
        let keepalive = self.keepalive?;
        Some(self.states.values().map(|state| state.last).min()? + keepalive)
    }

    fn at_first(&self, remote: IpAddr, port: Option<u16>, now: Duration) -> State {
        let named = self.named.iter().find(|peer| peer.address == remote);
        let unnamed = SocketAddr::new(remote, port.unwrap_or(self.port));
        let endpoint = named.map_or(unnamed, |peer| peer.endpoint);
        State { endpoint, roaming: named.is_none_or(|peer| peer.roaming), heard: None, last: now }
    }

    /// One more, which may say its port itself.
    pub fn add(&mut self, remote: IpAddr, port: Option<u16>, now: Duration) {
        let state = self.at_first(remote, port, now);
        self.states.entry(remote).or_insert(state);
        let due = self.keepalive.map(|keepalive| now + keepalive);
        self.next = [self.next, due].into_iter().flatten().min();
    }

    pub fn remove(&mut self, remote: IpAddr) {
        self.states.remove(&remote);
    }

    /// Where packets for a remote end go.
    pub fn endpoint(&self, remote: IpAddr) -> Option<SocketAddr> {
        self.states.get(&remote).map(|state| state.endpoint)
    }

    /// Where a packet for a remote end goes. It counts as sent.
    pub fn send(&mut self, remote: IpAddr, now: Duration) -> Option<SocketAddr> {
        let state = self.states.get_mut(&remote)?;
        state.last = now;
        Some(state.endpoint)
    }

    /// Whether it matters where a packet of a peer came from: the peer may move, and is elsewhere or was heard elsewhere.
    pub fn wonders(&self, remote: IpAddr, source: SocketAddr) -> bool {
        let open = |state: &State| state.roaming && (state.endpoint != source || state.heard.is_some());
        self.states.get(&remote).is_some_and(open)
    }

    /// An authentic packet with the highest number came from somewhere. The peer moves with the second one in a row: one
    /// alone may have been held back on its way and sent on by somebody else. If it moved, from where.
    pub fn hear(&mut self, remote: IpAddr, source: SocketAddr) -> Option<SocketAddr> {
        let state = self.states.get_mut(&remote).filter(|state| state.roaming)?;
        if state.endpoint == source {
            state.heard = None;
            return None;
        }
        if state.heard.replace(source) != Some(source) {
            return None;
        }
        state.heard = None;
        Some(std::mem::replace(&mut state.endpoint, source))
    }

    /// Somebody else heard it there twice.
    pub fn move_to(&mut self, remote: IpAddr, endpoint: SocketAddr) {
        if let Some(state) = self.states.get_mut(&remote).filter(|state| state.roaming) {
            state.endpoint = endpoint;
            state.heard = None;
        }
    }

    /// Endpoints to which nothing was sent for so long; the silence begins anew.
    pub fn due(&mut self, now: Duration) -> Vec<SocketAddr> {
        let Some(keepalive) = self.keepalive.filter(|_| self.next.is_some_and(|next| now >= next)) else {
            return Vec::new();
        };
        let late = self.states.values_mut().filter(|state| now.saturating_sub(state.last) >= keepalive);
        let due = late.map(|state| {
            state.last = now;
            state.endpoint
        });
        let due = due.collect();
        self.next = self.earliest();
        due
    }

    pub fn timeout(&self) -> Option<Duration> {
        self.next
    }

    pub fn status(&self) -> Vec<PeerStatus> {
        let one = |(address, state): (&IpAddr, &State)| PeerStatus {
            address: *address,
            endpoint: state.endpoint,
            roaming: state.roaming,
        };
        self.states.iter().map(one).collect()
    }
}
