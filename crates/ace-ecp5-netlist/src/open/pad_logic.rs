// SPDX-License-Identifier: Apache-2.0
//! What is between a pad and the fabric: flip-flops for input, output and tristate, which are flip-flops like others, and
//! DDR registers and delays, which are blocks.

use std::collections::BTreeMap;

use super::Site;
use crate::cells::{Kind, Net, Pin};
use crate::database::{Pad, Tile};
use crate::error::NetlistError;
use crate::extractor::{Extractor, Pending};
use crate::fabric::Fabric;
use crate::wire::Wire;

/// The modes in which a pad's logic has single registers.
const SINGLE: [&str; 3] = ["IREG_OREG", "IDDRX1_ODDRX1", "NONE"];
const DDR: &str = "IDDRX1_ODDRX1";

fn place(pad: Pad) -> String {
    format!("R{}C{}{}", pad.row, pad.col, pad.pio)
}

/// The pad that a pin of its logic belongs to, by the letter at the end of the pin's name.
fn pad_of(wire: Wire, pin: &str) -> Option<(Pad, &str)> {
    let pio = pin.chars().last().filter(|letter| ('A'..='D').contains(letter))?;
    Some((Pad { row: wire.row, col: wire.col, pio }, &pin[..pin.len() - 1]))
}

/// A block's pins: inputs, then outputs.
pub(super) fn block(
    cell: &'static str,
    parameters: BTreeMap<String, String>,
    inputs: &[(&str, Net)],
    outputs: &[(&str, Net)],
) -> Kind {
    let pins = |list: &[(&str, Net)], output| {
        list.iter()
            .map(move |(name, net)| Pin { name: (*name).to_owned(), net: *net, output })
            .collect::<Vec<_>>()
    };
    Kind::Block { cell, parameters, pins: [pins(inputs, false), pins(outputs, true)].concat() }
}

impl Fabric<'_> {
    /// What the tiles of a pad hold for a setting of its logic.
    fn pad_logic(&self, pad: Pad, name: &str) -> Option<&str> {
        self.open_pad_tiles(pad)
            .iter()
            .find_map(|tile| self.find_choice(tile, &format!("IOLOGIC{}.{name}", pad.pio)))
    }

    /// Whether an output of a pad's logic has no value: outputs of several kinds of registers share wires.
    pub(crate) fn pad_logic_unused(&self, source: Wire, pin: &str) -> bool {
        let Some((pad, name)) = pad_of(source, pin) else { return true };
        let mode = self.pad_logic(pad, "MODE").unwrap_or("NONE");
        let clocked = self.pad_logic(pad, "CLKIMUX").is_some_and(|value| value != "0");
        match name {
            "JRXDATA0" | "JRXDATA1" => mode != DDR || !clocked,
            // At the upper and lower edge single registers have the same mode as none.
            "JINFF" => !SINGLE.contains(&mode) || mode == DDR || !clocked,
            "INDD" | "JCFLAG" => false,
            // What modes that are not covered drive is not passed over, but refused.
            "JRXDATA2" | "JRXDATA3" => SINGLE.contains(&mode),
            _ => true,
        }
    }
}

impl Extractor<'_> {
    fn logic_setting(&self, tiles: &[Tile], pad: Pad, name: &str) -> Result<&str, NetlistError> {
        let name = format!("IOLOGIC{}.{name}", pad.pio);
        let tile = tiles
            .iter()
            .find(|tile| self.fabric.database.types[usize::from(tile.kind)].choices.contains_key(&name));
        let tile = tile.ok_or_else(|| NetlistError::Setting(place(pad), name.clone()))?;
        self.fabric.setting(tile, &name)
    }

    /// A setting of the pad itself that says where it takes its output or tristate from.
    fn pad_mux(&self, tiles: &[Tile], pad: Pad, name: &str) -> Result<bool, NetlistError> {
        let name = format!("PIO{}.{name}", pad.pio);
        let tile = tiles
            .iter()
            .find(|tile| self.fabric.database.types[usize::from(tile.kind)].choices.contains_key(&name));
        let Some(tile) = tile else { return Ok(false) };
        // Without a value there is nothing to explain, and bits that it shares are another setting's.
        if !self.fabric.choice(tile, &name).is_some_and(|value| value.starts_with("IOL")) {
            return Ok(false);
        }
        self.fabric.setting(tile, &name).map(|_| true)
    }

    fn refuse_pad<T>(&self, pad: Pad, what: &str) -> Result<T, NetlistError> {
        Err(NetlistError::Unsupported(format!("pad {}", place(pad)), what.to_owned()))
    }

    /// Where a pad's logic is on, its settings for what is not in use are what they are: nothing reads it. Whoever wants to
    /// know them gets all of them.
    pub(super) fn explain_logic(&self, pad: Pad, tiles: &[Tile]) -> BTreeMap<String, String> {
        let mut found = BTreeMap::new();
        let on = |name: &str| self.fabric.pad_logic(pad, name).is_some_and(|value| value != "0");
        if !on("CLKIMUX") && !on("CLKOMUX") {
            return found;
        }
        let begin = format!("IOLOGIC{}.", pad.pio);
        for tile in tiles {
            let names = self.fabric.database.types[usize::from(tile.kind)].choices.keys();
            for name in names.filter(|name| name.starts_with(&begin)) {
                let value = self.fabric.find_setting(tile, name).unwrap_or("of no known value");
                found.insert(name[begin.len()..].to_owned(), value.to_owned());
            }
        }
        found
    }

    /// A pin of a pad's logic, at whichever edge.
    fn logic_pin(&mut self, pad: Pad, pin: &str) -> Result<Net, NetlistError> {
        let edge = if self.edge(pad) { "SIOLOGIC" } else { "IOLOGIC" };
        self.pin((pad.row, pad.col), &format!("{pin}{}_{edge}", pad.pio))
    }

    /// Whether a pad is at the upper or lower edge, where its logic is the small kind.
    fn edge(&self, pad: Pad) -> bool {
        pad.row == 0 || Some(pad.row) == self.fabric.database.tiles.iter().map(|tile| tile.row).max()
    }

    /// The net, or its complement by a table.
    fn turned(&mut self, net: Net, turn: bool, name: String) -> Net {
        match (turn, net) {
            (false, _) => net,
            (true, Net::ZERO) => Net::ONE,
            (true, Net::ONE) => Net::ZERO,
            (true, _) => {
                let output = self.netlist.net();
                self.add(
                    name,
                    Kind::Lut { init: 0x5555, inputs: [net, Net::ONE, Net::ONE, Net::ONE], output },
                );
                output
            }
        }
    }

    /// Clock and reset of one side (`I` or `O`) of a pad's logic, each with whether it is inverted.
    fn clocking(&mut self, tiles: &[Tile], pad: Pad, side: char) -> Result<[(Net, bool); 2], NetlistError> {
        let clock = match self.logic_setting(tiles, pad, &format!("CLK{side}MUX"))? {
            "0" => return self.refuse_pad(pad, "a register without a clock"),
            value => value == "INV",
        };
        let clock = (self.logic_pin(pad, "JCLK")?, clock);
        let reset = match self.logic_setting(tiles, pad, &format!("LSR{side}MUX"))? {
            "0" => (Net::ZERO, false),
            _ => {
                let inverted = self.logic_setting(tiles, pad, "LSRMUX")? == "INV";
                (self.logic_pin(pad, "JLSR")?, inverted)
            }
        };
        let reset = match reset {
            (Net::ONE, true) | (Net::ZERO, false) => (Net::ZERO, false),
            (Net::ZERO, true) => (Net::ONE, false),
            other => other,
        };
        Ok([clock, reset])
    }

    /// A flip-flop of a pad.
    fn pad_register(
        &mut self,
        pad: Pad,
        (side, part, name): (char, &str, &str),
        data: Net,
        output: Net,
    ) -> Result<(), NetlistError> {
        let tiles = self.fabric.open_pad_tiles(pad);
        let mode = self.logic_setting(&tiles, pad, "MODE")?.to_owned();
        if !SINGLE.contains(&mode.as_str()) {
            return self.refuse_pad(pad, &format!("mode {mode} of its logic"));
        }
        let kind = if part == "FF" { "FF.INREGMODE".to_owned() } else { format!("{part}.OUTREGMODE") };
        if self.logic_setting(&tiles, pad, &kind)? != "FF" {
            return self.refuse_pad(pad, "a latch");
        }
        self.logic_setting(&tiles, pad, "GSR")?;
        let [clock, reset] = self.clocking(&tiles, pad, side)?;
        let enable = match self.logic_setting(&tiles, pad, &format!("CE{side}MUX"))? {
            "1" => (Net::ONE, false),
            _ => {
                let inverted = self.logic_setting(&tiles, pad, "CEMUX")? == "INV";
                (self.logic_pin(pad, "JCE")?, inverted)
            }
        };
        let asynchronous = self.logic_setting(&tiles, pad, "SRMODE")? == "ASYNC";
        let set = self.logic_setting(&tiles, pad, &format!("{part}.REGSET"))? == "SET";
        self.add(
            format!("{}_{name}", place(pad)),
            Kind::Ff { clock, enable, reset, asynchronous, set, data, output },
        );
        Ok(())
    }

    /// What a pad is given to drive.
    pub(super) fn pad_out(&mut self, pad: Pad, tiles: &[Tile]) -> Result<Net, NetlistError> {
        if self.pad_mux(tiles, pad, "DATAMUX_MDDR")? {
            return self.refuse_pad(pad, "a DDR output register for memories");
        }
        let ddr = self.pad_mux(tiles, pad, "DATAMUX_ODDR")?;
        let register = self.pad_mux(tiles, pad, "DATAMUX_OREG")?;
        if !ddr && !register {
            return self.pin((pad.row, pad.col), &format!("PADDO{}_PIO", pad.pio));
        }
        let mode = self.logic_setting(tiles, pad, "MODE")?.to_owned();
        let data = self.logic_pin(pad, "JTXDATA0")?;
        let output = self.netlist.net();
        if mode == DDR && ddr {
            self.logic_setting(tiles, pad, "GSR")?;
            self.logic_setting(tiles, pad, "SRMODE")?;
            let [clock, reset] = self.clocking(tiles, pad, 'O')?;
            let second = self.logic_pin(pad, "JTXDATA1")?;
            let clock = self.turned(clock.0, clock.1, format!("{}_CLKO", place(pad)));
            let reset = self.turned(reset.0, reset.1, format!("{}_RSTO", place(pad)));
            let inputs = [("D0", data), ("D1", second), ("RST", reset), ("SCLK", clock)];
            let kind = block("ODDRX1F", BTreeMap::new(), &inputs, &[("Q", output)]);
            self.add(format!("{}_ODDR", place(pad)), kind);
        } else if register {
            self.pad_register(pad, ('O', "OUTREG", "OREG"), data, output)?;
        } else {
            return self.refuse_pad(pad, &format!("mode {mode} of its logic"));
        }
        if self.fabric.pad_logic(pad, "DELAY.OUTDEL") == Some("ENABLED") {
            return self.refuse_pad(pad, "a delayed output");
        }
        Ok(output)
    }

    /// When a pad is not driven.
    pub(super) fn pad_off(&mut self, pad: Pad, tiles: &[Tile]) -> Result<Net, NetlistError> {
        if self.pad_mux(tiles, pad, "TRIMUX_TSREG")? {
            let data = self.logic_pin(pad, "JTSDATA0")?;
            let output = self.netlist.net();
            self.pad_register(pad, ('O', "TSREG", "TREG"), data, output)?;
            return Ok(output);
        }
        let wire = self.at((pad.row, pad.col), &format!("PADDT{}_PIO", pad.pio))?;
        let root = self.root(wire)?;
        if self.fabric.text(root).ends_with("_PIO") {
            return Ok(Net::ONE);
        }
        self.need(wire)
    }

    /// An output of a pad's logic, by its name without the letter.
    pub(super) fn pad_logic_output(&mut self, root: Wire, pin: &str) -> Result<Option<Net>, NetlistError> {
        let Some((pad, name)) = pad_of(root, pin) else { return Ok(None) };
        let at = (root.row, root.col);
        let edge = if self.edge(pad) { "SIOLOGIC" } else { "IOLOGIC" };
        let wire = |name: &str| format!("{name}{}_{edge}", pad.pio);
        match name {
            "JINFF" => {
                let output = self.output(at, &wire("JINFF"))?;
                self.later(Pending::Open(Site::InputRegister { pad, output }));
            }
            "JRXDATA0" | "JRXDATA1" => {
                let outputs = [self.output(at, &wire("JRXDATA0"))?, self.output(at, &wire("JRXDATA1"))?];
                self.later(Pending::Open(Site::InputDdr { pad, outputs }));
            }
            "INDD" | "JCFLAG" => {
                let outputs = [self.output(at, &wire("INDD"))?, self.output(at, &wire("JCFLAG"))?];
                self.later(Pending::Open(Site::Delay { pad, outputs }));
            }
            _ => return self.refuse_pad(pad, &format!("its output {name}")),
        }
        Ok(self.nets.get(&root).copied())
    }

    /// What the registers behind a pad's input see: the pad, or its delay.
    fn register_input(&mut self, pad: Pad) -> Result<Net, NetlistError> {
        let wire = self.at((pad.row, pad.col), &format!("JDI{}", pad.pio))?;
        let from = self.fabric.driver(wire)?;
        if from.is_some_and(|from| self.fabric.text(from).starts_with("INDD")) {
            return self.need(wire);
        }
        self.pin((pad.row, pad.col), &format!("JPADDI{}_PIO", pad.pio))
    }

    pub(super) fn pad_site(&mut self, site: Site) -> Result<(), NetlistError> {
        match site {
            Site::InputRegister { pad, output } => {
                let data = self.register_input(pad)?;
                self.pad_register(pad, ('I', "FF", "IREG"), data, output)
            }
            Site::InputDdr { pad, outputs: [q0, q1] } => {
                let tiles = self.fabric.open_pad_tiles(pad);
                for name in ["MODE", "GSR", "SRMODE"] {
                    self.logic_setting(&tiles, pad, name)?;
                }
                let [clock, reset] = self.clocking(&tiles, pad, 'I')?;
                let data = self.register_input(pad)?;
                let clock = self.turned(clock.0, clock.1, format!("{}_CLKI", place(pad)));
                let reset = self.turned(reset.0, reset.1, format!("{}_RSTI", place(pad)));
                let inputs = [("D", data), ("RST", reset), ("SCLK", clock)];
                let kind = block("IDDRX1F", BTreeMap::new(), &inputs, &[("Q0", q0), ("Q1", q1)]);
                self.add(format!("{}_IDDR", place(pad)), kind);
                Ok(())
            }
            Site::Delay { pad, outputs: [z, cflag] } => {
                let tiles = self.fabric.open_pad_tiles(pad);
                let name = format!("IOLOGIC{}.DELAY.DEL_VALUE", pad.pio);
                let digits = tiles.iter().find_map(|tile| self.fabric.word(tile, &name));
                let digits = digits.ok_or_else(|| NetlistError::Setting(place(pad), name))?;
                let value =
                    digits.iter().rev().fold(0u32, |sum, digit| sum << 1 | u32::from(*digit == Some(true)));
                for name in ["MODE", "DELAY.WAIT_FOR_EDGE", "GSR"] {
                    self.logic_setting(&tiles, pad, name)?;
                }
                let a = self.pin((pad.row, pad.col), &format!("JPADDI{}_PIO", pad.pio))?;
                let mut inputs = vec![("A", a)];
                let moves = self.logic_setting(&tiles, pad, "LOADNMUX")? == "LOADN";
                for (pin, own) in [("LOADN", "JLOADN"), ("MOVE", "JMOVE"), ("DIRECTION", "JDIRECTION")] {
                    let net = if moves { self.logic_pin(pad, own)? } else { Net::ZERO };
                    inputs.push((pin, net));
                }
                let parameters = BTreeMap::from([("DEL_VALUE".to_owned(), value.to_string())]);
                let kind = block("DELAYF", parameters, &inputs, &[("Z", z), ("CFLAG", cflag)]);
                self.add(format!("{}_DELAY", place(pad)), kind);
                Ok(())
            }
            _ => Ok(()),
        }
    }
}
