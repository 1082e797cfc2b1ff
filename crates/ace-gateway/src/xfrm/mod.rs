// SPDX-License-Identifier: Apache-2.0
//! The gateway as XFRM: netlink requests in, answers out, so that what configures the kernel's IPsec configures it.
//! Sans-I/O; docs/gateway.md lists the messages.

mod database;
mod replay;
mod shapes;
mod wire;

use std::collections::{HashMap, VecDeque};
use std::net::IpAddr;
use std::time::Duration;

use ace_engine::Engine;
use ace_ipsec::{Direction, SaId, Shard};
use nix::libc::{EADDRNOTAVAIL, EEXIST, EINVAL, ENOENT, EOPNOTSUPP, ESRCH};

use crate::keys::Keys;
use database::{Database, OUT, State};
use shapes::{Errno, SaKey};
pub use wire::Messages;
use wire::{F_ACK, F_DUMP, F_MULTI, Message, Reply, u8_at, u32_at};

/// Types of messages.
mod kind {
    pub const NEWSA: u16 = 0x10;
    pub const DELSA: u16 = 0x11;
    pub const GETSA: u16 = 0x12;
    pub const NEWPOLICY: u16 = 0x13;
    pub const DELPOLICY: u16 = 0x14;
    pub const GETPOLICY: u16 = 0x15;
    pub const ALLOCSPI: u16 = 0x16;
    pub const EXPIRE: u16 = 0x18;
    pub const UPDPOLICY: u16 = 0x19;
    pub const UPDSA: u16 = 0x1a;
    pub const FLUSHSA: u16 = 0x1c;
    pub const FLUSHPOLICY: u16 = 0x1d;
    pub const GETAE: u16 = 0x1f;
    pub const NEWSADINFO: u16 = 0x22;
    pub const GETSADINFO: u16 = 0x23;
    pub const NEWSPDINFO: u16 = 0x24;
    pub const GETSPDINFO: u16 = 0x25;
    /// The last that this knows by name.
    pub const LAST: u16 = 0x29;
}

/// XFRMNLGRP_EXPIRE, as a bit of `nl_groups`.
pub const GROUP_EXPIRE: u32 = 1 << 1;
/// charon reads pages.
const DATAGRAM: usize = 3500;
/// SPIs below are reserved.
const LOWEST_SPI: u32 = 0x100;

/// What of the outside a change concerns.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Change {
    /// The first outbound SA for a remote end, with the port of its UDP encapsulation.
    Reaches(IpAddr, Option<u16>),
    /// The last one went.
    Leaves(IpAddr),
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
    notices: VecDeque<(u32, Messages)>,
}

/// What a request works on.
pub struct On<'a> {
    pub plane: &'a mut Shard,
    pub engine: &'a dyn Engine,
    pub now: Duration,
    /// Whether an address is this machine's.
    pub is_local: &'a dyn Fn(IpAddr) -> bool,
    /// SPIs that are taken elsewhere.
    pub taken: &'a dyn Fn(u32) -> bool,
}

impl Xfrm {
    pub fn new(udp: bool, allow_legacy: bool, keys: Option<Keys>) -> Self {
        let database = Database::new(allow_legacy, keys);
        let (remotes, spis) = (HashMap::new(), HashMap::new());
        Self { database, udp, remotes, spis, changes: Vec::new(), notices: VecDeque::new() }
    }

    /// Answers the requests of a datagram, as datagrams.
    pub fn handle(&mut self, on: &mut On<'_>, datagram: &[u8]) -> Vec<Messages> {
        let mut answers = Vec::new();
        for message in wire::messages(datagram).filter(|message| message.kind >= wire::FIRST) {
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
        let body = message.body;
        let split = |len: usize| body.split_at_checked(len).ok_or(EINVAL);
        let dumps = message.flags & F_DUMP == F_DUMP;
        match message.kind {
            kind::NEWSA | kind::UPDSA => {
                self.add(on, split(shapes::USERSA)?, message.kind == kind::UPDSA).map(|()| Answer::None)
            }
            kind::DELSA => {
                let key = shapes::sa_id(split(shapes::USERSA_ID)?.0)?;
                self.remove(on.plane, key).map(|()| Answer::None)
            }
            kind::GETSA if dumps => {
                let proto =
                    wire::attribute(body, shapes::PROTO).and_then(|value| u8_at(value, 0)).unwrap_or(0);
                let keys =
                    self.database.states.iter().filter(|(key, _)| is_any(proto) || key.protocol == proto);
                Ok(Answer::Dump(
                    keys.map(|(_, state)| told(on.plane, state, F_MULTI, message.sequence)).collect(),
                ))
            }
            kind::GETSA => {
                let key = shapes::sa_id(split(shapes::USERSA_ID)?.0)?;
                let state = self.database.states.get(&key).ok_or(ESRCH)?;
                Ok(Answer::One(told(on.plane, state, 0, message.sequence)))
            }
            kind::GETAE => {
                let id = split(replay::AEVENT_ID)?.0;
                let state = self.database.states.get(&shapes::sa_id(id)?).ok_or(ESRCH)?;
                replay::told(on.plane, state, id, message.sequence).map(Answer::One)
            }
            kind::ALLOCSPI => self.allocate(on, body, message.sequence),
            kind::FLUSHSA => {
                let proto = u8_at(body, 0).ok_or(EINVAL)?;
                let keys = self.database.states.keys().filter(|key| is_any(proto) || key.protocol == proto);
                for key in keys.copied().collect::<Vec<_>>() {
                    self.remove(on.plane, key)?;
                }
                Ok(Answer::None)
            }
            kind::NEWPOLICY | kind::UPDPOLICY => {
                let (info, attributes) = split(shapes::POLICY)?;
                main_alone(attributes)?;
                let update = message.kind == kind::UPDPOLICY;
                self.database.add_policy(on.plane, on.now, info, attributes, update).map(|_| Answer::None)
            }
            kind::DELPOLICY | kind::GETPOLICY if !dumps => {
                let (id, attributes) = split(shapes::POLICY_ID)?;
                main_alone(attributes)?;
                let (index, way) = (u32_at(id, 56).ok_or(EINVAL)?, u8_at(id, 60).ok_or(EINVAL)?);
                let key = match self.database.order.get(&index) {
                    Some(key) if index != 0 => key.clone(),
                    _ => shapes::policy_key(way, id).ok_or(EINVAL)?,
                };
                if message.kind == kind::DELPOLICY {
                    return self.database.remove_policy(on.plane, &key).map(|_| Answer::None);
                }
                let policy = self.database.policies.get(&key).ok_or(ENOENT)?;
                let reply = Reply::new(kind::NEWPOLICY, 0, message.sequence, &policy.info);
                Ok(Answer::One(reply.attributes(&policy.attributes).done()))
            }
            kind::GETPOLICY => {
                let policies = self.database.order.values().filter_map(|key| self.database.policies.get(key));
                let one = |policy: &database::Policy| {
                    let reply = Reply::new(kind::NEWPOLICY, F_MULTI, message.sequence, &policy.info);
                    reply.attributes(&policy.attributes).done()
                };
                Ok(Answer::Dump(policies.map(one).collect()))
            }
            kind::FLUSHPOLICY => {
                for key in self.database.order.values().cloned().collect::<Vec<_>>() {
                    self.database.remove_policy(on.plane, &key)?;
                }
                Ok(Answer::None)
            }
            kind::GETSADINFO => {
                let flags = u32_at(body, 0).ok_or(EINVAL)?;
                let count = count(self.database.states.len());
                let reply = Reply::new(kind::NEWSADINFO, 0, message.sequence, &flags.to_ne_bytes());
                let tables = [count, u32::MAX].map(u32::to_ne_bytes).concat();
                Ok(Answer::One(reply.attribute(1, &count.to_ne_bytes()).attribute(2, &tables).done()))
            }
            kind::GETSPDINFO => {
                let flags = u32_at(body, 0).ok_or(EINVAL)?;
                let of = |way| count(self.database.policies.keys().filter(|key| key.way == way).count());
                let counts = [of(0), of(OUT), of(2), 0, 0, 0].map(u32::to_ne_bytes).concat();
                let tables = [0, u32::MAX].map(u32::to_ne_bytes).concat();
                let reply = Reply::new(kind::NEWSPDINFO, 0, message.sequence, &flags.to_ne_bytes());
                Ok(Answer::One(reply.attribute(1, &counts).attribute(2, &tables).done()))
            }
            known if known <= kind::LAST => Err(EOPNOTSUPP),
            _ => Err(EINVAL),
        }
    }

    fn add(&mut self, on: &mut On<'_>, parts: (&[u8], &[u8]), update: bool) -> Result<(), Errno> {
        let (info, attributes) = parts;
        let (key, source) = (shapes::sa_key(info)?, shapes::sa_source(info)?);
        let inbound = match ((on.is_local)(key.destination), (on.is_local)(source)) {
            (true, _) => true,
            (false, true) => false,
            (false, false) => return Err(EADDRNOTAVAIL),
        };
        let ports = shapes::encapsulation(attributes)?;
        let unfit = if self.udp { key.protocol != 50 } else { ports.is_some() || source.is_ipv6() };
        if unfit {
            return Err(EOPNOTSUPP);
        }
        let was = self.database.states.get(&key).is_some_and(|state| state.installed.is_some());
        if inbound && self.udp && !was && (self.spis.contains_key(&key.spi) || (on.taken)(key.spi)) {
            return Err(EEXIST);
        }
        self.database.add_state(on.plane, on.engine, on.now, parts, inbound, update)?;
        if was {
            return Ok(());
        }
        if inbound {
            self.spis.insert(key.spi, (key.destination, source));
        } else {
            let uses = self.remotes.entry(key.destination).or_insert(0);
            *uses += 1;
            if *uses == 1 {
                self.changes.push(Change::Reaches(key.destination, ports.map(|(_, port)| port)));
            }
        }
        Ok(())
    }

    fn remove(&mut self, plane: &mut Shard, key: SaKey) -> Result<(), Errno> {
        let state = self.database.remove_state(plane, key)?;
        match state.installed.map(|installed| installed.direction) {
            Some(Direction::In) => {
                self.spis.remove(&key.spi);
            }
            Some(Direction::Out) => {
                if let Some(uses) = self.remotes.get_mut(&key.destination) {
                    *uses -= 1;
                    if *uses == 0 {
                        self.remotes.remove(&key.destination);
                        self.changes.push(Change::Leaves(key.destination));
                    }
                }
            }
            None => {}
        }
        Ok(())
    }

    fn allocate(&mut self, on: &On<'_>, body: &[u8], sequence: u32) -> Result<Answer, Errno> {
        let mut info: [u8; shapes::USERSA] =
            body.get(..shapes::USERSA).and_then(|info| info.try_into().ok()).ok_or(EINVAL)?;
        let (low, high) = (u32_at(body, 224).ok_or(EINVAL)?, u32_at(body, 228).ok_or(EINVAL)?);
        if low > high {
            return Err(EINVAL);
        }
        let low = low.max(LOWEST_SPI);
        let span = u64::from(high.checked_sub(low).ok_or(EINVAL)?) + 1;
        for _ in 0..64 {
            let random = getrandom::u64().map_err(|_| ENOENT)?;
            // The remainder is below 2^32.
            let spi = low + (random % span) as u32;
            info[72..76].copy_from_slice(&spi.to_be_bytes());
            if self.udp && (self.spis.contains_key(&spi) || (on.taken)(spi)) {
                continue;
            }
            match self.database.reserve(shapes::sa_key(&info)?, info) {
                Ok(()) => return Ok(Answer::One(Reply::new(kind::NEWSA, 0, sequence, &info).done())),
                Err(EEXIST) => {}
                Err(errno) => return Err(errno),
            }
        }
        Err(ENOENT)
    }

    /// An SA is near its end or at it. True if it is one of these.
    pub fn expired(&mut self, plane: &mut Shard, id: SaId, hard: bool) -> bool {
        let Some(key) = self.database.by_id.get(&id).copied() else { return false };
        if let Some(state) = self.database.states.get(&key) {
            let mut body = current(plane, state).to_vec();
            body.extend_from_slice(&[u8::from(hard), 0, 0, 0, 0, 0, 0, 0]);
            // Nobody listens for longer than that.
            if self.notices.len() < 1024 {
                self.notices.push_back((GROUP_EXPIRE, Reply::new(kind::EXPIRE, 0, 0, &body).done()));
            }
        }
        if hard {
            let _ = self.remove(plane, key);
        }
        true
    }

    /// The next message for everybody who asked for its group.
    pub fn notice(&mut self) -> Option<(u32, Messages)> {
        self.notices.pop_front()
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
            let id = match one.direction {
                Direction::In => one.id,
                Direction::Out => one.shares.first().map_or(one.id, |(_, id)| *id),
            };
            Some((id, one.local, one.remote))
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
    match wire::attribute(attributes, shapes::POLICY_TYPE).and_then(|value| u8_at(value, 0)) {
        None | Some(0) => Ok(()),
        Some(_) => Err(EOPNOTSUPP),
    }
}

/// An SA with what it carried.
fn current(plane: &Shard, state: &State) -> [u8; shapes::USERSA] {
    let mut info = state.info;
    let Some(installed) = &state.installed else { return info };
    let ids = match installed.direction {
        Direction::In => vec![installed.id],
        Direction::Out => installed.shares.iter().map(|(_, id)| *id).collect(),
    };
    let (mut bytes, mut packets) = (0_u64, 0_u64);
    for status in ids.into_iter().filter_map(|id| plane.sa(id)) {
        bytes += status.counters.forwarded.bytes;
        packets += status.counters.forwarded.packets;
    }
    info[160..168].copy_from_slice(&bytes.to_ne_bytes());
    info[168..176].copy_from_slice(&packets.to_ne_bytes());
    info
}

fn told(plane: &Shard, state: &State, flags: u16, sequence: u32) -> Messages {
    Reply::new(kind::NEWSA, flags, sequence, &current(plane, state))
        .attributes(state.attributes.as_bytes())
        .done()
}

#[cfg(test)]
mod tests;
