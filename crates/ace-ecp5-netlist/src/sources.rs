// SPDX-License-Identifier: Apache-2.0
//! From a wire back to what it begins with: a net, a constant, or nothing.

use super::cells::{Cell, Kind, Net};
use super::error::NetlistError;
use super::extractor::{Extractor, Pending, Source};
use super::wire::Wire;

impl Extractor<'_> {
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
        // While a bit is tried, nothing that is found holds afterwards.
        if self.fabric.flipped.get().is_some() {
            return self.fabric.root(wire);
        }
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
        } else if let Some(made) = self.open_output(root)? {
            Some(made)
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
            if self.fabric.open {
                return self.gated_clock(root, buffer).map(Some);
            }
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
