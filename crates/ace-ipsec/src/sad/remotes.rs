// SPDX-License-Identifier: Apache-2.0
//! What went to and came from each other end, whichever SAs it was by: SAs come and go, and totals go on.

use std::collections::{HashMap, VecDeque};
use std::net::IpAddr;

use super::association::Association;
use crate::counters::{Drops, Traffic};
use crate::model::{Direction, Time};

/// Other ends whose SAs are gone and are remembered; then the one that was seen first makes room.
const MOST: usize = 1 << 14;

/// One other end.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Remote {
    /// ESP and AH to it.
    pub sent: Traffic,
    /// Clear packets behind its ESP and AH.
    pub received: Traffic,
    /// What its SAs dropped.
    pub dropped: Drops,
    /// Outbound SAs that can carry something.
    pub outbound: usize,
    /// Inbound ones.
    pub inbound: usize,
    /// When its last authentic packet came.
    pub authenticated: Option<Time>,
}

impl Remote {
    pub(super) fn add(&mut self, sa: &Association, in_use: bool) {
        let status = usize::from(in_use && sa.is_usable());
        match sa.fixed.direction {
            Direction::Out => {
                self.sent += sa.counters.forwarded;
                self.outbound += status;
            }
            Direction::In => {
                self.received += sa.counters.forwarded;
                self.inbound += status;
            }
        }
        self.dropped += &sa.counters.dropped;
        self.authenticated = self.authenticated.max(sa.authenticated());
    }

    /// What another core has of the same end.
    pub fn join(&mut self, other: &Self) {
        self.sent += other.sent;
        self.received += other.received;
        self.dropped += &other.dropped;
        self.outbound += other.outbound;
        self.inbound += other.inbound;
        self.authenticated = self.authenticated.max(other.authenticated);
    }
}

/// Of SAs that are no more.
#[derive(Debug, Default)]
pub(super) struct Remotes {
    all: HashMap<IpAddr, Remote>,
    order: VecDeque<IpAddr>,
}

impl Remotes {
    pub fn leave(&mut self, sa: &Association) {
        if !self.all.contains_key(&sa.remote) {
            if self.order.len() >= MOST
                && let Some(first) = self.order.pop_front()
            {
                self.all.remove(&first);
            }
            self.order.push_back(sa.remote);
        }
        self.all.entry(sa.remote).or_default().add(sa, false);
    }

    pub fn totals(&self) -> HashMap<IpAddr, Remote> {
        self.all.clone()
    }
}
