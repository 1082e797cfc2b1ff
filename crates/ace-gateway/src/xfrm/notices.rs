// SPDX-License-Identifier: Apache-2.0
//! What is told without being asked: to whom listens to a group, as Linux tells it.

use std::collections::VecDeque;
use std::net::SocketAddr;
use std::time::Duration;

use ace_ipsec::Flow;
use ace_ipsec::{Inside, RuleId, SaId, Shard};

use super::shapes::{self, USERSA, USERSA_ID};
use super::wire::{self, Messages, Reply};
use super::{Xfrm, kind, told};

/// Groups, as bits of `nl_groups`: XFRMNLGRP_ACQUIRE and so on.
pub const GROUP_ACQUIRE: u32 = 1;
pub const GROUP_EXPIRE: u32 = 1 << 1;
pub const GROUP_SA: u32 = 1 << 2;
pub const GROUP_POLICY: u32 = 1 << 3;
pub const GROUP_AEVENTS: u32 = 1 << 4;
pub const GROUP_MAPPING: u32 = 1 << 7;

/// A message of the socket, not of its clients: the groups that somebody listens to. A no-op of netlink.
pub const LISTENED: u16 = 1;

/// Messages that wait; the socket takes them many times a second.
const MOST: usize = 1 << 14;
/// Before a packet asks again for an SA that has not come: as long as Linux remembers that it asked.
const ACQUIRE: Duration = Duration::from_secs(30);

#[derive(Default)]
pub struct Notices {
    /// To which somebody listens. Keys are in what is told of SAs: nothing is made for nobody.
    groups: u32,
    waiting: VecDeque<(u32, Messages)>,
    /// When packets of a rule may ask again.
    acquired: VecDeque<(Duration, RuleId<Inside>)>,
    count: u32,
}

impl Notices {
    pub fn listened(&mut self, groups: u32) {
        self.groups = groups;
    }

    /// Tells a group, if anybody listens.
    pub fn tell(&mut self, group: u32, message: impl FnOnce() -> Messages) {
        if self.groups & group != 0 && self.waiting.len() < MOST {
            self.waiting.push_back((group, message()));
        }
    }
}

impl Xfrm {
    /// The next message for everybody who asked for its group.
    pub fn notice(&mut self) -> Option<(u32, Messages)> {
        self.notices.waiting.pop_front()
    }

    /// A packet came for a rule without an SA. True if it is a policy's.
    pub fn acquire(&mut self, now: Duration, rule: RuleId<Inside>, flow: &Flow) -> bool {
        let Some(policy) = self.database.policy_of(rule) else { return false };
        self.notices.acquired.push_back((now.saturating_add(ACQUIRE), rule));
        self.notices.count = self.notices.count.wrapping_add(1).max(1);
        if let Some(message) = told::acquire(policy, flow, self.notices.count) {
            self.notices.tell(GROUP_ACQUIRE, || message);
        }
        true
    }

    /// The clock: packets may ask again.
    pub fn tick(&mut self, now: Duration, plane: &mut Shard) {
        while let Some((_, rule)) = self.notices.acquired.pop_front_if(|(due, _)| *due <= now) {
            plane.acquire_again(rule);
        }
    }

    /// The peer of an inbound SA is elsewhere.
    pub fn moved(&mut self, id: SaId, old: SocketAddr, new: SocketAddr) {
        let Some(key) = self.database.by_id.get(&id) else { return };
        if let Some(state) = self.database.states.get(key) {
            self.notices.tell(GROUP_MAPPING, || told::mapping(*key, state, old, new));
        }
    }
}

/// What a notice for [`GROUP_SA`] says of which SAs there are.
pub enum Note<'a> {
    /// There is one: its `xfrm_usersa_id` and its `xfrm_usersa_info`, which has no key.
    Is([u8; USERSA_ID], &'a [u8; USERSA]),
    Gone([u8; USERSA_ID]),
    /// All of a protocol are gone, of any one if it is 0.
    Flushed(u8),
}

/// The `xfrm_usersa_id` of an `xfrm_usersa_info`; `None` if these bytes are no SA.
pub fn id_of(info: &[u8; USERSA]) -> Option<[u8; USERSA_ID]> {
    shapes::sa_key(info).ok().map(shapes::usersa_id)
}

/// Reads a notice.
pub fn note(message: &[u8]) -> Option<Note<'_>> {
    let message = wire::messages(message).next()?;
    match message.kind {
        kind::NEWSA | kind::UPDSA => {
            let info = message.body.first_chunk()?;
            Some(Note::Is(id_of(info)?, info))
        }
        kind::DELSA => message.body.first_chunk().copied().map(Note::Gone),
        kind::FLUSHSA => {
            let proto = message.body.first()?;
            Some(Note::Flushed(if *proto == 255 { 0 } else { *proto }))
        }
        _ => None,
    }
}

/// That an SA is at its end, to be told of one that was there before this gateway. `None` if these bytes are no SA.
pub fn expired(info: &[u8; USERSA]) -> Option<Messages> {
    shapes::sa_key(info).and_then(|_| shapes::sa_source(info)).ok()?;
    let mut body = info.to_vec();
    body.extend_from_slice(&[1, 0, 0, 0, 0, 0, 0, 0]);
    Some(Reply::new(kind::EXPIRE, 0, 0, &body).done())
}

/// The socket's own message: the groups that somebody listens to.
pub fn listened(groups: u32) -> Messages {
    Reply::new(LISTENED, 0, 0, &groups.to_ne_bytes()).done()
}
