// SPDX-License-Identifier: Apache-2.0
//! The netlist while it grows: what is named, what is still to be followed, and what was met on the way. How cells of
//! each kind are made stands in the file of that kind, which adds its methods to [`Extractor`].

use std::collections::{BTreeSet, HashMap};

use super::cells::{Net, Netlist};
use super::database::Tile;
use super::error::NetlistError;
use super::fabric::Fabric;
use super::mult::no_cascades;
use super::wire::Wire;

/// What a way through the fabric begins with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Source {
    Net(Net),
    Undriven(Wire),
}

/// The netlist while it grows. Cells are made when something asks for their outputs; their inputs are followed
/// later, from `waiting`, so that nothing recurses.
pub(crate) struct Extractor<'a> {
    pub fabric: Fabric<'a>,
    pub netlist: Netlist,
    pub nets: HashMap<Wire, Net>,
    /// Nets without a value, and why; nothing may use them.
    pub undefined: HashMap<Net, String>,
    pub roots: HashMap<Wire, Wire>,
    pub waiting: Vec<Pending>,
    /// Numbers of the block memories.
    pub contents: BTreeSet<u16>,
    /// nextpnr's sources of 0 and of 1 were found with nothing that reads them.
    pub constants: [bool; 2],
    /// Tiles in which it was looked for what nothing reads.
    pub looked_into: Vec<Tile>,
}

/// A cell that is named already, and whose inputs are not followed yet.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Pending {
    Lut { at: (i16, i16), lut: usize, output: Net },
    Mux5 { at: (i16, i16), slice: usize, output: Net },
    Mux6 { at: (i16, i16), slice: usize, output: Net },
    Carry { at: (i16, i16), slice: usize, sums: [Net; 2], carry_out: Net },
    Ff { at: (i16, i16), ff: usize, output: Net },
    Ram { at: (i16, i16), outputs: [Net; 4] },
    Ebr { at: (i16, i16), block: u8 },
    Mult { at: (i16, i16) },
    Open(super::open::Site),
}

impl<'a> Extractor<'a> {
    pub fn new(fabric: Fabric<'a>) -> Self {
        Self {
            fabric,
            netlist: Netlist::default(),
            nets: HashMap::new(),
            undefined: HashMap::new(),
            roots: HashMap::new(),
            waiting: Vec::new(),
            contents: BTreeSet::new(),
            constants: [false; 2],
            looked_into: Vec::new(),
        }
    }

    /// Forgets cells, and what is to be followed.
    pub fn forget(&mut self) {
        self.netlist.cells.clear();
        self.waiting.clear();
    }

    /// Follows the inputs of every cell that was named.
    pub fn finish(&mut self) -> Result<(), NetlistError> {
        while let Some(pending) = self.waiting.pop() {
            match pending {
                Pending::Lut { at, lut, output } => self.lut(at, lut, output)?,
                Pending::Mux5 { at, slice, output } => self.mux5(at, slice, output)?,
                Pending::Mux6 { at, slice, output } => self.mux6(at, slice, output)?,
                Pending::Carry { at, slice, sums, carry_out } => self.carry(at, slice, sums, carry_out)?,
                Pending::Ff { at, ff, output } => self.ff(at, ff, output)?,
                Pending::Ram { at, outputs } => self.ram(at, outputs)?,
                Pending::Ebr { at, block } => self.ebr(at, block)?,
                Pending::Mult { at } => self.mult(at)?,
                Pending::Open(site) => self.open_site(site)?,
            }
        }
        Ok(())
    }

    /// Judges the netlist when all of it is there.
    ///
    /// # Errors
    /// A net without a value that something needs, or a multiplier's cascade.
    pub fn settle(&mut self) -> Result<(), NetlistError> {
        let read = self.netlist.read();
        let needed = self.undefined.iter().filter_map(|(net, why)| read.get(net).map(|who| (*who, why)));
        if let Some((who, why)) = needed.min() {
            return Err(NetlistError::Undriven(format!("{why}, which {who} needs,")));
        }
        self.netlist.begin_chains();
        no_cascades(&self.netlist)
    }
}
