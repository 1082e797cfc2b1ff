// SPDX-License-Identifier: Apache-2.0
//! What is taken: elements, their results' slots, ports, memory elements' reads and writes, all modulo the interval.
//! Each reservation has its users, and goes with the last of them.

use crate::ir::graph::{Graph, Id};
use crate::ir::shape::{Kind, Shape, Unit, latency};

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

/// Whether a port can take a value in the slot in which it is there.
pub enum Price<'a> {
    Free,
    /// It takes the value for somebody else.
    Shared,
    /// It takes another value, for these.
    Held(&'a [Use]),
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
    /// By kind, how many elements stand before its first one; by element, how many ports.
    before: [usize; 7],
    units: Vec<Unit>,
    first_port: Vec<usize>,
    issue: Vec<Option<Id>>,
    result: Vec<Option<Id>>,
    port: Vec<Option<Shared<Taken>>>,
    read: Vec<Option<Shared<Taken>>>,
    /// By element that has a key memory, for whom it has a word, by the slot of the issue.
    key: Vec<Option<Id>>,
    write: Vec<Option<Id>>,
    pub retained: Vec<Option<Kept>>,
    /// By node and argument.
    pub ways: Vec<Vec<Option<Way>>>,
}

/// What a way takes: a port, a read of what is stored already, or a store and a read. `first` is the slot in which what is
/// read is there.
#[derive(Clone, Copy)]
pub enum Path {
    Direct,
    Again { memory: usize, first: i64 },
    Keep { memory: usize, issue: i64, first: i64 },
}

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
            before: Kind::ALL.map(|kind| units.iter().take_while(|unit| unit.kind < kind).count()),
            first_port,
            issue: vec![None; units.len() * ii],
            result: vec![None; units.len() * ii],
            port: none(ports).into_iter().map(|_: Option<()>| None).collect(),
            read: none(shape.memories).into_iter().map(|_: Option<()>| None).collect(),
            key: vec![None; units.len() * ii],
            write: vec![None; shape.memories * ii],
            retained: graph.nodes.iter().map(|_| None).collect(),
            ways: graph.nodes.iter().map(|node| vec![None; node.args.len()]).collect(),
            units,
        }
    }

    fn number(&self, unit: Unit) -> usize {
        self.before[unit.kind as usize] + unit.index
    }

    fn at(&self, row: usize, slot: i64) -> usize {
        row * self.ii + slot.rem_euclid(self.ii as i64) as usize
    }

    /// Slots that a port's line reaches back.
    pub fn reach(&self, port: (Unit, usize)) -> i64 {
        self.shape.reach(port.0.kind, port.1) as i64
    }

    fn port_at(&self, port: (Unit, usize), slot: i64) -> usize {
        self.at(self.first_port[self.number(port.0)] + port.1, slot)
    }

    pub fn free(&self, unit: Unit, slot: i64) -> bool {
        self.issue[self.at(self.number(unit), slot)].is_none()
    }

    /// Where it is written down whom a key memory serves with an operation that takes a word of it.
    fn key_at(&self, id: Id, unit: Unit, slot: i64) -> Option<usize> {
        let keyed = self.graph.nodes[id].args.iter().any(|arg| self.graph.is_key(*arg));
        let memory = self.shape.key_of(unit).filter(|_| keyed)?;
        Some(self.at(self.number(memory), slot))
    }

    /// Who has, in the slot of an operation's issue, its element or key memory, or the element's result that comes of it.
    pub fn holders(&self, id: Id, unit: Unit, slot: i64, end: i64) -> impl Iterator<Item = Id> {
        let number = self.number(unit);
        let key = self.key_at(id, unit, slot).and_then(|at| self.key[at]);
        let [issue, result] = [self.issue[self.at(number, slot)], self.result[self.at(number, end)]];
        let result = result.filter(|_| result != issue);
        let key = key.filter(|_| key != issue && key != result);
        [issue, result, key].into_iter().flatten()
    }

    /// What it takes to bring a value that is first there in slot `from.slot` to a port.
    pub fn price(&self, port: (Unit, usize), from: Taken) -> Price<'_> {
        match &self.port[self.port_at(port, from.slot)] {
            None => Price::Free,
            Some(shared) if shared.what == from => Price::Shared,
            Some(shared) => Price::Held(&shared.users),
        }
    }

    /// The values that are first there in a slot.
    pub fn results(&self, slot: i64) -> impl Iterator<Item = Id> + '_ {
        (0..self.units.len()).filter_map(move |row| self.result[self.at(row, slot)])
    }

    /// Takes an element, which has to be free, for an operation's issue and its result.
    pub fn occupy(&mut self, id: Id, unit: Unit, slot: i64, end: i64) {
        let number = self.number(unit);
        let (issue, result) = (self.at(number, slot), self.at(number, end));
        self.issue[issue] = Some(id);
        self.result[result] = Some(id);
        if let Some(at) = self.key_at(id, unit, slot) {
            self.key[at] = Some(id);
        }
    }

    pub fn vacate(&mut self, id: Id, unit: Unit, slot: i64, end: i64) {
        let number = self.number(unit);
        let (issue, result) = (self.at(number, slot), self.at(number, end));
        self.issue[issue] = None;
        self.result[result] = None;
        if let Some(at) = self.key_at(id, unit, slot) {
            self.key[at] = None;
        }
    }

    fn take(&mut self, port: (Unit, usize), what: Taken, user: Use) {
        let at = self.port_at(port, what.slot);
        share(&mut self.port[at], what, user);
    }

    fn leave(&mut self, port: (Unit, usize), slot: i64, user: Use) {
        let at = self.port_at(port, slot);
        drop_user(&mut self.port[at], user);
    }

    /// How a value that is first there in slot `from.slot` can come to an operand that is read in slot `slot`: taken
    /// from the network, or read again.
    pub fn way(&self, port: (Unit, usize), slot: i64, from: Taken) -> Option<Path> {
        let wait = slot - from.slot - latency::HOP as i64;
        let near = (0..self.reach(port)).contains(&wait);
        if near && !matches!(self.price(port, from), Price::Held(_)) {
            return Some(Path::Direct);
        }
        if wait <= (latency::STORE + latency::READ) as i64 {
            return None;
        }
        self.stored(port, slot, from)
    }

    fn stored(&self, port: (Unit, usize), slot: i64, from: Taken) -> Option<Path> {
        let value = from.value;
        if let Some(retained) = &self.retained[value] {
            let least = retained.slot + (latency::STORE + latency::READ) as i64;
            let first = self.read_back(port, slot, value, retained.memory, least)?;
            return Some(Path::Again { memory: retained.memory, first });
        }
        let memories = self.shape.memories;
        (0..memories).map(|at| (at + value) % memories).find_map(|memory| {
            let unit = Unit { kind: Kind::Memory, index: memory };
            if self.port[self.port_at((unit, 0), from.slot)].is_some() {
                return None;
            }
            let soonest = from.slot + latency::HOP as i64;
            let issue = (soonest..soonest + self.reach((unit, 0)))
                .find(|slot| self.write[self.at(memory, *slot)].is_none())?;
            let least = issue + (latency::STORE + latency::READ) as i64;
            let first = self.read_back(port, slot, value, memory, least)?;
            Some(Path::Keep { memory, issue, first })
        })
    }

    /// The last slot from which a memory element can show a value to a port, so that it waits least in the line; but before
    /// all one in which it shows it to others already.
    fn read_back(&self, port: (Unit, usize), slot: i64, value: Id, memory: usize, least: i64) -> Option<i64> {
        let latest = slot - latency::HOP as i64;
        let from = Unit { kind: Kind::Memory, index: memory };
        let (reads, takes) = (self.at(memory, 0), self.port_at(port, 0));
        let mut at = latest.rem_euclid(self.ii as i64) as usize;
        // Division is what takes the time here.
        let before = |at: &mut usize| std::mem::replace(at, if *at == 0 { self.ii - 1 } else { *at - 1 });
        let mut last = None;
        for first in (least.max(latest - self.reach(port) + 1)..=latest).rev() {
            let at = before(&mut at);
            let what = Taken { from, value, slot: first };
            let shown = self.read[reads + at].as_ref().map(|shared| shared.what == what);
            let taken = self.port[takes + at].as_ref().map(|shared| shared.what == what);
            match (shown, taken) {
                (Some(false), _) | (_, Some(false)) => {}
                (Some(true), _) => return Some(first),
                (None, _) => last = last.or(Some(first)),
            }
        }
        last
    }

    /// Takes what a way needs that [`Tables::way`] has found.
    pub fn route(&mut self, user: Use, port: (Unit, usize), from: Taken, path: Path) {
        let value = from.value;
        let (memory, first) = match path {
            Path::Direct => {
                self.take(port, from, user);
                self.ways[user.0][user.1] = Some(Way::Direct);
                return;
            }
            Path::Again { memory, first } => {
                if let Some(retained) = &mut self.retained[value] {
                    retained.users.push(user);
                }
                (memory, first)
            }
            Path::Keep { memory, issue, first } => {
                let unit = Unit { kind: Kind::Memory, index: memory };
                self.take((unit, 0), from, (value, STORE));
                let at = self.at(memory, issue);
                self.write[at] = Some(value);
                self.retained[value] =
                    Some(Kept { memory, taken: from.slot, slot: issue, users: vec![user] });
                (memory, first)
            }
        };
        let what = Taken { from: Unit { kind: Kind::Memory, index: memory }, value, slot: first };
        self.take(port, what, user);
        let at = self.at(memory, first);
        share(&mut self.read[at], what, user);
        self.ways[user.0][user.1] = Some(Way::Stored { memory, slot: first });
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
        let Some(retained) = &mut self.retained[value] else { return };
        retained.users.retain(|other| *other != user);
        if retained.users.is_empty() {
            let (memory, taken, issue) = (retained.memory, retained.taken, retained.slot);
            self.retained[value] = None;
            let at = self.at(memory, issue);
            self.write[at] = None;
            self.leave((Unit { kind: Kind::Memory, index: memory }, 0), taken, (value, STORE));
        }
    }
}

/// One user more of what is taken already, or the first one.
fn share(entry: &mut Option<Shared<Taken>>, what: Taken, user: Use) {
    match entry {
        Some(shared) => shared.users.push(user),
        none => *none = Some(Shared { what, users: vec![user] }),
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
