// SPDX-License-Identifier: Apache-2.0
//! Which register of one netlist is which of another.
//!
//! Registers and blocks are coloured by what they compute: equal colours hold equal random values, the combinational
//! logic is simulated, and what arrives at a cell's inputs is its next colour, until no class splits any more. It does
//! not matter how logic was placed, which inputs of a LUT were exchanged, or what anything is called. The result is
//! a guess that a proof has to confirm: wrong names cannot make netlists equal that are not.

use std::collections::{BTreeMap, HashMap};

use super::cells::{Kind, Net, Netlist};
use super::error::NetlistError;
use super::simulate::{Pattern, Simulator, WORDS};

const ROUNDS: usize = 400;
/// Equal registers that are told apart in one round.
const MOST_EQUALS: usize = 400;

fn mix(a: u64, b: u64) -> u64 {
    let mut z = a.rotate_left(23) ^ b.wrapping_mul(0x9e37_79b9_7f4a_7c15);
    z = (z ^ z >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ z >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ z >> 31
}

fn hash(text: &str) -> u64 {
    text.bytes().fold(0x51ce, |sum, byte| mix(sum, u64::from(byte)))
}

fn digest(pattern: &Pattern) -> u64 {
    pattern.iter().fold(7, |sum, word| mix(sum, *word))
}

/// Random values of a colour: in some words all alike but for few bits, so that deep conditions come true.
fn values(colour: u64) -> Pattern {
    std::array::from_fn(|word| {
        let random = |salt: u64| mix(colour, mix(word as u64, salt));
        let few = random(1) & random(2) & random(3);
        match random(0) & 3 {
            _ if word < WORDS / 2 => random(4),
            0 | 1 => random(4),
            2 => few,
            _ => !few,
        }
    })
}

/// The part of a block's parameters that says what it holds.
fn contents(parameters: &BTreeMap<String, String>) -> u64 {
    let held = parameters.iter().filter(|(name, _)| name.starts_with("INITVAL"));
    held.fold(3, |sum, (name, value)| {
        let digits: String = match value.split_once("'h") {
            Some((_, hex)) => hex.to_owned(),
            None => hex_of_bits(value),
        };
        let digits = digits.trim_start_matches('0').to_ascii_lowercase();
        if digits.is_empty() { sum } else { mix(sum, mix(hash(name), hash(&digits))) }
    })
}

fn hex_of_bits(bits: &str) -> String {
    let bits = format!("{}{bits}", "0".repeat((4 - bits.len() % 4) % 4));
    let digit = |four: &[u8]| four.iter().fold(0u32, |sum, b| sum << 1 | u32::from(*b == b'1'));
    bits.as_bytes().chunks(4).filter_map(|four| char::from_digit(digit(four), 16)).collect()
}

struct Colours<'a> {
    simulator: Simulator<'a>,
    /// Of each cell; combinational ones have none.
    colours: Vec<u64>,
}

impl<'a> Colours<'a> {
    fn new(netlist: &'a Netlist) -> Result<Self, NetlistError> {
        let colour = |kind: &Kind| match kind {
            Kind::Ff { set, .. } => 11 + u64::from(*set),
            Kind::Block { cell, parameters, .. } => mix(hash(cell), contents(parameters)),
            _ => 0,
        };
        let colours = netlist.cells.iter().map(|cell| colour(&cell.kind)).collect();
        Ok(Self { simulator: Simulator::new(netlist)?, colours })
    }

    fn simulate(&mut self) {
        let netlist = self.simulator.netlist;
        for port in netlist.ports.iter().filter(|port| !port.output) {
            self.simulator.values[port.net.index()] = values(hash(&port.name));
        }
        for (cell, colour) in netlist.cells.iter().zip(&self.colours) {
            match &cell.kind {
                Kind::Ff { output, .. } => self.simulator.values[output.index()] = values(*colour),
                Kind::Block { pins, .. } => {
                    for pin in pins.iter().filter(|pin| pin.output) {
                        self.simulator.values[pin.net.index()] = values(mix(*colour, hash(&pin.name)));
                    }
                }
                _ => {}
            }
        }
        self.simulator.run();
    }

    /// What arrives at a net, inverted if asked.
    fn arrives(&self, net: Net, inverted: bool) -> u64 {
        let value = self.simulator.values[net.index()];
        digest(&if inverted { value.map(|word| !word) } else { value })
    }

    /// The colours after one clock, and a digest of the outputs.
    fn step(&mut self) -> (Vec<u64>, u64) {
        self.simulator.run();
        let netlist = self.simulator.netlist;
        let constants = [0, u64::MAX].map(|word| digest(&[word; WORDS]));
        let next = netlist.cells.iter().zip(&self.colours).map(|(cell, old)| match &cell.kind {
            Kind::Ff { enable, reset, data, .. } => {
                let pins = [(*data, false), *enable, *reset];
                pins.iter().fold(*old, |sum, (net, inverted)| mix(sum, self.arrives(*net, *inverted)))
            }
            Kind::Block { pins, .. } => {
                // Pins that are constant may be so in several ways, and pins have no order.
                let inputs = pins.iter().filter(|pin| !pin.output);
                let sum = inputs.fold(0u64, |sum, pin| match self.arrives(pin.net, false) {
                    value if constants.contains(&value) => sum,
                    value => sum.wrapping_add(mix(hash(&pin.name), value)),
                });
                mix(*old, sum)
            }
            _ => 0,
        });
        let next = next.collect();
        let outputs = netlist.ports.iter().filter(|port| port.output);
        let seen = outputs
            .fold(0u64, |sum, port| sum.wrapping_add(mix(hash(&port.name), self.arrives(port.net, false))));
        (next, seen)
    }

    /// One step from what drives a cell.
    fn forward(&mut self) {
        self.simulate();
        self.colours = self.step().0;
    }

    /// One step from what a cell drives, for cells that compute the same: what changes where, when only this cell's
    /// output changes.
    fn backward(&mut self) {
        let netlist = self.simulator.netlist;
        self.simulate();
        let equals: Vec<usize> = self.classes().into_values().filter(|c| c.len() > 1).flatten().collect();
        let mut changed = Vec::new();
        for cell in equals.into_iter().take(MOST_EQUALS) {
            let outputs = netlist.cells[cell].kind.outputs();
            let turn = |this: &mut Self| {
                for net in &outputs {
                    this.simulator.values[net.index()].iter_mut().for_each(|word| *word = !*word);
                }
            };
            turn(self);
            let (next, seen) = self.step();
            turn(self);
            // Only what is cut has a colour; of combinational cells the netlists may have different numbers.
            let colours = next.into_iter().filter(|colour| *colour != 0);
            let sum = colours.fold(seen, |sum, colour| sum.wrapping_add(mix(colour, 5)));
            changed.push((cell, mix(self.colours[cell], sum)));
        }
        for (cell, colour) in changed {
            self.colours[cell] = colour;
        }
    }

    fn classes(&self) -> HashMap<u64, Vec<usize>> {
        let mut classes: HashMap<u64, Vec<usize>> = HashMap::new();
        for (index, cell) in self.simulator.netlist.cells.iter().enumerate() {
            if cell.kind.cuts() {
                classes.entry(self.colours[index]).or_default().push(index);
            }
        }
        classes
    }
}

/// How two netlists were matched.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Matched {
    /// Registers and blocks with the same name in both.
    pub cells: usize,
    /// Those of them that had equals, so that the choice was arbitrary.
    pub arbitrary: usize,
}

/// Gives the registers and blocks of `netlist` the names of those in `reference` that do the same.
///
/// # Errors
/// Not as many of each, or registers that do what none of the other netlist does: the netlists differ.
pub fn name_registers(netlist: &mut Netlist, reference: &Netlist) -> Result<Matched, NetlistError> {
    let mut names: Vec<(usize, String)> = Vec::new();
    let mut matched = Matched::default();
    {
        let (mut own, mut other) = (Colours::new(netlist)?, Colours::new(reference)?);
        let total = own.classes().values().map(Vec::len).sum::<usize>();
        let mut counts = (0, 0);
        let mut stalled = 0;
        for round in 0..ROUNDS {
            for side in [&mut own, &mut other] {
                side.forward();
                if stalled == 1 {
                    side.backward();
                }
            }
            let now = (own.classes().len(), other.classes().len());
            if now == counts {
                if now == (total, total) {
                    break;
                }
                stalled += 1;
            } else {
                stalled = 0;
            }
            counts = now;
            // What still has equals after two quiet steps is told apart by an arbitrary choice.
            if stalled > 2 || round + 1 == ROUNDS {
                let theirs = other.classes();
                let mut same: Vec<_> =
                    own.classes().into_iter().filter(|(_, cells)| cells.len() > 1).collect();
                same.sort_by_key(|(_, cells)| cells[0]);
                let chosen = same.iter().find_map(|(c, cells)| Some((cells[0], *theirs.get(c)?.first()?)));
                let Some((mine, their)) = chosen else { break };
                own.colours[mine] = mix(own.colours[mine], 0xc405);
                other.colours[their] = mix(other.colours[their], 0xc405);
                matched.arbitrary += 1;
                stalled = 0;
            }
        }
        let theirs = other.classes();
        let mut lost = Vec::new();
        for (colour, cells) in own.classes() {
            match (&cells[..], theirs.get(&colour).map(Vec::as_slice)) {
                ([mine], Some([their])) => names.push((*mine, reference.cells[*their].name.clone())),
                _ => lost.extend(cells.iter().map(|index| netlist.cells[*index].name.clone())),
            }
        }
        let expected = theirs.values().map(Vec::len).sum::<usize>();
        if !lost.is_empty() || expected != total {
            lost.sort();
            let some = lost.iter().take(5).cloned().collect::<Vec<_>>().join(", ");
            return Err(NetlistError::Different(format!(
                "{total} registers and blocks in the bits, {expected} in the netlist of synthesis, {} of the bits \
                 like none of synthesis ({some})",
                lost.len()
            )));
        }
        matched.cells = names.len();
    }
    for (index, name) in names {
        netlist.cells[index].name = name;
    }
    Ok(matched)
}
