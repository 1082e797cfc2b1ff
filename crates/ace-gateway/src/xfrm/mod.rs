// SPDX-License-Identifier: Apache-2.0
//! The gateway as XFRM: netlink requests in, answers out, so that what configures the kernel's IPsec configures it.
//! Sans-I/O; docs/xfrm.md lists the messages.

mod database;
mod links;
mod names;
mod notices;
mod policies;
mod sas;
mod shapes;
mod spec;
mod told;
mod wanted;
mod wire;

use std::collections::HashMap;
use std::net::IpAddr;
use std::time::Duration;

use ace_engine::Engine;
use ace_ipsec::{SaId, Shard};
use ipnet::IpNet;
use nix::libc::{EINVAL, ENOENT, EOPNOTSUPP, ESRCH};

use crate::core::Can;
use crate::keys::Keys;
use database::Database;
use names::{Group, MESSAGES};
use notices::{GROUP_AEVENTS, GROUP_POLICY, Notices};
pub use notices::{GROUP_EXPIRE, GROUP_SA, LISTENED, Note, expired, id_of, listened, note};
pub use shapes::USERSA;
use shapes::{Errno, PolicyKey, SaKey, attr};
pub use wire::Messages;
use wire::{F_ACK, F_DUMP, F_MULTI, F_REPLACE, Message, Reply, u8_at, u16_at, u32_at};

/// Types of messages.
pub mod kind {
    pub const NEWSA: u16 = 0x10;
    pub const DELSA: u16 = 0x11;
    pub const GETSA: u16 = 0x12;
    pub const NEWPOLICY: u16 = 0x13;
    pub const DELPOLICY: u16 = 0x14;
    pub const GETPOLICY: u16 = 0x15;
    pub const ALLOCSPI: u16 = 0x16;
    pub const ACQUIRE: u16 = 0x17;
    pub const EXPIRE: u16 = 0x18;
    pub const UPDPOLICY: u16 = 0x19;
    pub const UPDSA: u16 = 0x1a;
    pub const FLUSHSA: u16 = 0x1c;
    pub const FLUSHPOLICY: u16 = 0x1d;
    pub const NEWAE: u16 = 0x1e;
    pub const GETAE: u16 = 0x1f;
    pub const NEWSADINFO: u16 = 0x22;
    pub const GETSADINFO: u16 = 0x23;
    pub const NEWSPDINFO: u16 = 0x24;
    pub const GETSPDINFO: u16 = 0x25;
    pub const MAPPING: u16 = 0x26;
}

/// charon reads pages.
const DATAGRAM: usize = 3500;

/// What of the outside a change concerns.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Change {
    /// The first outbound SA for a remote end, with the port of its UDP encapsulation.
    Reaches(IpAddr, Option<u16>),
    /// The last one went.
    Leaves(IpAddr),
}

/// How the gateway is made, as far as it matters here.
pub struct Made {
    pub allow_legacy: bool,
    /// Of the device inside without a number.
    pub mtu: u16,
    pub can: Can,
}

/// SAs and policies by XFRM.
pub struct Xfrm {
    database: Database,
    udp: bool,
    /// Outbound SAs by remote end.
    remotes: HashMap<IpAddr, usize>,
    /// Inbound ESP by SPI, in UDP.
    spis: HashMap<u32, (IpAddr, IpAddr)>,
    changes: Vec<Change>,
    notices: Notices,
}

/// What a request works on.
pub struct On<'a> {
    pub plane: &'a mut Shard,
    pub engine: &'a dyn Engine,
    pub now: Duration,
    /// Seconds since 1970.
    pub wall: u64,
    /// Whether an address is this machine's.
    pub is_local: &'a dyn Fn(IpAddr) -> bool,
    /// SPIs that are taken elsewhere.
    pub taken: &'a dyn Fn(u32) -> bool,
}

impl Xfrm {
    pub fn new(made: Made, keys: Option<Keys>) -> Self {
        Self {
            udp: made.can.udp,
            database: Database::new(made, keys),
            remotes: HashMap::new(),
            spis: HashMap::new(),
            changes: Vec::new(),
            notices: Notices::default(),
        }
    }

    /// Answers the requests of a datagram, as datagrams.
    pub fn handle(&mut self, on: &mut On<'_>, datagram: &[u8]) -> Vec<Messages> {
        let mut answers = Vec::new();
        for message in wire::messages(datagram) {
            if message.kind < wire::FIRST {
                if message.kind == LISTENED {
                    self.notices.listened(u32_at(message.body, 0).unwrap_or(u32::MAX));
                }
                continue;
            }
            let errno = match self.request(on, &message) {
                Ok(Answer::None) => 0,
                Ok(Answer::One(reply)) => {
                    answers.push(reply);
                    0
                }
                Ok(Answer::Dump(all)) => {
                    dump(&mut answers, all, message.sequence);
                    continue;
                }
                Err(errno) => errno,
            };
            if errno != 0 || message.flags & F_ACK != 0 {
                answers.push(wire::ending(&message, errno));
            }
        }
        answers
    }

    fn request(&mut self, on: &mut On<'_>, message: &Message<'_>) -> Result<Answer, Errno> {
        names::value(MESSAGES, message.kind.into(), EINVAL)?;
        let dumps = message.flags & F_DUMP == F_DUMP;
        // The fixed part, and which attributes may be behind it.
        let (len, group) = match message.kind {
            kind::NEWSA | kind::UPDSA => (shapes::USERSA, Group::Sa),
            kind::GETSA if dumps => (0, Group::SaDump),
            kind::GETPOLICY if dumps => (0, Group::PolicyAll),
            kind::DELSA | kind::GETSA => (shapes::USERSA_ID, Group::SaId),
            kind::GETAE => (told::AEVENT_ID, Group::SaId),
            kind::NEWAE => (told::AEVENT_ID, Group::Event),
            kind::ALLOCSPI => (shapes::USERSPI, Group::Spi),
            kind::NEWPOLICY | kind::UPDPOLICY => (shapes::POLICY, Group::Policy),
            kind::DELPOLICY | kind::GETPOLICY => (shapes::POLICY_ID, Group::PolicyId),
            kind::FLUSHPOLICY => (0, Group::PolicyAll),
            // One byte, and three behind it that nobody has to send.
            kind::FLUSHSA => (1, Group::Spi),
            _ => (4, Group::Spi),
        };
        let (body, attributes) = message.body.split_at_checked(len).ok_or(EINVAL)?;
        let attributes = attributes.get(len.next_multiple_of(4) - len..).unwrap_or_default();
        names::check(group, attributes)?;
        if matches!(group, Group::Policy | Group::PolicyId | Group::PolicyAll) {
            main_alone(attributes)?;
        }
        self.answer(on, message, dumps, (body, attributes))
    }

    fn answer(
        &mut self,
        on: &mut On<'_>,
        message: &Message<'_>,
        dumps: bool,
        parts: (&[u8], &[u8]),
    ) -> Result<Answer, Errno> {
        let (body, attributes) = parts;
        let sequence = message.sequence;
        match message.kind {
            kind::NEWSA | kind::UPDSA => {
                self.add(on, parts, message.kind == kind::UPDSA)?;
                Ok(Answer::None)
            }
            kind::DELSA => {
                let key = self.named(body, attributes)?;
                self.remove(on.plane, key, true)?;
                Ok(Answer::None)
            }
            kind::GETSA if dumps => {
                let wanted = Wanted::of(attributes)?;
                let all = self.database.states.iter().filter(|(key, state)| wanted.is(**key, &state.info));
                let tell = |state| told::sa(on.plane, state, kind::NEWSA, F_MULTI, sequence);
                Ok(Answer::Dump(all.map(|(_, state)| tell(state)).collect()))
            }
            kind::GETSA => {
                let key = self.named(body, attributes)?;
                let state = self.database.states.get(&key).ok_or(ESRCH)?;
                Ok(Answer::One(told::sa(on.plane, state, kind::NEWSA, 0, sequence)))
            }
            kind::GETAE => {
                let key = self.named(body, attributes)?;
                let state = self.database.states.get(&key).ok_or(ESRCH)?;
                told::event(on.plane, key, state, 0, sequence).map(Answer::One)
            }
            kind::NEWAE => {
                // As Linux wants it.
                if message.flags & F_REPLACE == 0 {
                    return Err(EINVAL);
                }
                let key = shapes::sa_id(body)?;
                self.database.advance(on.plane, on.now, key, attributes)?;
                let state = self.database.states.get(&key).ok_or(ESRCH)?;
                let event = || told::event(on.plane, key, state, told::UPDATED, 0).unwrap_or_default();
                self.notices.tell(GROUP_AEVENTS, event);
                Ok(Answer::None)
            }
            kind::ALLOCSPI => self.allocate(on, body, sequence),
            kind::FLUSHSA => {
                let proto = u8_at(body, 0).ok_or(EINVAL)?;
                let keys = self.database.states.keys().filter(|key| is_any(proto) || key.protocol == proto);
                for key in keys.copied().collect::<Vec<_>>() {
                    self.remove(on.plane, key, false)?;
                }
                let flushed = || Reply::new(kind::FLUSHSA, 0, 0, &[proto]).done();
                self.notices.tell(GROUP_SA, flushed);
                Ok(Answer::None)
            }
            kind::NEWPOLICY | kind::UPDPOLICY => {
                let update = message.kind == kind::UPDPOLICY;
                let key = self.database.add_policy(on.plane, parts, update)?;
                if let Some(policy) = self.database.policies.get(&key) {
                    self.notices.tell(GROUP_POLICY, || told::policy(policy, message.kind, 0, 0));
                }
                Ok(Answer::None)
            }
            kind::GETPOLICY if dumps => {
                let policies = self.database.order.values().filter_map(|key| self.database.policies.get(key));
                let one = |policy| told::policy(policy, kind::NEWPOLICY, F_MULTI, sequence);
                Ok(Answer::Dump(policies.map(one).collect()))
            }
            kind::DELPOLICY | kind::GETPOLICY => {
                let (index, way) = (u32_at(body, 56).ok_or(EINVAL)?, u8_at(body, 60).ok_or(EINVAL)?);
                let if_id = shapes::if_id(attributes);
                let is = |key: &&PolicyKey| (key.way, key.if_id) == (way, if_id);
                let key = match index {
                    0 => shapes::policy_key(way, if_id, body).ok_or(EINVAL)?,
                    _ => self.database.order.get(&index).filter(is).ok_or(ENOENT)?.clone(),
                };
                if message.kind == kind::DELPOLICY {
                    let policy = self.database.remove_policy(on.plane, &key)?;
                    self.notices.tell(GROUP_POLICY, || told::policy_gone(&policy));
                    return Ok(Answer::None);
                }
                let policy = self.database.policies.get(&key).ok_or(ENOENT)?;
                Ok(Answer::One(told::policy(policy, kind::NEWPOLICY, 0, sequence)))
            }
            kind::FLUSHPOLICY => {
                for key in self.database.order.values().cloned().collect::<Vec<_>>() {
                    self.database.remove_policy(on.plane, &key)?;
                }
                self.notices.tell(GROUP_POLICY, || Reply::new(kind::FLUSHPOLICY, 0, 0, &[]).done());
                Ok(Answer::None)
            }
            kind::GETSADINFO => {
                let count = count(self.database.states.len());
                let reply = Reply::new(kind::NEWSADINFO, 0, sequence, body);
                let tables = [count, u32::MAX].map(u32::to_ne_bytes).concat();
                Ok(Answer::One(reply.attribute(1, &count.to_ne_bytes()).attribute(2, &tables).done()))
            }
            kind::GETSPDINFO => {
                let [inbound, out, forward] = self.database.counts.map(count);
                let counts = [inbound, out, forward, 0, 0, 0].map(u32::to_ne_bytes).concat();
                let tables = [0, u32::MAX].map(u32::to_ne_bytes).concat();
                let reply = Reply::new(kind::NEWSPDINFO, 0, sequence, body);
                Ok(Answer::One(reply.attribute(1, &counts).attribute(2, &tables).done()))
            }
            // The table has nothing else as done.
            _ => Err(EOPNOTSUPP),
        }
    }

    /// The SA that a request names, if its source is the one that is named besides.
    fn named(&self, id: &[u8], attributes: &[u8]) -> Result<SaKey, Errno> {
        let key = shapes::sa_id(id)?;
        let state = self.database.states.get(&key).ok_or(ESRCH)?;
        if let Some(source) = wire::attribute(attributes, attr::SRCADDR) {
            let family = u16_at(id, 20).ok_or(EINVAL)?;
            let source = shapes::address(source, 0, family).filter(|source| !source.is_unspecified());
            if source.is_some_and(|source| shapes::sa_source(&state.info) != Ok(source)) {
                return Err(ESRCH);
            }
        }
        Ok(key)
    }

    /// An SA is near its end or at it. True if it is one of these.
    pub fn expired(&mut self, plane: &mut Shard, id: SaId, hard: bool) -> bool {
        let Some(key) = self.database.by_id.get(&id).copied() else { return false };
        if let Some(state) = self.database.states.get(&key) {
            self.notices.tell(GROUP_EXPIRE, || told::expire(plane, state, hard));
        }
        if hard {
            let _ = self.remove(plane, key, true);
        }
        true
    }

    pub fn changes(&mut self) -> Vec<Change> {
        std::mem::take(&mut self.changes)
    }

    pub fn remotes(&self) -> impl Iterator<Item = IpAddr> {
        self.remotes.keys().copied()
    }

    pub fn len(&self) -> usize {
        self.database.states.len()
    }

    pub fn is_without_policies(&self) -> bool {
        self.database.policies.is_empty()
    }

    /// Both ends of the inbound ESP SA with an SPI.
    pub fn ends(&self, spi: u32) -> Option<(IpAddr, IpAddr)> {
        self.spis.get(&spi).copied()
    }

    /// The remote end of an SA, if it authenticates.
    pub fn authentic(&self, id: SaId) -> Option<IpAddr> {
        let state = self.database.states.get(self.database.by_id.get(&id)?)?;
        state.installed.as_ref().filter(|installed| installed.authenticates).map(|installed| installed.remote)
    }

    /// Everything that is installed, by the handles of the data plane.
    pub fn installed(&self) -> impl Iterator<Item = (SaId, IpAddr, IpAddr)> {
        self.database.states.values().filter_map(|state| {
            let one = state.installed.as_ref()?;
            Some((one.id, one.local, one.remote))
        })
    }
}

enum Answer {
    None,
    One(Messages),
    Dump(Vec<Messages>),
}

/// As many messages as fit go into a datagram.
fn dump(answers: &mut Vec<Messages>, all: Vec<Messages>, sequence: u32) {
    let mut datagram = Messages::default();
    let done = Reply::new(wire::NLMSG_DONE, F_MULTI, sequence, &[0; 4]).done();
    for message in all.into_iter().chain([done]) {
        if !datagram.is_empty() && datagram.len() + message.len() > DATAGRAM {
            answers.push(std::mem::take(&mut datagram));
        }
        wire::append(&mut datagram, &message);
    }
    answers.push(datagram);
}

/// `IPSEC_PROTO_ANY`, or nothing said.
fn is_any(protocol: u8) -> bool {
    protocol == 0 || protocol == 255
}

fn count(len: usize) -> u32 {
    u32::try_from(len).unwrap_or(u32::MAX)
}

/// Policies of other types than the main one are not there.
fn main_alone(attributes: &[u8]) -> Result<(), Errno> {
    match wire::attribute(attributes, attr::POLICY_TYPE).and_then(|value| u8_at(value, 0)) {
        None | Some(0) => Ok(()),
        Some(_) => Err(EOPNOTSUPP),
    }
}

/// Of which SAs somebody asks.
struct Wanted {
    protocol: u8,
    source: Option<IpNet>,
    destination: Option<IpNet>,
}

impl Wanted {
    fn of(attributes: &[u8]) -> Result<Self, Errno> {
        let protocol =
            wire::attribute(attributes, attr::PROTO).and_then(|value| u8_at(value, 0)).unwrap_or(0);
        let Some(filter) = wire::attribute(attributes, attr::ADDRESS_FILTER) else {
            return Ok(Self { protocol, source: None, destination: None });
        };
        let family = u16_at(filter, 32).ok_or(EINVAL)?;
        let net = |at, len: Option<u8>| {
            let len = len.filter(|len| *len != 0);
            len.map(|len| {
                IpNet::new(shapes::address(filter, at, family).ok_or(EINVAL)?, len).map_err(|_| EINVAL)
            })
            .transpose()
        };
        Ok(Self { protocol, source: net(0, u8_at(filter, 34))?, destination: net(16, u8_at(filter, 35))? })
    }

    fn is(&self, key: SaKey, info: &[u8]) -> bool {
        let within = |net: &Option<IpNet>, address: &IpAddr| net.is_none_or(|net| net.contains(address));
        (is_any(self.protocol) || key.protocol == self.protocol)
            && within(&self.destination, &key.destination)
            && shapes::sa_source(info).is_ok_and(|source| within(&self.source, &source))
    }
}

#[cfg(test)]
mod tests;
