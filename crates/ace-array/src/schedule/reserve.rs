// SPDX-License-Identifier: Apache-2.0
//! What is taken: elements, their results' slots, ports, memory elements' reads and writes, all modulo the interval.
//! Each reservation has its users, and goes with the last of them.

use crate::graph::{Graph, Id};
use crate::shape::{Kind, Shape, Unit, latency};

/// An operand: the operation and the argument. What stores a value has [`STORE`] for the argument.
pub type Use = (Id, usize);
pub const STORE: usize = usize::MAX;

/// What a port takes in a slot: a node's value, or what a memory element reads, that is first there in a slot.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Taken {
    pub from: Unit,
    pub value: Id,
    pub slot: i64,
}

#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Way {
    Direct,
    Stored { memory: usize, slot: i64 },
}

pub struct Kept {
    pub memory: usize,
    /// When the value is taken, and when its store is issued.
    pub taken: i64,
    pub slot: i64,
    pub users: Vec<Use>,
}

struct Shared<T> {
    what: T,
    users: Vec<Use>,
}

pub struct Tables<'a> {
    pub graph: &'a Graph,
    pub shape: &'a Shape,
    pub ii: usize,
    units: Vec<Unit>,
    first_port: Vec<usize>,
    issue: Vec<Option<Id>>,
    result: Vec<Option<Id>>,
    port: Vec<Option<Shared<Taken>>>,
    read: Vec<Option<Shared<Taken>>>,
    write: Vec<Option<Id>>,
    pub kept: Vec<Option<Kept>>,
    /// By node and argument.
    pub ways: Vec<Vec<Option<Way>>>,
}

/// Who is in the way; nobody if it is the distance in time.
pub type Blocked = Vec<Id>;

impl<'a> Tables<'a> {
    pub fn new(graph: &'a Graph, shape: &'a Shape, ii: usize) -> Tables<'a> {
        let units: Vec<Unit> = shape.units().collect();
        let mut first_port = Vec::new();
        let mut ports = 0;
        for unit in &units {
            first_port.push(ports);
            ports += shape.ports(unit.kind);
        }
        let none = |count: usize| (0..count * ii).map(|_| None).collect::<Vec<_>>();
        Tables {
            graph,
            shape,
            ii,
            first_port,
            issue: vec![None; units.len() * ii],
            result: vec![None; units.len() * ii],
            port: none(ports).into_iter().map(|_: Option<()>| None).collect(),
            read: none(shape.memories).into_iter().map(|_: Option<()>| None).collect(),
            write: vec![None; shape.memories * ii],
            kept: graph.nodes.iter().map(|_| None).collect(),
            ways: graph.nodes.iter().map(|node| vec![None; node.args.len()]).collect(),
            units,
        }
    }

    fn number(&self, unit: Unit) -> usize {
        self.units.iter().position(|of| *of == unit).unwrap_or(0)
    }

    fn at(&self, row: usize, slot: i64) -> usize {
        row * self.ii + slot.rem_euclid(self.ii as i64) as usize
    }

    fn port_at(&self, port: (Unit, usize), slot: i64) -> usize {
        self.at(self.first_port[self.number(port.0)] + port.1, slot)
    }

    pub fn free(&self, unit: Unit, slot: i64) -> bool {
        self.issue[self.at(self.number(unit), slot)].is_none()
    }

    /// The values that are first there in a slot.
    pub fn results(&self, slot: i64) -> impl Iterator<Item = Id> + '_ {
        (0..self.units.len()).filter_map(move |row| self.result[self.at(row, slot)])
    }

    /// An element for an operation's issue and its result.
    pub fn occupy(&mut self, id: Id, unit: Unit, slot: i64, end: i64) -> Result<(), Blocked> {
        let number = self.number(unit);
        let (issue, result) = (self.at(number, slot), self.at(number, end));
        if let Some(other) = self.issue[issue].or(self.result[result]) {
            return Err(vec![other]);
        }
        self.issue[issue] = Some(id);
        self.result[result] = Some(id);
        Ok(())
    }

    pub fn vacate(&mut self, unit: Unit, slot: i64, end: i64) {
        let number = self.number(unit);
        let (issue, result) = (self.at(number, slot), self.at(number, end));
        self.issue[issue] = None;
        self.result[result] = None;
    }

    fn take(&mut self, port: (Unit, usize), what: Taken, user: Use) -> Result<(), Blocked> {
        let at = self.port_at(port, what.slot);
        match &mut self.port[at] {
            Some(shared) if shared.what == what => shared.users.push(user),
            Some(shared) => return Err(shared.users.iter().map(|(id, _)| *id).collect()),
            none => *none = Some(Shared { what, users: vec![user] }),
        }
        Ok(())
    }

    fn leave(&mut self, port: (Unit, usize), slot: i64, user: Use) {
        let at = self.port_at(port, slot);
        drop_user(&mut self.port[at], user);
    }

    /// Routes a value that is first there in slot `from.slot` to an operand that is read in slot `slot`.
    pub fn route(&mut self, user: Use, port: (Unit, usize), slot: i64, from: Taken) -> Result<(), Blocked> {
        let wait = slot - from.slot - latency::HOP as i64;
        let mut blocked = Vec::new();
        if (0..self.shape.line as i64).contains(&wait) {
            match self.take(port, from, user) {
                Ok(()) => {
                    self.ways[user.0][user.1] = Some(Way::Direct);
                    return Ok(());
                }
                Err(by) => blocked = by,
            }
        }
        if wait > (latency::STORE + latency::READ) as i64 {
            match self.route_stored(user, port, slot, from) {
                Ok(()) => return Ok(()),
                Err(by) if blocked.is_empty() => blocked = by,
                Err(_) => {}
            }
        }
        Err(blocked)
    }

    fn route_stored(
        &mut self,
        user: Use,
        port: (Unit, usize),
        slot: i64,
        from: Taken,
    ) -> Result<(), Blocked> {
        let value = from.value;
        if let Some(kept) = &self.kept[value] {
            let (memory, least) = (kept.memory, kept.slot + (latency::STORE + latency::READ) as i64);
            self.read_back(user, port, slot, value, memory, least)?;
            if let Some(kept) = &mut self.kept[value] {
                kept.users.push(user);
            }
            return Ok(());
        }
        let mut blocked = Vec::new();
        let memories = self.shape.memories;
        for memory in (0..memories).map(|at| (at + value) % memories) {
            let unit = Unit { kind: Kind::Memory, index: memory };
            let store = (value, STORE);
            let at = self.port_at((unit, 0), from.slot);
            if let Some(shared) = &self.port[at] {
                blocked = shared.users.iter().map(|(id, _)| *id).collect();
                continue;
            }
            let first = from.slot + latency::HOP as i64;
            let issue = (first..first + self.shape.line as i64)
                .find(|slot| self.write[self.at(memory, *slot)].is_none());
            let Some(issue) = issue else { continue };
            let least = issue + (latency::STORE + latency::READ) as i64;
            match self.read_back(user, port, slot, value, memory, least) {
                Ok(()) => {
                    self.port[at] = Some(Shared { what: from, users: vec![store] });
                    let at = self.at(memory, issue);
                    self.write[at] = Some(value);
                    self.kept[value] =
                        Some(Kept { memory, taken: from.slot, slot: issue, users: vec![user] });
                    return Ok(());
                }
                Err(by) => blocked = by,
            }
        }
        Err(blocked)
    }

    fn read_back(
        &mut self,
        user: Use,
        port: (Unit, usize),
        slot: i64,
        value: Id,
        memory: usize,
        least: i64,
    ) -> Result<(), Blocked> {
        let latest = slot - latency::HOP as i64;
        let mut blocked = Vec::new();
        for first in (least.max(latest - self.shape.line as i64 + 1)..=latest).rev() {
            let from = Unit { kind: Kind::Memory, index: memory };
            let what = Taken { from, value, slot: first };
            let at = self.at(memory, first);
            if let Some(shared) = &self.read[at]
                && shared.what != what
            {
                if blocked.is_empty() {
                    blocked = shared.users.iter().map(|(id, _)| *id).collect();
                }
                continue;
            }
            match self.take(port, what, user) {
                Err(by) if blocked.is_empty() => blocked = by,
                Err(_) => {}
                Ok(()) => {
                    match &mut self.read[at] {
                        Some(shared) => shared.users.push(user),
                        none => *none = Some(Shared { what, users: vec![user] }),
                    }
                    self.ways[user.0][user.1] = Some(Way::Stored { memory, slot: first });
                    return Ok(());
                }
            }
        }
        Err(blocked)
    }

    /// Takes an operand's route back; `taken` is when its value is first there.
    pub fn unroute(&mut self, user: Use, port: (Unit, usize), taken: i64) {
        let Some(way) = self.ways[user.0][user.1].take() else { return };
        let Way::Stored { memory, slot } = way else {
            self.leave(port, taken, user);
            return;
        };
        self.leave(port, slot, user);
        let at = self.at(memory, slot);
        drop_user(&mut self.read[at], user);
        let value = self.graph.nodes[user.0].args[user.1];
        let Some(kept) = &mut self.kept[value] else { return };
        kept.users.retain(|other| *other != user);
        if kept.users.is_empty() {
            let (memory, taken, issue) = (kept.memory, kept.taken, kept.slot);
            self.kept[value] = None;
            let at = self.at(memory, issue);
            self.write[at] = None;
            self.leave((Unit { kind: Kind::Memory, index: memory }, 0), taken, (value, STORE));
        }
    }
}

fn drop_user(entry: &mut Option<Shared<Taken>>, user: Use) {
    if let Some(shared) = entry {
        if let Some(at) = shared.users.iter().position(|other| *other == user) {
            shared.users.swap_remove(at);
        }
        if shared.users.is_empty() {
            *entry = None;
        }
    }
}
