// SPDX-License-Identifier: Apache-2.0
//! Block memories: their settings lie in several tiles beside each other.

use std::collections::BTreeMap;

use super::cells::{Kind, Net, Pin};
use super::database::Tile;
use super::error::NetlistError;
use super::extractor::{Extractor, Pending};

/// Words of 9 bits in a block memory.
const EBR_WORDS: usize = 2048;

fn quoted(parameters: &mut BTreeMap<String, String>, name: &str, value: &str) {
    parameters.insert(name.to_owned(), format!("\"{value}\""));
}

/// The pins of one port of a block memory, `A` or `B`, without its outputs.
fn ebr_inputs(side: char) -> Vec<String> {
    let group = |name: &str, count: usize| (0..count).map(move |n| format!("{name}{n}")).collect::<Vec<_>>();
    let mut pins = group(&format!("DI{side}"), 18);
    pins.extend(group(&format!("AD{side}"), 14));
    pins.extend(["CE", "OCE", "CLK", "WE", "RST"].map(|name| format!("{name}{side}")));
    pins.extend(group(&format!("CS{side}"), 3));
    pins
}

/// Whether a bit of an address is below the width of the port and enables no byte.
fn unused_address(width: &str, bit: u8) -> bool {
    match width {
        "36" => bit == 4,
        "18" => bit == 2 || bit == 3,
        "9" => bit < 3,
        "4" => bit < 2,
        "2" => bit < 1,
        _ => false,
    }
}

impl Extractor<'_> {
    fn row_of_tiles(&self, row: i16, cols: impl Iterator<Item = i16>) -> Vec<Tile> {
        cols.flat_map(|col| self.fabric.tiles_at(row, col).copied()).collect()
    }

    /// A setting of a block whose bits lie in several tiles: the one value that every tile allows.
    fn spread(&self, tiles: &[Tile], name: &str) -> Result<String, NetlistError> {
        self.fabric.spread_setting(tiles, name).map(str::to_owned).ok_or_else(|| {
            let place = tiles.first().map_or_else(String::new, |t| format!("R{}C{}", t.row, t.col));
            NetlistError::Setting(place, name.to_owned())
        })
    }

    pub fn ebr_output(&mut self, at: (i16, i16), pin: &str) -> Result<Option<Net>, NetlistError> {
        let tiles = self.row_of_tiles(at.0, at.1..=at.1);
        let own = |block: &u8| {
            tiles.iter().any(|tile| self.fabric.choice(tile, &format!("EBR{block}.CEAMUX")).is_some())
        };
        let (Some(block), true) = ((0..4).find(own), pin.starts_with("DO")) else { return Ok(None) };
        for side in ['A', 'B'] {
            for bit in 0..18 {
                self.output(at, &format!("JDO{side}{bit}_EBR"))?;
            }
        }
        self.later(Pending::Ebr { at, block });
        let wire = self.at(at, &format!("J{pin}_EBR"))?;
        Ok(self.nets.get(&wire).copied())
    }

    pub fn ebr(&mut self, at: (i16, i16), block: u8) -> Result<(), NetlistError> {
        let tiles = self.row_of_tiles(at.0, at.1..at.1 + 3);
        let refuse = |what: String| Err(NetlistError::Unsupported(format!("R{}C{} EBR", at.0, at.1), what));
        let get = |this: &Self, name: &str| this.spread(&tiles, &format!("EBR{block}.{name}"));
        let mut parameters = BTreeMap::new();
        let wide = self.fabric.spread(&tiles, &format!("EBR{block}.MODE")) == Some("PDPW16KD");
        let widths = if wide {
            self.fabric.spread_setting(&tiles, &format!("EBR{block}.MODE"));
            ["36".to_owned(), get(self, "PDPW16KD.DATA_WIDTH_R")?]
        } else if self.plain_mode(&tiles, block) {
            [get(self, "DP16KD.DATA_WIDTH_A")?, get(self, "DP16KD.DATA_WIDTH_B")?]
        } else {
            return refuse("this mode".to_owned());
        };
        for name in ["REGMODE_A", "REGMODE_B", "RESETMODE", "ASYNC_RESET_RELEASE", "GSR"] {
            quoted(&mut parameters, name, &get(self, name)?);
        }
        if parameters["GSR"] != "\"DISABLED\"" {
            return refuse("the global reset".to_owned());
        }
        for side in ['A', 'B'] {
            let mode =
                if wide { "NORMAL".to_owned() } else { get(self, &format!("DP16KD.WRITEMODE_{side}"))? };
            quoted(&mut parameters, &format!("WRITEMODE_{side}"), &mode);
        }
        let mut pins = Vec::new();
        for side in ['A', 'B'] {
            let decode = self.number(&tiles, &format!("EBR{block}.CSDECODE_{side}"), 3)?;
            let mut select = decode;
            for name in ebr_inputs(side) {
                // The wide mode writes on one port and reads on the other, whatever these pins say.
                if let (true, Some(port)) = (wide, name.strip_prefix("WE")) {
                    self.quiet(at, &format!("J{name}_EBR"))?;
                    let net = if port == "A" { Net::ONE } else { Net::ZERO };
                    pins.push(Pin { name, net, output: false });
                    continue;
                }
                // Address bits below the width lead nowhere.
                let width = &widths[usize::from(side == 'B')];
                let bit = name.strip_prefix(&format!("AD{side}")).and_then(|n| n.parse::<u8>().ok());
                if bit.is_some_and(|bit| unused_address(width, bit)) {
                    self.quiet(at, &format!("J{name}_EBR"))?;
                    pins.push(Pin { name, net: Net::ZERO, output: false });
                    continue;
                }
                let mut net = self.pin(at, &format!("J{name}_EBR"))?;
                let setting = format!("EBR{block}.{name}MUX");
                let inverted = self.fabric.spread_setting(&tiles, &setting) == Some("INV");
                // Selects that are constant are turned so that 0 means selected.
                let chip = name.strip_prefix("CS").and_then(|n| n[1..].parse::<usize>().ok());
                let turn = inverted != chip.is_some_and(|bit| select >> bit & 1 == 1);
                match (turn, net) {
                    (true, Net::ZERO) => net = Net::ONE,
                    (true, Net::ONE) => net = Net::ZERO,
                    (true, _) if inverted => {
                        if !name.starts_with("CLK")
                            && !name.starts_with("WE")
                            && !name.starts_with("CE")
                            && !name.starts_with("RST")
                            && !name.starts_with("OCE")
                        {
                            return refuse(format!("an inverted {name}"));
                        }
                        quoted(&mut parameters, &format!("{name}MUX"), "INV");
                    }
                    _ => {}
                }
                if let (Some(bit), true) = (chip, matches!(net, Net::ZERO | Net::ONE)) {
                    select &= !(1 << bit);
                }
                pins.push(Pin { name, net, output: false });
            }
            quoted(&mut parameters, &format!("CSDECODE_{side}"), &format!("0b{select:03b}"));
        }
        for side in ['A', 'B'] {
            for bit in 0..18 {
                let wire = self.at(at, &format!("JDO{side}{bit}_EBR"))?;
                pins.push(Pin { name: format!("DO{side}{bit}"), net: self.nets[&wire], output: true });
            }
        }
        for (side, width) in ['A', 'B'].into_iter().zip(widths) {
            parameters.insert(format!("DATA_WIDTH_{side}"), width);
        }
        let id = self.number(&tiles, &format!("EBR{block}.WID"), 9)?.reverse_bits() >> (16 - 9);
        self.contents.insert(id);
        for (number, text) in self.contents(id)?.into_iter().enumerate() {
            parameters.insert(format!("INITVAL_{number:02X}"), text);
        }
        self.add(format!("R{}C{}_EBR", at.0, at.1), Kind::Block { cell: "DP16KD", parameters, pins });
        Ok(())
    }

    /// Whether a block memory is on, in the mode of two equal ports. Of the bits that this mode wants clear, some are
    /// also those of inverted inputs, which then say nothing about the mode.
    fn plain_mode(&self, tiles: &[Tile], block: u8) -> bool {
        let name = format!("EBR{block}.MODE");
        tiles.iter().all(|tile| self.fabric.option_matches(tile, &name, "DP16KD", &format!("EBR{block}.")))
    }

    /// A number whose digits may lie in several tiles.
    fn number(&self, tiles: &[Tile], name: &str, digits: usize) -> Result<u16, NetlistError> {
        let mut value = vec![None; digits];
        for word in tiles.iter().filter_map(|tile| self.fabric.word(tile, name)) {
            for (held, digit) in value.iter_mut().zip(word) {
                *held = held.or(digit);
            }
        }
        let bits = value.iter().rev().try_fold(0u16, |sum, bit| bit.map(|bit| sum << 1 | u16::from(bit)));
        bits.ok_or_else(|| NetlistError::Setting("block memory".into(), name.to_owned()))
    }

    /// The contents of a block memory as parameters: 16 rows of 18 bits each, in 20 bits.
    fn contents(&self, id: u16) -> Result<Vec<String>, NetlistError> {
        let word = |number| {
            self.fabric.memory.ebr_word(id, number).ok_or_else(|| {
                NetlistError::Undriven(format!(
                    "block memory {id}: the bitstream does not write its contents, which"
                ))
            })
        };
        let mut parameters = Vec::new();
        for first in (0..EBR_WORDS).step_by(32) {
            let mut text = String::from("320'h");
            for row in (0..16).rev() {
                let low = word(first + 2 * row)?;
                let high = word(first + 2 * row + 1)?;
                text += &format!("{:05x}", u32::from(high) << 9 | u32::from(low));
            }
            parameters.push(text);
        }
        Ok(parameters)
    }
}
