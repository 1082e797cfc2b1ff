// SPDX-License-Identifier: Apache-2.0
//! Distributed memory in logic tiles.

use std::collections::BTreeMap;

use super::cells::{Kind, Net, Pin};
use super::error::NetlistError;
use super::extractor::{Extractor, Pending, Source};

impl Extractor<'_> {
    /// The memory behind an output of slices A and B.
    pub fn make_ram(&mut self, at: (i16, i16), lut: usize) -> Result<Net, NetlistError> {
        let mut outputs = [Net::ZERO; 4];
        for (number, output) in outputs.iter_mut().enumerate() {
            *output = self.output(at, &format!("F{number}_SLICE"))?;
        }
        self.later(Pending::Ram { at, outputs });
        Ok(outputs[lut])
    }

    /// Slices A and B hold four bits, slice C takes what is written. Which input is which bit of an address is as
    /// nextpnr wires it.
    pub fn ram(&mut self, at: (i16, i16), outputs: [Net; 4]) -> Result<(), NetlistError> {
        let tile = self.logic_tile(at)?;
        for (slice, mode) in [(0, "DPRAM"), (1, "DPRAM"), (2, "RAMW")] {
            if self.set(&tile, slice, "MODE")? != mode {
                return self.refuse(at, slice, "a distributed memory that is not whole");
            }
        }
        if [4, 5].iter().any(|lut| self.init(&tile, *lut) != Ok(0)) {
            return self.refuse(at, 2, "a table where a distributed memory is written");
        }
        let mut address: [Option<Net>; 4] = [None; 4];
        let mut contents = 0u64;
        for lut in 0..4 {
            let init = self.init(&tile, lut)?;
            for word in 0..16 {
                // Address bits 0 to 3 are inputs D, B, C, A, in reading as in writing.
                let index = (word & 1) << 3 | (word & 2) | (word & 4) | (word & 8) >> 3;
                contents |= u64::from(init >> index & 1) << (4 * word + lut);
            }
            let [a, b, c, d] = self.lut_inputs(at, lut)?;
            for (held, source) in address.iter_mut().zip([d, b, c, a]) {
                match (*held, source) {
                    (_, Source::Undriven(_)) => {}
                    (None, Source::Net(net)) => *held = Some(net),
                    (Some(other), Source::Net(net)) if net == other => {}
                    _ => return self.refuse(at, lut / 2, "a distributed memory with several read addresses"),
                }
            }
        }
        let wck = self.need(self.at(at, "CLK1")?)?;
        let wre = self.need(self.at(at, "LSR1")?)?;
        let mut parameters = BTreeMap::from([
            ("INITVAL".to_owned(), format!("64'h{contents:016x}")),
            ("WCKMUX".to_owned(), "\"WCK\"".to_owned()),
        ]);
        if self.inverted(&tile, "CLK1.CLKMUX")? {
            parameters.insert("WCKMUX".to_owned(), "\"INV\"".to_owned());
        }
        let mode = match self.set(&tile, 0, "WREMUX")? {
            mode @ ("WRE" | "INV") => format!("\"{mode}\""),
            _ => return self.refuse(at, 0, "a distributed memory whose write enable is constant"),
        };
        parameters.insert("WREMUX".to_owned(), mode);
        let mut pins = Vec::new();
        let mut pin = |name: String, net, output| pins.push(Pin { name, net, output });
        for (bit, lut_input) in ["C5", "A5", "D5", "B5"].into_iter().enumerate() {
            // A bit that is never written must not be read.
            let net = self.write_input(at, lut_input)?.unwrap_or_else(|| {
                self.undefined.insert(outputs[bit], format!("R{}C{}/DI{bit}", at.0, at.1));
                Net::ZERO
            });
            pin(format!("DI[{bit}]"), net, false);
        }
        for (bit, lut_input) in ["D4", "B4", "C4", "A4"].into_iter().enumerate() {
            let net = self.write_input(at, lut_input)?;
            let missing = || NetlistError::Undriven(format!("R{}C{}/WAD{bit}", at.0, at.1));
            pin(format!("WAD[{bit}]"), net.ok_or_else(missing)?, false);
        }
        pin("WRE".into(), wre, false);
        pin("WCK".into(), wck, false);
        for (bit, net) in address.into_iter().enumerate() {
            let net = net.ok_or_else(|| NetlistError::Undriven(format!("R{}C{}/RAD{bit}", at.0, at.1)))?;
            pin(format!("RAD[{bit}]"), net, false);
        }
        for (bit, net) in outputs.into_iter().enumerate() {
            pin(format!("DO[{bit}]"), net, true);
        }
        let kind = Kind::Block { cell: "TRELLIS_DPR16X4", parameters, pins };
        self.add(format!("R{}C{}_RAM", at.0, at.1), kind);
        Ok(())
    }

    /// An input of slice C as it is written to a distributed memory.
    fn write_input(&mut self, at: (i16, i16), input: &str) -> Result<Option<Net>, NetlistError> {
        let tile = self.logic_tile(at)?;
        let (letter, lut) = input.split_at(1);
        let half = usize::from(lut == "5");
        if self.set(&tile, 2, &format!("{letter}{half}MUX"))? == "1" {
            return Ok(Some(Net::ONE));
        }
        let wire = self.at(at, &format!("{input}_SLICE"))?;
        Ok(match self.source(wire)? {
            Source::Net(net) => Some(net),
            Source::Undriven(_) => None,
        })
    }
}
