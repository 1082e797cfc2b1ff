// SPDX-License-Identifier: Apache-2.0
//! Which register of one netlist is which of another.
//!
//! Registers and blocks are coloured by what they compute: equal colours hold equal random values, the combinational
//! logic is simulated, and what arrives at a cell's inputs is its next colour, until no class splits any more. It does
//! not matter how logic was placed, which inputs of a LUT were exchanged, or what anything is called. The result is
//! a guess that a proof has to confirm: wrong names cannot make netlists equal that are not.

use std::collections::{BTreeMap, HashMap, HashSet};

use super::cells::{Kind, Net, Netlist};
use super::error::NetlistError;
use super::simulate::{Pattern, Simulator, WORDS};

/// Steps without a class that splits, after which what has equals is told apart by a choice.
const QUIET: usize = 4;
/// Choices that are tried before giving up.
const MOST_CHOICES: usize = 400;
/// Equal registers that are told apart in one step by what they change.
const MOST_EQUALS: usize = 400;

pub(crate) fn mix(a: u64, b: u64) -> u64 {
    let mut z = a.rotate_left(23) ^ b.wrapping_mul(0x9e37_79b9_7f4a_7c15);
    z = (z ^ z >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ z >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ z >> 31
}

pub(crate) fn hash(text: &str) -> u64 {
    text.bytes().fold(0x51ce, |sum, byte| mix(sum, u64::from(byte)))
}

fn digest(pattern: &Pattern) -> u64 {
    pattern.iter().fold(7, |sum, word| mix(sum, *word))
}

/// Random values of a colour. In the last third of the words nearly all colours are 0, or 1, so that deep conditions come
/// true: a carry that runs through the whole of a counter.
pub(crate) fn values(colour: u64) -> Pattern {
    std::array::from_fn(|word| {
        let random = |salt: u64| mix(colour, mix(word as u64, salt));
        let few = random(1) & random(2) & random(3);
        let fewer = few & random(5) & random(6);
        match word {
            _ if word < WORDS / 2 => random(4),
            _ if word < 2 * WORDS / 3 => [random(4), random(4), few, !few][(random(0) & 3) as usize],
            _ => [few, fewer, !few, !fewer][word % 4],
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

    /// On how many ports and outputs of cut cells the inputs of a cell depend within a clock.
    fn depends(&self, cell: usize) -> usize {
        let netlist = self.simulator.netlist;
        let mut drivers: HashMap<Net, usize> = HashMap::new();
        for (index, driver) in netlist.cells.iter().enumerate().filter(|(_, cell)| !cell.kind.cuts()) {
            drivers.extend(driver.kind.outputs().into_iter().map(|net| (net, index)));
        }
        let mut seen: HashSet<Net> = HashSet::new();
        let mut waiting = netlist.cells[cell].kind.inputs();
        let mut ends = 0;
        while let Some(net) = waiting.pop() {
            if !seen.insert(net) || matches!(net, Net::ZERO | Net::ONE) {
                continue;
            }
            match drivers.get(&net) {
                Some(driver) => waiting.extend(netlist.cells[*driver].kind.inputs()),
                None => ends += 1,
            }
        }
        ends
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
            Kind::Ff { clock, enable, reset, data, .. } => {
                let pins = [(*data, false), *enable, *reset, *clock];
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
        // In an order that both netlists share, and whole classes only.
        let mut equals: Vec<_> = self.classes().into_iter().filter(|(_, cells)| cells.len() > 1).collect();
        equals.sort_by_key(|(colour, cells)| (cells.len(), *colour));
        let mut left = MOST_EQUALS;
        let equals = equals.into_iter().map(|(_, cells)| cells).take_while(|cells| {
            let fits = cells.len() <= left;
            left -= if fits { cells.len() } else { 0 };
            fits
        });
        let equals: Vec<usize> = equals.flatten().collect();
        let mut changed = Vec::new();
        for cell in equals {
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

    /// How many cells have each colour.
    fn sizes(&self) -> HashMap<u64, usize> {
        let mut sizes = HashMap::new();
        for (cell, colour) in self.simulator.netlist.cells.iter().zip(&self.colours) {
            if cell.kind.cuts() {
                *sizes.entry(*colour).or_default() += 1;
            }
        }
        sizes
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

/// Two netlists whose colours are compared.
struct Pair<'a> {
    sides: [Colours<'a>; 2],
    /// Choices that may still be tried.
    choices: usize,
}

impl Pair<'_> {
    /// Steps until no class splits. False if the classes of the two differ.
    fn settle(&mut self) -> bool {
        let mut count = self.sides[0].classes().len();
        let mut quiet = 0;
        while quiet < QUIET {
            for side in &mut self.sides {
                side.forward();
                if quiet == 1 {
                    side.backward();
                }
            }
            let [own, other] = [0, 1].map(|side| self.sides[side].sizes());
            if own != other {
                return false;
            }
            if own.len() == self.total() {
                return true;
            }
            quiet = if own.len() == count { quiet + 1 } else { 0 };
            count = own.len();
        }
        true
    }

    fn total(&self) -> usize {
        self.sides[0].simulator.netlist.cells.iter().filter(|cell| cell.kind.cuts()).count()
    }

    /// Tells all apart; the number of choices that took. Where registers are still equal, one of them is taken for each
    /// of those of the other netlist in turn, until the classes stay the same in both.
    fn tell_apart(&mut self) -> Option<usize> {
        if !self.settle() {
            return None;
        }
        let theirs = self.sides[1].classes();
        let equal = self.sides[0].classes().into_iter().filter(|(_, cells)| cells.len() > 1);
        let Some((colour, mine)) = equal.min_by_key(|(colour, cells)| (cells.len(), *colour)) else {
            return Some(0);
        };
        let before = [0, 1].map(|side| self.sides[side].colours.clone());
        // First those of which as much is before them: placing changes no logic, and conditions that no random value meets
        // show in nothing else.
        let depends = self.sides[0].depends(mine[0]);
        let mut others = theirs.get(&colour)?.clone();
        others.sort_by_key(|their| self.sides[1].depends(*their).abs_diff(depends));
        for their in &others {
            self.choices = self.choices.checked_sub(1)?;
            for (side, cell) in [(0, mine[0]), (1, *their)] {
                self.sides[side].colours[cell] = mix(colour, 0xc405);
            }
            if let Some(choices) = self.tell_apart() {
                return Some(choices + 1);
            }
            for (side, colours) in before.iter().enumerate() {
                self.sides[side].colours.clone_from(colours);
            }
        }
        None
    }
}

/// Gives the registers and blocks of `netlist` the names of those in `reference` that do the same.
///
/// # Errors
/// Not as many of each, or registers that do what none of the other netlist does: the netlists differ.
pub fn name_registers(netlist: &mut Netlist, reference: &Netlist) -> Result<Matched, NetlistError> {
    let mut names: Vec<(usize, String)> = Vec::new();
    let arbitrary;
    {
        let sides = [Colours::new(netlist)?, Colours::new(reference)?];
        let mut pair = Pair { sides, choices: MOST_CHOICES };
        let found = pair.tell_apart();
        let [own, theirs] = [0, 1].map(|side| pair.sides[side].classes());
        let mut lost = Vec::new();
        for (colour, cells) in &own {
            match (&cells[..], theirs.get(colour).map(Vec::as_slice)) {
                ([mine], Some([their])) => names.push((*mine, reference.cells[*their].name.clone())),
                _ => lost.extend(cells.iter().map(|index| netlist.cells[*index].name.clone())),
            }
        }
        let Some(choices) = found else {
            let [total, expected] = [&own, &theirs].map(|side| side.values().map(Vec::len).sum::<usize>());
            lost.sort();
            let some = lost.iter().take(5).cloned().collect::<Vec<_>>().join(", ");
            return Err(NetlistError::Different(format!(
                "{total} registers and blocks in the bits, {expected} in the netlist of synthesis, {} of the bits \
                 like none of synthesis ({some})",
                lost.len()
            )));
        };
        arbitrary = choices;
    }
    let matched = Matched { cells: names.len(), arbitrary };
    for (index, name) in names {
        netlist.cells[index].name = name;
    }
    Ok(matched)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cells::{Cell, Port};

    /// Four registers that all take `x`, and one that tells whether both pairs of them differ.
    fn twins(pairs: [[u32; 2]; 2], prefix: &str) -> Netlist {
        let (clock, x, result) = (Net(2), Net(3), Net(8));
        let port = |name: &str, net, output| Port { name: name.into(), net, output };
        let flip_flop = |data, output| Kind::Ff {
            clock: (clock, false),
            enable: (Net::ONE, false),
            reset: (Net::ZERO, false),
            asynchronous: false,
            set: false,
            data,
            output,
        };
        let mut cells: Vec<Cell> =
            (0..4).map(|n| Cell { name: format!("{prefix}{n}"), kind: flip_flop(x, Net(4 + n)) }).collect();
        let [[a, b], [c, d]] = pairs.map(|pair| pair.map(|n| Net(4 + n)));
        // (A xor B) and (C xor D)
        let lut = Kind::Lut { init: 0x0660, inputs: [a, b, c, d], output: Net(9) };
        cells.push(Cell { name: "l".into(), kind: lut });
        cells.push(Cell { name: format!("{prefix}r"), kind: flip_flop(Net(9), result) });
        let ports = vec![port("clk", clock, false), port("x", x, false), port("q", result, true)];
        Netlist { ports, cells, nets: 10 }
    }

    fn name(netlist: &Netlist, number: usize) -> &str {
        &netlist.cells[number].name
    }

    #[test]
    fn a_choice_that_does_not_fit_is_taken_back() {
        // The first choice for the second register, by order, is the wrong one.
        let mut netlist = twins([[0, 1], [2, 3]], "R");
        let reference = twins([[0, 2], [1, 3]], "s");
        let matched = name_registers(&mut netlist, &reference).expect("the same");
        assert_eq!(matched.cells, 5);
        assert!(matched.arbitrary >= 2, "{matched:?}");
        let mut pairs = [[0, 1], [2, 3]].map(|pair| {
            let mut names = pair.map(|number| name(&netlist, number).to_owned());
            names.sort();
            names
        });
        pairs.sort();
        assert_eq!(pairs, [["s0", "s2"], ["s1", "s3"]].map(|pair| pair.map(str::to_owned)));
        assert_eq!(name(&netlist, 5), "sr");
    }

    #[test]
    fn what_is_different_is_not_matched() {
        let mut netlist = twins([[0, 1], [2, 3]], "R");
        let mut reference = twins([[0, 1], [2, 3]], "s");
        let Kind::Lut { init, .. } = &mut reference.cells[4].kind else { panic!("a LUT") };
        *init ^= 1;
        let error = name_registers(&mut netlist, &reference).expect_err("another function");
        assert!(matches!(&error, NetlistError::Different(why) if why.contains("like none")), "{error}");
        reference.cells.remove(0);
        assert!(name_registers(&mut netlist, &reference).is_err());
    }
}
