// SPDX-License-Identifier: Apache-2.0
//! One SA with its state.

use std::net::IpAddr;
use std::sync::Arc;

use serde::Serialize;

use super::grant::Grant;
use super::inbound::Inbound;
use super::outbound::{Outbound, Shared};
use super::usage::{Charge, Usage};
use super::{Notice, SadError, notice};
use crate::counters::SaCounters;
use crate::exit::Exit;
use crate::id::{RuleId, SaId};
use crate::model::{AuthSuite, Direction, Lifetime, Protocol, SaMode, SaSpec, Selector, SpecError, Time};
use crate::packet::transform::Transform;
use crate::restore::Restorer;
use crate::side::Inside;

/// What no packet and no update changes.
#[derive(Debug)]
pub struct Fixed {
    pub spi: u32,
    pub direction: Direction,
    pub protocol: Protocol,
    pub mode: SaMode,
    pub esn: bool,
    pub auth: &'static AuthSuite,
    pub transform: Transform,
    first_sequence: u64,
}

#[derive(Debug)]
pub enum Half {
    Out(Outbound),
    In(Inbound),
}

#[derive(Debug)]
pub struct Association {
    pub name: String,
    pub fixed: Arc<Fixed>,
    pub local: IpAddr,
    pub remote: IpAddr,
    pub selector: Selector,
    pub half: Half,
    /// Outbound: what sends packets here.
    pub rule: Option<RuleId<Inside>>,
    pub counters: SaCounters,
    /// Packets under way.
    pub queue: Restorer<Exit>,
    /// Removed, with packets under way.
    pub leaving: bool,
}

/// A share in an outbound SA for another core: keys, sequence numbers and lifetime are one.
#[derive(Clone, Debug)]
pub struct Share {
    name: String,
    fixed: Arc<Fixed>,
    local: IpAddr,
    remote: IpAddr,
    selector: Selector,
    shared: Arc<Shared>,
}

/// What may change while an SA is in use; keys and numbers may not.
#[derive(Clone, Debug, Default)]
pub struct Update {
    /// Packets for which the SA stands from now on.
    pub selector: Option<Selector>,
    /// Limits from now on; what the SA has carried before counts.
    pub lifetime: Option<Lifetime>,
}

/// What people may change of an SA without its being another one.
#[derive(Clone, Debug)]
pub struct Edit {
    /// For people.
    pub name: String,
    /// Packets for which the SA and its rule stand from now on.
    pub selector: Selector,
    /// Limits from now on; what the SA has carried before counts.
    pub lifetime: Lifetime,
}

impl Association {
    pub fn new(
        spec: &SaSpec,
        rule: Option<RuleId<Inside>>,
        now: Time,
        grant: Grant,
    ) -> Result<Self, SpecError> {
        spec.check()?;
        let transform =
            Transform::new(spec.cipher, spec.key.as_bytes(), spec.auth, spec.auth_key.as_bytes())?;
        let half = match spec.direction {
            Direction::Out => {
                Half::Out(Outbound::new(Arc::new(Shared::new(spec, now, grant)), spec.first_sequence))
            }
            Direction::In => Half::In(Inbound::new(spec, now, grant)),
        };
        let fixed = Fixed {
            spi: spec.spi,
            direction: spec.direction,
            protocol: spec.protocol,
            mode: spec.mode,
            esn: spec.esn,
            auth: spec.auth,
            transform,
            first_sequence: spec.first_sequence,
        };
        let (local, remote) = (spec.local, spec.remote);
        Ok(Self::assemble(
            spec.name.clone(),
            Arc::new(fixed),
            (local, remote),
            spec.selector.clone(),
            half,
            rule,
        ))
    }

    fn assemble(
        name: String,
        fixed: Arc<Fixed>,
        (local, remote): (IpAddr, IpAddr),
        selector: Selector,
        half: Half,
        rule: Option<RuleId<Inside>>,
    ) -> Self {
        let (counters, queue) = (SaCounters::default(), Restorer::default());
        Self { name, fixed, local, remote, selector, half, rule, counters, queue, leaving: false }
    }

    /// As another core has it.
    pub fn of_share(share: Share, rule: RuleId<Inside>) -> Self {
        let Share { name, fixed, local, remote, selector, shared } = share;
        let half = Half::Out(Outbound::new(shared, fixed.first_sequence));
        Self::assemble(name, fixed, (local, remote), selector, half, Some(rule))
    }

    /// `None` for an inbound SA: its window has one owner.
    pub fn share(&self) -> Option<Share> {
        let Half::Out(out) = &self.half else { return None };
        let (fixed, shared) = (Arc::clone(&self.fixed), Arc::clone(&out.shared));
        let (name, selector) = (self.name.clone(), self.selector.clone());
        Some(Share { name, fixed, local: self.local, remote: self.remote, selector, shared })
    }

    pub fn update(&mut self, update: Update) -> Result<(), SadError> {
        if let Some(lifetime) = update.lifetime {
            match &mut self.half {
                Half::In(half) => half.usage.relimit(lifetime),
                Half::Out(half) => {
                    let shared = Arc::get_mut(&mut half.shared).ok_or(SadError::Shared)?;
                    shared.usage.relimit(lifetime);
                }
            }
        }
        if let Some(selector) = update.selector {
            self.selector = selector;
        }
        Ok(())
    }

    pub fn usage(&self) -> &Usage {
        match &self.half {
            Half::Out(half) => &half.shared.usage,
            Half::In(half) => &half.usage,
        }
    }

    /// What the clock does to the lifetime.
    pub fn expire(&self, now: Time, mut report: impl FnMut(Notice)) {
        let charge: Charge = self.usage().expire(now);
        notice(charge, &mut report);
    }

    pub fn status(&self, id: SaId) -> SaStatus {
        let (sequence, exhausted, replay_window) = match &self.half {
            Half::Out(half) => (half.sent, half.exhausted(), 0),
            Half::In(half) => (half.top(), false, half.window_size()),
        };
        SaStatus {
            id,
            name: self.name.clone(),
            spi: self.fixed.spi,
            direction: self.fixed.direction,
            protocol: self.fixed.protocol,
            mode: self.fixed.mode,
            cipher: self.fixed.transform.cipher.name,
            auth: self.fixed.auth.name,
            esn: self.fixed.esn,
            replay_window,
            sequence,
            exhausted,
            soft_lifetime_over: self.usage().soft_over(),
            hard_lifetime_over: self.usage().hard_over(),
            counters: self.counters.clone(),
        }
    }
}

/// One SA as it stands.
#[derive(Clone, Debug, Serialize)]
pub struct SaStatus {
    /// The handle that [`Shard`](crate::Shard) gave at installation.
    pub id: SaId,
    /// The name that the SA was installed with.
    pub name: String,
    /// The Security Parameters Index in the packets.
    pub spi: u32,
    /// Whether the SA protects packets or takes their protection off.
    pub direction: Direction,
    /// Which header its packets have.
    pub protocol: Protocol,
    /// What the SA encloses.
    pub mode: SaMode,
    /// As in the SA file.
    pub cipher: &'static str,
    /// As in the SA file.
    pub auth: &'static str,
    /// Whether sequence numbers have 64 bits.
    pub esn: bool,
    /// In packets; 0 for outbound SAs and when replays are not detected.
    pub replay_window: u32,
    /// Outbound: the last number sent; inbound: the highest authenticated one.
    pub sequence: u64,
    /// Outbound: that was the last number there is.
    pub exhausted: bool,
    /// A soft limit was reached: it is time for a successor.
    pub soft_lifetime_over: bool,
    /// A hard limit was reached: the SA carries nothing any more.
    pub hard_lifetime_over: bool,
    /// What the SA carried and dropped since it was installed.
    pub counters: SaCounters,
}

impl SaStatus {
    /// Cipher and authentication, without what is none.
    pub fn suite(&self) -> String {
        match (self.protocol, self.cipher, self.auth) {
            (Protocol::Ah, _, auth) => format!("ah {auth}"),
            (Protocol::Esp, cipher, "none") if cipher != "null" => cipher.to_owned(),
            (Protocol::Esp, cipher, auth) => format!("{cipher} + {auth}"),
        }
    }
}
