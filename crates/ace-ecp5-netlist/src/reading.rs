// SPDX-License-Identifier: Apache-2.0
//! A reading of a memory, kept with all that it asked.

use std::collections::{HashMap, HashSet};

use super::cells::{Net, Netlist};
use super::database::{Database, Tile};
use super::error::NetlistError;
use super::extract::whole;
use super::fabric::Fabric;
use super::pins::Pins;
use super::query_cache::{Answers, QueryCache};
use super::wire::Wire;
use ace_ecp5::memory::ConfigMemory;

/// A memory that was read, and what its reading asked.
pub struct Reading<'a> {
    pub(super) memory: &'a ConfigMemory,
    pub(super) database: &'a Database,
    pub(super) pins: &'a Pins,
    pub(super) answers: Answers<'a>,
    pub(super) netlist: Netlist,
    /// The reading as it stood at its end.
    pub(super) nets: HashMap<Wire, Net>,
    pub(super) constants: [bool; 2],
    pub(super) residual: HashSet<Tile>,
    pub(super) written: ConfigMemory,
}

impl<'a> Reading<'a> {
    /// # Errors
    /// Those of [`super::extract()`].
    pub fn new(
        memory: &'a ConfigMemory,
        database: &'a Database,
        pins: &'a Pins,
    ) -> Result<Self, NetlistError> {
        let mut fabric = Fabric::new(database, memory);
        fabric.cache = Some(QueryCache::default());
        let end = whole(fabric, pins, true)?;
        let netlist = sorted(end.netlist);
        let answers = end.fabric.cache.map(QueryCache::into_answers).unwrap_or_default();
        let (residual, written) = (end.looked_into.into_iter().collect(), end.fabric.written.into_inner());
        Ok(Self {
            memory,
            database,
            pins,
            answers,
            netlist,
            nets: end.nets,
            constants: end.constants,
            residual,
            written,
        })
    }

    /// The circuit.
    pub fn netlist(&self) -> &Netlist {
        &self.netlist
    }
}

/// The netlist with cells and ports in the order of their names.
pub(super) fn sorted(mut netlist: Netlist) -> Netlist {
    netlist.ports.sort_by(|a, b| a.name.cmp(&b.name));
    netlist.cells.sort_by(|a, b| a.name.cmp(&b.name));
    netlist
}
