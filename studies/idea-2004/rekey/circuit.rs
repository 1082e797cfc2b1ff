// SPDX-License-Identifier: Apache-2.0
//! A circuit that was read back from bits, clock by clock, with many texts side by side.

use crate::error::{Result, bail, ensure};
use ace_ecp5_netlist::Netlist;
use ace_ecp5_netlist::cells::{CarryBit, Kind, Net};

const WORDS: usize = 24;
/// Texts side by side: bit `n % 64` of word `n / 64` of [`Lanes`] is that of text `n`.
pub const LANES: usize = 64 * WORDS;
/// A value for each text.
pub type Lanes = [u64; WORDS];

/// A circuit of one clock and without memories, as it is after configuration.
pub struct Circuit<'a> {
    netlist: &'a Netlist,
    /// Combinational cells, each behind those that it reads.
    order: Vec<usize>,
    values: Vec<Lanes>,
}

fn each(of: impl Fn(usize) -> u64) -> Lanes {
    std::array::from_fn(of)
}

/// What a table says of the values of its inputs.
fn look_up(entries: u16, inputs: [&Lanes; 4]) -> Lanes {
    each(|w| {
        // Half of the table for each input, the last first.
        let mut table: [u64; 16] = std::array::from_fn(|n| if entries >> n & 1 == 1 { u64::MAX } else { 0 });
        for (pin, value) in inputs.iter().enumerate().rev() {
            for n in 0..1 << pin {
                table[n] = table[n] & !value[w] | table[n | 1 << pin] & value[w];
            }
        }
        table[0]
    })
}

impl<'a> Circuit<'a> {
    /// `clock` is the port of the clock.
    ///
    /// # Errors
    /// Logic in a circle; memories, another clock, or a reset that does not wait for it.
    pub fn new(netlist: &'a Netlist, clock: &str) -> Result<Self> {
        let clock = netlist.ports.iter().find(|port| port.name == clock && !port.output).map(|port| port.net);
        let mut values = vec![[0; WORDS]; netlist.nets as usize];
        values[Net::ONE.index()] = [u64::MAX; WORDS];
        let mut driver = vec![None; values.len()];
        for (index, cell) in netlist.cells.iter().enumerate() {
            match &cell.kind {
                Kind::Ff { clock: (net, false), asynchronous: false, set, output, .. }
                    if Some(*net) == clock =>
                {
                    values[output.index()] = [if *set { u64::MAX } else { 0 }; WORDS];
                }
                Kind::Ff { .. } | Kind::Block { .. } => {
                    bail!("{}: a memory or a flip-flop with another clock is not simulated", cell.name)
                }
                kind => kind.outputs().iter().for_each(|net| driver[net.index()] = Some(index)),
            }
        }
        // Depth-first, with a stack of its own: 1 is on the way, 2 is done.
        let mut state = vec![0u8; netlist.cells.len()];
        let before = |cell: usize| -> Vec<usize> {
            let nets = netlist.cells[cell].kind.inputs().into_iter();
            nets.filter_map(|net| driver[net.index()]).collect()
        };
        let mut order = Vec::new();
        for first in driver.iter().flatten().copied() {
            if state[first] != 0 {
                continue;
            }
            state[first] = 1;
            let mut stack = vec![(first, before(first))];
            while let Some((cell, waiting)) = stack.last_mut() {
                match waiting.pop() {
                    None => {
                        state[*cell] = 2;
                        order.push(*cell);
                        stack.pop();
                    }
                    Some(next) if state[next] == 0 => {
                        state[next] = 1;
                        stack.push((next, before(next)));
                    }
                    Some(next) => {
                        ensure!(state[next] == 2, "{}: logic in a circle", netlist.cells[next].name)
                    }
                }
            }
        }
        Ok(Self { netlist, order, values })
    }

    fn at(&self, net: Net) -> &Lanes {
        &self.values[net.index()]
    }

    fn settle(&mut self) {
        for place in 0..self.order.len() {
            match &self.netlist.cells[self.order[place]].kind {
                Kind::Lut { init, inputs, output } => {
                    self.values[output.index()] = look_up(*init, inputs.map(|net| self.at(net)));
                }
                Kind::Mux { select, zero, one, output, .. } => {
                    let [s, z, o] = [*select, *zero, *one].map(|net| self.at(net));
                    self.values[output.index()] = each(|w| z[w] & !s[w] | o[w] & s[w]);
                }
                Kind::Carry { carry_in, bits, carry_out } => {
                    let mut carry = *self.at(*carry_in);
                    for CarryBit { init, inject, inputs, sum } in bits {
                        let pins = inputs.map(|net| self.at(net));
                        let propagate = look_up(*init, pins);
                        let none = &[0; WORDS];
                        let generate = look_up(*init & 0xf, [pins[0], pins[1], none, none]);
                        let mask = if *inject { 0 } else { u64::MAX };
                        self.values[sum.index()] = each(|w| propagate[w] ^ carry[w] & mask);
                        carry = each(|w| propagate[w] & carry[w] | !propagate[w] & generate[w] & mask);
                    }
                    self.values[carry_out.index()] = carry;
                }
                Kind::Ff { .. } | Kind::Block { .. } => {}
            }
        }
    }

    /// Gives ports what they are told, and then a clock.
    pub fn tick(&mut self, inputs: &[(&str, Lanes)]) {
        for port in self.netlist.ports.iter().filter(|port| !port.output) {
            if let Some((_, value)) = inputs.iter().find(|(name, _)| *name == port.name) {
                self.values[port.net.index()] = *value;
            }
        }
        self.settle();
        let pin = |(net, inverted): (Net, bool)| self.at(net).map(|word| if inverted { !word } else { word });
        let next = |kind: &Kind| {
            let Kind::Ff { enable, reset, set, data, output, .. } = kind else { return None };
            let (enabled, cleared, start) = (pin(*enable), pin(*reset), if *set { u64::MAX } else { 0 });
            let (data, previous) = (self.at(*data), self.at(*output));
            let taken = each(|w| data[w] & enabled[w] | previous[w] & !enabled[w]);
            Some((output.index(), each(|w| taken[w] & !cleared[w] | start & cleared[w])))
        };
        let next: Vec<(usize, Lanes)> =
            self.netlist.cells.iter().filter_map(|cell| next(&cell.kind)).collect();
        for (net, value) in next {
            self.values[net] = value;
        }
        self.settle();
    }

    /// What a port gives, if there is one of this name.
    pub fn output(&self, name: &str) -> Option<Lanes> {
        let port = self.netlist.ports.iter().find(|port| port.output && port.name == name)?;
        Some(*self.at(port.net))
    }
}

#[cfg(test)]
mod tests {
    use ace_ecp5_netlist::cells::{Cell, Port};

    use super::*;

    fn port(name: &str, net: Net, output: bool) -> Port {
        Port { name: name.into(), net, output }
    }

    fn ff(data: Net, enable: (Net, bool), reset: (Net, bool), output: Net) -> Cell {
        let kind =
            Kind::Ff { clock: (Net(2), false), enable, reset, asynchronous: false, set: true, data, output };
        Cell { name: "ff".into(), kind }
    }

    #[test]
    fn flip_flops_take_hold_and_reset() {
        let [clock, d, e, r, first, second] = [2, 3, 4, 5, 6, 7].map(Net);
        let ports = [("clk", clock), ("d", d), ("e", e), ("r", r)].map(|(name, net)| port(name, net, false));
        let mut netlist = Netlist { nets: 8, ports: ports.into(), ..Netlist::default() };
        netlist.ports.push(port("q", second, true));
        netlist.cells = vec![
            ff(d, (Net::ONE, false), (Net::ZERO, false), first),
            ff(first, (e, true), (r, false), second),
        ];
        let mut circuit = Circuit::new(&netlist, "clk").expect("one clock");
        let lanes = |value: u64| [value; WORDS];
        assert_eq!(circuit.output("q"), Some(lanes(u64::MAX)));
        circuit.tick(&[("d", lanes(0b0011)), ("e", lanes(0)), ("r", lanes(0))]);
        // The first one's value before the clock.
        assert_eq!(circuit.output("q"), Some(lanes(u64::MAX)));
        circuit.tick(&[("d", lanes(0))]);
        assert_eq!(circuit.output("q"), Some(lanes(0b0011)));
        // Not enabled where e is 1; where r is 1, what it is after configuration.
        circuit.tick(&[("e", lanes(1)), ("r", lanes(0b100))]);
        assert_eq!(circuit.output("q"), Some(lanes(0b0101)));
        assert_eq!(circuit.output("d"), None);
        assert!(Circuit::new(&netlist, "other").is_err());
    }

    #[test]
    fn cells_compute_and_circles_are_refused() {
        let [clock, a, b, x, low, high, out, q] = [2, 3, 4, 5, 6, 7, 8, 9].map(Net);
        // 0x96aa with C = 0, D = 1: A xor B for propagate, and A for generate.
        let bit = |sum| CarryBit { init: 0x96aa, inject: false, inputs: [a, b, Net::ZERO, Net::ONE], sum };
        let carry = Kind::Carry { carry_in: Net::ZERO, bits: [bit(low), bit(high)], carry_out: out };
        let lut = |inputs, output| Kind::Lut { init: 0x8000, inputs, output };
        let cell = |kind| Cell { name: "c".into(), kind };
        let ports = [("clk", clock), ("a", a), ("b", b)].map(|(name, net)| port(name, net, false));
        let mut netlist = Netlist { nets: 10, ports: ports.into(), ..Netlist::default() };
        netlist.ports.push(port("q", q, true));
        netlist.cells = vec![cell(lut([high, b, x, out], q)), cell(carry), cell(lut([a, b, a, b], x))];
        let mut circuit = Circuit::new(&netlist, "clk").expect("no circle");
        circuit.tick(&[("a", [0b0011; WORDS]), ("b", [0b0101; WORDS])]);
        let bits = |net: Net| circuit.at(net)[0] & 0xf;
        assert_eq!((bits(low), bits(high), bits(out)), (0b0110, 0b0111, 0b0001));
        assert_eq!((bits(x), bits(q)), (0b0001, 0b0001));
        netlist.cells.push(cell(lut([x, a, a, a], b)));
        assert!(Circuit::new(&netlist, "clk").is_err());
    }
}
