// SPDX-License-Identifier: Apache-2.0
//! Logic tiles: LUTs, wide multiplexers, carry chains and flip-flops.

use super::cells::{CarryBit, Kind, Net, reduce};
use super::database::Tile;
use super::error::NetlistError;
use super::extractor::{Extractor, Pending, Source};

pub(crate) const SLICES: [char; 4] = ['A', 'B', 'C', 'D'];
pub(super) const INPUTS: [char; 4] = ['A', 'B', 'C', 'D'];

fn slice_of(letter: &str) -> Option<usize> {
    SLICES.iter().position(|s| letter.len() == 1 && letter.starts_with(*s))
}

impl Extractor<'_> {
    pub fn logic_tile(&self, at: (i16, i16)) -> Result<Tile, NetlistError> {
        let tile = self.fabric.tiles_at(at.0, at.1).find(|tile| self.fabric.type_name(tile) == "PLC2");
        tile.copied().ok_or_else(|| NetlistError::Undriven(format!("R{}C{}: a logic tile", at.0, at.1)))
    }

    pub fn set(&self, tile: &Tile, slice: usize, name: &str) -> Result<&str, NetlistError> {
        self.fabric.setting(tile, &format!("SLICE{}.{name}", SLICES[slice]))
    }

    pub fn refuse<T>(&self, at: (i16, i16), slice: usize, what: &str) -> Result<T, NetlistError> {
        let place = format!("R{}C{} slice {}", at.0, at.1, SLICES[slice]);
        Err(NetlistError::Unsupported(place, what.to_owned()))
    }

    /// The cell behind an output of a logic tile (`F3`, `F5A`, `FXB`, `Q7`, `FCOC`, `FCO`).
    pub fn slice_output(&mut self, at: (i16, i16), pin: &str) -> Result<Option<Net>, NetlistError> {
        let wire = format!("{pin}_SLICE");
        if let Some(letter) = pin.strip_prefix("FCO") {
            let slice = if letter.is_empty() { Some(3) } else { slice_of(letter) };
            let Some(slice) = slice else { return Ok(None) };
            // A chain may begin beside a slice that has none.
            let tile = self.logic_tile(at)?;
            if self.set(&tile, slice, "MODE")? != "CCU2" {
                return Ok(None);
            }
            return self.make_carry(at, slice, &wire).map(Some);
        }
        if let Some(slice) = pin.strip_prefix("F5").and_then(slice_of) {
            let output = self.output(at, &wire)?;
            self.later(Pending::Mux5 { at, slice, output });
            return Ok(Some(output));
        }
        if let Some(slice) = pin.strip_prefix("FX").and_then(slice_of) {
            let output = self.output(at, &wire)?;
            self.later(Pending::Mux6 { at, slice, output });
            return Ok(Some(output));
        }
        if let Some(ff) = pin.strip_prefix('Q').and_then(|n| n.parse().ok()) {
            let output = self.output(at, &wire)?;
            self.later(Pending::Ff { at, ff, output });
            return Ok(Some(output));
        }
        let Some(lut) = pin.strip_prefix('F').and_then(|n| n.parse::<usize>().ok()).filter(|n| *n < 8) else {
            return Ok(None);
        };
        let tile = self.logic_tile(at)?;
        match self.set(&tile, lut / 2, "MODE")? {
            "LOGIC" => {
                let output = self.output(at, &wire)?;
                self.later(Pending::Lut { at, lut, output });
                Ok(Some(output))
            }
            "CCU2" => self.make_carry(at, lut / 2, &wire).map(Some),
            "DPRAM" => self.make_ram(at, lut).map(Some),
            mode => self.refuse(at, lut / 2, &format!("mode {mode} with its outputs in use")),
        }
    }

    /// Inputs A to D of a LUT; undriven ones are told.
    pub fn lut_inputs(&mut self, at: (i16, i16), lut: usize) -> Result<[Source; 4], NetlistError> {
        let tile = self.logic_tile(at)?;
        let mut inputs = [Source::Net(Net::ONE); 4];
        for (input, letter) in inputs.iter_mut().zip(INPUTS) {
            if self.set(&tile, lut / 2, &format!("{letter}{}MUX", lut % 2))? != "1" {
                let wire = self.at(at, &format!("{letter}{lut}_SLICE"))?;
                *input = self.source(wire)?;
            }
        }
        Ok(inputs)
    }

    pub fn init(&self, tile: &Tile, lut: usize) -> Result<u16, NetlistError> {
        let name = format!("SLICE{}.K{}.INIT", SLICES[lut / 2], lut % 2);
        let digits = self.fabric.word(tile, &name).filter(|digits| digits.len() == 16);
        let value = digits.and_then(|digits| {
            digits.iter().rev().try_fold(0u16, |value, bit| bit.map(|bit| value << 1 | u16::from(bit)))
        });
        value.ok_or_else(|| NetlistError::Setting(format!("R{}C{}", tile.row, tile.col), name))
    }

    /// The function of a LUT over nets; an undriven input may stand where it does not matter.
    pub fn function(&mut self, at: (i16, i16), lut: usize) -> Result<(u16, [Net; 4]), NetlistError> {
        let tile = self.logic_tile(at)?;
        let init = self.init(&tile, lut)?;
        let sources = self.lut_inputs(at, lut)?;
        // A number that no net has stands for each undriven input.
        let mut nets = sources.map(|source| match source {
            Source::Net(net) => net,
            Source::Undriven(_) => Net(u32::MAX),
        });
        let init = reduce(init, &mut nets);
        for (net, source) in nets.iter().zip(sources) {
            if let (true, Source::Undriven(root)) = (*net == Net(u32::MAX), source) {
                return Err(NetlistError::Undriven(format!(
                    "R{}C{} LUT {lut}: {}",
                    at.0,
                    at.1,
                    self.fabric.describe(root)
                )));
            }
        }
        Ok((init, nets))
    }

    pub fn lut(&mut self, at: (i16, i16), lut: usize, output: Net) -> Result<(), NetlistError> {
        let (init, inputs) = self.function(at, lut)?;
        self.add(format!("R{}C{}_K{lut}", at.0, at.1), Kind::Lut { init, inputs, output });
        Ok(())
    }

    pub fn mux5(&mut self, at: (i16, i16), slice: usize, output: Net) -> Result<(), NetlistError> {
        let select = self.select(at, slice, 2 * slice)?;
        let zero = self.pin(at, &format!("F{}_SLICE", 2 * slice))?;
        let one = self.pin(at, &format!("F{}_SLICE", 2 * slice + 1))?;
        let name = format!("R{}C{}_F5{}", at.0, at.1, SLICES[slice]);
        self.add(name, Kind::Mux { wide: false, select, zero, one, output });
        Ok(())
    }

    pub fn mux6(&mut self, at: (i16, i16), slice: usize, output: Net) -> Result<(), NetlistError> {
        let letter = SLICES[slice];
        let select = self.select(at, slice, 2 * slice + 1)?;
        let zero = self.pin(at, &format!("FXA{letter}_SLICE"))?;
        let one = self.pin(at, &format!("FXB{letter}_SLICE"))?;
        self.add(
            format!("R{}C{}_FX{letter}", at.0, at.1),
            Kind::Mux { wide: true, select, zero, one, output },
        );
        Ok(())
    }

    /// The input M of a LUT: it selects in wide multiplexers and reaches flip-flops.
    fn select(&mut self, at: (i16, i16), slice: usize, lut: usize) -> Result<Net, NetlistError> {
        let tile = self.logic_tile(at)?;
        match self.set(&tile, slice, &format!("M{}MUX", lut % 2))? {
            "1" => Ok(Net::ONE),
            "0" => Ok(Net::ZERO),
            name if name.starts_with('M') => self.pin(at, &format!("M{lut}_SLICE")),
            _ => self.refuse(at, slice, "an inverted M"),
        }
    }

    fn make_carry(&mut self, at: (i16, i16), slice: usize, asked: &str) -> Result<Net, NetlistError> {
        let sums = [
            self.output(at, &format!("F{}_SLICE", 2 * slice))?,
            self.output(at, &format!("F{}_SLICE", 2 * slice + 1))?,
        ];
        let out = if slice == 3 { "FCO_SLICE".to_owned() } else { format!("FCO{}_SLICE", SLICES[slice]) };
        let carry_out = self.output(at, &out)?;
        self.later(Pending::Carry { at, slice, sums, carry_out });
        let wire = self.at(at, asked)?;
        Ok(self.nets[&wire])
    }

    pub fn carry(
        &mut self,
        at: (i16, i16),
        slice: usize,
        sums: [Net; 2],
        carry_out: Net,
    ) -> Result<(), NetlistError> {
        let tile = self.logic_tile(at)?;
        let mut bits = Vec::new();
        for (half, sum) in sums.into_iter().enumerate() {
            let inject = match self.set(&tile, slice, &format!("CCU2.INJECT1_{half}"))? {
                "YES" => true,
                "NO" => false,
                _ => return self.refuse(at, slice, "this carry injection"),
            };
            let lut = 2 * slice + half;
            let init = self.init(&tile, lut)?;
            let mut inputs = [Net::ONE; 4];
            for (input, source) in inputs.iter_mut().zip(self.lut_inputs(at, lut)?) {
                *input = match source {
                    Source::Net(net) => net,
                    Source::Undriven(root) => {
                        return Err(NetlistError::Undriven(self.fabric.describe(root)));
                    }
                };
            }
            bits.push(CarryBit { init, inject, inputs, sum });
        }
        let bits: [CarryBit; 2] = bits.try_into().expect("two halves");
        let from = if slice == 0 { "FCI_SLICE".to_owned() } else { format!("FCI{}_SLICE", SLICES[slice]) };
        let wire = self.at(at, &from)?;
        let carry_in = match self.source(wire)? {
            Source::Net(net) => net,
            // A chain begins here: the carry out must not depend on what comes in, and nothing may use the sum.
            Source::Undriven(root) => {
                if reduce(bits[0].init, &mut bits[0].inputs.clone()) != 0 {
                    return self.refuse(at, slice, "a carry chain that begins with no value");
                }
                if !bits[0].inject {
                    self.undefined.insert(bits[0].sum, self.fabric.describe(root));
                }
                Net::ZERO
            }
        };
        let name = format!("R{}C{}_CCU2{}", at.0, at.1, SLICES[slice]);
        self.add(name, Kind::Carry { carry_in, bits, carry_out });
        Ok(())
    }

    pub fn ff(&mut self, at: (i16, i16), ff: usize, output: Net) -> Result<(), NetlistError> {
        let (tile, slice, half) = (self.logic_tile(at)?, ff / 2, ff % 2);
        let clock = match self.choose(at, &format!("CLK{slice}_SLICE"), "CLK")? {
            Some((net, number)) => (net, self.inverted(&tile, &format!("CLK{number}.CLKMUX"))?),
            None => return self.refuse(at, slice, "a flip-flop without a clock"),
        };
        let (reset, asynchronous) = match self.choose(at, &format!("LSR{slice}_SLICE"), "LSR")? {
            Some((net, number)) => {
                let inverted = self.inverted(&tile, &format!("LSR{number}.LSRMUX"))?;
                let mode = self.fabric.setting(&tile, &format!("LSR{number}.SRMODE"))?;
                ((net, inverted), mode == "ASYNC")
            }
            None => ((Net::ZERO, false), false),
        };
        let enable = match self.set(&tile, slice, "CEMUX")? {
            "1" => (Net::ONE, false),
            "0" => (Net::ZERO, false),
            mode => {
                let inverted = mode == "INV";
                (self.pin(at, &format!("CE{slice}_SLICE"))?, inverted)
            }
        };
        if self.set(&tile, slice, &format!("REG{half}.LSRMODE"))? != "LSR" {
            return self.refuse(at, slice, "a flip-flop that is preloaded");
        }
        if self.set(&tile, slice, "GSR")? != "DISABLED" && !self.fabric.open {
            return self.refuse(at, slice, "a flip-flop on the global reset");
        }
        let set = self.set(&tile, slice, &format!("REG{half}.REGSET"))? == "SET";
        let data = match self.set(&tile, slice, &format!("REG{half}.SD"))? {
            "1" => self.pin(at, &format!("DI{ff}_SLICE"))?,
            _ => self.select(at, slice, ff)?,
        };
        let name = format!("R{}C{}_Q{ff}", at.0, at.1);
        self.add(name, Kind::Ff { clock, enable, reset, asynchronous, set, data, output });
        Ok(())
    }

    pub fn inverted(&self, tile: &Tile, name: &str) -> Result<bool, NetlistError> {
        Ok(self.fabric.setting(tile, name)? == "INV")
    }

    /// A slice has one of the tile's two clocks, or resets, or none: the net, and which of the two.
    fn choose(
        &mut self,
        at: (i16, i16),
        pin: &str,
        name: &str,
    ) -> Result<Option<(Net, usize)>, NetlistError> {
        let mut wire = self.at(at, pin)?;
        let either = [self.at(at, &format!("{name}0"))?, self.at(at, &format!("{name}1"))?];
        while let Some(next) = self.fabric.driver(wire)? {
            if let Some(number) = either.iter().position(|w| *w == next) {
                return Ok(Some((self.need(next)?, number)));
            }
            wire = next;
        }
        Ok(None)
    }
}
