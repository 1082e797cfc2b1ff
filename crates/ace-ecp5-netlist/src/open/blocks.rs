// SPDX-License-Identifier: Apache-2.0
//! Blocks of which the device has few: PLLs, the oscillator, gated clocks, the configuration's clock pin and JTAG.

use std::collections::{BTreeMap, BTreeSet};

use super::Site;
use super::pad_logic::block;
use crate::cells::Net;
use crate::database::Tile;
use crate::error::NetlistError;
use crate::extractor::{Extractor, Pending, Source};
use crate::wire::{NOWHERE, Wire};

/// Where the tiles of a PLL are, from the place of its pins: rows down and columns right, and their types.
type PllTiles = [(i16, i16, &'static [&'static str]); 2];
const PLLS: [PllTiles; 4] = [
    [(0, -1, &["PLL0_UL"]), (1, -1, &["PLL1_UL"])],
    [(1, 0, &["PLL0_LL"]), (1, 1, &["BANKREF8"])],
    [(1, 0, &["PLL0_LR"]), (1, -1, &["PLL1_LR", "BANKREF4"])],
    [(0, 1, &["PLL0_UR"]), (1, 1, &["PLL1_UR"])],
];
/// Outputs of a PLL: pins of the cell, and the wires.
const PLL_OUTPUTS: [(&str, &str); 7] = [
    ("CLKOP", "JCLKOP_PLL"),
    ("CLKOS", "JCLKOS_PLL"),
    ("CLKOS2", "JCLKOS2_PLL"),
    ("CLKOS3", "JCLKOS3_PLL"),
    ("LOCK", "JLOCK_PLL"),
    ("INTLOCK", "JINTLOCK_PLL"),
    ("CLKINTFB", "CLKINTFB_PLL"),
];
/// Its inputs.
const PLL_INPUTS: [(&str, &str); 14] = [
    ("CLKI", "CLKI_PLL"),
    ("CLKFB", "CLKFB_PLL"),
    ("RST", "JRST_PLL"),
    ("STDBY", "JSTDBY_PLL"),
    ("PHASESEL0", "JPHASESEL0_PLL"),
    ("PHASESEL1", "JPHASESEL1_PLL"),
    ("PHASEDIR", "JPHASEDIR_PLL"),
    ("PHASESTEP", "JPHASESTEP_PLL"),
    ("PHASELOADREG", "JPHASELOADREG_PLL"),
    ("PLLWAKESYNC", "JPLLWAKESYNC_PLL"),
    ("ENCLKOP", "JENCLKOP_PLL"),
    ("ENCLKOS", "JENCLKOS_PLL"),
    ("ENCLKOS2", "JENCLKOS2_PLL"),
    ("ENCLKOS3", "JENCLKOS3_PLL"),
];
const JTAG_OUTPUTS: [&str; 9] =
    ["JTCK", "JTDI", "JRSTN", "JSHIFT", "JCE1", "JRTI1", "JCE2", "JRTI2", "JUPDATE"];

impl Extractor<'_> {
    /// The block behind an output that is none of logic.
    pub(crate) fn open_output(&mut self, root: Wire) -> Result<Option<Net>, NetlistError> {
        if !self.fabric.open {
            return Ok(None);
        }
        let name = self.fabric.text(root);
        let at = (root.row, root.col);
        match name.rsplit_once('_') {
            Some((pin, "IOLOGIC" | "SIOLOGIC")) => self.pad_logic_output(root, pin),
            Some((pin, "PIO")) if pin.starts_with("JPADDI") => Err(NetlistError::Undriven(format!(
                "{}, which is set to no input,",
                self.fabric.describe(root)
            ))),
            Some((_, "PLL")) if PLL_OUTPUTS.iter().any(|(_, wire)| *wire == name) => {
                for (_, wire) in PLL_OUTPUTS {
                    self.output(at, wire)?;
                }
                self.later(Pending::Open(Site::Pll { at }));
                Ok(self.nets.get(&root).copied())
            }
            Some(("JPADDI", "CCLK")) => Ok(None),
            Some((pin, "JTAG")) if JTAG_OUTPUTS.contains(&&pin[1..]) => {
                for pin in JTAG_OUTPUTS {
                    self.output(at, &format!("J{pin}_JTAG"))?;
                }
                self.later(Pending::Open(Site::Jtag { at }));
                Ok(self.nets.get(&root).copied())
            }
            Some(("G_JOSC", "OSC")) => self.oscillator(root).map(Some),
            _ => Ok(None),
        }
    }

    pub(crate) fn open_site(&mut self, site: Site) -> Result<(), NetlistError> {
        match site {
            Site::Pll { at } => self.pll(at),
            Site::Jtag { at } => self.jtag(at),
            other => self.pad_site(other),
        }
    }

    fn tile_of_type(&self, name: &str) -> Option<Tile> {
        let tiles = &self.fabric.database.tiles;
        tiles.iter().find(|tile| self.fabric.type_name(tile) == name).copied()
    }

    /// The device's global reset is not in use: flip-flops that obey it are never reset by it.
    pub(super) fn no_global_reset(&self) -> Result<(), NetlistError> {
        let tile = self.tile_of_type("EFB0_PICB0");
        let mode = tile.and_then(|tile| self.fabric.choice(&tile, "GSR.GSRMODE"));
        match mode {
            None | Some("NONE") => Ok(()),
            Some(mode) => {
                Err(NetlistError::Unsupported("the device".into(), format!("a global reset, {mode},")))
            }
        }
    }

    fn oscillator(&mut self, root: Wire) -> Result<Net, NetlistError> {
        let refuse = |what: &str| NetlistError::Unsupported("the oscillator".into(), what.to_owned());
        let tile = self.tile_of_type("EFB1_PICB1").ok_or_else(|| refuse("this device"))?;
        let tiles: Vec<Tile> =
            ["EFB0_PICB0", "EFB1_PICB1"].iter().filter_map(|name| self.tile_of_type(name)).collect();
        if self.fabric.setting(&tile, "OSC.MODE")? != "OSCG" {
            return Err(refuse("one that is off"));
        }
        let divider = self.fabric.spread_setting(&tiles, "OSC.DIV").ok_or_else(|| refuse("this divider"))?;
        let net = self.netlist.net();
        self.nets.insert(root, net);
        let parameters = BTreeMap::from([("DIV".to_owned(), divider.to_owned())]);
        self.add("OSCG".to_owned(), block("OSCG", parameters, &[], &[("OSC", net)]));
        Ok(net)
    }

    /// A clock buffer whose enable is no constant.
    pub(crate) fn gated_clock(&mut self, root: Wire, buffer: &str) -> Result<Net, NetlistError> {
        let at = (root.row, root.col);
        let clock = self.pin(at, &format!("G_CLKI_{buffer}"))?;
        let enable = self.pin(at, &format!("G_JCE_{buffer}"))?;
        // As `LDCC3`: the setting is called DCC_L3.
        let name = format!("DCC_{}{}.MODE", &buffer[..1], &buffer[4..]);
        let tiles: Vec<Tile> = self
            .fabric
            .database
            .tiles
            .iter()
            .filter(|tile| self.fabric.database.types[usize::from(tile.kind)].choices.contains_key(&name))
            .copied()
            .collect();
        let gated = self.fabric.spread_setting(&tiles, &name) == Some("DCCA");
        let net = if gated { self.netlist.net() } else { clock };
        self.nets.insert(root, net);
        if gated {
            let inputs = [("CE", enable), ("CLKI", clock)];
            self.add(format!("{buffer}_DCCA"), block("DCCA", BTreeMap::new(), &inputs, &[("CLKO", net)]));
        }
        Ok(net)
    }

    /// The configuration's clock pin, where the design drives it.
    pub(super) fn user_clock(&mut self) -> Result<(), NetlistError> {
        let Some(tile) = self.tile_of_type("EFB3_PICB1") else { return Ok(()) };
        if self.fabric.choice(&tile, "CCLK.MODE") != Some("USRMCLK") {
            return Ok(());
        }
        self.fabric.setting(&tile, "CCLK.MODE")?;
        let Some(efb) = self.tile_of_type("EFB1_PICB1") else { return Ok(()) };
        let at = (efb.row, efb.col - 5);
        let inputs =
            [("USRMCLKI", self.pin(at, "JPADDO_CCLK")?), ("USRMCLKTS", self.pin(at, "JPADDT_CCLK")?)];
        self.add("USRMCLK".to_owned(), block("USRMCLK", BTreeMap::new(), &inputs, &[]));
        Ok(())
    }

    fn jtag(&mut self, at: (i16, i16)) -> Result<(), NetlistError> {
        let tile = self.tile_of_type("EFB0_PICB0");
        let mut parameters = BTreeMap::new();
        for name in ["ER1", "ER2"] {
            let value = tile.map(|tile| self.fabric.setting(&tile, &format!("JTAG.{name}"))).transpose()?;
            parameters.insert(name.to_owned(), format!("\"{}\"", value.unwrap_or("DISABLED")));
        }
        let inputs = [("JTDO1", self.pin(at, "JJTDO1_JTAG")?), ("JTDO2", self.pin(at, "JJTDO2_JTAG")?)];
        let mut outputs = Vec::new();
        for pin in JTAG_OUTPUTS {
            let wire = self.at(at, &format!("J{pin}_JTAG"))?;
            outputs.push((pin, self.nets[&wire]));
        }
        self.add("JTAGG".to_owned(), block("JTAGG", parameters, &inputs, &outputs));
        Ok(())
    }

    fn pll_tiles(&self, at: (i16, i16)) -> Option<Vec<Tile>> {
        PLLS.iter().find_map(|places| {
            let one = |(down, right, types): &(i16, i16, &'static [&'static str])| {
                let mut here = self.fabric.tiles_at(at.0 + down, at.1 + right);
                here.find(|tile| types.contains(&self.fabric.type_name(tile))).copied()
            };
            places.iter().map(one).collect()
        })
    }

    fn pll(&mut self, at: (i16, i16)) -> Result<(), NetlistError> {
        let place = format!("R{}C{} PLL", at.0, at.1);
        let refuse = |what: &str| NetlistError::Unsupported(place.clone(), what.to_owned());
        let tiles = self.pll_tiles(at).ok_or_else(|| refuse("a PLL of this place"))?;
        let kinds = || tiles.iter().map(|tile| &self.fabric.database.types[usize::from(tile.kind)]);
        let choices: BTreeSet<String> = kinds().flat_map(|kind| kind.choices.keys().cloned()).collect();
        let words: BTreeSet<String> = kinds().flat_map(|kind| kind.words.keys().cloned()).collect();
        let mut parameters = BTreeMap::new();
        for name in choices.iter().filter(|name| !name.contains('.')) {
            let value = self.fabric.spread_setting(&tiles, name);
            let value = value.ok_or_else(|| NetlistError::Setting(place.clone(), name.clone()))?;
            parameters.insert(name.clone(), format!("\"{value}\""));
        }
        if parameters.remove("MODE").as_deref() != Some("\"EHXPLLL\"") {
            return Err(refuse("a PLL that is off, with its outputs in use,"));
        }
        for name in words.iter().filter(|name| !name.contains('.')) {
            let mut digits: Vec<Option<bool>> = Vec::new();
            for word in tiles.iter().filter_map(|tile| self.fabric.word(tile, name)) {
                digits.resize(digits.len().max(word.len()), None);
                for (known, digit) in digits.iter_mut().zip(word) {
                    *known = known.or(digit);
                }
            }
            let value =
                digits.iter().rev().try_fold(0u32, |sum, digit| digit.map(|bit| sum << 1 | u32::from(bit)));
            let value = value.ok_or_else(|| NetlistError::Setting(place.clone(), name.clone()))?;
            // Dividers are one more than their bits.
            let value = value + u32::from(name.ends_with("_DIV"));
            parameters.insert(name.clone(), value.to_string());
        }
        let mut inputs = Vec::new();
        for (pin, wire) in PLL_INPUTS {
            let wire = self.at(at, wire)?;
            match self.source(wire)? {
                Source::Net(net) => inputs.push((pin, net)),
                Source::Undriven(_) if pin == "CLKFB" && parameters["FEEDBK_PATH"] != "\"USERCLOCK\"" => {}
                Source::Undriven(root) => {
                    return Err(NetlistError::Undriven(format!(
                        "{place}: {pin} (from {})",
                        self.fabric.describe(root)
                    )));
                }
            }
        }
        let mut outputs = Vec::new();
        for (pin, wire) in PLL_OUTPUTS {
            let wire = self.at(at, wire)?;
            outputs.push((pin, self.nets[&wire]));
        }
        self.add(place.replace(' ', "_"), block("EHXPLLL", parameters, &inputs, &outputs));
        debug_assert_ne!(at.0, NOWHERE);
        Ok(())
    }
}
