// SPDX-License-Identifier: Apache-2.0
//! A netlist of ECP5 cells, as Yosys writes it for synthesis: the same cells, pins and parameters.

use std::collections::{BTreeMap, HashMap};

/// A net; the first two are constant.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Net(pub u32);

impl Net {
    /// Constant 0.
    pub const ZERO: Net = Net(0);
    /// Constant 1.
    pub const ONE: Net = Net(1);

    /// Its place in a table of all nets.
    pub fn index(self) -> usize {
        self.0 as usize
    }
}

/// Half of a carry cell.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CarryBit {
    /// The LUT: propagate.
    pub init: u16,
    /// The carry does not reach the sum.
    pub inject: bool,
    /// A, B, C, D.
    pub inputs: [Net; 4],
    /// S.
    pub sum: Net,
}

/// A pin of a block.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Pin {
    /// As the cell calls it.
    pub name: String,
    /// What it is connected to.
    pub net: Net,
    /// Whether the block drives it.
    pub output: bool,
}

/// What a cell is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Kind {
    /// `LUT4`.
    Lut {
        /// Output by the number that D, C, B, A make.
        init: u16,
        /// A, B, C, D.
        inputs: [Net; 4],
        /// Z.
        output: Net,
    },
    /// `PFUMX`, or `L6MUX21` if `wide`.
    Mux {
        /// An `L6MUX21`.
        wide: bool,
        /// Chooses.
        select: Net,
        /// Output when `select` is 0.
        zero: Net,
        /// Output when `select` is 1.
        one: Net,
        /// Z.
        output: Net,
    },
    /// `CCU2C`.
    Carry {
        /// CIN.
        carry_in: Net,
        /// Both bits.
        bits: [CarryBit; 2],
        /// COUT.
        carry_out: Net,
    },
    /// `TRELLIS_FF`.
    Ff {
        /// CLK and whether it is inverted.
        clock: (Net, bool),
        /// CE and whether it is inverted; always enabled if it is [`Net::ONE`].
        enable: (Net, bool),
        /// LSR and whether it is inverted; never reset if it is [`Net::ZERO`].
        reset: (Net, bool),
        /// The reset does not wait for the clock.
        asynchronous: bool,
        /// The value after reset and after configuration.
        set: bool,
        /// DI.
        data: Net,
        /// Q.
        output: Net,
    },
    /// `TRELLIS_DPR16X4`, `DP16KD` or `MULT18X18D`.
    Block {
        /// The cell's name.
        cell: &'static str,
        /// Parameters as they stand in Verilog.
        parameters: BTreeMap<String, String>,
        /// Pins in order.
        pins: Vec<Pin>,
    },
}

/// A cell.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Cell {
    /// Where it is in the device, or what synthesis calls it.
    pub name: String,
    /// What it is.
    pub kind: Kind,
}

/// A port of one bit.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Port {
    /// For example `s_axis_tdata[3]`.
    pub name: String,
    /// What is connected to it.
    pub net: Net,
    /// Whether the netlist drives it.
    pub output: bool,
}

/// A netlist.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Netlist {
    /// Bits of ports.
    pub ports: Vec<Port>,
    /// Cells.
    pub cells: Vec<Cell>,
    /// Nets, the constants among them.
    pub nets: u32,
}

impl Default for Netlist {
    fn default() -> Self {
        Self { ports: Vec::new(), cells: Vec::new(), nets: 2 }
    }
}

impl Netlist {
    /// A net of its own.
    pub(crate) fn net(&mut self) -> Net {
        self.nets += 1;
        Net(self.nets - 1)
    }

    /// Changes the numbers of nets.
    pub(crate) fn each_net(&mut self, mut change: impl FnMut(&mut Net)) {
        for cell in &mut self.cells {
            cell.kind.each_input(&mut change);
            cell.kind.each_output(&mut change);
        }
        self.ports.iter_mut().for_each(|port| change(&mut port.net));
    }

    /// The nets that something reads, with the cell or the output port that does.
    pub(crate) fn read(&self) -> HashMap<Net, &str> {
        let cells = self.cells.iter().map(|cell| (cell.kind.inputs(), cell.name.as_str()));
        let outputs = self.ports.iter().filter(|port| port.output);
        let ports = outputs.map(|port| (vec![port.net], port.name.as_str()));
        cells.chain(ports).flat_map(|(nets, who)| nets.into_iter().map(move |net| (net, who))).collect()
    }

    /// Ends the input of each carry cell that does not look at it. The first slice of a tile is wired to the last carry of
    /// the tile beside it, whoever's chain that is: two chains that know nothing of each other would be in a circle.
    pub(crate) fn begin_chains(&mut self) {
        let read = self.read();
        let begins: Vec<bool> = self
            .cells
            .iter()
            .map(|cell| match &cell.kind {
                Kind::Carry { bits: [first, _], .. } => {
                    let unread = first.inject || !read.contains_key(&first.sum);
                    unread && reduce(first.init, &mut first.inputs.clone()) == 0
                }
                _ => false,
            })
            .collect();
        for (cell, begins) in self.cells.iter_mut().zip(begins) {
            if let (Kind::Carry { carry_in, .. }, true) = (&mut cell.kind, begins) {
                *carry_in = Net::ZERO;
            }
        }
    }

    /// How many cells there are of each kind, by the name of the cell.
    pub fn count(&self) -> BTreeMap<&'static str, usize> {
        let mut count = BTreeMap::new();
        for cell in &self.cells {
            *count.entry(cell.kind.cell()).or_default() += 1;
        }
        count
    }
}

impl Kind {
    /// The cell's name in Verilog.
    pub fn cell(&self) -> &'static str {
        match self {
            Kind::Lut { .. } => "LUT4",
            Kind::Mux { wide: false, .. } => "PFUMX",
            Kind::Mux { wide: true, .. } => "L6MUX21",
            Kind::Carry { .. } => "CCU2C",
            Kind::Ff { .. } => "TRELLIS_FF",
            Kind::Block { cell, .. } => cell,
        }
    }

    /// The nets that it reads.
    pub fn inputs(&self) -> Vec<Net> {
        match self {
            Kind::Lut { inputs, .. } => inputs.to_vec(),
            Kind::Mux { select, zero, one, .. } => vec![*select, *zero, *one],
            Kind::Carry { carry_in, bits, .. } => {
                let halves = bits.iter().flat_map(|bit| bit.inputs);
                std::iter::once(*carry_in).chain(halves).collect()
            }
            Kind::Ff { clock, enable, reset, data, .. } => vec![clock.0, enable.0, reset.0, *data],
            Kind::Block { pins, .. } => pins.iter().filter(|pin| !pin.output).map(|pin| pin.net).collect(),
        }
    }

    /// The nets that it drives.
    pub fn outputs(&self) -> Vec<Net> {
        match self {
            Kind::Lut { output, .. } | Kind::Mux { output, .. } | Kind::Ff { output, .. } => vec![*output],
            Kind::Carry { bits, carry_out, .. } => vec![bits[0].sum, bits[1].sum, *carry_out],
            Kind::Block { pins, .. } => pins.iter().filter(|pin| pin.output).map(|pin| pin.net).collect(),
        }
    }

    /// Changes the nets that it drives.
    pub(crate) fn each_output(&mut self, mut change: impl FnMut(&mut Net)) {
        match self {
            Kind::Lut { output, .. } | Kind::Mux { output, .. } | Kind::Ff { output, .. } => change(output),
            Kind::Carry { bits, carry_out, .. } => {
                bits.iter_mut().for_each(|bit| change(&mut bit.sum));
                change(carry_out);
            }
            Kind::Block { pins, .. } => {
                pins.iter_mut().filter(|pin| pin.output).for_each(|pin| change(&mut pin.net));
            }
        }
    }

    /// Changes the nets that it reads.
    pub(crate) fn each_input(&mut self, mut change: impl FnMut(&mut Net)) {
        match self {
            Kind::Lut { inputs, .. } => inputs.iter_mut().for_each(change),
            Kind::Mux { select, zero, one, .. } => [select, zero, one].into_iter().for_each(change),
            Kind::Carry { carry_in, bits, .. } => {
                change(carry_in);
                bits.iter_mut().flat_map(|bit| &mut bit.inputs).for_each(change);
            }
            Kind::Ff { clock, enable, reset, data, .. } => {
                [&mut clock.0, &mut enable.0, &mut reset.0, data].into_iter().for_each(change);
            }
            Kind::Block { pins, .. } => {
                pins.iter_mut().filter(|pin| !pin.output).for_each(|pin| change(&mut pin.net));
            }
        }
    }

    /// Whether its outputs are what a state or a block holds, so that a proof is cut there.
    pub fn cuts(&self) -> bool {
        matches!(self, Kind::Ff { .. } | Kind::Block { .. })
    }
}

/// The init of a LUT without the inputs that are constant or that do not matter; those are [`Net::ONE`].
pub(crate) fn reduce(mut init: u16, inputs: &mut [Net; 4]) -> u16 {
    let half = |init: u16, pin: usize, value: bool| {
        (0..16).fold(0u16, |out, index| {
            let from = if value { index | 1 << pin } else { index & !(1 << pin) };
            out | (init >> from & 1) << index
        })
    };
    // Constants first: with them, other inputs may cease to matter.
    for (pin, net) in inputs.iter().enumerate() {
        match *net {
            Net::ZERO => init = half(init, pin, false),
            Net::ONE => init = half(init, pin, true),
            _ => {}
        }
    }
    for (pin, net) in inputs.iter_mut().enumerate() {
        if half(init, pin, false) == half(init, pin, true) {
            *net = Net::ONE;
        }
    }
    init
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn luts_lose_what_does_not_matter() {
        let (a, b) = (Net(7), Net(8));
        // A and B, whatever C and D are.
        let mut inputs = [a, b, Net(9), Net::ZERO];
        assert_eq!(reduce(0x8888, &mut inputs), 0x8888);
        assert_eq!(inputs, [a, b, Net::ONE, Net::ONE]);
        // A and B with B = 1.
        let mut inputs = [a, Net::ONE, Net::ONE, Net::ONE];
        assert_eq!(reduce(0x8000, &mut inputs), 0xaaaa);
        let mut inputs = [a, Net::ZERO, Net::ONE, Net::ONE];
        assert_eq!(reduce(0x8000, &mut inputs), 0);
        assert_eq!(inputs, [Net::ONE; 4]);
    }

    #[test]
    fn chains_side_by_side_are_in_no_circle() {
        use crate::simulate::Simulator;
        let [a, unread, sum, s0, s1, out, other_out] = [2, 3, 4, 5, 6, 7, 8].map(Net);
        // A: the carry is A, and the propagate 0, for C and D are 1.
        let first = |input, sum| CarryBit {
            init: 0x000a,
            inject: false,
            inputs: [input, Net::ONE, Net::ONE, Net::ONE],
            sum,
        };
        let rest = |sum| CarryBit { init: 0xffff, inject: true, inputs: [Net::ONE; 4], sum };
        let chain = |name: &str, carry_in, bits, carry_out| Cell {
            name: name.into(),
            kind: Kind::Carry { carry_in, bits, carry_out },
        };
        // One chain's carry is what the other begins with, and is wired to that one's carry, which it does not look at.
        let circle = |first_sum| Netlist {
            ports: vec![Port { name: "s".into(), net: sum, output: true }],
            cells: vec![
                chain("one", other_out, [first(a, unread), rest(s0)], out),
                chain("two", out, [first(out, first_sum), rest(s1)], other_out),
            ],
            nets: 9,
        };
        let mut netlist = circle(Net(3));
        assert!(Simulator::new(&netlist).is_err());
        netlist.begin_chains();
        assert!(Simulator::new(&netlist).is_ok());
        // A sum that something reads is the carry that comes in: this input stays.
        let mut netlist = circle(sum);
        netlist.begin_chains();
        let inputs = netlist.cells.iter().map(|cell| match cell.kind {
            Kind::Carry { carry_in, .. } => carry_in,
            _ => unreachable!("both are chains"),
        });
        assert_eq!(inputs.collect::<Vec<_>>(), [Net::ZERO, out]);
    }
}
