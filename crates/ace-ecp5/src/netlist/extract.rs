// SPDX-License-Identifier: Apache-2.0
//! From pads backwards: every cell that an output depends on, and nothing else.

use std::collections::{BTreeSet, HashMap};

use super::cells::{Cell, Kind, Net, Netlist, Port};
use super::database::{Database, Pad};
use super::error::NetlistError;
use super::fabric::{Fabric, Wire};
use super::mult::no_cascades;
use super::pads::Role;
use super::pins::Pins;
use crate::memory::ConfigMemory;

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
    roots: HashMap<Wire, Wire>,
    waiting: Vec<Pending>,
    /// Numbers of the block memories.
    pub contents: BTreeSet<u16>,
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
}

/// The netlist that a configuration memory holds, and nothing but that netlist. Its ports are those of `pins`; a pad
/// that drives and is not among them is refused.
///
/// # Errors
/// Whatever the bits ask for and the translation does not cover, and every bit that the netlist does not rest on:
/// nothing is guessed, and nothing is passed over.
pub fn extract(memory: &ConfigMemory, database: &Database, pins: &Pins) -> Result<Netlist, NetlistError> {
    read(memory, database, pins, true)
}

/// As [`extract()`], but of what else the bits say, nothing is asked. A proof must not rest on it.
///
/// # Errors
/// What the bits of the netlist ask for and the translation does not cover.
pub fn follow(memory: &ConfigMemory, database: &Database, pins: &Pins) -> Result<Netlist, NetlistError> {
    read(memory, database, pins, false)
}

fn read(
    memory: &ConfigMemory,
    database: &Database,
    pins: &Pins,
    closed: bool,
) -> Result<Netlist, NetlistError> {
    if memory.device() != database.device {
        return Err(NetlistError::Device(memory.device().name, database.device.name));
    }
    let pads = database.pads(&pins.package).ok_or_else(|| {
        NetlistError::Pins(0, format!("{} has no package {}", database.device, pins.package))
    })?;
    let mut extractor = Extractor {
        fabric: Fabric::new(database, memory),
        netlist: Netlist::default(),
        nets: HashMap::new(),
        undefined: HashMap::new(),
        roots: HashMap::new(),
        waiting: Vec::new(),
        contents: BTreeSet::new(),
    };
    extractor.no_pad_registers()?;
    let mut balls: HashMap<Pad, &str> = HashMap::new();
    for (name, ball) in &pins.locations {
        let pad = pads.get(ball).ok_or_else(|| {
            NetlistError::Pins(0, format!("{name} is at {ball}, and {} has no such ball", pins.package))
        })?;
        balls.insert(*pad, name);
    }
    let mut all: Vec<&Pad> = pads.values().collect();
    all.sort_by_key(|pad| (pad.row, pad.col, pad.pio));
    let mut outputs = Vec::new();
    let mut roles = HashMap::new();
    for pad in all {
        match (extractor.drives(*pad)?, balls.get(pad)) {
            (true, Some(name)) => {
                roles.insert(*pad, Role::Output);
                outputs.push((*pad, *name));
            }
            (true, None) => {
                let place = format!("pad R{}C{}{}", pad.row, pad.col, pad.pio);
                return Err(NetlistError::Pins(0, format!("{place} is an output and has no name")));
            }
            (false, Some(name)) => {
                roles.insert(*pad, Role::Input);
                let net = extractor.netlist.net();
                let wire = extractor.pad_wire(*pad, "JPADDI")?;
                extractor.nets.insert(wire, net);
                let port = Port { name: (*name).to_owned(), net, output: false };
                extractor.netlist.ports.push(port);
            }
            (false, None) => {}
        }
    }
    for (pad, name) in outputs {
        let wire = extractor.pad_wire(pad, "PADDO")?;
        let net = extractor.need(wire)?;
        extractor.netlist.ports.push(Port { name: name.to_owned(), net, output: true });
    }
    extractor.finish()?;
    if closed {
        extractor.fabric.write_pads(&roles)?;
        extractor.fabric.write_short_list()?;
        extractor.quiet_quadrants()?;
        extractor.quiet_logic()?;
        extractor.fabric.close(&extractor.contents)?;
    }
    let mut netlist = extractor.netlist;
    for cell in &netlist.cells {
        for net in cell.kind.inputs() {
            if let Some(why) = extractor.undefined.get(&net) {
                return Err(NetlistError::Undriven(format!("{why}, which {} needs,", cell.name)));
            }
        }
    }
    no_cascades(&netlist)?;
    netlist.ports.sort_by(|a, b| a.name.cmp(&b.name));
    netlist.cells.sort_by(|a, b| a.name.cmp(&b.name));
    Ok(netlist)
}

impl Extractor<'_> {
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
            }
        }
        Ok(())
    }

    /// What a pin of the block fabric gets when nothing is routed to it: 1, or 0 if it is tied low.
    pub fn constant(&self, root: Wire) -> Option<Net> {
        let name = self.fabric.text(root).strip_prefix('J')?;
        let kind = name.trim_end_matches(|c: char| c.is_ascii_digit());
        if !matches!(kind, "A" | "B" | "C" | "D" | "CE" | "CLK" | "LSR" | "M") || name.len() != kind.len() + 1
        {
            return None;
        }
        let setting = format!("CIB.J{name}MUX");
        let tiles = || self.fabric.tiles_at(root.row, root.col);
        let coded = |value: &str| {
            tiles().any(|tile| {
                self.fabric.choice(tile, &setting) == Some(value)
                    && self.fabric.setting(tile, &setting).is_ok()
            })
        };
        // Clocks, resets and enables have one constant. For clocks and resets the database calls it 0, but it is the
        // code that is 1 in logic tiles (`WREMUX`), and what nextpnr writes, with an inversion in the block, for 0.
        let low = match kind {
            "CLK" | "LSR" => return coded("0").then_some(Net::ONE),
            "CE" => return coded("1").then_some(Net::ONE),
            _ => coded("0"),
        };
        // Without a code it is 1, too.
        if !low {
            coded("1");
        }
        Some(if low { Net::ZERO } else { Net::ONE })
    }

    /// The wire's origin, remembered.
    pub fn root(&mut self, wire: Wire) -> Result<Wire, NetlistError> {
        if let Some(root) = self.roots.get(&wire) {
            return Ok(*root);
        }
        let root = self.fabric.root(wire)?;
        self.roots.insert(wire, root);
        Ok(root)
    }

    /// A net that must be driven.
    pub fn need(&mut self, wire: Wire) -> Result<Net, NetlistError> {
        match self.source(wire)? {
            Source::Net(net) => Ok(net),
            Source::Undriven(root) => Err(NetlistError::Undriven(format!(
                "{} (from {})",
                self.fabric.describe(wire),
                self.fabric.describe(root)
            ))),
        }
    }

    /// As [`Extractor::need`], for a pin by its name in a tile.
    pub fn pin(&mut self, at: (i16, i16), name: &str) -> Result<Net, NetlistError> {
        let wire = self.at(at, name)?;
        self.need(wire)
    }

    /// A pin that makes no difference: it is constant, or nothing is routed to it.
    pub fn quiet(&mut self, at: (i16, i16), name: &str) -> Result<(), NetlistError> {
        let wire = self.at(at, name)?;
        let quiet = match self.source(wire)? {
            Source::Net(net) => matches!(net, Net::ZERO | Net::ONE),
            Source::Undriven(root) => self.fabric.text(root).starts_with('J'),
        };
        let what = || "a net at a pin that makes no difference".to_owned();
        quiet.then_some(()).ok_or_else(|| NetlistError::Unsupported(self.fabric.describe(wire), what()))
    }

    pub fn at(&self, at: (i16, i16), name: &str) -> Result<Wire, NetlistError> {
        self.fabric
            .wire(at.0, at.1, name)
            .ok_or_else(|| NetlistError::Undriven(format!("R{}C{}/{name}", at.0, at.1)))
    }

    /// Follows a wire to its origin, and makes the cell there if it is new.
    pub fn source(&mut self, wire: Wire) -> Result<Source, NetlistError> {
        let root = self.root(wire)?;
        if let Some(net) = self.nets.get(&root) {
            return Ok(Source::Net(*net));
        }
        if let Some(net) = self.constant(root) {
            return Ok(Source::Net(net));
        }
        let at = (root.row, root.col);
        let name = self.fabric.text(root);
        let made = if let Some(pin) = name.strip_suffix("_SLICE") {
            self.slice_output(at, pin)?
        } else if let Some(pin) = name.strip_suffix("_EBR").and_then(|n| n.strip_prefix('J')) {
            self.ebr_output(at, pin)?
        } else if let Some(pin) = name.strip_suffix("_MULT18").and_then(|n| n.strip_prefix('J')) {
            self.mult_output(at, pin)?
        } else if let Some(buffer) = name.strip_prefix("G_CLKO_") {
            self.clock_buffer(root, buffer)?
        } else {
            None
        };
        Ok(made.map_or(Source::Undriven(root), Source::Net))
    }

    /// A clock buffer hands its input on; its enable is not in use.
    fn clock_buffer(&mut self, root: Wire, buffer: &str) -> Result<Option<Net>, NetlistError> {
        let at = (root.row, root.col);
        if let Some(enable) = self.fabric.wire(at.0, at.1, &format!("G_JCE_{buffer}"))
            && self.source(enable)? != Source::Net(Net::ONE)
        {
            return Err(NetlistError::Unsupported(format!("clock buffer {buffer}"), "a clock enable".into()));
        }
        let net = self.pin(at, &format!("G_CLKI_{buffer}"))?;
        self.nets.insert(root, net);
        Ok(Some(net))
    }

    /// Gives an output of a cell its net.
    pub fn output(&mut self, at: (i16, i16), name: &str) -> Result<Net, NetlistError> {
        let wire = self.at(at, name)?;
        let net = self.netlist.net();
        self.nets.insert(wire, net);
        Ok(net)
    }

    pub fn later(&mut self, pending: Pending) {
        self.waiting.push(pending);
    }

    pub fn add(&mut self, name: String, kind: Kind) {
        self.netlist.cells.push(Cell { name, kind });
    }
}
