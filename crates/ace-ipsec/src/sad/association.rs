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
use crate::model::{
    AuthSuite, Direction, Flow, Headers, Lifetime, Match, Protocol, SaMode, SaSpec, Selector, SpecError, Time,
};
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
    pub headers: Headers,
    pub auth: &'static AuthSuite,
    pub transform: Transform,
    pub if_id: u32,
    pub output_mark: u32,
    first_sequence: u64,
}

#[derive(Debug)]
pub enum Half {
    Out(Outbound),
    In(Inbound),
}

impl Half {
    /// Outbound: what is known of the way to the other end.
    #[inline]
    pub fn path_mtu(&self, now: Time) -> Option<u16> {
        match self {
            Self::Out(half) => half.path_mtu(now),
            Self::In(_) => None,
        }
    }
}

#[derive(Debug)]
pub struct Association {
    pub name: String,
    pub fixed: Arc<Fixed>,
    pub local: IpAddr,
    pub remote: IpAddr,
    /// The SA's own selector, where rules and policies have theirs besides: both have to fit.
    pub own: Option<Selector>,
    /// Inbound: a packet that comes out of it has to fit one of them (RFC 4301, 4.4.1.1).
    pub selectors: Vec<Selector>,
    pub half: Half,
    /// Outbound: what sends packets here.
    pub rules: Vec<RuleId<Inside>>,
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
    own: Option<Selector>,
    selectors: Vec<Selector>,
    shared: Arc<Shared>,
}

/// What may change while an SA is in use; keys and numbers may not.
#[derive(Clone, Debug, Default)]
pub struct Update {
    /// Packets for which the SA stands from now on.
    pub selector: Option<Selector>,
    /// Limits from now on; what the SA has carried before counts.
    pub lifetime: Option<Lifetime>,
    /// Bytes and packets that count as carried from now on.
    pub carried: Option<(u64, u64)>,
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
            headers: spec.headers,
            auth: spec.auth,
            transform,
            if_id: spec.if_id,
            output_mark: spec.output_mark,
            first_sequence: spec.first_sequence,
        };
        Ok(Self {
            name: spec.name.clone(),
            fixed: Arc::new(fixed),
            local: spec.local,
            remote: spec.remote,
            own: None,
            selectors: vec![spec.selector.clone()],
            half,
            rules: rule.into_iter().collect(),
            counters: SaCounters::default(),
            queue: Restorer::default(),
            leaving: false,
        })
    }

    /// What a packet has to fit is said elsewhere; the selector that it has now holds besides.
    pub fn apart(mut self) -> Self {
        self.own = self.selectors.pop().filter(|own| *own != Selector::default());
        self.selectors.clear();
        self
    }

    /// As another core has it.
    pub fn of_share(share: Share, rule: RuleId<Inside>) -> Self {
        let Share { name, fixed, local, remote, own, selectors, shared } = share;
        let half = Half::Out(Outbound::new(shared, fixed.first_sequence));
        let (counters, queue, rules) = (SaCounters::default(), Restorer::default(), vec![rule]);
        Self { name, fixed, local, remote, own, selectors, half, rules, counters, queue, leaving: false }
    }

    /// `None` for an inbound SA: its window has one owner.
    pub fn share(&self) -> Option<Share> {
        let Half::Out(out) = &self.half else { return None };
        let (fixed, shared) = (Arc::clone(&self.fixed), Arc::clone(&out.shared));
        let (name, own, selectors) = (self.name.clone(), self.own.clone(), self.selectors.clone());
        Some(Share { name, fixed, local: self.local, remote: self.remote, own, selectors, shared })
    }

    /// Whether its own selector lets a packet through.
    #[inline]
    pub fn owns(&self, flow: &Flow) -> bool {
        self.own.as_ref().is_none_or(|own| own.matches(flow) == Match::Yes)
    }

    /// Whether a packet may come out of it (RFC 4301, 5.2).
    #[inline]
    pub fn lets_in(&self, flow: &Flow) -> bool {
        self.owns(flow) && self.selectors.iter().any(|selector| selector.matches(flow) == Match::Yes)
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
            self.selectors = vec![selector];
        }
        if let Some((bytes, packets)) = update.carried {
            self.usage().carried(bytes, packets);
        }
        Ok(())
    }

    pub fn advance(&mut self, sequence: u64) -> Result<(), SadError> {
        let last = if self.fixed.esn { u64::MAX } else { u64::from(u32::MAX) };
        let done = sequence <= last
            && match &mut self.half {
                Half::Out(half) => half.advance(sequence),
                Half::In(half) => half.advance(sequence),
            };
        if done { Ok(()) } else { Err(SadError::Sequence) }
    }

    pub fn was_received(&self, sequence: u64) -> bool {
        matches!(&self.half, Half::In(half) if half.was_received(sequence))
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

    fn times(&self) -> SaTimes {
        let usage = self.usage();
        let (soft_end, hard_end) = usage.ends();
        SaTimes { installed: usage.installed(), soft_end, hard_end, authenticated: self.authenticated() }
    }

    /// When its last authentic packet came.
    pub fn authenticated(&self) -> Option<Time> {
        match &self.half {
            Half::Out(_) => None,
            Half::In(half) => half.authenticated,
        }
    }

    /// Whether it can carry anything more.
    pub fn is_usable(&self) -> bool {
        !self.usage().hard_over() && !matches!(&self.half, Half::Out(half) if half.exhausted())
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
            if_id: self.fixed.if_id,
            replay_window,
            sequence,
            exhausted,
            soft_lifetime_over: self.usage().soft_over(),
            hard_lifetime_over: self.usage().hard_over(),
            counters: self.counters.clone(),
            times: self.times(),
        }
    }
}

/// When things happened to an SA, and will.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SaTimes {
    /// It was installed.
    pub installed: Time,
    /// The clock reaches its soft limit. `None`: never, or not before a first packet.
    pub soft_end: Option<Time>,
    /// The clock reaches its hard limit. `None`: never, or not before a first packet.
    pub hard_end: Option<Time>,
    /// Inbound: its last authentic packet came. `None`: none did, or it does not authenticate.
    pub authenticated: Option<Time>,
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
    /// The interface inside; 0: the one without a number.
    pub if_id: u32,
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
    /// When, by the caller's clock, which nobody else reads.
    #[serde(skip)]
    pub times: SaTimes,
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
