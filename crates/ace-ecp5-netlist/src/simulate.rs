// SPDX-License-Identifier: Apache-2.0
//! Combinational simulation of a netlist over many patterns at once.

use super::cells::{CarryBit, Kind, Net, Netlist};
use super::error::NetlistError;

/// 64 patterns each.
pub(crate) const WORDS: usize = 24;
pub(crate) type Pattern = [u64; WORDS];

/// A netlist in the order in which its values can be computed.
pub(crate) struct Simulator<'a> {
    pub netlist: &'a Netlist,
    /// Combinational cells, each behind those that it reads; of carry cells each half on its own, for the sum of
    /// the lower one may be an input of the upper one.
    pub order: Vec<(usize, usize)>,
    pub values: Vec<Pattern>,
    /// Of each carry cell, between its halves.
    pub carries: Vec<Pattern>,
}

impl<'a> Simulator<'a> {
    /// # Errors
    /// Logic in a circle. A circle through the read port of a distributed memory or through a multiplier counts:
    /// a proof that is cut there would rest on itself.
    pub fn new(netlist: &'a Netlist) -> Result<Self, NetlistError> {
        // Two nodes for each cell; only carry cells use the second.
        let mut driver = vec![usize::MAX; netlist.nets as usize];
        for (index, cell) in netlist.cells.iter().enumerate() {
            for net in cell.kind.outputs() {
                driver[net.index()] = 2 * index;
            }
            if let Kind::Carry { bits, carry_out, .. } = &cell.kind {
                driver[bits[1].sum.index()] = 2 * index + 1;
                driver[carry_out.index()] = 2 * index + 1;
            }
        }
        let before = |node: usize| {
            let mut nodes: Vec<usize> = through(&netlist.cells[node / 2].kind, node % 2)
                .into_iter()
                .map(|net| driver[net.index()])
                .filter(|node| *node != usize::MAX)
                .collect();
            if node % 2 == 1 {
                nodes.push(node - 1);
            }
            nodes
        };
        // Depth-first, with a stack of its own: 1 is on the way, 2 is done.
        let mut state = vec![0u8; 2 * netlist.cells.len()];
        let mut order = Vec::new();
        for first in 0..2 * netlist.cells.len() {
            let carry = matches!(netlist.cells[first / 2].kind, Kind::Carry { .. });
            if state[first] != 0 || first % 2 == 1 && !carry {
                continue;
            }
            let mut stack = vec![(first, before(first))];
            state[first] = 1;
            while let Some((node, waiting)) = stack.last_mut() {
                let Some(next) = waiting.pop() else {
                    state[*node] = 2;
                    if !netlist.cells[*node / 2].kind.cuts() {
                        order.push((*node / 2, *node % 2));
                    }
                    stack.pop();
                    continue;
                };
                match state[next] {
                    2 => {}
                    1 => return Err(NetlistError::Circle(netlist.cells[next / 2].name.clone())),
                    _ => {
                        state[next] = 1;
                        stack.push((next, before(next)));
                    }
                }
            }
        }
        let mut values = vec![[0; WORDS]; netlist.nets as usize];
        values[Net::ONE.index()] = [u64::MAX; WORDS];
        Ok(Self { netlist, order, values, carries: vec![[0; WORDS]; netlist.cells.len()] })
    }

    fn get(&self, net: Net) -> Pattern {
        self.values[net.index()]
    }

    pub fn lut(&self, init: u16, inputs: &[Net]) -> Pattern {
        let pins: Vec<&Pattern> = inputs.iter().map(|net| &self.values[net.index()]).collect();
        std::array::from_fn(|word| {
            // Halve the table once per input, the last first.
            let mut table: [u64; 16] =
                std::array::from_fn(|index| if init >> index & 1 == 1 { u64::MAX } else { 0 });
            for (pin, value) in pins.iter().enumerate().rev() {
                for index in 0..1 << pin {
                    let high = table[index | 1 << pin];
                    table[index] = table[index] & !value[word] | high & value[word];
                }
            }
            table[0]
        })
    }

    /// Computes every combinational value from ports and from what is cut.
    pub fn run(&mut self) {
        for place in 0..self.order.len() {
            self.step(place);
        }
    }

    /// Computes what is at one place of the order.
    pub fn step(&mut self, place: usize) {
        let (cell, half) = self.order[place];
        match &self.netlist.cells[cell].kind {
            Kind::Lut { init, inputs, output } => {
                self.values[output.index()] = self.lut(*init, inputs);
            }
            Kind::Mux { select, zero, one, output, .. } => {
                let [s, z, o] = [*select, *zero, *one].map(|net| self.get(net));
                self.values[output.index()] = std::array::from_fn(|w| z[w] & !s[w] | o[w] & s[w]);
            }
            Kind::Carry { carry_in, bits, carry_out } => {
                let carry = if half == 0 { self.get(*carry_in) } else { self.carries[cell] };
                let CarryBit { init, inject, inputs, sum } = &bits[half];
                let propagate = self.lut(*init, inputs);
                let generate = self.lut(*init & 0xf, &inputs[..2]);
                let mask = if *inject { 0 } else { u64::MAX };
                self.values[sum.index()] = std::array::from_fn(|w| propagate[w] ^ carry[w] & mask);
                let carry =
                    std::array::from_fn(|w| propagate[w] & carry[w] | !propagate[w] & generate[w] & mask);
                if half == 0 {
                    self.carries[cell] = carry;
                } else {
                    self.values[carry_out.index()] = carry;
                }
            }
            Kind::Ff { .. } | Kind::Block { .. } => {}
        }
    }
}

/// The inputs that reach an output of the cell, or of this half of a carry cell, within a clock.
fn through(kind: &Kind, half: usize) -> Vec<Net> {
    match kind {
        Kind::Carry { carry_in, bits, .. } if half == 0 => {
            std::iter::once(*carry_in).chain(bits[0].inputs).collect()
        }
        Kind::Carry { bits, .. } => bits[1].inputs.to_vec(),
        Kind::Ff { .. } | Kind::Block { cell: "DP16KD", .. } => Vec::new(),
        Kind::Block { cell: "TRELLIS_DPR16X4", pins, .. } => {
            pins.iter().filter(|pin| pin.name.starts_with("RAD")).map(|pin| pin.net).collect()
        }
        _ => kind.inputs(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cells::{Cell, Port};

    fn lut(name: &str, init: u16, inputs: [Net; 4], output: Net) -> Cell {
        Cell { name: name.into(), kind: Kind::Lut { init, inputs, output } }
    }

    #[test]
    fn cells_compute() {
        let [a, b, x, s0, s1, cout] = [2, 3, 4, 5, 6, 7].map(Net);
        let bit = |sum, inputs| CarryBit { init: 0x96aa, inject: false, inputs, sum };
        // 0x96aa with C = 0, D = 1 is A xor B for propagate and A for generate.
        let operand = [a, b, Net::ZERO, Net::ONE];
        let chain =
            Kind::Carry { carry_in: Net::ZERO, bits: [bit(s0, operand), bit(s1, operand)], carry_out: cout };
        let mut netlist = Netlist { nets: 8, ..Netlist::default() };
        netlist.ports = [a, b].map(|net| Port { name: "p".into(), net, output: false }).into();
        netlist.cells = vec![
            Cell { name: "c".into(), kind: chain },
            lut("l", 0x8888, [x, b, Net::ONE, Net::ONE], Net(8)),
            lut("m", 0x6666, [a, b, Net::ONE, Net::ONE], x),
        ];
        netlist.nets = 9;
        let mut simulator = Simulator::new(&netlist).expect("no circle");
        simulator.values[a.index()] = [0b0011; WORDS];
        simulator.values[b.index()] = [0b0101; WORDS];
        simulator.run();
        let low = |net: Net| simulator.values[net.index()][0] & 0xf;
        assert_eq!(low(x), 0b0110);
        assert_eq!(low(Net(8)), 0b0100);
        // Both bits add A and B; the carry is A (generate) where they agree.
        assert_eq!((low(s0), low(s1), low(cout)), (0b0110, 0b0111, 0b0001));
        netlist.cells.push(lut("n", 0x5555, [Net(8), Net::ONE, Net::ONE, Net::ONE], b));
        assert!(matches!(Simulator::new(&netlist), Err(NetlistError::Circle(_))));
    }

    #[test]
    fn a_sum_may_be_an_input_of_the_next_bit() {
        let [a, b, s0, s1, cout] = [2, 3, 4, 5, 6].map(Net);
        let bit = |sum, inputs| CarryBit { init: 0x96aa, inject: false, inputs, sum };
        let bits = [bit(s0, [a, b, Net::ZERO, Net::ONE]), bit(s1, [s0, b, Net::ZERO, Net::ONE])];
        let chain = |carry_in| Kind::Carry { carry_in, bits, carry_out: cout };
        let netlist = |carry_in| Netlist {
            nets: 7,
            cells: vec![Cell { name: "c".into(), kind: chain(carry_in) }],
            ..Netlist::default()
        };
        let good = netlist(Net::ZERO);
        let mut simulator = Simulator::new(&good).expect("no circle");
        simulator.values[a.index()] = [0b0011; WORDS];
        simulator.values[b.index()] = [0b0101; WORDS];
        simulator.run();
        let low = |net: Net| simulator.values[net.index()][0] & 0xf;
        // S0 = A + B with carry A & B; S1 = S0 + B + carry.
        assert_eq!((low(s0), low(s1), low(cout)), (0b0110, 0b0010, 0b0101));
        assert!(matches!(Simulator::new(&netlist(s1)), Err(NetlistError::Circle(_))));
    }
}
