// SPDX-License-Identifier: Apache-2.0
//! Whether a circuit that was read of changed bits is still the one that it was: what its registers and blocks are told
//! and given and what its outputs show, first under random values, then under all that a solver can find.

use std::collections::{BTreeMap, BTreeSet};

use super::cells::{Kind, Net, Netlist};
use super::error::NetlistError;
use super::matching::{hash, mix, values};
use super::points::{Point, points};
use super::simulate::{Pattern, Simulator};
use super::solve::differ;

/// How often new random values are tried.
const ROUNDS: u64 = 4;

/// What cut cells are told to be; inversions are in the points.
fn told(netlist: &Netlist) -> BTreeMap<&str, Vec<(&str, &str)>> {
    let cells = netlist.cells.iter().filter(|cell| cell.kind.cuts());
    let told = |kind: &'_ Kind| -> Vec<(&'static str, &'static str)> {
        match kind {
            Kind::Ff { set, asynchronous, reset, .. } => {
                let never = *reset == (Net::ZERO, false);
                let mode = if *asynchronous && !never { "ASYNC" } else { "LSR_OVER_CE" };
                vec![("", "TRELLIS_FF"), ("REGSET", if *set { "SET" } else { "RESET" }), ("SRMODE", mode)]
            }
            _ => Vec::new(),
        }
    };
    cells
        .map(|cell| {
            let mut all: Vec<(&str, &str)> = told(&cell.kind);
            if let Kind::Block { cell: kind, parameters, .. } = &cell.kind {
                all.push(("", kind));
                let kept = parameters.iter().filter(|(name, _)| !name.ends_with("MUX"));
                all.extend(kept.map(|(name, value)| (name.as_str(), value.as_str())));
            }
            (cell.name.as_str(), all)
        })
        .collect()
}

/// How a circuit compares.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Outcome {
    Same,
    Different,
    Solved,
    Equal,
}

/// A circuit with which others are compared.
pub(crate) struct Comparison<'n> {
    pub circuit: Simulator<'n>,
    /// Its values, once for every round.
    rounds: Vec<Vec<Pattern>>,
    carries: Vec<Vec<Pattern>>,
    told: BTreeMap<&'n str, Vec<(&'n str, &'n str)>>,
    points: Vec<(String, Point)>,
    /// The places of the order that read a net, and whether it is a point's.
    readers: Vec<Vec<u32>>,
    points_of: Vec<Vec<u32>>,
    place_of: BTreeMap<(usize, usize), u32>,
}

impl<'n> Comparison<'n> {
    pub fn new(netlist: &'n Netlist) -> Result<Self, NetlistError> {
        let mut circuit = Simulator::new(netlist)?;
        let (mut rounds, mut carries) = (Vec::new(), Vec::new());
        for round in 0..ROUNDS {
            begin(&mut circuit, round);
            circuit.run();
            rounds.push(circuit.values.clone());
            carries.push(circuit.carries.clone());
        }
        let mut readers = vec![Vec::new(); netlist.nets as usize];
        for (place, (cell, half)) in circuit.order.iter().enumerate() {
            let inputs = match &netlist.cells[*cell].kind {
                Kind::Carry { carry_in, bits, .. } if *half == 0 => {
                    std::iter::once(*carry_in).chain(bits[0].inputs).collect()
                }
                Kind::Carry { bits, .. } => bits[1].inputs.to_vec(),
                kind => kind.inputs(),
            };
            inputs.iter().for_each(|net| readers[net.index()].push(place as u32));
        }
        let points = points(netlist);
        let mut points_of = vec![Vec::new(); netlist.nets as usize];
        for (number, (_, point)) in points.iter().enumerate() {
            points_of[point.net.index()].push(number as u32);
        }
        let places = circuit.order.iter().enumerate().map(|(place, node)| (*node, place as u32));
        let place_of = places.collect();
        Ok(Self { told: told(netlist), circuit, rounds, carries, points, readers, points_of, place_of })
    }

    /// A LUT of the circuit has another function.
    pub fn lut(&mut self, cell: usize, other: &Kind) -> Result<Outcome, NetlistError> {
        let netlist = self.circuit.netlist;
        let Kind::Lut { output, .. } = &netlist.cells[cell].kind else {
            return self.circuit_with(cell, other);
        };
        if netlist.cells[cell].kind == *other {
            return Ok(Outcome::Same);
        }
        let Some(place) = self.place_of.get(&(cell, 0)).copied() else {
            return self.circuit_with(cell, other);
        };
        let Kind::Lut { init, inputs, .. } = other else { return self.circuit_with(cell, other) };
        for round in 0..ROUNDS as usize {
            self.circuit.values.clone_from(&self.rounds[round]);
            self.circuit.carries.clone_from(&self.carries[round]);
            let value = self.circuit.lut(*init, inputs);
            if value == self.circuit.values[output.index()] {
                continue;
            }
            self.circuit.values[output.index()] = value;
            if self.spreads(*output, place, round) {
                return Ok(Outcome::Different);
            }
        }
        self.circuit_with(cell, other)
    }

    /// Whether a net that has another value now makes a point another one.
    fn spreads(&mut self, net: Net, place: u32, round: usize) -> bool {
        let mut changed = vec![net];
        let mut waiting: BTreeSet<u32> = BTreeSet::new();
        let mut after = place;
        loop {
            for net in changed.drain(..) {
                for number in &self.points_of[net.index()] {
                    let point = &self.points[*number as usize].1;
                    if value(point, &self.circuit.values) != value(point, &self.rounds[round]) {
                        return true;
                    }
                }
                waiting.extend(self.readers[net.index()].iter().filter(|reader| **reader > after));
            }
            let Some(next) = waiting.pop_first() else { return false };
            after = next;
            let (cell, half) = self.circuit.order[next as usize];
            let outputs = self.circuit.netlist.cells[cell].kind.outputs();
            let old: Vec<Pattern> = outputs.iter().map(|net| self.circuit.values[net.index()]).collect();
            let carry = self.circuit.carries[cell];
            self.circuit.step(next as usize);
            let differs = |(net, old): (&Net, &Pattern)| self.circuit.values[net.index()] != *old;
            let new = outputs.iter().zip(&old).filter(|pair| differs(*pair)).map(|(net, _)| *net);
            changed.extend(new);
            if half == 0
                && carry != self.circuit.carries[cell]
                && let Some(upper) = self.place_of.get(&(cell, 1))
            {
                waiting.insert(*upper);
            }
        }
    }

    /// One cell of the circuit is another one.
    fn circuit_with(&mut self, cell: usize, other: &Kind) -> Result<Outcome, NetlistError> {
        let mut netlist = self.circuit.netlist.clone();
        netlist.cells[cell].kind = other.clone();
        self.with(&netlist)
    }

    /// Another circuit, in the order of names and with the same numbers of nets at the same places.
    pub fn with(&mut self, netlist: &Netlist) -> Result<Outcome, NetlistError> {
        let own = self.circuit.netlist;
        if netlist.cells == own.cells && netlist.ports == own.ports {
            return Ok(Outcome::Same);
        }
        let names = |netlist: &Netlist| -> Vec<(String, bool)> {
            netlist.ports.iter().map(|port| (port.name.clone(), port.output)).collect()
        };
        if told(netlist) != self.told || names(netlist) != names(own) {
            return Ok(Outcome::Different);
        }
        let mut other = Simulator::new(netlist)?;
        let theirs = points(netlist);
        if !theirs.iter().map(|(name, _)| name).eq(self.points.iter().map(|(name, _)| name)) {
            return Ok(Outcome::Different);
        }
        for round in 0..ROUNDS {
            begin(&mut other, round);
            other.run();
            let values = &self.rounds[round as usize];
            let differs = |((_, a), (_, b)): (&(String, Point), &(String, Point))| {
                value(a, values) != value(b, &other.values)
            };
            if self.points.iter().zip(&theirs).any(differs) {
                return Ok(Outcome::Different);
            }
        }
        match differ([&self.circuit, &other]) {
            Some(false) => Ok(Outcome::Equal),
            Some(true) => Ok(Outcome::Solved),
            None => Err(NetlistError::Unsupported("the solver".into(), "an answer".into())),
        }
    }
}

/// Values of a point.
fn value(point: &Point, values: &[Pattern]) -> Pattern {
    values[point.net.index()].map(|word| if point.inverted { !word } else { word })
}

/// Random values for all that a circuit begins with, by its name.
fn begin(circuit: &mut Simulator, round: u64) {
    let netlist = circuit.netlist;
    let random = |name: &str| values(mix(round, hash(name)));
    for port in netlist.ports.iter().filter(|port| !port.output) {
        circuit.values[port.net.index()] = random(&port.name);
    }
    for cell in &netlist.cells {
        match &cell.kind {
            Kind::Ff { output, .. } => circuit.values[output.index()] = random(&cell.name),
            Kind::Block { pins, .. } => {
                for pin in pins.iter().filter(|pin| pin.output) {
                    circuit.values[pin.net.index()] = random(&format!("{}.{}", cell.name, pin.name));
                }
            }
            _ => {}
        }
    }
}
